//! A picture of what leaves the link over time: a panel for each discipline, a line for each group, under the first seed.
//!
//! It draws what leaves, and not what arrives in order: there, a hole that is filled is a spike far above the link's rate. What the link
//! can send is a line of its own, and the axis goes by what was measured: a spike in the warm-up is cut off.

use crate::chart::style::{PALETTE, escaped};
use crate::report::picture::{DARK_STYLE, STYLE, step};
use fairwire_core::{Duration, Time};
use fairwire_scenario::{View, Which};
use std::collections::BTreeSet;
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 118.0;
const PANEL: f64 = 150.0;
/// Below a panel: its next one's name, or the axis.
const BETWEEN: f64 = 44.0;
/// A line has no more points: neighbours are averaged, since a screen shows no more.
const MOST_POINTS: usize = 700;

/// What became of the traffic of one run, sample by sample, bits per second.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub discipline: String,
    pub seed: u64,
    pub every: Duration,
    /// What left the last link, by group: data first sent and sent again.
    groups: Vec<(String, Vec<f64>)>,
    /// What the first link could have sent.
    capacity: Vec<f64>,
    /// The links' names.
    links: Vec<String>,
    /// What reached receivers in order and once, of all groups.
    delivered: Vec<f64>,
    since: Time,
}

impl Curve {
    pub(super) fn new(which: Which<'_>, every: Duration) -> Self {
        Curve { seed: which.seed, ..Curve::empty(which.discipline, every) }
    }

    fn empty(discipline: &str, every: Duration) -> Self {
        Curve {
            discipline: discipline.into(),
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
        let (capacity, links) = (vec![4e6; length], vec!["bottleneck".into()]);
        Curve { groups, delivered, capacity, links, ..Curve::empty(discipline, every) }
    }

    pub(super) fn sample(&mut self, view: &View<'_>) {
        let seconds = self.every.secs();
        let mut bytes: Vec<(&str, u64)> = Vec::new();
        let mut delivered = 0;
        for flow in view.flows() {
            delivered += flow.delivered_bytes;
            match bytes.last_mut() {
                Some((group, sum)) if *group == flow.group => *sum += flow.left_bytes,
                _ => bytes.push((flow.group, flow.left_bytes)), // the flows of a group stand together
            }
        }
        if self.groups.is_empty() {
            self.groups = bytes.iter().map(|(group, _)| (group.to_string(), Vec::new())).collect();
            self.links = view.links().map(|link| link.name.to_string()).collect();
        }
        for ((_, values), (_, bytes)) in self.groups.iter_mut().zip(bytes) {
            values.push(bytes as f64 * 8.0 / seconds);
        }
        self.delivered.push(delivered as f64 * 8.0 / seconds);
        self.capacity.extend(view.links().take(1).map(|link| link.bits(self.since, view.now()) / seconds));
        self.since = view.now();
    }

    /// The throughput of all groups together, sample by sample.
    pub(super) fn totals(&self) -> &[f64] {
        &self.delivered
    }

    /// Every line that is drawn.
    fn lines(&self) -> impl Iterator<Item = &[f64]> {
        self.groups.iter().map(|(_, values)| values.as_slice()).chain([self.capacity.as_slice()])
    }

    /// The highest point that is drawn from `warm_up` on, bits per second.
    fn highest(&self, warm_up: Time) -> f64 {
        let from = warm_up.since(Time::ZERO).secs();
        let is_measured = |(at, _): &(usize, f64)| (*at as f64 + 0.5) * self.point_s() >= from;
        let values = self.lines().flat_map(|values| points(values).enumerate().filter(is_measured));
        values.map(|(_, value)| value).fold(1.0, f64::max)
    }

    /// The seconds between two points.
    fn point_s(&self) -> f64 {
        together(self.delivered.len()) as f64 * self.every.secs()
    }
}

/// The picture.
pub(super) fn svg(curves: &[&Curve], title: &str, warm_up: Time) -> String {
    let mut seen = BTreeSet::new();
    let panels: Vec<&Curve> = curves.iter().copied().filter(|curve| seen.insert(&curve.discipline)).collect();
    let highest = panels.iter().map(|curve| curve.highest(warm_up)).fold(1.0, f64::max);
    let longest =
        panels.iter().map(|curve| curve.totals().len() as f64 * curve.every.secs()).fold(0.0, f64::max);
    let scale = Scale { highest: highest / 1e6 * 1.05, longest, warm_up: warm_up.since(Time::ZERO).secs() };
    let height = TOP + panels.len() as f64 * (PANEL + BETWEEN) + 24.0;
    let mut out = String::new();
    head(&mut out, title, (height, &scale), &panels);
    for (at, curve) in panels.iter().enumerate() {
        panel(&mut out, curve, at, &scale);
    }
    out + "</svg>\n"
}

struct Scale {
    /// Mbit/s.
    highest: f64,
    /// Seconds.
    longest: f64,
    /// Seconds.
    warm_up: f64,
}

impl Scale {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.longest.max(f64::MIN_POSITIVE)
    }
    fn y(&self, top: f64, mbps: f64) -> f64 {
        top + PANEL * (1.0 - mbps / self.highest)
    }
}

