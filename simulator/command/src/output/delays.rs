//! Delays, as histograms and as tables of percentiles.

use super::formats;
use super::plan::{Destination, Request};
use super::written::{Done, Kept, Place, Recorder, Run, Wants, Writer};
use fairwire_core::Time;
use fairwire_metrics::record::{DelayRecord, Report};
use fairwire_metrics::{Bin, DelayHistogram, FlowName};
use fairwire_scenario::{Content, FlowSpec, Output, PacketEvent, View, What};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file;

type Histograms = fn(&[Histogram]) -> Result<String, Failure>;

type Percentiles = fn(&[DelayRecord]) -> Result<String, Failure>;

pub(super) const HISTOGRAMS: [(&str, Histograms); 1] = [("csv", formats::csv::histograms)];

pub(super) const PERCENTILES: [(&str, Percentiles); 1] = [("csv", formats::csv::percentiles)];

/// The maximum number of flows with recorded one-way delays, because each histogram takes 60 kB.
const MAX_ONE_WAY: u32 = 10_000;

pub(super) fn prepare<'a>(request: &Request<'a>) -> Result<Option<Box<dyn Writer + 'a>>, Failure> {
    let histogram = request.destination(Output::Histogram, &HISTOGRAMS)?;
    let percentiles = request.destination(Output::Percentiles, &PERCENTILES)?;
    let has_one_way = request.has_one_way();
    if histogram.is_none() && percentiles.is_none() && !has_one_way {
        return Ok(None);
    }
    let spec = request.scenario.spec();
    let flows: u32 = spec.flow.iter().map(FlowSpec::count).fold(0, u32::saturating_add);
    if has_one_way && flows > MAX_ONE_WAY {
        let help = format!("allowed: at most {MAX_ONE_WAY} flows, since each takes 60 kB of memory");
        return Err(Failure::user(format!("`--one-way` is given, but the scenario has {flows} flows"), help));
    }
    let (from, kept) = (request.warm_up(), Kept::default());
    Ok(Some(Box::new(Delays { histogram, percentiles, has_one_way, from, kept })))
}

struct Delays {
    histogram: Option<(Destination, Histograms)>,
    percentiles: Option<(Destination, Percentiles)>,
    has_one_way: bool,
    /// When counting starts.
    from: Time,
    kept: Kept<(Vec<DelayRecord>, Vec<Histogram>)>,
}

impl Writer for Delays {
    fn wants(&self) -> Wants {
        Wants { packets: self.has_one_way, ..Wants::default() }
    }

    fn begin<'a>(&'a self, run: Run<'_>) -> Result<Option<Box<dyn Recorder + 'a>>, Failure> {
        Ok(run.is_simulated.then(|| {
            Box::new(OfRun {
                delays: self,
                at: run.place(),
                discipline: run.which.discipline.into(),
                seed: run.which.seed,
                one_way: self.has_one_way.then(OneWay::default),
                records: Vec::new(),
                histograms: Vec::new(),
            }) as _
        }))
    }

    fn close(&self, report: &mut Report, done: &mut Done) {
        let (records, histograms): (Vec<_>, Vec<_>) = self.kept.take().into_iter().unzip();
        report.delays = records.into_iter().flatten().collect();
        if let Some((Destination { path, .. }, text)) = &self.percentiles {
            done.wrote(path, text(&report.delays).and_then(|text| file::write(path, text.as_bytes())));
        }
        if let Some((Destination { path, .. }, text)) = &self.histogram {
            let histograms: Vec<Histogram> = histograms.into_iter().flatten().collect();
            done.wrote(path, text(&histograms).and_then(|text| file::write(path, text.as_bytes())));
        }
    }
}

struct OfRun<'a> {
    delays: &'a Delays,
    at: Place,
    discipline: String,
    seed: u64,
    one_way: Option<OneWay>,
    records: Vec<DelayRecord>,
    histograms: Vec<Histogram>,
}

/// The one-way delays of each flow, over all its connections.
#[derive(Debug, Default)]
struct OneWay {
    flows: Vec<(FlowName, DelayHistogram)>,
    of: Vec<usize>,
}

impl Recorder for OfRun<'_> {
    fn start(&mut self, view: &View<'_>) {
        if let Some(one_way) = &mut self.one_way {
            for flow in view.flows() {
                if flow.connection.is_none_or(|connection| connection == 1) {
                    one_way.flows.push((flow.name(), DelayHistogram::new()));
                }
                one_way.of.push(one_way.flows.len() - 1);
            }
        }
    }

    /// Counts all delivered data, including retransmissions, because all of it was in transit.
    fn packet(&mut self, event: &PacketEvent) {
        let is_data =
            matches!((event.what, event.content), (What::Deliver, Content::Data { .. } | Content::Datagram));
        if let Some(one_way) = &mut self.one_way
            && is_data
            && event.at >= self.delays.from
        {
            let at = one_way.of[event.flow as usize];
            one_way.flows[at].1.record(event.at.since(event.sent));
        }
    }

    fn end(&mut self, view: &View<'_>) {
        self.records = self.each(view, |kind, of, delays| self.record(kind, of, delays));
        if self.delays.histogram.is_some() {
            self.histograms = self.each(view, |kind, of, delays| Histogram {
                run: [self.discipline.clone(), self.seed.to_string(), kind.into(), of],
                bins: delays.bins().collect(),
            });
        }
    }

    fn finish(self: Box<Self>) -> Result<(), Failure> {
        self.delays.kept.keep(self.at, (self.records, self.histograms));
        Ok(())
    }
}

impl OfRun<'_> {
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

#[derive(Debug)]
pub(super) struct Histogram {
    /// The discipline, the seed, the kind of delay, and the link or flow.
    pub run: [String; 4],
    pub bins: Vec<Bin>,
}
