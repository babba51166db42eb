//! The clients of the control socket. The gateway waits for none of them.
//!
//! Clients take turns, one request at a time, between checks of signals and the watchdog. A client
//! gets no further answer until it has read the previous one.

use fairwire_control::handed::Handed;
use fairwire_control::protocol::{Answer, Request};
use fairwire_core::{Duration, Time};
use rustix::event::PollFlags;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// The most clients. A further client replaces the client that has been idle longest.
const MAX_CLIENTS: usize = 32;
/// The most clients that watch. Watchers are never idle, so they must leave connections for
/// requests.
const MAX_WATCHERS: usize = 24;
/// The most connections accepted between two requests.
const ACCEPTED_AT_ONCE: usize = 4;
/// The most bytes of a request. A path in a request may take 4096 bytes.
const MAX_LINE: usize = 8 << 10;
/// No request is answered while this many bytes of answers are unread: a few snapshots of 20,000
/// classes.
const MAX_UNREAD: usize = 32 << 20;
/// The time after which a client with an unread answer must make room for others. A local client
/// reads a snapshot within milliseconds.
const STALLED: Duration = Duration::from_secs(1);
/// The silence after which a client is disconnected, unless it watches and reads.
const QUIET: Duration = Duration::from_secs(60);
/// The most reads of 4 KiB from a client to find further reload requests. One reload answers all
/// requests that were found.
const MERGED_READS: usize = 4;

const READER: &str = "this user may only read; allowed: status, counts and watch. Root and the socket's owner may change \
                      the gateway and take captures";

/// All connected clients. The client to be answered next is first.
#[derive(Debug, Default)]
pub(super) struct Clients(Vec<Client>);

#[derive(Debug)]
struct Client {
    stream: UnixStream,
    may_change: bool,
    /// Files received with the last data. They belong to the request that this data completes.
    handed: Handed,
    input: Vec<u8>,
    output: Vec<u8>,
    watch: Option<Watch>,
    /// The time at which the client last connected, completed a request or read something.
    heard: Time,
    /// The time at which the unread answer was sent.
    owed_since: Time,
    /// The client sends no more, and is removed once it has read the answers to its requests.
    is_over: bool,
    /// The client reads no more. Its requests are carried out but not answered.
    is_gone: bool,
}

#[derive(Clone, Copy, Debug)]
struct Watch {
    every: Duration,
    next: Time,
}

pub(super) enum Reply {
    Once(Box<Answer>),
    Every(Duration),
}

