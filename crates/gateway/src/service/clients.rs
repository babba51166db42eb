//! Who asks at the control socket: a bounded number, each with a bounded line, and nobody is waited for.

use crate::control::handed::Handed;
use crate::control::protocol::{Answer, Request};
use fairwire_core::{Duration, Time};
use rustix::event::PollFlags;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

/// More than this at once are told so, and let go.
const MOST_CLIENTS: usize = 32;
/// Bytes of the longest request: a path may be 4096.
const LONGEST_LINE: usize = 8 << 10;
/// Bytes that may wait for a client that does not read: a few snapshots with 20 000 classes.
const MOST_UNREAD: usize = 32 << 20;
/// A client that is quiet for so long, and watches nothing or reads nothing, is let go.
const QUIET: Duration = Duration::from_secs(60);

/// All who are connected.
#[derive(Debug, Default)]
pub(super) struct Clients(Vec<Client>);

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    /// Files that came with what was read last, for the request that it ends.
    handed: Handed,
    input: Vec<u8>,
    output: Vec<u8>,
    watch: Option<Watch>,
    heard: Time,
    /// Nothing more is read; it goes when it has read what waits.
    is_leaving: bool,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    every: Duration,
    next: Time,
}

/// What becomes of a request: an answer, or a snapshot every so often.
pub(super) enum Reply {
    Once(Box<Answer>),
    Every(Duration),
}

impl Clients {
    /// Those whose streams are to be waited for, and for what. One that says no more is not listened to: its end would be heard again
    /// and again.
    pub fn streams(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        self.0.iter().map(|client| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, !client.is_leaving);
            flags.set(PollFlags::OUT, !client.output.is_empty());
            (client.stream.as_fd(), flags)
        })
    }

    /// When the next snapshot is due.
    pub fn next_due(&self) -> Option<Time> {
        self.0.iter().filter_map(|client| client.watch.map(|watch| watch.next)).min()
    }

    /// Lets in who waits at `listener`.
    pub fn accept(&mut self, listener: &UnixListener, now: Time) {
        for _ in 0..MOST_CLIENTS {
            let Ok((stream, _)) = listener.accept() else { return };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let mut client = Client {
                stream,
                handed: Handed::default(),
                input: Vec::new(),
                output: Vec::new(),
                watch: None,
                heard: now,
                is_leaving: false,
            };
            if self.0.len() >= MOST_CLIENTS {
                client.refuse(format!("{MOST_CLIENTS} clients are connected; allowed: no more"));
                client.write(now);
                continue;
            }
            self.0.push(client);
        }
    }

    /// Reads what came, answers each request by `answer`, gives watchers what is due by `snapshot`, and lets go who is done.
    pub fn serve(
        &mut self,
        now: Time,
        answer: &mut dyn FnMut(Request) -> Reply,
        snapshot: &mut dyn FnMut() -> Answer,
    ) {
        for client in &mut self.0 {
            client.read(now, answer);
            client.show(now, snapshot);
            client.write(now);
        }
        self.0.retain(|client| !client.is_done(now));
    }

    /// Writes what can be written at once, for the last time.
    pub fn flush(&mut self, now: Time) {
        self.0.iter_mut().for_each(|client| client.write(now));
    }
}

impl Client {
    fn is_done(&self, now: Time) -> bool {
        // A watcher may be silent for as long as it reads.
        let is_quiet = (self.watch.is_none() || !self.output.is_empty()) && now.since(self.heard) > QUIET;
        self.output.len() > MOST_UNREAD || is_quiet || self.is_leaving && self.output.is_empty()
    }

    fn read(&mut self, now: Time, answer: &mut dyn FnMut(Request) -> Reply) {
        let mut chunk = [0; 4096];
        // A few reads only: one that never stops sending must not keep the others waiting.
        for _ in 0..4 {
            if self.is_leaving {
                return;
            }
            match self.handed.receive(&self.stream, &mut chunk) {
                Ok(0) => return self.leave(),
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.vanish(),
            }
            self.heard = now;
            self.take_lines(now, answer);
        }
    }

