//! Bad scenarios are refused with the given value, the allowed values, the location, and the
//! nearest correct spelling.

use fairwire_document::Problem;
use fairwire_laws::dropper::{faba, red};
use fairwire_scenario::{Compared, Overrides, Scenario, ScenarioError, Spec, load, parse};
use std::path::Path;

const GOOD: &str = r#"format = 2
name = "good"
duration = "10 s"
warm_up = "2 s"
seeds = "1..=2"
disciplines = ["tail-drop", "red"]

[link]
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "78 packets"

[discipline.red]
gentle = true

[[flow]]
group = "tcp"
count = 3
source = "bulk"
tcp = { profile = "ns2-2002", segment = "512 B" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..1 s"

[[flow]]
group = "udp"
source = { cbr = { rate = "5 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }

[[expect]]
discipline = "red"
measure = "share.tcp"
max = 0.9
"#;

fn read(text: &str, set: &[&str]) -> Result<Scenario, ScenarioError> {
    let set = set.iter().map(|text| text.to_string()).collect();
    parse("good.toml", text, &Overrides { set, ..Overrides::default() })
}

fn message(text: &str, set: &[&str]) -> String {
    read(text, set).expect_err("it must be refused").to_string()
}

fn labels(spec: &Spec) -> Vec<&str> {
    spec.disciplines.iter().map(Compared::label).collect()
}

fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    message(&GOOD.replacen(from, to, 1), &[])
}

#[track_caller]
fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no `{part}` in: {message}");
    }
}

#[test]
fn the_valid_scenario_is_accepted() {
    let scenario = read(GOOD, &[]).unwrap();
    assert_eq!(scenario.spec().seeds.as_slice(), [1, 2]);
    assert_eq!(scenario.sha256().len(), 64);
}

#[test]
fn unused_tables_of_parameters_are_checked_too() {
    let unused = GOOD.to_owned() + "\n[discipline.queue]\ndropper = \"fabba\"\n";
    let line = unused.lines().count();
    let place = format!("good.toml:{line}:11");
    says(&message(&unused, &[]), &[&place, "`discipline.queue.dropper` is `fabba`", "did you mean `faba`?"]);
    let inner = GOOD.to_owned() + "\n[discipline.shaper]\ndiscipline = { red = { weight = 2 } }\n";
    says(
        &message(&inner, &[]),
        &["`discipline.shaper.discipline.red.weight` is 2", "allowed: a number above 0"],
    );
    // The table's wrong `max_probability` is refused, although the only `red` in the list overrides
    // it.
    let own = "disciplines = [{ red = { max_probability = 0.5 } }]";
    let hidden = GOOD.replace("gentle = true", "max_probability = 7.0");
    let hidden = hidden.replace("disciplines = [\"tail-drop\", \"red\"]", own);
    says(&message(&hidden, &[]), &["good.toml:14:19", "`discipline.red.max_probability` is 7"]);
    says(&message(GOOD, &["discipline.faba.alpha=-1.0"]), &["--set:1:23", "`discipline.faba.alpha` is -1"]);
    says(
        &message(GOOD, &["marker.tsw2cm.window=\"0 s\""]),
        &["--set:1:22", "`marker.tsw2cm.window` is 0 ns"],
    );
}

