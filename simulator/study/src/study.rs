//! A study as read from its folder, checked for all errors that can be found without a scenario.

use crate::calibration::record::Calibration;
use crate::library::Folder;
use crate::record::{Depth, VERDICTS, Verdict};
use crate::spec::{ClaimSpec, ExhibitSpec, FORMAT, LineSpec, NumberSpec, ReferenceSpec, StudySpec};
use crate::text::{hint, shown};
use fairwire_document::{Locations, Problem, listed, read_document};
use fairwire_scenario::ScenarioError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A study.
#[derive(Clone, Debug)]
pub struct Study {
    /// Its folder.
    pub folder: Folder,
    /// Its contents.
    pub spec: StudySpec,
    /// The locations of the contents in `study.toml`.
    pub locations: Locations,
    /// The paper's printed numbers.
    pub reference: Vec<NumberSpec>,
    /// The recorded verdicts, for `--quick` and for `--full`.
    pub recorded: Recorded,
    /// The recorded calibration; empty without one.
    pub calibration: Calibration,
}

/// The verdicts of `verdicts.toml`. A key names exhibit and claim, such as
/// `table1.faba-above-fred`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Verdicts of `--quick`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quick: BTreeMap<String, Verdict>,
    /// Verdicts of `--full`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub full: BTreeMap<String, Verdict>,
}

impl Recorded {
    /// The text of `verdicts.toml`.
    pub fn text(&self) -> String {
        let mut text = String::from("# Written by `fairwire reproduce --record`.\n");
        for (depth, verdicts) in [("quick", &self.quick), ("full", &self.full)] {
            if !verdicts.is_empty() {
                text += &format!("\n[{depth}]\n");
            }
            // Names have only letters, digits, `-`, `_` and one dot: no escaping is needed.
            verdicts.iter().for_each(|(name, verdict)| text += &format!("\"{name}\" = \"{verdict}\"\n"));
        }
        text
    }
}

/// The value of `exhibit` for printed numbers that belong to no exhibit.
const TEXT: &str = "text";

impl Study {
    /// Reads the study in `folder`.
    pub fn read(folder: &Folder) -> Result<Self, ScenarioError> {
        let empty = String::new();
        let text = |name: &str| folder.files.get(name).unwrap_or(&empty);
        let path = |name: &str| format!("{}{name}", folder.prefix);
        let (spec, locations) = read_document::<StudySpec>(&path("study.toml"), text("study.toml"))?;
        check(&spec, &locations)?;
        let (reference, at) =
            read_document::<ReferenceSpec>(&path("reference.toml"), text("reference.toml"))?;
        check_reference(&spec, &reference, &at)?;
        let (recorded, _) = read_document::<Recorded>(&path("verdicts.toml"), text("verdicts.toml"))?;
        let calibration = match folder.files.get("calibration.toml") {
            Some(text) => read_document(&path("calibration.toml"), text)?.0,
            None => Calibration::default(),
        };
        Ok(Study {
            folder: folder.clone(),
            spec,
            locations,
            reference: reference.number,
            recorded,
            calibration,
        })
    }

    /// The number of exhibits.
    pub fn len(&self) -> usize {
        self.spec.exhibit.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.spec.exhibit.is_empty()
    }

    /// The full name of exhibit number `at`, such as `faba.table1`.
    pub fn name(&self, at: usize) -> String {
        format!("{}.{}", self.spec.paper, self.spec.exhibit[at].id)
    }

