//! The page of a running gateway: its history across restarts, and its appearance in a browser.

use super::bed::{Bed, INSIDE};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const ADDRESS: &str = "127.0.0.1:9821";

fn config(bed: &Bed) -> PathBuf {
    let classes = "[[class]]\nname = \"work\"\nweight = 2\nmatch.dscp = [10]\n[[class]]\nname = \"play\"\nmatch.dscp = [18]\n";
    let page = format!("[telemetry.page]\naddress = \"{ADDRESS}\"\nhistory = \"state/page.sqlite\"\n");
    let text = bed.text().replace("discipline = \"faba\"\n", "flows = \"5-tuple\"\n");
    let text =
        if std::env::var_os("FAIRWIRE_PICTURE").is_some() { text.replace(&bed.name, "cabin") } else { text };
    bed.write("gateway.toml", &format!("{text}{classes}{page}"))
}

fn get(bed: &Bed, path: &str) -> String {
    let place = ADDRESS.replace(':', "/");
    let script = format!(
        "exec 3<>/dev/tcp/{place}; printf 'GET {path} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3"
    );
    let output = bed.output(Command::new("bash").args(["-c", &script]));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
}

fn seconds(bed: &Bed) -> Vec<u64> {
    let past: serde_json::Value =
        serde_json::from_str(&get(bed, "/api/history?span=now")).unwrap_or_default();
    let at = past["ways"][0]["at_s"].as_array().cloned().unwrap_or_default();
    at.iter().filter_map(serde_json::Value::as_u64).collect()
}

fn wait_for_seconds(bed: &Bed, count: usize) -> Vec<u64> {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let at = seconds(bed);
        if at.len() >= count {
            return at;
        }
        assert!(Instant::now() < until, "waited 20 s in vain for {count} seconds of history: {at:?}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_history_survives_a_restart_and_a_corrupt_one_is_set_aside() {
    let Some(bed) = Bed::new("past") else { return };
    let config = config(&bed);
    let gateway = bed.start(&config);
    let before = wait_for_seconds(&bed, 2);
    assert!(gateway.end().0.success());
    let gateway = bed.start(&config);
    assert_eq!(wait_for_seconds(&bed, before.len() + 1)[..before.len()], before);
    assert!(gateway.end().0.success());
    let file = bed.folder.path().join("state/page.sqlite");
    // A write-ahead log would still contain the data that the next line overwrites.
    assert!(!bed.folder.path().join("state/page.sqlite-wal").exists());
    std::fs::write(&file, "no database at all, and longer than its header of a hundred bytes. ".repeat(99))
        .expect("root may");
    let gateway = bed.start(&config);
    wait_for_seconds(&bed, 1);
    let (status, said) = gateway.end();
    assert!(status.success());
    assert!(file.with_extension("sqlite.broken").exists(), "{said}");
}

fn fault(bed: &Bed) -> Option<String> {
    let past: serde_json::Value = serde_json::from_str(&get(bed, "/api/history?span=now")).expect("JSON");
    past["fault"].as_str().map(str::to_owned)
}

fn wait_for_fault(bed: &Bed, is_wanted: impl Fn(Option<&str>) -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let fault = fault(bed);
        if is_wanted(fault.as_deref()) {
            return;
        }
        assert!(Instant::now() < until, "waited 30 s in vain for another fault than {fault:?}");
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_full_disk_stops_only_the_history_until_there_is_room() {
    let Some(bed) = Bed::new("full") else { return };
    let config = config(&bed);
    let state = bed.folder.path().join("state");
    std::fs::create_dir(&state).expect("the folder is ours");
    let mount = format!("mount -t tmpfs -o size=2m,mode=777 small '{}'", state.display());
    let run = format!("exec '{}' run '{}'", env!("CARGO_BIN_EXE_fairwire-gateway"), config.display());
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &format!("{mount} && {run}")]);
    let gateway = bed.begin_command(command);
    gateway.wait_for("forwards between");
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    wait_for_seconds(&bed, 2);
    assert_eq!(fault(&bed), None);
    let filler = PathBuf::from(format!("/proc/{}/root{}/filler", gateway.pid(), state.display()));
    let full = std::fs::write(&filler, vec![0; 4 << 20]).expect_err("there is no room for that");
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    wait_for_fault(&bed, |fault| fault.is_some_and(|fault| fault.contains("the history is not written")));
    hosts.wait_until_it_passes();
    let before = seconds(&bed).len();
    assert!(before >= 2, "what was written is shown");
    std::fs::remove_file(&filler).expect("it is ours");
    wait_for_fault(&bed, |fault| fault.is_none());
    wait_for_seconds(&bed, before + 1);
    assert!(gateway.end().0.success());
}

/// Sends at 1.5 times the rate of the link.
fn load(bed: &Bed, stop: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let sender = |(dscp, packets): (u8, u32)| {
        let outside = &bed.hosts.source;
        let socket = outside.at(|| UdpSocket::bind("0.0.0.0:0").expect("a free port"));
        rustix::net::sockopt::set_ip_tos(&socket, dscp << 2).expect("any process may");
        let stop = stop.clone();
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for _ in 0..packets {
                    // Errors are ignored: the interface's queue may be full.
                    let _ = socket.send_to(&[0; 1200], (INSIDE, 7000));
                }
                thread::sleep(Duration::from_millis(5));
            }
        })
    };
    // One packet per 5 ms is about 2 Mbit/s.
    [(10, 7), (18, 6), (0, 2)].into_iter().map(sender).collect()
}

#[test]
fn a_browser_shows_the_measurements_of_the_gateway() {
    // `.ci/web-test` names the browser.
    let Some(browser) = std::env::var_os("FAIRWIRE_BROWSER") else { return };
    let Some(bed) = Bed::new("page") else { return };
    let gateway = bed.start(&config(&bed));
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    let stop = Arc::new(AtomicBool::new(false));
    let senders = load(&bed, &stop);
    wait_for_seconds(&bed, 3);
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let mut look = Command::new("npx");
    look.args(["playwright", "test", "live-gateway"]).current_dir(web);
    look.env("FAIRWIRE_BROWSER", browser).env("FAIRWIRE_PAGE", format!("http://{ADDRESS}/"));
    let looked = bed.output(&mut look);
    stop.store(true, Ordering::Relaxed);
    senders.into_iter().for_each(|sender| sender.join().expect("it does not panic"));
    let said = String::from_utf8_lossy(&looked.stdout).into_owned();
    assert!(looked.status.success(), "{said}\n{}", String::from_utf8_lossy(&looked.stderr));
    assert!(gateway.end().0.success());
}
