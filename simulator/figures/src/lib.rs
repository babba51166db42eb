//! Figures with lines, bars, curves and tables. Each figure is an SVG for light and dark screens
//! and for print. A figure for a paper is an SVG, a PDF or a pgfplots picture in column width.
//!
//! This crate writes the SVG itself, so that CSS can adapt colours to the reader's theme. The
//! library `plotters` writes a fixed colour into each element.
#![forbid(unsafe_code)]

mod axis;
mod bars;
mod frame;
mod layout;
mod legend;
mod lines;
mod marker;
pub mod number;
pub mod panel;
mod paper;
mod reference;
#[cfg(any(test, feature = "samples"))]
pub mod samples;
pub mod shares;
mod style;
mod table;

pub use paper::{Paper, Width};
pub use style::{Setting, cut, escaped, sheet};

use axis::can_show;
use frame::Frame;
use panel::{Kind, Line, Panel};
use style::{DETAIL_LETTER, MARGIN, wrapped};

/// A figure, whose panels are below each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure<'a> {
    /// The title.
    pub title: &'a str,
    /// The conditions, one per line.
    pub detail: Vec<String>,
    /// The panels, from top to bottom.
    pub panels: &'a [Panel],
    /// Do all panels share one vertical axis?
    pub has_one_scale: bool,
    /// May the figure be wider than a page of text if it has many bars?
    pub is_as_wide_as_bars: bool,
}

impl Figure<'_> {
    /// Renders the figure as SVG.
    pub fn svg(&self, setting: Setting) -> String {
        let notes = left_out(self.panels).into_iter().chain(leaving(self.panels));
        let detail: Vec<String> = self.detail.iter().cloned().chain(notes).collect();
        let panels = self.drawn(setting);
        let mut head = Head::new(self.title, &detail, frame::width(&panels, self.is_as_wide_as_bars));
        if setting == Setting::InPage {
            head.titles.clear(); // the page's heading has the title
        }
        let frame = Frame::new(&panels, head.height(), head.width);
        let mut out = String::new();
        head.open(&mut out, frame.height, setting);
        for (at, (panel, position)) in panels.iter().zip(&frame.panels).enumerate() {
            let bounds = &position.bounds;
            frame::heading(&mut out, panel, position);
            if panel.is_table() {
                table::draw(&mut out, panel, bounds);
                continue;
            }
            let plot = frame::plot(&mut out, panel, position);
            reference::bands(&mut out, panel, &plot);
            if panel.kind == Kind::Bars {
                bars::draw(&mut out, panel, &plot);
            } else {
                reference::lines(&mut out, panel, &plot);
                lines::draw(&mut out, panel, &plot, setting);
                reference::names(&mut out, panel, &plot);
            }
            if at == 0 || !has_the_keys_of(panel, &panels[at - 1]) {
                legend::draw(&mut out, panel, bounds);
            }
        }
        out.push_str("</svg>\n");
        short(&out)
    }

    fn drawn(&self, setting: Setting) -> Vec<Panel> {
        let mut panels: Vec<Panel> = self.panels.iter().map(|panel| lines::thinned(panel, setting)).collect();
        if self.has_one_scale {
            let ends: Vec<[f64; 2]> = panels.iter().map(|panel| frame::up(panel).ends()).collect();
            let all = ends.into_iter().reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
            panels.iter_mut().for_each(|panel| panel.y.range = all);
        }
        panels
    }
}

fn has_the_keys_of(panel: &Panel, other: &Panel) -> bool {
    fn keys(panel: &Panel) -> impl Iterator<Item = (&str, usize, [bool; 3])> {
        let signs = |line: &Line| [line.is_dashed, line.is_limit, !line.published.is_empty()];
        panel.lines.iter().map(move |line| (line.label.as_str(), line.colour, signs(line)))
    }
    let are_there =
        |panel, other| legend::extra(panel).all(|one| legend::extra(other).any(|there| there == one));
    !other.is_table() && keys(panel).eq(keys(other)) && are_there(panel, other)
}

