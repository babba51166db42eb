//! Weights that change while tokens circulate. Tokens are conserved, and heights follow the new
//! weights.

use super::{events, of_class, site};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Control, Discipline, Dropper, Ignore, Limit, Queue, Seed, Time, Weight};
use fairwire_laws::dropper::faba::{self, Faba, TOKEN};
use fairwire_laws::dropper::hfaba::{self, Hfaba};
use fairwire_laws::spec::TreeClass;
use proptest::prelude::*;

const PACKETS: u32 = 24;

fn faba(typed: &str) -> Queue<Fcfs, Faba> {
    let spec: faba::Spec = toml::from_str(typed).expect("well-formed");
    let (_, config) = spec.check(&site(Amount::Packets(PACKETS))).expect("allowed");
    Queue::new(Limit::packets(PACKETS), Fcfs, Faba::new(config, Seed(1).stream("faba")))
}

fn hfaba(weights: [f64; 5]) -> Queue<Fcfs, Hfaba> {
    let class = |(id, weight): (u32, &f64)| {
        let parent = (id > 2).then_some(2);
        TreeClass { id: Some(id), weight: Some(*weight), parent }
    };
    let class = Some((1..).zip(&weights).map(class).collect());
    let config = hfaba::Spec { class, ..Default::default() }.check(&site(Amount::Packets(PACKETS)));
    let (_, config) = config.expect("allowed");
    Queue::new(Limit::packets(PACKETS), Fcfs, Hfaba::new(config, Seed(1).stream("hfaba")))
}

fn weights() -> impl Strategy<Value = Vec<(usize, u32, f64)>> {
    let weight = prop_oneof![3 => 0.1..10.0, 1 => 1e-6..1e3];
    prop::collection::vec((0..400usize, 1..6u32, weight), 0..60)
}

fn apply<D: Dropper>(queue: &mut Queue<Fcfs, D>, event: Option<(u64, u32)>) {
    match event {
        Some((flow, len)) => queue.enqueue(of_class(1 + flow as u32 % 5, flow, len), Time::ZERO, &mut Ignore),
        None => drop(queue.dequeue(Time::ZERO, &mut Ignore)),
    }
}

fn weight(weight: f64) -> Weight {
    Weight::new(weight).expect("allowed")
}

proptest! {
    #[test]
    fn tokens_are_conserved_through_any_changes_of_weights(events in events(), changes in weights()) {
        let table = "weights = { 1 = 1.0, 2 = 2.0, 3 = 1.0, 4 = 1.0, 5 = 0.5 }";
        let mut by_flow = faba(table);
        let mut by_class = faba(&format!("share_between = 'classes'\nchoice = 'proportional'\n{table}"));
        let mut tree = hfaba([1.0, 2.0, 1.0, 1.0, 0.5]);
        let total = i64::from(PACKETS) * TOKEN;
        for (at, event) in events.into_iter().enumerate() {
            for &(_, class, to) in changes.iter().filter(|(when, _, _)| *when == at) {
                for queue in [&mut by_flow as &mut dyn Discipline, &mut by_class, &mut tree] {
                    queue.set_weight(class, weight(to)).expect("known");
                }
            }
            apply(&mut by_flow, event);
            apply(&mut by_class, event);
            apply(&mut tree, event);
            prop_assert_eq!(by_flow.dropper().balance(by_flow.buffer()).sum(), total);
            prop_assert_eq!(by_class.dropper().balance(by_class.buffer()).sum(), total);
            prop_assert_eq!(tree.dropper().balance(tree.buffer()).sum(), total);
        }
        for queue in [&mut by_flow as &mut dyn Discipline, &mut by_class, &mut tree] {
            queue.drain(&mut drop);
        }
        prop_assert_eq!(by_flow.dropper().balance(by_flow.buffer()).sum(), total);
        prop_assert_eq!(by_class.dropper().balance(by_class.buffer()).sum(), total);
        prop_assert_eq!(tree.dropper().balance(tree.buffer()).sum(), total);
    }
}

#[test]
fn heights_are_those_of_a_tree_built_with_the_new_weights() {
    let before = [1.0, 2.0, 1.0, 1.0, 0.5];
    let after = [3.0, 1.0, 4.0, 1.0, 100.0];
    let mut changed = hfaba(before);
    let arrive = |queue: &mut Queue<Fcfs, Hfaba>| {
        (1..6).for_each(|flow| queue.enqueue(of_class(flow, flow.into(), 512), Time::ZERO, &mut Ignore));
    };
    arrive(&mut changed);
    for (class, to) in (1..).zip(after) {
        changed.set_weight(class, weight(to)).expect("known");
    }
    let mut built = hfaba(after);
    arrive(&mut built);
    for flow in [1u64, 3, 4, 5] {
        let height = |queue: &Queue<Fcfs, Hfaba>| queue.dropper().height_of(flow.into());
        assert!(height(&changed).is_some());
        assert_eq!(height(&changed), height(&built), "flow {flow}");
    }
    // Tokens are conserved with all classes inactive too.
    while changed.dequeue(Time::ZERO, &mut Ignore).is_some() {}
    changed.set_weight(1, weight(before[0])).expect("known");
    changed.set_weight(1, weight(after[0])).expect("known");
    assert_eq!(changed.dropper().balance(changed.buffer()).sum(), i64::from(PACKETS) * TOKEN);
}

#[test]
fn a_bucket_gets_its_new_height_with_the_next_packet_of_its_flow() {
    let mut queue = faba("weights = { 1 = 1.0, 2 = 1.0 }");
    let arrive = |queue: &mut Queue<Fcfs, Faba>, class: u32| {
        queue.enqueue(of_class(class, class.into(), 512), Time::ZERO, &mut Ignore);
    };
    let heights = |queue: &Queue<Fcfs, Faba>| {
        [1u64, 2].map(|flow| {
            queue.dropper().accounts().height_of(flow.into()).map(|raw| raw as f64 / TOKEN as f64)
        })
    };
    arrive(&mut queue, 1);
    arrive(&mut queue, 2);
    assert_eq!(heights(&queue), [Some(12.0), Some(12.0)]);
    queue.set_weight(2, weight(3.0)).expect("known");
    assert_eq!(heights(&queue), [Some(12.0), Some(12.0)]);
    arrive(&mut queue, 2);
    assert_eq!(heights(&queue), [Some(6.0), Some(18.0)]);
}
