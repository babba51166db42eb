//! Tests of the network in operation.

use crate::event::{Event, Events};
use crate::model::Model;
use crate::observe::Unwatched;
use crate::plan::{GroupPlan, Hop, LinkPlan, Member, Network, Settings, Source, TieRule};
use crate::queue::Sides;
use crate::tuning::Tuning;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, RateLaw, Seed, Time};
use fairwire_tcp::{Config, Profile};
use std::ops::ControlFlow;

struct TailDrop;
impl Dropper for TailDrop {}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn bottleneck(packets: u32) -> LinkPlan {
    LinkPlan {
        wire: None,
        name: "bottleneck".into(),
        rate: rate(10_000_000),
        law: RateLaw::Fixed,
        delay: Duration::from_ms(10),
        discipline: Box::new(Queue::new(Limit::packets(packets), Fcfs, TailDrop)),
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
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(3) }],
        on: Vec::new(),
    }
}

fn bulk(name: &str) -> GroupPlan {
    group(name, Source::Bulk { tcp: Config::new(Profile::Ns2In2002, 512) })
}

fn cbr(name: &str, bps: u64) -> GroupPlan {
    group(name, Source::Cbr { rate: rate(bps), packet_bytes: 512, header_bytes: 28, dither: 0.0 })
}

fn settings(tie_rule: TieRule) -> Settings {
    Settings { duration: Duration::from_secs(30), warm_up: Duration::from_secs(10), seed: Seed(1), tie_rule }
}

fn gone(plan: Network, settings: &Settings) -> Model<Unwatched, Sides> {
    let goes_on = &mut |_| ControlFlow::Continue(());
    let mut run = Model::new(plan, settings, Unwatched, goes_on).expect("it is not stopped");
    assert!(run.go(goes_on));
    run
}

fn run(flows: Vec<GroupPlan>, packets: u32, settings: &Settings) -> Model<Unwatched, Sides> {
    gone(Network::dumbbell(bottleneck(packets), flows), settings)
}

fn rest(run: &mut Model<Unwatched, Sides>) -> Vec<Event> {
    let Model { events, store, .. } = run;
    let mut rest = Vec::new();
    while events.begin_turn(Time::from_ns(1 << 50)) {
        rest.extend(std::iter::from_fn(|| events.next_at_hosts(store).event()).map(|(_, event)| event));
        rest.extend(std::iter::from_fn(|| events.next_at_links(store).event()).map(|(_, event)| event));
    }
    rest
}

fn throughput(flows: Vec<GroupPlan>, packets: u32) -> Vec<f64> {
    let run = run(flows, packets, &settings(TieRule::Random));
    run.measured().flows.iter().map(|f| f.throughput_bps).collect()
}

#[test]
fn every_frame_is_queued_in_flight_or_released() {
    let flows: Vec<_> = (0..5).map(|i| bulk(&format!("tcp.{i}"))).chain([cbr("udp", 8_000_000)]).collect();
    let mut run = run(flows, 20, &settings(TieRule::Random));
    let mut on_the_way = 0;
    for event in rest(&mut run) {
        on_the_way += usize::from(matches!(event, Event::Arrival(_) | Event::Ack(_)));
    }
    assert!(run.store.flows.iter().any(|f| f.counts().dropped > 0), "the test needs drops");
    assert_eq!(run.store.frames.in_flight(), run.links[0].backlog().packets as usize + on_the_way);
}

#[test]
fn the_tuning_for_many_flows_changes_no_result() {
    let outcome = |has_many_flows: bool| {
        let mut tcp = Config::new(Profile::Modern, 512);
        let delayed = group("delayed", Source::Bulk { tcp: tcp.clone() });
        tcp.delayed_ack = None;
        let flows = vec![delayed, group("each", Source::Bulk { tcp }), cbr("udp", 3_141_593)];
        let (mut plan, settings) = (Network::dumbbell(bottleneck(40), flows), settings(TieRule::Random));
        let tuning = Tuning { has_many_flows, ..Tuning::of(&mut plan, &settings, false) };
        let mut run = Model::tuned(plan, &settings, Unwatched, &tuning);
        assert!(run.go(&mut |_| ControlFlow::Continue(())));
        format!("{:?}", run.measured())
    };
    assert_eq!(outcome(true), outcome(false), "to prefetch memory changes nothing");
}

