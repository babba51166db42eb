//! The edges of a DiffServ domain.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{
    Buffer, Cause, Dropper, Duration, EcnPolicy, Limit, Marker, Packet, Queue, Rate, RateRequest, Seed, Time,
    Verdict,
};
use fairwire_sim::{
    AggregatePlan, EstimatorPlan, GroupPlan, LinkPlan, Measured, Member, Network, Settings, Source, TieRule,
    run,
};
use fairwire_tcp::{Config, DelayedAck, EcnMode, Profile};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

type Log<T> = Arc<Mutex<Vec<T>>>;

struct Recorder {
    packets: u64,
    heard: Log<(Time, RateRequest)>,
}

impl Marker for Recorder {
    fn color(&mut self, packet: &mut Packet, _now: Time) {
        self.packets += 1;
        packet.color = u8::from(self.packets.is_multiple_of(3));
    }
    fn on_request(&mut self, request: RateRequest, now: Time) {
        self.heard.lock().expect("one thread").push((now, request));
    }
}

struct Watcher {
    seen: Log<(u8, u32)>,
    signals: bool,
}

impl Dropper for Watcher {
    fn on_arrival(&mut self, packet: &Packet, _: &Buffer, _: Time) -> Verdict {
        let mut seen = self.seen.lock().expect("one thread");
        seen.push((packet.color, packet.len));
        let is_due = seen.len().is_multiple_of(10) && packet.ecn.is_capable();
        if self.signals && is_due { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn link(name: &str, signals: bool) -> (LinkPlan, Log<(u8, u32)>) {
    let seen = Log::default();
    let watcher = Watcher { seen: seen.clone(), signals };
    let queue = Queue::new(Limit::packets(100), Fcfs, watcher).with_ecn(EcnPolicy::Mark);
    let law = fairwire_core::RateLaw::Fixed;
    let link = LinkPlan {
        wire: None,
        name: name.into(),
        rate: rate(10_000_000),
        law,
        delay: Duration::from_ms(10),
        discipline: Box::new(queue),
    };
    (link, seen)
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
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(5) }],
        on: Vec::new(),
    }
}

fn tcp() -> Config {
    let mut tcp = Config::new(Profile::Ns2In2002, 960);
    tcp.ecn = EcnMode::Ect0;
    tcp.window = Some(4);
    tcp
}

fn cbr() -> Source {
    Source::Cbr { rate: rate(400_000), packet_bytes: 500, header_bytes: 28, dither: 0.0 }
}

fn aggregate(groups: &[usize], estimator: EstimatorPlan) -> (AggregatePlan, Log<(Time, RateRequest)>) {
    let heard = Log::default();
    let marker = Box::new(Recorder { packets: 0, heard: heard.clone() });
    (AggregatePlan { name: "a".into(), groups: groups.into(), marker, estimator: Some(estimator) }, heard)
}

fn simulate(network: Network) -> Measured {
    let settings = Settings {
        duration: Duration::from_secs(5),
        warm_up: Duration::ZERO,
        seed: Seed(1),
        tie_rule: TieRule::Fifo,
    };
    run(network, &settings, &mut |_| ControlFlow::Continue(())).expect("it is not stopped")
}

fn all<T: Clone>(log: &Log<T>) -> Vec<T> {
    log.lock().expect("one thread").clone()
}

/// An estimator that requests a lower target for five packets after a mark, otherwise a higher one.
/// Five packets are needed because packets carry the requests. After the window is halved, the
/// first acknowledgements release none.
const EAGER: EstimatorPlan =
    EstimatorPlan { low: 0.05, high: 0.1, window: 5, weight: 1.0, cadence: fairwire_sim::Cadence::Sliding };

#[test]
fn requests_of_the_far_edge_return_after_one_round_trip() {
    let (plan, heard) = aggregate(&[0], EAGER);
    let mut network =
        Network::dumbbell(link("core", false).0, vec![group("tcp", Source::Bulk { tcp: tcp() })]);
    network.aggregates = vec![plan];
    simulate(network);
    let heard = all(&heard);
    // `heard[0]` came with the SYN. The answer to the SYN returns the far edge's request. The next
    // packet carries the request to the near edge.
    assert_eq!(heard[0].1, RateRequest::Keep);
    let first = heard.iter().find(|(_, request)| *request != RateRequest::Keep).expect("it is heard");
    assert_eq!(first.1, RateRequest::Increase);
    let round_trip = first.0.since(heard[0].0);
    assert!(round_trip >= Duration::from_ms(40) && round_trip < Duration::from_ms(41), "{round_trip}");
    assert!(
        heard.iter().filter(|(at, _)| *at >= first.0).all(|(_, request)| *request == RateRequest::Increase)
    );
}

