//! Describes values in TOML terms, as printable text.

use std::fmt::Write;

/// The longest quotation of a given value, in characters.
const MAX_CHARS: usize = 80;
/// The largest integer in TOML.
const MAX_WHOLE: u64 = i64::MAX as u64;

/// The start of `text`, with `…` if `text` continues. Control characters are spelled out.
pub fn shortened(text: &str) -> String {
    cut(text, MAX_CHARS)
}

/// Spells out control characters, and cuts the message after 1000 characters.
pub(crate) fn printable(message: &str) -> String {
    cut(message, 1000)
}

/// Is `c` safe in text for terminals and SVG? Control characters steer a terminal. XML forbids many
/// of them, and two other characters (XML 1.0, section 2.2). Characters that change the writing
/// direction (Unicode Annex 9, table 4) or end a line would misrepresent the text.
pub fn is_printable(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_a_line = matches!(c, '\u{2028}' | '\u{2029}');
    !c.is_control() && !turns && !ends_a_line && !matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Describes a type mismatch in TOML terms; `found` and `wanted` are serde's names.
pub(crate) fn wrong(key: &str, found: &str, wanted: &str) -> String {
    format!("{} was given; allowed: {}", given(found), allowed(key, wanted))
}

fn given(found: &str) -> String {
    match found.strip_suffix(" as i128").or_else(|| found.strip_suffix(" as u128")).unwrap_or(found) {
        "map" => "a table".into(),
        "sequence" => "an array".into(),
        found => shortened(&found.replacen("floating point", "the number", 1)),
    }
}

fn allowed(key: &str, wanted: &str) -> String {
    match wanted {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "u64" => whole(MAX_WHOLE),
        "f64" => "a number".into(),
        "a boolean" => "`true` or `false`".into(),
        "a string" => "text in quotes".into(),
        "a sequence" if matches!(key, "flow" | "expect" | "class") => {
            format!("an array of tables, each `[[{key}]]`")
        }
        "a sequence" => "an array, such as [\"red\", \"faba\"]".into(),
        _ if wanted.starts_with("struct ") => table(key),
        _ => wanted.into(),
    }
}

fn whole(max: u64) -> String {
    format!("a whole number from 0 to {max}")
}

fn table(key: &str) -> String {
    match key.split_once('.') {
        Some(("disciplines", _)) => "a table, written `{ key = value }`".into(),
        Some((array @ ("flow" | "expect" | "link" | "class"), rest)) if !rest.contains('.') => {
            format!("a table, written `[[{array}]]`")
        }
        Some(("flow" | "expect" | "link" | "class", _)) => "a table, written `{ key = value }`".into(),
        _ => format!("a table, written `[{key}]`"),
    }
}

fn cut(text: &str, max: usize) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == max {
            out.push('…');
            break;
        }
        if is_printable(c) {
            out.push(c);
        } else {
            write!(out, "{}", c.escape_unicode()).expect("a string takes all");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_text_is_printable() {
        assert_eq!(shortened("a\u{1b}[2J"), "a\\u{1b}[2J");
        assert_eq!(shortened("ann\u{202e}bob\u{2028}"), "ann\\u{202e}bob\\u{2028}");
        assert_eq!(shortened(&"é".repeat(81)), format!("{}…", "é".repeat(80)));
        assert_eq!(shortened(&"é".repeat(80)), "é".repeat(80));
    }

    #[test]
    fn types_have_their_toml_names() {
        assert_eq!(
            wrong("link", "integer `1`", "struct LinkSpec"),
            "integer `1` was given; allowed: a table, written `[link]`"
        );
        assert_eq!(
            wrong("flow", "map", "a sequence"),
            "a table was given; allowed: an array of tables, each `[[flow]]`"
        );
        assert_eq!(
            wrong("flow.0", "sequence", "struct F"),
            "an array was given; allowed: a table, written `[[flow]]`"
        );
        assert!(
            wrong("flow.0.count", "integer `9` as i128", "u32")
                .ends_with("a whole number from 0 to 4294967295")
        );
    }
}
