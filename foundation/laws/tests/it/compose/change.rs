//! Drains trees with shaped, idle and full leaves.

use super::{Classified, discipline, packet};
use fairwire_core::{Discipline, Ignore, Time};
use fairwire_testing::{Driver, Shape, operations};
use proptest::prelude::*;
use std::collections::BTreeMap;

const TREES: &[(&str, &str)] = &[
    (
        "prio",
        "band = [
           { of = [1, 2], discipline = 'drr' },
           { of = [3], discipline = { shaper = { rate = '1 Mbit/s', discipline = 'codel' } } },
           { discipline = { lqd = { scheduler = 'wf2q+' } } },
         ]",
    ),
    (
        "classful",
        "rate = '8 Mbit/s'
         class = [
           { id = 9, rate = '4 Mbit/s', ceiling = '5 Mbit/s' },
           { id = 1, parent = 9, ceiling = '1 Mbit/s', discipline = 'hfaba' },
           { id = 2, parent = 9, discipline = 'fq-codel' },
           { id = 3, rate = '1 Mbit/s', discipline = 'sfq-start' },
           { id = 4, priority = 2, discipline = 'drop-front' },
         ]",
    ),
    (
        "shaper",
        "rate = '2 Mbit/s'
         discipline.classful.class = [
           { id = 1, discipline = { prio = { band = [{ discipline = 'fbfq' }] } } },
           { id = 2, discipline = 'conditioner' },
         ]",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_drains_all_of_its_leaves_and_continues(
        before in operations(Shape::default()),
        after in operations(Shape::default()),
    ) {
        for (name, typed) in TREES {
            let make = || {
                let inner = discipline(name, &format!("[{name}]\n{typed}"));
                Driver::new(Classified { inner, classes: 6 })
            };
            let (mut driver, mut heir) = (make(), make());
            before.iter().for_each(|&operation| driver.apply(operation));
            let drained = driver.drain();
            let mut last: BTreeMap<u64, u32> = BTreeMap::new();
            for packet in &drained {
                let before = last.insert(packet.flow.0, packet.frame);
                prop_assert!(before < Some(packet.frame), "{}: {:?} after {:?}", name, packet, before);
            }
            heir.take_over(drained, driver.now());
            driver.run(&after);
            heir.run(&after);
        }
    }
}

#[test]
fn a_drained_tree_sends_the_next_packet_at_once() {
    let mut tree = discipline(
        "classful",
        "[classful]\nclass = [{ id = 1, ceiling = '8 kbit/s', burst = '1 B' }, { id = 2 }]",
    );
    for frame in 0..3 {
        tree.enqueue(packet(frame, 1000, 1, Time::ZERO), Time::ZERO, &mut Ignore);
    }
    assert!(tree.dequeue(Time::ZERO, &mut Ignore).is_some());
    assert!(tree.dequeue(Time::ZERO, &mut Ignore).is_none(), "its ceiling brings one packet a second");
    let second = Time::from_ns(1_000_000_000);
    assert_eq!(tree.ready_at(), Some(second));
    let mut frames = Vec::new();
    tree.drain(&mut |packet| frames.push(packet.frame));
    assert_eq!((frames, tree.ready_at()), (vec![1, 2], None));
    tree.enqueue(packet(3, 1000, 2, Time::ZERO), Time::ZERO, &mut Ignore);
    assert_eq!(tree.dequeue(Time::ZERO, &mut Ignore).map(|packet| packet.frame), Some(3));
    tree.enqueue(packet(4, 1000, 1, Time::ZERO), Time::ZERO, &mut Ignore);
    assert_eq!(tree.ready_at(), Some(second), "what it has sent is still to be paid");
}
