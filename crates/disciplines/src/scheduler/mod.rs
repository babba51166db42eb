//! Schedulers: which waiting packet leaves next. One algorithm per file.

pub mod any;
pub mod drr_plus_plus;
pub mod service;

pub use any::{AnyScheduler, Kind};
pub use fairwire_core::scheduler::Fcfs;
pub use service::Service;
