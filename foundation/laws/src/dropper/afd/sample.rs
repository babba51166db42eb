//! A sample of arrivals, and each flow's share of it.
//!
//! Each arrival enters the sample with a fixed probability. If the sample is full, the arrival
//! replaces an older one, which the [`Record`] chooses.

use crate::dropper::afd::Meter;
use fairwire_core::{FlowHash, FlowTable, Packet, Probe, Rng, Time, Unit};

/// One sampled arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its flow.
    pub flow: FlowHash,
    /// 1, or the packet's length in bytes, at most 65535.
    pub size: u16,
}

/// A flow's number of samples (24 bits) and their total size (40 bits, enough for 2^24 samples of
/// less than 2^16 bytes).
#[derive(Clone, Copy, Debug)]
struct Tally(u64);

const SAMPLES: u64 = (1 << 24) - 1;

/// The paper's rule, 10 R / r_fair, gives 178 600 samples at a rate R of 1 Gbit/s and a fair rate
/// r_fair of 56 kbit/s.
const MAX_SAMPLES: u32 = 1 << 20;

const _: () = assert!((MAX_SAMPLES as u64) < SAMPLES);

impl Tally {
    #[inline]
    fn samples(self) -> u32 {
        (self.0 & SAMPLES) as u32
    }

    #[inline]
    fn size(self) -> u64 {
        self.0 >> 24
    }

    #[inline]
    fn with(self, size: u64) -> Tally {
        Tally(self.0 + (size << 24 | 1))
    }

    #[inline]
    fn without(self, size: u64) -> Tally {
        Tally(self.0 - (size << 24 | 1))
    }
}

/// Each flow's number of samples and their total size.
#[derive(Debug)]
pub struct Counts {
    flows: FlowTable<Tally>,
    samples: u32,
    size: u64,
}

impl Counts {
    /// Empty counts with room for `capacity` samples, even if each is of a different flow.
    pub fn new(capacity: u32) -> Self {
        Counts { flows: FlowTable::new(capacity as usize), samples: 0, size: 0 }
    }

    /// N: the number of flows with samples.
    #[inline]
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// The number of samples.
    #[inline]
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The size of all samples.
    #[inline]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of memory, all allocated at construction.
    pub fn memory(&self) -> usize {
        self.flows.memory()
    }

    /// The flows in table order, with the number and the total size of their samples.
    pub fn iter(&self) -> impl Iterator<Item = (FlowHash, u32, u64)> {
        self.flows.iter().map(|(flow, tally)| (flow, tally.samples(), tally.size()))
    }

    /// The number of samples of the flow at `place`.
    #[inline]
    pub fn samples_at(&self, place: usize) -> u32 {
        self.flows.value(place).samples()
    }

    /// The flow at `place`.
    #[inline]
    pub fn flow_at(&self, place: usize) -> FlowHash {
        self.flows.flow(place)
    }

    /// m_i: the total size of the samples of `flow`.
    #[inline]
    pub fn of(&self, flow: FlowHash) -> u64 {
        self.flows.find(flow).map_or(0, |place| self.flows.value(place).size())
    }

    /// Adds a sample; returns the new m_i of its flow.
    ///
    /// # Panics
    /// When there is no room.
    #[inline]
    pub fn add(&mut self, sample: Sample) -> u64 {
        let size = u64::from(sample.size);
        let place = self.flows.find(sample.flow).unwrap_or_else(|| self.flows.insert(sample.flow, Tally(0)));
        let tally = self.flows.value_mut(place);
        *tally = tally.with(size);
        self.samples += 1;
        self.size += size;
        tally.size()
    }

    /// Removes `sample`, which must have been added.
    ///
    /// # Panics
    /// When its flow has no samples.
    #[inline]
    pub fn take(&mut self, sample: Sample) {
        let place = self.flows.find(sample.flow).expect("a flow with a sample is in the table");
        self.take_size(place, u64::from(sample.size));
    }

