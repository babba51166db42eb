//! A snapshot as OpenMetrics text.
//!
//! Source: the OpenMetrics specification 1.0 (prometheus.io/docs/specs/om/open_metrics_spec). Where node_exporter has a word for
//! it (its qdisc collector), that one is used, with its labels `device` and `kind`, so that dashboards of queues fit; the rest is
//! `fairwire_*`. It is written by hand because no kept library has summaries.
//!
//! **There is never a label per flow**, and a label `class` only for classes of the configuration, of which there are at most
//! [`MOST_CLASSES`] here, and never for subscribers: their number is the operator's, and a time series for each is what breaks a
//! Prometheus. The socket tells of all.

use super::about::About;
use super::snapshot::{ClassSnapshot, Snapshot, WaySnapshot};
use crate::class_book::ClassKind;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};

/// What an answer says of its form.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The most classes that have a time series each.
pub const MOST_CLASSES: usize = 256;

type OfWay = fn(&WaySnapshot) -> u64;
type OfClass<T> = fn(&ClassSnapshot) -> T;

/// `snapshot`, which has all classes, as OpenMetrics.
pub fn text(snapshot: &Snapshot, about: &About) -> String {
    let mut page = Page(String::with_capacity(16 << 10));
    gateway(&mut page, snapshot);
    qdisc(&mut page, snapshot);
    queue(&mut page, snapshot);
    fairness(&mut page, snapshot);
    totals(&mut page, snapshot);
    classes(&mut page, snapshot, about);
    ports(&mut page, snapshot);
    page.0.push_str("# EOF\n");
    page.0
}

fn gateway(page: &mut Page, snapshot: &Snapshot) {
    let version = env!("CARGO_PKG_VERSION");
    page.family("fairwire_build", Kind::Info, "", "The version of fairwire.");
    page.sample("fairwire_build_info", &[("version", version)], 1);
    page.family("fairwire_gateway", Kind::Info, "", "The gateway's name.");
    page.sample("fairwire_gateway_info", &[("name", &snapshot.name)], 1);
    page.family("fairwire_uptime_seconds", Kind::Gauge, "seconds", "Time since it began to forward.");
    page.sample("fairwire_uptime_seconds", &[], snapshot.uptime_s);
    page.family("fairwire_reloads", Kind::Counter, "", "Configurations put in place since the start.");
    page.sample("fairwire_reloads_total", &[], snapshot.reloads);
    page.family("fairwire_captured_packets", Kind::Gauge, "packets", "Packets in the capture ring.");
    page.sample("fairwire_captured_packets", &[], snapshot.captured);
    page.family("fairwire_capture_missed", Kind::Counter, "", "Events that came while the ring was copied.");
    page.sample("fairwire_capture_missed_total", &[], snapshot.capture_missed);
}

/// The words of node_exporter. Its device is the interface that the queue stands before: a download leaves by the inside.
fn qdisc(page: &mut Page, snapshot: &Snapshot) {
    let dropped =
        |way: &WaySnapshot| way.totals.dropped.values().chain(way.totals.lost.values()).sum::<u64>();
    let counters: [(&str, &str, OfWay); 4] = [
        ("node_qdisc_bytes", "Bytes sent, as counted on the link.", |way| way.totals.bytes_out),
        ("node_qdisc_packets", "Packets sent.", |way| way.totals.packets_out),
        ("node_qdisc_drops", "Packets dropped or lost.", dropped),
        ("node_qdisc_overlimits", "Packets marked or dropped by the discipline.", |way| {
            way.totals.dropped.values().chain(way.totals.marked.values()).sum()
        }),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, "", help);
        for (way, device) in shaped(snapshot) {
            page.sample(
                &format!("{name}_total"),
                &[("device", device), ("kind", &way.discipline)],
                value(way),
            );
        }
    }
    let gauges: [(&str, &str, OfWay); 2] = [
        ("node_qdisc_current_queue_length", "Packets that wait.", |way| way.backlog_packets),
        ("node_qdisc_backlog", "Bytes that wait, as counted on the link.", |way| way.backlog_bytes),
    ];
    for (name, help, value) in gauges {
        page.family(name, Kind::Gauge, "", help);
        for (way, device) in shaped(snapshot) {
            page.sample(name, &[("device", device), ("kind", &way.discipline)], value(way));
        }
    }
}

