//! The thread that writes the history.

use super::Watch;
use super::history::Slots;
use super::lock::lock;
use fairwire_datapath::arrivals::Arrival;
use fairwire_linux::clock;
use fairwire_wire::Way;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(100);
/// The thread's `nice` value. It lets the forwarding thread have the processor first.
const NICE: i32 = 10;

/// Starts a thread that writes measurements and events to the history of `watch`, until `stop`.
///
/// # Errors
/// If no thread can be started.
pub fn record(watch: Arc<Watch>, stop: Arc<AtomicBool>) -> std::io::Result<JoinHandle<()>> {
    let run = move || {
        // If this is not permitted, the priority stays as it is.
        let _ = rustix::process::nice(NICE);
        let mut recorder = Recorder::new(watch);
        while !stop.load(Ordering::Relaxed) {
            recorder.look();
            std::thread::sleep(LOOK);
        }
        recorder.watch.history().close();
    };
    std::thread::Builder::new().name("page".into()).spawn(run)
}

struct Recorder {
    watch: Arc<Watch>,
    slots: Slots,
    second: u64,
    changes: u64,
    reloads: u64,
    arrivals: Vec<Arrival>,
}

impl Recorder {
    fn new(watch: Arc<Watch>) -> Self {
        Recorder { watch, slots: Slots::default(), second: 0, changes: 0, reloads: 0, arrivals: Vec::new() }
    }

    fn look(&mut self) {
        self.watch.drops().look(&self.watch.board);
        self.take_arrivals();
        self.note_changes();
        let second = clock::calendar().ns() / 1_000_000_000;
        // A smaller number is also a new second: the clock was set back.
        if second == self.second {
            return;
        }
        let over_s = if second > self.second { (second - self.second).min(60) as f64 } else { 1.0 };
        let over_s = if self.second == 0 { 1.0 } else { over_s };
        self.second = second;
        let (snapshot, counts) = (self.watch.board.latest(), self.watch.board.counts(0));
        if snapshot.reloads != self.reloads {
            self.reloads = snapshot.reloads;
            Way::ALL.iter().for_each(|way| self.watch.minute(*way).clear());
        }
        let over = self.slots.take(second, over_s, &snapshot, &counts);
        self.watch.history().keep(&over, second);
    }

    fn take_arrivals(&mut self) {
        let Some(shared) = self.watch.board.arrivals() else { return };
        for (way, shared) in Way::ALL.into_iter().zip(shared) {
            let missed = lock(shared).take(&mut self.arrivals);
            self.watch.minute(way).extend(&self.arrivals, missed);
        }
    }

    fn note_changes(&mut self) {
        let (changes, count) = self.watch.board.changes_after(self.changes);
        self.changes = count;
        changes.iter().for_each(|change| self.watch.history().note(change));
    }
}
