//! A new tree replaces a tree, and changes the terms of one class. The other classes are
//! unaffected.

use super::{packet, rate, site};
use crate::built;
use fairwire_catalogue as catalogue;
use fairwire_catalogue::compose::classful::Spec;
use fairwire_core::units::Amount;
use fairwire_core::{
    Backlog, Control, Discipline, Duration, Ecn, Ignore, Kept, Packet, Probe, Room, Seed, Signals, Time,
};
use fairwire_laws::Site;
use fairwire_laws::compose::classful::{Classful, Contents, Inner, Maker};
use fairwire_testing::{Driver, Operation, Outcome};
use std::any::Any;

fn tree(name: &'static str, classes: &str, is_later: bool) -> Classful {
    let spec: Spec = toml::from_str(&format!("class = [{classes}]\ndefault = 0")).expect("well-formed");
    let config = spec.check(&Site { rate: rate("20 Mbit/s"), ..site() }).expect("allowed");
    let ids: Vec<u32> = spec.class.expect("given").iter().map(|class| class.id.expect("given")).collect();
    let ids: Vec<u32> = config.tree.given().iter().map(|&at| ids[at]).collect();
    let maker = Leaves { name, ids };
    let leaves = config.tree.leaves();
    let inner = |place| if is_later { Inner::Later } else { Inner::Made(maker.make(place)) };
    let contents =
        |place: usize| Contents { label: String::new(), inner: leaves[place].then(|| inner(place)) };
    let contents = (0..config.tree.len()).map(contents).collect();
    let tree = Classful::new(config, contents);
    if is_later { tree.with_maker(Box::new(maker)) } else { tree }
}

struct Leaves {
    name: &'static str,
    ids: Vec<u32>,
}

impl Maker for Leaves {
    fn make(&self, place: usize) -> Box<dyn Discipline> {
        let stream = format!("leaf {}", self.ids[place]);
        built(self.name, "", &Site { stream: &stream, buffer: Amount::Packets(400), ..site() })
    }

    fn adopt(&mut self, place: usize, fresh: &dyn Maker, from: usize) -> bool {
        let fresh = (fresh as &dyn Any).downcast_ref::<Leaves>().expect("it is one of these");
        self.ids[place] = fresh.ids[from];
        true
    }
}

/// Replaces `tree` with `next`, and offers `next` the packets of leaves that are not kept. Returns
/// their number.
fn replace(tree: &mut Classful, mut next: Classful, kept: &Kept<'_>, now: Time) -> usize {
    let backlog = tree.backlog();
    let mut offered = Vec::new();
    next.succeed(tree, kept, now, &mut |packet| offered.push(packet));
    assert!(tree.backlog().is_empty() && tree.ready_at().is_none());
    let count = offered.len();
    for packet in offered {
        let class = kept.classes[packet.class as usize];
        next.enqueue(Packet { class, ..packet }, now, &mut Ignore);
    }
    assert_eq!(next.backlog(), backlog);
    *tree = next;
    count
}

const PLAN: &str = "{ id = 1, ceiling = '5 Mbit/s', peak = '10 Mbit/s', burst = '5 MB' }";

/// The pause in which class 1 saves up its burst.
const PAUSE_MS: u64 = 20_000;

/// The rate of class 1 in Mbit/s, by second. After each second, a new tree gives class 1 the number
/// `number_then`, and replaces class 2 with `others`.
fn by_second(number_then: u32, others: &str, is_later: bool) -> Vec<f64> {
    let first = tree("tail-drop", &format!("{{ id = 0 }}, {PLAN}, {{ id = 2 }}"), is_later);
    let (mut tree_now, mut number) = (first, 1);
    let mut seconds = Vec::new();
    for second in 0..16 {
        let mut bytes = 0;
        for ms in 0..1000 {
            let now = Time::ZERO + Duration::from_ms(PAUSE_MS + 1000 * second + ms);
            for frame in 0..3 {
                tree_now.enqueue(packet(frame, 1000, number, now), now, &mut Ignore);
            }
            while let Some(packet) = tree_now.dequeue(now, &mut Ignore) {
                bytes += packet.len;
            }
        }
        seconds.push((f64::from(bytes) * 8e-6).round());
        let now = Time::ZERO + Duration::from_ms(PAUSE_MS + 1000 * (second + 1));
        let plan = PLAN.replace("id = 1", &format!("id = {number_then}"));
        let ceiling = format!("ceiling = '{} Mbit/s'", second + 1);
        let classes = format!("{{ id = 0 }}, {plan}, {}", others.replace("CEILING", &ceiling));
        let classes_then: &[u32] = if second == 0 { &[0, number_then, 0] } else { &[0, 1, 2, 3] };
        let kept = Kept { classes: classes_then, names: true };
        let offered = replace(&mut tree_now, tree("tail-drop", &classes, is_later), &kept, now);
        assert_eq!(offered > 0, second == 0 && number_then != 1, "another number is another queue");
        number = number_then;
    }
    seconds
}

