//! A snapshot as a page for Prometheus: as text, version 0.0.4, or as OpenMetrics 1.0.
//!
//! Sources: prometheus.io/docs/instrumenting/exposition_formats, and the OpenMetrics specification
//! (prometheus.io/docs/specs/om/open_metrics_spec).
//!
//! Metrics of node_exporter's qdisc collector keep their names and their labels `device` and
//! `kind`, so existing queue dashboards fit. The formats are hand-written because no maintained
//! library writes both.
//!
//! **There is never a label per flow**, since thousands of time series overload Prometheus. The
//! label `class` exists only for classes of the configuration, never for subscribers. Metrics
//! `fairwire_class_*` cover at most [`MAX_CLASSES`] classes per direction.

mod page;

use super::about::About;
use fairwire_control::snapshot::{
    ClassSnapshot, EdgeClassSnapshot, EdgeSnapshot, ProcessSnapshot, Snapshot, SojournHistogram, WaySnapshot,
};
use fairwire_datapath::class_book::ClassKind;
use page::{MetricKind, Page};
use std::collections::BTreeMap;

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text format, version 0.0.4.
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Format {
    /// The content type of the response.
    pub fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// The format for these `Accept` headers (RFC 9110, section 12.5.1). It is OpenMetrics if the
    /// client names it and does not prefer text.
    pub fn accepted<'a>(headers: impl Iterator<Item = &'a str>) -> Self {
        let (mut text, mut open_metrics) = (0.0_f64, 0.0_f64);
        for range in headers.flat_map(|header| header.split(',')) {
            match wanted(range) {
                Some(("application/openmetrics-text", None | Some("1.0.0"), q)) => {
                    open_metrics = open_metrics.max(q)
                }
                Some(("text/plain", None | Some("0.0.4"), q)) => text = text.max(q),
                _ => {}
            }
        }
        if open_metrics > 0.0 && open_metrics >= text { Format::OpenMetrics } else { Format::Text }
    }
}

/// Type, version and quality of one range in an `Accept` header; `None` if it cannot be parsed.
fn wanted(range: &str) -> Option<(&str, Option<&str>, f64)> {
    let mut parts = range.split(';').map(str::trim);
    let kind = parts.next()?;
    let (mut version, mut quality) = (None, 1.0);
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name.trim() {
            "version" => version = Some(value.trim().trim_matches('"')),
            "q" => quality = value.trim().parse().ok().filter(|q| (0.0..=1.0).contains(q))?,
            _ => {}
        }
    }
    Some((kind, version, quality))
}

/// The most classes that have time series.
pub const MAX_CLASSES: usize = 256;

type OfWay = fn(&WaySnapshot) -> u64;
type OfHistogram = fn(&WaySnapshot) -> &SojournHistogram;
type OfClass<T> = fn(&ClassSnapshot) -> T;

/// Formats `snapshot`, which contains all classes, as a page.
pub fn text(snapshot: &Snapshot, about: &About, format: Format) -> String {
    let mut page = Page { text: String::with_capacity(32 << 10), format };
    gateway(&mut page, snapshot);
    if let Some(its) = &snapshot.process {
        process(&mut page, its);
    }
    qdisc(&mut page, snapshot);
    queue(&mut page, snapshot);
    fairness(&mut page, snapshot);
    totals(&mut page, snapshot);
    classes(&mut page, snapshot, about);
    ports(&mut page, snapshot);
    if let Some(its) = &snapshot.edge {
        edge(&mut page, its);
    }
    if format == Format::OpenMetrics {
        page.text.push_str("# EOF\n");
    }
    page.text
}

fn gateway(page: &mut Page, snapshot: &Snapshot) {
    let version = env!("CARGO_PKG_VERSION");
    page.info("fairwire_build", "The version of fairwire.", [("version", version)]);
    page.info("fairwire_gateway", "The gateway's name.", [("name", &snapshot.name)]);
    let gauges = [("fairwire_uptime_seconds", "Time since it began to forward.", snapshot.uptime_s)];
    page.each(MetricKind::Gauge, &gauges);
    let counters = [
        ("fairwire_reloads", "Configurations put in place since the start.", snapshot.reloads),
        ("fairwire_capture_missed", "Events that came while the ring was copied.", snapshot.capture_missed),
    ];
    page.each(MetricKind::Counter, &counters);
    page.each(
        MetricKind::Gauge,
        &[("fairwire_captured_packets", "Packets in the capture ring.", snapshot.captured)],
    );
    page.family("fairwire_changes", MetricKind::Counter, "What happened since the start, by kind.");
    for (kind, count) in &snapshot.changes {
        page.sample("fairwire_changes_total", &[("kind", kind)], count);
    }
}

