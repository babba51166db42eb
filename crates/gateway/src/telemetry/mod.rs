//! The telemetry of a running gateway.
//!
//! The [`Observer`] runs on the datapath's thread, at each telemetry interval, and never waits: it
//! copies counters to the [`Board`]. The thread that reads the board does the arithmetic: rates,
//! fair shares, names.

pub mod about;
mod board;
pub mod capture;
mod counts;
mod digest;
pub mod exposition;
mod http;
mod observer;
pub mod process;
mod sample;
pub mod snapshot;
pub mod sojourn;

pub use about::{About, WayAbout};
pub use board::Board;
pub use http::{Readers, ServeError, listen, serve_metrics};
pub use observer::{Observer, PortState, Samplers};
