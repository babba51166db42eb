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
    /// The aggregate's name: letters, digits, `-` and `_`. Groups join the aggregate with their key
    /// `aggregate`.
    pub name: String,
    /// The contract: the rate up to which packets are in profile. Fair shares of a link are in
    /// proportion to the contracts.
    pub target: Quantity<Rate>,
    /// The marker: a name, or a table with the name and its parameters. Its `rate` is `target`
    /// unless it has one. Default: "token-bucket".
    #[serde(default)]
    pub marker: MarkerChoice,
    /// How the marks of departing packets are estimated, for markers that use this.
    #[serde(default)]
    pub estimator: EstimatorSpec,
}

/// The estimation of an aggregate's marks where its packets leave, and the requests to its marker.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EstimatorSpec {
    /// Does the estimate change with each packet in profile, or once per window of such packets?
    /// Default: "sliding".
    pub cadence: Option<CadenceSpec>,
    /// The number of latest packets in profile whose marks are counted. Default: 10.
    pub window: Option<u32>,
    /// The weight of the window's mean in the estimate, above 0 and at most 1. Default: 0.1.
    pub weight: Option<f64>,
    /// Below this estimate a higher target is requested, 0 to 1. Default: 0.005.
    pub low: Option<f64>,
    /// Above this estimate a lower target is requested, `low` to 1. Default: 0.02.
    pub high: Option<f64>,
}

/// When an estimate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CadenceSpec {
    /// With each packet in profile, over the window that ends with it.
    Sliding,
    /// Once per window of packets in profile.
    Tumbling,
}
