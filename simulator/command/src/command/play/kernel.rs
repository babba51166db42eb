//! A contest on this machine's kernel, for the page of `fairwire play`.

use std::process::{Command, Stdio};
use std::{fs, io};

/// A contest's duration and its unmeasured start. The page waits for the duration.
const LENGTH: [&str; 2] = ["duration=10 s", "warm_up=2 s"];
/// The time between two readings of the kernel's counters.
const EVERY: &str = "100 ms";

/// Runs `scenario` for some seconds over real sockets, and again in the simulator. Returns both
/// time series as `fairwire run --series` writes them.
///
/// Both run in a separate process, so that an error with network namespaces cannot end the server.
///
/// # Errors
/// The command's message, if the scenario could not run.
pub(super) fn contest(scenario: &str) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|error| lost(&error))?;
    let (file, series) = (folder.path().join("contest.toml"), folder.path().join("series.csv"));
    fs::write(&file, scenario).map_err(|error| lost(&error))?;
    let program = std::env::current_exe().map_err(|error| lost(&error))?;
    let run = |stages: &str| {
        let mut run = Command::new(&program);
        run.arg("run").arg(&file).args(["--on", stages, "--seeds", "1", "--quiet", "--every", EVERY]);
        run.arg("--series").arg(&series).arg("--series-flows");
        for value in LENGTH {
            run.args(["--set", value]);
        }
        run.stdin(Stdio::null()).stdout(Stdio::null()).output().map_err(|error| lost(&error))
    };
    let output = run("lab,sim")?;
    let refusal = match fs::read(&series) {
        Ok(rows) if !rows.is_empty() && has_lab(&rows) => return Ok(rows),
        // The simulator could run the scenario, but the lab could not. A run on the lab alone
        // prints the reason.
        Ok(_) => run("lab")?.stderr,
        Err(_) => output.stderr,
    };
    // The location of the temporary file means nothing to the reader.
    Err(words(&refusal).replace(&format!("{}/", folder.path().display()), ""))
}

fn lost(error: &io::Error) -> String {
    format!("the contest could not be run: {error}")
}

fn has_lab(rows: &[u8]) -> bool {
    rows.windows(5).any(|part| part == b",lab,")
}

/// The command's message from `stderr`, without its frame of symbols.
fn words(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines =
        text.lines().map(|line| line.trim_start_matches([' ', '×', '│', '╰', '─', '▶', '├']).trim_end());
    let said: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    if said.is_empty() { "the contest ended without a result".into() } else { said.join("\n") }
}
