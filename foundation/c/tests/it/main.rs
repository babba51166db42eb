//! The library as C sees it.

mod names;
mod programs;
mod same;

use std::path::PathBuf;
use std::process::Command;

fn library(extension: &str) -> PathBuf {
    let test = std::env::current_exe().expect("it is a file");
    let library = test.with_file_name(format!("libfairwire_c.{extension}"));
    assert!(library.exists(), "{} is missing", library.display());
    library
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
