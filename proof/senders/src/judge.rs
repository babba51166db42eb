//! Compares our results with a kernel's.

use crate::Failure;
use crate::cell::Cell;
use crate::kept::Figure;
use fairwire_document::{read_document, read_text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The tolerance of a cell's goodput, fixed before any comparison: a fraction of the link or a
/// fraction of the kernel's goodput, whichever is larger.
pub const ALLOWED: (f64, f64) = (0.05, 0.10);
/// The fraction of the cells that must be within the tolerance.
pub const WITHIN: f64 = 0.9;
/// The largest distance of a controller's mean ratio from 1. The mean ratio is the geometric mean,
/// over the controller's cells, of our goodput divided by the kernel's.
pub const BIAS: f64 = 0.03;
const MAX_BYTES: u64 = 1 << 20;

/// A cell's results, ours and the kernel's.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedCell {
    /// The plan of the cell.
    pub plan: String,
    /// The cell's name in the plan.
    pub cell: String,
    /// Its controller.
    pub controller: String,
    /// The fault of the cell's wire.
    pub fault: String,
    /// The stage and the version of the kernel.
    pub kernel: String,
    /// Our goodput, bit/s.
    pub ours_bps: f64,
    /// The kernel's, bit/s.
    pub kernels_bps: f64,
    /// Our goodput divided by the kernel's.
    pub ratio: f64,
    /// Is the cell within the tolerance?
    pub is_within: bool,
    /// The reason why the cell is outside the tolerance, if known.
    pub because: Option<String>,
}

/// A known reason why some cells are outside the tolerance. The reason applies to the cells that
/// match every given key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    plan: Option<String>,
    controller: Option<String>,
    fault: Option<String>,
    cell: Option<String>,
    because: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Causes {
    #[serde(default)]
    known: Vec<Cause>,
}

impl Cause {
    fn is_of(&self, cell: &Cell) -> bool {
        let is =
            |wanted: &Option<String>, given: &str| wanted.as_deref().is_none_or(|wanted| wanted == given);
        is(&self.plan, &cell.plan)
            && is(&self.controller, &cell.controller)
            && is(&self.fault, &cell.fault)
            && is(&self.cell, &cell.name)
    }
}

/// The causes in `file`; empty if the file does not exist.
///
/// # Errors
/// An invalid file, with the location, or a cause that matches no cell.
pub fn causes(file: &Path, cells: &[Cell]) -> Result<Vec<Cause>, Failure> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = read_text(file, MAX_BYTES, "a list of causes, such as proof/suite/senders/known.toml")?;
    let (Causes { known }, _) = read_document::<Causes>(&file.display().to_string(), &text)?;
    for (at, cause) in known.iter().enumerate() {
        if !cells.iter().any(|cell| cause.is_of(cell)) {
            let (file, number) = (file.display(), at + 1);
            return Err(Failure::User(format!(
                "{file}: cause {number} of `known` is of no cell; allowed: a plan, a controller, a fault and a cell as the table has them"
            )));
        }
    }
    Ok(known)
}

impl ComparedCell {
    /// Compares `ours` with the kernel's figure for `cell`.
    ///
    /// # Errors
    /// If our link and the kernel's have different rates.
    pub fn of(
        cell: &Cell,
        ours: &Figure,
        kernels: &Figure,
        causes: &[Cause],
    ) -> Result<ComparedCell, Failure> {
        if (ours.rate_bps - kernels.rate_bps).abs() > 1.0 {
            return Err(Failure::User(format!(
                "{}: {}: the kernel's figure is of a link of {} bit/s, the cell's has {}; allowed: one that is measured anew, with `--on {}`",
                cell.plan, cell.name, kernels.rate_bps, ours.rate_bps, kernels.stage
            )));
        }
        let (ours_bps, kernels_bps) = (ours.goodput_bps, kernels.goodput_bps);
        let allowed = (ALLOWED.0 * ours.rate_bps).max(ALLOWED.1 * kernels_bps);
        let is_within = (ours_bps - kernels_bps).abs() <= allowed;
        let because = causes.iter().find(|cause| !is_within && cause.is_of(cell));
        Ok(ComparedCell {
            plan: cell.plan.clone(),
            cell: cell.name.clone(),
            controller: cell.controller.clone(),
            fault: cell.fault.clone(),
            kernel: format!("{} {}", kernels.stage, kernels.kernel),
            ours_bps,
            kernels_bps,
            ratio: ours_bps / kernels_bps,
            is_within,
            because: because.map(|cause| cause.because.clone()),
        })
    }
}