/// The ways with a discipline, and the interface by which each leaves.
fn shaped(snapshot: &Snapshot) -> impl Iterator<Item = (&WaySnapshot, &str)> {
    let device = |at: usize| snapshot.ports.get(at).map_or("", |port| port.interface.as_str());
    snapshot
        .ways
        .iter()
        .enumerate()
        .filter(|(_, way)| !way.discipline.is_empty())
        .map(move |(at, way)| (way, device(at)))
}

fn queue(page: &mut Page, snapshot: &Snapshot) {
    let name = "fairwire_sojourn_seconds";
    page.family(name, Kind::Summary, "seconds", "How long packets waited that left during the last second.");
    for way in &snapshot.ways {
        let sojourn = &way.sojourn;
        for (quantile, value) in
            [("0.5", sojourn.p50_s), ("0.95", sojourn.p95_s), ("0.99", sojourn.p99_s), ("1.0", sojourn.max_s)]
        {
            page.sample(name, &[("way", &way.way), ("quantile", quantile)], value);
        }
    }
    page.each_way(snapshot, "fairwire_sojourn_mean_seconds", "seconds", "The mean of the same.", |way| {
        way.sojourn.mean_s
    });
    page.each_way(
        snapshot,
        "fairwire_rate_bits_per_second",
        "",
        "The rate of the link; 0 where nothing is shaped.",
        |way| way.rate_bps as f64,
    );
    page.each_way(
        snapshot,
        "fairwire_throughput_bits_per_second",
        "",
        "What left during the last second.",
        |way| way.throughput_bps,
    );
    page.each_way(
        snapshot,
        "fairwire_utilization_ratio",
        "ratio",
        "The part of the link in use during the last second.",
        |way| way.utilization,
    );
    page.each_way(
        snapshot,
        "fairwire_delayed_packets",
        "packets",
        "Packets on the delay line of a lab.",
        |way| way.delayed_packets as f64,
    );
    page.family(
        "fairwire_discipline_gauge",
        Kind::Gauge,
        "",
        "Gauges of the discipline, each with its unit after the last underscore.",
    );
    for way in &snapshot.ways {
        for (gauge, value) in &way.gauges {
            let labels = [("way", way.way.as_str()), ("kind", &way.discipline), ("gauge", gauge)];
            page.sample("fairwire_discipline_gauge", &labels, value);
        }
    }
}

fn fairness(page: &mut Page, snapshot: &Snapshot) {
    page.each_way(
        snapshot,
        "fairwire_jain_index",
        "",
        "Jain's index over the flows that wanted more than they got.",
        |way| way.jain,
    );
    page.each_way(
        snapshot,
        "fairwire_worst_share_error_points",
        "points",
        "The largest difference of a class between share and fair share, in percentage points.",
        |way| way.worst_share_error_points,
    );
    page.each_way(
        snapshot,
        "fairwire_active_flows",
        "flows",
        "Flows that sent during the last second.",
        |way| way.active_flows as f64,
    );
}

fn totals(page: &mut Page, snapshot: &Snapshot) {
    let counters: [(&str, &str, OfWay); 5] = [
        ("fairwire_received_packets", "Packets that came in, wire-size.", |way| way.totals.packets_in),
        ("fairwire_received_bytes", "Bytes that came in, as counted on the link.", |way| way.totals.bytes_in),
        ("fairwire_sent_packets", "Packets sent on.", |way| way.totals.packets_out),
        ("fairwire_unshaped_packets", "Packets that passed by the discipline.", |way| way.totals.unshaped),
        ("fairwire_washed_packets", "Packets that came in with a DSCP, which was cleared.", |way| {
            way.totals.washed
        }),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, "", help);
        for way in &snapshot.ways {
            page.sample(&format!("{name}_total"), &[("way", &way.way)], value(way));
        }
    }
    type By = fn(&WaySnapshot) -> &BTreeMap<String, u64>;
    let by_cause: [(&str, &str, By); 3] = [
        ("fairwire_dropped_packets", "Drops by the discipline, by cause.", |way| &way.totals.dropped),
        ("fairwire_marked_packets", "Marks by the discipline, by cause.", |way| &way.totals.marked),
        ("fairwire_lost_packets", "Losses of the gateway itself, by kind.", |way| &way.totals.lost),
    ];
    for (name, help, counts) in by_cause {
        page.family(name, Kind::Counter, "", help);
        for way in &snapshot.ways {
            for (cause, count) in counts(way) {
                page.sample(&format!("{name}_total"), &[("way", &way.way), ("cause", cause)], count);
            }
        }
    }
}

