//! The program `fairwire-gateway`.
use std::process::ExitCode;

fn main() -> ExitCode {
    fairwire_gateway::main()
}
