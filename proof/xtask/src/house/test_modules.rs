//! Every file of integration tests is part of its crate's test binary.
//!
//! The tests of a crate are modules of `tests/it/main.rs`. A file that no module declares is never
//! compiled, and its tests would pass unseen.

use super::breach::Breach;
use super::tree::Tree;
use std::collections::BTreeSet;

/// The name of the rule.
pub const NAME: &str = "test modules";

/// Each `tests/it/<name>.rs` and `tests/it/<name>/` has its line `mod <name>;` in
/// `tests/it/main.rs`.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let mut modules = BTreeSet::new();
    for file in tree.rust() {
        let Some((krate, rest)) = file.path.split_once("/tests/it/") else { continue };
        let name = rest.split('/').next().unwrap_or(rest);
        modules.insert((krate, name.strip_suffix(".rs").unwrap_or(name)));
    }
    let undeclared =
        modules.into_iter().filter(|&(krate, name)| name != "main" && !is_declared(tree, krate, name));
    undeclared.map(|(krate, name)| breach(krate, name)).collect()
}

fn is_declared(tree: &Tree, krate: &str, name: &str) -> bool {
    let line = format!("mod {name};");
    tree.file(&main(krate)).is_some_and(|main| main.text.lines().any(|l| l == line))
}

fn main(krate: &str) -> String {
    format!("{krate}/tests/it/main.rs")
}

fn breach(krate: &str, name: &str) -> Breach {
    let message = format!("the tests in `tests/it/{name}` are not compiled; add `mod {name};`");
    Breach { rule: NAME, path: main(krate), line: 0, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tests_without_its_module_is_a_breach() {
        let files = [
            ("gateway/a/tests/it/main.rs", "mod declared;\nmod folder;\n"),
            ("gateway/a/tests/it/declared.rs", ""),
            ("gateway/a/tests/it/folder/mod.rs", ""),
            ("gateway/a/tests/it/forgotten.rs", ""),
            ("gateway/a/tests/alone.rs", ""),
        ];
        let breaches = check(&Tree::of_files(&files));
        assert_eq!(breaches.len(), 1);
        assert!(breaches[0].message.contains("`mod forgotten;`"));
    }
}
