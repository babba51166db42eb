//! The real `fairwire gateway run` between two hosts made of network namespaces. It needs root; elsewhere it says so, loudly, and passes.
//!
//! Everything runs in namespaces that end with this test; this process stays where it is.

#![allow(clippy::disallowed_methods, reason = "real processes take real time")]

use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::link::About;
use fairwire_linux::netlink::{Address, LOOPBACK};
use fairwire_linux::port::Port;
use fairwire_testbed::bed::{self, Side};
use fairwire_testbed::host::Host;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Two hosts and the network between them, in which the gateway runs.
struct Bed {
    name: String,
    folder: tempfile::TempDir,
    /// The source is outside, the sink inside.
    hosts: bed::Bed,
}

const INSIDE: Ipv4Addr = bed::SINK_ADDRESS;
const MTU: u32 = 1500;

impl Bed {
    /// `None`, and a loud word, where it cannot be made.
    fn new(name: &str) -> Option<Self> {
        let name = format!("fwt-{}-{name}", std::process::id());
        // On a thread of its own, which changes its network.
        let made = thread::spawn(|| bed::Bed::new(MTU)).join().expect("it does not panic");
        let hosts = match made {
            Ok(hosts) => hosts,
            Err(why) => {
                fairwire_testing::skipped(format_args!("the running gateway: {why}"));
                return None;
            }
        };
        let bed = Bed { name, folder: tempfile::tempdir().expect("a folder"), hosts };
        // Not root's alone: the process goes on as another user.
        mode(bed.folder.path(), 0o755);
        // The kernel notices carriers up to a second later.
        let until = Instant::now() + Duration::from_secs(10);
        while bed.links().iter().any(|(_, about)| !about.is_running) && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        Some(bed)
    }

    fn config(&self, extra: &str) -> PathBuf {
        self.write("gateway.toml", &format!("{}{extra}", self.text()))
    }

    fn text(&self) -> String {
        format!(
            "format = 2\nname = \"{}\"\n[wire]\ninside = \"g1\"\noutside = \"g0\"\n[telemetry]\ninterval = \"10 ms\"\n\
             [download]\nrate = \"20 Mbit/s\"\ndiscipline = \"faba\"\n",
            self.name,
        )
    }

    fn socket_file(&self) -> PathBuf {
        PathBuf::from(format!("/run/fairwire/{}.sock", self.name))
    }

    /// One of the two ports, as the status says.
    fn port(&self, config: &Path, place: usize) -> serde_json::Value {
        let status = self.ask(&["status", config.to_str().expect("UTF-8"), "--format", "json"]);
        let told: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
        told["ports"][place].clone()
    }

