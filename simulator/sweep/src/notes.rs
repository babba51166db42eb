//! The notes on a sweep's scenarios, each listed once, and unintended differences between cells.

use crate::plan::Axis;
use fairwire_scenario::{Scenario, TcpSpec};
use std::collections::{BTreeMap, BTreeSet};

const MAX_NAMED: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Notes {
    cells: usize,
    /// For each note: the first cell with the note, and the number of such cells.
    notes: BTreeMap<String, (usize, usize)>,
    /// The values of `profile` and `ecn` in the cells, as entered or by default, for each group of
    /// TCP flows.
    constants: BTreeMap<(String, &'static str), BTreeSet<&'static str>>,
}

impl Notes {
    pub(crate) fn add(&mut self, cell: usize, scenario: &Scenario) {
        self.cells += 1;
        for note in scenario.notes() {
            let (first, count) = self.notes.entry(note.clone()).or_insert((cell, 0));
            (*first, *count) = ((*first).min(cell), *count + 1);
        }
        for flow in scenario.spec().flow.iter().filter(|flow| flow.source.about().is_tcp) {
            let tcp = flow.tcp.as_ref();
            let profile = tcp.map(TcpSpec::effective_profile).unwrap_or_default().word();
            let ecn = tcp.map_or("off", TcpSpec::effective_ecn);
            for (key, value) in [("profile", profile), ("ecn", ecn)] {
                self.constants.entry((flow.group.clone(), key)).or_default().insert(value);
            }
        }
    }

    pub(crate) fn lines(self, axes: &[Axis]) -> Vec<String> {
        let Notes { cells, notes, constants } = self;
        let mut notes: Vec<(usize, String)> = notes
            .into_iter()
            .map(|(note, (first, count))| match count == cells {
                true => (first, note),
                false => (first, format!("{note} (in {count} of {cells} cells)")),
            })
            .collect();
        notes.sort_by_key(|(first, _)| *first);
        let is_varied = |key: &str| axes.iter().any(|axis| axis.key.rsplit('.').next() == Some(key));
        let differing =
            constants.into_iter().filter(|((_, key), values)| values.len() > 1 && !is_varied(key));
        let differs = differing.map(|((group, key), values)| {
            let values: Vec<String> = values.into_iter().map(|value| format!("\"{value}\"")).collect();
            format!(
                "cells differ in more than what varies: `flow.{group}.tcp.{key}` is {}; type it to have one for all",
                values.join(" or ")
            )
        });
        let mut lines: Vec<String> = differs.chain(notes.into_iter().map(|(_, note)| note)).collect();
        if lines.len() > MAX_NAMED {
            let more = lines.split_off(MAX_NAMED).len();
            lines.push(format!("{more} more notes: `fairwire run` has those of one cell"));
        }
        lines
    }
}
