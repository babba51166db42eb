//! The shared state of a host's threads: the traffic, and the progress of the run.

use crate::bed::Side;
use crate::traffic::{Flow, Traffic};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(super) struct Stage {
    pub(super) traffic: Traffic,
    pub(super) side: Side,
    /// The start on the monotonic clock; 0 until known.
    pub(super) start_ns: AtomicU64,
    pub(super) is_over: AtomicBool,
}

/// Bytes per slot.
pub(super) type Slots = Vec<u64>;

impl Stage {
    pub(super) fn start(&self) -> Time {
        loop {
            match self.start_ns.load(Ordering::Acquire) {
                0 => clock::sleep_until(clock::now() + Duration::from_ms(1)),
                ns => return Time::from_ns(ns),
            }
        }
    }

    pub(super) fn slot(&self, now: Time) -> Option<usize> {
        let start = self.start_ns.load(Ordering::Relaxed);
        let since = now.ns().checked_sub(start).filter(|_| start > 0)?;
        self.traffic.slots.at(since)
    }

    pub(super) fn empty(&self) -> Slots {
        vec![0; self.traffic.slots.count]
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self) -> impl Iterator<Item = (usize, &Flow)> {
        self.traffic.flows.iter().enumerate().filter(|(_, flow)| flow.from == self.side)
    }
}
