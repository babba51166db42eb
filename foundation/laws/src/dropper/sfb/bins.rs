//! The bins, in levels. A flow has one bin per level. The flows of a bin share its backlog and
//! probability.

use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::rng::mix;
use fairwire_core::{Buffer, FlowHash};

/// One bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// p_m: the probability for the flows of this bin.
    pub probability: f64,
    /// The backlog of the flows of this bin, in packets or bytes.
    pub backlog: u64,
}

/// The steps by which a probability rises and falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// The backlog above which a bin's probability rises.
    pub bin_size: u64,
    /// The rise of the probability at an arrival that finds the backlog above `bin_size`.
    pub increase: f64,
    /// The fall of the probability at an arrival that finds its bin empty.
    pub decrease: f64,
}

/// The lowest values among a flow's bins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Least {
    /// The lowest probability among the bins.
    pub probability: f64,
    /// The lowest backlog among the bins.
    pub backlog: u64,
}

/// `per_level` bins per level, and the hash key that picks a flow's bins.
#[derive(Debug)]
pub struct Bins {
    bins: Box<[Bin]>,
    per_level: u64,
    key: u64,
}

impl Bins {
    /// `levels` times `per_level` empty bins. With at most 8 levels of at most 256 bins, a 64-bit
    /// hash picks the bin of each level independently.
    pub fn new(levels: u32, per_level: u32, key: u64) -> Self {
        let bins = vec![Bin::default(); (levels * per_level) as usize].into();
        Bins { bins, per_level: per_level.into(), key }
    }

    /// Every bin, level by level.
    pub fn all(&self) -> &[Bin] {
        &self.bins
    }

    /// The bins of `flow`, one per level.
    ///
    /// The hash is read as a fraction in [0, 1). Its digits in base `per_level` pick the bins.
    #[inline]
    pub fn of(&mut self, flow: FlowHash) -> impl Iterator<Item = &mut Bin> {
        let (mut fraction, per_level) = (mix(flow.0 ^ self.key), self.per_level);
        self.bins.chunks_exact_mut(per_level as usize).map(move |level| {
            let wide = u128::from(fraction) * u128::from(per_level);
            fraction = wide as u64;
            &mut level[(wide >> 64) as usize]
        })
    }

    /// Adjusts the probabilities of the bins of `flow` for an arriving packet. Returns the lowest
    /// probability and backlog among them.
    #[inline]
    pub fn arrived(&mut self, flow: FlowHash, steps: &Steps) -> Least {
        let mut least = Least { probability: 1.0, backlog: u64::MAX };
        for bin in self.of(flow) {
            if bin.backlog > steps.bin_size {
                bin.probability = (bin.probability + steps.increase).min(1.0);
            } else if bin.backlog == 0 {
                bin.probability = (bin.probability - steps.decrease).max(0.0);
            }
            least.probability = least.probability.min(bin.probability);
            least.backlog = least.backlog.min(bin.backlog);
        }
        least
    }

    /// If `inside`, adds `amount` to the bins of `flow`; otherwise subtracts `amount`.
    #[inline]
    pub fn tracked(&mut self, flow: FlowHash, amount: u64, inside: bool) {
        for bin in self.of(flow) {
            if inside {
                bin.backlog += amount;
            } else {
                bin.backlog -= amount;
            }
        }
    }

    pub(crate) fn start_anew(&mut self, key: u64, buffer: &Buffer, amount: impl Fn(u32) -> u64) {
        self.key = key;
        self.bins.fill(Bin::default());
        let mut next = buffer.oldest();
        while let Some(key) = next {
            let packet = buffer.packet(key);
            self.tracked(packet.flow, amount(packet.len), true);
            next = buffer.newer(key);
        }
    }
}
