//! The conditioner: a marker for each class.

use super::{assert_conserves, discipline, packet};
use crate::fate::Events;
use fairwire_core::{Discipline, Ignore, Time};
use fairwire_testing::{Shape, operations};
use proptest::prelude::*;

#[test]
fn each_listed_class_has_its_own_marker_and_the_others_share_one() {
    // No time passes, so each bucket marks green only the packets that its burst covers.
    let typed = "[conditioner]
marker = { token-bucket = { burst = '3 kB' } }
class = [{ id = 1 }, { id = 5, marker = { token-bucket = { burst = '1 kB' } } }]
discipline = { prio = { by = 'color', band = [{ of = [0] }, {}] } }";
    let mut conditioner = discipline("conditioner", typed);
    for (frame, class) in [0, 0, 2, 2, 900_000, 1, 1, 1, 1, 5, 5].into_iter().enumerate() {
        conditioner.enqueue(packet(frame as u32, 1000, class, Time::ZERO), Time::ZERO, &mut Ignore);
    }
    let out: Vec<(u8, u32)> = core::iter::from_fn(|| conditioner.dequeue(Time::ZERO, &mut Ignore))
        .map(|packet| (packet.color, packet.frame))
        .collect();
    let green = [0, 1, 2, 5, 6, 7, 9].map(|frame| (0, frame));
    let yellow = [3, 4, 8, 10].map(|frame| (1, frame));
    assert_eq!(out, [green.as_slice(), &yellow].concat());
}

#[test]
fn with_rio_inside_the_aggregate_within_its_contract_loses_least() {
    // Two aggregates send 5 Mbit/s each on a link of 6 Mbit/s.
    let typed = "[conditioner]
class = [
  { id = 1, marker = { token-bucket = { rate = '6 Mbit/s' } } },
  { id = 2, marker = { token-bucket = { rate = '1 Mbit/s' } } },
]
discipline = { rio = { weight = 0.02 } }";
    let mut conditioner = discipline("conditioner", typed);
    let (mut counts, mut sent) = (Events::default(), 0);
    for frame in 0..10_000u32 {
        let now = Time::from_ns(u64::from(frame) * 800_000);
        conditioner.enqueue(packet(frame, 1000, 1 + frame % 2, now), now, &mut counts);
        if frame % 5 < 3 {
            sent += u32::from(conditioner.dequeue(now, &mut counts).is_some());
        }
    }
    let lost = |class| counts.lost().iter().filter(|&frame| 1 + frame % 2 == class).count();
    assert!(lost(1) * 100 < lost(2), "{} and {} lost, {sent} sent", lost(1), lost(2));
    assert!(sent > 5900, "{sent}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn every_marker_before_anything_conserves_packets(sequence in operations(Shape::default())) {
        for marker in ["token-bucket", "sr-tcm", "tr-tcm", "tsw2cm", "tsw3cm", "adaptive-token-bucket"] {
            let typed = format!("[conditioner]\necn = 'mark'\nmarker = '{marker}'\nclass = [{{ id = 1 }}]");
            let inner = discipline("conditioner", &typed);
            assert_conserves(inner, 4, &sequence);
        }
    }
}
