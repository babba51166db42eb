//! A share of a sweep for one worker.

use crate::error::SweepError;
use crate::plan::{Plan, Run, Stores, hash};
use crate::rows::{self, Done};
use crate::store::Store;
use crate::values::Value;
use crate::varied::Base;
use fairwire_core::Time;
use fairwire_scenario::{ENGINE, Overrides, run_single};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Some runs of a sweep. Any machine that has the same fairwire and access to the store's folder
/// can make them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shard {
    version: String,
    /// Its engine.
    engine: String,
    base: Base,
    axes: Vec<String>,
    cells: Vec<ShardCell>,
    measures: Vec<String>,
    flows: bool,
    store: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ShardCell {
    pub hash: String,
    pub given: String,
    pub values: Vec<Value>,
    set: Vec<String>,
    seeds: Vec<u64>,
}

/// The outcome of a shard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// Runs made and stored.
    pub runs: usize,
    /// Processor seconds spent on the runs.
    pub seconds: f64,
    /// Was the shard stopped early? Finished results are stored.
    pub stopped: bool,
}

impl std::ops::AddAssign for Ran {
    fn add_assign(&mut self, more: Ran) {
        self.runs += more.runs;
        self.seconds += more.seconds;
        self.stopped |= more.stopped;
    }
}

impl Plan {
    /// A shard of these runs, whose results go to the store in `folder`.
    pub fn shard(&self, runs: &[Run], folder: &std::path::Path) -> Shard {
        let cells = runs.chunk_by(|a, b| a.cell == b.cell).map(|runs| {
            let cell = &self.cells[runs[0].cell];
            ShardCell {
                hash: cell.hash.to_string(),
                given: cell.given.to_string(),
                values: self.axes.iter().zip(&cell.at).map(|(axis, at)| axis.values[*at].1.clone()).collect(),
                set: self.set(cell),
                seeds: runs.iter().map(|run| self.seeds[run.seed]).collect(),
            }
        });
        Shard {
            version: env!("CARGO_PKG_VERSION").into(),
            engine: ENGINE.into(),
            base: self.base.clone(),
            axes: self.axes.iter().map(|axis| axis.key.clone()).collect(),
            cells: cells.collect(),
            measures: self.measures.clone(),
            flows: self.flows,
            store: std::path::absolute(folder).unwrap_or_else(|_| folder.into()),
        }
    }
}

impl Shard {
    /// The shard as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The shard in `text`, which [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    /// If `text` is not a shard.
    pub fn from_json(text: &str) -> Result<Self, SweepError> {
        serde_json::from_str(text).map_err(|error| SweepError::NoShard(error.to_string()))
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.cells.iter().map(|cell| cell.seeds.len()).sum()
    }

    /// Makes the runs in succession. At the end, all runs are in one part of the store. Flows are
    /// written first, so no run is present without its flows.
    ///
    /// Each run is stored within half a second after its end, in a part that a larger part replaces
    /// later. `progress` is invoked with the completed fraction. When `stop` becomes true, finished
    /// results are written.
    ///
    /// # Errors
    /// If another version created the shard, a run fails, or the store cannot be written.
    pub fn run(&self, progress: &mut dyn FnMut(f64), stop: &AtomicBool) -> Result<Ran, SweepError> {
        if (self.version.as_str(), self.engine.as_str()) != (env!("CARGO_PKG_VERSION"), ENGINE) {
            return Err(SweepError::Version { given: format!("{} (engine {})", self.version, self.engine) });
        }
        let stores = Stores::new(&self.store);
        stores.prepare(self.flows)?;
        let (mut done, mut ran) = (Vec::new(), Ran::default());
        let mut kept =
            Kept { shard: self, stores: &stores, of: 0, parts: Vec::new(), since: clock_seconds() };
        let began = processor_seconds();
        'cells: for cell in &self.cells {
            let overrides =
                Overrides { set: cell.set.clone(), disciplines: vec![cell.given.clone()], seeds: None };
            let scenario = self.base.scenario(&overrides)?;
            if *hash(&scenario) != *cell.hash {
                return Err(SweepError::Changed(scenario.spec().name.clone()));
            }
            for &seed in &cell.seeds {
                let mut failed = None;
                let mut watch = |_: Time| {
                    failed = kept.keep_in_time(&done).err();
                    match failed.is_some() || stop.load(Ordering::Relaxed) {
                        true => ControlFlow::Break(()),
                        false => ControlFlow::Continue(()),
                    }
                };
                ran.stopped = watch(Time::ZERO).is_break();
                let record = match ran.stopped {
                    true => None,
                    false => run_single(&scenario, 0, seed, &mut watch, None)?,
                };
                if let Some(error) = failed {
                    return Err(error);
                }
                let Some(record) = record else {
                    ran.stopped = true;
                    break 'cells;
                };
                let name = scenario.spec().name.clone();
                done.push(Done::new(cell, name, record, &self.measures, self.flows));
                progress(done.len() as f64 / self.runs() as f64);
            }
        }
        ran.seconds = processor_seconds() - began;
        ran.runs = done.len();
        kept.keep(&done)?;
        Ok(ran)
    }

    fn write(&self, stores: &Stores, done: &[Done<'_>]) -> Result<Vec<PathBuf>, SweepError> {
        let set = serde_json::to_string(&self.base.set).unwrap_or_default();
        let about = [("fairwire.scenario", self.base.text.as_str()), ("fairwire.set", &set)];
        let write = |store: &Store, rows| store.write(&rows, &about);
        let mut parts = Vec::new();
        if self.flows {
            parts.push(write(&stores.flows, rows::flows(done, &self.axes))?);
        }
        parts.push(write(&stores.runs, rows::runs(done, &self.axes, &self.measures))?);
        Ok(parts)
    }
}

struct Kept<'a> {
    shard: &'a Shard,
    stores: &'a Stores,
    /// The number of runs in `parts`.
    of: usize,
    parts: Vec<PathBuf>,
    /// The time from which [`KEEP_SECONDS`] are counted, in seconds.
    since: f64,
}

/// A run is stored within this time after its end, in seconds.
const KEEP_SECONDS: f64 = 0.5;

impl Kept<'_> {
    fn keep_in_time(&mut self, done: &[Done<'_>]) -> Result<(), SweepError> {
        let now = clock_seconds();
        if done.len() == self.of {
            self.since = self.since.max(now - KEEP_SECONDS / 2.0);
        }
        if now - self.since < KEEP_SECONDS { Ok(()) } else { self.keep(done) }
    }

    fn keep(&mut self, done: &[Done<'_>]) -> Result<(), SweepError> {
        self.since = clock_seconds();
        if done.len() == self.of {
            return Ok(());
        }
        let parts = self.shard.write(self.stores, done)?;
        let before = std::mem::replace(&mut self.parts, parts);
        for path in before.iter().filter(|path| !self.parts.contains(path)) {
            let _ = std::fs::remove_file(path); // or another process has compacted it
        }
        self.of = done.len();
        Ok(())
    }
}

/// This clock affects when results are written, but not the results.
#[cfg(unix)]
fn clock_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(not(unix))]
fn clock_seconds() -> f64 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64())
}

/// This time affects the division of work and the estimate of the remaining cost, but not the
/// results.
#[cfg(unix)]
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(not(unix))]
fn processor_seconds() -> f64 {
    clock_seconds()
}
