//! Links and packets that the paper does not test.

use super::contest::{Link, Sender, shares};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Ecn};

const FORMS: [&str; 4] = ["afd-sb", "afd-ft", "afd-nft", "afd-exact"];

fn link(bps: u64, buffer: Amount, ms: u64) -> Link {
    Link { bps, buffer, packet_bytes: 1500, ms: [0, ms] }
}

fn sender(bps: u64) -> Sender {
    Sender { bps, len: 1500, class: 0, ecn: Ecn::NotEct }
}

#[test]
fn a_light_class_without_others_loses_nothing_on_a_link_that_is_not_full() {
    let link = link(10_000_000, Amount::Packets(300), 20_000);
    for name in FORMS {
        let found = shares(name, "weights = { 1 = 0.25 }", link, &[Sender { class: 1, ..sender(9_000_000) }]);
        println!("{name}: {found:.3?}");
        // The flow sends at 0.9 of the link's rate. Its jitter averages out over 15 000 packets.
        assert!(found[0] > 0.89, "{name}: {found:?}");
    }
}

#[test]
fn in_bytes_long_packets_lose_nothing_on_a_link_that_is_not_full() {
    let link = link(1_000_000_000, Amount::Packets(1000), 10_000);
    for name in FORMS {
        let found = shares(name, "measure = 'bytes'", link, &[Sender { len: 65_000, ..sender(900_000_000) }]);
        println!("{name}: {found:.3?}");
        // The flow sends at 0.9 of the rate. If m_fair changes while a packet waits, a few packets
        // may be lost.
        assert!(found[0] > 0.88, "{name}: {found:?}");
    }
}

#[test]
fn a_fast_link_with_a_small_buffer_is_kept_busy() {
    for (bps, ms) in [(1_000_000_000, 1), (10_000_000_000, 1), (10_000_000_000, 10)] {
        let buffer = Amount::Time(Duration::from_ms(ms));
        let flows = [sender(bps * 3 / 20); 10]; // ten flows, 1.5 times the link together
        for name in FORMS {
            let found: f64 = shares(name, "", link(bps, buffer, 500), &flows).iter().sum();
            println!("{name}, {bps} bit/s, {ms} ms: {found:.3}");
            // If m_fair took a step only every 6.25 ms, the link would be idle for at least a
            // quarter of the time.
            assert!(found > 0.97, "{name}, {bps} bit/s, {ms} ms: {found}");
        }
    }
}

#[test]
fn a_sender_that_ignores_marks_does_not_push_others_out() {
    let link = link(10_000_000, Amount::Packets(300), 40_000);
    for name in FORMS {
        let deaf = Sender { ecn: Ecn::Ect0, ..sender(15_000_000) };
        let found = shares(name, "ecn = 'mark'", link, &[deaf, sender(4_000_000)]);
        println!("{name}: {found:.3?}");
        // The second flow sends at 0.4 of the rate. It loses packets only until m_fair has left its
        // initial value.
        assert!(found[1] > 0.37, "{name}: {found:?}");
    }
}
