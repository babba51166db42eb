//! Each discipline does the same alone and inside another discipline.

use crate::Typed;
use crate::conformance::site;
use fairwire_catalogue as catalogue;
use fairwire_catalogue::compose::classful::Spec;
use fairwire_catalogue::marker::MarkerChoice;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Rate, Transmitter};
use fairwire_laws::autorate;
use fairwire_laws::compose::autorated::Autorated;
use fairwire_laws::compose::classful::{Classful, Contents, Inner, Pool};
use fairwire_laws::compose::conditioner::Conditioner;
use fairwire_laws::compose::prio::{By, Config, Prio};
use fairwire_laws::compose::shaper::Shaper;
use fairwire_testing::lost_inside;
use std::collections::BTreeMap;

type Boxed = Box<dyn Discipline>;
type Wrap = fn(Boxed) -> Boxed;

/// Parameters under which these disciplines have more state than by default.
const TYPED: &[(&str, &str)] = &[
    ("conditioner", "class = [{ id = 1, marker = 'adaptive-token-bucket' }]"),
    ("shaper", "autorate = {}"),
    ("faba", "weights = { 1 = 4.0, 2 = 0.25 }"),
    ("drr", "weights = { 1 = 4.0, 2 = 0.25 }"),
    ("classful", "class = [{ id = 1 }, { id = 2, weight = 3.0 }]"),
    ("prio", "by = 'dscp'\nband = [{ of = [0], discipline = 'faba' }, { discipline = 'lqd' }]"),
];

fn fast() -> Transmitter {
    Transmitter::new(Rate::from_bps(10_000_000).expect("not zero"))
}

fn classful(inner: Boxed) -> Classful {
    let spec: Spec = toml::from_str("class = [{ id = 8 }, { id = 9 }]\ndefault = 9").expect("well-formed");
    let contents = |label: &str, inner| Contents { label: label.into(), inner: Some(Inner::Made(inner)) };
    let other = Typed::new("tail-drop", "").built(&site(Amount::Packets(40)));
    let checked = spec.check(&site(Amount::Packets(40))).expect("allowed");
    Classful::new(checked, vec![contents("other", other), contents("this", inner)])
}

fn prio(by: By, inner: Boxed) -> Boxed {
    let other = Typed::new("tail-drop", "").built(&site(Amount::Packets(40)));
    let config = Config { by, band_of: Box::new([]), default_band: 1 };
    Box::new(Prio::new(config, vec![other, inner]))
}

fn conditioner(inner: Boxed) -> Boxed {
    let marker = MarkerChoice::find("token-bucket").expect("there").build(&site(Amount::Packets(40)));
    Box::new(Conditioner::new(inner, vec![("all".into(), marker.expect("allowed"))], Box::new([0])))
}

fn autorated(inner: Boxed) -> Boxed {
    let spec: autorate::Spec = toml::from_str("").expect("well-formed");
    let config = spec.check(Rate::from_bps(10_000_000).expect("not zero")).expect("allowed");
    Box::new(Autorated::new(Shaper::new(inner, fast()), config))
}

const WRAPPERS: &[(&str, Wrap)] = &[
    ("a box", |inner| Box::new(inner)),
    ("shaper", |inner| Box::new(Shaper::new(inner, fast()))),
    ("autorate", autorated),
    ("prio by class", |inner| prio(By::Class, inner)),
    ("prio by codepoint", |inner| prio(By::Dscp, inner)),
    ("conditioner", conditioner),
    ("classful", |inner| Box::new(classful(inner))),
    ("classful with a pool", |inner| {
        Box::new(classful(inner).with_pool(Pool { bytes: 1_000_000, packets: 1000 }))
    }),
];

#[test]
fn nested_disciplines_keep_all_their_capabilities() {
    let mut lost: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let typed = catalogue::all()
        .iter()
        .map(|entry| Typed::new(entry.name, ""))
        .chain(TYPED.iter().map(|(name, typed)| Typed::new(name, typed)));
    for typed in typed {
        let alone = || typed.built(&site(Amount::Packets(40)));
        for (wrapper, wrap) in WRAPPERS {
            for capability in lost_inside(&alone, wrap) {
                lost.entry(format!("{wrapper}: {capability}")).or_default().push(typed.name.clone());
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
