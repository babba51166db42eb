//! Gateways without root, and processes with fewer rights than their clients.

use super::bed::{Bed, Gateway, lines_of, mode};
use fairwire_testing::program::Running;
use rustix::process::Signal;
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn it_runs_without_root_where_it_is_given_the_two_capabilities() {
    let Some(bed) = Bed::new("user") else { return };
    let config = bed.config("");
    let folder = bed.folder.path();
    std::os::unix::fs::chown(folder, Some(65534), Some(65534)).expect("root may");
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534"]);
    command.args(["--clear-groups", "--inh-caps=+net_admin,+net_raw", "--ambient-caps=+net_admin,+net_raw"]);
    command.arg("--bounding-set=+net_admin,+net_raw");
    command.args([env!("CARGO_BIN_EXE_fairwire-gateway"), "run"]).arg(&config);
    command.env("XDG_RUNTIME_DIR", folder).stderr(Stdio::piped());
    let mut child = match bed.hosts.gateway.started(|| Running::start(&mut command)) {
        Ok(child) => child,
        Err(error) => return fairwire_testing::skipped(format_args!("a gateway without root: {error}")),
    };
    let lines = lines_of(child.stderr.take().expect("a pipe"));
    let gateway = Gateway { child, lines };
    gateway.wait_for("forwards between");
    bed.hosts().wait_until_it_passes();
    assert_eq!(
        (gateway.status("CapEff"), gateway.status("Seccomp")),
        ("0000000000003000".into(), "2".into())
    );
    assert!(gateway.status("Uid").starts_with("65534"));
    assert!(gateway.end().0.success());
}

#[test]
fn only_forwarding_threads_have_a_real_time_priority() {
    /// The number of the round-robin policy (sched(7)).
    const ROUND_ROBIN: &str = "2";
    let Some(bed) = Bed::new("priority") else { return };
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    // The scheduling policy is field 41 of `stat` (proc_pid_stat(5)).
    let policies = |gateway: &Gateway| -> Vec<(String, String)> {
        let threads = fs::read_dir(format!("/proc/{}/task", gateway.pid())).expect("it runs");
        let texts = threads.map(|thread| fs::read_to_string(thread.expect("it runs").path().join("stat")));
        let policy = |text: String| {
            let (before, after) = text.rsplit_once(") ").expect("a name");
            let name = before.split_once('(').expect("a name").1;
            (name.to_owned(), after.split(' ').nth(41 - 3).expect("a policy").to_owned())
        };
        texts.map(|text| policy(text.expect("it runs"))).collect()
    };
    let raised = |gateway: &Gateway| -> Vec<String> {
        let raised = policies(gateway).into_iter().filter(|(_, policy)| policy == ROUND_ROBIN);
        raised.map(|(name, _)| name).collect()
    };
    let gateway = bed.begin(&["run", path]);
    let line = gateway.wait_for("forward");
    if line.contains("no real-time priority") {
        fairwire_testing::skipped(format_args!("the priority of forwarding: {line}"));
    } else {
        assert_eq!(raised(&gateway), ["datapath"], "{:?}", policies(&gateway));
    }
    assert!(gateway.end().0.success());
    let gateway = bed.begin(&["run", path, "--no-real-time"]);
    gateway.wait_for("forwards between");
    assert!(raised(&gateway).is_empty(), "{:?}", policies(&gateway));
    assert!(gateway.end().0.success());
}

#[test]
fn members_of_a_group_may_read_over_the_socket_and_change_nothing() {
    let Some(bed) = Bed::new("readers") else { return };
    let socket = bed.folder.path().join("own.sock");
    let keys = format!("socket = \"{}\"\nreaders = \"nogroup\"\ninterval =", socket.display());
    let config = bed.write("gateway.toml", &bed.text().replace("interval =", &keys));
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let as_other = |group: u32, arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65533", &format!("--regid={group}"), "--clear-groups"]);
        command.arg(env!("CARGO_BIN_EXE_fairwire-gateway")).args(arguments);
        let output = bed.output(&mut command);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = as_other(65534, &["status", path]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = as_other(65534, &["set-weight", path, "unclaimed", "2"]);
    assert!(code == Some(2) && said.contains("may only read"), "{said}");
    let (code, said) = as_other(65532, &["status", path]);
    assert!(code == Some(2) && said.contains("telemetry.readers"), "{said}");
    assert!(bed.call(&["reload", path]).status.success());
    assert!(gateway.end().0.success());
}

#[test]
fn clients_hand_over_files_that_the_process_may_not_open() {
    let Some(bed) = Bed::new("handed") else { return };
    let rows = "name,addresses,weight\nann,10.77.0.2,1\nbob,10.77.0.3,1\n";
    let sheet = bed.write("people.csv", rows);
    let socket = bed.folder.path().join("own.sock");
    let text = bed.text().replace("\"faba\"", "\"hfaba\"");
    let text = text.replace("interval =", &format!("socket = \"{}\"\ninterval =", socket.display()));
    let config = bed.write("gateway.toml", &format!("{text}[subscribers]\nfile = \"people.csv\"\n"));
    let path = config.to_str().expect("UTF-8");
    mode(bed.folder.path(), 0o700);
    let checked = bed.call(&["check", path]);
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success() && said.contains("may not read"), "{said}");

    let gateway = bed.begin(&["run", path]);
    gateway.wait_for("note: the process runs as the user");
    gateway.wait_for("forwards between");
    fs::write(&sheet, rows.replace("ann,10.77.0.2,1", "ann,10.77.0.2,3")).expect("it is ours");
    gateway.signal(Signal::HUP);
    let line = gateway.wait_for("not reloaded");
    assert!(line.contains("Permission denied") && line.contains("as a user who may"), "{line}");
    let done = bed.call(&["reload", path]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("ann: 1 -> 3"), "{done:?}");
    gateway.wait_for("reloaded: 1 change,");
    let set = bed.call(&["set-weight", path, "bob", "2"]);
    assert!(set.status.success(), "{set:?}");
    gateway.wait_for("weight of bob: 1 -> 2");

    fs::write(&sheet, "name,addresses\nann,10.77.0\n,10.77.0.3\n").expect("it is ours");
    let refused = bed.call(&["reload", path]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("people.csv:2:5"), "{said}");
    assert!(said.contains("people.csv:3:1") && said.contains("nothing was changed"), "{said}");

    let out = bed.folder.path().join("drops.pcapng");
    let written = bed.call(&["capture", path, "--out", out.to_str().expect("UTF-8")]);
    assert!(written.status.success(), "{written:?}");
    let about = fs::metadata(&out).expect("it is there");
    assert!(about.len() > 0);
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777, 0o600);
    let names = fs::read_dir(bed.folder.path()).expect("it is ours").count();
    assert_eq!(names, 4, "no part is left behind");
    fs::write(&sheet, rows).expect("it is ours");
    assert!(gateway.end().0.success());

    // A socket that the gateway could not remove must not prevent the next start.
    assert!(socket.exists());
    assert_eq!(bed.call(&["status", path]).status.code(), Some(2));
    assert!(bed.start(&config).end().0.success());
}
