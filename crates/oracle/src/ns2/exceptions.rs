//! Known differences, each with its reason.

use super::judge::{Figure, Verdict};
use super::report::Finding;
use serde::Deserialize;

/// The list, as a part of this program.
const LIST: &str = include_str!("../../../../bench/ns2/exceptions.toml");

/// A difference that is explained.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// The cell.
    pub cell: String,
    /// The class.
    pub class: String,
    /// `throughput` or `drops`.
    pub figure: String,
    /// What was found to be the cause, and how.
    pub because: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    exception: Vec<Exception>,
}

/// The list of known differences.
pub fn known() -> Vec<Exception> {
    toml::from_str::<List>(LIST).expect("a test reads it").exception
}

impl Exception {
    fn is_about(&self, cell: &str, class: &str, figure: Figure) -> bool {
        self.cell == cell && self.class == class && self.figure == figure.name()
    }
}

/// Gives the rows that differ their known reasons. Returns the exceptions that nothing needed, though their cells were compared.
pub fn explain(findings: &mut [Finding], known: &[Exception]) -> Vec<String> {
    let mut unneeded = Vec::new();
    for exception in known {
        for finding in findings.iter_mut().filter(|finding| finding.cell == exception.cell) {
            let name = finding.cell;
            for row in &mut finding.rows {
                if !exception.is_about(name, row.class, row.figure) {
                    continue;
                }
                if row.verdict == Verdict::Differs {
                    row.because = Some(exception.because.clone());
                } else {
                    unneeded.push(format!("{name}, {} of {}", row.figure.name(), row.class));
                }
            }
        }
    }
    unneeded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ns2::grid::CELLS;

    #[test]
    fn every_exception_is_about_a_figure_of_the_grid_and_has_a_reason() {
        for exception in known() {
            let cell = CELLS.iter().find(|cell| cell.name == exception.cell);
            let cell = cell.unwrap_or_else(|| panic!("there is no cell {}", exception.cell));
            assert!(cell.classes.iter().any(|class| class.name == exception.class), "{exception:?}");
            assert!(["throughput", "drops"].contains(&exception.figure.as_str()), "{exception:?}");
            assert!(exception.because.len() > 40, "a reason takes a sentence: {exception:?}");
        }
    }

    #[test]
    fn a_reason_excuses_its_own_figure_and_no_other_and_an_unneeded_one_is_told() {
        let exception = |class: &str, figure: &str| Exception {
            cell: CELLS[0].name.into(),
            class: class.into(),
            figure: figure.into(),
            because: "a reason".into(),
        };
        let class = CELLS[0].classes[0].name;
        let mut findings = vec![Finding::of_test(&CELLS[0], 1.2, 1.3)];
        assert_eq!(
            explain(&mut findings, &[exception(class, "drops"), exception("nobody", "throughput")]),
            [""; 0]
        );
        let bad: Vec<_> = findings[0].rows.iter().filter(|row| row.is_bad()).map(|row| row.figure).collect();
        assert_eq!(bad, [Figure::Throughput]);
        let mut findings = vec![Finding::of_test(&CELLS[0], 1.0, 1.0)];
        assert_eq!(explain(&mut findings, &[exception(class, "drops")]).len(), 1);
    }
}
