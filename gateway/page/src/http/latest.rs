//! The latest observation in all served forms.
//!
//! All answers within a tenth of a second show the same snapshot, so the page and the metrics
//! agree.

use axum::body::Bytes;
use fairwire_control::snapshot::Snapshot;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_service::telemetry::exposition::Format;
use fairwire_service::telemetry::{Board, exposition};
use std::sync::{Arc, Mutex, PoisonError};

const FRESH: Duration = Duration::from_ms(100);

/// The latest observation.
#[derive(Debug)]
pub struct Latest {
    board: Arc<Board>,
    made: Mutex<Option<Made>>,
}

#[derive(Debug)]
struct Made {
    at: Time,
    snapshot: Arc<Snapshot>,
    /// The metrics in each format, made at the first request for it.
    metrics: [Option<Bytes>; 2],
}

impl Latest {
    /// Observations of `board`.
    pub fn of(board: Arc<Board>) -> Arc<Self> {
        Arc::new(Latest { board, made: Mutex::new(None) })
    }

    /// The snapshot, with all classes.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.with(|made| made.snapshot.clone())
    }

    /// The metrics of the latest snapshot.
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
            *made = None; // frees its memory before the next takes as much
        }
        let snapshot = || self.board.latest_with_classes();
        read(made.get_or_insert_with(|| Made { at: now, snapshot: snapshot(), metrics: [None, None] }))
    }
}
