//! Where panels, columns and values stand in a picture.

use crate::axis::Span;
use crate::number::number;
use crate::panel::{Mark, Panel};

/// Where a panel stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    /// Of the whole panel, heading included.
    pub top: f64,
    /// Of the plot itself.
    pub left: f64,
    pub right: f64,
    pub ceiling: f64,
    pub floor: f64,
    /// Are names below it slanted?
    pub is_slanted: bool,
}

/// Where values stand whose axis has names.
pub(super) struct Columns {
    /// The words below the axis, or the numbers that bars stand at.
    pub names: Vec<String>,
    /// Those numbers, in order; none where there are words.
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

    /// The column in which `mark` stands.
    pub(super) fn of(&self, mark: &Mark) -> Option<usize> {
        if self.numbers.is_empty() {
            let is_place = mark.x >= 0.0 && mark.x.round() < self.names.len() as f64;
            return is_place.then(|| mark.x.round() as usize);
        }
        // The numbers of both zeros are one.
        self.numbers.binary_search_by(|x| x.partial_cmp(&mark.x).unwrap_or(std::cmp::Ordering::Less)).ok()
    }
}

/// From values to points of the picture.
pub(super) struct Plot {
    pub place: Place,
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

    /// As [`Plot::y`], and beyond the plot for values that are.
    pub(super) fn y_beyond(&self, value: f64) -> f64 {
        self.up(self.y.beyond(value))
    }

    fn across(&self, share: f64) -> f64 {
        self.place.left + (self.place.right - self.place.left) * share
    }

    pub(super) fn up(&self, share: f64) -> f64 {
        self.place.floor - (self.place.floor - self.place.ceiling) * share
    }
}
