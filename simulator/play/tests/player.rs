//! A player compared with an ordinary run.

use fairwire_core::Time;
use fairwire_play::{MAX_FLOWS, Player, Players, Wanted, answer};
use fairwire_scenario::{self as scenario, Overrides};
use serde_json::json;
use std::ops::ControlFlow;

const CONTEST: &str = r#"
    format = 2
    name = "contest"
    duration = "3.005 s"
    warm_up = "1 s"
    seeds = 1
    disciplines = ["tail-drop", "faba", "red"]
    [link]
    rate = "2 Mbit/s"
    delay = "5 ms"
    buffer = "30 packets"
    [[flow]]
    group = "tcp"
    count = 2
    source = "bulk"
    tcp = { profile = "ns2-2002" }
    access = { rate = "10 Mbit/s", delay = "1 ms" }
    [[flow]]
    group = "udp"
    source = { cbr = { rate = "1.5 Mbit/s" } }
    access = { rate = "10 Mbit/s", delay = "1 ms" }
"#;

#[test]
fn an_observed_run_has_the_record_of_an_unobserved_one() {
    let mut player = Player::new(&Wanted::of(CONTEST)).expect("a player");
    assert!(player.records().is_none(), "nothing is at its end yet");
    let mut at = Time::ZERO;
    while !player.advance(at).is_over {
        at += fairwire_core::Duration::from_ms(170);
    }
    let records = player.records().expect("all is over");
    let checked = scenario::parse("contest", CONTEST, &Overrides::default()).expect("a scenario");
    for (discipline, record) in records.iter().enumerate() {
        let plain = scenario::run_single(&checked, discipline, 1, &mut |_| ControlFlow::Continue(()), None);
        let plain = plain.expect("it runs").expect("it is whole");
        assert_eq!(serde_json::to_string(record).unwrap(), serde_json::to_string(&plain).unwrap());
    }
}

#[test]
fn the_steps_of_observation_do_not_change_a_run() {
    let seen = |step_ms: u64| {
        let mut player = Player::new(&Wanted::of(CONTEST)).expect("a player");
        let mut samples = vec![Vec::new(), Vec::new()];
        for at in (0..=3_100).step_by(step_ms as usize) {
            let frame = player.advance(Time::from_ns(at * 1_000_000));
            for (all, side) in samples.iter_mut().zip(frame.sides) {
                all.extend(side.samples.into_iter().map(|sample| format!("{sample:?}")));
            }
        }
        samples
    };
    let (fine, coarse) = (seen(10), seen(310));
    assert_eq!(fine[0].len(), 301, "the last is shorter than the others");
    assert_eq!(fine, coarse);
}

#[test]
fn a_frame_has_departures_and_drops() {
    let mut player = Player::new(&Wanted::of(CONTEST)).expect("a player");
    let frame = player.advance(Time::from_ns(2_000_000_000));
    for side in &frame.sides {
        let bits: f64 = side
            .samples
            .iter()
            .skip(100)
            .flat_map(|sample| &sample.flows)
            .map(|flow| flow.rate_bps * 0.01)
            .sum();
        // The busy link sends 2 Mbit, give or take one packet.
        assert!((1.99e6..=2.01e6).contains(&bits), "{bits}");
        let of_causes: f64 = side.samples.iter().flat_map(|sample| &sample.dropped).sum();
        let of_flows: f64 =
            side.samples.iter().flat_map(|sample| &sample.flows).map(|flow| flow.dropped).sum();
        assert!(of_causes > 0.0);
        assert_eq!(of_causes, of_flows);
        let shares: f64 = side.levels.iter().map(|level| level.share_bps).sum();
        assert!((shares - 2e6).abs() < 1.0, "{shares}");
    }
    let faba = &frame.sides[1].levels[2];
    assert!((faba.demand_bps - 1.5e6).abs() < 0.05e6, "what a flood offers is its demand: {faba:?}");
}

#[test]
fn unobservable_scenarios_are_refused_with_the_allowed_forms() {
    let many = CONTEST.replace("count = 2", "count = 500");
    let refused = Player::new(&Wanted::of(&many)).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("501 flows") && refused.contains(&MAX_FLOWS.to_string()), "{refused}");
    let wrong = CONTEST.replace("2 Mbit/s", "2 Mbit");
    let refused = Player::new(&Wanted::of(&wrong)).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("scenario.toml:9:12"), "{refused}");
}

