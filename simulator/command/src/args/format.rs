//! How results are printed.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people.
    Table,
    /// Everything, following the schema that `fairwire schema results` prints.
    Json,
    /// The summary: one line per discipline and measure; with --paired, also one line per
    /// difference and measure.
    Csv,
    /// The table in LaTeX, using booktabs and siunitx.
    Latex,
}

impl Format {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
}
