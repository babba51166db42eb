//! One flow performs as in ns-2 2.35, drop for drop.
//!
//! The figures are the output of `ns proof/bench/one-flow.tcl BUFFER WINDOW`.

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, RateLaw, Seed};
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, Source, TieRule, run};
use fairwire_tcp::{Config, Profile};
use std::ops::ControlFlow;

struct TailDrop;
impl Dropper for TailDrop {}

struct Case {
    buffer: u32,
    window: Option<u32>,
    throughput_bps: f64,
    drops: u64,
}

fn rate(bps: u64) -> Rate {
    Rate::from_bps(bps).expect("not zero")
}

fn simulated(case: &Case) -> (f64, u64) {
    let mut tcp = Config::new(Profile::Ns2In2002, 512);
    tcp.window = case.window;
    let bottleneck = LinkPlan {
        wire: None,
        name: "bottleneck".into(),
        rate: rate(10_000_000),
        law: RateLaw::Fixed,
        delay: Duration::from_ms(10),
        discipline: Box::new(Queue::new(Limit::packets(case.buffer), Fcfs, TailDrop)),
    };
    let flow = GroupPlan {
        name: "tcp".into(),
        source: Source::Bulk { tcp },
        forward: Vec::new(), // set by the dumbbell
        back: Vec::new(),
        access_rate: rate(100_000_000),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: vec![Member { start: Duration::ZERO, access_delay: Duration::from_ms(3) }],
        on: Vec::new(),
    };
    let plan = Network::dumbbell(bottleneck, vec![flow]);
    let settings = Settings {
        duration: Duration::from_secs(100),
        warm_up: Duration::from_secs(20),
        seed: Seed(1),
        tie_rule: TieRule::Fifo, // as in ns-2
    };
    let measured = run(plan, &settings, &mut |_| ControlFlow::Continue(())).expect("it is not stopped");
    (measured.flows[0].throughput_bps, measured.links[0].drops.values().sum())
}

#[test]
fn one_flow_has_the_losses_and_goodput_of_ns2() {
    let case = |buffer, window, throughput_bps, drops| Case { buffer, window, throughput_bps, drops };
    for case in [
        case(2, None, 7_678_485.6, 60),
        case(5, None, 7_915_017.6, 58),
        case(20, None, 8_976_458.4, 47),
        case(40, None, 9_689_366.4, 34),
        case(80, None, 9_999_976.8, 20),
        case(20, Some(100), 5_753_109.6, 441),
        case(20, Some(8), 1_084_569.6, 0),
    ] {
        let (throughput_bps, drops) = simulated(&case);
        let Case { buffer, window, .. } = case;
        assert_eq!(drops, case.drops, "buffer {buffer}, window {window:?}");
        // At the ends of the 80 s, the two counts may differ by 40 packets of 552 B (half a
        // bandwidth-delay product).
        let difference = (throughput_bps - case.throughput_bps).abs();
        assert!(difference <= 2208.0, "buffer {buffer}, window {window:?}: {throughput_bps}");
    }
}
