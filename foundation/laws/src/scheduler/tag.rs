//! Tags: points in virtual time.

use crate::spec::WeightOf;
use fairwire_core::{Packet, SetWeightError, Weight};

/// A point in virtual time: bytes sent per unit of weight, in units of 2^-32 byte.
///
/// An integer is exact, however large the tag. If a flow has the least weight (10^-6), 2^32 packets
/// of 64 KiB move its tag by `2^32 x 2^16 x 2^32 x 2^20 = 2^100`. So 128 bits never overflow.
pub(super) type Tag = u128;

/// The fraction bits of a tag: the price of 40 bytes is exact to 10^-5 for a flow of the greatest
/// weight, 10^6.
pub(super) const FRACTION_BITS: u32 = 32;

/// The prices of packets: bytes divided by the weight of the flow.
#[derive(Clone, Debug)]
pub(super) struct Price {
    weights: WeightOf,
    is_equal: bool,
}

impl Price {
    /// Prices under `weights`.
    pub(super) fn new(weights: WeightOf) -> Self {
        let is_equal = weights.is_equal();
        Price { weights, is_equal }
    }

    pub(super) fn set_weight(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        self.weights.set(class, weight)
    }

    /// Takes over the weights of `fresh`. Returns false if only `self` or only `fresh` has equal
    /// weights.
    pub(super) fn retune(&mut self, fresh: &Price) -> bool {
        let takes = self.is_equal == fresh.is_equal;
        if takes {
            self.weights.clone_from(&fresh.weights);
        }
        takes
    }

    /// Are all weights always 1?
    pub(super) fn is_equal(&self) -> bool {
        self.is_equal
    }

    #[inline]
    pub(super) fn of(&self, packet: &Packet) -> Tag {
        if self.is_equal {
            return Tag::from(packet.len) << FRACTION_BITS;
        }
        let bytes = f64::from(packet.len) * (1u64 << FRACTION_BITS) as f64;
        (bytes / self.weights.class(packet.class)) as Tag
    }

    #[inline]
    pub(super) fn weight(&self, packet: &Packet) -> f64 {
        if self.is_equal { 1.0 } else { self.weights.class(packet.class) }
    }
}
