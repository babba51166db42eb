//! Tests of ns-2 as a stage. If the program is missing, tests that need it report this prominently,
//! and pass.

use fairwire_core::Duration;
use fairwire_experiment::sim::Sim;
use fairwire_experiment::{Failed, Plan, Stage, WatchRun, WatchRuns, compared};
use fairwire_linux::clock;
use fairwire_metrics::judge::Verdict;
use fairwire_metrics::record::{Agreement, RunRecord};
use fairwire_scenario::{Overrides, RunId, SampleRow, Scenario, load, parse};
use fairwire_stages::ns2::{Ns2, Queue};
use fairwire_testing::program::Running;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

static NEVER: AtomicBool = AtomicBool::new(false);

fn contest(set: &[&str]) -> Scenario {
    let access = "access = { rate = \"100 Mbit/s\", delay = \"3 ms\" }\nstart = \"0 s..1 s\"\n";
    let text = format!(
        "format = 2\nname = \"contest\"\nduration = \"20 s\"\nwarm_up = \"5 s\"\nseeds = 1\ntie_rule = \"fifo\"\n\
         disciplines = [\"tail-drop\"]\n\
         [link]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nbuffer = \"50 packets\"\n\
         [[flow]]\ngroup = \"tcp\"\ncount = 9\nsource = \"bulk\"\n\
         tcp = {{ profile = \"ns2-2006\", segment = \"512 B\" }}\n{access}\
         [[flow]]\ngroup = \"udp\"\nsource = {{ cbr = {{ rate = \"3 Mbit/s\", packet = \"552 B\" }} }}\n{access}"
    );
    let set = set.iter().map(ToString::to_string).collect();
    parse("contest.toml", &text, &Overrides { set, ..Overrides::default() }).expect("a scenario")
}

fn run(
    scenario: &Scenario,
    mut progress: &mut dyn FnMut(f64),
    stop: &AtomicBool,
) -> Result<Option<RunRecord>, Failed> {
    Ns2.run(&Plan { scenario, discipline: 0 }, 1, &mut progress, stop)
}

fn why(scenario: &Scenario) -> Option<String> {
    Ns2.can_run(&Plan { scenario, discipline: 0 }).err().map(|why| why.to_string())
}

#[test]
fn a_discipline_names_its_equivalent_in_ns2() {
    let queue = |set: &[&str]| {
        let scenario = contest(set);
        Queue::of(&Plan { scenario: &scenario, discipline: 0 }).map(|queue| (queue.class, queue.variables))
    };
    let is = |set: &[&str], class, variables: &str| {
        assert_eq!(queue(set), Some((class, variables.into())), "{set:?}")
    };
    // In ns-2, the queues `DropTail` and `REM` hold one packet fewer than their `limit_`.
    is(&[], "DropTail", "limit_ 51");
    let thresholds = "min_threshold = '25 packets', max_threshold = '40 packets', max_probability = 0.1";
    let red = |more: &str| format!("discipline.red={{ {thresholds}{more} }}");
    is(
        &["disciplines=['red']", &red("")],
        "RED",
        "limit_ 50 thresh_ 25 maxthresh_ 40 linterm_ 10 q_weight_ 0.002 gentle_ true wait_ true adaptive_ 0 \
         bytes_ false queue_in_bytes_ false mean_pktsize_ 552",
    );
    let in_bytes =
        red(", measure = 'bytes', mean_packet = '500 B', buffer = '25 kB', gentle = false, wait = false");
    is(
        &["disciplines=['red']", &in_bytes],
        "RED",
        "limit_ 50 thresh_ 25 maxthresh_ 40 linterm_ 10 q_weight_ 0.002 gentle_ false wait_ false adaptive_ 0 \
         bytes_ true queue_in_bytes_ true mean_pktsize_ 500",
    );
    is(
        &["disciplines=['rem']", "discipline.rem.target='20 packets'"],
        "REM",
        "limit_ 51 pbo_ 20 pupdtime_ 0.002 gamma_ 0.001 phi_ 1.001 inw_ 1 mean_pktsize_ 552",
    );
    let rio = "green = { min_threshold = '15 packets', max_threshold = '30 packets', max_probability = 0.02 }, \
               yellow = { min_threshold = '5 packets', max_threshold = '15 packets', max_probability = 0.1 }";
    is(
        &["disciplines=['rio']", &format!("discipline.rio={{ {rio}, wait = true, out_rule = 'ns2' }}")],
        "RED/RIO",
        "limit_ 50 thresh_ 5 maxthresh_ 15 linterm_ 10 out_thresh_ 5 out_maxthresh_ 15 out_linterm_ 10 \
         in_thresh_ 15 in_maxthresh_ 30 in_linterm_ 50 q_weight_ 0.002 gentle_ false wait_ true \
         bytes_ false queue_in_bytes_ false mean_pktsize_ 552 priority_method_ 1",
    );
    is(
        &["disciplines=['drr']", "discipline.drr={ quantum = '552 B', buffer = '27600 B' }"],
        "DRR",
        "blimit_ 27600 quantum_ 552",
    );
    let sfq = "discipline.drr={ quantum = '552 B', dropper = 'half-free' }";
    is(&["disciplines=['drr']", sfq], "SFQ", "maxqueue_ 50 buckets_ 16");
    for other in [
        &["disciplines=['red']", &red(", adaptive = true")][..],
        &["disciplines=['red']", &red(", buffer = '25 kB'")],
        &["disciplines=['rem']", "discipline.rem.alpha=0.2"],
        &["disciplines=['rio']"],
        &["disciplines=['drr']", "discipline.drr={ quantum = '552 B' }"],
        &["disciplines=['drr']", "discipline.drr={ buffer = '27600 B', weights = { 1 = 2.0 } }"],
        &["discipline.tail-drop.scheduler='drr'"],
    ] {
        assert_eq!(queue(other), None, "{other:?}");
    }
}

