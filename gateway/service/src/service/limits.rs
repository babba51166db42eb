//! Reports that a direction has been full for a minute, or that a class has been at its ceiling for
//! a minute. Also reports the ends of these states.
//!
//! Both states are normal for a moment. The snapshot counts subscribers at their ceilings. Such
//! subscribers are not reported, since a download of a minute is normal.

use crate::telemetry::{AtLimits, Board, ChangeKind};
use fairwire_core::{Duration, Time};
use fairwire_wire::Way;
use std::collections::BTreeMap;

const LOOK: Duration = Duration::from_secs(5);
/// A state, or the absence of a state, is reported once it has lasted this long.
const SPELL: Duration = Duration::from_secs(60);
/// A direction is considered full from this fraction of its rate.
const FULL: f64 = 0.98;

#[derive(Debug, Default)]
pub(super) struct Limits {
    look_at: Time,
    /// By direction.
    full: [Spell; 2],
    /// Dropped and marked packets at the last observation.
    signals: [u64; 2],
    /// Classes recently at their ceilings, by direction and name.
    ceilings: [BTreeMap<String, Spell>; 2],
}

#[derive(Debug)]
struct Spell {
    is_on: bool,
    since: Time,
    is_reported: bool,
    reported_at: Time,
}

impl Default for Spell {
    fn default() -> Self {
        Spell { is_on: false, since: Time::ZERO, is_reported: false, reported_at: Time::ZERO }
    }
}

impl Spell {
    /// Records whether the state holds at `now`. Returns `Some(None)` when its beginning should be
    /// reported, and `Some(Some(duration))` when its end should be reported.
    fn look(&mut self, is_on: bool, now: Time) -> Option<Option<Duration>> {
        if is_on != self.is_on {
            (self.is_on, self.since) = (is_on, now);
        }
        if self.is_on == self.is_reported || now.since(self.since) < SPELL {
            return None;
        }
        self.is_reported = self.is_on;
        if self.is_on {
            self.reported_at = self.since;
            return Some(None);
        }
        Some(Some(self.since.since(self.reported_at)))
    }

    fn is_over(&self) -> bool {
        !self.is_on && !self.is_reported
    }
}

impl Limits {
    pub(super) fn look(&mut self, board: &Board, now: Time, report: &mut dyn FnMut(ChangeKind, String)) {
        if now >= self.look_at {
            self.look_at = now + LOOK;
            self.take(board.at_limits(), now, report);
        }
    }

    fn take(&mut self, seen: [AtLimits; 2], now: Time, report: &mut dyn FnMut(ChangeKind, String)) {
        for (way, seen) in Way::ALL.into_iter().zip(seen) {
            let (at, way) = (way as usize, way.name());
            let is_signalled = seen.signals > std::mem::replace(&mut self.signals[at], seen.signals);
            let is_full = seen.utilization >= FULL && is_signalled;
            match self.full[at].look(is_full, now) {
                None => {}
                Some(None) => report(
                    ChangeKind::Full,
                    format!("the {way} has been full for a minute, with drops or marks throughout"),
                ),
                Some(Some(lasted)) => report(
                    ChangeKind::NotFull,
                    format!("the {way} is no longer full, after {:.0} s", lasted.secs()),
                ),
            }
            let spells = &mut self.ceilings[at];
            for class in &seen.classes {
                if !spells.contains_key(class) {
                    spells.insert(class.clone(), Spell::default());
                }
            }
            for (class, spell) in spells.iter_mut() {
                let is_at = seen.classes.binary_search(class).is_ok();
                match spell.look(is_at, now) {
                    None => {}
                    Some(None) => report(
                        ChangeKind::AtCeiling,
                        format!("`{class}` has been at its ceiling for a minute, {way}"),
                    ),
                    Some(Some(lasted)) => report(
                        ChangeKind::BelowCeiling,
                        format!("`{class}` is below its ceiling again, {way}, after {:.0} s", lasted.secs()),
                    ),
                }
            }
            spells.retain(|_, spell| !spell.is_over());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        limits: Limits,
        now: Time,
    }

    impl Bench {
        fn look(&mut self, looks: u32, utilization: f64, classes: &[&str]) -> Vec<String> {
            let mut lines = Vec::new();
            for _ in 0..looks {
                self.now += LOOK;
                let signals = self.limits.signals[0] + 1;
                let classes = classes.iter().map(|class| (*class).to_owned()).collect();
                let seen = [AtLimits { utilization, signals, classes }, AtLimits::default()];
                self.limits
                    .take(seen, self.now, &mut |kind, text| lines.push(format!("{}: {text}", kind.name())));
            }
            lines
        }
    }

    fn bench() -> Bench {
        Bench { limits: Limits::default(), now: Time::ZERO }
    }

    #[test]
    fn a_saturated_direction_is_reported_after_a_minute_and_at_its_end() {
        let mut bench = bench();
        assert!(bench.look(12, 0.99, &[]).is_empty());
        assert!(bench.look(1, 0.5, &[]).is_empty(), "a rest begins the minute anew");
        let full = "full: the download has been full for a minute, with drops or marks throughout";
        assert_eq!(bench.look(100, 0.99, &[]), [full]);
        assert!(bench.look(11, 0.5, &[]).is_empty());
        assert!(bench.look(100, 0.99, &[]).is_empty(), "less than a minute's rest is none");
        let over = bench.look(13, 0.5, &[]);
        assert_eq!(over, ["not-full: the download is no longer full, after 1055 s"]);
    }

    #[test]
    fn a_direction_at_its_rate_without_drops_is_not_saturated() {
        let mut limits = Limits::default();
        let mut lines = 0;
        for look in 0..100 {
            let seen = [AtLimits { utilization: 1.0, ..AtLimits::default() }, AtLimits::default()];
            limits.take(seen, Time::ZERO + Duration::from_secs(5 * look), &mut |_, _| lines += 1);
        }
        assert_eq!(lines, 0);
    }

    #[test]
    fn reached_ceilings_are_reported_by_name_and_forgotten_at_their_end() {
        let mut bench = bench();
        assert_eq!(
            bench.look(14, 0.5, &["campus"]),
            ["at-ceiling: `campus` has been at its ceiling for a minute, download"]
        );
        assert_eq!(
            bench.look(13, 0.5, &[]),
            ["below-ceiling: `campus` is below its ceiling again, download, after 70 s"]
        );
        assert!(bench.limits.ceilings[0].is_empty());
        bench.look(1, 0.5, &["campus"]);
        bench.look(1, 0.5, &[]);
        assert!(bench.limits.ceilings[0].is_empty(), "a moment is forgotten at once");
    }
}
