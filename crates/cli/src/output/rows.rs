//! The samples of a run, kept so that a series or a picture of them can be written again.

use fairwire_core::Time;
use fairwire_scenario::Row;
use serde::{Deserialize, Serialize};

/// More rows, or more series, are not kept: together they take some 20 MB while a run goes on.
const MAX_ROWS: usize = 1_000_000;
const MAX_SERIES: usize = 1000;

/// The rows of a run, in the order in which they were sampled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rows {
    /// What rows are of.
    series: Vec<Of>,
    rows: Vec<Sampled>,
    /// The series that comes next, if all come in the same order each time.
    #[serde(skip)]
    next: usize,
    /// Were there more than are kept?
    #[serde(skip)]
    is_cut: bool,
}

/// Kind, name, measure and unit of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Of(String, String, String, String);

/// When it was sampled, in nanoseconds; the place of its series; its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sampled(u64, usize, f64);

impl Of {
    fn is_of(&self, row: &Row<'_>) -> bool {
        let Of(kind, name, measure, unit) = self;
        measure == row.measure && name == row.name && unit == row.unit && kind == row.kind
    }
}

impl Rows {
    /// Adds a row that was sampled `at` this time.
    pub(super) fn add(&mut self, at: Time, row: Row<'_>) {
        if self.is_cut {
            return;
        }
        let known = self.series.get(self.next).filter(|of| of.is_of(&row)).map(|_| self.next);
        let place =
            known.or_else(|| self.series.iter().position(|of| of.is_of(&row))).unwrap_or(self.series.len());
        if place == MAX_SERIES || self.rows.len() == MAX_ROWS {
            *self = Rows { is_cut: true, ..Rows::default() };
            return;
        }
        if place == self.series.len() {
            let Row { kind, name, measure, unit, .. } = row;
            self.series.push(Of(kind.into(), name.into(), measure.into(), unit.into()));
        }
        self.rows.push(Sampled(at.ns(), place, row.value));
        self.next = if place + 1 < self.series.len() { place + 1 } else { 0 };
    }

    /// All of them, where none was left out.
    pub(super) fn whole(self) -> Option<Rows> {
        (!self.is_cut).then_some(self)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Gives every row again.
    pub(super) fn replay(&self, report: &mut dyn FnMut(Time, Row<'_>)) {
        for Sampled(ns, place, value) in &self.rows {
            if let Some(Of(kind, name, measure, unit)) = self.series.get(*place) {
                report(Time::from_ns(*ns), Row { kind, name, measure, unit, value: *value });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Row<'static> =
        Row { kind: "link", name: "uplink", measure: "backlog", unit: "packets", value: 1.5 };

    fn replayed(rows: &Rows) -> Vec<(u64, String, f64)> {
        let mut all = Vec::new();
        rows.replay(&mut |at, row| {
            all.push((at.ns(), format!("{} {} {} {}", row.kind, row.name, row.measure, row.unit), row.value));
        });
        all
    }

    #[test]
    fn rows_come_back_in_their_order_also_where_one_was_missing_for_a_time() {
        let mut rows = Rows::default();
        let other = Row { measure: "drops", value: 0.1 + 0.2, ..ROW };
        for (at, row) in [(1, ROW), (1, other), (2, other), (3, ROW), (3, other)] {
            rows.add(Time::from_ns(at), row);
        }
        let text = serde_json::to_string(&rows).expect("plain data");
        let again: Rows = serde_json::from_str(&text).expect("it was written here");
        let (backlog, drops) =
            ("link uplink backlog packets".to_owned(), "link uplink drops packets".to_owned());
        let wanted = [
            (1, backlog.clone(), 1.5),
            (1, drops.clone(), 0.1 + 0.2),
            (2, drops.clone(), 0.1 + 0.2),
            (3, backlog, 1.5),
            (3, drops, 0.1 + 0.2),
        ];
        assert_eq!(replayed(&again), wanted);
        assert_eq!((again.len(), again.whole().map(|all| all.series.len())), (5, Some(2)));
    }

    #[test]
    fn too_many_series_are_not_kept() {
        let mut rows = Rows::default();
        for name in 0..=MAX_SERIES {
            rows.add(Time::ZERO, Row { name: &name.to_string(), ..ROW });
        }
        rows.add(Time::ZERO, ROW);
        assert_eq!((rows.len(), rows.whole()), (0, None));
    }
}
