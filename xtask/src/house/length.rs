//! Functions and files stay short.

use super::breach::Breach;
use super::tokens;
use super::tree::{File, Tree};

/// The name of the rule.
pub const NAME: &str = "length";

/// The most lines of a function, from `fn` to its closing brace.
pub const MOST_OF_FUNCTION: usize = 70;

/// The most lines of a file before its tests.
pub const MOST_OF_FILE: usize = 600;

/// No function over [`MOST_OF_FUNCTION`] lines, no file over [`MOST_OF_FILE`] before its tests. A file in a folder `tests`
/// is all tests, so only its functions are measured.
pub fn check(tree: &Tree) -> Vec<Breach> {
    tree.rust().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Breach> {
    let Ok(read) = tokens::read(&file.text) else { return Vec::new() }; // `purity` reports what is not Rust
    let breach = |line, message| Breach { rule: NAME, path: file.path.clone(), line, message };
    let mut breaches = Vec::new();
    let lines = tokens::first_test_line(&read).map_or(file.text.lines().count(), |line| line - 1);
    if lines > MOST_OF_FILE && !file.path.split('/').any(|folder| folder == "tests") {
        let message = format!("{lines} lines before its tests; at most {MOST_OF_FILE} (one idea a file)");
        breaches.push(breach(0, message));
    }
    for function in tokens::functions(&read).into_iter().filter(|f| f.lines > MOST_OF_FUNCTION) {
        let message = format!("`{}` has {} lines; at most {MOST_OF_FUNCTION}", function.name, function.lines);
        breaches.push(breach(function.line, message));
    }
    breaches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    fn function(lines: usize) -> String {
        format!("fn a() {{\n{}}}\n", "b();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_seventy_lines_and_not_one_more() {
        assert_eq!(breaches("a.rs", &function(70)), 0);
        assert_eq!(breaches("a.rs", &function(71)), 1);
    }

    #[test]
    fn a_file_may_have_six_hundred_lines_before_its_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(700));
        assert_eq!(breaches("a.rs", &("// x\n".repeat(600) + &tests)), 0);
        assert_eq!(breaches("a.rs", &("// x\n".repeat(601) + &tests)), 1);
    }

    #[test]
    fn a_file_of_tests_may_be_longer() {
        assert_eq!(breaches("crates/a/tests/b.rs", &"// x\n".repeat(601)), 0);
    }
}
