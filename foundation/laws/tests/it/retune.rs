//! Disciplines that take over new parameters while packets wait.

use crate::Typed;
use crate::conformance::{OWN_SETTINGS, driven, site, variants, with_ecn};
use fairwire_catalogue::{self as catalogue, Entry, Parameters, build, check};
use fairwire_core::Discipline;
use fairwire_core::units::Amount;
use fairwire_testing::{Driver, Operation, Shape, contest, operations};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Parameters that cannot be retuned: they change the unit or the structure of the state. A larger
/// buffer may change that structure too.
const FIXED: &[(&str, &[&str])] = &[
    ("afd-exact", &["max_flows", "measure"]),
    ("afd-ft", &["measure", "samples"]),
    ("afd-nft", &["measure", "samples"]),
    ("afd-sb", &["measure", "samples"]),
    ("alqd", &["buffer", "measure", "the site's buffer"]),
    ("cake-like", &["ack_filter", "host", "ingress", "queues", "round"]),
    ("choke", &["compare", "measure"]),
    ("codel", &["arithmetic"]),
    ("drr", &["background", "buffer", "dropper", "host", "per", "queues", "round", "the site's buffer"]),
    ("faba", &["choice", "max_flows", "measure", "share_between"]),
    ("fbfq", &["buffer", "dropper", "per", "quantum", "queues", "the site's buffer"]),
    ("fq-codel", &["arithmetic", "background", "host", "queues", "round", "rules"]),
    ("fq-pie", &["queues"]),
    ("fred", &["measure"]),
    ("hfaba", &["max_flows", "measure"]),
    ("lqd", &["buffer", "measure", "the site's buffer"]),
    ("lqd-binned", &["buffer", "measure", "the site's buffer"]),
    ("prio", &["by"]),
    ("red", &["measure"]),
    ("rio", &["coupling", "measure"]),
    ("rnd", &["buffer", "measure", "the site's buffer"]),
    ("scfq", &["buffer", "dropper", "per", "queues", "the site's buffer"]),
    ("sfb", &["bins", "levels", "measure"]),
    ("sfed", &["max_flows", "measure"]),
    ("sfq-start", &["buffer", "dropper", "per", "queues", "the site's buffer"]),
    ("wf2q+", &["buffer", "dropper", "per", "queues", "the site's buffer"]),
];

const BUFFER: Amount = Amount::Packets(40);

type Boxed = Box<dyn Discipline>;

struct Variant {
    parameter: String,
    typed: String,
    parameters: Parameters,
    buffer: Amount,
}

impl Variant {
    fn new(entry: &Entry, parameter: &str, typed: String, buffer: Amount) -> Option<Variant> {
        let parameters: Parameters = toml::from_str(&format!("[{:?}]\n{typed}", entry.name)).ok()?;
        check(entry.name, &parameters, &site(buffer)).ok()?;
        Some(Variant { parameter: parameter.into(), typed, parameters, buffer })
    }

    fn build(&self, entry: &Entry) -> Boxed {
        build(entry.name, &self.parameters, &site(self.buffer)).expect("checked")
    }
}

fn own(entry: &Entry, parameter: &str) -> String {
    let own = OWN_SETTINGS.iter().find(|(name, _)| *name == entry.name).map_or("", |(_, typed)| *typed);
    let is_other = |line: &&str| line.split(' ').next() != Some(parameter);
    own.lines().filter(is_other).map(|line| format!("{line}\n")).collect()
}

fn near(default: &str) -> Vec<String> {
    let (number, unit) = default.split_once(' ').unwrap_or((default, ""));
    let Ok(number) = number.parse::<f64>() else {
        return match default {
            "true" => vec!["false".into()],
            "false" => vec!["true".into()],
            _ => Vec::new(),
        };
    };
    let typed = |value: f64| match unit {
        "" if number.fract() == 0.0 => format!("{}", value.ceil()),
        "" => format!("{value:?}"),
        unit => format!("{:?}", format!("{value} {unit}")),
    };
    [0.5, 2.0].map(|factor| typed(factor * number)).into()
}

