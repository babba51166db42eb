//! No file names a machine of ours: no home folders, no private package mirrors.

use super::breach::Breach;
use super::tree::{File, Tree};

/// The name of the rule.
pub const NAME: &str = "machine names";

// In two pieces each, so that this file does not break its own rule.
const FOLDERS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Use", "rs/"),
    concat!("/tmp/", "bash_jobs"),
    concat!("/tmp/", "target-"),
];

const MIRRORS: &[&str] = &[
    concat!("replace", "-with"),
    concat!("index", "-url"),
    concat!("CARGO_", "REGISTRIES_"),
    concat!("npm_config_", "registry"),
    concat!("PIP_", "INDEX"),
    concat!("GO", "PROXY"),
];

/// Where the packages named in a lock file may come from.
const PUBLIC_SOURCES: &[&str] = &[
    "https://github.com/rust-lang/crates.io-index",
    "https://registry.npmjs.org/",
    "https://files.pythonhosted.org/",
];

/// No text file names a folder of a developer's machine or a package mirror, and lock files name
/// public sources only.
pub fn check(tree: &Tree) -> Vec<Breach> {
    tree.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Breach> {
    let is_lock = file.path.ends_with(".lock") || file.path.ends_with("package-lock.json");
    let mut breaches = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        if let Some(message) = names_machine(line).or_else(|| is_lock.then(|| private_source(line))?) {
            breaches.push(Breach { rule: NAME, path: file.path.clone(), line: at + 1, message });
        }
    }
    breaches
}

fn names_machine(line: &str) -> Option<String> {
    if let Some(folder) = FOLDERS.iter().find(|folder| has_path(line, folder)) {
        return Some(format!(
            "names the folder `{folder}` of one machine; use a path relative to the repository"
        ));
    }
    let mirror = MIRRORS.iter().find(|mirror| line.contains(**mirror))?;
    Some(format!("sets a package source (`{mirror}`); that belongs in the machine's own configuration"))
}

/// Does `line` hold `folder` at the start of a path? Not as a part of a longer one, such as
/// `docs/home/`.
fn has_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder)
        .any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-".contains(c)))
}

fn private_source(line: &str) -> Option<String> {
    let url = &line[line.find("https://").or_else(|| line.find("http://"))?..];
    let is_source = line.contains("source = ") || line.contains("\"resolved\"");
    let is_public = PUBLIC_SOURCES.iter().any(|public| url.starts_with(public));
    (is_source && !is_public).then(|| "a package comes from a source that is not public".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    #[test]
    fn folders_of_a_machine_are_found() {
        for folder in FOLDERS {
            assert_eq!(breaches("README.md", &format!("see `{folder}x`")), 1, "{folder}");
        }
    }

    #[test]
    fn the_same_words_inside_a_relative_path_or_a_url_are_no_breach() {
        assert_eq!(
            breaches("README.md", concat!("docs/ho", "me/a.md and https://example.org/net", "/wo", "rks/")),
            0
        );
    }

    #[test]
    fn package_mirrors_are_found() {
        for mirror in MIRRORS {
            assert_eq!(breaches(".cargo/config.toml", &format!("{mirror} = x")), 1, "{mirror}");
        }
    }

    #[test]
    fn a_lock_file_names_public_sources_only() {
        let lock = |source| breaches("Cargo.lock", &format!("source = \"registry+{source}\""));
        assert_eq!(lock("https://github.com/rust-lang/crates.io-index"), 0);
        assert_eq!(lock("https://mirror.example/index"), 1);
        assert_eq!(breaches("ui/package-lock.json", "\"resolved\": \"http://mirror.example/a.tgz\""), 1);
    }
}
