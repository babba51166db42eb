//! Several scenario files in one command, and a scenario's requirements on stages.

use crate::common::{Contest, SCENARIO, code, run, stderr, stdout};
use serde_json::Value;

fn folder() -> Contest {
    let contest = Contest::of(SCENARIO);
    let missed = "[[expect]]\nmeasure = \"jain\"\nmin = 2.0\n";
    for (name, more) in [("a.toml", ""), ("b.toml", missed)] {
        std::fs::write(contest.path(name), format!("{SCENARIO}\n{more}")).expect("a scratch file");
    }
    std::fs::remove_file(contest.path("short.toml")).expect("it is there");
    contest
}

const SHORT: [&str; 4] = ["--seeds", "1", "--discipline", "tail-drop"];

#[test]
fn every_file_of_a_folder_is_reported_and_has_a_line_at_the_end() {
    let contest = folder();
    let folder = contest.folder().display().to_string();
    let output = run(&[&["run", folder.as_str()], &SHORT[..]].concat());
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.matches("Three against one").count(), 2, "{text}");
    let line = |name: &str| {
        let cells =
            text.lines().find(|line| line.starts_with('|') && line.contains(name)).expect(name).split('|');
        cells.map(str::trim).skip(2).take(7).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(line("a.toml"), ["not judged", "0", "0", "0", "0", "-", "0"]);
    assert_eq!(line("b.toml"), ["does not hold", "0", "0", "0", "0", "0 of 1", "0"]);
    assert!(text.trim_end().ends_with("2 files: 1 not judged, 1 does not hold"), "{text}");
    assert!(text.find("a.toml") < text.find("b.toml"), "in the order of their names");
}

#[test]
fn several_reports_are_one_array_one_table_and_separate_folders() {
    let contest = folder();
    let [a, b, out] = ["a.toml", "b.toml", "out"].map(|name| contest.path(name).display().to_string());
    let of = |more: &[&str]| run(&[&["run", b.as_str(), a.as_str()], &SHORT[..], more].concat());
    let output = of(&["--format", "json", "--out", &out]);
    let reports: Value = serde_json::from_str(&stdout(&output)).expect("one array");
    assert_eq!(reports.as_array().map(Vec::len), Some(2));
    assert!(stderr(&output).contains("2 files: "), "{}", stderr(&output));
    for name in ["a", "b"] {
        assert!(contest.path("out").join(name).join("report.json").is_file(), "{name}");
    }
    let table = stdout(&of(&["--format", "csv"]));
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("file,discipline,stage,minus,runs,measure,mean,half_width_95,min,max"));
    let files: Vec<&str> =
        lines.filter(|line| line.contains(",jain,")).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(files, [b.as_str(), a.as_str()]);
    let alone = stdout(&run(&[&["run", a.as_str(), "--format", "csv"], &SHORT[..]].concat()));
    assert!(alone.starts_with("discipline,runs,measure,"), "one file is as it was: {alone}");
}

#[test]
fn a_bad_file_among_several_is_named_before_anything_runs() {
    let contest = folder();
    for name in ["c.toml", "d.toml"] {
        std::fs::write(contest.path(name), SCENARIO.replace("duration", "durration"))
            .expect("a scratch file");
    }
    let folder = contest.folder().display().to_string();
    let output = run(&["run", &folder]);
    let said = stderr(&output);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{said}");
    assert!(said.contains("c.toml:") && said.contains("d.toml:") && said.contains("durration"), "{said}");
    let refused = |args: &[&str], message: &str| {
        let output = run(args);
        assert!(code(&output) == 2 && stderr(&output).contains(message), "{}", stderr(&output));
    };
    let [a, b] = ["a.toml", "b.toml"].map(|name| contest.path(name).display().to_string());
    refused(&["run", &a, &b, "--series", "s.csv"], "`--series` is given, but so are several scenarios");
    refused(&["run", &a, &a, "--out", "out"], "two scenarios would have the folder `a`");
    let empty = contest.path("empty");
    std::fs::create_dir(&empty).expect("a scratch folder");
    refused(&["run", &empty.display().to_string()], "has no scenario");
}