#[test]
fn a_nonsensical_combination_is_refused_with_reason_and_location() {
    let compared = |given: &str| message(GOOD, &[&format!("disciplines=[{given}]")]);
    says(
        &compared("\"drr+fq-codel\""),
        &[
            "--set:1:14",
            "`drr+fq-codel`",
            "`fq-codel` has a scheduler of its own, so `drr` cannot serve it",
            "allowed: ",
        ],
    );
    says(&compared("\"ddr+faba\""), &["--set:1:14", "did you mean `drr+faba`?", "`scfq+faba`"]);
    says(&compared("\"faba+drr\""), &["--set:1:14", "allowed: `drr+faba`"]);
    says(
        &compared("{ queue = { scheduler = { drr = { quantum = \"0 B\" } } } }"),
        &["--set:1:58", "`disciplines.#1.queue.scheduler.drr.quantum` is 0 B", "a size from 1 B to 1 MiB"],
    );
    says(
        &compared("{ queue = { scheduler = { scfq = { quantum = \"300 B\" } } } }"),
        &["--set:1:59", "queue.scheduler.scfq.quantum` is 300 B", "no `quantum` with `scfq`; only `drr`"],
    );
    says(
        &compared("{ \"drr+faba\" = { lambda1 = 2.0 } }"),
        &["--set:1:41", "`disciplines.#1.drr+faba.lambda1` is 2", "allowed: a number from 0 to 1"],
    );
    says(
        &compared("{ red = { scheduler = { drr = { queues = 0 } } } }"),
        &["--set:1:55", "red.scheduler.drr.queues` is 0"],
    );
    says(
        &compared("{ queue = { dropper = { queue = {} } } }"),
        &["--set:1:36", "which has a scheduler of its own"],
    );
    // The inner shaper does not inherit `[discipline.shaper]`, so it contains no third shaper.
    let itself = GOOD.to_owned() + "\n[discipline.shaper]\ndiscipline = \"shaper\"\n";
    let itself = itself.replace("disciplines = [", "disciplines = [\"shaper\", ");
    assert_eq!(read(&itself, &[]).map(drop).map_err(|error| error.to_string()), Ok(()));
    let deep = (0..9)
        .fold(String::from("\"red\""), |inside, _| format!("{{ shaper = {{ discipline = {inside} }} }}"));
    says(&compared(&deep), &["at most 8 disciplines inside each other"]);
}

#[test]
fn parameters_valid_only_with_those_of_an_entry_are_accepted() {
    let disciplines = "disciplines = [{ red = { max_threshold = \"60 packets\" } }]";
    let text = GOOD.replace("disciplines = [\"tail-drop\", \"red\"]", disciplines);
    let text = text.replace("gentle = true", "min_threshold = \"40 packets\"");
    assert_eq!(read(&text, &[]).map(drop).map_err(|error| error.to_string()), Ok(()));
    let chosen = Overrides { disciplines: vec!["faba".into()], ..Overrides::default() };
    let text = text.replace("discipline = \"red\"\n", "");
    assert_eq!(parse("good.toml", &text, &chosen).map(drop).map_err(|error| error.to_string()), Ok(()));
}

#[test]
fn a_parameter_of_a_discipline_inside_another_is_refused_at_its_location() {
    let text = GOOD.replace("disciplines = [", "disciplines = [\"prio\", ")
        + "\n[discipline.prio]\nband = [\n  {},\n  { discipline = { red = { weight = 2 } } },\n]\n";
    let line = text.lines().position(|line| line.contains("weight = 2")).expect("it is there") + 1;
    says(
        &message(&text, &[]),
        &[&format!("good.toml:{line}:"), "`discipline.prio.band.#2.discipline.red.weight` is 2", "allowed:"],
    );
}

#[test]
fn unreasonable_sizes_are_refused_before_allocation() {
    says(
        &with("78 packets", "1000000000 packets"),
        &["good.toml:11:10", "memory", "at most 4194304 packets"],
    );
    for (buffer, name) in [("16777216 packets", "faba"), ("1 GB", "red"), ("1000 s", "tail-drop")] {
        let set = [format!("discipline.{name}.buffer={buffer}"), format!("disciplines=[\"{name}\"]")];
        let message = message(GOOD, &[&set[0], &set[1]]);
        says(&message, &["--set:1:", &format!("discipline.{name}.buffer"), "memory", "at most 4194304"]);
    }
    says(&with("10 Mbit/s", "10 Tbit/s"), &["good.toml:9:8", "1 bit/s to 1000 Gbit/s"]);
    says(&with("seeds = \"1..=2\"", "seeds = \"1..=99999999999\""), &["good.toml:5:9", "too many seeds"]);
    says(&with("duration = \"10 s\"", "duration = \"9999 h\""), &["good.toml:3:12", "1 ns to 1000000 s"]);
}

