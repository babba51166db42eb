//! Rates, the busiest flows and fair shares of one direction, computed from copies of its counters.

use super::about::About;
use super::sample::{ClassSample, RecentCopies, Sample};
use fairwire_control::snapshot::{ClassSnapshot, FlowSnapshot};
use fairwire_core::{Duration, Weight};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::class_book::{Class, ClassKind, UNCLAIMED};
use fairwire_metrics::class_shares::class_shares;
use fairwire_metrics::jain;
use fairwire_wire::Way;

pub(super) const SHOWN_FLOWS: usize = 20;
/// A flow or class wanted more if it had drops or marks. It also wanted more if its offered rate
/// exceeded this multiple of its throughput by more than two packets a second.
const WANTED_MORE: f64 = 1.02;
/// A class whose throughput is at least this fraction of its ceiling is at its ceiling.
const AT_CEILING: f64 = 0.98;
const TWO_PACKETS_BITS: f64 = 2.0 * 1518.0 * 8.0;
/// A sender starves if at least this fraction of its traffic is dropped. A TCP connection loses at
/// most 5 %.
const STARVES: f64 = 0.2;
/// The rate below which a starving sender is not reported, bit/s.
const STARVES_FROM_BPS: f64 = 64_000.0;
const MAX_STARVING: usize = 3;
/// The name of traffic that is not counted individually: multicast groups, and flows beyond the
/// limit.
pub(super) const OTHERS: &str = "others";

#[derive(Debug)]
pub(super) struct Digest {
    pub flows: Vec<FlowSnapshot>,
    pub active_flows: u64,
    pub wanting_flows: u64,
    pub jain: f64,
    pub worst_share_error_points: f64,
    /// The starving senders, and the dropped fraction of each. The sender that loses most bits is
    /// first.
    pub starving: Vec<(String, f64)>,
    /// The departure rate of all leaves together.
    left_bps: f64,
    rates: Vec<Rates>,
    fair_bps: Vec<f64>,
    totals: Vec<ClassSample>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    offered_bps: f64,
    throughput_bps: f64,
    drops_per_s: f64,
    marks_per_s: f64,
    retransmits_per_s: f64,
}

impl Rates {
    fn of(counts: FlowCount, over: Duration) -> Self {
        let seconds = over.secs();
        if seconds <= 0.0 {
            return Rates::default();
        }
        Rates {
            offered_bps: counts.bytes_in as f64 * 8.0 / seconds,
            throughput_bps: counts.bytes_out as f64 * 8.0 / seconds,
            drops_per_s: counts.dropped as f64 / seconds,
            marks_per_s: counts.marked as f64 / seconds,
            retransmits_per_s: 0.0,
        }
    }

    fn add(&mut self, other: Rates) {
        self.offered_bps += other.offered_bps;
        self.throughput_bps += other.throughput_bps;
        self.drops_per_s += other.drops_per_s;
        self.marks_per_s += other.marks_per_s;
        self.retransmits_per_s += other.retransmits_per_s;
    }

    fn lost_bps(&self) -> f64 {
        (self.offered_bps - self.throughput_bps).max(0.0)
    }

    fn starves(&self) -> bool {
        self.drops_per_s > 0.0
            && self.offered_bps >= STARVES_FROM_BPS
            && self.lost_bps() >= STARVES * self.offered_bps
    }

    fn wanted_more(&self) -> bool {
        self.drops_per_s + self.marks_per_s > 0.0
            || self.offered_bps > self.throughput_bps * WANTED_MORE + TWO_PACKETS_BITS
    }
}

impl Digest {
    pub(super) fn of(about: &About, weights: &[Weight], way: Way, kept: &RecentCopies) -> Self {
        let mut digest = Digest {
            flows: Vec::new(),
            active_flows: 0,
            wanting_flows: 0,
            jain: 1.0,
            worst_share_error_points: 0.0,
            starving: Vec::new(),
            left_bps: 0.0,
            rates: vec![Rates::default(); weights.len()],
            fair_bps: vec![0.0; weights.len()],
            totals: kept.newest().map(|copy| copy.classes.clone()).unwrap_or_default(),
        };
        if let Some((newest, oldest)) = kept.ends() {
            digest.take_flows(about, weights, way, newest, oldest);
            digest.take_classes(about, weights, way, newest, oldest);
            digest.take_starving(about, way, newest, oldest);
        }
        // Removed classes count as unclaimed, so sums stay correct.
        let mut gone = kept.newest().map(|newest| newest.gone).unwrap_or_default();
        let vacant = about.book.vacant().filter_map(|number| digest.totals.get(number as usize));
        vacant.for_each(|count| gone.add(count));
        digest.totals.get_mut(UNCLAIMED as usize).into_iter().for_each(|count| count.add(&gone));
        digest
    }

