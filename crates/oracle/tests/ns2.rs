//! The few cells of the grid that every test run holds against ns-2.

use fairwire_oracle::ns2::cell::Cell;
use fairwire_oracle::ns2::grid::CELLS;
use fairwire_oracle::ns2::report::Finding;
use fairwire_oracle::ns2::theirs::{Ns2, Ns2Error};
use fairwire_oracle::ns2::{exceptions, ours};
use rayon::prelude::*;

#[test]
fn the_quick_cells_agree_with_ns2() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let ns2 = match Ns2::find(folder.path()) {
        Ok(ns2) => ns2,
        Err(Ns2Error::Missing) => {
            return fairwire_testing::skipped_for_want_of_a_peer(format_args!(
                "the comparison with ns-2: {}",
                Ns2Error::Missing
            ));
        }
        Err(error) => panic!("{error}"),
    };
    // Shorter than in the grid, with five seeds: a matter of seconds.
    let short = |cell: &Cell| Cell { duration_s: 40, warm_up_s: 15, seeds: 5, ..*cell };
    let cells: Vec<Cell> = CELLS.iter().filter(|cell| cell.is_quick).map(short).collect();
    let compared = |cell: &Cell| {
        let theirs: Vec<_> = (1..=cell.seeds).map(|seed| ns2.run(cell, seed).expect("ns-2 runs")).collect();
        let ours: Vec<_> =
            (1..=cell.seeds).map(|seed| ours::run(cell, seed).expect("it can be built")).collect();
        Finding::new(cell, &theirs, &ours)
    };
    let mut findings: Vec<Finding> = cells.par_iter().map(compared).collect();
    exceptions::explain(&mut findings, &exceptions::known());
    for finding in &findings {
        assert!(!finding.is_bad(), "{}", finding.text());
    }
}
