//! The board: the observer writes to it, and other threads read it.

use super::about::About;
use super::changes::{ChangeKind, Changes};
use super::digest::{self, Digest};
use super::events::{NamedEvent, Names};
use super::observer::{Samplers, kept};
use super::pulse::{MAX_PICKED, Pick, Pulse};
use super::sample::{FlowSample, RecentCopies, Sampler};
use super::tick::{Tick, histogram, utilization};
use super::{counts, process, verdict};
use fairwire_control::snapshot::{
    Change, CountsSnapshot, EdgeSnapshot, FlowSnapshot, SNAPSHOT_VERSION, Snapshot, WayCounts, WaySnapshot,
};
use fairwire_core::{FlowHash, RateLaw, Time, Weight};
use fairwire_datapath::account::FirstPacket;
use fairwire_datapath::arrivals::{ArrivalBatch, SharedArrivals};
use fairwire_datapath::capture::{PartialFile, Ring, Setting, SharedRing, as_pcapng, write_pcapng};
use fairwire_datapath::class_book::ClassKind;
use fairwire_datapath::ledger::Loss;
use fairwire_wire::Way;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// The last observation, shared by readers in an [`Arc`]. If a reader holds the lock, the observer
/// tries again at the next interval.
#[derive(Debug)]
pub struct Board {
    tick: Mutex<Tick>,
    store: Mutex<Store>,
    picks: Mutex<Vec<Pick>>,
    changes: Mutex<Changes>,
    edge: Mutex<Option<EdgeSnapshot>>,
    bypass_bps: Mutex<[f64; 2]>,
    /// The subscriber data that each program has left out, by the program's name.
    left_out: Mutex<BTreeMap<String, Vec<String>>>,
    /// Arrivals, if they are kept for replays.
    arrivals: Option<[SharedArrivals; 2]>,
    rings: [SharedRing; 2],
}

/// The load of one direction, and its classes at their ceilings.
#[derive(Clone, Debug, Default)]
pub struct AtLimits {
    /// The fraction of the link in use during the last second, 0 to 1.
    pub utilization: f64,
    /// Packets that the discipline dropped or marked since the start.
    pub signals: u64,
    /// Classes of the configuration that were at their ceilings during the last second, sorted by
    /// name.
    pub classes: Vec<String>,
}

/// The gateway's counters of one direction since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WayCounted {
    /// The link's rate, bit/s; 0 if the direction is not shaped.
    pub rate_bps: u64,
    /// Bytes received and sent, as counted on the link.
    pub bytes: [u64; 2],
    /// Packets received and sent.
    pub packets: [u64; 2],
    /// Packets that the gateway lost.
    pub lost: u64,
    /// Frames that the gateway did not fetch in time, at both ports.
    pub overflows: u64,
}

/// The most classes in a snapshot that contains only the busiest classes.
const SHOWN_CLASSES: usize = 32;

/// Copies of counters, taken at most twice a second, and the results computed from them.
#[derive(Debug)]
pub(super) struct Store {
    about: Arc<About>,
    weights: Arc<Vec<Weight>>,
    start: Time,
    since: Time,
    reloads: u64,
    /// The number of replaced configurations. Counters copied under an earlier configuration are
    /// discarded.
    generation: u64,
    kept: [RecentCopies; 2],
    digests: [Option<Arc<Digest>>; 2],
}

impl Store {
    pub(super) fn new(about: About, start: Time) -> Self {
        Store {
            weights: Arc::new(about.book.weights()),
            kept: kept(&about),
            about: Arc::new(about),
            start,
            since: start,
            reloads: 0,
            generation: 0,
            digests: [None, None],
        }
    }

    fn digest(&mut self, way: Way) -> Arc<Digest> {
        let Store { about, weights, kept, digests, .. } = self;
        let digest = &mut digests[way as usize];
        digest.get_or_insert_with(|| Arc::new(Digest::of(about, weights, way, &kept[way as usize]))).clone()
    }
}

impl Board {
    pub(super) fn new(store: Store, rings: [SharedRing; 2]) -> Self {
        let picks = Mutex::new(Vec::with_capacity(MAX_PICKED));
        let is_replayed = store.about.config.is_some();
        Board {
            tick: Mutex::new(Tick::new(store.start)),
            arrivals: is_replayed.then(|| [ArrivalBatch::shared(), ArrivalBatch::shared()]),
            store: Mutex::new(store),
            picks,
            changes: Mutex::default(),
            edge: Mutex::default(),
            bypass_bps: Mutex::default(),
            left_out: Mutex::default(),
            rings,
        }
    }

