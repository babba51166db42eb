//! `fairwire-gateway follow --radius`: access servers report sessions, and a billing system changes
//! them.

use super::client::since_1970;
use super::follow::words;
use super::subscriber::{change_file, path_of};
use crate::args::FollowArgs;
use fairwire_core::{Duration, Time};
use fairwire_document::read_text;
use fairwire_linux::clock;
use fairwire_subscribers::edit::{Edit, edited};
use fairwire_subscribers::radius;
use fairwire_subscribers::radius::MAX_BYTES as MAX_DATAGRAM;
use fairwire_subscribers::radius::{Batch, Discarded, ErrorCause, Outcome, Request, Sessions};
use fairwire_subscribers::sheet::read as read_sheet;
use fairwire_subscribers::sheet::{MAX_BYTES, SheetText};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::Ordering;

/// What comes within this time of a first request is one change of the file.
const BATCH: Duration = Duration::from_ms(100);
const MAX_BATCH: usize = 4096;
/// The interval at which the end is looked for.
const LOOK: Duration = Duration::from_ms(500);
/// For how long an answer is kept for a request that comes again, and how many are.
const KEPT: Duration = Duration::from_secs(30);
const MAX_KEPT: usize = 16_384;
/// The interval of lines about what was discarded.
const QUIET: Duration = Duration::from_secs(1);
/// The longest file with a secret.
const MAX_SECRET: u64 = 4096;

/// Serves until it is stopped.
pub(crate) fn serve(args: &FollowArgs, at: SocketAddr, secret_file: &Path) -> Result<Ending, Failure> {
    let path = path_of(&args.whom)?;
    let secret = secret(secret_file)?;
    let socket = UdpSocket::bind(at).map_err(|error| {
        let help = "allowed: an address of this machine and a port that is free, such as `127.0.0.1:1813`";
        Failure::user(format!("`--radius` is `{at}`, which cannot be opened: {error}"), help)
    })?;
    let at = socket.local_addr().unwrap_or(at);
    notice(format_args!("RADIUS requests are answered at {at}"));
    let mut server = Server {
        args,
        path: &path,
        secret: &secret,
        socket,
        sessions: Sessions::default(),
        answers: Answers::default(),
        discards: Discards::default(),
    };
    let stop = interrupt::flag();
    while !stop.load(Ordering::Relaxed) {
        server.round()?;
    }
    Ok(Ending::Done)
}

fn secret(path: &Path) -> Result<Vec<u8>, Failure> {
    let text = read_text(path, MAX_SECRET, "a file with the secret that RADIUS clients share")?;
    let secret = text.trim();
    if secret.is_empty() {
        let help = "allowed: a file with a secret, such as 32 random letters";
        return Err(Failure::user(format!("`--secret-file` is `{}`, which is empty", path.display()), help));
    }
    Ok(secret.into())
}

struct Server<'a> {
    args: &'a FollowArgs,
    path: &'a Path,
    secret: &'a [u8],
    socket: UdpSocket,
    sessions: Sessions,
    answers: Answers,
    discards: Discards,
}

/// A request, and who waits for its answer.
type Received = (SocketAddr, Request);

