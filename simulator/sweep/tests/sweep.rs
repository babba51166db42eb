//! A sweep from a plan to its table.

use fairwire_sweep::columns::{Cells, Table};
use fairwire_sweep::{Base, Local, Plan, Run, Shard, Share, Stores, SweepError, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

const SCENARIO: &str = r#"
format = 2
name = "two"
duration = "2 s"
warm_up = "500 ms"
seeds = "1..=3"
disciplines = ["tail-drop", "faba"]
link = { rate = "2 Mbit/s", delay = "5 ms", buffer = "40 packets" }
[[flow]]
group = "tcp"
count = 2
source = "bulk"
tcp = { profile = "ns2-2002" }
access = { rate = "100 Mbit/s", delay = "1 ms" }
[[flow]]
group = "udp"
source = { cbr = { rate = "1 Mbit/s", packet = "500 B" } }
access = { rate = "100 Mbit/s", delay = "1 ms" }
"#;

const PLAN: &str = r#"
format = 1
seeds = "1..=3"
measures = ["share.tcp", "jain", "sojourn_mean_s"]
[vary]
discipline = ["tail-drop", "faba"]
"link.buffer" = ["20 packets", "40 packets"]
"flow.tcp.count" = [1, 3]
"#;

static NEVER: AtomicBool = AtomicBool::new(false);

fn plan(text: &str) -> Plan {
    Plan::parse("plan.toml", text, Base::text(SCENARIO)).unwrap()
}

fn refused(text: &str) -> String {
    Plan::parse("plan.toml", text, Base::text(SCENARIO)).unwrap_err().to_string()
}

fn run(plan: &Plan, folder: &Path, jobs: usize, share: Share) -> usize {
    let local = Local { folder, jobs, share, progress: &|_, _| {}, stop: &NEVER };
    let ran = plan.run(&local).unwrap();
    assert!(!ran.stopped);
    ran.runs
}

fn table(plan: &Plan, folder: &Path) -> Table {
    plan.table(&Stores::new(folder)).unwrap()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    let Some(Cells::Reals(numbers)) = table.column(name) else { panic!("no numbers: {name}") };
    numbers.iter().map(|number| number.unwrap_or(f64::NAN)).collect()
}

#[test]
fn a_sweep_notes_other_differences_between_cells() {
    let notes = |scenario: &str, vary: &str| {
        let text = format!("format = 1\nseeds = 1\nmeasures = [\"jain\"]\n[vary]\n{vary}\n");
        Plan::parse("plan.toml", &text, Base::text(scenario)).unwrap().notes
    };
    let today = SCENARIO.replace("profile = \"ns2-2002\"", "control = \"cubic\"");
    let controls = "\"flow.tcp.tcp.control\" = [\"reno\", \"cubic\", \"bbr3\"]";
    assert_eq!(notes(&today, controls), [""; 0], "nothing but the controller differs");
    let dctcp = notes(&today, &controls.replace("bbr3", "dctcp"));
    assert_eq!(dctcp.len(), 2, "{dctcp:?}");
    assert!(
        dctcp[1].contains("ECN-capable, but dropped by `faba`") && dctcp[1].ends_with("(in 1 of 6 cells)"),
        "{dctcp:?}"
    );
    assert!(
        dctcp[0].contains("more than what varies: `flow.tcp.tcp.ecn` is \"ect0\" or \"off\""),
        "{dctcp:?}"
    );
    let typed = "\"flow.tcp.tcp.ecn\" = [\"off\", \"ect0\"]";
    let typed = notes(&today, typed);
    assert!(
        typed.len() == 1 && typed[0].ends_with("(in 1 of 4 cells)"),
        "what is varied is no surprise: {typed:?}"
    );
    let tables =
        "\"flow.tcp.tcp\" = [{ control = \"reno\", profile = \"ns2-2006\" }, { control = \"cubic\" }]";
    let profiles = notes(&today, tables);
    assert!(profiles[0].contains("`flow.tcp.tcp.profile` is \"modern\" or \"ns2-2006\""), "{profiles:?}");
    assert!(
        profiles[1].contains("hosts take no time") && profiles[1].ends_with("(in 1 of 4 cells)"),
        "{profiles:?}"
    );
}

#[test]
fn a_sweep_has_a_row_for_each_run_in_the_order_of_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    assert_eq!((plan.cells.len(), plan.runs()), (8, 24));
    assert_eq!(run(&plan, folder.path(), 2, Share::ALL), 24);
    let table = table(&plan, folder.path());
    assert_eq!(table.len(), 24);
    let names: Vec<String> = table.columns().iter().map(|column| column.name.clone()).collect();
    let mut axes = names[..2].to_vec();
    axes.sort();
    assert_eq!(axes, ["flow.tcp.count", "link.buffer"]);
    assert_eq!(names[2..], ["discipline", "seed", "share.tcp", "jain", "sojourn_mean_s"]);
    let value = |name: &str, row| table.column(name).unwrap().value(row).unwrap();
    assert_eq!([0, 1, 2, 3].map(|row| value("seed", row)), [1.0, 2.0, 3.0, 1.0].map(Value::Number));
    assert_eq!(
        [0, 3].map(|row| value("discipline", row)),
        ["tail-drop", "faba"].map(|it| Value::Text(it.into()))
    );
    assert_eq!(numbers(&table, "flow.tcp.count").iter().filter(|count| **count == 3.0).count(), 12);
    assert!(numbers(&table, "jain").iter().all(|jain| (0.3..=1.0).contains(jain)));
}

