//! Plots nanoseconds per packet against the number of flows, with a panel for each family.

use crate::report::{Row, find, folder};
use fairwire_catalogue::{self as catalogue, Family};
use plotters::prelude::*;
use plotters::style::full_palette::{BROWN, GREY, INDIGO, ORANGE, PINK, TEAL};

type Fault = Box<dyn std::error::Error>;

const FAMILIES: [Family; 6] = [
    Family::Baseline,
    Family::ActiveQueueManagement,
    Family::FairDropping,
    Family::PushOut,
    Family::FairQueueing,
    Family::Composition,
];
const COLOURS: [RGBColor; 10] = [RED, BLUE, GREEN, MAGENTA, ORANGE, TEAL, BROWN, INDIGO, PINK, GREY];

/// Writes proof/bench/results/disciplines.svg.
pub(crate) fn record(rows: &[Row]) {
    let path = folder().join("disciplines.svg");
    draw(rows, &path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
}

fn draw(rows: &[Row], path: &std::path::Path) -> Result<(), Fault> {
    let root = SVGBackend::new(path, (1200, 1260)).into_drawing_area();
    root.fill(&WHITE)?;
    let root = root.titled("Cost per offered packet, nanoseconds, over active flows", ("sans-serif", 24))?;
    for (panel, family) in root.split_evenly((3, 2)).iter().zip(FAMILIES) {
        draw_family(rows, panel, family)?;
    }
    root.present()?;
    Ok(())
}

fn draw_family(
    rows: &[Row],
    panel: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    family: Family,
) -> Result<(), Fault> {
    let mut chart = ChartBuilder::on(panel)
        .caption(family.to_string(), ("sans-serif", 18))
        .margin(8)
        .x_label_area_size(32)
        .y_label_area_size(60)
        .build_cartesian_2d((8f64..60e6).log_scale(), (5f64..2000.0).log_scale())?;
    let whole = |number: &f64| format!("{number:.0}");
    chart
        .configure_mesh()
        .x_desc("flows")
        .y_desc("ns")
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .max_light_lines(0)
        .draw()?;
    let entries = catalogue::all().iter().filter(|entry| entry.about.family == family);
    for (at, entry) in entries.enumerate() {
        let cost = |flows: u32| Some((f64::from(flows), find(rows, entry.name, flows)?.ns));
        let points: Vec<_> = crate::FLOWS.into_iter().filter_map(cost).collect();
        if points.is_empty() {
            continue;
        }
        let colour = COLOURS[at % COLOURS.len()];
        let style = colour.stroke_width(if at < COLOURS.len() { 2 } else { 1 });
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(entry.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::MiddleRight)
        .label_font(("sans-serif", 12))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}
