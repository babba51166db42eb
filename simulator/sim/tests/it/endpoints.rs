//! External endpoints.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, Ecn, EcnPolicy, Limit, Packet as Descriptor, Queue, Rate, RateLaw, Rng,
    Seed, Time, Verdict,
};
use fairwire_sim::endpoint::{Endpoint, Endpoints, Packet, Start};
use fairwire_sim::{GroupPlan, Hop, LinkPlan, Measured, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::{Config, Profile};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

struct Signalling(u32);

impl Dropper for Signalling {
    fn on_arrival(&mut self, _: &Descriptor, buffer: &Buffer, _: Time) -> Verdict {
        if buffer.len() >= self.0 { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }
}

/// A link that sends one byte per microsecond.
fn link(signals_from: u32) -> LinkPlan {
    let queue = Queue::new(Limit::packets(50), Fcfs, Signalling(signals_from)).with_ecn(EcnPolicy::Mark);
    LinkPlan {
        wire: None,
        name: "link".into(),
        rate: rate(8_000_000),
        law: RateLaw::Fixed,
        delay: Duration::from_ms(10),
        discipline: Box::new(queue),
    }
}

fn group(name: &str, source: Source) -> GroupPlan {
    GroupPlan {
        name: name.into(),
        source,
        forward: Vec::new(),
        back: Vec::new(),
        access_rate: rate(100_000_000),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::from_ms(5), access_delay: Duration::from_ms(3) }],
        on: Vec::new(),
    }
}

fn of(endpoints: Endpoints) -> Source {
    Source::Endpoints { endpoints, header_bytes: 28 }
}

fn settings() -> Settings {
    Settings {
        duration: Duration::from_secs(4),
        warm_up: Duration::from_secs(1),
        seed: Seed(1),
        tie_rule: TieRule::Random,
    }
}

fn run(plan: Network) -> Measured {
    fairwire_sim::run(plan, &settings(), &mut |_| ControlFlow::Continue(())).expect("it is not stopped")
}

struct Steady {
    bytes: usize,
    gap: Duration,
    next: Option<Time>,
    ecn: Ecn,
    number: u64,
}

impl Steady {
    fn new(bytes: usize, gap: Duration) -> Self {
        Steady { bytes, gap, next: None, ecn: Ecn::NotEct, number: 0 }
    }
}

impl Endpoint for Steady {
    fn on_packet(&mut self, _: Packet, _: Time) {}

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let due = *self.next.get_or_insert(now);
        if due > now {
            return None;
        }
        self.next = Some(due + self.gap);
        self.number += 1;
        Some(Packet::new(self.bytes).with_ecn(self.ecn).carrying(self.number))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.next
    }
}

type Seen = Arc<Mutex<Vec<(u64, Ecn, Time)>>>;

#[derive(Default)]
struct Sink {
    seen: Seen,
    echoes: bool,
    answers: VecDeque<Packet>,
}

impl Endpoint for Sink {
    fn on_packet(&mut self, packet: Packet, now: Time) {
        let (ecn, bytes) = (packet.ecn, packet.bytes);
        let number = packet.payload().expect("a number");
        self.seen.lock().expect("no test has failed").push((number, ecn, now));
        if self.echoes {
            self.answers.push_back(Packet::new(bytes as usize).carrying(number));
        }
    }

    fn poll_transmit(&mut self, _: Time) -> Option<Packet> {
        self.answers.pop_front()
    }

    fn next_timeout(&mut self) -> Option<Time> {
        None
    }
}

