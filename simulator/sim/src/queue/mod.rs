//! The event queue of a run, tuned for speed: no result of a run depends on it.
//!
//! [`Sides`] takes events at hosts and at links in turns. Each `Side` has lanes of ordered events,
//! and a calendar for all others.

mod calendar;
mod lanes;
mod side;
mod sides;
mod wheel;

pub(crate) use sides::Sides;
