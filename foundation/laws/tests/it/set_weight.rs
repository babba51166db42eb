//! A weight that changes while packets wait gives the shares of a weight set from the start.

use crate::built;
use fairwire_catalogue as catalogue;
use fairwire_core::rng::mix;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ignore, Packet, SetWeightError, Time, Weight};
use fairwire_laws::Site;

fn discipline(name: &str, typed: &str) -> Box<dyn Discipline> {
    let site = Site { packet_bytes: 500, stream: "set-weight", ..crate::site(Amount::Packets(120)) };
    built(name, typed, &site)
}

fn weight(weight: f64) -> Weight {
    Weight::new(weight).expect("allowed")
}

/// A link of 10 Mbit/s. Three classes, each with two equal flows, offer three times its capacity.
struct Link {
    queue: Box<dyn Discipline>,
    offered: u64,
}

impl Link {
    fn new(queue: Box<dyn Discipline>) -> Self {
        Link { queue, offered: 0 }
    }

    fn sent(&mut self, offers: u64) -> [u32; 3] {
        let mut sent = [0; 3];
        for _ in 0..offers {
            let i = self.offered;
            self.offered += 1;
            let now = Time::from_ns(i * 133_333); // a third of the transmission time of 500 bytes
            let flow = mix(i) % 6;
            let packet =
                Packet { class: 1 + (flow % 3) as u32, ..Packet::new(i as u32, 500, flow.into(), now) };
            self.queue.enqueue(packet, now, &mut Ignore);
            if i % 3 == 2
                && let Some(packet) = self.queue.dequeue(now, &mut Ignore)
            {
                sent[packet.class as usize - 1] += 1;
            }
        }
        sent
    }
}

