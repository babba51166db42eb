//! The real `fairwire-gateway run` between two hosts in network namespaces. Without root, the test
//! reports this prominently and passes.

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