#[test]
fn datagrams_of_an_endpoint_are_counted_as_those_of_a_built_in_source() {
    let tcp = || group("tcp", Source::Bulk { tcp: Config::new(Profile::Modern, 960) });
    let own = Source::Cbr { rate: rate(10_000_000), packet_bytes: 1000, header_bytes: 28, dither: 0.0 };
    let steady = |_| (Steady::new(1000, Duration::from_us(800)), Sink::default());
    let outside = of(Endpoints::new("steady", 1000, steady));
    let [own, outside] = [own, outside].map(|source| {
        let measured = run(Network::dumbbell(link(40), vec![group("udp", source), tcp()]));
        assert!(measured.flows[0].packets_dropped > 100, "the test needs drops");
        measured
    });
    assert_eq!(format!("{:?}", own.links), format!("{:?}", outside.links));
    assert_eq!(format!("{:?}", own.flows[1]), format!("{:?}", outside.flows[1]), "the TCP beside it");
    let [mut own, outside] = [own, outside].map(|measured| measured.flows[0].clone());
    (own.kind, own.offered_bps) = (outside.kind.clone(), None);
    assert_eq!(format!("{own:?}"), format!("{outside:?}"));
    assert_eq!(&*outside.kind, "steady");
}

#[test]
fn packets_arrive_in_order_with_payload_and_marks_after_the_path_delay() {
    let seen = Seen::default();
    let sink = {
        let seen = seen.clone();
        move || Sink { seen: seen.clone(), ..Sink::default() }
    };
    let steady = move |_| {
        let first = Steady { ecn: Ecn::Ect0, ..Steady::new(1000, Duration::from_us(900)) };
        (first, sink())
    };
    let outside = of(Endpoints::new("steady", 1000, steady));
    let measured = run(Network::dumbbell(link(20), vec![group("udp", outside)]));
    let seen = seen.lock().expect("no test has failed");
    // 5 ms (start), 3.08 ms (own link), 11 ms (queued link) and 3.08 ms (sink's link) are 22.16 ms.
    assert_eq!(seen[0], (1, Ecn::Ect0, Time::from_ns(22_160_000)));
    assert!(seen.windows(2).all(|two| two[0].0 < two[1].0 && two[0].2 < two[1].2));
    let from = Time::from_ns(1_017_160_000); // the first marked after the warm-up
    let marked = seen.iter().filter(|(_, ecn, at)| *ecn == Ecn::Ce && *at > from).count() as u64;
    // About 37 marked packets have not arrived at the end: 20 wait, and 17 are in flight. The bound
    // 80 is about twice 37.
    assert!(marked > 1000 && (marked..marked + 80).contains(&measured.flows[0].packets_marked), "{marked}");
}

struct Pinger {
    steady: Steady,
    round_trips: Arc<Mutex<Vec<Duration>>>,
    sent: Vec<Time>,
}

impl Endpoint for Pinger {
    fn on_packet(&mut self, packet: Packet, now: Time) {
        let number: u64 = packet.payload().expect("a number");
        let took = now.since(self.sent[number as usize - 1]);
        self.round_trips.lock().expect("no test has failed").push(took);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let packet = self.steady.poll_transmit(now)?;
        self.sent.push(now);
        Some(packet)
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.steady.next_timeout()
    }
}

#[test]
fn the_second_end_answers_over_the_reverse_path_with_any_packet_size() {
    let round_trips = Arc::new(Mutex::new(Vec::new()));
    let noted = round_trips.clone();
    let starting = move |_| {
        let steady = Steady::new(1000, Duration::from_ms(5));
        let first = Pinger { steady, round_trips: noted.clone(), sent: Vec::new() };
        (first, Sink { echoes: true, ..Sink::default() })
    };
    let endpoints = Endpoints::new("ping", 0, starting);
    let round_trip = |plan| {
        run(plan);
        let found = std::mem::take(&mut *round_trips.lock().expect("no test has failed"));
        assert!(found.len() > 700 && found.iter().all(|took| took == &found[0]), "{found:?}");
        found[0]
    };
    let pinged = |endpoints: &Endpoints| group("ping", of(endpoints.clone()));
    // Each direction takes 80 us + 3 ms on each access link, and 1 ms + 10 ms on the link between
    // them.
    let each = Duration::from_us(17_160);
    assert_eq!(round_trip(Network::dumbbell(link(40), vec![pinged(&endpoints)])), each + each);
    let mut two = Network::dumbbell(link(40), vec![pinged(&endpoints)]);
    two.links.push(link(40));
    two.groups[0].back = vec![Hop::Link(1)];
    assert_eq!(round_trip(two), each + each);
}

