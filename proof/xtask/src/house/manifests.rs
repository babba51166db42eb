//! What every `Cargo.toml` must say.

use super::breach::Breach;
use super::tree::{File, Tree};
use toml::{Table, Value};

/// The name of the rule on crates.
pub const INHERIT: &str = "manifests";
/// The name of the rule on reasons.
pub const REASONS: &str = "reasons";

const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// Every crate takes its version, edition, Rust version, licence and lints from the workspace, and
/// its dependencies too.
pub fn check_crates(tree: &Tree) -> Vec<Breach> {
    let manifests = tree.files.iter().filter(|f| f.path.ends_with("/Cargo.toml"));
    manifests
        .filter(|f| f.is_in_a_crate() && !f.path.starts_with("proof/fuzz/"))
        .flat_map(|file| check_crate(file, tree))
        .collect()
}

fn check_crate(file: &File, tree: &Tree) -> Vec<Breach> {
    let breach = |message| Breach { rule: INHERIT, path: file.path.clone(), line: 0, message };
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![breach(format!("is not TOML: {error}"))],
    };
    let package = |key: &&&str| !is_inherited(manifest.get("package").and_then(|p| p.get(**key)));
    let mut breaches: Vec<Breach> = INHERITED
        .iter()
        .filter(package)
        .map(|key| breach(format!("must say `{key}.workspace = true`")))
        .collect();
    if !is_inherited(manifest.get("lints")) {
        breaches.push(breach("must say `workspace = true` under `[lints]`".into()));
    }
    let is_fine = |name: &str, value| is_inherited(Some(value)) || is_circle(&manifest, name, value, tree);
    for (name, _) in dependencies(&manifest).filter(|(name, value)| !is_fine(name, value)) {
        let message =
            format!("must say `{name}.workspace = true`: versions and reasons are in the root Cargo.toml");
        breaches.push(breach(message));
    }
    breaches
}

fn is_inherited(value: Option<&Value>) -> bool {
    value.and_then(|v| v.get("workspace")).and_then(Value::as_bool) == Some(true)
}

/// Is it the crate itself, with more features for its own tests, or a crate that is built with it
/// and that its tests take? With a version neither could be packaged before it was published.
fn is_circle(manifest: &Table, name: &str, value: &Value, tree: &Tree) -> bool {
    let own = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    let path = value.get("path").and_then(Value::as_str);
    let is_itself = own == Some(name) && path == Some(".");
    let other = tree.crates.iter().find(|krate| krate.name == name);
    let is_above = other.is_some_and(|krate| krate.dependencies.iter().any(|d| Some(d.as_str()) == own));
    (is_itself || is_above) && path.is_some() && value.get("version").is_none()
}

fn dependencies(manifest: &Table) -> impl Iterator<Item = (&String, &Value)> {
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let top = sections.into_iter().filter_map(|s| manifest.get(s));
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    let below = targets.flat_map(move |t| sections.into_iter().filter_map(move |s| t.get(s)));
    top.chain(below).filter_map(Value::as_table).flatten()
}

/// Every library in the root `Cargo.toml` has a comment that says why it is there, on its line or
/// on the one above. Our own crates need none.
pub fn check_reasons(tree: &Tree) -> Vec<Breach> {
    tree.file("Cargo.toml").map(unexplained).unwrap_or_default()
}

fn unexplained(file: &File) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let (mut is_inside, mut above) = (false, "");
    for (at, line) in file.text.lines().enumerate() {
        if line.starts_with('[') {
            is_inside = line.trim_end() == "[workspace.dependencies]";
        } else if is_inside
            && let Some((name, value)) = line.split_once('=')
            && !line.starts_with('#')
            && !value.contains("path = ")
            && !above.starts_with('#')
            && !value.contains("# ")
        {
            let message = format!("`{}` has no comment that says why it is here", name.trim());
            breaches.push(Breach { rule: REASONS, path: file.path.clone(), line: at + 1, message });
        }
        above = line;
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::super::tree::Crate;
    use super::*;

    const GOOD: &str = "[package]\nversion.workspace = true\nedition.workspace = true\nrust-version.workspace = true\n\
                        license.workspace = true\n[dependencies]\na.workspace = true\n[lints]\nworkspace = true\n";

    fn breaches(text: &str) -> Vec<Breach> {
        check_crates(&Tree::of_files(&[("gateway/a/Cargo.toml", text)]))
    }

    #[test]
    fn each_inherited_field_is_required() {
        assert_eq!(breaches(GOOD), []);
        for key in INHERITED {
            let bad = GOOD.replace(&format!("\n{key}.workspace = true"), &format!("\n{key} = \"1\""));
            assert_eq!(breaches(&bad).len(), 1, "{key}");
        }
        assert_eq!(breaches(&GOOD.replace("[lints]\nworkspace = true\n", "")).len(), 1);
    }

    #[test]
    fn a_dependency_with_its_own_version_is_found_in_every_table() {
        assert_eq!(breaches(&GOOD.replace("a.workspace = true", "a = \"1\"")).len(), 1);
        assert_eq!(breaches(&(GOOD.to_string() + "[dev-dependencies]\nb = \"1\"\n")).len(), 1);
        assert_eq!(breaches(&(GOOD.to_string() + "[target.'cfg(unix)'.dependencies]\nb = \"1\"\n")).len(), 1);
    }

    #[test]
    fn a_crate_may_enable_its_own_features_in_its_tests() {
        let itself = GOOD.replace("[package]", "[package]\nname = \"a\"") + "[dev-dependencies]\n";
        let with = |own: &str| breaches(&(itself.clone() + own)).len();
        assert_eq!(with("a = { path = \".\", features = [\"x\"] }\n"), 0);
        assert_eq!(with("a = { path = \".\", version = \"1\" }\n"), 1);
        assert_eq!(with("b = { path = \".\" }\n"), 1);
    }

    #[test]
    fn tests_may_take_a_crate_that_is_built_with_theirs() {
        let text = GOOD.replace("[package]", "[package]\nname = \"a\"") + "[dev-dependencies]\n";
        let above = |own: &str, dependencies: &[&str]| {
            let dependencies = dependencies.iter().map(|d| d.to_string()).collect();
            let tree = Tree::of_files(&[("gateway/a/Cargo.toml", &(text.clone() + own))]);
            check_crates(&Tree { crates: vec![Crate { name: "b".into(), dependencies }], ..tree }).len()
        };
        assert_eq!(above("b = { path = \"../b\" }\n", &["a"]), 0);
        assert_eq!(above("b = { path = \"../b\", version = \"1\" }\n", &["a"]), 1);
        assert_eq!(above("b = { path = \"../b\" }\n", &[]), 1);
    }

    #[test]
    fn what_is_not_toml_is_reported() {
        assert_eq!(breaches("[package").len(), 1);
    }

    #[test]
    fn a_library_without_a_reason_is_found() {
        let root = |text| check_reasons(&Tree::of_files(&[("Cargo.toml", text)])).len();
        assert_eq!(root("[workspace.dependencies]\na = \"1\"\n"), 1);
        assert_eq!(root("[workspace.dependencies]\na = \"1\" # because\n"), 0);
        assert_eq!(root("[workspace.dependencies]\n# because\na = \"1\"\nb = \"1\"\n"), 1);
        assert_eq!(root("[workspace.dependencies]\na = { path = \"gateway/a\" }\n[profile.dev]\nb = 1\n"), 0);
    }
}
