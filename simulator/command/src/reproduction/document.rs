//! `docs/reproduction.md`: the verdict on each claim.

use super::calibrated;
use super::conditions::conditions;
use super::tally::{Count, Paper, headline, others, papers, words};
use fairwire_figures::{cut, escaped};
use fairwire_study::record::{Claim, Depth, Exhibit, Results};
use std::fmt::Write;

/// The maximum length of a claim's detail, in characters. The report has the complete text.
const MAX_DETAIL: f64 = 160.0;

const OTHERS: &str = "That counts what a paper prints and what was read out of its words. Not in it: checks at points that the paper does not \
     print, claims of ours, and arithmetic, which cannot fail.";

pub(crate) fn document(results: &Results) -> String {
    let depth = match results.depth {
        Depth::Quick => "--quick",
        Depth::Full => "--full",
    };
    let papers = papers(results);
    let mut out = format!(
        "# Reproduction\n\n\
         What came of each claim of the papers, and of the studies beyond them. Made by `fairwire reproduce {depth} --write-docs`, \
         version {}; do not edit it by hand.\n\n\
         Every check is made on the mean over the seeds with its 95 % interval (Student t); two schemes are compared by paired \
         differences. \"Undecided\" means that the mean says yes and the interval does not: it counts as \"does not hold\". \
         Where more than three comparisons were made, the worst is shown; all are in the report. \
         The studies with their reasons are in [studies](../studies); what the results mean for the choice of a discipline is \
         in [choosing](choosing.md).\n\n",
        results.fairwire_version
    );
    if results.interrupted {
        out.push_str("**This run was interrupted: only the exhibits named below were made.**\n\n");
    }
    counts(&mut out, &papers);
    calibrated::head(&mut out, results);
    papers.iter().for_each(|paper| calibrated::table(&mut out, results, paper));
    out.push_str("\n# Claims, one by one\n");
    for paper in papers.iter().filter(|paper| paper.claims() > 0) {
        let _ = write!(
            out,
            "\n<details>\n<summary>{}: {} claims</summary>\n",
            escaped(paper.name),
            paper.claims()
        );
        claims(&mut out, paper);
        out.push_str("\n</details>\n");
    }
    out
}

fn counts(out: &mut String, papers: &[Paper<'_>]) {
    let heads = Count::HEADS.join(" | ");
    let _ = write!(out, "| paper | exhibits | {heads} |\n|---|---:|---:|---:|---:|---:|---:|\n");
    let (lines, sum) = headline(papers);
    for (paper, count) in &lines {
        counted(out, &format!("{} | {}", cell(paper.name), paper.exhibits.len()), *count);
    }
    let exhibits: usize = lines.iter().map(|(paper, _)| paper.exhibits.len()).sum();
    counted(out, &format!("**all** | {exhibits}"), sum);
    let others = others(papers);
    if others.is_empty() {
        return;
    }
    let _ = write!(out, "\n{OTHERS}\n\n| study | origin | {heads} |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (paper, origin, count) in &others {
        counted(out, &format!("{} | {origin}", cell(paper.name)), *count);
    }
    let sum = others.iter().fold(Count::default(), |sum, (.., count)| sum.and(*count));
    counted(out, "**all** | ", sum);
}

fn counted(out: &mut String, name: &str, count: Count) {
    let numbers: Vec<String> = count.numbers().iter().map(usize::to_string).collect();
    let _ = writeln!(out, "| {name} | {} |", numbers.join(" | "));
}

fn claims(out: &mut String, paper: &Paper<'_>) {
    out.push_str("\n| exhibit | claim | origin | verdict | measured |\n|---|---|---|---|---|\n");
    for exhibit in &paper.exhibits {
        for claim in &exhibit.claims {
            claim_row(out, exhibit, claim);
        }
    }
    let same =
        paper.exhibits.iter().map(|exhibit| conditions(exhibit)).collect::<std::collections::BTreeSet<_>>();
    let same: Vec<String> = same.into_iter().collect();
    let _ = write!(out, "\nNumbers: {}.\n", same.join("; or "));
}

fn claim_row(out: &mut String, exhibit: &Exhibit, claim: &Claim) {
    let strong = if claim.is_missed() { "**" } else { "" };
    let place = if claim.place.is_empty() { String::new() } else { format!(" ({})", cell(&claim.place)) };
    let _ = writeln!(
        out,
        "| {} | {}{place} | {} | {strong}{}{strong} | {} |",
        cell(&exhibit.id),
        cell(&claim.says),
        claim.origin,
        words(claim),
        cell(&cut(&claim.detail, MAX_DETAIL))
    );
}

pub(super) fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '*' | '_' | '`' | '<' | '[' | ']' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::samples::all_kinds;
    use super::*;

    #[test]
    fn every_claim_has_one_row_and_two_tables_count_them() {
        let results = all_kinds();
        let text = document(&results);
        let claims: usize = results.exhibits.iter().map(|exhibit| exhibit.claims.len()).sum();
        let one_by_one = text.split("# Claims, one by one").nth(1).unwrap();
        let rows = one_by_one.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| exhibit"));
        assert_eq!(rows.count(), claims);
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
        assert_eq!(text.matches("| **all** |").count(), 2);
        assert!(text.contains("| faba | at points of ours | 1 | 1 | 0 | 0 | 0 |"), "{text}");
    }

    #[test]
    fn text_of_a_study_cannot_break_the_table() {
        assert_eq!(cell("a|b\nc `d` <e>"), "a\\|b c \\`d\\` \\<e>");
    }
}
