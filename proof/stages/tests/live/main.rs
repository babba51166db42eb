//! Real contests on this machine's kernel. Labs start this program again as helper processes, so
//! the program has a `main`. If namespaces are refused, the program reports this and passes.

mod gateway;
mod kernel;
mod rates;
mod series;
mod wires;

use fairwire_experiment::lab::Lab;
use fairwire_experiment::{Dumbbell, Failed, Plan, Stage};
use fairwire_metrics::record::{FlowRecord, RunRecord};
use fairwire_scenario::{Overrides, Scenario, parse};
use fairwire_stages::linux::{self, Linux};
use fairwire_testbed::agent;
use fairwire_testbed::awake::Awake;
use fairwire_testbed::message::AGENT_COMMAND;
use fairwire_testing::program::Running;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration as StdDuration;

/// With this argument and a stage, the program runs a contest until it is killed.
const HOLD: &str = "hold-a-contest";

fn main() -> ExitCode {
    linux::take_over();
    fairwire_experiment::offer(fairwire_stages::ALL);
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    match first.as_deref() {
        Some(AGENT_COMMAND) => std::process::exit(agent::main(arguments)),
        Some(HOLD) => return hold(&arguments.next().expect("a stage")),
        Some("--list") => return ExitCode::SUCCESS, // a test runner lists names: there are none to select
        _ => {}
    }
    if let Err(Failed::Plan(why)) = run(LAB, &short("tail-drop", 1), &mut |_| {}, &NEVER) {
        fairwire_testing::skipped(format_args!("all live tests: {why}"));
        return ExitCode::SUCCESS;
    }
    let awake = Awake::keep();
    if let Err(error) = &awake {
        println!("live: {error}");
    }
    let checks: [(&str, fn()); 24] = [
        ("two labs at once: faba holds a selfish flow, tail-drop does not", two_labs_at_once),
        ("many flows of cubic share under faba", many_flows_of_cubic_share),
        (
            "flows have round-trip times and ECN of their own",
            flows_have_round_trip_times_and_ecn_of_their_own,
        ),
        ("a stopped contest ends at once and leaves nothing", a_stopped_contest_ends_at_once),
        ("a killed lab leaves no process and no namespace", a_killed_lab_leaves_nothing),
        ("a killed helper ends the contest and takes the others along", a_killed_helper_ends_the_contest),
        ("a guest whose program is killed ends with it", a_guest_ends_with_its_program),
        ("what the lab cannot run is named", what_the_lab_cannot_run_is_named),
        ("a link is sampled as it is counted", series::a_link_is_sampled_as_it_is_counted),
        ("a wire with faults loses the part that the simulated one loses", wires::a_wire_loses_the_same_part),
        ("netem has the faults of a wire, as far as it can", wires::netem_has_the_faults_of_a_wire),
        ("a rate halves, and a link is down, as in the simulator", || {
            rates::a_rate_halves_and_a_link_is_down(&[LAB, &fairwire_stages::gateway::Gateway]);
        }),
        ("the kernel's shaper changes its rate", rates::the_kernels_shaper_changes_its_rate),
        ("the lab follows a trace", rates::the_lab_follows_a_trace),
        ("two gateways at once share as the lab does", gateway::two_gateways_at_once),
        ("a stopped contest through a gateway leaves nothing", gateway::a_stopped_gateway_leaves_nothing),
        ("a killed gateway ends the contest and is named", gateway::a_killed_gateway_is_named),
        ("a killed stage takes its gateway along", gateway::a_killed_stage_takes_its_gateway_along),
        ("what a gateway cannot run is named", gateway::what_a_gateway_cannot_run_is_named),
        (
            "the kernel's own tail-drop and fq-codel share as ours do",
            the_kernels_own_disciplines_share_as_ours_do,
        ),
        (
            "this machine's own kernel shares as ours does, where it can",
            kernel::its_own_disciplines_share_as_ours_do,
        ),
        ("a stopped contest under this kernel leaves nothing", kernel::a_stopped_contest_leaves_nothing),
        ("a killed stage leaves nothing of what its kernel shaped", kernel::a_killed_stage_leaves_nothing),
        ("what this kernel cannot run is named", kernel::what_it_cannot_run_is_named),
    ];
    let wanted = first.filter(|word| !word.starts_with('-')).unwrap_or_default();
    for (name, check) in checks.into_iter().filter(|(name, _)| name.contains(&wanted)) {
        check();
        println!("live: {name} ... ok");
    }
    ExitCode::SUCCESS
}

