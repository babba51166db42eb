//! Sends and receives the reports between the edges of a DiffServ domain, on the control thread.
//!
//! A turn of this thread reads at most [`MAX_AT_ONCE`] datagrams, and more datagrams do not hasten
//! the next turn. So a flood delays no packet. If a flood suppresses reports, the target rates
//! return to the contracted rates.

pub mod report;

use crate::config::Config;
use crate::edges::report::{ClassId, ClassReport, EdgeReport, Freshness, Key, MAX_REPORT_BYTES, Refusal};
use crate::service::engine::Command;
use crate::service::error::ServiceError;
use crate::service::log::say;
use crate::service::reload::Present;
use crate::telemetry::Board;
use fairwire_control::snapshot::{EdgeClassSnapshot, EdgeSnapshot};
use fairwire_core::{Duration, RateRequest, Time};
use fairwire_datapath::class_book::{ClassBook, UNCLAIMED};
use fairwire_datapath::edge::{EdgeViews, EstimatesView};
use fairwire_linux::clock;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

/// The interval between reports. Five reports a second for four classes take 4.6 kbit/s: a
/// thousandth of 5 Mbit/s.
const EVERY: Duration = Duration::from_ms(200);
/// The time for which a report is valid, so up to four reports in a row may be lost.
const HOLDS: Duration = Duration::from_secs(1);
/// The most datagrams read in a turn. An idle thread has 20 turns a second, and an edge sends five
/// reports a second.
const MAX_AT_ONCE: usize = 64;
/// The shortest interval between two log lines about refused reports.
const QUIET: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct Edges {
    ingress: Option<Ingress>,
    egress: Option<Egress>,
}

impl Edges {
    /// Opens the sockets and reads the keys, before the process gives up its rights. Uses a socket
    /// in `handed` if one is already bound to the reports' address.
    pub(super) fn bind(config: &Config, handed: &mut Vec<UdpSocket>) -> Result<Self, ServiceError> {
        let spec = config.spec();
        let address = |text: &str| text.parse::<SocketAddr>().expect("the configuration was checked");
        let ingress = match &spec.ingress {
            None => None,
            Some(ingress) => {
                let key = config.edge_key("ingress.key_file", &ingress.key_file)?;
                let operation = format!("listening to reports at {}", ingress.listen);
                let address = address(&ingress.listen);
                let is_it = |other: &UdpSocket| other.local_addr().is_ok_and(|there| there == address);
                let socket = match handed.iter().position(is_it) {
                    Some(place) => handed.swap_remove(place),
                    None => socket(address, operation)?,
                };
                Some(Ingress::new(socket, key))
            }
        };
        let egress = match &spec.egress {
            None => None,
            Some(egress) => {
                let key = config.edge_key("egress.key_file", &egress.key_file)?;
                let to = address(&egress.report_to);
                let any: IpAddr = match to {
                    SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
                    SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
                };
                let operation = format!("reporting to {to}");
                Some(Egress::new(socket((any, 0).into(), operation)?, to, key))
            }
        };
        if let (Some(ingress), Some(egress), Some(typed)) = (&ingress, &egress, &spec.egress)
            && ingress.key.is(&egress.key)
        {
            return Err(config.refuse_equal_keys(&typed.key_file).into());
        }
        Ok(Edges { ingress, egress })
    }
    pub(super) fn listens(&self) -> Option<&UdpSocket> {
        self.ingress.as_ref().map(|ingress| &ingress.socket)
    }

    pub(super) fn step(&mut self, now: Time, present: &Present, board: &Board) {
        if self.ingress.is_none() && self.egress.is_none() {
            return;
        }
        let now = Now { time: now, real_ns: clock::calendar().ns() };
        if let Some(egress) = &mut self.egress {
            egress.step(now, present.config.book(), &present.edges);
        }
        if let Some(ingress) = &mut self.ingress {
            let requests = ingress.step(now, &present.config);
            if let Some(requests) = requests {
                // This fails only if the datapath thread has ended. Then the process ends soon.
                let _ = present.commands.send(Command::Report(requests, now.time + HOLDS));
            }
        }
        board.set_edge(self.snapshot(now.time, present.config.book(), &present.edges));
    }

