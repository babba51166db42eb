//! Progress on stderr: a bar on a terminal, a few lines elsewhere, nothing under `--quiet` or in CI.

use crate::tell::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};

const STEPS: u64 = 1000;

/// How far a command has come.
pub enum Progress {
    Bar(ProgressBar),
    Lines { what: String, lines: u64, told: AtomicU64 },
    Quiet,
}

impl Progress {
    /// Starts to show the progress of `what`: where there is no terminal, in so many `lines` after the first.
    pub fn new(what: &str, lines: u64, quiet: bool) -> Self {
        if quiet {
            Progress::Quiet
        } else if std::io::stderr().is_terminal() {
            Progress::Bar(bar(what))
        } else if std::env::var_os("CI").is_some() {
            Progress::Quiet
        } else {
            tell(format_args!("{what} ..."));
            Progress::Lines { what: what.into(), lines, told: AtomicU64::new(0) }
        }
    }

    /// `fraction` of it, 0 to 1, is done.
    pub fn reach(&self, fraction: f64) {
        match self {
            Progress::Bar(bar) => bar.set_position((fraction * STEPS as f64) as u64),
            Progress::Lines { what, lines, told } => {
                let line = (fraction * *lines as f64) as u64;
                if told.fetch_max(line, Ordering::Relaxed) < line {
                    tell(format_args!("{what} ... {} %", line * 100 / lines));
                }
            }
            Progress::Quiet => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Progress::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} [{bar:32}] {percent:>3} %  {elapsed} of about {duration}")
            .expect("the template is right")
            .progress_chars("=> ");
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    bar.with_style(style).with_message(what.to_string())
}