    /// Waits until the status says so of the inside port.
    fn wait_for_port(&self, config: &Path, is_up: bool, outages: u64) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let port = self.port(config, 0);
            if (&port["is_up"], &port["outages"]) == (&is_up.into(), &outages.into()) {
                return;
            }
            assert!(Instant::now() < until, "waited 20 s in vain for {is_up} and {outages}: {port}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Takes the gateway's inside interface down, or brings it up.
    fn set_inside(&self, is_up: bool) {
        let (gateway, index) = (&self.hosts.gateway, Side::Right.end().index);
        if is_up { gateway.bring_up(index) } else { gateway.take_down(index) }.expect("root may");
    }

    /// Removes that interface, and with it the other end of its wire.
    fn remove_inside(&self) {
        self.hosts.gateway.remove(Side::Right.end().index).expect("root may");
    }

    /// Makes both ends anew.
    fn make_inside(&self) {
        self.hosts.join(Side::Right, MTU).expect("root may");
    }

    fn rename_inside(&self, name: &str) {
        self.hosts.gateway.rename(Side::Right.end().index, name).expect("root may");
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("the folder is ours");
        path
    }

    fn fairwire(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairwire"));
        command.arg("gateway").args(arguments);
        command
    }

    /// Runs a program at the gateway's host.
    fn output(&self, command: &mut Command) -> Output {
        self.hosts.gateway.started(|| command.output()).expect("it runs")
    }

    fn ask(&self, arguments: &[&str]) -> Output {
        self.output(&mut self.fairwire(arguments))
    }

    fn start(&self, config: &Path) -> Gateway {
        let gateway = self.begin(&["run", config.to_str().expect("UTF-8")]);
        gateway.wait_for("forwards between");
        gateway
    }

    /// Starts one, and waits for nothing.
    fn begin(&self, arguments: &[&str]) -> Gateway {
        let mut command = self.fairwire(arguments);
        command.stderr(Stdio::piped());
        let mut child = self.hosts.gateway.started(|| command.spawn()).expect("it starts");
        let lines = lines_of(child.stderr.take().expect("a pipe"));
        Gateway { child, lines }
    }

    /// A socket on a host.
    fn socket(host: &Host, address: Ipv4Addr) -> UdpSocket {
        let socket = host.at(|| UdpSocket::bind((address, 7000)).expect("a free port"));
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("above zero");
        socket
    }

    fn hosts(&self) -> Hosts {
        let bed::Bed { source, sink, .. } = &self.hosts;
        Hosts { inside: Bed::socket(sink, INSIDE), outside: Bed::socket(source, bed::SOURCE_ADDRESS) }
    }

    /// The interfaces of the gateway's host, and what the kernel says of each.
    fn links(&self) -> Vec<(String, About)> {
        self.hosts.gateway.at(|| self.hosts.gateway.interfaces()).expect("it is there")
    }

    /// Are the two interfaces bridged?
    fn is_bridged(&self) -> bool {
        self.links().iter().any(|(name, _)| name.starts_with("fwbr"))
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // After a check that failed there may be a guard: it leaves when it is asked, and says so by the end of the stream. The hosts go with
        // the last process in them.
        if let Ok(mut guard) = UnixStream::connect(format!("/run/fairwire/{}.guard", self.name)) {
            let _ = guard.read(&mut [0]);
        }
    }
}

fn mode(path: &Path, bits: u32) {
    let bits = std::os::unix::fs::PermissionsExt::from_mode(bits);
    fs::set_permissions(path, bits).expect("it is ours");
}

fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// A running gateway, killed when it is dropped.
struct Gateway {
    child: Child,
    lines: Receiver<String>,
}

impl Gateway {
    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("not zero");
        kill_process(pid, signal).expect("it is ours");
    }

    /// Waits for a line on stderr with `part` in it.
    fn wait_for(&self, part: &str) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            if line.contains(part) {
                return line;
            }
            seen.push(line);
        }
        panic!("waited 20 s in vain for `{part}`; it said: {seen:#?}");
    }

    /// Waits for two lines, in either order.
    fn wait_for_both(&self, parts: [&str; 2]) {
        let until = Instant::now() + Duration::from_secs(20);
        let mut missing = parts.to_vec();
        while let Ok(line) = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            missing.retain(|part| !line.contains(part));
            if missing.is_empty() {
                return;
            }
        }
        panic!("waited 20 s in vain for {missing:?}");
    }

    fn end(mut self) -> (std::process::ExitStatus, String) {
        self.signal(Signal::TERM);
        let status = self.child.wait().expect("it is ours");
        (status, self.lines.iter().collect::<Vec<_>>().join("\n"))
    }

    fn status(&self, key: &str) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.unwrap_or_default().trim().to_owned()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Hosts {
    inside: UdpSocket,
    outside: UdpSocket,
}

impl Hosts {
    /// Sends one datagram from the outside to the inside; does it come, in 20 ms?
    fn passes(&self, number: u32) -> bool {
        // A host that is not there yet is asked for again.
        let _ = self.outside.send_to(&number.to_be_bytes(), (INSIDE, 7000));
        let mut bytes = [0; 64];
        self.inside.recv(&mut bytes).is_ok()
    }

    /// How long it takes until a datagram comes; at most 20 s. A number higher than any before is waited for.
    fn wait_until_it_passes(&self) -> Duration {
        let start = Instant::now();
        let mut number = start.elapsed().as_nanos() as u32;
        while start.elapsed() < Duration::from_secs(20) {
            number = number.wrapping_add(1);
            if self.passes(number) {
                return start.elapsed();
            }
        }
        panic!("nothing came through for 20 s");
    }

