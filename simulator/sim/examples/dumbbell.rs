//! Nine TCP flows and one CBR flow over a FIFO of 780 packets, for 1000 simulated seconds.
//!
//! `cargo run --release -p fairwire-sim --example dumbbell`

use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, RateLaw, Seed};
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::{Config, Profile};
use std::ops::ControlFlow;

struct TailDrop;
impl Dropper for TailDrop {}

fn main() {
    let rate = |bps| Rate::from_bps(bps).expect("not zero");
    let group = |name: &str, source, starts_ms: Vec<u64>| GroupPlan {
        name: name.into(),
        source,
        forward: Vec::new(), // set by the dumbbell
        back: Vec::new(),
        access_rate: rate(100_000_000),
        class: 0,
        dscp: 0,
        ecn: fairwire_core::Ecn::NotEct,
        members: starts_ms
            .into_iter()
            .map(|ms| Member { start: Duration::from_ms(ms), access_delay: Duration::from_ms(3) })
            .collect(),
        on: Vec::new(), // all the time
    };
    let tcp = Source::Bulk { tcp: Config::new(Profile::Ns2In2002, 512) };
    let cbr = Source::Cbr { rate: rate(5_000_000), packet_bytes: 512, header_bytes: 28, dither: 0.0 };
    let bottleneck = LinkPlan {
        wire: None,
        name: "bottleneck".into(),
        rate: rate(10_000_000),
        law: RateLaw::Fixed,
        delay: Duration::from_ms(10),
        discipline: Box::new(Queue::new(Limit::packets(780), Fcfs, TailDrop)),
    };
    let groups = vec![group("tcp", tcp, (0..9).map(|i| 100 * i).collect()), group("udp", cbr, vec![50])];
    let plan = Network::dumbbell(bottleneck, groups);
    let settings = Settings {
        duration: Duration::from_secs(1000),
        warm_up: Duration::from_secs(20),
        seed: Seed(1),
        tie_rule: TieRule::Random,
    };
    let measured =
        fairwire_sim::run(plan, &settings, &mut |_| ControlFlow::Continue(())).expect("it is not stopped");
    for flow in &measured.flows {
        println!("{:6} {:>6.3} Mbit/s", flow.name, flow.throughput_bps / 1e6);
    }
    println!("{} packets left the link in {} events", measured.links[0].packets_out, measured.events);
}
