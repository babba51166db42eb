//! LQD with bins: nearly the longest queue drop, in O(1).
//!
//! # What it does
//! Sorts the queues into bins by length, each bin twice as wide as the one below: 1, 2 to 3, 4 to 7
//! and so on. When the buffer is full, a queue of the highest bin in use loses its oldest packet.
//!
//! The `weights` of the `scheduler` set the queues' shares of the buffer as in [LQD](super::lqd).
//!
//! # Why
//! The queue that loses is always more than half as long as the longest. A single register, as in
//! ALQD, has no such bound.
//!
//! # State and cost
//! A link of 12 bytes per packet of buffer (16 with weights), and 80 bins in total. O(1).
//!
//! # Source (section, equation)
//! B. Suter, T. V. Lakshman, D. Stiliadis and A. K. Choudhury, "Design Considerations for
//! Supporting TCP with Per-flow Queueing", INFOCOM 1998: section IV.
//!
//! # Where we differ
//! - The paper takes any queue of the highest bin. Here it is the queue that has been in the bin
//!   longest without a loss, so none loses many packets in a row.
//! - The paper leaves the widths open. They double here, so one instruction finds the bin.
//! - In the paper a queue moves by at most one bin. In bytes it may pass several.
//! - With weights the bin is that of q/w, the length of the queue divided by its weight. LQD
//!   instead compares each queue's excess over its share. That excess changes whenever another
//!   queue appears or empties, and the bins could not follow.
//! - `drop = "tail"` and the weight of a queue are as in LQD.
//!
//! # Example
//! ```toml
//! [discipline.lqd-binned]
//! buffer = "780 packets"
//! drop = "tail"
//! ```

use crate::about::{About, Family};
use crate::dropper::push_out::{self, Config, Shares};
use crate::error::BadParameter;
use crate::part::Part;
use crate::queueing::CheckedQueue;
use crate::site::Site;
use alloc::boxed::Box;
use alloc::vec;
use core::num::NonZeroU8;
use fairwire_core::{
    Buffer, Discipline, Dropper, FlowKey, Needs, Packet, Probe, SetWeightError, Time, Victim, Weight,
};
use fairwire_parameters::parameters;

/// This discipline's catalogue entry.
pub const ABOUT: About = About {
    family: Family::PushOut,
    summary: "a full buffer drops from the front of a queue at least half as long as the longest",
    state: "12 bytes per packet of buffer; 16 with weights",
    cost: "O(1)",
    marks: false,
    source: "Suter, Lakshman, Stiliadis, Choudhury 1998, section IV",
};

const NAME: &str = "lqd-binned";

/// Parameters of `lqd-binned`.
#[parameters(gated)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The parameters that all push-out droppers share.
    #[parameter(flatten)]
    pub parameters: push_out::Parameters,
}

impl Part for Spec {
    fn drops_by_place(&self) -> bool {
        true
    }
}

impl Spec {
    /// Checks the parameters against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(CheckedQueue, Config), BadParameter> {
        self.parameters.check(NAME, site)
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (queue, config) = self.check(site)?;
        Ok(queue.serve(LqdBinned::new(config)))
    }
}

/// The exponent of bin 0. The least weighted length, one packet at the greatest weight of 10^6, has
/// the exponent -20: bin 1.
const LOWEST: i32 = -21;
/// The number of bins, including bin 0, which is never used. Buffers reach 2^39 bytes, and weights
/// are at least 10^-6, so weighted lengths are below 2^60.
const BINS: usize = LAST_BIN as usize + 1;
const LAST_BIN: u8 = 80;

/// `length` must be above zero.
#[inline]
fn bin_of(length: u64) -> NonZeroU8 {
    numbered(length.ilog2().cast_signed())
}

#[inline]
fn bin_of_weighted(length: u64, weight: f64) -> NonZeroU8 {
    numbered(((length as f64 / weight).to_bits() >> 52) as i32 - 1023) // of a number above zero, and not subnormal
}

/// The bin of lengths from 2^exponent to below twice that.
#[inline]
fn numbered(exponent: i32) -> NonZeroU8 {
    NonZeroU8::new((exponent - LOWEST).clamp(1, i32::from(LAST_BIN)) as u8).expect("1 or more")
}

