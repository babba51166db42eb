//! Pure crates read no clock, environment, file or socket, start no thread, and print nothing.
//!
//! `clippy.toml` bans the two clock calls by type; this check bans the modules by name and needs no
//! lint to have run.

use super::breach::Breach;
use super::tokens;
use super::tree::{File, Tree};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The name of the rule.
pub const NAME: &str = "purity";

/// The crates whose results depend on nothing but their arguments.
pub const PURE: &[&str] =
    &["core", "parameters", "laws", "catalogue", "wire", "metrics", "tcp", "sim", "figures"];

/// Paths below `std` that a pure crate must not name, and why.
const BANNED: &[(&str, &str)] = &[
    ("time::Instant", "time is an argument"),
    ("time::SystemTime", "time is an argument"),
    ("time::UNIX_EPOCH", "time is an argument"),
    ("time::*", "time is an argument; name what you need of `std::time`"),
    ("env", "the environment is read by the command line only"),
    ("fs", "files are the command line's business"),
    ("net", "sockets are the gateway's business"),
    ("os", "the operating system is the gateway's business"),
    ("process", "processes are the command line's business"),
    ("thread", "one run is one thread; parallelism is across runs"),
    ("io::stdin", "effects leave by return value"),
    ("io::stdout", "effects leave by return value"),
    ("io::stderr", "effects leave by return value"),
    ("io::*", "effects leave by return value; name what you need of `std::io`"),
    ("hash::RandomState", "its seed comes from the machine; randomness has a name and an owner"),
    ("collections::HashMap", "its order differs from run to run; use `BTreeMap` or `FlowMap`"),
    ("hash::*", "name what you need of `std::hash`"),
    ("collections::HashSet", "its order differs from run to run; use `BTreeSet`"),
    ("collections::*", "name what you need of `std::collections`"),
];

/// Whole modules, whose paths do not show which items of them are used.
const WHOLE: &[&str] = &[
    "std",
    "std::*",
    "std::time",
    "std::time::self",
    "std::collections",
    "std::collections::self",
    "std::io",
    "std::io::self",
    "std::hash",
    "std::hash::self",
];

/// The macros that print.
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Finds what crates in [`PURE`] name and must not. Reports files of any crate that are not Rust.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let is_pure = |file: &&File| PURE.iter().any(|name| file.is_source_of(name));
    tree.rust().flat_map(|file| check_file(file, is_pure(&file))).collect()
}

fn check_file(file: &File, is_pure: bool) -> Vec<Breach> {
    let breach = |line, message| Breach { rule: NAME, path: file.path.clone(), line, message };
    match tokens::read(&file.text) {
        Err(message) => vec![breach(0, message)],
        Ok(_) if !is_pure => Vec::new(),
        Ok(read) => impurities(read).into_iter().map(|(line, message)| breach(line, message)).collect(),
    }
}

fn impurities(read: TokenStream) -> Vec<(usize, String)> {
    let code = tokens::without_tests(read);
    let mut found = Vec::new();
    paths(code.clone(), "", &mut |line, path| {
        if let Some(why) = banned(path) {
            found.push((line, format!("a pure crate must not use `{path}`: {why}")));
        }
    });
    tokens::each_level(&code, &mut |level| {
        for pair in level.windows(2) {
            if let [TokenTree::Ident(name), TokenTree::Punct(bang)] = pair
                && bang.as_char() == '!'
                && PRINTING.contains(&name.to_string().as_str())
            {
                let message =
                    format!("a pure crate must not print (`{name}!`): effects leave by return value");
                found.push((name.span().start().line, message));
            }
        }
    });
    found
}

fn banned(path: &str) -> Option<&'static str> {
    // `core` has no effects to offer; its `core::net` is plain addresses.
    let below = path.strip_prefix("std::");
    if WHOLE.contains(&path) {
        return Some("name the item itself, so that a reader (and this check) sees what is used");
    }
    let starts = |ban: &str| below.is_some_and(|b| b == ban || b.starts_with(&format!("{ban}::")));
    BANNED.iter().find(|(ban, _)| starts(ban)).map(|(_, why)| *why)
}

/// Calls `seen` with each path of two names or more, and each bare `std`; import groups are
/// multiplied out.
pub fn paths(tokens: TokenStream, prefix: &str, seen: &mut dyn FnMut(usize, &str)) {
    let mut rest = tokens.into_iter().peekable();
    let mut is_new_name = false; // after `as`: not below `prefix`
    while let Some(token) = rest.next() {
        let prefix = if std::mem::take(&mut is_new_name) { "" } else { prefix };
        let line = token.span().start().line;
        match token {
            TokenTree::Group(group) => paths(group.stream(), "", seen),
            TokenTree::Ident(word) if KEYWORDS.iter().any(|k| word == k) => is_new_name = word == "as",
            TokenTree::Ident(first) => {
                follow(format!("{prefix}{first}"), &mut rest, &mut |path| seen(line, path))
            }
            TokenTree::Punct(star) if star.as_char() == '*' && !prefix.is_empty() => {
                seen(line, &format!("{prefix}*"));
            }
            _ => {}
        }
    }
}

