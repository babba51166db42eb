//! A flow: its source, its sink, and its own links at either end.

mod outside;
mod protocol;
mod record;
mod sender;
mod sink;
mod stage;

pub(crate) use record::{Counts, Flow, Lanes, Membership};
pub(crate) use sink::Delivery;
pub(crate) use stage::Stage;
