//! The policer: the amount that passes, and invalid parameters.

use super::{packet, site};
use fairwire_catalogue::{Parameters, build};
use fairwire_core::units::Amount;
use fairwire_core::{Backlog, Cause, Discipline, Packet, Time};

fn policer(typed: &str) -> Result<Box<dyn Discipline>, String> {
    let parameters: Parameters = toml::from_str(&format!("[policer]\n{typed}")).expect("well-formed");
    build("policer", &parameters, &site(Amount::Packets(40))).map_err(|error| error.to_string())
}

#[test]
fn a_policer_passes_its_bucket_plus_its_rate() {
    let mut policer = policer("rate = '100 Mbit/s'\nbucket = '64 kB'").expect("allowed");
    let (mut passed, mut dropped) = (0, Vec::new());
    for n in 0..16_667 {
        let now = Time::from_ns(n * 60_000); // 1500 B each 60 us are 200 Mbit/s
        policer.enqueue(Packet { len: 1500, arrived: now, ..packet(1) }, now, &mut dropped);
        passed += u32::from(policer.dequeue(now, &mut dropped).is_some());
        assert_eq!(policer.backlog(), Backlog::default(), "nothing waits");
    }
    // In one second, the bucket and the rate admit (64 000 + 12 500 000) / 1500 = 8376 packets.
    assert!((8375..=8377).contains(&passed), "{passed}");
    assert!(dropped.iter().all(|(_, cause)| *cause == Cause::NoTokens));
}

#[test]
fn a_missing_bucket_or_one_smaller_than_a_packet_is_refused() {
    let allowed = "; allowed: a size of a typical packet, 512 B, or more";
    for (typed, given) in [
        ("rate = '100 Mbit/s'", "not given beside `rate`"),
        ("rate = '100 Mbit/s'\nbucket = '0 B'", "0 B"),
        ("bucket = '511 B'", "511 B"),
    ] {
        let message = format!("`bucket` of `policer` is {given}{allowed}");
        assert_eq!(policer(typed).err(), Some(message), "{typed}");
    }
    assert!(policer("bucket = '512 B'").is_ok() && policer("").is_ok());
}
