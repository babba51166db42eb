//! Reads the values that the arguments omit: from answers on a terminal, or from a pipe.

use crate::failure::Failure;
use crate::notice::notice;
use std::io::{self, BufRead, IsTerminal, Write};

/// Reads the missing values.
pub struct Questions {
    command: &'static str,
    input: Input,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// A terminal: the question is repeated after a rejected answer.
    Terminal,
    /// A pipe with one answer per line, and default answers after its end.
    Piped,
    Nothing,
}

impl Questions {
    /// The questions of `command`.
    pub fn new(command: &'static str) -> Self {
        let input = match (io::stdin().is_terminal(), io::stderr().is_terminal()) {
            (true, true) => Input::Terminal,
            (true, false) => Input::Nothing,
            (false, _) => Input::Piped,
        };
        Questions { command, input }
    }

    /// True if the next question can be answered.
    pub fn is_answered(&self) -> bool {
        match self.input {
            Input::Terminal => true,
            Input::Piped => io::stdin().lock().fill_buf().is_ok_and(|bytes| !bytes.is_empty()),
            Input::Nothing => false,
        }
    }

    /// Reads the text given for `option`, or else the answer to `question`.
    pub fn text<T>(
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

    /// Reads the answer to `question`. An empty answer means the default. An invalid answer repeats
    /// the question on a terminal, and is an error otherwise.
    pub fn answer<T>(
        &mut self,
        question: &str,
        default: &str,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            let mut line = String::new();
            if self.input == Input::Piped {
                let _ = io::stdin().lock().read_line(&mut line);
            }
            if self.input == Input::Terminal {
                // A failed write is ignored: the terminal is gone, so reading will fail.
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
                Err(why) if self.input == Input::Terminal => notice(format_args!("{why}")),
                Err(why) => {
                    let (message, allowed) = why.split_once("; ").unwrap_or((&why, ""));
                    return Err(Failure::user(format!("{question}: {message}"), allowed));
                }
            }
        }
    }
}
