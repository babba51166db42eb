//! The figures compared between two outcomes, and their tolerances.

use crate::outcome::Outcome;
use crate::trace::Arrival;
use fairwire_metrics::judge::{Allowed, Rule, Value, Verdict, judge};
use serde::Serialize;

/// The figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Packets whose fate (sent, marked or dropped) differs from the kernel's, in percent of the
    /// arrivals. The kernel's value is 0.
    Decisions,
    /// Packets dropped, in percent of the arrivals.
    Dropped,
    /// Packets marked, in percent of the arrivals.
    Marked,
    /// The mean wait of the packets sent, in milliseconds.
    Wait,
    /// A flow's share of the bytes sent, in percent. The flow is the one whose share differs most
    /// between the kernel and us. The difference is relative to the tolerance if there is one.
    Share,
    /// The mean absolute difference between our departure times and the kernel's, in milliseconds,
    /// for packets that both sent. The kernel's value is 0.
    Departure,
}

impl Figure {
    /// Every figure, in the order shown.
    pub const ALL: [Figure; 6] =
        [Figure::Dropped, Figure::Marked, Figure::Wait, Figure::Share, Figure::Decisions, Figure::Departure];

    /// The figure's name in cases.
    pub const fn measure(self) -> &'static str {
        match self {
            Figure::Decisions => "other_fate_fraction",
            Figure::Dropped => "drop_fraction",
            Figure::Marked => "mark_fraction",
            Figure::Wait => "sojourn_mean_s",
            Figure::Share => "fraction",
            Figure::Departure => "other_departure_s",
        }
    }

    /// The factor from the unit in cases to the displayed unit: 100 for fractions (percent), 1000
    /// for seconds (milliseconds).
    pub(crate) const fn shown_per_unit(self) -> f64 {
        match self {
            Figure::Wait | Figure::Departure => 1000.0,
            _ => 100.0,
        }
    }

    /// The displayed name and unit.
    pub const fn name(self) -> &'static str {
        match self {
            Figure::Decisions => "other fate, %",
            Figure::Dropped => "dropped, %",
            Figure::Marked => "marked, %",
            Figure::Wait => "mean wait, ms",
            Figure::Share => "share, %",
            Figure::Departure => "other time, ms",
        }
    }
}

/// The tolerance of a figure.
#[derive(Clone, Debug)]
pub struct Tolerance {
    /// The figure.
    pub figure: Figure,
    /// The permitted difference, in the displayed unit.
    pub allowed: f64,
    /// The number of standard errors added to the tolerance, for random decisions. The standard
    /// error is that of the mean difference over the runs.
    pub deviations: f64,
    /// The reason for the tolerance.
    pub because: String,
}

/// One run of both disciplines on one trace.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The trace.
    pub arrivals: Vec<Arrival>,
    /// The kernel.
    pub kernel: Outcome,
    /// Ours.
    pub ours: Outcome,
}

/// A line of the result: one figure, averaged over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedFigure {
    /// The figure.
    pub figure: Figure,
    /// The flow, if the figure concerns one.
    pub flow: Option<usize>,
    /// The kernel's value.
    pub kernel: f64,
    /// Our value.
    pub ours: f64,
    /// The tolerance; `None` if the figure is only shown.
    pub allowed: Option<f64>,
    /// The reason for the tolerance.
    pub because: Option<String>,
}

impl ComparedFigure {
    /// The verdict on the figure; `None` if it has no tolerance.
    pub fn verdict(&self) -> Option<Verdict> {
        let difference = Value::exact(self.ours - self.kernel);
        self.allowed.map(|allowed| judge(difference, Allowed::near(0.0, allowed), Rule::Mean))
    }

    /// True if the figure is within its tolerance, or has none.
    pub fn holds(&self) -> bool {
        self.verdict().is_none_or(|verdict| verdict == Verdict::Holds)
    }
}

/// Every figure of the runs in `pairs`, judged with `tolerances`.
///
/// # Panics
/// If there is no run.
pub fn compare(pairs: &[Pair], tolerances: &[Tolerance]) -> Vec<ComparedFigure> {
    assert!(!pairs.is_empty(), "nothing to compare");
    let flows = pairs[0].arrivals.iter().map(|arrival| arrival.flow + 1).max().unwrap_or(0);
    let row = |figure: Figure| {
        let tolerance = tolerances.iter().find(|tolerance| tolerance.figure == figure);
        let of_flow = |flow| row_of(pairs, figure, flow, tolerance);
        match figure {
            Figure::Share => {
                (0..flows).map(|flow| of_flow(Some(flow))).max_by(|a, b| excess(a).total_cmp(&excess(b)))
            }
            _ => Some(of_flow(None)),
        }
    };
    Figure::ALL.into_iter().filter_map(row).collect()
}

fn excess(row: &ComparedFigure) -> f64 {
    (row.ours - row.kernel).abs() / row.allowed.unwrap_or(1.0).max(1e-9)
}

fn row_of(
    pairs: &[Pair],
    figure: Figure,
    flow: Option<usize>,
    tolerance: Option<&Tolerance>,
) -> ComparedFigure {
    let values: Vec<(f64, f64)> = pairs.iter().map(|pair| pair.values(figure, flow)).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| values.iter().map(of).sum::<f64>() / values.len() as f64;
    let (kernel, ours) = (mean(|v| v.0), mean(|v| v.1));
    let allowed = tolerance.map(|tolerance| {
        // The differences are paired. In each run, both disciplines have the same traffic, so
        // variation between runs cancels.
        let differences: Vec<f64> = values.iter().map(|v| v.1 - v.0).collect();
        tolerance.allowed + tolerance.deviations * standard_error(&differences)
    });
    ComparedFigure {
        figure,
        flow,
        kernel,
        ours,
        allowed,
        because: tolerance.map(|tolerance| tolerance.because.clone()),
    }
}

