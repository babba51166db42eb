//! Identifies the engine: `FAIRWIRE_ENGINE` is a hash of the sources on which a run depends, so
//! that builds of one version can be distinguished.
//!
//! Comments and tests are not part of it. Without the sources, as in a published crate, the version
//! alone identifies the engine.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates on which a run depends.
const ENGINE: [&str; 10] = [
    "foundation/core",
    "foundation/parameters",
    "foundation/laws",
    "foundation/catalogue",
    "foundation/document",
    "foundation/metrics",
    "foundation/wire",
    "simulator/tcp",
    "simulator/sim",
    "simulator/scenario",
];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = root.join("../..");
    let mut sources = Vec::new();
    for name in ENGINE {
        let folder = crates.join(name).join("src");
        assert!(folder.is_dir() || !crates.join("foundation").is_dir(), "there is no crate `{name}`");
        println!("cargo::rerun-if-changed={}", folder.display());
        gather(&folder, &mut sources)?;
    }
    println!("cargo::rustc-env=FAIRWIRE_ENGINE={}", hash(sources, &crates)?);
    Ok(())
}

/// All files under `folder`; none where there is no folder.
fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { gather(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

/// Of the code in `files`, by their paths from `root`. The build script of `study` does the same
/// with what is its own: a build script can take no code from another crate of the house without
/// building that twice.
fn hash(mut files: Vec<PathBuf>, root: &Path) -> io::Result<String> {
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    let mut all = Sha256::new();
    for path in files {
        all.update(path.strip_prefix(root).unwrap_or(&path).to_string_lossy().as_bytes());
        let text = fs::read_to_string(&path)?;
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]").map(str::trim);
        for line in code.filter(|line| !line.is_empty() && !line.starts_with("//")) {
            all.update(line.as_bytes());
            all.update(b"\n");
        }
    }
    Ok(all.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}
