//! Networks of network namespaces, for tests on real interfaces.
//!
//! [Hosts](host) are unnamed namespaces, which end with their processes and sockets. So any number
//! of networks can exist at once, and none remains afterwards. Helper processes [die with their
//! parent](namespace::die_with_parent).

pub mod again;
pub mod agent;
pub mod agents;
pub mod awake;
pub mod bed;
pub mod enclosure;
pub mod error;
pub mod host;
pub mod message;
pub mod namespace;
pub mod nat;
pub mod path;
pub mod pid_namespace;
pub mod processes;
pub mod program;
pub mod relay;
pub mod schedule;
pub mod scratch;
pub mod shaping;
mod side;
pub mod traffic;
