//! The live contest: this kernel's own TCP and a UDP sender share a gateway that runs one of our disciplines.
//!
//! The hosts are a [crew](fairwire_testbed::crew) of helper processes. They hand the gateway's two packet sockets to this process, which
//! forwards every frame through the discipline. The program must hand its `lab-agent` command over to
//! [`agent::main`](fairwire_testbed::agent::main).

mod contest;
pub mod error;
mod plan;

pub use contest::share;
pub use error::LabError;
pub use plan::Contest;
