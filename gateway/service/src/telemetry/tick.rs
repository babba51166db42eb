//! The data taken at each interval, and their form in a snapshot.

use super::about::About;
use super::digest::{Digest, SHOWN_FLOWS};
use super::observer::{Gauge, MAX_GAUGES, PortState};
use super::pulse::{MAX_PICKED, Pick};
use fairwire_control::snapshot::{
    PortSnapshot, SojournHistogram, SojournSnapshot, TotalsSnapshot, WaySnapshot,
};
use fairwire_core::{Backlog, Cause, Duration, Time, Unit, Weight};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::class_book::ClassKind;
use fairwire_datapath::ledger::{Loss, Totals};
use fairwire_datapath::sojourn::{self, Waits};
use fairwire_datapath::trips::TcpCount;
use fairwire_wire::Way;

#[derive(Clone, Debug)]
pub(super) struct Tick {
    pub now: Time,
    pub ways: [WayTick; 2],
    pub ports: [PortState; 2],
    /// Processor time of the threads that forward.
    pub processor: Duration,
    pub picked: Vec<(Pick, FlowCount)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct WayTick {
    pub totals: Totals,
    pub inside: u64,
    pub backlog: Backlog,
    pub sojourn: sojourn::Summary,
    pub waits: Waits,
    pub throughput_bps: f64,
    pub captured: u64,
    pub missed: u64,
    pub gauges: Vec<Gauge>,
    pub trips: TripsTick,
}

#[derive(Clone, Debug, Default)]
pub(super) struct TripsTick {
    pub window: sojourn::Summary,
    pub since_start: Waits,
    pub tcp: TcpCount,
}

impl Tick {
    pub(super) fn new(now: Time) -> Self {
        let way = || WayTick { gauges: Vec::with_capacity(MAX_GAUGES), ..WayTick::default() };
        let picked = Vec::with_capacity(MAX_PICKED);
        Tick { now, ways: [way(), way()], ports: Default::default(), processor: Duration::ZERO, picked }
    }

    /// The snapshot of `way`. It contains the `classes` busiest classes, or all classes if
    /// `classes` is `None`.
    pub(super) fn way(
        &self,
        way: Way,
        about: &About,
        weights: &[Weight],
        digest: &Digest,
        classes: Option<usize>,
    ) -> WaySnapshot {
        let (tick, known) = (&self.ways[way as usize], &about.ways[way as usize]);
        let rate_bps = known.rate_bps_at(self.now);
        // Infinite gauges are left out, since JSON has no infinity.
        let gauges = tick.gauges.iter().filter(|(_, _, value)| value.is_finite());
        WaySnapshot {
            way: way.name().into(),
            discipline: known.discipline.clone(),
            rate_bps,
            totals: tick.totals(),
            backlog_packets: tick.backlog.packets.into(),
            backlog_bytes: tick.backlog.bytes,
            sojourn: summary(tick.sojourn),
            sojourn_histogram: histogram(tick.waits.histogram()),
            round_trip: summary(tick.trips.window),
            round_trip_histogram: histogram(tick.trips.since_start.histogram()),
            tcp_segments: tick.trips.tcp.segments,
            retransmitted: tick.trips.tcp.retransmitted,
            throughput_bps: tick.throughput_bps,
            utilization: utilization(tick.throughput_bps, rate_bps),
            gauges: gauges.map(|(name, unit, value)| (gauge_name(name, *unit), *value)).collect(),
            jain: digest.jain,
            flows: digest.flows.iter().take(SHOWN_FLOWS).cloned().collect(),
            active_flows: digest.active_flows,
            wanting_flows: digest.wanting_flows,
            classes: digest.classes(about, weights, classes),
            class_count: about.book.len() as u64,
            classes_at_ceiling: digest.at_ceiling(about, way, ClassKind::Class).count() as u64,
            subscribers_at_ceiling: digest.at_ceiling(about, way, ClassKind::Subscriber).count() as u64,
            worst_share_error_points: digest.worst_share_error_points,
            starving: digest.starving.iter().cloned().collect(),
            bypass_bps: 0.0,
        }
    }

    pub(super) fn ports(&self, about: &About) -> Vec<PortSnapshot> {
        let port = |(interface, state): (&String, &PortState)| PortSnapshot {
            interface: interface.clone(),
            overflows: state.health.overflows,
            truncated: state.health.truncated,
            outages: state.health.outages,
            is_up: state.is_up,
        };
        about.interfaces.iter().zip(&self.ports).map(port).collect()
    }
}

impl WayTick {
    pub(super) fn totals(&self) -> TotalsSnapshot {
        let Totals { packets_in, bytes_in, packets_out, bytes_out, unshaped, washed, .. } = self.totals;
        let causes = |counts: &[u64]| {
            Cause::ALL.iter().zip(counts).map(|(cause, count)| (cause.name().to_owned(), *count)).collect()
        };
        let losses = Loss::ALL.iter().zip(self.totals.lost);
        TotalsSnapshot {
            packets_in,
            bytes_in,
            packets_out,
            bytes_out,
            unshaped,
            washed,
            dropped: causes(&self.totals.dropped),
            marked: causes(&self.totals.marked),
            lost: losses.map(|(loss, count)| (loss.name().to_owned(), count)).collect(),
            inside: self.inside,
        }
    }
}

pub(super) fn utilization(throughput_bps: f64, rate_bps: u64) -> f64 {
    if rate_bps > 0 { (throughput_bps / rate_bps as f64).clamp(0.0, 1.0) } else { 0.0 }
}

fn gauge_name(name: &str, unit: Unit) -> String {
    let unit = match unit {
        Unit::One => "1",
        Unit::Packets => "packets",
        Unit::Bytes => "bytes",
        Unit::Flows => "flows",
        Unit::Tokens => "tokens",
        Unit::Seconds => "s",
        Unit::BitsPerSecond => "bps",
    };
    let has_it = name.rsplit('_').next() == Some(unit);
    if has_it { name.to_owned() } else { format!("{name}_{unit}") }
}

fn summary(waits: sojourn::Summary) -> SojournSnapshot {
    let sojourn::Summary { mean_s, p50_s, p95_s, p99_s, max_s } = waits;
    SojournSnapshot { mean_s, p50_s, p95_s, p99_s, max_s }
}

pub(super) fn histogram(waits: sojourn::Histogram) -> SojournHistogram {
    let sojourn::Histogram { bounds_s, counts, sum_s } = waits;
    SojournHistogram { bounds_s, counts, sum_s }
}
