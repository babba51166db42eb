//! A running gateway between two hosts.

use fairwire_linux::link::About;
use fairwire_testbed::bed::{self, Side};
use fairwire_testbed::host::Host;
use fairwire_testing::program::Running;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{fs, thread};

pub(super) struct Bed {
    pub(super) name: String,
    pub(super) folder: tempfile::TempDir,
    /// The source is outside, the sink inside.
    pub(super) hosts: bed::Bed,
}

pub(super) const INSIDE: Ipv4Addr = bed::SINK_ADDRESS;
const MTU: u32 = 1500;

impl Bed {
    pub(super) fn new(name: &str) -> Option<Self> {
        let name = format!("fwt-{}-{name}", std::process::id());
        // Building changes the thread's network namespace, so another thread builds.
        let made = thread::spawn(|| bed::Bed::new(MTU)).join().expect("it does not panic");
        let hosts = match made {
            Ok(hosts) => hosts,
            Err(why) => {
                fairwire_testing::skipped(format_args!("the running gateway: {why}"));
                return None;
            }
        };
        let bed = Bed { name, folder: tempfile::tempdir().expect("a folder"), hosts };
        // The gateway continues as another user, who must read the folder.
        mode(bed.folder.path(), 0o755);
        // The kernel notices a carrier after up to a second.
        let until = Instant::now() + Duration::from_secs(10);
        while bed.links().iter().any(|(_, about)| !about.is_running) && Instant::now() < until {
            thread::sleep(Duration::from_millis(20));
        }
        Some(bed)
    }

    pub(super) fn config(&self, extra: &str) -> PathBuf {
        self.write("gateway.toml", &format!("{}{extra}", self.text()))
    }

    pub(super) fn text(&self) -> String {
        format!(
            "format = 2\nname = \"{}\"\n[wire]\ninside = \"g1\"\noutside = \"g0\"\n[telemetry]\ninterval = \"10 ms\"\n\
             [download]\nrate = \"20 Mbit/s\"\ndiscipline = \"faba\"\n",
            self.name,
        )
    }

    pub(super) fn socket_file(&self) -> PathBuf {
        PathBuf::from(format!("/run/fairwire/{}.sock", self.name))
    }

    pub(super) fn status(&self, config: &Path) -> serde_json::Value {
        let status = self.call(&["status", config.to_str().expect("UTF-8"), "--format", "json"]);
        serde_json::from_slice(&status.stdout).expect("JSON")
    }

    pub(super) fn port(&self, config: &Path, place: usize) -> serde_json::Value {
        self.status(config)["ports"][place].clone()
    }

    pub(super) fn wait_for_port(&self, config: &Path, is_up: bool, outages: u64) {
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

    pub(super) fn set_inside(&self, is_up: bool) {
        let (gateway, index) = (&self.hosts.gateway, Side::Right.end().index);
        if is_up { gateway.bring_up(index) } else { gateway.take_down(index) }.expect("root may");
    }

    /// Removes both ends of the veth pair.
    pub(super) fn remove_inside(&self) {
        self.hosts.gateway.remove(Side::Right.end().index).expect("root may");
    }

    pub(super) fn make_inside(&self) {
        self.hosts.join(Side::Right, MTU).expect("root may");
    }

    pub(super) fn rename_inside(&self, name: &str) {
        self.hosts.gateway.rename(Side::Right.end().index, name).expect("root may");
    }

    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("the folder is ours");
        path
    }

    pub(super) fn fairwire(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairwire-gateway"));
        command.args(arguments);
        command
    }

    pub(super) fn output(&self, command: &mut Command) -> Output {
        self.hosts.gateway.started(|| command.output()).expect("it runs")
    }

    pub(super) fn call(&self, arguments: &[&str]) -> Output {
        self.output(&mut self.fairwire(arguments))
    }

    pub(super) fn start(&self, config: &Path) -> Gateway {
        let gateway = self.begin(&["run", config.to_str().expect("UTF-8")]);
        gateway.wait_for("forwards between");
        gateway
    }

    pub(super) fn begin(&self, arguments: &[&str]) -> Gateway {
        self.begin_command(self.fairwire(arguments))
    }

    pub(super) fn begin_command(&self, mut command: Command) -> Gateway {
        command.stderr(Stdio::piped());
        let mut child = self.hosts.gateway.started(|| Running::start(&mut command)).expect("it starts");
        let lines = lines_of(child.stderr.take().expect("a pipe"));
        Gateway { child, lines }
    }

    fn socket(host: &Host, address: Ipv4Addr) -> UdpSocket {
        let socket = host.at(|| UdpSocket::bind((address, 7000)).expect("a free port"));
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("above zero");
        socket
    }

    pub(super) fn hosts(&self) -> Hosts {
        let bed::Bed { source, sink, .. } = &self.hosts;
        Hosts { inside: Bed::socket(sink, INSIDE), outside: Bed::socket(source, bed::SOURCE_ADDRESS) }
    }

    pub(super) fn links(&self) -> Vec<(String, About)> {
        self.hosts.gateway.at(|| self.hosts.gateway.interfaces()).expect("it is there")
    }

    pub(super) fn is_bridged(&self) -> bool {
        self.links().iter().any(|(name, _)| name.starts_with("fwbr"))
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // A failed check may leave a guard process, which keeps the hosts alive. A connection makes
        // the guard end. The read returns when the guard has ended.
        if let Ok(mut guard) = UnixStream::connect(format!("/run/fairwire/{}.guard", self.name)) {
            let _ = guard.read(&mut [0]);
        }
    }
}

pub(super) fn mode(path: &Path, bits: u32) {
    let bits = std::os::unix::fs::PermissionsExt::from_mode(bits);
    fs::set_permissions(path, bits).expect("it is ours");
}

pub(super) fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

pub(super) struct Gateway {
    pub(super) child: Running,
    pub(super) lines: Receiver<String>,
}

impl Gateway {
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid().cast_signed()).expect("not zero");
        kill_process(pid, signal).expect("it is ours");
    }

    pub(super) fn wait_for(&self, part: &str) -> String {
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

    pub(super) fn wait_for_both(&self, parts: [&str; 2]) {
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

    pub(super) fn end(mut self) -> (std::process::ExitStatus, String) {
        self.signal(Signal::TERM);
        let status = self.child.wait().expect("it is ours");
        (status, self.lines.iter().collect::<Vec<_>>().join("\n"))
    }

    pub(super) fn status(&self, key: &str) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        line.unwrap_or_default().trim().to_owned()
    }
}

pub(super) struct Hosts {
    pub(super) inside: UdpSocket,
    pub(super) outside: UdpSocket,
}

impl Hosts {
    /// Does a datagram from the outside arrive inside within 20 ms?
    pub(super) fn passes(&self, number: u32) -> bool {
        // Errors are ignored: the next attempt resolves a missing neighbour.
        let _ = self.outside.send_to(&number.to_be_bytes(), (INSIDE, 7000));
        let mut bytes = [0; 64];
        self.inside.recv(&mut bytes).is_ok()
    }

    pub(super) fn wait_until_it_passes(&self) -> Duration {
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
    pub(super) fn drain(&self) {
        let mut bytes = [0; 64];
        while self.inside.recv(&mut bytes).is_ok() {}
    }
}
