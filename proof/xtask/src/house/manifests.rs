//! Checks the contents of every `Cargo.toml`.

use super::breach::Breach;
use super::tree::Tree;

const INHERITED: &[&str] = &[
    "\nversion.workspace = true\n",
    "\nedition.workspace = true\n",
    "\nrust-version.workspace = true\n",
    "\nlicense.workspace = true\n",
    "\n[lints]\nworkspace = true\n",
];

/// The lines in the dependency tables of a manifest: number from 1, line, and previous line.
fn dependencies(manifest: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let (mut is_inside, mut above) = (false, "");
    manifest.lines().enumerate().filter_map(move |(at, line)| {
        if line.starts_with('[') {
            is_inside = line.ends_with("dependencies]");
        }
        let is_one = is_inside && !line.starts_with(['[', '#']) && line.contains('=');
        let above = std::mem::replace(&mut above, line);
        is_one.then_some((at + 1, line, above))
    })
}

/// Checks that every crate inherits its version, edition, Rust version, licence, lints and
/// dependencies from the workspace. Two types of test dependency are exempt. One is the crate
/// itself with more features. The other is a path to a crate that uses this crate.
pub fn check_crates(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    let manifests = tree.crates.iter().map(|krate| format!("{}/Cargo.toml", krate.folder));
    for file in manifests.filter_map(|path| tree.file(&path)) {
        for text in INHERITED.iter().filter(|text| !file.text.contains(**text)) {
            breaches.push(Breach::of(&file.path, format!("must say `{}`", text.trim())));
        }
        for (at, line, _) in dependencies(&file.text) {
            if !["workspace = true", "{ path = \".\", features", "= { path = \"../"]
                .iter()
                .any(|of| line.contains(of))
            {
                let message = "must say `.workspace = true`: versions and reasons are in the root Cargo.toml";
                breaches.push(Breach::at(&file.path, at, message));
            }
        }
    }
    breaches
}

/// Checks that a comment gives the reason for every external library in the root `Cargo.toml`, on
/// the library's line or above.
pub fn check_reasons(tree: &Tree) -> Vec<Breach> {
    let root = tree.file("Cargo.toml").map_or("", |file| &file.text);
    let unexplained = dependencies(root).filter(|(_, line, above)| {
        !line.contains("path = ") && !line.contains("# ") && !above.starts_with('#')
    });
    let message = "a library needs a comment that says why it is here";
    unexplained.map(|(at, ..)| Breach::at("Cargo.toml", at, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nversion.workspace = true\nedition.workspace = true\nrust-version.workspace = true\n\
        license.workspace = true\n\n[dependencies]\na.workspace = true\nb = { workspace = true }\n\n[lints]\nworkspace = true\n";

    fn breaches(text: &str) -> usize {
        let mut tree = Tree::of_crates(&[("a", "b")]);
        tree.files = Tree::of_files(&[("a/Cargo.toml", text)]).files;
        check_crates(&tree).len()
    }

    #[test]
    fn inherited_keys_are_required() {
        assert_eq!(breaches(GOOD), 0);
        for text in INHERITED {
            assert_eq!(breaches(&GOOD.replace(text, "\n")), 1, "{text}");
        }
        for table in ["dependencies", "dev-dependencies", "target.'cfg(unix)'.dependencies"] {
            assert_eq!(breaches(&format!("{GOOD}[{table}]\nb = \"1\"\n")), 1, "{table}");
        }
        let with = |own| breaches(&format!("{GOOD}[dev-dependencies]\na = {{ path = \".\", {own} }}\n"));
        assert_eq!([with("features = [\"x\"]"), with("version = \"1\"")], [0, 1]);
    }

    #[test]
    fn a_library_without_a_reason_is_found() {
        let root = |text| {
            let text = format!("[workspace.dependencies]\n{text}\n[profile.dev]\nb = 1\n");
            check_reasons(&Tree::of_files(&[("Cargo.toml", &text)])).len()
        };
        assert_eq!(["a = \"1\"", "# because\na = \"1\"\nb = \"1\""].map(root), [1, 1]);
        let fine = ["a = \"1\" # because", "# because\na = \"1\"", "a = { path = \"a\" }"];
        assert_eq!(fine.map(root), [0, 0, 0]);
    }
}
