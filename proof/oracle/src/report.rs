//! The output of the comparison.

use crate::case::Case;
use crate::compare::{ComparedFigure, Pair, compare};
use fairwire_metrics::judge::Verdict;
use serde::Serialize;
use std::fmt::Write;

/// One case with its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The case.
    pub case: String,
    /// Our discipline.
    pub ours: String,
    /// The kernel's discipline, in the form of `tc`.
    pub kernel: String,
    /// The number of runs.
    pub runs: u64,
    /// Arrivals over all runs.
    pub arrivals: usize,
    /// The worst verdict of the figures; `None` if no figure has a tolerance.
    pub verdict: Option<Verdict>,
    /// The reason, if our discipline was not run.
    pub missing: Option<String>,
    /// The index of the first packet in the first run whose fate differs from the kernel's, if any.
    pub first_apart: Option<usize>,
    /// The figures; empty if our discipline was not run.
    pub rows: Vec<ComparedFigure>,
}

impl Finding {
    /// The finding of a compared case.
    pub fn new(case: &Case, pairs: &[Pair]) -> Finding {
        let rows = compare(pairs, &case.tolerances);
        Finding {
            arrivals: pairs.iter().map(|pair| pair.arrivals.len()).sum(),
            verdict: Verdict::of_all(rows.iter().filter_map(ComparedFigure::verdict)),
            first_apart: pairs.first().and_then(Pair::first_apart),
            rows,
            ..Self::without(case)
        }
    }

    /// The finding of a case whose discipline we do not have.
    pub fn not_in_the_catalogue(case: &Case) -> Finding {
        let missing = Some(format!("not in the catalogue: {}", case.ours));
        Finding { verdict: Some(Verdict::NotTestable), missing, ..Self::without(case) }
    }

    /// The finding of a case whose discipline cannot be built because of `why`.
    pub fn not_built(case: &Case, why: &str) -> Finding {
        let missing = Some(format!("NOT BUILT: {why}"));
        Finding { verdict: Some(Verdict::Fails), missing, ..Self::without(case) }
    }

    fn without(case: &Case) -> Finding {
        Finding {
            case: case.name.clone(),
            ours: case.ours.clone(),
            kernel: case.kernel.qdisc.clone(),
            runs: case.runs,
            arrivals: 0,
            verdict: None,
            missing: None,
            first_apart: None,
            rows: Vec::new(),
        }
    }

    /// Is the verdict [`Verdict::Fails`]?
    pub fn is_bad(&self) -> bool {
        self.verdict == Some(Verdict::Fails)
    }

    /// The finding as lines of text: the figures, then the reasons.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let what = match (&self.missing, self.verdict) {
            (Some(missing), _) => missing.as_str(),
            (None, None) => "for information",
            (None, Some(Verdict::Holds)) => "agrees",
            (None, Some(_)) => "DIFFERS",
        };
        let _ = writeln!(text, "{}: {what}", self.case);
        if self.rows.is_empty() {
            return text;
        }
        let _ = writeln!(
            text,
            "  {} against {}; {} arrivals in {} runs",
            self.ours, self.kernel, self.arrivals, self.runs
        );
        let _ =
            writeln!(text, "  {:<22}{:>10}{:>10}{:>12}{:>10}", "", "kernel", "ours", "difference", "allowed");
        for row in &self.rows {
            let name = row
                .flow
                .map_or(row.figure.name().into(), |flow| format!("{} of flow {flow}", row.figure.name()));
            let allowed = row.allowed.map_or("-".into(), |allowed| format!("{allowed:.4}"));
            let flag = if row.holds() { "" } else { "  <-- outside" };
            let (kernel, ours, difference) = (row.kernel, row.ours, row.ours - row.kernel);
            let _ = writeln!(
                text,
                "  {name:<22}{kernel:>10.4}{ours:>10.4}{difference:>+12.4}{allowed:>10}{flag}"
            );
        }
        if let Some(number) = self.first_apart {
            let _ = writeln!(text, "  the first packet of another fate is number {number} of the first run");
        }
        for row in &self.rows {
            if let Some(because) = &row.because {
                let _ = writeln!(text, "    {}: {because}", row.figure.name());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::find;
    use crate::outcome::{Outcome, PacketOutcome};

    fn finding(name: &str, kernel: PacketOutcome) -> Finding {
        let case = find(name);
        let arrivals = case.traffic.arrivals(1)[..1].to_vec();
        let outcome = |fate| Outcome { came_ns: vec![0], fates: vec![fate] };
        Finding::new(
            &case,
            &[Pair { arrivals, kernel: outcome(kernel), ours: outcome(PacketOutcome::Sent(0)) }],
        )
    }

    #[test]
    fn one_different_fate_fails_a_finding_with_a_tolerance() {
        assert_eq!(finding("pfifo", PacketOutcome::Sent(0)).verdict, Some(Verdict::Holds));
        let bad = finding("pfifo", PacketOutcome::Dropped);
        assert_eq!((bad.verdict, bad.first_apart), (Some(Verdict::Fails), Some(0)));
        assert!(bad.is_bad() && bad.text().contains("<-- outside"), "{}", bad.text());
        assert_eq!(finding("hhf", PacketOutcome::Dropped).verdict, None);
    }

    #[test]
    fn a_missing_discipline_is_reported_and_an_unbuildable_case_is_bad() {
        let case = find("pfifo");
        let missing = Finding::not_in_the_catalogue(&case);
        assert!(!missing.is_bad() && missing.text().contains("not in the catalogue"));
        assert!(Finding::not_built(&case, "why").is_bad());
    }
}
