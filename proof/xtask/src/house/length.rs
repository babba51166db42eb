//! Files stay short. Functions do by a lint: `clippy::too_many_lines`.

use super::breach::Breach;
use super::tokens;
use super::tree::{File, Tree};

/// The name of the rule.
pub const NAME: &str = "length";

/// The most lines of a file before its tests.
pub const MAX_LINES: usize = 600;

/// No file over [`MAX_LINES`] before its tests. A file in a folder `tests` is all tests, and not
/// measured.
pub fn check(tree: &Tree) -> Vec<Breach> {
    tree.rust().filter_map(check_file).collect()
}

fn check_file(file: &File) -> Option<Breach> {
    let read = tokens::read(&file.text).ok()?; // `purity` reports what is not Rust
    let lines = tokens::first_test_line(&read).map_or(file.text.lines().count(), |line| line - 1);
    let is_test = file.path.split('/').any(|folder| folder == "tests");
    (lines > MAX_LINES && !is_test).then(|| {
        let message = format!("{lines} lines before its tests; at most {MAX_LINES} (one idea a file)");
        Breach { rule: NAME, path: file.path.clone(), line: 0, message }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaches(path: &str, text: &str) -> usize {
        check(&Tree::of_files(&[(path, text)])).len()
    }

    #[test]
    fn a_file_may_have_six_hundred_lines_before_its_tests() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(700));
        assert_eq!(breaches("a.rs", &("// x\n".repeat(600) + &tests)), 0);
        assert_eq!(breaches("a.rs", &("// x\n".repeat(601) + &tests)), 1);
    }

    #[test]
    fn a_file_of_tests_may_be_longer() {
        assert_eq!(breaches("gateway/a/tests/b.rs", &"// x\n".repeat(601)), 0);
    }
}
