//! A TOML document with the locations of its keys and values.

use crate::error::{DocumentError, Problem};
use crate::location::Sources;
use crate::mistakes;
use crate::reader::{self, Mistake};
use crate::set::{self, SetError};
use crate::text;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, Error};

/// The locations of all values, by dotted path such as `flow.0.count`.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    sources: Sources,
    spans: BTreeMap<String, Range<usize>>,
    /// The name of each array element in messages, by dotted path such as `flow.0`.
    names: BTreeMap<String, String>,
}

impl Locations {
    /// Is there a value at `path`?
    pub fn contains(&self, path: &str) -> bool {
        self.spans.contains_key(path)
    }

    /// The error `problem` at `path`, or at the nearest enclosing table that exists.
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
        let problem = problem.with_keys(|path| self.named(path)).printable();
        DocumentError { problem, location: self.sources.location(span).map(Box::new), more: Box::default() }
    }

    /// `flow.1.count` becomes `flow.tcp.count`, or `flow.#2.count` if the element has no name.
    fn named(&self, path: &str) -> String {
        let mut named = Vec::new();
        let mut end = 0;
        for step in path.split('.') {
            end += step.len();
            named.push(self.names.get(&path[..end]).map_or(step, String::as_str));
            end += 1;
        }
        named.join(".")
    }

    fn path_at(&self, span: &Range<usize>) -> Option<&str> {
        // With `[a.b]`, tables `a` and `a.b` share one location.
        let at = self.spans.iter().filter(|(_, s)| *s == span).map(|(path, _)| path.as_str());
        at.max_by_key(|path| path.len())
    }
}

/// A parsed document.
pub struct Read<T> {
    /// The value.
    pub value: T,
    /// The locations of all values.
    pub locations: Locations,
    /// SHA-256 of the document after all changes, hexadecimal. It ignores comments, layout, the
    /// order of keys, and the table `output`.
    pub sha256: String,
    /// As `sha256`, without the keys that [`read`] omits.
    pub sha256_without: String,
}

/// Parses the TOML document `text`; `name` is its name in errors.
pub fn read_document<T: DeserializeOwned>(name: &str, text: &str) -> Result<(T, Locations), DocumentError> {
    read(name, text, &[], &[]).map(|read| (read.value, read.locations))
}

/// A change to the document, in the form of `--set`.
pub struct Change {
    /// Its name in errors, such as `--set`.
    pub source: &'static str,
    /// `PATH=VALUE`.
    pub text: String,
    /// The path of the document's own setting that the change replaces.
    pub in_place_of: Option<String>,
}

/// Parses `text` after applying `changes`. The hash [`sha256_without`](Read::sha256_without) omits
/// the top-level keys in `without`.
pub fn read<T: DeserializeOwned>(
    name: &str,
    text: &str,
    changes: &[Change],
    without: &[&str],
) -> Result<Read<T>, DocumentError> {
    let mut locations = Locations::default();
    let root = parsed(name, text, changes, &mut locations)?;
    index(root.get_ref(), "", &mut locations);
    let sha256_without = sha256(root.get_ref(), without);
    let sha256 = sha256(root.get_ref(), &[]);
    Ok(Read { value: value(root, &locations)?, locations, sha256, sha256_without })
}

/// Parses only `changes`, which replace top-level keys of the document that `locations` describes.
/// Updates `locations`.
pub fn read_changes<T: DeserializeOwned>(
    changes: &[Change],
    locations: &mut Locations,
) -> Result<T, DocumentError> {
    let mut root = Spanned::new(0..0, DeTable::new());
    apply(root.get_mut(), changes, locations)?;
    for (key, _) in root.get_ref() {
        let is_other = |path: &str| path.split('.').next() != Some(key.get_ref());
        locations.spans.retain(|path, _| is_other(path));
        locations.names.retain(|path, _| is_other(path));
    }
    index(root.get_ref(), "", locations);
    value(root, locations)
}

fn value<T: DeserializeOwned>(root: Spanned<DeTable<'_>>, locations: &Locations) -> Result<T, DocumentError> {
    reader::read(&root).map_err(|first| {
        let mut found = mistakes::all::<T>(root, first);
        found.sort_by_key(|mistake| mistake.span.start);
        let explained = found.into_iter().map(|mistake| explained(locations, mistake)).collect();
        DocumentError::of_all(explained).expect("there is one")
    })
}

/// Applies `changes` to `text`, and removes the keys at the dotted paths `without`. These paths
/// lead only through tables. Comments survive only if `changes` and `without` are empty.
pub fn changed(
    name: &str,
    text: &str,
    changes: &[Change],
    without: &[&str],
) -> Result<String, DocumentError> {
    if changes.is_empty() && without.is_empty() {
        return Ok(text.into());
    }
    let mut root = parsed(name, text, changes, &mut Locations::default())?;
    without.iter().for_each(|path| remove(root.get_mut(), path));
    Ok(text::document(root.get_ref()))
}

