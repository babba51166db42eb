//! A gateway's life: reports, reloads, captures and refusals.

use super::bed::{Bed, Gateway, Hosts, INSIDE};
use rustix::process::Signal;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use std::{fs, thread};

#[test]
fn it_forwards_reports_reloads_under_load_refuses_nonsense_and_ends_without_a_trace() {
    let Some(bed) = Bed::new("life") else { return };
    let (links, locks) = (bed.links(), locks());
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();

    // The rights are CAP_NET_ADMIN (bit 12) and CAP_NET_RAW (bit 13).
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(gateway.status(set), "0000000000003000", "{set}");
    }
    assert_eq!((gateway.status("NoNewPrivs"), gateway.status("Seccomp")), ("1".into(), "2".into()));
    assert!(!gateway.status("Uid").contains("\t0"), "it is root's no more: {}", gateway.status("Uid"));
    assert_eq!(gateway.status("Groups"), "");
    let socket = bed.socket_file();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&socket).expect("it is there").permissions());
    assert_eq!(mode & 0o777, 0o600);

    let status = bed.call(&["status", path, "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(
        (&shown["ways"][0]["discipline"], &shown["ways"][0]["rate_bps"]),
        (&"faba".into(), &20_000_000.into())
    );

    // Counts are copied at intervals, so the first copy may be older than the first packet.
    let has_counted = || {
        let counts = bed.call(&["status", path, "--flows", "--format", "json"]);
        let shown: serde_json::Value = serde_json::from_slice(&counts.stdout).expect("JSON");
        shown["ways"][0]["totals"]["packets_out"].as_u64() > Some(0)
    };
    assert!((0..20).any(|_| has_counted() || {
        thread::sleep(Duration::from_millis(100));
        false
    }));
    assert!(bed.call(&["status", path, "--flows", "5"]).status.success());

    reload_under_load(&bed, &gateway, &hosts, path);
    a_rate_holds_until_the_next_reload(&bed, &gateway, path);
    second_instances_are_refused(&bed, path);
    captures_are_written_with_the_rights_that_are_left(&bed, &gateway, path);

    let mut stream = UnixStream::connect(&socket).expect("it listens");
    stream
        .write_all(b"\xff\0 nonsense\n{\"request\":\"counts\",\"flows\":10001}\n{\"request\":\"status\"}\n")
        .expect("it reads");
    let answers: Vec<String> = BufReader::new(stream).lines().take(3).map_while(Result::ok).collect();
    assert!(answers[0].contains("no request") && answers[1].contains("at most 10000"), "{answers:?}");
    assert!(answers[2].contains("snapshot"), "{answers:?}");

    let (exit, said) = gateway.end();
    assert!(exit.success() && said.contains("download:") && !said.contains("MISSING"), "{exit} {said}");
    assert!(!socket.exists());
    assert_eq!((bed.links(), self::locks()), (links, locks));
    for command in [["status", path].as_slice(), &["reload", path], &["top", "--once", path]] {
        let silent = bed.call(command);
        let said = String::from_utf8_lossy(&silent.stderr).into_owned();
        assert_eq!(silent.status.code(), Some(2), "no gateway answers {command:?}: {said}");
        assert!(said.contains("no gateway answers at") && said.contains("start it with"), "{said}");
    }
}

fn locks() -> Vec<String> {
    let entries = fs::read_dir("/run/fairwire").into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.contains("-life"));
    names.sort();
    names
}