#[cfg(unix)]
#[test]
fn other_users_may_read_a_store_and_a_complete_one_needs_no_write_access() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    run(&plan, folder.path(), 2, Share::ALL);
    let part = Stores::new(folder.path()).runs.parts().unwrap()[0].path().to_path_buf();
    let new = folder.path().join("new");
    fs::write(&new, "").unwrap(); // with the permissions of the umask
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&part), mode(&new));
    let runs = folder.path().join("runs");
    let written = || fs::metadata(&runs).unwrap().modified().unwrap();
    let before = written();
    assert_eq!(run(&plan, folder.path(), 2, Share::ALL), 0);
    assert_eq!(written(), before, "whether it can be written is not tried");
}

#[test]
fn values_match_runs_of_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    run(&plan, folder.path(), 1, Share::ALL);
    let table = table(&plan, folder.path());
    let set = ["link.buffer=40 packets", "flow.tcp.count=3"].map(String::from).to_vec();
    let overrides =
        fairwire_scenario::Overrides { set, disciplines: vec!["faba".into()], seeds: Some("2".into()) };
    let scenario = fairwire_scenario::parse("two.toml", SCENARIO, &overrides).unwrap();
    let record =
        fairwire_scenario::run_single(&scenario, 0, 2, &mut |_| std::ops::ControlFlow::Continue(()), None);
    let record = record.unwrap().unwrap();
    let row = table.len() - 2; // the last cell, the second of three seeds
    assert_eq!(numbers(&table, "jain")[row].to_bits(), record.fairness.jain.to_bits());
    assert_eq!(numbers(&table, "sojourn_mean_s")[row], record.links[0].sojourn.as_ref().unwrap().mean_s);
}

#[test]
fn the_table_does_not_depend_on_threads_shares_or_shards() {
    let plan = plan(PLAN);
    let folders: Vec<_> = (0..4).map(|_| tempfile::tempdir().unwrap()).collect();
    run(&plan, folders[0].path(), 1, Share::ALL);
    run(&plan, folders[1].path(), 3, Share::ALL);
    let made: Vec<usize> =
        (1..=4).map(|index| run(&plan, folders[2].path(), 1, Share { index, of: 4 })).collect();
    assert_eq!(made.iter().sum::<usize>(), 24, "each run is of one process");
    assert!(made.iter().filter(|made| **made > 0).count() > 1, "{made:?}");
    let shards = plan.shards(folders[3].path(), 1e-9, 7, &NEVER).unwrap();
    assert!((2..=9).contains(&shards.len()), "{}", shards.len());
    for shard in shards.iter().rev() {
        Shard::from_json(&shard.to_json()).unwrap().run(&mut |_| {}, &NEVER).unwrap();
    }
    let first = table(&plan, folders[0].path());
    folders[1..].iter().for_each(|folder| assert_eq!(table(&plan, folder.path()), first));
}

