//! The stage `gateway`: contests through a gateway process.

use super::*;
use fairwire_core::Duration;
use fairwire_experiment::Watch;
use fairwire_stages::gateway::Gateway;

pub(super) fn two_gateways_at_once() {
    let [_, tail_drop] = check_that_faba_holds_a_selfish_flow(&Gateway);
    // A full queue of 780 packets of 552 B takes 344 ms at 10 Mbit/s.
    let sojourn = tail_drop.links[0].sojourn.as_ref().expect("it is measured");
    // A gateway's percentile is the middle of a bucket: 361 ms for waits of 344 to 377 ms. Pauses
    // of the process hardly affect the 90th percentile.
    assert!((0.2..0.345).contains(&sojourn.mean_s) && sojourn.p90_s < 0.362, "{sojourn:?}");
}

fn a_gateway_is_not_sampled_more_often_than_it_counts() {
    struct Often;
    impl Watch for Often {
        fn reached(&mut self, _: f64) {}
        fn every(&self) -> Option<Duration> {
            Some(Duration::from_ms(1))
        }
    }
    let scenario = contest("tail-drop", &[]);
    let why = Gateway.run(&Plan { scenario: &scenario, discipline: 0 }, 1, &mut Often, &NEVER).unwrap_err();
    assert_eq!(
        why.to_string(),
        "samples of a gateway every 1 ms; allowed: `--every` of at least 5 ms, in which a gateway takes its totals"
    );
}

pub(super) fn a_stopped_gateway_leaves_nothing() {
    let before = helpers_of(std::process::id());
    let stop = AtomicBool::new(false);
    let mut stop_soon = |part: f64| stop.store(part > 0.05, Ordering::Relaxed);
    let outcome = run(&Gateway, &contest("faba", &[]), &mut stop_soon, &stop);
    assert!(matches!(outcome, Ok(None)), "{outcome:?}");
    assert_eq!(helpers_of(std::process::id()), before);
}

fn gateway_of(ancestor: u32) -> Option<u32> {
    let is_gateway = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("fairwire-gateway\0run\0")
    };
    helpers_of(ancestor).into_iter().find(is_gateway)
}

pub(super) fn a_killed_gateway_is_named() {
    let own = std::process::id();
    let before = helpers_of(own);
    let mut is_killed = false;
    let mut kill_it = |part: f64| {
        if part > 0.05 && !std::mem::replace(&mut is_killed, true) {
            kill(gateway_of(own).expect("it runs"));
        }
        assert!(part < 0.9, "it is reported at once");
    };
    let outcome = run(&Gateway, &contest("faba", &[]), &mut kill_it, &NEVER);
    let is_named = |why: &str| why.contains("gateway") && why.contains("SIGKILL") && why.contains("forwards");
    assert!(matches!(&outcome, Err(Failed::Machine(why)) if is_named(why)), "{outcome:?}");
    assert_eq!(helpers_of(own), before);
}

pub(super) fn a_killed_stage_takes_its_gateway_along() {
    killed_leaves_nothing("gateway", 4);
}

pub(super) fn what_a_gateway_cannot_run_is_named() {
    for (set, named) in [
        ("flow.tcp.tcp={ ecn = 'ect1' }", "ECT(1) of `tcp`"),
        ("disciplines=[{ classful = { class = [{ id = 0 }] } }]", "the classes of `classful`"),
    ] {
        let scenario = contest("faba", &[set]);
        let plan = Plan { scenario: &scenario, discipline: 0 };
        let why = Gateway.can_run(&plan).map(|()| String::new()).unwrap_or_else(|why| why.to_string());
        assert!(why.contains(named), "{set}: {why}");
    }
    a_gateway_is_not_sampled_more_often_than_it_counts();
}