static NEVER: AtomicBool = AtomicBool::new(false);
const LAB: &Lab = &Lab { congestion_control: None };

/// A contest like the demo's.
fn contest(discipline: &str, set: &[&str]) -> Scenario {
    let text = format!(
        "format = 2\nname = \"live\"\nduration = \"6 s\"\nseeds = 1\ndisciplines = [\"{discipline}\"]\n\
         [link]\nrate = \"10 Mbit/s\"\ndelay = \"16 ms\"\nbuffer = \"780 packets\"\n\
         [[flow]]\ngroup = \"tcp\"\ncount = 9\nsource = \"bulk\"\ntcp = {{ profile = \"ns2-2002\", segment = \"512 B\" }}\n{ACCESS}\
         [[flow]]\ngroup = \"udp\"\n{ACCESS}source = {{ cbr = {{ rate = \"5 Mbit/s\", packet = \"512 B\" }} }}\n"
    );
    let set = set.iter().map(ToString::to_string).collect();
    parse("live.toml", &text, &Overrides { set, ..Overrides::default() }).expect("a scenario")
}

const ACCESS: &str = "access = { rate = \"1 Gbit/s\", delay = \"0 s\" }\nstart = \"0 s..1 s\"\n";

/// A short scenario, which shows only whether contests can run.
fn short(discipline: &str, seed: u64) -> Scenario {
    contest(
        discipline,
        &["flow.tcp.start=0 s", "flow.udp.start=0 s", "duration=500 ms", &format!("seeds={seed}")],
    )
}

fn run(
    stage: &dyn Stage,
    scenario: &Scenario,
    progress: &mut dyn FnMut(f64),
    stop: &AtomicBool,
) -> Result<Option<RunRecord>, Failed> {
    let plan = Plan { scenario, discipline: 0 };
    stage.can_run(&plan)?;
    stage.run(&plan, scenario.spec().seeds.as_slice()[0], &mut |done| progress(done), stop)
}

fn hold_contest(stage: &dyn Stage, scenario: &Scenario) -> RunRecord {
    let held = || {
        let mut progress = 0.0;
        let record = run(stage, scenario, &mut |part| progress = part, &NEVER).expect("the contest is held");
        assert_eq!(progress, 1.0, "progress reaches its end");
        record.expect("it is not stopped")
    };
    // Other programs may make the processors the bottleneck, so the contest is repeated up to
    // twice.
    let is_full = |record: &RunRecord| record.links[0].utilization > 0.9;
    let record = (0..2).map(|_| held()).find(is_full).unwrap_or_else(held);
    check_plausible(scenario, &record, stage.name() == LAB.name());
    record
}

/// Checks properties that hold under any discipline. Unless `is_exact`, the drops of flows are
/// interpolated and rounded.
fn check_plausible(scenario: &Scenario, record: &RunRecord, is_exact: bool) {
    let link = &record.links[0];
    assert!(link.utilization > 0.9, "the link was not the bottleneck: {link:?}");
    let names: BTreeSet<_> = record.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names.len(), scenario.spec().flow.iter().map(|flow| flow.count() as usize).sum::<usize>());
    let drops: u64 = link.drops.values().sum();
    // The difference is the change of the queue's length.
    let difference =
        (link.packets_in.cast_signed() - link.packets_out.cast_signed() - drops.cast_signed()).unsigned_abs();
    let most_waiting = link.backlog.max_packets.expect("it is measured");
    assert!(difference <= most_waiting + 1, "{link:?}");
    let dropped: u64 = record.flows.iter().map(|flow| flow.packets_dropped).sum();
    // If the MTU is at least 1280 bytes, kernels also send IPv6, which may be dropped.
    let dumbbell = Dumbbell::of(&Plan { scenario, discipline: 0 }, 1).expect("it was held");
    let is_ipv4_only = dumbbell.mtu < 1280;
    // Rounding changes each flow's count by at most one packet.
    let rounded = if is_exact { 0 } else { record.flows.len() as u64 };
    let is_others = !is_ipv4_only && dropped < drops;
    assert!(
        dropped.abs_diff(drops) <= rounded || is_others,
        "a drop belongs to no flow: {dropped} of {drops}, {record:?}"
    );
}

