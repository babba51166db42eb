//! One suite for every discipline in the catalogue.

use crate::Typed;
use fairwire_catalogue::{self as catalogue, Entry, Family};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Duration, Ecn, Packet};
use fairwire_laws::Site;
use fairwire_testing::{Driver, Operation, Shape, contest, operations};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Packets have 512 bytes, or the buffer's size if that is smaller.
pub(crate) fn site(buffer: Amount) -> Site<'static> {
    let packet_bytes = if let Amount::Bytes(bytes) = buffer { bytes.min(512) as u32 } else { 512 };
    Site { packet_bytes, stream: "link/conformance", ..crate::site(buffer) }
}

/// Settings with which `contest` exercises the decisions of these disciplines.
pub(crate) const OWN_SETTINGS: &[(&str, &str)] = &[
    // A full buffer takes 16 ms to send. PIE's default target is only 1 ms less, so PIE gives no
    // signal within a second.
    ("pie", "target = '5 ms'"),
    // Overflows keep the delay of the longest queue below 15 ms, and no queue is the longest for
    // more than 110 ms. PIE's default gains, a hundredth of these, give no signal in that time.
    (
        "fq-pie",
        "target = '1 ms'\nupdate = '5 ms'\nmax_burst = '1 ms'\nalpha = 12.5\nbeta = 125.0\nmark_limit = 1.0",
    ),
    // With the paper's literal alpha, RQM signals one in twenty thousand packets before the buffer
    // is full.
    ("rqm", "alpha_units = 'per-rtt'\nreference_rtt = '20 ms'"),
    // By default, AFD drops instead of marking above a probability of one half.
    ("afd-sb", "mark_limit = 1.0"),
    ("afd-ft", "mark_limit = 1.0"),
    ("afd-nft", "mark_limit = 1.0"),
    ("afd-exact", "mark_limit = 1.0"),
];

pub(crate) fn with_ecn(entry: &Entry, ecn: &str) -> Typed {
    let own = OWN_SETTINGS.iter().find(|(name, _)| *name == entry.name).map_or("", |(_, typed)| *typed);
    Typed::new(entry.name, &format!("ecn = \"{ecn}\"\n{own}"))
}

pub(crate) fn driven(typed: &Typed, buffer: Amount) -> Driver<Box<dyn Discipline>> {
    Driver::new(typed.built(&site(buffer)))
}

/// Settings for each measure of `entry`, and for each of its schedulers with each method of sharing
/// queues.
pub(crate) fn variants(entry: &Entry) -> Vec<String> {
    let page = entry.page().expect("documented");
    let choices = |name: &str| -> Vec<String> {
        let parameter = page.parameters.iter().find(|parameter| parameter.name == name);
        parameter
            .map(|parameter| parameter.choices.iter().map(|(word, _)| word.clone()).collect())
            .unwrap_or_default()
    };
    let mut variants = Vec::new();
    for measure in choices("measure") {
        variants.push(format!("ecn = \"mark\"\nmeasure = \"{measure}\""));
    }
    for scheduler in choices("scheduler") {
        let mut push = |more: &str| {
            variants.push(format!("ecn = \"mark\"\nscheduler = {{ \"{scheduler}\" = {{ {more} }} }}"));
        };
        push("");
        push("weights = { 1 = 4.0, 2 = 0.25 }");
        push("per = \"class\"");
        for sharing in ["hash", "set-associative", "least-recently-used", "random-replacement"] {
            push(&format!("queues = 3, sharing = \"{sharing}\""));
        }
    }
    variants
}

const POLICIES: [&str; 2] = ["drop", "mark"];

const BUFFERS: [Amount; 6] = [
    Amount::Packets(1),
    Amount::Packets(2),
    Amount::Packets(25),
    Amount::Bytes(1),
    Amount::Bytes(9_000),
    Amount::Time(Duration::from_ms(5)),
];

