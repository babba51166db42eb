//! Delays, counted: as histograms and as tables of percentiles.

use fairwire_core::Time;
use fairwire_metrics::record::DelayRecord;
use fairwire_metrics::{Bin, DelayHistogram, FlowName};
use fairwire_scenario::{Content, PacketEvent, RunId, View, What};

/// Counts the delays of one run.
#[derive(Debug)]
pub(super) struct Delays {
    discipline: String,
    seed: u64,
    from: Time,
    /// The delays from source to receiver, if requested.
    one_way: Option<OneWay>,
}

/// The one-way delays of each flow, over all its connections.
#[derive(Debug, Default)]
struct OneWay {
    flows: Vec<(FlowName, DelayHistogram)>,
    /// Of each connection, the place of its flow.
    of: Vec<usize>,
}

impl Delays {
    /// From `from` on, the end of the warm-up.
    pub(super) fn new(which: RunId<'_>, from: Time, has_one_way: bool) -> Self {
        let one_way = has_one_way.then(OneWay::default);
        Delays { discipline: which.discipline.into(), seed: which.seed, from, one_way }
    }

    /// Does it need packet events?
    pub(super) fn wants_packets(&self) -> bool {
        self.one_way.is_some()
    }

    pub(super) fn start(&mut self, view: &View<'_>) {
        if let Some(one_way) = &mut self.one_way {
            for flow in view.flows() {
                if flow.connection.is_none_or(|connection| connection == 1) {
                    one_way.flows.push((flow.name(), DelayHistogram::new()));
                }
                one_way.of.push(one_way.flows.len() - 1);
            }
        }
    }

    /// Data that was delivered, first or again: all of it was on the way.
    pub(super) fn packet(&mut self, event: &PacketEvent) {
        let is_data =
            matches!((event.what, event.content), (What::Deliver, Content::Data { .. } | Content::Datagram));
        if let Some(one_way) = &mut self.one_way
            && is_data
            && event.at >= self.from
        {
            let at = one_way.of[event.flow as usize];
            one_way.flows[at].1.record(event.at.since(event.sent));
        }
    }

    /// The tables of percentiles.
    pub(super) fn records(&self, view: &View<'_>) -> Vec<DelayRecord> {
        self.each(view, |kind, of, delays| self.record(kind, of, delays))
    }

    /// The histograms themselves.
    pub(super) fn histograms(&self, view: &View<'_>) -> Vec<Histogram> {
        self.each(view, |kind, of, delays| Histogram {
            run: [self.discipline.clone(), self.seed.to_string(), kind.into(), of],
            bins: delays.bins().collect(),
        })
    }

    /// What `make` makes of the delays of each link, and of each flow where those are counted.
    fn each<T>(&self, view: &View<'_>, make: impl Fn(&str, String, &DelayHistogram) -> T) -> Vec<T> {
        let links = view.links().map(|link| make("queueing", link.name.into(), link.sojourn));
        let one_way = self.one_way.iter().flat_map(|one_way| &one_way.flows);
        let flows = one_way.map(|(name, delays)| make("one-way", name.to_string(), delays));
        links.chain(flows).collect()
    }

    fn record(&self, kind: &str, of: String, delays: &DelayHistogram) -> DelayRecord {
        DelayRecord {
            discipline: self.discipline.clone(),
            seed: self.seed,
            kind: kind.into(),
            of,
            packets: delays.count(),
            mean_s: delays.sojourn().mean_s,
            percentiles: if delays.count() == 0 { Vec::new() } else { delays.percentiles() },
        }
    }
}

/// The histogram of the delays of a link or a flow in one run.
#[derive(Debug)]
pub(super) struct Histogram {
    /// Discipline, seed, kind, and of what.
    pub run: [String; 4],
    pub bins: Vec<Bin>,
}