    fn snapshot(&self, now: Time, book: &ClassBook, views: &EdgeViews) -> EdgeSnapshot {
        let requests = self.egress.as_ref().map(|egress| &egress.requests);
        let class = |number: u32, name: &str| EdgeClassSnapshot {
            class: name.to_owned(),
            target_bps: views.targets.as_ref().and_then(|targets| targets.of(number)),
            estimate: views.seen.as_ref().map(|seen| seen.estimate(number)),
            request: requests.and_then(|requests| Some(word(*requests.get(&number)?).to_owned())),
        };
        let ingress = self.ingress.as_ref();
        let refused = ingress.iter().flat_map(|ingress| {
            let known = Refusal::ALL.into_iter().map(|refusal| refusal.name());
            known.zip(ingress.refused).map(|(name, count)| (name.to_owned(), count))
        });
        let heard = ingress.and_then(|ingress| ingress.heard_at);
        EdgeSnapshot {
            classes: leaves(book).map(|(number, name)| class(number, name)).collect(),
            reports_sent: self.egress.as_ref().map_or(0, |egress| egress.sent),
            report_bytes_sent: self.egress.as_ref().map_or(0, |egress| egress.bytes),
            reports_unsent: self.egress.as_ref().map_or(0, |egress| egress.unsent),
            reports_received: ingress.map_or(0, |ingress| ingress.received),
            reports_refused: refused.collect(),
            heard_s_ago: heard.map(|at| now.since(at).secs()),
        }
    }
}

fn socket(address: SocketAddr, operation: String) -> Result<UdpSocket, ServiceError> {
    let opened = UdpSocket::bind(address).and_then(|socket| {
        socket.set_nonblocking(true)?;
        Ok(socket)
    });
    opened.map_err(|error| ServiceError::system(operation, error))
}

fn word(request: RateRequest) -> &'static str {
    match request {
        RateRequest::Keep => "keep",
        RateRequest::Increase => "increase",
        RateRequest::Decrease => "decrease",
    }
}

#[derive(Clone, Copy)]
struct Now {
    time: Time,
    /// The calendar time, ns since 1970.
    real_ns: u64,
}

/// The edge at which aggregates leave. It reports its observations.
struct Egress {
    socket: UdpSocket,
    to: SocketAddr,
    key: Key,
    due: Time,
    /// The estimates, votes and requests of the last report, by class number.
    seen: Option<Arc<EstimatesView>>,
    votes: BTreeMap<u32, i64>,
    requests: BTreeMap<u32, RateRequest>,
    sent: u64,
    bytes: u64,
    unsent: u64,
}

impl Egress {
    fn new(socket: UdpSocket, to: SocketAddr, key: Key) -> Self {
        Egress {
            socket,
            to,
            key,
            due: Time::ZERO,
            seen: None,
            votes: BTreeMap::new(),
            requests: BTreeMap::new(),
            sent: 0,
            bytes: 0,
            unsent: 0,
        }
    }

    fn step(&mut self, Now { time: now, real_ns }: Now, book: &ClassBook, views: &EdgeViews) {
        if now < self.due {
            return;
        }
        let Some(seen) = &views.seen else { return };
        let next = self.due + EVERY;
        self.due = if next > now { next } else { now + EVERY };
        let bytes = self.report(real_ns, book, seen).encode(&self.key);
        match self.socket.send_to(&bytes, self.to) {
            Ok(_) => (self.sent, self.bytes) = (self.sent + 1, self.bytes + bytes.len() as u64),
            Err(error) => {
                if self.unsent == 0 {
                    say(format_args!(
                        "a report to {} cannot be sent: {error}; the far edge goes back to its contracts while it gets none",
                        self.to
                    ));
                }
                self.unsent += 1;
            }
        }
    }

