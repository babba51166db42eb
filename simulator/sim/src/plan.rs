//! The plan of a simulation.

use crate::app::{Load, Traffic};
use crate::endpoint::Endpoints;
use fairwire_core::{Discipline, Duration, Ecn, Marker, Rate, RateLaw, Seed, Wire};
use fairwire_metrics::marks::EstimatorPlan;
use fairwire_metrics::presence::Presence;
use fairwire_metrics::record::{FlowRecord, LinkRecord, TransferRecord};

/// Links with queues, and the flows that cross them.
pub struct Network {
    /// The queued links, each in one direction. [`Hop::Link`] refers to a link by its index here.
    pub links: Vec<LinkPlan>,
    /// The flows.
    pub groups: Vec<GroupPlan>,
    /// The aggregates of the differentiated-services domain. A group belongs to at most one.
    pub aggregates: Vec<AggregatePlan>,
}

/// Groups of flows with one contract. Their packets are coloured together where they enter the
/// first queue of their path, and observed together after the last queue.
pub struct AggregatePlan {
    /// Unique name.
    pub name: String,
    /// The aggregate's groups, by their indices in [`Network::groups`].
    pub groups: Vec<usize>,
    /// Colours its packets.
    pub marker: Box<dyn Marker>,
    /// The estimator, which reports the packets' marks to the marker. Without it, the marker
    /// receives no requests.
    pub estimator: Option<EstimatorPlan>,
}

/// A link with a queue, in one direction.
pub struct LinkPlan {
    /// Unique name, such as `bottleneck`.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// How the link's rate changes.
    pub law: RateLaw,
    /// The link's propagation delay, one way.
    pub delay: Duration,
    /// The wire behind the link, if it has faults.
    pub wire: Option<Wire>,
    /// The discipline that shares the link.
    pub discipline: Box<dyn Discipline>,
}

/// Flows that differ only in their start and their distance.
///
/// A group whose flows have several paths is a sequence of plans with one name.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// The name of the group, such as `tcp`. Flow number 3 of it is called `tcp.3`.
    pub name: String,
    /// The source of a flow's packets.
    pub source: Source,
    /// The path from the source's access link to the sink's.
    pub forward: Vec<Hop>,
    /// The path from the sink's access link to the source's, which acknowledgements take.
    pub back: Vec<Hop>,
    /// The rate of each flow's access link, at either end.
    pub access_rate: Rate,
    /// The class of the flows' packets: a subscriber, a host, or a leaf of a tree of classes; 0 for
    /// none.
    pub class: u32,
    /// The differentiated-services codepoint of the flows' packets, 0 to 63.
    pub dscp: u8,
    /// The ECN codepoint of datagrams whose source sets none. TCP sets its own codepoint.
    pub ecn: Ecn,
    /// The flows. Their numbers start at 1, or continue those of the preceding plan with the same
    /// name.
    pub members: Vec<Member>,
    /// The times in which each member sends. The first on-time always begins with the flow's own
    /// start. Without on-times, a member sends from its own start to the end of the run.
    pub on: Vec<OnTime>,
}

/// A time in which a flow sends, counted from the start of the run. After its end, TCP only repairs
/// earlier data. The next on-time uses new connections and forgets the window, the position in a
/// capture and a user's pending request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnTime {
    /// When it begins.
    pub from: Duration,
    /// When the on-time ends: later than `from`, and no later than the next on-time begins.
    pub until: Duration,
}

impl GroupPlan {
    pub(crate) fn connections(&self) -> usize {
        match &self.source {
            Source::Tcp { load, .. } => usize::from(load.connections()),
            _ => 1,
        }
    }

    pub(crate) fn flows_each(&self) -> usize {
        self.connections() * self.on.len().max(1)
    }

    /// When `member` sends.
    pub fn on_times(&self, member: Member) -> impl Iterator<Item = OnTime> {
        let all = OnTime { from: Duration::ZERO, until: Duration::from_ns(u64::MAX) };
        let first = self.on.first().copied().unwrap_or(all);
        let first = OnTime { from: member.start, ..first };
        std::iter::once(first).chain(self.on.iter().skip(1).copied())
    }
}

