//! Progress on stderr: a bar on a terminal, a few lines elsewhere, nothing under `--quiet` or in
//! CI.

use fairwire_terminal::notice::notice;
use fairwire_terminal::terminal::columns_of_stderr;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const STEPS: u64 = 1000;
/// The columns next to the message. They hold a bar of ten letters, `100 %`, and the times.
const BESIDE: usize = 44;
/// The total time is estimated only after this fraction of the work and this elapsed time.
const FIRST_GUESS: (f64, Duration) = (0.05, Duration::from_secs(2));

/// The part of a command that a bar shows. It starts when the fraction `from` of the command is
/// done, and ends when the fraction `to` is done. `begun` is the start of the command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    begun: Instant,
    from: f64,
    to: f64,
}

impl Part {
    #[expect(clippy::disallowed_methods, reason = "the command line may read a clock: people wait")]
    pub(crate) fn whole() -> Self {
        Part { begun: Instant::now(), from: 0.0, to: 1.0 }
    }

    pub(crate) fn until(self, fraction: f64) -> Self {
        Part { to: fraction, ..self }
    }

    pub(crate) fn between(self, from: f64, to: f64) -> Self {
        let length = self.to - self.from;
        Part { from: self.from + length * from, to: self.from + length * to, ..self }
    }

    /// The rest of the command, which takes the time `rest`.
    pub(crate) fn rest(self, rest: Duration) -> Self {
        let done = self.begun.elapsed().as_secs_f64();
        Part { from: done / (done + rest.as_secs_f64()).max(1e-9), to: 1.0, ..self }
    }
}

pub(crate) enum Progress {
    Bar(ProgressBar, Part),
    Lines { what: String, lines: u64, shown: AtomicU64 },
    Quiet,
}

impl Progress {
    /// Starts to show the progress of `what`, which is the fraction `part` of the command. Without
    /// a terminal, prints one line now, and up to `lines` more later.
    pub(crate) fn new(what: &str, lines: u64, part: Part, quiet: bool) -> Self {
        if quiet {
            Progress::Quiet
        } else if let Some(columns) = columns_of_stderr() {
            Progress::Bar(bar(what, columns), part)
        } else if std::env::var_os("CI").is_some() {
            Progress::Quiet
        } else {
            notice(format_args!("{what} ..."));
            Progress::Lines { what: what.into(), lines, shown: AtomicU64::new(0) }
        }
    }

    pub(crate) fn say(&self, what: &str) {
        if let Progress::Bar(bar, _) = self {
            bar.set_message(cut(what, columns_of_stderr().unwrap_or(0)));
        }
    }

    pub(crate) fn reach(&self, fraction: f64) {
        match self {
            Progress::Bar(bar, part) => {
                let whole = part.from + (part.to - part.from) * fraction;
                bar.set_prefix(shown(whole, part.begun.elapsed()));
                bar.set_position((whole * STEPS as f64) as u64);
            }
            Progress::Lines { what, lines, shown } => {
                let line = (fraction * *lines as f64) as u64;
                if shown.fetch_max(line, Ordering::Relaxed) < line {
                    notice(format_args!("{what} ... {} %", line * 100 / lines));
                }
            }
            Progress::Quiet => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Progress::Bar(bar, _) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str, columns: usize) -> ProgressBar {
    // The bar takes the remaining columns, because a line longer than the terminal wraps and is not
    // cleared.
    let style = ProgressStyle::with_template("{msg} [{wide_bar}] {prefix}")
        .expect("the template is right")
        .progress_chars("=> ");
    let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
    bar.with_style(style).with_message(cut(what, columns)).with_prefix(shown(0.0, Duration::ZERO))
}

fn cut(what: &str, columns: usize) -> String {
    fairwire_figures::cut(what, columns.saturating_sub(BESIDE).max(8) as f64)
}

/// The progress in words, such as `45 %  12s of about 27s`.
fn shown(fraction: f64, elapsed: Duration) -> String {
    let percent = (100.0 * fraction) as u32;
    let (enough, long) = FIRST_GUESS;
    if fraction < enough || elapsed < long {
        return format!("{percent:>3} %  {}", in_words(elapsed));
    }
    let whole = Duration::from_secs_f64(elapsed.as_secs_f64() / fraction);
    format!("{percent:>3} %  {} of about {}", in_words(elapsed), in_words(whole.max(elapsed)))
}

fn in_words(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_is_estimated_before_enough_progress() {
        let second = Duration::from_secs(1);
        assert_eq!(shown(0.0, Duration::ZERO), "  0 %  0s");
        assert_eq!(shown(0.04, second * 60), "  4 %  1m00s");
        assert_eq!(shown(0.5, second), " 50 %  1s");
        assert_eq!(shown(0.25, second * 30), " 25 %  30s of about 2m00s");
        assert_eq!(shown(1.0, second * 7200), "100 %  2h00m of about 2h00m");
    }

    #[test]
    fn later_work_counts_by_its_duration() {
        let whole = Part::whole();
        let rest = whole.rest(Duration::from_secs(1_000_000));
        assert!(rest.from < 0.01 && rest.to == 1.0, "{rest:?}");
        assert_eq!(whole.until(0.1).to, 0.1);
    }

    #[test]
    fn every_line_has_room_next_to_its_bar() {
        for columns in [60, 80, 120] {
            let longest = format!(
                "{} [==========] {}",
                cut(&"x".repeat(300), columns),
                shown(0.99, Duration::from_secs(7199))
            );
            assert!(longest.chars().count() <= columns, "{columns}: {longest}");
        }
    }
}
