//! For each paper: the claims that do not hold, or that depend on unprinted settings, with the
//! causes.

use super::cause::{Cause, cause};
use super::document::cell;
use super::tally::Paper;
use fairwire_study::calibration::{Held, Summary};
use fairwire_study::record::{Claim, Results, Verdict};
use std::fmt::Write;

/// A claim counts as independent of the unprinted settings if it holds with at least this fraction
/// of random settings.
const NEARLY_ALL: f64 = 0.95;

pub(super) fn head(out: &mut String, results: &Results) {
    out.push_str(
        "\n# What does not hold, and why\n\n\
         *As chosen*: the verdict of the study, with its seeds. Where no other *why not* is given, a claim is **genuine** when it holds in no draw of what its \
         paper leaves open, and **set-up** when it holds in some; **stricter**: the check requires more than the paper says. Claims that hold as chosen and in 95 % of \
         the draws are only counted.\n",
    );
    if !results.calibrated.is_empty() {
        out.push_str(
            "\nThe `space.toml` of a study says what is open and admissible; `fairwire calibrate` draws from it. *Best*: in the draw whose numbers are nearest to the \
             printed ones. *Share*: of the draws in which the claim holds in the mean, with its 95 % interval (Wilson).\n",
        );
    }
}

pub(super) fn table(out: &mut String, results: &Results, paper: &Paper<'_>) {
    let _ = write!(out, "\n## {}: {}\n\n{}.", cell(paper.name), cell(paper.study), cell(paper.source));
    let calibrated = results.calibrated.get(paper.name);
    if let Some(summary) = calibrated {
        let _ = write!(out, " {}", draws(summary));
    }
    out.push_str("\n\n");
    let claims =
        || paper.exhibits.iter().flat_map(|e| e.claims.iter().map(move |claim| (e.id.as_str(), claim)));
    let listed: Vec<(&str, &Claim)> = claims().filter(|(_, claim)| !is_independent(claim)).collect();
    if !listed.is_empty() {
        let heads = if calibrated.is_some() { " best | share |" } else { "" };
        let rule = if calibrated.is_some() { "---|---:|" } else { "" };
        let _ = write!(out, "| claim | as chosen |{heads} why not |\n|---|---|{rule}---|\n");
        listed.iter().for_each(|(exhibit, claim)| row(out, exhibit, claim, calibrated.is_some()));
        out.push('\n');
    }
    let hold = claims().count() - listed.len();
    let open = claims().filter(|(_, claim)| claim.verdict == Verdict::NotTestable).count();
    let are = match (hold - open, calibrated) {
        (0, _) => String::new(),
        (count, Some(_)) => {
            format!("{count} more hold as chosen, and in 95 % of the draws where any were made.")
        }
        (count, None) => format!("{count} more hold."),
    };
    let open = if open > 0 { format!(" {open} cannot be tested as printed.") } else { String::new() };
    let _ = writeln!(out, "{}", format!("{are}{open}").trim());
}

/// True if `claim` holds with the chosen settings and nearly all random settings, if any. An
/// untestable claim counts as holding.
fn is_independent(claim: &Claim) -> bool {
    let share = claim.calibrated.and_then(|held| held.share());
    !claim.is_missed() && share.is_none_or(|(share, _)| share >= NEARLY_ALL)
}

fn row(out: &mut String, exhibit: &str, claim: &Claim, is_calibrated: bool) {
    let chosen = match claim.verdict {
        Verdict::Unclear => "**undecided**",
        Verdict::Fails => "**no**",
        _ => "holds",
    };
    let _ = write!(out, "| {}.{} | {chosen} |", cell(exhibit), cell(&claim.id));
    if is_calibrated {
        let (best, share) = match &claim.calibrated {
            Some(held) => (if held.best { "holds" } else { "no" }, share(held)),
            None => ("", String::new()),
        };
        let _ = write!(out, " {best} | {share} |");
    }
    let _ = writeln!(out, " {} |", cause(claim).map_or(String::new(), short));
}

fn short(cause: Cause<'_>) -> String {
    match cause {
        Cause::Genuine { .. } => "genuine".into(),
        Cause::SetUp { .. } => "set-up".into(),
        Cause::Stricter(why) => format!("stricter: {}", cell(why)),
        Cause::Undecided => "too few seeds".into(),
        Cause::Unknown => String::new(),
    }
}

fn draws(summary: &Summary) -> String {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let mut text = format!("{} draws, {} seeds each.", summary.draws, summary.seeds.len());
    let Some(distance) = &summary.distance else {
        return text + " The paper prints no number of these exhibits.";
    };
    let _ = write!(
        text,
        " Mean difference to {} printed numbers: as chosen {}, in the best draw {}.",
        distance.numbers,
        percent(distance.chosen),
        percent(distance.best)
    );
    if let Some(held_out) = distance.held_out {
        let nearer = if held_out <= distance.chosen { "at least as near as" } else { "**not as near as**" };
        let _ = write!(
            text,
            " Chosen by one half of the numbers, the other half is off by {}: {nearer} as chosen.",
            percent(held_out)
        );
    }
    let settings: Vec<String> =
        summary.best.iter().map(|(setting, is)| format!("{} = {}", cell(setting), cell(is))).collect();
    let best = if settings.is_empty() { "the study's own".into() } else { settings.join(", ") };
    let _ = write!(text, " The best settings: {best}.");
    text
}

pub(crate) fn share(held: &Held) -> String {
    held.share().map_or_else(String::new, |(share, [low, high])| {
        format!("{:.0} % ({:.0} to {:.0})", share * 100.0, low * 100.0, high * 100.0)
    })
}

#[cfg(test)]
mod tests {
    use super::super::samples::all_kinds;
    use super::super::tally::papers;
    use super::*;
    use fairwire_study::calibration::Held;

    #[test]
    fn only_misses_and_set_up_dependent_claims_have_a_row() {
        let mut results = all_kinds();
        let held = |held| Some(Held { chosen: true, best: true, held, of: 32 });
        let claims = &mut results.exhibits[0].claims;
        (claims[0].calibrated, claims[1].calibrated, claims[3].calibrated) = (held(32), held(0), held(20));
        results
            .calibrated
            .insert("faba".into(), Summary { draws: 32, seeds: vec![1, 2], ..Summary::default() });
        let mut text = String::new();
        table(&mut text, &results, &papers(&results)[0]);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| table1.")).collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(
            rows[0].starts_with("| table1.above-all | **no** | holds | 0 % (")
                && rows[0].ends_with("| genuine |")
        );
        assert!(
            rows[1].starts_with("| table1.close | **undecided** |") && rows[1].ends_with("| too few seeds |")
        );
        assert!(rows[2].starts_with("| table1.between | holds | holds | 6"), "{}", rows[2]);
        // One claim of table 1 and one of figure 4 hold and have no row.
        assert!(
            text.contains("2 more hold as chosen") && text.contains("2 cannot be tested as printed"),
            "{text}"
        );
    }
}
