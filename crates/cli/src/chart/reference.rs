//! What the paper names for all of a panel: a line across, and where it claims one a shaded band.

use super::axis::can_show;
use super::place::Plot;
use super::style::{escaped, put};
use fairwire_study::record::{Kind, Panel, Reference};

/// From the line to its name.
const GAP: f64 = 5.0;

/// The values of `panel`'s references that have to be on its axis.
pub(super) fn values(panel: &Panel) -> impl Iterator<Item = f64> {
    let ends = |one: &Reference| [one.y].into_iter().chain(one.band.into_iter().flatten());
    panel.reference.iter().flat_map(ends).filter(|y| can_show(&panel.y, *y))
}

/// Below the data, with its name at the right end.
pub(super) fn draw(out: &mut String, panel: &Panel, plot: &Plot) {
    let (left, right) = (plot.place.left, plot.place.right);
    for one in panel.reference.iter().filter(|one| can_show(&panel.y, one.y)) {
        if let Some([low, high]) = one.band {
            let (top, floor) = (plot.y(high), plot.y(low));
            put(
                out,
                format_args!(
                    "<rect class=\"claimed\" x=\"{left}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                    right - left,
                    floor - top
                ),
            );
        }
        let y = plot.y(one.y);
        put(out, format_args!("<path class=\"fair\" d=\"M{left} {y:.1}H{right:.1}\"/>\n"));
    }
}

/// The names of the lines, above the data: at the right end, or where bars would hide them in the upper left corner.
pub(super) fn names(out: &mut String, panel: &Panel, plot: &Plot) {
    for (at, one) in panel.reference.iter().filter(|one| can_show(&panel.y, one.y)).enumerate() {
        let (x, y, anchor, sign) = match panel.kind {
            Kind::Bars => (
                plot.place.left + GAP,
                plot.place.ceiling + 11.0 + 16.0 * at as f64,
                "start",
                "\u{2013} \u{2013} ",
            ),
            _ => (plot.place.right - GAP, (plot.y(one.y) - GAP).max(0.0), "end", ""),
        };
        put(
            out,
            format_args!(
                "<text class=\"tick halo\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{sign}{}</text>\n",
                escaped(&told(one))
            ),
        );
    }
}

/// `fair share, ± 15 %`.
fn told(one: &Reference) -> String {
    match one.band {
        Some([low, high]) if one.y != 0.0 => {
            let percent = 50.0 * (high - low) / one.y.abs();
            format!("{}, \u{b1} {} %", one.label, (percent * 10.0).round() / 10.0)
        }
        _ => one.label.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::table1;
    use super::super::{Chart, Setting};
    use super::*;

    #[test]
    fn a_fair_share_is_a_line_with_its_name_and_a_claimed_band_is_shaded() {
        for kind in [Kind::Lines, Kind::Bars, Kind::Time, Kind::Scatter] {
            let mut panel = table1(kind);
            panel.reference =
                vec![Reference { y: 2.0, label: "fair <share>".into(), band: Some([1.7, 2.3]) }];
            let svg = Chart { title: "t", detail: Vec::new(), panels: &[panel] }.svg(Setting::InPage);
            assert!(svg.contains("fair &lt;share&gt;, \u{b1} 15 %</text>"), "{kind:?}");
            let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
            assert_eq!((count("claimed"), count("fair")), (1, 1));
            // The data end below 1: the axis goes as far as the band.
            assert!(svg.contains(">2.0</text>"), "{kind:?}: {svg}");
        }
    }

    #[test]
    fn without_a_band_the_name_stands_alone() {
        assert_eq!(told(&Reference { y: 286.0, label: "fair share".into(), band: None }), "fair share");
    }
}
