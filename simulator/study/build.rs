//! Embeds the studies of the repository, and hashes the sources that influence their results.
//!
//! `FAIRWIRE_WATCHERS` and `FAIRWIRE_COMPUTED` are hashes of sources in this crate, without
//! comments and tests. A stored result is current only if these hashes and the engine's
//! (`fairwire_scenario::ENGINE`) are the same.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The sources of this crate that turn a run into its result on disk.
const WATCHERS: [&str; 2] = ["src/packets.rs", "src/watch.rs"];

const COMPUTED_READS: [&str; 1] = ["studies/2003-pan-afd/mixed.toml"];

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    WATCHERS.iter().for_each(|name| println!("cargo::rerun-if-changed={name}"));
    let watchers = WATCHERS.map(|name| root.join(name)).to_vec();
    println!("cargo::rustc-env=FAIRWIRE_WATCHERS={}", hash(watchers, &root)?);
    let mut computed = Vec::new();
    gather(&root.join("src/computed"), &mut computed)?;
    computed.extend(COMPUTED_READS.map(|file| root.join(file)));
    println!("cargo::rerun-if-changed=src/computed");
    println!("cargo::rustc-env=FAIRWIRE_COMPUTED={}", hash(computed, &root)?);
    // In the repository, this path is a link to the folder of studies. In the package, it is the
    // folder itself.
    studies(&root.join("studies"))
}

fn studies(folder: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    gather(folder, &mut files)?;
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    assert!(
        !files.is_empty(),
        "{} has no study: is it a link to the folder of the repository?",
        folder.display()
    );
    let mut text = String::from("&[\n");
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let part = |path: Option<&Path>| {
            path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
        };
        let (study, name) = (part(path.parent()), part(Some(&path)));
        let path = path.canonicalize()?;
        writeln!(text, "    ({study:?}, {name:?}, include_str!({path:?})),").expect("a string takes all");
    }
    text.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("studies.rs"), text)
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

fn hash(mut files: Vec<PathBuf>, root: &Path) -> io::Result<String> {
    files.retain(|path| path.extension().is_some_and(|ending| ending == "rs" || ending == "toml"));
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
    Ok(all.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}
