//! Links, packets and weights unlike the paper's: light classes, long packets, fast links with
//! small buffers, and marks.

use fairwire_catalogue::{Parameters, build};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Ecn, Ignore, Packet, Rate, Seed, Time, Transmitter};
use fairwire_laws::Site;

const FORMS: [&str; 4] = ["afd-sb", "afd-ft", "afd-nft", "afd-exact"];

#[derive(Clone, Copy)]
struct Link {
    bps: u64,
    buffer: Amount,
    ms: u64,
}

#[derive(Clone, Copy)]
struct Flow {
    bps: u64,
    len: u32,
    class: u32,
    ecn: Ecn,
}

/// What each of `flows`, at a constant rate with a little jitter, gets of `link`, as a part of the
/// link.
fn shares(name: &str, parameters: &str, link: Link, flows: &[Flow]) -> Vec<f64> {
    let rate = Rate::from_bps(link.bps).expect("not zero");
    let site = Site { rate, buffer: link.buffer, packet_bytes: 1500, seed: Seed(1), stream: "links" };
    let typed: Parameters = toml::from_str(&format!("[{name}]\n{parameters}")).expect("well-formed");
    let mut queue = build(name, &typed, &site).expect("allowed");
    let mut random = Seed(3).stream("senders");
    let gap = |flow: &Flow| u64::from(flow.len) * 8_000_000_000 / flow.bps;
    let mut next: Vec<u64> = flows.iter().map(|flow| (random.uniform() * gap(flow) as f64) as u64).collect();
    let mut transmitter = Transmitter::new(rate);
    let mut bits = vec![0u64; flows.len()];
    loop {
        let (from, &arrival) = next.iter().enumerate().min_by_key(|(_, at)| **at).expect("some flows");
        while transmitter.free_at().ns() < arrival {
            let now = transmitter.free_at();
            let Some(packet) = queue.dequeue(now, &mut Ignore) else {
                transmitter.idle_until(Time::from_ns(arrival));
                break;
            };
            transmitter.start(packet.len, now);
            bits[packet.flow.0 as usize] += u64::from(packet.len) * 8;
        }
        if arrival > link.ms * 1_000_000 {
            let sent = link.bps as f64 * link.ms as f64 / 1000.0;
            return bits.iter().map(|&b| b as f64 / sent).collect();
        }
        let (now, flow) = (Time::from_ns(arrival), flows[from]);
        next[from] += (gap(&flow) as f64 * (0.9 + 0.2 * random.uniform())) as u64;
        let packet = Packet::new(0, flow.len, (from as u64).into(), now);
        queue.enqueue(Packet { class: flow.class, ecn: flow.ecn, ..packet }, now, &mut Ignore);
    }
}

fn flow(bps: u64) -> Flow {
    Flow { bps, len: 1500, class: 0, ecn: Ecn::NotEct }
}

#[test]
fn a_light_class_alone_gets_through_a_link_that_is_not_full() {
    let link = Link { bps: 10_000_000, buffer: Amount::Packets(300), ms: 20_000 };
    for name in FORMS {
        let found = shares(name, "weights = { 1 = 0.25 }", link, &[Flow { class: 1, ..flow(9_000_000) }]);
        println!("{name}: {found:.3?}");
        // It sends 0.9 of the link; jitter averages out over 15 000 packets.
        assert!(found[0] > 0.89, "{name}: {found:?}");
    }
}

#[test]
fn in_bytes_long_packets_alone_get_through_a_link_that_is_not_full() {
    let link = Link { bps: 1_000_000_000, buffer: Amount::Packets(1000), ms: 10_000 };
    for name in FORMS {
        let found = shares(name, "measure = 'bytes'", link, &[Flow { len: 65_000, ..flow(900_000_000) }]);
        println!("{name}: {found:.3?}");
        // It sends 0.9 of the link; a step taken while a packet waits may cost a few.
        assert!(found[0] > 0.88, "{name}: {found:?}");
    }
}

#[test]
fn a_fast_link_with_a_small_buffer_is_kept_busy() {
    for (bps, ms) in [(1_000_000_000, 1), (10_000_000_000, 1), (10_000_000_000, 10)] {
        let buffer = Amount::Time(Duration::from_ms(ms));
        let flows = [flow(bps * 3 / 20); 10]; // ten flows, 1.5 times the link together
        for name in FORMS {
            let found: f64 = shares(name, "", Link { bps, buffer, ms: 500 }, &flows).iter().sum();
            println!("{name}, {bps} bit/s, {ms} ms: {found:.3}");
            // Steps of 6.25 ms left it idle for a quarter of the time and more.
            assert!(found > 0.97, "{name}, {bps} bit/s, {ms} ms: {found}");
        }
    }
}

#[test]
fn who_ignores_marks_does_not_push_others_out() {
    let link = Link { bps: 10_000_000, buffer: Amount::Packets(300), ms: 40_000 };
    for name in FORMS {
        let deaf = Flow { ecn: Ecn::Ect0, ..flow(15_000_000) };
        let found = shares(name, "ecn = 'mark'", link, &[deaf, flow(4_000_000)]);
        println!("{name}: {found:.3?}");
        // 0.4 is all it sends; what it loses is lost before the first queue has moved m_fair.
        assert!(found[1] > 0.37, "{name}: {found:?}");
    }
}
