//! The arrows between crates: which may be built with which.

use super::breach::Breach;
use super::tree::Tree;

/// The name of the rule on arrows.
pub const ARROWS: &str = "arrows";
/// The name of the rule on core.
pub const CORE: &str = "core depends on nothing";

/// Each crate, and the crates of the house that it may be built with. `ARCHITECTURE.md` explains
/// the table; its only copy is here. A new crate or arrow is a decision: a file in
/// `docs/adr` says why.
pub const ALLOWED: &[(&str, &[&str])] = &[
    ("fairwire-core", &[]),
    ("fairwire-parameters-macro", &[]),
    ("fairwire-parameters", &["fairwire-core", "fairwire-parameters-macro"]),
    ("fairwire-laws", &["fairwire-core", "fairwire-parameters"]),
    ("fairwire-catalogue", &["fairwire-core", "fairwire-laws", "fairwire-parameters"]),
    ("fairwire-link", &["fairwire-catalogue", "fairwire-core", "fairwire-laws"]),
    ("fairwire-document", &["fairwire-core"]),
    ("fairwire-wire", &["fairwire-core"]),
    ("fairwire-metrics", &["fairwire-core"]),
    ("fairwire-tcp", &["fairwire-core", "fairwire-parameters"]),
    ("fairwire-testing", &["fairwire-core"]),
    ("fairwire-figures", &[]),
    ("fairwire-web", &[]),
    ("fairwire-linux", &["fairwire-core", "fairwire-wire"]),
    ("fairwire-testbed", &["fairwire-core", "fairwire-linux", "fairwire-wire"]),
    ("fairwire-sim", &["fairwire-core", "fairwire-metrics", "fairwire-tcp"]),
    (
        "fairwire-scenario",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-laws",
            "fairwire-document",
            "fairwire-metrics",
            "fairwire-parameters",
            "fairwire-sim",
            "fairwire-tcp",
            "fairwire-wire",
        ],
    ),
    ("fairwire-play", &["fairwire-core", "fairwire-metrics", "fairwire-scenario"]),
    ("fairwire-play-wasm", &["fairwire-play"]),
    ("fairwire-sweep", &["fairwire-core", "fairwire-document", "fairwire-metrics", "fairwire-scenario"]),
    (
        "fairwire-study",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-laws",
            "fairwire-document",
            "fairwire-figures",
            "fairwire-metrics",
            "fairwire-scenario",
            "fairwire-sim",
            "fairwire-tcp",
        ],
    ),
    (
        "fairwire-gateway",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-laws",
            "fairwire-document",
            "fairwire-linux",
            "fairwire-metrics",
            "fairwire-parameters",
            "fairwire-testbed",
            "fairwire-web",
            "fairwire-wire",
        ],
    ),
    (
        "fairwire-experiment",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-gateway",
            "fairwire-laws",
            "fairwire-link",
            "fairwire-linux",
            "fairwire-metrics",
            "fairwire-scenario",
            "fairwire-sim",
            "fairwire-tcp",
            "fairwire-testbed",
            "fairwire-wire",
        ],
    ),
    (
        "fairwire",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-experiment",
            "fairwire-laws",
            "fairwire-document",
            "fairwire-figures",
            "fairwire-gateway",
            "fairwire-linux",
            "fairwire-metrics",
            "fairwire-parameters",
            "fairwire-play",
            "fairwire-scenario",
            "fairwire-sweep",
            "fairwire-study",
            "fairwire-testbed",
            "fairwire-web",
            "fairwire-wire",
        ],
    ),
    (
        "fairwire-oracle",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-experiment",
            "fairwire-laws",
            "fairwire-linux",
            "fairwire-metrics",
            "fairwire-testbed",
            "fairwire-wire",
        ],
    ),
    (
        "fairwire-field",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-document",
            "fairwire-laws",
            "fairwire-gateway",
            "fairwire-linux",
            "fairwire-metrics",
            "fairwire-testbed",
        ],
    ),
    (
        "own-discipline",
        &["fairwire", "fairwire-catalogue", "fairwire-core", "fairwire-laws", "fairwire-parameters"],
    ),
    ("own-controller", &["fairwire", "fairwire-parameters", "fairwire-scenario", "fairwire-tcp"]),
    (
        "own-marker",
        &["fairwire", "fairwire-catalogue", "fairwire-core", "fairwire-laws", "fairwire-parameters"],
    ),
    (
        "own-source",
        &["fairwire", "fairwire-core", "fairwire-parameters", "fairwire-scenario", "fairwire-sim"],
    ),
    (
        "own-endpoint",
        &["fairwire", "fairwire-core", "fairwire-parameters", "fairwire-scenario", "fairwire-sim"],
    ),
    (
        "endpoint-quinn",
        &["fairwire", "fairwire-core", "fairwire-parameters", "fairwire-scenario", "fairwire-sim"],
    ),
    (
        "endpoint-smoltcp",
        &["fairwire", "fairwire-core", "fairwire-parameters", "fairwire-scenario", "fairwire-sim"],
    ),
    (
        "fairwire-python",
        &[
            "fairwire-catalogue",
            "fairwire-core",
            "fairwire-document",
            "fairwire-figures",
            "fairwire-laws",
            "fairwire-metrics",
            "fairwire-parameters",
            "fairwire-scenario",
            "fairwire-sim",
            "fairwire-study",
            "fairwire-sweep",
            "fairwire-tcp",
        ],
    ),
    ("link-quinn", &["fairwire-link"]),
    ("link-smoltcp", &["fairwire-link"]),
    ("xtask", &[]),
];

