//! `fairwire-gateway follow --radius`: access servers report sessions, and a billing system changes
//! them.

use super::client::since_1970;
use super::follow::words;
use super::subscriber::{Beside, change_file, path_of};
use crate::args::FollowArgs;
use fairwire_core::{Duration, Time};
use fairwire_document::{DocumentError, read_text};
use fairwire_linux::{clock, receive};
use fairwire_service::config::{self, Config, table};
use fairwire_subscribers::edit::Edit;
use fairwire_subscribers::journal::Table;
use fairwire_subscribers::radius;
use fairwire_subscribers::radius::MAX_BYTES as MAX_DATAGRAM;
use fairwire_subscribers::radius::{
    Batch, Discarded, ErrorCause, Network, Outcome, Purpose, Request, Sessions,
};
use fairwire_subscribers::sheet::SheetText;
use fairwire_subscribers::sheet::read as read_sheet;
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

/// The time from a change's first request until the file is written. Requests in this time join the
/// change.
const BATCH: Duration = Duration::from_ms(100);
const MAX_BATCH: usize = 4096;
/// The maximum number of datagrams that wait in this process while the file is changed. Further
/// datagrams wait in the kernel's buffer. There, a datagram of 100 bytes counts 768 bytes.
const MAX_WAITING: usize = 16_384;
const SOCKET_BUFFER_BYTES: usize = 16 << 20;
/// The time for retrying refused changes in smaller groups. A client waits only a few seconds for
/// an answer.
const APART: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_ms(500);
/// The time for which an answer is kept, for repetitions of its request.
const KEPT: Duration = Duration::from_secs(30);
const MAX_KEPT: usize = 16_384;
/// The minimum time between log lines about discarded datagrams.
const QUIET: Duration = Duration::from_secs(1);
const MAX_SECRET: u64 = 4096;
pub(crate) fn serve(args: &FollowArgs, at: SocketAddr, secret_file: &Path) -> Result<Ending, Failure> {
    let path = path_of(&args.whom)?;
    let secret = secret(secret_file)?;
    let socket = UdpSocket::bind(at).map_err(|error| {
        let help = "allowed: an address of this machine and a port that is free, such as `127.0.0.1:1813`";
        Failure::user(format!("`--radius` is `{at}`, which cannot be opened: {error}"), help)
    })?;
    receive::enlarge_buffer(&socket, SOCKET_BUFFER_BYTES);
    let at = socket.local_addr().unwrap_or(at);
    let (sender, came) = sync_channel(MAX_WAITING);
    let receiver = socket.try_clone().map_err(|error| cannot_receive(&error))?;
    thread::spawn(move || receive_all(&receiver, &sender));
    notice(format_args!("RADIUS requests are answered at {at}"));
    let mut server = Server {
        args,
        path: &path,
        secret: &secret,
        socket,
        came,
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

type Datagram = io::Result<(SocketAddr, Vec<u8>)>;

fn cannot_receive(error: &io::Error) -> Failure {
    Failure::Ours(format!("receiving RADIUS requests: {error}"))
}

/// Receives continuously, so no burst fills the kernel's buffer while a file is written.
fn receive_all(socket: &UdpSocket, came: &SyncSender<Datagram>) {
    let mut datagram = [0; MAX_DATAGRAM];
    loop {
        let next = match socket.recv_from(&mut datagram) {
            Ok((length, from)) => Ok((from, datagram[..length].to_vec())),
            // This error may belong to an earlier answer, sent to a closed port.
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => {
                continue;
            }
            Err(error) => Err(error),
        };
        let is_over = next.is_err();
        if came.send(next).is_err() || is_over {
            return;
        }
    }
}

struct Server<'a> {
    args: &'a FollowArgs,
    path: &'a Path,
    secret: &'a [u8],
    socket: UdpSocket,
    /// Datagrams received meanwhile.
    came: Receiver<Datagram>,
    sessions: Sessions,
    answers: Answers,
    discards: Discards,
}

type Received = (SocketAddr, Request);

impl Server<'_> {
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
        self.discards.say(receive::dropped(&self.socket));
        if requests.is_empty() {
            return Ok(());
        }
        match self.put(&requests) {
            Ok(outcomes) => self.answer(&requests, &outcomes),
            Err(failure) if requests.len() == 1 || !self.is_of_a_change(&failure) => {
                self.answer(&requests, &failed(failure, requests.len()));
            }
            Err(_) => {
                // Accounting requests are checked before the edit, so a change request caused the
                // refusal.
                let is_change = |received: &Received| matches!(received.1.purpose, Purpose::Change(_));
                let (changes, others): (Vec<_>, Vec<_>) = requests.into_iter().partition(is_change);
                self.put_halves(&others, clock::now());
                self.put_halves(&changes, clock::now() + APART);
            }
        }
        Ok(())
    }

    /// True if a change caused the refusal, because the file without the change is valid.
    fn is_of_a_change(&self, failure: &Failure) -> bool {
        matches!(failure, Failure::Document(_)) && Config::load(&self.args.whom.config).is_ok()
    }

    /// Bisects to find the refused requests. Requests that were not tried before the time `until`
    /// are refused.
    fn put_halves(&mut self, requests: &[Received], until: Time) {
        match self.put(requests) {
            Ok(outcomes) => self.answer(requests, &outcomes),
            Err(failure) if requests.len() == 1 => self.answer(requests, &failed(failure, 1)),
            Err(failure) if clock::now() >= until => {
                let message =
                    format!("one of {} changes is refused, or more: {}", requests.len(), words(failure));
                self.answer(requests, &failed(Failure::Ours(message), requests.len()));
            }
            Err(_) => {
                let (first, second) = requests.split_at(requests.len() / 2);
                self.put_halves(first, until);
                self.put_halves(second, until);
            }
        }
    }

    fn receive(&mut self, patience: Duration) -> Result<Option<Received>, Failure> {
        let (from, datagram) = match self.came.recv_timeout(std::time::Duration::from_nanos(patience.ns())) {
            Ok(came) => came.map_err(|error| cannot_receive(&error))?,
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(gone) => return Err(cannot_receive(&io::Error::other(gone))),
        };
        match radius::read(&datagram, self.secret, since_1970().as_secs()) {
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

    fn put(&mut self, received: &[Received]) -> Result<Vec<Outcome>, Failure> {
        let requests: Vec<Request> = received.iter().map(|(_, request)| request.clone()).collect();
        let network = network(&self.args.whom.config)?;
        let of = |table: &Table| {
            let text = table.merged()?.0;
            let sheet = read_sheet(SheetText { name: table.name(), text: &text })?;
            Ok::<Batch, DocumentError>(self.sessions.batch(&network, &sheet, &requests))
        };
        let mut batch = of(&table(self.path)?)?;
        if !batch.edits.is_empty() {
            // The file may have changed before we hold its lock, so the batch is computed again.
            change_file(&self.args.whom, self.path, Beside::Nothing, &mut |table| {
                batch = of(table)?;
                Ok(edits(&batch))
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

    /// Errors are ignored: the client repeats its request if the answer is lost.
    fn send(&self, to: SocketAddr, answer: &[u8]) {
        let _ = self.socket.send_to(answer, to);
    }
}

fn edits(batch: &Batch) -> Vec<(String, Edit)> {
    batch.edits.iter().map(|(name, values)| (name.clone(), Edit::Change(values.clone()))).collect()
}

/// The classes and rates by which requests are judged before the file is written.
fn network(config: &Path) -> Result<Network, Failure> {
    let spec = config::typed_at(config)?;
    let rates = [&spec.download, &spec.upload].map(|way| way.as_ref().map(|way| way.rate.0));
    Ok(Network { classes: spec.class.into_iter().map(|class| class.name).collect(), rates })
}

/// The outcomes of `count` requests that could not be written. Only the first is logged.
fn failed(failure: Failure, count: usize) -> Vec<Outcome> {
    let cause = match failure {
        Failure::Document(_) => ErrorCause::InvalidValue,
        _ => ErrorCause::ResourcesUnavailable,
    };
    let line = format!("{}; the subscribers stay as they are", words(failure));
    let mut outcomes = vec![Outcome { answer: Err(cause), line: String::new() }; count];
    if let Some(first) = outcomes.first_mut() {
        first.line = line;
    }
    outcomes
}

/// A request's sender, and the fields that distinguish the request from earlier ones.
type Key = (SocketAddr, (u8, u8, [u8; 16]));

/// Kept answers, for repeated requests (RFC 2866, section 2).
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

#[derive(Default)]
struct Discards {
    counts: BTreeMap<Discarded, (u64, Option<SocketAddr>)>,
    /// The kernel's count of drops at the last report.
    dropped: u32,
    said: Option<Time>,
}

impl Discards {
    fn add(&mut self, why: Discarded, from: SocketAddr) {
        let (count, last) = self.counts.entry(why).or_default();
        *count += 1;
        *last = Some(from);
    }

    fn say(&mut self, dropped: u32) {
        let is_new = dropped != self.dropped || !self.counts.is_empty();
        if !is_new || self.said.is_some_and(|said| clock::now().since(said) < QUIET) {
            return;
        }
        let more = dropped.wrapping_sub(std::mem::replace(&mut self.dropped, dropped));
        if more > 0 {
            notice(format_args!(
                "lost: {more} RADIUS datagrams, for which the kernel had no room; who sent them sends them again"
            ));
        }
        for (why, (count, from)) in std::mem::take(&mut self.counts) {
            let from = from.map(|from| from.to_string()).unwrap_or_default();
            notice(format_args!("discarded: {count} RADIUS datagrams, the last from {from}, which {why}"));
        }
        self.said = Some(clock::now());
    }
}
