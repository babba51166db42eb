//! Copies the pages in the table of contents, with their pictures, into one folder for mdBook.
//! Links to other files lead to the repository on the web.

use crate::house::docs::{CONTENTS, EVERY_PAGE_OF};
use crate::house::markdown::{headings, links, resolved};
use crate::house::tree::{File, Tree};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const PICTURE: &str = ".svg";

/// Writes the table of contents and the pages that it lists into `out`. Returns the number of
/// pages.
pub fn stage(tree: &Tree, out: &Path) -> Result<usize, String> {
    let contents = tree.file(CONTENTS).ok_or(format!("{CONTENTS} is not there"))?;
    let contents = File { path: "SUMMARY.md".into(), text: expanded(tree, contents) };
    let pages: BTreeSet<String> =
        links(&contents.text).map(|(_, target)| resolved(&contents.path, target)).collect();
    let web = format!("{}/blob/main", repository(tree)?);
    for path in &pages {
        let page = tree.file(path).ok_or(format!("{CONTENTS} links to {path}, which is not there"))?;
        write(out, &index(path), &relinked(page, &pages, &web))?;
        for picture in links(&page.text).map(|(_, target)| resolved(path, target)) {
            if let Some(file) = tree.file(&picture).filter(|_| is_picture(&picture)) {
                write(out, &picture, &file.text)?;
            }
        }
    }
    write(out, &contents.path, &relinked(&contents, &pages, &web))?;
    Ok(pages.len())
}

/// The table of contents, with link targets relative to the root. Each marker [`EVERY_PAGE_OF`]
/// becomes links to its folder's pages.
fn expanded(tree: &Tree, contents: &File) -> String {
    let mut text = String::new();
    for line in contents.text.lines() {
        match line
            .split_once(EVERY_PAGE_OF)
            .and_then(|(indent, rest)| Some((indent, rest.split_once(" -->")?.0)))
        {
            Some((indent, folder)) => {
                for page in tree.files.iter().filter(|file| is_page_of(folder, &file.path)) {
                    let title = headings(&page.text).next().map_or(page.path.as_str(), |(_, title)| title);
                    text += &format!("{indent}- [{title}]({})\n", page.path);
                }
            }
            None => text += &format!("{}\n", mapped(line, |target| resolved(&contents.path, target))),
        }
    }
    text
}

fn is_page_of(folder: &str, path: &str) -> bool {
    let below = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|name| name.ends_with(".md") && !name.contains('/') && name != "README.md")
}

fn is_picture(path: &str) -> bool {
    path.ends_with(PICTURE)
}

fn index(path: &str) -> String {
    match path.strip_suffix("README.md") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => format!("{folder}index.md"),
        _ => path.to_owned(),
    }
}

fn relinked(page: &File, pages: &BTreeSet<String>, web: &str) -> String {
    let mut is_code = false;
    let mut text = String::new();
    for line in page.text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let line =
            if is_code { line.to_owned() } else { mapped(line, |target| link(page, target, pages, web)) };
        text += &line;
        text.push('\n');
    }
    text
}

fn link(page: &File, target: &str, pages: &BTreeSet<String>, web: &str) -> String {
    let (path, part) =
        target.split_once('#').map_or((target, String::new()), |(path, part)| (path, format!("#{part}")));
    let to = resolved(&page.path, path);
    if path.is_empty() || target.contains("://") || is_picture(&to) {
        target.to_owned()
    } else if pages.contains(&to) {
        index(path) + &part
    } else if pages.contains(&format!("{to}/README.md")) {
        format!("{}/index.md{part}", path.trim_end_matches('/'))
    } else {
        format!("{web}/{to}{part}")
    }
}

fn mapped(line: &str, change: impl Fn(&str) -> String) -> String {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "](";
        match part.split_once(')') {
            Some((target, rest)) => text += &format!("{}){rest}", change(target)),
            None => text += part,
        }
    }
    text
}

fn repository(tree: &Tree) -> Result<&str, String> {
    let manifest = tree.file("Cargo.toml").ok_or("Cargo.toml is not there")?;
    let line = manifest.text.lines().find_map(|line| line.strip_prefix("repository = \""));
    line.and_then(|rest| rest.strip_suffix('"')).ok_or("Cargo.toml names no repository".into())
}

fn write(out: &Path, path: &str, text: &str) -> Result<(), String> {
    let path = out.join(path);
    let folder = path.parent().unwrap_or(out);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_in_the_book_or_lead_to_the_web() {
        let pages: BTreeSet<String> = ["README.md", "docs/a.md", "docs/b/README.md"].map(String::from).into();
        let text = "[a](a.md#x) [b](b/README.md) [b](b) [r](../README.md) [c](../src/c.rs) ![p](p.svg) [w](https://e.org) [h](#y)\n";
        let page = File { path: "docs/d.md".into(), text: format!("{text}```\n[c](c.rs)\n```\n") };
        let expected = "[a](a.md#x) [b](b/index.md) [b](b/index.md) [r](../index.md) [c](W/src/c.rs) ![p](p.svg) [w](https://e.org) [h](#y)\n";
        assert_eq!(relinked(&page, &pages, "W"), format!("{expected}```\n[c](c.rs)\n```\n"));
    }

    #[test]
    fn the_contents_have_every_page_of_a_folder_with_its_title() {
        let contents = "# Contents\n- [All](all/README.md)\n  <!-- every page of docs/all -->\n";
        let files = [
            (CONTENTS, contents),
            ("docs/all/README.md", "# All"),
            ("docs/all/x.md", "<!-- made -->\n# X\n"),
        ];
        let tree = Tree::of_files(&files);
        let text = expanded(&tree, tree.file(CONTENTS).unwrap());
        assert_eq!(text, "# Contents\n- [All](docs/all/README.md)\n  - [X](docs/all/x.md)\n");
    }
}
