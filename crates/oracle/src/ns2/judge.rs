//! Do both sides agree?

use super::Outcome;
use super::cell::Cell;
use fairwire_metrics::interval::estimate;
use fairwire_metrics::record::Estimate;
use serde::Serialize;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Of all flows of a class, bit/s on the wire.
    Throughput,
    /// Of all flows of a class, packets.
    Drops,
}

impl Figure {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Throughput => "throughput",
            Figure::Drops => "drops",
        }
    }

    /// How far ours may lie from ns-2's whatever the intervals say, as a part of ns-2's. Fixed before anything was compared.
    pub fn tolerance(self) -> f64 {
        match self {
            Figure::Throughput => 0.05,
            Figure::Drops => 0.10,
        }
    }
}

/// How near both sides are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Ours lies within the tolerance of ns-2's.
    WithinTolerance,
    /// It does not, but both 95 % intervals meet.
    WithinIntervals,
    /// Neither.
    Differs,
}

/// One figure of one class, on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The class.
    pub class: &'static str,
    /// What is compared.
    pub figure: Figure,
    /// ns-2's mean over the seeds, with its 95 % interval.
    pub ns2: Estimate,
    /// Ours.
    pub ours: Estimate,
    /// Ours over ns-2's, less 1; absent where ns-2's is nothing.
    pub difference: Option<f64>,
    /// How near they are.
    pub verdict: Verdict,
    /// Why they differ, where that is known.
    pub because: Option<String>,
}

impl Row {
    fn new(class: &'static str, figure: Figure, ns2: &[f64], ours: &[f64]) -> Row {
        let mean = |runs: &[f64]| estimate(runs).expect("a cell has runs");
        let (ns2, ours) = (mean(ns2), mean(ours));
        Row {
            verdict: verdict(figure, &ns2, &ours),
            difference: (ns2.mean != 0.0).then(|| ours.mean / ns2.mean - 1.0),
            because: None,
            class,
            figure,
            ns2,
            ours,
        }
    }

    /// Does it differ, with no reason known?
    pub fn is_bad(&self) -> bool {
        self.verdict == Verdict::Differs && self.because.is_none()
    }
}

fn verdict(figure: Figure, ns2: &Estimate, ours: &Estimate) -> Verdict {
    let apart = (ours.mean - ns2.mean).abs();
    let intervals = ns2.half_width_95.unwrap_or(0.0) + ours.half_width_95.unwrap_or(0.0);
    if apart <= figure.tolerance() * ns2.mean {
        Verdict::WithinTolerance
    } else if apart <= intervals {
        Verdict::WithinIntervals
    } else {
        Verdict::Differs
    }
}

/// Compares the runs of `cell`: throughput and drops of each class.
pub fn compare(cell: &Cell, ns2: &[Outcome], ours: &[Outcome]) -> Vec<Row> {
    let mut rows = Vec::new();
    for class in cell.classes {
        let of = |runs: &[Outcome], figure: Figure| -> Vec<f64> {
            let class = runs.iter().map(|run| run.classes.get(class.name).copied().unwrap_or_default());
            match figure {
                Figure::Throughput => class.map(|class| class.throughput_bps).collect(),
                Figure::Drops => class.map(|class| class.drops as f64).collect(),
            }
        };
        for figure in [Figure::Throughput, Figure::Drops] {
            rows.push(Row::new(class.name, figure, &of(ns2, figure), &of(ours, figure)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ns2::ClassOutcome;
    use crate::ns2::grid::CELLS;

    fn row(figure: Figure, ns2: &[f64], ours: &[f64]) -> Verdict {
        Row::new("tcp", figure, ns2, ours).verdict
    }

    #[test]
    fn a_throughput_may_be_five_percent_off_and_drops_ten() {
        assert_eq!(row(Figure::Throughput, &[100.0; 5], &[104.9; 5]), Verdict::WithinTolerance);
        assert_eq!(row(Figure::Throughput, &[100.0; 5], &[94.9; 5]), Verdict::Differs);
        assert_eq!(row(Figure::Drops, &[100.0; 5], &[109.9; 5]), Verdict::WithinTolerance);
        assert_eq!(row(Figure::Drops, &[100.0; 5], &[110.1; 5]), Verdict::Differs);
    }

    #[test]
    fn intervals_that_meet_are_agreement_and_intervals_that_do_not_are_none() {
        // Half widths: t(0.975, 1) s / sqrt(2) = 12.7 for runs 2 apart; 25.4 together.
        assert_eq!(row(Figure::Drops, &[99.0, 101.0], &[119.0, 121.0]), Verdict::WithinIntervals);
        assert_eq!(row(Figure::Drops, &[99.0, 101.0], &[129.0, 131.0]), Verdict::Differs);
    }

    #[test]
    fn nothing_on_both_sides_agrees_and_something_on_one_differs() {
        assert_eq!(row(Figure::Drops, &[0.0; 5], &[0.0; 5]), Verdict::WithinTolerance);
        assert_eq!(row(Figure::Drops, &[0.0; 5], &[1.0; 5]), Verdict::Differs);
        assert_eq!(Row::new("tcp", Figure::Drops, &[0.0; 5], &[1.0; 5]).difference, None);
    }

    #[test]
    fn a_doctored_result_is_noticed_in_the_figure_that_it_touches() {
        let cell = &CELLS[0];
        let outcome = |throughput_bps, drops| {
            let classes =
                cell.classes.iter().map(|c| (c.name.to_owned(), ClassOutcome { throughput_bps, drops }));
            Outcome { classes: classes.collect(), ..Outcome::default() }
        };
        let honest: Vec<_> = (0..5).map(|_| outcome(1e7, 100)).collect();
        let bad = |ours: &[Outcome]| -> Vec<Figure> {
            compare(cell, &honest, ours).iter().filter(|row| row.is_bad()).map(|row| row.figure).collect()
        };
        assert_eq!(bad(&honest), []);
        assert_eq!(bad(&vec![outcome(1.1e7, 100); 5]), [Figure::Throughput]);
        assert_eq!(bad(&vec![outcome(1e7, 150); 5]), [Figure::Drops]);
    }
}