impl Clients {
    /// The streams to poll, with their events. Streams without events are omitted, since poll would
    /// report a half-closed client again and again.
    pub(super) fn streams(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let wanted = self.0.iter().map(|client| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, client.wants_input());
            flags.set(PollFlags::OUT, !client.output.is_empty());
            (client.stream.as_fd(), flags)
        });
        wanted.filter(|(_, flags)| !flags.is_empty())
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        self.0.iter().filter_map(|client| client.watch.map(|watch| watch.next)).min()
    }

    pub(super) fn has_work(&self) -> bool {
        self.has_room() && self.0.iter().any(Client::is_ready)
    }

    /// Accepts waiting clients. `next` returns a client's stream, and whether the client may change
    /// what the gateway does.
    pub(super) fn accept(&mut self, next: &dyn Fn() -> io::Result<(UnixStream, bool)>, now: Time) {
        for _ in 0..ACCEPTED_AT_ONCE {
            let (stream, may_change) = match next() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => continue,
            };
            let client = Client::new(stream, may_change, now);
            if self.0.len() < MAX_CLIENTS || self.make_place(now) {
                self.0.push(client);
            } else {
                client.dismiss(format!("{MAX_CLIENTS} clients wait for answers; allowed: no more"), now);
            }
        }
    }

    fn make_place(&mut self, now: Time) -> bool {
        let idle = |client: &Client| client.output.is_empty() && !client.has_line();
        let owed = |client: &Client| client.has_stalled(now);
        let longest = |is_wanted: &dyn Fn(&Client) -> bool| {
            let clients = self.0.iter().enumerate();
            let wanted = clients.filter(|(_, client)| client.watch.is_none() && is_wanted(client));
            wanted.min_by_key(|(_, client)| client.heard).map(|(place, _)| place)
        };
        let Some(place) = longest(&idle).or_else(|| longest(&owed)) else { return false };
        let why = format!("{MAX_CLIENTS} clients are connected, and this one was idle for longest");
        self.0.remove(place).dismiss(why, now);
        true
    }

    /// Reads from clients, answers **one** request with `answer`, sends due snapshots to watchers,
    /// and removes clients that have ended.
    pub(super) fn serve(
        &mut self,
        now: Time,
        answer: &mut dyn FnMut(Request) -> Reply,
        snapshot: &mut dyn FnMut() -> Answer,
    ) {
        self.0.iter_mut().for_each(|client| client.read(now));
        self.make_room(now);
        if self.has_room() {
            self.answer_next(now, answer);
        }
        self.show(now, snapshot);
        self.0.iter_mut().for_each(|client| client.write(now));
        self.0.retain(|client| !client.is_done(now));
    }

    /// Writes as much as possible without blocking, for the last time.
    pub(super) fn flush(&mut self, now: Time) {
        self.0.iter_mut().for_each(|client| client.write(now));
    }

    fn has_room(&self) -> bool {
        self.0.iter().map(|client| client.output.len()).sum::<usize>() < MAX_UNREAD
    }

    fn make_room(&mut self, now: Time) {
        if self.has_room() || !self.0.iter().any(Client::is_ready) {
            return;
        }
        let clients = self.0.iter_mut();
        let stalled = clients.filter(|client| client.has_stalled(now));
        if let Some(client) = stalled.max_by_key(|client| client.output.len()) {
            client.vanish();
            client.is_over = true;
        }
    }

    fn answer_next(&mut self, now: Time, answer: &mut dyn FnMut(Request) -> Reply) {
        let Some(place) = self.0.iter().position(Client::is_ready) else { return };
        let mut client = self.0.remove(place);
        match client.take_request(now) {
            Err(message) => client.refuse(message, now),
            Ok(request) if !client.may_change && !request.only_reads() => client.refuse(READER.into(), now),
            Ok(reload @ Request::Reload { .. }) => {
                self.0.push(client);
                return self.reload(reload, now, answer);
            }
            // These requests change nothing, and the client would not read the answer.
            Ok(Request::Status { .. } | Request::Counts { .. } | Request::Watch { .. }) if client.is_gone => {
            }
            Ok(Request::Watch { .. }) if self.watchers() >= MAX_WATCHERS => {
                client.refuse(format!("{MAX_WATCHERS} clients watch; allowed: no more"), now);
            }
            Ok(request) => match answer(request) {
                Reply::Once(answer) => client.send(&line_of(&answer), now),
                Reply::Every(every) => client.watch = Some(Watch { every, next: now }),
            },
        }
        self.0.push(client);
    }

    fn watchers(&self) -> usize {
        self.0.iter().filter(|client| client.watch.is_some()).count()
    }

    /// Answers the request `reload` of the last client in the list. The reload also answers all
    /// equal requests that arrive before the files are read.
    fn reload(&mut self, mut reload: Request, now: Time, answer: &mut dyn FnMut(Request) -> Reply) {
        let mut counts = Vec::with_capacity(self.0.len());
        for client in &mut self.0 {
            let is_free = client.output.is_empty() && client.may_change;
            counts.push(if is_free { client.take_reloads(&mut reload, now) } else { 0 });
        }
        if let Some(last) = counts.last_mut() {
            *last += 1;
        }
        let Reply::Once(answer) = answer(reload) else { unreachable!("a reload is answered once") };
        let line = line_of(&answer);
        for (client, count) in self.0.iter_mut().zip(counts).filter(|(_, count)| *count > 0) {
            client.send(&line.repeat(count), now);
        }
    }

    /// Sends one snapshot to all watchers that are due, except to those with an unread snapshot.
    fn show(&mut self, now: Time, snapshot: &mut dyn FnMut() -> Answer) {
        let has_room = self.has_room();
        let mut line = None;
        for client in &mut self.0 {
            let Some(watch) = &mut client.watch else { continue };
            if now < watch.next {
                continue;
            }
            watch.next = (watch.next + watch.every).max(now);
            if client.output.is_empty() && has_room {
                client.send(line.get_or_insert_with(|| line_of(&snapshot())), now);
            }
        }
    }
}

