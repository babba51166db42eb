//! `--set PATH=VALUE`: changes to the TOML document before parsing.

use crate::error::Problem;
use crate::words::shortened;
use fairwire_core::spelling::hint;
use std::borrow::Cow;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// A change that cannot be made, and the erroneous bytes of the argument.
pub(crate) struct SetError {
    pub(crate) problem: Problem,
    pub(crate) span: Range<usize>,
}

/// The maximum depth of a path, which is followed recursively. The deepest key of a scenario,
/// `flow.tcp.access.rate`, takes four steps.
const MAX_STEPS: usize = 16;

type Step<'a> = Spanned<Cow<'a, str>>;

/// Applies `argument`, a `PATH=VALUE`, to `document`. Errors give locations as offsets in the
/// document's sources, in which `argument` begins at `start`.
pub(crate) fn apply<'a>(document: &mut DeTable<'a>, argument: &'a str, start: usize) -> Result<(), SetError> {
    let (path, value_at) = split(argument, start)?;
    let value = value(&argument[value_at..], start + value_at)?;
    place_in_table(document, &path, value)
}

/// Removes the value at `path` if the value is in the document's text: the first `len` bytes of the
/// sources.
pub(crate) fn remove(table: &mut DeTable<'_>, path: &str, len: usize) {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    match rest {
        None if table.get(step).is_some_and(|value| value.span().end <= len) => drop(table.remove(step)),
        None => {}
        Some(rest) => {
            if let Some(value) = table.get_mut(step) {
                remove_below(value.get_mut(), step, rest, len);
            }
        }
    }
}

fn remove_below(value: &mut DeValue<'_>, above: &str, path: &str, len: usize) {
    match value {
        DeValue::Table(table) => remove(table, path, len),
        DeValue::Array(items) => {
            let (step, rest) = path.split_once('.').unwrap_or((path, ""));
            let [above, step] = [above, step].map(|name| Spanned::new(0..0, Cow::Owned(name.to_owned())));
            let item = element(items, &above, &step).ok().and_then(|at| items.get_mut(at));
            if let Some(item) = item {
                remove_below(item.get_mut(), step.get_ref(), rest, len);
            }
        }
        _ => {}
    }
}

const FORM: &str =
    "PATH=VALUE, such as `link.buffer=\"390 packets\"`, `flow.tcp.count=20` or `discipline.red.gentle=false`";

/// The steps of the path, and the offset in `argument` at which the value begins.
fn split<'a>(argument: &'a str, start: usize) -> Result<(Vec<Step<'a>>, usize), SetError> {
    let refuse = |message: String| SetError {
        problem: Problem::BadOverride { message, allowed: FORM.into() },
        span: start..start + argument.len(),
    };
    let Some(equals) = argument.find('=') else {
        return Err(refuse(format!("`{}` has no `=`", shortened(argument))));
    };
    if argument[equals + 1..].trim().is_empty() {
        return Err(refuse(format!("`{}` has no value after its `=`", shortened(argument))));
    }
    let depth = argument[..equals].split('.').count();
    if depth > MAX_STEPS {
        return Err(refuse(format!("the path has {depth} steps, more than the maximum of {MAX_STEPS}")));
    }
    let mut steps = Vec::new();
    let mut at = 0;
    for word in argument[..equals].split('.') {
        let name_at = at + (word.len() - word.trim_start().len());
        let name = word.trim();
        if name.is_empty() {
            return Err(refuse(format!("`{}` is not a dotted path", shortened(&argument[..equals]))));
        }
        steps.push(Spanned::new(start + name_at..start + name_at + name.len(), Cow::Borrowed(name)));
        at += word.len() + 1;
    }
    Ok((steps, equals + 1))
}

/// Text that is not TOML becomes a string, so strings need no quotes in a shell. But text that
/// starts like a quoted string, an array or a table must be TOML.
fn value(text: &str, start: usize) -> Result<Spanned<DeValue<'_>>, SetError> {
    let start = start + (text.len() - text.trim_start().len());
    let text = text.trim();
    match DeValue::parse(text) {
        Ok(value) => Ok(shifted(value, start)),
        Err(error) if text.starts_with(['"', '\'', '[', '{']) => {
            let at = error.span().unwrap_or(0..text.len());
            let message = format!("this is not TOML: {}", error.message());
            let allowed = "a TOML value, such as `20`, `\"10 Mbit/s\"` or `[\"red\", \"codel\"]`".into();
            let problem = Problem::BadOverride { message, allowed };
            Err(SetError { problem, span: start + at.start..start + at.end })
        }
        Err(_) => Ok(Spanned::new(start..start + text.len(), DeValue::String(Cow::Borrowed(text)))),
    }
}