    pub(super) fn put(&self, tick: &mut Tick, generation: u64, samplers: &mut [Sampler; 2]) {
        if let Some(mut place) = try_lock(&self.tick) {
            std::mem::swap(&mut *place, tick);
            tick.now = place.now;
        }
        let Some(mut store) = try_lock(&self.store) else { return };
        if store.generation != generation {
            return; // the control thread installs the new configuration in a moment
        }
        let Store { kept, digests, .. } = &mut *store;
        for ((sampler, kept), digest) in samplers.iter_mut().zip(kept).zip(digests) {
            if sampler.give(kept) {
                *digest = None;
            }
        }
    }

    /// The memory that an [`Observer`](super::Observer) needs for `about`. The next call of
    /// [`replaced`](Board::replaced) must show `about`.
    pub fn samplers(&self, about: &About, now: Time) -> Samplers {
        Samplers::new(about, lock(&self.store).generation + 1, now)
    }

    /// Shows the configuration `about`, which took effect at `since`. The observer already has the
    /// [`samplers`](Board::samplers) for this configuration. The call allocates and frees memory,
    /// so it belongs on the reloading thread.
    pub fn replaced(&self, about: About, since: Time) {
        let mut next = Store::new(about, since);
        let mut store = lock(&self.store);
        (next.start, next.reloads, next.generation) = (store.start, store.reloads + 1, store.generation + 1);
        std::mem::swap(&mut *store, &mut next);
        drop(store); // the old content is freed later, while no thread waits for the lock
    }

    /// Sets the weight of a class.
    pub fn set_weight(&self, class: u32, weight: Weight) {
        let mut store = lock(&self.store);
        if let Some(place) = Arc::make_mut(&mut store.weights).get_mut(class as usize) {
            *place = weight;
            store.digests = [None, None];
        }
    }

    /// Makes the rate of a direction follow `law` from `start` on.
    pub fn set_rate(&self, way: Way, law: RateLaw, start: Time) {
        Arc::make_mut(&mut lock(&self.store).about).ways[way as usize].law = Some((law, start));
    }

    /// Sets the subscriber data that the program `by` has left out.
    pub fn set_left_out(&self, by: String, lines: Vec<String>) {
        lock(&self.left_out).insert(by, lines);
    }

    /// Sets the state shown for an edge of a DiffServ domain.
    pub fn set_edge(&self, edge: EdgeSnapshot) {
        *lock(&self.edge) = Some(edge);
    }

    /// Shows the configuration `about`, which has the same class numbers as the previous
    /// configuration. All counters therefore continue.
    pub fn edited(&self, about: About) {
        let mut next = (Arc::new(about), None);
        let mut store = lock(&self.store);
        next.1 = Some(std::mem::replace(&mut store.weights, Arc::new(next.0.book.weights())));
        std::mem::swap(&mut store.about, &mut next.0);
        store.digests = [None, None];
        store.reloads += 1;
        drop(store); // the old content is freed later, while no thread waits for the lock
    }

    /// Arrivals at the disciplines, by the number of the [`Way`], if the page needs them for
    /// replays.
    pub fn arrivals(&self) -> Option<&[SharedArrivals; 2]> {
        self.arrivals.as_ref()
    }

    /// The names of the individually counted flows of `way`.
    pub fn flow_names(&self, way: Way) -> BTreeMap<u64, String> {
        let store = lock(&self.store);
        let Some(copy) = store.kept[way as usize].newest() else { return BTreeMap::new() };
        let named = |(sample, opened): (&FlowSample, &FirstPacket)| {
            (sample.flow.0, store.about.flow_name(way, opened))
        };
        copy.flows.iter().zip(&copy.opened).map(named).collect()
    }

    /// All individually counted flows of `way` that sent during the last second, unordered.
    pub fn active_flows(&self, way: Way) -> Vec<FlowSnapshot> {
        let store = lock(&self.store);
        digest::all_flows(&store.about, way, &store.kept[way as usize])
    }

