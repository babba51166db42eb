//! Comparisons of a discipline with itself under other parameters. Each entry has a label.

use fairwire_scenario::{Compared, Overrides, Scenario, ScenarioError, judge, parse, report, run_all};
use std::sync::atomic::AtomicBool;

const SETTINGS: &str = include_str!("../../../../scenarios/red-settings.toml");

fn read(set: &[&str], disciplines: &[&str]) -> Result<Scenario, ScenarioError> {
    let owned = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect();
    let overrides = Overrides {
        set: [owned(&["duration=4 s", "warm_up=1 s"]), owned(set)].concat(),
        disciplines: owned(disciplines),
        seeds: Some("1..=2".into()),
    };
    parse("red-settings.toml", SETTINGS, &overrides)
}

fn labels(scenario: &Scenario) -> Vec<&str> {
    scenario.spec().disciplines.iter().map(Compared::label).collect()
}

fn refusal(set: &str) -> String {
    read(&[set], &[]).expect_err(set).to_string()
}

fn drops(scenario: &Scenario) -> Vec<(String, f64)> {
    let outcome = run_all(scenario, 0, &|_| {}, &AtomicBool::new(false)).unwrap();
    let report = report(scenario, outcome);
    assert_eq!(report.manifest.disciplines, labels(scenario));
    let by_run: Vec<&str> = report.runs.iter().map(|run| run.discipline.as_str()).collect();
    let twice: Vec<&str> = labels(scenario).into_iter().flat_map(|label| [label; 2]).collect();
    assert_eq!(by_run, twice, "each under both seeds");
    report.summary.iter().map(|s| (s.discipline.clone(), s.measures["drops"].mean)).collect()
}

#[test]
fn each_entry_has_its_own_parameters_and_its_results_its_label() {
    let all = drops(&read(&[], &[]).unwrap());
    let names: Vec<&str> = all.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(names, ["red", "red-high", "red-abrupt", "faba"]);
    let alone = |set: &[&str]| drops(&read(set, &["red"]).unwrap())[0].1;
    assert_eq!(all[0].1, alone(&[]));
    assert_eq!(all[1].1, alone(&["discipline.red.max_probability=0.5"]));
    assert_eq!(all[2].1, alone(&["discipline.red.gentle=false"]));
    assert!(all[0].1 != all[1].1, "the ceiling makes a difference: {all:?}");
}

#[test]
fn a_composition_that_is_named_on_the_command_line_is_run_under_its_name() {
    let mine = "{ queue = { scheduler = \"drr\", dropper = { red = { max_probability = 0.5 } } }, label = \"mine\" }";
    let chosen = read(&["expect=[]"], &[&format!("red-high,{mine}")]).unwrap();
    assert_eq!(labels(&chosen), ["red-high", "mine"]);
    let again = parse("again.toml", chosen.toml(), &Overrides::default()).unwrap();
    assert_eq!(
        labels(&again),
        ["red-high", "mine"],
        "what is kept of a run says all by itself: {}",
        chosen.toml()
    );
    assert_eq!(drops(&again), drops(&chosen));
    let wrong = read(&[], &["{ quue = {}, label = \"mine\" }"]).unwrap_err().to_string();
    assert!(wrong.starts_with("--discipline:1:16") && wrong.contains("did you mean `queue`?"), "{wrong}");
}

#[test]
fn a_composed_name_can_be_used_with_others_of_the_same_dropper() {
    let both = read(&["expect=[]", "discipline.red.max_probability=0.5"], &["red", "drr+red"]).unwrap();
    assert_eq!(labels(&both), ["red", "drr+red"]);
    let typed = "disciplines=[{ red = { max_probability = 0.5, scheduler = \"drr\" } }]";
    let typed = drops(&read(&["expect=[]", typed], &[]).unwrap());
    assert_eq!(drops(&both)[1].1, typed[0].1, "with the parameters of [discipline.red]");
    assert!(drops(&both)[0].1 != typed[0].1, "the scheduler makes a difference");

    let none = refusal("disciplines=[\"drr+rde\"]");
    assert!(none.contains("did you mean `drr+red`?") && none.contains("`drr+fred`"), "{none}");
    let twice = refusal("disciplines=[{ \"drr+red\" = { scheduler = \"scfq\" } }]");
    assert!(twice.contains("`scfq`") && twice.contains("allowed: `drr`, or no `scheduler`"), "{twice}");
    let foreign = refusal("disciplines=[{ \"drr+red\" = { lambda1 = 2 } }]");
    assert!(
        foreign.contains(
            "unknown key `lambda1`: it is a parameter of `sfed`, `faba` and `hfaba`; allowed: `buffer`, "
        ),
        "{foreign}"
    );
}

#[test]
fn a_table_without_a_label_has_its_catalogue_name() {
    let scenario = read(&["expect=[]", "disciplines=[\"fifo\"]"], &[]).unwrap();
    assert_eq!(labels(&scenario), ["tail-drop"]);
}