impl Client {
    fn new(stream: UnixStream, may_change: bool, now: Time) -> Self {
        Client {
            stream,
            may_change,
            handed: Handed::default(),
            input: Vec::new(),
            output: Vec::new(),
            watch: None,
            heard: now,
            owed_since: now,
            is_over: false,
            is_gone: false,
        }
    }

    fn is_ready(&self) -> bool {
        self.output.is_empty() && self.has_line()
    }

    fn has_line(&self) -> bool {
        self.input.contains(&b'\n')
    }

    fn has_stalled(&self, now: Time) -> bool {
        !self.output.is_empty() && now.since(self.owed_since) > STALLED
    }

    fn wants_input(&self) -> bool {
        !self.is_over && !self.has_line()
    }

    fn is_done(&self, now: Time) -> bool {
        // A watcher may be silent as long as it reads. A client with a request may be silent until
        // its turn.
        let may_be_silent = self.output.is_empty() && (self.watch.is_some() || self.has_line());
        let is_quiet = !may_be_silent && now.since(self.heard) > QUIET;
        is_quiet || self.is_over && self.output.is_empty() && !self.has_line()
    }

    /// Reads until there is a complete request; the rest stays in the kernel.
    fn read(&mut self, now: Time) {
        let mut chunk = [0; 4096];
        while self.wants_input() {
            match self.handed.receive(&self.stream, &mut chunk) {
                Ok(0) => self.end(),
                Ok(count) => self.input.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => {
                    self.vanish();
                    self.end();
                }
            }
            if self.input.len() > MAX_LINE && !self.has_line() {
                self.input = Vec::new();
                self.refuse(format!("a request is at most {MAX_LINE} bytes long"), now);
                self.end();
            }
        }
    }

    fn take_request(&mut self, now: Time) -> Result<Request, String> {
        let end = self.input.iter().position(|byte| *byte == b'\n').unwrap_or(self.input.len() - 1);
        let line: Vec<u8> = self.input.drain(..=end).collect();
        self.heard = now;
        let handed = std::mem::take(&mut self.handed);
        Request::of_line(&line).map(|request| request.with(handed))
    }

    /// Merges the client's next reload requests into `reload`, and returns their number. The merged
    /// request reads the files that arrived last.
    fn take_reloads(&mut self, reload: &mut Request, now: Time) -> usize {
        let mut count = 0;
        for _ in 0..MERGED_READS {
            while let Some(end) = self.input.iter().position(|byte| *byte == b'\n') {
                let next = Request::of_line(&self.input[..=end]);
                let Some(merged) = next.ok().and_then(|next| merged(reload, next, &mut self.handed)) else {
                    return count;
                };
                *reload = merged;
                self.input.drain(..=end);
                self.heard = now;
                count += 1;
            }
            self.read(now);
        }
        count
    }

    fn refuse(&mut self, message: String, now: Time) {
        self.send(&line_of(&Answer::Refused { message }), now);
    }

    fn dismiss(mut self, why: String, now: Time) {
        self.refuse(why, now);
        self.write(now);
    }

    fn send(&mut self, line: &[u8], now: Time) {
        if self.is_gone {
            return;
        }
        if self.output.is_empty() {
            self.owed_since = now;
        }
        self.output.extend_from_slice(line);
    }

    fn write(&mut self, now: Time) {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(0) => return self.vanish(),
                Ok(count) => {
                    self.output.drain(..count);
                    self.heard = now;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.vanish(),
            }
        }
        // The buffer is freed, since the answer may have been large.
        self.output = Vec::new();
    }

    fn end(&mut self) {
        self.is_over = true;
        self.watch = None;
    }

    fn vanish(&mut self) {
        self.is_gone = true;
        self.watch = None;
        self.output = Vec::new();
    }
}

