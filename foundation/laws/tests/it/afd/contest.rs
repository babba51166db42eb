//! Constant-rate flows at one link.

use crate::built;
use fairwire_core::units::Amount;
use fairwire_core::{Ecn, Ignore, Packet, Rate, Seed, Time, Transmitter};
use fairwire_laws::Site;

#[derive(Clone, Copy)]
pub(super) struct Link {
    pub bps: u64,
    pub buffer: Amount,
    pub packet_bytes: u32,
    /// The start and the end of the measurement, in ms.
    pub ms: [u64; 2],
}

#[derive(Clone, Copy)]
pub(super) struct Sender {
    pub bps: u64,
    pub len: u32,
    pub class: u32,
    pub ecn: Ecn,
}

pub(super) fn shares(name: &str, typed: &str, link: Link, senders: &[Sender]) -> Vec<f64> {
    let (rate, [from_ns, end_ns]) =
        (Rate::from_bps(link.bps).expect("not zero"), link.ms.map(|ms| ms * 1_000_000));
    let Link { buffer, packet_bytes, .. } = link;
    let mut queue = built(name, typed, &Site { rate, buffer, packet_bytes, seed: Seed(1), stream: "afd" });
    let mut random = Seed(2).stream("senders");
    let gap = |sender: &Sender| u64::from(sender.len) * 8_000_000_000 / sender.bps;
    let mut next: Vec<u64> =
        senders.iter().map(|sender| (random.uniform() * gap(sender) as f64) as u64).collect();
    let mut transmitter = Transmitter::new(rate);
    let mut bits = vec![0u64; senders.len()];
    loop {
        let (from, &arrival) = next.iter().enumerate().min_by_key(|(_, at)| **at).expect("some senders");
        while transmitter.free_at().ns() < arrival {
            let now = transmitter.free_at();
            let Some(packet) = queue.dequeue(now, &mut Ignore) else {
                transmitter.idle_until(Time::from_ns(arrival));
                break;
            };
            transmitter.start(packet.len, now);
            if now.ns() >= from_ns {
                bits[packet.flow.0 as usize] += u64::from(packet.len) * 8;
            }
        }
        if arrival > end_ns {
            let all = link.bps as f64 * (end_ns - from_ns) as f64 / 1e9;
            return bits.iter().map(|&bits| bits as f64 / all).collect();
        }
        let (now, sender) = (Time::from_ns(arrival), senders[from]);
        // A little jitter keeps senders of equal rate from falling into step.
        next[from] += (gap(&sender) as f64 * (0.9 + 0.2 * random.uniform())) as u64;
        let packet = Packet::new(0, sender.len, (from as u64).into(), now);
        queue.enqueue(Packet { class: sender.class, ecn: sender.ecn, ..packet }, now, &mut Ignore);
    }
}

/// The rate that each sender gets on a link of 10 Mbit/s, in kbit/s.
fn contest(name: &str, typed: &str, senders: &[Sender]) -> Vec<f64> {
    let buffer = Amount::Packets(300);
    let link = Link { bps: 10_000_000, buffer, packet_bytes: 1000, ms: [20_000, 100_000] };
    shares(name, typed, link, senders).into_iter().map(|part| part * 10_000.0).collect()
}

fn sender(kbps: u64, len: u32, class: u32) -> Sender {
    Sender { bps: kbps * 1000, len, class, ecn: Ecn::NotEct }
}

fn groups(rates: &[f64]) -> Vec<f64> {
    rates.chunks(10).map(|group| group.iter().sum::<f64>() / group.len() as f64).collect()
}

fn figure6() -> Vec<Sender> {
    [50, 100, 200, 400, 600].into_iter().flat_map(|kbps| [sender(kbps, 1000, 0); 10]).collect()
}

/// Max-min fair rates of figure 6, in kbit/s.
const FAIR: [f64; 5] = [50.0, 100.0, 200.0, 325.0, 325.0];

#[test]
fn figure_6_comes_out_with_the_shadow_buffer_and_the_new_flow_table() {
    for name in ["afd-sb", "afd-nft"] {
        let found = groups(&contest(name, "", &figure6()));
        println!("{name}: {found:.1?} kbit/s");
        for (found, fair) in found.iter().zip(FAIR) {
            // In ns-2, the rates with SB and NFT are within 5 % of the fair rates; the paper claims
            // 15 %.
            assert!((found / fair - 1.0).abs() < 0.05, "{name}: {found} for {fair}");
        }
    }
}

#[test]
fn in_figure_6_the_plain_flow_table_holds_fast_flows_below_their_share() {
    let found = groups(&contest("afd-ft", "", &figure6()));
    println!("afd-ft: {found:.1?} kbit/s");
    // In ns-2, these groups got 8 % less and 8 % more than the fair rate.
    assert!(found[4] < 0.95 * FAIR[4], "{found:?}");
    assert!(found[3] > 1.05 * FAIR[3], "{found:?}");
}

#[test]
fn exact_rates_give_figure_6_too() {
    let found = groups(&contest("afd-exact", "", &figure6()));
    println!("afd-exact: {found:.1?} kbit/s");
    for (found, fair) in found.iter().zip(FAIR) {
        assert!((found / fair - 1.0).abs() < 0.05, "{found} for {fair}");
    }
}

#[test]
fn a_class_of_twice_the_weight_gets_twice_the_rate() {
    let senders: Vec<Sender> = (0..20).map(|i| sender(900, 1000, if i < 10 { 0 } else { 7 })).collect();
    for name in ["afd-sb", "afd-ft", "afd-nft", "afd-exact"] {
        let found = groups(&contest(name, "weights = { 7 = 2.0 }", &senders));
        println!("{name}: {found:.1?} kbit/s");
        for (found, fair) in found.iter().zip([333.3, 666.7]) {
            assert!((found / fair - 1.0).abs() < 0.05, "{name}: {found} for {fair}");
        }
    }
}

#[test]
fn the_length_of_packets_matters_in_packets_and_not_in_bytes() {
    let senders: Vec<Sender> = (0..20).map(|i| sender(900, if i < 10 { 1500 } else { 500 }, 0)).collect();
    for name in ["afd-sb", "afd-ft", "afd-nft", "afd-exact"] {
        let found = |measure| groups(&contest(name, &format!("measure = '{measure}'"), &senders));
        let (bytes, packets) = (found("bytes"), found("packets"));
        println!("{name}: {bytes:.1?} in bytes, {packets:.1?} in packets");
        // AFD-FT is biased against flows with many samples, here the flows of short packets.
        let tolerance = if name == "afd-ft" { 0.15 } else { 0.05 };
        for found in bytes {
            assert!((found / 500.0 - 1.0).abs() < tolerance, "{name}: {found}");
        }
        assert!((packets[0] / packets[1] / 3.0 - 1.0).abs() < 0.15, "{name}: {packets:?}");
    }
}
