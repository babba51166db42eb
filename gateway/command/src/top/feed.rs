//! Receives snapshots from a gateway's socket, continuously.

use fairwire_control::protocol::{Answer, Request};
use fairwire_control::snapshot::Snapshot;
use fairwire_linux::clock;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The maximum length of an answer. 20 000 classes in both directions take 10 MB.
const MAX_BYTES: u64 = 64 << 20;
/// A gateway that does not answer for this time counts as stuck.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);
const GLANCE: Duration = Duration::from_millis(50);
/// The maximum number of snapshots that wait to be drawn. A gateway sends fewer to a slow reader.
const WAITING: usize = 64;

pub(super) enum News {
    Snapshot(Box<Snapshot>),
    Classes(Box<Snapshot>),
    /// The reason why the gateway does not answer. The request is repeated.
    Lost(String),
}

/// The minimum time between two requests for all classes. Classes are measured twice a second.
const CLASSES_EVERY: Duration = Duration::from_millis(500);
/// The pause between two requests for all classes, in multiples of the last answer's time. A reader
/// must not keep a gateway busy.
const CLASSES_REST: u64 = 10;

/// Starts threads that follow the gateway at `socket`, across its restarts, until the receiver is
/// dropped. While `wants_all` is true, the receiver also gets all classes.
pub(super) fn follow(socket: PathBuf, every_ms: u32, wants_all: Arc<AtomicBool>) -> Receiver<News> {
    let (sender, receiver) = sync_channel(WAITING);
    let (gateway, all) = (socket.clone(), sender.clone());
    std::thread::spawn(move || fetch_classes(&gateway, &all, &wants_all));
    std::thread::spawn(move || {
        loop {
            let lost = match watch(&socket, every_ms, &sender) {
                Ok(()) => return,
                Err(why) => why,
            };
            if sender.send(News::Lost(lost)).is_err() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    });
    receiver
}

/// Requests all classes while `wants_all` is true. The thread that watches the gateway reports
/// errors.
fn fetch_classes(socket: &Path, sender: &SyncSender<News>, wants_all: &AtomicBool) {
    loop {
        let begun = clock::now();
        if wants_all.load(Ordering::Relaxed)
            && let Ok(snapshot) = fetch(socket)
            && sender.send(News::Classes(Box::new(snapshot))).is_err()
        {
            return;
        }
        let took = clock::now().since(begun).ns();
        let rest = Duration::from_nanos(took.saturating_mul(CLASSES_REST)).max(CLASSES_EVERY);
        let until = clock::now() + fairwire_core::Duration::from_ns(rest.as_nanos() as u64);
        // Setting `wants_all` ends the wait.
        let was_wanted = wants_all.load(Ordering::Relaxed);
        while clock::now() < until && (was_wanted || !wants_all.load(Ordering::Relaxed)) {
            std::thread::sleep(GLANCE);
        }
    }
}

fn watch(socket: &Path, every_ms: u32, sender: &SyncSender<News>) -> Result<(), String> {
    let mut answers = connect(socket, &Request::Watch { every_ms })?;
    loop {
        let snapshot = answer(socket, &mut answers)?;
        if sender.send(News::Snapshot(snapshot)).is_err() {
            return Ok(());
        }
    }
}

pub(super) fn fetch(socket: &Path) -> Result<Snapshot, String> {
    match fairwire_control::client::send(socket, &Request::Status { classes: true }) {
        Ok(Answer::Snapshot(snapshot)) => Ok(*snapshot),
        Ok(Answer::Refused { message }) => Err(message),
        Ok(_) => Err(format!("the gateway at {} answered something else than its status", socket.display())),
        Err(error) => Err(error.to_string()),
    }
}

fn connect(socket: &Path, request: &Request) -> Result<BufReader<UnixStream>, String> {
    let connect = || -> io::Result<UnixStream> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let line = request.to_line()?;
        stream.write_all(format!("{line}\n").as_bytes())?;
        Ok(stream)
    };
    connect()
        .map(BufReader::new)
        .map_err(|error| format!("no gateway answers at {}: {error}", socket.display()))
}

fn answer(socket: &Path, answers: &mut BufReader<UnixStream>) -> Result<Box<Snapshot>, String> {
    let at = socket.display();
    let mut line = Vec::new();
    let read = answers.take(MAX_BYTES).read_until(b'\n', &mut line);
    match read {
        Ok(0) => return Err(format!("the gateway at {at} has ended")),
        Ok(_) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            return Err(format!("the gateway at {at} has not answered for {} s", PATIENCE.as_secs()));
        }
        Err(error) => return Err(format!("the gateway at {at}: {error}")),
    }
    match serde_json::from_slice(&line) {
        Ok(Answer::Snapshot(snapshot)) => Ok(snapshot),
        Ok(Answer::Refused { message }) => Err(format!("the gateway at {at} refused: {message}")),
        Ok(_) => Err(format!("the gateway at {at} sent an answer to another request")),
        Err(error) => Err(format!("the gateway at {at} speaks another language: {error}")),
    }
}
