//! Reports errors in a command line in the same form as errors in a file.

use crate::failure::Failure;
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use fairwire_core::spelling::hint;
use fairwire_document::{listed, shortened};
use std::error::Error as _;

/// The failure for a rejected command line; `None` if clap only prints its help.
pub(crate) fn failure(error: &Error, program: clap::Command) -> Option<Failure> {
    let name = program.get_name().to_owned();
    let command = reached(program, std::env::args().skip(1));
    Some(match error.kind() {
        ErrorKind::InvalidSubcommand => {
            unknown("command", &text(error, ContextKind::InvalidSubcommand), &subcommands(&command))
        }
        ErrorKind::UnknownArgument => unknown_argument(&text(error, ContextKind::InvalidArg), &command),
        ErrorKind::InvalidValue => value(error),
        ErrorKind::ValueValidation => refused_value(error, &name),
        // If a misspelt subcommand precedes an argument of a subcommand, clap reports a conflict
        // that names no argument.
        ErrorKind::ArgumentConflict if text(error, ContextKind::InvalidArg).is_empty() => {
            Failure::user("an argument too many, or an unknown subcommand", usage(error, &name))
        }
        ErrorKind::ArgumentConflict => conflict(error),
        ErrorKind::MissingRequiredArgument => missing(error, &name),
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        | ErrorKind::DisplayVersion => return None,
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Failure::user(first, usage(error, &name))
        }
    })
}

fn reached(mut command: clap::Command, words: impl Iterator<Item = String>) -> clap::Command {
    command.build();
    for word in words.filter(|word| !word.starts_with('-')) {
        match command.find_subcommand(&word) {
            Some(below) => command = below.clone(),
            None => break,
        }
    }
    command
}

fn subcommands(command: &clap::Command) -> Vec<String> {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    shown.map(|below| below.get_name().to_owned()).collect()
}

fn unknown(what: &str, given: &str, known: &[String]) -> Failure {
    let near = hint(given, known.iter().map(String::as_str));
    Failure::user(
        format!("unknown {what} `{}`", shortened(given)),
        format!("allowed: {}{near}", listed(known)),
    )
}

fn unknown_argument(given: &str, command: &clap::Command) -> Failure {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    if !given.starts_with('-') {
        let takes = match command.get_positionals().count() {
            0 => "no argument".into(),
            1 => "one argument".into(),
            several => format!("{several} arguments"),
        };
        return Failure::user(
            format!("`{}` is given, but `{name}` takes {takes}", shortened(given)),
            format!("`{name} --help` shows how it is used"),
        );
    }
    if given[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Failure::user(
            format!("`{}` is read as an option, but there is no such option", shortened(given)),
            "allowed: a value of 0 or more; a negative value, where permitted, only as `--option=VALUE`",
        );
    }
    let options = command.get_arguments().filter(|option| !option.is_hide_set());
    let options: Vec<String> =
        options.filter_map(|option| option.get_long()).map(|long| format!("--{long}")).collect();
    unknown("option", given, &options)
}

fn value(error: &Error) -> Failure {
    let (argument, given) = (text(error, ContextKind::InvalidArg), text(error, ContextKind::InvalidValue));
    let values = texts(error, ContextKind::ValidValue);
    if !given.is_empty() {
        let near = hint(&given, values.iter().map(String::as_str));
        return Failure::user(
            format!("unknown value `{}` of `{}`", shortened(&given), name(&argument)),
            format!("allowed: {}{near}", listed(&values)),
        );
    }
    let allowed = match values.is_empty() {
        true => format!("`{argument}`"),
        false => listed(&values),
    };
    Failure::user(format!("`{}` is given without a value", name(&argument)), format!("allowed: {allowed}"))
}

/// The failure for a rejected value. Our parsers' errors are `reason; allowed: values`; either part
/// may be missing.
fn refused_value(error: &Error, program: &str) -> Failure {
    let (argument, given) = (text(error, ContextKind::InvalidArg), text(error, ContextKind::InvalidValue));
    let reason = error.source().map(ToString::to_string).unwrap_or_default();
    let argument = name(&argument);
    match (reason.strip_prefix("allowed: "), reason.split_once("; allowed: ")) {
        (Some(allowed), _) => Failure::user(
            format!("`{argument}` is `{}`, but that is not an allowed value", shortened(&given)),
            format!("allowed: {allowed}"),
        ),
        (None, Some((why, allowed))) => {
            Failure::user(format!("`{argument}`: {why}"), format!("allowed: {allowed}"))
        }
        (None, None) => {
            Failure::user(format!("`{argument}` is `{}`: {reason}", shortened(&given)), usage(error, program))
        }
    }
}

fn conflict(error: &Error) -> Failure {
    let argument = text(error, ContextKind::InvalidArg);
    let others = match error.get(ContextKind::PriorArg) {
        Some(ContextValue::Strings(others)) => others.clone(),
        Some(ContextValue::String(other)) => vec![other.clone()],
        _ => Vec::new(),
    };
    if others == [argument.as_str()] {
        return Failure::user(format!("`{}` is given twice", name(&argument)), "allowed: once");
    }
    let others: Vec<String> = others.iter().map(|other| name(other).to_owned()).collect();
    Failure::user(
        format!("`{}` is given, but {} is given too", name(&argument), listed(&others)),
        "allowed: one of the two",
    )
}

fn missing(error: &Error, program: &str) -> Failure {
    let missing = texts(error, ContextKind::InvalidArg);
    Failure::user(format!("{} is missing", listed(&missing)), usage(error, program))
}

fn usage(error: &Error, name: &str) -> String {
    let usage = match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => return format!("`{name} --help` shows how it is used"),
    };
    let usage = usage.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    // The usage may have several forms.
    let usage = usage.replace(&format!(" {name} "), &format!("` or `{name} "));
    format!("allowed: `{usage}`")
}

fn name(argument: &str) -> &str {
    match argument.starts_with("--") {
        true => argument.split([' ', '[', '=']).next().unwrap_or(argument),
        false => argument,
    }
}

fn text(error: &Error, kind: ContextKind) -> String {
    texts(error, kind).into_iter().next().unwrap_or_default()
}

fn texts(error: &Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
