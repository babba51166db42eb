//! Builds the record of a paper's figure or table from its runs.

use crate::execute::{Gathered, Gave};
use crate::expression::{Over, Source};
use crate::plan::{Measure, Plan, is_meant};
use crate::record::{
    Axis, Exhibit, Kind, Line, Mark, Measured, Number, Panel, Published, Reference, Verdict,
};
use crate::spec::{Along, FigureSpec, LineSpec, PanelSpec, Split, ValueSpec};
use crate::verdict::{self, Table};
use fairwire_metrics::interval::estimate;
use std::collections::BTreeMap;

/// The record of the exhibit that `plan` describes.
pub fn assemble(plan: &Plan<'_>, gathered: &Gathered) -> Exhibit {
    let spec = plan.spec();
    let study = &plan.study.spec;
    let numbers = if plan.computed.is_some() { computed(plan, gathered) } else { numbers(plan, gathered) };
    let published = published(plan, &numbers);
    let table = table(plan, &numbers, &published);
    let claims = verdict::judge(plan, &table);
    let measured = |measure: &Measure| Measured {
        id: measure.id.clone(),
        label: measure.label.clone(),
        unit: measure.unit.clone(),
    };
    let drawing = Drawing { plan, numbers: &numbers, published: &published };
    Exhibit {
        paper: study.paper.clone(),
        study: study.title.clone(),
        source: study.source.clone(),
        id: spec.id.clone(),
        title: spec.title.clone(),
        notes: spec.notes.clone(),
        depth: plan.depth,
        seeds: plan.seeds.clone(),
        command: format!("fairwire reproduce {} --{}", plan.study.name(plan.at), plan.depth.word()),
        measures: plan.measures.iter().map(measured).collect(),
        panels: drawing.panels(gathered),
        numbers,
        published,
        claims,
    }
}

fn table<'a>(plan: &Plan<'_>, numbers: &'a [Number], published: &'a [Published]) -> Table<'a> {
    Table { numbers, published, is_exact: plan.seeds.len() == 1 && plan.computed.is_some() }
}

/// Compares each number of `exhibit`, assembled for `plan`, with the paper's printed number. A
/// verdict is `None` if the paper prints no number, or if no claim gives a tolerance.
pub fn beside_print(plan: &Plan<'_>, exhibit: &Exhibit) -> Vec<Option<Verdict>> {
    let table = table(plan, &exhibit.numbers, &exhibit.published);
    exhibit.numbers.iter().map(|number| verdict::beside_print(plan, &table, number)).collect()
}

fn numbers(plan: &Plan<'_>, gathered: &Gathered) -> Vec<Number> {
    let mut numbers = Vec::new();
    for (at, measure) in plan.measures.iter().enumerate() {
        for (series, name) in plan.series.iter().enumerate() {
            let cells = plan.cells.iter().enumerate().filter(|(_, cell)| cell.series == series);
            for (number, cell) in cells {
                let value = |seed: u64| {
                    let Gave { values, .. } = gathered.gave.get(&(number, seed))?;
                    Some((seed, (*values.get(at)?)?))
                };
                let point = &plan.points[cell.point];
                let values = plan.seeds.iter().filter_map(|seed| value(*seed)).collect();
                let place = Place { series: name, x: point.x, at: &point.at };
                numbers.push(made(&measure.id, place, values));
            }
        }
    }
    numbers
}

#[derive(Clone, Copy, PartialEq)]
struct Place<'a> {
    series: &'a str,
    x: f64,
    at: &'a str,
}

fn made(measure: &str, Place { series, x, at }: Place<'_>, values: BTreeMap<u64, f64>) -> Number {
    let estimate = estimate(&values.values().copied().collect::<Vec<_>>());
    Number { measure: measure.into(), series: series.into(), x, at: at.into(), values, estimate }
}

