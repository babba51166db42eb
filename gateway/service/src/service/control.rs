//! The control thread: the control socket, signals and the service manager.

use super::bypass::Bypass;
use super::clients::{Clients, Reply};
use super::engine::{Command, Shared};
use super::guarding::GuardPipes;
use super::limits::Limits;
use super::log::{report, say};
use super::notify::Reporter;
use super::place::{Listener, NameLock};
use super::reload::Present;
use super::take_over::{self, Offer, Paper};
use super::troubles::Troubles;
use crate::edges::Edges;
use crate::telemetry::{Board, ChangeKind};
use fairwire_control::handed::Handed;
use fairwire_control::protocol::{Answer, MAX_FLOWS, MAX_LEFT_OUT, RateStep, Reloaded, Request, Wanted};
use fairwire_core::{Duration, Rate, Time};
use fairwire_linux::{clock, memory};
use fairwire_wire::Way;
use rustix::event::{PollFd, PollFlags, poll};
use std::io::Read;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Signals, delivered as bytes in pipes.
pub(super) struct Signals {
    ends: UnixStream,
    reloads: UnixStream,
}

impl Signals {
    pub(super) fn catch() -> std::io::Result<Self> {
        let [ends, reloads] = [
            catch(&[signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT])?,
            catch(&[signal_hook::consts::SIGHUP])?,
        ];
        Ok(Signals { ends, reloads })
    }
}

fn catch(signals: &[i32]) -> std::io::Result<UnixStream> {
    let (read, written) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, written.try_clone()?)?;
    }
    Ok(read)
}

impl Signals {
    pub(super) fn has_ended(&self) -> bool {
        has_come(&self.ends)
    }
}

fn has_come(mut pipe: &UnixStream) -> bool {
    let mut bytes = [0; 4096];
    pipe.read(&mut bytes).is_ok_and(|count| count > 0)
}

pub(super) struct Control<'a> {
    pub listener: Listener,
    pub signals: &'a Signals,
    pub reporter: Reporter,
    pub present: Present,
    pub board: Arc<Board>,
    pub shared: Arc<Shared>,
    pub edges: Edges,
    pub stop: &'a AtomicBool,
    /// Further handles for a process that takes over.
    pub estate: Estate<'a>,
    /// A process that is waiting to take over.
    pub offer: Option<Offer>,
}

pub(super) struct Estate<'a> {
    pub name: &'a NameLock,
    pub guard: Option<GuardPipes>,
    pub streams: Vec<TcpListener>,
    pub is_alone: bool,
}

const ENDING: &str = "the gateway is about to end and sends what waits; nothing was changed";
const SEVERAL: &str = "this process has several links; allowed: stop it, and start it";
/// The interval at which `stop` and the datapath are checked.
const LOOK: Duration = Duration::from_ms(50);
/// The interval at which the service manager learns that the datapath is alive, well below any
/// sensible WatchdogSec.
const ALIVE: Duration = Duration::from_ms(500);