    /// The counters of the last interval.
    pub fn pulse(&self) -> Pulse {
        Pulse::of(&lock(&self.tick))
    }

    /// Makes the observer copy the counters of `wanted`, at most [`MAX_PICKED`], at each interval.
    pub fn pick(&self, wanted: &[Pick]) {
        let mut picks = lock(&self.picks);
        picks.clear();
        picks.extend(wanted.iter().take(MAX_PICKED));
    }

    pub(super) fn picked(&self, place: &mut Vec<Pick>) {
        if let Some(picks) = try_lock(&self.picks) {
            place.clear();
            place.extend_from_slice(&picks);
        }
    }

    /// Records an event.
    pub fn note(&self, kind: ChangeKind, text: String) {
        lock(&self.changes).add(kind, text);
    }

    /// The changes after number `seen` that are still kept, and the number of all changes.
    pub fn changes_after(&self, seen: u64) -> (Vec<Change>, u64) {
        lock(&self.changes).after(seen)
    }

    /// The load of each direction, and its classes at their ceilings. The call looks up names, so
    /// it should be rare.
    pub(crate) fn at_limits(&self) -> [AtLimits; 2] {
        let tick = lock(&self.tick).ways.each_ref().map(|way| (way.totals, way.throughput_bps));
        let now = lock(&self.tick).now;
        let mut store = lock(&self.store);
        let digests = Way::ALL.map(|way| store.digest(way));
        let about = store.about.clone();
        drop(store);
        Way::ALL.map(|way| {
            let (totals, throughput_bps) = &tick[way as usize];
            let signals = totals.dropped.iter().chain(&totals.marked).sum();
            let utilization = utilization(*throughput_bps, about.ways[way as usize].rate_bps_at(now));
            let at_ceiling = digests[way as usize].at_ceiling(&about, way, ClassKind::Class);
            let mut classes: Vec<String> = at_ceiling.map(|class| class.name.clone()).collect();
            classes.sort_unstable();
            AtLimits { utilization, signals, classes }
        })
    }

    pub(crate) fn counted(&self) -> [WayCounted; 2] {
        let tick = lock(&self.tick).clone();
        let about = self.about();
        Way::ALL.map(|way| {
            let totals = tick.ways[way as usize].totals;
            WayCounted {
                rate_bps: about.ways[way as usize].rate_bps_at(tick.now),
                bytes: [totals.bytes_in, totals.bytes_out],
                packets: [totals.packets_in, totals.packets_out],
                lost: totals.lost.iter().sum(),
                overflows: tick.ports.iter().map(|port| port.health.overflows).sum(),
            }
        })
    }

    pub(crate) fn show_bypass(&self, bps: [f64; 2]) {
        *lock(&self.bypass_bps) = bps;
    }

    /// The individually counted flow of `way` with this name.
    pub fn flow(&self, way: Way, name: &str) -> Option<FlowHash> {
        let store = lock(&self.store);
        let copy = store.kept[way as usize].newest()?;
        let place = copy.opened.iter().position(|opened| store.about.flow_name(way, opened) == name)?;
        Some(copy.flows.get(place)?.flow)
    }

    /// The latest snapshot, with the busiest classes.
    pub fn latest(&self) -> Arc<Snapshot> {
        Arc::new(self.snapshot(Some(SHOWN_CLASSES)))
    }

    /// The latest snapshot, with all classes.
    pub fn latest_with_classes(&self) -> Arc<Snapshot> {
        Arc::new(self.snapshot(None))
    }

    /// The counters since the start, and in each direction the `max` flows that sent the most
    /// bytes.
    pub fn counts(&self, max: usize) -> CountsSnapshot {
        // The totals are read last, so no flow's copy is newer.
        let store = lock(&self.store);
        let tick = lock(&self.tick).clone();
        let way = |way: Way| {
            let (tick, copy) = (&tick.ways[way as usize], store.kept[way as usize].newest());
            WayCounts {
                way: way.name().into(),
                totals: tick.totals(),
                backlog_packets: tick.backlog.packets.into(),
                backlog_bytes: tick.backlog.bytes,
                waits: histogram(tick.waits.fine_histogram()),
                flow_count: copy.map_or(0, |copy| copy.flows.len() as u64),
                flows: copy
                    .map(|copy| counts::flows(&store.about, way, copy, store.start, max))
                    .unwrap_or_default(),
            }
        };
        CountsSnapshot {
            version: SNAPSHOT_VERSION,
            name: store.about.name.clone(),
            uptime_s: tick.now.since(store.start).secs(),
            ways: Way::ALL.map(way).to_vec(),
            ports: tick.ports(&store.about),
        }
    }

