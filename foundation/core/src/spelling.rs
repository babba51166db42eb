//! Suggests known words for an unknown one.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The maximum number of suggestions. If more words are likely, none is suggested: the list of
/// allowed words is more useful.
const MAX_WORDS: usize = 6;
/// The length above which a word gets no suggestions; known words are far shorter.
const MAX_LETTERS: usize = 60;

/// The words of `known` that `given` most likely means; few, or none.
///
/// Case does not count, nor does the difference between `-` and `_`. The result is the first of
/// these groups that is not empty:
/// - the word that equals `given`;
/// - words that begin with `given`;
/// - the words with the fewest wrong letters: at most one, or a third of `given`;
/// - words that contain `given` between hyphens.
///
/// ```
/// use fairwire_core::spelling::likely;
///
/// let names = ["red", "afd-sb", "afd-ft", "min_threshold", "max_threshold"];
/// assert_eq!(likely("afd", names), ["afd-sb", "afd-ft"]);
/// assert_eq!(likely("rde", names), ["red"]);
/// assert_eq!(likely("min_th", names), ["min_threshold"]);
/// assert_eq!(likely("threshold", names), ["min_threshold", "max_threshold"]);
/// assert!(likely("colour", names).is_empty());
/// ```
pub fn likely<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if given.is_empty() || given.chars().nth(MAX_LETTERS).is_some() {
        return Vec::new();
    }
    let plain = folded(given);
    let mut found: Vec<(Rank, &str)> =
        known.into_iter().filter_map(|word| Some((rank(given, &plain, word)?, word))).collect();
    let Some(best) = found.iter().map(|(rank, _)| *rank).min() else { return Vec::new() };
    found.retain(|(rank, _)| *rank == best);
    if found.len() > MAX_WORDS { Vec::new() } else { found.into_iter().map(|(_, word)| word).collect() }
}

/// The suggestion for an error message: `; did you mean `a` or `b`?`, or nothing.
pub fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    question(&likely(given, known)).map_or(String::new(), |question| format!("; {question}"))
}

/// The question `did you mean `a`, `b` or `c`?`; `None` without words.
pub fn question(words: &[impl AsRef<str>]) -> Option<String> {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{}`", word.as_ref())).collect();
    let (last, rest) = quoted.split_last()?;
    Some(match rest {
        [] => format!("did you mean {last}?"),
        rest => format!("did you mean {} or {last}?", rest.join(", ")),
    })
}

/// The distance of a known word from the given word: the type of difference, the number of
/// differing letters, and the difference in case.
type Rank = (Kind, usize, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Equal but for case.
    Same,
    Beginning,
    Slip,
    Part,
}

fn rank(given: &str, plain: &str, word: &str) -> Option<Rank> {
    let folded = folded(word);
    let differs_in_case = |is_alike: bool| usize::from(!is_alike);
    if folded == plain {
        return Some((Kind::Same, 0, distance(given, word)));
    }
    if folded.starts_with(plain) {
        return Some((Kind::Beginning, 0, differs_in_case(word.starts_with(given))));
    }
    let slips = distance(plain, &folded);
    // A single letter is no misspelling of another.
    let letters = plain.chars().count();
    if letters > 1 && slips <= (letters / 3).max(1) {
        return Some((Kind::Slip, slips, distance(given, word)));
    }
    folded.split('-').any(|part| part == plain).then_some((Kind::Part, 0, 0))
}

fn folded(word: &str) -> String {
    word.to_lowercase().replace(['_', ' '], "-")
}

/// The optimal string alignment distance: the number of letters to insert, remove, replace or swap
/// with a neighbour. No letter is changed twice (Damerau, CACM 7, 1964; Wagner and Fischer, JACM
/// 21, 1974).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut above: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(above[j - 2] + 1);
            }
            next.push(least);
        }
        above = core::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edit_distance_counts_typical_slips() {
        let counts =
            [("", "abc", 3), ("rde", "red", 1), ("bufer", "buffer", 1), ("ca", "abc", 3), ("é", "e", 1)];
        for (a, b, letters) in counts {
            assert_eq!((distance(a, b), distance(b, a)), (letters, letters), "{a} {b}");
        }
    }

    #[test]
    fn abbreviations_rank_before_slips_and_case_matters_least() {
        assert_eq!(likely("re", ["rem", "red", "pre"]), ["rem", "red"]);
        assert_eq!(likely("M", ["MB", "MiB", "min", "ms"]), ["MB", "MiB"]);
        assert_eq!(likely("Tail_Drop", ["tail-drop", "tail"]), ["tail-drop"]);
        assert_eq!(likely("kib", ["kB", "KiB"]), ["KiB"]);
    }

    #[test]
    fn long_and_ambiguous_inputs_give_no_suggestion() {
        let many: Vec<String> = (0..20).map(|at| format!("flow{at}")).collect();
        assert!(likely("fl", many.iter().map(String::as_str)).is_empty());
        assert!(likely(&"x".repeat(1_000_000), ["x"]).is_empty());
        assert!(likely("", ["x"]).is_empty());
        assert!(likely("x", ["y"]).is_empty());
        assert_eq!(hint("colour", ["rate"]), "");
    }

    #[test]
    fn suggestions_read_as_a_question() {
        assert_eq!(hint("afd", ["afd-a", "red"]), "; did you mean `afd-a`?");
        assert_eq!(hint("afd", ["afd-a", "afd-b"]), "; did you mean `afd-a` or `afd-b`?");
        assert_eq!(question(&["a", "b", "c"]).unwrap(), "did you mean `a`, `b` or `c`?");
        assert_eq!(question(&[] as &[&str]), None);
    }
}