fn process(page: &mut Page, its: &ProcessSnapshot) {
    let counters = [
        ("process_cpu_seconds", "Processor time of the gateway's process.", its.cpu_s),
        (
            "fairwire_forwarding_cpu_seconds",
            "Of this, processor time of the threads that forward.",
            its.forwarding_cpu_s,
        ),
    ];
    page.each(MetricKind::Counter, &counters);
    page.each(
        MetricKind::Gauge,
        &[("process_start_time_seconds", "Start of the process, since 1970.", its.started_s)],
    );
    let gauges = [
        ("process_resident_memory_bytes", "Memory in use.", its.resident_bytes),
        ("process_virtual_memory_bytes", "Memory allocated, in use or not.", its.virtual_bytes),
        ("process_threads", "Threads.", its.threads),
    ];
    page.each(MetricKind::Gauge, &gauges);
}

/// Writes metrics under node_exporter's names. The label `device` is the interface through which
/// packets leave: for a download, the inside.
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
        page.family(name, MetricKind::Counter, help);
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
        page.family(name, MetricKind::Gauge, help);
        for (way, device) in shaped(snapshot) {
            page.sample(name, &[("device", device), ("kind", &way.discipline)], value(way));
        }
    }
}

fn shaped(snapshot: &Snapshot) -> impl Iterator<Item = (&WaySnapshot, &str)> {
    let device = |at: usize| snapshot.ports.get(at).map_or("", |port| port.interface.as_str());
    snapshot
        .ways
        .iter()
        .enumerate()
        .filter(|(_, way)| !way.discipline.is_empty())
        .map(move |(at, way)| (way, device(at)))
}

type ValueOfWay = fn(&WaySnapshot) -> f64;

fn queue(page: &mut Page, snapshot: &Snapshot) {
    sojourns(page, snapshot);
    let gauges: [(&str, &str, ValueOfWay); 5] = [
        ("fairwire_sojourn_max_seconds", "Longest wait in the queue during the last second.", |way| {
            way.sojourn.max_s
        }),
        ("fairwire_rate_bytes_per_second", "Rate of the link; 0 if it is not shaped.", |way| {
            way.rate_bps as f64 / 8.0
        }),
        (
            "fairwire_throughput_bytes_per_second",
            "Throughput during the last second, as counted on the link.",
            |way| way.throughput_bps / 8.0,
        ),
        ("fairwire_utilization_ratio", "Part of the link in use during the last second.", |way| {
            way.utilization
        }),
        (
            "fairwire_bypass_bytes_per_second",
            "Bytes that cross the interfaces and not the gateway; 0 below a twentieth of the rate.",
            |way| way.bypass_bps / 8.0,
        ),
    ];
    for (name, help, value) in gauges {
        page.each_way(snapshot, name, help, value);
    }
    discipline(page, snapshot);
}

fn sojourns(page: &mut Page, snapshot: &Snapshot) {
    page.histograms(
        snapshot,
        "fairwire_sojourn_seconds",
        "Waits in the queue of the packets that left since the start.",
        |way| &way.sojourn_histogram,
    );
    page.histograms(
        snapshot,
        "fairwire_round_trip_seconds",
        "Round trips of TCP and QUIC beyond the port by which the way leaves, since the start.",
        |way| &way.round_trip_histogram,
    );
}
fn discipline(page: &mut Page, snapshot: &Snapshot) {
    type Unit = (&'static str, &'static str, f64);
    // The suffix of a gauge's name, the suffix of its family's name, and the conversion factor.
    const UNITS: [Unit; 7] = [
        ("1", "value", 1.0),
        ("packets", "packets", 1.0),
        ("bytes", "bytes", 1.0),
        ("flows", "flows", 1.0),
        ("tokens", "tokens", 1.0),
        ("s", "seconds", 1.0),
        ("bps", "bytes_per_second", 1.0 / 8.0),
    ];
    for (suffix, unit, size) in UNITS {
        let name = format!("fairwire_discipline_{unit}");
        page.family(&name, MetricKind::Gauge, "Gauges of the discipline in this unit.");
        for way in &snapshot.ways {
            for (gauge, value) in
                way.gauges.iter().filter(|(gauge, _)| gauge.rsplit('_').next() == Some(suffix))
            {
                let gauge =
                    gauge.strip_suffix(suffix).and_then(|name| name.strip_suffix('_')).unwrap_or(gauge);
                let labels = [("way", way.way.as_str()), ("kind", &way.discipline), ("gauge", gauge)];
                page.sample(&name, &labels, value * size);
            }
        }
    }
}

