//! A study from its text to its verdicts.

use fairwire_study::library::Folder;
use fairwire_study::record::{Depth, Exhibit, Verdict};
use fairwire_study::{Cache, Executed, Plan, Study, Work, assemble, execute};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const SCENARIO: &str = r#"
format = 2
name = "short"
duration = "3 s"
warm_up = "1 s"
disciplines = [{ tail-drop = {}, label = "DropTail" }, { fbfq = {}, label = "Fair" }, { faba = {}, label = "FABA" }]
[link]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "20 packets"
[[flow]]
group = "tcp"
count = 2
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "3 ms" }
start = "0 s..100 ms"
[[flow]]
group = "cbr"
source = { cbr = { rate = "3 Mbit/s" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;

const STUDY: &str = r#"
format = 2
paper = "made"
title = "A made-up study"
source = "No author, no title, no date"
seeds = { quick = "1..=2", full = "1..=4" }

[[exhibit]]
id = "sweep"
title = "Share of TCP over the buffer"
scenario = "base.toml"
quick = { every = 2 }
[exhibit.vary]
points = [{ x = 10, at = "small" }, { x = 20, at = "middle" }, { x = 40, at = "large" }, { x = 60, at = "vast" }]
set = ["link.buffer={x} packets"]
[[exhibit.measure]]
id = "tcp"
of = "throughput_bps.tcp / 2e6"
[[exhibit.measure]]
id = "queue"
of = "mean(backlog.bottleneck)"
[[exhibit.measure]]
id = "bytes"
of = "backlog_mean_bytes"
[exhibit.figure]
x = "buffer, packets"
[[exhibit.figure.panel]]
measures = ["tcp"]
[[exhibit.figure.panel]]
title = "queue"
measures = ["queue"]
series = ["DropTail", "Fair"]

[[exhibit.claim]]
id = "fair-is-fairer"
says = "Fair queueing protects TCP"
where = "nowhere"
origin = "printed"
order = { measure = "tcp", more = "Fair", than = "DropTail", at = ["middle"] }
[[exhibit.claim]]
id = "the-other-way"
says = "It does not"
where = "nowhere"
origin = "printed"
order = { measure = "tcp", more = "DropTail", than = "Fair" }
[[exhibit.claim]]
id = "printed"
says = "As printed"
where = "nowhere"
origin = "printed"
because = "a test"
value = { measure = "tcp", tolerance = 0.5 }
[[exhibit.claim]]
id = "unclear"
says = "Nothing is known"
where = "nowhere"
origin = "printed"
not_testable = "the unit is not printed"

[[exhibit]]
id = "time"
title = "Queue over time"
scenario = "base.toml"
disciplines = ["FABA"]
set = ["link.buffer=20 packets"]
[exhibit.series]
every = "500 ms"
of = ["backlog.bottleneck", "throughput_bps.cbr / 1e6"]
labels = ["queue", "CBR"]
"#;

const REFERENCE: &str = r#"
[[number]]
exhibit = "sweep"
series = "Fair"
at = "middle"
value = 0.6
where = "nowhere"
[[number]]
exhibit = "sweep"
measure = "queue"
series = "Fair"
x = 40
value = 12
where = "nowhere"
"#;

fn folder(study: &str) -> Folder {
    let files = [("study.toml", study), ("base.toml", SCENARIO), ("reference.toml", REFERENCE)];
    Folder {
        name: "made".into(),
        prefix: "studies/made/".into(),
        files: files.map(|(name, text)| (name.to_string(), text.to_string())).into(),
    }
}

fn study() -> Study {
    Study::read(&folder(STUDY)).unwrap()
}

fn plans(study: &Study, depth: Depth) -> Vec<Plan<'_>> {
    (0..study.len()).map(|at| Plan::of(study, at, depth).unwrap()).collect()
}

fn opened(folder: &std::path::Path) -> Cache {
    Cache::open(folder, 1 << 30, || std::time::SystemTime::UNIX_EPOCH)
}

fn run(plans: &[Plan<'_>], cache: &Cache, jobs: usize) -> Executed {
    let work = Work { cache, jobs, progress: &|_| {}, stop: &AtomicBool::new(false) };
    execute(plans, &work).unwrap()
}

fn exhibits(plans: &[Plan<'_>], executed: &Executed) -> Vec<Exhibit> {
    plans.iter().zip(&executed.gathered).map(|(plan, gathered)| assemble(plan, gathered)).collect()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let read =
        |entry: fs::DirEntry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
    fs::read_dir(folder).unwrap().map(|entry| read(entry.unwrap())).collect()
}

#[test]
fn a_study_gives_numbers_verdicts_and_drawings() {
    let study = study();
    let plans = plans(&study, Depth::Full);
    let folder = tempfile::tempdir().unwrap();
    let executed = run(&plans, &opened(folder.path()), 2);
    let made = exhibits(&plans, &executed);
    let sweep = &made[0];
    assert_eq!(sweep.numbers.len(), 3 * 3 * 4, "measures, series, points");
    assert!(sweep.numbers.iter().all(|number| number.values.len() == 4), "a value for each seed");
    let number = |measure: &str, series: &str, at: &str| {
        let is_it =
            |n: &&fairwire_study::record::Number| n.measure == measure && n.series == series && n.at == at;
        sweep.numbers.iter().find(is_it).unwrap().estimate.unwrap().mean
    };
    // The fair share of both TCP flows together is 2/3 of the link. Under tail drop, the CBR flow
    // leaves nearly nothing, because its rate exceeds the link's.
    assert!((0.5..0.75).contains(&number("tcp", "Fair", "middle")), "{}", number("tcp", "Fair", "middle"));
    assert!(number("tcp", "DropTail", "middle") < 0.3);
    // `sampled` is a mean of samples, in packets. `mean` is a mean over time, in bytes.
    let (sampled, mean) = (number("queue", "DropTail", "large"), number("bytes", "DropTail", "large"));
    let per_packet = mean / sampled;
    assert!((400.0..700.0).contains(&per_packet), "{per_packet} B a packet, where most are 512 B or 552 B");

    let verdicts: Vec<Verdict> = sweep.claims.iter().map(|claim| claim.verdict).collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Fails, Verdict::Holds, Verdict::NotTestable]);
    assert!(
        sweep.claims[1].detail.starts_with("against it: worst of 4: DropTail minus Fair at "),
        "{}",
        sweep.claims[1].detail
    );
    assert!(sweep.claims[2].detail.contains("printed 0.6"), "{}", sweep.claims[2].detail);

    let lines: Vec<usize> = sweep.panels.iter().map(|panel| panel.lines.len()).collect();
    assert_eq!(lines, [3, 2]);
    let fair = &sweep.panels[1].lines[1];
    assert_eq!((fair.label.as_str(), fair.colour, fair.marks.len()), ("Fair", 1, 4));
    assert_eq!(fair.published.iter().map(|mark| (mark.x, mark.y)).collect::<Vec<_>>(), [(40.0, 12.0)]);
    assert_eq!(sweep.command, "fairwire reproduce made.sweep --full");

    let time = &made[1];
    assert_eq!(time.panels.iter().map(|panel| panel.title.as_str()).collect::<Vec<_>>(), ["queue", "CBR"]);
    assert_eq!(time.panels[0].lines[0].marks.len(), 6, "3 s in steps of 500 ms");
}

#[test]
fn timeouts_are_counted_only_for_tcp() {
    let measures =
        ["timeouts.tcp", "loss_episodes.tcp", "timeout_episodes.tcp", "timeout_share.tcp", "timeouts.cbr"];
    let measures: Vec<String> = measures
        .iter()
        .enumerate()
        .map(|(at, of)| format!("[[exhibit.measure]]\nid = \"m{at}\"\nof = \"{of}\"\n"))
        .collect();
    let text = STUDY.replacen(
        "[[exhibit.measure]]\nid = \"bytes\"\nof = \"backlog_mean_bytes\"\n",
        &measures.concat(),
        1,
    );
    let study = Study::read(&folder(&text)).unwrap();
    let plans = plans(&study, Depth::Quick);
    let cache = tempfile::tempdir().unwrap();
    let made = exhibits(&plans, &run(&plans, &opened(cache.path()), 2));
    let means = |measure: &str| -> Vec<f64> {
        let numbers = made[0].numbers.iter().filter(|number| number.measure == measure);
        numbers.filter_map(|number| number.estimate.map(|estimate| estimate.mean)).collect()
    };
    let (timeouts, episodes, timed_out, share) = (means("m0"), means("m1"), means("m2"), means("m3"));
    assert!(timeouts.iter().any(|count| *count > 0.0), "{timeouts:?}");
    assert_eq!(timeouts.len(), share.len());
    for at in 0..timeouts.len() {
        assert!(
            timed_out[at] <= timeouts[at] && timed_out[at] <= episodes[at],
            "{timed_out:?} {timeouts:?} {episodes:?}"
        );
        assert!((0.0..=1.0).contains(&share[at]) && (share[at] > 0.0) == (timed_out[at] > 0.0), "{share:?}");
    }
    assert!(means("m4").is_empty(), "a source without TCP has no timeouts");
}

#[test]
fn quick_reduces_seeds_and_points_but_keeps_those_of_claims() {
    let study = study();
    let quick = &plans(&study, Depth::Quick)[0];
    assert_eq!(quick.seeds, [1, 2]);
    let names: Vec<&str> = quick.points.iter().map(|point| point.at.as_str()).collect();
    assert_eq!(names, ["small", "middle", "large", "vast"], "`middle` is in a claim, `vast` is the last");
}

#[test]
fn a_stopped_study_resumes_with_the_same_bits() {
    let study = study();
    let plans = plans(&study, Depth::Quick);
    let whole = tempfile::tempdir().unwrap();
    let all = run(&plans, &opened(whole.path()), 3);

    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    let (stop, reports) = (AtomicBool::new(false), AtomicUsize::new(0));
    let progress = |fraction: f64| {
        reports.fetch_add(1, Ordering::Relaxed);
        if fraction > 0.4 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let stopped =
        execute(&plans, &Work { cache: &cache, jobs: 1, progress: &progress, stop: &stop }).unwrap();
    assert!(stopped.made > 0 && stopped.made < all.made, "{} of {}", stopped.made, all.made);
    assert!(!stopped.is_whole.iter().all(|whole| *whole));
    assert_eq!(files(folder.path()).len(), stopped.made, "what is finished is kept, and nothing half done");

    let went_on = run(&plans, &cache, 2);
    assert_eq!((went_on.found, went_on.made), (stopped.made, all.made - stopped.made));
    assert_eq!(exhibits(&plans, &went_on), exhibits(&plans, &all));
    assert_eq!(files(folder.path()), files(whole.path()));
}

#[test]
fn a_changed_or_truncated_result_is_computed_again() {
    let study = study();
    let plans = plans(&study, Depth::Quick);
    let folder = tempfile::tempdir().unwrap();
    let cache = opened(folder.path());
    let first = run(&plans, &cache, 2);
    let before = files(folder.path());
    let names: Vec<&String> = before.keys().collect();
    let mut changed = before[names[0]].clone();
    changed[100] ^= 1;
    fs::write(folder.path().join(names[0]), changed).unwrap();
    fs::write(folder.path().join(names[1]), &before[names[1]][..100]).unwrap();
    fs::write(folder.path().join(names[2]), "").unwrap();
    let second = run(&plans, &cache, 2);
    assert_eq!((second.made, second.found), (3, first.made - 3));
    assert_eq!(files(folder.path()), before);
    assert_eq!(exhibits(&plans, &second), exhibits(&plans, &first));
    let fresh = run(&plans, &opened(folder.path()).fresh(true), 2);
    assert_eq!((fresh.made, fresh.found), (first.made, 0));
}

#[test]
fn a_run_shared_by_exhibits_is_made_once_under_any_name() {
    // The exhibit `time` has the traffic of `sweep` at the point `middle`, but needs other samples.
    // Only `again` shares the runs of `sweep`.
    let copy = r#"
[[exhibit]]
id = "again"
title = "The same with another name"
scenario = "base.toml"
set = ["link.buffer=20 packets", 'disciplines=["fbfq"]']
[[exhibit.measure]]
id = "queue"
of = "mean(backlog.bottleneck)"
"#;
    let study = Study::read(&folder(&format!("{STUDY}{copy}"))).unwrap();
    let plans = plans(&study, Depth::Quick);
    let cells = |plan: &Plan<'_>| plan.cells.len() * plan.seeds.len();
    assert_eq!(plans.iter().map(cells).collect::<Vec<_>>(), [24, 2, 2]);
    let cache = tempfile::tempdir().unwrap();
    let executed = run(&plans, &opened(cache.path()), 2);
    assert_eq!(executed.made, 26, "those of the third are among those of the first");
    let made = exhibits(&plans, &executed);
    assert_eq!(made[2].numbers[0].series, "fbfq");
    let of_sweep =
        made[0].numbers.iter().find(|n| n.measure == "queue" && n.series == "Fair" && n.at == "middle");
    assert_eq!(made[2].numbers[0].values, of_sweep.unwrap().values);
}

#[test]
fn every_study_of_the_repository_can_be_planned_at_both_depths() {
    let folders = fairwire_study::library::embedded();
    assert!(!folders.is_empty(), "the studies of the repository are compiled in");
    for folder in &folders {
        let study = Study::read(folder).unwrap_or_else(|error| panic!("{error}"));
        for depth in [Depth::Quick, Depth::Full] {
            for at in 0..study.len() {
                let plan = Plan::of(&study, at, depth).unwrap_or_else(|error| panic!("{error}"));
                assert!(
                    depth == Depth::Quick
                        || plan.seeds.len() >= 10
                        || plan.computed.is_some()
                        || plan.measures.is_empty(),
                    "{}: a verdict takes ten seeds",
                    study.name(at)
                );
            }
        }
    }
}