fn computed(plan: &Plan<'_>, gathered: &Gathered) -> Vec<Number> {
    let mut places: Vec<Place<'_>> = Vec::new();
    let mut known: BTreeMap<(u64, &str, &str), BTreeMap<&str, f64>> = BTreeMap::new();
    for (seed, made) in &gathered.made {
        for number in &made.numbers {
            let place = Place { series: &number.series, x: number.x, at: &number.at };
            if !places.contains(&place) {
                places.push(place);
            }
            known.entry((*seed, place.series, place.at)).or_default().insert(&number.name, number.value);
        }
    }
    let mut numbers = Vec::new();
    for measure in &plan.measures {
        for &place in &places {
            let value = |seed: u64| {
                let named = known.get(&(seed, place.series, place.at))?;
                Some((seed, measure.of.value(&OfComputed { named, x: place.x })?))
            };
            let values: BTreeMap<u64, f64> = plan.seeds.iter().filter_map(|seed| value(*seed)).collect();
            if !values.is_empty() {
                numbers.push(made(&measure.id, place, values));
            }
        }
    }
    let mut order: Vec<String> = Vec::new();
    numbers.iter().for_each(|n| {
        if !order.contains(&n.series) {
            order.push(n.series.clone())
        }
    });
    let rank = |name: &str| order.iter().position(|known| known == name);
    let measure = |id: &str| plan.measures.iter().position(|measure| measure.id == id);
    numbers.sort_by_key(|number| (measure(&number.measure), rank(&number.series)));
    numbers
}

struct OfComputed<'a> {
    named: &'a BTreeMap<&'a str, f64>,
    x: f64,
}

impl Source for OfComputed<'_> {
    fn value(&self, name: &str) -> Option<f64> {
        self.named.get(name).copied()
    }
    fn over(&self, _: &Over) -> Option<f64> {
        None
    }
    fn x(&self) -> f64 {
        self.x
    }
}

fn published(plan: &Plan<'_>, numbers: &[Number]) -> Vec<Published> {
    let first = plan.measures.first().map_or("", |measure| measure.id.as_str());
    let of_this = plan.study.reference.iter().filter(|number| number.exhibit == plan.spec().id);
    of_this
        .map(|printed| {
            let near = |n: &&Number| printed.x.is_some_and(|x| crate::sweep::is_near(n.x, x));
            let at = || match (&printed.at, numbers.iter().find(near)) {
                (Some(at), _) => at.clone(),
                (None, Some(number)) => number.at.clone(),
                (None, None) => printed.x.map_or(String::new(), |x| x.to_string()),
            };
            let named = |n: &&Number| printed.at.as_ref().is_some_and(|at| n.at == *at);
            Published {
                measure: printed.measure.clone().unwrap_or_else(|| first.into()),
                series: printed.series.clone(),
                x: printed.x.or_else(|| numbers.iter().find(named).map(|number| number.x)),
                at: at(),
                value: printed.value,
                place: printed.place.clone(),
            }
        })
        .collect()
}

struct Drawing<'a, 'b> {
    plan: &'a Plan<'b>,
    numbers: &'a [Number],
    published: &'a [Published],
}

impl Drawing<'_, '_> {
    fn figure(&self) -> &FigureSpec {
        &self.plan.spec().figure
    }

    fn panels(&self, gathered: &Gathered) -> Vec<Panel> {
        let mut panels = Vec::new();
        if let Some(curves) = &self.plan.curves {
            panels.extend(self.over_time(gathered, curves.seed, curves.split));
        }
        panels.extend(self.made_curves(gathered));
        // If the exhibit has curves, its numbers are drawn only in panels that the study specifies.
        let is_beside = !panels.is_empty() && self.figure().panel.is_empty();
        if !self.numbers.is_empty() && !is_beside {
            let own = PanelSpec::default();
            let specs = &self.figure().panel;
            let specs = if specs.is_empty() { std::slice::from_ref(&own) } else { specs };
            panels.extend(specs.iter().map(|spec| self.panel(spec)));
        }
        panels
    }

    fn empty(&self, title: String, kind: Kind, spec: &PanelSpec) -> Panel {
        let figure = self.figure();
        Panel {
            kind,
            x: Axis { label: figure.x.clone(), scale: figure.x_scale, range: figure.x_range },
            y: Axis {
                label: spec.y.clone().unwrap_or_else(|| figure.y.clone()),
                scale: spec.y_scale.unwrap_or(figure.y_scale),
                range: spec.y_range.or(figure.y_range),
            },
            reference: self.reference(&title),
            title,
            ..Panel::default()
        }
    }