/// The words that a path with a leading `::` may come after. They are no part of it: `use ::std` is
/// the path `std`.
const KEYWORDS: &[&str] =
    &["as", "dyn", "else", "for", "if", "impl", "in", "match", "mut", "return", "use", "where"];

/// Follows a path from its first name to its end, or into its import group.
fn follow(mut path: String, rest: &mut Tokens, seen: &mut dyn FnMut(&str)) {
    while let Some(next) = after_colons(rest) {
        match next {
            Next::Name(name) => path = format!("{path}::{name}"),
            Next::Group(group) => return paths(group, &format!("{path}::"), &mut |_, path| seen(path)),
        }
    }
    if path.contains("::") || path == "std" {
        seen(&path);
    }
}

type Tokens = std::iter::Peekable<proc_macro2::token_stream::IntoIter>;

enum Next {
    Name(String),
    Group(TokenStream),
}

/// What follows `::`, when that comes next. A generic argument list (`::<…>`) ends the path.
fn after_colons(rest: &mut Tokens) -> Option<Next> {
    let is_colon = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ':' && p.spacing() == proc_macro2::Spacing::Joint);
    rest.next_if(is_colon)?;
    rest.next(); // its twin
    let next = rest.next_if(|t| match t {
        TokenTree::Ident(_) => true,
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == '*',
        TokenTree::Literal(_) => false,
    })?;
    Some(match next {
        TokenTree::Group(group) => Next::Group(group.stream()),
        other => Next::Name(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(text: &str) -> usize {
        check(&Tree::of_files(&[("simulator/sim/src/a.rs", text)])).len()
    }

    #[test]
    fn a_clock_is_found_however_it_is_named() {
        for text in [
            "fn a() { std::time::Instant::now(); }",
            "use std::time::Instant;",
            "use std::{fmt, time::{Duration, SystemTime}};",
            "use std::time;",
            "use std::time::*;",
            "fn a() { assert!(std::time::Instant::now() > b); }",
            "use ::std::time::Instant as Clock;",
        ] {
            assert_eq!(breaches(text), 1, "{text}");
        }
    }

    #[test]
    fn environment_file_socket_thread_and_process_are_found() {
        for module in ["env", "fs", "net", "thread", "process", "os"] {
            assert_eq!(breaches(&format!("use std::{module}::x;")), 1, "{module}");
            assert_eq!(breaches(&format!("fn a() {{ std::{module}::x(); }}")), 1, "{module}");
        }
    }

    #[test]
    fn printing_and_unordered_maps_are_found() {
        assert_eq!(breaches("fn a() { println!(\"x\"); dbg!(1); }"), 2);
        for module in ["collections", "io", "hash", "time"] {
            assert_eq!(breaches(&format!("use std::{module}::*;")), 1, "{module}");
            assert_eq!(breaches(&format!("use std::{module}::{{self, A}};")), 1, "{module}");
        }
        assert_eq!(breaches("use std::collections::{BTreeMap, HashMap};"), 1);
    }

    #[test]
    fn an_alias_of_the_whole_library_is_found() {
        assert_eq!(breaches("use std as s;"), 1);
    }

    #[test]
    fn comments_strings_tests_and_durations_are_no_breach() {
        let text = "//! std::fs\nuse std::time::Duration; use core::fmt;\nfn a() { \"std::env::var\"; }
                    #[cfg(test)] mod tests { use std::time::Instant; fn b() { println!(\"x\"); } }";
        assert_eq!(breaches(text), 0);
    }

    #[test]
    fn our_own_time_and_a_field_called_env_are_no_breach() {
        assert_eq!(
            breaches(
                "use crate::time::Instant; use core::net::IpAddr; use std::{fmt as env}; fn a(b: B) { b.env; c::fs::d(); }"
            ),
            0
        );
    }

    #[test]
    fn the_gateway_may_read_a_clock() {
        let tree = Tree::of_files(&[("gateway/service/src/a.rs", "use std::time::Instant;")]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_source_that_does_not_read_as_rust_is_reported() {
        assert_eq!(check(&Tree::of_files(&[("simulator/command/src/a.rs", "fn a( {")])).len(), 1);
    }
}
