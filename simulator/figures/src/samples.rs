//! Panels for tests.

use crate::panel::{Axis, Kind, Line, Mark, Panel, Scale};

/// An axis.
pub fn axis(label: &str, scale: Scale, range: Option<[f64; 2]>) -> Axis {
    Axis { label: label.into(), scale, range }
}

/// A panel of `kind` with linear axes and no categories.
pub fn panel(kind: Kind, lines: Vec<Line>) -> Panel {
    let (x, y) = (axis("buffer, packets", Scale::Linear, None), axis("share", Scale::Linear, None));
    Panel { kind, x, y, lines, ..Panel::default() }
}

/// A line without published numbers.
pub fn line(label: &str, colour: usize, points: &[(f64, f64)]) -> Line {
    Line { label: label.into(), colour, marks: marks(points), ..Line::default() }
}

/// Marks with a small interval.
pub fn marks(points: &[(f64, f64)]) -> Vec<Mark> {
    points
        .iter()
        .map(|(x, y)| Mark { x: *x, y: *y, y_half_width: Some(0.02 * y.abs()), ..Mark::default() })
        .collect()
}

/// The paper's marks, without intervals.
pub fn published(points: &[(f64, f64)]) -> Vec<Mark> {
    points.iter().map(|(x, y)| Mark { x: *x, y: *y, ..Mark::default() }).collect()
}

/// FABA's Table 1 as a panel of `kind`. The published numbers are the paper's; ours are 0.01 less.
pub fn table1(kind: Kind) -> Panel {
    const SIZES: [(f64, &str); 5] =
        [(78.0, "P/10"), (156.0, "P/5"), (390.0, "P/2"), (780.0, "P"), (1560.0, "2P")];
    const PRINTED: [(&str, [f64; 5]); 5] = [
        ("RED", [0.551, 0.564, 0.559, 0.557, 0.556]),
        ("CHOKe", [0.622, 0.631, 0.659, 0.685, 0.688]),
        ("FRED", [0.814, 0.873, 0.945, 0.961, 0.962]),
        ("SFED", [0.923, 0.975, 0.982, 0.990, 0.994]),
        ("FABA", [0.888, 0.953, 0.975, 0.987, 0.993]),
    ];
    let has_words = matches!(kind, Kind::Bars | Kind::Table | Kind::Grid);
    let x = |at: usize| if has_words { at as f64 } else { SIZES[at].0 };
    let lines = PRINTED.iter().enumerate().map(|(colour, (label, values))| {
        let printed: Vec<(f64, f64)> = values.iter().enumerate().map(|(at, value)| (x(at), *value)).collect();
        let ours: Vec<(f64, f64)> = printed.iter().map(|(x, y)| (*x, y - 0.01)).collect();
        Line { published: published(&printed), ..line(label, colour, &ours) }
    });
    let mut panel = panel(kind, lines.collect());
    panel.x = axis("buffer, packets", Scale::Log, None);
    panel.y = axis("throughput of the TCP flows over their fair share", Scale::Linear, None);
    if has_words {
        panel.categories = SIZES.map(|(_, name)| name.to_string()).to_vec();
    }
    panel
}