/// A note that counts the values that cannot be drawn. Without it, gaps could be mistaken for zero.
fn left_out(panels: &[Panel]) -> Option<String> {
    let lost = |panel: &Panel| {
        let marks = panel.lines.iter().flat_map(|line| line.marks.iter().chain(&line.published));
        let is_lost = |x: f64, y: f64| !can_show(&panel.y, y) || !can_show(&panel.x, x);
        match panel.kind {
            Kind::Table | Kind::Grid => 0, // a table notes this in its cell
            Kind::Bars => marks.filter(|mark| !can_show(&panel.y, mark.y)).count(),
            _ => marks.filter(|mark| is_lost(mark.x, mark.y)).count(),
        }
    };
    match panels.iter().map(lost).sum::<usize>() {
        0 => None,
        1 => Some("one value is not drawn: it is no number, or has no place on its axis".into()),
        n => Some(format!("{n} values are not drawn: they are no numbers, or have no place on their axis")),
    }
}

fn leaving(panels: &[Panel]) -> Option<String> {
    let is_one = |panel: &Panel| !panel.is_table() && frame::has_interval_outside(panel);
    panels.iter().any(is_one).then(|| "an arrowhead: the interval goes on outside of the picture".into())
}

/// Removes the `.0` of numbers in the tags of `svg`, to shorten it.
fn short(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    for part in svg.split_inclusive('>') {
        let tag = part.rfind('<').unwrap_or(0);
        let (text, mut rest) = part.split_at(tag);
        out.push_str(text);
        while let Some(at) = rest.find(".0") {
            let ends = !rest[at + 2..].starts_with(|c: char| c.is_ascii_digit());
            let is_number = rest[..at].ends_with(|c: char| c.is_ascii_digit());
            out.push_str(&rest[..at]);
            out.push_str(if ends && is_number { "" } else { ".0" });
            rest = &rest[at + 2..];
        }
        out.push_str(rest);
    }
    out
}

const TITLE_LETTER: f64 = 10.6;
const TITLE_LINE: f64 = 25.0;
const DETAIL_LINE: f64 = 18.0;
/// The maximum number of lines for the title, and for each entry of the detail. Longer text is cut,
/// but complete in the picture's description.
const MAX_LINES: usize = 2;

struct Head<'a> {
    width: f64,
    title: &'a str,
    detail: &'a [String],
    titles: Vec<String>,
    details: Vec<String>,
}

impl<'a> Head<'a> {
    fn new(title: &'a str, detail: &'a [String], width: f64) -> Self {
        let room = width - 2.0 * MARGIN;
        let details = detail.iter().flat_map(|line| wrapped(line, room / DETAIL_LETTER, MAX_LINES)).collect();
        Head { width, title, detail, titles: wrapped(title, room / TITLE_LETTER, MAX_LINES), details }
    }

    fn height(&self) -> f64 {
        34.0 + TITLE_LINE * self.titles.len() as f64 + DETAIL_LINE * self.details.len() as f64
    }