fn group_share(record: &RunRecord, group: &str) -> f64 {
    record.fairness.group_share[group]
}

/// Over 8 s and 400 simulated seeds, FABA gives the selfish flow 1.29 to 2.00 fair shares, and
/// Jain's index is at least 0.82. Tail-drop gives the flow 4.69 to 4.98 fair shares, and Jain's
/// index is at most 0.38.
fn check_that_faba_holds_a_selfish_flow(stage: &'static dyn Stage) -> [RunRecord; 2] {
    let held = |discipline| {
        let scenario = contest(discipline, &["duration=10 s", "warm_up=2 s"]);
        thread::spawn(move || hold_contest(stage, &scenario))
    };
    let [faba, tail_drop] =
        ["faba", "tail-drop"].map(held).map(|contest| contest.join().expect("a stage does not panic"));
    assert!(group_share(&faba, "udp") <= 2.0 && faba.fairness.jain >= 0.8, "{faba:?}");
    assert!(group_share(&tail_drop, "udp") >= 3.0 && tail_drop.fairness.jain <= 0.5, "{tail_drop:?}");
    [faba, tail_drop]
}

fn two_labs_at_once() {
    check_that_faba_holds_a_selfish_flow(LAB);
}

fn many_flows_of_cubic_share() {
    let cubic = contest(
        "faba",
        &[
            "duration=4 s",
            "warm_up=1 s",
            "link.rate=50 Mbit/s",
            "link.delay=2 ms",
            "flow.tcp.count=30",
            "flow.tcp.tcp={ control = 'cubic', segment = '1460 B' }",
            "flow.udp.source.cbr.rate=20 Mbit/s",
            "flow.udp.source.cbr.packet=1460 B",
        ],
    );
    if let Err(why) = LAB.can_run(&Plan { scenario: &cubic, discipline: 0 }) {
        return fairwire_testing::skipped(why);
    }
    let record = hold_contest(LAB, &cubic);
    assert!(group_share(&record, "udp") <= 1.5, "{record:?}");
}

fn flows_have_round_trip_times_and_ecn_of_their_own() {
    let group = |name: &str, delay_ms: u64, ecn: &str| {
        format!(
            "[[flow]]\ngroup = \"{name}\"\ncount = 2\nsource = \"bulk\"\ntcp = {{ profile = \"ns2-2002\", ecn = \"{ecn}\" }}\n\
             access = {{ rate = \"1 Gbit/s\", delay = \"{delay_ms} ms\" }}\n"
        )
    };
    let text = format!(
        "format = 2\nname = \"live\"\nduration = \"10 s\"\nwarm_up = \"2 s\"\nseeds = 1\n\
         disciplines = [\"codel\"]\n[discipline.codel]\necn = \"mark\"\n\
         [link]\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nbuffer = \"200 packets\"\n{}{}{}",
        group("near", 0, "off"),
        group("far", 40, "off"),
        group("marked", 0, "ect0"),
    );
    let record =
        hold_contest(&Lab::default(), &parse("live.toml", &text, &Overrides::default()).expect("a scenario"));
    // The round trips of `near` and `far` are 10 and 170 ms, plus 5 ms of queueing. With equal
    // losses, `near` gets about ten times as much as `far`, or less if the queue is seldom full.
    let [near, far] = ["near", "far"].map(|group| group_share(&record, group));
    assert!(near > 2.0 * far, "{near} and {far}: {record:?}");
    let count = |group: &str, of: fn(&FlowRecord) -> u64| {
        record.flows.iter().filter(|flow| *flow.group == *group).map(of).sum::<u64>()
    };
    assert!(count("marked", |flow| flow.packets_marked) > 0, "{record:?}");
    assert_eq!(count("marked", |flow| flow.packets_dropped), 0, "{record:?}");
    assert_eq!(count("near", |flow| flow.packets_marked), 0);
    assert!(count("near", |flow| flow.packets_dropped) > 0);
}

fn a_stopped_contest_ends_at_once() {
    let before = helpers_of(std::process::id());
    let stop = AtomicBool::new(false);
    let outcome =
        run(LAB, &contest("faba", &[]), &mut |part| stop.store(part > 0.05, Ordering::Relaxed), &stop);
    assert!(matches!(outcome, Ok(None)), "{outcome:?}");
    assert_eq!(helpers_of(std::process::id()), before);
}

