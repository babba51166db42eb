//! What is to be simulated.

use crate::app::{Load, Traffic};
use crate::endpoint::Endpoints;
use fairwire_core::{Discipline, Duration, Ecn, Marker, Rate, RateLaw, Seed, Wire};
use fairwire_metrics::marks::EstimatorPlan;
use fairwire_metrics::presence::Presence;
use fairwire_metrics::record::{FlowRecord, LinkRecord, TransferRecord};

/// Links with queues, and the flows that go over them.
pub struct Network {
    /// The queued links, each in one direction; a [`Hop::Link`] names one by its place here.
    pub links: Vec<LinkPlan>,
    /// The flows.
    pub groups: Vec<GroupPlan>,
    /// What edges know of them; a group belongs to one aggregate at most.
    pub aggregates: Vec<AggregatePlan>,
}

/// Groups of flows with one contract: coloured together where they enter the first queue on their
/// way, and watched together where they have left the last.
pub struct AggregatePlan {
    /// Unique name.
    pub name: String,
    /// Its groups, by their places in [`Network::groups`].
    pub groups: Vec<usize>,
    /// What gives its packets their colours.
    pub marker: Box<dyn Marker>,
    /// What the marker hears of the marks that its packets met; without one it hears nothing.
    pub estimator: Option<EstimatorPlan>,
}

/// A link at which packets wait, in one direction.
pub struct LinkPlan {
    /// Unique name, such as `bottleneck`.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// How its rate changes.
    pub law: RateLaw,
    /// Its propagation delay, one way.
    pub delay: Duration,
    /// Its wire, where that has faults.
    pub wire: Option<Wire>,
    /// What shares it.
    pub discipline: Box<dyn Discipline>,
}

/// Flows that are alike but for when they start and how far away they are.
///
/// Those that go several ways are as many plans of one name, one after the other: their numbers go
/// on from plan to plan.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// The name of the group, such as `tcp`. Flow number 3 of it is called `tcp.3`.
    pub name: String,
    /// The source of a flow's packets.
    pub source: Source,
    /// From the source's access link to the sink's.
    pub forward: Vec<Hop>,
    /// From the sink's access link to the source's: the way of acknowledgements.
    pub back: Vec<Hop>,
    /// The rate of each flow's own link, at either end.
    pub access_rate: Rate,
    /// The class of its packets: a subscriber, a host, a leaf of a tree of classes; 0 for none.
    pub class: u32,
    /// The differentiated-services codepoint of its packets, 0 to 63.
    pub dscp: u8,
    /// The ECN codepoint of its datagrams, but for those that have their own. TCP has its own.
    pub ecn: Ecn,
    /// The flows, numbered from 1, or from where the plan before it with the same name ends.
    pub members: Vec<Member>,
    /// When each of them sends; empty for from its start to the end of the run. The first on-time
    /// begins with the flow's own start, whatever is given here.
    pub on: Vec<OnTime>,
}

/// A time in which a flow sends, counted from the start of the run. At its end nothing new is sent;
/// of TCP, what was sent is repaired. The next begins with new connections and as if it were the
/// first: the window, the place in a capture and what a user waited for are forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnTime {
    /// When it begins.
    pub from: Duration,
    /// When it ends; later than that, and no later than the next begins.
    pub until: Duration,
}

impl GroupPlan {
    /// How many flows of the engine each member is at a time: a user of TCP may have several
    /// connections.
    pub(crate) fn connections(&self) -> usize {
        match &self.source {
            Source::Tcp { load, .. } => usize::from(load.connections()),
            _ => 1,
        }
    }

    /// How many flows of the engine each member is: each on-time has its own.
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

/// What one flow of a group has for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// When it starts.
    pub start: Duration,
    /// The propagation delay of its access link, one way; the same at either end.
    pub access_delay: Duration,
}

/// A part of the way between the access links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A queued link, by its place in [`Network::links`].
    Link(u32),
    /// A link that is never congested: it takes its time, and no packet waits for another flow's.
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
    /// A TCP with endless data.
    Bulk {
        /// Its constants.
        tcp: fairwire_tcp::Config,
    },
    /// A user of TCP, with one connection or several. Its record is of all of them together.
    Tcp {
        /// The constants of each connection.
        tcp: fairwire_tcp::Config,
        /// What it requests of them.
        load: Load,
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
    /// Any other source of datagrams.
    Datagrams {
        /// How they come.
        traffic: Traffic,
        /// Header bytes of each packet, at most all of it, which are no goodput.
        header_bytes: u32,
    },
    /// A protocol of another crate, with its own two ends.
    Endpoints {
        /// What makes them.
        endpoints: Endpoints,
        /// Header bytes of each packet, which are no goodput.
        header_bytes: u32,
    },
}

impl Network {
    /// How many flows the engine has: a user of TCP may have several connections.
    pub(crate) fn flow_count(&self) -> usize {
        self.groups.iter().map(|group| group.members.len() * group.flows_each()).sum()
    }

    /// One queued link that all flows share; acknowledgements come back over a link like it that
    /// others do not congest.
    pub fn dumbbell(bottleneck: LinkPlan, mut groups: Vec<GroupPlan>) -> Self {
        let back = Hop::Wire { rate: bottleneck.rate, delay: bottleneck.delay };
        for group in &mut groups {
            group.forward = vec![Hop::Link(0)];
            group.back = vec![back];
        }
        Network { links: vec![bottleneck], groups, aggregates: Vec::new() }
    }
}

/// The settings of a run: its length, warm-up and seed.
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
    /// Random, from the run's seed: no flow is favoured by its place in the file.
    #[default]
    Random,
    /// In the order in which they were scheduled, as ns-2 does.
    Fifo,
}

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Per member of a group, in the order of the plan.
    pub flows: Vec<FlowRecord>,
    /// Per queued link.
    pub links: Vec<LinkRecord>,
    /// Per group whose transfers are timed, and kind of them.
    pub transfers: Vec<TransferRecord>,
    /// Per aggregate, in the order of the plan.
    pub aggregates: Vec<AggregateCount>,
    /// When each member was on, where a group has on-times.
    pub presence: Option<Presence>,
    /// Events handled, without timers and polls of links that had lost their meaning when they came
    /// up.
    pub events: u64,
}

/// The counts of an aggregate after the warm-up.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCount {
    /// Its name.
    pub name: String,
    /// Its marker's target rate, mean over the time, bit/s; `None` where the marker hears nothing.
    pub target_bps: Option<f64>,
    /// Packets that entered.
    pub entered: u64,
    /// Green packets among them.
    pub green: u64,
    /// Green packets that left.
    pub green_left: u64,
    /// Packets with a mark among those.
    pub green_marked: u64,
}
