//! A bounded run of the fuzz targets: over their corpus, and over random bytes.

#[path = "../../../../proof/fuzz/body.rs"]
mod body;

use fairwire_catalogue as catalogue;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/fuzz/corpus").join(target)
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(corpus(target)).expect("the corpus is there");
    entries.map(|entry| fs::read(entry.expect("readable").path()).expect("readable")).collect()
}

#[test]
fn the_corpus_passes() {
    let (operations, specs) = (seeds("operations"), seeds("spec"));
    assert!(operations.len() >= 10 && specs.len() >= catalogue::all().len());
    operations.iter().for_each(|seed| body::operations(seed));
    specs.iter().for_each(|seed| body::spec(seed));
}

fn example(entry: &catalogue::Entry) -> String {
    let page = entry.page().unwrap_or_else(|error| panic!("{error}"));
    page.example.replace("[discipline.", "[").replace("[[discipline.", "[[")
}

#[test]
fn the_corpus_has_the_example_of_every_discipline() {
    for entry in catalogue::all() {
        let path = corpus("spec").join(format!("{}.toml", entry.name));
        if std::env::var_os("FAIRWIRE_RENEW").is_some() {
            fs::write(&path, example(entry)).expect("the corpus can be written");
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        let renew = "FAIRWIRE_RENEW=1 cargo test -p fairwire-catalogue --test it fuzz";
        assert!(there == example(entry), "{} is stale; renew it with {renew}", path.display());
    }
}

/// Changed examples: close enough to valid input to get past the reader.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let seeds = seeds("spec");
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..3u8);
    (0..seeds.len(), prop::collection::vec(change, 0..4)).prop_map(move |(seed, changes)| {
        let mut bytes = seeds[seed].clone();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = b" 0123456789.-\"\n"[usize::from(byte) % 15],
                1 => bytes.insert(at, bytes[at]),
                _ if bytes.len() > 1 => drop(bytes.remove(at)),
                _ => {}
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_as_operations_conserve_packets(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        body::operations(&bytes);
    }

    #[test]
    fn any_bytes_typed_for_a_discipline_are_refused_or_build(bytes in mutated()) {
        body::spec(&bytes);
    }
}