fn shifted(value: Spanned<DeValue<'_>>, by: usize) -> Spanned<DeValue<'_>> {
    let span = value.span().start + by..value.span().end + by;
    let inner = match value.into_inner() {
        DeValue::Array(items) => {
            let mut moved = DeArray::new();
            items.into_iter().for_each(|item| moved.push(shifted(item, by)));
            DeValue::Array(moved)
        }
        DeValue::Table(table) => {
            let mut moved = DeTable::new();
            for (key, value) in table {
                let at = key.span().start + by..key.span().end + by;
                moved.insert(Spanned::new(at, key.into_inner()), shifted(value, by));
            }
            DeValue::Table(moved)
        }
        plain => plain,
    };
    Spanned::new(span, inner)
}

fn place_in_table<'a>(
    table: &mut DeTable<'a>,
    path: &[Step<'a>],
    value: Spanned<DeValue<'a>>,
) -> Result<(), SetError> {
    let (step, rest) = path.split_first().expect("a path has at least one step");
    if rest.is_empty() {
        // The old entry is removed first, because `insert` would keep its key and location.
        table.remove(step.get_ref().as_ref());
        table.insert(step.clone(), value);
        return Ok(());
    }
    if !table.contains_key(step.get_ref().as_ref()) {
        // If this name is misspelt, the parser rejects it later, at `step`.
        let empty = Spanned::new(step.span(), DeValue::Table(DeTable::new()));
        table.insert(step.clone(), empty);
    }
    let inner = table.get_mut(step.get_ref().as_ref()).expect("inserted if missing").get_mut();
    place_in_value(inner, step, rest, value)
}

fn place_in_value<'a>(
    target: &mut DeValue<'a>,
    above: &Step<'a>,
    path: &[Step<'a>],
    value: Spanned<DeValue<'a>>,
) -> Result<(), SetError> {
    match target {
        DeValue::Table(table) => place_in_table(table, path, value),
        DeValue::Array(items) => {
            let (step, rest) = path.split_first().expect("a path goes on below an array");
            let index = element(items, above, step)?;
            let item = items.get_mut(index).expect("the index was just found");
            if rest.is_empty() {
                *item = value;
                return Ok(());
            }
            place_in_value(item.get_mut(), step, rest, value)
        }
        // `marker = "sr-tcm"` is short for `marker = { sr-tcm = {} }`.
        DeValue::String(name) if *name == *path[0].get_ref() => {
            let mut long = DeTable::new();
            long.insert(path[0].clone(), Spanned::new(path[0].span(), DeValue::Table(DeTable::new())));
            *target = DeValue::Table(long);
            place_in_value(target, above, path, value)
        }
        plain => Err(SetError {
            problem: Problem::BadOverride {
                message: format!(
                    "`{}` is {} {}, with nothing below it",
                    shortened(above.get_ref()),
                    if plain.type_str().starts_with('i') { "an" } else { "a" },
                    plain.type_str()
                ),
                allowed: format!(
                    "a path that ends at `{}`{}",
                    shortened(above.get_ref()),
                    opened(above, plain)
                ),
            },
            span: path[0].span(),
        }),
    }
}

/// The end of an error about a path below the value `plain`. If `plain` looks like the name of a
/// choice, the text suggests a path through that choice.
fn opened(above: &Step<'_>, plain: &DeValue<'_>) -> String {
    let is_name =
        |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.contains([' ', '.']);
    match plain.as_str().filter(|text| is_name(text)) {
        Some(name) => {
            let (above, name) = (shortened(above.get_ref()), shortened(name));
            format!("; or one through `{above}.{name}`, if `{name}` has parameters")
        }
        None => String::new(),
    }
}

pub(crate) fn name_of<'v>(item: &'v DeValue<'_>) -> Option<&'v str> {
    ["label", "group", "name", "id"].iter().find_map(|key| item.get(*key)?.get_ref().as_str())
}

/// The index of the element that `step` names. A name of digits takes precedence over an index.
fn element(items: &DeArray<'_>, above: &Step<'_>, step: &Step<'_>) -> Result<usize, SetError> {
    let name = step.get_ref().as_ref();
    let names: Vec<Option<String>> =
        items.iter().map(|item| name_of(item.get_ref()).map(str::to_owned)).collect();
    let by_name = names.iter().position(|other| other.as_deref() == Some(name));
    let by_index = name.parse().ok().filter(|&index: &usize| index < items.len());
    by_name.or(by_index).ok_or_else(|| {
        let named: Vec<String> = names.into_iter().flatten().collect();
        let near = hint(name, named.iter().map(String::as_str));
        let listed: String = named.iter().map(|other| format!("`{}`, ", shortened(other))).collect();
        let allowed = match items.len() {
            0 => format!("a path that ends at `{}`: the list is empty", shortened(above.get_ref())),
            count => format!("{listed}{}an index below {count}", if listed.is_empty() { "" } else { "or " }),
        };
        SetError {
            problem: Problem::BadOverride {
                message: format!("there is no `{}` in `{}`", shortened(name), shortened(above.get_ref())),
                allowed: allowed + &near,
            },
            span: step.span(),
        }
    })
}
