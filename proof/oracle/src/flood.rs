//! Contests under kernel disciplines that a machine may lack. Nine CUBIC flows compete with UDP at
//! twice the link rate, as in the contests of `fairwire-field`.

use fairwire_core::Seed;
use fairwire_stages::linux::contest::{Class, Contest};
use fairwire_testbed::traffic::Sends;

/// A kernel discipline under the flood.
#[derive(Clone, Copy, Debug)]
pub struct Flood {
    /// Its name.
    pub name: &'static str,
    /// The discipline with its parameters, in the form of `tc`.
    pub kernel: &'static str,
    /// The kernel module of the discipline; `None` if it is always built in.
    module: Option<&'static str>,
}

/// All floods.
pub static FLOODS: [Flood; 3] = [
    Flood {
        name: "flood-fq-codel",
        kernel: "fq_codel limit 1000 flows 1024 quantum 1514 target 5ms interval 100ms noecn",
        module: Some("sch_fq_codel"),
    },
    Flood {
        name: "flood-cake",
        kernel: "cake unlimited besteffort flows noatm nonat nowash no-ack-filter no-split-gso",
        module: Some("sch_cake"),
    },
    Flood { name: "flood-pfifo", kernel: "pfifo limit 66", module: None },
];

/// The number of runs of each flood.
pub const RUNS: u64 = 6;

/// The bytes that the kernel counts for a 1500-byte IP packet with its Ethernet header.
const FRAME: u32 = 1514;
const HEADERS: u32 = 14 + 20 + 8;

/// The flood called `name`.
pub fn find(name: &str) -> Option<&'static Flood> {
    FLOODS.iter().find(|flood| flood.name == name)
}

impl Flood {
    /// The contest of the run with `seed`. Flows start within the first second.
    pub fn contest(&self, seed: u64) -> Contest {
        let class = |sends, flows| Class { sends, flows, rtt_ns: 10_000_000, ecn: false };
        let udp = Sends::Udp { bps: 20_000_000, payload: FRAME - HEADERS, counted: FRAME };
        let classes = vec![class(Sends::Tcp("cubic".into()), 9), class(udp, 1)];
        let mut rng = Seed(seed).stream("starts");
        let flows = classes.iter().map(|class| class.flows).sum();
        Contest {
            rate_bps: 10_000_000,
            changes: Vec::new(),
            overhead: 0,
            mtu: 1500,
            discipline: self.kernel.into(),
            modules: self.module.iter().map(ToString::to_string).collect(),
            classes,
            starts: (0..flows).map(|_| u64::from(rng.below(1000)) * 1_000_000).collect(),
            warm_up_ns: 12_000_000_000,
            duration_ns: 37_000_000_000,
            faults: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_found_by_its_name_and_has_a_start_for_each_flow() {
        for flood in &FLOODS {
            let found = find(flood.name).expect("it is listed");
            assert!(std::ptr::eq(found, flood), "{} is listed twice", flood.name);
            let contest = flood.contest(1);
            assert_eq!(contest.starts.len(), 10);
            assert!(contest.starts.iter().all(|start| *start < 1_000_000_000));
            assert_ne!(contest.starts, flood.contest(2).starts);
        }
    }
}
