//! The control socket of a running gateway: requests, answers, attached files and measurements.
//! [`client`] sends requests.
#![forbid(unsafe_code)]

pub mod client;
pub mod handed;
pub mod protocol;
pub mod record;
pub mod snapshot;
