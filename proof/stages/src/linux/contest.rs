//! Runs a contest in the guest's Linux kernel.

use super::modules::Modules;
use super::program::Fallible;
use super::tally::Tally;
use super::{network, sockets};
use fairwire_core::Duration;
use fairwire_testbed::namespace::Namespace;
use fairwire_testbed::path::Faults;
use fairwire_testbed::traffic::Sends;
use serde::{Deserialize, Serialize};

/// The flows, the link and the duration of a contest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    /// The rate of the bottleneck, bit/s.
    pub rate_bps: u64,
    /// Later rates of the bottleneck: nanoseconds after the start, and bit/s.
    #[serde(default)]
    pub changes: Vec<(u64, u64)>,
    /// The bytes added to each frame's length at the bottleneck. The length includes the Ethernet
    /// header, so -14 counts only the IP packet.
    pub overhead: i32,
    /// The longest IP packet.
    pub mtu: u32,
    /// The discipline with its parameters, in the form of `tc`.
    pub discipline: String,
    /// The modules that the kernel needs for the discipline.
    pub modules: Vec<String>,
    /// The classes of flows.
    pub classes: Vec<Class>,
    /// The start of each flow, nanoseconds, in the order of classes.
    pub starts: Vec<u64>,
    /// The time before measuring starts, nanoseconds.
    pub warm_up_ns: u64,
    /// The total length, nanoseconds.
    pub duration_ns: u64,
    /// The faults of the wire behind the bottleneck, if any.
    #[serde(default)]
    pub faults: Option<Faults>,
}

/// Identical flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// The traffic of each flow: TCP, or UDP at a constant rate.
    pub sends: Sends,
    /// The number of flows.
    pub flows: usize,
    /// The round-trip time without queueing, nanoseconds.
    pub rtt_ns: u64,
    /// Does the class's TCP use ECN?
    pub ecn: bool,
}

impl Contest {
    pub(super) fn duration(&self) -> Duration {
        Duration::from_ns(self.duration_ns)
    }

    pub(super) fn warm_up(&self) -> Duration {
        Duration::from_ns(self.warm_up_ns)
    }

    /// Runs the contest in the kernel, and passes the fraction done to `progress`.
    ///
    /// # Errors
    /// If the kernel lacks a feature, or a socket fails.
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
