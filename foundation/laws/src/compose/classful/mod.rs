//! A tree of classes, each leaf a discipline.
//!
//! A class's unused guarantee is offered to its siblings first, then up the tree (Floyd and
//! Jacobson 1995, section II). Weights use start-time fair queueing (Goyal, Vin and Cheng 1997,
//! section II); guarantees and ceilings use the buckets of [`shaper`](super::shaper).

mod ceiling;
mod config;
mod leaf;
mod node;
mod succession;
mod tree;

pub use config::{Config, PRIORITIES, Shape, Terms};
pub use leaf::{Contents, Inner, Maker, Pool};
pub use tree::Classful;
