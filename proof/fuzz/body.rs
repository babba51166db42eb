//! The functions that the fuzz targets call. A test of the disciplines also calls them, without a
//! fuzzer.
#![allow(dead_code, reason = "each target uses one half")]

use fairwire_catalogue::{self as catalogue, Entry};
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ecn, Rate, Seed};
use fairwire_testing::{Driver, Operation};

fn site(buffer: Amount) -> Site<'static> {
    let rate = Rate::from_bps(10_000_000).expect("not zero");
    Site { rate, buffer, packet_bytes: 512, seed: Seed(1), stream: "fuzz" }
}

const BUFFERS: [Amount; 4] =
    [Amount::Packets(1), Amount::Packets(3), Amount::Packets(40), Amount::Bytes(4_000)];

/// Runs operations on a discipline. The first two bytes choose the discipline, its buffer and its
/// ECN policy.
///
/// # Panics
/// If the discipline breaks its contract.
pub(super) fn operations(bytes: &[u8]) {
    let [which, how, rest @ ..] = bytes else { return };
    let entry = &catalogue::all()[usize::from(*which) % catalogue::all().len()];
    let ecn = if how & 4 == 0 { "drop" } else { "mark" };
    let typed = format!("[{:?}]\necn = \"{ecn}\"", entry.name);
    let parameters = toml::from_str(&typed).expect("every discipline has `ecn`");
    let site = site(BUFFERS[usize::from(how & 3)]);
    drive(build(entry.name, &parameters, &site).expect("the defaults are allowed"), rest);
}

fn drive(discipline: Box<dyn Discipline>, mut bytes: &[u8]) {
    let mut driver = Driver::new(discipline);
    while let [kind, rest @ ..] = bytes {
        let [detail, rest @ ..] = rest else { break };
        driver.apply(operation(*kind, *detail));
        bytes = rest;
    }
    driver.finish();
}

fn operation(kind: u8, detail: u8) -> Operation {
    match kind & 7 {
        0..=3 => Operation::Enqueue {
            flow: u64::from(detail & 15),
            len: [40, 512, 1500, 4_000][usize::from(detail >> 4 & 3)],
            ecn: Ecn::from_bits(detail >> 6),
        },
        4..=6 => Operation::Dequeue,
        // A wait takes from a nanosecond to 17 s.
        _ => Operation::Wait(1 << (detail % 35)),
    }
}

/// Parses `bytes` as the text of disciplines.
///
/// # Panics
/// If text that passes the checks does not build or work.
pub(super) fn spec(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(typed) = toml::from_str::<Parameters>(text) else { return };
    // Numbers of five digits or more may request gigabytes, which is no fault. Text with such
    // numbers is checked but not built.
    let is_modest = !text.as_bytes().windows(5).any(|five| five.iter().all(u8::is_ascii_digit))
        && !text.contains(['M', 'G', 'e']);
    for entry in catalogue::all().iter().filter(|entry| is_set(entry, &typed)) {
        let site = site(Amount::Packets(40));
        let checked = catalogue::check(entry.name, &typed, &site);
        if let Err(error) = &checked {
            assert!(error.to_string().contains("allowed"), "{error}");
        } else if is_modest {
            let discipline = build(entry.name, &typed, &site).expect("it was checked");
            let operations: Vec<u8> = (0..=255).rev().chain(0..=255).collect();
            drive(discipline, &operations);
        }
    }
}

fn is_set(entry: &Entry, typed: &Parameters) -> bool {
    let written = toml::Value::try_from(typed).expect("plain data");
    written.get(entry.name).is_some()
}
