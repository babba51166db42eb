//! A TOML document with the places of its keys and values, and its errors told in our words.

use crate::error::{DocumentError, Problem};
use crate::place::Sources;
use crate::set::{self, SetError};
use crate::text;
use crate::words::in_words;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, Deserializer, Error};

/// The places of every value, by dotted path such as `flow.0.count`.
#[derive(Clone, Debug, Default)]
pub struct Places {
    sources: Sources,
    spans: BTreeMap<String, Range<usize>>,
}

impl Places {
    /// An error at `path`, or at the nearest table above it that stands in the text.
    pub fn refuse(&self, path: &str, problem: Problem) -> DocumentError {
        let mut path = path;
        let span = loop {
            match (self.spans.get(path), path.rsplit_once('.')) {
                (Some(span), _) => break span.clone(),
                (None, Some((above, _))) => path = above,
                (None, None) => break 0..0,
            }
        };
        self.at(span, problem)
    }

    fn at(&self, span: Range<usize>, problem: Problem) -> DocumentError {
        DocumentError { problem: problem.printable(), place: self.sources.place(span).map(Box::new) }
    }

    /// The path of the value that stands exactly at `span`.
    fn path_at(&self, span: &Range<usize>) -> Option<&str> {
        // The longest path: `[a.b]` gives `a` and `a.b` one place.
        let at = self.spans.iter().filter(|(_, s)| *s == span).map(|(path, _)| path.as_str());
        at.max_by_key(|path| path.len())
    }
}

/// What was read: the value, where everything stands, and the hashes of the effective text.
pub struct Read<T> {
    /// What it says.
    pub value: T,
    /// Where each value stands.
    pub places: Places,
    /// SHA-256 of the effective text, hexadecimal; comments, layout, the order of keys and the table `output` are no part of it.
    pub sha256: String,
    /// The same without the keys that `read` was told.
    pub sha256_without: String,
}

/// Reads the TOML document `text`; `name` is what errors call it.
pub fn read_document<T: DeserializeOwned>(name: &str, text: &str) -> Result<(T, Places), DocumentError> {
    read(name, text, &[], &[]).map(|read| (read.value, read.places))
}

/// One change to the document: the name of its source, and its text as for `--set`.
pub struct Change {
    /// What errors call it, such as `--set`.
    pub source: &'static str,
    /// `PATH=VALUE`.
    pub text: String,
}

/// Reads `text` with `changes` made to it. `without` names keys of the top level that one of the two hashes leaves out.
///
/// The hash is over the document after the changes, in a canonical form: comments, layout and the order of keys do not matter.
pub fn read<T: DeserializeOwned>(
    name: &str,
    text: &str,
    changes: &[Change],
    without: &[&str],
) -> Result<Read<T>, DocumentError> {
    let mut places = Places::default();
    let root = parsed(name, text, changes, &mut places)?;
    index(root.get_ref(), "", &mut places.spans);
    let sha256_without = sha256(root.get_ref(), without);
    let sha256 = sha256(root.get_ref(), &[]);
    match T::deserialize(Deserializer::from(root)) {
        Ok(value) => Ok(Read { value, places, sha256, sha256_without }),
        Err(error) => Err(explained(&places, &error)),
    }
}

/// `text` as TOML again, with `changes` made to it and without the keys at the dotted paths `without`, which lead through tables alone.
/// Where there is nothing to change it is `text` itself, comments and all.
pub fn changed(
    name: &str,
    text: &str,
    changes: &[Change],
    without: &[&str],
) -> Result<String, DocumentError> {
    if changes.is_empty() && without.is_empty() {
        return Ok(text.into());
    }
    let mut root = parsed(name, text, changes, &mut Places::default())?;
    without.iter().for_each(|path| remove(root.get_mut(), path));
    Ok(text::document(root.get_ref()))
}

/// The elements of the array `key` at the top level, after `changes`, each as a value of TOML on one line; none where there is no such
/// array.
pub fn elements(name: &str, text: &str, changes: &[Change], key: &str) -> Result<Vec<String>, DocumentError> {
    let root = parsed(name, text, changes, &mut Places::default())?;
    let items = root.get_ref().get(key).and_then(|value| value.get_ref().as_array());
    Ok(items.map_or(Vec::new(), |items| items.iter().map(|item| text::inline(item.get_ref())).collect()))
}

fn remove(table: &mut DeTable<'_>, path: &str) {
    match path.split_once('.') {
        None => {
            table.remove(path);
        }
        Some((key, rest)) => {
            if let Some(DeValue::Table(inner)) = table.get_mut(key).map(Spanned::get_mut) {
                remove(inner, rest);
            }
        }
    }
}

