//! The observer, which reads the datapath at each interval on the datapath thread. It never waits.

use super::about::About;
use super::board::{Board, Store};
use super::pulse::{MAX_PICKED, Pick};
use super::sample::{RecentCopies, Sampler};
use super::tick::{Tick, TripsTick};
use fairwire_core::{Duration, Probe, Time, Unit};
use fairwire_datapath::Datapath;
use fairwire_datapath::capture::{Ring, SharedRing};
use fairwire_datapath::direction::Direction;
use fairwire_datapath::ledger::Totals;
use fairwire_datapath::trips::Trips;
use fairwire_linux::port::PortHealth;
use fairwire_wire::Way;
use fairwire_wire::pcapng::LinkType;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The state of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortState {
    /// The port's outages and lost frames so far.
    pub health: PortHealth,
    /// Is the port up, as far as known?
    pub is_up: bool,
}

/// Reads the datapath, and writes to the [`Board`].
///
/// It allocates all its memory when it is created.
#[derive(Debug)]
pub struct Observer {
    board: Arc<Board>,
    rings: [SharedRing; 2],
    tick: Tick,
    samplers: Samplers,
    rates: [Throughput; 2],
    past: [Past; 2],
    picks: Vec<Pick>,
    trips: [TripsTick; 2],
    trips_at: Time,
}

/// Memory for copies of a configuration's counters, allocated and freed outside the datapath
/// thread.
#[derive(Debug)]
pub struct Samplers {
    ways: [Sampler; 2],
    generation: u64,
}

impl Observer {
    /// An observer of a datapath that started at `start`.
    pub fn of(about: About, start: Time) -> Self {
        let link = if about.is_headless { LinkType::Ip } else { LinkType::Ethernet };
        let rings = [(); 2].map(|()| Arc::new(Mutex::new(Ring::new(about.captured, link))));
        let samplers = Samplers { ways: samplers(&about, start), generation: 0 };
        let store = Store::new(about, start);
        Observer {
            board: Arc::new(Board::new(store, rings.clone())),
            rings,
            tick: Tick::new(start),
            samplers,
            rates: [(); 2].map(|()| Throughput::new()),
            past: Default::default(),
            picks: Vec::with_capacity(MAX_PICKED),
            trips: Default::default(),
            trips_at: start,
        }
    }

    /// The board to which the observer writes.
    pub fn board(&self) -> Arc<Board> {
        self.board.clone()
    }

    /// Makes `datapath` record its drops, marks and losses in the board's rings, and its arrivals
    /// if the page needs them for replays.
    pub fn record(&self, datapath: &mut Datapath) {
        datapath.forward.record_into(self.rings[0].clone());
        datapath.backward.record_into(self.rings[1].clone());
        if let Some([download, upload]) = self.board.arrivals() {
            datapath.forward.log_arrivals(download.clone());
            datapath.backward.log_arrivals(upload.clone());
        }
    }

    /// Reads `datapath` and both `ports`, inside first, at `now`.
    pub fn observe(&mut self, now: Time, datapath: &Datapath, ports: [PortState; 2]) {
        self.tick.now = now;
        self.tick.ports = ports;
        for (way, direction) in [&datapath.forward, &datapath.backward].into_iter().enumerate() {
            self.look(way, direction, now);
            let trips = &datapath.trips.way(Way::ALL[way]).classes;
            self.samplers.ways[way].step(now, direction.accounts(), direction.classes(), trips);
        }
        self.look_at_trips(&datapath.trips, now);
        self.board.picked(&mut self.picks);
        self.tick.picked.clear();
        self.tick.picked.extend(self.picks.iter().map(|pick| (*pick, pick.count(datapath))));
        self.board.put(&mut self.tick, self.samplers.generation, &mut self.samplers.ways);
    }

    /// Sets the processor time of the threads that forward.
    pub fn took(&mut self, processor: Duration) {
        self.tick.processor = processor;
    }

    fn look(&mut self, way: usize, direction: &Direction, now: Time) {
        let tick = &mut self.tick.ways[way];
        tick.totals = self.past[way].over_all(direction.totals());
        tick.inside = direction.packets_inside() as u64;
        tick.backlog = direction.backlog();
        tick.sojourn = direction.sojourns().window(now);
        tick.waits = direction.sojourns().since_start();
        tick.throughput_bps = self.rates[way].bps(tick.totals.bytes_out, now);
        tick.captured = direction.recorder().kept() as u64;
        tick.missed = direction.recorder().missed();
        tick.gauges.clear();
        direction.inspect(&mut Gauges(&mut tick.gauges));
    }

