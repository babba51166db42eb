//! The house rules, as checks.
//!
//! A rule looks at the [`Tree`] and returns its breaches: none when it is kept. [`RULES`] lists
//! them all; a rule that is not in it does not exist.

pub mod adr;
pub mod arrows;
pub mod breach;
pub mod circles;
pub mod docs;
pub mod length;
pub mod manifests;
pub mod naming;
pub mod once;
pub mod pages;
pub mod prose;
pub mod purity;
pub mod readability;
pub mod test_modules;
pub mod text;
pub mod tokens;
pub mod tree;

pub use breach::Breach;
use std::path::PathBuf;
pub use tree::Tree;

/// One rule of the house.
pub struct Rule {
    /// Its name, as printed with each breach.
    pub name: &'static str,
    /// Finds its breaches.
    pub check: fn(&Tree) -> Vec<Breach>,
}

/// Every rule, in the order in which they are checked.
pub const RULES: &[Rule] = &[
    Rule { name: arrows::ARROWS, check: arrows::check },
    Rule { name: arrows::CORE, check: arrows::check_core },
    Rule { name: circles::NAME, check: circles::check },
    Rule { name: purity::NAME, check: purity::check },
    Rule { name: length::NAME, check: length::check },
    Rule { name: naming::NAME, check: naming::check },
    Rule { name: once::NAME, check: once::check },
    Rule { name: pages::NAME, check: pages::check },
    Rule { name: readability::NAME, check: readability::check },
    Rule { name: manifests::INHERIT, check: manifests::check_crates },
    Rule { name: manifests::REASONS, check: manifests::check_reasons },
    Rule { name: test_modules::NAME, check: test_modules::check },
    Rule { name: text::NAME, check: text::check },
    Rule { name: adr::NAME, check: adr::check },
    Rule { name: docs::LINKS, check: docs::check_links },
    Rule { name: docs::CONTENTS_RULE, check: docs::check_contents },
    Rule { name: docs::QUOTES, check: docs::check_quotes },
    Rule { name: prose::NAME, check: prose::check },
    Rule { name: docs::FIELDS, check: docs::check_fields },
];

/// The root of this repository.
pub fn root() -> PathBuf {
    // Two folders above xtask's own manifest, known to the compiler: the check works from any folder.
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).map(PathBuf::from).unwrap_or(manifest)
}
