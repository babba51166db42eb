//! The samples of a run, in a form that can be stored.

use crate::samples::SampleRow;
use fairwire_core::Time;
use serde::{Deserialize, Serialize};

/// Rows in sampling order. The names and the unit of a series are stored only once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SampledRows {
    series: Vec<Series>,
    samples: Vec<Sample>,
    /// The index of the next row's probable series: samples usually have the same order of rows.
    #[serde(skip)]
    next: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Series {
    kind: String,
    name: String,
    measure: String,
    unit: String,
}

/// The sampling time in nanoseconds from the start, the index of the series, and the value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample(u64, u32, f64);

impl Series {
    fn is_of(&self, row: &SampleRow<'_>) -> bool {
        let Series { kind, name, measure, unit } = self;
        measure == row.measure && name == row.name && unit == row.unit && kind == row.kind
    }
}

impl SampledRows {
    /// Adds `row`, which was sampled at the time `at`.
    pub fn add(&mut self, at: Time, row: SampleRow<'_>) {
        let place = self.place(&row);
        self.samples.push(Sample(at.ns(), place as u32, row.value));
        self.next = if place + 1 < self.series.len() { place + 1 } else { 0 };
    }

    fn place(&mut self, row: &SampleRow<'_>) -> usize {
        let is_of = |series: &Series| series.is_of(row);
        let (before, from) = self.series.split_at(self.next.min(self.series.len()));
        let found = from.iter().position(is_of).map(|at| before.len() + at);
        found.or_else(|| before.iter().position(is_of)).unwrap_or_else(|| {
            let SampleRow { kind, name, measure, unit, .. } = *row;
            let [kind, name, measure, unit] = [kind, name, measure, unit].map(String::from);
            self.series.push(Series { kind, name, measure, unit });
            self.series.len() - 1
        })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Are there no rows?
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// The number of different series.
    pub fn series(&self) -> usize {
        self.series.len()
    }

    /// Every row, with its sampling time.
    pub fn iter(&self) -> impl Iterator<Item = (Time, SampleRow<'_>)> {
        self.samples.iter().filter_map(|Sample(ns, place, value)| {
            // Samples read from a file may refer to a series that does not exist.
            let Series { kind, name, measure, unit } = self.series.get(*place as usize)?;
            Some((Time::from_ns(*ns), SampleRow { kind, name, measure, unit, value: *value }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: SampleRow<'static> =
        SampleRow { kind: "link", name: "uplink", measure: "backlog", unit: "packets", value: 1.5 };

    #[test]
    fn sampled_rows_keep_their_order_across_serialization() {
        let other = SampleRow { measure: "drops", value: 0.1 + 0.2, ..ROW };
        let wanted = [(1, ROW), (1, other), (2, other), (3, ROW), (3, other)];
        let mut rows = SampledRows::default();
        wanted.iter().for_each(|(at, row)| rows.add(Time::from_ns(*at), *row));
        let text = serde_json::to_string(&rows).expect("plain data");
        let again: SampledRows = serde_json::from_str(&text).expect("it was written here");
        let found: Vec<(u64, SampleRow<'_>)> = again.iter().map(|(at, row)| (at.ns(), row)).collect();
        assert_eq!(found, wanted);
        assert_eq!((again.len(), again.series()), (5, 2));
    }
}
