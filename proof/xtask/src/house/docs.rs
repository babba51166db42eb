//! Documentation that says what is there: links lead somewhere, quoted code is the code, and every
//! field is described.

use super::breach::Breach;
use super::tree::{File, Tree};
use serde_json::Value;
use std::collections::BTreeSet;

/// The name of the rule on links.
pub const LINKS: &str = "links";
/// The name of the rule on quoted code.
pub const QUOTES: &str = "quotes";
/// The name of the rule on the contents of the site.
pub const CONTENTS_RULE: &str = "contents";
/// The name of the rule on fields.
pub const FIELDS: &str = "fields";

/// Each JSON schema, the page that describes its fields, and a folder with more such pages.
const DESCRIBED: &[(&str, &str, Option<&str>)] = &[
    ("docs/schema/results.json", "docs/results-schema.md", None),
    ("docs/schema/scenario.json", "docs/scenario.md", Some("docs/reference/")),
    ("docs/schema/snapshot.json", "docs/gateway/telemetry.md", None),
];

/// The line above a block that is a whole file, and above one that is a part of a file.
const QUOTE: &str = "<!-- quote: ";
const QUOTE_PART: &str = "<!-- quote part: ";

/// The table of contents of the site.
pub const CONTENTS: &str = "docs/SUMMARY.md";
/// Is replaced by a link to each page of the folder behind it.
pub const EVERY_PAGE_OF: &str = "<!-- every page of ";

/// Every relative link in a page leads to a file or a folder of the repository.
pub fn check_links(tree: &Tree) -> Vec<Breach> {
    pages(tree).flat_map(|page| dead_links(tree, page)).collect()
}

fn pages(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| file.path.ends_with(".md"))
}

fn dead_links(tree: &Tree, page: &File) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for (line, target) in links(&page.text) {
        let mut found =
            |message| breaches.push(Breach { rule: LINKS, path: page.path.clone(), line, message });
        let (path, part) = target.split_once('#').unwrap_or((target, ""));
        let to = if path.is_empty() { page.path.clone() } else { resolved(&page.path, path) };
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        if !is_there(tree, &to) {
            found(format!("links to `{path}`, which is not there"));
        } else if let Some(file) = tree.file(&to).filter(|_| to.ends_with(".md") && !part.is_empty())
            && !headings(&file.text).any(|(heading, _)| heading == part)
        {
            found(format!("links to `{target}`, but `{to}` has no such heading"));
        }
    }
    breaches.extend(misnamed(tree, page));
    breaches
}

/// Links such as [`Name`](file.rs) whose file does not have that name.
fn misnamed<'a>(tree: &'a Tree, page: &'a File) -> impl Iterator<Item = Breach> + 'a {
    let lines = without_code(&page.text);
    let names = lines.flat_map(|(line, text)| {
        text.match_indices("`](").filter_map(move |(at, end)| {
            let (_, name) = text[..at].rsplit_once("[`")?;
            Some((line, name, text[at + end.len()..].split_once(')')?.0))
        })
    });
    names.filter_map(|(line, name, target)| {
        let file = tree.file(&resolved(&page.path, target)).filter(|file| file.path.ends_with(".rs"))?;
        let last = name.rsplit("::").next().unwrap_or(name);
        let mut words = file.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_there = name.contains(['/', '.', '`']) || words.any(|word| word == last);
        let message = format!("links `{name}` to `{}`, which has no such name", file.path);
        (!is_there).then(|| Breach { rule: LINKS, path: page.path.clone(), line, message })
    })
}

/// The links of a page outside of its code, each with its line and its target.
pub fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    without_code(text).flat_map(|(line, text)| {
        text.split("](").skip(1).filter_map(move |rest| Some((line, rest.split_once(')')?.0)))
    })
}

/// The headings of a page: the anchor by which each is linked, as GitHub and mdBook make it, and
/// its text.
pub fn headings(text: &str) -> impl Iterator<Item = (String, &str)> {
    let mut seen: Vec<String> = Vec::new();
    without_code(text).filter_map(move |(_, line)| {
        let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?.trim();
        let slug: String = plain(title).to_lowercase().chars().filter_map(of_anchor).collect();
        let before = seen.iter().filter(|other| **other == slug).count();
        let anchor = if before == 0 { slug.clone() } else { format!("{slug}-{before}") };
        seen.push(slug);
        Some((anchor, title))
    })
}

fn of_anchor(c: char) -> Option<char> {
    if c == ' ' { Some('-') } else { Some(c).filter(|c| c.is_alphanumeric() || "-_".contains(*c)) }
}

/// The text of a heading, with links as they are read.
fn plain(title: &str) -> String {
    let mut plain = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        plain += before;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    plain + rest
}

/// The lines of a page, from 1, but for its blocks of code.
fn without_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// Where a link of `page` leads, from the root.
pub fn resolved(page: &str, target: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut path: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(path.pop()),
            name => path.push(name),
        }
    }
    path.join("/")
}

fn is_there(tree: &Tree, path: &str) -> bool {
    let mut paths = tree.files.iter().map(|file| &file.path).chain(&tree.binaries);
    paths.any(|there| there == path || there.starts_with(&format!("{path}/")))
}

