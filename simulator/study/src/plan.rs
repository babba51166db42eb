//! The checked plan of one figure or table: its points, series, measures and runs.

use crate::computed;
use crate::expression::{Expression, Over};
use crate::facts;
use crate::packets;
use crate::record::Depth;
use crate::spec::{Amount, At, CaseSpec, ExhibitSpec, MeasureSpec, SeedsSpec, Split};
use crate::study::Study;
use crate::sweep::{self, Point};
use crate::watch::{self, Sampling};
use fairwire_core::Duration;
use fairwire_document::Problem;
use fairwire_scenario::{Overrides, Scenario, ScenarioError, parse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One exhibit, ready to be run.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The study.
    pub study: &'a Study,
    /// The exhibit's index in the study.
    pub at: usize,
    /// Its depth.
    pub depth: Depth,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The points on the horizontal axis.
    pub points: Vec<Point>,
    /// The names of the series, in order.
    pub series: Vec<String>,
    /// The runs at each point for each series.
    pub cells: Vec<Cell>,
    /// The measures.
    pub measures: Vec<Measure>,
    /// The curves over time.
    pub curves: Option<Curves>,
    /// The series to sample for the measures, if any.
    pub sampling: Option<Arc<Sampling>>,
    /// The series to sample for the measures and the curves, in runs with the seed of the curves.
    pub curve_sampling: Option<Arc<Sampling>>,
    /// The computation that replaces runs, if any.
    pub computed: Option<&'static computed::Entry>,
}

/// One discipline of one scenario at one point, under all seeds.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The index of the cell's point.
    pub point: usize,
    /// The index of the cell's series.
    pub series: usize,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The index of the discipline in the scenario.
    pub discipline: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    file: String,
    /// The changes.
    set: Vec<String>,
    disciplines: Vec<String>,
}

/// A measure.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The measure's name in claims.
    pub id: String,
    /// The measure's name in a figure.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// The measure's position on the horizontal axis, if the axis shows measures.
    pub x: Option<f64>,
    /// How the measure is computed.
    pub of: Expression,
}

/// Curves over time.
#[derive(Clone, Debug)]
pub struct Curves {
    /// The curves' expressions and legends.
    pub of: Vec<(Expression, String)>,
    /// Their seed.
    pub seed: u64,
    /// The split of the curves into panels.
    pub split: Split,
}

/// How an exhibit's runs differ from the study.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Changes to the exhibit's scenarios, as with `--set`. The variations along the horizontal
    /// axis are applied after them.
    pub set: Vec<String>,
    /// The number of seeds to use, starting with the exhibit's first seed; `None` for all.
    pub seeds: Option<usize>,
}

impl<'a> Plan<'a> {
    /// The plan of exhibit number `at` of `study`.
    pub fn of(study: &'a Study, at: usize, depth: Depth) -> Result<Self, ScenarioError> {
        Self::changed(study, at, depth, &Changes::default())
    }

    /// The plan of exhibit number `at` of `study`, with changes.
    pub fn changed(
        study: &'a Study,
        at: usize,
        depth: Depth,
        changes: &Changes,
    ) -> Result<Self, ScenarioError> {
        let spec = &study.spec.exhibit[at];
        let maker = Maker { study, at, spec, depth, changes };
        let seeds = maker.seeds();
        let mut plan = Plan {
            study,
            at,
            depth,
            measures: maker.measures()?,
            curves: maker.curves(&seeds)?,
            seeds,
            points: Vec::new(),
            series: Vec::new(),
            cells: Vec::new(),
            sampling: None,
            curve_sampling: None,
            computed: maker.computed()?,
        };
        if plan.computed.is_none() {
            maker.fill(&mut plan)?;
        }
        crate::verdict::check(&plan)?;
        Ok(plan)
    }

