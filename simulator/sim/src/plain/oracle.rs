//! Random networks, run by the tuned and by the simple engine.

use crate::EstimatorPlan;
use crate::app::{Arrivals, Bursts, Law, Load, OnOff, Poisson, Sequence, Telnet, Traffic, Transfers, Web};
use crate::endpoint::{Endpoint, Endpoints, Packet as Sent, Start};
use crate::model::Model;
use crate::observe::Unwatched;
use crate::plan::{
    AggregatePlan, GroupPlan, Hop, LinkPlan, Member, Network, OnTime, Settings, Source, TieRule,
};
use crate::tuning::Tuning;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Backlog, Buffer, Cause, Control, DelayStep, Discipline, Dropper, Duration, Ecn, EcnPolicy, Jitter, Limit,
    Marker, Packet, Probe, Queue, Rate, RateLaw, RateRequest, Rng, Room, Seed, Signals, Step, Time, Trace,
    Verdict, Wire, WireLaw,
};
use fairwire_tcp::congestion::{BbrParameters, ControlConfig};
use fairwire_tcp::{Config, EcnMode, Profile, Recovery};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

struct Signalling(u32);

impl Dropper for Signalling {
    fn on_arrival(&mut self, packet: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let is_crowded = buffer.len() > self.0 >> packet.color; // out of profile, from half on
        if is_crowded { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }
}

struct Holding<D>(D, VecDeque<Time>);

const HELD: Duration = Duration::from_ms(2);

impl<D: Discipline> Holding<D> {
    fn head(&self) -> Option<Time> {
        self.1.front().copied()
    }
}

impl<D: Discipline> Discipline for Holding<D> {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let before = self.0.backlog().packets;
        self.0.offer(packet, room, now, signals);
        if self.0.backlog().packets > before {
            self.1.push_back(now);
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        while self.head()? + HELD <= now {
            let (came, packet) = (self.1.pop_front()?, self.0.dequeue(now, signals)?);
            if now.since(came) <= Duration::from_ms(30) {
                return Some(packet);
            }
            signals.dropped(packet, Cause::Early);
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        self.head().map(|came| came + HELD)
    }

    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        self.0.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.1.clear();
        self.0.drain(take);
    }
}

impl<D: Discipline> Control for Holding<D> {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.0);
    }
}

struct Coloring {
    packets: u64,
    every: u64,
}

impl Marker for Coloring {
    fn color(&mut self, packet: &mut Packet, now: Time) {
        self.packets += 1 + now.ns() % 2; // the time of each packet counts
        packet.color = u8::from(self.packets.is_multiple_of(self.every));
    }

    fn on_request(&mut self, request: RateRequest, _: Time) {
        match request {
            RateRequest::Keep => {}
            RateRequest::Increase => self.every = (self.every + 1).min(9),
            RateRequest::Decrease => self.every = (self.every - 1).max(2),
        }
    }
}

/// Keeps a window of packets of random sizes in flight. The window grows with each packet that
/// returns. A mark halves the window, and so does a time without returns.
struct Windowed {
    rng: Rng,
    window: u32,
    outstanding: u32,
    due: Option<Time>,
    answers: Option<u32>, // still needed before it has finished; none: never
}

impl Windowed {
    fn new(mut rng: Rng) -> Self {
        let answers = rng.chance(0.5).then(|| 50 + rng.below(500));
        Windowed { rng, window: 4, outstanding: 0, due: None, answers }
    }
}