#[test]
fn plans_with_one_name_form_one_group_with_consecutive_flows() {
    use crate::app::{Bursts, Load};
    let tcp = Config::new(Profile::Modern, 512);
    let sources = [
        Source::Bulk { tcp: tcp.clone() },
        Source::Tcp { tcp, load: Load::Bursts(Bursts::default()) },
        Source::Cbr { rate: rate(3_000_000), packet_bytes: 512, header_bytes: 28, dither: 0.5 },
    ];
    for source in sources {
        let outcome = |parts: &[u64]| {
            let mut starts = [0, 3, 5, 9].into_iter();
            let part = |members: &u64| GroupPlan {
                members: starts
                    .by_ref()
                    .take(*members as usize)
                    .map(|ms| Member { start: Duration::from_ms(ms), access_delay: Duration::from_ms(3) })
                    .collect(),
                ..group("all", source.clone())
            };
            let mut flows: Vec<_> = parts.iter().map(part).collect();
            flows.push(bulk("other"));
            format!("{:?}", run(flows, 20, &settings(TieRule::Random)).measured())
        };
        assert_eq!(outcome(&[1, 3]), outcome(&[4]));
        assert_eq!(outcome(&[1, 2, 1]), outcome(&[4]));
    }
}

#[test]
fn serving_hosts_ahead_of_the_links_changes_no_result() {
    let far = |name: &str, source, ms| GroupPlan {
        members: [0, 3, 3]
            .map(|start| Member { start: Duration::from_ms(start), access_delay: Duration::from_ms(ms) })
            .into(),
        ..group(name, source)
    };
    let networks = |profile: Profile| {
        let tcp = Config::new(profile, 512);
        let flows = || {
            let udp = Source::Cbr { rate: rate(1_000_000), packet_bytes: 512, header_bytes: 28, dither: 0.5 };
            vec![
                far("near", Source::Bulk { tcp: tcp.clone() }, 0),
                far("far", Source::Bulk { tcp: tcp.clone() }, 7),
                far("udp", udp, 3),
            ]
        };
        let one = Network::dumbbell(bottleneck(40), flows());
        // The second queue of `far` is also on the return path of `cross`.
        let two = |law: RateLaw| {
            let (mut two, mut cross) =
                (Network::dumbbell(LinkPlan { law: law.clone(), ..bottleneck(60) }, flows()), flows());
            two.links.push(LinkPlan {
                name: "second".into(),
                delay: Duration::from_ms(8),
                law,
                ..bottleneck(20)
            });
            two.groups[1].forward.push(Hop::Link(1));
            cross.truncate(1);
            cross[0].name = "cross".into();
            (cross[0].forward, cross[0].back) = (vec![Hop::Link(0)], vec![Hop::Link(1)]);
            two.groups.extend(cross);
            two
        };
        [one, two(RateLaw::Fixed), two(bursts())]
    };
    for profile in [Profile::Modern, Profile::Ns2In2002] {
        for at in 0..3 {
            let outcome = |lookahead: Option<Duration>| {
                let plan = networks(profile).into_iter().nth(at).expect("there are three");
                let tuning = Tuning::ahead(&plan, lookahead);
                let mut run = Model::tuned(plan, &settings(TieRule::Random), Unwatched, &tuning);
                assert!(run.go(&mut |_| ControlFlow::Continue(())));
                format!("{:?}", run.measured())
            };
            let together = outcome(None);
            for lookahead in [1, 1000, 1_000_000] {
                assert_eq!(
                    outcome(Some(Duration::from_ns(lookahead))),
                    together,
                    "{profile:?}, network {at}, {lookahead} ns ahead"
                );
            }
            let found = Tuning::of(&mut networks(profile)[at], &settings(TieRule::Random), false).lookahead;
            assert!(found.is_some_and(|found| found >= Duration::from_ms(1)), "{found:?}");
            assert_eq!(outcome(found), together, "{profile:?}, network {at}");
        }
    }
}

fn bursts() -> RateLaw {
    RateLaw::Trace(fairwire_core::Trace::parse(&"10\n".repeat(8)).expect("a trace").into())
}

#[test]
fn departures_of_a_link_at_one_instant_stay_in_order() {
    let throughput = |tie_rule| {
        let mut plan = Network::dumbbell(LinkPlan { law: bursts(), ..bottleneck(100) }, vec![bulk("tcp")]);
        plan.links.push(LinkPlan { name: "second".into(), rate: rate(100_000_000), ..bottleneck(1000) });
        plan.groups[0].forward.push(Hop::Link(1));
        gone(plan, &settings(tie_rule)).measured().flows[0].throughput_bps
    };
    let (random, fifo) = (throughput(TieRule::Random), throughput(TieRule::Fifo));
    assert!((random / fifo - 1.0).abs() < 1e-9, "{random} {fifo}");
}