/// Every page below `docs` is in the contents of the site, by itself or with all of its folder.
pub fn check_contents(tree: &Tree) -> Vec<Breach> {
    let Some(contents) = tree.file(CONTENTS) else {
        return Vec::new(); // a made-up tree
    };
    let linked: BTreeSet<String> =
        links(&contents.text).map(|(_, target)| resolved(CONTENTS, target)).collect();
    let folders: Vec<&str> = contents
        .text
        .split(EVERY_PAGE_OF)
        .skip(1)
        .filter_map(|rest| Some(rest.split_once(" -->")?.0))
        .collect();
    let is_listed = |path: &str| {
        path == CONTENTS
            || linked.contains(path)
            || folders.iter().any(|folder| path.rsplit_once('/').is_some_and(|(parent, _)| parent == *folder))
    };
    let lost = pages(tree).filter(|page| page.path.starts_with("docs/") && !is_listed(&page.path));
    lost.map(|page| {
        let message = format!("is not in {CONTENTS}, so that nothing leads to it");
        Breach { rule: CONTENTS_RULE, path: page.path.clone(), line: 0, message }
    })
    .collect()
}

/// A code block below `<!-- quote: PATH -->` is the whole of that file, word for word; one below
/// `<!-- quote part: PATH -->` is in it.
pub fn check_quotes(tree: &Tree) -> Vec<Breach> {
    let marks = |page| [(page, QUOTE), (page, QUOTE_PART)];
    pages(tree)
        .flat_map(marks)
        .flat_map(|(page, mark)| {
            let marks =
                page.text.match_indices(mark).filter(|(at, _)| page.text[..*at].ends_with('\n') || *at == 0);
            marks.filter_map(move |(at, _)| misquote(tree, page, mark, at))
        })
        .collect()
}

fn misquote(tree: &Tree, page: &File, mark: &str, at: usize) -> Option<Breach> {
    let rest = &page.text[at + mark.len()..];
    let path = rest.split(" -->").next().unwrap_or_default();
    let block =
        rest.split_once("\n```").and_then(|(_, code)| code.split_once('\n')).map_or("", |(_, code)| code);
    let quoted = block.split_once("```").map_or("", |(code, _)| code);
    let message = match tree.file(path) {
        None => format!("quotes `{path}`, which is not there"),
        Some(file) if mark == QUOTE && file.text != quoted => {
            format!("quotes `{path}` wrongly: copy the whole file into the block")
        }
        Some(file) if quoted.is_empty() || !file.text.contains(quoted) => {
            format!("quotes a part of `{path}` that is not in it: copy it into the block")
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
        let text =
            "[a](../b.md#part) [c](d/) [e](https://example.org) [f](#here)\n# Here\n```\n[g](h.md)\n```\n";
        let tree = Tree::of_files(&[("docs/a.md", text), ("b.md", "# Part\n"), ("docs/d/x.md", "")]);
        assert_eq!(check_links(&tree), []);
    }

    #[test]
    fn a_link_to_a_heading_that_is_not_there_is_found() {
        let page = "# A title\n## `[link]` and *more*\n## Twice\n## Twice\n```\n# code\n```\n## See [x](y.md), now\n";
        let anchors: Vec<String> = headings(page).map(|(anchor, _)| anchor).collect();
        assert_eq!(anchors, ["a-title", "link-and-more", "twice", "twice-1", "see-x-now"]);
        let check = |link: &str| {
            let text = format!("[a]({link})\n# Here\n");
            check_links(&Tree::of_files(&[("a.md", text.as_str()), ("b.md", page), ("y.md", "")])).len()
        };
        assert_eq!(["#here", "b.md#twice-1", "b.md"].map(check), [0, 0, 0]);
        assert_eq!(["#there", "b.md#code"].map(check), [1, 1]);
    }

    #[test]
    fn a_name_must_be_in_the_file_that_it_links_to() {
        let check = |name: &str| {
            let text = format!("[`{name}`](a.rs)");
            check_links(&Tree::of_files(&[("a.md", text.as_str()), ("a.rs", "pub struct Name;")])).len()
        };
        assert_eq!(["Name", "a::Name", "src/a.rs"].map(check), [0, 0, 0]);
        assert_eq!(["Nam", "Name::new"].map(check), [1, 1]);
    }

    #[test]
    fn a_page_that_the_contents_do_not_have_is_found() {
        let contents = "- [A](a.md)\n- [All](all/README.md)\n<!-- every page of docs/all -->\n";
        let check = |path| check_contents(&Tree::of_files(&[(CONTENTS, contents), (path, "")])).len();
        assert_eq!(["docs/a.md", "docs/all/x.md", "docs/all/README.md", "studies/x.md"].map(check), [0; 4]);
        assert_eq!(["docs/b.md", "docs/all/below/x.md"].map(check), [1, 1]);
    }

    #[test]
    fn a_part_that_is_quoted_must_be_in_the_file() {
        let check = |code: &str| {
            let page = format!("{QUOTE_PART}a.rs -->\n```rust\n{code}```\n");
            check_quotes(&Tree::of_files(&[("a.md", page.as_str()), ("a.rs", "fn a() {}\n\nfn b() {}\n")]))
                .len()
        };
        assert_eq!(["fn b() {}\n", "fn c() {}\n", ""].map(check), [0, 1, 1]);
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