    /// Forgets what has come.
    fn drain(&self) {
        let mut bytes = [0; 64];
        while self.inside.recv(&mut bytes).is_ok() {}
    }
}

#[test]
fn it_forwards_tells_reloads_under_load_refuses_nonsense_and_ends_without_a_trace() {
    let Some(bed) = Bed::new("life") else { return };
    let (links, locks) = (bed.links(), locks());
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();

    // Rights: CAP_NET_ADMIN is 12, CAP_NET_RAW 13.
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

    let status = bed.ask(&["status", path, "--format", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert_eq!(
        (&told["ways"][0]["discipline"], &told["ways"][0]["rate_bps"]),
        (&"faba".into(), &20_000_000.into())
    );

    let counts = bed.ask(&["status", path, "--flows", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&counts.stdout).expect("JSON");
    assert!(told["ways"][0]["totals"]["packets_out"].as_u64() > Some(0), "{told}");
    assert!(bed.ask(&["status", path, "--flows", "5"]).status.success());

    reload_under_load(&bed, &gateway, &hosts, path);
    second_instances_are_refused(&bed, path);
    captures_are_written_with_the_rights_that_are_left(&bed, &gateway, path);

    // What is no request is refused, and the next is answered.
    let mut stream = UnixStream::connect(&socket).expect("it listens");
    stream
        .write_all(b"\xff\0 nonsense\n{\"ask\":\"counts\",\"flows\":10001}\n{\"ask\":\"status\"}\n")
        .expect("it reads");
    let answers: Vec<String> = BufReader::new(stream).lines().take(3).map_while(Result::ok).collect();
    assert!(answers[0].contains("no request") && answers[1].contains("at most 10000"), "{answers:?}");
    assert!(answers[2].contains("snapshot"), "{answers:?}");

    let (exit, said) = gateway.end();
    assert!(exit.success() && said.contains("download:") && !said.contains("MISSING"), "{exit} {said}");
    assert!(!socket.exists());
    assert_eq!((bed.links(), self::locks()), (links, locks));
    for command in [["status", path].as_slice(), &["reload", path], &["top", "--once", path]] {
        let silent = bed.ask(command);
        let said = String::from_utf8_lossy(&silent.stderr).into_owned();
        assert_eq!(silent.status.code(), Some(2), "nobody answers {command:?}: {said}");
        assert!(said.contains("no gateway answers at") && said.contains("is the gateway running?"), "{said}");
    }
}

/// Files in the folder of locks; those of other tests that run at the same time have another process's number in them.
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
            let done = bed.ask(&["reload", path]);
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
        let refused = bed.ask(&["reload", path]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(word) && said.contains("nothing was changed"), "{said}");
        gateway.wait_for("not reloaded");
    }
    bed.write("gateway.toml", &bed.text().replace("inside = \"g1\"", "inside = \"other\""));
    let refused = bed.ask(&["reload", path]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && said.contains("cannot change while the gateway runs"),
        "{said}"
    );
    bed.config("");
    hosts.drain();
    hosts.wait_until_it_passes();
}

fn captures_are_written_with_the_rights_that_are_left(bed: &Bed, gateway: &Gateway, path: &str) {
    let file = bed.folder.path().join("drops.pcapng");
    let out = file.to_str().expect("UTF-8");
    let written = bed.ask(&["capture", path, "--out", out]);
    assert!(written.status.success(), "{written:?}");
    let bytes = fs::read(&file).expect("it was written");
    // Its head has fewer; how many packets were dropped depends on the machine.
    assert!(bytes.len() > 1000, "packets were dropped: {}", bytes.len());
    assert_eq!(bed.ask(&["capture", path, "--out", out]).status.code(), Some(2), "it is there already");
    assert_eq!(fs::read(&file).expect("it is there"), bytes);
    let weighed = bed.ask(&["weigh", path, "somebody", "2"]);
    assert_eq!(weighed.status.code(), Some(2), "{weighed:?}");
    gateway.wait_for("refused: there is no class");
    let no_number = bed.ask(&["weigh", path, "unclaimed", "nan"]);
    let said = String::from_utf8_lossy(&no_number.stderr).into_owned();
    assert!(no_number.status.code() == Some(2) && said.contains("0.000001 to 1000000"), "{said}");
}

fn second_instances_are_refused(bed: &Bed, path: &str) {
    let same = bed.ask(&["run", path]);
    let said = String::from_utf8_lossy(&same.stderr).into_owned();
    assert!(same.status.code() == Some(2) && said.contains("is taken by the gateway"), "{said}");
    let other = bed
        .write("other.toml", &bed.text().replace("name = \"", "name = \"other-").replace("/socket", "/two"));
    let other = bed.ask(&["run", other.to_str().expect("UTF-8")]);
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
        let none = bed.ask(&[command, none.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&none.stderr).into_owned();
        assert!(none.status.code() == Some(2) && said.contains("there is no such interface"), "{said}");
        assert!(said.contains("none.toml:4:10]"), "{command} tells the line: {said}");
    }
}

#[test]
fn a_gateway_that_was_told_to_end_says_so_to_who_wants_a_change() {
    let Some(bed) = Bed::new("ending") else { return };
    // What is sent is inside for two seconds, at 84 B a packet, and the gateway for as long.
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
    for command in [["reload", path].as_slice(), &["weigh", path, "unclaimed", "2"]] {
        let refused = bed.ask(command);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains("was told to end"), "{said}");
    }
    assert!(bed.ask(&["status", path]).status.success(), "it still tells how it is");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}

