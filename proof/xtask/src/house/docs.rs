//! Checks documentation: links have targets, quoted code matches, and every field is described.

use super::breach::Breach;
use super::code::has_word;
use super::markdown::{headings, links, links_of_code, resolved};
use super::tree::{File, Tree};
use serde_json::Value;
use std::collections::BTreeSet;

/// Each JSON schema, the page that describes its fields, and folders with further such pages.
const DESCRIBED: &[(&str, &str, &[&str])] = &[
    ("docs/schema/results.json", "docs/results-schema.md", &[]),
    ("docs/schema/scenario.json", "docs/scenario.md", &["docs/scenario/", "docs/reference/"]),
    ("docs/schema/snapshot.json", "docs/gateway/telemetry.md", &[]),
];

const QUOTES: [&str; 2] = ["<!-- quote: ", "<!-- quote part: "];

/// The index of the decisions, which are in the same folder.
const INDEX: &str = "docs/adr/README.md";
const SECTIONS: &[&str] = &["## Context", "## Decision", "## Consequences"];
const MAX_WORDS: usize = 450;

/// The table of contents of the site.
pub const CONTENTS: &str = "docs/SUMMARY.md";
/// A marker that is replaced by links to all pages of the folder that it names.
pub const EVERY_PAGE_OF: &str = "<!-- every page of ";

/// Checks that every relative link of a page leads to a file or a folder of the repository, and to
/// an existing heading. If the text of a link to a source is an item's name, the source must
/// contain that name.
pub fn check_links(tree: &Tree) -> Vec<Breach> {
    tree.ending(".md").flat_map(|page| dead_links(tree, page)).collect()
}

fn dead_links(tree: &Tree, page: &File) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut found = |line, message: String| breaches.push(Breach::at(&page.path, line, message));
    let is_here = |(_, target): &(usize, &str)| !target.contains("://") && !target.starts_with("mailto:");
    for (line, target) in links(&page.text).filter(is_here) {
        let (path, part) = target.split_once('#').unwrap_or((target, ""));
        let to = if path.is_empty() { page.path.clone() } else { resolved(&page.path, path) };
        let has = |file: &File| headings(&file.text).any(|(heading, _)| heading == part);
        if !tree.has(&to) {
            found(line, format!("links to `{path}`, which is not there"));
        } else if to.ends_with(".md") && !part.is_empty() && !tree.file(&to).is_some_and(has) {
            found(line, format!("links to `{target}`, but `{to}` has no such heading"));
        }
    }
    for (line, name, target) in links_of_code(&page.text) {
        let source = tree.file(&resolved(&page.path, target)).filter(|file| file.path.ends_with(".rs"));
        let last = name.rsplit("::").next().unwrap_or(name);
        if source.is_some_and(|file| !has_word(&file.text, last)) && !name.contains(['/', '.', '`']) {
            found(line, format!("links `{name}` to `{target}`, which has no such name"));
        }
    }
    breaches
}

/// Checks that the site's contents include every page below `docs`, by a link or by a marker for
/// its folder.
pub fn check_contents(tree: &Tree) -> Vec<Breach> {
    let contents = tree.file(CONTENTS).map_or("", |contents| &contents.text);
    let linked: BTreeSet<String> = links(contents).map(|(_, target)| resolved(CONTENTS, target)).collect();
    let folders: BTreeSet<&str> =
        contents.split(EVERY_PAGE_OF).skip(1).filter_map(|rest| Some(rest.split_once(" -->")?.0)).collect();
    let is_listed = |path: &str| {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        path == CONTENTS || linked.contains(path) || folders.contains(folder)
    };
    let lost = tree.ending(".md").filter(|page| page.path.starts_with("docs/") && !is_listed(&page.path));
    lost.map(|page| Breach::of(&page.path, format!("nothing leads to it: {CONTENTS} does not"))).collect()
}

