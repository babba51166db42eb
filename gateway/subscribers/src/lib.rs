//! The subscribers of a gateway, and where they come from.
//!
//! [`sheet`] reads the subscriber file, [`edit`] changes lines of it, and [`journal`] has the changes of
//! single subscribers since. [`held`] says which
//! addresses a subscriber may have for a while. [`leases`] reads the addresses that DHCP servers
//! lease. [`radius`] reads what access servers report of sessions, and makes edits of the file of it.
//! [`libreqos`] reads the files of another program.
#![forbid(unsafe_code)]

pub mod edit;
pub mod held;
pub mod journal;
pub mod leases;
pub mod libreqos;
pub mod radius;
pub mod sheet;
