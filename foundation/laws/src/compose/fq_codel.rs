//! FQ-CoDel: flow queueing with CoDel.
//!
//! # What it does
//! Flows are hashed into queues, which are served by deficit round robin, new ones first
//! ([DRR++](crate::scheduler::drr_plus_plus)). Each queue has its own
//! [CoDel](crate::dropper::codel). A full buffer drops from the head of the [fattest
//! queue](crate::dropper::fattest), up to half of it at once.
//!
//! # Why
//! Each flow has its own share and delay, and a flow that sends little waits for no other. CoDel
//! keeps each bulky flow's queue short.
//!
//! # State and cost
//! 90 bytes per queue, and each packet's links. O(log queues) per packet, to track the fattest
//! queue.
//!
//! # Source (section, equation)
//! RFC 8290, sections 4 and 5.
//!
//! # Where we differ
//! - The buffer is the site's, to compare disciplines under one limit.
//! - Linux has other rules, which `rules = "linux"` adopts. CoDel compares the backlog of all
//!   queues with `mtu`. A new queue that is found empty is removed if no old queues wait, instead
//!   of moving to the old ones. A queue continues to signal until it is polled and found empty.
//!   Packets dropped by an overflow count as signals. With `arithmetic = "linux"` as well, each
//!   packet meets the same fate as in the kernel (see *Linux as an oracle* in the documentation).
//! - Half of a queue is half of its bytes, as in Linux; the RFC's section 4.1 has half of its
//!   packets.
//! - On overflow, packets are dropped before the arrival enters, but the arrival counts as if it
//!   were in its queue.
//! - CoDel gives no signal while its own queue holds at most `mtu`, as in RFC 8289. In Linux nearly
//!   every queue can be signalled, which shortens delay on slow links with many flows. Here `mtu =
//!   "0 B"` shortens it.
//!
//! # Example
//! ```toml
//! [discipline.fq-codel]
//! buffer = "10240 packets"
//! ecn = "mark"
//! ```

use crate::about::{About, Family};
use crate::compose::per_flow::PerFlow;
use crate::dropper::codel::{self, Codel, Rules};
use crate::dropper::fattest::Fattest;
use crate::dropper::fattest_host::FattestHost;
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::Part;
use crate::role;
use crate::scheduler::drr_plus_plus::DrrPlusPlus;
use crate::scheduler::hosts::QUEUES;
use crate::scheduler::hosts::{self, HostOf, HostTerms, Hosts};
use crate::scheduler::quantum::Quantum;
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use alloc::boxed::Box;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Duration, Limit, Queue, Queues};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "hashed queues served in turn, new ones first, each under CoDel",
    state: "90 bytes per queue, 1024 queues",
    cost: "O(log queues), five steps for 1024",
    marks: true,
    source: "RFC 8290",
};

const NAME: &str = "fq-codel";

/// Parameters of `fq-codel`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The total size of all queues.
    #[parameter(is = role::BUFFER, unset = "the site's", source = "RFC 8290, section 5.2.3, has 10240 packets.")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether CoDel's signals drop or mark ECN-capable packets.
    #[parameter(is = role::ECN, default = EcnChoice::Mark, source = "Linux's `fq_codel` has `ecn` by default.")]
    pub ecn: Option<EcnChoice>,
    /// The parameters of CoDel, which controls each queue.
    #[parameter(flatten)]
    pub codel: codel::Control,
    /// Whether queues are listed, removed and signalled as in RFC 8290 or as in Linux.
    ///
    /// See *Where we differ*.
    #[parameter(default = Rules::Rfc)]
    pub rules: Option<Rules>,
    /// The number of queues.
    ///
    /// Flows that collide share a queue.
    #[parameter(
        is = role::QUEUES,
        unset = "1024, or 8192 with `hosts`",
        min = 1,
        max = 65_536,
        unit = "queues",
        source = "RFC 8290, section 5.2.5."
    )]
    pub queues: Option<u32>,
    /// Bytes of credit per round.
    ///
    /// 300 B favours small packets.
    #[parameter(
        unset = "1514 B, or the typical packet if that is longer",
        min = "256 B",
        max = "1 MiB",
        source = "RFC 8290, section 5.2.4."
    )]
    pub quantum: Option<Quantity<Size>>,
    /// While few flows are backlogged, their quanta grow until a round lasts this long.
    ///
    /// Each quantum grows to at most 64 KiB. A gateway joins the resulting train of packets into
    /// one packet.
    #[parameter(is = role::ROUND, unset = "none", min = "1 us", max = "1 s")]
    pub round: Option<Quantity<Duration>>,
    /// Whether hosts share equally first, and then the flows of each host.
    ///
    /// Hosts take turns by DRR++, and so do the flows of a host. Each flow has one queue; with more
    /// flows than queues, the queue that was idle longest is reassigned. The longest queue of the
    /// fattest host makes room.
    #[parameter(unset = "false, or true with `host` or `background`", unit = "boolean")]
    pub hosts: Option<bool>,
    /// The field that identifies a packet's host, if `hosts` is true.
    ///
    /// A gateway puts the host into the upper half of the flow hash.
    #[parameter(default = HostOf::Class)]
    pub host: Option<HostOf>,
    /// The factor by which the share of a background flow (LE or CS1, RFC 8622) is smaller than the
    /// share of another flow of its host, if `hosts` is true.
    #[parameter(default = 1, min = 1, max = 255, unit = "1", source = "CAKE's lowest tin has 16.")]
    pub background: Option<u32>,
    /// The maximum number of packets that one overflow drops; always 1 with `hosts`.
    #[parameter(default = 64, min = 1, unit = "packets", source = "RFC 8290, section 4.1.")]
    pub batch: Option<u32>,
}

