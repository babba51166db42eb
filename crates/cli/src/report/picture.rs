//! The picture of the shares: for each discipline a bar for each group of flows, against the fair
//! share.

use super::shown::{Headline, groups};
use fairwire_figures::panel::{Axis, Kind, Line, Mark, Panel, Reference};
use fairwire_figures::{Figure, Setting};
use fairwire_metrics::record::{Report, Summary};

/// The picture of `report`.
pub(crate) fn svg(report: &Report, headline: &Headline) -> String {
    let lines = groups(report).into_iter().enumerate().map(|(colour, group)| Line {
        label: group.into(),
        colour,
        marks: marks(report, group),
        ..Line::default()
    });
    let panel = Panel {
        kind: Kind::Bars,
        y: Axis { label: "throughput over max-min fair share".into(), ..Axis::default() },
        categories: report.summary.iter().map(Summary::label).collect(),
        lines: lines.collect(),
        reference: vec![Reference { y: 1.0, label: "fair share = 1".into(), band: None }],
        ..Panel::default()
    };
    let detail = headline.detail.split("; ").map(String::from).collect();
    let (title, panels) = (headline.title.as_str(), &[panel]);
    Figure { title, detail, panels, is_as_wide_as_bars: true, ..Figure::default() }.svg(Setting::Alone)
}

fn marks(report: &Report, group: &str) -> Vec<Mark> {
    let share = |at: usize| {
        let estimate = report.summary[at].measures.get(&format!("share.{group}"))?;
        let y_half_width = estimate.half_width_95;
        estimate.mean.is_finite().then(|| Mark {
            x: at as f64,
            y: estimate.mean,
            y_half_width,
            ..Mark::default()
        })
    };
    (0..report.summary.len()).filter_map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn control_characters_do_not_reach_the_picture() {
        let headline = Headline { title: "\u{1b}x".into(), detail: "\u{7}y".into() };
        let picture = svg(&samples::named(1, 1, "\u{1}"), &headline);
        assert!(!picture.contains(|c: char| c.is_control() && c != '\n'), "{picture}");
    }

    #[test]
    fn every_bar_has_its_number_and_every_discipline_its_name_until_there_are_too_many() {
        let labels = |disciplines, groups| {
            let picture = svg(&samples::report(disciplines, groups), &samples::headline());
            let width = picture.split(" width=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            let count = |class: &str| picture.matches(&format!("class=\"{class}\"")).count();
            assert!((900.0..=2400.0).contains(&width.parse().unwrap()), "{width}");
            assert!(picture.contains("fair share = 1</text>"));
            (count("value halo"), count("name"))
        };
        assert_eq!(labels(3, 2), (6, 3));
        assert_eq!(labels(12, 2), (24, 12));
        assert_eq!(labels(3, 100).0, 0);
        let (values, names) = labels(200, 5);
        assert!(values == 0 && (1..200).contains(&names), "{names}");
    }
}
