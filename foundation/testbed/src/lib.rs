//! Networks of network namespaces, for tests on real interfaces.
//!
//! [Hosts](host) are unnamed namespaces. Any number of networks can exist at once, and none remains
//! afterwards: a namespace lives as long as its processes and sockets. Helper processes [die with
//! their parent](namespace::die_with_parent).

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
