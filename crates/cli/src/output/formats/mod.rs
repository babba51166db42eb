//! The formats, each in a file of its own.

mod csv;
mod ndjson;
mod parquet;
mod pcapng;
mod svg;

use super::format::Format;

/// Every format, once, in the order in which messages list their extensions.
pub(super) const ALL: [Format; 5] =
    [csv::FORMAT, pcapng::FORMAT, ndjson::FORMAT, svg::FORMAT, parquet::FORMAT];

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_scenario::OutputSpec;

    #[test]
    fn a_scenario_may_name_what_can_be_written_and_nothing_else() {
        let endings = |is_written: fn(&Format) -> bool| -> Vec<&str> {
            ALL.iter().filter(|format| is_written(format)).map(|format| format.ending).collect()
        };
        assert_eq!(endings(|format| format.series.is_some()), OutputSpec::SERIES);
        assert_eq!(endings(|format| format.trace.is_some()), OutputSpec::TRACE);
        assert_eq!(endings(|format| format.flows.is_some()), OutputSpec::FLOWS);
        assert_eq!(endings(|format| format.transfers.is_some()), OutputSpec::TRANSFERS);
        assert_eq!(endings(|format| format.histogram.is_some()), OutputSpec::DELAYS);
        assert_eq!(endings(|format| format.percentiles.is_some()), OutputSpec::DELAYS);
        assert_eq!(endings(|format| format.plot.is_some()), OutputSpec::PLOT);
    }
}
