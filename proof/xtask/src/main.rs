//! `cargo xtask <task>`: development tasks.

use std::process::ExitCode;
use xtask::{book, house};

const TASKS: &str = "cargo xtask <task>

  house         check the house rules (STYLE.md, ARCHITECTURE.md)
  book FOLDER   write the pages of docs/SUMMARY.md into a folder, for mdBook (`make docs`)";

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let done = house::Tree::load(house::root()).and_then(|tree| match given[..] {
        ["house"] => check_house(&tree),
        ["book", out] => {
            book::stage(&tree, out.as_ref()).map(|pages| println!("book: {pages} pages in {out}"))
        }
        _ => Err(TASKS.into()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn check_house(tree: &house::Tree) -> Result<(), String> {
    let (breaches, rules, files) = (house::check(tree), house::RULES.len(), tree.files.len());
    if !breaches.is_empty() {
        return Err(format!(
            "{}\nhouse: {} breaches of {rules} rules ({files} files read)",
            breaches.join("\n"),
            breaches.len()
        ));
    }
    println!("house: {rules} rules kept ({files} files read)");
    Ok(())
}
