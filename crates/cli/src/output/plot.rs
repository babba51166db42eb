//! A picture of what leaves the link over time, under the first seed: a panel for each discipline
//! with a line for each group. With several stages there is a panel for each discipline and group,
//! with a line for each stage, to show what a stage changes.
//!
//! It draws what leaves, and not what arrives in order: there, a hole that is filled is a spike far
//! above the link's rate. The capacity of the link is a line of its own, and the axis fits what was
//! measured: a spike in the warm-up is cut off.

use fairwire_core::{Duration, Time};
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel};
use fairwire_figures::{Figure, Setting};
use fairwire_scenario::{Row, RunId};
use std::collections::BTreeSet;

/// When a sample was taken, seconds, and bit/s since the one before.
type Point = (f64, f64);

/// What became of the traffic of one run, sample by sample, bits per second.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub discipline: String,
    /// Where it was run, where that is not the simulator alone.
    pub stage: Option<&'static str>,
    pub seed: u64,
    pub every: Duration,
    /// What left the last link, by group: data first sent and sent again.
    groups: Vec<(String, Vec<Point>)>,
    /// What the first link could have sent.
    capacity: Vec<Point>,
    /// The links' names.
    links: Vec<String>,
    /// What reached receivers in order and once, of all groups; of the simulator only.
    delivered: Vec<f64>,
    /// When the latest of these was sampled.
    since: Time,
}

impl Curve {
    pub(super) fn new(which: RunId<'_>, stage: Option<&'static str>, every: Duration) -> Self {
        Curve { seed: which.seed, stage, ..Curve::empty(which.discipline, every) }
    }

    fn empty(discipline: &str, every: Duration) -> Self {
        Curve {
            discipline: discipline.into(),
            stage: None,
            seed: 1,
            every,
            groups: Vec::new(),
            capacity: Vec::new(),
            links: Vec::new(),
            delivered: Vec::new(),
            since: Time::ZERO,
        }
    }

    #[cfg(test)]
    pub(super) fn of(discipline: &str, every: Duration, groups: Vec<(String, Vec<f64>)>) -> Self {
        let length = groups.first().map_or(0, |(_, values)| values.len());
        let delivered = (0..length).map(|at| groups.iter().map(|(_, values)| values[at]).sum()).collect();
        let points = |values: Vec<f64>| -> Vec<Point> {
            let times = (1..).map(|number| f64::from(number) * every.secs());
            times.zip(values).collect()
        };
        let (capacity, links) = (points(vec![4e6; length]), vec!["bottleneck".into()]);
        let groups = groups.into_iter().map(|(group, values)| (group, points(values))).collect();
        Curve { groups, delivered, capacity, links, ..Curve::empty(discipline, every) }
    }

    /// A row of the sample taken at `at`.
    pub(super) fn row(&mut self, at: Time, row: Row<'_>) {
        match (row.kind, row.measure) {
            ("link", "capacity") => {
                if !self.links.iter().any(|name| name == row.name) {
                    self.links.push(row.name.into());
                }
                if self.links.first().is_some_and(|first| first == row.name) {
                    self.capacity.push((at.secs(), row.value));
                }
            }
            ("group", "egress") => match self.groups.iter_mut().find(|(group, _)| group == row.name) {
                Some((_, points)) => points.push((at.secs(), row.value)),
                None => self.groups.push((row.name.into(), vec![(at.secs(), row.value)])),
            },
            ("group", "throughput") => {
                if self.since < at {
                    self.since = at;
                    self.delivered.push(0.0);
                }
                if let Some(sum) = self.delivered.last_mut() {
                    *sum += row.value;
                }
            }
            _ => {}
        }
    }

    /// The throughput of all groups together, sample by sample.
    pub(super) fn totals(&self) -> &[f64] {
        &self.delivered
    }

    /// A line for each group.
    fn lines(&self) -> Vec<Line> {
        let groups = self.groups.iter().enumerate();
        groups.map(|(at, (group, points))| self.line(group.clone(), at, points)).collect()
    }

    /// The line of one group, called after the stage.
    fn of_group(&self, group: &str, nth: usize) -> Option<Line> {
        let (_, points) = self.groups.iter().find(|(name, _)| name == group)?;
        let line = self.line(self.stage.unwrap_or_default().into(), nth, points);
        Some(Line { is_dashed: nth > 0, ..line })
    }

    /// Each sample at the middle of its interval.
    fn line(&self, label: String, colour: usize, points: &[Point]) -> Line {
        Line { label, colour, marks: self.marks(points), ..Line::default() }
    }

    /// What could have been sent.
    fn limit(&self) -> Line {
        let label = match self.links.as_slice() {
            [] | [_] => "the link's rate".into(),
            [first, ..] => format!("the rate of {first}"),
        };
        Line { label, is_limit: true, marks: self.marks(&self.capacity), ..Line::default() }
    }

    fn marks(&self, points: &[Point]) -> Vec<Mark> {
        let half = self.every.secs() / 2.0;
        points.iter().map(|(at, bps)| Mark { x: at - half, y: bps / 1e6, ..Mark::default() }).collect()
    }
}