    /// A class's request is the sign of the sum of its votes since the last report. The paper on
    /// the adaptive token bucket calls this sum numATR.
    fn report(&mut self, real_ns: u64, book: &ClassBook, seen: &Arc<EstimatesView>) -> EdgeReport {
        if self.seen.as_ref().is_none_or(|before| !Arc::ptr_eq(before, seen)) {
            // The class numbers changed, so the votes are counted anew.
            self.votes = leaves(book).map(|(number, _)| (number, seen.votes(number))).collect();
            self.requests.clear();
            self.seen = Some(seen.clone());
        }
        let classes = leaves(book).map(|(number, name)| {
            let votes = seen.votes(number);
            let before = self.votes.insert(number, votes).unwrap_or(votes);
            let request = match votes.wrapping_sub(before) {
                0 => RateRequest::Keep,
                more if more > 0 => RateRequest::Increase,
                _ => RateRequest::Decrease,
            };
            self.requests.insert(number, request);
            ClassReport { class: ClassId::of(name), request, estimate: seen.estimate(number) }
        });
        EdgeReport { sent_ns: real_ns, classes: classes.collect() }
    }
}

/// The edge at which aggregates enter. It takes the reports of the far edge.
struct Ingress {
    socket: UdpSocket,
    key: Key,
    freshness: Freshness,
    /// The class numbers in the configuration `of`, by the hash of the class's name.
    classes: BTreeMap<ClassId, u32>,
    of: Option<Arc<Config>>,
    received: u64,
    refused: [u64; Refusal::ALL.len()],
    heard_at: Option<Time>,
    is_silent: bool,
    /// The time of the last log line about refused reports, and the number of refused reports at
    /// that time.
    complained: Option<(Time, u64)>,
    /// Were unknown classes logged since the classes last changed?
    named_others: bool,
}

impl Ingress {
    fn new(socket: UdpSocket, key: Key) -> Self {
        Ingress {
            socket,
            key,
            freshness: Freshness::default(),
            classes: BTreeMap::new(),
            of: None,
            received: 0,
            refused: [0; Refusal::ALL.len()],
            heard_at: None,
            is_silent: false,
            complained: None,
            named_others: false,
        }
    }

    /// Reads the waiting reports. Returns the requests of the last accepted one.
    fn step(&mut self, now: Now, config: &Arc<Config>) -> Option<Vec<(u32, RateRequest)>> {
        if self.of.as_ref().is_none_or(|of| !Arc::ptr_eq(of, config)) {
            self.classes = leaves(config.book()).map(|(number, name)| (ClassId::of(name), number)).collect();
            (self.of, self.named_others) = (Some(config.clone()), false);
        }
        // The buffer is a byte larger than any report, to detect datagrams that are too long.
        let mut bytes = [0; MAX_REPORT_BYTES + 1];
        let mut taken = None;
        for _ in 0..MAX_AT_ONCE {
            let Ok((count, _)) = self.socket.recv_from(&mut bytes) else { break };
            match self.take(&bytes[..count], now.real_ns) {
                Ok(report) => taken = Some(report),
                Err(refusal) => self.refused[refusal as usize] += 1,
            }
        }
        if taken.is_some() {
            self.heard_at = Some(now.time);
        }
        self.log(now.time);
        taken.map(|report| self.requests(&report))
    }

    fn take(&mut self, bytes: &[u8], real_ns: u64) -> Result<EdgeReport, Refusal> {
        let report = EdgeReport::decode(bytes, &self.key)?;
        self.freshness.take(report.sent_ns, real_ns)?;
        self.received += 1;
        Ok(report)
    }

