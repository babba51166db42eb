//! DRR: deficit round robin.
//!
//! # What it does
//! Each flow has its own queue. The queues are visited in turn, and at each visit a queue may send
//! its quantum of bytes. If the queue's next packet is longer than the rest of the quantum, the
//! rest is kept for the next visit.
//!
//! # Why
//! Flows get equal bytes, whatever the length of their packets, without virtual time or sorting.
//! The price is delay: a packet may wait for one quantum of each other flow.
//!
//! # State and cost
//! 16 bytes per packet of buffer, plus the buffer's own, and the state and cost of
//! [LQD](crate::dropper::lqd). Service takes O(1) per packet while a quantum times the weight is at
//! least a packet, otherwise O(n) at worst for n backlogged flows.
//!
//! # Source (section, equation)
//! M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN
//! 4(3), 1996: the code of enqueueing and dequeueing.
//!
//! # Where we differ
//! - The next quantum is added when a queue moves to the end of the list, not when its turn comes.
//!   The order of service is the same.
//! - Deficits are in units of 2^-16 byte, so a quantum times a small weight is not rounded to
//!   bytes.
//! - A queue emptied by push-out loses its deficit, like one emptied by service.
//!
//! # Example
//! ```toml
//! [discipline.drr]
//! quantum = "1514 B"
//! weights = { 1 = 2.0 }
//! dropper = "lqd"
//! ```

use super::entry::{CheckedEntry, Entry, MakesRoom};
use crate::about::{About, Family};
use crate::dropper::fattest_host::FattestHost;
use crate::dropper::half_free::HalfFree;
use crate::dropper::tail_drop::TailDrop;
use crate::error::{BadParameter, Of as _, Parameter};
use crate::memory;
use crate::part::Part;
use crate::role;
use crate::scheduler::drr::Drr;
use crate::scheduler::hosts::{HostOf, HostTerms, Hosts, QUEUES};
use crate::scheduler::kind::Kind;
use crate::scheduler::quantum::Quantum;
use crate::site::Site;
use crate::spec::Quantity;
use alloc::boxed::Box;
use fairwire_core::units::Size;
use fairwire_core::{Discipline, Dropper, Duration, Queue, Queues};
use fairwire_parameters::parameters;

/// The catalogue entry.
pub const ABOUT: About = About {
    family: Family::FairQueueing,
    summary: "each flow sends a quantum of bytes in turn; the longest queue makes room",
    state: "16 bytes per packet of buffer, and the buffer's queues",
    cost: "O(1) where a quantum is a packet or more; O(log n) to push out by bytes or weight",
    marks: false,
    source: "Shreedhar and Varghese 1996",
};

const NAME: &str = "drr";

/// Parameters of `drr`.
#[parameters(gated, checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all entries with a scheduler share.
    #[parameter(flatten)]
    pub entry: Entry,
    /// The amount that a flow of weight 1 may send per round.
    ///
    /// Below the longest packet, the work per packet grows: Shreedhar and Varghese 1996.
    #[parameter(unset = "1514 B, or the typical packet if that is longer", unit = "size")]
    pub quantum: Option<Quantity<Size>>,
    /// While few flows are backlogged, their quanta grow until a round lasts this long.
    ///
    /// Each quantum grows to at most 64 KiB. A gateway joins the resulting train of packets into
    /// one packet.
    #[parameter(is = role::ROUND, unset = "none", min = "1 us", max = "1 s")]
    pub round: Option<Quantity<Duration>>,
    /// Whether hosts share equally first, and then the flows of each host.
    ///
    /// Hosts take turns by DRR++, and so do the flows of a host. Each flow has one of `queues`
    /// queues, by default 8192; with more flows, the queue that was idle longest is reassigned. The
    /// longest queue of the fattest host makes room.
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
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        let order = Kind::Drr.table_bytes(packets, self.entry.queue.queues);
        if self.shares_between_hosts() {
            order + memory::count(self.entry.queue.queues, QUEUES.into()) * (memory::LAW + memory::HOST)
        } else {
            order
        }
    }

    fn set_hosts(&mut self) -> bool {
        let has_other_queues = self.entry.queue.per.is_some() || self.entry.queue.sharing.is_some();
        let has_other_shares = self.entry.queue.weights.is_some() || self.entry.dropper.is_some();
        let shares = !has_other_queues && !has_other_shares && *self.hosts.get_or_insert(true);
        if shares {
            self.host.get_or_insert(HostOf::Flow);
        }
        shares
    }
}

impl Spec {
    fn shares_between_hosts(&self) -> bool {
        self.hosts.unwrap_or(self.host.is_some() || self.background.is_some())
    }

    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<CheckedEntry, BadParameter> {
        self.checked().of(NAME)?;
        let parameter = |name| Parameter { discipline: NAME, name };
        if self.shares_between_hosts() {
            let hosts = [
                ("weights", self.entry.queue.weights.is_some()),
                ("per", self.entry.queue.per.is_some()),
                ("sharing", self.entry.queue.sharing.is_some()),
                ("dropper", self.entry.dropper.is_some_and(|dropper| dropper != MakesRoom::Lqd)),
            ];
            if let Some((name, _)) = hosts.into_iter().find(|(_, is_typed)| *is_typed) {
                return Err(parameter(name)
                    .refuse("a value", "nothing with `hosts = true`, where hosts have equal parts"));
            }
        }
        let alone = [("host", self.host.is_some()), ("background", self.background.is_some())];
        if let Some((name, _)) =
            alone.into_iter().find(|(_, is_typed)| *is_typed && !self.shares_between_hosts())
        {
            return Err(parameter(name).refuse("a value", "nothing with `hosts = false`"));
        }
        self.entry.check(NAME, Kind::Drr, self.quantum, site)
    }

    /// Checks the parameters and builds the discipline. Unlike in [`CheckedEntry::build`], the
    /// scheduler is known at compile time, which saves a test per call.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let checked = self.check(site)?;
        let filled =
            Quantum::fixed(checked.service.quantum()).filling(self.round.map(|round| round.0), site.rate);
        if self.shares_between_hosts() {
            let host_of = self.host.unwrap_or_default();
            let hosts = HostTerms { host_of, background: self.background.unwrap_or(1) as u8 };
            let (queues, limit) = (self.entry.queue.queues.unwrap_or(QUEUES), checked.limit);
            let (scheduler, dropper) = (Hosts::new(queues, filled, hosts), FattestHost::new(queues, host_of));
            let queues = Queues::least_recently_used(queues);
            let queue = Queue::with_queues(limit, queues, scheduler, dropper);
            return Ok(Box::new(queue.with_ecn(checked.ecn.into())));
        }
        let filled = self.round.map(|_| filled);
        Ok(match checked.dropper {
            MakesRoom::Lqd => queue(&checked, filled, checked.lqd(site.rng(NAME))),
            MakesRoom::TailDrop => queue(&checked, filled, TailDrop),
            MakesRoom::HalfFree => queue(&checked, filled, HalfFree),
        })
    }
}

fn queue<D: Dropper + 'static>(
    checked: &CheckedEntry,
    filled: Option<Quantum>,
    dropper: D,
) -> Box<dyn Discipline> {
    let CheckedEntry { limit, ecn, ref service, .. } = *checked;
    let drr = Drr::new(&service.terms(limit)).filling(filled);
    Box::new(Queue::with_queues(limit, service.queues(), drr, dropper).with_ecn(ecn.into()))
}
