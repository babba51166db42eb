//! What of two sides of a contest is compared, and how far they may lie apart.

use super::cases::Contest;
use super::setting::{DURATION, HEADER_BYTES, RATE, SEGMENT_BYTES, WARM_UP};
use fairwire_experiment::linux::Tally;
use serde::Serialize;
use std::fmt::Write;

/// What is compared. Each is a mean over runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// What the first class got of all that was delivered, percent; of two classes or more.
    Share,
    /// What was delivered, in percent of what the link could carry in full segments.
    Used,
    /// The mean wait of packets that left, milliseconds.
    MeanWait,
    /// The wait that 95 % of them did not exceed, milliseconds.
    LongWait,
    /// Packets dropped, in percent of those that came.
    Dropped,
    /// Packets marked, in percent of those that came.
    Marked,
}

impl Figure {
    /// Every figure, in the order in which they are shown.
    pub const ALL: [Figure; 6] =
        [Figure::Share, Figure::Used, Figure::MeanWait, Figure::LongWait, Figure::Dropped, Figure::Marked];

    /// The name and the unit for people.
    pub const fn name(self) -> &'static str {
        match self {
            Figure::Share => "share of the first, %",
            Figure::Used => "link used, %",
            Figure::MeanWait => "mean wait, ms",
            Figure::LongWait => "95 % waited, ms",
            Figure::Dropped => "dropped, %",
            Figure::Marked => "marked, %",
        }
    }

    fn of(self, contest: &Contest, tally: &Tally) -> f64 {
        match self {
            Figure::Share => tally.share(0..contest.classes[0].flows),
            Figure::Used => {
                let bits = tally.delivered_bytes.iter().sum::<u64>() as f64 * 8.0;
                let full = f64::from(SEGMENT_BYTES) / f64::from(SEGMENT_BYTES + HEADER_BYTES);
                100.0 * bits / (RATE.bps() as f64 * (DURATION - WARM_UP).secs() * full)
            }
            Figure::MeanWait => tally.mean_wait_ms(),
            Figure::LongWait => tally.long_wait_ms(),
            Figure::Dropped => tally.percent(tally.dropped),
            Figure::Marked => tally.percent(tally.marked),
        }
    }
}

/// How far apart a figure may lie.
#[derive(Clone, Copy, Debug)]
pub struct Tolerance {
    /// Which figure.
    pub figure: Figure,
    /// In the figure's unit, beyond [`DEVIATIONS`] standard errors of the difference.
    pub allowed: f64,
    /// Why that much.
    pub because: &'static str,
}

/// What chance may do: so many standard errors of the difference of two means. With 6 runs on each side, beyond them once in
/// 400 comparisons (Student's t with 10 degrees of freedom).
pub(super) const DEVIATIONS: f64 = 4.0;

/// One figure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which figure.
    pub figure: Figure,
    /// The kernel's mean.
    pub kernel: f64,
    /// Ours.
    pub ours: f64,
    /// The standard error of their difference.
    pub error: f64,
    /// How far apart they may lie; none where the figure is for information.
    pub allowed: Option<f64>,
    /// Why that much.
    pub because: Option<&'static str>,
    /// The kernel's values, run by run.
    pub kernel_runs: Vec<f64>,
    /// Ours.
    pub our_runs: Vec<f64>,
}

impl Row {
    fn new(contest: &Contest, figure: Figure, kernel: &[Tally], ours: &[Tally]) -> Row {
        let values = |tallies: &[Tally]| -> Vec<f64> {
            tallies.iter().map(|tally| figure.of(contest, tally)).collect()
        };
        let (kernel_runs, our_runs) = (values(kernel), values(ours));
        let (a, b) = (Mean::of(&kernel_runs), Mean::of(&our_runs));
        let error = (a.error.powi(2) + b.error.powi(2)).sqrt();
        let tolerance = contest.tolerances.iter().find(|tolerance| tolerance.figure == figure);
        Row {
            figure,
            kernel: a.mean,
            ours: b.mean,
            error,
            allowed: tolerance.map(|tolerance| tolerance.allowed + DEVIATIONS * error),
            because: tolerance.map(|tolerance| tolerance.because),
            kernel_runs,
            our_runs,
        }
    }

    /// Is it within its tolerance, or without any?
    pub fn holds(&self) -> bool {
        // Written so that what is not a number does not hold.
        self.allowed.is_none_or(|allowed| (self.ours - self.kernel).abs() <= allowed)
    }
}

struct Mean {
    mean: f64,
    /// Its standard error; 0 for a single value.
    error: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Mean {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Mean { mean, error: if n < 2.0 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() } }
    }
}

