//! Markers. Successive colours have different shapes, so readers need not rely on colour alone.

use crate::layout::Place;
use crate::panel::Line;
use crate::style::PALETTE;

pub(super) fn class(line: &Line) -> usize {
    line.colour % PALETTE.len()
}

pub(super) fn stroke(line: &Line) -> String {
    if line.is_limit { "limit".into() } else { format!("line s{}", class(line)) }
}

/// The dash pattern of `line`. If there are more lines than colours, repeated colours have another
/// pattern.
pub(super) fn dash(line: &Line) -> &'static str {
    match (line.is_dashed, line.colour / PALETTE.len() % 2 == 1) {
        (false, false) => "",
        (true, false) => " stroke-dasharray=\"6 4\"",
        (false, true) => " stroke-dasharray=\"2 3\"",
        (true, true) => " stroke-dasharray=\"8 3 2 3\"",
    }
}

pub(super) fn outline(line: &Line, at: Place, r: f64) -> String {
    let Place { x, y } = at;
    match line.colour % 5 {
        0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0", x - r, d = 2.0 * r),
        1 => {
            let s = r * 0.9;
            format!("M{:.1} {:.1}h{d:.1}v{d:.1}h-{d:.1}z", x - s, y - s, d = 2.0 * s)
        }
        2 => polygon(&triangle(at, r, r)),
        3 => diamond(at, 1.25 * r),
        _ => polygon(&triangle(at, r, -r)),
    }
}

pub(super) fn diamond(at: Place, r: f64) -> String {
    polygon(&rhombus(at, r))
}

pub(super) fn rhombus(at: Place, r: f64) -> [Place; 4] {
    [at.by(0.0, -r), at.by(r, 0.0), at.by(0.0, r), at.by(-r, 0.0)]
}

/// The corners of a triangle. It points up, unless `up` is negative.
pub(super) fn triangle(at: Place, r: f64, up: f64) -> [Place; 3] {
    [at.by(0.0, -1.25 * up), at.by(1.15 * r, 0.8 * up), at.by(-1.15 * r, 0.8 * up)]
}

fn polygon(corners: &[Place]) -> String {
    // Coordinates relative to the previous corner are shorter.
    let mut path = format!("M{:.1} {:.1}l", corners[0].x, corners[0].y);
    for pair in corners.windows(2) {
        path += &format!("{:.1} {:.1} ", pair[1].x - pair[0].x, pair[1].y - pair[0].y);
    }
    path.trim_end().to_string() + "z"
}
