//! The live contest: this kernel's own TCP and a UDP sender share a gateway that runs one of our disciplines.
//!
//! ```text
//!   network namespace      network namespace        network namespace
//!   source  eth0 ───────── g0  this process  g1 ───────── eth0  sink
//! ```
//!
//! Three network namespaces without a name, so that any number of labs can run at once and none can be left behind: a
//! namespace lives as long as the processes and sockets in it. Helper processes, which are this same program started
//! again as `lab-agent`, make them, and send and receive; the gateway's two packet sockets are handed to this process,
//! which forwards every frame through the discipline. The helpers end when this process ends, however it ends: their
//! standard input is a pipe that closes, and the kernel kills a child whose parent is gone.

mod agent;
mod contest;
mod crew;
pub mod error;
mod message;
mod plan;
mod sink;
mod source;

pub use agent::{AGENT_COMMAND, agent_main};
pub use contest::share;
pub use error::LabError;
pub use plan::Contest;
