//! The last observation in all the forms that are served, made at most ten times a second.
//!
//! Whatever is served within that time is of the same instant: a number on the page and the metric
//! of its name are equal.

use axum::body::Bytes;
use fairwire_control::snapshot::Snapshot;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_service::telemetry::exposition::Format;
use fairwire_service::telemetry::{Board, exposition};
use std::sync::{Arc, Mutex, PoisonError};

/// The age up to which an observation is served again.
const FRESH: Duration = Duration::from_ms(100);

/// The last observation.
#[derive(Debug)]
pub struct Latest {
    board: Arc<Board>,
    made: Mutex<Option<Made>>,
}

#[derive(Debug)]
struct Made {
    at: Time,
    snapshot: Arc<Snapshot>,
    /// Metrics in each format, once they were requested.
    metrics: [Option<Bytes>; 2],
}

impl Latest {
    /// Of what is on `board`.
    pub fn of(board: Arc<Board>) -> Arc<Self> {
        Arc::new(Latest { board, made: Mutex::new(None) })
    }

    /// The snapshot, with all classes.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.with(|made| made.snapshot.clone())
    }

    /// The metrics of the same snapshot.
    pub fn metrics(&self, format: Format) -> Bytes {
        self.with(|made| {
            let Made { snapshot, metrics, .. } = made;
            let text = || exposition::text(snapshot, &self.board.about(), format).into();
            metrics[format as usize].get_or_insert_with(text).clone()
        })
    }

    fn with<T>(&self, read: impl FnOnce(&mut Made) -> T) -> T {
        let now = clock::now();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |made: &Made| now.since(made.at) < FRESH;
        if !made.as_ref().is_some_and(is_fresh) {
            *made = None; // its memory goes before the next takes as much
        }
        let snapshot = || self.board.latest_with_classes();
        read(made.get_or_insert_with(|| Made { at: now, snapshot: snapshot(), metrics: [None, None] }))
    }
}
