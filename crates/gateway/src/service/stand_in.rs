//! The smallest telemetry that the service can run with: totals, backlog and throughput.

use crate::class_book::Way;
use crate::config::Config;
use crate::datapath::Datapath;
use crate::direction::Direction;
use crate::io::PortHealth;
use crate::ledger::Loss;
use crate::telemetry::snapshot::{PortSnapshot, SNAPSHOT_VERSION, Snapshot, TotalsSnapshot, WaySnapshot};
use fairwire_core::{Cause, Time};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What a port is like now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortState {
    /// Its troubles so far.
    pub health: PortHealth,
    /// Is it up, as far as known?
    pub is_up: bool,
}

/// Looks at the datapath.
pub struct Observer {
    board: Arc<Board>,
    start: Time,
    past: [(Time, u64); 2],
}

/// Where everybody reads what was observed.
#[derive(Debug, Default)]
pub struct Board(Mutex<Snapshot>);

impl Board {
    /// The latest snapshot.
    pub fn latest(&self) -> Arc<Snapshot> {
        Arc::new(self.0.lock().map(|snapshot| snapshot.clone()).unwrap_or_default())
    }

    /// The same with all classes, of which this stand-in has none.
    pub fn latest_with_classes(&self) -> Arc<Snapshot> {
        self.latest()
    }

    /// Takes note of another weight: nothing is told of weights here.
    pub fn reweighed(&self, _class: u32, _weight: f64) {}

    /// There is no ring here.
    pub fn capture(&self, _path: &Path) -> std::io::Result<u64> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

impl Observer {
    /// An observer of a datapath that began at `start`.
    pub fn new(config: &Config, start: Time) -> Self {
        let observer = Observer { board: Arc::default(), start, past: [(start, 0); 2] };
        observer.name(config);
        observer
    }

    /// Where everybody reads.
    pub fn board(&self) -> Arc<Board> {
        self.board.clone()
    }

    /// Takes note of `datapath` at `now`.
    pub fn observe(&mut self, now: Time, datapath: &Datapath, ports: [PortState; 2]) {
        let Ok(mut snapshot) = self.board.0.try_lock() else { return };
        snapshot.uptime_s = now.since(self.start).secs();
        for (place, direction) in [&datapath.forward, &datapath.backward].into_iter().enumerate() {
            let way = &mut snapshot.ways[place];
            way.totals = totals(direction);
            way.backlog_packets = u64::from(direction.backlog().packets);
            way.backlog_bytes = direction.backlog().bytes;
            let (since, before) = self.past[place];
            if now.since(since).secs() >= 1.0 {
                let bytes = way.totals.bytes_out;
                way.throughput_bps = bytes.saturating_sub(before) as f64 * 8.0 / now.since(since).secs();
                self.past[place] = (now, bytes);
            }
        }
        for (port, state) in snapshot.ports.iter_mut().zip(ports) {
            port.overflows = state.health.overflows;
            port.truncated = state.health.truncated;
            port.outages = state.health.outages;
            port.is_up = state.is_up;
        }
    }

    /// Another configuration is in place.
    pub fn replaced(&mut self, config: &Config) {
        self.name(config);
        if let Ok(mut snapshot) = self.board.0.lock() {
            snapshot.reloads += 1;
        }
    }

    fn name(&self, config: &Config) {
        let Ok(mut snapshot) = self.board.0.lock() else { return };
        snapshot.version = SNAPSHOT_VERSION;
        config.name().clone_into(&mut snapshot.name);
        snapshot.ways.resize(2, WaySnapshot::default());
        for (way, place) in Way::ALL.into_iter().zip(&mut snapshot.ways) {
            let shaping = config.shaping(way);
            place.way = way.name().to_owned();
            place.discipline = shaping.map_or(String::new(), |shaping| shaping.discipline.to_string());
            place.rate_bps = shaping.map_or(0, |shaping| shaping.rate.bps());
            place.jain = 1.0;
        }
        let wire = &config.spec().wire;
        snapshot.ports = [&wire.inside, &wire.outside]
            .map(|name| PortSnapshot { interface: name.clone(), ..PortSnapshot::default() })
            .into();
    }
}

fn totals(direction: &Direction) -> TotalsSnapshot {
    let totals = direction.totals();
    let named = |counts: &[u64], name: &dyn Fn(usize) -> String| -> BTreeMap<String, u64> {
        let counted = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(at, count)| (name(at), *count)).collect()
    };
    let all = |of: fn(&crate::account::FlowCount) -> u64| direction.classes().all().iter().map(of).sum();
    TotalsSnapshot {
        packets_in: totals.packets_in,
        bytes_in: all(|class| class.bytes_in),
        packets_out: totals.packets_out,
        bytes_out: all(|class| class.bytes_out),
        unshaped: totals.unshaped,
        dropped: named(&totals.dropped, &|at| Cause::ALL[at].name().to_owned()),
        marked: BTreeMap::new(),
        lost: named(&totals.lost, &|at| Loss::ALL[at].name().to_owned()),
        inside: direction.packets_inside() as u64,
    }
}