/// Merges two reload requests that read the same files. `handed` arrived with `next`.
fn merged(reload: &Request, next: Request, handed: &mut Handed) -> Option<Request> {
    let (Request::Reload { files: old, keeps, .. }, Request::Reload { files: new, keeps: also, .. }) =
        (reload, &next)
    else {
        return None;
    };
    let keeps_all = *keeps && *also;
    let mut one = match (old, new) {
        (_, new) if new.is_empty() => reload.clone(),
        (old, new) if old.is_empty() || old == new => next.with(std::mem::take(handed)),
        _ => return None,
    };
    if let Request::Reload { keeps, .. } = &mut one {
        *keeps = keeps_all;
    }
    Some(one)
}

fn line_of(answer: &Answer) -> Vec<u8> {
    let mut line = serde_json::to_vec(answer)
        .unwrap_or_else(|_| br#"{"answer":"refused","message":"the answer has no JSON form"}"#.to_vec());
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    struct TestServer {
        listener: UnixListener,
        address: SocketAddr,
        clients: Clients,
        may_change: bool,
        served: Vec<Request>,
        status_bytes: usize,
    }

    const STATUS: &[u8] = b"{\"request\":\"status\"}\n";
    const RELOAD: &[u8] = b"{\"request\":\"reload\"}\n";
    const WATCH: &[u8] = b"{\"request\":\"watch\",\"every_ms\":1}\n";
    const SET_WEIGHT: &[u8] = b"{\"request\":\"set-weight\",\"class\":\"gold\",\"weight\":3.0}\n";

    fn bare_reload() -> Request {
        Request::Reload { files: Vec::new(), keeps: false, handed: Handed::default() }
    }

    fn after(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    impl TestServer {
        fn new(name: &str) -> Self {
            let name = format!("fairwire-clients-{name}-{}", std::process::id());
            let address = SocketAddr::from_abstract_name(name).expect("a short name");
            let listener = UnixListener::bind_addr(&address).expect("the name is free");
            listener.set_nonblocking(true).expect("a socket can");
            let clients = Clients::default();
            TestServer { listener, address, clients, may_change: true, served: Vec::new(), status_bytes: 0 }
        }

        fn connect_at(&mut self, now: Time) -> UnixStream {
            let stream = UnixStream::connect_addr(&self.address).expect("it listens");
            let next = || {
                let (stream, _) = self.listener.accept()?;
                stream.set_nonblocking(true)?;
                Ok((stream, self.may_change))
            };
            self.clients.accept(&next, now);
            stream
        }

        fn connect(&mut self) -> UnixStream {
            self.connect_at(Time::ZERO)
        }

        fn sending(&mut self, text: &[u8]) -> UnixStream {
            let mut stream = self.connect();
            stream.set_nonblocking(true).expect("a socket can");
            let _ = stream.write(text);
            stream.set_nonblocking(false).expect("a socket can");
            stream
        }

        fn serve(&mut self, now: Time) -> usize {
            let TestServer { clients, served, status_bytes, .. } = self;
            let before = served.len();
            let mut answer = |request: Request| {
                served.push(request.clone());
                match request {
                    Request::Watch { every_ms } => Reply::Every(Duration::from_ms(u64::from(every_ms))),
                    Request::Status { .. } => {
                        Reply::Once(Box::new(Answer::Refused { message: "x".repeat(*status_bytes) }))
                    }
                    _ => Reply::Once(Box::new(Answer::WeightSet { before: 2.0 })),
                }
            };
            clients.serve(now, &mut answer, &mut || Answer::Captured { packets: 7 });
            self.served.len() - before
        }

        fn unread(&self) -> usize {
            self.clients.0.iter().map(|client| client.output.len()).sum()
        }
    }

    fn line(stream: &UnixStream) -> String {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).expect("it answers");
        line
    }

    #[test]
    fn a_half_closed_client_that_does_not_read_wakes_no_thread() {
        let mut place = TestServer::new("gone");
        place.status_bytes = 4 << 20; // more than a socket holds
        let client = place.sending(STATUS);
        place.serve(Time::ZERO);
        client.shutdown(std::net::Shutdown::Write).expect("it is connected");
        place.serve(Time::ZERO);
        let wanted: Vec<_> = place.clients.streams().map(|(_, flags)| flags).collect();
        assert_eq!(wanted, [PollFlags::OUT]);
    }

    #[test]
    fn a_read_only_client_changes_nothing_even_during_a_reload_of_another() {
        let mut place = TestServer::new("reader");
        place.may_change = false;
        let changes = [RELOAD, SET_WEIGHT, b"{\"request\":\"capture\",\"path\":\"x\"}\n", STATUS].concat();
        let reader = place.sending(&changes);
        let reloads = place.sending(RELOAD);
        place.may_change = true;
        let owner = place.sending(RELOAD);
        (0..6).for_each(|_| {
            place.serve(Time::ZERO);
        });
        assert_eq!(place.served, [bare_reload(), Request::Status { classes: false }]);
        let answers: Vec<String> = BufReader::new(&reader).lines().take(3).map_while(Result::ok).collect();
        assert!(
            answers.len() == 3 && answers.iter().all(|line| line.contains("may only read")),
            "{answers:?}"
        );
        assert!(line(&reloads).contains("may only read"));
        assert!(line(&owner).contains("weight-set"));
    }

    #[test]
    fn a_request_in_two_pieces_is_answered_once_it_is_complete() {
        let mut place = TestServer::new("pieces");
        let mut stream = place.sending(b"{\"request\":\"rel");
        place.serve(Time::ZERO);
        stream.write_all(b"oad\"}\n").expect("it reads");
        place.serve(Time::ZERO);
        assert_eq!(line(&stream), "{\"answer\":\"weight-set\",\"before\":2.0}\n");
    }

    #[test]
    fn any_input_is_answered_or_disconnected_and_the_next_is_served() {
        let mut place = TestServer::new("hostile");
        let stream = place.sending(b"\xff\xfe\0nonsense\n[[[[[\n{\"request\":\"fly\"}\n{}\n");
        (0..4).for_each(|_| assert_eq!(place.serve(Time::ZERO), 0));
        let answers = BufReader::new(&stream).lines().take(4);
        for answer in answers {
            assert!(answer.expect("a line").contains("this is no request"));
        }
        let _endless = place.sending(&vec![b'x'; 100_000]);
        for _ in 0..10 {
            place.serve(Time::ZERO);
        }
        assert_eq!(place.clients.0.len(), 1, "one that never ends its line is disconnected");
        let good = place.sending(RELOAD);
        place.serve(Time::ZERO);
        assert!(line(&good).contains("weight-set"));
    }

    #[test]
    fn each_round_answers_one_request_and_clients_take_turns() {
        let mut place = TestServer::new("turns");
        let _hog = place.sending(&SET_WEIGHT.repeat(1000));
        let _other = place.sending(STATUS);
        let served: Vec<usize> = (0..4).map(|_| place.serve(Time::ZERO)).collect();
        assert_eq!(served, [1, 1, 1, 1], "signals are checked between two requests");
        assert!(place.served[..2].contains(&Request::Status { classes: false }), "{:?}", place.served);
        assert!(place.clients.has_work(), "the hog's next request does not wait for an event");
    }

    #[test]
    fn waiting_reloads_are_merged_and_each_is_answered() {
        let mut place = TestServer::new("reloads");
        let few = place.sending(&RELOAD.repeat(3));
        let other = place.sending(&[RELOAD, STATUS].concat());
        assert_eq!(place.serve(Time::ZERO), 1);
        assert_eq!(place.served, [bare_reload()]);
        assert_eq!(BufReader::new(&few).lines().take(3).filter(Result::is_ok).count(), 3);
        assert!(line(&other).contains("weight-set"));
        place.serve(Time::ZERO);
        assert_eq!(
            place.served.last(),
            Some(&Request::Status { classes: false }),
            "and its next one follows"
        );
    }

    #[test]
    fn thousands_of_reloads_of_a_departed_client_cost_only_a_few() {
        let mut place = TestServer::new("left");
        let hog = place.sending(&RELOAD.repeat(9400));
        drop(hog);
        for _ in 0..100 {
            assert!(place.serve(Time::ZERO) <= 1);
        }
        // The socket buffers 200 KiB of requests. One reload answers at least 16 KiB of them, so at
        // most about 13 reloads are made.
        assert!((1..=14).contains(&place.served.len()), "{}", place.served.len());
        assert!(place.clients.0.is_empty());
    }

    #[test]
    fn a_change_of_a_departed_client_is_made_without_an_answer() {
        let mut place = TestServer::new("fire-and-forget");
        drop(place.sending(&[SET_WEIGHT, SET_WEIGHT, STATUS, WATCH, SET_WEIGHT].concat()));
        (0..10).for_each(|_| assert!(place.serve(Time::ZERO) <= 1));
        assert_eq!(place.served.len(), 3, "{:?}", place.served);
        assert!(place.clients.0.is_empty());
    }

    #[test]
    fn unread_answers_are_bounded_in_total_and_block_no_other_client() {
        let mut place = TestServer::new("room");
        place.status_bytes = 6 << 20;
        let hogs: Vec<_> = (0..MAX_CLIENTS - 1).map(|_| place.sending(&STATUS.repeat(100))).collect();
        for _ in 0..200 {
            place.serve(Time::ZERO);
            assert!(place.unread() < MAX_UNREAD + (6 << 20) + 100, "{}", place.unread());
        }
        assert!(!place.clients.has_work(), "there is no room, and nothing to do");
        let other = place.sending(RELOAD);
        // After a second, unread answers are discarded, which makes room.
        let mut seconds = 0;
        while !place.served.contains(&bare_reload()) {
            seconds += 2;
            (0..20).for_each(|_| assert!(place.serve(after(seconds)) <= 1));
            assert!(seconds < 20, "the other has its turn before it loses patience");
        }
        let answer = line(&other);
        assert!(answer.contains("weight-set"), "{}", &answer[..answer.len().min(200)]);
        drop(hogs);
    }

    #[test]
    fn a_client_beyond_the_limit_replaces_the_longest_idle_one() {
        let mut place = TestServer::new("places");
        let streams: Vec<_> = (0..MAX_CLIENTS as u64).map(|second| place.connect_at(after(second))).collect();
        (&streams[0]).write_all(STATUS).expect("it reads");
        (&streams[1]).write_all(b"{").expect("it reads");
        place.serve(after(40));
        let mut operator = place.connect_at(after(41));
        assert_eq!(place.clients.0.len(), MAX_CLIENTS);
        assert!(line(&streams[1]).contains("this one was idle for longest"));
        operator.write_all(RELOAD).expect("it reads");
        place.serve(after(41));
        assert!(line(&operator).contains("weight-set"));
        place.serve(after(41) + QUIET + Duration::from_ms(1));
        assert_eq!(place.clients.0.len(), 0);
    }

    #[test]
    fn an_occasional_byte_keeps_no_place() {
        let mut place = TestServer::new("drip");
        let mut stream = place.connect();
        for second in [0, 30, 59] {
            stream.write_all(b"x").expect("it reads");
            place.serve(after(second));
            assert_eq!(place.clients.0.len(), 1);
        }
        place.serve(after(61));
        assert_eq!(place.clients.0.len(), 0);
    }

    #[test]
    fn watchers_leave_places_for_requests() {
        let mut place = TestServer::new("watchers");
        let streams: Vec<_> = (0..MAX_CLIENTS).map(|_| place.sending(WATCH)).collect();
        (0..MAX_CLIENTS).for_each(|_| {
            place.serve(Time::ZERO);
        });
        assert_eq!(place.clients.watchers(), MAX_WATCHERS);
        assert!(line(&streams[MAX_CLIENTS - 1]).contains("24 clients watch"));
        let operator = place.sending(RELOAD);
        place.serve(after(1));
        assert!(line(&operator).contains("weight-set"));
        assert_eq!(place.clients.watchers(), MAX_WATCHERS);
    }

    #[test]
    fn a_watcher_that_stops_reading_does_not_keep_its_place() {
        let mut place = TestServer::new("stalled");
        let _stream = place.sending(WATCH);
        let mut now = Time::ZERO;
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
    fn a_watcher_gets_snapshots_at_its_interval_only_as_it_reads() {
        let mut place = TestServer::new("watch");
        let stream = place.sending(b"{\"request\":\"watch\",\"every_ms\":100}\n");
        for ms in 0..=250 {
            place.serve(Time::ZERO + Duration::from_ms(ms));
        }
        place.clients = Clients::default(); // close the stream
        assert_eq!(BufReader::new(stream).lines().count(), 3);
    }
}
