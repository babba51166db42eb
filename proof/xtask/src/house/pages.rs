//! The sources of pages make no markup of text, run no text, and name no other host.

use super::breach::Breach;
use super::tree::{File, Tree};

/// The name of the rule.
pub const NAME: &str = "pages";

/// What the sources of pages do not use, and why.
const BANNED: &[(&str, &str)] = &[
    ("innerHTML", "text becomes markup"),
    ("outerHTML", "text becomes markup"),
    ("insertAdjacentHTML", "text becomes markup"),
    ("dangerouslySetInnerHTML", "text becomes markup"),
    ("document.write", "text becomes markup"),
    ("eval(", "text is run"),
    ("new Function", "text is run"),
    ("https://", "a page loads nothing from another host"),
];

/// Finds what pages must not use. A name of XML is no address that anything loads from.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let is_page = |file: &&File| file.path.starts_with("web/src/");
    tree.files.iter().filter(is_page).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Breach> {
    let breach = |line: usize, (what, why): &(&str, &str)| Breach {
        rule: NAME,
        path: file.path.clone(),
        line: line + 1,
        message: format!("a page must not use `{what}`: {why}"),
    };
    let lines = file.text.lines().enumerate();
    lines
        .flat_map(|(line, text)| {
            BANNED.iter().filter(move |(what, _)| text.contains(what)).map(move |banned| (line, banned))
        })
        .map(|(line, banned)| breach(line, banned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_a_page_becomes_no_markup_and_is_not_run() {
        let breaches = |path, text| check(&Tree::of_files(&[(path, text)])).len();
        assert_eq!(
            breaches("web/src/play/a.ts", "element.innerHTML = name;\nelement.textContent = name;"),
            1
        );
        assert_eq!(breaches("web/src/kit/a.tsx", "fetch(\"https://example.org\")"), 1);
        assert_eq!(breaches("web/test/a.ts", "element.innerHTML"), 0);
    }
}
