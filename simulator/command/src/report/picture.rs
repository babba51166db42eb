//! The picture of the shares. Each discipline has one bar for each group of flows, compared with
//! the fair share.

use super::shown::{Headline, groups};
use fairwire_figures::shares::{self, Group};
use fairwire_figures::{Figure, Setting};
use fairwire_metrics::record::{Report, Summary};

pub(crate) fn svg(report: &Report, headline: &Headline) -> String {
    let of = |group: &str| {
        let share = |summary: &Summary| {
            let estimate = summary.measures.get(&format!("share.{group}"))?;
            Some((estimate.mean, estimate.half_width_95))
        };
        Group { name: group.into(), shares: report.summary.iter().map(share).collect() }
    };
    let categories = report.summary.iter().map(Summary::label).collect();
    let panel = shares::panel(categories, groups(report).into_iter().map(of).collect());
    let detail = headline.detail.split("; ").map(String::from).collect();
    let (title, panels) = (headline.title.as_str(), &[panel]);
    Figure { title, detail, panels, is_as_wide_as_bars: true, ..Figure::default() }.svg(Setting::Alone)
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
    fn bars_have_numbers_and_disciplines_names_until_there_are_too_many() {
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