    fn requests(&mut self, report: &EdgeReport) -> Vec<(u32, RateRequest)> {
        let known = |one: &ClassReport| Some((*self.classes.get(&one.class)?, one.request));
        let requests: Vec<_> = report.classes.iter().filter_map(known).collect();
        let others = report.classes.len() - requests.len();
        if others > 0 && !std::mem::replace(&mut self.named_others, true) {
            say(format_args!(
                "a report names classes that are not here ({others}): an aggregate has the same name at both edges"
            ));
        }
        requests
    }

    fn log(&mut self, now: Time) {
        let is_silent = self.heard_at.is_some_and(|at| now.since(at) > HOLDS);
        if is_silent != self.is_silent {
            self.is_silent = is_silent;
            match is_silent {
                true => say(format_args!(
                    "no report of the far edge came for {HOLDS}: targets go back to their contracts"
                )),
                false => say(format_args!("reports of the far edge come again")),
            }
        }
        let count: u64 = self.refused.iter().sum();
        let is_due = |(at, before): (Time, u64)| count > before && now.since(at) >= QUIET;
        if count > 0 && self.complained.is_none_or(is_due) {
            self.complained = Some((now, count));
            let counted = Refusal::ALL.iter().zip(self.refused).filter(|(_, count)| *count > 0);
            let counted: Vec<String> =
                counted.map(|(refusal, count)| format!("{count} {}", meaning(*refusal))).collect();
            say(format_args!("reports are refused: {}", counted.join(", ")));
        }
    }
}

fn leaves(book: &ClassBook) -> impl Iterator<Item = (u32, &str)> {
    let has_packets = |number: u32| number != UNCLAIMED && book.is_leaf(number);
    book.iter()
        .filter(move |(number, _)| has_packets(*number))
        .map(|(number, class)| (number, class.name.as_str()))
}

