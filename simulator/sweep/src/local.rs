//! A sweep on this machine, and its cost.

use crate::error::SweepError;
use crate::plan::{Plan, Run, Stores};
use crate::shard::{Ran, Shard};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

const SHARD_SECONDS: f64 = 2.0;
const MAX_RUNS: usize = 10_000;
/// The limits of a pilot: the fraction of the missing runs, and the duration in seconds.
const PILOT: (f64, f64) = (0.01, 10.0);
const PILOT_SHARD_SECONDS: f64 = 1.0;
const MAX_THREADS: usize = 1024;

/// One of several processes that share a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The process's number, from 1.
    pub index: u32,
    /// The number of processes.
    pub of: u32,
}

impl Share {
    /// The entire sweep.
    pub const ALL: Share = Share { index: 1, of: 1 };

    /// Does this process make `run`? The answer does not depend on which runs are missing. With a
    /// precision, one process makes all runs of a cell, because it examines the cell's interval.
    fn has(self, plan: &Plan, run: Run) -> bool {
        let seed = if plan.precision.is_some() { 0 } else { run.seed as u64 };
        let hash = plan.cells[run.cell].hash.bytes().fold(seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3) // FNV-1a
        });
        (hash >> 16) % u64::from(self.of) == u64::from(self.index - 1)
    }
}

/// The cost of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Cost {
    /// The number of runs of the plan; with a precision, the maximum.
    pub runs: usize,
    /// The number of runs missing in the store; with a precision, only runs needed for the next
    /// examination of intervals.
    pub missing: usize,
    /// Runs made for this estimate. They are stored.
    pub pilot: usize,
    /// The approximate processor time for the missing runs, in seconds of one core.
    pub seconds: f64,
    /// The approximate size of the missing runs on disk, in bytes.
    pub bytes: u64,
}

/// How to run a sweep on this machine.
pub struct Local<'a> {
    /// The folder for results.
    pub folder: &'a Path,
    /// The number of threads; 0 for one per core.
    pub jobs: usize,
    /// This process's share of the sweep.
    pub share: Share,
    /// Invoked from any thread with the number of finished runs and the total.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
    /// Set to true to stop; finished results are stored.
    pub stop: &'a AtomicBool,
}

struct Queue<'a> {
    plan: &'a Plan,
    todo: &'a [Run],
    left: f64,
    ran: Ran,
    weight: f64,
    error: Option<SweepError>,
}

impl<'a> Queue<'a> {
    fn take(&mut self, threads: usize) -> &'a [Run] {
        let weight = |run: &Run| self.plan.cells[run.cell].weight;
        let mut count = usize::from(!self.todo.is_empty());
        if self.weight > 0.0 {
            let rate = self.ran.seconds / self.weight;
            // Shards become smaller towards the end, so all threads end at the same time.
            let target = SHARD_SECONDS.min(self.left * rate / (2 * threads) as f64);
            let mut seconds = 0.0;
            count = self
                .todo
                .iter()
                .take(MAX_RUNS)
                .take_while(|run| {
                    seconds += weight(run) * rate;
                    seconds <= target
                })
                .count()
                .max(count);
        }
        let (now, rest) = self.todo.split_at(count);
        self.todo = rest;
        self.left -= now.iter().map(weight).sum::<f64>();
        now
    }
}

impl Plan {
    /// Makes all runs that the store lacks, on this machine. With a precision, stops when the cells
    /// have enough seeds.
    ///
    /// # Errors
    /// The first error of a shard; results that other shards finished are stored.
    pub fn run(&self, local: &Local<'_>) -> Result<Ran, SweepError> {
        let stores = Stores::new(local.folder);
        let mut all = Ran::default();
        loop {
            let todo: Vec<Run> =
                self.missing(&stores)?.into_iter().filter(|run| local.share.has(self, *run)).collect();
            (local.progress)(all.runs, all.runs + todo.len());
            if todo.is_empty() || all.stopped {
                return Ok(all);
            }
            stores.prepare(self.flows)?; // a complete store may be read-only
            let before = all.runs;
            let progress = |done: usize| (local.progress)(before + done, before + todo.len());
            all += self.round(&todo, local, &progress)?;
        }
    }

