//! The table `[output]` as entered, and a run's outputs other than its report. Each output is
//! declared once, for `[output]` and for `fairwire run`.

use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

macro_rules! outputs {
    ($($(#[doc = $about:literal])+ $name:ident $key:ident [$($ending:literal),+],)+) => {
        /// An output that is a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Output {
            $($(#[doc = $about])+ $name,)+
        }

        impl Output {
            /// All outputs, in listing order.
            pub const ALL: &'static [Output] = &[$(Output::$name),+];

            /// The output's key in `[output]`, and its option in `fairwire run`.
            pub fn key(self) -> &'static str {
                match self {
                    $(Output::$name => stringify!($key),)+
                }
            }

            /// The output's content and the extensions of its formats.
            pub fn about(self) -> &'static str {
                match self {
                    $(Output::$name => concat!($($about),+).trim_ascii_start(),)+
                }
            }

            /// The allowed extensions of the output's files.
            pub fn endings(self) -> &'static [&'static str] {
                match self {
                    $(Output::$name => &[$($ending),+],)+
                }
            }
        }

        /// Outputs in addition to the report. Each key is also an option of `fairwire run`, and the
        /// option takes precedence. No output changes a result. Paths are relative to the current
        /// folder.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct OutputSpec {
            /// The time between two samples. Default: 100 ms.
            pub every: Option<Quantity<Duration>>,
            $($(#[doc = $about])+ pub $key: Option<String>,)+
            /// Does the series include each flow? Default: false.
            pub series_flows: bool,
            /// Is the one-way delay of each flow recorded too? Default: false.
            pub one_way: bool,
            /// The baseline of paired differences, by its label or its name. Default: none.
            pub paired: Option<String>,
            /// Is there a warning if MSER-5 finds a longer warm-up? Default: false.
            pub check_warm_up: bool,
        }

        impl OutputSpec {
            /// The file of this output, as entered.
            pub fn file(&self, output: Output) -> Option<&str> {
                match output {
                    $(Output::$name => self.$key.as_deref(),)+
                }
            }
        }
    };
}

outputs! {
    /// Time series of links and groups of flows: .csv or .ndjson.
    Series series ["csv", "ndjson"],
    /// A picture of the link's output over time, under the first seed: .svg or .pdf or .tex.
    Plot plot ["svg", "pdf", "tex"],
    /// Every packet. With several runs, each writes NAME.DISCIPLINE.SEED.pcapng. Formats: .pcapng
    /// or .ndjson.
    Trace trace ["pcapng", "ndjson"],
    /// A row per run and flow: .csv or .parquet.
    Flows flows ["csv", "parquet"],
    /// A row per completed transfer and page, with its size, its time and its slowdown: .csv or
    /// .parquet.
    Transfers transfers ["csv", "parquet"],
    /// A histogram of the queueing delay of each link, a row per bin: .csv.
    Histogram histogram ["csv"],
    /// Percentiles of the queueing delay of each link, also in the JSON report: .csv.
    Percentiles percentiles ["csv"],
    /// Each flow's rate and packet delay over time, for flent's plots. One run writes
    /// NAME.flent.gz. With several runs, each writes NAME.DISCIPLINE.SEED.flent.gz. Format: .gz.
    Flent flent ["gz"],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_of_an_output_ends_with_its_extensions() {
        for output in Output::ALL {
            let endings: Vec<String> = output.endings().iter().map(|ending| format!(".{ending}")).collect();
            let end = format!(": {}.", endings.join(" or "));
            assert!(output.about().ends_with(&end), "{output:?}: {}", output.about());
        }
    }
}