    /// Counts the recorded verdicts on the claims of exhibit number `at`, in the order of
    /// [`VERDICTS`]. Uses the verdicts of the full depth, or else those of the quick depth. `None`
    /// if neither depth has any.
    pub fn counted(&self, at: usize) -> Option<(Depth, [usize; 3])> {
        let exhibit = &self.spec.exhibit[at];
        let names: Vec<String> =
            exhibit.claim.iter().map(|claim| format!("{}.{}", exhibit.id, claim.id)).collect();
        let counted = |verdicts: &BTreeMap<String, Verdict>| {
            let found: Vec<Verdict> = names.iter().filter_map(|name| verdicts.get(name).copied()).collect();
            let count = |verdict| found.iter().filter(|one| **one == verdict).count();
            (!found.is_empty()).then(|| VERDICTS.map(count))
        };
        let full = counted(&self.recorded.full).map(|counts| (Depth::Full, counts));
        full.or_else(|| counted(&self.recorded.quick).map(|counts| (Depth::Quick, counts)))
    }

    /// An error at `key` of exhibit number `at`.
    pub fn refuse(&self, at: usize, key: &str, message: impl Into<String>) -> ScenarioError {
        refuse(&self.locations, &format!("exhibit.{at}.{key}"), message)
    }
}

fn refuse(locations: &Locations, path: &str, message: impl Into<String>) -> ScenarioError {
    let path = path.trim_end_matches('.');
    locations.refuse(path, Problem::BadValue { key: path.into(), message: message.into() })
}

fn check(spec: &StudySpec, locations: &Locations) -> Result<(), ScenarioError> {
    if spec.format != FORMAT {
        return Err(refuse(locations, "format", format!("{} was given; allowed: {FORMAT}", spec.format)));
    }
    check_name(&spec.paper, "paper", locations)?;
    let mut ids: Vec<&str> = Vec::new();
    for (at, exhibit) in spec.exhibit.iter().enumerate() {
        let path = |key: &str| format!("exhibit.{at}.{key}");
        check_name(&exhibit.id, &path("id"), locations)?;
        if ids.contains(&exhibit.id.as_str()) {
            return Err(refuse(
                locations,
                &path("id"),
                format!("another exhibit has the id `{}`; allowed: each `id` once", exhibit.id),
            ));
        }
        ids.push(&exhibit.id);
        if exhibit.scenario.is_some() == exhibit.compute.is_some() {
            let what = match exhibit.scenario {
                Some(_) => "`scenario` and `compute` are both given",
                None => "neither `scenario` nor `compute` is given",
            };
            return Err(refuse(locations, &path(""), format!("{what}; allowed: one of the two")));
        }
        for (number, line) in exhibit.figure.reference.iter().enumerate() {
            check_line(line, exhibit)
                .map_err(|why| refuse(locations, &path(&format!("figure.reference.{number}")), why))?;
        }
        let mut claims: Vec<&str> = Vec::new();
        for (number, claim) in exhibit.claim.iter().enumerate() {
            let path = format!("exhibit.{at}.claim.{number}");
            check_name(&claim.id, &format!("{path}.id"), locations)?;
            if claims.contains(&claim.id.as_str()) {
                return Err(refuse(
                    locations,
                    &format!("{path}.id"),
                    format!("another claim has the id `{}`; allowed: each `id` once", claim.id),
                ));
            }
            claims.push(&claim.id);
            check_claim(claim).map_err(|(key, why)| refuse(locations, &format!("{path}{key}"), why))?;
        }
    }
    Ok(())
}

fn check_line(line: &LineSpec, exhibit: &ExhibitSpec) -> Result<(), String> {
    if !line.y.is_finite() {
        return Err(format!("y = {} was given; allowed: a finite number", line.y));
    }
    if line.label.trim().is_empty() {
        return Err("the `label` is blank; allowed: a text for the line".into());
    }
    if let Some(within) = line.within.filter(|within| !(*within > 0.0 && within.is_finite())) {
        return Err(format!(
            "within = {within} was given; allowed: a fraction of `y`: a number above 0, such as 0.15"
        ));
    }
    let panels = exhibit.figure.panel.iter().map(|panel| panel.title.clone());
    let curves = exhibit.series.iter().flat_map(|series| series.labels.iter().chain(&series.of).cloned());
    let titles: Vec<String> = panels.chain(curves).filter(|title| !title.is_empty()).collect();
    match &line.panel {
        Some(panel) if !titles.contains(panel) => {
            let near = hint(panel, &titles);
            let allowed =
                if titles.is_empty() { "no `panel`: none here has a title".into() } else { listed(&titles) };
            Err(format!("there is no panel `{panel}`; allowed: {allowed}{near}"))
        }
        _ => Ok(()),
    }
}

