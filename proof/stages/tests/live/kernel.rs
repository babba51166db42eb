//! The stage `kernel`: contests under this kernel's disciplines.

use super::*;
use fairwire_stages::kernel::Kernel;

pub(super) fn its_own_disciplines_share_as_ours_do() {
    for (discipline, least, most) in [("tail-drop", 3.0, 6.0), ("fq-codel", 0.8, 1.3)] {
        let scenario = contest(discipline, &["warm_up=2 s"]);
        if let Err(why) = Kernel.can_run(&Plan { scenario: &scenario, discipline: 0 }) {
            fairwire_testing::skipped_for_want_of_a_peer(format_args!(
                "this kernel's own {discipline}: {why}"
            ));
            continue;
        }
        let record = hold_contest(&Kernel, &scenario);
        let share = group_share(&record, "udp");
        assert!((least..most).contains(&share), "{discipline}: {share}");
        let sent: u64 = record.flows.iter().map(|flow| flow.packets_sent).sum();
        assert_eq!(sent, record.links[0].packets_in, "each packet is of a flow");
        if discipline == "tail-drop" {
            // A full queue of 780 packets of 552 B takes 344 ms at 10 Mbit/s.
            let sojourn = record.links[0].sojourn.as_ref().expect("it is measured");
            assert!((0.2..0.345).contains(&sojourn.mean_s) && sojourn.p99_s < 0.36, "{sojourn:?}");
            assert!(record.links[0].backlog.max_packets <= Some(781), "{:?}", record.links[0].backlog);
        }
    }
}

pub(super) fn a_stopped_contest_leaves_nothing() {
    let before = helpers_of(std::process::id());
    let stop = AtomicBool::new(false);
    let mut stop_soon = |part: f64| stop.store(part > 0.05, Ordering::Relaxed);
    let outcome = run(&Kernel, &contest("tail-drop", &[]), &mut stop_soon, &stop);
    assert!(matches!(outcome, Ok(None)), "{outcome:?}");
    assert_eq!(helpers_of(std::process::id()), before);
}

pub(super) fn a_killed_stage_leaves_nothing() {
    killed_leaves_nothing("kernel", 3);
}

pub(super) fn what_it_cannot_run_is_named() {
    let why = |set: &str| {
        let scenario = contest("tail-drop", &[set]);
        Kernel.can_run(&Plan { scenario: &scenario, discipline: 0 }).err().map(|why| why.to_string())
    };
    let faba = why("disciplines=['faba']").expect("Linux has none");
    assert!(faba.contains("`faba`, with its parameters; allowed: a discipline that Linux has"), "{faba}");
    match why("disciplines=['pie']") {
        Some(pie) => {
            assert!(pie.contains("`tc qdisc add ") && pie.contains("` failed ("), "{pie}");
            assert!(pie.contains("the stage `linux` brings one"), "{pie}");
        }
        None => fairwire_testing::skipped_for_want_of_a_peer("a kernel without PIE: this one has it"),
    }
}