fn is_missing() -> bool {
    let Some(why) = why(&contest(&[])) else { return false };
    assert_eq!(why, "ns-2 (`ns`) is missing; allowed: `apt-get install ns2` on Debian and Ubuntu");
    fairwire_testing::skipped_for_want_of_a_peer(format_args!("a run of ns-2: {why}"));
    true
}

#[test]
fn features_missing_in_ns2_are_named() {
    for (set, named) in [
        ("disciplines=['faba']", "`faba`, with its parameters; allowed: a discipline that ns-2 has"),
        ("discipline.tail-drop.buffer='50 kB'", "`tail-drop`, with its parameters"),
        ("flow.tcp.source=web", "the source of `tcp`; allowed: `bulk` and `cbr`"),
        (
            "flow.tcp.tcp={ control = 'cubic' }",
            "the constants of the TCP of `tcp`; allowed: `profile = \"ns2-2002\"`",
        ),
        ("flow.tcp.tcp={ profile = 'ns2-2006', ecn = 'ect0' }", "the constants of the TCP of `tcp`"),
        ("flow.udp.source.cbr.dither=0.1", "a dither of 0.1 of `udp`; allowed: 0 or 0.5"),
        ("flow.udp.source.cbr.ecn='ect1'", "an `ecn` of `udp`"),
        ("link.device='100 packets'", "a `device` behind the discipline, which `ns2` does not have"),
        ("flow.udp.dscp=46", "a `class` or a `dscp` of `udp`"),
        (
            "return={ buffer = '10 packets' }",
            "a queue in the return direction, `[return]`; allowed: one `[link]`",
        ),
    ] {
        let why = why(&contest(&[set])).expect("it is refused");
        assert!(why.contains(named), "{set}: {why}");
    }
    let sfq = ["disciplines=['drr']", "discipline.drr={ quantum = '552 B', dropper = 'half-free' }"];
    let many = contest(&[sfq[0], sfq[1], "flow.tcp.count=12"]);
    assert_eq!(why(&many).expect("it is refused"), "13 flows through its SFQ; allowed: at most 12");
}