#[derive(Clone, Copy, Debug)]
struct Link {
    before: FlowKey,
    after: FlowKey,
    /// Never 0, so an `Option<Link>` takes no more space than a `Link`.
    bin: NonZeroU8,
}

const _: () = assert!(size_of::<Option<Link>>() == 12);

/// The dropper of [LQD with bins](self).
#[derive(Debug)]
pub struct LqdBinned {
    config: Config,
    shares: Shares,
    /// Each flow's link; `None` without backlog.
    links: Box<[Option<Link>]>,
    /// For each bin, the queue that loses next.
    bins: [Option<FlowKey>; BINS],
    /// A bit for each bin in use.
    used: u128,
}

const LINKED: &str = "a backlogged queue is in a bin";

impl LqdBinned {
    /// An LQD whose bins are empty.
    pub fn new(config: Config) -> Self {
        let links = vec![None; config.limit.max_packets() as usize].into();
        LqdBinned { shares: Shares::new(&config), config, links, bins: [None; BINS], used: 0 }
    }

    #[inline]
    fn highest(&self) -> Option<u8> {
        self.used.checked_ilog2().map(|bin| bin as u8)
    }

    #[inline]
    fn linked(&mut self, flow: FlowKey) -> &mut Link {
        self.links[flow.index()].as_mut().expect(LINKED)
    }

    #[inline]
    fn link(&mut self, flow: FlowKey, bin: NonZeroU8) {
        let at = usize::from(bin.get());
        let (before, after) = match self.bins[at] {
            Some(first) => {
                let last = core::mem::replace(&mut self.linked(first).before, flow);
                self.linked(last).after = flow;
                (last, first)
            }
            None => {
                self.bins[at] = Some(flow);
                self.used |= 1 << at;
                (flow, flow)
            }
        };
        self.links[flow.index()] = Some(Link { before, after, bin });
    }

    #[inline]
    fn unlink(&mut self, flow: FlowKey) {
        let Link { before, after, bin } = self.links[flow.index()].take().expect(LINKED);
        let at = usize::from(bin.get());
        if after == flow {
            self.bins[at] = None;
            self.used &= !(1 << at);
            return;
        }
        self.linked(before).after = after;
        self.linked(after).before = before;
        if self.bins[at] == Some(flow) {
            self.bins[at] = Some(after);
        }
    }
}

impl Dropper for LqdBinned {
    fn needs(&self) -> Needs {
        Needs::QUEUES
    }

    #[inline]
    fn victim(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Victim {
        let Some(bin) = self.highest() else { return Victim::Arrival };
        let first = self.bins[usize::from(bin)].expect("its bit is set");
        self.bins[usize::from(bin)] = Some(self.linked(first).after);
        self.config.victim(first, packet, buffer)
    }

    #[inline]
    fn tracked(&mut self, packet: &Packet, flow: FlowKey, inside: bool, buffer: &Buffer) {
        self.shares.tracked(packet, flow, inside, buffer);
        if buffer.flow_backlog(flow).packets == 0 {
            return self.unlink(flow);
        }
        let length = self.config.length(flow, buffer).max(1); // a packet of no bytes still waits
        let bin = match self.shares.are_equal() {
            true => bin_of(length),
            false => bin_of_weighted(length, self.shares.weight(flow)),
        };
        match self.links[flow.index()] {
            Some(link) if link.bin == bin => return,
            Some(_) => self.unlink(flow),
            None => {}
        }
        self.link(flow, bin);
    }

    fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.shares.set_weight(class, weight)
    }

    fn retune(&mut self, fresh: &Self, _: Time) -> bool {
        let is_alike = self.config.measure == fresh.config.measure && self.links.len() >= fresh.links.len();
        let takes = is_alike && self.shares.retune(&fresh.shares);
        if takes {
            self.config.clone_from(&fresh.config);
        }
        takes
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        let least = self.highest().map_or(0.0, |bin| libm::ldexp(1.0, i32::from(bin) + LOWEST));
        probe.gauge("longest_queue_at_least", self.config.unit(), least);
    }
}
