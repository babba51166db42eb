//! Networks out of network namespaces, for tests on real interfaces.
//!
//! [Hosts](host) are namespaces without a name, so that any number of networks can be at once and
//! none is left behind: a namespace lives as long as the processes and sockets in it. Helper
//! processes [die with their parent](namespace::die_with_parent), and a [process
//! namespace](pid_namespace) ends with the processes that it started.
//!
//! Between two hosts may be a [path] on which frames take time and are lost. What they send each
//! other is [data](traffic). [Agents](agents), which are the program started again, send, receive
//! and count it. [`BedProcesses`](processes::BedProcesses) is a [bed] and its agents in processes
//! of their own, for a program with threads or without rights. An [enclosure] is a command of the
//! user's whose only way out is a device of ours.

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