#[test]
fn a_set_value_is_applied_with_or_without_quotes() {
    let spec = |set: &[&str]| read(GOOD, set).unwrap().spec().clone();
    assert_eq!(
        spec(&["link.buffer=\"390 packets\""]).shared_link().unwrap().buffer.to_string(),
        "390 packets"
    );
    assert_eq!(spec(&["link.buffer=390 packets"]).shared_link().unwrap().buffer.to_string(), "390 packets");
    assert_eq!(spec(&["flow.tcp.count=20"]).flow[0].count(), 20);
    assert_eq!(spec(&["flow.0.count = 20"]).flow[0].count(), 20);
    assert_eq!(spec(&["flow.tcp.tcp.window=30"]).flow[0].tcp.as_ref().unwrap().window, Some(30));
    assert_eq!(labels(&spec(&["disciplines=[\"faba\"]"])), ["faba"]);
    assert_eq!(
        spec(&["discipline.red.gentle=false"]).discipline.spec::<red::Spec>().unwrap().gentle,
        Some(false)
    );
    assert!(spec(&["discipline.faba.alpha=1.1"]).discipline.spec::<faba::Spec>().is_some());
    assert_eq!(spec(&["warm_up=1 s", "warm_up=3 s"]).warm_up.to_string(), "3 s"); // the last one applies
}

#[test]
fn the_second_of_two_sets_is_the_one_blamed() {
    let error = read(GOOD, &["flow.tcp.count=4", "flow.tcp.cuont=4"]).unwrap_err();
    assert_eq!(error.location.unwrap().text, "flow.tcp.cuont=4");
}

#[test]
fn choices_of_the_command_line_are_checked_like_the_file() {
    let choose = |disciplines: &[&str], seeds: Option<&str>| {
        let disciplines = disciplines.iter().map(|name| name.to_string()).collect();
        parse(
            "good.toml",
            GOOD,
            &Overrides { disciplines, seeds: seeds.map(Into::into), ..Overrides::default() },
        )
    };
    let scenario = choose(&["faba"], Some("5..=6")).unwrap();
    assert_eq!(labels(scenario.spec()), ["faba"]);
    assert_eq!(scenario.spec().seeds.as_slice(), [5, 6]);
    assert_eq!(scenario.sha256(), read(GOOD, &[]).unwrap().sha256(), "a choice is no other scenario");
    says(&choose(&["fabba"], None).unwrap_err().to_string(), &["--discipline:1:", "did you mean `faba`?"]);
    says(&choose(&[], Some("ten")).unwrap_err().to_string(), &["--seeds:1:", "not a whole number"]);
}

#[test]
fn a_wrong_set_is_refused_at_its_text_under_any_other_choice() {
    let refusal = |set: &[&str], disciplines: &[&str]| {
        let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        let overrides =
            Overrides { set: owned(set), disciplines: owned(disciplines), seeds: Some("1..=2".into()) };
        let error = parse("good.toml", GOOD, &overrides).unwrap_err();
        let location = error.location.as_ref().expect("it has a place").as_ref().clone();
        (error.to_string(), location.text, location.change)
    };
    let (message, typed, change) = refusal(&["flow.tcp.count=4", "link.buffer=0 packets"], &["faba", "red"]);
    says(&message, &["--set:1:13", "`link.buffer`"]);
    assert_eq!((typed.as_str(), change), ("link.buffer=0 packets", Some(1)));
    let (message, _, change) = refusal(&["flow.tcp.count=4"], &["faba", "{ red = { gentel = true } }"]);
    says(&message, &["--discipline:1:", "did you mean `gentle`?"]);
    assert_eq!(change, Some(1));
    // Only `blue`, which `--discipline` chooses, has this parameter.
    let (message, typed, _) = refusal(&["discipline.blue.buffer=99999999 packets"], &["blue"]);
    says(&message, &["--set:1:24", "`discipline.blue.buffer`"]);
    assert_eq!(typed, "discipline.blue.buffer=99999999 packets");
    // `--discipline` replaces the list in `--set`. Both contain `tail-drop`.
    let own = "disciplines=[{ red = { gentle = true } }, 'tail-drop']";
    let (message, ..) = refusal(&[own], &["tail-drop,tail-drop"]);
    says(&message, &["--discipline:1:27", "already listed"]);
}

