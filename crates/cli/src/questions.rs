//! Questions in the terminal, for what the arguments leave open.

use crate::failure::Failure;
use crate::notice::notice;
use std::io::{self, BufRead, IsTerminal, Write};

/// Reads what was not given.
pub(crate) struct Questions {
    /// The command that needs them.
    command: &'static str,
    /// Is there a terminal that answers?
    is_answered: bool,
}

impl Questions {
    /// Those of `command`.
    pub(crate) fn new(command: &'static str) -> Self {
        Questions { command, is_answered: io::stdin().is_terminal() && io::stderr().is_terminal() }
    }

    /// Is there a terminal that answers?
    pub(crate) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// What was given, or the answer.
    pub(crate) fn value<T, E: ToString>(
        &mut self,
        given: Option<T>,
        question: &str,
        default: &str,
        read: fn(&str) -> Result<T, E>,
    ) -> Result<T, Failure> {
        match given {
            Some(given) => Ok(given),
            None => self.answer(question, default, &|text| read(text).map_err(|error| error.to_string())),
        }
    }

    /// What was given as a text by `option`, or the answer.
    pub(crate) fn text<T>(
        &mut self,
        (option, given): (&str, Option<&str>),
        question: &str,
        default: &str,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        match given {
            Some(given) => read(given).map_err(|why| {
                let (message, allowed) = why.split_once("; ").unwrap_or((&why, ""));
                Failure::user(format!("`{option}`: {message}"), allowed)
            }),
            None => self.answer(question, default, read),
        }
    }

    /// Repeats the question until the answer can be read; an empty one is the default. Without a
    /// terminal it is the default at once.
    pub(crate) fn answer<T>(
        &mut self,
        question: &str,
        default: &str,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            let mut line = String::new();
            if self.is_answered {
                // A prompt that cannot be shown ends with the input, below.
                let _ = write!(io::stderr(), "{question} [{default}]: ").and_then(|()| io::stderr().flush());
                let count = io::stdin().lock().read_line(&mut line);
                if !matches!(count, Ok(count) if count > 0) {
                    return Err(Failure::user(
                        "the input ended before all was answered, and nothing is written",
                        format!(
                            "allowed: an answer to each question, or the options of `{} --help`",
                            self.command
                        ),
                    ));
                }
            }
            let answer = Some(line.trim()).filter(|answer| !answer.is_empty()).unwrap_or(default);
            match read(answer) {
                Ok(value) => return Ok(value),
                Err(why) if self.is_answered => notice(format_args!("{why}")),
                Err(why) => {
                    let (message, allowed) = why.split_once("; ").unwrap_or((&why, ""));
                    return Err(Failure::user(format!("{question}: {message}"), allowed));
                }
            }
        }
    }
}
