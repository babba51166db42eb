//! Types of time that a link accepts.

use fairwire_core::Time;
use std::time::{Duration, Instant};

/// A type of time for a [`Link`](crate::Link). No clock is read.
///
/// - [`Duration`] is the time since the start of the test; for smoltcp,
///   `Duration::from_micros(instant.total_micros() as u64)`. Round deadlines up to smoltcp's
///   microseconds.
/// - [`Instant`] is the type of quinn-proto. Time zero is the first instant given, or
///   [`starts_at`](crate::LinkBuilder::starts_at).
/// - [`Time`] is the time of `fairwire-core`; the feature `tokio` adds `tokio::time::Instant`.
pub trait Moment: Copy {
    /// Time zero of a link whose first call is at `first`.
    fn origin(first: Self) -> Self;

    /// The time since `origin`; zero if `self` is earlier.
    fn since(self, origin: Self) -> Duration;

    /// `origin` plus `by`; `None` if the type cannot express the sum.
    fn after(origin: Self, by: Duration) -> Option<Self>;
}

impl Moment for Duration {
    fn origin(_: Self) -> Self {
        Duration::ZERO
    }

    fn since(self, origin: Self) -> Duration {
        self.saturating_sub(origin)
    }

    fn after(origin: Self, by: Duration) -> Option<Self> {
        origin.checked_add(by)
    }
}

impl Moment for Time {
    fn origin(_: Self) -> Self {
        Time::ZERO
    }

    fn since(self, origin: Self) -> Duration {
        Time::since(self, origin).into()
    }

    fn after(origin: Self, by: Duration) -> Option<Self> {
        Some(origin + by.into()).filter(|time| *time < Time::MAX)
    }
}

impl Moment for Instant {
    fn origin(first: Self) -> Self {
        first
    }

    fn since(self, origin: Self) -> Duration {
        self.saturating_duration_since(origin)
    }

    fn after(origin: Self, by: Duration) -> Option<Self> {
        origin.checked_add(by)
    }
}

#[cfg(feature = "tokio")]
impl Moment for tokio::time::Instant {
    fn origin(first: Self) -> Self {
        first
    }

    fn since(self, origin: Self) -> Duration {
        self.saturating_duration_since(origin)
    }

    fn after(origin: Self, by: Duration) -> Option<Self> {
        origin.checked_add(by)
    }
}

#[derive(Debug)]
pub(crate) struct Clock<I> {
    origin: Option<I>,
    now: Time,
    backward_calls: u64,
}

impl<I: Moment> Clock<I> {
    pub(crate) fn new(origin: Option<I>) -> Self {
        Clock { origin, now: Time::ZERO, backward_calls: 0 }
    }

    #[inline]
    pub(crate) fn advance(&mut self, now: I) -> Time {
        let origin = *self.origin.get_or_insert_with(|| I::origin(now));
        let given = Time::ZERO + now.since(origin).into();
        let is_before_origin = given == Time::ZERO && !origin.since(now).is_zero();
        if given < self.now || is_before_origin {
            self.backward_calls += 1;
        }
        self.now = self.now.max(given);
        self.now
    }

    pub(crate) fn now(&self) -> Time {
        self.now
    }

    pub(crate) fn backward_calls(&self) -> u64 {
        self.backward_calls
    }

    /// `time` in the caller's type; `None` for never.
    #[inline]
    pub(crate) fn moment(&self, time: Time) -> Option<I> {
        let since = Some(time).filter(|time| *time < Time::MAX)?.since(Time::ZERO);
        I::after(self.origin?, since.into())
    }
}
