//! What is seen of both links, for those who watch.

use super::{Frame, Links, Watched};
use crate::view::{FlowView, LinkView, View};
use fairwire_core::{Duration, Time};
use fairwire_link::{FlowReport, Link};
use fairwire_wire::flow_key::{FlowKey, Tuple};
use fairwire_wire::headers::{TCP, UDP};
use std::collections::HashMap;
use std::fmt::Display;

/// Counts, and passes on what is seen.
pub(super) struct Meter {
    watched: Watched,
    /// The rate of each way, bit/s, and its wire's delay.
    ways: [(f64, Duration); 2],
    start: Time,
    next: Time,
    names: HashMap<u64, FlowKey>,
    /// What both links were counted for before, since the start.
    totals: [Totals; 2],
}

#[derive(Clone, Copy, Default)]
struct Totals {
    dropped: u64,
    marked: u64,
    lost: u64,
}

/// The interval of views.
const EVERY: Duration = Duration::from_ms(100);
/// Flows whose names are kept.
const MAX_NAMES: usize = 10_000;
/// Flows of a view.
const MAX_FLOWS: usize = 16;

impl Meter {
    pub(super) fn new(watched: Watched, ways: [(f64, Duration); 2], start: Time) -> Self {
        Meter { watched, ways, start, next: start + EVERY, names: HashMap::new(), totals: Default::default() }
    }

    /// When [`look`](Meter::look) has something to do.
    pub(super) fn due(&self) -> Time {
        self.next
    }

    /// A packet of `flow` has come.
    pub(super) fn met(&mut self, flow: u64, key: FlowKey) {
        if !self.watched.has_viewers() {
            return;
        }
        if self.names.len() >= MAX_NAMES {
            self.names.clear();
        }
        self.names.entry(flow).or_insert(key);
    }

    /// Takes a view where one is due: also where it is not watched, since a link keeps the delay of
    /// each packet until then.
    pub(super) fn look(&mut self, links: &mut Links, now: Time) {
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        let ways = [("down", &mut links.forward), ("up", &mut links.back)];
        let mut seen = Vec::new();
        for (place, (name, link)) in ways.into_iter().enumerate() {
            link.advance_to(now);
            if self.watched.has_viewers() {
                seen.push(self.view(place, name, link));
            }
            link.restart_report(now);
        }
        if !seen.is_empty() {
            self.watched.show(View { at_s: now.since(self.start).secs(), links: seen });
        }
    }

    fn view(&mut self, place: usize, name: &str, link: &Link<Frame, Time>) -> LinkView {
        let (report, backlog) = (link.report(), link.backlog());
        let sum = |of: fn(&FlowReport) -> u64| report.flows.iter().map(of).sum::<u64>();
        let totals = &mut self.totals[place];
        totals.dropped += sum(|flow| flow.dropped);
        totals.marked += sum(|flow| flow.marked);
        totals.lost += sum(|flow| flow.lost);
        let mut flows: Vec<&FlowReport> = report.flows.iter().collect();
        flows.sort_by(|a, b| b.rate_bps.total_cmp(&a.rate_bps));
        let busiest = flows.first().map(|flow| flow.delay).unwrap_or_default();
        let (rate_bps, delay) = self.ways[place];
        let wait_s = |whole: std::time::Duration| whole.saturating_sub(delay.into()).as_secs_f64();
        LinkView {
            name: name.into(),
            rate_bps,
            sent_bps: report.flows.iter().map(|flow| flow.rate_bps).sum(),
            backlog_packets: u64::from(backlog.packets),
            backlog_bytes: backlog.bytes,
            wait_p50_s: wait_s(busiest.p50),
            wait_p99_s: wait_s(busiest.p99),
            dropped: totals.dropped,
            marked: Some(totals.marked),
            lost: totals.lost,
            flows: flows.into_iter().take(MAX_FLOWS).map(|flow| self.flow(flow)).collect(),
        }
    }

    fn flow(&self, flow: &FlowReport) -> FlowView {
        let name = self.names.get(&flow.flow).map_or_else(|| "?".to_owned(), name_of);
        FlowView { name, bps: flow.rate_bps, fair_bps: None, dropped: flow.dropped, window: None }
    }
}

/// A flow in a few words.
fn name_of(key: &FlowKey) -> String {
    match key {
        FlowKey::Ipv4(tuple) => ends(tuple),
        FlowKey::Ipv6(tuple) => ends(tuple),
        FlowKey::Other { ethertype, .. } => format!("EtherType {ethertype:#06x}"),
    }
}

fn ends<A: Display>(Tuple { source, destination, protocol, ports }: &Tuple<A>) -> String {
    let protocol = match *protocol {
        TCP => "TCP".to_owned(),
        UDP => "UDP".to_owned(),
        1 => "ICMP".to_owned(),
        other => format!("protocol {other}"),
    };
    match ports {
        Some(ports) => {
            format!("{protocol} {source}:{} to {destination}:{}", ports.source, ports.destination)
        }
        None => format!("{protocol} {source} to {destination}"),
    }
}