/// The target that `set_hosts` sets if none is given. If hosts share first, a waiting flow delays
/// only itself. CUBIC needs a target of 0.43 of its round trip, so with 5 ms a host's only download
/// would lose throughput.
const HOSTS_TARGET: Duration = Duration::from_ms(15);

impl Part for Spec {
    fn table_bytes(&self, _packets: u64) -> u64 {
        match self.shares_between_hosts() {
            true => memory::count(self.queues, QUEUES.into()) * (memory::LAW + memory::HOST),
            false => memory::count(self.queues, 1024) * memory::LAW,
        }
    }

    fn set_hosts(&mut self) -> bool {
        self.codel.target.get_or_insert(Quantity(HOSTS_TARGET));
        let shares = self.batch.is_none() && self.rules.is_none() && *self.hosts.get_or_insert(true);
        if shares {
            self.host.get_or_insert(HostOf::Flow);
        }
        shares
    }

    fn marks_on_a_link(&self) -> bool {
        true
    }
}

/// A checked [`Spec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The total size of all queues.
    pub limit: Limit,
    /// CoDel's parameters.
    pub terms: codel::Terms,
    /// The number of queues.
    pub queues: u32,
    /// Bytes of credit per round.
    pub quantum: u32,
    /// The maximum number of packets that one overflow drops.
    pub batch: u32,
    /// The quantum as a function of the number of backlogged flows, if `round` is given.
    pub filling: Option<Quantum>,
    /// The terms of hosts and flows, if hosts share equally first.
    pub hosts: HostTerms,
}

/// FQ-CoDel as built.
pub type FqCodel = Queue<DrrPlusPlus, PerFlow<Codel, Fattest>>;

impl Spec {
    fn shares_between_hosts(&self) -> bool {
        self.hosts.unwrap_or(self.host.is_some() || self.background.is_some())
    }

    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let given = self.checked().of(NAME)?;
        self.check_hosts()?;
        let queues = if self.shares_between_hosts() { hosts::QUEUES } else { 1024 };
        let bytes = quantum(given.quantum, site);
        let filling = |Quantity(round)| Quantum::fixed(bytes).filling(Some(round), site.rate);
        Ok(Config {
            limit: site.room(NAME, self.buffer)?.limit,
            terms: codel::Terms {
                rules: given.rules,
                ..self.codel.terms(NAME, self.ecn.unwrap_or(EcnChoice::Mark), site)?
            },
            queues: given.queues.unwrap_or(queues),
            quantum: bytes,
            batch: given.batch,
            filling: self.round.map(filling),
            hosts: HostTerms { host_of: given.host, background: given.background as u8 },
        })
    }

    fn check_hosts(&self) -> Result<(), BadParameter> {
        let alone = [("host", self.host.is_some()), ("background", self.background.is_some())];
        if let Some((name, _)) =
            alone.into_iter().find(|(_, is_typed)| *is_typed && !self.shares_between_hosts())
        {
            return Err(Parameter::of(NAME, name).refuse("a value", "nothing with `hosts = false`"));
        }
        let foreign = [("batch", self.batch.is_some()), ("rules", self.rules == Some(Rules::Linux))];
        match foreign.into_iter().find(|(_, is_typed)| *is_typed && self.shares_between_hosts()) {
            Some((name, _)) => Err(Parameter::of(NAME, name).refuse(
                "a value",
                "nothing with `hosts = true`: one packet at a time makes room, and rules are the RFC's",
            )),
            None => Ok(()),
        }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let config = self.check(site)?;
        if self.shares_between_hosts() {
            return Ok(Box::new(config.queue_of_hosts()));
        }
        Ok(Box::new(config.queue(site.rng(NAME).next_u64())))
    }
}

impl Config {
    /// The discipline; `salt` decides which flows collide.
    pub fn queue(&self, salt: u64) -> FqCodel {
        let mut scheduler = DrrPlusPlus::new(self.queues, self.quantum);
        if let Some(quantum) = self.filling {
            scheduler = scheduler.filling(quantum);
        }
        let mut dropper = PerFlow::new(self.queues, self.terms, Fattest::new(self.queues, self.batch));
        if self.terms.rules == Rules::Linux {
            (scheduler, dropper) = (scheduler.letting_go(), dropper.seeing_all());
        }
        let queues = Queues::hashed(self.queues, salt);
        Queue::with_queues(self.limit, queues, scheduler, dropper).with_ecn(self.terms.ecn)
    }

    pub(crate) fn queue_of_hosts(&self) -> Queue<Hosts, PerFlow<Codel, FattestHost>> {
        let quantum = self.filling.unwrap_or(Quantum::fixed(self.quantum));
        let dropper =
            PerFlow::new(self.queues, self.terms, FattestHost::new(self.queues, self.hosts.host_of));
        let queues = Queues::least_recently_used(self.queues);
        let scheduler = Hosts::new(self.queues, quantum, self.hosts);
        Queue::with_queues(self.limit, queues, scheduler, dropper).with_ecn(self.terms.ecn)
    }
}

/// The quantum in bytes. Below 256 B a packet would take many rounds; above 1 MiB service would
/// only get burstier.
pub(crate) fn quantum(given: Option<Size>, site: &Site<'_>) -> u32 {
    given.map_or(site.packet_bytes.clamp(1514, 1 << 20), |quantum| quantum.0 as u32)
}
