//! The kernel's state of the two interfaces, read on a separate thread.
//!
//! A query takes a lock that other processes hold for tens of milliseconds, which is too long for
//! the datapath thread.

use super::error::ServiceError;
use super::log::{self, report, say};
use crate::config::wire::WireSpec;
use crate::telemetry::{Board, ChangeKind};
use fairwire_core::{Duration, Time};
use fairwire_datapath::io::insides::is_pattern;
use fairwire_datapath::io::router::MAX_INSIDES;
use fairwire_linux::clock;
use fairwire_linux::interface;
use fairwire_linux::link::{self, About, News};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(super) struct LinkView {
    is_up: AtomicBool,
    outages: AtomicU64,
}

impl LinkView {
    /// Does the interface carry frames?
    pub(super) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    pub(super) fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(super) fn up() -> Arc<Self> {
        Arc::new(LinkView { is_up: AtomicBool::new(true), outages: AtomicU64::new(0) })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Up,
    Down,
    NoCarrier,
    Gone,
}

impl State {
    fn of(about: &About) -> Self {
        match (about.is_up, about.is_running) {
            (true, true) => State::Up,
            (true, false) => State::NoCarrier,
            (false, _) => State::Down,
        }
    }
}

#[derive(Debug)]
struct Watched {
    /// `name` is the interface's name in the configuration; `called` is its current name.
    name: String,
    called: String,
    index: Option<u32>,
    state: State,
    /// The last logged state, and the number of outages until then.
    logged: (State, u64),
    down_since: Time,
    view: Arc<LinkView>,
}

impl Watched {
    fn new(name: &str) -> io::Result<Self> {
        let index = link::index_of(name)?;
        let state =
            index.map_or(Ok(State::Gone), |index| link::about(index).map(|about| State::of(&about)))?;
        let view = Arc::new(LinkView::default());
        view.is_up.store(state == State::Up, Ordering::Relaxed);
        let (name, called) = (name.to_owned(), name.to_owned());
        // Because of this first state, an interface that is down at the start is logged too.
        let logged = (State::Up, 0);
        Ok(Watched { name, called, index, state, logged, down_since: clock::now(), view })
    }

    fn hear(&mut self, news: News, now: Time) {
        match news {
            News::Is(about) if self.index == Some(about.index) => self.become_(State::of(&about), now),
            News::Gone(index) if self.index == Some(index) => {
                self.index = None;
                self.become_(State::Gone, now);
            }
            _ => {}
        }
    }

    fn become_(&mut self, state: State, now: Time) {
        if self.state == State::Up && state != State::Up {
            self.view.outages.fetch_add(1, Ordering::Relaxed);
            self.down_since = now;
        }
        self.state = state;
        self.view.is_up.store(state == State::Up, Ordering::Relaxed);
    }

    /// Queries the kernel, since messages may have been lost.
    fn look(&mut self, now: Time) -> io::Result<()> {
        if let Some(index) = self.index {
            match link::name_of(index)? {
                Some(called) => self.be_called(called),
                None => self.hear(News::Gone(index), now),
            }
        }
        if self.index.is_none() {
            self.index = link::index_of(&self.name)?;
            self.called.clone_from(&self.name);
        }
        match self.index.map(link::about) {
            Some(Ok(about)) => self.become_(State::of(&about), now),
            // The interface has disappeared. A kernel message or the next query shows this.
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Some(Err(error)) => return Err(error),
            None => {}
        }
        Ok(())
    }

    fn be_called(&mut self, called: String) {
        if self.called != called {
            say(format_args!("`{}` is called `{called}` now: the gateway stays on it", self.called));
            self.called = called;
        }
    }

    fn report(&mut self, board: &Board, now: Time) {
        let (was_up, is_up) = (self.logged.0 == State::Up, self.state == State::Up);
        match self.line(now) {
            Some(line) if is_up => report(board, ChangeKind::InterfaceUp, line),
            Some(line) if was_up => report(board, ChangeKind::InterfaceDown, line),
            // Only the reason of the outage changed, so this is no second outage.
            Some(line) => say(format_args!("{line}")),
            None => {}
        }
    }

