//! Markers: one shape per colour, so that no line is identified by its colour alone.

use crate::panel::Line;
use crate::style::PALETTE;

/// The number in the CSS classes of `line`'s colour.
pub(super) fn class(line: &Line) -> usize {
    line.colour % PALETTE.len()
}

/// The CSS classes of `line` as a stroke.
pub(super) fn stroke(line: &Line) -> String {
    if line.is_limit { "limit".into() } else { format!("line s{}", class(line)) }
}

/// The dashes of `line`, which also distinguish lines that share a colour because there are many.
pub(super) fn dash(line: &Line) -> &'static str {
    match (line.is_dashed, line.colour / PALETTE.len() % 2 == 1) {
        (false, false) => "",
        (true, false) => " stroke-dasharray=\"6 4\"",
        (false, true) => " stroke-dasharray=\"2 3\"",
        (true, true) => " stroke-dasharray=\"8 3 2 3\"",
    }
}

/// The outline of `line`'s marker around (`x`, `y`).
pub(super) fn outline(line: &Line, (x, y): (f64, f64), radius: f64) -> String {
    let r = radius;
    match line.colour % 5 {
        0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0", x - r, d = 2.0 * r),
        1 => {
            let s = r * 0.9;
            format!("M{:.1} {:.1}h{d:.1}v{d:.1}h-{d:.1}z", x - s, y - s, d = 2.0 * s)
        }
        2 => polygon(&[(x, y - 1.25 * r), (x + 1.15 * r, y + 0.8 * r), (x - 1.15 * r, y + 0.8 * r)]),
        3 => diamond((x, y), 1.25 * r),
        _ => polygon(&[(x, y + 1.25 * r), (x + 1.15 * r, y - 0.8 * r), (x - 1.15 * r, y - 0.8 * r)]),
    }
}

/// The outline of a diamond.
pub(super) fn diamond((x, y): (f64, f64), r: f64) -> String {
    polygon(&[(x, y - r), (x + r, y), (x, y + r), (x - r, y)])
}

fn polygon(corners: &[(f64, f64)]) -> String {
    // Relative to the one before, which is shorter.
    let mut path = format!("M{:.1} {:.1}l", corners[0].0, corners[0].1);
    for pair in corners.windows(2) {
        path += &format!("{:.1} {:.1} ", pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
    }
    path.trim_end().to_string() + "z"
}