    fn reference(&self, title: &str) -> Vec<Reference> {
        let lines = self.figure().reference.iter();
        let here = lines.filter(|line| line.panel.as_ref().is_none_or(|panel| panel == title));
        let band = |line: &LineSpec| {
            let half = (line.y * line.within?).abs();
            Some([line.y - half, line.y + half])
        };
        here.map(|line| Reference { y: line.y, label: line.label.clone(), band: band(line) }).collect()
    }

    fn series(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.plan.series.iter().map(String::as_str).collect();
        for number in self.numbers {
            if !all.contains(&number.series.as_str()) {
                all.push(&number.series);
            }
        }
        all
    }

    fn panel(&self, spec: &PanelSpec) -> Panel {
        let figure = self.figure();
        let measures: Vec<&Measure> = self
            .plan
            .measures
            .iter()
            .filter(|measure| spec.measures.is_empty() || spec.measures.contains(&measure.id))
            .filter(|measure| figure.x_measure.as_ref() != Some(&measure.id))
            .collect();
        let all = self.series();
        let series: Vec<&str> = all
            .iter()
            .copied()
            .filter(|name| spec.series.is_empty() || spec.series.iter().any(|s| s == name))
            .collect();
        let mut panel = self.empty(spec.title.clone(), figure.kind, spec);
        match figure.along {
            Along::Points => self.along_points(&mut panel, spec, &measures, &series),
            Along::Series => self.along_series(&mut panel, spec, &measures, &series),
            Along::Measures => self.along_measures(&mut panel, spec, &measures, &series),
        }
        panel
    }

    /// The colour of a series, the same in each panel: its index among all series of the exhibit.
    fn colour(&self, series: &str) -> usize {
        self.series().iter().position(|name| *name == series).unwrap_or(0)
    }