struct File {
    rng: Rng,
    left: u32,
    outstanding: u32,
    next: Option<Time>,
}

impl Endpoint for File {
    fn on_packet(&mut self, _: Packet, _: Time) {
        self.outstanding -= 1;
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if self.left == 0 || *self.next.get_or_insert(now) > now {
            return None;
        }
        self.left -= 1;
        self.outstanding += 1;
        self.next = Some(now + Duration::from_us(u64::from(self.rng.below(40_000))));
        Some(Packet::new(100 + self.rng.below(1400) as usize).carrying(0_u64))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.next.filter(|_| self.left > 0)
    }

    fn finished(&self) -> bool {
        self.left + self.outstanding == 0
    }
}

fn files() -> Measured {
    let starting = |Start { rng, number }| {
        let first = File { rng, left: 60 * number, outstanding: 0, next: None };
        (first, Sink { echoes: true, ..Sink::default() })
    };
    let mut files = group("files", of(Endpoints::new("file", 0, starting)));
    files.members = vec![files.members[0]; 3];
    run(Network::dumbbell(link(40), vec![files]))
}

#[test]
fn a_flow_finished_after_the_warm_up_is_a_transfer_and_two_runs_agree() {
    let measured = files();
    let [transfers] = &measured.transfers[..] else { panic!("{:?}", measured.transfers) };
    // The shortest flow sends 60 packets in 1.2 s +- 0.09 s (one standard deviation), longer than
    // the warm-up of 1 s.
    assert_eq!((&*transfers.group, &*transfers.kind, transfers.completed), ("files", "transfer", 3));
    assert_eq!(format!("{measured:?}"), format!("{:?}", files()));
}

struct Odd {
    packet: fn(Time) -> Option<Packet>,
    timeout: fn(Time) -> Option<Time>,
    polled: Time,
}

impl Endpoint for Odd {
    fn on_packet(&mut self, _: Packet, _: Time) {}

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let is_first = std::mem::replace(&mut self.polled, now) < now;
        (self.packet)(now).filter(|packet| is_first || packet.bytes == 1)
    }

    fn next_timeout(&mut self) -> Option<Time> {
        (self.timeout)(self.polled)
    }
}

fn odd(packet: fn(Time) -> Option<Packet>, timeout: fn(Time) -> Option<Time>) {
    let starting = move |_| (Odd { packet, timeout, polled: Time::ZERO }, Sink::default());
    run(Network::dumbbell(link(40), vec![group("odd", of(Endpoints::new("odd", 0, starting)))]));
}

#[test]
#[should_panic(
    expected = "the first endpoint of flow 1 of `odd` returned 0.005000000 s as its next timeout at 0.005000000 s; allowed: a later time"
)]
fn a_timeout_that_is_not_later_ends_the_run() {
    odd(|_| None, Some);
}

#[test]
#[should_panic(expected = "returned a packet of 70000 bytes at 0.005000000 s; allowed: 1 to 65535")]
fn a_packet_larger_than_ip_carries_ends_the_run() {
    odd(|_| Some(Packet::new(70_000)), |_| None);
}

#[test]
#[should_panic(
    expected = "returned more than 65536 packets at 0.005000000 s; `poll_transmit` must return `None`"
)]
fn an_end_that_always_transmits_ends_the_run() {
    odd(|_| Some(Packet::new(1)), |_| None);
}

#[test]
#[should_panic(expected = "had more than 65536 timeouts within 1 s without a packet")]
fn an_end_woken_repeatedly_without_progress_ends_the_run() {
    odd(|_| None, |now| Some(now + Duration::from_ns(1)));
}
