//! Samples over time, under the first seed: one panel per discipline, with one line per link, group
//! or flow. With several stages, there is one panel per discipline and group, with one line per
//! stage.
//!
//! Rates are those of the link's output. The rate of in-order arrivals would have a spike whenever
//! a gap is filled.

use fairwire_core::Duration;
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel};
use fairwire_scenario::SampleRow;
use std::collections::BTreeSet;

/// The time of a sample in seconds, and its value.
type Point = (f64, f64);

/// One number of a sample, either just taken or read from a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleValue<'a> {
    pub kind: &'a str,
    pub name: &'a str,
    pub measure: &'a str,
    pub unit: &'a str,
    pub value: f64,
}

impl<'a> From<SampleRow<'a>> for SampleValue<'a> {
    fn from(SampleRow { kind, name, measure, unit, value }: SampleRow<'a>) -> Self {
        SampleValue { kind, name, measure, unit, value }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Over<'a> {
    /// The types of objects: links, groups or flows.
    pub kinds: &'a [&'a str],
    pub measure: &'a str,
    pub unit: &'a str,
    /// The axis label.
    pub label: &'a str,
    /// The divisor that converts values to the label's unit.
    pub scale: f64,
    /// Is there a line for the capacity of the link?
    pub has_capacity: bool,
    /// A gauge that is drawn for each internal queue of a discipline, in addition to `measure`.
    pub of_parts: Option<&'a str>,
}

/// Each group's rate out of the link, including retransmissions.
pub(crate) const RATE: Over<'static> = Over {
    kinds: &["group"],
    measure: "egress",
    unit: "bit/s",
    label: "Mbit/s",
    scale: 1e6,
    has_capacity: true,
    of_parts: None,
};

impl Over<'_> {
    fn wants(&self, row: &SampleValue<'_>) -> bool {
        let is_drawn = row.measure == self.measure || self.part(row.measure).is_some();
        (is_drawn && row.unit == self.unit && self.kinds.contains(&row.kind))
            || self.has_capacity && row.kind == "link" && row.measure == "capacity"
    }

    /// The internal queue that a gauge describes, such as `l4s` in `gauge l4s/backlog_packets`.
    fn part<'m>(&self, measure: &'m str) -> Option<&'m str> {
        let (part, gauge) = measure.strip_prefix("gauge ")?.rsplit_once('/')?;
        (Some(gauge) == self.of_parts).then_some(part)
    }
}

/// The maximum number of internal queues that are drawn. With more, none is drawn, because they
/// would hide the totals.
const MAX_PARTS: usize = 8;

#[derive(Clone, Debug)]
struct Curve {
    name: String,
    part: Option<String>,
    points: Vec<Point>,
}

impl Curve {
    fn label(&self) -> String {
        let Curve { name, part, .. } = self;
        part.as_ref().map_or(name.clone(), |part| format!("{name}: {part}"))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    pub discipline: String,
    /// The stage; empty if results do not name it.
    pub stage: String,
    pub seed: u64,
    /// The time between two samples, seconds.
    pub every_s: f64,
    curves: Vec<Curve>,
    /// The capacity of the first link.
    capacity: Vec<Point>,
    links: Vec<String>,
}

impl Sampled {
    pub(crate) fn new(discipline: &str, stage: &str, seed: u64, every_s: f64) -> Self {
        let (discipline, stage) = (discipline.into(), stage.into());
        let (curves, capacity, links) = Default::default();
        Sampled { discipline, stage, seed, every_s, curves, capacity, links }
    }

    pub(crate) fn row(&mut self, at_s: f64, row: SampleValue<'_>, over: &Over<'_>) {
        if !over.wants(&row) {
            return;
        }
        let point = (at_s, row.value);
        if row.measure == "capacity" {
            if !self.links.iter().any(|name| name == row.name) {
                self.links.push(row.name.into());
            }
            if self.links.first().is_some_and(|first| first == row.name) {
                self.capacity.push(point);
            }
            return;
        }
        let part = over.part(row.measure);
        let is_of_it = |curve: &Curve| curve.name == row.name && curve.part.as_deref() == part;
        match self.curves.iter_mut().find(|curve| is_of_it(curve)) {
            Some(curve) => curve.points.push(point),
            None => {
                let (name, part) = (row.name.into(), part.map(Into::into));
                self.curves.push(Curve { name, part, points: vec![point] });
            }
        }
    }

