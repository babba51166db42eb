//! The house rules, checked on this repository.

use std::path::Path;
use xtask::book;
use xtask::house::{Tree, arrows, check, purity, root};

#[test]
fn the_house_keeps_its_rules() {
    let tree = Tree::load(root()).expect("git and cargo can list the repository");
    let breaches = check(&tree);
    assert!(breaches.is_empty(), "{} breaches:\n{}", breaches.len(), breaches.join("\n"));
}

#[test]
fn the_check_sees_the_whole_repository() {
    let tree = Tree::load(root()).expect("git and cargo can list the repository");
    for name in arrows::KNOWS.iter().flat_map(|(names, _)| names.split(' ')) {
        assert!(tree.krate(&format!("fairwire-{name}")).is_some(), "{name} was not seen");
    }
    for folder in purity::PURE.split(' ') {
        assert!(tree.file(&format!("{folder}/src/lib.rs")).is_some(), "{folder} was not seen");
    }
    for path in ["Cargo.toml", "README.md", "docs/adr/README.md", "docs/pictures/play.png"] {
        assert!(tree.file(path).is_some(), "{path} was not seen");
    }
}

#[test]
fn the_pages_of_the_repository_make_a_book() {
    let tree = Tree::load(root()).expect("git and cargo can list the repository");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    assert!(book::stage(&tree, &out).expect("every page of the contents is there") > 100);
    for page in ["SUMMARY.md", "index.md", "docs/reference/faba.md", "docs/pictures/shares.svg"] {
        assert!(out.join(page).is_file(), "{page} was not written");
    }
}
