//! Several links in one process.

use super::bed::Bed;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::port::Port as _;
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The second link of a bed: between two pairs of interfaces at the gateway's host, whose far ends
/// are here.
struct Second {
    config: PathBuf,
    outside: AfPacket,
    inside: AfPacket,
}

fn ip(bed: &Bed, line: &str) {
    let output = bed.output(Command::new("ip").args(line.split(' ')));
    assert!(output.status.success(), "ip {line}: {}", String::from_utf8_lossy(&output.stderr));
}

impl Second {
    fn new(bed: &Bed) -> Second {
        for [near, far] in [["p0", "p1"], ["q0", "q1"]] {
            ip(bed, &format!("link add {near} type veth peer name {far}"));
            [near, far].into_iter().for_each(|name| ip(bed, &format!("link set {name} up")));
        }
        let text = bed.text().replace(&bed.name, &format!("{}-2", bed.name));
        let text = text.replace("\"g1\"", "\"q0\"").replace("\"g0\"", "\"p0\"").replace("faba", "drr+lqd");
        let config = bed.write("second.toml", &format!("{text}[safety]\npatience = \"1 s\"\n"));
        let open = |name| bed.hosts.gateway.at(|| AfPacket::open(name)).expect("root may");
        Second { config, outside: open("p1"), inside: open("q1") }
    }

    fn passes(&mut self, patience: Duration) -> bool {
        let mut frame = vec![0x11; 900];
        frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5]);
        let until = Instant::now() + patience;
        let mut has_come = false;
        while !has_come && Instant::now() < until {
            self.outside.transmit(&frame);
            thread::sleep(Duration::from_millis(10));
            self.inside.receive(&mut |came, _| has_come |= came == frame).expect("it is there");
        }
        has_come
    }
}

const LONG: Duration = Duration::from_secs(10);

#[test]
fn two_links_of_one_process_reload_apart_and_one_that_ends_leaves_the_other() {
    let Some(bed) = Bed::new("links") else { return };
    let first = bed.config("");
    let mut second = Second::new(&bed);
    let [one, two] = [&first, &second.config].map(|path| path.to_str().expect("UTF-8").to_owned());
    let gateway = bed.begin(&["run", &one, &two]);
    gateway.wait_for_both(["forwards between g1 and g0", "forwards between q0 and p0"]);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    assert!(second.passes(LONG));

    // Each has a socket of its own, and a reload of one leaves the other alone.
    let text = std::fs::read_to_string(&second.config).expect("it is there");
    std::fs::write(&second.config, text.replace("20 Mbit/s", "30 Mbit/s")).expect("it is ours");
    assert!(bed.call(&["reload", &two]).status.success());
    assert_eq!(bed.status(&first)["reloads"], 0);
    assert_eq!(bed.status(&second.config)["ways"][0]["rate_bps"], 30_000_000);
    // A signal is for all.
    gateway.signal(Signal::HUP);
    gateway.wait_for_both(["reloaded: 0 changes", "reloaded: 0 changes"]);

    ip(&bed, "link del q0");
    gateway.wait_for("-2` has ended: interface q0 is gone; the others go on");
    hosts.wait_until_it_passes();
    assert_eq!(bed.call(&["status", &two]).status.code(), Some(2), "its socket is gone");
    let (exit, said) = gateway.end();
    assert_eq!(exit.code(), Some(1), "{said}");
    assert!(said.contains("interface q0 is gone") && !said.contains("MISSING"), "{said}");
    // The guard of the one that failed bridges no more than is there; it leaves on request.
    let guard = format!("/run/fairwire/{}-2.guard", bed.name);
    if let Ok(mut guard) = std::os::unix::net::UnixStream::connect(guard) {
        let _ = std::io::Read::read(&mut guard, &mut [0]);
    }
}

#[test]
fn what_two_links_may_not_share_is_refused_and_nothing_begins() {
    let Some(bed) = Bed::new("apart") else { return };
    let first = bed.config("");
    let second = bed.write("second.toml", &bed.text().replace(&bed.name, "another"));
    let [one, two] = [&first, &second].map(|path| path.to_str().expect("UTF-8").to_owned());
    for (configs, part) in [
        (["run", &one, &two], "second.toml:4:10"), // the inside interface
        (["run", &one, &one], "gateway.toml:2:8"), // the name
    ] {
        let output = bed.call(&configs);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(part), "{said}");
        assert!(!bed.socket_file().exists());
    }
}