#[test]
fn frames_of_abandoned_connections_are_released_too() {
    use crate::app::{Bursts, Law, Load, Sequence, Web};
    let tcp = Config::new(Profile::Ns2In2002, 512);
    let user = |name, load| group(name, Source::Tcp { tcp: tcp.clone(), load });
    let web = Web { reading: Law::Fixed(0.2), ..Web::default() };
    let short = Sequence { lasts: fairwire_core::Duration::from_ms(300) };
    let flows = vec![
        user("short", Load::Sequence(short)),
        user("web", Load::Web(Box::new(web))),
        user("bursts", Load::Bursts(Bursts { renews: true, ..Bursts::default() })),
        bulk("tcp"),
    ];
    let mut run = run(flows, 20, &settings(TieRule::Random));
    let (mut on_the_way, mut stale) = (0, 0);
    for event in rest(&mut run) {
        if let Event::Arrival(slot) | Event::Ack(slot) = event {
            on_the_way += 1;
            let frame = run.store.frames.at(slot);
            stale += usize::from(
                run.store.flows[frame.flow as usize]
                    .is_stale(frame, &run.groups[run.legs[frame.leg as usize].group as usize]),
            );
        }
    }
    assert!(run.store.flows.iter().any(|f| f.counts().dropped > 0), "the test needs drops");
    assert!(run.store.flows[0].counts().sent > 1000, "the test needs connections that are left at work");
    assert_eq!(run.store.frames.in_flight(), run.links[0].backlog().packets as usize + on_the_way);
    // The connection of `short` is renewed at 30 s, the end of the run.
    assert!(stale > 0, "the test needs frames of connections that were left");
}

#[test]
fn a_constant_rate_below_the_link_arrives_without_loss() {
    let got = throughput(vec![cbr("udp", 5_000_000)], 10)[0];
    assert!((got - 5e6).abs() < 512.0 * 8.0, "{got}"); // within one packet in 20 s
}

#[test]
fn a_dithered_source_keeps_its_mean_rate() {
    let mut udp = cbr("udp", 5_000_000);
    if let Source::Cbr { dither, .. } = &mut udp.source {
        *dither = 0.5;
    }
    let got = throughput(vec![udp], 1000)[0];
    // Each of the 24 414 gaps has a standard deviation of 0.5/sqrt(3) of the mean gap. So 3.3
    // standard deviations of the rate are 0.6 %.
    assert!((got / 5e6 - 1.0).abs() < 0.006, "{got}");
}

#[test]
fn one_tcp_with_a_buffer_of_its_bandwidth_delay_product_fills_the_link() {
    // 10 Mbit/s x 32 ms are 72 packets of 552 B.
    let got = throughput(vec![bulk("tcp")], 80)[0];
    let one_packet = 552.0 * 8.0 / 20.0; // an allowance for counting complete packets in 20 s
    assert!(got > 0.98 * 10e6 && got <= 10e6 + one_packet, "{got}");
}

#[test]
fn a_window_limited_tcp_gets_its_window_per_round_trip() {
    let mut tcp = Config::new(Profile::Ns2In2002, 512);
    tcp.window = Some(10);
    let got = throughput(vec![group("tcp", Source::Bulk { tcp })], 100)[0];
    // The terms are propagation, data on two access links and the bottleneck, and ACKs on the same
    // links.
    let rtt = 0.032 + 2.0 * 44.16e-6 + 441.6e-6 + 2.0 * 3.2e-6 + 32e-6;
    let expected = 10.0 * 552.0 * 8.0 / rtt;
    assert!((got / expected - 1.0).abs() < 1e-3, "{got} against {expected}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_seed_does_not() {
    let mut dithered = cbr("udp", 6_000_000);
    if let Source::Cbr { dither, .. } = &mut dithered.source {
        *dither = 0.5;
    }
    let flows = || vec![bulk("tcp.0"), bulk("tcp.1"), dithered.clone()];
    let outcome = |seed: u64| {
        let settings = Settings { seed: Seed(seed), ..settings(TieRule::Random) };
        let run = run(flows(), 30, &settings);
        format!("{:?}", run.measured())
    };
    assert_eq!(outcome(1), outcome(1));
    assert_ne!(outcome(1), outcome(2));
}

#[test]
fn a_watcher_can_stop_a_run() {
    let plan = Network::dumbbell(bottleneck(100), vec![cbr("udp", 9_000_000)]);
    let mut calls = 0;
    let stopped = crate::run(
        plan,
        &Settings { duration: Duration::from_secs(100), ..settings(TieRule::Fifo) },
        &mut |_| {
            calls += 1;
            ControlFlow::Break(())
        },
    );
    assert!(stopped.is_err());
    assert_eq!(calls, 1);
}

#[test]
fn the_link_reports_how_busy_it_was() {
    let flows = vec![cbr("udp", 2_500_000)];
    let measured = run(flows, 10, &settings(TieRule::Random)).measured();
    let link = &measured.links[0];
    assert!((link.utilization - 0.25).abs() < 1e-3, "{}", link.utilization);
    assert_eq!(link.sojourn.as_ref().map(|sojourn| sojourn.max_s), Some(0.0));
    assert_eq!(link.packets_in, link.packets_out);
}
