//! Claims in three columns: as chosen, in the best draw, and the share of draws of what the paper leaves open.

use super::document::cell;
use super::tally::{Paper, words};
use crate::command::calibrate::share;
use fairwire_study::calibration::Summary;
use fairwire_study::record::{Claim, Results, Verdict};
use std::fmt::Write;

/// Appends a table for each paper of `papers` that was calibrated.
pub fn tables(out: &mut String, results: &Results, papers: &[Paper<'_>]) {
    let calibrated: Vec<(&Paper<'_>, &Summary)> =
        papers.iter().filter_map(|paper| Some((paper, results.calibrated.get(paper.name)?))).collect();
    if calibrated.is_empty() {
        return;
    }
    out.push_str(
        "\n# What hangs on what is not printed\n\n\
         Each paper leaves settings open. The `space.toml` of its study says which, and what is admissible; `fairwire calibrate` draws from it. \
         *As chosen*: the verdict of the study, with its seeds. *Best*: in the draw whose numbers are nearest to the printed ones. *Share*: of the draws \
         in which the claim holds in the mean, with its 95 % interval (Wilson). A claim without a share stands in an exhibit in which nothing was drawn.\n",
    );
    for (paper, summary) in calibrated {
        let _ = write!(out, "\n## {}\n\n{}\n\n", cell(paper.name), told(summary));
        out.push_str("| claim | as chosen | best | share |\n|---|---|---|---:|\n");
        for exhibit in &paper.exhibits {
            exhibit.claims.iter().for_each(|claim| row(out, &exhibit.id, claim));
        }
    }
}

fn row(out: &mut String, exhibit: &str, claim: &Claim) {
    let (best, share) = match &claim.calibrated {
        Some(held) => (if held.best { "holds" } else { "does not" }, share(held)),
        None => ("", String::new()),
    };
    let chosen = match claim.verdict {
        Verdict::DoesNotHold => format!("**{}**", words(claim)),
        _ => words(claim),
    };
    let _ = writeln!(out, "| {}.{} | {chosen} | {best} | {share} |", cell(exhibit), cell(&claim.id));
}

/// The draws, and how near they come.
fn told(summary: &Summary) -> String {
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
