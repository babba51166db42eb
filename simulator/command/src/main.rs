//! The `fairwire` command: see the library beside it, which the compiler makes while it still works
//! on the gateway.
use std::process::ExitCode;

fn main() -> ExitCode {
    fairwire_command::main()
}
