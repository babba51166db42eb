//! Snapshots from a gateway's socket, again and again.

use fairwire_gateway::control::protocol::{Answer, Request};
use fairwire_gateway::telemetry::snapshot::Snapshot;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// An answer is no longer: 20 000 classes both ways take 10 MB.
const MOST_BYTES: u64 = 64 << 20;
/// Who says nothing for so long is stuck.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(500);
/// Snapshots that wait to be drawn; a gateway gives a slow reader fewer.
const WAITING: usize = 64;

/// What comes from a gateway.
pub enum News {
    Snapshot(Box<Snapshot>),
    /// It does not answer, and why; it is asked again.
    Lost(String),
}

/// Follows the gateway at `socket` from a thread of its own, over its restarts, until the receiver is dropped.
pub fn follow(socket: PathBuf, every_ms: u32) -> Receiver<News> {
    let (sender, receiver) = sync_channel(WAITING);
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

/// Passes on what comes until nobody wants it.
fn watch(socket: &Path, every_ms: u32, sender: &SyncSender<News>) -> Result<(), String> {
    let mut answers = connect(socket, &Request::Watch { every_ms })?;
    loop {
        let snapshot = answer(socket, &mut answers)?;
        if sender.send(News::Snapshot(snapshot)).is_err() {
            return Ok(());
        }
    }
}

/// One snapshot with all classes.
pub fn ask(socket: &Path) -> Result<Snapshot, String> {
    match fairwire_gateway::service::ask(socket, &Request::Status { classes: true }) {
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
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        stream.write_all(&line)?;
        Ok(stream)
    };
    connect()
        .map(BufReader::new)
        .map_err(|error| format!("no gateway answers at {}: {error}", socket.display()))
}

fn answer(socket: &Path, answers: &mut BufReader<UnixStream>) -> Result<Box<Snapshot>, String> {
    let at = socket.display();
    let mut line = Vec::new();
    let read = answers.take(MOST_BYTES).read_until(b'\n', &mut line);
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
        Ok(_) => Err(format!("the gateway at {at} answered something else than was asked")),
        Err(error) => Err(format!("the gateway at {at} speaks another language: {error}")),
    }
}
