//! `cargo xtask <task>`: development tasks.

use std::path::Path;
use std::process::ExitCode;
use xtask::{book, house};

const TASKS: &str = "house         check the house rules (STYLE.md, ARCHITECTURE.md)
  book FOLDER   write the pages of docs/SUMMARY.md into a folder, for mdBook (`make docs`)";

fn main() -> ExitCode {
    let (task, place) = (std::env::args().nth(1), std::env::args().nth(2));
    match task.as_deref() {
        Some("house") => check_house(),
        Some("book") if place.is_some() => stage_book(place.unwrap_or_default().as_ref()),
        Some("help" | "--help" | "-h") => {
            println!("cargo xtask <task>\n\n  {TASKS}");
            ExitCode::SUCCESS
        }
        given => {
            eprintln!("no task `{}`; allowed:\n\n  {TASKS}", given.unwrap_or_default());
            ExitCode::from(2)
        }
    }
}

fn stage_book(out: &Path) -> ExitCode {
    match house::Tree::load(house::root()).and_then(|tree| book::stage(&tree, out)) {
        Ok(pages) => {
            println!("book: {pages} pages in {}", out.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("book: {error}");
            ExitCode::from(2)
        }
    }
}

fn check_house() -> ExitCode {
    let tree = match house::Tree::load(house::root()) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("house: {error}");
            return ExitCode::from(2);
        }
    };
    let mut broken = 0;
    for rule in house::RULES {
        let breaches = (rule.check)(&tree);
        broken += usize::from(!breaches.is_empty());
        for breach in breaches {
            eprintln!("{breach}");
        }
    }
    let (rules, files) = (house::RULES.len(), tree.files.len());
    if broken > 0 {
        eprintln!("house: {broken} of {rules} rules broken ({files} files read)");
        return ExitCode::FAILURE;
    }
    println!("house: {rules} rules kept ({files} files read)");
    ExitCode::SUCCESS
}
