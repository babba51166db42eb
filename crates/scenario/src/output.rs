//! What a run writes beside its report, as typed: what the options of `fairwire run` of the same
//! names say.

use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// What is written beside the report. Each key is the option of `fairwire run` of the same name,
/// which goes before it. It changes no result.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputSpec {
    /// The time between two samples. Default: 100 ms.
    pub every: Option<Quantity<Duration>>,
    /// A file for time series of links and groups: .csv or .ndjson. Paths are from the current
    /// folder, as on the command line.
    pub series: Option<String>,
    /// In the series, each flow too? Default: false.
    pub series_flows: bool,
    /// A file for the picture of throughput over time: .svg.
    pub plot: Option<String>,
    /// A file for the packets: .pcapng or .ndjson; with several runs one for each.
    pub trace: Option<String>,
    /// A file with a row per run and flow: .csv or .parquet.
    pub flows: Option<String>,
    /// A file with a row per completed transfer and page: .csv or .parquet.
    pub transfers: Option<String>,
    /// A file for histograms of delays, a row for each bin: .csv.
    pub histogram: Option<String>,
    /// A file for percentiles of delays: .csv.
    pub percentiles: Option<String>,
    /// Of delays, also each flow's one-way delay? Default: false.
    pub one_way: bool,
    /// The baseline of paired differences, by its label or its name. Default: none.
    pub paired: Option<String>,
    /// Is there to be a warning where MSER-5 finds a longer warm-up? Default: false.
    pub check_warm_up: bool,
}

/// The endings that each kind of file may have.
impl OutputSpec {
    /// Of time series.
    pub const SERIES: &[&'static str] = &["csv", "ndjson"];
    /// Of the picture.
    pub const PLOT: &[&'static str] = &["svg"];
    /// Of packets.
    pub const TRACE: &[&'static str] = &["pcapng", "ndjson"];
    /// Of records of flows.
    pub const FLOWS: &[&'static str] = &["csv", "parquet"];
    /// Of records of transfers.
    pub const TRANSFERS: &[&'static str] = &["csv", "parquet"];
    /// Of delays.
    pub const DELAYS: &[&'static str] = &["csv"];
}
