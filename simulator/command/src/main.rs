//! The `fairwire` command. All code is in the library, which compiles in parallel with the gateway.
use std::process::ExitCode;

fn main() -> ExitCode {
    fairwire_command::main()
}
