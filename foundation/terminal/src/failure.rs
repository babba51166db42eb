//! The outcomes of a command, and reports of failures.

use crate::notice::notice;
use fairwire_document::{DocumentError, Location};
use miette::{Diagnostic, LabeledSpan, MietteHandlerOpts, NamedSource, SourceCode};
use std::fmt::{self, Display};

/// The outcome of a command that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All done.
    Done,
    /// A scenario's expectation failed.
    ExpectationFailed,
    /// Stopped by Ctrl-C; finished work has been reported.
    Interrupted,
    /// A reported failure, with its code.
    Failed(u8),
    /// The exit code of a lab agent.
    Agent(u8),
    /// The exit code of a user's command.
    Command(u8),
}

impl Ending {
    /// The exit code. 130 is the shells' code for "ended by SIGINT": 128 + 2.
    pub fn code(self) -> u8 {
        match self {
            Ending::Done => 0,
            Ending::ExpectationFailed => 3,
            Ending::Interrupted => 130,
            Ending::Failed(code) | Ending::Agent(code) | Ending::Command(code) => code,
        }
    }
}

/// The reason why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// A rejected scenario, or a rejected argument that changes a scenario.
    Document(DocumentError),
    /// The user's fault, such as a bad argument, or a path that cannot be written.
    User {
        /// The given value, and the reason for its rejection.
        message: String,
        /// The allowed values, or a remedy.
        help: String,
    },
    /// Our fault, or the machine's.
    Ours(String),
}

impl Failure {
    /// The user's fault: `message` has the given value and reason; `help` has the allowed values.
    pub fn user(message: impl Display, help: impl Display) -> Self {
        Failure::User { message: message.to_string(), help: help.to_string() }
    }

    /// The exit code.
    fn code(&self) -> u8 {
        match self {
            Failure::Document(_) | Failure::User { .. } => 2,
            Failure::Ours(_) => 1,
        }
    }

    /// Reports the failure on stderr.
    pub fn report(self) -> Ending {
        let ending = Ending::Failed(self.code());
        for message in Message::all(self) {
            notice(format_args!("{:?}", miette::Report::new(message)));
        }
        ending
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Failure::Document(error)
    }
}

/// Sets the style of errors: lines are not wrapped, so messages can be searched for.
pub fn install_style() {
    let style = |_: &_| -> Box<dyn miette::ReportHandler> {
        Box::new(MietteHandlerOpts::new().wrap_lines(false).context_lines(1).build())
    };
    // This fails only if a style is already set. That style stays in use.
    let _ = miette::set_hook(Box::new(style));
}

#[derive(Debug)]
struct Message {
    text: String,
    help: Option<String>,
    source: Option<NamedSource<String>>,
    place: Option<Location>,
}

impl Message {
    fn all(failure: Failure) -> Vec<Message> {
        let plain = |text, help| vec![Message { text, help: Some(help), source: None, place: None }];
        match failure {
            Failure::Document(mut error) => {
                let more = std::mem::take(&mut error.more);
                std::iter::once(error).chain(more).map(Message::in_document).collect()
            }
            Failure::User { message, help } => plain(message, help),
            Failure::Ours(message) => {
                plain(message, "this is a fault of fairwire or of this machine; exit code 1".into())
            }
        }
    }

    fn in_document(error: DocumentError) -> Message {
        let place = error.location.map(|place| *place);
        Message {
            text: error.problem.to_string(),
            help: error.problem.advice(),
            source: place.as_ref().map(|place| NamedSource::new(&place.source, place.text.clone())),
            place,
        }
    }
}

impl Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Message {}

impl Diagnostic for Message {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = self.place.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(Some("here".into()), place.span.clone()))))
    }
}
