//! Banned texts: names of our machines, and texts that only one file or folder may use.

use super::breach::Breach;
use super::tree::{File, Tree};

/// A ban: the beginning or end of a path, or a folder in it such as `/tests/`; the beginning of exempt
/// paths; the texts (separated by `,`); and the reason.
///
/// A `~`, which is removed before the search, keeps this file from breaking the ban.
const BANS: &[(&str, &str, &str, &str)] = &[
    ("", NOWHERE, FOLDERS, "a folder of one machine; use a path relative to the repository"),
    ("", NOWHERE, MIRRORS, "a source of packages belongs in the machine's own configuration"),
    ("web/src/", NOWHERE, MARKUP, "text in a page becomes no markup, and is not run"),
    ("web/src/", NOWHERE, "https://", "a page loads nothing from another host"),
    (".rs", NOWHERE, "fn ~get_", "a function that returns a value is named after the value"),
    (".rs", NOWHERE, EXTREMES, "a limit is called `MAX_` or `MIN_`"),
    (".rs", "foundation/testbed/", NAMESPACES, "the test bed alone makes network namespaces"),
    (
        "/tests/",
        NOWHERE,
        ".spa~wn()",
        "a failed test leaves the process; start it with `fairwire_testing`'s `Running`",
    ),
];

const NOWHERE: &str = "-";
const FOLDERS: &str = "/wo~rk/,/ro~ot/,/ho~me/,/Us~ers/,/tmp/~bash_jobs,/tmp/~target-";
const MIRRORS: &str = "replace~-with,index~-url,CARGO_~REGISTRIES_,npm_config_~registry,PIP_~INDEX,GO~PROXY";
const MARKUP: &str =
    "innerHTML,outerHTML,insertAdjacentHTML,dangerouslySetInnerHTML,document.write,eval(,new Function";
const EXTREMES: &str = "const ~MOST_,const ~LARGEST_,const ~LONGEST_,const ~GREATEST_,\
    const ~LEAST_,const ~FEWEST_,const ~SMALLEST_,const ~SHORTEST_";
const NAMESPACES: &str = "unshare~_unsafe,Unshare~Flags,libc::~unshare,CLONE_~NEWNET";

const PUBLIC: &[&str] = &["https://github.com/rust-lang/crates.io-index\"", "https://registry.npmjs.org/"];

/// Checks that no file has a banned text, and that lock files name only public sources.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for file in &tree.files {
        let is_at = |place: &str| match place {
            folder if folder.starts_with('/') => file.path.contains(folder),
            _ => file.path.starts_with(place) || file.path.ends_with(place),
        };
        let here = BANS.iter().filter(|(place, except, ..)| is_at(place) && !file.path.starts_with(except));
        for (_, _, texts, why) in here {
            let texts = texts.split(',').map(|text| text.replace('~', ""));
            for text in texts.filter(|text| file.text.contains(text)) {
                breaches.extend(lines(file, |line| has(line, &text), &format!("`{text}`: {why}")));
            }
        }
        if is_at("lock") || is_at("-lock.json") {
            breaches.extend(lines(file, is_private, "a package comes from a source that is not public"));
        }
    }
    breaches
}

fn lines(file: &File, is_found: impl Fn(&str) -> bool, message: &str) -> Vec<Breach> {
    let found = file.text.lines().enumerate().filter(|(_, line)| is_found(line));
    found.map(|(at, _)| Breach::at(&file.path, at + 1, message)).collect()
}

/// Does `line` contain `text`, but not inside a longer path? `/a/` is not found in `docs/a/`.
fn has(line: &str, text: &str) -> bool {
    let is_inside = |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || "._-".contains(c));
    line.match_indices(text).any(|(at, _)| !text.starts_with('/') || !is_inside(&line[..at]))
}

fn is_private(line: &str) -> bool {
    let is_source = line.contains("source = ") || line.contains("\"resolved\"");
    is_source && !PUBLIC.iter().any(|public| line.contains(public))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    #[test]
    fn every_text_is_found_only_where_it_is_banned() {
        for (place, except, texts, _) in BANS {
            for text in texts.split(',').map(|text| text.replace('~', "")) {
                let banned = breaches(&format!("{place}a{place}"), &format!("fine\nb {text}x"));
                let allowed = breaches(&format!("{except}{place}"), &text);
                assert_eq!([banned, allowed], [1, 0], "{text}");
            }
        }
        assert_eq!(breaches("a.rs", "docs/home/a.md https://a.org"), 0);
    }

    #[test]
    fn a_lock_file_names_public_sources_only() {
        let public = "https://github.com/rust-lang/crates.io-index";
        assert_eq!(breaches("Cargo.lock", &format!("source = \"registry+{public}\"")), 0);
        assert_eq!(breaches("Cargo.lock", &format!("source = \"registry+{public}.example\"")), 1);
        assert_eq!(breaches("ui/package-lock.json", "\"resolved\": \"http://mirror.example/a.tgz\""), 1);
    }
}
