//! Measurements a hundred times a second, for viewers.
//!
//! The counters are read only while there are viewers, and once for all of them. Five readings form
//! one message, which saves system calls.

use super::lock::lock;
use crate::http::{Latest, Marks, now_ms};
use axum::body::Bytes;
use fairwire_control::snapshot::Snapshot;
use fairwire_core::Time;
use fairwire_datapath::account::FlowCount;
use fairwire_service::telemetry::{Board, Pick, Picked, Pulse};
use fairwire_wire::Way;
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::time::{MissedTickBehavior, interval};

const MAX_VIEWERS: usize = 16;
const MAX_PICKS: usize = 8;
/// The interval between readings.
const EVERY: Duration = Duration::from_millis(10);
/// Readings per message.
const AT_ONCE: usize = 5;
/// Messages that may wait for a viewer.
const WAITING: usize = 8;
/// Consecutive messages (10 s) that a viewer may miss before it is dropped.
const MAX_MISSED: u32 = 200;
/// The number of readings between two snapshots, which are one second apart.
const SNAPSHOT_EVERY: usize = 100;
const SHOWN_CLASSES: usize = 32;

/// A class or flow that a viewer picked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The direction.
    pub way: Way,
    /// The type of the named item.
    pub kind: WantedKind,
    /// The name of a class or a flow.
    pub name: String,
}

/// The types of items to pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WantedKind {
    /// A class or a subscriber.
    Class,
    /// A flow as the configuration defines it, for example a host.
    Flow,
}

/// The viewers, and the task that reads for them.
#[derive(Debug)]
pub struct Live {
    board: Arc<Board>,
    latest: Arc<Latest>,
    viewers: Mutex<Vec<Viewer>>,
    is_reading: AtomicBool,
}

#[derive(Debug)]
struct Viewer {
    messages: mpsc::Sender<Bytes>,
    wanted: Vec<Wanted>,
    missed: u32,
}

/// Why a viewer is refused.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// There are too many viewers.
    #[error("{MAX_VIEWERS} viewers look already; close a page elsewhere")]
    Full,
    /// The viewer picks too many items.
    #[error("{given} things are picked; allowed: at most {MAX_PICKS}")]
    Picks {
        /// Their number.
        given: usize,
    },
}

impl Live {
    pub(super) fn new(board: Arc<Board>, latest: Arc<Latest>) -> Arc<Self> {
        Arc::new(Live { board, latest, viewers: Mutex::default(), is_reading: AtomicBool::new(false) })
    }

    /// Adds a viewer, and starts the reading task if none runs. Must be called in the server's
    /// runtime.
    ///
    /// # Errors
    /// If there are too many viewers or `wanted` items.
    pub fn look(
        self: &Arc<Self>,
        wanted: Vec<Wanted>,
        marks: Option<Arc<Marks>>,
    ) -> Result<Events, LookError> {
        if wanted.len() > MAX_PICKS {
            return Err(LookError::Picks { given: wanted.len() });
        }
        let (messages, received) = mpsc::channel(WAITING);
        {
            let mut viewers = lock(&self.viewers);
            viewers.retain(|viewer| !viewer.messages.is_closed());
            if viewers.len() >= MAX_VIEWERS {
                return Err(LookError::Full);
            }
            viewers.push(Viewer { messages, wanted, missed: 0 });
        }
        if !self.is_reading.swap(true, Ordering::Relaxed) {
            tokio::spawn(self.clone().read());
        }
        Ok(Events { received, marks })
    }

    /// The number of viewers.
    pub fn viewers(&self) -> usize {
        lock(&self.viewers).len()
    }

