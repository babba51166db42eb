//! The house rules, held against this repository.

use xtask::house::{RULES, Tree, root};

#[test]
fn the_house_keeps_its_rules() {
    let tree = Tree::load(root()).expect("git and cargo can list the repository");
    let breaches: Vec<String> =
        RULES.iter().flat_map(|rule| (rule.check)(&tree)).map(|breach| breach.to_string()).collect();
    assert!(breaches.is_empty(), "{} breaches:\n{}", breaches.len(), breaches.join("\n"));
}

#[test]
fn the_check_sees_the_whole_repository() {
    let tree = Tree::load(root()).expect("git and cargo can list the repository");
    for name in ["fairwire-core", "fairwire-sim", "fairwire-gateway", "fairwire"] {
        assert!(tree.crates.iter().any(|krate| krate.name == name), "{name} was not seen");
    }
    for path in ["Cargo.toml", "README.md", "crates/core/src/queue.rs", "docs/adr/README.md"] {
        assert!(tree.file(path).is_some(), "{path} was not seen");
    }
}