#[test]
fn nonsensical_messages_are_refused_without_ending_the_run() {
    let mut players = Players::default();
    for (call, input) in [
        ("advance", r#"{"to_s": 1}"#),
        ("start", "{"),
        ("start", r#"{"scenario": "", "other": 1}"#),
        ("result", ""),
        ("nothing", ""),
        ("", "\0\u{ff}"),
    ] {
        assert!(answer(&mut players, call, input.as_bytes()).is_err(), "{call}");
    }
    let start = serde_json::json!({ "scenario": CONTEST }).to_string();
    answer(&mut players, "start", start.as_bytes()).expect("it starts");
    for to in ["-1", "1e300", "0.5"] {
        let frame = answer(&mut players, "advance", format!("{{\"to_s\": {to}}}").as_bytes()).expect(to);
        assert_eq!(frame.len() % 8, 0);
    }
}

#[test]
fn a_rate_changes_during_a_run_and_changes_that_need_a_new_run_are_refused() {
    let mut player = Player::new(&Wanted::of(CONTEST)).expect("a player");
    player.advance(Time::from_ns(1_000_000_000));
    let refused = player.set(&["flow.tcp.count=3".into()]).unwrap_err().to_string();
    assert!(refused.contains("a new run"), "{refused}");
    let refused = player.set(&["link.rate=1 Mbit".into()]).unwrap_err().to_string();
    assert!(refused.contains("unit"), "{refused}");
    player.set(&["link.rate=1 Mbit/s".into(), "link.buffer=10 packets".into()]).expect("a link may change");
    let frame = player.advance(Time::from_ns(3_000_000_000));
    for side in &frame.sides {
        let bits: f64 = side
            .samples
            .iter()
            .skip(100)
            .flat_map(|sample| &sample.flows)
            .map(|flow| flow.rate_bps * 0.01)
            .sum();
        assert!((0.99e6..=1.01e6).contains(&bits), "{bits}");
    }
    assert!(player.about()["toml"].as_str().is_some_and(|toml| toml.contains("1 Mbit/s")));
}

#[test]
fn expectations_are_judged_on_all_seeds_of_the_current_scenario() {
    let text = CONTEST.replace("seeds = 1", "seeds = \"1..=2\"").replace(", \"faba\", \"red\"", "");
    let expected = r#"
    [lesson]
    question = "?"
    measure = "drop_fraction"
    reads = "dropped"
    answer = "!"
    [[expect]]
    measure = "utilization"
    min = 0.97
    because = "busy"
    [[expect]]
    measure = "drop_fraction"
    max = 0.0001
    "#;
    let mut players = Players::default();
    let mut call = |name: &str, input: &serde_json::Value| -> serde_json::Value {
        let bytes = answer(&mut players, name, input.to_string().as_bytes()).expect(name);
        serde_json::from_slice(&bytes).unwrap_or_default()
    };
    call("start", &json!({ "scenario": format!("{text}{expected}") }));
    assert_eq!(call("judge", &json!({}))["judgements"], serde_json::Value::Null, "one of two runs");
    let judged = call("judge", &json!({}));
    assert_eq!((&judged["done"], &judged["of"]), (&json!(2), &json!(2)));
    let verdicts = |judged: &serde_json::Value| {
        let all = judged["judgements"].as_array().expect("all runs are made").clone();
        all.iter().map(|one| one["verdict"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&judged), ["holds", "does not hold"]);
    assert_eq!(judged["judgements"][0]["because"], "busy");
    assert_eq!(call("judge", &json!({})), judged, "nothing is left to run");
    let plain = scenario::parse("contest", &format!("{text}{expected}"), &Overrides::default()).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let outcome = scenario::run_all(&plain, 1, &|_| {}, &stop).expect("it runs");
    let mean = scenario::report(&plain, outcome).summary[0].measures["drop_fraction"].mean;
    assert_eq!(judged["judgements"][1]["mean"], json!(mean));
    // The result includes the lesson's measure.
    call("advance", &json!({ "to_s": 5 }));
    assert!(call("result", &json!({}))[0]["measures"]["drop_fraction"].as_f64() > Some(0.0001));
    call("set", &json!({ "set": ["link.rate=\"100 Mbit/s\""] }));
    call("judge", &json!({}));
    assert_eq!(verdicts(&call("judge", &json!({}))), ["does not hold", "holds"]);
}