/// A discipline's name, and its settings for a given weight of class 2.
type Typed = (&'static str, fn(f64) -> String);

fn weights(second: f64) -> String {
    format!("weights = {{ 1 = 1.0, 2 = {second:?}, 3 = 2.0 }}")
}

fn classes(second: f64) -> String {
    format!(
        "class = [{{ id = 9 }}, {{ id = 1, parent = 9 }}, {{ id = 2, weight = {second:?}, parent = 9 }}, \
         {{ id = 3, weight = 2.0, parent = 9 }}]"
    )
}

const WEIGHTED: &[Typed] = &[
    ("drr", weights),
    ("sfq-start", weights),
    ("scfq", weights),
    ("fbfq", weights),
    ("wf2q+", weights),
    ("drr", |second| format!("per = 'class'\n{}", weights(second))),
    ("lqd", |second| format!("scheduler = {{ drr = {{ per = 'class', {} }} }}", weights(second))),
    ("rnd", |second| format!("scheduler = {{ 'wf2q+' = {{ per = 'class', {} }} }}", weights(second))),
    ("lqd", |second| format!("scheduler = {{ fcfs = {{ {} }} }}", weights(second))),
    ("lqd", |second| format!("scheduler = {{ sfq = {{ {} }} }}\nmeasure = 'bytes'", weights(second))),
    ("lqd-binned", |second| format!("scheduler = {{ scfq = {{ {} }} }}", weights(second))),
    ("alqd", |second| format!("scheduler = {{ fbfq = {{ {} }} }}", weights(second))),
    ("rnd", |second| format!("scheduler = {{ fcfs = {{ {} }} }}", weights(second))),
    ("afd-exact", weights),
    ("afd-ft", weights),
    ("faba", weights),
    ("faba", |second| format!("choice = 'proportional'\n{}", weights(second))),
    ("faba", |second| format!("share_between = 'classes'\n{}", weights(second))),
    ("hfaba", classes),
    ("classful", classes),
    ("shaper", |second| format!("discipline.drr.{}", weights(second))),
    ("prio", |second| format!("band = [{{ discipline.drr.{} }}]", weights(second))),
    ("conditioner", |second| format!("discipline.hfaba.{}", classes(second))),
];

/// Shares settle after this many offers.
const SETTLES: u64 = 30_000;

#[test]
fn a_changed_weight_gives_the_shares_of_a_discipline_built_with_it() {
    for &(name, typed) in WEIGHTED {
        for (before, after) in [(1.0, 4.0), (4.0, 1.0), (1.0, 0.25)] {
            let mut changed = Link::new(discipline(name, &typed(before)));
            let old = changed.sent(SETTLES);
            assert_eq!(changed.queue.set_weight(2, weight(after)), Ok(weight(before)), "{name}");
            changed.sent(SETTLES);
            let mut built = Link::new(discipline(name, &typed(after)));
            built.sent(2 * SETTLES);
            let (found, expected) = (changed.sent(2 * SETTLES), built.sent(2 * SETTLES));
            for (found, expected) in found.into_iter().zip(expected) {
                // Four standard deviations of the difference.
                let tolerance = 4.0 * f64::from(found + expected).sqrt();
                let difference = f64::from(found.abs_diff(expected));
                assert!(
                    difference <= tolerance,
                    "{name}, {before} to {after}: {found} where {expected} is due"
                );
            }
            let grew = f64::from(found[1]) / f64::from(old[1]) / 2.0;
            assert!(
                !(1.0 / 1.3..=1.3).contains(&grew),
                "{name}, {before} to {after}: it made no difference, {grew}"
            );
        }
    }
}

#[test]
fn reverted_changes_leave_shares_unchanged() {
    for &(name, typed) in WEIGHTED {
        let mut changed = Link::new(discipline(name, &typed(1.0)));
        let mut left = Link::new(discipline(name, &typed(1.0)));
        for change in 0..300u64 {
            let to = libm::exp2((mix(change) % 16) as f64 - 8.0);
            changed.queue.set_weight(1 + (mix(change) % 3) as u32, weight(to)).expect("known");
            changed.sent(40);
        }
        for (class, to) in [(1, 1.0), (2, 1.0), (3, 2.0)] {
            changed.queue.set_weight(class, weight(to)).expect("known");
        }
        changed.sent(SETTLES);
        left.sent(SETTLES);
        for (found, expected) in changed.sent(SETTLES).into_iter().zip(left.sent(SETTLES)) {
            let tolerance = 4.0 * f64::from(found + expected).sqrt();
            assert!(
                f64::from(found.abs_diff(expected)) <= tolerance,
                "{name}: {found} where {expected} is due"
            );
        }
    }
}

#[test]
fn a_class_without_its_own_weight_is_refused() {
    for &(name, typed) in WEIGHTED {
        let mut queue = discipline(name, &typed(1.0));
        let refused = queue.set_weight(77, weight(2.0));
        // In `classful`, packets of class 77 go to the default leaf, which has no weights.
        let expected = if name == "classful" {
            SetWeightError::NoWeights
        } else {
            SetWeightError::NoSuchClass { class: 77 }
        };
        assert_eq!(refused, Err(expected), "{name}");
    }
}

#[test]
fn a_discipline_without_weights_refuses_to_set_one() {
    for entry in catalogue::all() {
        let mut queue = discipline(entry.name, "");
        assert_eq!(queue.set_weight(1, weight(2.0)), Err(SetWeightError::NoWeights), "{}", entry.name);
    }
}

#[test]
fn an_unsupported_weight_is_refused_and_changes_nothing() {
    let mut drr = discipline("drr", "quantum = '10 B'\nweights = { 1 = 1.0 }");
    let refused = drr.set_weight(1, weight(1e-6));
    let least = 1.0 / 10_240.0;
    assert_eq!(refused, Err(SetWeightError::OutOfRange { weight: weight(1e-6), min: least, max: 1e6 }));
    assert_eq!(drr.set_weight(1, weight(2.0)), Ok(weight(1.0)));

    // Each of the 2^14 buckets may have at most 2^49 parts. A weight of 1 is 2^39 parts.
    let mut faba = discipline("faba", "max_flows = 16384\nweights = { 1 = 1.0 }");
    let refused = faba.set_weight(1, weight(1025.0));
    assert_eq!(refused, Err(SetWeightError::OutOfRange { weight: weight(1025.0), min: 1e-6, max: 1024.0 }));
    assert_eq!(faba.set_weight(1, weight(1024.0)), Ok(weight(1.0)));

    let all: String = (0..300).map(|class| format!("{class} = 1.0, ")).collect();
    for name in ["lqd", "rnd"] {
        // The scheduler's weight changes first, and must be reverted after the refusal.
        let mut queue = discipline(name, &format!("scheduler = {{ drr = {{ weights = {{ {all} }} }} }}"));
        for class in 0..255 {
            queue.set_weight(class, weight(2.0 + f64::from(class))).expect("there is room");
        }
        let refused = queue.set_weight(299, weight(999.0));
        assert_eq!(refused, Err(SetWeightError::TooManyWeights { max: 256 }), "{name}");
        assert_eq!(queue.set_weight(299, weight(7.0)), Ok(weight(1.0)), "{name}");
    }
}

#[test]
fn a_weighted_class_is_found_anywhere_in_a_tree_of_disciplines() {
    let band = |of: u32, typed: &str| format!("{{ of = [{of}], discipline.drr.weights = {{ {typed} }} }}");
    let bands = format!("band = [{}, {}]", band(1, "1 = 1.0, 2 = 3.0"), band(2, "2 = 5.0"));
    let mut by_class = discipline("prio", &bands);
    assert_eq!(by_class.set_weight(2, weight(2.0)), Ok(weight(5.0)), "in the band of the class");
    assert_eq!(by_class.set_weight(1, weight(2.0)), Ok(weight(1.0)));
    let mut by_dscp = discipline("prio", &format!("by = 'dscp'\n{bands}"));
    assert_eq!(
        by_dscp.set_weight(2, weight(2.0)),
        Ok(weight(3.0)),
        "in both bands, and the first one's is returned"
    );
    assert_eq!(by_dscp.set_weight(2, weight(2.0)), Ok(weight(2.0)));
    let inside = "{ id = 4, discipline = { drr = { weights = { 2 = 5.0 } } } }";
    let mut tree = discipline("classful", &format!("class = [{inside}, {{ id = 1, weight = 3.0 }}]"));
    assert_eq!(tree.set_weight(1, weight(2.0)), Ok(weight(3.0)), "among its siblings");
    assert_eq!(tree.set_weight(2, weight(2.0)), Ok(weight(5.0)), "in the default leaf");
}

#[test]
fn a_raised_weight_in_a_tree_takes_effect_without_old_debt() {
    let mut link = Link::new(discipline("classful", &classes(1e-6)));
    link.sent(SETTLES);
    link.queue.set_weight(2, weight(1.0)).expect("known");
    let sent = link.sent(1200);
    assert!(sent[1].abs_diff(100) <= 2, "a quarter of 400, to two packets: {sent:?}");
}
