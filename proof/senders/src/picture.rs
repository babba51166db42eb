//! A picture of the ratio of our goodput to the kernel's.

use crate::judge::{ALLOWED, ComparedCell};
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Reference, Scale};
use fairwire_figures::{Figure, Setting};

/// The fraction of a fault's width on the axis that its marks take up.
const WIDTH: f64 = 0.6;

/// Draws one panel per plan: faults side by side, one colour per controller, one mark per cell.
pub fn svg(rows: &[ComparedCell]) -> String {
    let controllers = distinct(rows.iter().map(|row| &row.controller));
    let plans = distinct(rows.iter().map(|row| &row.plan));
    let panels: Vec<Panel> = plans.iter().map(|plan| panel(rows, plan, &controllers)).collect();
    Figure {
        title: "Goodput, ours over the kernel's",
        detail: vec!["One mark for each cell. The band: within 10 % of the kernel's.".into()],
        panels: &panels,
        has_one_scale: true,
        is_as_wide_as_bars: true,
    }
    .svg(Setting::Alone)
}

fn panel(rows: &[ComparedCell], plan: &str, controllers: &[String]) -> Panel {
    let of_plan: Vec<&ComparedCell> = rows.iter().filter(|row| row.plan == plan).collect();
    let faults = distinct(of_plan.iter().map(|row| &row.fault));
    let here = distinct(of_plan.iter().map(|row| &row.controller));
    let line = |(colour, controller): (usize, &String)| {
        let place = here.iter().position(|other| other == controller).unwrap_or_default();
        let offset = WIDTH * ((place as f64 + 0.5) / here.len() as f64 - 0.5);
        let mut marks: Vec<Mark> = of_plan
            .iter()
            .filter(|row| row.controller == *controller)
            .map(|row| {
                let place = faults.iter().position(|fault| *fault == row.fault).unwrap_or_default();
                Mark { x: place as f64 + offset, y: row.ratio, ..Mark::default() }
            })
            .collect();
        marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        Line { label: controller.clone(), colour, marks, ..Line::default() }
    };
    Panel {
        title: plan.into(),
        kind: Kind::Scatter,
        y: Axis { label: "ours / the kernel's".into(), scale: Scale::Log, range: Some(range(rows)) },
        lines: controllers.iter().enumerate().map(line).filter(|line| !line.marks.is_empty()).collect(),
        reference: vec![Reference {
            y: 1.0,
            label: "the kernel".into(),
            band: Some([1.0 - ALLOWED.1, 1.0 + ALLOWED.1]),
        }],
        categories: faults,
        ..Panel::default()
    }
}

fn range(rows: &[ComparedCell]) -> [f64; 2] {
    let ends = |[low, high]: [f64; 2], row: &ComparedCell| [low.min(row.ratio), high.max(row.ratio)];
    rows.iter().fold([0.5, 2.0], ends)
}

fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if !distinct.contains(text) {
            distinct.push(text.clone());
        }
    }
    distinct
}
