//! The page for browsers: what the gateway does now, what it did before, and why packets were
//! dropped.
//!
//! All of it is read from the [`Board`] by threads of their own, so the datapath never waits.
//! [`Live`] sends what changes a hundred times a second to those who look, [`history`] keeps the
//! past in a file, and [`recorder`] is the thread that writes it. Only numbers and names leave as
//! JSON; the page makes text of them, never markup.

pub mod drops;
pub mod history;
pub mod live;
mod recorder;
mod routes;

pub use recorder::record;
pub use routes::routes;

use crate::http::Latest;
use crate::telemetry::Board;
use drops::Drops;
use history::History;
use live::Live;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the page is made of.
#[derive(Debug)]
pub struct Watch {
    /// What the gateway does.
    pub board: Arc<Board>,
    /// The last observation, in the forms that are served.
    pub latest: Arc<Latest>,
    /// Those who look.
    pub live: Arc<Live>,
    history: Mutex<History>,
    drops: Mutex<Drops>,
}

impl Watch {
    /// A page of what is on `board`, whose past is kept in `history`.
    pub fn new(board: Arc<Board>, latest: Arc<Latest>, history: History) -> Arc<Self> {
        let live = Live::new(board.clone(), latest.clone());
        Arc::new(Watch { board, latest, live, history: Mutex::new(history), drops: Mutex::default() })
    }

    /// The past.
    pub fn history(&self) -> MutexGuard<'_, History> {
        lock(&self.history)
    }

    fn drops(&self) -> MutexGuard<'_, Drops> {
        lock(&self.drops)
    }
}

/// What a thread left behind that panicked is shown as it is.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
