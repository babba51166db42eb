//! How many claims came out how, by paper.

use fairwire_study::record::{Claim, Exhibit, Results, Verdict};

/// The exhibits of one paper, with what came of its claims.
#[derive(Debug)]
pub struct Paper<'a> {
    /// As `fairwire reproduce` calls it.
    pub name: &'a str,
    /// The title of its study.
    pub study: &'a str,
    /// In full.
    pub source: &'a str,
    pub exhibits: Vec<&'a Exhibit>,
}

impl Paper<'_> {
    /// How many claims came out as `verdict`.
    pub fn counted(&self, verdict: Verdict) -> usize {
        self.exhibits.iter().map(|exhibit| exhibit.counted(verdict)).sum()
    }

    /// How many claims do not hold by their interval alone.
    pub fn undecided(&self) -> usize {
        let claims = self.exhibits.iter().flat_map(|exhibit| &exhibit.claims);
        claims.filter(|claim| claim.verdict == Verdict::DoesNotHold && claim.is_undecided).count()
    }

    /// How many claims there are.
    pub fn claims(&self) -> usize {
        self.exhibits.iter().map(|exhibit| exhibit.claims.len()).sum()
    }
}

/// The papers, in the order in which they come.
pub fn papers(results: &Results) -> Vec<Paper<'_>> {
    let mut papers: Vec<Paper<'_>> = Vec::new();
    for exhibit in &results.exhibits {
        match papers.iter_mut().find(|paper| paper.name == exhibit.paper) {
            Some(paper) => paper.exhibits.push(exhibit),
            None => papers.push(Paper {
                name: &exhibit.paper,
                study: &exhibit.study,
                source: &exhibit.source,
                exhibits: vec![exhibit],
            }),
        }
    }
    papers
}

/// A verdict in words, and whether more seeds may change it.
pub fn words(claim: &Claim) -> String {
    match (claim.verdict, claim.is_undecided) {
        (Verdict::DoesNotHold, true) => "does not hold (undecided)".into(),
        (verdict, _) => verdict.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::all_kinds;
    use super::*;

    #[test]
    fn every_claim_is_counted_once() {
        let results = all_kinds();
        for paper in papers(&results) {
            let counted: usize = Verdict::ALL.map(|verdict| paper.counted(verdict)).iter().sum();
            assert_eq!(counted, paper.claims(), "{}", paper.name);
            assert!(paper.undecided() <= paper.counted(Verdict::DoesNotHold));
        }
    }

    #[test]
    fn exhibits_of_a_paper_stand_together_however_they_come() {
        let mut results = all_kinds();
        results.exhibits.reverse();
        let papers = papers(&results);
        let names: std::collections::BTreeSet<_> = papers.iter().map(|paper| paper.name).collect();
        assert_eq!(names.len(), papers.len());
    }
}