fn standard_error(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (variance / n).sqrt()
}

impl Pair {
    /// The first packet whose fate differs, in order of arrival.
    pub fn first_apart(&self) -> Option<usize> {
        self.kernel.fates.iter().zip(&self.ours.fates).position(|(a, b)| !a.is_decided_as(*b))
    }

    fn values(&self, figure: Figure, flow: Option<usize>) -> (f64, f64) {
        let both = |of: &dyn Fn(&Outcome) -> f64| (of(&self.kernel), of(&self.ours));
        let percent = |count: usize| 100.0 * count as f64 / self.arrivals.len() as f64;
        let fates = || self.kernel.fates.iter().zip(&self.ours.fates);
        match figure {
            Figure::Decisions => (0.0, percent(fates().filter(|(a, b)| !a.is_decided_as(**b)).count())),
            Figure::Dropped => both(&|outcome| percent(outcome.dropped())),
            Figure::Marked => both(&|outcome| percent(outcome.marked())),
            Figure::Wait => both(&|outcome| mean(&outcome.waits_ms())),
            Figure::Share => both(&|outcome| 100.0 * outcome.share(&self.arrivals, flow)),
            Figure::Departure => {
                let apart =
                    fates().filter_map(|(a, b)| Some(a.left_ns()?.abs_diff(b.left_ns()?) as f64 / 1e6));
                (0.0, mean(&apart.collect::<Vec<f64>>()))
            }
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{RATE, find};
    use crate::outcome::PacketOutcome;
    use crate::replay::replay;
    use fairwire_catalogue::{Parameters, Site, build};
    use fairwire_core::Seed;
    use fairwire_core::units::Amount;

    /// Two runs of our discipline `name`. The first run represents the kernel's.
    fn twins(name: &str, seeds: (u64, u64)) -> Pair {
        let arrivals = find("pie").traffic.arrivals(1);
        let came: Vec<u64> = arrivals.iter().map(|arrival| arrival.at_ns).collect();
        let run = |seed| {
            let site = Site {
                rate: RATE,
                buffer: Amount::Packets(100),
                packet_bytes: 1024,
                seed: Seed(seed),
                stream: "oracle",
            };
            let mut discipline = build(name, &Parameters::default(), &site).expect("defaults build");
            replay(&mut *discipline, find("pfifo").credit(), &arrivals, &came)
        };
        Pair { kernel: run(seeds.0), ours: run(seeds.1), arrivals }
    }

    fn exactly(figure: Figure) -> Tolerance {
        Tolerance { figure, allowed: 0.0, deviations: 0.0, because: "a test".into() }
    }

    fn every_figure_exactly() -> Vec<Tolerance> {
        Figure::ALL.map(exactly).to_vec()
    }

    #[test]
    fn identical_runs_differ_in_no_figure() {
        let pair = twins("tail-drop", (1, 1));
        assert!(pair.ours.dropped() > 100, "a trace that never fills the buffer shows nothing");
        let rows = compare(&[pair], &every_figure_exactly());
        assert_eq!(rows.len(), Figure::ALL.len());
        for row in rows {
            assert!(row.holds() && row.kernel == row.ours, "{row:?}");
        }
    }

    #[test]
    fn a_drop_instead_of_a_departure_changes_every_figure_but_marks() {
        let mut pair = twins("tail-drop", (1, 1));
        let sent =
            pair.ours.fates.iter().rposition(|fate| *fate != PacketOutcome::Dropped).expect("some are sent");
        pair.ours.fates[sent] = PacketOutcome::Dropped;
        for row in compare(&[pair], &every_figure_exactly()) {
            let should_hold = matches!(row.figure, Figure::Marked | Figure::Departure);
            assert_eq!(row.holds(), should_hold, "{row:?}");
        }
    }

    #[test]
    fn a_mark_instead_of_no_mark_and_a_late_packet_are_noticed() {
        let mut pair = twins("tail-drop", (1, 1));
        let PacketOutcome::Sent(at) = pair.ours.fates[0] else {
            panic!("the first packet finds an empty queue")
        };
        pair.ours.fates[0] = PacketOutcome::Marked(at + 1_000_000);
        let broken: Vec<Figure> = compare(&[pair], &every_figure_exactly())
            .into_iter()
            .filter(|row| !row.holds())
            .map(|row| row.figure)
            .collect();
        assert_eq!(broken, [Figure::Marked, Figure::Wait, Figure::Decisions, Figure::Departure]);
    }

    #[test]
    fn random_decisions_pass_and_a_tenth_more_drops_fails() {
        let mut pairs: Vec<Pair> = (1..9).map(|seed| twins("red", (seed, seed + 100))).collect();
        let tolerance = Tolerance { deviations: 5.0, ..exactly(Figure::Dropped) };
        let dropped = |pairs: &[Pair]| compare(pairs, std::slice::from_ref(&tolerance))[0].clone();
        assert!(dropped(&pairs).holds(), "{:?}", dropped(&pairs));
        for pair in &mut pairs {
            let more = pair.ours.dropped() / 10;
            pair.ours
                .fates
                .iter_mut()
                .filter(|fate| **fate != PacketOutcome::Dropped)
                .take(more)
                .for_each(|fate| *fate = PacketOutcome::Dropped);
        }
        assert!(!dropped(&pairs).holds(), "{:?}", dropped(&pairs));
    }
}