#[test]
fn a_run_has_the_records_of_every_flow_and_of_the_link() {
    if is_missing() {
        return;
    }
    let scenario = contest(&[]);
    let mut parts = Vec::new();
    let run =
        run(&scenario, &mut |part| parts.push(part), &NEVER).expect("it runs").expect("it is not stopped");
    assert!(parts.len() > 50 && parts.is_sorted() && parts.last() == Some(&1.0), "{parts:?}");
    let names: Vec<&str> = run.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[9]), (10, "tcp.1", "udp.1"));
    let (udp, link) = (&run.flows[9], &run.links[0]);
    assert_eq!(udp.offered_bps, Some(3e6));
    // One packet of 552 bytes in 15 s adds 0.0003 Mbit/s to the sending rate.
    assert!(udp.throughput_bps > 2e6 && udp.throughput_bps < 3.001e6, "{udp:?}");
    assert!((udp.goodput_bps / udp.throughput_bps - 524.0 / 552.0).abs() < 1e-9, "{udp:?}");
    let dropped: u64 = run.flows.iter().map(|flow| flow.packets_dropped).sum();
    let sent: u64 = run.flows.iter().map(|flow| flow.packets_sent).sum();
    assert_eq!((link.drops["ns2"], link.packets_in), (dropped, sent));
    assert!(link.packets_in.abs_diff(link.packets_out + dropped) <= 51, "{link:?}");
    assert!(link.utilization > 0.95 && link.utilization <= 1.0, "{link:?}");
    let backlog = &link.backlog;
    assert!(backlog.mean_packets > 5.0 && backlog.mean_packets < 50.0, "{backlog:?}");
    assert!(
        (backlog.mean_bytes / backlog.mean_packets - 552.0).abs() < 1.0,
        "all packets are alike: {backlog:?}"
    );
    assert_eq!((&link.sojourn, backlog.max_packets), (&None, None), "not measured");
}

fn simulators(parent: u32) -> Vec<i32> {
    let own = parent.to_string();
    let is_ours = |pid: &i32| {
        let file = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let (stat, line) = (file("stat"), file("cmdline"));
        let (stat, line) = (String::from_utf8_lossy(&stat), String::from_utf8_lossy(&line));
        let parent = stat.rsplit_once(") ").and_then(|(_, after)| after.split(' ').nth(1));
        parent == Some(&own) && line.contains("-duration\x001000000.")
    };
    let processes = std::fs::read_dir("/proc").expect("it is Linux").flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

fn found() -> i32 {
    let ours = || simulators(std::process::id());
    std::iter::repeat_with(ours).find_map(|all| all.first().copied()).expect("it goes on until then")
}

#[test]
fn a_stopped_or_killed_run_ends_at_once_and_leaves_no_process() {
    if is_missing() {
        return;
    }
    // Hours, unless ended.
    let long = contest(&["duration=1000000 s"]);
    let stop = AtomicBool::new(false);
    let stopped = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&long, &mut |_| (), &stop));
        found();
        stop.store(true, Ordering::Relaxed);
        running.join().expect("it does not panic")
    });
    assert!(matches!(stopped, Ok(None)), "{stopped:?}");
    assert_eq!(simulators(std::process::id()), [0; 0], "it is left");
    let killed = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&long, &mut |_| (), &NEVER));
        kill_process(Pid::from_raw(found()).expect("not zero"), Signal::KILL).expect("it is ours");
        running.join().expect("it does not panic")
    });
    let said = killed.expect_err("it was killed").to_string();
    assert!(said.starts_with("ns-2, seed 1: it ended with signal: 9"), "{said}");
    assert_eq!(simulators(std::process::id()), [0; 0], "it is left");
}

/// The environment variable that makes a second process run the long contest until it is killed.
const HELD: &str = "FAIRWIRE_TEST_RUNS_NS2";

#[test]
fn a_killed_stage_ends_ns2_and_leaves_no_file() {
    let long = contest(&["duration=1000000 s"]);
    if std::env::var_os(HELD).is_some() {
        let _ = run(&long, &mut |_| (), &NEVER);
        return;
    }
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch folder");
    let name = "a_killed_stage_ends_ns2_and_leaves_no_file";
    let mut stage = Running::start(
        Command::new(std::env::current_exe().expect("this program has a path"))
            .args([name, "--exact", "--nocapture"])
            .env(HELD, "1")
            .env("TMPDIR", folder.path())
            .stdout(Stdio::null()),
    )
    .expect("it starts again");
    let of_stage = || simulators(stage.id());
    let simulator = std::iter::repeat_with(of_stage).find_map(|all| all.first().copied()).expect("it runs");
    stage.kill().expect("it can be killed");
    stage.wait().expect("it ends");
    // In state `Z`, ns-2 has ended, but its parent has not noticed yet.
    let state = || std::fs::read_to_string(format!("/proc/{simulator}/stat")).unwrap_or_default();
    let is_there = || state().rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'));
    let until = clock::now() + Duration::from_secs(60);
    while is_there() {
        assert!(clock::now() < until, "ns-2 goes on");
        std::thread::yield_now();
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("it is there").collect();
    assert!(left.is_empty(), "{left:?}");
}

fn cells() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proof/suite/ns2");
    let files =
        std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    files
}

