//! The number of claims with each verdict, by paper.

use fairwire_study::record::{Claim, Exhibit, Origin, Results, Verdict};

#[derive(Debug)]
pub(super) struct Paper<'a> {
    /// The paper's name in `fairwire reproduce`.
    pub name: &'a str,
    /// The title of the paper's study.
    pub study: &'a str,
    /// The full citation.
    pub source: &'a str,
    pub exhibits: Vec<&'a Exhibit>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub claims: usize,
    pub hold: usize,
    pub fail: usize,
    /// The claims that fail only because of the interval of their mean.
    pub undecided: usize,
    pub not_testable: usize,
}

impl Count {
    pub(super) const HEADS: [&str; 5] =
        ["claims", "hold", "do not hold", "of these undecided", "not testable as printed"];

    pub(super) fn numbers(self) -> [usize; 5] {
        [self.claims, self.hold, self.fail, self.undecided, self.not_testable]
    }

    pub(super) fn and(self, other: Count) -> Count {
        Count {
            claims: self.claims + other.claims,
            hold: self.hold + other.hold,
            fail: self.fail + other.fail,
            undecided: self.undecided + other.undecided,
            not_testable: self.not_testable + other.not_testable,
        }
    }

    fn with(self, claim: &Claim) -> Count {
        let is = |verdict: Verdict| usize::from(claim.verdict == verdict);
        self.and(Count {
            claims: 1,
            hold: is(Verdict::Holds),
            fail: usize::from(claim.is_missed()),
            undecided: is(Verdict::Unclear),
            not_testable: is(Verdict::NotTestable),
        })
    }
}

impl Paper<'_> {
    pub(super) fn count(&self, is_meant: impl Fn(Origin) -> bool) -> Count {
        let claims = self.exhibits.iter().flat_map(|exhibit| &exhibit.claims);
        claims.filter(|claim| is_meant(claim.origin)).fold(Count::default(), Count::with)
    }

    pub(super) fn claims(&self) -> usize {
        self.count(|_| true).claims
    }
}

/// Counts the claims that papers make, by paper and in total. Omits a paper if all its claims have
/// other origins, but not if it has no claims.
pub(super) fn headline<'a>(papers: &'a [Paper<'a>]) -> (Vec<(&'a Paper<'a>, Count)>, Count) {
    let counted = papers.iter().map(|paper| (paper, paper.count(Origin::is_of_the_paper)));
    let lines: Vec<_> = counted.filter(|(paper, count)| count.claims > 0 || paper.claims() == 0).collect();
    let sum = lines.iter().fold(Count::default(), |sum, (_, count)| sum.and(*count));
    (lines, sum)
}

pub(super) fn others<'a>(papers: &'a [Paper<'a>]) -> Vec<(&'a Paper<'a>, Origin, Count)> {
    let rest = Origin::ALL.into_iter().filter(|origin| !origin.is_of_the_paper());
    let pairs = papers.iter().flat_map(|paper| rest.clone().map(move |origin| (paper, origin)));
    let counted = pairs.map(|(paper, origin)| (paper, origin, paper.count(|other| other == origin)));
    counted.filter(|(.., count)| count.claims > 0).collect()
}

pub(super) fn papers(results: &Results) -> Vec<Paper<'_>> {
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

pub(crate) fn words(claim: &Claim) -> String {
    match claim.verdict {
        Verdict::Unclear => "does not hold (undecided)".into(),
        verdict => verdict.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::all_kinds;
    use super::*;

    #[test]
    fn every_claim_is_counted_once() {
        let results = all_kinds();
        let papers = papers(&results);
        for paper in &papers {
            let all = paper.count(|_| true);
            assert_eq!(all.hold + all.fail + all.not_testable, all.claims, "{}", paper.name);
            assert!(all.undecided <= all.fail);
        }
        let (_, sum) = headline(&papers);
        let rest: usize = others(&papers).iter().map(|(.., count)| count.claims).sum();
        let all: usize = papers.iter().map(Paper::claims).sum();
        assert_eq!(sum.claims + rest, all);
        assert!(rest > 0, "the samples have a claim that is not the paper's");
    }

    #[test]
    fn a_study_that_claims_nothing_of_a_paper_is_not_in_the_headline() {
        let mut results = all_kinds();
        for claim in results.exhibits.iter_mut().filter(|e| e.paper == "afd").flat_map(|e| &mut e.claims) {
            claim.origin = Origin::Ours;
        }
        let papers = papers(&results);
        assert!(headline(&papers).0.iter().all(|(paper, _)| paper.name != "afd"));
        assert!(
            others(&papers).iter().any(|(paper, origin, _)| paper.name == "afd" && *origin == Origin::Ours)
        );
    }

    #[test]
    fn exhibits_of_a_paper_are_grouped_in_any_input_order() {
        let mut results = all_kinds();
        results.exhibits.reverse();
        let papers = papers(&results);
        let names: std::collections::BTreeSet<_> = papers.iter().map(|paper| paper.name).collect();
        assert_eq!(names.len(), papers.len());
    }
}