#[test]
fn no_run_is_made_twice_and_stored_runs_are_found_by_their_inputs() {
    let folder = tempfile::tempdir().unwrap();
    run(&plan(PLAN), folder.path(), 2, Share::ALL);
    assert_eq!(run(&plan(PLAN), folder.path(), 2, Share::ALL), 0);
    // No run depends on these changes: an explicit default, and a parameter of a discipline that is
    // not run.
    let same = PLAN.replace(
        "format = 1",
        "format = 1\nset = [\"tie_rule=random\", \"discipline.red.max_probability=0.3\"]",
    );
    assert_eq!(plan(&same).missing(&Stores::new(folder.path())).unwrap(), []);
    let more_seeds = PLAN.replace("1..=3", "1..=4");
    assert_eq!(plan(&more_seeds).missing(&Stores::new(folder.path())).unwrap().len(), 8);
    let other_value = PLAN.replace("20 packets", "30 packets");
    assert_eq!(plan(&other_value).missing(&Stores::new(folder.path())).unwrap().len(), 12);
    let fewer_measures = PLAN.replace(", \"jain\"", "");
    assert_eq!(plan(&fewer_measures).missing(&Stores::new(folder.path())).unwrap(), []);
    let other_measure = PLAN.replace("\"jain\"", "\"drops\"");
    assert_eq!(plan(&other_measure).missing(&Stores::new(folder.path())).unwrap().len(), 24);
    let changed = PLAN.replace("format = 1", "format = 1\nset = [\"link.delay=6 ms\"]");
    assert_eq!(plan(&changed).missing(&Stores::new(folder.path())).unwrap().len(), 24);
}

#[test]
fn the_reason_for_a_missing_run_names_the_change() {
    let folder = tempfile::tempdir().unwrap();
    let stores = Stores::new(folder.path());
    run(&plan(PLAN), folder.path(), 2, Share::ALL);
    let explain = |text: &str, row: usize| {
        let plan = plan(text);
        plan.explain(plan.run_of_row(row).unwrap(), &stores).unwrap().to_string()
    };
    assert_eq!(explain(PLAN, 3), "it is in the store");
    assert!(explain(&PLAN.replace("1..=3", "4"), 0).contains("no run with these values"));
    let set = explain(&PLAN.replace("format = 1", "format = 1\nset = [\"link.delay=6 ms\"]"), 0);
    assert!(set.contains("`--set link.delay` was missing and is `6 ms`"), "{set}");
    let kept = explain(&PLAN.replace("\"jain\"", "\"drops\""), 0);
    assert!(kept.contains("without what the plan keeps now: `drops`"), "{kept}");
    let base = Base::text(&SCENARIO.replace("5 ms", "7 ms"));
    let other = Plan::parse("plan.toml", PLAN, base).unwrap();
    let why = other.explain(Run { cell: 0, seed: 0 }, &stores).unwrap().to_string();
    assert!(why.contains("`link.delay` was `\"5 ms\"` and is `\"7 ms\"`"), "{why}");
}

#[test]
fn flows_have_a_row_for_each_run_and_flow() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&PLAN.replace("format = 1", "format = 1\nflows = true"));
    assert_eq!(run(&plan, folder.path(), 2, Share::ALL), 24);
    let stores = Stores::new(folder.path());
    let rows: usize = stores.flows.parts().unwrap().iter().map(|part| part.rows()).sum();
    // Each run has one UDP flow, and one or three TCP flows.
    assert_eq!(rows, 12 * (1 + 1) + 12 * (3 + 1));
    for part in stores.flows.parts().unwrap() {
        fs::remove_file(part.path()).unwrap();
    }
    assert_eq!(plan.missing(&Stores::new(folder.path())).unwrap().len(), 24);
}

