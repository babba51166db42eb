//! The program `fairwire-gateway`; see the library of this crate.
use std::process::ExitCode;

fn main() -> ExitCode {
    fairwire_gateway::main()
}