    fn round(
        &self,
        todo: &[Run],
        local: &Local<'_>,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Ran, SweepError> {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let wanted = if local.jobs == 0 { cores() } else { local.jobs };
        let threads = wanted.min(todo.len()).clamp(1, MAX_THREADS);
        let left = todo.iter().map(|run| self.cells[run.cell].weight).sum();
        let queue =
            Mutex::new(Queue { plan: self, todo, left, ran: Ran::default(), weight: 0.0, error: None });
        let locked = || queue.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = AtomicBool::new(false);
        let serve = || {
            while !is_over.load(Ordering::Relaxed) {
                let runs = locked().take(threads);
                if runs.is_empty() {
                    return;
                }
                let done = self.shard(runs, local.folder).run(&mut |_| {}, local.stop);
                let mut queue = locked();
                match done {
                    Ok(ran) => {
                        let made = runs.iter().take(ran.runs);
                        queue.weight += made.map(|run| self.cells[run.cell].weight).sum::<f64>();
                        queue.ran += ran;
                        if ran.stopped {
                            is_over.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(error) => {
                        is_over.store(true, Ordering::Relaxed);
                        queue.error.get_or_insert(error);
                    }
                }
                progress(queue.ran.runs);
            }
        };
        thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(serve))));
        let Queue { ran, error, .. } = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(ran), Err)
    }

    /// Counts the missing runs, and estimates their cost. The estimate makes a hundredth of these
    /// runs, for at most ten seconds, and stores the results.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn cost(&self, folder: &Path, stop: &AtomicBool) -> Result<Cost, SweepError> {
        let stores = Stores::new(folder);
        let todo = self.missing(&stores)?;
        let pilot = self.pilot(&todo, folder, stop)?;
        let weight = todo.iter().map(|run| self.cells[run.cell].weight).fold(0.0, |sum, weight| sum + weight);
        let missing = todo.len() - pilot.ran.runs;
        let part = if todo.is_empty() { 0.0 } else { missing as f64 / todo.len() as f64 };
        Ok(Cost {
            runs: self.runs(),
            missing,
            pilot: pilot.ran.runs,
            seconds: weight * part * pilot.seconds_per_weight(),
            bytes: missing as u64 * self.bytes_of_a_run(),
        })
    }

    /// The uncompressed size of a run's results, bytes.
    pub(crate) fn bytes_of_a_run(&self) -> u64 {
        const IDENTITY: u64 = 16;
        let row = |numbers: u64| 8 * numbers + IDENTITY;
        let flows = if self.flows { self.flows_of_a_run * row(12) } else { 0 };
        row(self.measures.len() as u64) + flows
    }

    fn pilot(&self, todo: &[Run], folder: &Path, stop: &AtomicBool) -> Result<Pilot, SweepError> {
        let count = ((todo.len() as f64 * PILOT.0).ceil() as usize).min(todo.len());
        let mut pilot = Pilot::default();
        let (mut next, mut size) = (0, 1);
        // The pilot's runs are spread over all cells. The time is checked between shards. Shards
        // grow up to PILOT_SHARD_SECONDS, because storing each run separately would take longer
        // than the run.
        while next < count && pilot.ran.seconds <= PILOT.1 && !stop.load(Ordering::Relaxed) {
            let numbers = next..count.min(next + size);
            let runs: Vec<Run> = numbers.map(|number| todo[number * todo.len() / count]).collect();
            let ran = self.shard(&runs, folder).run(&mut |_| {}, stop)?;
            next += runs.len();
            if ran.seconds < PILOT_SHARD_SECONDS / 2.0 {
                size *= 2;
            }
            pilot.weight += runs.iter().take(ran.runs).map(|run| self.cells[run.cell].weight).sum::<f64>();
            pilot.ran += ran;
        }
        Ok(pilot)
    }

    /// Cuts the missing runs into shards of about `seconds` each, for workers in other processes.
    /// The shards are longer if there would be more than `max`.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn shards(
        &self,
        folder: &Path,
        seconds: f64,
        max: usize,
        stop: &AtomicBool,
    ) -> Result<Vec<Shard>, SweepError> {
        let stores = Stores::new(folder);
        stores.prepare(self.flows)?;
        let pilot = self.pilot(&self.missing(&stores)?, folder, stop)?;
        let todo = self.missing(&stores)?;
        let weight = |run: &Run| self.cells[run.cell].weight;
        let all: f64 = todo.iter().map(weight).sum();
        let target =
            (seconds / pilot.seconds_per_weight().max(f64::MIN_POSITIVE)).max(all / max.max(1) as f64);
        let (mut shards, mut rest) = (Vec::new(), &todo[..]);
        while !rest.is_empty() {
            let mut sum = 0.0;
            let count = rest.iter().take_while(|run| {
                sum += weight(run);
                sum <= target
            });
            let (now, later) = rest.split_at(count.count().max(1));
            shards.push(self.shard(now, folder));
            rest = later;
        }
        Ok(shards)
    }
}

#[derive(Default)]
struct Pilot {
    ran: Ran,
    weight: f64,
}

impl Pilot {
    fn seconds_per_weight(&self) -> f64 {
        if self.weight > 0.0 { self.ran.seconds / self.weight } else { 0.0 }
    }
}
