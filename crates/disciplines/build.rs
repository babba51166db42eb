//! Gathers the module documentation of this crate, so that it can be shown by name at run time.
//!
//! `docs.rs` in the output folder maps each module path, such as `crate::dropper::red`, to the text of its `//!` lines.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src");
    println!("cargo::rerun-if-changed=src");
    let mut modules = Vec::new();
    gather(&root, "crate", &mut modules)?;
    modules.sort();
    let mut text = String::from("&[\n");
    for (path, doc) in modules {
        writeln!(text, "    ({path:?}, {doc:?}),").expect("writing to a string succeeds");
    }
    text.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("docs.rs"), text)
}

fn gather(folder: &Path, module: &str, modules: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if path.is_dir() {
            gather(&path, &format!("{module}::{stem}"), modules)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = if stem == "mod" { module.into() } else { format!("{module}::{stem}") };
            modules.push((name, doc_of(&fs::read_to_string(&path)?)));
        }
    }
    Ok(())
}

/// The text of the `//!` lines that a file begins with.
fn doc_of(source: &str) -> String {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}
