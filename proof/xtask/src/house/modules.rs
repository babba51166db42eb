//! Checks modules. Cycles of imports must be small, because their files can only be read together.
//! Every file must be declared by a module, since undeclared files are never compiled.

use super::breach::Breach;
use super::code::paths;
use super::tree::{File, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of files in a cycle of imports.
const MAX_FILES: usize = 4;

/// The files of a crate by module, such as `dropper::red`. The root has no name.
type Files<'a> = BTreeMap<String, &'a File>;

fn crates<'a>(tree: &'a Tree, folder: &str) -> BTreeMap<&'a str, Files<'a>> {
    let mut crates: BTreeMap<&str, Files<'_>> = BTreeMap::new();
    for file in tree.ending(".rs") {
        if let Some((krate, path)) = file.path.split_once(folder) {
            let mut names: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
            names.pop_if(|last| matches!(*last, "mod" | "lib" | "main"));
            crates.entry(krate).or_default().entry(names.join("::")).or_insert(file);
        }
    }
    crates
}

fn parent(module: &str) -> (&str, &str) {
    module.rsplit_once("::").unwrap_or(("", module))
}

/// Checks that each file below `src` and `tests/it` is declared by the module above it.
pub fn check_declared(tree: &Tree) -> Vec<Breach> {
    let mut breaches = Vec::new();
    for files in ["/src/", "/tests/it/"].iter().flat_map(|folder| crates(tree, folder).into_values()) {
        for (module, file) in files.iter().filter(|(module, _)| !module.is_empty()) {
            let (above, name) = parent(module);
            let line = format!("mod {name};");
            let has = |above: &&File| above.text.lines().any(|other| other.ends_with(&line));
            if !files.get(above).is_some_and(has) {
                breaches
                    .push(Breach::of(&file.path, format!("is not compiled: no `{line}` in the file above")));
            }
        }
    }
    breaches
}

/// Checks that import cycles have at most [`MAX_FILES`] files, and that the simulator has no cycle.
pub fn check_circles(tree: &Tree) -> Vec<Breach> {
    let limit = |krate: &str| if krate == "simulator/sim" { 1 } else { MAX_FILES };
    crates(tree, "/src/").iter().flat_map(|(krate, files)| circles(files, limit(krate))).collect()
}

fn circles(files: &Files<'_>, limit: usize) -> Vec<Breach> {
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, file) in files {
        let paths = paths(&file.text);
        let others = paths.iter().filter_map(|path| imported(module, path, files));
        imports.insert(module, others.filter(|other| other != module).collect());
    }
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for &from in imports.keys() {
        let (all, mut next) = (reached.entry(from).or_default(), vec![from]);
        while let Some(at) = next.pop() {
            next.extend(imports[at].iter().filter(|&&to| all.insert(to)));
        }
    }
    let circle = |from: &str| reached[from].iter().copied().filter(|to| reached[to].contains(from)).collect();
    let circles: BTreeSet<Vec<&str>> = reached.keys().map(|module| circle(module)).collect();
    let breach = |circle: &Vec<&str>| {
        let paths: Vec<&str> = circle.iter().map(|module| files[*module].path.as_str()).collect();
        let (count, names) = (circle.len(), paths.join(", "));
        let message = format!(
            "{count} files import each other; allowed: {limit}; move what several need to a file that imports none: {names}"
        );
        Breach::of(&files[circle[0]].path, message)
    };
    circles.iter().filter(|circle| circle.len() > limit).map(breach).collect()
}

fn imported<'a>(module: &str, path: &str, files: &'a Files<'_>) -> Option<&'a str> {
    let mut at = module.to_string();
    for (depth, name) in path.split("::").enumerate() {
        let below = if at.is_empty() { name.to_string() } else { format!("{at}::{name}") };
        match (depth, name) {
            (0, "crate") => at.clear(),
            (0, "self") => {}
            (_, "super") => at = parent(&at).0.to_string(),
            _ if files.contains_key(&below) => at = below,
            (0, _) => return None,
            _ => break,
        }
    }
    files.get_key_value(&at).map(|(module, _)| module.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(root: &str, count: usize, line: fn(usize) -> String) -> Vec<Breach> {
        let file = |at| (format!("{root}/src/m{at}.rs"), line((at + 1) % count));
        let files: Vec<(String, String)> = (0..count).map(file).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        check_circles(&Tree::of_files(&files))
    }

    #[test]
    fn a_ring_of_five_files_is_too_large_under_any_import_style() {
        let forms: [fn(usize) -> String; 4] = [
            |to| format!("use crate::m{to}::Item;"),
            |to| format!("use super::m{to}::{{Item, Other}};"),
            |to| format!("use crate::{{m{to}::Item}};"),
            |to| format!("fn a() {{ crate::m{to}::item(); }}"),
        ];
        for form in forms {
            assert_eq!([5, 4].map(|count| ring("gateway/a", count, form).len()), [1, 0]);
            assert_eq!([2, 1].map(|count| ring("simulator/sim", count, form).len()), [1, 0]);
        }
        assert_eq!(ring("gateway/a", 5, |to| format!("//! [`crate::m{to}::Item`]")).len(), 0);
    }

    #[test]
    fn a_parent_and_a_child_that_import_each_other_form_a_cycle() {
        let children = ["a/src/p/a.rs", "a/src/p/b.rs", "a/src/p/c.rs", "a/src/p/d.rs"];
        let children = children.map(|path| (path, "use super::Law;"));
        let parent = ("a/src/p/mod.rs", "struct Law; fn f() { a::f(); b::f(); c::f(); d::f(); }");
        let breaches = check_circles(&Tree::of_files(&[&children[..], &[parent]].concat()));
        assert!(breaches.len() == 1 && breaches[0].message.contains("5 files"), "{breaches:?}");
        assert_eq!(check_circles(&Tree::of_files(&children)).len(), 0);
    }

    #[test]
    fn a_file_that_no_module_declares_is_found() {
        let files = [
            ("gateway/a/tests/it/main.rs", "mod declared;\nmod folder;\n"),
            ("gateway/a/tests/it/declared.rs", ""),
            ("gateway/a/tests/it/folder/mod.rs", "mod below;"),
            ("gateway/a/tests/it/folder/below.rs", ""),
            ("gateway/a/tests/it/forgotten.rs", ""),
            ("gateway/a/tests/alone.rs", ""),
            ("gateway/a/src/lib.rs", ""),
            ("gateway/a/src/lost.rs", ""),
        ];
        let found = check_declared(&Tree::of_files(&files));
        let paths: Vec<&str> = found.iter().map(|breach| breach.path.as_str()).collect();
        assert_eq!(paths, ["gateway/a/src/lost.rs", "gateway/a/tests/it/forgotten.rs"]);
    }
}