impl Server<'_> {
    /// Waits for requests, makes one change of those that come, and answers.
    fn round(&mut self) -> Result<(), Failure> {
        let mut requests = Vec::new();
        let mut until = clock::now() + LOOK;
        while requests.len() < MAX_BATCH {
            let left = until.since(clock::now());
            if left.is_zero() {
                break;
            }
            if let Some(request) = self.receive(left)? {
                if requests.is_empty() {
                    until = clock::now() + BATCH;
                }
                requests.push(request);
            }
        }
        self.discards.say();
        if requests.is_empty() {
            return Ok(());
        }
        match self.put(&requests) {
            Ok(outcomes) => self.answer(&requests, &outcomes),
            Err(_) if requests.len() > 1 => {
                // One of them is refused: which one is found out one by one.
                for one in requests.chunks(1) {
                    let outcomes = self.put(one).unwrap_or_else(failed);
                    self.answer(one, &outcomes);
                }
            }
            Err(failure) => self.answer(&requests, &failed(failure)),
        }
        Ok(())
    }

    /// The next request that is none that was answered before.
    fn receive(&mut self, patience: Duration) -> Result<Option<Received>, Failure> {
        let cannot = |error: std::io::Error| Failure::Ours(format!("receiving RADIUS requests: {error}"));
        self.socket.set_read_timeout(Some(std::time::Duration::from_nanos(patience.ns()))).map_err(cannot)?;
        let mut datagram = [0; MAX_DATAGRAM];
        let (length, from) = match self.socket.recv_from(&mut datagram) {
            Ok(came) => came,
            // An earlier answer that found no port is reported here, too.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock
                        | ErrorKind::TimedOut
                        | ErrorKind::Interrupted
                        | ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(cannot(error)),
        };
        match radius::read(&datagram[..length], self.secret, since_1970().as_secs()) {
            Ok(request) => match self.answers.of(from, &request) {
                Some(answer) => {
                    self.send(from, &answer);
                    Ok(None)
                }
                None => Ok(Some((from, request))),
            },
            Err(discarded) => {
                self.discards.add(discarded, from);
                Ok(None)
            }
        }
    }

    /// Makes the change of the file, and has the gateway read it.
    fn put(&mut self, received: &[Received]) -> Result<Vec<Outcome>, Failure> {
        let requests: Vec<Request> = received.iter().map(|(_, request)| request.clone()).collect();
        let name = self.path.display().to_string();
        let text = read_text(self.path, MAX_BYTES, "a table of subscribers in CSV")?;
        let sheet = read_sheet(SheetText { name: &name, text: &text })?;
        let mut batch = self.sessions.batch(&sheet, &requests);
        if !batch.edits.is_empty() {
            // It may be another by the time that it is ours to write.
            change_file(&self.args.whom, self.path, &mut |source| {
                batch = self.sessions.batch(&read_sheet(source)?, &requests);
                edited(source, &edits(&batch))
            })?;
        }
        let outcomes = batch.outcomes.clone();
        self.sessions.commit(batch);
        Ok(outcomes)
    }

    fn answer(&mut self, requests: &[Received], outcomes: &[Outcome]) {
        for ((to, request), outcome) in requests.iter().zip(outcomes) {
            if !outcome.line.is_empty() {
                notice(format_args!("{}", outcome.line));
            }
            if let Some(answer) = request.answer(outcome.answer, self.secret) {
                self.send(*to, &answer);
                self.answers.keep(*to, request, answer);
            }
        }
    }

    /// An answer that is lost is requested again.
    fn send(&self, to: SocketAddr, answer: &[u8]) {
        let _ = self.socket.send_to(answer, to);
    }
}

fn edits(batch: &Batch) -> Vec<(&str, Edit<'_>)> {
    batch.edits.iter().map(|(name, values)| (name.as_str(), Edit::Change(values))).collect()
}

/// What came of a request that could not be put in the file.
fn failed(failure: Failure) -> Vec<Outcome> {
    let cause = match failure {
        Failure::Document(_) => ErrorCause::InvalidValue,
        _ => ErrorCause::ResourcesUnavailable,
    };
    let line = format!("{}; the subscribers stay as they are", words(failure));
    vec![Outcome { answer: Err(cause), line }]
}

/// Who sent a request, and what makes it another than one that came before.
type Key = (SocketAddr, (u8, u8, [u8; 16]));

/// Answers to requests that may come again (RFC 2866, section 2).
#[derive(Default)]
struct Answers {
    by: HashMap<Key, Vec<u8>>,
    order: VecDeque<(Time, Key)>,
}

impl Answers {
    fn of(&self, from: SocketAddr, request: &Request) -> Option<Vec<u8>> {
        self.by.get(&(from, request.key())).cloned()
    }

    fn keep(&mut self, to: SocketAddr, request: &Request, answer: Vec<u8>) {
        let now = clock::now();
        while let Some((at, key)) = self.order.front().copied()
            && (now.since(at) > KEPT || self.order.len() >= MAX_KEPT)
        {
            self.by.remove(&key);
            self.order.pop_front();
        }
        let key = (to, request.key());
        if self.by.insert(key, answer).is_none() {
            self.order.push_back((now, key));
        }
    }
}

/// Datagrams that were discarded, counted by reason.
#[derive(Default)]
struct Discards {
    counts: BTreeMap<Discarded, (u64, Option<SocketAddr>)>,
    said: Option<Time>,
}

impl Discards {
    fn add(&mut self, why: Discarded, from: SocketAddr) {
        let (count, last) = self.counts.entry(why).or_default();
        *count += 1;
        *last = Some(from);
    }

    /// Reports them, at most once in a while.
    fn say(&mut self) {
        if self.counts.is_empty() || self.said.is_some_and(|said| clock::now().since(said) < QUIET) {
            return;
        }
        for (why, (count, from)) in std::mem::take(&mut self.counts) {
            let from = from.map(|from| from.to_string()).unwrap_or_default();
            notice(format_args!("discarded: {count} RADIUS datagrams, the last from {from}, which {why}"));
        }
        self.said = Some(clock::now());
    }
}