    /// The losses in the gateway itself, in both directions, in the order of [`Loss::ALL`].
    pub fn lost(&self) -> [u64; Loss::ALL.len()] {
        let tick = lock(&self.tick);
        let [down, up] = [0, 1].map(|way| tick.ways[way].totals.lost);
        std::array::from_fn(|loss| down[loss] + up[loss])
    }

    /// The values of the current configuration that telemetry needs.
    pub fn about(&self) -> Arc<About> {
        lock(&self.store).about.clone()
    }

    /// Writes the content of the capture rings to a new file at `path`. Returns the number of
    /// packets.
    pub fn capture(&self, path: &Path) -> io::Result<u64> {
        let part = PartialFile::create(path)?;
        let packets = self.capture_into(part.file())?;
        part.place().map(|()| packets)
    }

    pub(crate) fn capture_into(&self, file: &File) -> io::Result<u64> {
        self.captured(|rings, setting| write_pcapng(file, rings, setting))
    }

    /// The content of the capture rings, as the bytes of a file.
    pub fn capture_bytes(&self) -> Vec<u8> {
        self.captured(|rings, setting| as_pcapng(rings, setting).0)
    }

    /// Calls `write` with copies of both rings. Each ring is locked while it is copied, and events
    /// during that time are counted as missed.
    fn captured<T>(&self, write: impl FnOnce([&Ring; 2], &Setting<'_>) -> T) -> T {
        let (about, since) = {
            let store = lock(&self.store);
            (store.about.clone(), store.since)
        };
        let copies = [0, 1].map(|way: usize| lock(&self.rings[way]).clone());
        let disciplines = about.ways.each_ref().map(|way| way.discipline.as_str());
        write(copies.each_ref(), &Setting { book: &about.book, disciplines, since })
    }

    /// The newest events of `way` with names and shares: at most `max`, and none of the first
    /// `seen`. Also returns the number of all events since the start.
    pub fn events_after(&self, way: Way, seen: u64, max: usize) -> (Vec<NamedEvent>, u64) {
        let (events, count) = lock(&self.rings[way as usize]).after(seen, max);
        if events.is_empty() {
            return (Vec::new(), count);
        }
        let (about, since, digest) = {
            let mut store = lock(&self.store);
            (store.about.clone(), store.since, store.digest(way))
        };
        let names = Names { about: &about, digest: &digest, way, since };
        (events.iter().map(|kept| names.of(kept)).collect(), count)
    }

    fn snapshot(&self, classes: Option<usize>) -> Snapshot {
        let tick = lock(&self.tick).clone();
        let (about, weights, start, reloads, digests) = {
            let mut store = lock(&self.store);
            let digests = Way::ALL.map(|way| store.digest(way));
            (store.about.clone(), store.weights.clone(), store.start, store.reloads, digests)
        };
        let bypass_bps = *lock(&self.bypass_bps);
        let way = |way: Way| WaySnapshot {
            bypass_bps: bypass_bps[way as usize],
            ..tick.way(way, &about, &weights, &digests[way as usize], classes)
        };
        let ways = Way::ALL.map(way).to_vec();
        let (changes, last_changes) = {
            let changes = lock(&self.changes);
            (changes.counts(), changes.newest())
        };
        Snapshot {
            version: SNAPSHOT_VERSION,
            name: about.name.clone(),
            uptime_s: tick.now.since(start).secs(),
            fairness: verdict::sentence(&ways),
            reloads,
            changes,
            last_changes,
            ways,
            ports: tick.ports(&about),
            captured: tick.ways.iter().map(|way| way.captured).sum(),
            capture_missed: tick.ways.iter().map(|way| way.missed).sum(),
            process: process::snapshot(tick.processor),
            edge: lock(&self.edge).clone(),
            left_out: lock(&self.left_out).values().flatten().cloned().collect(),
        }
    }
}

/// Locks `mutex`, even after a reader panicked. The data may then mix two instants, which is
/// acceptable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