    fn take_flows(&mut self, about: &About, weights: &[Weight], way: Way, newest: &Sample, oldest: &Sample) {
        let mut active = active_flows(newest, oldest);
        let claims: Vec<jain::Weighted> = active
            .iter()
            .filter(|(_, rates)| rates.wanted_more())
            .map(|(place, rates)| {
                let weight = about.flow_weight(way, &newest.opened[*place], weights);
                jain::Weighted { rate: rates.throughput_bps, weight }
            })
            .collect();
        self.jain = jain::weighted(&claims);
        self.active_flows = active.len() as u64;
        self.wanting_flows = claims.len() as u64;
        active.sort_unstable_by(|(_, a), (_, b)| b.throughput_bps.total_cmp(&a.throughput_bps));
        active.truncate(SHOWN_FLOWS);
        self.flows = named(about, way, newest, active);
    }

    fn take_classes(
        &mut self,
        about: &About,
        weights: &[Weight],
        way: Way,
        newest: &Sample,
        oldest: &Sample,
    ) {
        let known = newest.classes.len().min(oldest.classes.len()).min(self.rates.len());
        for place in 0..known {
            let counts = newest.classes[place].count().since(&oldest.classes[place].count());
            let over = newest.class_time(place).since(oldest.class_time(place));
            let [now, before] = [newest, oldest].map(|copy| copy.classes[place].trips.retransmitted);
            let again = now.checked_sub(before).unwrap_or(now) as f64;
            let retransmits_per_s = if over > Duration::ZERO { again / over.secs() } else { 0.0 };
            self.rates[place] = Rates { retransmits_per_s, ..Rates::of(counts, over) };
        }
        let mut terms = about.book.terms(way);
        terms.iter_mut().zip(weights).for_each(|(terms, weight)| terms.weight = *weight);
        for (number, class) in about.book.iter() {
            // With a burst, a class may exceed its ceiling.
            terms[number as usize].ceiling = class.bounds[way as usize].most();
        }
        let offered: Vec<f64> = self.rates.iter().map(|rates| rates.offered_bps).collect();
        let left: f64 = self.rates.iter().map(|rates| rates.throughput_bps).sum();
        self.left_bps = left;
        self.fair_bps = class_shares(&terms, &offered, left);
        self.worst_share_error_points = self.worst(about, left);
        for (number, class) in about.book.iter().collect::<Vec<_>>().into_iter().rev() {
            // In reverse order, each class comes before its parent.
            let rates = self.rates[number as usize];
            if let Some(parent) = class.parent {
                self.rates[parent as usize].add(rates);
            }
        }
    }

    /// Names the starving senders: leaf classes if there are several classes, otherwise flows. All
    /// traffic that is not counted individually forms one sender.
    fn take_starving(&mut self, about: &About, way: Way, newest: &Sample, oldest: &Sample) {
        let ((now, counts), (before, former)) = (newest.others, oldest.others);
        let others = Rates::of(counts.since(&former), now.since(before));
        if others.offered_bps > 0.0 {
            self.flows.push(snapshot_of(OTHERS.to_owned(), others));
        }
        let mut found: Vec<(String, Rates)> = Vec::new();
        found.extend(others.starves().then(|| (OTHERS.to_owned(), others)));
        match about.book.len() {
            0..=1 => {
                let mut flows = active_flows(newest, oldest);
                flows.retain(|(_, rates)| rates.starves());
                flows.sort_unstable_by(|(_, a), (_, b)| b.lost_bps().total_cmp(&a.lost_bps()));
                flows.truncate(MAX_STARVING);
                let named =
                    |(place, rates): (usize, Rates)| (about.flow_name(way, &newest.opened[place]), rates);
                found.extend(flows.into_iter().map(named));
            }
            _ => {
                let leaves = about.book.iter().filter(|(number, _)| about.book.is_leaf(*number));
                let rates = |(number, class): (u32, &Class)| {
                    Some((class.name.clone(), *self.rates.get(number as usize)?))
                };
                found.extend(leaves.filter_map(rates).filter(|(_, rates)| rates.starves()));
            }
        }
        found.sort_by(|(_, a), (_, b)| b.lost_bps().total_cmp(&a.lost_bps()));
        found.truncate(MAX_STARVING);
        self.starving =
            found.into_iter().map(|(name, rates)| (name, rates.lost_bps() / rates.offered_bps)).collect();
    }

    /// A class's fraction of the departures, and its fair fraction; `None` if nothing leaves.
    pub(super) fn share_of_class(&self, class: u32) -> Option<(f64, f64)> {
        let left = self.left_bps;
        let got = self.rates.get(class as usize)?.throughput_bps;
        (left > 0.0).then(|| (got / left, self.fair_bps[class as usize] / left))
    }