    fn line(&mut self, now: Time) -> Option<String> {
        let (state, outages) = (self.state, self.view.outages());
        let (before, counted) = std::mem::replace(&mut self.logged, (state, outages));
        if (state, outages) == (before, counted) {
            return None;
        }
        let name = &self.called;
        Some(match state {
            State::Up if before == State::Up => {
                format!("`{name}` was down for a moment ({} times)", outages - counted)
            }
            State::Up => format!("`{name}` is up again, after {:.1} s", now.since(self.down_since).secs()),
            State::Down => {
                format!(
                    "`{name}` is down: nothing passes through it until it is up (`ip link set {name} up`)"
                )
            }
            State::NoCarrier => {
                format!(
                    "`{name}` has no carrier: nothing passes through it until its cable is in and its peer is up"
                )
            }
            State::Gone => {
                format!(
                    "`{name}` is gone: nothing passes through it until an interface of that name is there"
                )
            }
        })
    }
}

#[derive(Debug)]
pub(super) struct Links {
    socket: OwnedFd,
    wire: WireSpec,
    outside: Watched,
    /// The inside interfaces that the configuration lists by name.
    insides: Vec<Watched>,
    /// The existing interfaces that a pattern covers.
    covered: Vec<String>,
    /// The state of all inside interfaces together: up if any of them is up, or if there is a
    /// pattern.
    inside: Arc<LinkView>,
}

/// The interval at which the thread checks whether the gateway ends.
const PAUSE: Duration = Duration::from_ms(200);
/// The interval between queries of the kernel, in case a message was lost, or an interface appeared
/// that a pattern covers.
const LOOK: Duration = Duration::from_secs(1);

impl Links {
    pub(super) fn open(wire: &WireSpec) -> Result<Self, ServiceError> {
        let fail = |error| ServiceError::system("listening to changes of interfaces", error);
        // Listening starts before the first query, so no change is missed.
        let socket = link::listen().map_err(fail)?;
        let listed = wire.inside.names().iter().filter(|name| !is_pattern(name));
        let insides = listed.map(|name| Watched::new(name)).collect::<io::Result<_>>().map_err(fail)?;
        let (wire, outside) = (wire.clone(), Watched::new(&wire.outside).map_err(fail)?);
        let (inside, covered) = (Arc::default(), Vec::new());
        let links = Links { socket, wire, outside, insides, covered, inside };
        links.show_inside();
        Ok(links)
    }

    /// The states of the inside and of the outside, which [`watch`](Links::watch) updates.
    pub(super) fn views(&self) -> [Arc<LinkView>; 2] {
        [self.inside.clone(), self.outside.view.clone()]
    }

    fn show_inside(&self) {
        let views = || self.insides.iter().map(|watched| &watched.view);
        let is_up = self.wire.inside.has_pattern() || views().any(|view| view.is_up());
        self.inside.is_up.store(is_up, Ordering::Relaxed);
        self.inside.outages.store(views().map(|view| view.outages()).sum(), Ordering::Relaxed);
    }

    fn each(&mut self) -> impl Iterator<Item = &mut Watched> {
        self.insides.iter_mut().chain([&mut self.outside])
    }

    /// Logs which interfaces that a pattern covers have appeared and disappeared. Sessions come and
    /// go, so these are no outages.
    fn log_covered(&mut self) {
        let Some(there) = self.wire.inside.has_pattern().then(interface::names).and_then(Result::ok) else {
            return;
        };
        let is_covered = |name: &String| !self.wire.inside.names().contains(name);
        let covered: Vec<String> = self.wire.insides_among(&there).into_iter().filter(is_covered).collect();
        for name in covered.iter().filter(|name| !self.covered.contains(name)) {
            say(format_args!("`{name}` is there, and a pattern covers it"));
        }
        for name in self.covered.iter().filter(|name| !covered.contains(name)) {
            say(format_args!("`{name}`, which a pattern covered, is gone"));
        }
        if covered.len() + self.insides.len() > usize::from(MAX_INSIDES) && covered != self.covered {
            say(format_args!(
                "{} interfaces are inside: at most {MAX_INSIDES} are shaped, and the others pass unshaped",
                covered.len() + self.insides.len()
            ));
        }
        self.covered = covered;
    }