#[test]
fn compacting_drops_duplicates_and_changes_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    let stores = Stores::new(folder.path());
    for cell in 0..plan.cells.len() {
        let runs: Vec<Run> = (0..3).map(|seed| Run { cell, seed }).collect();
        plan.shard(&runs, folder.path()).run(&mut |_| {}, &NEVER).unwrap();
        plan.shard(&runs[..1], folder.path()).run(&mut |_| {}, &NEVER).unwrap();
    }
    let before = table(&plan, folder.path());
    assert_eq!(stores.runs.compact().unwrap(), (16, 1));
    assert_eq!(stores.runs.parts().unwrap()[0].rows(), 24);
    assert_eq!(table(&plan, folder.path()), before);
    assert_eq!(stores.runs.compact().unwrap(), (1, 1));
}

#[test]
fn with_a_precision_cells_get_seeds_until_their_intervals_are_narrow() {
    let folder = tempfile::tempdir().unwrap();
    let text = |precision: f64| {
        format!("format = 1\nseeds = \"1..=60\"\nmeasures = [\"share.udp\"]\nprecision = {precision}\n")
    };
    let rough = plan(&text(0.5));
    assert_eq!(run(&rough, folder.path(), 2, Share::ALL), 16, "eight seeds are the fewest");
    let fine = plan(&text(0.02));
    let more = run(&fine, folder.path(), 2, Share::ALL);
    assert!(more > 0 && 16 + more < 120, "{more}");
    for cell in fine.summary(&Stores::new(folder.path())).unwrap() {
        let estimate = cell.measures[0].unwrap();
        assert!(cell.runs == 60 || estimate.half_width_95.unwrap() <= 0.02 * estimate.mean, "{cell:?}");
    }
    let counted: BTreeSet<usize> =
        rough.summary(&Stores::new(folder.path())).unwrap().iter().map(|cell| cell.runs).collect();
    assert_eq!(counted, BTreeSet::from([8]));
}

#[test]
fn a_stopped_sweep_keeps_finished_runs() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    let stop = AtomicBool::new(false);
    let progress = |done: usize, _: usize| stop.store(done > 2, std::sync::atomic::Ordering::Relaxed);
    let local = Local { folder: folder.path(), jobs: 1, share: Share::ALL, progress: &progress, stop: &stop };
    let ran = plan.run(&local).unwrap();
    assert!(ran.runs >= 3 && ran.runs < 24, "{ran:?}");
    let missing = plan.missing(&Stores::new(folder.path())).unwrap();
    assert_eq!(missing.len(), 24 - ran.runs);
    assert_eq!(run(&plan, folder.path(), 2, Share::ALL), missing.len());
}

#[test]
fn a_shard_of_another_fairwire_or_of_other_files_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    let json = plan.shard(&[Run { cell: 0, seed: 0 }], folder.path()).to_json();
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let other = json.replace(&version, "\"version\":\"0.0.9\"");
    assert_ne!(json, other);
    let error = Shard::from_json(&other).unwrap().run(&mut |_| {}, &NEVER).unwrap_err();
    assert!(matches!(&error, SweepError::Version { .. }) && error.to_string().contains("0.0.9"), "{error}");
    let error =
        Shard::from_json(&json.replace("5 ms", "6 ms")).unwrap().run(&mut |_| {}, &NEVER).unwrap_err();
    assert!(matches!(&error, SweepError::Changed(_)), "{error}");
    assert!(Shard::from_json("{}").unwrap_err().to_string().contains("no shard"));
    assert_eq!(plan.missing(&Stores::new(folder.path())).unwrap().len(), 24, "nothing was written");
}

#[test]
fn an_impossible_plan_is_refused_at_its_location() {
    for (from, to, wanted) in [
        ("format = 1", "format = 2", "allowed: 1"),
        ("link.buffer", "link.bufer", "bufer"),
        ("\"20 packets\"", "\"20 pakets\"", "pakets"),
        ("\"40 packets\"]", "\"20 packets\"]", "given twice"),
        ("\"faba\"", "\"fabba\"", "fabba"),
        ("\"faba\"", "\"tail-drop,faba\"", "several disciplines"),
        ("\"faba\"", "{ tail-drop = {} }", "called `tail-drop`"),
        ("\"jain\"", "\"jane\"", "jane"),
        ("\"jain\"", "\"share.tcp\"", "given twice"),
        ("\"link.buffer\"", "\"seeds\"", "`seeds` of the plan"),
        ("\"link.buffer\"", "\"name\"", "keys that change what is run"),
        ("\"link.buffer\"", "\"link.buffer=3\"", "is no key"),
        ("\"link.buffer\"", "\" link.buffer\"", "is no key"),
        ("format = 1", "format = 1\nprecision = 2", "above 0 and below 1"),
        ("format = 1", "format = 1\nscenario = \"x.toml\"", "given already"),
        ("format = 1", "format = 1\nsead = 3", "sead"),
        ("\"link.buffer\" = ", "link.buffer = ", "written in quotes"),
    ] {
        let text = PLAN.replacen(from, to, 1);
        assert_ne!(text, PLAN);
        let message = refused(&text);
        assert!(message.contains(wanted), "{to}: {message}");
    }
}

