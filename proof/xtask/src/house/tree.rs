//! The source tree that the rules check.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files of the repository, and cargo's data on its crates.
#[derive(Debug, Default)]
pub struct Tree {
    /// Every committed or new file, sorted by path.
    pub files: Vec<File>,
    /// Every crate of the workspace.
    pub crates: Vec<Crate>,
}

/// A file.
#[derive(Debug)]
pub struct File {
    /// The path relative to the root, with forward slashes.
    pub path: String,
    /// The entire text; empty if the file is not text, such as a picture.
    pub text: String,
}

/// A crate of the workspace.
#[derive(Debug, Default)]
pub struct Crate {
    /// The package's name.
    pub name: String,
    /// The crate's folder relative to the root, such as `foundation/core`.
    pub folder: String,
    /// The names of normal and build dependencies, without dev-dependencies.
    pub dependencies: Vec<String>,
    /// The names of its programs, tests, benchmarks and examples.
    pub targets: Vec<String>,
}

impl Tree {
    /// Reads the repository at `root`, with files from Git and crates from cargo.
    pub fn load(root: PathBuf) -> Result<Tree, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let json = run(Command::new(cargo).args(["metadata", "--format-version", "1", "--no-deps"]), &root)?;
        Ok(Tree { files: read_files(&root)?, crates: parse_crates(&json)? })
    }

    /// A tree of synthetic files, for tests of rules.
    pub fn of_files(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File { path: path.to_string(), text: text.to_string() };
        let mut files: Vec<File> = files.iter().map(file).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Tree { files, ..Tree::default() }
    }

    /// A tree of synthetic crates, each with its name and one dependency, for tests of rules.
    pub fn of_crates(crates: &[(&str, &str)]) -> Tree {
        let krate = |(name, dependency): &(&str, &str)| Crate {
            name: name.to_string(),
            folder: name.to_string(),
            dependencies: vec![dependency.to_string()],
            targets: Vec::new(),
        };
        Tree { crates: crates.iter().map(krate).collect(), ..Tree::default() }
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &self.files[at])
    }

    /// Is there a file or a folder at `path`?
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let next = self.files.partition_point(|file| file.path < folder);
        self.file(path).is_some() || self.files.get(next).is_some_and(|file| file.path.starts_with(&folder))
    }

    /// The files whose names end in `ending`, such as `.rs`.
    pub fn ending(&self, ending: &'static str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.path.ends_with(ending))
    }

    /// The crate `name` of the workspace.
    pub fn krate(&self, name: &str) -> Option<&Crate> {
        self.crates.iter().find(|krate| krate.name == name)
    }
}

fn read_files(root: &Path) -> Result<Vec<File>, String> {
    // `safe.directory` is needed because continuous integration may read a clone that another user
    // owns.
    let args = ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = run(Command::new("git").args(args), root)?;
    let listed = String::from_utf8(listed).map_err(|_| "git lists a path that is not UTF-8".to_string())?;
    let mut files = Vec::new();
    for path in listed.split_terminator('\0') {
        // A listed file may be missing, or be a broken link.
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
        files.push(File { path: path.to_string(), text: text.unwrap_or_default() });
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn parse_crates(json: &[u8]) -> Result<Vec<Crate>, String> {
    let metadata: Value = serde_json::from_slice(json).map_err(|e| format!("cargo metadata: {e}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let parsed = packages.iter().map(|package| parse_crate(package, metadata["workspace_root"].as_str()?));
    parsed.collect::<Option<_>>().ok_or("cargo metadata has packages of an unknown form".into())
}

fn parse_crate(package: &Value, root: &str) -> Option<Crate> {
    let folder = package["manifest_path"].as_str()?.strip_prefix(root)?.strip_suffix("Cargo.toml")?;
    let built_with = package["dependencies"].as_array()?.iter().filter(|d| d["kind"] != "dev");
    let names = |of: &mut dyn Iterator<Item = &Value>| -> Vec<String> {
        of.filter_map(|one| one["name"].as_str()).map(String::from).collect()
    };
    Some(Crate {
        name: package["name"].as_str()?.to_string(),
        folder: folder.replace('\\', "/").trim_matches('/').to_string(),
        dependencies: names(&mut { built_with }),
        targets: names(&mut package["targets"].as_array()?.iter()),
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
        let json = br#"{"workspace_root":"/r","packages":[
            {"name":"a","manifest_path":"/r/proof/a/Cargo.toml","dependencies":[
            {"name":"normal","kind":null},{"name":"dev","kind":"dev"},{"name":"build","kind":"build"}],
            "targets":[{"name":"speed","kind":["bench"]}]}]}"#;
        let crates = parse_crates(json).expect("well formed");
        assert_eq!(crates[0].dependencies, ["normal", "build"]);
        assert_eq!((crates[0].folder.as_str(), crates[0].targets[0].as_str()), ("proof/a", "speed"));
        assert!(parse_crates(b"{}").is_err() && parse_crates(b"{\"packages\":[{}]}").is_err());
    }

    #[test]
    fn files_and_folders_exist() {
        let tree = Tree::of_files(&[("a/c", ""), ("a-b", ""), ("a.d/e/f", "")]);
        assert_eq!(["a", "a/c", "a-b", "a.d/e", "a.d/e/f"].map(|path| tree.has(path)), [true; 5]);
        assert_eq!(["b", "a/", "a.d/f", "a."].map(|path| tree.has(path)), [false; 4]);
    }
}
