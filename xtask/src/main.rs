//! `cargo xtask <task>`: development tasks.

use std::process::ExitCode;
use xtask::house;

const TASKS: &str = "house    check the house rules (STYLE.md, ARCHITECTURE.md)";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    match task.as_deref() {
        Some("house") => check_house(),
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
