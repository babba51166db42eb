//! `queue` makes the same decisions as a combined name such as `drr+faba`.

use super::{discipline, refusal};
use fairwire_catalogue as catalogue;
use fairwire_testing::{Driver, Outcome, contest};

fn outcome(name: &str, typed: &str) -> Outcome {
    Driver::new(discipline(name, typed)).run(&contest(20, 2_000))
}

#[test]
fn composed_parts_decide_as_their_short_forms() {
    for (parts, name, short) in [
        ("", "tail-drop", ""),
        ("scheduler = 'drr'\ndropper = 'faba'", "drr+faba", ""),
        ("dropper = 'drr+faba'", "drr+faba", ""),
        (
            "scheduler = { drr = { quantum = '300 B' } }\ndropper = { red = { gentle = false } }\necn = 'mark'",
            "red",
            "[red]\nscheduler = { drr = { quantum = '300 B' } }\ngentle = false\necn = 'mark'",
        ),
        (
            "buffer = '12 packets'\nscheduler = 'wf2q+'\ndropper = { lqd = { drop = 'tail' } }",
            "wf2q++lqd",
            "[lqd]\nbuffer = '12 packets'\ndrop = 'tail'",
        ),
        ("ecn = 'mark'\ndropper = { red = { ecn = 'drop' } }", "red", ""),
    ] {
        assert_eq!(outcome("queue", &format!("[queue]\n{parts}")), outcome(name, short), "{parts}");
    }
}

#[test]
fn a_scheduler_in_the_name_equals_the_scheduler_parameter() {
    for entry in catalogue::combined() {
        let (scheduler, _) = entry.name.split_once(&format!("+{}", entry.key)).expect("both names");
        let typed = format!("[{:?}]\nscheduler = {scheduler:?}", entry.key);
        assert_eq!(outcome(entry.name, ""), outcome(entry.key, &typed), "{}", entry.name);
    }
}

#[test]
fn nonsense_is_refused_with_the_allowed_values() {
    for (typed, message) in [
        (
            "dropper = 'fq-codel'",
            "`dropper` of `queue` is `fq-codel`, which has a scheduler of its own; allowed: a dropper that any scheduler can serve",
        ),
        ("dropper = 'drr'", "`dropper` of `queue` is `drr`, which has a scheduler of its own;"),
        ("dropper = 'queue'", "`dropper` of `queue` is `queue`, which has a scheduler of its own;"),
        (
            "dropper = 'rde'",
            "`dropper` of `queue` is `rde`, an unknown discipline; allowed: the name of a discipline; did you mean `red`?",
        ),
        (
            "scheduler = 'drr'\ndropper = { red = { scheduler = 'scfq' } }",
            "`scheduler` of `queue` is `drr`, and the dropper `red` has a different `scheduler`; allowed: one `scheduler`, in `queue` or in the dropper",
        ),
        (
            "dropper = { red = { weight = 2 } }",
            "`weight` of `red` in `queue.dropper` is 2; allowed: a number above 0, at most 1",
        ),
    ] {
        let refused = refusal("queue", &format!("[queue]\n{typed}"));
        assert!(refused.starts_with(message), "{refused}");
    }
}