/// How many of so many values are drawn as one.
fn together(values: usize) -> usize {
    values.div_ceil(MOST_POINTS).max(1)
}

/// As many values as are drawn, each the mean of its neighbours.
fn points(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    values.chunks(together(values.len())).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64)
}

fn head(out: &mut String, title: &str, (height, scale): (f64, &Scale), panels: &[&Curve]) {
    let colours = |pick: fn(&(&'static str, &'static str)) -> &'static str| -> String {
        PALETTE
            .iter()
            .enumerate()
            .map(|(at, colour)| format!(" .s{at} {{ stroke: {} }}", pick(colour)))
            .collect()
    };
    let (light, dark) = (colours(|colour| colour.0), colours(|colour| colour.1));
    let seed = panels.first().map_or(0, |curve| curve.seed);
    let every = panels.first().map_or(Duration::ZERO, |curve| curve.every);
    let warm_up = if scale.warm_up > 0.0 { "; what is before the dashed line is not measured" } else { "" };
    let links = panels.first().map_or(&[][..], |curve| curve.links.as_slice());
    let (what, capacity) = match links {
        [] | [_] => ("what leaves the link", "the link's rate".into()),
        [first, ..] => ("what leaves the last link of its way", format!("the rate of {first}")),
    };
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <style>{STYLE} .series {{ fill: none; stroke-width: 1.6 }} .capacity {{ fill: none; stroke: #5b6472; stroke-width: 1.2; stroke-dasharray: 2 3 }}{light}\n  @media (prefers-color-scheme: dark) {{{DARK_STYLE} .capacity {{ stroke: #a3acba }}{dark} }}</style>\n\
         <rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n\
         <text class=\"title\" x=\"24\" y=\"36\">{}: {what}</text>\n\
         <text class=\"detail\" x=\"24\" y=\"57\">seed {seed}, a sample every {every}{warm_up}</text>\n",
        WIDTH - 1.0,
        height - 1.0,
        escaped(title),
    );
    let mut x = 24.0;
    for (at, (group, _)) in panels.iter().take(1).flat_map(|curve| curve.groups.iter()).enumerate() {
        let _ = writeln!(
            out,
            "<path class=\"series s{}\" d=\"M{x} 76h18\"/><text class=\"key\" x=\"{}\" y=\"81\">{}</text>",
            at % PALETTE.len(),
            x + 24.0,
            escaped(group)
        );
        x += 52.0 + 8.0 * group.chars().count() as f64;
    }
    if !links.is_empty() {
        let _ = writeln!(
            out,
            "<path class=\"capacity\" d=\"M{x} 76h18\"/><text class=\"key\" x=\"{}\" y=\"81\">{}</text>",
            x + 24.0,
            escaped(&capacity)
        );
    }
}

