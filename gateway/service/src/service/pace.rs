//! A gateway's durations: observation interval, wakings, watchdog and shutdown.

use crate::config::spec::{SafetySpec, Spec};
use crate::config::{COALESCE, Config};
use fairwire_core::Duration;
use fairwire_wire::Way;

pub(super) fn interval(config: &Config) -> Duration {
    config.spec().telemetry.interval.map_or(Duration::from_ms(10), |interval| interval.0)
}

/// The time between two wakings of the datapath thread while packets wait.
pub(super) fn coalesce(spec: &Spec) -> Duration {
    spec.wire.coalesce.map_or(COALESCE, |coalesce| coalesce.0)
}

/// The guard bridges the link after this silence of the datapath thread.
pub(super) fn watchdog(safety: &SafetySpec) -> Duration {
    safety.watchdog.map_or(Duration::from_secs(1), |watchdog| watchdog.0)
}

/// The longest time for which an ending gateway forwards waiting packets.
pub(super) fn longest_stay(config: &Config) -> Duration {
    let stay = Way::ALL.map(|way| {
        config.shaping(way).map_or(0.0, |shaping| {
            shaping.buffer.in_bytes(1514, shaping.rate) * 8.0 / shaping.rate.bps() as f64
        })
    });
    Duration::from_secs_f64((stay[0].max(stay[1]) + 0.05).min(5.0))
}
