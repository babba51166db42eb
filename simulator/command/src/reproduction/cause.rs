//! The cause of a claim that does not hold, as far as random settings and the study reveal it.

use fairwire_study::record::{Claim, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause<'a> {
    /// The claim holds with no random choice of the unprinted settings: a genuine difference.
    Genuine {
        of: usize,
    },
    /// The claim holds with some choices of unprinted settings: the cause is the set-up, or our
    /// reading of the paper.
    SetUp {
        held: usize,
        of: usize,
    },
    /// The check requires more than the paper claims, for this reason.
    Stricter(&'a str),
    /// The mean satisfies the check, but its interval does not: there are too few seeds.
    Undecided,
    Unknown,
}

pub(super) fn cause(claim: &Claim) -> Option<Cause<'_>> {
    if !claim.is_missed() {
        return None;
    }
    Some(match claim.calibrated {
        _ if !claim.stricter.is_empty() => Cause::Stricter(&claim.stricter),
        Some(held) if held.of > 0 && held.held == 0 => Cause::Genuine { of: held.of },
        Some(held) if held.of > 0 => Cause::SetUp { held: held.held, of: held.of },
        _ if claim.verdict == Verdict::Unclear => Cause::Undecided,
        _ => Cause::Unknown,
    })
}

impl Cause<'_> {
    pub(super) fn words(self) -> String {
        match self {
            Cause::Genuine { of } => format!("genuine: in none of {of} draws"),
            Cause::SetUp { held, of } => format!("set-up or reading: holds in {held} of {of} draws"),
            Cause::Stricter(why) => format!("stricter than the paper: {why}"),
            Cause::Undecided => "more seeds may settle it".into(),
            Cause::Unknown => "unknown: nothing was drawn here".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::claim;
    use super::*;
    use fairwire_study::calibration::Held;

    #[test]
    fn the_draws_separate_a_genuine_miss_from_one_of_the_set_up() {
        let with = |held| Claim {
            calibrated: Some(Held { chosen: false, best: false, held, of: 32 }),
            ..claim("c", Verdict::Fails)
        };
        assert_eq!(cause(&with(0)), Some(Cause::Genuine { of: 32 }));
        assert_eq!(cause(&with(3)), Some(Cause::SetUp { held: 3, of: 32 }));
        let stricter = Claim { stricter: "the paper says nearly".into(), ..with(0) };
        assert_eq!(cause(&stricter).unwrap().words(), "stricter than the paper: the paper says nearly");
        assert_eq!(cause(&claim("c", Verdict::Fails)), Some(Cause::Unknown));
        assert_eq!(cause(&claim("c", Verdict::Unclear)), Some(Cause::Undecided));
        assert_eq!(cause(&Claim { stricter: "so".into(), ..claim("c", Verdict::Holds) }), None);
    }
}
