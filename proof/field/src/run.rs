//! One run: a network, the gateway or the kernel in its middle, and traffic.

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
use fairwire_testbed::traffic::{Seen, Traffic};
use fairwire_wire::Way;

/// The middle, between the two hosts.
#[derive(Clone, Copy, Debug)]
pub enum Middle<'a> {
    /// The gateway under test.
    Gateway(&'a Document),
    /// The gateway under test, and another one between it and the inside, which is its line.
    BeforeLine(&'a Document, &'a Document),
    /// The kernel, set up by these commands.
    Kernel(&'a [String]),
    /// The kernel, set up by these commands, and the gateway; hosts send no super-packets, so that
    /// the kernel's queues hold single ones.
    Both(&'a [String], &'a Document),
}

/// A run under way.
#[derive(Debug)]
pub struct Run {
    /// The network.
    pub world: World,
    /// The gateway, where there is one.
    pub gateway: Option<Gateway>,
    /// The gateway that is its line, where there is one.
    pub line: Option<Gateway>,
    /// When the traffic began.
    pub start: Time,
    /// What is sent.
    pub traffic: Traffic,
    agents: Agents,
    kernel_before: KernelTime,
    waited_before_s: f64,
}

/// From the last connection to the start.
const LEAD: Duration = Duration::from_ms(50);

impl Run {
    /// Makes the network, starts the gateway, connects all flows, and starts the traffic.
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

    /// The gateway, of a run that has one.
    ///
    /// # Panics
    /// Of a run that has none.
    pub fn gateway(&mut self) -> &mut Gateway {
        self.gateway.as_mut().expect("this run has a gateway")
    }

    /// Waits for the end, and returns what both hosts saw.
    pub fn finish(&mut self) -> Fallible<Seen> {
        let seen = self.agents.finish()?;
        Ok(Seen { path: self.world.finish_path()?, ..seen })
    }

    /// How the machine kept the gateway, and the path behind it, from their work in a run of which
    /// this was `seen`, if it did.
    pub fn starved(&mut self, seen: &Seen) -> Fallible<Option<String>> {
        let (path, waited_s) = (&seen.path, self.waited_s(seen));
        let unfetched = self.gateway().overflows()? + path.overflowed + path.failed;
        Ok(starved(waited_s, self.traffic.duration_ns as f64 / 1e9, unfetched))
    }

    /// The time since the start that the threads of the gateway and of the path behind it were
    /// ready and no processor was free for them, seconds.
    pub fn waited_s(&self, seen: &Seen) -> f64 {
        let gateway_s = self.gateway.as_ref().map_or(0.0, Gateway::waited_s) - self.waited_before_s;
        gateway_s + seen.path.waited_ns as f64 / 1e9
    }

    /// Processor time of the machine outside of programs since the start, seconds: where the kernel
    /// forwards.
    pub fn kernel_s(&self) -> f64 {
        KernelTime::now().seconds - self.kernel_before.seconds
    }
}

/// The time spent on interrupts' later halves, where packets are forwarded, by `/proc/stat`.
#[derive(Debug)]
struct KernelTime {
    seconds: f64,
}

impl KernelTime {
    fn now() -> KernelTime {
        let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        // cpu user nice system idle iowait irq softirq, in hundredths of a second.
        let softirq =
            text.lines().next().and_then(|line| line.split_whitespace().nth(7)?.parse::<f64>().ok());
        KernelTime { seconds: softirq.unwrap_or(0.0) / 100.0 }
    }
}