/// Checks that `name` is fit for file names and the command line.
fn check_name(name: &str, path: &str, locations: &Locations) -> Result<(), ScenarioError> {
    let is_right = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_right) {
        return Err(refuse(
            locations,
            path,
            format!("`{name}` was given; allowed: letters, digits, `-` and `_`, at most 64"),
        ));
    }
    Ok(())
}

fn check_claim(claim: &ClaimSpec) -> Result<(), (&'static str, String)> {
    let kinds = [
        ("not_testable", claim.not_testable.is_some()),
        ("order", claim.order.is_some()),
        ("bound", claim.bound.is_some()),
        ("value", claim.value.is_some()),
        ("trend", claim.trend.is_some()),
        ("slope", claim.slope.is_some()),
        ("lowest", claim.lowest.is_some()),
        ("highest", claim.highest.is_some()),
    ];
    let given: Vec<String> = kinds.iter().filter(|(_, is)| *is).map(|(name, _)| name.to_string()).collect();
    if given.len() != 1 {
        let all: Vec<String> = kinds.iter().map(|(name, _)| name.to_string()).collect();
        let what = match given.as_slice() {
            [] => "no check is given".into(),
            several => format!("{} are given", listed(several).replace(" or ", " and ")),
        };
        return Err(("", format!("{what}; allowed: exactly one of {}", listed(&all))));
    }
    let margin = match (&claim.order, &claim.trend) {
        (Some(order), _) => order.by != 0.0 || order.tolerance != 0.0 || order.times.is_some(),
        (_, Some(trend)) => trend.tolerance != 0.0,
        _ => claim.not_testable.is_none(),
    };
    if margin && claim.because.trim().is_empty() {
        return Err((
            "",
            "`because` is missing or blank; allowed: the reason for the tolerance, the margin or the bound"
                .into(),
        ));
    }
    if claim.stricter.as_ref().is_some_and(|why| why.trim().is_empty()) {
        return Err((
            ".stricter",
            "the text is blank; allowed: the reason why the check requires more than the paper says".into(),
        ));
    }
    let bounds = [&claim.bound, &claim.slope].into_iter().flatten();
    for bound in bounds {
        if bound.min.is_none() && bound.max.is_none() {
            return Err(("", "the bound is empty; allowed: `min`, `max` or both".into()));
        }
    }
    let tolerances = [
        claim.order.as_ref().map(|order| order.tolerance),
        claim.trend.as_ref().map(|trend| trend.tolerance),
        claim.value.as_ref().map(|value| value.tolerance),
    ];
    if let Some(wrong) =
        tolerances.into_iter().flatten().find(|tolerance| *tolerance < 0.0 || tolerance.is_nan())
    {
        return Err(("", format!("the tolerance is {}; allowed: 0 or more", shown(wrong))));
    }
    Ok(())
}

fn check_reference(
    spec: &StudySpec,
    reference: &ReferenceSpec,
    locations: &Locations,
) -> Result<(), ScenarioError> {
    let ids: Vec<String> =
        spec.exhibit.iter().map(|exhibit| exhibit.id.clone()).chain([TEXT.into()]).collect();
    for (number, printed) in reference.number.iter().enumerate() {
        if !ids.contains(&printed.exhibit) {
            let problem = Problem::Unknown { what: "exhibit", given: printed.exhibit.clone(), allowed: ids };
            return Err(locations.refuse(&format!("number.{number}.exhibit"), problem));
        }
    }
    Ok(())
}
