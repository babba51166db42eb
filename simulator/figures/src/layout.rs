//! The positions of panels, columns and values in a picture.

use crate::axis::Span;
use crate::number::number;
use crate::panel::{Mark, Panel};

/// A position in a picture, in points from its upper left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub x: f64,
    pub y: f64,
}

impl Place {
    pub(super) fn by(self, right: f64, down: f64) -> Self {
        Place { x: self.x + right, y: self.y + down }
    }
}

/// The edges of a plot, in points of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub left: f64,
    pub right: f64,
    pub ceiling: f64,
    pub floor: f64,
}

pub(super) struct Columns {
    /// The names below the axis: words, or the positions of the bars.
    pub names: Vec<String>,
    /// The positions of the bars, sorted; empty if `names` has words.
    numbers: Vec<f64>,
}

impl Columns {
    pub(super) fn new(panel: &Panel) -> Self {
        if !panel.categories.is_empty() {
            return Columns { names: panel.categories.clone(), numbers: Vec::new() };
        }
        let marks = panel.lines.iter().flat_map(|line| line.marks.iter().chain(&line.published));
        let mut numbers: Vec<f64> = marks.map(|mark| mark.x).filter(|x| x.is_finite()).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        Columns { names: numbers.iter().map(|x| number(*x, 4)).collect(), numbers }
    }

    pub(super) fn of(&self, mark: &Mark) -> Option<usize> {
        if self.numbers.is_empty() {
            let is_place = mark.x >= 0.0 && mark.x.round() < self.names.len() as f64;
            return is_place.then(|| mark.x.round() as usize);
        }
        // Unlike `total_cmp`, this comparison treats 0 and -0 as equal.
        self.numbers.binary_search_by(|x| x.partial_cmp(&mark.x).unwrap_or(std::cmp::Ordering::Less)).ok()
    }
}

pub(super) struct Plot {
    pub bounds: Bounds,
    pub x: Span,
    pub y: Span,
}

impl Plot {
    pub(super) fn x(&self, value: f64) -> f64 {
        self.across(self.x.share(value))
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.up(self.y.share(value))
    }

    pub(super) fn place(&self, mark: &Mark) -> Place {
        Place { x: self.x(mark.x), y: self.y(mark.y) }
    }

    pub(super) fn y_beyond(&self, value: f64) -> f64 {
        self.up(self.y.beyond(value))
    }

    fn across(&self, share: f64) -> f64 {
        self.bounds.left + (self.bounds.right - self.bounds.left) * share
    }

    pub(super) fn up(&self, share: f64) -> f64 {
        self.bounds.floor - (self.bounds.floor - self.bounds.ceiling) * share
    }
}
