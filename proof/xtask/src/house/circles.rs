//! Files that import each other, directly or by way of others, can only be read together: such
//! circles are small.

use super::breach::Breach;
use super::purity::paths;
use super::tokens;
use super::tree::{File, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// The name of the rule.
pub const NAME: &str = "small circles";

/// The most files of a crate that may import each other.
const MAX_FILES: usize = 4;

/// Crates with a limit of their own.
const LIMITS: &[(&str, usize)] = &[("simulator/sim", 1)];

/// The path of a module, such as `["dropper", "red"]`, from the root of its crate.
type Module = Vec<String>;

/// In no crate do more than [`MAX_FILES`] files import each other, or more than its own limit.
pub fn check(tree: &Tree) -> Vec<Breach> {
    let mut crates: BTreeMap<&str, BTreeMap<Module, &File>> = BTreeMap::new();
    for file in tree.rust() {
        if let Some((root, module)) = module_of(&file.path) {
            crates.entry(root).or_default().insert(module, file);
        }
    }
    let limit = |root: &str| LIMITS.iter().find(|(of, _)| *of == root).map_or(MAX_FILES, |(_, limit)| *limit);
    crates.iter().flat_map(|(root, files)| check_crate(files, limit(root))).collect()
}

fn check_crate(files: &BTreeMap<Module, &File>, limit: usize) -> Vec<Breach> {
    let imports: BTreeMap<&Module, BTreeSet<&Module>> =
        files.iter().map(|(module, file)| (module, imports_of(module, file, files))).collect();
    let mut breaches = Vec::new();
    let mut seen = BTreeSet::new();
    for &module in imports.keys() {
        let circle = circle_of(module, &imports);
        if circle.len() > limit && seen.insert(circle.clone()) {
            let names: Vec<_> = circle.iter().map(|module| name(module)).collect();
            let message = format!(
                "{} files import each other; allowed: at most {limit}; move what several of them need to a file that imports none of them: {}",
                circle.len(),
                names.join(", ")
            );
            breaches.push(Breach { rule: NAME, path: files[module].path.clone(), line: 0, message });
        }
    }
    breaches
}

/// The modules that `module` can reach and that can reach it.
fn circle_of<'a>(
    module: &'a Module,
    imports: &BTreeMap<&'a Module, BTreeSet<&'a Module>>,
) -> BTreeSet<&'a Module> {
    let reached = |from: &'a Module| {
        let mut reached = BTreeSet::new();
        let mut next = vec![from];
        while let Some(at) = next.pop() {
            next.extend(imports[at].iter().filter(|&&to| reached.insert(to)));
        }
        reached
    };
    let mut circle: BTreeSet<_> =
        reached(module).into_iter().filter(|&other| reached(other).contains(module)).collect();
    circle.insert(module);
    circle
}

fn name(module: &Module) -> String {
    if module.is_empty() { "lib".into() } else { module.join("::") }
}

/// The `src` folder and the module of a source file.
fn module_of(path: &str) -> Option<(&str, Module)> {
    let (root, below) = path.split_once("/src/")?;
    let mut module: Module = below.strip_suffix(".rs")?.split('/').map(String::from).collect();
    if matches!(module.last()?.as_str(), "mod" | "lib" | "main") {
        module.pop();
    }
    Some((root, module))
}

/// The other files of the crate that a file imports from.
fn imports_of<'a>(module: &Module, file: &File, files: &'a BTreeMap<Module, &File>) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let Ok(code) = tokens::read(&file.text) else { return found };
    paths(tokens::without_tests(code), "", &mut |_, path| {
        if let Some(other) = imported(module, path, files).filter(|other| *other != module) {
            found.insert(other);
        }
    });
    found
}

/// The file that a path of `module` leads into: the longest module that it begins with.
fn imported<'a>(module: &Module, path: &str, files: &'a BTreeMap<Module, &File>) -> Option<&'a Module> {
    let mut names = path.split("::").peekable();
    let mut at = match names.peek() {
        Some(&"crate") => Module::new(),
        Some(&"super") => {
            let mut at = module.clone();
            while names.next_if_eq(&"super").is_some() {
                at.pop();
            }
            return longest(at, names, files);
        }
        Some(&"self") => module.clone(),
        Some(&first) => {
            let below = [&module[..], &[first.to_string()]].concat();
            return files.contains_key(&below).then(|| longest(module.clone(), names, files))?;
        }
        None => return None,
    };
    names.next();
    at.shrink_to_fit();
    longest(at, names, files)
}

fn longest<'a, 'n>(
    mut at: Module,
    names: impl Iterator<Item = &'n str>,
    files: &'a BTreeMap<Module, &File>,
) -> Option<&'a Module> {
    for name in names {
        at.push(name.to_string());
        if !files.contains_key(&at) {
            at.pop();
            break;
        }
    }
    files.get_key_value(&at).map(|(module, _)| module)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(count: usize, line: fn(usize) -> String) -> Vec<Breach> {
        ring_in("gateway/a", count, line)
    }

    fn ring_in(root: &str, count: usize, line: fn(usize) -> String) -> Vec<Breach> {
        let files: Vec<(String, String)> =
            (0..count).map(|at| (format!("{root}/src/m{at}.rs"), line((at + 1) % count))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        check(&Tree::of_files(&files))
    }

    #[test]
    fn five_files_in_a_ring_are_too_many_however_they_import() {
        let forms: [fn(usize) -> String; 4] = [
            |to| format!("use crate::m{to}::Item;"),
            |to| format!("use super::m{to}::{{Item, Other}};"),
            |to| format!("use crate::{{m{to}::Item}};"),
            |to| format!("fn a() {{ crate::m{to}::item(); }}"),
        ];
        for form in forms {
            assert_eq!(ring(5, form).len(), 1);
            assert_eq!(ring(4, form).len(), 0);
        }
        assert_eq!(ring(5, |to| format!("#[cfg(test)] use crate::m{to}::Item;")).len(), 0);
    }

    #[test]
    fn two_files_of_the_simulator_may_not_import_each_other() {
        let line = |to| format!("use crate::m{to}::Item;");
        let breaches = ring_in("simulator/sim", 2, line);
        assert!(breaches.len() == 1 && breaches[0].message.contains("at most 1"), "{breaches:?}");
        assert_eq!(ring_in("simulator/sim", 1, line).len(), 0);
    }

    #[test]
    fn a_parent_that_names_its_children_is_in_a_circle_with_those_that_name_it() {
        let child = "use super::Law;";
        let parent = "mod a; mod b; mod c; mod d; struct Law; fn f() { a::f(); b::f(); c::f(); d::f(); }";
        let files = [
            ("gateway/x/src/p/mod.rs", parent),
            ("gateway/x/src/p/a.rs", child),
            ("gateway/x/src/p/b.rs", child),
            ("gateway/x/src/p/c.rs", child),
            ("gateway/x/src/p/d.rs", child),
        ];
        let breaches = check(&Tree::of_files(&files));
        assert_eq!(breaches.len(), 1);
        assert!(breaches[0].message.contains("5 files") && breaches[0].message.contains("p::a"));
        assert_eq!(check(&Tree::of_files(&files[1..])).len(), 0);
    }
}
