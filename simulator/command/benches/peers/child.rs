//! The CPU time and peak memory of one child process, from the kernel.
//!
//! The kernel reports only the total CPU time and the maximum memory of all waited-for children. So
//! each program runs under a separate instance of this benchmark.

use crate::answer::{Answer, Dialect};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};
use std::process::{Command, Stdio};

pub(crate) type Failure = Box<dyn std::error::Error>;

pub(crate) const MEASURE: &str = "measure";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Took {
    /// CPU seconds, user and system, from exec to exit.
    pub cpu_s: f64,
    /// Peak resident memory, bytes.
    pub peak_rss_bytes: u64,
    /// Its counts.
    pub answer: Answer,
}

impl Took {
    pub(crate) fn speed(&self) -> f64 {
        self.answer.packets_out as f64 / self.cpu_s
    }
}

pub(crate) fn measured(command: &[String], dialect: Dialect) -> Result<Took, Failure> {
    let this = std::env::current_exe()?;
    let arguments = [MEASURE, dialect.name(), "--"];
    let output = Command::new(this).args(arguments).args(command).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("`{}` failed; it says why above", command.join(" ")).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(crate) fn measure_and_print(command: &[String], dialect: Dialect) -> Result<(), Failure> {
    let output = Command::new(&command[0]).args(&command[1..]).output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{} from `{}`:\n{said}", output.status, command.join(" ")).into());
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let cpu_us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    let took = Took {
        cpu_s: cpu_us as f64 * 1e-6,
        peak_rss_bytes: usage.max_rss() as u64 * 1024, // Linux counts it in KiB
        answer: dialect.read(&String::from_utf8(output.stdout)?)?,
    };
    println!("{}", serde_json::to_string(&took)?);
    Ok(())
}
