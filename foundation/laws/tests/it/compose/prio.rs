//! Strict priority.

use super::{Classified, assert_conserves, discipline, drop_front, packet};
use crate::fate::gauge;
use fairwire_core::{Discipline, Ignore, Packet, Time};
use fairwire_laws::compose::prio::{By, Config, Prio};
use fairwire_testing::{Driver, Operation, Shape, operations};
use proptest::prelude::*;
use std::collections::VecDeque;

const THREE: &str = "[prio]
band = [{ of = [1, 4] }, { of = [2], buffer = '30 packets' }, { of = [0] }]
default_band = 2";

fn band(class: u32) -> usize {
    [2, 0, 1, 1, 0, 1][class as usize]
}

fn drop_fronts(default_band: u8) -> Prio {
    let config = Config { by: By::Class, band_of: [0, 1, 2].into(), default_band };
    Prio::new(config, (0..3).map(|_| drop_front(4000)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn the_first_backlogged_band_sends_its_oldest_packet(
        steps in prop::collection::vec((0u32..6, any::<bool>()), 0..300),
    ) {
        let mut prio = discipline("prio", THREE);
        // Bands 0 and 2, which have no `buffer`, share 40 packets: 20 each.
        let (mut model, room) = ([VecDeque::new(), VecDeque::new(), VecDeque::new()], [20, 30, 20]);
        for (frame, (class, is_request)) in (0..).zip(steps) {
            if is_request {
                let expected = model.iter_mut().find_map(VecDeque::pop_front);
                prop_assert_eq!(prio.dequeue(Time::ZERO, &mut Ignore).map(|packet| packet.frame), expected);
            } else {
                prio.enqueue(packet(frame, 100, class, Time::ZERO), Time::ZERO, &mut Ignore);
                let band = band(class);
                if model[band].len() < room[band] {
                    model[band].push_back(frame);
                }
            }
            prop_assert_eq!(prio.backlog().packets as usize, model.iter().map(VecDeque::len).sum::<usize>());
        }
    }

    #[test]
    fn packets_are_conserved_when_bands_push_out(sequence in operations(Shape::default())) {
        let shaped = "[prio]
band = [
  { of = [1], discipline = { shaper = { rate = '1 Mbit/s', discipline = 'red' } } },
  { discipline = 'faba' },
]";
        let disciplines: [Box<dyn Discipline>; 3] =
            [Box::new(drop_fronts(2)), discipline("prio", shaped), discipline("prio", THREE)];
        for inner in disciplines {
            assert_conserves(inner, 6, &sequence);
        }
    }
}

#[test]
fn packets_that_a_band_pushes_out_leave_the_backlog() {
    let mut driver = Driver::new(Classified { inner: drop_fronts(0), classes: 2 });
    for len in [1000, 1000, 1000, 900, 4000] {
        driver.apply(Operation::Enqueue { flow: 1, len, ecn: fairwire_core::Ecn::NotEct });
    }
    assert_eq!(driver.discipline().backlog().packets, 1, "four made room for the last");
    assert_eq!(driver.finish().dropped, 4);
}

#[test]
fn codepoint_and_colour_pick_the_band_as_well() {
    for (by, of) in [("dscp", "[46]"), ("color", "[0]")] {
        let mut prio = discipline("prio", &format!("[prio]\nby = '{by}'\nband = [{{ of = {of} }}, {{}}]"));
        let arrival = |frame, dscp, color| Packet { dscp, color, ..packet(frame, 100, 0, Time::ZERO) };
        for packet in [arrival(0, 0, 1), arrival(1, 46, 0), arrival(2, 10, 2), arrival(3, 46, 0)] {
            prio.enqueue(packet, Time::ZERO, &mut Ignore);
        }
        let order: Vec<u32> = core::iter::from_fn(|| prio.dequeue(Time::ZERO, &mut Ignore))
            .map(|packet| packet.frame)
            .collect();
        assert_eq!(order, [1, 3, 0, 2], "by {by}");
    }
}

#[test]
fn a_band_that_must_wait_blocks_no_other_and_its_ready_time_is_reported() {
    let mut prio = discipline(
        "prio",
        "[prio]
band = [
  { of = [1], discipline = { shaper = { rate = '8 Mbit/s', burst = '0 B' } } },
  {},
]",
    );
    let start = Time::from_ns(1_000_000);
    for (frame, class) in [(0, 1), (1, 1), (2, 0)] {
        prio.enqueue(packet(frame, 1000, class, start), start, &mut Ignore);
    }
    let mut next = |now| prio.dequeue(Time::from_ns(now), &mut Ignore).map(|packet| packet.frame);
    assert_eq!([next(1_000_000), next(1_000_000), next(1_000_000)], [Some(0), Some(2), None]);
    assert_eq!(prio.ready_at(), Some(Time::from_ns(2_000_000)));
}

#[test]
fn a_band_below_a_busy_one_learns_that_it_idles() {
    let typed = "[prio]
band = [{ of = [1] }, { discipline = { red = { weight = 0.01 } } }]";
    let mut prio = discipline("prio", typed);
    let at = |ms: u64| Time::from_ns(ms * 1_000_000);
    (0..10).for_each(|frame| prio.enqueue(packet(frame, 1000, 0, at(0)), at(0), &mut Ignore));
    (0..10).for_each(|_| assert!(prio.dequeue(at(0), &mut Ignore).is_some()));
    let before = gauge(&*prio, "average");
    for frame in 10..20 {
        prio.enqueue(packet(frame, 1000, 1, at(0)), at(0), &mut Ignore);
    }
    (0..9).for_each(|ms| assert!(prio.dequeue(at(ms), &mut Ignore).is_some()));
    // The average decays 100 times while the second band is idle, and once more for the new packet.
    prio.enqueue(packet(20, 1000, 0, at(80)), at(80), &mut Ignore);
    let expected = before * 0.99f64.powi(101);
    assert!(
        before > 0.1 && (gauge(&*prio, "average") - expected).abs() < 1e-12,
        "{before}, {}",
        gauge(&*prio, "average")
    );
}
