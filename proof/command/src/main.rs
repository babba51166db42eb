//! The command `fairwire` with every stage: `fairwire-proof run FILE --on sim,linux,kernel,ns2`.
use std::process::ExitCode;

fn main() -> ExitCode {
    fairwire_stages::linux::take_over(); // does not return in a process of User Mode Linux
    fairwire_experiment::offer(fairwire_stages::ALL);
    fairwire_command::main()
}