    /// Copies the counts of round trips. Histograms are summed at most ten times a second, since
    /// this takes microseconds.
    fn look_at_trips(&mut self, trips: &Trips, now: Time) {
        let is_due = now >= self.trips_at;
        if is_due {
            self.trips_at = now + TRIPS_EVERY;
        }
        for way in Way::ALL {
            let (last, trips) = (&mut self.trips[way as usize], trips.way(way));
            if is_due {
                last.window = trips.round_trips.window(now);
                last.since_start = trips.round_trips.since_start();
            }
            last.tcp = trips.count;
            self.tick.ways[way as usize].trips.clone_from(last);
        }
    }

    /// Uses `samplers` for a new configuration, and returns the previous samplers. The rates of
    /// flows and classes start again.
    ///
    /// The board shows the new copies after [`Board::replaced`] was called for the same
    /// configuration.
    #[must_use = "to drop them takes time"]
    pub fn replaced_by(&mut self, samplers: Samplers) -> Samplers {
        std::mem::replace(&mut self.samplers, samplers)
    }
}

impl Samplers {
    pub(super) fn new(about: &About, generation: u64, start: Time) -> Self {
        Samplers { ways: samplers(about, start), generation }
    }
}

fn samplers(about: &About, start: Time) -> [Sampler; 2] {
    [0, 1].map(|way: usize| Sampler::new(about.ways[way].accounts, about.book.numbers(), start))
}

pub(super) fn kept(about: &About) -> [RecentCopies; 2] {
    [0, 1].map(|way: usize| RecentCopies::new(about.ways[way].accounts, about.book.numbers()))
}

/// The most gauges kept for a discipline. Gauges of its components are left out, since each
/// subscriber may have a component.
pub(super) const MAX_GAUGES: usize = 64;

struct Gauges<'a>(&'a mut Vec<Gauge>);

pub(super) type Gauge = (&'static str, Unit, f64);

impl Probe for Gauges<'_> {
    fn gauge(&mut self, name: &'static str, unit: Unit, value: f64) {
        if self.0.len() < MAX_GAUGES {
            self.0.push((name, unit, value));
        }
    }

    fn wants_parts(&self) -> bool {
        false
    }
}

/// The totals of one direction: the sum over ended datapaths, and the latest totals of the present
/// datapath.
#[derive(Debug, Default)]
struct Past {
    ended: Totals,
    last: Totals,
}

impl Past {
    fn over_all(&mut self, totals: &Totals) -> Totals {
        if totals.frames_received < self.last.frames_received {
            self.ended.add(&self.last);
        }
        self.last = *totals;
        let mut all = self.ended;
        all.add(totals);
        all
    }
}

#[derive(Debug)]
struct Throughput {
    noted: VecDeque<(Time, u64)>,
}

const TRIPS_EVERY: Duration = Duration::from_ms(100);

const NOTED_EVERY: Duration = Duration::from_ms(100);
const WINDOW: Duration = Duration::from_secs(1);

impl Throughput {
    fn new() -> Self {
        Throughput { noted: VecDeque::with_capacity(16) }
    }

    fn bps(&mut self, bytes_out: u64, now: Time) -> f64 {
        if self.noted.back().is_none_or(|(at, _)| now.since(*at) >= NOTED_EVERY) {
            self.noted.push_back((now, bytes_out));
        }
        while self.noted.get(1).is_some_and(|(at, _)| now.since(*at) >= WINDOW) {
            self.noted.pop_front();
        }
        let Some((at, before)) = self.noted.front() else { return 0.0 };
        let seconds = now.since(*at).secs();
        if seconds > 0.0 { bytes_out.saturating_sub(*before) as f64 * 8.0 / seconds } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    #[test]
    fn throughput_is_that_of_the_last_second() {
        let mut throughput = Throughput::new();
        let mut bytes = 500;
        for ms in (0..3000).step_by(10) {
            bytes += if ms < 1500 { 1000 } else { 0 };
            let bps = throughput.bps(bytes, at(ms)).round();
            match ms {
                0 => assert_eq!(bps, 0.0),
                10..1500 => assert_eq!(bps, 800_000.0, "{ms}"),
                2590.. => assert_eq!(bps, 0.0, "{ms}"),
                _ => assert!(bps <= 800_000.0),
            }
        }
        assert!(throughput.noted.len() <= 12);
    }

    #[test]
    fn totals_never_decrease_when_a_datapath_restarts() {
        let mut past = Past::default();
        let totals =
            |frames: u64| Totals { frames_received: frames, packets_in: frames, ..Totals::default() };
        let shown: Vec<u64> =
            [5, 9, 2, 4, 0, 1].map(|frames| past.over_all(&totals(frames)).packets_in).to_vec();
        assert_eq!(shown, [5, 9, 11, 13, 13, 14]);
    }
}
