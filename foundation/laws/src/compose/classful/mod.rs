//! A tree of classes, each leaf a discipline.
//!
//! A class has a guaranteed rate, a ceiling that it never exceeds, and a weight and a priority for
//! the excess. Whatever a class leaves of its guarantee is offered to its siblings first, then up
//! the tree. Floyd and Jacobson 1995, section II; weights by start-time fair queueing, Goyal, Vin
//! and Cheng 1997, section II; guarantees and ceilings by the buckets of [`shaper`](super::shaper).

mod ceiling;
mod config;
mod leaf;
mod node;
mod succession;
mod tree;

pub use config::{Config, PRIORITIES, Shape, Terms};
pub use leaf::{Contents, Inner, Maker, Pool};
pub use tree::Classful;
