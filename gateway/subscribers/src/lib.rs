//! The subscribers of a gateway, and their sources.
#![forbid(unsafe_code)]

pub mod edit;
pub mod held;
pub mod journal;
pub mod leases;
pub mod libreqos;
pub mod radius;
pub mod sheet;
