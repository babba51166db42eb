//! Checks that pure crates read no clock, environment, file or socket, start no thread, and print
//! nothing.

use super::breach::Breach;
use super::code::{has_word, lines};
use super::tree::Tree;

/// The crates whose results depend only on their arguments.
pub const PURE: &str = "foundation/catalogue foundation/core foundation/laws foundation/metrics foundation/parameters \
    foundation/wire simulator/figures simulator/play simulator/play-wasm simulator/sim simulator/tcp";

/// The texts banned in a pure crate's code, separated by `,`, with the reasons. Rust's `core` is
/// allowed, since it has no effects: `core::net` has only addresses.
const BANNED: &[(&str, &str)] = &[
    ("Instant,SystemTime,UNIX_EPOCH", "time is an argument"),
    ("std::env,std::fs,std::net,std::os,std::process", "effects leave by return value"),
    ("stdin,stdout,stderr,print!,println!,eprint!,eprintln!,dbg!", "effects leave by return value"),
    ("std::thread", "one run is one thread; parallelism is across runs"),
    ("RandomState", "its seed comes from the machine; randomness has a name and an owner"),
    ("HashMap", "its order differs from run to run; use `BTreeMap`"),
    ("HashSet", "its order differs from run to run; use `BTreeSet`"),
    ("std::{,std::*,std as,use std;", "name the module, so that it is seen what is used"),
];

/// Finds the banned texts in the crates of [`PURE`].
pub fn check(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let is_pure = |path: &str| PURE.split(' ').any(|pure| path.starts_with(&format!("{pure}/src/")));
    for file in tree.ending(".rs").filter(|file| is_pure(&file.path)) {
        for (words, why) in BANNED {
            for word in words.split(',').filter(|word| file.text.contains(word)) {
                let found = lines(&file.text).filter(|(_, line)| has_word(line, word));
                let breach = |line| Breach::at(&file.path, line, format!("`{word}` in a pure crate: {why}"));
                breaches.extend(found.map(|(line, _)| breach(line)));
            }
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(text: &str) -> usize {
        check(&Tree::of_files(&[("simulator/sim/src/a.rs", text), ("gateway/service/src/a.rs", text)])).len()
    }

    #[test]
    fn effects_are_found_under_any_import_name() {
        for word in BANNED.iter().flat_map(|(words, _)| words.split(',')) {
            assert_eq!(breaches(&format!("fn a() {{}}\nfn b() {{ {word}(c) }}")), 1, "{word}");
        }
        for text in ["use std::{fmt, fs};", "use std::time::*; fn a() { Instant::now(); }", "use ::std as s;"]
        {
            assert_eq!(breaches(text), 1, "{text}");
        }
    }

    #[test]
    fn comments_tests_and_longer_names_are_no_breach() {
        let fine = "//! std::fs\nuse std::time::Duration; // HashMap\nuse core::net::IpAddr;\nfn f(a: Instantly) {}\n\
            #[cfg(test)]\nmod tests {\n    use std::time::Instant;\n}\n";
        assert_eq!(breaches(fine), 0);
    }
}
