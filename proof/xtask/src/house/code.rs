//! Rust sources as text to search, without comments and the tests at the end.

/// The lines of a source, with their numbers from 1.
pub fn lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = source.find("\n#[cfg(test)]\nmod tests").unwrap_or(source.len());
    (1..).zip(source[..end].lines()).map(|(at, line)| {
        let is_comment = line.trim_start().starts_with("//");
        (at, if is_comment { "" } else { line.split(" // ").next().unwrap_or_default() })
    })
}

/// Does `line` contain `word`, but not as part of a longer name?
pub fn has_word(line: &str, word: &str) -> bool {
    let begins = |text: &str| text.starts_with(is_of_name);
    let ends = |text: &str| text.ends_with(is_of_name);
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !(begins(word) && ends(before) || ends(word) && begins(after))
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The paths in a source, such as `a::b`, with import groups expanded.
pub fn paths(source: &str) -> Vec<String> {
    let (mut found, mut word, mut is_new_name) = (Vec::new(), String::new(), false);
    let mut groups: Vec<String> = Vec::new(); // per open brace, the path of its contents
    for c in lines(source).flat_map(|(_, line)| line.chars().chain(['\n'])) {
        if is_of_name(c) || c == ':' {
            word.push(c);
            continue;
        }
        let path = groups.last().cloned().unwrap_or_default() + &word;
        match c {
            '{' if word.ends_with("::") => groups.push(path.clone()),
            '{' => groups.push(String::new()),
            '}' => drop(groups.pop()),
            _ => {}
        }
        if !word.is_empty() {
            let is_group = c == '{' && word.ends_with("::");
            if path.contains("::") && !is_group && !is_new_name && word != "as" {
                found.push(path.trim_matches(':').to_string());
            }
            is_new_name = word == "as";
            word.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_tests_are_left_out() {
        let source =
            "//! a\nb; // c\n    /// d\n#[cfg(test)]\nuse e;\n\n#[cfg(test)]\nmod tests {\n    f\n}\n";
        let kept: Vec<(usize, &str)> = lines(source).filter(|(_, line)| !line.is_empty()).collect();
        assert_eq!(kept, [(2, "b;"), (4, "#[cfg(test)]"), (5, "use e;")]);
    }

    #[test]
    fn use_groups_are_expanded() {
        let paths = |source| paths(source).join(" ");
        assert_eq!(paths("use a::{b, c::{self, d}, e as f};\nuse a::*;"), "a::b a::c::self a::c::d a::e a");
        assert_eq!(paths("fn a() -> ::b::C { if c == d::E { f(g::h::<I>()) } }"), "b::C d::E g::h");
    }
}