    async fn read(self: Arc<Self>) {
        let mut ticks = interval(EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut readings: Vec<Pulse> = Vec::with_capacity(AT_ONCE);
        let (mut last, mut until_snapshot, mut names) = (Time::ZERO, 0, Vec::new());
        loop {
            ticks.tick().await;
            if until_snapshot == 0 {
                until_snapshot = SNAPSHOT_EVERY;
                names = self.resolve();
                if !self.send(&event("snapshot", &shown(&self.latest.snapshot()))) {
                    break;
                }
            }
            until_snapshot -= 1;
            let pulse = self.board.pulse();
            if pulse.at > last {
                last = pulse.at;
                readings.push(pulse);
            }
            if readings.len() == AT_ONCE {
                let message = event("pulse", &Message::of(&readings, &names));
                readings.clear();
                if !self.send(&message) {
                    break;
                }
            }
        }
        self.board.pick(&[]);
        self.is_reading.store(false, Ordering::Relaxed);
        // A viewer may have been added before `is_reading` was cleared. That viewer started no
        // task, so this task starts one.
        if self.viewers() > 0 && !self.is_reading.swap(true, Ordering::Relaxed) {
            tokio::spawn(Box::pin(self.clone().read_again()));
        }
    }

    fn read_again(self: Arc<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.read())
    }

    /// Looks up the picked items by name, since a reload changes class numbers. Requests readings
    /// of the items found.
    fn resolve(&self) -> Vec<(Pick, Wanted)> {
        let mut wanted: Vec<Wanted> =
            lock(&self.viewers).iter().flat_map(|viewer| viewer.wanted.iter().cloned()).collect();
        wanted.sort();
        wanted.dedup();
        let about = self.board.about();
        let found = wanted.into_iter().filter_map(|wanted| {
            let what = match wanted.kind {
                WantedKind::Class => Picked::Class(about.book.number(&wanted.name)?),
                WantedKind::Flow => Picked::Flow(self.board.flow(wanted.way, &wanted.name)?),
            };
            Some((Pick { way: wanted.way, what }, wanted))
        });
        let found: Vec<(Pick, Wanted)> = found.collect();
        self.board.pick(&found.iter().map(|(pick, _)| *pick).collect::<Vec<_>>());
        found
    }

    fn send(&self, message: &Bytes) -> bool {
        let mut viewers = lock(&self.viewers);
        viewers.retain_mut(|viewer| match viewer.messages.try_send(message.clone()) {
            Ok(()) => {
                viewer.missed = 0;
                true
            }
            Err(TrySendError::Full(_)) => {
                viewer.missed += 1;
                viewer.missed < MAX_MISSED
            }
            Err(TrySendError::Closed(_)) => false,
        });
        !viewers.is_empty()
    }
}

/// A message as a server-sent event (WHATWG, HTML, section 9.2).
fn event(name: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).expect("numbers and names can be written");
    format!("event: {name}\ndata: {data}\n\n").into()
}

pub(super) fn shown(snapshot: &Snapshot) -> Snapshot {
    let mut shown = snapshot.clone();
    for way in &mut shown.ways {
        if way.classes.len() > SHOWN_CLASSES {
            way.classes.sort_by(|a, b| b.throughput_bps.total_cmp(&a.throughput_bps));
            way.classes.truncate(SHOWN_CLASSES);
        }
    }
    shown
}

/// Several readings: one list per quantity, oldest first.
#[derive(Debug, Serialize)]
struct Message<'a> {
    /// Seconds of the monotonic clock.
    at_s: Vec<f64>,
    ways: [WayMessage; 2],
    picked: Vec<PickMessage<'a>>,
}

#[derive(Debug, Serialize)]
struct WayMessage {
    bytes_in: Vec<u64>,
    bytes_out: Vec<u64>,
    dropped: Vec<u64>,
    marked: Vec<u64>,
    backlog_packets: Vec<u32>,
    backlog_bytes: Vec<u64>,
    p50_s: Vec<f64>,
    p95_s: Vec<f64>,
    p99_s: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct PickMessage<'a> {
    #[serde(flatten)]
    wanted: &'a Wanted,
    bytes_in: Vec<u64>,
    bytes_out: Vec<u64>,
    dropped: Vec<u64>,
    /// Its waiting packets.
    waiting: Vec<u64>,
}