/// The properties of one flow that its group does not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// When it starts.
    pub start: Duration,
    /// The one-way propagation delay of the flow's access link, the same at both ends.
    pub access_delay: Duration,
}

/// A link of the path between the access links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A queued link, by its index in [`Network::links`].
    Link(u32),
    /// A link that is never congested. It delays packets, but packets of different flows never wait
    /// for each other.
    Wire {
        /// Its rate.
        rate: Rate,
        /// Its propagation delay.
        delay: Duration,
    },
}

/// The source of a flow's packets.
#[derive(Clone, Debug)]
pub enum Source {
    /// A TCP with unlimited data.
    Bulk {
        /// Its constants.
        tcp: fairwire_tcp::Config,
    },
    /// A user of TCP with one or more connections. All connections share one record.
    Tcp {
        /// The constants of each connection.
        tcp: fairwire_tcp::Config,
        /// Its requests.
        load: Load,
    },
    /// Constant bit rate over UDP.
    Cbr {
        /// Bits per second on the wire.
        rate: Rate,
        /// Bytes on the wire per packet.
        packet_bytes: u32,
        /// Header bytes included in `packet_bytes`; they are not goodput.
        header_bytes: u32,
        /// From 0 to 1: each gap is scaled by a factor uniform in [1 - dither, 1 + dither].
        dither: f64,
    },
    /// Any other datagram source.
    Datagrams {
        /// How the datagrams are generated.
        traffic: Traffic,
        /// Header bytes of each packet, at most the complete packet; they are not goodput.
        header_bytes: u32,
    },
    /// An external protocol, which provides both ends.
    Endpoints {
        /// Creates both ends.
        endpoints: Endpoints,
        /// Header bytes of each packet; they are not goodput.
        header_bytes: u32,
    },
}

impl Network {
    pub(crate) fn flow_count(&self) -> usize {
        self.groups.iter().map(|group| group.members.len() * group.flows_each()).sum()
    }

    /// A network with one queued link that all flows share. Acknowledgements return over a similar
    /// link without other traffic.
    pub fn dumbbell(bottleneck: LinkPlan, mut groups: Vec<GroupPlan>) -> Self {
        let back = Hop::Wire { rate: bottleneck.rate, delay: bottleneck.delay };
        for group in &mut groups {
            group.forward = vec![Hop::Link(0)];
            group.back = vec![back];
        }
        Network { links: vec![bottleneck], groups, aggregates: Vec::new() }
    }
}

/// The settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Length of the run, including the warm-up; longer than the warm-up.
    pub duration: Duration,
    /// The unmeasured time at the start.
    pub warm_up: Duration,
    /// The seed of every random stream of the run.
    pub seed: Seed,
    /// The order of events at the same instant.
    pub tie_rule: TieRule,
}

/// The order of simultaneous events. It is total under either rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// Random, from the run's seed: no flow is favoured by its position in the file.
    #[default]
    Random,
    /// In scheduling order, as in ns-2.
    Fifo,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// One record per member of a group, in the order of the plan.
    pub flows: Vec<FlowRecord>,
    /// Per queued link.
    pub links: Vec<LinkRecord>,
    /// One record for each type of transfer in each group with timed transfers.
    pub transfers: Vec<TransferRecord>,
    /// One count per aggregate, in the order of the plan.
    pub aggregates: Vec<AggregateCount>,
    /// When each member was on, if a group has on-times.
    pub presence: Option<Presence>,
    /// The number of events handled, without stale timers and stale polls of links.
    pub events: u64,
}

/// The counts of an aggregate after the warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCount {
    /// Its name.
    pub name: String,
    /// The marker's target rate, averaged over time, bit/s; `None` if the marker receives no
    /// requests.
    pub target_bps: Option<f64>,
    /// Packets that entered.
    pub entered: u64,
    /// The number of green packets that entered.
    pub green: u64,
    /// The number of green packets that left.
    pub green_left: u64,
    /// The number of green packets that were marked when they left.
    pub green_marked: u64,
}
