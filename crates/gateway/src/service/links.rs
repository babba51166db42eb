//! What the kernel says of the two interfaces: heard on a thread of its own, told to the log once each time it changes, and counted.
//!
//! The thread that forwards must not ask: the kernel answers about interfaces under a lock that others hold for tens of
//! milliseconds. It reads what was heard here.

use super::error::ServiceError;
use super::log::say;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::link::{self, About, News};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, read};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// What is known of an interface, for whoever wants to look.
#[derive(Debug, Default)]
pub(super) struct LinkView {
    is_up: AtomicBool,
    outages: AtomicU64,
}

impl LinkView {
    /// Does it carry frames?
    pub(super) fn is_up(&self) -> bool {
        self.is_up.load(Ordering::Relaxed)
    }

    /// How often it went from carrying frames to not.
    pub(super) fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    /// One that carries frames, and is watched by nobody.
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

/// One interface.
#[derive(Debug)]
struct Watched {
    /// As in the configuration, and as it is called now.
    name: String,
    called: String,
    /// Its number, while it is there.
    index: Option<u32>,
    state: State,
    /// What the log was told last, and how many outages there had been by then.
    logged: (State, u64),
    down_since: Time,
    view: Arc<LinkView>,
}

impl Watched {
    /// The interface `name`, as it is now.
    fn new(name: &str) -> io::Result<Self> {
        let index = link::index_of(name)?;
        let state =
            index.map_or(Ok(State::Gone), |index| link::about(index).map(|about| State::of(&about)))?;
        let view = Arc::new(LinkView::default());
        view.is_up.store(state == State::Up, Ordering::Relaxed);
        let (name, called) = (name.to_owned(), name.to_owned());
        // So that the log is told of one that is down from the start.
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

    /// Asks the kernel, since it may have said more than could be heard. `index` and `about` are what it answers.
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
            // It went in this moment: the kernel says so, or the next look does.
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

    /// Tells the log what has changed since it was told.
    fn tell(&mut self, now: Time) {
        if let Some(line) = self.line(now) {
            say(format_args!("{line}"));
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
                format!("`{name}` is down: nothing passes until it is up (`ip link set {name} up`)")
            }
            State::NoCarrier => {
                format!("`{name}` has no carrier: nothing passes until its cable is in and its peer is up")
            }
            State::Gone => {
                format!("`{name}` is gone: nothing passes until an interface of that name is there")
            }
        })
    }
}

/// Both interfaces, and where the kernel tells of them.
#[derive(Debug)]
pub(super) struct Links {
    socket: OwnedFd,
    watched: [Watched; 2],
}

/// How often it is looked whether the gateway ends.
const PAUSE: Duration = Duration::from_ms(200);
/// How often the kernel is asked, in case it has not said something.
const LOOK: Duration = Duration::from_secs(1);

impl Links {
    /// Begins to listen for changes of the interfaces called so.
    pub(super) fn open(names: [&str; 2]) -> Result<Self, ServiceError> {
        let fail = |error| ServiceError::system("listening to changes of interfaces", error);
        // First, so that nothing is missed in between.
        let socket = link::listen().map_err(fail)?;
        let [first, second] = names.map(|name| Watched::new(name).map_err(fail));
        Ok(Links { socket, watched: [first?, second?] })
    }

    /// What is known of each, from now on.
    pub(super) fn views(&self) -> [Arc<LinkView>; 2] {
        [&self.watched[0], &self.watched[1]].map(|watched| watched.view.clone())
    }

    /// Listens on a thread of its own until `is_over`. Nobody waits for it: it ends with the process, or a moment after.
    pub(super) fn watch(mut self, is_over: Arc<AtomicBool>) -> Result<(), ServiceError> {
        let listening = move || {
            let mut look_at = clock::now() + LOOK;
            self.watched.iter_mut().for_each(|watched| watched.tell(clock::now()));
            while !is_over.load(Ordering::Relaxed) {
                self.wait();
                let has_missed = self.hear();
                let now = clock::now();
                if has_missed || now >= look_at {
                    look_at = now + LOOK;
                    // What cannot be asked now can be in a second.
                    self.watched.iter_mut().for_each(|watched| drop(watched.look(now)));
                }
                self.watched.iter_mut().for_each(|watched| watched.tell(now));
            }
        };
        let spawned = thread::Builder::new().name("links".into()).spawn(listening);
        spawned.map(drop).map_err(|error| ServiceError::system("starting a thread", error))
    }

    fn wait(&self) {
        let mut events = [PollFd::new(&self.socket, PollFlags::IN)];
        // What went wrong here shows in what follows.
        let _ = poll(&mut events, Some(&clock::timespec(PAUSE.ns())));
    }

    /// Takes in all that the kernel has said. Must it be asked, because it said more than could be kept, or of an interface that is
    /// not known yet?
    fn hear(&mut self) -> bool {
        let mut bytes = [0; 16 << 10];
        let mut must_look = false;
        loop {
            match read(&self.socket, &mut bytes) {
                Ok(count) => {
                    let now = clock::now();
                    for news in link::news(&bytes[..count]) {
                        self.watched.iter_mut().for_each(|watched| watched.hear(news, now));
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
    fn each_change_is_told_once_and_each_loss_counted_once() {
        let mut watched = watched();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        let mut after = |s, news| {
            watched.hear(news, at(s));
            (watched.line(at(s)), watched.view.outages(), watched.view.is_up())
        };
        assert_eq!(after(1, is(true, true)), (None, 0, true));
        let (line, outages, is_up) = after(2, is(true, false));
        assert!(line.is_some_and(|line| line.contains("no carrier")) && outages == 1 && !is_up);
        // From one trouble to another is no second outage, and said is said.
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
    fn what_was_over_before_it_could_be_told_is_told_and_counted() {
        let mut watched = watched();
        for is_up in [false, true, false, true] {
            watched.hear(is(is_up, is_up), Time::ZERO);
        }
        assert_eq!(watched.line(Time::ZERO).as_deref(), Some("`wan0` was down for a moment (2 times)"));
        assert_eq!((watched.line(Time::ZERO), watched.view.outages()), (None, 2));
    }

    #[test]
    fn the_loopback_is_there_and_what_is_not_there_is_gone() {
        let lo = Watched::new("lo").expect("every network namespace has it");
        assert_eq!(lo.index, link::index_of("lo").ok().flatten());
        let mut none = Watched::new("no-such-if").expect("the kernel answers");
        assert_eq!((none.state, none.view.is_up()), (State::Gone, false));
        none.look(Time::ZERO).expect("the kernel answers");
        assert!(none.line(Time::ZERO).is_some_and(|line| line.contains("is gone")));
    }
}
