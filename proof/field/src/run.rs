//! One run: a network, with the gateway or the kernel in the middle, and traffic.

use crate::config::Document;
use crate::fallible::Fallible;
use crate::gateway::Gateway;
use crate::tries::starved;
use crate::world::{Wiring, World};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_testbed::agents::Agents;
use fairwire_testbed::bed::HOST;
use fairwire_testbed::program::command;
use fairwire_testbed::traffic::{HostCounts, Traffic};
use fairwire_wire::Way;

/// The machine between the two hosts.
#[derive(Clone, Copy, Debug)]
pub enum Middle<'a> {
    /// The gateway under test.
    Gateway(&'a Document),
    /// The gateway under test, and its line: a second gateway, between the first and the inside.
    BeforeLine(&'a Document, &'a Document),
    /// The kernel, configured by these commands.
    Kernel(&'a [String]),
    /// The kernel, configured by these commands, and the gateway. Hosts send no super-packets, so
    /// the kernel's queues hold single packets.
    Both(&'a [String], &'a Document),
}

/// A run under way.
#[derive(Debug)]
pub struct Run {
    /// The network.
    pub world: World,
    /// The gateway, if any.
    pub gateway: Option<Gateway>,
    /// The gateway that acts as the line of the gateway under test, if any.
    pub line: Option<Gateway>,
    /// When the traffic began.
    pub start: Time,
    /// The traffic sent.
    pub traffic: Traffic,
    agents: Agents,
    kernel_before: KernelTime,
    waited_before_s: f64,
}

/// The time from the last connection to the start of the traffic.
const LEAD: Duration = Duration::from_ms(50);

impl Run {
    /// Builds the network, starts the gateway, connects all flows, and starts the traffic.
    pub fn begin(wiring: Wiring, middle: Middle<'_>, traffic: Traffic) -> Fallible<Run> {
        let world = World::new(wiring)?;
        let mut line = None;
        let gateway = match middle {
            Middle::Gateway(document) => Some(Gateway::start(&world, document)?),
            Middle::BeforeLine(document, behind) => {
                world.lay_between()?;
                line = Some(Gateway::start(&world, behind)?);
                Some(Gateway::start(&world, document)?)
            }
            Middle::Kernel(commands) => {
                world.gateway.enter()?;
                commands.iter().try_for_each(|line| command(line).map(drop))?;
                None
            }
            Middle::Both(commands, document) => {
                for way in Way::ALL {
                    world.sender(way).set_segments(HOST.index, 1)?;
                }
                world.gateway.enter()?;
                commands.iter().try_for_each(|line| command(line).map(drop))?;
                Some(Gateway::start(&world, document)?)
            }
        };
        let mut agents = Agents::start([&world.outside, &world.inside], &traffic)?;
        world.gateway.enter()?;
        let start = clock::now() + LEAD;
        agents.begin(start)?;
        let waited_before_s = gateway.as_ref().map_or(0.0, Gateway::waited_s);
        let kernel_before = KernelTime::now();
        Ok(Run { world, gateway, line, start, traffic, agents, kernel_before, waited_before_s })
    }

    /// Sleeps until `seconds` after the start.
    pub fn wait_until(&self, seconds: f64) {
        clock::sleep_until(self.start + Duration::from_ns((seconds * 1e9) as u64));
    }

    /// The run's gateway.
    ///
    /// # Panics
    /// If the run has no gateway.
    pub fn gateway(&mut self) -> &mut Gateway {
        self.gateway.as_mut().expect("this run has a gateway")
    }

    /// Waits for the end, and returns the observations of both hosts.
    pub fn finish(&mut self) -> Fallible<HostCounts> {
        let seen = self.agents.finish()?;
        Ok(HostCounts { path: self.world.finish_path()?, ..seen })
    }

    /// Evidence that the machine starved the gateway or the path of CPU time, if any. `seen` is the
    /// result of the run.
    pub fn starved(&mut self, seen: &HostCounts) -> Fallible<Option<String>> {
        let (path, waited_s) = (&seen.path, self.waited_s(seen));
        let unfetched = self.gateway().overflows()? + path.overflowed + path.failed;
        Ok(starved(waited_s, self.traffic.duration_ns as f64 / 1e9, unfetched))
    }

    /// The time for which the threads of the gateway and of the path were ready without a free
    /// processor since the start, seconds.
    pub fn waited_s(&self, seen: &HostCounts) -> f64 {
        let gateway_s = self.gateway.as_ref().map_or(0.0, Gateway::waited_s) - self.waited_before_s;
        gateway_s + seen.path.waited_ns as f64 / 1e9
    }

    /// The machine's CPU time in softirqs since the start, seconds. The kernel forwards packets in
    /// softirqs.
    pub fn kernel_s(&self) -> f64 {
        KernelTime::now().seconds - self.kernel_before.seconds
    }
}

/// The time spent in softirqs, from `/proc/stat`.
#[derive(Debug)]
struct KernelTime {
    seconds: f64,
}

impl KernelTime {
    fn now() -> KernelTime {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        // The fields are cpu, user, nice, system, idle, iowait, irq and softirq. Times are in
        // hundredths of a second.
        let softirq =
            text.lines().next().and_then(|line| line.split_whitespace().nth(7)?.parse::<f64>().ok());
        KernelTime { seconds: softirq.unwrap_or(0.0) / 100.0 }
    }
}
