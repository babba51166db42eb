//! Every decision in force is in the index, has its sections and fits a page.
//!
//! The rule [`links`](super::docs::LINKS) finds a dead link of the index, as of any page.

use super::breach::Breach;
use super::docs::{links, resolved};
use super::tree::{File, Tree};

/// The name of the rule.
pub const NAME: &str = "decisions";

const FOLDER: &str = "docs/adr/";
const INDEX: &str = "docs/adr/README.md";
const SECTIONS: &[&str] = &["## Context", "## Decision", "## Consequences"];
const MAX_WORDS: usize = 520;

/// Decisions in force have all sections and at most [`MAX_WORDS`] words, and the index links each.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let index = tree.file(INDEX).map_or("", |index| &index.text);
    let is_in_force = |file: &&File| {
        file.path != INDEX && file.path.strip_prefix(FOLDER).is_some_and(|name| !name.contains('/'))
    };
    tree.files.iter().filter(is_in_force).flat_map(|file| faults(file, index)).collect()
}

fn faults(file: &File, index: &str) -> Vec<Breach> {
    let missing = SECTIONS.iter().filter(|section| !file.text.lines().any(|line| line == **section));
    let mut messages: Vec<String> = missing.map(|section| format!("has no section `{section}`")).collect();
    if !links(index).any(|(_, target)| resolved(INDEX, target) == file.path) {
        messages.push(format!("is not linked in {INDEX}"));
    }
    let words = file.text.split_whitespace().count();
    if words > MAX_WORDS {
        messages.push(format!("has {words} words; allowed: {MAX_WORDS}, so shorten it"));
    }
    let breach = |message| Breach { rule: NAME, path: file.path.clone(), line: 0, message };
    messages.into_iter().map(breach).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A\n## Context\n## Decision\n## Consequences\n"; // 8 words

    fn messages(index: &str, path: &str, text: &str) -> Vec<String> {
        let tree = Tree::of_files(&[(INDEX, index), (path, text)]);
        check(&tree).into_iter().map(|breach| breach.message).collect()
    }

    #[test]
    fn a_decision_is_in_the_index_and_has_its_sections() {
        assert_eq!(messages("[a](a.md)", "docs/adr/a.md", TEXT), [""; 0]);
        let found = messages("[a](archive/a.md)", "docs/adr/a.md", "## Context\n## Decision\n");
        assert_eq!(found, ["has no section `## Consequences`", "is not linked in docs/adr/README.md"]);
    }

    #[test]
    fn a_decision_may_have_520_words() {
        let check =
            |more: usize| messages("[a](a.md)", "docs/adr/a.md", &(TEXT.to_owned() + &"a ".repeat(more)));
        assert_eq!(check(512), [""; 0]);
        assert_eq!(check(513), ["has 521 words; allowed: 520, so shorten it"]);
    }

    #[test]
    fn the_archive_stays_as_it_is() {
        assert_eq!(messages("", "docs/adr/archive/0001-a.md", ""), [""; 0]);
    }
}
