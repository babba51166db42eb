//! BBR, version 3, in complete senders.

use crate::path;

use fairwire_core::{Duration, Seed, Time};
use fairwire_tcp::congestion::{Bbr3Parameters, BbrParameters, ControlConfig};
use fairwire_tcp::{Config, Profile};
use path::Path;

/// 564-byte packets per second at 10 Mbit/s: 71 per round trip of 32 ms.
const PACKETS_PER_SECOND: f64 = 10e6 / 8.0 / 564.0;

fn config(control: ControlConfig) -> Config {
    Config { control, header_bytes: 52, ..Config::new(Profile::Modern, 512) }
}

fn measured(config: &Config, buffer: usize, loss: f64) -> (f64, f64) {
    let mut rng = Seed(1).stream("losses");
    let mut path = Path::new(config, buffer)
        .fate(move |_, _| if rng.chance(loss) { vec![] } else { vec![Duration::ZERO] });
    path.start();
    path.run_until(Time::ZERO + Duration::from_secs(10));
    let before = (path.delivered, path.drops, path.sent.len());
    path.run_until(Time::ZERO + Duration::from_secs(60));
    let delivered = (path.delivered - before.0) as f64 / 50.0 / PACKETS_PER_SECOND;
    (delivered, (path.drops - before.1) as f64 / (path.sent.len() - before.2) as f64)
}

#[test]
fn before_a_short_queue_version_3_loses_no_more_than_two_percent_and_fills_the_link() {
    for buffer in [8, 17, 35, 70] {
        let (used, lost) = measured(&config(ControlConfig::Bbr3(Bbr3Parameters::default())), buffer, 0.0);
        assert!(lost <= 0.02, "{buffer}: {lost}");
        assert!((0.85..=1.001).contains(&used), "{buffer}: {used}");
    }
}

#[test]
fn where_version_1_keeps_a_short_queue_overflowing_version_3_does_not() {
    let (_, first) = measured(&config(ControlConfig::Bbr(BbrParameters::default())), 8, 0.0);
    let (_, third) = measured(&config(ControlConfig::Bbr3(Bbr3Parameters::default())), 8, 0.0);
    assert!(third < first / 2.0, "{third} {first}");
}

#[test]
fn a_path_with_one_percent_loss_is_used_as_the_draft_expects() {
    // By the draft, section 5.3.3.5.3, each of at most 63 rounds with 1 % lost lowers the rate by 1
    // %. The mean of 0.99^n over 63 rounds is 0.745.
    let (used, _) = measured(&config(ControlConfig::Bbr3(Bbr3Parameters::default())), 200, 0.01);
    assert!(used > 0.745, "{used}");
    // At a loss of 1 %, Reno's window is sqrt(1.5 / 0.01) = 12 packets: 0.17 of the 71 that a round
    // trip holds.
    let (reno, _) = measured(&config(ControlConfig::Reno), 200, 0.01);
    assert!(reno < 0.25, "{reno}");
}
