//! Schedulers: which waiting packet leaves next. One algorithm per file.

pub use fairwire_core::scheduler::Fcfs;