/// Checks that a block below `<!-- quote: PATH -->` equals the file, and that a block below `<!--
/// quote part: PATH -->` is in the file.
pub fn check_quotes(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (page, mark) in tree.ending(".md").flat_map(|page| QUOTES.map(|mark| (page, mark))) {
        let is_first = |at: usize| at == 0 || page.text[..at].ends_with('\n');
        for (at, _) in page.text.match_indices(mark).filter(|(at, _)| is_first(*at)) {
            let (path, rest) = page.text[at + mark.len()..].split_once(" -->").unwrap_or_default();
            let block = rest.split_once("\n```").and_then(|(_, code)| code.split_once('\n'));
            let quoted = block.and_then(|(_, code)| code.split_once("```")).map_or("", |(code, _)| code);
            let is_quoted = |file: &File| {
                file.text == quoted || (mark == QUOTES[1] && !quoted.is_empty() && file.text.contains(quoted))
            };
            if !tree.file(path).is_some_and(is_quoted) {
                let message = format!("what is quoted is not what `{path}` says: copy it into the block");
                breaches.push(Breach::at(&page.path, page.text[..at].lines().count() + 1, message));
            }
        }
    }
    breaches
}

/// Checks that the page that describes a schema names every field, in backquotes.
pub fn check_fields(tree: &Tree) -> Vec<Breach> {
    DESCRIBED.iter().flat_map(|(schema, page, more)| undescribed(tree, schema, page, more)).collect()
}

fn undescribed(tree: &Tree, schema: &str, page: &str, more: &[&str]) -> Vec<Breach> {
    let json: Option<Value> = tree.file(schema).and_then(|file| serde_json::from_str(&file.text).ok());
    let mut names = BTreeSet::new();
    fields(&json.unwrap_or_default(), &mut names);
    if names.is_empty() {
        return vec![Breach::of(schema, "names no field (run `make schema`)")];
    }
    let is_one = |file: &&File| file.path == page || more.iter().any(|folder| file.path.starts_with(folder));
    for file in tree.ending(".md").filter(is_one) {
        let code = file.text.split('`').skip(1).step_by(2);
        for word in code.flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && !"_-+".contains(c))) {
            names.remove(word);
        }
    }
    names.iter().map(|name| Breach::of(page, format!("does not describe `{name}` of {schema}"))).collect()
}