#[test]
fn the_hash_depends_on_content_not_form() {
    let hash = |text: &str, set: &[&str]| read(text, set).unwrap().sha256().to_string();
    let base = hash(GOOD, &[]);
    assert_eq!(base, hash(&format!("# a comment\n{GOOD}"), &[]));
    assert_eq!(base, hash(&GOOD.replace("format = 2\nname = \"good\"", "name = 'good'\nformat = 0x2"), &[]));
    assert_ne!(base, hash(GOOD, &["flow.tcp.count=4"]));
    assert_eq!(base, hash(GOOD, &["flow.tcp.count=3"]));
}

#[test]
fn files_that_are_no_scenarios_are_refused_without_reading_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let refused = |path: &Path| load(path, &Overrides::default()).unwrap_err();
    std::fs::write(path("selfish.toml"), GOOD).unwrap();
    assert!(load(&path("selfish.toml"), &Overrides::default()).is_ok());

    says(
        &refused(&path("selfih.toml")).to_string(),
        &["there is no file", "selfih.toml", "did you mean", "selfish.toml"],
    );
    says(&refused(folder.path()).to_string(), &["is a directory"]);
    std::fs::write(path("latin.toml"), b"name = \"caf\xe9\"").unwrap();
    says(&refused(&path("latin.toml")).to_string(), &["is not UTF-8", "byte 11 is 0xe9"]);
    // The sparse file occupies no space on the disk.
    std::fs::File::create(path("huge.toml")).unwrap().set_len(1 << 30).unwrap();
    assert!(matches!(
        refused(&path("huge.toml")).problem,
        Problem::TooLarge { bytes: Some(0x4000_0000), .. }
    ));
    assert!(matches!(refused(Path::new("/dev/zero")).problem, Problem::NotAFile { .. }));
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo").arg(path("pipe.toml")).status();
        assert!(made.expect("mkfifo is there").success());
        says(&refused(&path("pipe.toml")).to_string(), &["pipe.toml` is no regular file", "no pipe"]);
    }
}

#[test]
fn the_demo_scenario_is_good() {
    let text = include_str!("../../../../scenarios/selfish-flow.toml");
    let scenario = parse("selfish-flow.toml", text, &Overrides::default()).unwrap();
    assert_eq!(scenario.spec().flow.iter().map(|flow| flow.count()).sum::<u32>(), 10);
}

#[test]
fn control_characters_are_refused_and_never_repeated_raw() {
    let say = |message: &str, parts: &[&str]| {
        says(message, parts);
        assert!(!message.contains('\u{1b}'), "{message:?}");
    };
    let escape = "a\\u001b[2J";
    let title = format!("name = \"good\"\ntitle = \"{escape}\"");
    say(&with("name = \"good\"", &title), &["good.toml:3:9", "`title`", "control character \\u{1b}"]);
    say(&with("\"good\"", &format!("\"{escape}\"")), &["`name`", "\\u{1b}"]);
    let because = format!("max = 0.9\nbecause = \"{escape}\"");
    say(&with("max = 0.9", &because), &["good.toml:33:11", "`expect.#1.because`", "control character"]);
    say(&with("buffer =", &format!("\"{escape}\" =")), &["unknown key `a\\u{1b}[2J`"]);
    say(&with("\"tail-drop\"", &format!("\"{escape}\"")), &["unknown discipline `a\\u{1b}[2J`"]);
    say(&message(GOOD, &["flow.\u{1b}.count=1"]), &["no `\\u{1b}` in `flow`"]);
    let disciplines = vec!["a\u{1b}".to_string()];
    let error = parse("good.toml", GOOD, &Overrides { disciplines, ..Overrides::default() }).unwrap_err();
    say(&error.to_string(), &["--discipline:1:", "unknown discipline `a\\u{1b}`", "`tail-drop`"]);
}