fn meaning(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Malformed => "are none of this version",
        Refusal::Forged => "were made with another key (is `key_file` the same at both edges?)",
        Refusal::Clock => "were sent more than 10 s from now (are the clocks of both edges right?)",
        Refusal::Replayed => "came again or out of order",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn key() -> Key {
        Key::new(b"a key for these tests")
    }

    fn config(classes: &str) -> Arc<Config> {
        let text = format!("format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n{classes}");
        Arc::new(Config::parse("t.toml", &text, None).expect("it makes sense"))
    }

    fn two() -> Arc<Config> {
        config("[[class]]\nname = \"gold\"\n[[class]]\nname = \"silver\"\n")
    }

    fn local() -> UdpSocket {
        socket((Ipv4Addr::LOCALHOST, 0).into(), "a test".into()).expect("loopback is there")
    }

    fn at(ms: u64) -> Now {
        Now { time: Time::from_ns(ms * 1_000_000), real_ns: 1_000_000 * S + ms * 1_000_000 }
    }

    fn ends() -> (Egress, Ingress) {
        let listening = local();
        let to = listening.local_addr().expect("it is bound");
        (Egress::new(local(), to, key()), Ingress::new(listening, key()))
    }

    fn report(real_ns: u64, request: RateRequest) -> Vec<u8> {
        let class = ClassReport { class: ClassId::of("gold"), request, estimate: 0.5 };
        EdgeReport { sent_ns: real_ns, classes: vec![class] }.encode(&key())
    }

    #[test]
    fn one_edge_requests_from_the_other_according_to_its_marks() {
        let (mut egress, mut ingress) = ends();
        let mut estimates = fairwire_datapath::edge::Estimates::new(3);
        let views = EdgeViews { seen: Some(estimates.seen()), targets: None };
        let there = two();
        let here = config("[[class]]\nname = \"silver\"\n[[class]]\nname = \"gold\"\n");
        egress.step(at(0), there.book(), &views);
        let nothing_yet = ingress.step(at(1), &here).expect("a report came");
        assert!(nothing_yet.iter().all(|(_, request)| *request == RateRequest::Keep), "{nothing_yet:?}");
        for _ in 0..20 {
            estimates.observe(&facts(1, true));
            estimates.observe(&facts(2, false));
        }
        egress.step(at(100), there.book(), &views); // too soon
        assert_eq!(ingress.step(at(101), &here), None);
        egress.step(at(200), there.book(), &views);
        // Gold is class 1 at the far edge and class 2 here.
        let requests = ingress.step(at(201), &here).expect("a report came");
        assert_eq!(requests, [(2, RateRequest::Decrease), (1, RateRequest::Increase)]);
        // No packet came since the last report.
        egress.step(at(400), there.book(), &views);
        let requests = ingress.step(at(401), &here).expect("a report came");
        assert!(requests.iter().all(|(_, request)| *request == RateRequest::Keep), "{requests:?}");
        assert_eq!((egress.sent, egress.unsent, ingress.received), (3, 0, 3));
    }

    fn facts(class: u32, is_marked: bool) -> fairwire_datapath::classify::Facts {
        let ecn = if is_marked { fairwire_core::Ecn::Ce } else { fairwire_core::Ecn::Ect0 };
        fairwire_datapath::classify::Facts {
            flow: fairwire_core::FlowHash(0),
            within: None,
            has_no_host: false,
            class,
            len: 500,
            ecn,
            dscp: 10,
            color: 0,
            is_ip: true,
            bypasses: false,
            is_spoofed: false,
        }
    }

    #[test]
    fn a_replay_a_forgery_and_noise_are_counted_and_request_nothing() {
        let (egress, mut ingress) = ends();
        let send = |bytes: &[u8]| egress.socket.send_to(bytes, egress.to).expect("loopback takes it");
        let config = two();
        let real_ns = at(0).real_ns;
        let good = report(real_ns, RateRequest::Increase);
        send(&good);
        assert_eq!(ingress.step(at(1), &config), Some(vec![(1, RateRequest::Increase)]));
        let mut forged = report(real_ns + 1, RateRequest::Increase);
        forged[22] ^= 3; // increase becomes decrease
        for bytes in
            [&good, &forged, &vec![7; 1400], &Vec::new(), &report(real_ns - 11 * S, RateRequest::Decrease)]
        {
            send(bytes);
        }
        assert_eq!(ingress.step(at(2), &config), None);
        assert_eq!(ingress.refused, [2, 1, 1, 1], "malformed, forged, clock, replayed");
        assert_eq!(ingress.heard_at, Some(at(1).time));
    }

    #[test]
    fn a_flood_is_read_in_bounded_parts() {
        let (egress, mut ingress) = ends();
        for _ in 0..100 {
            egress.socket.send_to(b"flood", egress.to).expect("loopback takes it");
        }
        ingress.step(at(0), &two());
        assert_eq!(ingress.refused[0], MAX_AT_ONCE as u64);
    }

    #[test]
    fn requests_for_an_absent_class_are_ignored() {
        let (egress, mut ingress) = ends();
        let bytes = report(at(0).real_ns, RateRequest::Decrease);
        egress.socket.send_to(&bytes, egress.to).expect("loopback takes it");
        let other = config("[[class]]\nname = \"bronze\"\n");
        assert_eq!(ingress.step(at(0), &other), Some(Vec::new()));
    }

    #[test]
    fn silence_and_its_end_are_noticed() {
        let (egress, mut ingress) = ends();
        let config = two();
        let send = |ms| {
            let bytes = report(at(ms).real_ns, RateRequest::Keep);
            egress.socket.send_to(&bytes, egress.to).expect("loopback takes it");
        };
        ingress.step(at(5000), &config);
        assert!(!ingress.is_silent, "there never was one");
        send(5000);
        ingress.step(at(5001), &config);
        ingress.step(at(6001), &config);
        assert!(!ingress.is_silent);
        ingress.step(at(6002), &config);
        assert!(ingress.is_silent);
        send(3_600_000);
        ingress.step(at(3_600_001), &config);
        assert!(!ingress.is_silent);
    }
}
