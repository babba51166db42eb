//! A queue of parts: the same as the short forms, and what makes no sense is refused.

use super::{Counts, discipline, packet, refusal};
use fairwire_core::{Ecn, Packet, Time};

/// Everything that is sent, dropped and marked under steady overload, in its order.
fn decisions(name: &str, typed: &str) -> (Vec<u32>, Counts) {
    let mut queue = discipline(name, typed);
    let (mut sent, mut counts) = (Vec::new(), Counts::default());
    for frame in 0..4000u32 {
        let now = Time::from_ns(u64::from(frame) * 500_000);
        let packet = Packet { ecn: Ecn::Ect0, ..packet(frame, 700 + frame % 5 * 100, frame % 7 % 3, now) };
        queue.enqueue(packet, now, &mut counts);
        if frame % 3 != 0 {
            sent.extend(queue.dequeue(now, &mut counts).map(|packet| packet.frame));
        }
    }
    (sent, counts)
}

#[test]
fn parts_decide_as_the_short_forms_do() {
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
        let (sent, counts) = decisions("queue", &format!("[queue]\n{parts}"));
        let (as_sent, as_counts) = decisions(name, short);
        assert_eq!(sent, as_sent, "{parts}");
        assert_eq!((counts.dropped, counts.marked), (as_counts.dropped, as_counts.marked), "{parts}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_is_allowed() {
    for (typed, message) in [
        (
            "dropper = 'fq-codel'",
            "`dropper` of `queue` is `fq-codel`, which has a scheduler of its own; allowed: a dropper that any scheduler can serve",
        ),
        ("dropper = 'drr'", "`dropper` of `queue` is `drr`, which has a scheduler of its own;"),
        ("dropper = 'queue'", "`dropper` of `queue` is `queue`, which has a scheduler of its own;"),
        (
            "dropper = 'rde'",
            "`dropper` of `queue` is `rde`; allowed: the name of a discipline in the catalogue; did you mean `red`?",
        ),
        (
            "scheduler = 'drr'\ndropper = { red = { scheduler = 'scfq' } }",
            "`scheduler` of `queue` is `drr`, and another for the dropper `red`; allowed: one of the two",
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
