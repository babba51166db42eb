//! Formats metric families and their samples as text.

use super::{Format, OfHistogram};
use fairwire_control::snapshot::{Snapshot, WaySnapshot};
use std::fmt::{Display, Write as _};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
    Info,
}

/// Units that may end a family's name. If one unit ends with another, the longer is first.
const UNITS: [&str; 8] =
    ["bytes_per_second", "seconds", "bytes", "packets", "flows", "tokens", "ratio", "index"];

pub(super) struct Page {
    pub text: String,
    pub format: Format,
}

impl Page {
    /// Writes the head of a family. If the family has a unit, `name` must end with the unit.
    pub(super) fn family(&mut self, name: &str, kind: MetricKind, help: &str) {
        // In OpenMetrics, HELP and TYPE name the family. In the text format, they name the samples,
        // and the type `info` does not exist.
        let (kind, suffix) = match (kind, self.format) {
            (MetricKind::Counter, Format::Text) => ("counter", "_total"),
            (MetricKind::Counter, Format::OpenMetrics) => ("counter", ""),
            (MetricKind::Info, Format::Text) => ("gauge", "_info"),
            (MetricKind::Info, Format::OpenMetrics) => ("info", ""),
            (MetricKind::Gauge, _) => ("gauge", ""),
            (MetricKind::Histogram, _) => ("histogram", ""),
        };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.text, "# HELP {name}{suffix} {help}");
        let _ = writeln!(self.text, "# TYPE {name}{suffix} {kind}");
        let unit =
            UNITS.iter().find(|unit| name.strip_suffix(**unit).is_some_and(|rest| rest.ends_with('_')));
        if let Some(unit) = unit.filter(|_| self.format == Format::OpenMetrics) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
    }

    pub(super) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.text.push_str(name);
        for (place, (label, value)) in labels.iter().enumerate() {
            self.text.push(if place == 0 { '{' } else { ',' });
            let _ = write!(self.text, "{label}=\"{}\"", escaped(value));
        }
        self.text.push_str(if labels.is_empty() { " " } else { "} " });
        let _ = writeln!(self.text, "{value}");
    }

    pub(super) fn each<T: Display>(&mut self, kind: MetricKind, all: &[(&str, &str, T)]) {
        let suffix = if kind == MetricKind::Counter { "_total" } else { "" };
        for (name, help, value) in all {
            self.family(name, kind, help);
            self.sample(&format!("{name}{suffix}"), &[], value);
        }
    }

    pub(super) fn info(&mut self, name: &str, help: &str, label: [(&str, &str); 1]) {
        self.family(name, MetricKind::Info, help);
        self.sample(&format!("{name}_info"), &label, 1);
    }

    pub(super) fn histograms(&mut self, snapshot: &Snapshot, name: &str, help: &str, of: OfHistogram) {
        self.family(name, MetricKind::Histogram, help);
        for way in &snapshot.ways {
            let waits = of(way);
            let bounds = waits.bounds_s.iter().map(|bound| format!("{bound:?}")).chain(["+Inf".to_owned()]);
            let mut below = 0;
            for (bound, count) in bounds.zip(&waits.counts) {
                below += count;
                self.sample(&format!("{name}_bucket"), &[("way", &way.way), ("le", &bound)], below);
            }
            self.sample(&format!("{name}_sum"), &[("way", &way.way)], waits.sum_s);
            self.sample(&format!("{name}_count"), &[("way", &way.way)], below);
        }
    }

    pub(super) fn each_way(
        &mut self,
        snapshot: &Snapshot,
        name: &str,
        help: &str,
        value: fn(&WaySnapshot) -> f64,
    ) {
        self.family(name, MetricKind::Gauge, help);
        for way in &snapshot.ways {
            self.sample(name, &[("way", &way.way)], value(way));
        }
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