    fn open(&self, out: &mut String, height: f64, setting: Setting) {
        let width = self.width;
        *out += &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
                 height=\"{height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
            escaped(self.title),
            escaped(&self.detail.join("; ")),
        );
        if setting == Setting::Alone {
            *out += &format!("<style>{}</style>\n", sheet());
        }
        let (inner_width, inner_height) = (width - 1.0, height - 1.0);
        *out += &format!(
            "<rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{inner_width}\" height=\"{inner_height}\" rx=\"10\"/>\n"
        );
        let mut text = |class: &str, y: f64, line: &str| {
            *out += &format!("<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\">{}</text>\n", escaped(line));
        };
        let mut y = 11.0;
        for line in &self.titles {
            y += TITLE_LINE;
            text("title", y, line);
        }
        y += 4.0;
        for line in &self.details {
            y += DETAIL_LINE;
            text("detail", y, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{line, panel, published, table1};
    use super::*;
    use crate::panel::Scale;

    const KINDS: [Kind; 7] =
        [Kind::Lines, Kind::Bars, Kind::Time, Kind::Table, Kind::Scatter, Kind::Steps, Kind::Grid];

    fn drawn(panels: &[Panel]) -> String {
        let svg = Figure { title: "t", panels, ..Figure::default() }.svg(Setting::InPage);
        for word in ["NaN", "inf", "-0.0\""] {
            assert!(!svg.contains(word), "{word} in {svg}");
        }
        svg
    }

    fn all_is_inside(svg: &str) {
        let size: Vec<f64> = ["width=\"", "height=\""]
            .map(|name| svg.split(name).nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .to_vec();
        for (name, most) in [(" x=\"", size[0]), (" x1=\"", size[0]), (" x2=\"", size[0]), (" y=\"", size[1])]
        {
            for value in svg.split(name).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                let value: f64 = value.parse().unwrap();
                assert!((0.0..=most).contains(&value), "{name}{value} of {most}");
            }
        }
        for path in svg.split(" d=\"M").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let start: Vec<f64> = path
                .split([' ', 'a', 'h', 'l', 'v', 'V', 'H', 'L', 'z', 'M'])
                .take(2)
                .map(|n| n.parse().unwrap())
                .collect();
            assert!(
                start[0] >= 0.0 && start[0] <= size[0] && start[1] >= 0.0 && start[1] <= size[1],
                "{path}"
            );
        }
    }

    #[test]
    fn every_kind_of_plot_draws_any_numbers() {
        let many: Vec<(f64, f64)> = (0..5000).map(|at| (f64::from(at), f64::from(at % 100))).collect();
        let sets: [&[(f64, f64)]; 7] = [
            &[],
            &[(78.0, 0.5)],
            &[(f64::NAN, f64::NAN)],
            &[(1.0, f64::NAN), (2.0, 1.0), (f64::INFINITY, 3.0)],
            &[(1e-300, -1e-300), (0.0, 0.0), (1e300, f64::MAX)],
            &[(-5.0, -7.0), (5.0, 1e9)],
            &many,
        ];
        for (kind, points) in KINDS.iter().flat_map(|kind| sets.map(|points| (*kind, points))) {
            for scale in [Scale::Linear, Scale::Log] {
                let mut one = panel(kind, vec![line("a", 0, points), line("b", 1, points)]);
                (one.x.scale, one.y.scale) = (scale, scale);
                one.lines[0].published = published(points);
                if !one.is_table() || points.len() < 10 {
                    all_is_inside(&drawn(&[one.clone(), one]));
                }
            }
        }
        all_is_inside(&drawn(&[]));
        KINDS.iter().for_each(|kind| all_is_inside(&drawn(&[panel(*kind, Vec::new())])));
    }

    #[test]
    fn numbers_have_only_visible_digits() {
        let slanted = (0..9).map(|at| (f64::from(at) * 13.37, f64::from(at).sqrt())).collect::<Vec<_>>();
        for kind in KINDS {
            let mut one =
                panel(kind, vec![line("a", 0, &slanted), line("a longer name of a line", 1, &slanted)]);
            one.categories =
                if one.is_table() { (0..150).map(|at| format!("at {at}.5")).collect() } else { Vec::new() };
            let picture = drawn(&[one.clone(), one]);
            let numbers = picture.split(['"', ' ', 'M', 'L', 'l', 'H', 'V', 'h', 'v', '>', '<']);
            let digits = |text: &str| {
                text.parse::<f64>().ok().and(text.split_once('.')).map_or(0, |(_, rest)| rest.len())
            };
            assert!(
                numbers.clone().all(|text| digits(text) <= 3),
                "{kind:?}: {:?}",
                numbers.max_by_key(|text| digits(text))
            );
        }
    }

    #[test]
    fn an_interval_beyond_the_plot_ends_in_an_explained_arrowhead() {
        for kind in [Kind::Lines, Kind::Bars] {
            let mut one = panel(kind, vec![line("a", 0, &[(1.0, 5.0), (2.0, 6.0)])]);
            one.lines[0].marks[0].y_half_width = Some(0.5);
            assert!(!drawn(&[one.clone()]).contains("arrowhead"), "{kind:?}");
            let whole = drawn(&[one.clone()]);
            one.lines[0].marks[0].y_half_width = Some(100.0);
            let cut = drawn(&[one]);
            assert!(cut.contains("an arrowhead: the interval goes on outside of the picture"), "{kind:?}");
            // In the path, each of an arrowhead's two strokes is an `L`. A cap has no `L`.
            let class = if kind == Kind::Bars { "onbar" } else { "whisker" };
            let strokes = |svg: &str| {
                svg.split(class)
                    .skip(1)
                    .map(|rest| rest.split('/').next().unwrap().matches('L').count())
                    .sum::<usize>()
            };
            assert_eq!(
                (strokes(&whole), strokes(&cut)),
                (0, if kind == Kind::Bars { 2 } else { 4 }),
                "{kind:?}"
            );
        }
    }

    #[test]
    fn values_that_cannot_be_drawn_are_noted() {
        let points = [(1.0, f64::NAN), (2.0, 1.0), (3.0, -1.0)];
        let mut one = panel(Kind::Lines, vec![line("a", 0, &points)]);
        assert!(drawn(&[one.clone()]).contains("one value is not drawn"));
        one.y.scale = Scale::Log;
        assert!(drawn(&[one.clone()]).contains("2 values are not drawn"));
        one.lines[0].marks.remove(0);
        one.y.scale = Scale::Linear;
        assert!(!drawn(&[one]).contains("not drawn"));
    }

    #[test]
    fn published_numbers_are_drawn_hollow() {
        let picture = drawn(&[table1(Kind::Lines)]);
        assert_eq!(picture.matches("class=\"ring s").count(), 25);
        assert!(picture.contains("RED, in the paper: 0.551"));
        assert!(picture.contains("hollow: the paper"));
        assert_eq!(drawn(&[table1(Kind::Bars)]).matches("class=\"hollow s").count(), 25);
        assert!(drawn(&[table1(Kind::Table)]).contains(">0.551<"));
    }

    #[test]
    fn nine_lines_have_nine_colours_and_the_tenth_is_dashed() {
        let lines =
            (0..10).map(|at| line(&format!("line {at}"), at, &[(1.0, at as f64), (2.0, 1.0)])).collect();
        let picture = drawn(&[panel(Kind::Lines, lines)]);
        for colour in 0..9 {
            assert!(picture.contains(&format!("<path class=\"line s{colour}\" d=")), "{colour}");
        }
        assert!(picture.contains("<path class=\"line s0\" stroke-dasharray="));
    }

    #[test]
    fn the_legend_is_outside_the_data_and_counts_entries_without_room() {
        let lines = (0..50).map(|at| line(&format!("line {at}"), at, &[(1.0, at as f64)])).collect();
        let picture = drawn(&[panel(Kind::Lines, lines)]);
        let right: f64 =
            picture.split("H").nth(1).unwrap().split(['"', 'M']).next().unwrap().parse().unwrap();
        let keys = picture.split("<text class=\"key\" x=\"").skip(1);
        assert!(keys.clone().all(|key| key.split('"').next().unwrap().parse::<f64>().unwrap() > right));
        assert!(
            picture.contains("and 35 more") && keys.count() == 17,
            "15 lines, the rest, and the interval"
        );
    }

    #[test]
    fn a_long_curve_is_reduced_to_visible_points() {
        let saw: Vec<(f64, f64)> = (0..100_000).map(|at| (f64::from(at), f64::from(at % 1000))).collect();
        let rising: Vec<(f64, f64)> = (0..100_000).map(|at| (f64::from(at), f64::from(at).sqrt())).collect();
        for (kind, points) in [(Kind::Time, saw), (Kind::Steps, rising)] {
            assert!(drawn(&[panel(kind, vec![line("a", 0, &points)])]).len() < 60_000, "{kind:?}");
        }
    }

    #[test]
    fn panels_may_share_a_scale_that_fits_the_measurements() {
        let of = |high: f64| Panel {
            measured_from: Some(1.0),
            ..panel(Kind::Time, vec![line("a", 0, &[(0.5, 900.0), (1.5, high), (2.5, 1.0)])])
        };
        let panels = &[of(3.0), of(50.0)];
        let figure = Figure { panels, has_one_scale: true, ..Figure::default() };
        let count = |svg: &str| svg.matches(">60</text>").count();
        assert_eq!(count(&figure.svg(Setting::Alone)), 2);
        assert_eq!(count(&Figure { has_one_scale: false, ..figure }.svg(Setting::Alone)), 1);
    }

    #[test]
    fn panels_with_the_same_keys_share_a_legend() {
        let one = table1(Kind::Lines);
        let keys = |panels: &[Panel]| drawn(panels).matches("class=\"key\"").count();
        assert_eq!(keys(&[one.clone(), one.clone()]), keys(std::slice::from_ref(&one)));
        let other = panel(Kind::Lines, vec![line("other", 0, &[(1.0, 1.0)])]);
        assert_eq!(keys(&[one.clone(), other]), keys(&[one]) + 2);
    }

    #[test]
    fn a_small_picture_is_as_recorded() {
        let mut small = panel(Kind::Lines, vec![line("FABA", 0, &[(78.0, 0.9), (156.0, 1.0)])]);
        small.lines[0].published = published(&[(78.0, 0.888)]);
        let panels = &[small];
        let detail = vec!["seeds 1..=3".into()];
        let figure = Figure { title: "Two points", detail, panels, ..Figure::default() };
        insta::assert_snapshot!(figure.svg(Setting::InPage));
    }
}