    pub(super) fn at_ceiling<'a>(
        &self,
        about: &'a About,
        way: Way,
        kind: ClassKind,
    ) -> impl Iterator<Item = &'a Class> {
        about.book.iter().filter_map(move |(number, class)| {
            let ceiling = class.bounds[way as usize].ceiling?.bps() as f64;
            let got = self.rates.get(number as usize)?.throughput_bps;
            (class.kind == kind && got >= AT_CEILING * ceiling).then_some(class)
        })
    }

    pub(super) fn share_of_flow(&self, name: &str) -> Option<f64> {
        let flow = self.flows.iter().find(|flow| flow.flow == name)?;
        (self.left_bps > 0.0).then(|| flow.throughput_bps / self.left_bps)
    }

    /// The largest difference between share and fair share, over the leaves that wanted more. It is
    /// in percentage points of the departures.
    fn worst(&self, about: &About, left: f64) -> f64 {
        if left <= 0.0 {
            return 0.0;
        }
        let leaves = about.book.iter().filter(|(number, _)| about.book.is_leaf(*number));
        let of = |(number, _): (u32, &Class)| {
            Some((self.rates.get(number as usize)?, self.fair_bps.get(number as usize)?))
        };
        let wanting = leaves.filter_map(of).filter(|(rates, _)| rates.wanted_more());
        wanting.map(|(rates, fair)| (rates.throughput_bps - fair).abs() / left * 100.0).fold(0.0, f64::max)
    }

    pub(super) fn classes(
        &self,
        about: &About,
        weights: &[Weight],
        max: Option<usize>,
    ) -> Vec<ClassSnapshot> {
        // Before the first copy, the result is empty: zeros would look like counters that have
        // decreased.
        let mut numbers: Vec<u32> = (0..self.rates.len().min(self.totals.len()) as u32).collect();
        if let Some(max) = max.filter(|max| *max < numbers.len()) {
            let got = |number: &u32| self.rates[*number as usize].throughput_bps;
            numbers.select_nth_unstable_by(max, |a, b| got(b).total_cmp(&got(a)).then(a.cmp(b)));
            numbers.truncate(max);
            numbers.sort_unstable();
        }
        numbers.into_iter().filter_map(|number| self.class(about, weights, number)).collect()
    }

    fn class(&self, about: &About, weights: &[Weight], number: u32) -> Option<ClassSnapshot> {
        let class = about.book.class(number)?;
        let above = class.parent.and_then(|parent| about.book.class(parent));
        let rates = self.rates[number as usize];
        let sample = self.totals.get(number as usize).copied().unwrap_or_default();
        let (totals, trips) = (sample.count(), sample.trips);
        Some(ClassSnapshot {
            class: class.name.clone(),
            parent: above.map(|above| above.name.clone()).unwrap_or_default(),
            weight: weights.get(number as usize)?.get(),
            offered_bps: rates.offered_bps,
            throughput_bps: rates.throughput_bps,
            fair_bps: self.fair_bps[number as usize],
            drops_per_s: rates.drops_per_s,
            marks_per_s: rates.marks_per_s,
            bytes_out: totals.bytes_out,
            dropped: totals.dropped,
            round_trip_s: f64::from(trips.smoothed_us) * 1e-6,
            round_trips: trips.trips,
            round_trips_sum_s: trips.sum_us as f64 * 1e-6,
            retransmitted: trips.retransmitted,
            retransmits_per_s: rates.retransmits_per_s,
        })
    }
}

pub(super) fn all_flows(about: &About, way: Way, kept: &RecentCopies) -> Vec<FlowSnapshot> {
    let Some((newest, oldest)) = kept.ends() else { return Vec::new() };
    named(about, way, newest, active_flows(newest, oldest))
}

fn active_flows(newest: &Sample, oldest: &Sample) -> Vec<(usize, Rates)> {
    (0..newest.flows.len()).filter_map(|place| Some((place, flow_rates(place, newest, oldest)?))).collect()
}

fn named(about: &About, way: Way, newest: &Sample, flows: Vec<(usize, Rates)>) -> Vec<FlowSnapshot> {
    let named =
        |(place, rates): (usize, Rates)| snapshot_of(about.flow_name(way, &newest.opened[place]), rates);
    flows.into_iter().map(named).collect()
}

fn snapshot_of(flow: String, rates: Rates) -> FlowSnapshot {
    let Rates { offered_bps, throughput_bps, drops_per_s, marks_per_s, .. } = rates;
    FlowSnapshot { flow, offered_bps, throughput_bps, drops_per_s, marks_per_s }
}

fn flow_rates(place: usize, newest: &Sample, oldest: &Sample) -> Option<Rates> {
    let now = &newest.flows[place];
    let before = oldest.flows.get(place).filter(|before| before.flow == now.flow);
    // A flow missing in `oldest` began with zeros at an unknown time in the window, so its rate is
    // computed over the entire window.
    let from = match before {
        Some(_) => oldest.flow_time(place),
        None => *oldest.flow_times.first().or(oldest.class_times.first())?,
    };
    let counts = now.count.since(&before.map(|before| before.count).unwrap_or_default());
    (counts.bytes_in > 0).then(|| Rates::of(counts, newest.flow_time(place).since(from)))
}
