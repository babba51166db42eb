//! CAKE's queues: hosts share equally, then the flows of each host.
//!
//! # What it does
//! A set-associative hash assigns queues to flows, so they seldom collide. Queues are served by
//! deficit round robin, new ones first ([DRR++](crate::scheduler::drr_plus_plus) with hosts). A
//! quantum is divided by the number of bulky queues of the queue's host. Each queue has its own
//! [COBALT](crate::dropper::cobalt), and a full buffer drops from the head of the fattest queue. A
//! host is the classifier's class ([`Packet::class`](fairwire_core::Packet::class)) or the upper
//! half of the flow hash.
//!
//! # Why
//! With fairness only between flows, a host that opens ten connections gets ten shares.
//!
//! # State and cost
//! 120 bytes per queue, and an entry per bulky host. O(log queues) per packet to find the fattest
//! queue. A host's n bulky queues take n rounds to earn a quantum each, but rounds in which no
//! queue could send are credited at once. So each backlogged queue is inspected at most about four
//! times per packet sent. Each queue found empty adds four inspections.
//!
//! # Source (section, equation)
//! T. Hoiland-Jorgensen, D. Taht and J. Morton, "Piece of CAKE: a comprehensive queue management
//! solution for home gateways", IEEE LANMAN 2018: the isolation of flows and hosts.
//!
//! # Where we differ
//! - There is one tin, one type of host, and no shaper. Put a shaper in front, and choose the type
//!   of host by the classifier.
//! - `ack_filter` ([`AckFilter`]) keeps each acknowledgement with SACK blocks; CAKE drops it if the
//!   new acknowledgement has these blocks and more. The arrival must be without data, unlike in
//!   CAKE. `fairwire-link`, whose packets have no headers, refuses the option.
//! - If the filter drops, service is gated ([DRR++](crate::scheduler::drr_plus_plus)): an
//!   acknowledgement that arrives during its queue's turn waits for the next. In CAKE,
//!   acknowledgements that arrive faster than they are sent get the share of a bulky flow.
//! - `ingress` is CAKE's: dropped packets are charged like sent ones, at the initial rate of the
//!   link or of the shaper around it. At least two thirds of that rate are sent, however much is
//!   dropped. Unlike in CAKE, drops are not charged to their flow. For 150 downloads, take CAKE's
//!   buffer of 4 MB and CAKE's values for long round trips: `target = "50 ms"` and `interval = "1
//!   s"`. With the defaults, CoDel alone drops a fifth of the packets (`scenarios/ingress.toml`).
//! - As in Linux since March 2019 (commit 712639929912), only a host's bulky queues divide its
//!   quantum, not all active ones. Queues of TCP flows with small windows run empty and return as
//!   new. New queues are served first and not counted, so a host with many of them gets more than
//!   its share: on a link of 10 Mbit/s with a round trip of 32 ms, one TCP flow gets 0.44 of the
//!   link against nine flows of another host. Hosts whose queues never run empty get equal shares.
//! - By default, COBALT allows a backlog of two packets for each backlogged queue. CAKE's allowance
//!   covers only bulky queues, and exists only with the option `ingress`; `allowance = "packets"`
//!   is CAKE without that option. With `"packets"` the single TCP flow above gets 0.30.
//! - If all eight queues of a set are taken, a flow shares the first queue. In CAKE, the flow
//!   shares the queue that its hash picks.
//! - The scheduler and the dropper list their own differences.
//!
//! # Example
//! ```toml
//! [discipline.cake-like]
//! ecn = "mark"
//! queues = 1024
//! ```

use crate::about::{About, Family};
use crate::compose::fq_codel::quantum;
use crate::compose::ingress::Ingress;
use crate::compose::per_flow::PerFlow;
use crate::dropper::ack_filter::AckFilter;
use crate::dropper::cobalt::{self, Cobalt};
use crate::dropper::fattest::Fattest;
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::Part;
use crate::role;
use crate::scheduler::drr_plus_plus::DrrPlusPlus;
use crate::scheduler::hosts::HostOf;
use crate::scheduler::quantum::Quantum;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Dropper, Duration, Limit, Queue, Queues, Rng};
use fairwire_parameters::{parameters, word};

/// The description of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "hosts share equally, then the flows of each host, each under COBALT",
    state: "120 bytes per queue, 1024 queues, and an entry per bulky host",
    cost: "O(log queues), five steps for 1024, while hosts have few bulky flows each",
    marks: true,
    source: "Hoiland-Jorgensen, Taht, Morton 2018",
};

const NAME: &str = "cake-like";

