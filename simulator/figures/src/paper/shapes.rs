//! Colours, dashes, markers and hatching of lines and bars.

use super::sheet::{Rgb, Step, Stroke, WHITE};
use crate::panel::Line;
use crate::style::PALETTE;

/// One for each colour, so that lines differ in grey.
const DASHES: [&[f64]; 9] = [
    &[],
    &[4.0, 1.6],
    &[1.2, 1.4],
    &[5.0, 1.5, 1.2, 1.5],
    &[8.0, 2.0],
    &[3.0, 1.2, 1.0, 1.2, 1.0, 1.2],
    &[2.4, 2.4],
    &[7.0, 1.2, 1.2, 1.2],
    &[0.8, 2.4],
];

/// Of what is theory, or the rate of a link.
const LIMIT: [f64; 2] = [0.8, 1.6];
const GREY: Rgb = [105, 105, 105];

/// The colour of `line`.
pub(super) fn colour(line: &Line) -> Rgb {
    if line.is_limit { GREY } else { palette(line.colour) }
}

fn palette(number: usize) -> Rgb {
    let digits = &PALETTE[number % PALETTE.len()].0[1..];
    [0, 2, 4].map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(0))
}

/// `colour`, this part of it on white.
pub(super) fn tint(colour: Rgb, part: f64) -> Rgb {
    [0, 1, 2].map(|at| {
        let (full, none) = (f64::from(colour[at]), f64::from(WHITE[at]));
        (none + (full - none) * part).round() as u8
    })
}

/// How `line` is drawn.
pub(super) fn stroke(line: &Line) -> Stroke {
    if line.is_limit {
        return Stroke { colour: GREY, width: 0.8, dash: &LIMIT };
    }
    let place = line.colour + usize::from(line.is_dashed && line.colour == 0);
    Stroke { colour: colour(line), width: 1.0, dash: DASHES[place % DASHES.len()] }
}

/// The outline of `line`'s marker.
pub(super) fn marker(line: &Line, (x, y): (f64, f64), r: f64) -> Vec<Step> {
    match line.colour % 5 {
        0 => circle((x, y), r),
        1 => {
            let s = 0.9 * r;
            polygon(&[(x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)])
        }
        2 => polygon(&[(x, y - 1.25 * r), (x + 1.15 * r, y + 0.8 * r), (x - 1.15 * r, y + 0.8 * r)]),
        3 => polygon(&[(x, y - 1.3 * r), (x + 1.3 * r, y), (x, y + 1.3 * r), (x - 1.3 * r, y)]),
        _ => polygon(&[(x, y + 1.25 * r), (x + 1.15 * r, y - 0.8 * r), (x - 1.15 * r, y - 0.8 * r)]),
    }
}

/// An outline with these corners.
pub(super) fn polygon(corners: &[(f64, f64)]) -> Vec<Step> {
    let step = |(at, (x, y)): (usize, &(f64, f64))| {
        if at == 0 { Step::To(*x, *y) } else { Step::Line(*x, *y) }
    };
    corners.iter().enumerate().map(step).chain([Step::Close]).collect()
}

/// A rectangle: left, top, right, bottom.
pub(super) fn rectangle([left, top, right, bottom]: [f64; 4]) -> Vec<Step> {
    polygon(&[(left, top), (right, top), (right, bottom), (left, bottom)])
}

/// Four Bézier curves: off by 0.03 % of the radius at most.
fn circle((x, y): (f64, f64), r: f64) -> Vec<Step> {
    let k = 0.5523 * r;
    vec![
        Step::To(x + r, y),
        Step::Curve([x + r, y + k, x + k, y + r, x, y + r]),
        Step::Curve([x - k, y + r, x - r, y + k, x - r, y]),
        Step::Curve([x - r, y - k, x - k, y - r, x, y - r]),
        Step::Curve([x + k, y - r, x + r, y - k, x + r, y]),
        Step::Close,
    ]
}

/// The strokes that fill a rectangle of the bars of this colour number, none of the first.
pub(super) fn hatching(colour: usize, [left, top, right, bottom]: [f64; 4]) -> Vec<Step> {
    const APART: f64 = 3.0;
    let mut path = Vec::new();
    let mut line = |from: (f64, f64), to: (f64, f64)| {
        path.extend([Step::To(from.0, from.1), Step::Line(to.0, to.1)]);
    };
    let (width, height) = (right - left, bottom - top);
    let slanted = |line: &mut dyn FnMut((f64, f64), (f64, f64)), is_rising: bool| {
        let count = ((width + height) / APART) as usize;
        for at in 1..=count {
            // From the left or the upper edge to the right or the lower one.
            let along = at as f64 * APART;
            let (x0, y0) = if along <= height { (0.0, along) } else { (along - height, height) };
            let (x1, y1) = if along <= width { (along, 0.0) } else { (width, along - width) };
            let place = |x: f64, y: f64| (left + x, if is_rising { top + y } else { bottom - y });
            line(place(x0, y0), place(x1, y1));
        }
    };
    match colour % 5 {
        0 => {}
        1 => slanted(&mut line, true),
        2 => slanted(&mut line, false),
        3 => {
            slanted(&mut line, true);
            slanted(&mut line, false);
        }
        _ => {
            let count = (height / APART) as usize;
            for y in (1..=count).map(|at| top + at as f64 * APART).filter(|y| *y < bottom) {
                line((left, y), (right, y));
            }
        }
    }
    path
}