#[test]
fn a_wrong_value_is_refused_at_its_location_in_the_plan() {
    for (from, to, place) in [
        ("\"20 packets\"", "\"20 pakets\"", "plan.toml:7:18: "),
        ("\"40 packets\"]", "\"0 packets\"]", "plan.toml:7:32: "),
        ("[1, 3]", "[1, -3]", "plan.toml:8:24: "),
        ("[1, 3]", "{ from = 0, to = 2, points = 3 }", "plan.toml:8:20: "),
        ("link.buffer", "link.bufer", "plan.toml:7:16: "),
        ("\"faba\"", "\"fabba\"", "plan.toml:6:28: "),
        ("\"faba\"", "{ faba = { gain = 1 } }", "plan.toml:6:28: "),
        ("seeds = \"1..=3\"", "set = [\"warm_up=1 s\", \"link.delay=5\"]", "plan.toml:3:23: "),
        ("seeds = \"1..=3\"", "set = [\"link.dealy=5 ms\"]", "plan.toml:3:8: "),
    ] {
        let text = PLAN.replacen(from, to, 1);
        assert_ne!(text, PLAN);
        let message = refused(&text);
        assert!(message.starts_with(place), "{to}: {message}");
    }
}

#[test]
fn a_wrong_set_of_the_base_is_not_blamed_on_the_plan() {
    let base = Base::text(SCENARIO).with(&["link.dealy=5 ms".into()]);
    let message = Plan::parse("plan.toml", PLAN, base).unwrap_err().to_string();
    assert!(message.starts_with("--set:1:6: unknown key `dealy`"), "{message}");
}

#[test]
fn a_foreign_store_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    let runs = folder.path().join("runs");
    fs::create_dir_all(&runs).unwrap();
    let path = runs.join("x.parquet");
    for content in ["", "PAR1 and nothing else", "no Parquet at all, but some more bytes"] {
        fs::write(&path, content).unwrap();
        let error = plan.missing(&Stores::new(folder.path())).unwrap_err().to_string();
        assert!(
            error.contains("x.parquet") && error.contains("allowed: a file that this version"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    fs::remove_file(&path).unwrap();
    // Such a file remains if a process is killed while it writes a part.
    fs::write(runs.join("abc.half"), "PAR1").unwrap();
    assert_eq!(plan.missing(&Stores::new(folder.path())).unwrap().len(), 24);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let local = Local { folder: &file, jobs: 1, share: Share::ALL, progress: &|_, _| {}, stop: &NEVER };
    assert!(matches!(plan.run(&local), Err(SweepError::Store(_))));
}

#[test]
fn a_part_with_a_changed_byte_gives_no_wrong_row() {
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(PLAN);
    run(&plan, folder.path(), 1, Share::ALL);
    let stores = Stores::new(folder.path());
    stores.runs.compact().unwrap();
    let path = stores.runs.parts().unwrap()[0].path().to_path_buf();
    let (whole, right) = (fs::read(&path).unwrap(), table(&plan, folder.path()));
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        let error = plan.table(&Stores::new(folder.path())).unwrap_err().to_string();
        assert!(error.contains("changed or truncated") && error.contains("Remove the"), "byte {at}: {error}");
    }
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert!(plan.table(&Stores::new(folder.path())).is_err());
    fs::write(&path, &whole).unwrap();
    assert_eq!(table(&plan, folder.path()), right);
}
