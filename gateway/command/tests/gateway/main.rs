//! The real `fairwire-gateway run` between two hosts in network namespaces. The test needs root;
//! otherwise it reports this prominently and passes.
//!
//! Everything else runs in namespaces that end with this test. This process stays in its own.

#![allow(clippy::disallowed_methods, reason = "real processes take real time")]

mod bed;
mod clients;
mod encapsulation;
mod failing;
mod frames;
mod interfaces;
mod journal;
mod life;
mod page;
mod radius;
mod recipes;
mod rights;
mod router;
mod setup;
mod several;
mod take_over;
mod tunnel;
