//! Aggregates, as given.

use fairwire_catalogue::marker::MarkerChoice;
use fairwire_core::Rate;
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// Groups of flows with one contract, coloured together at the edge of the network, before the
/// first queue.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregateSpec {
    /// The aggregate's name: letters, digits, `-` and `_`. A group of flows joins the aggregate by
    /// this name in its key `aggregate`.
    pub name: String,
    /// The contract: the rate up to which packets are in profile. Fair shares of a link are in
    /// proportion to the contracts.
    pub target: Quantity<Rate>,
    /// The marker: a name, or a table with the name and its parameters. The marker's `rate`
    /// defaults to `target`. Default: "token-bucket".
    #[serde(default)]
    pub marker: MarkerChoice,
    /// The estimator of the fraction of marked packets, where the aggregate leaves the network.
    /// Only some markers use this estimate.
    #[serde(default)]
    pub estimator: EstimatorSpec,
}

/// The estimator of the fraction of marked packets in profile, where the aggregate leaves the
/// network. Markers may use the estimate to change their target.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EstimatorSpec {
    /// The times at which the estimate changes: with each packet in profile, or once per window of
    /// such packets. Default: "sliding".
    pub cadence: Option<CadenceSpec>,
    /// The window: marks are counted over this number of the latest packets in profile. Default:
    /// 10.
    pub window: Option<u32>,
    /// The weight of the window's mean in the estimate, above 0 and at most 1. Default: 0.1.
    pub weight: Option<f64>,
    /// The estimate below which a higher target is requested, from 0 to 1. Default: 0.005.
    pub low: Option<f64>,
    /// The estimate above which a lower target is requested, from `low` to 1. Default: 0.02.
    pub high: Option<f64>,
}

/// When an estimate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CadenceSpec {
    /// The estimate changes with each packet in profile, over the window that ends with this
    /// packet.
    Sliding,
    /// The estimate changes once per window of packets in profile.
    Tumbling,
}