fn cell(file: &Path, set: &[&str]) -> Scenario {
    let set = set.iter().map(ToString::to_string).collect();
    load(file, &Overrides { set, ..Overrides::default() }).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_cell_runs_in_ns2_and_bounds_goodput_and_loss_per_class() {
    let files = cells();
    assert_eq!(files.len(), 46);
    for file in files {
        let scenario = cell(&file, &[]);
        assert_eq!(file.file_stem().and_then(|stem| stem.to_str()), Some(scenario.spec().name.as_str()));
        let plan = Plan { scenario: &scenario, discipline: 0 };
        assert!(scenario.spec().seeds.as_slice().len() >= 5 && Queue::of(&plan).is_some());
        let bounds: Vec<(&str, Option<f64>)> = scenario
            .tolerances()
            .iter()
            .map(|one| (one.measure, one.allowed.map(|of| of.relative)))
            .collect();
        assert_eq!(bounds, [("throughput_bps", Some(0.05)), ("packets_dropped", Some(0.1))], "{file:?}");
        let why = why(&scenario);
        assert!(
            why.as_ref().is_none_or(|why| why.starts_with("ns-2 (`ns`) is missing")),
            "{file:?}: {why:?}"
        );
    }
}

struct Unwatched;

impl WatchRuns for Unwatched {
    fn begins<'a>(&'a self, _: RunId<'_>) -> Box<dyn WatchRun + 'a> {
        Box::new(Unwatched)
    }
    fn reached(&self, _: f64) {}
}

impl WatchRun for Unwatched {
    fn every(&self) -> Option<Duration> {
        None
    }
    fn sample(&mut self, _: Duration, _: SampleRow<'_>) {}
    fn finished(self: Box<Self>) {}
}

#[test]
fn the_quick_cells_agree_with_ns2() {
    if is_missing() {
        return;
    }
    let set = ["duration=40 s", "warm_up=15 s", "seeds=1..=5"];
    for name in [
        "droptail-newreno-10",
        "red-newreno-10",
        "red-sack-10",
        "rem-newreno-10",
        "rio-newreno-cbr",
        "drr-newreno-cbr",
    ] {
        let file = cells().into_iter().find(|file| file.file_stem() == Some(name.as_ref())).expect(name);
        let scenario = cell(&file, &set);
        let on = |stage: &dyn Stage| {
            let (runs, name) = (stage.run_all(&scenario, &[0], 0, &Unwatched, &NEVER), stage.name());
            runs.expect("it runs").into_iter().map(|run| RunRecord { stage: name.into(), ..run })
        };
        let runs: Vec<RunRecord> = on(&Ns2).chain(on(&Sim)).collect();
        let judged: Vec<Agreement> = compared(&scenario, &runs, "ns2");
        let of_classes = judged.iter().filter(|one| one.verdict.is_some());
        assert_eq!(of_classes.count(), 2 * scenario.spec().flow.len(), "{name}: {judged:?}");
        for one in judged {
            assert!(one.verdict.is_none_or(|verdict| verdict == Verdict::Holds), "{name}: {one:?}");
        }
    }
}

#[test]
fn a_wire_loses_as_many_packets_in_ns2_as_in_the_simulator() {
    let scenario = contest(&["link.impair.loss=0.05", "duration=40 s"]);
    if let Some(why) = why(&scenario) {
        return fairwire_testing::skipped_for_want_of_a_peer(format_args!("losses in ns-2: {why}"));
    }
    for stage in [&Ns2 as &dyn Stage, &Sim] {
        let plan = Plan { scenario: &scenario, discipline: 0 };
        let record = stage.run(&plan, 1, &mut |_| {}, &NEVER).expect("it runs").expect("it is not stopped");
        let lost = record.links[0].wire.expect("the wire loses packets").lost;
        let part = lost as f64 / record.links[0].packets_out as f64;
        // The tolerance is four standard deviations for at least 60 000 packets.
        assert!((part - 0.05).abs() < 0.0036, "{}: {part}", stage.name());
    }
    let bursts = contest(&["link.impair={ to_bad = 0.1, to_good = 0.5 }"]);
    assert!(why(&bursts).is_some_and(|why| why.starts_with("losses in bursts")), "{:?}", why(&bursts));
}
