//! Checks the permitted dependencies between crates, called arrows. `ARCHITECTURE.md` explains
//! [`FOLDERS`] and [`KNOWS`]. A file in `docs/adr` has the reason for each exception.

use super::breach::Breach;
use super::tree::{Crate, Tree};

/// Each folder of crates, and the folders whose crates they may use.
const FOLDERS: &[(&str, &str)] = &[
    ("foundation", "foundation"),
    ("simulator", "foundation simulator"),
    ("gateway", "foundation gateway"),
    ("python", "foundation simulator"),
    ("examples", "foundation simulator gateway"),
    ("proof", "foundation simulator gateway proof"),
];

/// Exceptions to [`FOLDERS`]: a crate, and a crate that it uses. The lab in `experiment` puts the
/// gateway's datapath between real hosts.
const EXCEPTIONS: &[(&str, &str)] = &[("experiment", "datapath")];

/// Stricter rules for some crates: their names, and the only internal crates on which they may
/// depend.
pub const KNOWS: &[(&str, &str)] = &[
    ("core parameters-macro figures web", ""),
    ("document metrics testing wire", "core"),
    ("parameters", "core parameters-macro"),
    ("laws tcp", "core parameters"),
    ("catalogue", "core laws parameters"),
    ("c", "catalogue core laws wire"),
    ("link", "catalogue core laws"),
    ("terminal", "core document"),
    ("linux", "core wire"),
    ("testbed", "core linux wire"),
    ("sim", "core metrics tcp"),
    ("control", "wire"),
    ("datapath", "core linux metrics wire"),
];

/// Checks that every crate depends only on what its folder and [`KNOWS`] allow. The core may not
/// even depend on an external library.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let arrows = tree.crates.iter().flat_map(|from| from.dependencies.iter().map(move |to| (from, to)));
    let breach = |(from, to): (&Crate, &String)| {
        let why = fault(tree, from, to)?;
        let message = format!("must not be built with `{to}`: {why} (or a decision, see docs/adr/crates.md)");
        Some(Breach::of(&format!("{}/Cargo.toml", from.folder), message))
    };
    arrows.filter_map(breach).collect()
}

fn fault(tree: &Tree, from: &Crate, to: &str) -> Option<String> {
    let (name, other) = (short(&from.name), short(to));
    let Some(to) = tree.krate(to) else {
        return (name == "core").then(|| "the core depends on nothing".into());
    };
    let (folder, of_other) = (top(from), top(to));
    if let Some((_, known)) = KNOWS.iter().find(|(names, _)| has(names, name)) {
        return (!has(known, other)).then(|| format!("of the house it may know [{known}]"));
    }
    let is_allowed = FOLDERS.iter().any(|(from, to)| *from == folder && has(to, of_other));
    (!is_allowed && !EXCEPTIONS.contains(&(name, other)))
        .then(|| format!("{folder} does not know {of_other}"))
}

fn short(name: &str) -> &str {
    name.trim_start_matches("fairwire-")
}

fn top(krate: &Crate) -> &str {
    krate.folder.split('/').next().unwrap_or_default()
}

fn has(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|other| other == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRATES: &str = "foundation/core foundation/laws foundation/catalogue foundation/document foundation/link \
        foundation/terminal foundation/web foundation/metrics simulator/sim simulator/figures simulator/scenario \
        simulator/experiment simulator/fairwire gateway/control gateway/datapath gateway/service gateway/page \
        proof/stages examples/own python/python";

    fn breaches(arrow: &str) -> usize {
        let (from, to) = arrow.split_once('>').expect("an arrow");
        let name = |short: &str| CRATES.contains(&format!("/{short}")).then(|| format!("fairwire-{short}"));
        let to = name(to).unwrap_or(to.into());
        let krate = |folder: &str| Crate {
            name: name(folder.split_once('/').expect("a folder").1).expect("a name"),
            folder: folder.into(),
            dependencies: if folder.ends_with(&format!("/{from}")) { vec![to.clone()] } else { Vec::new() },
            targets: Vec::new(),
        };
        check(&Tree { crates: CRATES.split_whitespace().map(krate).collect(), ..Tree::default() }).len()
    }

    #[test]
    fn forbidden_arrows_are_found() {
        let folders = "laws>scenario link>sim terminal>scenario web>page scenario>datapath experiment>service \
            experiment>control service>sim service>scenario page>figures fairwire>service python>service \
            core>stages scenario>stages service>stages own>stages";
        let crates = "core>metrics core>libm laws>catalogue laws>web sim>laws sim>catalogue figures>core web>core \
            document>catalogue metrics>laws terminal>catalogue control>core control>datapath datapath>catalogue \
            datapath>document datapath>service datapath>page";
        for arrow in folders.split_whitespace().chain(crates.split_whitespace()) {
            assert_eq!(breaches(arrow), 1, "{arrow}");
        }
    }

    #[test]
    fn other_arrows_and_libraries_from_outside_are_allowed() {
        let fine =
            "experiment>datapath scenario>catalogue page>service stages>service own>fairwire metrics>serde";
        for arrow in fine.split_whitespace() {
            assert_eq!(breaches(arrow), 0, "{arrow}");
        }
    }
}