/// The elements of the top-level array `key` after `changes`, each as a TOML value on one line;
/// empty if there is no such array.
pub fn elements(name: &str, text: &str, changes: &[Change], key: &str) -> Result<Vec<String>, DocumentError> {
    let root = parsed(name, text, changes, &mut Locations::default())?;
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

/// Parses `text` and applies `changes`. Adds `text` and the text of each change to the sources of
/// `locations`.
fn parsed<'a>(
    name: &str,
    text: &'a str,
    changes: &'a [Change],
    locations: &mut Locations,
) -> Result<Spanned<DeTable<'a>>, DocumentError> {
    locations.sources.add(name, text);
    let mut root = DeTable::parse(text).map_err(|error| not_toml(locations, &error))?;
    apply(root.get_mut(), changes, locations)?;
    Ok(root)
}

fn apply<'a>(
    root: &mut DeTable<'a>,
    changes: &'a [Change],
    locations: &mut Locations,
) -> Result<(), DocumentError> {
    changes.iter().try_for_each(|change| {
        if let Some(rival) = &change.in_place_of {
            set::remove(root, rival, locations.sources.first_len());
        }
        let start = locations.sources.add(change.source, &change.text);
        set::apply(root, &change.text, start)
            .map_err(|SetError { problem, span }| locations.at(span, problem))
    })
}

fn not_toml(locations: &Locations, error: &Error) -> DocumentError {
    let message = error.message().trim().replace('\n', ", ");
    locations.at(error.span().unwrap_or(0..0), Problem::NotToml { message })
}

fn index(table: &DeTable<'_>, prefix: &str, locations: &mut Locations) {
    for (key, value) in table {
        index_value(&format!("{prefix}{}", key.get_ref()), value, locations);
    }
}

fn index_value(path: &str, value: &Spanned<DeValue<'_>>, locations: &mut Locations) {
    locations.spans.insert(path.into(), value.span());
    match value.get_ref() {
        DeValue::Table(table) => index(table, &format!("{path}."), locations),
        DeValue::Array(items) => {
            let mut known: BTreeSet<&str> = BTreeSet::new();
            for (at, item) in items.iter().enumerate() {
                let own = set::name_of(item.get_ref())
                    .filter(|name| !name.is_empty() && !name.contains('.') && known.insert(name));
                let name = own.map_or_else(|| format!("#{}", at + 1), str::to_owned);
                locations.names.insert(format!("{path}.{at}"), name);
                index_value(&format!("{path}.{at}"), item, locations);
            }
        }
        _ => {}
    }
}

fn explained(locations: &Locations, mistake: Mistake) -> DocumentError {
    let span = mistake.span.clone();
    locations.at(span.clone(), mistake.explained(locations.path_at(&span)))
}

/// Results do not depend on this table.
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

/// The canonical form: sorted keys, uniform quotes, decimal numbers.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading it is tried")]
    struct Spec {
        rate: u32,
        link: Link,
        flow: Vec<Flow>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading it is tried")]
    struct Link {
        buffer: u32,
        delay: Option<u32>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only reading it is tried")]
    struct Flow {
        group: String,
        count: u32,
    }

    fn mistakes(text: &str) -> Vec<String> {
        let error = read_document::<Spec>("a.toml", text).map(|_| ()).unwrap_err();
        error.to_string().lines().map(String::from).collect()
    }

    #[test]
    fn five_mistakes_are_reported_in_one_reading_in_the_order_of_the_text() {
        let lines = mistakes(
            "rate = \"x\"\nrat = 2\n[link]\nbufer = 1\nbuffer = 3\ndelay = -1\n\
             [[flow]]\ngroup = \"tcp\"\ncont = 1\ncount = 2\n[[flow]]\ngroup = \"udp\"\n",
        );
        let locations: Vec<&str> = lines.iter().map(|line| line.split(": ").next().unwrap()).collect();
        assert_eq!(
            locations,
            ["a.toml:1:8", "a.toml:2:1", "a.toml:4:1", "a.toml:6:9", "a.toml:9:1", "a.toml:11:1"]
        );
        assert!(
            lines[2].ends_with("unknown key `bufer`; allowed: `buffer` or `delay`; did you mean `buffer`?")
        );
        assert!(lines[5].contains("the key `count` is missing in `flow.udp`"), "{}", lines[5]);
    }

    #[test]
    fn a_wrong_value_is_not_also_reported_as_missing() {
        let lines = mistakes("rate = \"x\"\n[link]\nbuffer = \"y\"\n[[flow]]\ngroup = \"a\"\ncount = true\n");
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains("missing")), "{lines:?}");
        assert!(lines[2].contains("`flow.a.count`"), "{lines:?}");
    }

    #[test]
    fn unnamed_elements_are_counted_from_one() {
        let flow = |name: &str| format!("[[flow]]\n{name}count = true\n");
        let text = format!(
            "rate = 1\nlink = {{ buffer = 1 }}\n{}{}",
            flow("group = \"a\"\n"),
            flow("group = \"a\"\n")
        );
        let lines = mistakes(&text);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].contains("`flow.a.count`") && lines[1].contains("`flow.#2.count`"), "{lines:?}");
    }

    #[test]
    fn at_most_ten_mistakes_are_reported() {
        let keys: String = (0..100).map(|at| format!("wrong{at} = 1\n")).collect();
        assert_eq!(mistakes(&keys).len(), 10);
    }
}
