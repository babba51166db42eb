//! Calibration with a `space.toml`: draws, runs, results, and the refusal of wrong files.

use fairwire_study::calibration::{Calibration, SpaceSpec, Trial};
use fairwire_study::library::{self, Folder};
use fairwire_study::{Cache, Study, Work, execute};
use std::sync::atomic::AtomicBool;

const SCENARIO: &str = r#"
format = 2
name = "short"
duration = "2 s"
warm_up = "0 s"
disciplines = [{ tail-drop = {}, label = "DropTail" }]
[link]
rate = "2 Mbit/s"
delay = "10 ms"
buffer = "20 packets"
[[flow]]
group = "cbr"
source = { cbr = { rate = "1 Mbit/s", packet = "1000 B" } }
access = { rate = "100 Mbit/s", delay = "3 ms" }
"#;

const STUDY: &str = r#"
format = 2
paper = "made"
title = "A made-up study"
source = "No author, no title, no date"

[[exhibit]]
id = "rate"
title = "Share of the link"
scenario = "base.toml"
[exhibit.vary]
points = [{ x = 1, at = "whole" }, { x = 2, at = "twice", set = ["link.rate=4 Mbit/s"] }]
[[exhibit.measure]]
id = "share"
of = "throughput_bps.cbr / 2e6"
[[exhibit.claim]]
id = "above-half"
says = "It takes more than half"
where = "nowhere"
origin = "ours"
because = "a test"
bound = { measure = "share", min = 0.5 }
[[exhibit.claim]]
id = "not-more-than-offered"
says = "Nor more than there is"
where = "nowhere"
origin = "ours"
because = "a test"
bound = { measure = "share", max = 1.01, at = ["whole"] }
[[exhibit.claim]]
id = "unclear"
says = "Nothing is known"
where = "nowhere"
origin = "ours"
not_testable = "the unit is not printed"
"#;

const REFERENCE: &str = r#"
[[number]]
exhibit = "rate"
series = "DropTail"
at = "whole"
value = 0.8
where = "nowhere"
[[number]]
exhibit = "rate"
series = "DropTail"
at = "twice"
value = 0.8
where = "nowhere"
"#;

const SPACE: &str = r#"
[[setting]]
id = "rate"
paper = "Nothing is said of the rate."
exhibits = ["rate"]
range = [0.4, 1.6]
set = ["flow.cbr.source.cbr.rate={x} Mbit/s"]

[[setting]]
id = "start"
paper = "Nor of the start."
exhibits = ["rate"]
[[setting.choice]]
is = "at once"
[[setting.choice]]
is = "late"
set = ["flow.cbr.start=1 s"]
"#;

fn study(space: &str) -> Study {
    let files = [
        ("study.toml", STUDY.to_string()),
        ("base.toml", SCENARIO.into()),
        ("reference.toml", REFERENCE.into()),
        ("space.toml", space.into()),
    ];
    let files = files.map(|(name, text): (&str, String)| (name.to_string(), text)).into();
    Study::read(&Folder { name: "made".into(), prefix: "studies/made/".into(), files }).unwrap()
}

fn calibration(study: &Study, draws: u32, jobs: usize) -> Calibration {
    let folder = tempfile::tempdir().unwrap();
    let space = SpaceSpec::read(study).unwrap().expect("it has one");
    let trial = Trial::of(study, &space, &[0], draws).unwrap();
    let cache = Cache::open(folder.path(), 1 << 30, || std::time::SystemTime::UNIX_EPOCH);
    let work = Work { cache: &cache, jobs, progress: &|_| {}, stop: &AtomicBool::new(false) };
    trial.judged(&execute(trial.plans(), &work).unwrap().gathered)
}

#[test]
fn draws_give_the_distance_to_print_and_the_part_where_a_claim_holds() {
    let found = calibration(&study(SPACE), 16, 2);
    let summary = &found.summary;
    assert_eq!((summary.draws, summary.seeds.as_slice()), (16, &[1, 2][..]));
    // The share is 0.5 in the study and 0.8 in the paper, so the distance is (0.8 - 0.5) / 0.8 =
    // 0.375. A CBR rate of 1.6 Mbit/s would give 0.8.
    let distance = summary.distance.expect("numbers are printed");
    assert_eq!(distance.numbers, 2);
    assert!((distance.chosen - 0.375).abs() < 0.02, "{distance:?}");
    assert!(distance.best < 0.1 && distance.held_out.is_some_and(|other| other < 0.1), "{distance:?}");
    let best: f64 = summary.best["rate"].parse().unwrap();
    assert!(best > 1.45 && summary.best["start"] == "at once", "{summary:?}");

    // The claim holds in about a quarter of the draws: those with a rate above 1 Mbit/s and an
    // immediate start.
    let held = &found.claims["rate.above-half"];
    assert!(!held.chosen || held.best, "{held:?}");
    assert!((2..=6).contains(&held.held) && held.of == 16, "{held:?}");
    let (share, [low, high]) = held.share().unwrap();
    assert!(low < share && share < high && low > 0.0 && high < 1.0);
    assert_eq!(found.claims["rate.not-more-than-offered"].held, 16);
    assert!(!found.claims.contains_key("rate.unclear"));

    let [low, high] = found.band("rate", "share", "DropTail", "whole").expect("it was measured");
    assert!((0.08..0.4).contains(&low) && (0.7..0.81).contains(&high), "{low} {high}");
}

#[test]
fn calibration_is_independent_of_jobs_and_reads_back() {
    let study = study(SPACE);
    let one = calibration(&study, 4, 1);
    assert_eq!(one, calibration(&study, 4, 3));
    let mut files = study.folder.clone();
    files.files.insert("calibration.toml".into(), one.text());
    let again = Study::read(&files).unwrap_or_else(|error| panic!("{error}\n{}", one.text()));
    assert_eq!(again.calibration, one);
    assert!(library::embedded().iter().all(|own| own.name != "made"));
}

#[test]
fn every_space_of_the_repository_is_admissible() {
    let spaces = library::embedded().into_iter().filter(|folder| {
        let study = Study::read(folder).unwrap_or_else(|error| panic!("{error}"));
        SpaceSpec::read(&study).unwrap_or_else(|error| panic!("{error}")).is_some()
    });
    assert_eq!(spaces.count(), 5, "one for each paper");
}