fn classes(page: &mut Page, snapshot: &Snapshot, about: &About) {
    let is_class = |class: &ClassSnapshot| {
        let number = about.book.number(&class.class);
        number.and_then(|number| about.book.class(number)).is_some_and(|class| class.kind == ClassKind::Class)
    };
    let mut told: Vec<(&str, &ClassSnapshot)> = Vec::new();
    for way in &snapshot.ways {
        told.extend(
            way.classes
                .iter()
                .filter(|class| is_class(class))
                .take(MOST_CLASSES)
                .map(|class| (way.way.as_str(), class)),
        );
    }
    let labels = |way, class: &ClassSnapshot| {
        [("way", way), ("class", class.class.as_str())]
            .map(|(name, value): (&'static str, &str)| (name, value.to_owned()))
    };
    let counters: [(&str, &str, OfClass<u64>); 2] = [
        (
            "fairwire_class_bytes",
            "Bytes of the class sent on, as counted on the link; of a class with members only what is its own.",
            |class| class.bytes_out,
        ),
        ("fairwire_class_dropped_packets", "Packets of the class dropped.", |class| class.dropped),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, "", help);
        for (way, class) in &told {
            let [way, name_of] = labels(way, class);
            page.sample(&format!("{name}_total"), &[(way.0, &way.1), (name_of.0, &name_of.1)], value(class));
        }
    }
    let gauges: [(&str, &str, OfClass<f64>); 4] = [
        ("fairwire_class_weight", "The weight among its siblings.", |class| class.weight),
        ("fairwire_class_offered_bits_per_second", "What it offered.", |class| class.offered_bps),
        ("fairwire_class_throughput_bits_per_second", "What it got.", |class| class.throughput_bps),
        ("fairwire_class_fair_bits_per_second", "What it ought to have got.", |class| class.fair_bps),
    ];
    for (name, help, value) in gauges {
        page.family(name, Kind::Gauge, "", help);
        for (way, class) in &told {
            let [way, name_of] = labels(way, class);
            page.sample(name, &[(way.0, &way.1), (name_of.0, &name_of.1)], value(class));
        }
    }
}

fn ports(page: &mut Page, snapshot: &Snapshot) {
    type Of = fn(&super::snapshot::PortSnapshot) -> u64;
    let counters: [(&str, &str, Of); 3] = [
        (
            "fairwire_port_overflows",
            "Frames that the kernel dropped because they were not fetched in time.",
            |port| port.overflows,
        ),
        ("fairwire_port_truncated", "Frames longer than could be taken in.", |port| port.truncated),
        ("fairwire_port_outages", "How often the interface went down.", |port| port.outages),
    ];
    for (name, help, value) in counters {
        page.family(name, Kind::Counter, "", help);
        for port in &snapshot.ports {
            page.sample(&format!("{name}_total"), &[("device", &port.interface)], value(port));
        }
    }
    page.family("fairwire_port_up", Kind::Gauge, "", "Is the interface up, as far as known?");
    for port in &snapshot.ports {
        page.sample("fairwire_port_up", &[("device", &port.interface)], u8::from(port.is_up));
    }
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Counter,
    Gauge,
    Info,
    Summary,
}

/// Text that grows by families and their samples.
struct Page(String);

impl Page {
    /// A family begins. Its name ends with its unit, where it has one.
    fn family(&mut self, name: &str, kind: Kind, unit: &str, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Info => "info",
            Kind::Summary => "summary",
        };
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {help}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (place, (label, value)) in labels.iter().enumerate() {
            self.0.push(if place == 0 { '{' } else { ',' });
            let _ = write!(self.0, "{label}=\"{}\"", escaped(value));
        }
        self.0.push_str(if labels.is_empty() { " " } else { "} " });
        let _ = writeln!(self.0, "{value}");
    }

    fn each_way(
        &mut self,
        snapshot: &Snapshot,
        name: &str,
        unit: &str,
        help: &str,
        value: fn(&WaySnapshot) -> f64,
    ) {
        self.family(name, Kind::Gauge, unit, help);
        for way in &snapshot.ways {
            self.sample(name, &[("way", &way.way)], value(way));
        }
    }
}

/// The value of a label: backslash, quote and line feed are escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
