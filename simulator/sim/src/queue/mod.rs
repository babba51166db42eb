//! The event queue of a run, tuned for speed: no result of a run depends on it.

mod calendar;
mod lanes;
mod side;
mod sides;
mod wheel;

pub(crate) use sides::Sides;
