//! A contest that a Linux kernel holds: its own TCPs and UDP over its own discipline. This is the
//! guest's part.

use super::modules::Modules;
use super::program::Fallible;
use super::tally::Tally;
use super::{network, sockets};
use fairwire_core::Duration;
use fairwire_testbed::namespace::Namespace;
use fairwire_testbed::path::Faults;
use fairwire_testbed::traffic::Sends;
use serde::{Deserialize, Serialize};

/// The flows and the link of a contest, and how long it lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// The rate of the bottleneck, bit/s.
    pub rate_bps: u64,
    /// The rates that follow it, and when: nanoseconds after the start, and bit/s.
    #[serde(default)]
    pub changes: Vec<(u64, u64)>,
    /// What each frame counts there beside its bytes from the Ethernet header on: -14 where IP
    /// packets are counted.
    pub overhead: i32,
    /// The longest IP packet.
    pub mtu: u32,
    /// The discipline and its parameters, as `tc` takes them.
    pub discipline: String,
    /// The modules that the kernel needs for it.
    pub modules: Vec<String>,
    /// The classes of flows.
    pub classes: Vec<Class>,
    /// When each flow starts, in the order of classes.
    pub starts: Vec<u64>,
    /// What is not measured, at the start, nanoseconds.
    pub warm_up_ns: u64,
    /// The whole length, nanoseconds.
    pub duration_ns: u64,
    /// What the wire behind the bottleneck does to packets, where it does anything.
    #[serde(default)]
    pub faults: Option<Faults>,
}

/// Flows that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// What each sends: TCP, or UDP at a constant rate.
    pub sends: Sends,
    /// How many there are.
    pub flows: usize,
    /// The round-trip time without waiting, nanoseconds.
    pub rtt_ns: u64,
    /// Is its TCP ECN-capable?
    pub ecn: bool,
}

impl Contest {
    pub(super) fn duration(&self) -> Duration {
        Duration::from_ns(self.duration_ns)
    }

    pub(super) fn warm_up(&self) -> Duration {
        Duration::from_ns(self.warm_up_ns)
    }

    /// Lets the kernel hold it. `progress` is given the part of it that is done.
    ///
    /// # Errors
    /// When the kernel lacks something, or a socket fails.
    pub fn hold(&self, modules: &Modules, progress: &mut dyn FnMut(f64)) -> Fallible<Tally> {
        for class in &self.classes {
            if let Sends::Tcp(control) = &class.sends {
                modules.load_if_known(&format!("tcp_{control}"))?;
            }
        }
        for name in std::iter::once("sch_netem").chain(self.modules.iter().map(String::as_str)) {
            modules.load(name)?;
        }
        if self.faults.is_some() {
            modules.load_if_known("bridge")?;
        }
        let home = Namespace::own()?;
        let hosts = network::build(self)?;
        let tally = sockets::contest(self, &hosts, progress);
        home.enter()?;
        tally
    }
}
