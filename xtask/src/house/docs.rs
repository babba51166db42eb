//! Documentation that says what is there: links lead somewhere, quoted code is the code, and every field is described.

use super::breach::Breach;
use super::tree::{File, Tree};
use serde_json::Value;
use std::collections::BTreeSet;

/// The name of the rule on links.
pub const LINKS: &str = "links";
/// The name of the rule on quoted code.
pub const QUOTES: &str = "quotes";
/// The name of the rule on fields.
pub const FIELDS: &str = "fields";

/// Each JSON schema, the page that describes its fields, and a folder with more such pages.
const DESCRIBED: &[(&str, &str, Option<&str>)] = &[
    ("docs/schema/results.json", "docs/results-schema.md", None),
    ("docs/schema/scenario.json", "docs/scenario.md", Some("docs/reference/")),
    ("docs/schema/snapshot.json", "docs/gateway/telemetry.md", None),
];

const QUOTE: &str = "<!-- quote: ";

/// Every relative link in a page leads to a file or a folder of the repository.
pub fn check_links(tree: &Tree) -> Vec<Breach> {
    pages(tree).flat_map(|page| dead_links(tree, page)).collect()
}

fn pages(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| file.path.ends_with(".md"))
}

fn dead_links(tree: &Tree, page: &File) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let mut is_code = false;
    for (at, line) in page.text.lines().enumerate() {
        is_code ^= line.trim_start().starts_with("```");
        for rest in line.split("](").skip(1).filter(|_| !is_code) {
            let target = rest.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !is_there(tree, &page.path, target) {
                let message = format!("links to `{target}`, which is not there");
                breaches.push(Breach { rule: LINKS, path: page.path.clone(), line: at + 1, message });
            }
        }
    }
    breaches
}

fn is_there(tree: &Tree, page: &str, target: &str) -> bool {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()),
            name => path.push(name),
        }
    }
    let path = path.join("/");
    tree.files.iter().any(|file| file.path == path || file.path.starts_with(&format!("{path}/")))
}

/// A code block below `<!-- quote: PATH -->` is the whole of that file, word for word.
pub fn check_quotes(tree: &Tree) -> Vec<Breach> {
    pages(tree)
        .flat_map(|page| page.text.match_indices(QUOTE).filter_map(|(at, _)| misquote(tree, page, at)))
        .collect()
}

fn misquote(tree: &Tree, page: &File, at: usize) -> Option<Breach> {
    let rest = &page.text[at + QUOTE.len()..];
    let path = rest.split(" -->").next().unwrap_or_default();
    let block =
        rest.split_once("\n```").and_then(|(_, code)| code.split_once('\n')).map_or("", |(_, code)| code);
    let quoted = block.split_once("```").map_or("", |(code, _)| code);
    let message = match tree.file(path) {
        None => format!("quotes `{path}`, which is not there"),
        Some(file) if file.text != quoted => {
            format!("quotes `{path}` wrongly: copy the whole file into the block")
        }
        Some(_) => return None,
    };
    let line = page.text[..at].lines().count() + 1;
    Some(Breach { rule: QUOTES, path: page.path.clone(), line, message })
}

/// Every field of a schema is named, in backquotes, on the page that describes it.
pub fn check_fields(tree: &Tree) -> Vec<Breach> {
    DESCRIBED.iter().flat_map(|(schema, page, more)| undescribed(tree, schema, page, *more)).collect()
}