/// Every crate and every arrow is in the table.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for krate in &tree.crates {
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == krate.name) else {
            breaches
                .push(breach(ARROWS, format!("the crate `{}` is not in the table of arrows", krate.name)));
            continue;
        };
        for other in krate.dependencies.iter().filter(|d| is_of_the_house(d, tree)) {
            if !allowed.contains(&other.as_str()) {
                let message = format!(
                    "`{}` must not be built with `{other}`; allowed: {}",
                    krate.name,
                    if allowed.is_empty() { "nothing of the house".into() } else { allowed.join(", ") }
                );
                breaches.push(breach(ARROWS, message));
            }
        }
    }
    breaches
}

/// The core is built with nothing at all.
pub fn check_core(tree: &Tree) -> Vec<Breach> {
    let core = tree.crates.iter().filter(|krate| krate.name == "fairwire-core");
    let dependencies = core.flat_map(|krate| &krate.dependencies);
    dependencies.map(|other| breach(CORE, format!("fairwire-core is built with `{other}`"))).collect()
}

fn is_of_the_house(name: &str, tree: &Tree) -> bool {
    ALLOWED.iter().any(|(known, _)| *known == name) || tree.crates.iter().any(|krate| krate.name == name)
}

fn breach(rule: &'static str, what: String) -> Breach {
    let message = format!("{what} (a new crate or arrow needs a decision, see docs/adr/crates.md)");
    Breach { rule, path: "proof/xtask/src/house/arrows.rs".into(), line: 0, message }
}

#[cfg(test)]
mod tests {
    use super::super::tree::Crate;
    use super::*;

    fn tree(name: &str, dependencies: &[&str]) -> Tree {
        let dependencies = dependencies.iter().map(|d| d.to_string()).collect();
        Tree { crates: vec![Crate { name: name.into(), dependencies }], ..Tree::default() }
    }

    #[test]
    fn the_gateway_may_not_know_the_simulator() {
        let breaches = check(&tree("fairwire-gateway", &["fairwire-core", "fairwire-sim"]));
        assert_eq!(breaches.len(), 1);
        assert!(breaches[0].message.contains("`fairwire-sim`"), "{}", breaches[0]);
    }

    #[test]
    fn libraries_from_outside_are_no_arrows() {
        assert_eq!(check(&tree("fairwire-metrics", &["fairwire-core", "serde"])), []);
    }

    #[test]
    fn an_unknown_crate_needs_a_decision() {
        let breaches = check(&tree("fairwire-extra", &[]));
        assert!(breaches[0].message.contains("docs/adr/crates.md"), "{}", breaches[0]);
    }

    #[test]
    fn the_core_may_not_depend_even_on_a_good_library() {
        assert_eq!(check_core(&tree("fairwire-core", &["libm"])).len(), 1);
        assert_eq!(check_core(&tree("fairwire-core", &[])), []);
    }
}
