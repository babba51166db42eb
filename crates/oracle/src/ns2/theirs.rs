//! ns-2's side: the program, and what it prints.

use super::cell::Cell;
use super::{ClassOutcome, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The script, as a part of this program, so that it can be started from anywhere.
pub const SCRIPT: &str = include_str!("../../../../bench/ns2/dumbbell.tcl");

/// ns-2, as it is installed.
#[derive(Clone, Debug)]
pub struct Ns2 {
    program: PathBuf,
    script: PathBuf,
}

/// Why ns-2 did not answer.
#[derive(Debug, thiserror::Error)]
pub enum Ns2Error {
    /// It has to be installed first.
    #[error("ns-2 (ns) is missing; on Debian and Ubuntu: apt install ns2")]
    Missing,
    /// The system refused something.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
    /// It ended with an error.
    #[error("cell {cell}, seed {seed}: ns-2 failed: {said}")]
    Failed {
        /// The cell.
        cell: &'static str,
        /// The seed.
        seed: u64,
        /// What it said of it.
        said: String,
    },
}

impl Ns2 {
    /// Finds it, and puts the script into `folder`.
    pub fn find(folder: &Path) -> Result<Ns2, Ns2Error> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program =
            std::env::split_paths(&path).map(|folder| folder.join("ns")).find(|file| file.is_file());
        let program = program.ok_or(Ns2Error::Missing)?;
        let script = folder.join("dumbbell.tcl");
        let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&script, SCRIPT));
        written.map_err(|error| Ns2Error::System(format!("writing {}", script.display()), error))?;
        Ok(Ns2 { program, script })
    }

    /// Runs `cell` once.
    pub fn run(&self, cell: &Cell, seed: u64) -> Result<Outcome, Ns2Error> {
        let mut command = Command::new(&self.program);
        let output = command.arg(&self.script).args(cell.ns2_words(seed)).output();
        let output = output
            .map_err(|error| Ns2Error::System(format!("starting {}", self.program.display()), error))?;
        let failed = |said: String| Ns2Error::Failed { cell: cell.name, seed, said };
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(format!("{}: {}", output.status, said.trim())));
        }
        let outcome = read(&String::from_utf8_lossy(&output.stdout)).map_err(failed)?;
        match cell.classes.iter().find(|class| !outcome.classes.contains_key(class.name)) {
            Some(class) => Err(failed(format!("it told nothing of class {}", class.name))),
            None => Ok(outcome),
        }
    }
}

/// Reads what the script prints.
pub fn read(text: &str) -> Result<Outcome, String> {
    let mut outcome = Outcome::default();
    for line in text.lines() {
        let wrong = || format!("it printed `{line}`");
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["class", name, figure, value] => {
                let class = outcome.classes.entry(name.to_owned()).or_insert_with(ClassOutcome::default);
                match figure {
                    "throughput_bps" => class.throughput_bps = value.parse().map_err(|_| wrong())?,
                    "drops" => class.drops = value.parse().map_err(|_| wrong())?,
                    _ => return Err(wrong()),
                }
            }
            ["link", "packets_in", value] => outcome.offered = value.parse().map_err(|_| wrong())?,
            ["link", "packets_out", value] => outcome.sent = value.parse().map_err(|_| wrong())?,
            ["link", "drops", _] => {} // the sum of the classes'
            _ => return Err(wrong()),
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_prints_is_read_and_what_it_does_not_print_is_refused() {
        let text = "class tcp throughput_bps 7981301.8\nclass tcp drops 1451\nlink packets_in 9\nlink packets_out 8\nlink drops 1\n";
        let outcome = read(text).expect("well formed");
        assert_eq!(outcome.classes["tcp"], ClassOutcome { throughput_bps: 7_981_301.8, drops: 1451 });
        assert_eq!((outcome.offered, outcome.sent), (9, 8));
        for wrong in ["class tcp drops many", "class tcp delay 3", "hello", "link packets_in"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
