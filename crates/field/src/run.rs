//! One run: a network, what stands in its middle, and traffic.

use crate::agent::Agent;
use crate::config::Document;
use crate::fallible::Fallible;
use crate::gateway::Gateway;
use crate::traffic::{Seen, Traffic};
use crate::world::{HOST, Wiring, World};
use fairwire_core::{Duration, Time};
use fairwire_gateway::class_book::Way;
use fairwire_linux::clock;
use fairwire_testbed::pen::SCRATCH;
use fairwire_testbed::program::command;

/// What stands between the two hosts.
#[derive(Clone, Copy, Debug)]
pub enum Middle<'a> {
    /// The gateway under test.
    Gateway(&'a Document),
    /// The kernel, set up by these commands.
    Kernel(&'a [String]),
    /// The kernel, set up by these commands, and the gateway; hosts send no super-packets, so that the kernel's queues hold single ones.
    Both(&'a [String], &'a Document),
}

/// A run under way.
#[derive(Debug)]
pub struct Run {
    /// The network.
    pub world: World,
    /// The gateway, where there is one.
    pub gateway: Option<Gateway>,
    /// When the traffic began.
    pub start: Time,
    /// What is sent.
    pub traffic: Traffic,
    agents: [Agent; 2],
    kernel_before: KernelTime,
}

/// From the last connection to the start.
const LEAD: Duration = Duration::from_ms(50);

impl Run {
    /// Makes the network, starts the gateway, connects all flows, and starts the traffic.
    pub fn begin(wiring: Wiring, middle: Middle<'_>, traffic: Traffic) -> Fallible<Run> {
        let world = World::new(wiring)?;
        let gateway = match middle {
            Middle::Gateway(document) => Some(Gateway::start(&world, document)?),
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
        let file = format!("{SCRATCH}/traffic-{}.json", clock::now().ns());
        std::fs::write(&file, serde_json::to_vec(&traffic)?)?;
        let mut agents = [
            Agent::start(world.sender(Way::Download), Way::Download, &file)?,
            Agent::start(world.sender(Way::Upload), Way::Upload, &file)?,
        ];
        world.gateway.enter()?;
        for (answer, order) in [("listening", "connect"), ("connected", "")] {
            for agent in &mut agents {
                match agent.answer()? {
                    said if said == answer => {}
                    said => return Err(format!("a host said `{said}`, expected `{answer}`").into()),
                }
            }
            if !order.is_empty() {
                agents.iter_mut().try_for_each(|agent| agent.order(order))?;
            }
        }
        let start = clock::now() + LEAD;
        agents.iter_mut().try_for_each(|agent| agent.order(&format!("start {}", start.ns())))?;
        Ok(Run { world, gateway, start, traffic, agents, kernel_before: KernelTime::now() })
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

    /// Waits for the end, and tells what both hosts saw.
    pub fn finish(&mut self) -> Fallible<Seen> {
        let mut all = Seen::default();
        for agent in &mut self.agents {
            all.add(serde_json::from_str(&agent.answer()?)?);
        }
        Ok(all)
    }

    /// Processor time of the machine outside of programs since the start, seconds: where the kernel forwards.
    pub fn kernel_s(&self) -> f64 {
        KernelTime::now().seconds - self.kernel_before.seconds
    }
}

impl Seen {
    /// Adds what the other host saw.
    fn add(&mut self, other: Seen) {
        fn sum(own: &mut Vec<u64>, other: Vec<u64>) {
            own.resize(own.len().max(other.len()), 0);
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
        self.flows.resize_with(self.flows.len().max(other.flows.len()), Default::default);
        for (own, other) in self.flows.iter_mut().zip(other.flows) {
            sum(&mut own.link_bytes, other.link_bytes);
            sum(&mut own.back_bytes, other.back_bytes);
            sum(&mut own.payload_bytes, other.payload_bytes);
            own.delays_ns.extend(other.delays_ns);
            own.numbers.extend(other.numbers);
            own.sent += other.sent;
            own.refused += other.refused;
        }
        sum(&mut self.strange_bytes, other.strange_bytes);
        self.missed += other.missed;
    }
}

/// What `/proc/stat` says of the time spent on interrupts' later halves, where packets are forwarded.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::FlowSeen;

    #[test]
    fn what_two_hosts_saw_of_a_flow_stands_together() {
        let mut all = Seen::default();
        let receiver = FlowSeen { link_bytes: vec![1, 2], ..FlowSeen::default() };
        let sender = FlowSeen { link_bytes: vec![0, 0], sent: 3, ..FlowSeen::default() };
        all.add(Seen { flows: vec![receiver], strange_bytes: vec![5], missed: 1 });
        all.add(Seen { flows: vec![sender], strange_bytes: vec![1], missed: 1 });
        assert_eq!((all.flows[0].link_bytes.as_slice(), all.flows[0].sent), (&[1, 2][..], 3));
        assert_eq!((all.strange_bytes, all.missed), (vec![6], 2));
    }
}
