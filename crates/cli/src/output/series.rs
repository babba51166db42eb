//! Time series: a row for each time, object and measure.

use super::file::Scratch;
use fairwire_core::{Probe, Time, Unit};
use fairwire_scenario::{View, Which};
use std::io::{self, Write};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Csv,
    Ndjson,
}

/// The columns.
pub const HEAD: &str = "discipline,seed,time_s,kind,name,measure,unit,value\n";

/// Writes the rows of one run.
#[derive(Debug)]
pub struct Series {
    out: Scratch,
    form: Form,
    has_flows: bool,
    discipline: String,
    seed: u64,
    interval_s: f64,
    failed: Option<io::Error>,
}

/// Of what a row is.
#[derive(Clone, Copy)]
struct Object<'a> {
    at: Time,
    kind: &'a str,
    name: &'a str,
}

impl Series {
    /// Rows for links, groups and aggregates, and for flows where `has_flows`.
    pub fn new(out: Scratch, form: Form, has_flows: bool, which: Which<'_>, interval_s: f64) -> Self {
        let discipline = which.discipline.to_string();
        Series { out, form, has_flows, discipline, seed: which.seed, interval_s, failed: None }
    }

    /// What was written, or why it could not be.
    pub fn finish(self) -> io::Result<Scratch> {
        self.failed.map_or(Ok(self.out), Err)
    }

    /// The rows of a sample.
    pub fn sample(&mut self, view: &View<'_>) {
        let at = view.now();
        for link in view.links() {
            let of = Object { at, kind: "link", name: link.name };
            self.row(of, "backlog", "packets", f64::from(link.backlog.packets));
            self.row(of, "backlog", "B", link.backlog.bytes as f64);
            self.row(of, "drops", "packets", link.dropped as f64);
            self.row(of, "marks", "packets", link.marked as f64);
            link.discipline.inspect(&mut Gauges { series: self, of, parts: Vec::new() });
        }
        self.groups(view);
        self.aggregates(view);
        if self.has_flows {
            self.flows(view);
        }
    }

    fn groups(&mut self, view: &View<'_>) {
        let at = view.now();
        let mut groups: Vec<(&str, [u64; 3])> = Vec::new();
        for flow in view.flows() {
            let add = [flow.delivered_bytes, flow.dropped, flow.marked];
            match groups.last_mut() {
                Some((name, sums)) if *name == flow.group => (0..3).for_each(|i| sums[i] += add[i]),
                _ => groups.push((flow.group, add)), // the flows of a group stand together
            }
        }
        for (name, sums) in groups {
            self.counts(Object { at, kind: "group", name }, sums);
        }
    }

    fn aggregates(&mut self, view: &View<'_>) {
        for aggregate in view.aggregates() {
            let mut sums = [0; 3];
            for flow in view.flows().filter(|flow| aggregate.groups.contains(&flow.group)) {
                let add = [flow.delivered_bytes, flow.dropped, flow.marked];
                (0..3).for_each(|i| sums[i] += add[i]);
            }
            let of = Object { at: view.now(), kind: "aggregate", name: aggregate.name };
            self.counts(of, sums);
            if let Some(target_bps) = aggregate.target_bps {
                self.row(of, "target", "bit/s", target_bps);
            }
            if let Some(estimate) = aggregate.mark_estimate {
                self.row(of, "mark estimate", "1", estimate);
            }
            aggregate.marker.inspect(&mut Gauges { series: self, of, parts: Vec::new() });
        }
    }

    fn flows(&mut self, view: &View<'_>) {
        for flow in view.flows() {
            let name = format!("{}.{}", flow.group, flow.number);
            let of = Object { at: view.now(), kind: "flow", name: &name };
            self.counts(of, [flow.delivered_bytes, flow.dropped, flow.marked]);
            let Some(window) = flow.window else { continue };
            self.row(of, "cwnd", "segments", window.cwnd);
            self.row(of, "ssthresh", "segments", window.ssthresh);
            if let Some(srtt) = window.srtt {
                self.row(of, "srtt", "s", srtt.secs());
            }
        }
    }

    fn counts(&mut self, of: Object<'_>, [delivered, dropped, marked]: [u64; 3]) {
        self.row(of, "throughput", "bit/s", delivered as f64 * 8.0 / self.interval_s);
        self.row(of, "drops", "packets", dropped as f64);
        self.row(of, "marks", "packets", marked as f64);
    }

    /// One row. What is no number is left out: no format can hold it.
    fn row(&mut self, of: Object<'_>, measure: &str, unit: &str, value: f64) {
        if self.failed.is_some() || !value.is_finite() {
            return;
        }
        let Series { out, discipline, seed, .. } = self;
        let Object { at, kind, name } = of;
        let time = seconds(at);
        let written = match self.form {
            Form::Csv => writeln!(out, "{discipline},{seed},{time},{kind},{name},{measure},{unit},{value}"),
            Form::Ndjson => writeln!(
                out,
                "{{\"discipline\":{},\"seed\":{seed},\"time_s\":{time},\"kind\":\"{kind}\",\"name\":{},\"measure\":{},\"unit\":\"{unit}\",\"value\":{value}}}",
                quoted(discipline),
                quoted(name),
                quoted(measure)
            ),
        };
        self.failed = written.err();
    }
}

/// A string in JSON.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Seconds in decimal, exact to the nanosecond.
pub fn seconds(at: Time) -> String {
    format!("{}.{:09}", at.ns() / 1_000_000_000, at.ns() % 1_000_000_000)
}

/// Writes the gauges of a discipline, those of a part under its name: `class 7/tokens`.
struct Gauges<'a, 'b> {
    series: &'a mut Series,
    of: Object<'b>,
    parts: Vec<String>,
}

impl Probe for Gauges<'_, '_> {
    fn gauge(&mut self, name: &'static str, unit: Unit, value: f64) {
        let mut measure = String::from("gauge ");
        self.parts
            .iter()
            .for_each(|part| measure += &format!("{}/", part.replace([',', '"', '\n', '\r'], " ")));
        self.series.row(self.of, &(measure + name), unit.symbol(), value);
    }
    fn enter(&mut self, part: &str) {
        self.parts.push(part.into());
    }
    fn leave(&mut self) {
        self.parts.pop();
    }
}