    /// Removes one sample of the flow at `place`, with the mean size of the flow's samples. If this
    /// was the flow's last sample, removes the flow and returns true; the flow at the last place
    /// moves to `place`.
    #[inline]
    pub(crate) fn take_mean(&mut self, place: usize) -> bool {
        let tally = *self.flows.value(place);
        self.take_size(place, tally.size() / u64::from(tally.samples()))
    }

    #[inline]
    fn take_size(&mut self, place: usize, size: u64) -> bool {
        let tally = self.flows.value_mut(place);
        *tally = tally.without(size);
        self.samples -= 1;
        self.size -= size;
        let is_gone = tally.samples() == 0;
        if is_gone {
            self.flows.remove(place);
        }
        is_gone
    }
}

/// Decides which sample makes room for a new one.
pub trait Record: Send + 'static {
    /// Invoked for a new sample while there is room.
    fn append(&mut self, sample: Sample);

    /// Removes one sample from the full `counts`. The caller then adds `sample`.
    fn replace(&mut self, sample: Sample, counts: &mut Counts, rng: &mut Rng);

    /// Takes over the parameters of `fresh`; returns false if they would change the form of the
    /// stored data.
    fn retune(&mut self, _fresh: &Self) -> bool {
        false
    }

    /// Shows gauges.
    fn inspect(&self, _probe: &mut dyn Probe) {}
}

/// How arrivals are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// b: the number of samples kept.
    pub samples: u32,
    /// p: the probability that an arrival is sampled.
    pub probability: f64,
    /// The size of a typical packet: 1 if packets are counted, or its length in bytes.
    pub typical: u32,
}

/// A [`Meter`] that samples.
#[derive(Debug)]
pub struct Sampled<R> {
    sampling: Sampling,
    counts: Counts,
    record: R,
}

impl<R: Record> Sampled<R> {
    /// Starts without samples.
    pub fn new(sampling: Sampling, record: R) -> Self {
        Sampled { sampling, counts: Counts::new(sampling.samples), record }
    }

    /// Each flow's share of the sample.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The record, which chooses the sample to replace.
    pub fn record(&self) -> &R {
        &self.record
    }

    /// Turns the meter into its record.
    pub fn into_record(self) -> R {
        self.record
    }

    /// Samples an arrival; returns the new m_i of its flow.
    #[inline]
    pub fn sample(&mut self, sample: Sample, rng: &mut Rng) -> u64 {
        if self.counts.samples() < self.sampling.samples {
            self.record.append(sample);
        } else {
            self.record.replace(sample, &mut self.counts, rng);
        }
        self.counts.add(sample)
    }
}

impl<R: Record> Meter for Sampled<R> {
    #[inline]
    fn arrival(&mut self, packet: &Packet, size: u32, _: Time, rng: &mut Rng) -> f64 {
        let p = self.sampling.probability;
        let count = if p >= 1.0 || rng.chance(p) {
            let size = u16::try_from(size).unwrap_or(u16::MAX);
            self.sample(Sample { flow: packet.flow, size }, rng)
        } else {
            self.counts.of(packet.flow)
        };
        count as f64
    }

    #[inline]
    fn most(&self) -> f64 {
        let typical = u64::from(self.sampling.samples) * u64::from(self.sampling.typical);
        typical.max(self.counts.size()) as f64
    }

    fn retune(&mut self, fresh: &Self) -> bool {
        let takes = self.sampling.samples == fresh.sampling.samples && self.record.retune(&fresh.record);
        if takes {
            self.sampling = fresh.sampling;
        }
        takes
    }

    fn inspect(&self, unit: Unit, probe: &mut dyn Probe) {
        probe.gauge("sampled_flows", Unit::Flows, self.counts.flows() as f64);
        probe.gauge("samples", Unit::One, f64::from(self.counts.samples()));
        probe.gauge("sample_size", unit, self.counts.size() as f64);
        self.record.inspect(probe);
    }
}
