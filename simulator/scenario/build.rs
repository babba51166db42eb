//! Identifies the engine: `FAIRWIRE_ENGINE` is a hash of the sources on which a run depends,
//! without comments and tests. It distinguishes builds of the same version.
//!
//! If a crate is missing outside the repository, the version common to all crates is hashed
//! instead.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

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
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let mut engine = Sha256::new();
    for name in ENGINE {
        let Some(folder) = folder(&root, name, &version) else {
            let in_repository = root.join("../../foundation").is_dir();
            assert!(!in_repository, "there is no crate `{name}`");
            engine = Sha256::new_with_prefix(&version);
            break;
        };
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        let mut sources = Vec::new();
        gather(&folder.join("src"), &mut sources)?;
        hash(&mut engine, sources, name, &folder)?;
    }
    let engine: String = engine.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=FAIRWIRE_ENGINE={engine}");
    Ok(())
}

/// The folder of an engine crate. It is in the repository, or next to this crate, where registries
/// and `cargo vendor` unpack crates.
fn folder(root: &Path, name: &str, version: &str) -> Option<PathBuf> {
    let package = name.rsplit('/').next().unwrap_or_default();
    let places = [
        format!("../../{name}"),
        format!("../fairwire-{package}-{version}"),
        format!("../fairwire-{package}"),
    ];
    places.into_iter().map(|place| root.join(place)).find(|folder| folder.join("src").is_dir())
}

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

/// Hashes the code of `files`. The build script of `study` has its own variant of this function. A
/// crate shared by both would be built twice.
fn hash(all: &mut Sha256, mut files: Vec<PathBuf>, name: &str, folder: &Path) -> io::Result<()> {
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    for path in files {
        let below = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        all.update(format!("{name}/{below}"));
        let text = fs::read_to_string(&path)?;
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]").map(str::trim);
        for line in code.filter(|line| !line.is_empty() && !line.starts_with("//")) {
            all.update(line.as_bytes());
            all.update(b"\n");
        }
    }
    Ok(())
}