/// The summary of several cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sum {
    /// The subject: a controller, a fault, or `all`.
    pub of: String,
    /// The number of cells.
    pub cells: usize,
    /// The number of cells within the tolerance.
    pub within: usize,
    /// The geometric mean, over the cells, of our goodput divided by the kernel's.
    pub mean_ratio: f64,
}

impl Sum {
    fn of(name: &str, rows: &[&ComparedCell]) -> Sum {
        let logs: f64 = rows.iter().map(|row| row.ratio.ln()).sum();
        Sum {
            of: name.into(),
            cells: rows.len(),
            within: rows.iter().filter(|row| row.is_within).count(),
            mean_ratio: (logs / rows.len() as f64).exp(),
        }
    }
}

/// All rows together.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Per controller.
    pub controllers: Vec<Sum>,
    /// Per fault.
    pub faults: Vec<Sum>,
    /// Over all cells.
    pub all: Sum,
    /// The number of cells outside the tolerance without a known cause.
    pub unexplained: usize,
}

impl Verdict {
    /// The verdict on `rows`, of which there is at least one.
    pub fn of(rows: &[ComparedCell]) -> Verdict {
        let by = |key: fn(&ComparedCell) -> &str| {
            let mut groups: BTreeMap<&str, Vec<&ComparedCell>> = BTreeMap::new();
            rows.iter().for_each(|row| groups.entry(key(row)).or_default().push(row));
            groups.iter().map(|(name, rows)| Sum::of(name, rows)).collect()
        };
        Verdict {
            controllers: by(|row| &row.controller),
            faults: by(|row| &row.fault),
            all: Sum::of("all", &rows.iter().collect::<Vec<_>>()),
            unexplained: rows.iter().filter(|row| !row.is_within && row.because.is_none()).count(),
        }
    }

    /// A message for each requirement that is not met.
    pub fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let Sum { cells, within, .. } = self.all;
        if (within as f64) < WITHIN * cells as f64 {
            misses.push(format!(
                "{within} of {cells} cells are within what is allowed; {WITHIN} of them are to be"
            ));
        }
        for Sum { of, mean_ratio, .. } in &self.controllers {
            if (mean_ratio - 1.0).abs() > BIAS {
                misses.push(format!(
                    "the mean of {of} is {mean_ratio:.3} of the kernel's; within {BIAS} is allowed"
                ));
            }
        }
        if self.unexplained > 0 {
            misses.push(format!("{} cells are outside, and `known.toml` has no cause", self.unexplained));
        }
        misses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(controller: &str, ratio: f64, is_within: bool) -> ComparedCell {
        ComparedCell {
            plan: "loss".into(),
            cell: "a".into(),
            controller: controller.into(),
            fault: "loss 1 %".into(),
            kernel: "linux".into(),
            ours_bps: ratio,
            kernels_bps: 1.0,
            ratio,
            is_within,
            because: None,
        }
    }

    #[test]
    fn means_are_geometric_and_by_controller() {
        let verdict =
            Verdict::of(&[row("cubic", 2.0, false), row("cubic", 0.5, false), row("reno", 1.1, true)]);
        let means: Vec<f64> = verdict.controllers.iter().map(|sum| sum.mean_ratio).collect();
        assert!((means[0] - 1.0).abs() < 1e-12 && (means[1] - 1.1).abs() < 1e-12, "{means:?}");
        assert_eq!((verdict.all.within, verdict.unexplained), (1, 2));
        assert_eq!(verdict.misses().len(), 3, "{:?}", verdict.misses());
    }

    #[test]
    fn a_result_equal_to_the_kernel_has_no_misses() {
        assert_eq!(Verdict::of(&[row("bbr", 1.01, true)]).misses(), Vec::<String>::new());
    }
}
