//! The findings of a calibration, as stored with its study.

use fairwire_metrics::interval::proportion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The results of a paper's calibration: `calibration.toml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The overall result.
    pub summary: Summary,
    /// The number of draws in which each claim holds. A key names exhibit and claim, such as
    /// `table1.faba-above-fred`.
    #[serde(default)]
    pub claims: BTreeMap<String, Held>,
    /// The smallest and the largest mean of each number over the study's own settings and all
    /// draws. A key names the exhibit, measure, series and point.
    #[serde(default)]
    pub bands: BTreeMap<String, [f64; 2]>,
}

/// The overall calibration of a paper.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// The number of draws.
    pub draws: usize,
    /// The seeds of each draw.
    pub seeds: Vec<u64>,
    /// The distance to the printed numbers.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub distance: Option<Distance>,
    /// The settings nearest to the printed numbers; empty if the study's own settings are nearest.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub best: BTreeMap<String, String>,
}

/// The mean relative difference from the printed numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distance {
    /// How many printed numbers are compared.
    pub numbers: usize,
    /// The difference with the study's own settings.
    pub chosen: f64,
    /// The difference in the best draw.
    pub best: f64,
    /// The cross-validated difference: each half of the numbers is from the draw that is best for
    /// the other half.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub held_out: Option<f64>,
}

/// The number of draws in which a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// Does the claim hold with the study's own settings, under the seeds of the draws?
    pub chosen: bool,
    /// Does the claim hold in the best draw?
    pub best: bool,
    /// The number of draws in which the claim holds.
    pub held: usize,
    /// The number of draws.
    pub of: usize,
}

impl Held {
    /// The share of draws in which the claim holds, from 0 to 1, with its 95 % interval.
    pub fn share(&self) -> Option<(f64, [f64; 2])> {
        proportion(self.held, self.of).map(|interval| (self.held as f64 / self.of as f64, interval))
    }
}

impl Calibration {
    /// The text of `calibration.toml`.
    pub fn text(&self) -> String {
        let text = toml::to_string(self).expect("plain data, tables last");
        format!("# Written by `fairwire calibrate --record`.\n\n{text}")
    }

    /// The smallest and the largest mean of a number over the study's own choice and all draws.
    pub fn band(&self, exhibit: &str, measure: &str, series: &str, at: &str) -> Option<[f64; 2]> {
        self.bands.get(&number(exhibit, measure, series, at)).copied()
    }
}

pub(super) fn number(exhibit: &str, measure: &str, series: &str, at: &str) -> String {
    format!("{exhibit} {measure} {series} {at}").trim_end().into()
}