#[test]
fn only_marks_of_packets_in_profile_request_less() {
    for (every_third_is_out, color_that_counts) in [(true, 0), (false, 1)] {
        let (mut plan, heard) = aggregate(&[0], EAGER);
        if !every_third_is_out {
            plan.marker = Box::new(AllOut(heard.clone()));
        }
        let mut network =
            Network::dumbbell(link("core", true).0, vec![group("tcp", Source::Bulk { tcp: tcp() })]);
        network.aggregates = vec![plan];
        let measured = simulate(network);
        assert!(measured.flows[0].packets_marked > 10, "{measured:?}");
        let less = all(&heard).iter().filter(|(_, request)| *request == RateRequest::Decrease).count();
        assert_eq!(less > 0, color_that_counts == 0, "{less}");
        let count = &measured.aggregates[0];
        assert_eq!(count.green_marked > 0, color_that_counts == 0, "{count:?}");
    }
}

struct AllOut(Log<(Time, RateRequest)>);

impl Marker for AllOut {
    fn color(&mut self, packet: &mut Packet, _now: Time) {
        packet.color = 1;
    }
    fn on_request(&mut self, request: RateRequest, now: Time) {
        self.0.lock().expect("one thread").push((now, request));
    }
}

#[test]
fn a_delayed_acknowledgement_carries_the_request_too() {
    let mut config = tcp();
    config.delayed_ack = Some(DelayedAck { segments: 2, timeout: Duration::from_ms(40), quick_acks: 0 });
    config.window = Some(1); // no second segment comes, so every acknowledgement waits for its timer
    let (plan, heard) = aggregate(&[0], EAGER);
    let mut network =
        Network::dumbbell(link("core", false).0, vec![group("tcp", Source::Bulk { tcp: config })]);
    network.aggregates = vec![plan];
    simulate(network);
    let heard = all(&heard);
    assert!(
        heard.len() > 50 && heard[2..].iter().all(|(_, request)| *request == RateRequest::Increase),
        "{heard:?}"
    );
}

#[test]
fn datagrams_return_no_request_and_other_groups_are_unaffected() {
    let (plan, heard) = aggregate(&[0], EAGER);
    let (core, seen) = link("core", false);
    let mut network = Network::dumbbell(core, vec![group("udp", cbr()), group("other", cbr())]);
    network.aggregates = vec![plan];
    let measured = simulate(network);
    assert!(all(&heard).iter().all(|(_, request)| *request == RateRequest::Keep));
    let [inside, outside] = &measured.flows[..] else { panic!("two flows") };
    assert_eq!(measured.aggregates[0].entered, all(&heard).len() as u64);
    let yellow = all(&seen).iter().filter(|(color, _)| *color == 1).count() as u64;
    assert!(yellow.abs_diff(inside.packets_sent / 3) <= 1, "{yellow} of {}", inside.packets_sent);
    assert!(all(&seen).len() as u64 >= inside.packets_sent + outside.packets_sent - 2);
}

#[test]
fn packets_keep_their_colour_over_two_links_and_acknowledgements_have_none() {
    let ((first, seen_first), (second, seen_second)) = (link("first", false), link("second", false));
    let (back, seen_back) = link("back", false);
    let (plan, heard) = aggregate(&[0], EstimatorPlan::default());
    let mut tcp = group("tcp", Source::Bulk { tcp: tcp() });
    tcp.forward = vec![fairwire_sim::Hop::Link(0), fairwire_sim::Hop::Link(1)];
    tcp.back = vec![fairwire_sim::Hop::Link(2)];
    simulate(Network { links: vec![first, second, back], groups: vec![tcp], aggregates: vec![plan] });
    let (seen_first, seen_second) = (all(&seen_first), all(&seen_second));
    assert_eq!(seen_first[..seen_second.len()], seen_second[..]);
    assert!(seen_second.len() > 200 && seen_first.iter().any(|(color, _)| *color == 1));
    assert_eq!(all(&heard).len(), seen_first.len(), "it is coloured once");
    assert!(all(&seen_back).iter().all(|(color, len)| *color == 0 && *len == 40));
}