fn fairness(page: &mut Page, snapshot: &Snapshot) {
    let gauges: [(&str, &str, ValueOfWay); 5] = [
        ("fairwire_jain_index", "Jain's index over the flows that wanted more than they got.", |way| {
            way.jain
        }),
        (
            "fairwire_worst_share_error_ratio",
            "Largest difference of a class between its share of the link and its fair share.",
            |way| way.worst_share_error_points / 100.0,
        ),
        ("fairwire_active_flows", "Flows that sent during the last second.", |way| way.active_flows as f64),
        (
            "fairwire_classes_at_ceiling",
            "Classes that got at least 98 % of their ceilings during the last second.",
            |way| way.classes_at_ceiling as f64,
        ),
        (
            "fairwire_subscribers_at_ceiling",
            "Subscribers that got at least 98 % of their ceilings during the last second.",
            |way| way.subscribers_at_ceiling as f64,
        ),
    ];
    for (name, help, value) in gauges {
        page.each_way(snapshot, name, help, value);
    }
}

fn totals(page: &mut Page, snapshot: &Snapshot) {
    let counters: [(&str, &str, OfWay); 7] = [
        ("fairwire_tcp_segments", "TCP segments with payload, SYN or FIN that came.", |way| way.tcp_segments),
        ("fairwire_retransmitted_segments", "Of these, segments that were sent again.", |way| {
            way.retransmitted
        }),
        ("fairwire_received_packets", "Packets that came in, wire-size.", |way| way.totals.packets_in),
        ("fairwire_received_bytes", "Bytes that came in, as counted on the link.", |way| way.totals.bytes_in),
        ("fairwire_sent_packets", "Packets sent on.", |way| way.totals.packets_out),
        ("fairwire_unshaped_packets", "Packets that bypassed the discipline.", |way| way.totals.unshaped),
        ("fairwire_washed_packets", "Packets that came in with a DSCP, which was cleared.", |way| {
            way.totals.washed
        }),
    ];
    for (name, help, value) in counters {
        page.family(name, MetricKind::Counter, help);
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
        page.family(name, MetricKind::Counter, help);
        for way in &snapshot.ways {
            for (cause, count) in counts(way) {
                page.sample(&format!("{name}_total"), &[("way", &way.way), ("cause", cause)], count);
            }
        }
    }
}

fn edge(page: &mut Page, edge: &EdgeSnapshot) {
    type Of = fn(&EdgeClassSnapshot) -> Option<f64>;
    let gauges: [(&str, &str, Of); 2] = [
        (
            "fairwire_edge_target_bytes_per_second",
            "Rate up to which packets of a class are in profile where they enter the domain.",
            |class| class.target_bps.map(|bps| bps / 8.0),
        ),
        (
            "fairwire_edge_marked_ratio",
            "Estimated part of the packets in profile that are marked where they leave the domain.",
            |class| class.estimate,
        ),
    ];
    for (name, help, value) in gauges {
        page.family(name, MetricKind::Gauge, help);
        for class in &edge.classes {
            if let Some(value) = value(class) {
                page.sample(name, &[("class", class.class.as_str())], value);
            }
        }
    }
    let counters = [
        ("fairwire_edge_reports_sent", "Reports sent to the far edge.", edge.reports_sent),
        ("fairwire_edge_reports_unsent", "Reports that could not be sent.", edge.reports_unsent),
        ("fairwire_edge_reports_received", "Reports of the far edge that were taken.", edge.reports_received),
    ];
    page.each(MetricKind::Counter, &counters);
    let name = "fairwire_edge_reports_refused";
    page.family(name, MetricKind::Counter, "Datagrams that were refused as reports, by reason.");
    for (reason, count) in &edge.reports_refused {
        page.sample(&format!("{name}_total"), &[("reason", reason.as_str())], count);
    }
}

