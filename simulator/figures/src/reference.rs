//! Draws values that the paper names for a panel: a horizontal line, and a band for a claimed
//! range.

use crate::axis::can_show;
use crate::layout::Plot;
use crate::panel::{Kind, Panel, Reference};
use crate::style::escaped;

const GAP: f64 = 5.0;

pub(super) fn values(panel: &Panel) -> impl Iterator<Item = f64> {
    let ends = |one: &Reference| [one.y].into_iter().chain(one.band.into_iter().flatten());
    panel.reference.iter().flat_map(ends).filter(|y| can_show(&panel.y, *y))
}

/// The style of a reference's line, which must be visible on bars.
pub(super) fn stroke(kind: Kind) -> &'static str {
    if kind == Kind::Bars { "class=\"edge\" stroke-dasharray=\"7 4\"" } else { "class=\"fair\"" }
}

fn shown(panel: &Panel) -> impl Iterator<Item = &Reference> {
    panel.reference.iter().filter(|one| can_show(&panel.y, one.y))
}

/// Draws the band that the paper claims, behind the data.
pub(super) fn bands(out: &mut String, panel: &Panel, plot: &Plot) {
    let (left, wide) = (plot.bounds.left, plot.bounds.right - plot.bounds.left);
    for [low, high] in shown(panel).filter_map(|one| one.band) {
        let (top, floor) = (plot.y(high), plot.y(low));
        *out += &format!(
            "<rect class=\"claimed\" x=\"{left}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{:.1}\"/>",
            floor - top
        );
    }
}

/// Draws the horizontal lines, behind the panel's lines but in front of bars.
pub(super) fn lines(out: &mut String, panel: &Panel, plot: &Plot) {
    for one in shown(panel) {
        let (left, right, y) = (plot.bounds.left, plot.bounds.right, plot.y(one.y));
        *out += &format!("<path {} d=\"M{left} {y:.1}H{right:.1}\"/>\n", stroke(panel.kind));
    }
}

/// Draws the labels of the horizontal lines at their right ends. Bars would hide them, so panels
/// with bars use the legend.
pub(super) fn names(out: &mut String, panel: &Panel, plot: &Plot) {
    for one in shown(panel) {
        let (x, y) = (plot.bounds.right - GAP, (plot.y(one.y) - GAP).max(0.0));
        *out += &format!(
            "<text class=\"tick halo\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\n",
            escaped(&label(one))
        );
    }
}

pub(super) fn keys(panel: &Panel) -> impl Iterator<Item = String> {
    shown(panel).filter(|_| panel.kind == Kind::Bars).map(label)
}

fn label(one: &Reference) -> String {
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
    use super::*;
    use crate::samples::table1;
    use crate::{Figure, Setting};

    #[test]
    fn a_fair_share_is_a_named_line_and_a_claimed_band_is_shaded() {
        for kind in [Kind::Lines, Kind::Bars, Kind::Time, Kind::Scatter] {
            let mut panel = table1(kind);
            panel.reference =
                vec![Reference { y: 2.0, label: "fair <share>".into(), band: Some([1.7, 2.3]) }];
            let svg = Figure { panels: &[panel], ..Figure::default() }.svg(Setting::InPage);
            assert!(svg.contains("fair &lt;share&gt;, \u{b1} 15 %</text>"), "{kind:?}");
            let count = |class: &str| svg.matches(&format!("class=\"{class}\"")).count();
            let in_legend = usize::from(kind == Kind::Bars);
            assert_eq!((count("claimed"), svg.matches(stroke(kind)).count()), (1, 1 + in_legend));
            // The data end below 1, so a tick at 2.0 shows that the axis covers the band.
            assert!(svg.contains(">2.0</text>"), "{kind:?}: {svg}");
        }
    }

    #[test]
    fn without_a_band_only_the_name_is_drawn() {
        assert_eq!(label(&Reference { y: 286.0, label: "fair share".into(), band: None }), "fair share");
    }
}
