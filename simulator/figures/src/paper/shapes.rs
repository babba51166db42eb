//! Colours, dashes, markers and hatching of lines and bars.

use super::sheet::{Rgb, Step, Stroke, WHITE};
use crate::layout::Place;
use crate::marker::{rhombus, triangle};
use crate::panel::Line;
use crate::style::PALETTE;

/// The dashes of lines, one pattern per colour. They distinguish lines in grey print.
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

/// The dashes of theoretical limits and link rates.
const LIMIT: [f64; 2] = [0.8, 1.6];
const GREY: Rgb = [105, 105, 105];

pub(super) fn colour(line: &Line) -> Rgb {
    if line.is_limit { GREY } else { palette(line.colour) }
}

fn palette(number: usize) -> Rgb {
    let digits = &PALETTE[number % PALETTE.len()].0[1..];
    [0, 2, 4].map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap_or(0))
}

/// `colour` mixed with white; `part` is the fraction of `colour`.
pub(super) fn tint(colour: Rgb, part: f64) -> Rgb {
    [0, 1, 2].map(|at| {
        let (full, none) = (f64::from(colour[at]), f64::from(WHITE[at]));
        (none + (full - none) * part).round() as u8
    })
}

pub(super) fn stroke(line: &Line) -> Stroke {
    if line.is_limit {
        return Stroke { colour: GREY, width: 0.8, dash: &LIMIT };
    }
    let place = line.colour + usize::from(line.is_dashed && line.colour == 0);
    Stroke { colour: colour(line), width: 1.0, dash: DASHES[place % DASHES.len()] }
}

pub(super) fn marker(line: &Line, at: Place, r: f64) -> Vec<Step> {
    let s = 0.9 * r;
    match line.colour % 5 {
        0 => circle(at, r),
        1 => rectangle([at.x - s, at.y - s, at.x + s, at.y + s]),
        2 => polygon(&triangle(at, r, r)),
        3 => polygon(&rhombus(at, 1.3 * r)),
        _ => polygon(&triangle(at, r, -r)),
    }
}

pub(super) fn polygon(corners: &[Place]) -> Vec<Step> {
    let first = corners.first().map(|at| Step::To(*at));
    let others = corners.iter().skip(1).map(|at| Step::Line(*at));
    first.into_iter().chain(others).chain([Step::Close]).collect()
}

pub(super) fn rectangle([left, top, right, bottom]: [f64; 4]) -> Vec<Step> {
    let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
    polygon(&corners.map(|[x, y]| Place { x, y }))
}

/// A circle as four Bézier curves, off by at most 0.03 % of the radius.
fn circle(at: Place, r: f64) -> Vec<Step> {
    let Place { x, y } = at;
    let k = 0.5523 * r;
    vec![
        Step::To(at.by(r, 0.0)),
        Step::Curve([x + r, y + k, x + k, y + r, x, y + r]),
        Step::Curve([x - k, y + r, x - r, y + k, x - r, y]),
        Step::Curve([x - r, y - k, x - k, y - r, x, y - r]),
        Step::Curve([x + k, y - r, x + r, y - k, x + r, y]),
        Step::Close,
    ]
}

/// The hatching of a bar with this colour number; none for colours 0, 5 and so on.
pub(super) fn hatching(colour: usize, [left, top, right, bottom]: [f64; 4]) -> Vec<Step> {
    const APART: f64 = 3.0;
    let mut path = Vec::new();
    let mut line = |from: Place, to: Place| path.extend([Step::To(from), Step::Line(to)]);
    let (width, height) = (right - left, bottom - top);
    let slanted = |line: &mut dyn FnMut(Place, Place), is_rising: bool| {
        let count = ((width + height) / APART) as usize;
        for at in 1..=count {
            let along = at as f64 * APART;
            let (x0, y0) = if along <= height { (0.0, along) } else { (along - height, height) };
            let (x1, y1) = if along <= width { (along, 0.0) } else { (width, along - width) };
            let place =
                |x: f64, y: f64| Place { x: left + x, y: if is_rising { top + y } else { bottom - y } };
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
                line(Place { x: left, y }, Place { x: right, y });
            }
        }
    }
    path
}
