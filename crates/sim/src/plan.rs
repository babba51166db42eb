//! What to simulate, and what comes out.

use fairwire_core::{Discipline, Duration, Rate, Seed};
use fairwire_metrics::record::{FlowRecord, LinkRecord};

/// Many sources, one bottleneck, as many sinks; ACKs return over a link that is not congested.
pub struct Dumbbell {
    /// The bottleneck, from sources to sinks.
    pub bottleneck: LinkPlan,
    /// The flows.
    pub flows: Vec<FlowPlan>,
}

/// One queued link.
pub struct LinkPlan {
    /// Its name in results.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Duration,
    /// What shares it.
    pub discipline: Box<dyn Discipline>,
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Unique name, such as `tcp.3`.
    pub name: String,
    /// The group it belongs to, such as `tcp`.
    pub group: String,
    /// What sends.
    pub source: Source,
    /// Its own link into the bottleneck, and a like one out of it.
    pub access: Access,
    /// When it starts.
    pub start: Duration,
    /// The class of its packets: a subscriber, a host, a leaf of a tree of classes; 0 for none.
    pub class: u32,
    /// The differentiated-services codepoint of its packets, 0 to 63.
    pub dscp: u8,
}

/// A link of one flow's own, never congested by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Duration,
}

/// What sends.
#[derive(Clone, Debug)]
pub enum Source {
    /// A TCP with endless data.
    Bulk {
        /// Its constants.
        tcp: fairwire_tcp::Config,
    },
    /// Constant bit rate over UDP.
    Cbr {
        /// Bits per second on the wire.
        rate: Rate,
        /// Bytes on the wire per packet.
        packet_bytes: u32,
        /// Header bytes among them, at most all, which are no goodput.
        header_bytes: u32,
        /// Each gap is scaled by a factor uniform in [1 - dither, 1 + dither]; from 0 to 1.
        dither: f64,
    },
}

/// How long, and under which seed.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Length of the run, warm-up included; longer than the warm-up.
    pub duration: Duration,
    /// What is not measured, at the start.
    pub warm_up: Duration,
    /// The seed of every random stream of the run.
    pub seed: Seed,
    /// The order of events at the same instant.
    pub tie_rule: TieRule,
}

/// The order of events at the same instant. Events have a total order under either rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// Random, from the run's seed: no flow is favoured by where it stands in the file.
    #[default]
    Random,
    /// In the order in which they were scheduled, as ns-2 does.
    Fifo,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Per flow, in the order of the plan.
    pub flows: Vec<FlowRecord>,
    /// Per queued link.
    pub links: Vec<LinkRecord>,
    /// Events handled.
    pub events: u64,
}