#[test]
fn parameters_of_an_entry_override_the_common_ones() {
    let dropped = |entry: &str| {
        let only = format!("disciplines=[{entry}]");
        drops(&read(&["expect=[]", "discipline.red.buffer=20 packets", &only], &[]).unwrap())[0].1
    };
    let common = dropped("\"red\"");
    assert_eq!(dropped("{ red = {} }"), common);
    assert_eq!(dropped("{ red = { max_probability = 0.02 } }"), common, "the same as is common");
    let own = dropped("{ red = { buffer = \"40 packets\" } }");
    let paper = drops(&read(&["discipline.red={}"], &["red"]).unwrap())[0].1;
    assert!(own != common && own != paper && common != paper, "{own} {common} {paper}");
}

#[test]
fn a_label_chooses_its_entry_on_the_command_line() {
    let chosen = read(&[], &["faba", "red-high"]).unwrap();
    assert_eq!(labels(&chosen), ["faba", "red-high"]);
    assert_eq!(chosen.spec().disciplines[1].name(), "red");
    assert_eq!(drops(&chosen)[1], drops(&read(&[], &[]).unwrap())[1]);
    assert_eq!(chosen.sha256(), read(&[], &[]).unwrap().sha256(), "a choice is no other scenario");
    let typo = read(&[], &["red-hihg"]).unwrap_err().to_string();
    assert!(typo.ends_with("did you mean `red-high`?"), "{typo}");
}

#[test]
fn expectations_refer_to_labels() {
    let judged = |disciplines: &[&str]| {
        let scenario = read(&[], disciplines).unwrap();
        let outcome = run_all(&scenario, 0, &|_| {}, &AtomicBool::new(false)).unwrap();
        let judgements = judge(scenario.spec(), &report(&scenario, outcome));
        judgements.into_iter().map(|judgement| judgement.discipline).collect::<Vec<_>>()
    };
    assert_eq!(judged(&[]), ["red-high", "faba"], "and not `red`, which has another label");
    assert_eq!(judged(&["red"]), [""; 0], "what was not run is left out");
    let unknown = refusal("expect.0.discipline=red-hihg");
    assert!(unknown.contains("unknown discipline `red-hihg`"), "{unknown}");
    assert!(unknown.ends_with("did you mean `red-high`?"), "{unknown}");
}

fn outcome(scenario: &Scenario) -> (Vec<fairwire_metrics::record::RunRecord>, String) {
    let outcome = run_all(scenario, 0, &|_| {}, &AtomicBool::new(false)).unwrap();
    (outcome.runs, scenario.sha256().into())
}

#[test]
fn the_effective_scenario_describes_the_run_completely() {
    let again = |scenario: &Scenario| {
        parse("again.toml", scenario.toml(), &Overrides::default())
            .unwrap_or_else(|error| panic!("{error}\n{}", scenario.toml()))
    };
    let paired = "output.paired=\"red-high\"";
    let set = ["flow.tcp.count=3", "link.buffer=60 packets", paired];
    let first = read(&set, &["red-abrupt", "codel"]).unwrap();
    assert_eq!(first.set()[2..], set.map(String::from));
    let second = again(&first);
    assert_eq!((labels(&second), second.spec().seeds.as_slice()), (vec!["red-abrupt", "codel"], &[1, 2][..]));
    assert_eq!(second.spec().output.paired, None, "what is not run is no baseline");
    assert!(second.spec().expect.is_empty(), "and nothing is expected of it");
    assert_eq!(outcome(&first).0, outcome(&second).0, "the same bits");
    assert_eq!(again(&second).toml(), second.toml(), "and so on");

    let all = read(&set, &[]).unwrap();
    assert_eq!(again(&all).spec().expect.len(), all.spec().expect.len());
    assert_eq!(again(&all).spec().output.paired.as_deref(), Some("red-high"));

    let untouched = parse("red-settings.toml", SETTINGS, &Overrides::default()).unwrap();
    assert_eq!(untouched.toml(), SETTINGS, "comments and all");
}

#[test]
fn every_scenario_of_the_repository_is_unchanged_by_rewriting() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        let set = vec!["output.every=\"50 ms\"".to_string()]; // it is not part of the hash
        let first = parse("one.toml", &text, &Overrides { set, ..Overrides::default() }).unwrap();
        let second = parse("two.toml", first.toml(), &Overrides::default()).unwrap();
        assert_ne!(first.toml(), text);
        assert_eq!((first.sha256(), first.notes()), (second.sha256(), second.notes()), "{}", first.toml());
        let is_meant =
            |note: &&String| note.contains("follows a trace") || note.contains("hosts take no time");
        let slips: Vec<_> = first.notes().iter().filter(|note| !is_meant(note)).collect();
        assert_eq!(slips, [""; 0], "and it says what it means");
        seen += 1;
    }
    assert!(seen >= 10);
}
