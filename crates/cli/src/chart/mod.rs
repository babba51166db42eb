//! Charts: one self-contained SVG that reads in light, in dark and in print.
//!
//! Written by hand rather than through a plotting library, because its colours follow the reader's theme by CSS, which
//! no plotting library here can do.

mod axis;
mod bars;
mod frame;
mod legend;
mod lines;
mod marker;
#[cfg(test)]
pub mod samples;
pub mod style;
mod table;

pub use axis::{number, with_interval};

use axis::can_show;
use fairwire_study::record::{Kind, Line, Panel};
use frame::Frame;
use std::fmt::Write;
use style::{cut, escaped, sheet};

/// A chart: panels one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart<'a> {
    /// What is drawn.
    pub title: &'a str,
    /// Under which conditions, line by line.
    pub detail: Vec<String>,
    /// The panels, from above.
    pub panels: &'a [Panel],
}

/// Does a picture bring its own style, or does the page have it?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A file of its own.
    Alone,
    /// Inside a page that holds [`style::sheet`].
    InPage,
}

impl Chart<'_> {
    /// The picture.
    pub fn svg(&self, setting: Setting) -> String {
        let detail = self.detail.iter().cloned().chain(left_out(self.panels)).collect::<Vec<_>>();
        let frame = Frame::new(self.panels, detail.len());
        let mut out = String::new();
        open(&mut out, (frame.width, frame.height), (self.title, &detail), setting);
        for (at, (panel, place)) in self.panels.iter().zip(&frame.places).enumerate() {
            frame::heading(&mut out, panel, place);
            match panel.kind {
                Kind::Table => table::draw(&mut out, panel, place),
                Kind::Bars => {
                    let plot = frame::plot(&mut out, panel, place);
                    bars::draw(&mut out, panel, &plot);
                }
                _ => {
                    let plot = frame::plot(&mut out, panel, place);
                    lines::draw(&mut out, panel, &plot);
                }
            }
            let is_new = at == 0 || !has_the_keys_of(panel, &self.panels[at - 1]);
            if is_new && panel.kind != Kind::Table {
                legend::draw(&mut out, panel, place);
            }
        }
        out.push_str("</svg>\n");
        out
    }
}

fn has_the_keys_of(panel: &Panel, other: &Panel) -> bool {
    fn keys(panel: &Panel) -> impl Iterator<Item = (&str, usize, bool, bool)> {
        let key = |line: &Line| !line.published.is_empty();
        panel.lines.iter().map(move |line| (line.label.as_str(), line.colour, line.is_dashed, key(line)))
    }
    other.kind != Kind::Table && keys(panel).eq(keys(other))
}

/// Tells of values that have no place: nobody shall take them for zero.
fn left_out(panels: &[Panel]) -> Option<String> {
    let lost = |panel: &Panel| {
        let marks = panel.lines.iter().flat_map(|line| line.marks.iter().chain(&line.published));
        let is_lost = |x: f64, y: f64| !can_show(&panel.y, y) || !can_show(&panel.x, x);
        match panel.kind {
            Kind::Table => 0, // a table says so in its cell
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

/// From the edge to the title, the legend and back.
const MARGIN: f64 = 24.0;
const TITLE_LETTER: f64 = 10.6;
const DETAIL_LETTER: f64 = 7.2;
const DETAIL_LINE: f64 = 18.0;
/// The baseline of the first line below the title.
const FIRST_DETAIL: f64 = 58.0;

/// The head of a picture with its ground, title and detail.
fn open(out: &mut String, (width, height): (f64, f64), (title, detail): (&str, &[String]), setting: Setting) {
    put(
        out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
            escaped(title),
            escaped(&detail.join("; ")),
        ),
    );
    if setting == Setting::Alone {
        put(out, format_args!("<style>{}</style>\n", sheet()));
    }
    put(
        out,
        format_args!(
            "<rect class=\"ground\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n\
             <text class=\"title\" x=\"{MARGIN}\" y=\"36\">{}</text>\n",
            width - 1.0,
            height - 1.0,
            escaped(&cut(title, (width - 2.0 * MARGIN) / TITLE_LETTER)),
        ),
    );
    for (at, line) in detail.iter().enumerate() {
        put(
            out,
            format_args!(
                "<text class=\"detail\" x=\"{MARGIN}\" y=\"{}\">{}</text>\n",
                FIRST_DETAIL + DETAIL_LINE * at as f64,
                escaped(&cut(line, (width - 2.0 * MARGIN) / DETAIL_LETTER))
            ),
        );
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a string takes all");
}
