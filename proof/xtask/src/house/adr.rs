//! Every decision is in the index, and the index names no decision that is not there.

use super::breach::Breach;
use super::tree::Tree;

/// The name of the rule.
pub const NAME: &str = "decisions";

const FOLDER: &str = "docs/adr/";
const INDEX: &str = "docs/adr/README.md";
const SECTIONS: &[&str] = &["## Context", "## Decision", "## Consequences"];

/// Decisions are numbered without gaps, have all sections, and are listed in the index.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let Some(index) = tree.file(INDEX) else {
        return vec![breach(INDEX, "the index of decisions is missing".into())];
    };
    let mut breaches = Vec::new();
    let decisions = tree.files.iter().filter(|f| f.path.starts_with(FOLDER) && f.path != INDEX);
    for (at, file) in decisions.enumerate() {
        let name = &file.path[FOLDER.len()..];
        let number = format!("{:04}-", at + 1);
        if !name.starts_with(&number) || !name.ends_with(".md") {
            breaches.push(breach(&file.path, format!("the next decision is called `{number}<topic>.md`")));
        }
        if !index.text.contains(&format!("({name})")) {
            breaches.push(breach(&file.path, format!("is not linked in {INDEX}")));
        }
        for section in SECTIONS.iter().filter(|s| !file.text.lines().any(|line| line == **s)) {
            breaches.push(breach(&file.path, format!("has no section `{section}`")));
        }
    }
    breaches.extend(dead_links(tree, &index.text));
    breaches
}

fn dead_links(tree: &Tree, index: &str) -> Vec<Breach> {
    let targets = index.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let decisions = targets.filter(|target| target.starts_with(|c: char| c.is_ascii_digit()));
    let dead = decisions.filter(|target| tree.file(&format!("{FOLDER}{target}")).is_none());
    dead.map(|target| breach(INDEX, format!("links to `{target}`, which is not there"))).collect()
}

fn breach(path: &str, message: String) -> Breach {
    Breach { rule: NAME, path: path.into(), line: 0, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# 1\n## Context\n## Decision\n## Consequences\n";

    fn breaches(index: &str, name: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(INDEX, index), (&format!("{FOLDER}{name}"), text)])).len()
    }

    #[test]
    fn a_decision_in_the_index_with_its_sections_is_well() {
        assert_eq!(breaches("[1](0001-a.md)", "0001-a.md", TEXT), 0);
    }

    #[test]
    fn a_decision_outside_the_index_is_found() {
        assert_eq!(breaches("", "0001-a.md", TEXT), 1);
    }

    #[test]
    fn a_gap_in_the_numbers_is_found() {
        assert_eq!(breaches("[2](0002-a.md)", "0002-a.md", TEXT), 1);
    }

    #[test]
    fn a_missing_section_is_found() {
        assert_eq!(breaches("[1](0001-a.md)", "0001-a.md", "## Context\n## Decision\n"), 1);
    }

    #[test]
    fn a_dead_link_and_a_missing_index_are_found() {
        assert_eq!(breaches("[1](0001-a.md) [2](0002-b.md)", "0001-a.md", TEXT), 1);
        assert_eq!(check(&Tree::default()).len(), 1);
    }
}