/// Real senders can run only the first of three files. The third has `[[agree]]`.
fn partly_for_real_senders() -> Contest {
    let contest = folder();
    std::fs::remove_file(contest.path("b.toml")).expect("it is there");
    let web = SCENARIO.replacen(
        "source = \"bulk\"\ntcp = { profile = \"ns2-2002\" }",
        "source = \"web\"\ntcp = { profile = \"ns2-2002\" }",
        1,
    );
    let agree = "[[agree]]\nmeasure = \"jain\"\ntolerance = 1\nbecause = \"it is a test\"\n";
    for (name, more) in [("a.toml", ""), ("b.toml", ""), ("c.toml", agree)] {
        let text = if name == "a.toml" { SCENARIO } else { &web };
        std::fs::write(contest.path(name), format!("{text}\n{more}")).expect("a scratch file");
    }
    contest
}

#[test]
fn met_expectations_give_no_verdict_on_uncompared_stages() {
    let contest = partly_for_real_senders();
    let [b, d] = ["b.toml", "d.toml"].map(|name| contest.path(name));
    let text = std::fs::read_to_string(&b).expect("it is there");
    let expect = "[[expect]]\nmeasure = \"jain\"\nmin = 0.0\n";
    std::fs::write(&d, format!("{text}\n{expect}")).expect("a scratch file");
    let on = |stages: &str| {
        let files = [&b, &d].map(|path| path.display().to_string());
        run(&[&["run", &files[0], &files[1], "--on", stages], &SHORT[..]].concat())
    };
    let first = on("sim,lab");
    assert_eq!(code(&first), 0, "{}", stderr(&first));
    assert!(stdout(&first).contains("2 files: 2 not judged\n"), "{}", stdout(&first));
    let other = on("lab,sim");
    assert!(stderr(&other).contains("1 expectation not judged: lab ran nothing"), "{}", stderr(&other));
}

#[test]
fn unsupported_runs_of_a_stage_are_counted_and_fail_agreement() {
    let contest = partly_for_real_senders();
    let [b, c] = ["b.toml", "c.toml"].map(|name| contest.path(name).display().to_string());
    let on = |files: &[&str]| run(&[&["run"], files, &["--on", "sim,lab"], &SHORT[..]].concat());
    let why = "the source of `tcp`; allowed: `bulk`, which the kernel's TCP sends, and `cbr`";
    let alone = on(&[&b]);
    assert_eq!(code(&alone), 0, "nothing was to agree: {}", stderr(&alone));
    assert!(stdout(&alone).contains(&format!("note: lab cannot run this: {why}")), "{}", stdout(&alone));
    let nothing = "no verdict on lab: nothing was compared with sim";
    assert!(stderr(&alone).contains(nothing), "{}", stderr(&alone));
    let wanted = on(&[&c]);
    assert_eq!(code(&wanted), 3, "{}", stderr(&wanted));
    let said = format!("`[[agree]]` not judged on lab, jain: lab cannot run this: {why}");
    assert!(stderr(&wanted).contains(&said), "{}", stderr(&wanted));
    let both = on(&[&b, &c]);
    assert_eq!(code(&both), 3, "{}", stderr(&both));
    let text = stdout(&both);
    assert!(text.contains("2 files: 2 not judged\n"), "{text}");
    assert!(text.contains(&format!("not run on lab, 2 disciplines of {b}, {c}: {why}")), "{text}");
    let line = text.lines().find(|line| line.starts_with('|') && line.contains("c.toml")).expect("a line");
    let not_run = line.trim_end_matches([' ', '|']).rsplit('|').next().map(str::trim);
    assert_eq!(not_run, Some("1"), "{line}");
}