fn panel(out: &mut String, curve: &Curve, at: usize, scale: &Scale) {
    let top = TOP + at as f64 * (PANEL + BETWEEN);
    let (right, foot) = (WIDTH - RIGHT, top + PANEL);
    let _ = writeln!(
        out,
        "<text class=\"name\" x=\"{LEFT}\" y=\"{}\">{}</text>",
        top - 8.0,
        escaped(&curve.discipline)
    );
    let every = 2.0 * step(scale.highest);
    for line in 0..=(scale.highest / every) as usize {
        let value = line as f64 * every;
        let y = scale.y(top, value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/><text class=\"tick\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            y + 4.0,
            rounded(value)
        );
    }
    let every = step(scale.longest);
    for tick in 0..=(scale.longest / every) as usize {
        let (value, last) =
            (tick as f64 * every, if (tick + 1) as f64 * every > scale.longest { " s" } else { "" });
        let _ = writeln!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}{last}</text>",
            scale.x(value),
            foot + 16.0,
            rounded(value)
        );
    }
    let middle = top + PANEL / 2.0;
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"30\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 30 {middle})\">Mbit/s</text>"
    );
    if scale.warm_up > 0.0 {
        let x = scale.x(scale.warm_up);
        let _ =
            writeln!(out, "<line class=\"fair\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{foot}\"/>");
    }
    let _ = writeln!(
        out,
        "<clipPath id=\"panel{at}\"><rect x=\"{LEFT}\" y=\"{top}\" width=\"{}\" height=\"{PANEL}\"/></clipPath>\n<g clip-path=\"url(#panel{at})\">",
        right - LEFT
    );
    line(out, "capacity", &curve.capacity, (top, curve.point_s(), scale));
    for (at, (_, values)) in curve.groups.iter().enumerate() {
        line(out, &format!("series s{}", at % PALETTE.len()), values, (top, curve.point_s(), scale));
    }
    out.push_str("</g>\n");
}

/// A line of this class: each sample at the middle of its interval, and there are so many seconds between points.
fn line(out: &mut String, class: &str, values: &[f64], (top, point_s, scale): (f64, f64, &Scale)) {
    let path: String = points(values)
        .enumerate()
        .map(|(point, value)| {
            let (x, y) = (scale.x((point as f64 + 0.5) * point_s), scale.y(top, value / 1e6));
            format!("{}{x:.1} {y:.1}", if point == 0 { 'M' } else { 'L' })
        })
        .collect();
    let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
}

/// Without the noise of the last digits.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
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
        let drawn: Vec<&str> = picture
            .lines()
            .filter(|line| line.starts_with("<path class=\"series") && line.contains('L'))
            .collect();
        assert_eq!(drawn.len(), 4);
        assert!(drawn.iter().all(|line| line.matches('L').count() < MOST_POINTS));
        assert!(picture.contains("a&lt;b") && !picture.contains("a<b"));
    }

    #[test]
    fn the_axis_goes_by_what_was_measured_and_the_links_rate_is_a_line() {
        // A spike of 200 Mbit/s in the first second, and 3 of the 4 Mbit/s of the link from then on.
        let values = (0..100).map(|at| if at < 10 { 200e6 } else { 3e6 }).collect();
        let curve = Curve::of("red", Duration::from_ms(100), vec![("tcp".into(), values)]);
        let after = |ms| svg(&[&curve], "t", Time::ZERO + Duration::from_ms(ms));
        let tick =
            |picture: &str, value: &str| picture.contains(&format!("text-anchor=\"end\">{value}</text>"));
        assert!(tick(&after(0), "200") && tick(&after(900), "200"), "the spike is measured");
        let measured = after(1000);
        assert!(tick(&measured, "4") && !tick(&measured, "10"), "{measured}");
        assert_eq!(
            measured.matches("<path class=\"capacity\"").count(),
            2,
            "one in the key, one in the panel"
        );
        assert!(measured.contains("dashed line") && !after(0).contains("dashed line"));
        assert!(measured.contains("clip-path=\"url(#panel0)\""), "what is above the axis is cut off");
    }

    #[test]
    fn nothing_run_is_an_empty_picture() {
        assert!(svg(&[], "t", Time::ZERO).ends_with("</svg>\n"));
    }
}