fn classes(page: &mut Page, snapshot: &Snapshot, about: &About) {
    let is_class = |class: &ClassSnapshot| {
        let number = about.book.number(&class.class);
        number.and_then(|number| about.book.class(number)).is_some_and(|class| class.kind == ClassKind::Class)
    };
    let mut shown: Vec<(&str, &ClassSnapshot)> = Vec::new();
    for way in &snapshot.ways {
        shown.extend(
            way.classes
                .iter()
                .filter(|class| is_class(class))
                .take(MAX_CLASSES)
                .map(|class| (way.way.as_str(), class)),
        );
    }
    let labels = |way, class: &ClassSnapshot| {
        [("way", way), ("class", class.class.as_str())]
            .map(|(name, value): (&'static str, &str)| (name, value.to_owned()))
    };
    let counters: [(&str, &str, OfClass<u64>); 4] = [
        ("fairwire_class_round_trips", "Round trips of the class that were measured.", |class| {
            class.round_trips
        }),
        ("fairwire_class_retransmitted_segments", "TCP segments of the class sent again.", |class| {
            class.retransmitted
        }),
        (
            "fairwire_class_bytes",
            "Bytes of the class sent on, as counted on the link, without those of classes below it.",
            |class| class.bytes_out,
        ),
        ("fairwire_class_dropped_packets", "Packets of the class dropped.", |class| class.dropped),
    ];
    for (name, help, value) in counters {
        page.family(name, MetricKind::Counter, help);
        for (way, class) in &shown {
            let [way, name_of] = labels(way, class);
            page.sample(&format!("{name}_total"), &[(way.0, &way.1), (name_of.0, &name_of.1)], value(class));
        }
    }
    let gauges: [(&str, &str, OfClass<f64>); 5] = [
        ("fairwire_class_round_trip_seconds", "Smoothed round trip of the class; 0 before one.", |class| {
            class.round_trip_s
        }),
        ("fairwire_class_weight", "Weight of the class among its siblings.", |class| class.weight),
        ("fairwire_class_offered_bytes_per_second", "Offered rate of the class.", |class| {
            class.offered_bps / 8.0
        }),
        ("fairwire_class_throughput_bytes_per_second", "Throughput of the class.", |class| {
            class.throughput_bps / 8.0
        }),
        ("fairwire_class_fair_bytes_per_second", "Max-min fair rate of the class.", |class| {
            class.fair_bps / 8.0
        }),
    ];
    for (name, help, value) in gauges {
        page.family(name, MetricKind::Gauge, help);
        for (way, class) in &shown {
            let [way, name_of] = labels(way, class);
            page.sample(name, &[(way.0, &way.1), (name_of.0, &name_of.1)], value(class));
        }
    }
}

fn ports(page: &mut Page, snapshot: &Snapshot) {
    type Of = fn(&fairwire_control::snapshot::PortSnapshot) -> u64;
    let counters: [(&str, &str, Of); 3] = [
        (
            "fairwire_port_overflows",
            "Frames that the kernel dropped because they were not fetched in time.",
            |port| port.overflows,
        ),
        ("fairwire_port_truncated", "Frames longer than could be taken in.", |port| port.truncated),
        ("fairwire_port_outages", "Number of times that the interface went down.", |port| port.outages),
    ];
    for (name, help, value) in counters {
        page.family(name, MetricKind::Counter, help);
        for port in &snapshot.ports {
            page.sample(&format!("{name}_total"), &[("device", &port.interface)], value(port));
        }
    }
    page.family("fairwire_port_up", MetricKind::Gauge, "Is the interface up, as far as known?");
    for port in &snapshot.ports {
        page.sample("fairwire_port_up", &[("device", &port.interface)], u8::from(port.is_up));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_open_metrics_if_they_accept_it_and_do_not_prefer_text() {
        use Format::{OpenMetrics, Text};
        for (accept, format) in [
            (&[][..], Text),
            (&["*/*"], Text),
            (&["text/html,application/xhtml+xml,*/*;q=0.8"], Text),
            (&["text/plain"], Text),
            (&["application/openmetrics-text"], OpenMetrics),
            // Prometheus 2, Prometheus 3, and a client that prefers text.
            (
                &[
                    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                ],
                OpenMetrics,
            ),
            (
                &[
                    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
                ],
                OpenMetrics,
            ),
            (&["text/plain;version=0.0.4", "application/openmetrics-text; version=1.0.0; q=0.4"], Text),
            (&["application/openmetrics-text;version=0.0.1"], Text),
            (&["application/openmetrics-text;q=0"], Text),
            (&["application/openmetrics-text;q=lots", ";;;=,q="], Text),
        ] {
            assert_eq!(Format::accepted(accept.iter().copied()), format, "{accept:?}");
        }
    }
}
