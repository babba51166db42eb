//! Real networks that test the gateway's promises.
//!
//! ```text
//!   network namespace          network namespace             network namespace
//!   outside  eth0 ───── g-out  the gateway's process  g-in ───── eth0  inside
//! ```
//!
//! The gateway is the operator's program, started with a configuration file. Two more processes are
//! the hosts outside and inside. They send with this kernel's TCP, UDP and raw frames from any
//! number of addresses, and count the arrivals. Everything lives in a [process
//! namespace](fairwire_testbed::pid_namespace) and ends with it.
#![forbid(unsafe_code)]

pub mod autorate;
pub mod config;
pub mod contest;
pub mod diffserv;
mod fallible;
pub mod fault;
pub mod finding;
pub mod gateway;
pub mod home;
pub mod hostile;
pub mod page;
pub mod peers;
pub mod report;
pub mod restart;
pub mod run;
pub mod scale;
pub mod shell;
pub mod soak;
pub mod subscribers;
pub mod threads;
pub mod tries;
pub mod world;

pub use fallible::Fallible;
