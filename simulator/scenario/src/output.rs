//! What a run writes beside its report: every output, declared once, and the table `[output]` as
//! typed. From a declaration follow the key of the table, the option of `fairwire run`, its line of
//! help, and the extensions that are taken.

use fairwire_core::Duration;
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::Deserialize;

/// Declares the outputs that are files: for each what it holds, its name, its key, and the
/// extensions of its formats.
macro_rules! outputs {
    ($($(#[doc = $about:literal])+ $name:ident $key:ident [$($ending:literal),+],)+) => {
        /// An output that is a file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Output {
            $($(#[doc = $about])+ $name,)+
        }

        impl Output {
            /// All, in the order in which they are listed.
            pub const ALL: &'static [Output] = &[$(Output::$name),+];

            /// Its key in `[output]`, and its option of `fairwire run`.
            pub fn key(self) -> &'static str {
                match self {
                    $(Output::$name => stringify!($key),)+
                }
            }

            /// What it holds, in a sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Output::$name => concat!($($about),+).trim_ascii_start(),)+
                }
            }

            /// The extensions that its files may have.
            pub fn endings(self) -> &'static [&'static str] {
                match self {
                    $(Output::$name => &[$($ending),+],)+
                }
            }
        }

        /// Outputs beside the report. Each key is the option of `fairwire run` of the same
        /// name, which goes before it. It changes no result. Paths are from the current folder, as
        /// on the command line.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct OutputSpec {
            /// The time between two samples. Default: 100 ms.
            pub every: Option<Quantity<Duration>>,
            $($(#[doc = $about])+ pub $key: Option<String>,)+
            /// In the series, each flow too? Default: false.
            pub series_flows: bool,
            /// Of delays, also each flow's one-way delay? Default: false.
            pub one_way: bool,
            /// The baseline of paired differences, by its label or its name. Default: none.
            pub paired: Option<String>,
            /// Is there to be a warning where MSER-5 finds a longer warm-up? Default: false.
            pub check_warm_up: bool,
        }

        impl OutputSpec {
            /// The file of this output, as typed.
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
    /// A picture of what leaves the link over time, under the first seed: .svg or .pdf or .tex.
    Plot plot ["svg", "pdf", "tex"],
    /// Every packet; with several runs a file for each, NAME.DISCIPLINE.SEED.pcapng: .pcapng or
    /// .ndjson.
    Trace trace ["pcapng", "ndjson"],
    /// A row per run and flow: .csv or .parquet.
    Flows flows ["csv", "parquet"],
    /// A row per completed transfer and page, with its size, its time and its slowdown: .csv or
    /// .parquet.
    Transfers transfers ["csv", "parquet"],
    /// A histogram of the queueing delay of each link, a row for each bin: .csv.
    Histogram histogram ["csv"],
    /// Percentiles of the queueing delay of each link, also into the JSON report: .csv.
    Percentiles percentiles ["csv"],
    /// What each flow got over time and how long a packet took, for flent's plots: NAME.flent.gz;
    /// with several runs a file for each, NAME.DISCIPLINE.SEED.flent.gz: .gz.
    Flent flent ["gz"],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_an_output_ends_with_its_extensions() {
        for output in Output::ALL {
            let endings: Vec<String> = output.endings().iter().map(|ending| format!(".{ending}")).collect();
            let end = format!(": {}.", endings.join(" or "));
            assert!(output.about().ends_with(&end), "{output:?}: {}", output.about());
        }
    }
}
