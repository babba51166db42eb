//! Checks the direct and indirect dependencies of the programs that people install, as resolved in
//! `Cargo.lock`. Dev-dependencies do not count: `Cargo.lock` omits them for external libraries.

use super::breach::Breach;
use super::tree::Tree;
use std::collections::BTreeMap;

/// Programs, and the crates that they must not contain. A `*` matches any ending of a name.
const WITHOUT: &[(&str, &str)] = &[
    (
        "fairwire-gateway",
        "fairwire-sim fairwire-tcp fairwire-scenario fairwire-study fairwire-sweep fairwire-figures \
         fairwire-experiment parquet arrow-*",
    ),
    ("fairwire", "fairwire-service fairwire-page fairwire-subscribers rusqlite landlock seccompiler"),
];

/// Crates for tests and benchmarks, which no program may contain.
const FOR_TESTS: &str = "fairwire-testing proptest criterion";

/// A crate, and its required dependency. The lab runs the gateway's datapath.
const WITH: &[(&str, &str)] = &[("fairwire-experiment", "fairwire-datapath")];

/// Checks that each program lacks the forbidden crates, and contains the required crates.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let lock = tree.file("Cargo.lock").map_or("", |lock| &lock.text);
    let libraries = libraries(lock);
    let mut breaches = Vec::new();
    let mut found = |message: String| breaches.push(Breach::of("Cargo.lock", message));
    if libraries.is_empty() {
        found("names no packages".into());
    }
    for (program, without) in WITHOUT {
        let parts = parts(tree, &libraries, program);
        if parts.is_empty() {
            found(format!("the workspace has no program `{program}`"));
        }
        for (name, by) in parts.iter().filter(|(name, _)| bans(without, name) || bans(FOR_TESTS, name)) {
            found(format!("`{program}` must not be built with `{name}`, which `{by}` brings"));
        }
    }
    for (name, other) in WITH {
        if !parts(tree, &libraries, name).contains_key(other) {
            found(format!("`{name}` must be built with `{other}`"));
        }
    }
    breaches
}

fn bans(words: &str, name: &str) -> bool {
    let is_named = |word: &str| word.strip_suffix('*').map_or(name == word, |begin| name.starts_with(begin));
    words.split_whitespace().any(is_named)
}

/// The dependencies of each package, over all versions.
type Libraries<'a> = BTreeMap<&'a str, Vec<&'a str>>;

fn libraries(lock: &str) -> Libraries<'_> {
    let (mut libraries, mut name) = (Libraries::new(), "");
    for line in lock.lines() {
        if let Some(rest) = line.strip_prefix("name = \"") {
            name = rest.trim_end_matches('"');
        } else if let Some(rest) = line.strip_prefix(" \"") {
            libraries.entry(name).or_default().extend(rest.split([' ', '"']).next());
        }
    }
    libraries
}

/// Every crate in `program`, with a crate that depends on it.
fn parts<'a>(tree: &'a Tree, libraries: &Libraries<'a>, program: &'a str) -> BTreeMap<&'a str, &'a str> {
    let (mut parts, mut next) = (BTreeMap::new(), vec![program]);
    while let Some(by) = next.pop() {
        let ours = tree.krate(by).map(|krate| krate.dependencies.iter().map(String::as_str).collect());
        for name in ours.or(libraries.get(by).cloned()).unwrap_or_default() {
            if parts.insert(name, by).is_none() {
                next.push(name);
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(program: &str, dependency: &str) -> Vec<String> {
        let lock =
            "name = \"outside\"\n \"deeper\",\nname = \"deeper\"\n \"parquet 60.0.0\",\n \"rusqlite\",\n";
        let of = |name| if name == program { dependency } else { "fairwire-core" };
        let mut tree = Tree::of_crates(&[
            ("fairwire-web", "fairwire-sim"),
            ("fairwire-experiment", "fairwire-datapath"),
            ("fairwire-gateway", of("fairwire-gateway")),
            ("fairwire", of("fairwire")),
        ]);
        tree.files = Tree::of_files(&[("Cargo.lock", lock)]).files;
        check(&tree).into_iter().map(|breach| breach.message).collect()
    }

    #[test]
    fn forbidden_dependencies_of_a_program_are_found_on_any_path() {
        let one = |program: &str, dependency: &str, part: &str| {
            let found = messages(program, dependency);
            assert!(found.len() == 1 && found[0].contains(&format!("`{part}`")), "{part}: {found:?}");
        };
        for (program, without) in WITHOUT {
            for ban in without.split_whitespace().chain(FOR_TESTS.split_whitespace()) {
                one(program, &ban.replace('*', "array"), &ban.replace('*', "array"));
            }
        }
        one("fairwire-gateway", "fairwire-web", "fairwire-sim");
        one("fairwire-gateway", "outside", "parquet");
        one("fairwire", "outside", "rusqlite");
        assert_eq!(messages("fairwire", "fairwire-web"), [""; 0]);
    }

    #[test]
    fn programs_exist_and_the_lab_has_the_datapath() {
        let found = check(&Tree::of_crates(&[("fairwire-experiment", "fairwire-core")]));
        assert_eq!(found.len(), 1 + WITHOUT.len() + WITH.len());
    }
}
