//! The record as a picture: packets per CPU second over the number of flows, for all simulators.

use crate::child::Failure;
use crate::report::Row;
use plotters::prelude::*;
use serde_json::Value;
use std::path::Path;

const SIMULATORS: [(&str, &str, RGBColor); 3] =
    [("fairwire", "fairwire", BLUE), ("ns-2", "ns-2 2.35", RED), ("ns-3", "ns-3", GREEN)];

pub(crate) fn draw(record: &Value, path: &Path) -> Result<(), Failure> {
    let root = SVGBackend::new(path, (900, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Bottleneck packets per CPU second, set-up included, over flows", ("sans-serif", 22))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(90)
        .build_cartesian_2d((8f64..1.3e6).log_scale(), (1e3f64..3e7).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("flows")
        .y_desc("packets per CPU second")
        .x_label_formatter(&|flows| whole(*flows))
        .y_label_formatter(&|speed| whole(*speed))
        .light_line_style(WHITE)
        .draw()?;
    for (simulator, name, colour) in SIMULATORS {
        let points = points(record, simulator)?;
        if points.is_empty() {
            continue;
        }
        let is_package = record["ns3"].as_str().is_none_or(|build| build.ends_with("package"));
        let label = match (simulator, is_package) {
            ("ns-3", false) => "ns-3, another build".into(),
            ("ns-3", true) => format!("{name}, the distribution's build"),
            _ => name.to_string(),
        };
        chart
            .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
            .label(label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        chart.draw_series(points.into_iter().map(|point| Circle::new(point, 4, colour.filled())))?;
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw()?;
    root.present()?;
    Ok(())
}

/// For each case, the number of flows and the speed.
fn points(record: &Value, simulator: &str) -> Result<Vec<(f64, f64)>, Failure> {
    let rows: Vec<Row> = if simulator == "fairwire" {
        let ladder = record.get("ladder").and_then(Value::as_array).cloned().unwrap_or_default();
        ladder.into_iter().take(6).map(serde_json::from_value).collect::<Result<_, _>>()?
    } else {
        let of_case = |case: &&str| record["compared"].get(*case)?.as_array().cloned();
        let all = ["nine", "thousand", "ten-thousand"].iter().filter_map(of_case).flatten();
        all.map(serde_json::from_value).collect::<Result<_, _>>()?
    };
    let of_it = rows.into_iter().filter(|row| row.simulator == simulator);
    Ok(of_it.map(|row| (f64::from(row.flows), row.packets_per_cpu_s.median)).collect())
}

/// `1 000 000`.
fn whole(number: f64) -> String {
    let digits = format!("{number:.0}");
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::new();
    groups.extend((first > 0).then(|| &digits[..first]));
    groups.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    groups.join(" ")
}
