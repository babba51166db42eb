//! What is shown of the comparison.

use crate::case::Case;
use crate::compare::{Pair, Row, compare};
use serde::Serialize;
use std::fmt::Write;

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every figure that has a tolerance is within it.
    Agrees,
    /// One at least is not.
    Differs,
    /// No figure has a tolerance: shown for information.
    Shown,
    /// Ours does not exist.
    NotInTheCatalogue,
    /// Ours could not be built; why.
    NotBuilt(String),
}

/// One case with its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The case.
    pub case: String,
    /// Our discipline.
    pub ours: String,
    /// The kernel's, as `tc` takes it.
    pub kernel: String,
    /// Runs.
    pub runs: u64,
    /// Arrivals over all runs.
    pub arrivals: usize,
    /// What came of it.
    pub verdict: Verdict,
    /// Of the first run: the first packet whose fate differs, by its number.
    pub first_apart: Option<usize>,
    /// The figures; none where ours is missing.
    pub rows: Vec<Row>,
}

impl Finding {
    /// The finding of a case that was compared, or of one that could not be.
    pub fn new(case: &Case, compared: Result<&[Pair], Verdict>) -> Finding {
        let pairs = compared.as_deref().unwrap_or_default();
        let rows = if pairs.is_empty() { Vec::new() } else { compare(pairs, &case.tolerances) };
        let verdict = match &compared {
            Ok(_) if case.tolerances.is_empty() => Verdict::Shown,
            Ok(_) if rows.iter().all(Row::holds) => Verdict::Agrees,
            Ok(_) => Verdict::Differs,
            Err(verdict) => verdict.clone(),
        };
        let arrivals = pairs.iter().map(|pair| pair.arrivals.len()).sum();
        let first_apart = pairs.first().and_then(Pair::first_apart);
        Finding {
            case: case.name.clone(),
            ours: case.ours.clone(),
            kernel: case.kernel.qdisc.clone(),
            runs: case.runs,
            arrivals,
            verdict,
            first_apart,
            rows,
        }
    }

    /// Must somebody look at it?
    pub fn is_bad(&self) -> bool {
        matches!(self.verdict, Verdict::Differs | Verdict::NotBuilt(_))
    }

    /// The finding as lines of text. Reasons stand under the figures.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let what = match &self.verdict {
            Verdict::Agrees => "agrees".to_owned(),
            Verdict::Differs => "DIFFERS".to_owned(),
            Verdict::Shown => "for information".to_owned(),
            Verdict::NotInTheCatalogue => format!("not in the catalogue: {}", self.ours),
            Verdict::NotBuilt(why) => format!("NOT BUILT: {why}"),
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
    use crate::outcome::{Fate, Outcome};

    fn finding(name: &str, kernel: Fate) -> Finding {
        let case = find(name);
        let arrivals = case.traffic.arrivals(1)[..1].to_vec();
        let outcome = |fate| Outcome { came_ns: vec![0], fates: vec![fate] };
        Finding::new(&case, Ok(&[Pair { arrivals, kernel: outcome(kernel), ours: outcome(Fate::Sent(0)) }]))
    }

    #[test]
    fn one_other_fate_makes_a_finding_bad_where_there_is_a_tolerance() {
        assert_eq!(finding("pfifo", Fate::Sent(0)).verdict, Verdict::Agrees);
        let bad = finding("pfifo", Fate::Dropped);
        assert_eq!((bad.verdict.clone(), bad.first_apart), (Verdict::Differs, Some(0)));
        assert!(bad.is_bad() && bad.text().contains("<-- outside"), "{}", bad.text());
        assert_eq!(finding("hhf", Fate::Dropped).verdict, Verdict::Shown);
    }

    #[test]
    fn what_is_missing_is_told_and_what_cannot_be_built_is_bad() {
        let case = find("pfifo");
        let missing = Finding::new(&case, Err(Verdict::NotInTheCatalogue));
        assert!(!missing.is_bad() && missing.text().contains("not in the catalogue"));
        assert!(Finding::new(&case, Err(Verdict::NotBuilt("why".into()))).is_bad());
    }
}