proptest! {
    // 64 sequences take about a second.
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_packet_leaves_exactly_once_under_any_operations(sequence in operations(Shape::default())) {
        for entry in catalogue::all() {
            for typed in POLICIES.map(|ecn| with_ecn(entry, ecn)) {
                for buffer in BUFFERS {
                    driven(&typed, buffer).run(&sequence);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_of_scheduler_and_dropper_conserves_packets(sequence in operations(Shape::default())) {
        for entry in catalogue::all() {
            for typed in variants(entry).iter().map(|variant| Typed::new(entry.name, variant)) {
                for buffer in [Amount::Packets(2), Amount::Packets(25), Amount::Bytes(9_000)] {
                    driven(&typed, buffer).run(&sequence);
                }
            }
        }
    }
}

fn drain_between(typed: &Typed, buffer: Amount, before: &[Operation], after: &[Operation]) {
    let (mut driver, mut heir) = (driven(typed, buffer), driven(typed, buffer));
    before.iter().for_each(|&operation| driver.apply(operation));
    let (drained, name) = (driver.drain(), format!("{}: {}", typed.name, typed.typed));
    assert_order(&drained, &name);
    heir.take_over(drained, driver.now());
    assert!(driver.discipline().backlog().is_empty() && driver.discipline().ready_at().is_none(), "{name}");
    assert_eq!(driver.drain(), [], "{name}: there is nothing left");
    driver.run(after);
    heir.run(after);
}

/// Asserts the order of arrival. Packets that arrived at the same instant may swap if their flow
/// can have several queues.
fn assert_order(drained: &[Packet], name: &str) {
    assert!(drained.is_sorted_by_key(|packet| packet.arrived), "{name}: {drained:?}");
    let is_split =
        ["dualpi2", "set-associative", "least-recently", "random"].iter().any(|word| name.contains(word));
    let mut last: BTreeMap<u64, &Packet> = BTreeMap::new();
    for packet in drained {
        if let Some(before) = last.insert(packet.flow.0, packet) {
            let at_once = is_split && before.arrived == packet.arrived;
            assert!(at_once || before.frame < packet.frame, "{name}: {before:?}, {packet:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn a_drain_returns_the_backlog_and_loses_no_packet(
        before in operations(Shape::default()),
        after in operations(Shape::default()),
    ) {
        for entry in catalogue::all() {
            for typed in POLICIES.map(|ecn| with_ecn(entry, ecn)) {
                for buffer in BUFFERS {
                    drain_between(&typed, buffer, &before, &after);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn every_pair_of_scheduler_and_dropper_returns_its_backlog(
        before in operations(Shape::default()),
        after in operations(Shape::default()),
    ) {
        for entry in catalogue::all() {
            for typed in variants(entry).iter().map(|variant| Typed::new(entry.name, variant)) {
                for buffer in [Amount::Packets(25), Amount::Bytes(9_000)] {
                    drain_between(&typed, buffer, &before, &after);
                }
            }
        }
    }
}

#[test]
fn a_drain_does_not_affect_later_decisions() {
    // The decisions of these disciplines depend only on the waiting packets.
    for name in ["tail-drop", "drop-front", "lqd", "alqd", "drr", "prio", "classful"] {
        let entry = catalogue::find(name).expect("in the catalogue");
        let fresh = driven(&with_ecn(entry, "drop"), Amount::Packets(40)).run(&contest(20, 3_000));
        let mut driver = driven(&with_ecn(entry, "drop"), Amount::Packets(40));
        (0..40)
            .for_each(|flow| driver.apply(Operation::Enqueue { flow: flow % 7, len: 512, ecn: Ecn::NotEct }));
        assert_eq!(driver.drain().len(), 40);
        let after = driver.run(&contest(20, 3_000));
        assert_eq!((after.sent, after.dropped), (fresh.sent, fresh.dropped), "{name}");
    }
}

#[test]
fn every_pair_conserves_packets_in_every_sequence_of_six_operations() {
    // Schedulers must repair queues after a push-out. The untested pairs share code with the tested
    // pairs.
    let is_at_risk = |entry: &&Entry| [Family::PushOut, Family::FairQueueing].contains(&entry.about.family);
    for entry in catalogue::all().iter().filter(is_at_risk) {
        let is_plain = |variant: &&String| !variant.contains("sharing") && !variant.contains("per =");
        for variant in variants(entry).iter().filter(is_plain) {
            let typed = Typed::new(entry.name, variant);
            for n in 0..4096 {
                driven(&typed, Amount::Packets(2)).run(&nth_sequence(n));
            }
        }
    }
}

#[test]
fn every_pair_decides_alike_when_run_twice_and_keeps_the_link_busy() {
    let contest = contest(20, 3_000);
    for entry in catalogue::all() {
        for variant in variants(entry).iter().filter(|variant| !variant.contains("queues")) {
            let run = || driven(&Typed::new(entry.name, variant), Amount::Packets(40)).run(&contest);
            let outcome = run();
            assert_eq!(outcome, run(), "{}: {variant}", entry.name);
            // There are 2000 polls, and at most 40 packets leave at the end. With AVQ, some polls
            // find no packet.
            let least = if entry.name == "avq" { 1_750 } else { 2_000 };
            assert!((least..=2_040).contains(&outcome.sent), "{}: {variant}: {outcome:?}", entry.name);
        }
    }
}

#[test]
fn without_room_no_backlog_grows() {
    for entry in catalogue::all() {
        let mut driver = driven(&with_ecn(entry, "mark"), Amount::Packets(40));
        for (i, operation) in contest(20, 600).into_iter().enumerate() {
            match operation {
                Operation::Enqueue { flow, len, ecn } if i % 4 < 2 => driver.squeeze(flow, len, ecn),
                operation => driver.apply(operation),
            }
        }
        driver.finish();
    }
}

fn nth_sequence(n: u32) -> [Operation; 6] {
    core::array::from_fn(|i| match (n >> (2 * i)) & 3 {
        3 => Operation::Dequeue,
        flow => Operation::Enqueue { flow: u64::from(flow), len: 512, ecn: Ecn::Ect0 },
    })
}

#[test]
fn every_sequence_of_six_operations_on_three_flows_conserves_packets() {
    // The driver checks after each operation, so longer sequences cover shorter ones.
    for entry in catalogue::all() {
        let typed = with_ecn(entry, "mark");
        for packets in 1..=3 {
            for n in 0..4096 {
                let mut driver = driven(&typed, Amount::Packets(packets));
                for operation in nth_sequence(n) {
                    driver.apply(operation);
                    driver.apply(Operation::Wait(100_000));
                }
                driver.finish();
            }
        }
    }
}

#[test]
fn the_same_run_twice_gives_the_same_decisions() {
    for entry in catalogue::all() {
        for ecn in POLICIES {
            let run = || driven(&with_ecn(entry, ecn), Amount::Packets(40)).run(&contest(20, 12_000));
            assert_eq!(run(), run(), "{}", entry.name);
        }
    }
}

#[test]
fn under_mark_no_capable_packet_is_dropped_early() {
    for entry in catalogue::all() {
        let early_drops = |ecn| {
            let mut driver = driven(&with_ecn(entry, ecn), Amount::Packets(40));
            contest(20, 12_000).into_iter().for_each(|operation| driver.apply(operation));
            let drops = driver.early_drops_of_capable();
            (drops, driver.finish().marked)
        };
        let (drops, marks) = early_drops("mark");
        assert_eq!(drops, 0, "{}", entry.name);
        assert_eq!(early_drops("drop").0 > 0, entry.about.marks, "{}", entry.name);
        assert_eq!(marks > 0, entry.about.marks, "{}", entry.name);
        assert_eq!(early_drops("drop").1, 0, "{}", entry.name);
    }
}

#[test]
fn overload_fills_the_link_and_loses_a_third() {
    for entry in catalogue::all() {
        let outcome = driven(&with_ecn(entry, "drop"), Amount::Packets(40)).run(&contest(20, 12_000));
        // There are 8000 polls outside three pauses, and at most 40 packets leave in each pause.
        // AVQ admits 0.98 of the rate at first, and three quarters at the end.
        let least = if entry.name == "avq" { 7_000 } else { 8_000 };
        assert!((least..=8_120).contains(&outcome.sent), "{}: {outcome:?}", entry.name);
    }
}

#[test]
fn after_any_contest_a_lone_light_flow_gets_through_an_idle_link() {
    // SFB forgets an unresponsive flow too slowly: a bin's probability falls by 1/6000 for each
    // packet that finds the bin empty.
    for entry in catalogue::all().iter().filter(|entry| entry.name != "sfb") {
        for flows in [20, 200] {
            let mut driver = driven(&with_ecn(entry, "drop"), Amount::Packets(40));
            contest(flows, 12_000).into_iter().for_each(|operation| driver.apply(operation));
            // The light flow uses a tenth of the link. After one minute, the contest no longer has
            // an effect.
            let mut light = |flow: u64, packets: u64| {
                let dropped = driver.outcome().dropped;
                for _ in 0..packets {
                    driver.apply(Operation::Enqueue { flow, len: 512, ecn: Ecn::NotEct });
                    (0..2).for_each(|_| driver.apply(Operation::Dequeue));
                    driver.apply(Operation::Wait(4_096_000));
                    driver.apply(Operation::Dequeue);
                }
                driver.outcome().dropped - dropped
            };
            light(0, 15_000);
            for flow in 0..flows {
                let dropped = light(flow, 100);
                assert!(
                    dropped <= 10,
                    "{} after {flows} flows: flow {flow} loses {dropped} of 100",
                    entry.name
                );
            }
        }
    }
}

/// The hash of each entry's decisions in the contest under `mark`.
///
/// A new hash means that recorded results change. If this change is intended, copy the printed
/// value, and give the reason in the commit.
const GOLDEN: &[(&str, u64)] = &[
    ("tail-drop", 3_288_371_909_914_222_001),
    ("policer", 11_916_210_802_764_184_027),
    ("drop-front", 1_501_191_413_826_301_393),
    ("red", 4_511_597_893_282_372_819),
    ("rio", 12_132_915_024_682_023_256),
    ("step", 3_038_883_438_208_545_623),
    ("rem", 6_866_210_432_978_308_239),
    ("blue", 5_898_731_126_369_399_558),
    ("avq", 4_467_740_992_940_066_891),
    ("rqm", 7_583_207_687_043_822_114),
    ("codel", 8_280_549_753_108_570_568),
    ("pie", 6_258_717_140_956_566_740),
    ("cobalt", 16_891_074_787_447_112_947),
    ("dualpi2", 1_276_454_326_306_938_057),
    ("sfed", 13_525_872_812_831_433_211),
    ("faba", 5_621_493_768_232_458_038),
    ("hfaba", 13_776_200_730_896_403_410),
    ("afd-sb", 13_224_855_994_681_467_500),
    ("afd-ft", 6_079_244_046_779_832_342),
    ("afd-nft", 1_947_108_750_448_253_683),
    ("afd-exact", 5_992_945_326_332_185_013),
    ("fred", 17_871_249_672_901_354_717),
    ("choke", 2_881_057_844_919_955_094),
    ("sfb", 16_314_549_224_213_835_746),
    ("lqd", 14_013_812_498_835_791_403),
    ("lqd-binned", 14_125_444_472_046_465_186),
    ("alqd", 11_732_505_866_497_703_212),
    ("rnd", 17_513_261_937_438_994_933),
    ("drr", 13_270_159_335_915_310_542),
    ("sfq-start", 603_740_548_087_157_501),
    ("scfq", 15_204_801_187_415_406_765),
    ("fbfq", 12_885_489_762_133_256_696),
    ("wf2q+", 18_133_975_675_824_425_546),
    ("fq-codel", 16_314_722_326_789_561_806),
    ("fq-pie", 1_512_846_146_493_414_142),
    ("cake-like", 14_622_915_568_085_956_551),
    ("queue", 3_288_371_909_914_222_001), // the hash of tail-drop
    ("conditioner", 8_778_278_205_212_128_817),
    ("shaper", 4_208_691_423_955_573_362),
    ("prio", 3_288_371_909_914_222_001),
    ("classful", 3_288_371_909_914_222_001),
];

#[test]
fn the_contest_distinguishes_disciplines_by_their_victim() {
    let names = ["tail-drop", "drop-front", "lqd", "lqd-binned", "alqd", "rnd"];
    let mut traces: Vec<u64> =
        GOLDEN.iter().filter(|(name, _)| names.contains(name)).map(|(_, trace)| *trace).collect();
    traces.sort_unstable();
    traces.dedup();
    assert_eq!(traces.len(), names.len());
}

#[test]
fn decisions_match_the_recorded_ones() {
    let contest = contest(20, 12_000);
    let trace =
        |entry: &Entry| driven(&with_ecn(entry, "mark"), Amount::Packets(40)).run(&contest).trace.value();
    let found: Vec<(&str, u64)> = catalogue::all().iter().map(|entry| (entry.name, trace(entry))).collect();
    let lines = to_paste(&found, GOLDEN);
    assert!(
        lines.is_empty(),
        "not as recorded; in GOLDEN, in the catalogue's order, it should say\n{}",
        lines.join("\n")
    );
    let names = |list: &[(&'static str, u64)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(names(&found), names(GOLDEN), "GOLDEN is in the order of the catalogue");
}

fn to_paste(found: &[(&str, u64)], recorded: &[(&str, u64)]) -> Vec<String> {
    let of = |list: &[(&str, u64)], name: &str| {
        list.iter().find(|(other, _)| *other == name).map(|(_, trace)| *trace)
    };
    let changed = found.iter().filter(|(name, trace)| of(recorded, name) != Some(*trace));
    let gone = recorded.iter().filter(|(name, _)| of(found, name).is_none());
    let typed = |(name, trace): &(&str, u64)| format!("    ({name:?}, {}),", in_thousands(*trace));
    changed.map(typed).chain(gone.map(|one| format!("    (no more:) {}", typed(one).trim()))).collect()
}

/// `1_234_567`.
fn in_thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits"));
    groups.collect::<Vec<_>>().join("_")
}