fn a_killed_helper_ends_the_contest() {
    let own = std::process::id();
    let before = helpers_of(own);
    let mut is_killed = false;
    let mut kill_a_host = |part: f64| {
        if part > 0.05 && !std::mem::replace(&mut is_killed, true) {
            let is_host = |pid: &u32| state_and_parent(*pid).is_some_and(|(_, parent)| parent != own);
            let host = helpers_of(own).difference(&before).copied().find(is_host).expect("there are two");
            kill(host);
        }
        assert!(part < 0.9, "it is reported at once");
    };
    let outcome = run(LAB, &contest("faba", &[]), &mut kill_a_host, &NEVER);
    assert!(matches!(&outcome, Err(Failed::Machine(why)) if why.contains("host")), "{outcome:?}");
    assert_eq!(helpers_of(own), before);
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("not zero");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
}

fn what_the_lab_cannot_run_is_named() {
    for (set, named) in [
        ("flow.tcp.tcp={ control = 'binomial' }", "no congestion control `binomial` (of `tcp`)"),
        (
            "flow.tcp.source=web",
            "the source of `tcp`; allowed: `bulk`, which the kernel's TCP sends, and `cbr`",
        ),
        ("flow.tcp.tcp={ ecn = 'ect1' }", "ECT(1) of `tcp`; allowed: ECT(0), or no ECN"),
        (
            "return={ buffer = '10 packets' }",
            "a queue in the return direction, `[return]`; allowed: one `[link]`",
        ),
        ("flow.udp.source.cbr.ecn='ect1'", "an `ecn` of `udp`"),
        ("flow.udp.source.cbr.packet=1000 B", "datagrams of 1000 B beside TCP's packets of 552 B"),
    ] {
        let scenario = contest("faba", &[set]);
        let why = LAB.can_run(&Plan { scenario: &scenario, discipline: 0 }).unwrap_err().to_string();
        assert!(why.contains(named), "{set}: {why}");
    }
}

fn the_kernels_own_disciplines_share_as_ours_do() {
    for (discipline, least, most) in [("tail-drop", 3.0, 6.0), ("fq-codel", 0.8, 1.3)] {
        let scenario = contest(discipline, &["warm_up=2 s"]);
        let plan = Plan { scenario: &scenario, discipline: 0 };
        if let Err(why) = Linux.can_run(&plan) {
            return fairwire_testing::skipped_for_want_of_a_peer(format_args!(
                "Linux's own disciplines: {why}"
            ));
        }
        let record =
            Linux.run(&plan, 1, &mut |_| {}, &NEVER).expect("the guest answers").expect("it is not stopped");
        let share = group_share(&record, "udp");
        assert!((least..most).contains(&share), "{discipline}: {share}");
        let link = &record.links[0];
        let drops: u64 = link.drops.values().sum();
        assert!(link.utilization > 0.99 && drops > 0 && link.backlog.max_packets <= Some(780), "{link:?}");
        let sent: u64 = record.flows.iter().map(|flow| flow.packets_sent).sum();
        assert_eq!(sent, link.packets_in, "each packet is of a flow");
    }
    let faba = contest("faba", &[]);
    let why = Linux.can_run(&Plan { scenario: &faba, discipline: 0 }).unwrap_err().to_string();
    assert!(why.contains("`faba`") && why.contains("a discipline that Linux has"), "{why}");
}

