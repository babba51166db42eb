//! Interfaces that disappear, appear, are late, or are renamed.

use super::bed::Bed;
use fairwire_testbed::bed;
use rustix::process::Signal;
use std::thread;
use std::time::Duration;

#[test]
fn a_recreated_interface_is_used_again() {
    let Some(bed) = Bed::new("gone") else { return };
    let gateway = bed.start(&bed.config(""));
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    bed.remove_inside();
    thread::sleep(Duration::from_millis(300));
    bed.make_inside();
    hosts.wait_until_it_passes();
    let status = bed.status(&bed.config(""));
    assert!(status["ports"][0]["outages"].as_u64() >= Some(1), "{}", status["ports"]);
    let changes = &status["changes"];
    assert!(changes["interface-down"].as_u64() >= Some(1), "{changes}");
    assert!(changes["interface-up"].as_u64() >= Some(1), "{changes}");
    assert!(gateway.end().0.success());
}

#[test]
fn interface_states_follow_the_kernel_and_each_change_is_reported_once() {
    let Some(bed) = Bed::new("state") else { return };
    let config = bed.config("");
    bed.set_inside(false);
    let gateway = bed.begin(&["run", config.to_str().expect("UTF-8")]);
    gateway.wait_for_both(["`g1` is down", "forwards between"]);
    bed.wait_for_port(&config, false, 0);
    bed.set_inside(true);
    gateway.wait_for("`g1` is up again");
    // The test sends no packet, because the state must not depend on packets.
    bed.wait_for_port(&config, true, 0);
    bed.set_inside(false);
    gateway.wait_for("`g1` is down");
    bed.wait_for_port(&config, false, 1);
    bed.set_inside(true);
    gateway.wait_for("`g1` is up again");
    bed.wait_for_port(&config, true, 1);
    bed.hosts.sink.take_down(bed::HOST.index).expect("root may");
    gateway.wait_for("`g1` has no carrier");
    bed.wait_for_port(&config, false, 2);
    bed.hosts.sink.bring_up(bed::HOST.index).expect("root may");
    gateway.wait_for("`g1` is up again");
    bed.wait_for_port(&config, true, 2);
    bed.remove_inside();
    gateway.wait_for("`g1` is gone");
    bed.wait_for_port(&config, false, 3);
    bed.make_inside();
    gateway.wait_for("`g1` is up again");
    bed.wait_for_port(&config, true, 3);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("`g1` is"), "shown once: {said}");
}

#[test]
fn the_gateway_waits_for_a_late_interface_if_configured() {
    let Some(bed) = Bed::new("late") else { return };
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    bed.rename_inside("later0");
    let refused = bed.call(&["run", path]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "without the word it is refused: {said}");
    assert!(said.contains("allowed: `later0`"), "neither the other side's nor what cannot do: {said}");

    let gateway = bed.begin(&["run", "--wait", path]);
    gateway.wait_for("waiting for `g1`");
    let (exit, said) = gateway.end();
    assert!(exit.success(), "shown to end while it waits: {exit} {said}");

    let patient = bed.config("[safety]\npatience = \"300 ms\"\n");
    let mut gateway = bed.begin(&["run", "--wait", patient.to_str().expect("UTF-8")]);
    gateway.wait_for("interface g1 is gone");
    assert_eq!(gateway.child.wait().expect("it is ours").code(), Some(1), "systemd starts it again");

    let gateway = bed.begin(&["run", "--wait", bed.config("").to_str().expect("UTF-8")]);
    gateway.wait_for("waiting for `g1`");
    bed.rename_inside("g1");
    gateway.wait_for("forwards between");
    bed.hosts().wait_until_it_passes();
    assert!(gateway.end().0.success());
}

#[test]
fn a_device_has_one_gateway_under_any_name_and_the_guard_uses_its_index() {
    let Some(bed) = Bed::new("renamed") else { return };
    let config = bed.config("[safety]\non_failure = \"open\"\nwatchdog = \"2 s\"\n");
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    bed.rename_inside("other0");
    gateway.wait_for("is called `other0` now");
    let text = bed.text().replace("name = \"", "name = \"second-").replace("\"g1\"", "\"other0\"");
    let second = bed.write("second.toml", &text);
    let second = second.to_str().expect("UTF-8");
    let noted = bed.call(&["check", second]);
    let said = String::from_utf8_lossy(&noted.stdout).into_owned();
    assert!(noted.status.success() && said.contains("`other0` is in use by process"), "{said}");
    let folder = tempfile::tempdir().expect("a folder");
    let mut run = bed.fairwire(&["run", second]);
    let refused = bed.output(run.env("XDG_RUNTIME_DIR", folder.path()));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("`other0` is taken by process"), "{said}");
    hosts.drain();
    gateway.signal(Signal::KILL);
    gateway.wait_for("are bridged by fwbr");
    hosts.wait_until_it_passes();
}
