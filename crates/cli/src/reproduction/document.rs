//! `docs/reproduction.md`: what came of each claim.

use super::calibrated;
use super::conditions;
use super::tally::{Paper, papers, words};
use crate::chart::style::cut;
use fairwire_study::record::{Claim, Depth, Exhibit, Results, Verdict};
use std::fmt::Write;

/// Letters of what was measured; the whole stands in the report.
const MOST_DETAIL: f64 = 400.0;

/// The page, in Markdown.
pub fn document(results: &Results) -> String {
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
         Long lists of values are cut here, and whole in the report. \
         The studies with their reasons are in [studies](../studies); what the results mean for somebody who picks a discipline is \
         in [choosing](choosing.md).\n\n",
        results.fairwire_version
    );
    if results.interrupted {
        out.push_str("**This run was interrupted: only the exhibits named below were made.**\n\n");
    }
    counts(&mut out, &papers);
    calibrated::tables(&mut out, results, &papers);
    if !results.calibrated.is_empty() {
        out.push_str("\n# Claims, one by one\n");
    }
    for paper in &papers {
        let _ = write!(out, "\n## {}: {}\n\n{}\n", cell(paper.name), cell(paper.study), cell(paper.source));
        claims(&mut out, paper);
    }
    out
}

fn counts(out: &mut String, papers: &[Paper<'_>]) {
    out.push_str(
        "| paper | exhibits | claims | hold | do not hold | of these undecided | not testable as printed |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut row = |name: &str, numbers: [usize; 6]| {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        let _ = writeln!(out, "| {name} | {} |", numbers.join(" | "));
    };
    let mut sum = [0; 6];
    for paper in papers {
        let [holds, fails, not_testable] = Verdict::ALL.map(|verdict| paper.counted(verdict));
        let numbers = [paper.exhibits.len(), paper.claims(), holds, fails, paper.undecided(), not_testable];
        sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
        row(&cell(paper.name), numbers);
    }
    row("**all**", sum);
}

fn claims(out: &mut String, paper: &Paper<'_>) {
    out.push_str("\n| exhibit | claim | verdict | measured |\n|---|---|---|---|\n");
    for exhibit in &paper.exhibits {
        if exhibit.claims.is_empty() {
            let _ =
                writeln!(out, "| {} | no claim is made: {} | | |", cell(&exhibit.id), cell(&exhibit.title));
        }
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
    let strong = if claim.verdict == Verdict::DoesNotHold { "**" } else { "" };
    let place = if claim.place.is_empty() { String::new() } else { format!(" ({})", cell(&claim.place)) };
    let _ = writeln!(
        out,
        "| {} | {}{place} | {strong}{}{strong} | {} |",
        cell(&exhibit.id),
        cell(&claim.says),
        words(claim),
        cell(&cut(&claim.detail, MOST_DETAIL))
    );
}

/// Text for a cell, in which a bar or a line's end would end it, and marks would be read as Markdown.
pub fn cell(text: &str) -> String {
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
    fn every_claim_has_one_row_and_every_paper_one_line_of_counts() {
        let results = all_kinds();
        let text = document(&results);
        let claims: usize = results.exhibits.iter().map(|exhibit| exhibit.claims.len()).sum();
        let told = ["holds |", "does not hold", "not testable as printed |"];
        let rows =
            text.lines().filter(|line| line.starts_with("| ") && told.iter().any(|told| line.contains(told)));
        // The heading of the table of counts holds two of these words.
        assert_eq!(rows.count(), claims + 1);
        assert!(text.contains("| **all** |"));
    }

    #[test]
    fn text_of_a_study_cannot_break_the_table() {
        assert_eq!(cell("a|b\nc `d` <e>"), "a\\|b c \\`d\\` \\<e>");
    }
}