fn undescribed(tree: &Tree, schema: &str, page: &str, more: Option<&str>) -> Vec<Breach> {
    let breach = |path: &str, message| Breach { rule: FIELDS, path: path.into(), line: 0, message };
    let Some(file) = tree.file(schema) else {
        return vec![breach(schema, "is missing (run `make schema`)".into())];
    };
    let Some(page) = tree.file(page) else {
        return vec![breach(page, format!("is missing: it describes {schema}"))];
    };
    let Ok(json) = serde_json::from_str::<Value>(&file.text) else {
        return vec![breach(schema, "is not JSON".into())];
    };
    let mut names = BTreeSet::new();
    fields(&json, &mut names);
    if names.is_empty() {
        return vec![breach(schema, "names no field (run `make schema`)".into())];
    }
    let more: Vec<&File> =
        pages(tree).filter(|page| more.is_some_and(|more| page.path.starts_with(more))).collect();
    let is_named = |name: &str| [page].iter().chain(&more).any(|page| names_field(&page.text, name));
    let unnamed = names.into_iter().filter(|name| !is_named(name));
    unnamed.map(|name| breach(&page.path, format!("does not describe `{name}` of {schema}"))).collect()
}

/// Is `name` inside backquotes, alone, with its value, or as the name of a table?
fn names_field(page: &str, name: &str) -> bool {
    page.split('`')
        .skip(1)
        .step_by(2)
        .any(|code| code.split(|c: char| !c.is_alphanumeric() && !"_-+".contains(c)).any(|word| word == name))
}

fn fields<'a>(schema: &'a Value, names: &mut BTreeSet<&'a str>) {
    match schema {
        Value::Object(object) => {
            let properties = object.get("properties").and_then(Value::as_object);
            names.extend(properties.into_iter().flat_map(|p| p.keys().map(String::as_str)));
            object.values().for_each(|value| fields(value, names));
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_link_is_found_with_its_line() {
        let tree = Tree::of_files(&[("docs/a.md", "x\n[b](b.md)"), ("b.md", "")]);
        let breaches = check_links(&tree);
        assert_eq!(breaches.len(), 1);
        assert_eq!(breaches[0].line, 2);
    }

    #[test]
    fn links_to_files_folders_sections_and_the_web_are_well() {
        let text = "[a](../b.md#part) [c](d/) [e](https://example.org) [f](#here)\n```\n[g](h.md)\n```\n";
        let tree = Tree::of_files(&[("docs/a.md", text), ("b.md", ""), ("docs/d/x.md", "")]);
        assert_eq!(check_links(&tree), []);
    }

    #[test]
    fn a_quote_must_be_the_file_word_for_word() {
        let page = |code: &str| format!("Text.\n\n{QUOTE}a.rs -->\n```rust\n{code}```\n");
        let check = |code: &str| {
            let page = page(code);
            check_quotes(&Tree::of_files(&[("README.md", page.as_str()), ("a.rs", "fn a() {}\n")])).len()
        };
        assert_eq!(check("fn a() {}\n"), 0);
        assert_eq!(check("fn b() {}\n"), 1);
        assert_eq!(check_quotes(&Tree::of_files(&[("README.md", &page(""))])).len(), 1);
    }

    #[test]
    fn a_field_that_no_page_describes_is_found() {
        let schema = r#"{"properties": {"rate": {"items": {"properties": {"min_rto": {}}}}}}"#;
        let check = |page| {
            undescribed(&Tree::of_files(&[("s.json", schema), ("p.md", page)]), "s.json", "p.md", None)
        };
        assert_eq!(check("`rate = \"10 Mbit/s\"` and `min_rto`"), []);
        assert_eq!(check("`rate` and min_rto").len(), 1);
        assert_eq!(check("`rate` and `min_rtos`").len(), 1);
        let files = [("s.json", schema), ("p.md", "`rate`"), ("more/q.md", "`min_rto`")];
        assert_eq!(undescribed(&Tree::of_files(&files), "s.json", "p.md", Some("more/")), []);
    }

    #[test]
    fn a_missing_schema_or_page_is_found() {
        assert_eq!(check_fields(&Tree::default()).len(), DESCRIBED.len());
        let check =
            |files: &[(&str, &str)]| undescribed(&Tree::of_files(files), "s.json", "p.md", None).len();
        assert_eq!(check(&[("s.json", "{}")]), 1);
        assert_eq!(check(&[("s.json", "{}"), ("p.md", "")]), 1, "a schema without fields describes nothing");
    }
}
