//! A picture of throughput over time: a panel for each discipline, a line for each group, under the first seed.

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

/// The throughput of each group in one run, sample by sample.
#[derive(Clone, Debug)]
pub struct Curve {
    pub discipline: String,
    pub seed: u64,
    pub every: Duration,
    /// Bits per second, by group.
    groups: Vec<(String, Vec<f64>)>,
}

impl Curve {
    pub fn new(which: Which<'_>, every: Duration) -> Self {
        Curve { discipline: which.discipline.into(), seed: which.seed, every, groups: Vec::new() }
    }

    #[cfg(test)]
    pub fn of(discipline: &str, every: Duration, groups: Vec<(String, Vec<f64>)>) -> Self {
        Curve { discipline: discipline.into(), seed: 1, every, groups }
    }

    pub fn sample(&mut self, view: &View<'_>) {
        let mut bytes: Vec<(&str, u64)> = Vec::new();
        for flow in view.flows() {
            match bytes.last_mut() {
                Some((group, sum)) if *group == flow.group => *sum += flow.delivered_bytes,
                _ => bytes.push((flow.group, flow.delivered_bytes)), // the flows of a group stand together
            }
        }
        if self.groups.is_empty() {
            self.groups = bytes.iter().map(|(group, _)| (group.to_string(), Vec::new())).collect();
        }
        for ((_, values), (_, bytes)) in self.groups.iter_mut().zip(bytes) {
            values.push(bytes as f64 * 8.0 / self.every.secs());
        }
    }

    /// The throughput of all groups together, sample by sample.
    pub fn totals(&self) -> Vec<f64> {
        let length = self.groups.first().map_or(0, |(_, values)| values.len());
        (0..length).map(|at| self.groups.iter().map(|(_, values)| values[at]).sum()).collect()
    }
}

/// The picture.
pub fn svg(curves: &[&Curve], title: &str, warm_up: Time) -> String {
    let mut seen = BTreeSet::new();
    let panels: Vec<&Curve> = curves.iter().copied().filter(|curve| seen.insert(&curve.discipline)).collect();
    let highest =
        panels.iter().flat_map(|curve| curve.groups.iter()).flat_map(|(_, v)| points(v)).fold(1.0, f64::max);
    let longest =
        panels.iter().map(|curve| curve.totals().len() as f64 * curve.every.secs()).fold(0.0, f64::max);
    let scale = Scale { highest: highest / 1e6 * 1.05, longest, warm_up: warm_up.since(Time::ZERO).secs() };
    let height = TOP + panels.len() as f64 * (PANEL + BETWEEN) + 24.0;
    let mut out = String::new();
    head(&mut out, title, height, &panels, scale.warm_up);
    for (at, curve) in panels.iter().enumerate() {
        panel(&mut out, curve, TOP + at as f64 * (PANEL + BETWEEN), &scale);
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

/// As many values as are drawn, each the mean of its neighbours.
fn points(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    let together = values.len().div_ceil(MOST_POINTS).max(1);
    values.chunks(together).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64)
}

fn head(out: &mut String, title: &str, height: f64, panels: &[&Curve], warm_up: f64) {
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
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\">\n\
         <style>{STYLE} .series {{ fill: none; stroke-width: 1.6 }}{light}\n  @media (prefers-color-scheme: dark) {{{DARK_STYLE}{dark} }}</style>\n\
         <rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n\
         <text class=\"title\" x=\"24\" y=\"36\">{}: throughput over time</text>\n\
         <text class=\"detail\" x=\"24\" y=\"57\">seed {seed}, a sample every {every}{}</text>\n",
        WIDTH - 1.0,
        height - 1.0,
        escaped(title),
        if warm_up == 0.0 { "" } else { "; the part before the dashed line is not measured" },
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
}

fn panel(out: &mut String, curve: &Curve, top: f64, scale: &Scale) {
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
    curve
        .groups
        .iter()
        .enumerate()
        .for_each(|(at, (_, values))| line(out, at, (values, curve.every), (top, scale)));
}

/// A group's line: each sample at the middle of its interval.
fn line(out: &mut String, at: usize, (values, every): (&[f64], Duration), (top, scale): (f64, &Scale)) {
    let together = values.len().div_ceil(MOST_POINTS).max(1) as f64 * every.secs();
    let path: String = points(values)
        .enumerate()
        .map(|(point, value)| {
            let (x, y) = (scale.x((point as f64 + 0.5) * together), scale.y(top, value / 1e6));
            format!("{}{x:.1} {y:.1}", if point == 0 { 'M' } else { 'L' })
        })
        .collect();
    let _ = writeln!(out, "<path class=\"series s{}\" d=\"{path}\"/>", at % PALETTE.len());
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
    fn nothing_run_is_an_empty_picture() {
        assert!(svg(&[], "t", Time::ZERO).ends_with("</svg>\n"));
    }
}
