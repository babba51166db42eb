//! Links that change while they run, packets with a class, and lost packets.

use fairwire_link::{Cause, Ecn, Link, LinkBuilder, PacketInfo};
use std::time::Duration;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn link() -> LinkBuilder<u32> {
    Link::new("8 Mbit/s", "10 ms") // 1000 bytes take a millisecond
}

fn arrivals(link: &mut Link<u32>, until: u64) -> Vec<(u32, f64)> {
    let all = std::iter::from_fn(|| link.receive(ms(until)));
    all.map(|arrival| (arrival.payload, arrival.arrived.as_secs_f64() * 1e3)).collect()
}

#[test]
fn a_set_rate_holds_from_then_on_and_the_report_counts_both() {
    let mut link = link().build().unwrap();
    (0..6).for_each(|n| link.send(n, 1000, 1, Ecn::NotEct, ms(0)).unwrap());
    link.set_rate("4 Mbit/s", ms(2)).unwrap();
    link.take_down(ms(4)).unwrap(); // in the middle of the fourth, which ends as scheduled
    link.set_rate("8 Mbit/s", ms(100)).unwrap();
    let expected = [(0, 11.0), (1, 12.0), (2, 13.0), (3, 15.0), (4, 111.0), (5, 112.0)];
    assert_eq!(arrivals(&mut link, 200), expected);
    // The capacity is 103 packets: 2 in 2 ms at 8 Mbit/s, 1 in 2 ms at 4 Mbit/s, and 100 in 100 ms
    // at 8 Mbit/s.
    assert!((link.report().utilization - 6.0 / 103.0).abs() < 1e-9, "{}", link.report().utilization);
}

#[test]
fn an_idle_link_that_was_down_sends_again_later() {
    let mut link = link().build().unwrap();
    link.take_down(ms(1)).unwrap();
    link.send(7, 1000, 1, Ecn::NotEct, ms(2)).unwrap();
    assert_eq!(link.next_timeout(), None);
    assert_eq!(arrivals(&mut link, 50), []);
    link.set_rate("8 Mbit/s", ms(60)).unwrap();
    assert_eq!(arrivals(&mut link, 100), [(7, 71.0)]);
}

#[test]
fn a_change_cancels_only_later_steps() {
    let mut link = link().steps([("10 ms", "4 Mbit/s"), ("20 ms", "1 Mbit/s")]).build().unwrap();
    link.set_rate("8 Mbit/s", ms(15)).unwrap();
    link.send(1, 1000, 1, Ecn::NotEct, ms(30)).unwrap();
    assert_eq!(arrivals(&mut link, 100), [(1, 41.0)]);
}

#[test]
fn a_set_delay_and_loss_hold_for_later_departures() {
    let mut link = link().keep_lost().build().unwrap();
    link.send(0, 1000, 1, Ecn::NotEct, ms(0)).unwrap();
    link.set_delay("1 ms", ms(1)).unwrap();
    link.send(1, 1000, 1, Ecn::NotEct, ms(2)).unwrap();
    link.send(2, 1000, 1, Ecn::NotEct, ms(20)).unwrap();
    link.set_loss(1.0, ms(21)).unwrap();
    link.send(3, 500, 9, Ecn::NotEct, ms(30)).unwrap();
    // Packet 1 does not overtake packet 0.
    assert_eq!(arrivals(&mut link, 100), [(0, 11.0), (1, 11.0), (2, 22.0)]);
    let lost = link.take_lost().unwrap();
    assert_eq!((lost.payload, lost.bytes, lost.flow, lost.sent, lost.cause), (3, 500, 9, ms(30), None));
    assert_eq!(link.take_lost(), None);
}

#[test]
fn a_wrong_change_is_refused_and_changes_nothing() {
    let mut link = link().build().unwrap();
    assert!(link.set_rate("0 bit/s", ms(0)).unwrap_err().to_string().contains("a rate above zero"));
    assert!(link.set_delay("10", ms(0)).unwrap_err().to_string().contains("has no unit"));
    assert!(link.set_loss(f64::NAN, ms(0)).unwrap_err().to_string().contains("allowed: 0 to 1"));
    link.send(0, 1000, 1, Ecn::NotEct, ms(0)).unwrap();
    assert_eq!(arrivals(&mut link, 100), [(0, 11.0)]);
    let mut other = Link::<u32>::new("8 Mbit/s", "1 ms").pattern([("8 Mbit/s", "1 s")]).build().unwrap();
    assert!(other.set_rate("1 Mbit/s", ms(0)).is_err() && other.take_down(ms(0)).is_err());
}

#[test]
fn a_class_is_served_first_where_the_queue_knows_classes() {
    let bands = "{ prio = { by = 'class', band = [{ of = [1] }, {}] } }";
    let mut link = link().queue(bands).build().unwrap();
    for n in 0..8 {
        let info = PacketInfo::new(1000, 1).class(u32::from(n >= 4)).dscp(46);
        link.send_packet(n, info, ms(0)).unwrap();
    }
    let order: Vec<u32> = arrivals(&mut link, 100).into_iter().map(|(n, _)| n).collect();
    assert_eq!(order, [0, 4, 5, 6, 7, 1, 2, 3]);
}

#[test]
fn drops_of_the_queue_are_returned_with_their_cause() {
    let mut link = link().buffer("2 packets").keep_lost().build().unwrap();
    (0..5).for_each(|n| link.send(n, 1000, 1, Ecn::NotEct, ms(0)).unwrap());
    let lost: Vec<_> =
        std::iter::from_fn(|| link.take_lost()).map(|lost| (lost.payload, lost.cause)).collect();
    assert_eq!(lost, [(3, Some(Cause::Overflow)), (4, Some(Cause::Overflow))]);
    let mut forgets = self::link().buffer("2 packets").build().unwrap();
    (0..5).for_each(|n| forgets.send(n, 1000, 1, Ecn::NotEct, ms(0)).unwrap());
    assert_eq!(forgets.take_lost(), None);
}
