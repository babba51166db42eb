//! The subscribers of a gateway, and their sources.
//!
//! [`sheet`] reads the subscriber file, [`edit`] changes its lines, and [`journal`] has later
//! changes of single subscribers. [`held`] checks temporary addresses of subscribers. [`leases`]
//! reads the leases of DHCP servers. [`radius`] reads the session reports of access servers, and
//! turns them into edits of the file. [`libreqos`] reads the files of LibreQoS.
#![forbid(unsafe_code)]

pub mod edit;
pub mod held;
pub mod journal;
pub mod leases;
pub mod libreqos;
pub mod radius;
pub mod sheet;