#[test]
fn a_neighbours_new_plan_does_not_refill_a_burst() {
    // The peak exceeds the ceiling by 5 Mbit/s, so the burst of 5 MB (40 Mbit) lasts for 8 s.
    let expected: Vec<f64> = [[10.0; 8], [5.0; 8]].concat();
    for is_later in [false, true] {
        assert_eq!(by_second(1, "{ id = 2, CEILING }", is_later), expected);
        assert_eq!(by_second(1, "{ id = 2, CEILING }, { id = 3, CEILING }", is_later), expected);
        assert_eq!(by_second(2, "{ id = 3, CEILING }", is_later), expected, "under another number");
    }
}

/// After each `every` arrivals, a new tree with another ceiling for class 2 takes over.
struct Succeeded {
    tree: Classful,
    name: &'static str,
    is_later: bool,
    every: u32,
    arrivals: u32,
}

impl Succeeded {
    fn tree(name: &'static str, ceiling: u32, is_later: bool) -> Classful {
        let classes = format!(
            "{{ id = 0 }}, {{ id = 1, ceiling = '5 Mbit/s', rate = '2 Mbit/s' }}, \
             {{ id = 2, ceiling = '{ceiling} kbit/s' }}, {{ id = 3, burst = '20 kB', ceiling = '4 Mbit/s' }}"
        );
        tree(name, &classes, is_later)
    }
}

impl Discipline for Succeeded {
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        self.tree.offer(packet, room, now, signals);
        self.arrivals += 1;
        if self.arrivals.is_multiple_of(self.every) {
            let next = Self::tree(self.name, 1000 + self.arrivals, self.is_later);
            let kept = Kept { classes: &[0, 1, 2, 3], names: true };
            assert_eq!(replace(&mut self.tree, next, &kept, now), 0);
        }
    }
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.tree.dequeue(now, signals)
    }
    fn ready_at(&self) -> Option<Time> {
        self.tree.ready_at()
    }
    fn backlog(&self) -> Backlog {
        self.tree.backlog()
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.tree.inspect(probe);
    }
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.tree.drain(take);
    }
}

impl Control for Succeeded {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut self.tree);
    }
}

/// Runs traffic of classes 1 and 3 only.
fn run(name: &'static str, is_later: bool, every: u32) -> Outcome {
    let tree = Succeeded::tree(name, 1000, is_later);
    let mut driver = Driver::new(Succeeded { tree, name, is_later, every, arrivals: 0 });
    let mut rng = Seed(7).stream(name);
    for _ in 0..1500 {
        let flow = [1, 3, 5, 7][rng.below(4) as usize];
        let ecn = if rng.below(2) == 0 { Ecn::Ect0 } else { Ecn::NotEct };
        driver.apply(Operation::Enqueue { flow, len: 64 + rng.below(1400), ecn });
        driver.apply(Operation::Wait(rng.below(1_500_000).into()));
        driver.apply(Operation::Dequeue);
    }
    driver.finish()
}

#[test]
fn leaves_of_other_classes_decide_as_if_nothing_had_changed() {
    for entry in catalogue::all() {
        assert_eq!(run(entry.name, false, 50), run(entry.name, false, u32::MAX), "{}", entry.name);
    }
}

/// The rates of classes 1 and 3 in each second, in Mbit/s. After each second, `next` gives class
/// 3's parent and terms.
fn retuned(is_later: bool, next: &dyn Fn(u64) -> (Option<u32>, String)) -> Vec<[f64; 2]> {
    let above = "{ id = 0 }, { id = 10, ceiling = '2 Mbit/s' }, { id = 11, ceiling = '6 Mbit/s' }";
    let classes = format!("{above}, {PLAN}, {{ id = 3, parent = 10 }}, {{ id = 4, parent = 11 }}");
    let mut tree_now = tree("tail-drop", &classes, is_later);
    let mut seconds = Vec::new();
    for second in 0..12 {
        let mut bytes = [0; 2];
        for ms in 0..1000 {
            let now = Time::ZERO + Duration::from_ms(PAUSE_MS + 1000 * second + ms);
            for (frame, class) in [(0, 1), (1, 1), (2, 3), (3, 1), (4, 3)] {
                tree_now.enqueue(packet(frame, 1000, class, now), now, &mut Ignore);
            }
            while let Some(packet) = tree_now.dequeue(now, &mut Ignore) {
                bytes[usize::from(packet.class == 3)] += packet.len;
            }
        }
        seconds.push(bytes.map(|bytes| (f64::from(bytes) * 8e-6).round()));
        let now = Time::ZERO + Duration::from_ms(PAUSE_MS + 1000 * (second + 1));
        let backlog = tree_now.backlog();
        let (parent, plan) = next(second);
        let mut fresh = tree("tail-drop", &format!("{above}, {plan}"), is_later);
        assert!(tree_now.retune_class(3, parent, &mut fresh, now));
        assert_eq!(tree_now.backlog(), backlog, "what waits stays");
    }
    seconds
}