/// Parameters of `cake-like`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The total size of all queues.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether CoDel's signals drop or mark ECN-capable packets.
    ///
    /// BLUE always drops.
    #[parameter(is = role::ECN, default = EcnChoice::Mark, source = "Linux's `cake` always marks.")]
    pub ecn: Option<EcnChoice>,
    /// The parameters of COBALT, which controls each queue.
    #[parameter(flatten)]
    pub cobalt: cobalt::Control,
    /// The wait that COBALT permits even if the target is shorter.
    ///
    /// See `Allowance`. CAKE uses `round` with its option `ingress`, and `packets` without it.
    #[parameter(default = Allowance::Round)]
    pub allowance: Option<Allowance>,
    /// The number of queues, a multiple of 8: they form sets of eight.
    #[parameter(is = role::QUEUES, default = 1024, min = 8, max = 65_536, unit = "queues", source = "CAKE.")]
    pub queues: Option<u32>,
    /// Bytes of credit per round.
    ///
    /// As in CAKE, a flow gets this credit if it is the only bulky flow of its host.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", min = "256 B", max = "1 MiB")]
    pub quantum: Option<Quantity<Size>>,
    /// While few flows are backlogged, their quanta grow until a round lasts this long.
    ///
    /// See `fq-codel`. CAKE has no such parameter.
    #[parameter(is = role::ROUND, unset = "none", min = "1 us", max = "1 s")]
    pub round: Option<Quantity<Duration>>,
    /// The field that identifies a packet's host.
    ///
    /// A gateway puts the host into the upper half of the flow hash.
    #[parameter(default = HostOf::Class)]
    pub host: Option<HostOf>,
    /// The waiting acknowledgements to drop when a newer one arrives.
    ///
    /// See `Filter`.
    #[parameter(default = Filter::Off, source = "CAKE.")]
    pub ack_filter: Option<Filter>,
    /// Whether dropped packets use up the rate, as sent packets do.
    ///
    /// This suits a shaper behind the slow line.
    #[parameter(default = false, source = "CAKE's option `ingress`.")]
    pub ingress: Option<bool>,
    /// The maximum number of packets that one overflow drops.
    ///
    /// CAKE drops only as many as necessary.
    #[parameter(default = 1, min = 1, unit = "packets")]
    pub batch: Option<u32>,
}

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        memory::count(self.queues, 1024) * memory::LAW
    }

    fn set_hosts(&mut self) -> bool {
        self.host.get_or_insert(HostOf::Flow);
        true
    }

    fn marks_on_a_link(&self) -> bool {
        true
    }
}

/// The wait that COBALT permits even if the target is shorter.
#[word(gated)]
pub enum Allowance {
    /// The time to send two packets of each backlogged queue, or four packets if that is longer. A
    /// flow with one turn per round needs a queue this long to keep its share.
    #[default]
    Round,
    /// The time to send four packets.
    Packets,
}

/// The waiting acknowledgements to drop as needless when one arrives that acknowledges more.
#[word(gated)]
pub enum Filter {
    /// None.
    #[default]
    Off,
    /// The first needless acknowledgement, if at least two needless ones are waiting.
    On,
    /// Also a single needless acknowledgement, if the newer one follows it immediately.
    Aggressive,
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The total size of all queues.
    pub limit: Limit,
    /// COBALT's parameters.
    pub terms: cobalt::Terms,
    /// The number of queues.
    pub queues: u32,
    /// Bytes of credit per round.
    pub quantum: u32,
    /// The maximum number of packets that one overflow drops.
    pub batch: u32,
    /// The quantum as a function of the number of backlogged flows, if `round` is given.
    pub filling: Option<Quantum>,
    /// The field that identifies a packet's host.
    pub host_of: HostOf,
}

/// CAKE's queues as built.
pub type CakeLike = Queue<DrrPlusPlus, PerFlow<Cobalt, Fattest>>;

/// Queues per set.
const WAYS: u32 = 8;

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        let steps = cobalt::Checked::default();
        let queues = given.queues;
        if !queues.is_multiple_of(WAYS) {
            return Err(Parameter::of(NAME, "queues").refuse(queues, format_args!("a multiple of {WAYS}")));
        }
        let bytes = quantum(given.quantum, site);
        Ok(Config {
            limit: site.room(NAME, self.buffer)?.limit,
            terms: cobalt::Terms {
                allows_round: given.allowance == Allowance::Round,
                ..self.cobalt.terms(NAME, self.ecn.unwrap_or(EcnChoice::Mark), steps, site)?
            },
            queues,
            quantum: bytes,
            batch: given.batch,
            filling: self.round.map(|round| Quantum::fixed(bytes).filling(Some(round.0), site.rate)),
            host_of: given.host,
        })
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (config, rng) = (self.check(site)?, site.rng(NAME));
        let is_aggressive = self.ack_filter == Some(Filter::Aggressive);
        Ok(match (self.ack_filter.unwrap_or_default(), self.ingress.unwrap_or_default()) {
            (Filter::Off, false) => Box::new(config.queue(rng)),
            (Filter::Off, true) => Box::new(Ingress::new(config.queue(rng), site.rate)),
            (_, false) => Box::new(config.filtered(rng, is_aggressive)),
            (_, true) => Box::new(Ingress::new(config.filtered(rng, is_aggressive), site.rate)),
        })
    }
}

impl Config {
    /// The discipline, with `rng` for random decisions.
    pub fn queue(&self, rng: Rng) -> CakeLike {
        self.with(rng, |dropper| dropper)
    }

    fn filtered(
        &self,
        rng: Rng,
        is_aggressive: bool,
    ) -> Queue<DrrPlusPlus<true>, AckFilter<PerFlow<Cobalt, Fattest>>> {
        self.with(rng, |dropper| AckFilter::new(dropper, is_aggressive))
    }

    fn with<const GATED: bool, D: Dropper>(
        &self,
        mut rng: Rng,
        dropper: impl FnOnce(PerFlow<Cobalt, Fattest>) -> D,
    ) -> Queue<DrrPlusPlus<GATED>, D> {
        let queues = Queues::set_associative(self.queues / WAYS, WAYS, rng.next_u64());
        let scheduler = DrrPlusPlus::new(self.queues, self.quantum).with_hosts(self.host_of);
        let scheduler = match self.filling {
            Some(quantum) => scheduler.filling(quantum),
            None => scheduler,
        };
        let common = cobalt::Common::new(self.terms, rng);
        let dropper = dropper(PerFlow::new(self.queues, common, Fattest::new(self.queues, self.batch)));
        Queue::with_queues(self.limit, queues, scheduler, dropper).with_ecn(self.terms.ecn)
    }
}
