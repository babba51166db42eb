//! Timers whose period changes while they run.

use fairwire_core::{Duration, Time};

/// Reschedules a timer that is due at `next` and whose period changes from `before` to `after`. The
/// timer fires one new period after it last fired, but not before `now`.
pub(crate) fn rescheduled(next: Time, before: Duration, after: Duration, now: Time) -> Time {
    if before == after { next } else { (next.saturating_sub(before) + after).max(now) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rescheduled_timer_counts_from_its_last_expiry_and_skips_missed_ones() {
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        let due =
            |before, after| rescheduled(ms(100), Duration::from_ms(before), Duration::from_ms(after), ms(75));
        assert_eq!([due(30, 30), due(30, 50), due(30, 10), due(10, 10)], [ms(100), ms(120), ms(80), ms(100)]);
        assert_eq!(due(90, 15), ms(75), "it would have been due at 25 ms");
    }
}
