//! The source tree that the rules look at.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The text files of the repository and what cargo knows of its crates.
#[derive(Debug, Default)]
pub struct Tree {
    /// Every text file that is committed or about to be, sorted by path.
    pub files: Vec<File>,
    /// The paths of the files that are no text, such as pictures.
    pub binaries: Vec<String>,
    /// Every crate of the workspace.
    pub crates: Vec<Crate>,
}

/// A text file.
#[derive(Debug)]
pub struct File {
    /// Relative to the root, with forward slashes.
    pub path: String,
    /// Its whole text.
    pub text: String,
}

/// A crate of the workspace.
#[derive(Debug, Default)]
pub struct Crate {
    /// The package's name.
    pub name: String,
    /// What it is built with: its normal and build dependencies, by name. Dev-dependencies are not
    /// among them.
    pub dependencies: Vec<String>,
}

impl Tree {
    /// Reads the repository at `root`. Git lists the files, and cargo the crates.
    pub fn load(root: PathBuf) -> Result<Tree, String> {
        let (mut files, binaries) = read_files(&root)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files, binaries, crates: read_crates(&root)? })
    }

    /// A tree of made-up files, for tests of rules.
    pub fn of_files(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File { path: path.to_string(), text: text.to_string() };
        Tree { files: files.iter().map(file).collect(), ..Tree::default() }
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust sources.
    pub fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

/// The folders that hold crates, one folder each.
const GROUPS: &[&str] = &["foundation", "simulator", "gateway", "proof", "python"];

impl File {
    /// Is the file in the folder `<group>/<name>/src`?
    pub fn is_source_of(&self, name: &str) -> bool {
        let mut parts = self.path.split('/');
        self.is_in_a_crate() && parts.nth(1) == Some(name) && parts.next() == Some("src")
    }

    /// Is the file in a folder that holds crates?
    pub fn is_in_a_crate(&self) -> bool {
        GROUPS.iter().any(|group| self.path.strip_prefix(group).is_some_and(|rest| rest.starts_with('/')))
    }
}

/// The text files, and the paths of the others.
fn read_files(root: &Path) -> Result<(Vec<File>, Vec<String>), String> {
    // safe.directory: continuous integration may read a clone that another user owns.
    let args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = run(Command::new("git").args(args), root)?;
    let listed = String::from_utf8(listed).map_err(|_| "git lists a path that is not UTF-8".to_string())?;
    let (mut files, mut binaries) = (Vec::new(), Vec::new());
    for path in listed.split_terminator('\0') {
        // Deleted but still in the index, or a link to nowhere: nothing to check.
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        match String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')) {
            Some(text) => files.push(File { path: path.to_string(), text }),
            None => binaries.push(path.to_string()),
        }
    }
    Ok((files, binaries))
}

fn read_crates(root: &Path) -> Result<Vec<Crate>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let json = run(Command::new(cargo).args(["metadata", "--format-version", "1", "--no-deps"]), root)?;
    parse_crates(&json)
}

/// Reads what `cargo metadata --no-deps` prints.
pub fn parse_crates(json: &[u8]) -> Result<Vec<Crate>, String> {
    let metadata: Value = serde_json::from_slice(json).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    packages.iter().map(parse_crate).collect()
}

fn parse_crate(package: &Value) -> Result<Crate, String> {
    let name = package["name"].as_str().ok_or("a package has no name")?;
    let dependencies = package["dependencies"].as_array().ok_or("a package has no list of dependencies")?;
    let built_with = dependencies.iter().filter(|d| d["kind"] != "dev");
    Ok(Crate {
        name: name.to_string(),
        dependencies: built_with.filter_map(|d| d["name"].as_str()).map(String::from).collect(),
    })
}

fn run(command: &mut Command, root: &Path) -> Result<Vec<u8>, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.current_dir(root).output().map_err(|e| format!("cannot run `{program}`: {e}"))?;
    if !output.status.success() {
        return Err(format!("`{program}` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dev_dependencies_are_no_arrows_and_build_dependencies_are() {
        let json = br#"{"packages":[{"name":"a","dependencies":[
            {"name":"normal","kind":null},{"name":"dev","kind":"dev"},{"name":"build","kind":"build"}]}]}"#;
        let crates = parse_crates(json).expect("well formed");
        assert_eq!(crates[0].dependencies, ["normal", "build"]);
    }

    #[test]
    fn what_is_not_cargo_metadata_is_refused() {
        assert!(parse_crates(b"not json").is_err());
        assert!(parse_crates(b"{}").is_err());
    }

    #[test]
    fn a_source_belongs_to_one_crate() {
        let tree = Tree::of_files(&[("simulator/tcp/src/lib.rs", ""), ("simulator/tcp/tests/a.rs", "")]);
        assert!(tree.files[0].is_source_of("tcp"));
        assert!(!tree.files[0].is_source_of("tc"));
        assert!(!tree.files[1].is_source_of("tcp"));
    }
}