/// The document after `changes`, whose texts become sources of `places`.
fn parsed<'a>(
    name: &str,
    text: &'a str,
    changes: &'a [Change],
    places: &mut Places,
) -> Result<Spanned<DeTable<'a>>, DocumentError> {
    places.sources.add(name, text);
    let mut root = DeTable::parse(text).map_err(|error| not_toml(places, &error))?;
    for change in changes {
        let start = places.sources.add(change.source, &change.text);
        set::apply(root.get_mut(), &change.text, start)
            .map_err(|SetError { problem, span }| places.at(span, problem))?;
    }
    Ok(root)
}

fn not_toml(places: &Places, error: &Error) -> DocumentError {
    let message = error.message().trim().replace('\n', ", ");
    places.at(error.span().unwrap_or(0..0), Problem::NotToml { message })
}

fn index(table: &DeTable<'_>, prefix: &str, spans: &mut BTreeMap<String, Range<usize>>) {
    for (key, value) in table {
        index_value(&format!("{prefix}{}", key.get_ref()), value, spans);
    }
}

fn index_value(path: &str, value: &Spanned<DeValue<'_>>, spans: &mut BTreeMap<String, Range<usize>>) {
    spans.insert(path.into(), value.span());
    match value.get_ref() {
        DeValue::Table(table) => index(table, &format!("{path}."), spans),
        DeValue::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                index_value(&format!("{path}.{at}"), item, spans);
            }
        }
        _ => {}
    }
}

/// Says in our words what the reader of the document said in serde's.
fn explained(places: &Places, error: &Error) -> DocumentError {
    let span = error.span().unwrap_or(0..0);
    let message = error.message();
    let problem = if let Some(rest) = message.strip_prefix("unknown field ") {
        unknown("key", rest)
    } else if let Some(rest) = message.strip_prefix("unknown variant ") {
        unknown("word", rest)
    } else if let Some(rest) = message.strip_prefix("missing field ") {
        let table = places.path_at(&span).unwrap_or_default().to_string();
        Problem::Missing { key: quoted(rest).into_iter().next().unwrap_or_default(), table }
    } else {
        let key = places.path_at(&span).unwrap_or("this value").to_string();
        Problem::BadValue { message: in_words(&key, message), key }
    };
    places.at(span, problem)
}

/// From serde's "`given`, expected one of `a`, `b`".
fn unknown(what: &'static str, message: &str) -> Problem {
    let mut words = quoted(message).into_iter();
    Problem::Unknown { what, given: words.next().unwrap_or_default(), allowed: words.collect() }
}

/// The words of `text` that stand between backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_string).collect()
}

/// What changes no result is not hashed.
const NOT_HASHED: &str = "output";

fn sha256(table: &DeTable<'_>, without: &[&str]) -> String {
    let mut text = String::new();
    let is_hashed = |key: &str| key != NOT_HASHED && !without.contains(&key);
    canonical(table.iter().filter(|(key, _)| is_hashed(key.get_ref())), &mut text);
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes all");
        hex
    })
}

/// The document in one spelling: keys sorted, strings quoted alike, numbers in decimal.
fn canonical<'a, 't: 'a>(
    entries: impl Iterator<Item = (&'a Spanned<DeString<'t>>, &'a Spanned<DeValue<'t>>)>,
    out: &mut String,
) {
    let sorted: BTreeMap<&str, &DeValue<'_>> =
        entries.map(|(key, value)| (key.get_ref().as_ref(), value.get_ref())).collect();
    out.push('{');
    for (key, value) in sorted {
        write!(out, "{key:?}=").expect("a string takes all");
        canonical_value(value, out);
        out.push(',');
    }
    out.push('}');
}

fn canonical_value(value: &DeValue<'_>, out: &mut String) {
    match value {
        DeValue::Table(table) => canonical(table.iter(), out),
        DeValue::Array(items) => {
            out.push('[');
            for item in items.iter() {
                canonical_value(item.get_ref(), out);
                out.push(',');
            }
            out.push(']');
        }
        DeValue::String(text) => write!(out, "{text:?}").expect("a string takes all"),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => write!(out, "{number}").expect("a string takes all"),
            Err(_) => out.push_str(number.as_str()),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) => write!(out, "{number:?}").expect("a string takes all"),
            Err(_) => out.push_str(number.as_str()),
        },
        DeValue::Boolean(truth) => write!(out, "{truth}").expect("a string takes all"),
        DeValue::Datetime(time) => write!(out, "{time}").expect("a string takes all"),
    }
}