    fn of<'c>(
        &'c self,
        measure: &'c str,
        series: &'c str,
        spec: &'c PanelSpec,
    ) -> impl Iterator<Item = &'c Number> {
        self.numbers
            .iter()
            .filter(move |n| n.measure == measure && n.series == series && is_meant(n.x, &n.at, &spec.at))
    }

    fn printed<'c>(&'c self, measure: &'c str, series: &'c str) -> impl Iterator<Item = &'c Published> {
        self.published.iter().filter(move |p| p.measure == measure && p.series == series)
    }

    fn along_points(&self, panel: &mut Panel, spec: &PanelSpec, measures: &[&Measure], series: &[&str]) {
        let is_named =
            self.figure().names.unwrap_or(matches!(panel.kind, Kind::Bars | Kind::Table | Kind::Grid));
        if is_named {
            for number in self.numbers.iter().filter(|n| is_meant(n.x, &n.at, &spec.at)) {
                position(&mut panel.categories, &number.at);
            }
        }
        let categories = panel.categories.clone();
        let place = |x: f64, at: &str| match categories.iter().position(|name| name == at) {
            Some(place) => place as f64,
            None => x,
        };
        for (rank, measure) in measures.iter().enumerate() {
            for &name in series {
                let marks = self.of(&measure.id, name, spec).filter_map(|number| {
                    let mut mark = self.mark(place(number.x, &number.at), number)?;
                    if let Some(x_measure) = &self.figure().x_measure {
                        let x = self.of(x_measure, name, spec).find(|x| x.at == number.at)?.estimate?;
                        (mark.x, mark.x_half_width) = (x.mean, x.half_width_95);
                    }
                    Some(mark)
                });
                let marks: Vec<Mark> = marks.collect();
                let published = self.printed(&measure.id, name).filter_map(|printed| {
                    let is_there = !is_named || categories.contains(&printed.at);
                    let x = place(printed.x.unwrap_or(f64::NAN), &printed.at);
                    (is_there && x.is_finite() && self.figure().x_measure.is_none())
                        .then(|| self.of_paper(x, printed))
                });
                let published: Vec<Mark> = published.collect();
                if marks.is_empty() && published.is_empty() {
                    continue;
                }
                let (label, colour) = self.legend(measure, name, measures.len(), series.len(), rank);
                panel.lines.push(Line {
                    label,
                    series: name.into(),
                    measure: measure.label.clone(),
                    colour,
                    is_dashed: series.len() > 1 && rank > 0,
                    marks,
                    published,
                    ..Line::default()
                });
            }
        }
    }

    fn legend(
        &self,
        measure: &Measure,
        series: &str,
        measures: usize,
        all: usize,
        rank: usize,
    ) -> (String, usize) {
        match (measures, all) {
            (0 | 1, _) => (series.into(), self.colour(series)),
            (_, 0 | 1) => (measure.label.clone(), rank),
            _ => (format!("{series}: {}", measure.label), self.colour(series)),
        }
    }

    /// Adds a category for each series, and a line for each measure at each point.
    fn along_series(&self, panel: &mut Panel, spec: &PanelSpec, measures: &[&Measure], series: &[&str]) {
        panel.categories = series.iter().map(|name| name.to_string()).collect();
        let mut points: Vec<&str> = Vec::new();
        for number in self.numbers.iter().filter(|n| is_meant(n.x, &n.at, &spec.at)) {
            if !points.contains(&number.at.as_str()) {
                points.push(&number.at);
            }
        }
        for measure in measures {
            for at in &points {
                let (mut marks, mut published) = (Vec::new(), Vec::new());
                for (place, &name) in series.iter().enumerate() {
                    let place = place as f64;
                    marks.extend(
                        self.of(&measure.id, name, spec)
                            .filter(|n| n.at == *at)
                            .filter_map(|n| self.mark(place, n)),
                    );
                    let here = self.printed(&measure.id, name).filter(|p| p.at == *at || points.len() == 1);
                    published.extend(here.map(|p| self.of_paper(place, p)));
                }
                let label = match (measures.len(), points.len()) {
                    (_, 1) => measure.label.clone(),
                    (1, _) => at.to_string(),
                    _ => format!("{} at {at}", measure.label),
                };
                let colour = panel.lines.len();
                panel.lines.push(Line { label, colour, marks, published, ..Line::default() });
            }
        }
    }

    /// Adds a horizontal position for each measure, and a line for each series at each point.
    fn along_measures(&self, panel: &mut Panel, spec: &PanelSpec, measures: &[&Measure], series: &[&str]) {
        let is_numbered = measures.iter().all(|measure| measure.x.is_some());
        if !is_numbered {
            panel.categories = measures.iter().map(|measure| measure.label.clone()).collect();
        }
        let place = |rank: usize, measure: &Measure| measure.x.filter(|_| is_numbered).unwrap_or(rank as f64);
        for &name in series {
            let mut points: Vec<&str> = Vec::new();
            for number in self.numbers.iter().filter(|n| n.series == name && is_meant(n.x, &n.at, &spec.at)) {
                if !points.contains(&number.at.as_str()) {
                    points.push(&number.at);
                }
            }
            for (rank, at) in points.iter().enumerate() {
                let (mut marks, mut published) = (Vec::new(), Vec::new());
                for (number, measure) in measures.iter().enumerate() {
                    let x = place(number, measure);
                    marks.extend(
                        self.of(&measure.id, name, spec)
                            .filter(|n| n.at == *at)
                            .filter_map(|n| self.mark(x, n)),
                    );
                    let here = self.printed(&measure.id, name).filter(|p| p.at == *at || points.len() == 1);
                    published.extend(here.map(|p| self.of_paper(x, p)));
                }
                let label = if points.len() == 1 { name.to_string() } else { format!("{name} at {at}") };
                let (colour, is_dashed) = (self.colour(name), rank > 0);
                panel.lines.push(Line { label, colour, is_dashed, marks, published, ..Line::default() });
            }
        }
    }

    fn over_time(&self, gathered: &Gathered, seed: u64, split: Split) -> Vec<Panel> {
        let plan = self.plan;
        let Some(curves) = &plan.curves else { return Vec::new() };
        let mut panels: Vec<Panel> = Vec::new();
        let spec = PanelSpec::default();
        let has_points = plan.points.len() > 1;
        for (number, cell) in plan.cells.iter().enumerate() {
            let Some(gave) = gathered.gave.get(&(number, seed)) else { continue };
            let mut series = plan.series[cell.series].clone();
            if has_points {
                series += &format!(", {}", plan.points[cell.point].at);
            }
            for (rank, ((_, label), points)) in curves.of.iter().zip(&gave.curves).enumerate() {
                let (title, name, colour) = match split {
                    Split::Of => (label.clone(), series.clone(), number),
                    Split::Series => (series.clone(), label.clone(), rank),
                    Split::None => {
                        (String::new(), format!("{series}: {label}"), number * curves.of.len() + rank)
                    }
                };
                let is_sole = curves.of.len() == 1 && split == Split::Of;
                let title = if is_sole { String::new() } else { title };
                let at = panels.iter().position(|panel| panel.title == title).unwrap_or_else(|| {
                    let mut panel = Panel { seed: Some(seed), ..self.empty(title, Kind::Time, &spec) };
                    if panel.x.label.is_empty() {
                        panel.x.label = "time, s".into();
                    }
                    panels.push(panel);
                    panels.len() - 1
                });
                // Points outside the requested range are left out, because an axis with all points
                // would compress the range.
                let is_shown = |x: f64| panels[at].x.range.is_none_or(|[from, to]| (from..=to).contains(&x));
                let marks = points.iter().filter(|(x, _)| is_shown(*x)).map(|(x, y)| plain(*x, *y)).collect();
                panels[at].lines.push(Line { label: name, colour, marks, ..Line::default() });
            }
        }
        panels
    }

    fn made_curves(&self, gathered: &Gathered) -> Vec<Panel> {
        let mut panels: Vec<Panel> = Vec::new();
        let mut labels: Vec<String> = Vec::new();
        // Without randomness there is only one seed, which is not named.
        let seed = gathered.made.keys().next().copied().filter(|_| self.plan.seeds.len() > 1);
        for curve in gathered.made.values().take(1).flat_map(|made| &made.curves) {
            let at = panels.iter().position(|panel| panel.title == curve.panel).unwrap_or_else(|| {
                let empty = self.empty(curve.panel.clone(), self.figure().kind, &PanelSpec::default());
                panels.push(Panel { seed, ..empty });
                panels.len() - 1
            });
            let colour = position(&mut labels, &curve.label);
            let marks = curve.points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
            let marks = marks.map(|(x, y)| plain(*x, *y)).collect();
            let published = self.published.iter().filter(|p| p.series == curve.label);
            let published = published.filter_map(|p| Some(plain(p.x?, p.value))).collect();
            let label = curve.label.clone();
            panels[at].lines.push(Line { label, colour, marks, published, ..Line::default() });
        }
        panels
    }

    fn mark(&self, x: f64, number: &Number) -> Option<Mark> {
        let estimate = number.estimate?;
        let Number { measure, series, at, .. } = number;
        let y_band = self.plan.study.calibration.band(&self.plan.spec().id, measure, series, at);
        Some(Mark { x, y: estimate.mean, y_half_width: estimate.half_width_95, y_band, ..Mark::default() })
    }

    /// A mark at the paper's number. The allowed deviation comes from the claim about the number,
    /// or else from a claim about its measure.
    fn of_paper(&self, x: f64, printed: &Published) -> Mark {
        let first = self.plan.measures.first().map_or("", |measure| measure.id.as_str());
        let values = self.plan.spec().claim.iter().filter_map(|claim| claim.value.as_ref());
        let of_measure = |value: &&ValueSpec| {
            value.is.is_none() && value.measure.as_deref().unwrap_or(first) == printed.measure
        };
        let is_of_it = |value: &&ValueSpec| {
            let series = value.of.list();
            (series.is_empty() || series.contains(&printed.series))
                && is_meant(printed.x.unwrap_or(f64::NAN), &printed.at, &value.at)
        };
        let all: Vec<&ValueSpec> = values.filter(of_measure).collect();
        let chosen = all.iter().copied().find(|value| is_of_it(value)).or(all.first().copied());
        let allowed =
            chosen.map(
                |value| {
                    if value.relative { value.tolerance * printed.value.abs() } else { value.tolerance }
                },
            );
        Mark { allowed, ..plain(x, printed.value) }
    }
}

fn plain(x: f64, y: f64) -> Mark {
    Mark { x, y, ..Mark::default() }
}

fn position(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.into());
        names.len() - 1
    })
}