fn fields(schema: &Value, names: &mut BTreeSet<String>) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        names.extend(properties.keys().cloned());
    }
    match schema {
        Value::Object(object) => object.values().for_each(|value| fields(value, names)),
        Value::Array(values) => values.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

/// Checks that each decision has all sections and at most [`MAX_WORDS`] words, and that the index
/// links it.
pub fn check_decisions(tree: &Tree) -> Vec<Breach> {
    let index = tree.file(INDEX).map_or("", |index| &index.text);
    let linked: BTreeSet<String> = links(index).map(|(_, target)| resolved(INDEX, target)).collect();
    let mut breaches = Vec::new();
    let is_in_force =
        |path: &str| path != INDEX && path.rsplit_once('/').is_some_and(|at| at.0 == "docs/adr");
    for file in tree.files.iter().filter(|file| is_in_force(&file.path)) {
        let sections = file.text.lines().filter(|line| SECTIONS.contains(line)).count();
        let words = file.text.split_whitespace().count();
        if sections < SECTIONS.len() || words > MAX_WORDS || !linked.contains(&file.path) {
            let sections = SECTIONS.join(", ");
            let message =
                format!("must have {sections}, at most {MAX_WORDS} words ({words}), and a link in {INDEX}");
            breaches.push(Breach::of(&file.path, message));
        }
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(check: super::super::Check, page: &str) -> Vec<usize> {
        let text = "# A title\n## `[link]` and *more*\n## Twice\n## Twice\n```\n# code\n```\n## See [x](a.rs), now\n";
        let others = [("b.md", text), ("a.rs", "pub struct Name;\n\nfn b() {}\n"), ("docs/d/x.md", "")];
        let files = [&others[..], &[("docs/a.md", page)]].concat();
        check(&Tree::of_files(&files)).into_iter().map(|breach| breach.line).collect()
    }

    #[test]
    fn links_lead_to_files_folders_headings_names_and_the_web() {
        let fine = "[a](../b.md#twice-1) [c](d/) [e](https://example.org) [f](#here) [g](../b.md#a-title)\n# Here\n\
            [h](../b.md#link-and-more) [i](../b.md#see-x-now)\n```\n[g](h.md)\n```\n";
        assert_eq!(lines(check_links, fine), [0; 0]);
        assert_eq!(lines(check_links, "x\n[b](b.md)\n[c](#there)\n[d](../b.md#code)"), [2, 3, 4]);
        let names = "[`Name`](../a.rs) [`a::Name`](../a.rs) [`src/a.rs`](../a.rs)";
        assert_eq!(lines(check_links, names), [0; 0]);
        assert_eq!(lines(check_links, "[`Nam`](../a.rs)\n[`Name::new`](../a.rs)"), [1, 2]);
    }

    #[test]
    fn a_page_missing_from_the_contents_is_found() {
        let contents = "- [A](a.md)\n- [All](all/README.md)\n<!-- every page of docs/all -->\n";
        let check = |path| check_contents(&Tree::of_files(&[(CONTENTS, contents), (path, "")])).len();
        assert_eq!(["docs/a.md", "docs/all/x.md", "docs/all/README.md", "studies/x.md"].map(check), [0; 4]);
        assert_eq!(["docs/b.md", "docs/all/below/x.md"].map(check), [1, 1]);
    }

    #[test]
    fn a_quote_is_all_or_part_of_the_file_verbatim() {
        let quote = |mark: &str, code: &str| {
            lines(check_quotes, &format!("Text.\n\n{mark}a.rs -->\n```rust\n{code}```\n")).len()
        };
        let (whole, part) = ("pub struct Name;\n\nfn b() {}\n", "fn b() {}\n");
        assert_eq!([whole, part, "fn c() {}\n", ""].map(|code| quote(QUOTES[0], code)), [0, 1, 1, 1]);
        assert_eq!([whole, part, "fn c() {}\n", ""].map(|code| quote(QUOTES[1], code)), [0, 0, 1, 1]);
        assert_eq!(lines(check_quotes, "<!-- quote: c.rs -->\n```\n```\n"), [1]);
    }

    #[test]
    fn an_undocumented_field_is_found() {
        let schema = r#"{"properties": {"rate": {"items": {"properties": {"min_rto": {}}}}}}"#;
        let check = |schema, page, more| {
            let files = [("s.json", schema), ("p.md", page), ("more/q.md", more)];
            undescribed(&Tree::of_files(&files), "s.json", "p.md", &["more/"]).len()
        };
        let named = [("`rate = \"10 Mbit/s\"` and `min_rto`", ""), ("`rate`", "`min_rto`")];
        assert_eq!(named.map(|(page, more)| check(schema, page, more)), [0, 0]);
        assert_eq!(
            ["`rate` and min_rto", "`rate` and `min_rtos`"].map(|page| check(schema, page, "")),
            [1, 1]
        );
        assert_eq!(["{}", ""].map(|schema| check(schema, "", "")), [1, 1]);
        assert_eq!(check_fields(&Tree::default()).len(), DESCRIBED.len());
    }

    #[test]
    fn a_decision_is_in_the_index_has_its_sections_and_fits_a_page() {
        let check = |index: &str, path: &str, text: &str| {
            check_decisions(&Tree::of_files(&[(INDEX, index), (path, text)])).len()
        };
        let of_words = |count: usize| SECTIONS.join("\n") + "\n" + &"a ".repeat(count - 6);
        let sizes =
            [MAX_WORDS, MAX_WORDS + 1].map(|count| check("[a](a.md)", "docs/adr/a.md", &of_words(count)));
        assert_eq!(sizes, [0, 1]);
        assert_eq!(check("[a](a.md)", "docs/adr/a.md", "## Context\n## Decision\n"), 1);
        assert_eq!(check("[a](other/a.md)", "docs/adr/a.md", &of_words(99)), 1);
    }
}