    /// The exhibit's specification in the study.
    pub fn spec(&self) -> &'a ExhibitSpec {
        &self.study.spec.exhibit[self.at]
    }

    /// The series to sample in runs with `seed`, if any.
    pub fn sampling(&self, seed: u64) -> Option<&Arc<Sampling>> {
        match &self.curves {
            Some(curves) if curves.seed == seed => self.curve_sampling.as_ref(),
            _ => self.sampling.as_ref(),
        }
    }
}

const NO_SCENARIOS: [&str; 5] =
    ["study.toml", "reference.toml", "verdicts.toml", "space.toml", "calibration.toml"];

struct Maker<'a> {
    study: &'a Study,
    at: usize,
    spec: &'a ExhibitSpec,
    depth: Depth,
    changes: &'a Changes,
}

impl Maker<'_> {
    fn refuse(&self, key: &str, message: impl Into<String>) -> ScenarioError {
        self.study.refuse(self.at, key, message)
    }

    fn seeds(&self) -> Vec<u64> {
        let SeedsSpec { quick, full } = self.spec.seeds.as_ref().unwrap_or(&self.study.spec.seeds);
        let seeds = if self.depth == Depth::Quick { quick } else { full };
        let seeds = seeds.as_slice();
        seeds[..self.changes.seeds.unwrap_or(seeds.len()).min(seeds.len())].to_vec()
    }

    fn computed(&self) -> Result<Option<&'static computed::Entry>, ScenarioError> {
        let Some(name) = &self.spec.compute else { return Ok(None) };
        if let Some(entry) = computed::find(name) {
            return Ok(Some(entry));
        }
        let allowed = computed::all().iter().map(|entry| entry.name.to_string()).collect();
        let problem = Problem::Unknown { what: "computed exhibit", given: name.clone(), allowed };
        Err(self.study.locations.refuse(&format!("exhibit.{}.compute", self.at), problem))
    }

    fn measures(&self) -> Result<Vec<Measure>, ScenarioError> {
        let mut measures: Vec<Measure> = Vec::new();
        for (number, spec) in self.spec.measure.iter().enumerate() {
            let refuse = |key: &str, why: String| self.refuse(&format!("measure.{number}.{key}"), why);
            if measures.iter().any(|measure| measure.id == spec.id) {
                return Err(refuse(
                    "id",
                    format!("another measure has the id `{}`; allowed: each `id` once", spec.id),
                ));
            }
            measures.push(measure(spec).map_err(|(key, why)| refuse(key, why))?);
        }
        if measures.is_empty() && self.spec.series.is_none() {
            return Err(self.refuse(
                "id",
                "the exhibit measures nothing; allowed: a `[[exhibit.measure]]` or an `[exhibit.series]`",
            ));
        }
        Ok(measures)
    }

    fn curves(&self, seeds: &[u64]) -> Result<Option<Curves>, ScenarioError> {
        let Some(spec) = &self.spec.series else { return Ok(None) };
        let refuse = |key: &str, why: String| self.refuse(&format!("series.{key}"), why);
        if spec.every.0 == Duration::ZERO {
            return Err(refuse("every", "`0 s` was given; allowed: a time above zero".into()));
        }
        if !spec.labels.is_empty() && spec.labels.len() != spec.of.len() {
            return Err(refuse(
                "labels",
                format!(
                    "the number of labels is {}; allowed: {}, the number of series in `of`",
                    spec.labels.len(),
                    spec.of.len()
                ),
            ));
        }
        let mut of = Vec::new();
        for (number, text) in spec.of.iter().enumerate() {
            let expression = Expression::parse(text).map_err(|why| refuse(&format!("of.{number}"), why))?;
            of.push((expression, spec.labels.get(number).unwrap_or(text).clone()));
        }
        let seed = spec.seed.or(seeds.first().copied()).unwrap_or(1);
        if !seeds.contains(&seed) {
            let such = seeds.first().map_or(String::new(), |first| format!(", such as {first}"));
            let why = format!("no run has the seed {seed}; allowed: a seed of the exhibit's runs{such}");
            return Err(refuse("seed", why));
        }
        Ok(Some(Curves { of, seed, split: spec.split }))
    }

    fn fill(&self, plan: &mut Plan<'_>) -> Result<(), ScenarioError> {
        let points = sweep::points(self.spec.vary.as_ref())
            .map_err(|(key, why)| self.refuse(&format!("vary{key}"), why))?;
        let claimed: Vec<At> = self.spec.claim.iter().flat_map(|claim| claim.points()).collect();
        plan.points = sweep::thinned(points, &self.spec.quick, &claimed, self.depth);
        if plan.points.is_empty() {
            let why = "`points` has no point of the exhibit; allowed: at least one point of the exhibit";
            return Err(self.refuse("quick", why));
        }
        let mut made: BTreeMap<Wanted, Arc<Scenario>> = BTreeMap::new();
        for (number, point) in plan.points.iter().enumerate() {
            for case in self.cases() {
                let wanted = self.wanted(point, case);
                let scenario = match made.get(&wanted) {
                    Some(scenario) => scenario.clone(),
                    None => made.entry(wanted.clone()).or_insert(Arc::new(self.scenario(wanted)?)).clone(),
                };
                let labels = scenario.spec().disciplines.iter().map(|compared| compared.label());
                let alone = scenario.spec().disciplines.len() == 1;
                for (discipline, label) in labels.enumerate() {
                    let name = named(label, case, alone);
                    let series = position(&mut plan.series, name);
                    plan.cells.push(Cell { point: number, series, scenario: scenario.clone(), discipline });
                }
            }
        }
        self.check_names(plan)?;
        self.sample(plan);
        Ok(())
    }

    fn cases(&self) -> Vec<Option<&CaseSpec>> {
        if self.spec.case.is_empty() { vec![None] } else { self.spec.case.iter().map(Some).collect() }
    }

    fn wanted(&self, point: &Point, case: Option<&CaseSpec>) -> Wanted {
        let of_case = case.and_then(|case| case.scenario.as_ref());
        let file =
            point.scenario.as_ref().or(of_case).or(self.spec.scenario.as_ref()).cloned().unwrap_or_default();
        let mut set = self.spec.set.clone();
        set.extend(case.iter().flat_map(|case| case.set.iter().cloned()));
        if self.depth == Depth::Quick {
            set.extend(self.spec.quick.set.iter().cloned());
        }
        set.extend(self.changes.set.iter().cloned());
        set.extend(point.set.iter().cloned());
        let lists = [
            &point.disciplines,
            case.map_or(&self.spec.disciplines, |case| &case.disciplines),
            &self.spec.disciplines,
        ];
        let disciplines = lists.into_iter().find(|list| !list.is_empty()).cloned().unwrap_or_default();
        Wanted { file, set, disciplines }
    }

    fn scenario(&self, Wanted { file, set, disciplines }: Wanted) -> Result<Scenario, ScenarioError> {
        let folder = &self.study.folder;
        let Some(text) = folder.files.get(&file) else {
            let is_one = |name: &&String| !NO_SCENARIOS.contains(&name.as_str());
            let allowed: Vec<String> = folder.files.keys().filter(is_one).cloned().collect();
            let problem = Problem::Unknown { what: "scenario of this study", given: file, allowed };
            return Err(self.study.locations.refuse(&format!("exhibit.{}.scenario", self.at), problem));
        };
        let changes = set.join("`, `");
        let overrides = Overrides { set, disciplines, seeds: None };
        parse(&format!("{}{file}", folder.prefix), text, &overrides).map_err(|error| match &error.location {
            // The mistake is in the study, although the scenario's reader reports it.
            Some(place) if place.source.starts_with("--") => {
                let advice = error.problem.advice().map_or(String::new(), |advice| format!("; {advice}"));
                self.refuse("scenario", format!("with `{changes}`: {}{advice}", error.problem))
            }
            _ => error,
        })
    }

    fn check_names(&self, plan: &Plan<'_>) -> Result<(), ScenarioError> {
        let mut seen: Vec<&Arc<Scenario>> = Vec::new();
        for cell in &plan.cells {
            if seen.iter().any(|scenario| Arc::ptr_eq(scenario, &cell.scenario)) {
                continue;
            }
            seen.push(&cell.scenario);
            for (number, measure) in plan.measures.iter().enumerate() {
                self.check_expression(&measure.of, false, &cell.scenario)
                    .map_err(|why| self.refuse(&format!("measure.{number}.of"), why))?;
            }
            for (number, (of, _)) in plan.curves.iter().flat_map(|curves| &curves.of).enumerate() {
                self.check_expression(of, true, &cell.scenario)
                    .map_err(|why| self.refuse(&format!("series.of.{number}"), why))?;
            }
        }
        Ok(())
    }

    fn check_expression(&self, of: &Expression, is_curve: bool, scenario: &Scenario) -> Result<(), String> {
        let mut found = Ok(());
        of.walk(&mut |part| {
            let one = match part {
                Expression::Name(name) if is_curve => watch::check(name, scenario),
                Expression::Name(name) => facts::check(name, scenario),
                Expression::Over(Over { series, .. }) => watch::check(series, scenario),
                _ => Ok(()),
            };
            if found.is_ok() {
                found = one;
            }
        });
        found
    }

    fn sample(&self, plan: &mut Plan<'_>) {
        let every = match (&self.spec.sample, &self.spec.series) {
            (Some(every), _) => every.0,
            (None, Some(series)) => series.every.0,
            (None, None) => Duration::from_ms(100),
        };
        let mut names = BTreeSet::new();
        let mut has_packets = false;
        for measure in &plan.measures {
            measure.of.walk(&mut |part| match part {
                Expression::Over(over) => drop(names.insert(over.series.clone())),
                Expression::Name(name) => has_packets |= packets::is_one(name),
                _ => {}
            });
        }
        let sampling = |names: &BTreeSet<String>| {
            let is_watched = has_packets || !names.is_empty();
            is_watched.then(|| Arc::new(Sampling::new(every, names.clone(), has_packets)))
        };
        plan.sampling = sampling(&names);
        for (of, _) in plan.curves.iter().flat_map(|curves| &curves.of) {
            of.walk(&mut |part| match part {
                Expression::Name(name) => drop(names.insert(name.clone())),
                Expression::Over(over) => drop(names.insert(over.series.clone())),
                _ => {}
            });
        }
        plan.curve_sampling = sampling(&names);
    }
}

fn measure(spec: &MeasureSpec) -> Result<Measure, (&'static str, String)> {
    let mut of = Expression::parse(&spec.of).map_err(|why| ("of", why))?;
    if let Some(by) = &spec.divide_by {
        let by = match by {
            Amount::Number(number) => Expression::Number(*number),
            Amount::Measure(text) => Expression::parse(text).map_err(|why| ("divide_by", why))?,
        };
        of = Expression::Binary(crate::expression::Operator::Over, Box::new(of), Box::new(by));
    }
    Ok(Measure {
        id: spec.id.clone(),
        label: spec.label.clone().unwrap_or_else(|| spec.id.clone()),
        unit: spec.unit.clone(),
        x: spec.x,
        of,
    })
}

fn named(label: &str, case: Option<&CaseSpec>, is_alone: bool) -> String {
    match case {
        None => label.into(),
        Some(case) if is_alone => case.label.clone(),
        Some(case) => format!("{label}, {}", case.label),
    }
}

fn position(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

pub(crate) fn is_meant(x: f64, name: &str, at: &[At]) -> bool {
    at.is_empty()
        || at.iter().any(|at| match at {
            At::X(at) => sweep::is_near(x, *at),
            At::Name(at) => at == name,
        })
}
