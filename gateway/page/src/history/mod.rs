//! The past, in an SQLite file of bounded size.
//!
//! One-second slots are kept for 15 minutes, ten-second slots for two hours, and one-minute slots
//! for the configured days.

mod query;
mod slot;
mod store;

pub use query::{Happened, HistoryAnswer, PastRequest, Span};
pub use slot::{MAX_CLASSES, Slot, Slots};
pub use store::{Bounds, Store};

use fairwire_control::snapshot::Change;
use fairwire_wire::Way;
use std::path::{Path, PathBuf};

/// The history of the traffic, and any fault in keeping it.
#[derive(Debug)]
pub struct History {
    store: Store,
    place: Option<PathBuf>,
    fault: Option<String>,
}

impl History {
    /// Opens the history in the file at `path`, or else in memory. If the file is unusable, `fault`
    /// returns the reason.
    pub fn open(path: Option<&Path>, bounds: Bounds) -> Self {
        let place = path.map(Path::to_owned);
        let Some(path) = path else {
            return History { store: Store::in_memory(bounds), place, fault: None };
        };
        match Store::open(path, bounds) {
            Ok((store, put_aside)) => {
                let fault = put_aside.map(|aside| {
                    format!(
                        "the history in {} could not be read by this version; it is now {}, and another one began",
                        path.display(),
                        aside.display()
                    )
                });
                History { store, place, fault }
            }
            Err(error) => {
                let fault = format!(
                    "the history in {} cannot be used: {error}; it is kept in memory until the gateway ends. Allowed: a file in a \
                     folder that the gateway's user may write",
                    path.display()
                );
                History { store: Store::in_memory(bounds), place, fault: Some(fault) }
            }
        }
    }

    /// Merges the write-ahead log into the history file, and closes the file. Later data stays in
    /// memory.
    pub fn close(&mut self) {
        self.store = Store::in_memory(self.store.bounds());
    }

    /// The fault in keeping the history, as a sentence.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Stores `slots`. If they cannot be written, they are lost, and a fault is reported until
    /// writing works again.
    pub fn keep(&mut self, slots: &[Slot], now_s: u64) {
        match self.store.keep(slots, now_s) {
            Ok(()) => {
                let is_over = self.fault.as_deref().is_some_and(|fault| fault.starts_with(NOT_WRITTEN));
                if is_over {
                    self.fault = None;
                }
            }
            Err(error) => {
                self.fault =
                    Some(format!("{NOT_WRITTEN}: {error}; the page shows what is there and what is live"))
            }
        }
    }

    /// Keeps a change.
    pub fn note(&mut self, change: &Change) {
        if let Err(error) = self.store.note(change) {
            self.fault = Some(format!("{NOT_WRITTEN}: {error}"));
        }
    }

    /// The traffic between `from_s` and `to_s`, both excluded, as far as one-second slots are kept.
    pub fn happened(&self, way: Way, from_s: u64, to_s: u64) -> Happened {
        query::happened(self.store.connection(), way, from_s, to_s).unwrap_or_default()
    }

    /// Answers a request.
    pub fn read(&self, request: &PastRequest) -> HistoryAnswer {
        let now_s = fairwire_linux::clock::calendar().ns() / 1_000_000_000;
        let mut answer =
            query::read(self.store.connection(), request, now_s).unwrap_or_else(|error| HistoryAnswer {
                fault: Some(format!("the history cannot be read: {error}")),
                ..HistoryAnswer::default()
            });
        answer.fault = self.fault.clone().or(answer.fault);
        answer.place = self.place.as_ref().map(|place| place.display().to_string());
        answer.is_in_memory = self.store.is_in_memory();
        answer
    }
}

const NOT_WRITTEN: &str = "the history is not written";
