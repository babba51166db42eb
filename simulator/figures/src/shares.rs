//! Bars of shares, compared with the fair share.

use crate::panel::{Axis, Kind, Line, Mark, Panel, Reference};

/// The shares of one group of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// For each category, the throughput divided by the fair share, and half the width of its 95 %
    /// interval.
    pub shares: Vec<Option<(f64, Option<f64>)>>,
}

/// One bar per category and group, and a line at the fair share.
pub fn panel(categories: Vec<String>, groups: Vec<Group>) -> Panel {
    let mark = |(at, share): (usize, Option<(f64, Option<f64>)>)| {
        let (y, y_half_width) = share.filter(|(share, _)| share.is_finite())?;
        Some(Mark { x: at as f64, y, y_half_width, ..Mark::default() })
    };
    let line = |(colour, Group { name, shares }): (usize, Group)| Line {
        label: name,
        colour,
        marks: shares.into_iter().enumerate().filter_map(mark).collect(),
        ..Line::default()
    };
    Panel {
        kind: Kind::Bars,
        y: Axis { label: "throughput over max-min fair share".into(), ..Axis::default() },
        categories,
        lines: groups.into_iter().enumerate().map(line).collect(),
        reference: vec![Reference { y: 1.0, label: "fair share = 1".into(), band: None }],
        ..Panel::default()
    }
}