impl Control<'_> {
    pub(super) fn run(&mut self, is_over: &dyn Fn() -> bool) -> Clients {
        let mut clients = Clients::default();
        let (mut alive_at, mut beats, mut is_guarded) = (Time::ZERO, u64::MAX, true);
        let (mut troubles, mut limits, mut openings) = (Troubles::default(), Limits::default(), 0);
        let mut bypass = Bypass::default();
        let mut stalls = 0;
        while !is_over() && !self.stop.load(Ordering::Relaxed) && !has_come(&self.signals.ends) {
            if has_come(&self.signals.reloads) {
                // The log has already received the outcome.
                let _ = self.reload(&[], false, &Handed::default());
            }
            let now = clock::now();
            let counted = self.shared.beats.load(Ordering::Relaxed);
            if now >= alive_at && counted != beats {
                (alive_at, beats) = (now + ALIVE, counted);
                self.reporter.alive();
            }
            if is_guarded && self.shared.is_guard_gone.load(Ordering::Relaxed) {
                is_guarded = false;
                let text = "the guard is gone, and this process may start no other: from now on the link fails closed; start the gateway \
                            again for another guard";
                report(&self.board, ChangeKind::GuardGone, text.to_owned());
                self.reporter.ready("forwarding; the guard is gone: the link would fail closed");
            }
            self.edges.step(now, &self.present, &self.board);
            if let Some(following) = &mut self.present.following {
                following.step(&self.shared, &self.present.commands, &self.board, now);
            }
            let opened = self.shared.openings.load(Ordering::Relaxed);
            if opened > openings {
                openings = opened;
                let text = "this process was silent, and its guard bridged the link: for that time it was not shaped";
                report(&self.board, ChangeKind::FailedOpen, text.to_owned());
            }
            let stalled = self.shared.stalls.load(Ordering::Relaxed);
            if stalled > stalls {
                stalls = stalled;
                let text =
                    "a thread that sends is stuck: what it was given waits, and the others go on without it";
                report(&self.board, ChangeKind::SenderStuck, text.to_owned());
            }
            troubles.look(self.board.lost(), &mut |line| report(&self.board, ChangeKind::Losses, line));
            limits.look(&self.board, now, &mut |kind, line| report(&self.board, kind, line));
            let wire = &self.present.config.spec().wire;
            bypass.look(wire, &self.board, now, &mut |kind, line| report(&self.board, kind, line));
            self.step_offer(now);
            clients.accept(&|| self.listener.accept(), now);
            let board = self.board.clone();
            clients.serve(now, &mut |request| self.answer(request), &mut || {
                Answer::Snapshot(Box::new(Arc::unwrap_or_clone(board.latest())))
            });
            self.wait(&clients, now);
        }
        clients
    }

    /// Serves clients at shutdown, until the last packets have left. Refuses changes.
    pub(super) fn see_out(&mut self, mut clients: Clients, is_over: &dyn Fn() -> bool) {
        loop {
            let is_last = is_over();
            let now = clock::now();
            clients.accept(&|| self.listener.accept(), now);
            let board = self.board.clone();
            let mut answer = |request| match request {
                Request::Reload { .. }
                | Request::Subscribers { .. }
                | Request::SetWeight { .. }
                | Request::SetRate { .. }
                | Request::TakeOver { .. } => Reply::Once(Box::new(refused(ENDING.to_owned()))),
                other => self.answer(other),
            };
            clients.serve(now, &mut answer, &mut || {
                Answer::Snapshot(Box::new(Arc::unwrap_or_clone(board.latest())))
            });
            if is_last {
                return clients.flush(now);
            }
            // Further signals change nothing, but their bytes are read and discarded. Left unread,
            // they would wake the poll again and again.
            has_come(&self.signals.ends);
            has_come(&self.signals.reloads);
            self.wait(&clients, now);
        }
    }

    pub(super) fn leave(&self) {
        self.listener.leave();
        self.estate.name.leave();
        self.reporter.leave();
    }

    fn wait(&self, clients: &Clients, now: Time) {
        let mut events = vec![
            PollFd::new(&self.listener.socket, PollFlags::IN),
            PollFd::new(&self.signals.ends, PollFlags::IN),
            PollFd::new(&self.signals.reloads, PollFlags::IN),
        ];
        let heir = self.offer.as_ref().and_then(Offer::stream);
        events.extend(heir.map(|stream| PollFd::new(stream, PollFlags::IN)));
        events.extend(clients.streams().map(|(stream, flags)| PollFd::from_borrowed_fd(stream, flags)));
        let due = match clients.next_due() {
            _ if clients.has_work() => Duration::ZERO,
            None => LOOK,
            Some(due) => due.since(now).min(LOOK),
        };
        // The result does not matter, since the callers check everything. A signal ends the poll
        // early.
        let _ = poll(&mut events, Some(&clock::timespec(due.ns())));
    }

    fn answer(&mut self, request: Request) -> Reply {
        let answer = match request {
            Request::Watch { every_ms } => {
                let every =
                    Duration::from_ms(u64::from(every_ms)).max(super::pace::interval(&self.present.config));
                return Reply::Every(every);
            }
            Request::Status { classes } => {
                let board = &self.board;
                let snapshot = if classes { board.latest_with_classes() } else { board.latest() };
                Answer::Snapshot(Box::new(Arc::unwrap_or_clone(snapshot)))
            }
            Request::Counts { flows } if flows > MAX_FLOWS => {
                refused(format!("the counts of {flows} flows; allowed: at most {MAX_FLOWS}"))
            }
            Request::Counts { flows } => Answer::Counts(Box::new(self.board.counts(flows as usize))),
            // `reload` writes its own log lines.
            Request::Reload { files, keeps, handed } => {
                let outcome = self.reload(&files, keeps, &handed);
                return Reply::Once(Box::new(outcome.map_or_else(refused, Answer::Reloaded)));
            }
            Request::Subscribers { handed } => match self.change_subscribers(&handed) {
                Ok(Some(done)) => Answer::Reloaded(done),
                Ok(None) => Answer::ReloadNeeded,
                Err(message) => refused(message),
            },
            Request::SetWeight { class, weight } => self.set_weight(&class, weight),
            Request::SetRate { way, steps } => self.set_rate(way, &steps),
            Request::LeftOut { by, mut lines } => {
                lines.truncate(MAX_LEFT_OUT);
                self.board.set_left_out(by, lines);
                Answer::Noted
            }
            Request::Capture { path, handed } => self.capture(&path, &handed),
            Request::TakeOver { wanted, handed } => self.offer(&wanted, &handed),
        };
        if let Answer::Refused { message } = &answer {
            say(format_args!("refused: {message}"));
        }
        Reply::Once(Box::new(answer))
    }

    fn reload(&mut self, files: &[PathBuf], keeps: bool, handed: &Handed) -> Result<Reloaded, String> {
        self.reporter.reloading();
        let outcome = self.present.reload(files, keeps, handed);
        memory::give_back(); // two configurations existed
        match &outcome {
            Ok(done) if done.changes.is_empty() => {
                self.board.note(ChangeKind::Reload, "nothing changed".to_owned());
            }
            Ok(done) => self.board.note(ChangeKind::Reload, done.changes.join("\n")),
            Err(message) => self.board.note(ChangeKind::ReloadRefused, message.clone()),
        }
        match &outcome {
            Ok(done) => say(format_args!(
                "reloaded: {}, {} packets handed over ({} ahead), paused {:.3} ms ({:.3} ms of processor time), {}",
                counted(done.changes.len(), "change"),
                done.handed_over,
                done.ahead,
                done.paused_ms,
                done.paused_cpu_ms,
                if done.is_balanced { "every packet has its place" } else { "PACKETS ARE MISSING" }
            )),
            Err(message) => say(format_args!("not reloaded: {message}")),
        }
        self.reporter.ready(if outcome.is_ok() { "reloaded" } else { "the last reload was refused" });
        outcome
    }

    fn change_subscribers(&mut self, handed: &Handed) -> Result<Option<Reloaded>, String> {
        let done = self.present.change_subscribers(handed)?;
        if let Some(done) = &done {
            report(&self.board, ChangeKind::Reload, done.changes.join("\n"));
        }
        Ok(done)
    }

    fn set_weight(&mut self, class: &str, weight: f64) -> Answer {
        match self.present.set_weight(class, weight) {
            Ok(before) => {
                let change = format!("weight of {class}: {before} -> {weight}, until a reload");
                report(&self.board, ChangeKind::Weight, change);
                Answer::WeightSet { before }
            }
            Err(message) => refused(message),
        }
    }

    fn set_rate(&mut self, way: Way, steps: &[RateStep]) -> Answer {
        match self.present.set_rate(way, steps) {
            Ok(before) => {
                let rate = |rate: Option<Rate>| rate.map_or("nothing".to_owned(), |rate| rate.to_string());
                let list: Vec<String> = steps
                    .iter()
                    .map(|step| format!("{} after {} ms", rate(Rate::from_bps(step.bps)), step.after_ms))
                    .collect();
                let (way, list) = (way.name(), list.join(", "));
                let change = format!("rate of {way}: {} -> {list}, until a reload", rate(before));
                report(&self.board, ChangeKind::Rate, change);
                Answer::RateSet { before_bps: before.map_or(0, Rate::bps) }
            }
            Err(message) => refused(message),
        }
    }

    fn offer(&mut self, wanted: &Wanted, handed: &Handed) -> Answer {
        if let Some(message) = take_over::refusal(&self.present.config, wanted) {
            return refused(message);
        }
        if !self.estate.is_alone {
            return refused(SEVERAL.to_owned());
        }
        if self.offer.is_some() {
            return refused("another process is about to take over".to_owned());
        }
        let Ok(Some(stream)) = handed.file(0) else {
            return refused("no stream came with the request".to_owned());
        };
        let guard = self.estate.guard.as_ref();
        let guard = guard.filter(|_| !self.shared.is_guard_gone.load(Ordering::Relaxed));
        let papers: Vec<(Paper, BorrowedFd<'_>)> =
            [(Paper::Control, self.listener.socket.as_fd()), (Paper::Name, self.estate.name.file.as_fd())]
                .into_iter()
                .chain(guard.map(|pipes| (Paper::ToGuard, pipes.to_guard.as_fd())))
                .chain(guard.map(|pipes| (Paper::FromGuard, pipes.from_guard.as_fd())))
                .chain(self.estate.streams.iter().map(|listener| (Paper::Stream, listener.as_fd())))
                .chain(self.edges.listens().map(|socket| (Paper::Datagram, socket.as_fd())))
                .collect();
        match Offer::make(stream.into(), &papers, clock::now()) {
            Ok(offer) => {
                self.offer = Some(offer);
                say(format_args!("another process is about to take over"));
                Answer::Offered
            }
            Err(error) => refused(format!("what is handed over cannot be sent: {error}")),
        }
    }

    fn step_offer(&mut self, now: Time) {
        let Some(offer) = &mut self.offer else { return };
        if let Some(stream) = offer.step() {
            // If the datapath thread has ended, this process is about to end too.
            let _ = self.present.commands.send(Command::HandOver(stream));
        }
        if offer.is_over(now) {
            self.offer = None;
        }
    }

    fn capture(&self, path: &Path, handed: &Handed) -> Answer {
        let written = handed.file(0).and_then(|file| match file {
            Some(file) => self.board.capture_into(&file),
            None => self.board.capture(path),
        });
        match written {
            Ok(packets) => {
                say(format_args!(
                    "{} of the capture written to {}",
                    counted(packets as usize, "packet"),
                    path.display()
                ));
                Answer::Captured { packets }
            }
            Err(error) => refused(format!(
                "the capture cannot be written to {}: {error}; allowed: a path that is not there yet, in a folder that the \
                 gateway's process may write, or a file that is handed over (`fairwire-gateway capture` does)",
                path.display()
            )),
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn refused(message: String) -> Answer {
    Answer::Refused { message }
}
