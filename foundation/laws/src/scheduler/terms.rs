//! The settings from which schedulers are built.

use crate::spec::WeightOf;
use fairwire_core::Limit;

/// The checked terms from which any scheduler is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The link's rate in bits per second, for schedulers that depend on it.
    pub rate_bps: u64,
    /// The bytes that a flow of weight 1 may send per round, for schedulers with rounds.
    pub quantum: u32,
    /// The weights of classes.
    pub weights: WeightOf,
    /// The buffer that the scheduler will serve.
    pub limit: Limit,
}
