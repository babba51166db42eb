//! Scenarios that are changed during a run.

use fairwire_core::{Duration, Probe, Unit};
use fairwire_scenario::{Live, Observer, Overrides, Scenario, View, parse, run_single};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

const TEXT: &str = r#"
format = 2
name = "live"
duration = "6 s"
seeds = 1
disciplines = ["DISCIPLINE", "drop-front"]

[link]
rate = "4 Mbit/s"
delay = "10 ms"
buffer = "100 packets"

[[flow]]
group = "tcp"
count = 4
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "2 ms" }

[[flow]]
group = "udp"
source = { cbr = { rate = "2 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }
"#;

fn scenario(discipline: &str) -> Scenario {
    parse("live.toml", &TEXT.replace("DISCIPLINE", discipline), &Overrides::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn flooded(discipline: &str) -> Scenario {
    scenario(discipline).changed(&["link.rate=1 Mbit/s".into()]).expect("it is right")
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    waiting: u32,
    dropped: u64,
    left_bytes: u64,
    delivered: Vec<u64>,
    gauges: Vec<(String, f64)>,
}

impl Probe for Seen {
    fn gauge(&mut self, name: &str, _: Unit, value: f64) {
        self.gauges.push((name.into(), value));
    }
}

impl Seen {
    fn gauge(&self, name: &str) -> f64 {
        self.gauges.iter().find(|(gauge, _)| gauge == name).expect("the discipline has it").1
    }
}

#[derive(Clone, Default)]
struct Watcher(Arc<Mutex<Vec<Seen>>>);

impl Watcher {
    fn all(&self) -> Vec<Seen> {
        self.0.lock().unwrap().clone()
    }
    fn last(&self) -> Seen {
        self.0.lock().unwrap().last().cloned().unwrap_or_default()
    }
}

impl Observer for Watcher {
    fn interval(&self) -> Option<Duration> {
        Some(Duration::from_ms(100))
    }
    fn sample(&mut self, view: &View<'_>) {
        let mut seen =
            Seen { delivered: view.flows().map(|f| f.delivered_bytes).collect(), ..Seen::default() };
        seen.left_bytes = view.flows().map(|flow| flow.left_bytes).sum();
        for link in view.links() {
            (seen.waiting, seen.dropped) = (link.backlog.packets, link.dropped);
            link.discipline.inspect(&mut seen);
        }
        self.0.lock().unwrap().push(seen);
    }
}

/// Runs `scenario`. Each entry of `changes` is a step and the settings to change before it.
fn run(scenario: &Scenario, changes: &[(usize, &[&str])]) -> Vec<Seen> {
    let watcher = Watcher::default();
    let mut live = Live::new(scenario, 0, 7, Box::new(watcher.clone())).expect("it can be built");
    for step in 0.. {
        for (_, set) in changes.iter().filter(|(at, _)| *at == step) {
            let set: Vec<String> = set.iter().map(ToString::to_string).collect();
            live.set_all(&set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        }
        if !live.advance() {
            break;
        }
    }
    watcher.all()
}

#[test]
fn a_live_run_without_real_changes_equals_an_ordinary_run() {
    let shaped = "{ shaper = { rate = '3 Mbit/s', discipline = 'pie' } }";
    let shaped = TEXT.replace("\"DISCIPLINE\"", shaped);
    let shaped = parse("live.toml", &shaped, &Overrides::default()).expect("it is right");
    let plain = ["pie", "red", "faba", "fq-codel", "drr+lqd", "sfb"].map(scenario);
    for scenario in plain.into_iter().chain([shaped]) {
        let discipline = scenario.spec().disciplines[0].label();
        let watcher = Watcher::default();
        let mut on = |_| ControlFlow::Continue(());
        run_single(&scenario, 0, 7, &mut on, Some(&mut watcher.clone())).expect("it runs");
        let whole = watcher.all();
        assert_eq!(run(&scenario, &[]), whole, "{discipline}");
        let same: &[&str] = &["link.rate=4 Mbit/s", "link.buffer = '100 packets'", "duration=6 s"];
        assert_eq!(run(&scenario, &[(0, same), (13, same), (14, same)]), whole, "{discipline}");
    }
}

#[test]
fn equal_changes_at_equal_steps_give_equal_bits() {
    let scenario = scenario("pie");
    let changes: &[(usize, &[&str])] = &[
        (5, &["link.rate=2500 kbit/s", "link.buffer=40 packets"]),
        (20, &["discipline.pie.target=2 ms"]),
        (30, &["disciplines=['faba', 'drop-front']"]),
        (40, &["disciplines=['drr+lqd', 'drop-front']", "link.buffer=30 ms"]),
    ];
    let first = run(&scenario, changes);
    assert_eq!(first, run(&scenario, changes));
    assert_ne!(first, run(&scenario, &changes[..3]));
}

#[test]
fn a_discipline_with_another_parameter_keeps_its_state_and_follows_the_parameter() {
    let scenario = scenario("pie");
    let watcher = Watcher::default();
    let mut live = Live::new(&scenario, 0, 7, Box::new(watcher.clone())).expect("it can be built");
    (0..40).for_each(|_| assert!(live.advance()));
    let probability = watcher.last().gauge("probability");
    assert!(probability > 0.01, "{probability}");
    live.set("discipline.pie.target", "1 ms").expect("a parameter");
    let after = run(&scenario, &[(40, &["discipline.pie.target=1 ms"])]);
    let change = (after[40].gauge("probability") / after[39].gauge("probability") - 1.0).abs();
    assert!(change < 0.6, "the probability goes on from where it was: {change}");
    let without = run(&scenario, &[]);
    let mean = |of: &[Seen]| of[45..].iter().map(|seen| f64::from(seen.waiting)).sum::<f64>();
    assert!(mean(&after) < 0.6 * mean(&without), "{} {}", mean(&after), mean(&without));
}

#[test]
fn packets_above_a_smaller_buffer_stay_until_they_leave() {
    for discipline in ["tail-drop", "red"] {
        let seen = run(&flooded(discipline), &[(20, &["link.buffer=10 packets"])]);
        // In one step of 0.1 s, the link sends 23 packets.
        let gone = seen[19].waiting - seen[20].waiting;
        assert!(seen[19].waiting > 40 && (20..=25).contains(&gone), "{discipline}: {gone}");
        assert!(seen[30..].iter().all(|seen| seen.waiting <= 10), "{discipline}");
    }
}

#[test]
fn a_link_follows_its_rate_and_its_record_has_the_mean() {
    let seen = run(&scenario("tail-drop"), &[(20, &["link.rate=1 Mbit/s"]), (40, &["link.rate=3 Mbit/s"])]);
    let rate = |from: usize, to: usize| {
        seen[from..to].iter().map(|seen| seen.left_bytes as f64 * 8.0).sum::<f64>() / (to - from) as f64
            * 10.0
    };
    for (from, to, mbps) in [(10, 20, 4.0), (21, 40, 1.0), (45, 59, 3.0)] {
        let measured = rate(from, to) / 1e6;
        assert!((measured / mbps - 1.0).abs() < 0.02, "{measured} Mbit/s of {mbps}");
    }
}

#[test]
fn a_discipline_that_is_replaced_hands_its_packets_over() {
    let seen = run(&flooded("tail-drop"), &[(20, &["disciplines=['drr+lqd', 'drop-front']"])]);
    let gone = seen[19].waiting.abs_diff(seen[20].waiting);
    assert!(gone < 20, "{gone} of {} packets", seen[19].waiting);
    let sizes = |step: usize| seen[step].left_bytes;
    assert!(sizes(20) > sizes(19) * 9 / 10, "the link goes on: {} after {} bytes", sizes(20), sizes(19));
    // The share is measured from step 30, because the TCP flows recover from timeouts first.
    let (udp, all) = (|seen: &Seen| seen.delivered[4], |seen: &Seen| seen.delivered.iter().sum::<u64>());
    let share = |range: std::ops::Range<usize>| {
        let of = |part: &dyn Fn(&Seen) -> u64| seen[range.clone()].iter().map(part).sum::<u64>() as f64;
        of(&udp) / of(&all)
    };
    assert!(share(10..20) > 0.9 && share(30..59) < 0.4, "{} {}", share(10..20), share(30..59));
}

#[test]
fn changes_that_need_a_new_run_are_refused_and_have_no_effect() {
    let scenario = scenario("pie");
    let watcher = Watcher::default();
    let mut live = Live::new(&scenario, 0, 7, Box::new(watcher.clone())).expect("it can be built");
    live.advance();
    for (path, value) in [
        ("flow.tcp.count", "5"),
        ("link.delay", "20 ms"),
        ("duration", "7 s"),
        ("disciplines", "[]"),
        ("seeds", "3"),
        ("link.changes", "[{ at = '3 s', rate = '1 Mbit/s' }]"),
        ("return", "{ buffer = '10 packets' }"),
    ] {
        let error = live.set(path, value).expect_err("refused").to_string();
        let is_scenarios = path == "disciplines"; // an empty list is not a scenario
        assert!(is_scenarios || error.starts_with(&format!("`{path}` is `{value}`, but the run")), "{error}");
        assert!(is_scenarios || error.contains("all else needs a new run"), "{error}");
    }
    for change in [
        "link.bufer=3 packets",
        "discipline.pie.target=-1 ms",
        "link.rate=fast",
        "disciplines=['rad', 'pie']",
    ] {
        let (path, value) = change.split_once('=').expect("two parts");
        let set = Overrides { set: vec![change.into()], ..Overrides::default() };
        let of_run = parse("live.toml", scenario.toml(), &set).expect_err("refused").to_string();
        assert_eq!(live.set(path, value).expect_err("refused").to_string(), of_run);
    }
    while live.advance() {}
    assert_eq!(watcher.all(), run(&scenario, &[]));
}

#[test]
fn disciplines_with_expectations_may_be_left_out_of_a_live_run() {
    let judged = format!(
        "{TEXT}\n[output]\npaired = \"drop-front\"\n\
         [[expect]]\ndiscipline = \"drop-front\"\nmeasure = \"jain\"\nmin = 0.1\n\
         [[agree]]\ndiscipline = \"drop-front\"\nmeasure = \"jain\"\ntolerance = 0.2\nbecause = \"it is\"\n"
    );
    let judged = judged.replace("DISCIPLINE", "tail-drop");
    let chosen = Overrides { disciplines: vec!["pie,red".into()], ..Overrides::default() };
    let scenario = parse("live.toml", &judged, &chosen).unwrap_or_else(|error| panic!("{error}"));
    let mut live = Live::new(&scenario, 0, 7, Box::new(Watcher::default())).expect("it can be built");
    live.advance();
    let changes = ["link.rate=2 Mbit/s", "link.buffer=50 packets", "disciplines=[\"codel\", \"red\"]"];
    for change in changes {
        live.set_all(&[change.into()]).unwrap_or_else(|error| panic!("{change}: {error}"));
        live.advance();
    }
    assert!(live.set("output.every", "1 s").is_err(), "what is written is not changed");
}

#[test]
fn replacing_a_discipline_drops_its_expectations() {
    let judged = format!(
        "{TEXT}\n[[expect]]\ndiscipline = \"drop-front\"\nmeasure = \"jain\"\nmin = 0.1\n\
         [[expect]]\ndiscipline = \"mild\"\nmeasure = \"jain\"\nmin = 0.1\n"
    );
    // Once `red` is replaced, its label `mild` names nothing. A catalogue name would remain valid.
    let judged = judged.replace("\"DISCIPLINE\"", "{ red = { gentle = true }, label = \"mild\" }");
    let scenario = parse("live.toml", &judged, &Overrides::default());
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let mut live = Live::new(&scenario, 0, 7, Box::new(Watcher::default())).expect("it can be built");
    live.advance();
    live.set("link.rate", "2 Mbit/s").expect("it may change");
    assert_eq!(live.scenario().spec().expect.len(), 2);
    assert!(live.set("disciplines", "[\"no-such\", \"drop-front\"]").is_err());
    live.set("disciplines", "[\"codel\", \"drop-front\"]").unwrap_or_else(|error| panic!("{error}"));
    assert!(live.scenario().spec().expect.is_empty());
    assert_eq!(live.scenario().spec().disciplines[0].label(), "codel");
}
