//! Properties of any traffic over any link.

use fairwire_link::{Arrival, Ecn, GilbertElliott, Link, LinkBuilder};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

const RATE_BPS: u64 = 8_000_000; // a byte is a microsecond
const DELAY: Duration = Duration::from_millis(10);
const QUEUES: [&str; 8] =
    ["tail-drop", "drr+lqd", "faba", "codel", "fq-codel", "scfq+red", "{ pie = { ecn = 'mark' } }", "rnd"];

#[derive(Clone, Copy, Debug)]
struct Sent {
    gap_us: u64,
    bytes: usize,
    flow: u64,
}

fn traffic() -> impl Strategy<Value = Vec<Sent>> {
    let sent =
        (0..1500u64, 40..=1500usize, 0..4u64).prop_map(|(gap_us, bytes, flow)| Sent { gap_us, bytes, flow });
    prop::collection::vec(sent, 1..400)
}

fn link(queue: usize, seed: u64) -> LinkBuilder<usize> {
    Link::new("8 Mbit/s", DELAY).queue(QUEUES[queue]).buffer("20 packets").seed(seed)
}

fn impaired(queue: usize, seed: u64) -> LinkBuilder<usize> {
    let model = GilbertElliott { to_bad: 0.05, to_good: 0.3, loss_when_good: 0.0, loss_when_bad: 0.7 };
    link(queue, seed).loss(model).jitter("4 ms").reorder(0.1, "7 ms").duplicate(0.1)
}

/// Calls `receive` after each packet for which `looks` is true, and at the end.
fn run(
    mut link: Link<usize>,
    sent: &[Sent],
    looks: impl Fn(usize) -> bool,
) -> (Vec<Arrival<usize>>, Link<usize>) {
    let (mut got, mut now) = (Vec::new(), Duration::ZERO);
    for (number, packet) in sent.iter().enumerate() {
        now += Duration::from_micros(packet.gap_us);
        link.send(number, packet.bytes, packet.flow, Ecn::Ect0, now).expect("40 to 1500 bytes");
        if looks(number) {
            got.extend(std::iter::from_fn(|| link.receive(now)));
        }
    }
    while let Some(next) = link.next_timeout() {
        got.extend(std::iter::from_fn(|| link.receive(next)));
    }
    (got, link)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_appears_and_nothing_vanishes(sent in traffic(), queue in 0..QUEUES.len(), seed: u64, stop in 0..400usize) {
        let mut link = impaired(queue, seed).build().unwrap();
        let mut now = Duration::ZERO;
        for (number, packet) in sent.iter().take(stop).enumerate() {
            now += Duration::from_micros(packet.gap_us);
            link.send(number, packet.bytes, packet.flow, Ecn::NotEct, now).unwrap();
            let _ = link.receive(now);
            let report = link.report();
            let sum = |part: fn(&fairwire_link::FlowReport) -> u64| report.flows.iter().map(part).sum::<u64>();
            let inside = u64::from(link.backlog().packets) + link.packets_under_way() as u64;
            prop_assert_eq!(
                sum(|flow| flow.sent + flow.duplicated),
                sum(|flow| flow.delivered + flow.dropped + flow.lost) + inside
            );
        }
    }

    #[test]
    fn without_reordering_each_flow_keeps_its_order(sent in traffic(), queue in 0..QUEUES.len(), seed: u64) {
        let built = link(queue, seed).jitter("15 ms").loss(0.1).build().unwrap();
        let (got, _) = run(built, &sent, |_| false);
        let mut latest: BTreeMap<u64, usize> = BTreeMap::new();
        for packet in &got {
            if let Some(before) = latest.insert(packet.flow, packet.payload) {
                prop_assert!(before < packet.payload);
            }
        }
        prop_assert!(got.is_sorted_by_key(|packet| packet.arrived));
    }

    #[test]
    fn no_window_has_more_than_the_rate(sent in traffic(), queue in 0..QUEUES.len(), seed: u64) {
        let (got, _) = run(link(queue, seed).build().unwrap(), &sent, |_| true);
        for first in 0..got.len() {
            let mut bytes = 0;
            for last in first..got.len() {
                bytes += got[last].bytes as u64;
                let window = (got[last].arrived - got[first].arrived).as_nanos() as u64;
                // The window starts after the first packet's last bit.
                let after_the_first = bytes - got[first].bytes as u64;
                // One nanosecond more allows for rounding.
                prop_assert!(after_the_first * 8_000_000_000 <= (window + 1) * RATE_BPS, "{after_the_first} B in {window} ns");
            }
        }
    }

    #[test]
    fn on_an_idle_link_a_packet_takes_its_bits_over_the_rate_and_the_delay(bytes in 1..=1500usize, queue in 0..QUEUES.len(), at in 0..u64::from(u32::MAX)) {
        let mut link = link(queue, 1).build().unwrap();
        let now = Duration::from_nanos(at);
        link.send(0, bytes, 9, Ecn::NotEct, now).unwrap();
        let due = now + Duration::from_micros(bytes as u64) + DELAY;
        prop_assert_eq!(link.next_timeout(), Some(due));
        prop_assert!(link.receive(due - Duration::from_nanos(1)).is_none());
        let got = link.receive(due).unwrap();
        prop_assert_eq!((got.sent, got.arrived, got.bytes, got.flow), (now, due, bytes, 9));
        prop_assert_eq!(link.next_timeout(), None);
        prop_assert_eq!(link.report().flows[0].delay.max, due - now);
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_at_any_polling_interval(sent in traffic(), queue in 0..QUEUES.len(), seed: u64) {
        let (often, first) = run(impaired(queue, seed).build().unwrap(), &sent, |_| true);
        let (seldom, second) = run(impaired(queue, seed).build().unwrap(), &sent, |number| number % 50 == 0);
        prop_assert_eq!(often, seldom);
        prop_assert_eq!(first.report().flows, second.report().flows);
    }

    #[test]
    fn a_timeout_is_never_late(sent in traffic(), queue in 0..QUEUES.len(), seed: u64) {
        let mut link = impaired(queue, seed).build().unwrap();
        let mut now = Duration::ZERO;
        for (number, packet) in sent.iter().enumerate() {
            let next_sent = now + Duration::from_micros(packet.gap_us);
            while let Some(due) = link.next_timeout().filter(|due| *due <= next_sent) {
                while let Some(got) = link.receive(due) {
                    prop_assert_eq!(got.arrived, due);
                }
            }
            now = next_sent;
            link.send(number, packet.bytes, packet.flow, Ecn::NotEct, now).unwrap();
        }
    }
}