fn changed(entry: &Entry) -> Vec<Variant> {
    let page = entry.page().expect("documented");
    let guesses = ["\"10 packets\"", "\"7 ms\"", "0.3", "3", "\"2000 B\"", "\"6000 B\""];
    let mut variants = Vec::new();
    for parameter in page.parameters.iter().filter(|parameter| parameter.name != "scheduler") {
        let words = parameter.choices.iter().map(|(word, _)| format!("{word:?}"));
        let plain = parameter.default.trim_matches('`');
        for value in near(plain).into_iter().chain(words).chain(guesses.map(str::to_owned)) {
            let name = &parameter.name;
            let typed = format!("{}{name} = {value}", own(entry, name));
            variants.extend(Variant::new(entry, name, typed, BUFFER));
        }
    }
    for buffer in [Amount::Packets(25), Amount::Packets(60), Amount::Bytes(30_000)] {
        variants.extend(Variant::new(entry, "the site's buffer", own(entry, ""), buffer));
    }
    variants
}

fn base(entry: &Entry) -> Driver<Boxed> {
    driven(&Typed::new(entry.name, &own(entry, "")), BUFFER)
}

#[test]
fn equal_parameters_in_the_middle_of_a_contest_change_no_decision() {
    let operations = contest(20, 3_000);
    for entry in catalogue::all() {
        let typed = variants(entry).into_iter().chain(["ecn = \"drop\"".into(), "ecn = \"mark\"".into()]);
        for typed in typed.filter(|_| entry.name != "classful" && entry.name != "conditioner") {
            let made = Typed::new(entry.name, &typed);
            let mut driver = driven(&made, BUFFER);
            for (at, operation) in operations.iter().enumerate() {
                if at % 97 == 0 {
                    let fresh = driven(&made, BUFFER);
                    assert!(driver.retune(&**fresh.discipline()), "{}: {typed}", entry.name);
                }
                driver.apply(*operation);
            }
            assert_eq!(driver.finish(), driven(&made, BUFFER).run(&operations), "{}: {typed}", entry.name);
        }
    }
}

#[test]
fn a_discipline_retuned_at_the_start_decides_as_one_built_so() {
    let operations = contest(20, 3_000);
    let mut fixed = BTreeSet::new();
    for entry in catalogue::all() {
        for variant in changed(entry) {
            let (mut driver, built) = (base(entry), variant.build(entry));
            if !driver.retune(&*built) {
                fixed.insert((entry.name, variant.parameter));
                continue;
            }
            let (from_start, retuned) = (Driver::new(built).run(&operations), driver.run(&operations));
            assert_eq!(retuned, from_start, "{}: {} {}", entry.name, variant.typed, variant.buffer);
        }
    }
    let listed = FIXED.iter().flat_map(|(name, keys)| keys.iter().map(|key| (*name, key.to_string())));
    assert_eq!(fixed, listed.collect());
}

#[test]
fn a_resized_buffer_under_load_loses_only_drops_of_its_law() {
    for entry in catalogue::all() {
        let mut driver = driven(&with_ecn(entry, "mark"), BUFFER);
        for (at, operation) in contest(20, 3_000).into_iter().enumerate() {
            if at % 50 == 0 {
                let fresh = driven(&with_ecn(entry, "mark"), Amount::Packets([5, 300, 40][at / 50 % 3]));
                driver = taken_over(driver, fresh);
            }
            driver.apply(operation);
        }
        driver.finish();
    }
}

fn taken_over(mut driver: Driver<Boxed>, mut fresh: Driver<Boxed>) -> Driver<Boxed> {
    if driver.retune(&**fresh.discipline()) {
        return driver;
    }
    fresh.take_over(driver.drain(), driver.now());
    driver.finish();
    fresh
}

static VARIANTS: LazyLock<Vec<(&Entry, Vec<Variant>)>> =
    LazyLock::new(|| catalogue::all().iter().map(|entry| (entry, changed(entry))).collect());

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn random_parameters_at_random_times_lose_no_packet(
        parts in prop::collection::vec((operations(Shape { max_operations: 60, ..Shape::default() }), any::<prop::sample::Index>()), 1..8),
    ) {
        for (entry, changed) in VARIANTS.iter() {
            let mut driver = base(entry);
            for (part, which) in &parts {
                part.iter().for_each(|operation: &Operation| driver.apply(*operation));
                let built = changed[which.index(changed.len())].build(entry);
                driver = taken_over(driver, Driver::new(built));
            }
            driver.finish();
        }
    }
}
