//! Things that may exist only once: the verdict, the description of what sends, and the crate that
//! makes network namespaces.
//!
//! A second one begins as an enum or a call by an author who did not know the first. An enum is
//! identified by its variants, whatever its name.

use super::breach::Breach;
use super::tokens;
use super::tree::{File, Tree};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The name of the rule.
pub const NAME: &str = "one-of-each";

/// Something of which there is one.
struct Once {
    /// What it is for.
    what: &'static str,
    /// An enum with two of these variants is one of these.
    variants: &'static [&'static str],
    /// Where it may be: what there is, and what only looks like it, with the reason.
    places: &'static [(&'static str, &'static str)],
}

const ONCE: &[Once] = &[
    Once {
        what: "a verdict",
        variants: &[
            "Agrees",
            "Differs",
            "DoesNotHold",
            "Fails",
            "Holds",
            "NotTestable",
            "Unclear",
            "Undecided",
            "WithinIntervals",
            "WithinTolerance",
        ],
        places: &[("foundation/metrics/src/judge.rs", "it is the one")],
    },
    Once {
        what: "what sends",
        variants: &["Bulk", "Cbr", "Cubic", "Ping", "Reno", "Tcp", "Udp"],
        places: &[
            ("simulator/sim/src/plan.rs", "the simulator's plan, which has every constant of its own TCP"),
            ("foundation/testbed/src/traffic.rs", "what a real host does"),
            (
                "proof/field/src/contest/group.rs",
                "as files of the field type it; the test bed's is made of it",
            ),
            ("foundation/wire/", "protocols of headers send nothing"),
        ],
    },
];

/// The crate that makes network namespaces, and what it takes to make one.
const NAMESPACES: (&str, &[&str]) =
    ("foundation/testbed/", &["NEWNET", "CLONE_NEWNET", "unshare_unsafe", "unshare"]);

/// No enum and no call is a second one of what there is one of. Tests may have their own.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let is_shipped = |file: &&File| file.is_in_a_crate() && file.path.contains("/src/");
    tree.rust().filter(is_shipped).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Breach> {
    let Ok(read) = tokens::read(&file.text) else { return Vec::new() }; // `purity` reports what is not Rust
    let code = tokens::without_tests(read);
    let mut breaches = Vec::new();
    let mut found =
        |line, message| breaches.push(Breach { rule: NAME, path: file.path.clone(), line, message });
    tokens::each_level(&code, &mut |level| {
        for (name, body) in enums(level) {
            let variants = variants(body);
            let is_second = |once: &&Once| {
                let alike = once.variants.iter().filter(|known| variants.iter().any(|own| own == *known));
                alike.count() >= 2 && !once.places.iter().any(|(place, _)| file.path.starts_with(place))
            };
            for once in ONCE.iter().filter(is_second) {
                let (place, _) = once.places[0];
                let message = format!("`{name}` is another type for {}: there is one in {place}", once.what);
                found(name.span().start().line, message);
            }
        }
        let (home, words) = NAMESPACES;
        for token in level.iter().filter(|_| !file.path.starts_with(home)) {
            if let TokenTree::Ident(word) = token
                && words.contains(&word.to_string().as_str())
            {
                let message = format!("`{word}`: network namespaces are made in {home} alone");
                found(word.span().start().line, message);
            }
        }
    });
    breaches
}

/// The enums among `tokens`: the name of each, and the content of its braces.
fn enums(tokens: &[TokenTree]) -> impl Iterator<Item = (&proc_macro2::Ident, TokenStream)> {
    tokens.windows(2).enumerate().filter_map(|(at, pair)| {
        let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair else { return None };
        let body = tokens[at + 2..].iter().find_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
            _ => None,
        });
        (keyword == "enum").then_some(())?;
        Some((name, body?))
    })
}

/// The names of the variants in the braces of an enum: the first word between each two commas.
fn variants(body: TokenStream) -> Vec<String> {
    let (mut names, mut is_next) = (Vec::new(), true);
    for token in body {
        match token {
            TokenTree::Ident(name) if is_next => {
                names.push(name.to_string());
                is_next = false;
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' => is_next = true,
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    #[test]
    fn a_second_verdict_is_found_whatever_it_is_called() {
        let verdict =
            "/// Of a claim.\npub enum Fate { #[serde(rename = \"agrees\")] Agrees, Shown, Differs(String) }";
        assert_eq!(breaches("simulator/study/src/a.rs", verdict), 1);
        assert_eq!(breaches("simulator/study/src/a.rs", &format!("mod inner {{ {verdict} }}")), 1);
        assert_eq!(breaches("foundation/metrics/src/judge.rs", verdict), 0);
        assert_eq!(breaches("foundation/core/src/dropper.rs", "pub enum Verdict { Pass, Drop(Cause) }"), 0);
        assert_eq!(
            breaches("simulator/study/src/a.rs", &format!("#[cfg(test)] mod tests {{ {verdict} }}")),
            0
        );
        assert_eq!(breaches("simulator/study/tests/a.rs", verdict), 0);
    }

    #[test]
    fn a_second_enum_of_what_sends_is_found() {
        let sends = "enum Kind { Tcp { recovery: u8 }, Cbr { bps: u64 } }";
        assert_eq!(breaches("proof/oracle/src/cell.rs", sends), 1);
        assert_eq!(breaches("foundation/testbed/src/traffic.rs", sends), 0);
        assert_eq!(breaches("proof/oracle/src/cell.rs", "enum Kind { Tcp, Other }"), 0);
    }

    #[test]
    fn a_namespace_is_made_in_the_test_bed_alone() {
        let makes = "fn f() { unshare_unsafe(UnshareFlags::NEWNET) }";
        assert_eq!(breaches("gateway/service/src/a.rs", makes), 2);
        assert_eq!(breaches("foundation/testbed/src/host.rs", makes), 0);
    }
}
