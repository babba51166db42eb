//! The drawing as data: paths and texts on a sheet, in points of 1/72 inch from its upper left
//! corner.

use crate::layout::Place;
use crate::style::escaped;

pub(super) type Rgb = [u8; 3];

pub(super) const BLACK: Rgb = [0, 0, 0];
pub(super) const WHITE: Rgb = [255, 255, 255];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    To(Place),
    Line(Place),
    Curve([f64; 6]),
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub colour: Rgb,
    pub width: f64,
    /// The lengths of dashes and gaps, alternating; empty for a solid line.
    pub dash: &'static [f64],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Text {
    pub at: Place,
    pub size: f64,
    pub anchor: Anchor,
    /// The rotation, in degrees counterclockwise.
    pub turn: f64,
    pub colour: Rgb,
    pub text: String,
}

/// One drawn object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// An outline that is filled, stroked or both. It may be clipped to a rectangle (left, top,
    /// right, bottom).
    Path {
        path: Vec<Step>,
        fill: Option<Rgb>,
        stroke: Option<Stroke>,
        within: Option<[f64; 4]>,
    },
    Text(Text),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sheet {
    pub width: f64,
    pub height: f64,
    /// The title of the picture.
    pub title: String,
    pub items: Vec<Item>,
}

impl Sheet {
    pub(super) fn stroke(&mut self, path: Vec<Step>, stroke: Stroke) {
        self.items.push(Item::Path { path, fill: None, stroke: Some(stroke), within: None });
    }

    pub(super) fn fill(&mut self, path: Vec<Step>, fill: Rgb) {
        self.items.push(Item::Path { path, fill: Some(fill), stroke: None, within: None });
    }

    /// A straight line.
    pub(super) fn line(&mut self, from: Place, to: Place, stroke: Stroke) {
        self.stroke(vec![Step::To(from), Step::Line(to)], stroke);
    }

    pub(super) fn text(&mut self, text: Text) {
        self.items.push(Item::Text(text));
    }

    pub(super) fn svg(&self) -> String {
        let Sheet { width, height, title, items } = self;
        let mm = |points: f64| points * 25.4 / 72.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{:.2}mm\" height=\"{:.2}mm\" role=\"img\">\n\
             <title>{}</title>\n<style>text {{ font-family: Helvetica, Arial, 'DejaVu Sans Condensed', sans-serif }}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            number(*width),
            number(*height),
            mm(*width),
            mm(*height),
            escaped(title)
        );
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Path { path, fill, stroke, within } => {
                    let clip = within.map_or(String::new(), |[left, top, right, bottom]| {
                        out += &format!(
                            "<clipPath id=\"c{at}\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
                            number(left),
                            number(top),
                            number(right - left),
                            number(bottom - top)
                        );
                        format!(" clip-path=\"url(#c{at})\"")
                    });
                    let fill = fill.map_or("none".into(), colour);
                    let stroke = stroke.map_or(String::new(), |stroke| stroked(&stroke));
                    out += &format!("<path fill=\"{fill}\"{stroke}{clip} d=\"{}\"/>\n", outline(path));
                }
                Item::Text(text) => out += &written(text),
            }
        }
        out + "</svg>\n"
    }
}

/// A number for an attribute, rounded to a hundredth of a point, which is finer than a printer's
/// resolution.
pub(super) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short == "-0" { "0".into() } else { short.into() }
}

fn colour([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn stroked(stroke: &Stroke) -> String {
    let dash: Vec<String> = stroke.dash.iter().map(|length| number(*length)).collect();
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
    format!(
        " stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dash}",
        colour(stroke.colour),
        number(stroke.width)
    )
}

fn outline(path: &[Step]) -> String {
    let step = |step: &Step| match step {
        Step::To(at) => format!("M{} {}", number(at.x), number(at.y)),
        Step::Line(at) => format!("L{} {}", number(at.x), number(at.y)),
        Step::Curve(places) => format!("C{}", places.map(number).join(" ")),
        Step::Close => "Z".into(),
    };
    path.iter().map(step).collect()
}

fn written(text: &Text) -> String {
    let (x, y) = (number(text.at.x), number(text.at.y));
    let anchor = match text.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turn = match text.turn {
        0.0 => String::new(),
        turn => format!(" transform=\"rotate({} {x} {y})\"", number(-turn)),
    };
    format!(
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>\n",
        number(text.size),
        colour(text.colour),
        escaped(&text.text)
    )
}
