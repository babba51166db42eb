//! `unsafe` stands in few places, and the pure crates forbid it.

use super::breach::Breach;
use super::purity::PURE;
use super::tokens;
use super::tree::{File, Tree};
use proc_macro2::TokenTree;

/// The name of the rule.
pub const NAME: &str = "unsafe";

/// Where `unsafe` may stand: the command's asking for huge pages, the simulator's prefetch, the gateway's system calls, the clock that the oracle puts in front of User Mode Linux's C
/// library, and the counting allocator of the tests. An entry ends in `/` for a whole folder.
pub const ALLOWED: &[&str] = &[
    "crates/cli/src/pages.rs",
    "crates/gateway/src/io/",
    "crates/gateway/src/lab/namespace.rs",
    "crates/oracle/examples/virtual_clock.rs",
    "crates/sim/src/prefetch.rs",
    "crates/testing/src/allocator.rs",
];

/// The pure crates that can only deny it, since one file of theirs is among [`ALLOWED`].
const DENY: &[&str] = &["sim"];

/// No `unsafe` outside [`ALLOWED`], and `#![forbid(unsafe_code)]` in every pure crate, or `deny` in those that have such a file.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let outside = tree.rust().filter(|file| !is_allowed(&file.path));
    let mut breaches: Vec<Breach> = outside.flat_map(unsafe_in).collect();
    for name in PURE {
        let path = format!("crates/{name}/src/lib.rs");
        let lint = if DENY.contains(name) { "deny" } else { "forbid" };
        if let Some(file) = tree.file(&path)
            && !says(file, lint)
        {
            let message = format!("a pure crate must say `#![{lint}(unsafe_code)]`");
            breaches.push(Breach { rule: NAME, path, line: 0, message });
        }
    }
    breaches
}

fn is_allowed(path: &str) -> bool {
    ALLOWED.iter().any(|allowed| path == *allowed || (allowed.ends_with('/') && path.starts_with(allowed)))
}

fn unsafe_in(file: &File) -> Vec<Breach> {
    let Ok(read) = tokens::read(&file.text) else { return Vec::new() }; // `purity` reports what is not Rust
    let mut breaches = Vec::new();
    tokens::each_level(&read, &mut |level| {
        for token in level {
            if let TokenTree::Ident(ident) = token
                && ident == "unsafe"
            {
                let message = format!("`unsafe` may stand only in: {}", ALLOWED.join(", "));
                let line = ident.span().start().line;
                breaches.push(Breach { rule: NAME, path: file.path.clone(), line, message });
            }
        }
    });
    breaches
}

fn says(file: &File, lint: &str) -> bool {
    let Ok(read) = tokens::read(&file.text) else { return false };
    let top: Vec<String> = read.into_iter().map(|token| token.to_string().replace(' ', "")).collect();
    let attribute = format!("[{lint}(unsafe_code)]");
    top.windows(3).any(|w| w[0] == "#" && w[1] == "!" && w[2] == attribute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_is_found_in_blocks_functions_macros_and_attributes() {
        for text in [
            "fn a() { unsafe { b() } }",
            "unsafe fn a() {}",
            "m!(unsafe { b() });",
            "#[unsafe(no_mangle)] fn a() {}",
        ] {
            let tree = Tree::of_files(&[("crates/cli/src/a.rs", text)]);
            assert_eq!(check(&tree).len(), 1, "{text}");
        }
    }

    #[test]
    fn the_word_in_a_comment_or_a_string_is_no_breach() {
        let tree = Tree::of_files(&[("a.rs", "/// unsafe\nfn a() { \"unsafe\"; } // unsafe")]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn the_packet_socket_may_be_unsafe() {
        assert_eq!(
            check(&Tree::of_files(&[(
                "crates/gateway/src/io/af_packet/ring.rs",
                "fn a() { unsafe { b() } }"
            )])),
            []
        );
    }

    #[test]
    fn a_pure_crate_must_forbid_it() {
        let path = "crates/core/src/lib.rs";
        assert_eq!(check(&Tree::of_files(&[(path, "//! #![forbid(unsafe_code)]\npub mod a;")])).len(), 1);
        assert_eq!(check(&Tree::of_files(&[(path, "//! Core.\n#![forbid(unsafe_code)]\npub mod a;")])), []);
    }
}