#[test]
fn one_client_can_neither_lock_the_others_out_nor_keep_the_gateway_from_ending() {
    let Some(bed) = Bed::new("greedy") else { return };
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    let gateway = bed.start(&config);
    let socket = bed.socket_file();
    let connect = || UnixStream::connect(&socket).expect("it listens");
    // More than there are places, all silent.
    let silent: Vec<UnixStream> = (0..40).map(|_| connect()).collect();
    for _ in 0..3 {
        let told = bed.ask(&["status", path]);
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    }
    drop(silent);
    // 9400 reloads of one that does not wait for the answers.
    let mut hog = connect();
    hog.set_nonblocking(true).expect("a socket can");
    let _ = hog.write(&b"{\"ask\":\"reload\"}\n".repeat(9400));
    drop(hog);
    gateway.wait_for("reloaded");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
    // A socket holds 200 KiB of requests at most, and each reload answers a thousand of them.
    let reloads = said.matches("reloaded:").count();
    assert!(reloads < 20, "{reloads} reloads before it ended");
}

/// One line of metrics, asked for with `authorization`: the status line of the answer.
fn metrics(bed: &Bed, address: &str, authorization: &str) -> String {
    let script = format!(
        "exec 3<>/dev/tcp/{address}; printf 'GET /metrics HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n{authorization}\\r\\n' >&3; cat <&3"
    );
    let output = bed.output(Command::new("bash").args(["-c", &script]));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn metrics_beyond_loopback_are_told_to_who_shows_the_token() {
    let Some(bed) = Bed::new("token") else { return };
    bed.write("token", "sesame-7\n");
    let address = Address { ip: [10, 88, 0, 1].into(), prefix_bits: 32 };
    bed.hosts.gateway.add_address(LOOPBACK, address).expect("it is ours");
    let text =
        bed.text().replace("[download]", "metrics = \"10.88.0.1:9820\"\ntoken_file = \"token\"\n[download]");
    let config = bed.write("gateway.toml", &text);
    let missing = bed.write("missing.toml", &text.replace("\"token\"", "\"no-such\""));
    for command in ["check", "run"] {
        let refused = bed.ask(&[command, missing.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && said.contains("missing.toml:9:14]"), "{command}: {said}");
    }
    let gateway = bed.start(&config);
    let address = "10.88.0.1/9820";
    for none in ["", "Authorization: Bearer sesame-8\\r\\n", "Authorization: Basic sesame-7\\r\\n"] {
        let told = metrics(&bed, address, none);
        assert!(told.starts_with("HTTP/1.1 401 ") && !told.contains("fairwire_"), "`{none}`: {told}");
    }
    let told = metrics(&bed, address, "Authorization: Bearer sesame-7\\r\\n");
    assert!(told.starts_with("HTTP/1.1 200 ") && told.contains("fairwire_uptime_seconds"), "{told}");
    assert!(gateway.end().0.success());
}

/// A UDP packet of `ip_bytes` in a frame with the tag of `vlan`.
fn tagged(vlan: u8, ip_bytes: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0x77, 2, 2, 0, 0, 0, 0x77, 1, 0x81, 0, 0, vlan, 0x08, 0];
    let [high, low] = ip_bytes.to_be_bytes();
    frame.extend([0x45, 0, high, low, 0, 0, 0, 0, 64, 17, 0, 0, 10, vlan, 0, 1, 10, vlan, 0, 2]);
    let [high, low] = (ip_bytes - 20).to_be_bytes();
    frame.extend([27, 88, 27, 88, high, low, 0, 0]);
    frame.resize(18 + usize::from(ip_bytes), vlan);
    frame
}

#[test]
fn subscribers_are_told_by_their_vlan_and_tags_go_through_also_in_jumbo_frames() {
    let Some(bed) = Bed::new("vlan") else { return };
    bed.hosts.set_mtu(9000).expect("a veth takes it");
    bed.write("people.csv", "name,addresses,vlan\nann,,10\nbob,,20\n");
    let text = bed.text().replace("[download]", "[subscribers]\nfile = \"people.csv\"\n[download]");
    let config = bed.write("gateway.toml", &text.replace("faba", "hfaba"));
    let gateway = bed.start(&config);
    let open = || AfPacket::open(bed::HOST.name).expect("root may");
    let (mut outside, mut inside) = (bed.hosts.source.at(open), bed.hosts.sink.at(open));
    for (vlan, count) in [(10, 30), (20, 20), (30, 10)] {
        let frame = tagged(vlan, 8900);
        for number in 0..count {
            assert!(outside.transmit(&frame), "VLAN {vlan}, {number}");
            let (mut has_come, until) = (false, Instant::now() + Duration::from_secs(10));
            while !has_come && Instant::now() < until {
                inside.receive(&mut |came, _| has_come |= came == frame).expect("it is there");
            }
            assert!(has_come, "VLAN {vlan}, {number}: as it was sent, its tag included");
        }
    }
    thread::sleep(Duration::from_millis(1200)); // classes are copied twice a second
    let path = config.to_str().expect("UTF-8");
    let status = bed.ask(&["status", path, "--classes", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let classes = told["ways"][0]["classes"].as_array().expect("a list");
    // As counted on the link: tag and header of 18 bytes, and 24 of Ethernet. Neighbours of the hosts may ask for each other.
    for (name, count, more) in [("ann", 30, 0), ("bob", 20, 0), ("unclaimed", 10, 4000)] {
        let class = classes.iter().find(|class| class["class"] == name).expect("it is told");
        let (bytes, sent) = (class["bytes_out"].as_u64().expect("a number"), count * (8900 + 18 + 24));
        assert!((sent..=sent + more).contains(&bytes), "{name}: {bytes} bytes, not {sent}");
    }
    assert_eq!(told["ports"][1]["truncated"], 0);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{exit} {said}");
}

#[test]
fn a_killed_gateway_fails_closed_or_open_and_its_successor_takes_the_bridge_away() {
    let Some(bed) = Bed::new("dead") else { return };
    let links = bed.links();
    let hosts = bed.hosts();

    let gateway = bed.start(&bed.config("[safety]\non_failure = \"closed\"\n"));
    hosts.wait_until_it_passes();
    gateway.signal(Signal::KILL);
    thread::sleep(Duration::from_millis(300));
    hosts.drain();
    assert!(!(0..10).any(|number| hosts.passes(number)), "closed");
    drop(gateway);

    // The names and the socket that the killed one left are no obstacle.
    let open = bed.config("[safety]\non_failure = \"open\"\nwatchdog = \"2 s\"\n");
    let gateway = bed.start(&open);
    hosts.wait_until_it_passes();
    hosts.drain();
    gateway.signal(Signal::KILL);
    let took = hosts.wait_until_it_passes();
    println!("killed: the first packet passed after {} ms", took.as_millis());
    assert!(took < Duration::from_secs(2), "{took:?}");
    let line = gateway.wait_for("are bridged by fwbr");
    assert!(bed.is_bridged(), "{line}");

    let successor = bed.start(&open);
    assert!(!bed.is_bridged(), "its successor forwards");
    hosts.drain();
    hosts.wait_until_it_passes();
    let (exit, said) = successor.end();
    assert!(exit.success(), "{said}");
    assert_eq!(bed.links(), links);
    thread::sleep(Duration::from_millis(100));
    hosts.drain();
    assert!(!(0..10).any(|number| hosts.passes(number)), "ended on purpose: nothing passes");
}

#[test]
fn a_hung_gateway_is_bridged_around_until_it_goes_on_and_nothing_comes_twice() {
    let Some(bed) = Bed::new("hung") else { return };
    let links = bed.links();
    let hosts = bed.hosts();
    let gateway = bed.start(&bed.config("[safety]\non_failure = \"open\"\nwatchdog = \"1 s\"\n"));
    hosts.wait_until_it_passes();
    hosts.drain();
    gateway.signal(Signal::STOP);
    while !gateway.status("State").starts_with('T') {
        thread::sleep(Duration::from_millis(1));
    }
    hosts.drain();
    let took = hosts.wait_until_it_passes();
    println!("stopped: the first packet passed after {} ms, the watchdog waits 1000 ms", took.as_millis());
    assert!(took >= Duration::from_millis(700) && took < Duration::from_secs(4), "{took:?}");
    // These pass through the bridge, and wait at the stopped gateway too.
    let mut seen = std::collections::BTreeMap::<u32, u32>::new();
    let mut note = |bytes: &[u8]| {
        *seen.entry(u32::from_be_bytes(bytes[..4].try_into().expect("four"))).or_default() += 1
    };
    let mut bytes = [0; 64];
    for number in 1_000_000..1_000_200_u32 {
        let _ = hosts.outside.send_to(&number.to_be_bytes(), (INSIDE, 7000));
        if hosts.inside.recv(&mut bytes).is_ok() {
            note(&bytes);
        }
    }
    gateway.signal(Signal::CONT);
    gateway.wait_for("forwards again");
    hosts.wait_until_it_passes();
    while hosts.inside.recv(&mut bytes).is_ok() {
        note(&bytes);
    }
    assert!(seen.len() >= 200, "{}", seen.len());
    assert!(seen.values().all(|count| *count == 1), "came twice: {seen:?}");
    assert_eq!(bed.links(), links, "the bridge is gone");
    let (exit, said) = gateway.end();
    assert!(exit.success(), "{said}");
    assert_eq!(bed.links(), links);
}

#[test]
fn an_interface_that_is_removed_and_made_again_is_used_again() {
    let Some(bed) = Bed::new("gone") else { return };
    let gateway = bed.start(&bed.config(""));
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    bed.remove_inside();
    thread::sleep(Duration::from_millis(300));
    bed.make_inside();
    hosts.wait_until_it_passes();
    let status = bed.ask(&["status", bed.config("").to_str().expect("UTF-8"), "--format", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    assert!(told["ports"][0]["outages"].as_u64() >= Some(1), "{}", told["ports"]);
    assert!(gateway.end().0.success());
}

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
    command.args([env!("CARGO_BIN_EXE_fairwire"), "gateway", "run"]).arg(&config);
    command.env("XDG_RUNTIME_DIR", folder).stderr(Stdio::piped());
    let mut child = match bed.hosts.gateway.started(|| command.spawn()) {
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
fn what_the_process_may_not_read_or_write_its_clients_hand_over() {
    let Some(bed) = Bed::new("handed") else { return };
    let rows = "name,addresses,weight\nann,10.77.0.2,1\nbob,10.77.0.3,1\n";
    let sheet = bed.write("people.csv", rows);
    let socket = bed.folder.path().join("own.sock");
    let text = bed.text().replace("\"faba\"", "\"hfaba\"");
    let text = text.replace("interval =", &format!("socket = \"{}\"\ninterval =", socket.display()));
    let config = bed.write("gateway.toml", &format!("{text}[subscribers]\nfile = \"people.csv\"\n"));
    let path = config.to_str().expect("UTF-8");
    mode(bed.folder.path(), 0o700);
    let checked = bed.ask(&["check", path]);
    let said = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(checked.status.success() && said.contains("may not read"), "{said}");

    let gateway = bed.begin(&["run", path]);
    gateway.wait_for("note: the process runs as the user");
    gateway.wait_for("forwards between");
    fs::write(&sheet, rows.replace("ann,10.77.0.2,1", "ann,10.77.0.2,3")).expect("it is ours");
    gateway.signal(Signal::HUP);
    let line = gateway.wait_for("not reloaded");
    assert!(line.contains("Permission denied") && line.contains("hands it over"), "{line}");
    let done = bed.ask(&["reload", path]);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && said.contains("ann: 1 -> 3"), "{done:?}");
    gateway.wait_for("reloaded: 1 change,");
    let weighed = bed.ask(&["weigh", path, "bob", "2"]);
    assert!(weighed.status.success(), "{weighed:?}");
    gateway.wait_for("weight of bob: 1 -> 2");

    // Faults of the file that was handed over are told with its name and line.
    fs::write(&sheet, "name,addresses\nann,10.77.0\n,10.77.0.3\n").expect("it is ours");
    let refused = bed.ask(&["reload", path]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && said.contains("people.csv:2:5"), "{said}");
    assert!(said.contains("people.csv:3:1") && said.contains("nothing was changed"), "{said}");

    let out = bed.folder.path().join("drops.pcapng");
    let written = bed.ask(&["capture", path, "--out", out.to_str().expect("UTF-8")]);
    assert!(written.status.success(), "{written:?}");
    let about = fs::metadata(&out).expect("it is there");
    assert!(about.len() > 0);
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777, 0o600);
    let names = fs::read_dir(bed.folder.path()).expect("it is ours").count();
    assert_eq!(names, 4, "no part is left behind");
    fs::write(&sheet, rows).expect("it is ours");
    assert!(gateway.end().0.success());

    // A socket that it could not take away is no obstacle, and answers to nobody.
    assert!(socket.exists());
    assert_eq!(bed.ask(&["status", path]).status.code(), Some(2));
    assert!(bed.start(&config).end().0.success());
}

#[test]
fn the_state_of_an_interface_is_what_the_kernel_says_and_each_change_is_told_once() {
    let Some(bed) = Bed::new("state") else { return };
    let config = bed.config("");
    bed.set_inside(false);
    let gateway = bed.begin(&["run", config.to_str().expect("UTF-8")]);
    // Two threads say these, in either order.
    gateway.wait_for_both(["`g1` is down", "forwards between"]);
    bed.wait_for_port(&config, false, 0);
    bed.set_inside(true);
    gateway.wait_for("`g1` is up again");
    // Nothing is sent: the state hangs on no packet.
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
    assert!(exit.success() && !said.contains("`g1` is"), "told once: {said}");
}

#[test]
fn an_interface_that_is_late_is_waited_for_where_that_is_wanted() {
    let Some(bed) = Bed::new("late") else { return };
    let config = bed.config("");
    let path = config.to_str().expect("UTF-8");
    bed.rename_inside("later0");
    let refused = bed.ask(&["run", path]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "without the word it is refused: {said}");
    assert!(said.contains("allowed: `later0`"), "neither the other side's nor what cannot do: {said}");

    let gateway = bed.begin(&["run", "--wait", path]);
    gateway.wait_for("waiting for `g1`");
    let (exit, said) = gateway.end();
    assert!(exit.success(), "told to end while it waits: {exit} {said}");

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
fn a_device_has_one_gateway_whatever_it_is_called_and_the_guard_knows_it_by_its_number() {
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
    let noted = bed.ask(&["check", second]);
    let said = String::from_utf8_lossy(&noted.stdout).into_owned();
    assert!(noted.status.success() && said.contains("`other0` is in use by process"), "{said}");
    // Another folder of locks changes nothing.
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