    /// Listens on a separate thread until `is_over`. The thread is not joined: it ends a moment
    /// later or with the process.
    pub(super) fn watch(mut self, is_over: Arc<AtomicBool>, board: Arc<Board>) -> Result<(), ServiceError> {
        let listening = move || {
            let mut look_at = clock::now() + LOOK;
            self.each().for_each(|watched| watched.report(&board, clock::now()));
            while !is_over.load(Ordering::Relaxed) {
                self.wait();
                let has_missed = self.hear();
                let now = clock::now();
                if has_missed || now >= look_at {
                    look_at = now + LOOK;
                    // If a query fails, it is repeated a second later.
                    self.each().for_each(|watched| drop(watched.look(now)));
                    self.log_covered();
                }
                self.show_inside();
                self.each().for_each(|watched| watched.report(&board, now));
            }
        };
        let spawned = log::start("links", listening);
        spawned.map(drop).map_err(|error| ServiceError::system("starting a thread", error))
    }

    fn wait(&self) {
        let mut events = [PollFd::new(&self.socket, PollFlags::IN)];
        // If poll fails, the calls that follow fail too.
        let _ = poll(&mut events, Some(&clock::timespec(PAUSE.ns())));
    }

    /// Reads the kernel's messages. Returns whether a query is needed, because messages have come
    /// or were lost.
    fn hear(&mut self) -> bool {
        let mut bytes = [0; 16 << 10];
        let mut must_look = false;
        loop {
            match read(&self.socket, &mut bytes) {
                Ok(count) => {
                    let now = clock::now();
                    for news in link::news(&bytes[..count]) {
                        self.each().for_each(|watched| watched.hear(news, now));
                        must_look = true;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::NOBUFS) => must_look = true,
                Err(_) => return must_look,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched() -> Watched {
        let view = LinkView::up();
        let (name, called) = ("wan0".to_owned(), "wan0".to_owned());
        let (index, state, logged) = (Some(7), State::Up, (State::Up, 0));
        Watched { name, called, index, state, logged, down_since: Time::ZERO, view }
    }

    fn is(is_up: bool, is_running: bool) -> News {
        News::Is(About { index: 7, is_up, is_running, ..About::default() })
    }

    #[test]
    fn each_change_is_logged_once_and_each_loss_counted_once() {
        let mut watched = watched();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        let mut after = |s, news| {
            watched.hear(news, at(s));
            (watched.line(at(s)), watched.view.outages(), watched.view.is_up())
        };
        assert_eq!(after(1, is(true, true)), (None, 0, true));
        let (line, outages, is_up) = after(2, is(true, false));
        assert!(line.is_some_and(|line| line.contains("no carrier")) && outages == 1 && !is_up);
        // A new reason for the same outage is logged once.
        let (line, outages, _) = after(3, is(false, false));
        assert!(line.is_some_and(|line| line.contains("is down")) && outages == 1);
        assert_eq!(after(4, is(false, false)), (None, 1, false));
        let (line, _, is_up) = after(5, is(true, true));
        assert!(line.is_some_and(|line| line.ends_with("after 3.0 s")) && is_up);
        let (line, outages, _) = after(6, News::Gone(7));
        assert!(line.is_some_and(|line| line.contains("is gone")) && outages == 2);
        assert_eq!(after(7, is(true, true)), (None, 2, false), "another interface has that number now");
    }

    #[test]
    fn a_short_outage_is_logged_and_counted_after_its_end() {
        let mut watched = watched();
        for is_up in [false, true, false, true] {
            watched.hear(is(is_up, is_up), Time::ZERO);
        }
        assert_eq!(watched.line(Time::ZERO).as_deref(), Some("`wan0` was down for a moment (2 times)"));
        assert_eq!((watched.line(Time::ZERO), watched.view.outages()), (None, 2));
    }

    #[test]
    fn the_loopback_is_present_and_a_missing_interface_is_gone() {
        let lo = Watched::new("lo").expect("every network namespace has it");
        assert_eq!(lo.index, link::index_of("lo").ok().flatten());
        let mut none = Watched::new("no-such-if").expect("the kernel answers");
        assert_eq!((none.state, none.view.is_up()), (State::Gone, false));
        none.look(Time::ZERO).expect("the kernel answers");
        assert!(none.line(Time::ZERO).is_some_and(|line| line.contains("is gone")));
    }
}
