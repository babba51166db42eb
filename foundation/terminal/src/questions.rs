//! Questions for what the arguments leave open: to the terminal, or to what is piped in.

use crate::failure::Failure;
use crate::notice::notice;
use std::io::{self, BufRead, IsTerminal, Write};

/// Reads what was not given.
pub struct Questions {
    /// The command that needs them.
    command: &'static str,
    input: Input,
}

/// Where answers come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    /// The question is shown there, and comes again after an answer that is refused.
    Terminal,
    /// A line each. Where they end, the others have their defaults.
    Piped,
    /// A terminal whose questions are not seen.
    Nothing,
}

impl Questions {
    /// Those of `command`.
    pub fn new(command: &'static str) -> Self {
        let input = match (io::stdin().is_terminal(), io::stderr().is_terminal()) {
            (true, true) => Input::Terminal,
            (true, false) => Input::Nothing,
            (false, _) => Input::Piped,
        };
        Questions { command, input }
    }

    /// Is there an answer to the next question?
    pub fn is_answered(&self) -> bool {
        match self.input {
            Input::Terminal => true,
            Input::Piped => io::stdin().lock().fill_buf().is_ok_and(|bytes| !bytes.is_empty()),
            Input::Nothing => false,
        }
    }

    /// What was given as a text by `option`, or the answer.
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

    /// Repeats the question until the answer can be read; an empty one is the default. What is
    /// piped in is read once.
    pub fn answer<T>(
        &mut self,
        question: &str,
        default: &str,
        read: &dyn Fn(&str) -> Result<T, String>,
    ) -> Result<T, Failure> {
        loop {
            let mut line = String::new();
            if self.input == Input::Piped {
                // What cannot be read has ended.
                let _ = io::stdin().lock().read_line(&mut line);
            }
            if self.input == Input::Terminal {
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
                Err(why) if self.input == Input::Terminal => notice(format_args!("{why}")),
                Err(why) => {
                    let (message, allowed) = why.split_once("; ").unwrap_or((&why, ""));
                    return Err(Failure::user(format!("{question}: {message}"), allowed));
                }
            }
        }
    }
}