    pub(crate) fn is_of_network(&self) -> bool {
        self.links.len() > 1
    }

    fn lines(&self, over: &Over<'_>) -> Vec<Line> {
        let curves = self.drawn().enumerate();
        curves.map(|(at, curve)| self.line(curve.label(), at, &curve.points, over)).collect()
    }

    fn drawn(&self) -> impl Iterator<Item = &Curve> {
        let parts = self.curves.iter().filter(|curve| curve.part.is_some()).count();
        self.curves.iter().filter(move |curve| curve.part.is_none() || parts <= MAX_PARTS)
    }

    fn of(&self, label: &str, nth: usize, over: &Over<'_>) -> Option<Line> {
        let curve = self.drawn().find(|curve| curve.label() == label)?;
        let line = self.line(self.stage.clone(), nth, &curve.points, over);
        Some(Line { is_dashed: nth > 0, ..line })
    }

    fn line(&self, label: String, colour: usize, points: &[Point], over: &Over<'_>) -> Line {
        Line { label, colour, marks: self.marks(points, over), ..Line::default() }
    }

    fn limit(&self, over: &Over<'_>) -> Line {
        let label = match self.links.as_slice() {
            [] | [_] => "the link's rate".into(),
            [first, ..] => format!("the rate of {first}"),
        };
        Line { label, is_limit: true, marks: self.marks(&self.capacity, over), ..Line::default() }
    }

    /// Each sample becomes a mark in the middle of its interval. If samples are missing, a mark
    /// without a value breaks the line.
    fn marks(&self, points: &[Point], over: &Over<'_>) -> Vec<Mark> {
        let half = self.every_s / 2.0;
        let mark = |at: f64, value: f64| Mark { x: at - half, y: value / over.scale, ..Mark::default() };
        let mut marks = Vec::with_capacity(points.len());
        let mut last = f64::INFINITY;
        for (at, value) in points {
            if at - last > 1.5 * self.every_s {
                marks.push(mark(last + self.every_s, f64::NAN));
            }
            marks.push(mark(*at, *value));
            last = *at;
        }
        marks
    }
}

/// The first of `runs`, and the panels of each discipline's first run on each stage. Measuring
/// starts at `measured_from`.
pub(crate) fn over_time<'a>(
    runs: &'a [Sampled],
    over: &Over<'_>,
    measured_from: Option<f64>,
) -> (Option<&'a Sampled>, Vec<Panel>) {
    let mut seen = BTreeSet::new();
    let first: Vec<&Sampled> = runs.iter().filter(|run| seen.insert((&run.discipline, &run.stage))).collect();
    let panels = (first.chunk_by(|one, next| one.discipline == next.discipline))
        .flat_map(|runs| panels(runs, over))
        .map(|panel| Panel { measured_from, ..panel });
    (first.first().copied(), panels.collect())
}

pub(crate) fn conditions(first: &Sampled, measured_from: Option<f64>) -> String {
    let every = Duration::from_ns((first.every_s * 1e9).round() as u64);
    let cut = measured_from.map_or("", |_| "; what is before the dashed line is not measured");
    format!("seed {}, a sample every {every}{cut}", first.seed)
}

/// The panels of one discipline on all stages. Only the first stage's lines are solid.
fn panels(runs: &[&Sampled], over: &Over<'_>) -> Vec<Panel> {
    let [first, others @ ..] = runs else { return Vec::new() };
    if others.is_empty() {
        return vec![panel(first, first.discipline.clone(), first.lines(over), over)];
    }
    let of = |curve: &Curve| {
        let label = curve.label();
        let lines = runs.iter().enumerate().filter_map(|(nth, run)| run.of(&label, nth, over));
        panel(first, format!("{}: {label}", first.discipline), lines.collect(), over)
    };
    first.drawn().map(of).collect()
}

fn panel(run: &Sampled, title: String, mut lines: Vec<Line>, over: &Over<'_>) -> Panel {
    let axis = |label: &str| Axis { label: label.into(), ..Axis::default() };
    if over.has_capacity {
        lines.push(run.limit(over));
    }
    Panel { title, kind: Kind::Time, x: axis("seconds"), y: axis(over.label), lines, ..Panel::default() }
}
