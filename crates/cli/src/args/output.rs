//! What is written beside the report, as options.

use clap::Args;
use fairwire_core::Duration;
use std::path::PathBuf;

/// What is written beside the report.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Outputs")]
pub(crate) struct OutputArgs {
    /// Write time series of links and groups of flows: .csv or .ndjson.
    #[arg(long, value_name = "FILE")]
    pub series: Option<PathBuf>,
    /// With --series: also of each flow, with its windows.
    #[arg(long, requires = "series")]
    pub series_flows: bool,
    /// The time between two samples; 100 ms when left out.
    #[arg(long, value_name = "DURATION")]
    pub every: Option<Duration>,
    /// Draw throughput over time under the first seed: .svg.
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Warn where MSER-5, on the sampled throughput, finds a warm-up longer than the one left out.
    #[arg(long)]
    pub check_warm_up: bool,
    /// Write every packet: .pcapng or .ndjson; with several runs a file for each,
    /// NAME.DISCIPLINE.SEED.pcapng.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write a row per run and flow: .csv or .parquet.
    #[arg(long, value_name = "FILE")]
    pub flows: Option<PathBuf>,
    /// Write a row per completed transfer and page, with its size, its time and its slowdown: .csv
    /// or .parquet.
    #[arg(long, value_name = "FILE")]
    pub transfers: Option<PathBuf>,
    /// Write a histogram of the queueing delay of each link, a row for each bin: .csv.
    #[arg(long, value_name = "FILE")]
    pub histogram: Option<PathBuf>,
    /// Write percentiles of the queueing delay of each link, also into the JSON report: .csv.
    #[arg(long, value_name = "FILE")]
    pub percentiles: Option<PathBuf>,
    /// Of delays, also each flow's one-way delay.
    #[arg(long)]
    pub one_way: bool,
    /// Also the differences of the other disciplines from this one (the first when left out), seed
    /// by seed.
    #[arg(long, value_name = "BASELINE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub paired: Option<String>,
}

impl OutputArgs {
    /// The options given that name a file, which takes what one scenario leaves.
    pub(crate) fn of_one_file(&self) -> Vec<&'static str> {
        let OutputArgs { series, plot, trace, flows, transfers, histogram, percentiles, .. } = self;
        let options = [
            ("--series", series),
            ("--plot", plot),
            ("--trace", trace),
            ("--flows", flows),
            ("--transfers", transfers),
            ("--histogram", histogram),
            ("--percentiles", percentiles),
        ];
        options.into_iter().filter(|(_, path)| path.is_some()).map(|(name, _)| name).collect()
    }
}
