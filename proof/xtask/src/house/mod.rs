//! The house rules. A rule checks the [`Tree`] and returns its breaches. Only rules in [`RULES`]
//! are checked.

pub mod arrows;
pub mod bans;
pub mod breach;
pub mod code;
pub mod docs;
pub mod files;
pub mod manifests;
pub mod markdown;
pub mod modules;
pub mod programs;
pub mod prose;
pub mod purity;
pub mod targets;
pub mod tree;

pub use breach::Breach;
use std::path::PathBuf;
pub use tree::Tree;

/// Finds the breaches of one rule.
pub type Check = fn(&Tree) -> Vec<Breach>;

/// Every rule with its name, in the order of the checks.
pub const RULES: &[(&str, Check)] = &[
    ("arrows", arrows::check),
    ("programs", programs::check),
    ("manifests", manifests::check_crates),
    ("reasons", manifests::check_reasons),
    ("purity", purity::check),
    ("small circles", modules::check_circles),
    ("modules", modules::check_declared),
    ("files", files::check),
    ("bans", bans::check),
    ("links", docs::check_links),
    ("contents", docs::check_contents),
    ("quotes", docs::check_quotes),
    ("fields", docs::check_fields),
    ("decisions", docs::check_decisions),
    ("targets", targets::check),
    ("prose", prose::check),
];

/// The breaches of every rule, as lines that end with the name of the rule.
pub fn check(tree: &Tree) -> Vec<String> {
    let of_rule = |(name, check): &(&str, Check)| {
        let lines = check(tree).into_iter().map(|breach| format!("{breach} [{name}]"));
        lines.collect::<Vec<_>>()
    };
    RULES.iter().flat_map(of_rule).collect()
}

/// The root of this repository.
pub fn root() -> PathBuf {
    // The environment variable has priority, since the compiled-in folder may belong to another
    // checkout that shares this target folder.
    let compiled = || env!("CARGO_MANIFEST_DIR").into();
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(compiled));
    manifest.ancestors().nth(2).map(PathBuf::from).unwrap_or(manifest)
}
