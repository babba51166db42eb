//! The program `fairwire-gateway`: see the library beside it.
use std::process::ExitCode;

fn main() -> ExitCode {
    fairwire_gateway::main()
}
