//! Two ends of a [`Duplex`] with an async [`receive`](End::receive), on tokio's clock.
//!
//! Under `#[tokio::test(start_paused = true)]`, time advances at once whenever all tasks wait, and
//! the test is deterministic:
//!
//! ```
//! use fairwire_link::{Duplex, Ecn, Link, tokio::pair};
//! use std::time::Duration;
//!
//! # #[::tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (here, there) = pair(Duplex::alike(|| Link::new("8 Mbit/s", "20 ms"))?);
//! here.send("ping", 1000, 1, Ecn::NotEct)?;
//! let arrival = there.receive().await.expect("`here` is still open");
//! // 1 ms of 8 Mbit/s, and 20 ms.
//! assert_eq!(arrival.arrived - arrival.sent, Duration::from_millis(21));
//! # Ok(())
//! # }
//! ```
//!
//! tokio's timers wake on integer milliseconds, so a task may receive a packet up to a millisecond
//! late. [`Arrival::arrived`] is exact.

use crate::duplex::Duplex;
use crate::error::NotSent;
use crate::link::{Arrival, Link};
use crate::report::LinkReport;
use fairwire_core::Ecn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// An end of a [`pair`]. Clones are the same end: each packet goes to one waiting receiver.
#[derive(Debug)]
pub struct End<T> {
    path: Arc<Path<T>>,
    side: usize,
}

/// Both links. `directions[side]` leads from that side to the other.
#[derive(Debug)]
struct Path<T> {
    directions: [Direction<T>; 2],
}

#[derive(Debug)]
struct Direction<T> {
    state: Mutex<State<T>>,
    /// Notified when something was sent, or all senders are gone.
    changed: Notify,
}

#[derive(Debug)]
struct State<T> {
    link: Link<T, Instant>,
    senders: usize,
}

/// Both ends of `duplex`: the first sends over `forward`, the second over `back`.
pub fn pair<T>(duplex: Duplex<T, Instant>) -> (End<T>, End<T>) {
    let direction =
        |link| Direction { state: Mutex::new(State { link, senders: 1 }), changed: Notify::new() };
    let path = Arc::new(Path { directions: [direction(duplex.forward), direction(duplex.back)] });
    (End { path: Arc::clone(&path), side: 0 }, End { path, side: 1 })
}

impl<T> End<T> {
    /// Sends a packet of `flow` to the other end now. The link carries it as `bytes` bytes.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub fn send(&self, payload: T, bytes: usize, flow: u64, ecn: Ecn) -> Result<(), NotSent<T>> {
        let direction = self.outward();
        let sent = direction.lock().link.send(payload, bytes, flow, ecn, Instant::now());
        direction.changed.notify_waiters();
        sent
    }

    /// Waits for the next packet; `None` if nothing is in transit and the other end and its clones
    /// are gone.
    ///
    /// Cancel safe: the packet remains for the next call.
    pub async fn receive(&self) -> Option<Arrival<T, Instant>> {
        let direction = &self.path.directions[1 - self.side];
        loop {
            let changed = direction.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable(); // before the check, to miss nothing
            let next = {
                let mut state = direction.lock();
                if let Some(arrival) = state.link.receive(Instant::now()) {
                    return Some(arrival);
                }
                let next = state.link.next_timeout();
                if next.is_none() && state.senders == 0 {
                    return None;
                }
                next
            };
            match next {
                Some(at) => drop(timeout_at(at, changed).await),
                None => changed.await,
            }
        }
    }

    /// The report of the link from this end to the other, up to now.
    pub fn report(&self) -> LinkReport {
        let mut state = self.outward().lock();
        state.link.advance_to(Instant::now());
        state.link.report()
    }

    fn outward(&self) -> &Direction<T> {
        &self.path.directions[self.side]
    }
}

impl<T> Direction<T> {
    /// Locks the state, even after a panic: no call leaves the link half changed.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for End<T> {
    fn clone(&self) -> Self {
        self.outward().lock().senders += 1;
        End { path: Arc::clone(&self.path), side: self.side }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        let direction = self.outward();
        direction.lock().senders -= 1;
        direction.changed.notify_waiters();
    }
}