/// Both sides of a contest.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The contest.
    pub contest: &'static str,
    /// Who contends.
    pub flows: String,
    /// Our discipline, with its parameters.
    pub ours: &'static str,
    /// The kernel's, as `tc` takes it.
    pub kernel: &'static str,
    /// Do the flows use ECN?
    pub ecn: bool,
    /// Runs on each side.
    pub runs: usize,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// The comparison of the runs of `contest`.
    ///
    /// # Panics
    /// Without a run on either side.
    pub fn new(contest: &'static Contest, kernel: &[Tally], ours: &[Tally]) -> Comparison {
        assert!(!kernel.is_empty() && !ours.is_empty(), "nothing to compare");
        let is_told = |figure: &Figure| match figure {
            Figure::Share => contest.classes.len() > 1,
            Figure::Marked => contest.ecn,
            _ => true,
        };
        let figures = Figure::ALL.into_iter().filter(is_told);
        Comparison {
            contest: contest.name,
            flows: contest.flows(),
            ours: contest.parameters.trim(),
            kernel: contest.kernel,
            ecn: contest.ecn,
            runs: kernel.len(),
            rows: figures.map(|figure| Row::new(contest, figure, kernel, ours)).collect(),
        }
    }

    /// Does every figure hold?
    pub fn holds(&self) -> bool {
        self.rows.iter().all(Row::holds)
    }

    /// Has no figure a tolerance, so that it is shown for information only?
    pub fn is_shown(&self) -> bool {
        self.rows.iter().all(|row| row.allowed.is_none())
    }

    /// The comparison as lines of text. Reasons stand under the figures.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let verdict = match (self.is_shown(), self.holds()) {
            (true, _) => "for information",
            (false, true) => "agrees",
            (false, false) => "DIFFERS",
        };
        let _ = writeln!(text, "{}: {verdict}", self.contest);
        let _ = writeln!(text, "  {} over {}; {} runs on each side", self.flows, self.kernel, self.runs);
        let _ = writeln!(
            text,
            "  {:<22}{:>10}{:>10}{:>12}{:>8}{:>10}",
            "", "kernel", "ours", "difference", "error", "allowed"
        );
        for row in &self.rows {
            let Row { figure, kernel, ours, error, allowed, .. } = row;
            let (name, difference) = (figure.name(), ours - kernel);
            let allowed = allowed.map_or("-".into(), |allowed| format!("{allowed:.2}"));
            let flag = if row.holds() { "" } else { "  <-- outside" };
            let _ = writeln!(
                text,
                "  {name:<22}{kernel:>10.2}{ours:>10.2}{difference:>+12.2}{error:>8.2}{allowed:>10}{flag}"
            );
        }
        for row in &self.rows {
            if let Some(because) = row.because {
                let _ = writeln!(text, "    {}: {because}", row.figure.name());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::find;

    const CONTEST: &str = "cubic-reno"; // two classes of four flows

    fn tally(first: u64, wait_ms: u64) -> Tally {
        let mut delivered_bytes = vec![1_000_000; 8];
        delivered_bytes[..4].fill(first);
        Tally { delivered_bytes, arrived: 100, waits_ns: vec![wait_ms * 1_000_000; 20], ..Tally::default() }
    }

    fn row(kernel: &[Tally], ours: &[Tally], allowed: f64) -> Row {
        let because = "a test";
        let tolerances = Box::leak(Box::new([Tolerance { figure: Figure::Share, allowed, because }]));
        let contest = Contest { tolerances, ..*find(CONTEST).expect("there is one") };
        Row::new(&contest, Figure::Share, kernel, ours)
    }

    #[test]
    fn another_share_is_outside_and_the_same_is_not() {
        let (even, greedy) = ([tally(1_000_000, 5)], [tally(3_000_000, 5)]);
        assert!(row(&even, &even, 0.0).holds());
        let apart = row(&even, &greedy, 24.9);
        assert_eq!((apart.kernel, apart.ours), (50.0, 75.0));
        assert!(!apart.holds() && row(&even, &greedy, 25.1).holds());
    }

    #[test]
    fn the_spread_of_runs_is_allowed_and_no_more() {
        // Shares of 50 % and 75 %: a mean of 62.5 % with a standard error of 12.5 points.
        let spread = [tally(1_000_000, 5), tally(3_000_000, 5)];
        let row = row(&spread, &[tally(1_000_000, 5)], 1.0);
        assert!((row.error - 12.5).abs() < 1e-9, "{}", row.error);
        assert_eq!(row.allowed, Some(1.0 + DEVIATIONS * row.error));
    }

    #[test]
    fn what_is_not_a_number_does_not_hold() {
        let nothing = [Tally { delivered_bytes: vec![0; 8], ..Tally::default() }];
        assert!(!row(&nothing, &nothing, 1e9).holds());
    }

    #[test]
    fn a_comparison_tells_a_share_only_of_several_classes_and_marks_only_with_ecn() {
        let figures = |name: &str| -> Vec<Figure> {
            let contest = find(name).expect("there is one");
            let tallies = [tally(1_000_000, 5)];
            Comparison::new(contest, &tallies, &tallies).rows.iter().map(|row| row.figure).collect()
        };
        assert!(figures(CONTEST).contains(&Figure::Share) && !figures(CONTEST).contains(&Figure::Marked));
        assert!(
            figures("dctcp-step").contains(&Figure::Marked)
                && !figures("dctcp-step").contains(&Figure::Share)
        );
    }
}