/// The panels of one discipline on all stages, the first of which is solid.
fn panels(curves: &[&Curve], warm_up: Time) -> Vec<Panel> {
    let [first, others @ ..] = curves else { return Vec::new() };
    if others.is_empty() {
        return vec![panel(first, first.discipline.clone(), first.lines(), warm_up)];
    }
    let of_group = |(group, _): &(String, Vec<Point>)| {
        let lines = curves.iter().enumerate().filter_map(|(nth, curve)| curve.of_group(group, nth));
        panel(first, format!("{}: {group}", first.discipline), lines.collect(), warm_up)
    };
    first.groups.iter().map(of_group).collect()
}

/// These lines, and what could have been sent.
fn panel(curve: &Curve, title: String, mut lines: Vec<Line>, warm_up: Time) -> Panel {
    let axis = |label: &str| Axis { label: label.into(), ..Axis::default() };
    lines.push(curve.limit());
    Panel {
        title,
        kind: Kind::Time,
        x: axis("seconds"),
        y: axis("Mbit/s"),
        lines,
        measured_from: Some(warm_up.since(Time::ZERO).secs()).filter(|from| *from > 0.0),
        ..Panel::default()
    }
}

/// The picture.
pub(super) fn svg(curves: &[&Curve], title: &str, warm_up: Time) -> String {
    let mut seen = BTreeSet::new();
    let first: Vec<&Curve> =
        curves.iter().copied().filter(|curve| seen.insert((&curve.discipline, curve.stage))).collect();
    let panels: Vec<Panel> = (first.chunk_by(|one, next| one.discipline == next.discipline))
        .flat_map(|curves| panels(curves, warm_up))
        .collect();
    let what = match first.first() {
        Some(curve) if curve.links.len() > 1 => "what leaves the last link of its way",
        _ => "what leaves the link",
    };
    let sampled = first.first().map(|curve| format!("seed {}, a sample every {}", curve.seed, curve.every));
    let warm_up =
        (warm_up > Time::ZERO).then(|| "what is before the dashed line is not measured".to_string());
    let detail: Vec<String> = sampled.into_iter().chain(warm_up).collect();
    let figure = Figure {
        title: &format!("{title}: {what}"),
        detail: vec![detail.join("; ")],
        panels: &panels,
        has_one_scale: true,
        ..Figure::default()
    };
    figure.svg(Setting::Alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_for_each_discipline_and_a_line_for_each_group() {
        let of = |name| {
            Curve::of(
                name,
                Duration::from_ms(100),
                vec![("tcp".into(), vec![1e6; 5000]), ("a<b".into(), vec![2e6; 5000])],
            )
        };
        let (first, second) = (of("red"), of("faba"));
        let picture = svg(&[&first, &first, &second], "t", Time::ZERO);
        assert_eq!(picture.matches("class=\"name\"").count(), 2);
        // In the one legend, and in two panels.
        assert_eq!(picture.matches("<path class=\"line s").count(), 3 * 2);
        assert!(picture.contains("a&lt;b") && !picture.contains("a<b"));
    }

    #[test]
    fn with_several_stages_each_group_has_a_panel_with_a_line_for_each_of_them() {
        let groups = || vec![("tcp".into(), vec![1e6; 50]), ("udp".into(), vec![2e6; 50])];
        let of = |stage| Curve { stage, ..Curve::of("red", Duration::from_ms(100), groups()) };
        let (sim, lab) = (of(Some("sim")), of(Some("lab")));
        let picture = svg(&[&sim, &lab], "t", Time::ZERO);
        assert!(picture.contains(">red: tcp<") && picture.contains(">red: udp<"), "{picture}");
        assert_eq!(picture.matches("class=\"name\"").count(), 2);
        // In the one legend, and in two panels.
        assert_eq!(picture.matches("<path class=\"line s").count(), 3 * 2);
        assert!(picture.contains(">sim<") && picture.contains(">lab<"));
    }

    #[test]
    fn the_axis_goes_by_what_was_measured_and_the_links_rate_is_a_line() {
        // A spike of 200 Mbit/s in the first second, and 3 of the 4 Mbit/s of the link from then
        // on.
        let values = (0..100).map(|at| if at < 10 { 200e6 } else { 3e6 }).collect();
        let curve = Curve::of("red", Duration::from_ms(100), vec![("tcp".into(), values)]);
        let after = |ms| svg(&[&curve], "t", Time::ZERO + Duration::from_ms(ms));
        let tick = |picture: &str, value: &str| {
            let up = picture.split("text-anchor=\"middle\"").next().unwrap_or_default();
            up.contains(&format!(">{value}</text>"))
        };
        assert!(tick(&after(0), "200") && tick(&after(900), "200"), "the spike is measured");
        let measured = after(1000);
        assert!(tick(&measured, "4") && !tick(&measured, "10"), "{measured}");
        assert_eq!(measured.matches("<path class=\"limit\"").count(), 2, "in the key, and in the panel");
        assert!(measured.contains("dashed line") && !after(0).contains("dashed line"));
        assert_eq!(measured.matches("<svg x=").count(), 1, "what is above the axis is cut off");
    }

    #[test]
    fn nothing_run_is_an_empty_picture() {
        assert!(svg(&[], "t", Time::ZERO).ends_with("</svg>\n"));
    }
}
