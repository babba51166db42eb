//! No text and no argument makes the parser panic. Every reported location is in a text that the
//! user gave.

use fairwire_scenario::{Overrides, ScenarioError, parse};
use proptest::prelude::*;

const GOOD: &str = include_str!("../../../../scenarios/selfish-flow.toml");

fn holds(result: Result<impl Sized, ScenarioError>, texts: &[&str]) -> Result<(), TestCaseError> {
    let Err(error) = result else { return Ok(()) };
    prop_assert!(!error.to_string().is_empty());
    if let Some(place) = error.location {
        let is_cut = place.text.contains('…') && place.text.lines().all(|line| line.len() <= 246);
        let is_escaped = place.text.contains('\u{fffd}');
        prop_assert!(is_cut || is_escaped || texts.contains(&place.text.as_str()));
        prop_assert!(place.text.get(place.span.clone()).is_some(), "{place:?}");
        let lines = place.text.matches('\n').count() + 1;
        prop_assert!((1..=lines).contains(&place.line) && place.column >= 1);
    }
    Ok(())
}

fn mutated(from: usize, length: usize, with: &str) -> String {
    let chars: Vec<char> = GOOD.chars().collect();
    let from = from % chars.len();
    let end = (from + length).min(chars.len());
    chars[..from].iter().copied().chain(with.chars()).chain(chars[end..].iter().copied()).collect()
}

/// Pieces of scenarios, which get past the TOML parser more often than random letters.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,8}",
        "[-+.0-9e]{0,6}",
        Just("\"".into()),
        Just("\n[link]\n".into()),
        Just("\n[[flow]]\n".into()),
        Just(" 999999999999999999999 ".into()),
        Just("\"1e308 Gbit/s\"".into()),
        Just("nan".into()),
        Just("-inf".into()),
        Just("[[[[[[[[[[".into()),
        Just("{ a.b.c = { d = 1 } }".into()),
        Just("1979-05-27T07:32:00Z".into()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        holds(parse("any", &text, &Overrides::default()), &[&text])?;
    }

    #[test]
    fn a_damaged_scenario_is_read_or_refused(from: usize, length in 0usize..30, with in piece()) {
        let text = mutated(from, length, &with);
        holds(parse("damaged", &text, &Overrides::default()), &[&text])?;
    }

    #[test]
    fn any_set_is_made_or_refused(path in "(format|link|link\\.rate|flow|flow\\.tcp|flow\\.0\\.tcp|expect\\.1|\\PC{0,10})", more in "(|\\.\\PC{0,6}|=)", value in piece()) {
        let set = format!("{path}{more}={value}");
        let overrides = Overrides { set: vec![set.clone()], ..Overrides::default() };
        holds(parse("good", GOOD, &overrides), &[GOOD, &set])?;
    }

    #[test]
    fn any_choice_is_made_or_refused(discipline in "\\PC{0,12}", seeds in "(\\PC{0,8}|[0-9]{0,22}\\.\\.=?[0-9]{0,22})") {
        let overrides = Overrides { disciplines: vec![discipline], seeds: Some(seeds), ..Overrides::default() };
        prop_assert!(std::panic::catch_unwind(|| parse("good", GOOD, &overrides).is_ok()).is_ok());
    }
}

#[test]
fn a_path_of_any_depth_is_refused_without_recursion() {
    let path = ["a"; 20_000].join(".");
    for set in [format!("{path}=1"), format!("a={{{path}=1}}"), format!("a={}", "[".repeat(20_000))] {
        let overrides = Overrides { set: vec![set], ..Overrides::default() };
        assert!(parse("good", GOOD, &overrides).is_err());
    }
    assert!(parse("deep", &format!("{path}=1"), &Overrides::default()).is_err());
    assert!(parse("deep", &format!("[{path}]"), &Overrides::default()).is_err());
    let set = vec![format!("{path}=1")];
    let error = parse("good", GOOD, &Overrides { set, ..Overrides::default() }).unwrap_err().to_string();
    assert!(error.contains("20000 steps, more than the maximum of 16"), "{error}");
}
