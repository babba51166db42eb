//! Disciplines and controllers written in Python.
//!
//! A class may appear wherever a scenario takes a name. The scenario parser sees the entry
//! `python`, whose parameter `class` identifies the class by a text. The scenario's [`Classes`] map
//! this text to the class, within the [scope](within) of one parse or one run.

mod class;
mod controller;
mod dropper;
mod object;
mod observed;
mod packet;
mod queue;
mod scope;
mod spec;
mod thread;
mod value;
mod waiting;

pub(crate) use class::{Classes, Listed, is_entry};
pub(crate) use controller::{Ack, Congestion};
pub(crate) use observed::Observed;
pub(crate) use packet::Packet;
pub(crate) use scope::{Run, Stop, within};
pub(crate) use spec::register;
pub(crate) use value::plain;
pub(crate) use waiting::Waiting;