    fn take_lines(&mut self, now: Time, answer: &mut dyn FnMut(Request) -> Reply) {
        while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            let handed = std::mem::take(&mut self.handed);
            match serde_json::from_slice::<Request>(&line) {
                Ok(request) => match answer(request.with(handed)) {
                    Reply::Once(answer) => self.tell(&answer),
                    Reply::Every(every) => self.watch = Some(Watch { every, next: now }),
                },
                Err(error) => {
                    self.refuse(format!("this is no request: {error}; allowed: one JSON object a line"))
                }
            }
            if self.output.len() > MOST_UNREAD {
                return;
            }
        }
        if self.input.len() > LONGEST_LINE {
            self.input = Vec::new();
            self.refuse(format!("a request is at most {LONGEST_LINE} bytes long"));
            self.is_leaving = true;
        }
    }

    /// A watcher that has not read the last snapshot gets no other one yet.
    fn show(&mut self, now: Time, snapshot: &mut dyn FnMut() -> Answer) {
        let Some(watch) = &mut self.watch else { return };
        if now < watch.next {
            return;
        }
        watch.next = (watch.next + watch.every).max(now);
        if self.output.is_empty() {
            self.tell(&snapshot());
        }
    }

    fn refuse(&mut self, message: String) {
        self.tell(&Answer::Refused { message });
    }

    fn tell(&mut self, answer: &Answer) {
        match serde_json::to_vec(answer) {
            Ok(line) => self.output.extend(line),
            Err(_) => self.output.extend(br#"{"answer":"refused","message":"the answer has no JSON form"}"#),
        }
        self.output.push(b'\n');
    }

    fn write(&mut self, now: Time) {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return self.vanish(),
                Ok(count) => {
                    self.heard = now;
                    self.output.drain(..count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.vanish(),
            }
        }
    }

    /// It says no more, and may still read.
    fn leave(&mut self) {
        self.is_leaving = true;
        self.watch = None;
    }

    fn vanish(&mut self) {
        self.leave();
        self.output = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::SocketAddr;

    struct Place {
        listener: UnixListener,
        address: SocketAddr,
        clients: Clients,
    }

    impl Place {
        fn new(name: &str) -> Self {
            let name = format!("fairwire-clients-{name}-{}", std::process::id());
            let address = SocketAddr::from_abstract_name(name).expect("a short name");
            let listener = UnixListener::bind_addr(&address).expect("nobody else has it");
            listener.set_nonblocking(true).expect("a socket can");
            Place { listener, address, clients: Clients::default() }
        }

        fn connect(&mut self) -> UnixStream {
            let stream = UnixStream::connect_addr(&self.address).expect("it listens");
            self.clients.accept(&self.listener, Time::ZERO);
            stream
        }

        fn serve(&mut self, now: Time) {
            let weighed = |_| Reply::Once(Box::new(Answer::Weighed { before: 2.0 }));
            let mut every = |request| match request {
                Request::Watch { every_ms } => Reply::Every(Duration::from_ms(u64::from(every_ms))),
                other => weighed(other),
            };
            self.clients.serve(now, &mut every, &mut || Answer::Captured { packets: 7 });
        }
    }

    fn line(stream: &UnixStream) -> String {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("it answers");
        line
    }

    #[test]
    fn one_that_says_no_more_and_does_not_read_wakes_nobody() {
        let mut place = Place::new("gone");
        let mut client = place.connect();
        // More answers than a socket holds.
        for _ in 0..200 {
            client.write_all(&b"{\"ask\":\"status\"}\n".repeat(40)).expect("it reads");
            place.serve(Time::ZERO);
        }
        client.shutdown(std::net::Shutdown::Write).expect("it is connected");
        place.serve(Time::ZERO);
        let wanted: Vec<_> = place.clients.streams().map(|(_, flags)| flags).collect();
        assert_eq!(wanted, [PollFlags::OUT]);
    }

    #[test]
    fn a_request_in_two_pieces_is_answered_once_it_is_whole() {
        let mut place = Place::new("pieces");
        let mut stream = place.connect();
        stream.write_all(b"{\"ask\":\"sta").expect("it reads");
        place.serve(Time::ZERO);
        stream.write_all(b"tus\"}\n").expect("it reads");
        place.serve(Time::ZERO);
        assert_eq!(line(&stream), "{\"answer\":\"weighed\",\"before\":2.0}\n");
    }

    #[test]
    fn whatever_is_sent_is_answered_or_let_go_and_the_next_is_served() {
        let mut place = Place::new("hostile");
        let mut stream = place.connect();
        stream.write_all(b"\xff\xfe\0nonsense\n[[[[[\n{\"ask\":\"fly\"}\n{}\n").expect("it reads");
        place.serve(Time::ZERO);
        let answers = BufReader::new(&stream).lines().take(4);
        for answer in answers {
            assert!(answer.expect("a line").contains("this is no request"));
        }
        let mut endless = place.connect();
        endless.set_nonblocking(true).expect("a socket can");
        let _ = endless.write(&vec![b'x'; 100_000]);
        for _ in 0..10 {
            place.serve(Time::ZERO);
        }
        assert_eq!(place.clients.0.len(), 1, "one that never ends its line is let go");
        let mut good = place.connect();
        good.write_all(b"{\"ask\":\"reload\"}\n").expect("it reads");
        place.serve(Time::ZERO);
        assert!(line(&good).contains("weighed"));
    }

    #[test]
    fn there_are_never_more_than_so_many_and_quiet_ones_are_let_go() {
        let mut place = Place::new("many");
        let streams: Vec<_> = (0..MOST_CLIENTS + 3).map(|_| place.connect()).collect();
        assert_eq!(place.clients.0.len(), MOST_CLIENTS);
        assert!(line(&streams[MOST_CLIENTS]).contains("clients are connected"));
        place.serve(Time::ZERO + QUIET + Duration::from_ms(1));
        assert_eq!(place.clients.0.len(), 0);
    }

    #[test]
    fn a_watcher_that_stops_reading_does_not_keep_its_place() {
        let mut place = Place::new("stalled");
        let mut stream = place.connect();
        stream.write_all(b"{\"ask\":\"watch\",\"every_ms\":1}\n").expect("it reads");
        let mut now = Time::ZERO;
        // Until the kernel takes no more.
        while place.clients.0.first().is_some_and(|client| client.output.is_empty()) {
            now += Duration::from_ms(1);
            place.serve(now);
        }
        place.serve(now + Duration::from_secs(59));
        assert_eq!(place.clients.0.len(), 1, "not yet");
        place.serve(now + QUIET + Duration::from_ms(2));
        assert_eq!(place.clients.0.len(), 0);
    }

    #[test]
    fn a_watcher_gets_a_snapshot_every_so_often_and_none_ahead_of_its_reading() {
        let mut place = Place::new("watch");
        let mut stream = place.connect();
        stream.write_all(b"{\"ask\":\"watch\",\"every_ms\":100}\n").expect("it reads");
        for ms in 0..=250 {
            place.serve(Time::ZERO + Duration::from_ms(ms));
        }
        place.clients = Clients::default(); // so that the stream ends
        assert_eq!(BufReader::new(stream).lines().count(), 3);
    }
}
