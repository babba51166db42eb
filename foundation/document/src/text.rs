//! Writes a changed document as text.

use crate::words::is_printable;
use std::fmt::Write;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// `table` as TOML in the original order, without comments and layout. Plain values come before all
/// headings; after a heading, they would belong to that heading's table. Inner tables are on one
/// line.
pub(crate) fn document(table: &DeTable<'_>) -> String {
    let mut out = String::new();
    let (sections, plain): (Vec<_>, Vec<_>) = in_order(table).into_iter().partition(|(_, v)| is_section(v));
    plain.into_iter().for_each(|(name, value)| entry(&mut out, name, value));
    for (name, value) in sections {
        match value {
            DeValue::Table(table) => section(&mut out, format_args!("[{}]", key(name)), table),
            DeValue::Array(items) => {
                for item in items.iter().filter_map(|item| item.get_ref().as_table()) {
                    section(&mut out, format_args!("[[{}]]", key(name)), item);
                }
            }
            _ => {}
        }
    }
    out
}

pub(crate) fn inline(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let pair = |(name, value): (&str, &DeValue<'_>)| format!("{} = {}", key(name), inline(value));
            let pairs: Vec<String> = in_order(table).into_iter().map(pair).collect();
            if pairs.is_empty() { "{}".into() } else { format!("{{ {} }}", pairs.join(", ")) }
        }
    }
}

/// `text` as a basic TOML string. Escapes quotes, backslashes and unprintable characters.
pub fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // All unprintable characters are below U+10000, so four digits are enough.
            c if c.is_control() || !is_printable(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The entries of `table` in their original order. Entries changed by `--set` come last, since
/// their offsets are higher.
fn in_order<'a>(table: &'a DeTable<'_>) -> Vec<(&'a str, &'a DeValue<'a>)> {
    let mut entries: Vec<(&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries.into_iter().map(|(name, value)| (name.get_ref().as_ref(), value.get_ref())).collect()
}

fn is_section(value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Table(_) => true,
        DeValue::Array(items) => !items.is_empty() && items.iter().all(|item| item.get_ref().is_table()),
        _ => false,
    }
}

fn section(out: &mut String, heading: std::fmt::Arguments<'_>, table: &DeTable<'_>) {
    writeln!(out, "\n{heading}").expect("a string takes all");
    in_order(table).into_iter().for_each(|(name, value)| entry(out, name, value));
}

fn entry(out: &mut String, name: &str, value: &DeValue<'_>) {
    writeln!(out, "{} = {}", key(name), inline(value)).expect("a string takes all");
}

fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(is_bare) { name.into() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\nname = \"a \\\"b\\\"\\u0001\"\nnumbers = [1, 0x1F, -2.50e3, 1_000, inf, true]\nnone = []\n\
        when = 1979-05-27\n\n[b]\n\"odd key\" = { z = 1, a = {} } # behind\nx.y = 2\n\n[[c]]\nd = 1\n\n[[c]]\ne = ['''two\nlines''']\n";

    #[test]
    fn written_text_reads_back_equal() {
        let read = |text: &str| text.parse::<toml::Table>().expect("TOML");
        let written = document(DeTable::parse(TEXT).expect("TOML").get_ref());
        assert_eq!(read(&written), read(TEXT), "{written}");
        assert_eq!(document(DeTable::parse(&written).expect("TOML").get_ref()), written, "and stays so");
        let at = |part: &str| written.find(part).unwrap_or_else(|| panic!("no {part} in {written}"));
        assert!(at("name =") < at("numbers =") && at("none = []") < at("[b]") && at("z = 1") < at("a = {}"));
    }
}