fn reload_under_load(bed: &Bed, gateway: &Gateway, hosts: &Hosts, path: &str) {
    let is_over = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        let sender = hosts.outside.try_clone().expect("a socket");
        let is_over = &is_over;
        scope.spawn(move || {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                for _ in 0..20 {
                    let _ = sender.send_to(&[0; 1000], (INSIDE, 7000)); // 1.6 times the link
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        thread::sleep(Duration::from_millis(200));
        for (number, discipline) in ["drr", "tail-drop", "codel", "faba"].into_iter().enumerate() {
            bed.config(&format!("[safety]\nframes = {}\n", 4000 + 100 * number));
            let text = fs::read_to_string(path)
                .expect("it is there")
                .replace("\"faba\"", &format!("\"{discipline}\""));
            bed.write("gateway.toml", &text);
            let done = bed.call(&["reload", path]);
            let said = String::from_utf8_lossy(&done.stdout).into_owned();
            assert!(done.status.success() && said.contains("every packet has its place"), "{done:?}");
            assert!(!said.contains("\n0 packets that waited"), "nothing waited: {said}");
        }
        bed.config("");
        gateway.signal(Signal::HUP);
        gateway.wait_for("every packet has its place");
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    for (wrong, word) in
        [("rate = \"20 Mbit/s\"\ndiscipline = \"fabba\"", "fabba"), ("rate = \"20 parsecs\"", "parsecs")]
    {
        let text = bed.text().replace("rate = \"20 Mbit/s\"\ndiscipline = \"faba\"", wrong);
        bed.write("gateway.toml", &text);
        let refused = bed.call(&["reload", path]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(word) && said.contains("nothing was changed"), "{said}");
        gateway.wait_for("not reloaded");
    }
    bed.write("gateway.toml", &bed.text().replace("inside = \"g1\"", "inside = \"other\""));
    let refused = bed.call(&["reload", path]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && said.contains("cannot change while the gateway runs"),
        "{said}"
    );
    bed.config("");
    hosts.drain();
    hosts.wait_until_it_passes();
}

fn a_rate_holds_until_the_next_reload(bed: &Bed, gateway: &Gateway, path: &str) {
    let rate = || {
        thread::sleep(Duration::from_millis(100)); // some intervals
        let status = bed.call(&["status", path, "--format", "json"]);
        let shown: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
        shown["ways"][0]["rate_bps"].as_u64()
    };
    let set = bed.call(&["set-rate", path, "download", "4321 kbit/s", "--down", "20 ms"]);
    assert!(set.status.success() && set.stdout == b"done; the rate was 20000000 bit/s\n", "{set:?}");
    gateway.wait_for("rate of download: 20 Mbit/s -> nothing after 0 ms, 4321 kbit/s after 20 ms");
    assert_eq!(rate(), Some(4_321_000));
    let unshaped = bed.call(&["set-rate", path, "upload", "1 Mbit/s"]);
    assert_eq!(unshaped.status.code(), Some(2), "{unshaped:?}");
    gateway.wait_for("refused: nothing is shaped on the way `upload`");
    let done = bed.call(&["reload", path]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(said.contains("rate of download: what the file says, again"), "{said}");
    assert_eq!(rate(), Some(20_000_000));
}

fn captures_are_written_with_the_rights_that_are_left(bed: &Bed, gateway: &Gateway, path: &str) {
    let file = bed.folder.path().join("drops.pcapng");
    let out = file.to_str().expect("UTF-8");
    let written = bed.call(&["capture", path, "--out", out]);
    assert!(written.status.success(), "{written:?}");
    let bytes = fs::read(&file).expect("it was written");
    // A capture file without packets is shorter than 1000 bytes.
    assert!(bytes.len() > 1000, "packets were dropped: {}", bytes.len());
    assert_eq!(bed.call(&["capture", path, "--out", out]).status.code(), Some(2), "it is there already");
    assert_eq!(fs::read(&file).expect("it is there"), bytes);
    let set = bed.call(&["set-weight", path, "stranger", "2"]);
    assert_eq!(set.status.code(), Some(2), "{set:?}");
    gateway.wait_for("refused: there is no class");
    let no_number = bed.call(&["set-weight", path, "unclaimed", "nan"]);
    let said = String::from_utf8_lossy(&no_number.stderr).into_owned();
    assert!(no_number.status.code() == Some(2) && said.contains("0.000001 to 1000000"), "{said}");
}

fn second_instances_are_refused(bed: &Bed, path: &str) {
    let same = bed.call(&["run", path]);
    let said = String::from_utf8_lossy(&same.stderr).into_owned();
    assert!(same.status.code() == Some(2) && said.contains("is taken by the gateway"), "{said}");
    let other = bed
        .write("other.toml", &bed.text().replace("name = \"", "name = \"other-").replace("/socket", "/two"));
    let other = bed.call(&["run", other.to_str().expect("UTF-8")]);
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(
        other.status.code() == Some(2) && said.contains("the interface `g1` is taken by process"),
        "{said}"
    );
    let none = bed.write(
        "none.toml",
        &bed.text()
            .replace("name = \"", "name = \"none-")
            .replace("/socket", "/three")
            .replace("\"g1\"", "\"gone\"")
            .replace("\"g0\"", "\"away\""),
    );
    for command in ["run", "check"] {
        let none = bed.call(&[command, none.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&none.stderr).into_owned();
        assert!(none.status.code() == Some(2) && said.contains("there is no such interface"), "{said}");
        assert!(said.contains("none.toml:4:10]"), "{command} shows the line: {said}");
    }
}

#[test]
fn an_ending_gateway_notifies_a_client_with_a_pending_change() {
    let Some(bed) = Bed::new("ending") else { return };
    // At 64 kbit/s, 200 packets of 84 B take 2.1 s. The gateway runs until they have left.
    let slow = bed.text().replace("20 Mbit/s", "64 kbit/s").replace("faba", "tail-drop");
    let config = bed.write("gateway.toml", &format!("{slow}buffer = \"3 s\"\n"));
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    for number in 0..200_u32 {
        let _ = hosts.outside.send_to(&number.to_be_bytes(), (INSIDE, 7000));
        thread::sleep(Duration::from_millis(2));
    }
    gateway.signal(Signal::TERM);
    thread::sleep(Duration::from_millis(100));
    for command in [["reload", path].as_slice(), &["set-weight", path, "unclaimed", "2"]] {
        let refused = bed.call(command);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains("is about to end"), "{said}");
    }
    assert!(bed.call(&["status", path]).status.success(), "it still reports its state");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}