fn hold(stage: &str) -> ExitCode {
    let stage = fairwire_experiment::find(stage).expect("a stage");
    let mut has_reported = false;
    let mut report = |done: f64| {
        if done > 0.0 && !std::mem::replace(&mut has_reported, true) {
            println!("running");
        }
    };
    // Every kernel has tail-drop.
    let scenario = contest("tail-drop", &["duration=600 s"]);
    let outcome = stage.run(&Plan { scenario: &scenario, discipline: 0 }, 1, &mut report, &NEVER);
    if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Starts a contest in another process, and returns once the contest is running.
fn held(stage: &str) -> Running {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = Running::start(Command::new(program).args([HOLD, stage]).stdout(Stdio::piped()))
        .expect("it starts again");
    let mut line = String::new();
    let output = child.stdout.take().expect("its output is a pipe");
    BufReader::new(output).read_line(&mut line).expect("it reports something");
    assert_eq!(line, "running\n");
    child
}

/// When the program is killed, the guest's processes on the host must end. There is one per guest
/// process.
fn a_guest_ends_with_its_program() {
    let scenario = contest("fq-codel", &[]);
    if let Err(why) = Linux.can_run(&Plan { scenario: &scenario, discipline: 0 }) {
        return fairwire_testing::skipped_for_want_of_a_peer(format_args!("a guest that is killed: {why}"));
    }
    let mut program = held(Linux.name());
    let processes = helpers_of(program.id());
    let folder = processes.iter().find_map(|pid| scratch_of(*pid)).expect("it works in one");
    program.kill().expect("it can be killed");
    program.wait().expect("it ends");
    assert!(
        processes.len() >= 4,
        "what keeps the kernel, the kernel, its processes, and what keeps its folder: {processes:?}"
    );
    wait_until("the guest is gone", || !processes.iter().any(|pid| is_running(*pid)));
    assert!(!folder.exists(), "{folder:?} went before what keeps it");
}

fn a_killed_lab_leaves_nothing() {
    killed_leaves_nothing("lab", 3);
}

/// Checks that a killed contest leaves nothing. The contest has three networks, `count` helper
/// processes, and one more process per scratch folder.
fn killed_leaves_nothing(stage: &str, count: usize) {
    let interfaces = interfaces();
    let mut lab = held(stage);

    let helpers = helpers_of(lab.id());
    let folders: BTreeSet<_> = helpers.iter().filter_map(|pid| scratch_of(*pid)).collect();
    let own = namespace_of(std::process::id());
    let mut namespaces: BTreeSet<_> = helpers.iter().filter_map(|pid| namespace_of(*pid)).collect();
    namespaces.retain(|namespace| Some(namespace) != own.as_ref());
    lab.kill().expect("it can be killed");
    let status = lab.wait().expect("it ends");
    assert_eq!(
        (helpers.len(), namespaces.len()),
        (count + folders.len(), 3),
        "processes in three networks; that of the path has only a thread"
    );
    assert_eq!(status.signal(), Some(9));

    wait_until("the scratch folders are gone", || !folders.iter().any(|folder| folder.exists()));
    wait_until("the helpers are gone", || !helpers.iter().any(|pid| is_running(*pid)));
    wait_until("no process is in their networks", || all_namespaces().is_disjoint(&namespaces));
    assert_eq!(self::interfaces(), interfaces, "the interfaces of this machine are as before");
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        thread::sleep(StdDuration::from_millis(10));
    }
    panic!("waited 5 s in vain until {what}");
}

/// Reads `/proc/PID/stat`, where the fields follow the name in parentheses.
fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// False for a zombie, which has no network and no memory.
fn is_running(pid: u32) -> bool {
    state_and_parent(pid).is_some_and(|(state, _)| state != 'Z')
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").expect("there is a /proc");
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn helpers_of(ancestor: u32) -> BTreeSet<u32> {
    let family: Vec<_> = processes()
        .filter_map(|pid| state_and_parent(pid).map(|(state, parent)| (pid, state, parent)))
        .collect();
    let mut found = BTreeSet::from([ancestor]);
    loop {
        let count = found.len();
        let children: Vec<u32> = family
            .iter()
            .filter(|(_, state, parent)| *state != 'Z' && found.contains(parent))
            .map(|(pid, ..)| *pid)
            .collect();
        found.extend(children);
        if found.len() == count {
            found.remove(&ancestor);
            return found;
        }
    }
}

fn scratch_of(pid: u32) -> Option<PathBuf> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    let prefix = line.split('\0').skip_while(|word| *word != "keeper").nth(1)?;
    let folder = std::env::temp_dir().join(format!("{prefix}{pid}-0"));
    assert!(folder.exists(), "{folder:?} is kept");
    Some(folder)
}

fn namespace_of(pid: u32) -> Option<String> {
    let link = std::fs::read_link(format!("/proc/{pid}/ns/net")).ok()?;
    Some(link.to_string_lossy().into_owned())
}

fn all_namespaces() -> BTreeSet<String> {
    processes().filter_map(namespace_of).collect()
}

fn interfaces() -> BTreeSet<String> {
    let entries = std::fs::read_dir("/sys/class/net").expect("there are network interfaces");
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}