impl<'a> Message<'a> {
    fn of(readings: &[Pulse], names: &'a [(Pick, Wanted)]) -> Self {
        let way = |way: usize| {
            let of = readings.iter().map(|reading| &reading.ways[way]);
            WayMessage {
                bytes_in: of.clone().map(|way| way.bytes_in).collect(),
                bytes_out: of.clone().map(|way| way.bytes_out).collect(),
                dropped: of.clone().map(|way| way.dropped).collect(),
                marked: of.clone().map(|way| way.marked).collect(),
                backlog_packets: of.clone().map(|way| way.backlog_packets).collect(),
                backlog_bytes: of.clone().map(|way| way.backlog_bytes).collect(),
                p50_s: of.clone().map(|way| way.waits_s[0]).collect(),
                p95_s: of.clone().map(|way| way.waits_s[1]).collect(),
                p99_s: of.map(|way| way.waits_s[2]).collect(),
            }
        };
        let picked = names.iter().filter_map(|(pick, wanted)| {
            let count =
                |reading: &Pulse| reading.picked.iter().find(|(of, _)| of == pick).map(|(_, count)| *count);
            // An item that the observer has not read yet is left out.
            let counts: Vec<FlowCount> = readings.iter().map(count).collect::<Option<_>>()?;
            let waiting =
                |count: &FlowCount| count.packets_in.saturating_sub(count.packets_out + count.dropped);
            Some(PickMessage {
                wanted,
                bytes_in: counts.iter().map(|count| count.bytes_in).collect(),
                bytes_out: counts.iter().map(|count| count.bytes_out).collect(),
                dropped: counts.iter().map(|count| count.dropped).collect(),
                waiting: counts.iter().map(waiting).collect(),
            })
        });
        Message {
            at_s: readings.iter().map(|reading| reading.at.secs()).collect(),
            ways: [way(0), way(1)],
            picked: picked.collect(),
        }
    }
}

/// The messages for one viewer, as a response body.
#[derive(Debug)]
pub struct Events {
    received: mpsc::Receiver<Bytes>,
    marks: Option<Arc<Marks>>,
}

impl Stream for Events {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(marks) = &self.marks {
            marks.taken_at_ms.store(now_ms(), Ordering::Relaxed);
        }
        self.received.poll_recv(context).map(|message| message.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_datapath::class_book::ClassBook;
    use fairwire_datapath::classify::FlowKind;
    use fairwire_service::telemetry::{About, Observer, WayAbout};

    fn live() -> Arc<Live> {
        let way = WayAbout {
            discipline: "faba".into(),
            rate_bps: 1,
            law: None,
            flows: FlowKind::FiveTuple,
            accounts: 1,
        };
        let about = About {
            name: "edge".into(),
            book: Arc::new(ClassBook::plain()),
            ways: [way.clone(), way],
            interfaces: ["in".into(), "out".into()],
            is_headless: false,
            captured: 0,
            config: None,
        };
        let board = Observer::of(about, Time::ZERO).board();
        Live::new(board.clone(), Latest::of(board))
    }

    #[test]
    fn a_viewer_that_stops_reading_is_dropped_and_others_miss_nothing() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let live = live();
            live.is_reading.store(true, Ordering::Relaxed); // no task reads here
            let stuck = live.look(Vec::new(), None).expect("there is room");
            let mut awake = live.look(Vec::new(), None).expect("there is room");
            let sent = WAITING as u32 + MAX_MISSED;
            for n in 0..sent {
                assert_eq!(live.viewers(), 2, "after {n}");
                live.send(&Bytes::from_static(b"x"));
                assert!(awake.received.try_recv().is_ok());
            }
            assert_eq!(live.viewers(), 1);
            drop(stuck);
        });
    }
}
