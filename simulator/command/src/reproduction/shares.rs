//! Fills counts into a page of advice. A count is the number of a study's random settings for which
//! a claim holds, such as `30 of 32`.
//!
//! It replaces the text between `<!-- share: PAPER EXHIBIT.CLAIM -->` and `<!-- / -->`.

use super::marker::{Kind, Marked, known, marks};
use fairwire_study::Study;
use fairwire_study::record::{Claim, Results};
use fairwire_terminal::failure::Failure;

const SHARE: Kind =
    Kind { open: "<!-- share: ", end: "<!-- / -->", words: 2..=2, form: "PAPER EXHIBIT.CLAIM" };

pub(crate) fn check(path: &str, text: &str, studies: &[Study]) -> Result<(), Failure> {
    let papers: Vec<String> = studies.iter().map(|study| study.spec.paper.clone()).collect();
    for marked in marks(path, text, &[SHARE])? {
        let (place, paper, claim) = located(path, &marked);
        known(&place, "paper", paper, &papers)?;
        let of_it = studies.iter().filter(|study| study.spec.paper == paper);
        let exhibits = of_it.flat_map(|study| &study.spec.exhibit);
        let claims = exhibits.flat_map(|e| e.claim.iter().map(move |claim| format!("{}.{}", e.id, claim.id)));
        known(&place, "claim", claim, &claims.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Fills the markers of `text`. Markers of claims without results stay unchanged.
pub(crate) fn filled(path: &str, text: &str, results: &Results) -> Result<String, Failure> {
    let mut out = String::new();
    let mut done = 0;
    for marked in marks(path, text, &[SHARE])? {
        let (_, paper, name) = located(path, &marked);
        let exhibits = results.exhibits.iter().filter(|exhibit| exhibit.paper == paper);
        let is_it = |exhibit: &str, claim: &Claim| {
            name.split_once('.').is_some_and(|(of, id)| of == exhibit && id == claim.id)
        };
        let claim = exhibits.flat_map(|e| e.claims.iter().map(move |claim| (e, claim)));
        let Some((_, claim)) = claim.into_iter().find(|(e, claim)| is_it(&e.id, claim)) else { continue };
        out += &text[done..marked.content.start];
        out += &claim.calibrated.map_or("not drawn".into(), |held| format!("{} of {}", held.held, held.of));
        done = marked.content.end;
    }
    Ok(out + &text[done..])
}

fn located<'a>(path: &str, marked: &'a Marked) -> (String, &'a str, &'a str) {
    (format!("{path}:{}", marked.line), &marked.words[0], &marked.words[1])
}

#[cfg(test)]
mod tests {
    use super::super::samples::all_kinds;
    use super::*;
    use fairwire_study::calibration::Held;
    use fairwire_study::library;

    #[test]
    fn a_share_is_filled_in_and_filling_again_changes_nothing() {
        let mut results = all_kinds();
        let exhibit = results.exhibits.iter_mut().find(|exhibit| !exhibit.claims.is_empty()).unwrap();
        exhibit.claims[0].calibrated = Some(Held { chosen: true, best: true, held: 30, of: 32 });
        let name = format!("{} {}.{}", exhibit.paper, exhibit.id, exhibit.claims[0].id);
        let text = format!(
            "So it is (<!-- share: {name} -->?<!-- / -->), <!-- share: unknown a.b -->?<!-- / -->.\n"
        );
        let once = filled("choosing.md", &text, &results).unwrap();
        assert!(
            once.starts_with(&format!("So it is (<!-- share: {name} -->30 of 32<!-- / -->), ")),
            "{once}"
        );
        assert!(once.ends_with("<!-- share: unknown a.b -->?<!-- / -->.\n"), "another paper's stays: {once}");
        assert_eq!(filled("choosing.md", &once, &results).unwrap(), once);
    }

    #[test]
    fn the_advice_names_existing_claims_and_others_are_refused() {
        let studies: Vec<Study> =
            library::embedded().iter().map(|folder| Study::read(folder).unwrap()).collect();
        let text = include_str!("../../../../docs/choosing.md");
        if let Err(wrong) = check("choosing.md", text, &studies) {
            panic!("{wrong:?}");
        }
        assert!(text.matches(SHARE.open).count() > 20);
        let wrong = text.replace("table1.faba-far-above-red", "table1.faba-far-above-rad");
        let Err(Failure::User { message, help }) = check("choosing.md", &wrong, &studies) else { panic!() };
        assert!(message.contains("there is no claim `table1.faba-far-above-rad`"), "{message}");
        assert!(help.contains("did you mean `table1.faba-far-above-red`?"), "{help}");
    }
}
