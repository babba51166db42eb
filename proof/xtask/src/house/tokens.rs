//! Rust sources as tokens: without comments, strings as one token each, brackets matched.
//!
//! Tokens rather than a syntax tree, because the content of macro calls must be seen as well.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::str::FromStr;

/// Reads `text`; the error says where it is not Rust.
pub fn read(text: &str) -> Result<TokenStream, String> {
    // A byte-order mark or a shebang is not a token.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    TokenStream::from_str(text)
        .map_err(|e| format!("does not read as Rust: {e} at line {}", e.span().start().line))
}

/// The tokens without items that are only for tests: what follows `#[cfg(test)]`, up to its body or
/// semicolon.
pub fn without_tests(tokens: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        match (&token, rest.peek()) {
            (TokenTree::Punct(p), Some(TokenTree::Group(g))) if p.as_char() == '#' && is_cfg_test(g) => {
                rest.find(ends_item);
            }
            (TokenTree::Group(group), _) => kept.push(TokenTree::Group(inside(group, without_tests))),
            _ => kept.push(token),
        }
    }
    kept.into_iter().collect()
}

/// The line of the first `#[cfg(test)]` at the top of a file.
pub fn first_test_line(tokens: &TokenStream) -> Option<usize> {
    let mut before = None;
    for token in tokens.clone() {
        if let TokenTree::Group(group) = &token
            && is_cfg_test(group)
        {
            return before;
        }
        before = Some(token.span().start().line);
    }
    None
}

/// Calls `seen` with each run of sibling tokens: the file's own, then those inside each bracket.
pub fn each_level(tokens: &TokenStream, seen: &mut impl FnMut(&[TokenTree])) {
    let level: Vec<TokenTree> = tokens.clone().into_iter().collect();
    seen(&level);
    for token in &level {
        if let TokenTree::Group(group) = token {
            each_level(&group.stream(), seen);
        }
    }
}

fn is_cfg_test(group: &Group) -> bool {
    let text = group.stream().to_string().replace(' ', "");
    group.delimiter() == Delimiter::Bracket && (text == "cfg(test)" || text.starts_with("cfg(all(test"))
}

fn ends_item(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    }
}

fn inside(group: &Group, change: fn(TokenStream) -> TokenStream) -> Group {
    let mut changed = Group::new(group.delimiter(), change(group.stream()));
    changed.set_span(group.span());
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_modules_and_test_imports_are_left_out() {
        let text =
            "use a; #[cfg(test)] use b; fn c() {} #[cfg(test)] #[allow(x)] mod tests { fn d() {} } fn e() {}";
        let kept = without_tests(read(text).expect("Rust")).to_string();
        assert!(kept.contains('a') && kept.contains('c') && kept.contains('e'), "{kept}");
        assert!(!kept.contains('b') && !kept.contains('d'), "{kept}");
    }

    #[test]
    fn what_is_built_without_tests_is_kept() {
        let kept = without_tests(read("#[cfg(not(test))] fn a() {}").expect("Rust")).to_string();
        assert!(kept.contains("fn a"), "{kept}");
    }

    #[test]
    fn the_tests_of_a_file_begin_at_their_attribute() {
        let tokens = read("fn a() {}\n\n#[cfg(test)]\nmod tests {}").expect("Rust");
        assert_eq!(first_test_line(&tokens), Some(3));
        assert_eq!(first_test_line(&read("fn a() {}").expect("Rust")), None);
    }

    #[test]
    fn what_is_not_rust_is_said_with_its_line() {
        let error = read("fn a() {\n}\n}").expect_err("one brace too many");
        assert!(error.contains("does not read as Rust"), "{error}");
    }
}