impl Endpoint for Windowed {
    fn on_packet(&mut self, packet: Sent, now: Time) {
        self.due = Some(now + Duration::from_ms(100));
        self.outstanding = self.outstanding.saturating_sub(1);
        self.window += 1;
        self.answers = self.answers.map(|answers| answers.saturating_sub(1));
        if packet.payload() == Some(Ecn::Ce) {
            self.window = (self.window / 2).max(1);
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Sent> {
        if self.due.is_none_or(|due| due <= now) {
            self.due = Some(now + Duration::from_ms(100));
            (self.outstanding, self.window) = (0, (self.window / 2).max(1));
        }
        if self.outstanding >= self.window {
            return None;
        }
        self.outstanding += 1;
        Some(Sent::new([200, 1000, 1500][self.rng.below(3) as usize]).with_ecn(Ecn::Ect0))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.due
    }

    fn finished(&self) -> bool {
        self.answers == Some(0)
    }
}

#[derive(Default)]
struct Echo {
    answers: VecDeque<(Time, Ecn)>,
    count: u32,
}

impl Endpoint for Echo {
    fn on_packet(&mut self, packet: Sent, now: Time) {
        self.answers.push_back((now + Duration::from_us(100), packet.ecn));
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Sent> {
        let (_, ecn) = self.answers.pop_front_if(|(due, _)| *due <= now)?;
        self.count += 1;
        Some(Sent::new(if self.count.is_multiple_of(10) { 1000 } else { 40 }).carrying(ecn))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.answers.front().map(|(due, _)| *due)
    }
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Dumbbell,
    /// Links in a row; a group crosses all of them, or one.
    ParkingLot,
    Star,
    /// Two links, forward and return, with data in both directions, so acknowledgements wait behind
    /// data.
    TwoWay,
}

#[derive(Clone, Debug)]
struct Drawn {
    source: u8,
    way: u8,
    members: Vec<(u8, u8)>, // start and access delay
    access: u8,
    on: u8,
}

/// The numbers from which a network is built. They select from a few round values for delays, sizes
/// and rates, so events coincide.
#[derive(Clone, Debug)]
struct Plan {
    shape: Shape,
    links: Vec<(u8, u8, u8)>, // rate, delay, buffer
    law: u8,
    holds: bool,
    faults: u8,         // of wires
    has_contract: bool, // that of the first group
    groups: Vec<Drawn>,
}

fn plans() -> impl Strategy<Value = Plan> {
    let shape =
        prop_oneof![Just(Shape::Dumbbell), Just(Shape::ParkingLot), Just(Shape::Star), Just(Shape::TwoWay)];
    let members = prop::collection::vec((0..4u8, 0..4u8), 1..4);
    let group = (0..16u8, any::<u8>(), members, 0..4u8, 0..6u8);
    let group =
        group.prop_map(|(source, way, members, access, on)| Drawn { source, way, members, access, on });
    let links = prop::collection::vec((0..4u8, 0..4u8, 0..3u8), 2..5);
    let groups = prop::collection::vec(group, 1..5);
    let few = || prop::bool::weighted(0.15);
    (shape, links, 0..10u8, few(), 0..8u8, few(), groups).prop_map(
        |(shape, links, law, holds, faults, has_contract, groups)| Plan {
            shape,
            links,
            law,
            holds,
            faults,
            has_contract,
            groups,
        },
    )
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn tcp(profile: Profile, bytes: u32) -> Config {
    Config::new(profile, bytes)
}

fn source(number: u8) -> Source {
    let modern = || tcp(Profile::Modern, 960);
    let of = |load| Source::Tcp { tcp: tcp(Profile::Modern, 512), load };
    let datagrams = |traffic| Source::Datagrams { traffic, header_bytes: 28 };
    match number {
        0 => Source::Bulk { tcp: tcp(Profile::Ns1In1998, 1000) },
        1 => Source::Bulk { tcp: tcp(Profile::Ns2In2002, 960) },
        2 => Source::Bulk { tcp: Config { recovery: Recovery::Sack, ..tcp(Profile::Ns2In2006, 512) } },
        3 => Source::Bulk { tcp: modern() },
        4 => Source::Bulk { tcp: Config { ecn: EcnMode::Ect0, delayed_ack: None, ..modern() } },
        5 => {
            let control = ControlConfig::Bbr(BbrParameters::default());
            Source::Bulk { tcp: Config { control, ..modern() } }
        }
        6 => Source::Cbr { rate: rate(4_000_000), packet_bytes: 1000, header_bytes: 28, dither: 0.0 },
        7 => Source::Cbr { rate: rate(1_000_000), packet_bytes: 500, header_bytes: 28, dither: 0.5 },
        8 => {
            let size = Law::Exponential { mean: 800.0 };
            datagrams(Traffic::Poisson(Poisson { mean_gap: Duration::from_ms(2), size }))
        }
        9 => datagrams(Traffic::OnOff(OnOff {
            rate: rate(8_000_000),
            packet_bytes: 1000,
            burst: Law::Exponential { mean: 20.0 },
            idle: Law::Fixed(0.05),
        })),
        10 => of(Load::Web(Box::new(Web { reading: Law::Fixed(0.2), ..Web::default() }))),
        11 => of(Load::Transfers(Transfers {
            size: Law::Fixed(20_000.0),
            arrivals: Arrivals::Poisson { mean_gap: Duration::from_ms(50), connections: 3 },
        })),
        12 => of(Load::Sequence(Sequence { lasts: Duration::from_ms(300) })),
        15 => {
            let ends = |start: Start| (Windowed::new(start.rng), Echo::default());
            Source::Endpoints { endpoints: Endpoints::new("windowed", 1000, ends), header_bytes: 28 }
        }
        13 => of(Load::Bursts(Bursts { renews: true, ..Bursts::default() })),
        _ => of(Load::Telnet(Telnet::default())),
    }
}

impl Plan {
    fn link(&self, at: usize) -> LinkPlan {
        let (mbps, delay, buffer) = self.links[at];
        // A packet of 1000 bytes takes 1 ms, 800 us, 400 us or 100 us.
        let rate = [8_000_000, 10_000_000, 20_000_000, 80_000_000][usize::from(mbps)];
        let law = match self.law {
            0 => RateLaw::Trace(Trace::parse(&"10\n".repeat(8)).expect("a trace").into()),
            1 => {
                let step = |(ms, rate)| Step { at: Time::ZERO + Duration::from_ms(ms), rate: Some(rate) };
                RateLaw::Steps(
                    [(500, rate / 4), (800, rate * 2)].map(|(ms, bps)| step((ms, self::rate(bps)))).into(),
                )
            }
            _ => RateLaw::Fixed,
        };
        let delay = Duration::from_us([0, 1000, 5000, 10_000][usize::from(delay)]);
        let packets = [10, 40, 100][usize::from(buffer)];
        let queue = Queue::new(Limit::packets(packets), Fcfs, Signalling(packets / 2 + 4));
        let queue = queue.with_ecn(EcnPolicy::Mark);
        let discipline: Box<dyn Discipline> =
            if self.holds { Box::new(Holding(queue, VecDeque::new())) } else { Box::new(queue) };
        let wire = self.wire(at);
        LinkPlan { wire, name: format!("link.{at}"), rate: self::rate(rate), law, delay, discipline }
    }

    fn wire(&self, at: usize) -> Option<Wire> {
        let jitter = |ms| Some(Arc::new(Duration::from_ms(ms)) as Arc<dyn Jitter>);
        let law = match self.faults {
            0 => WireLaw { loss: Some(0.05.into()), duplicate: 0.05, ..WireLaw::default() },
            1 => WireLaw { jitter: jitter(3), ..WireLaw::default() },
            2 => WireLaw { jitter: jitter(3), overtakes: true, duplicate: 0.02, ..WireLaw::default() },
            3 if at.is_multiple_of(2) => {
                WireLaw { reorder: Some((0.1, Duration::from_ms(4))), ..WireLaw::default() }
            }
            4 => {
                let step = |(ms, delay)| DelayStep {
                    at: Time::ZERO + Duration::from_ms(ms),
                    delay: Duration::from_ms(delay),
                };
                WireLaw { delays: [(400, 12), (700, 2)].map(step).into(), ..WireLaw::default() }
            }
            _ => return None,
        };
        Some(Wire::new(law, Seed(at as u64), "wire"))
    }

    fn way(&self, way: u8) -> [Vec<Hop>; 2] {
        let wire = Hop::Wire { rate: rate(100_000_000), delay: Duration::from_ms(1) };
        let (count, way) = (self.links.len(), usize::from(way));
        let link = |at: usize| Hop::Link((at % count) as u32);
        match self.shape {
            Shape::Dumbbell => [vec![link(0)], vec![wire]],
            Shape::ParkingLot if way.is_multiple_of(2) => [(0..count).map(link).collect(), vec![wire; count]],
            Shape::ParkingLot => [vec![wire, link(way), wire], vec![wire]],
            Shape::Star => [vec![link(way), wire, link(way / 16)], vec![link(way + 1), wire]],
            Shape::TwoWay if way.is_multiple_of(2) => [vec![link(0)], vec![link(1)]],
            Shape::TwoWay => [vec![link(1)], vec![link(0)]],
        }
    }

    fn network(&self) -> Network {
        let group = |(number, drawn): (usize, &Drawn)| {
            let [forward, back] = self.way(drawn.way);
            let members = drawn.members.iter().map(|&(start, delay)| Member {
                start: Duration::from_ms([0, 1, 10, 200][usize::from(start)]),
                access_delay: Duration::from_ms([0, 1, 4, 10][usize::from(delay)]),
            });
            GroupPlan {
                name: format!("group{number}"),
                source: source(drawn.source),
                forward,
                back,
                access_rate: rate(
                    [10_000_000, 100_000_000, 1_000_000_000, 1_000_000_000_000][usize::from(drawn.access)],
                ),
                class: 0,
                dscp: 0,
                ecn: fairwire_core::Ecn::NotEct,
                members: members.collect(),
                on: on_times(drawn.on),
            }
        };
        Network {
            links: (0..self.links.len()).map(|at| self.link(at)).collect(),
            groups: self.groups.iter().enumerate().map(group).collect(),
            aggregates: self.has_contract.then(contract).into_iter().collect(),
        }
    }
}

fn on_times(number: u8) -> Vec<OnTime> {
    let on = |(from, until)| OnTime { from: Duration::from_ms(from), until: Duration::from_ms(until) };
    let all: &[(u64, u64)] = match number {
        0 => &[(0, 700)],
        1 => &[(0, 250), (400, 401), (401, 1000), (1200, 1500)],
        _ => &[],
    };
    all.iter().copied().map(on).collect()
}

fn contract() -> AggregatePlan {
    AggregatePlan {
        name: "contract".into(),
        groups: vec![0],
        marker: Box::new(Coloring { packets: 0, every: 3 }),
        estimator: Some(EstimatorPlan::default()),
    }
}

fn plainly(plan: &Plan, settings: &Settings) -> String {
    let mut model = Model::plain(plan.network(), settings, Unwatched);
    assert!(model.go(&mut |_| ControlFlow::Continue(())));
    let waiting: usize = model.links.iter().map(|link| link.backlog().packets as usize).sum();
    let (frames, on_the_way) = (&model.store.frames, model.events.packets_on_the_way());
    assert_eq!(frames.in_flight(), waiting + on_the_way, "every frame waits, is on its way, or was let go");
    assert!(frames.payloads() <= frames.in_flight(), "what a packet carried goes with it");
    format!("{:#?}", model.measured())
}

fn tuned(plan: &Plan, settings: &Settings, tuning: impl FnOnce(&mut Network) -> Tuning) -> String {
    let mut network = plan.network();
    let tuning = tuning(&mut network);
    let mut model = Model::tuned(network, settings, Unwatched, &tuning);
    assert!(model.go(&mut |_| ControlFlow::Continue(())));
    format!("{:#?}", model.measured())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_tuned_engine_gives_the_bits_of_the_plain_one(
        plan in plans(),
        seed in any::<u64>(),
        is_random in prop::bool::weighted(0.7),
    ) {
        let settings = Settings {
            duration: Duration::from_ms(1500),
            warm_up: Duration::from_ms(300),
            seed: Seed(seed),
            tie_rule: if is_random { TieRule::Random } else { TieRule::Fifo },
        };
        let expected = plainly(&plan, &settings);
        prop_assert_eq!(&tuned(&plan, &settings, |network| Tuning::of(network, &settings, false)), &expected);
        prop_assert_eq!(&tuned(&plan, &settings, |_| Tuning::default()), &expected);
        let crowded = |network: &mut Network| Tuning {
            has_many_flows: true,
            ..Tuning::of(network, &settings, false)
        };
        prop_assert_eq!(&tuned(&plan, &settings, crowded), &expected);
    }
}
