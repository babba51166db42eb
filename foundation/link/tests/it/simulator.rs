//! Compares the link with the simulator's link, a separate implementation over
//! [`Server`](fairwire_core::Server). Equal traffic leaves both at equal times.

use fairwire_catalogue::{Parameters, Site, build, inherit_ecn};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Ecn, Ignore, Packet, Pattern, RateLaw, Rng, Seed, Step, Time, Trace};
use fairwire_laws::spec::EcnChoice;
use fairwire_link::Link;
use fairwire_sim::{Departure, LinkPlan};

const QUEUES: [&str; 6] = ["tail-drop", "drr+lqd", "faba", "fq-codel", "pie", "wf2q++red"];
const TRACE: &str = "1\n1\n4\n9\n9\n9\n16\n";
const PATTERN: [(&str, &str); 2] = [("3 Mbit/s", "37 ms"), ("7777777 bit/s", "41 ms")];

/// The time, bytes and flow of each packet, at a mean of 1.03 times the link's rate of 5 Mbit/s.
fn traffic() -> Vec<(Time, u32, u64)> {
    let mut rng: Rng = Seed(7).stream("traffic");
    let mut now = Time::ZERO;
    let mut next = || {
        now += Duration::from_us(rng.below(2_200).into());
        (now, [40, 577, 1500][rng.below(3) as usize], u64::from(rng.below(5)))
    };
    (0..5_000).map(|_| next()).collect()
}

fn laws() -> [RateLaw; 4] {
    let step = |at, rate: &str| Step { at: Time::ZERO + Duration::from_ms(at), rate: rate.parse().ok() };
    let steps = [step(1000, "3 Mbit/s"), step(2000, "7777777 bit/s")];
    let trace = RateLaw::Trace(Trace::parse(TRACE).unwrap().into());
    let part = |(rate, length): &(&str, &str)| (length.parse().unwrap(), rate.parse().ok());
    let pattern = Pattern::new(PATTERN.iter().map(part)).unwrap();
    [RateLaw::Fixed, RateLaw::Steps(steps.into()), trace, RateLaw::Pattern(pattern.into())]
}

fn simulated(queue: &str, law: &RateLaw) -> Vec<(u32, Ecn, Time)> {
    let site = Site {
        rate: "5 Mbit/s".parse().unwrap(),
        buffer: Amount::Packets(30),
        packet_bytes: 1500,
        seed: Seed(3),
        stream: "link",
    };
    let mut parameters = Parameters::default();
    inherit_ecn(queue, &mut parameters, EcnChoice::Mark).unwrap();
    let mut link = fairwire_sim::Link::new(LinkPlan {
        wire: None,
        name: "link".into(),
        rate: site.rate,
        law: law.clone(),
        delay: Duration::from_ms(10),
        discipline: build(queue, &parameters, &site).unwrap(),
    });
    let mut left: Vec<Departure> = Vec::new();
    for (frame, (now, bytes, flow)) in (0..).zip(traffic()) {
        while link.next_poll_at() <= now {
            left.extend(link.poll(link.next_poll_at(), &mut Ignore));
        }
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(frame, bytes, flow.into(), now) };
        left.extend(link.enqueue(packet, now, &mut Ignore));
    }
    while link.next_poll_at() < Time::MAX {
        left.extend(link.poll(link.next_poll_at(), &mut Ignore));
    }
    left.iter().map(|left| (left.packet.frame, left.packet.ecn, left.reaches)).collect()
}

fn linked(queue: &str, law: usize) -> Vec<(u32, Ecn, Time)> {
    let plain =
        Link::<u32, Time>::new("5 Mbit/s", "10 ms").queue(queue).buffer("30 packets").seed(3).mark_ecn();
    let built = match law {
        0 => plain.build(),
        1 => plain.steps([("1 s", "3 Mbit/s"), ("2 s", "7777777 bit/s")]).build(),
        2 => plain.trace(TRACE).build(),
        _ => plain.pattern(PATTERN).build(),
    };
    let mut link = built.unwrap();
    for (frame, (now, bytes, flow)) in (0..).zip(traffic()) {
        link.send(frame, bytes as usize, flow, Ecn::Ect0, now).unwrap();
    }
    let end = Time::ZERO + Duration::from_secs(1000);
    std::iter::from_fn(|| link.receive(end)).map(|got| (got.payload, got.ecn, got.arrived)).collect()
}

#[test]
fn the_same_traffic_leaves_at_the_same_times() {
    for queue in QUEUES {
        for (number, law) in laws().iter().enumerate() {
            let (simulated, linked) = (simulated(queue, law), linked(queue, number));
            assert!(simulated.len() > 2_000 && simulated.len() < 5_000, "{queue}: {}", simulated.len());
            assert_eq!(simulated, linked, "{queue} under {law:?}");
        }
    }
}