#[test]
fn a_class_gets_new_terms_or_a_new_parent_and_others_are_unaffected() {
    for is_later in [false, true] {
        let seconds = retuned(is_later, &|second| match second {
            0..3 => (Some(10), "{ id = 3, parent = 10, ceiling = '1 Mbit/s' }".to_owned()),
            3..6 => (Some(11), "{ id = 3, parent = 11 }".to_owned()),
            _ => (None, "{ id = 3, ceiling = '4 Mbit/s' }".to_owned()),
        });
        let of_3 = [[2.0, 1.0, 1.0, 1.0], [6.0, 6.0, 6.0, 4.0], [4.0; 4]].concat();
        let of_1 = [[10.0; 8].as_slice(), &[5.0; 4]].concat();
        let expected: Vec<[f64; 2]> = of_1.into_iter().zip(of_3).map(|(one, three)| [one, three]).collect();
        assert_eq!(seconds, expected, "a burst of 8 s, whatever becomes of the neighbour");
    }
}

#[test]
fn only_existing_leaves_are_retuned() {
    let classes = "{ id = 0 }, { id = 10 }, { id = 3, parent = 10 }, { id = 4 }";
    let mut tree_now = tree("tail-drop", classes, false);
    for (class, parent, why) in [
        (10, None, "not a leaf"),
        (7, None, "not there"),
        (3, Some(4), "below a leaf"),
        (3, Some(7), "below none"),
    ] {
        let mut fresh = tree("tail-drop", classes, false);
        assert!(!tree_now.retune_class(class, parent, &mut fresh, Time::ZERO), "{why}");
    }
    let mut other = built("tail-drop", "", &site());
    assert!(!tree_now.retune_class(3, Some(10), &mut *other, Time::ZERO), "no tree");
}

#[test]
fn a_vacant_leaf_takes_up_a_class_whose_packets_used_the_default_before() {
    let spec: Spec = toml::from_str("class = [{ id = 0 }, { id = 1 }]\ndefault = 0").expect("well-formed");
    let config = spec.check(&Site { rate: rate("20 Mbit/s"), ..site() }).expect("allowed");
    let maker = Leaves { name: "tail-drop", ids: vec![0, 1] };
    let inner = |place| if place == 0 { Inner::Made(maker.make(place)) } else { Inner::Later };
    let contents = (0..2).map(|place| Contents { label: String::new(), inner: Some(inner(place)) });
    let mut tree_now = Classful::new(config, contents.collect());
    let now = Time::ZERO + Duration::from_ms(1);
    tree_now.enqueue(packet(0, 1000, 1, now), now, &mut Ignore);
    assert_eq!(tree_now.backlog_of(0).packets, 1, "no leaf is made for it");
    let mut fresh = tree("tail-drop", "{ id = 0 }, { id = 1, ceiling = '1 Mbit/s' }", false);
    assert!(tree_now.retune_class(1, None, &mut fresh, now));
    tree_now.enqueue(packet(1, 1000, 1, now), now, &mut Ignore);
    assert_eq!([0, 1].map(|class| tree_now.backlog_of(class).packets), [1, 1]);
    while tree_now.dequeue(now + Duration::from_ms(100), &mut Ignore).is_some() {}
    assert!(tree_now.backlog().is_empty());
}

#[test]
fn any_number_of_leaves_may_change_their_terms() {
    const LEAVES: u32 = 1500;
    let classes: String = (0..LEAVES).map(|id| format!("{{ id = {id} }},")).collect();
    let mut tree_now = tree("tail-drop", &classes, true);
    for class in 1..LEAVES {
        let mut fresh =
            tree("tail-drop", &format!("{{ id = 0 }}, {{ id = {class}, ceiling = '1 Mbit/s' }}"), true);
        assert!(tree_now.retune_class(class, None, &mut fresh, Time::ZERO), "{class}");
    }
}
