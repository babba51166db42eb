//! The recipe of docs/gateway/router.md with docs/gateway/home.toml, in network namespaces.

#![allow(clippy::disallowed_methods, reason = "real processes take real time")]

use super::encapsulation::nothing_leaves_that_was_not_taken;
use fairwire_datapath::io::diversion::has_tables;
use fairwire_linux::interface;
use fairwire_linux::netlink::{Address, End, Route};
use fairwire_testbed::bed::{HOST, Side};
use fairwire_testbed::error::Trouble;
use fairwire_testbed::host::{Host, Wire};
use fairwire_testbed::nat::masquerade;
use fairwire_testbed::path::{Path as PathPlan, PathHost};
use fairwire_testbed::program::command;
use fairwire_testing::program::{Running, retried};
use rustix::net::sockopt;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

pub(super) const HOSTS: [&str; 2] = ["10.0.0.1", "10.0.0.2"];
const ROUTER: &str = "10.0.0.254";
pub(super) const PUBLIC: &str = "203.0.113.2";
pub(super) const SERVER: &str = "203.0.113.1";
const SERVER_V6: &str = "2001:db8:2::1";

pub(super) struct Home {
    name: String,
    folder: tempfile::TempDir,
    pub(super) home: Host,
    pub(super) edge: Host,
    pub(super) world: Host,
    path: Option<PathHost>,
    /// The congestion control of all transfers. Machines have different defaults.
    pub(super) controller: &'static str,
}

/// The router's interfaces.
pub(crate) const LAN: End<'static> = End { name: "lan0", index: 100 };
pub(super) const WAN: End<'static> = End { name: "wan0", index: 101 };

impl Home {
    pub(super) fn new(name: &str) -> Option<Self> {
        Home::distant(name, Duration::ZERO)
    }

    /// Like [`new`](Self::new), with this delay between router and world, in each direction.
    pub(super) fn distant(name: &str, delay: Duration) -> Option<Self> {
        let name = format!("fwr-{}-{name}", std::process::id());
        // Creating hosts changes the thread's network namespace, so another thread creates them.
        let hosts = move || {
            let path = (!delay.is_zero()).then(PathHost::new).transpose()?;
            Ok(([Host::new()?, Host::new()?, Host::new()?], path))
        };
        let hosts: Result<_, Trouble> = thread::spawn(hosts).join().expect("it does not panic");
        let made = hosts.and_then(|([home, edge, world], path)| {
            let folder = tempfile::tempdir().expect("a folder");
            let mut home = Home { name, folder, home, edge, world, path, controller: "cubic" };
            home.build(delay).map(|()| home)
        });
        match made {
            Ok(home) => Some(home),
            Err(why) => {
                fairwire_testing::skipped_for_want_of_a_peer(format_args!("the gateway on a router: {why}"));
                None
            }
        }
    }

    /// Follows docs/gateway/router.md.
    fn build(&mut self, delay: Duration) -> Result<(), Trouble> {
        let Home { home, edge, world, path, .. } = self;
        edge.join(home, Wire { here: LAN, there: HOST, mtu: 1500 })?;
        match path {
            None => edge.join(world, Wire { here: WAN, there: HOST, mtu: 1500 })?,
            Some(path) => {
                path.join(Side::Left, (edge, WAN), 1500)?;
                path.join(Side::Right, (world, HOST), 1500)?;
                path.carry(&PathPlan::one_way(fairwire_core::Duration::from_ns(delay.as_nanos() as u64)))?;
            }
        }
        let Home { home, edge, world, .. } = &*self;
        for (inner, here) in [(home, LAN), (world, WAN)] {
            edge.bring_up(here.index)?;
            inner.bring_up(HOST.index)?;
        }
        for (place, interface, text) in [
            (home, HOST, "10.0.0.1/24"),
            (home, HOST, "10.0.0.2/24"),
            (edge, LAN, "10.0.0.254/24"),
            (edge, WAN, "203.0.113.2/24"),
            (world, HOST, "203.0.113.1/24"),
            (home, HOST, "2001:db8:1::1/64"),
            (edge, LAN, "2001:db8:1::fe/64"),
            (edge, WAN, "2001:db8:2::fe/64"),
            (world, HOST, "2001:db8:2::1/64"),
        ] {
            place.add_address(interface.index, address(text))?;
        }
        for (place, network, via) in [
            (home, "0.0.0.0/0", ROUTER),
            (edge, "0.0.0.0/0", SERVER),
            (home, "::/0", "2001:db8:1::fe"),
            (world, "2001:db8:1::/64", "2001:db8:2::fe"),
        ] {
            place.add_route(address(network), Route::Via(via.parse().expect("an address")))?;
        }
        let firewall = self.write("nftables.conf", &firewall());
        edge.at(|| {
            edge.set_variable("net/ipv4/ip_forward", "1")?;
            edge.set_variable("net/ipv6/conf/all/forwarding", "1")?;
            if Command::new("nft").arg("--version").output().is_ok() {
                return command(&format!("nft -f {}", firewall.display())).map(drop);
            }
            fairwire_testing::skipped(format_args!(
                "the firewall of docs/gateway/router.md: there is no `nft` (Debian: apt install nftables); NAT alone is tried"
            ));
            masquerade(WAN.name)
        })
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("the folder is ours");
        path
    }

    pub(super) fn config(&self, change: impl Fn(String) -> String) -> PathBuf {
        let socket = self.folder.path().join("socket");
        let text = fs::read_to_string(common_example("home.toml")).expect("it is there");
        let text = text.replace("name = \"home\"", &format!("name = \"{}\"", self.name));
        self.write(
            "home.toml",
            &format!("{}\n[telemetry]\nsocket = \"{}\"\n", change(text), socket.display()),
        )
    }

    fn fairwire(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fairwire-gateway"));
        command.args(arguments);
        command
    }

    pub(super) fn call(&self, arguments: &[&str]) -> Output {
        let mut command = self.fairwire(arguments);
        self.edge.started(|| command.output()).expect("it runs")
    }

    /// The output of `check`.
    pub(super) fn checked(&self, config: &Path) -> String {
        String::from_utf8_lossy(&self.call(&["check", config.to_str().expect("UTF-8")]).stdout).into_owned()
    }

    pub(super) fn start(&self, config: &Path) -> Gateway {
        let mut command = self.fairwire(&["run", config.to_str().expect("UTF-8")]);
        command.stderr(Stdio::piped());
        let mut child = self.edge.started(|| Running::start(&mut command)).expect("it starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let runs = format!("the gateway `{}` forwards", self.name);
        let said: Vec<String> = lines.by_ref().take_while(|line| !line.contains(&runs)).collect();
        let rest = Arc::new(Mutex::new(said));
        let gateway = Gateway { child, said: rest.clone() };
        thread::spawn(move || lines.for_each(|line| rest.lock().expect("no holder panics").push(line)));
        gateway
    }

    pub(super) fn status(&self, config: &Path) -> serde_json::Value {
        let output = self.call(&["status", config.to_str().expect("UTF-8"), "--format", "json"]);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    }

    pub(super) fn taken(&self, config: &Path) -> u64 {
        let status = self.status(config);
        let ways = status["ways"].as_array().expect("there are two");
        ways.iter().filter_map(|way| way["totals"]["packets_in"].as_u64()).sum()
    }

    /// Waits until the gateway takes in no more packets, and returns the number taken in. Datagrams
    /// may wait for a neighbour's address, and the gateway's counters are up to 10 ms old.
    pub(super) fn taken_at_rest(&self, config: &Path) -> u64 {
        let until = Instant::now() + PATIENCE;
        let mut taken = self.taken(config);
        loop {
            thread::sleep(Duration::from_millis(300));
            let before = std::mem::replace(&mut taken, self.taken(config));
            if taken == before || Instant::now() > until {
                return taken;
            }
        }
    }

    pub(super) fn traces(&self) -> String {
        let interfaces = self.edge.at(interface::names).expect("/proc is there");
        let devices = interfaces.iter().filter(|name| name.starts_with("fw")).count();
        let table = format!("fairwire-{}", self.name);
        let tables = self.edge.at(|| has_tables(&table).expect("root may look"));
        format!("{devices} devices, tables: {tables}")
    }

    pub(super) fn wait_for_traces(&self, wanted: &str) {
        let until = Instant::now() + Duration::from_secs(10);
        while self.traces() != wanted && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(self.traces(), wanted);
    }
}

pub(super) fn address(text: &str) -> Address {
    let (ip, bits) = text.split_once('/').expect("a prefix");
    Address { ip: ip.parse().expect("an address"), prefix_bits: bits.parse().expect("a number") }
}

fn common_example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gateway").join(name)
}

fn firewall() -> String {
    let page = fs::read_to_string(common_example("router.md")).expect("the page is there");
    let block = page.split("```nft\n").nth(1).and_then(|rest| rest.split("```").next());
    block.expect("the page has a block of nft").to_owned()
}

pub(super) struct Gateway {
    child: Running,
    pub(super) said: Arc<Mutex<Vec<String>>>,
}

impl Gateway {
    pub(super) fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_raw(self.child.id().cast_signed()).expect("not zero"), signal)
            .expect("it is ours");
        let status = self.child.wait().expect("it is ours");
        thread::sleep(Duration::from_millis(50)); // another thread reads its last output
        (status.code(), self.said.lock().expect("no holder panics").join("\n"))
    }
}

pub(super) fn echo(home: &Home) {
    for address in ["0.0.0.0:7000", "[::]:7001"] {
        let socket = home.world.at(|| UdpSocket::bind(address).expect("a free port"));
        thread::spawn(move || {
            let mut bytes = [0; 2048];
            while let Ok((_, from)) = socket.recv_from(&mut bytes) {
                let _ = socket.send_to(from.ip().to_string().as_bytes(), from);
            }
        });
    }
}

fn socket(home: &Home, address: &'static str) -> UdpSocket {
    let socket = home.home.at(|| UdpSocket::bind((address, 0)).expect("an address of the home"));
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
    socket
}

pub(super) fn reaches(socket: &UdpSocket, server: SocketAddr, patience: Duration) -> Option<String> {
    let until = Instant::now() + patience;
    let mut bytes = [0; 64];
    while Instant::now() < until {
        let _ = socket.send_to(b"who am I?", server);
        if let Ok(count) = socket.recv(&mut bytes) {
            return Some(String::from_utf8_lossy(&bytes[..count]).into_owned());
        }
    }
    None
}

pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn world_v4() -> SocketAddr {
    format!("{SERVER}:7000").parse().expect("an address")
}

/// Returns the bytes that arrived on each bulk TCP connection.
fn transfers(home: &Home, is_upload: bool, hosts: &[&'static str], seconds: u64) -> Vec<u64> {
    let hosts: Vec<(&Host, &str)> = hosts.iter().map(|host| (&home.home, *host)).collect();
    transfers_of(home, is_upload, &hosts, seconds)
}

pub(super) fn transfers_of(home: &Home, is_upload: bool, hosts: &[(&Host, &str)], seconds: u64) -> Vec<u64> {
    let hosts: Vec<_> = hosts.iter().map(|(place, host)| (*place, *host, SERVER)).collect();
    transfers_to(home, is_upload, &hosts, seconds)
}

/// Like [`transfers`]. Each of `hosts` comes with its address and the server's address.
pub(super) fn transfers_to(
    home: &Home,
    is_upload: bool,
    hosts: &[(&Host, &str, &str)],
    seconds: u64,
) -> Vec<u64> {
    let counts: Vec<Arc<AtomicU64>> = hosts.iter().map(|_| Arc::default()).collect();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut ends = Vec::new();
    for ((place, host, server), count) in hosts.iter().copied().zip(&counts) {
        let listener = home.world.at(|| TcpListener::bind((server, 0)).expect("a free port"));
        // Accepted connections have their listener's controller.
        sockopt::set_tcp_congestion(&listener, home.controller).expect("the kernel has it");
        let server = listener.local_addr().expect("it is bound");
        let own = place.at(|| connect(host, server, home.controller));
        let (peer, _) = listener.accept().expect("it comes");
        let (from, to) = if is_upload { (own, peer) } else { (peer, own) };
        for stream in [&from, &to] {
            stream.set_write_timeout(Some(Duration::from_millis(100))).expect("above zero");
            stream.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
        }
        ends.push(thread::spawn(move || send(from, until)));
        let count = count.clone();
        ends.push(thread::spawn(move || receive(to, until, &count)));
    }
    ends.into_iter().for_each(|end| end.join().expect("it does not panic"));
    counts.iter().map(|count| count.load(Ordering::Relaxed)).collect()
}

/// The rate in Mbit/s.
pub(super) fn rate_of(bytes: u64, seconds: u64) -> f64 {
    bytes as f64 * 8.0 / seconds as f64 / 1e6
}

fn connect(host: &str, server: SocketAddr, controller: &str) -> TcpStream {
    let family = rustix::net::AddressFamily::INET;
    let socket = rustix::net::socket(family, rustix::net::SocketType::STREAM, None).expect("a socket");
    sockopt::set_tcp_congestion(&socket, controller).expect("the kernel has it");
    rustix::net::bind(&socket, &SocketAddr::new(host.parse().expect("an address"), 0)).expect("of the home");
    rustix::net::connect(&socket, &server).expect("the world is reached");
    socket.into()
}

fn send(mut stream: TcpStream, until: Instant) {
    let data = vec![0; 1 << 16];
    while Instant::now() < until {
        let _ = stream.write(&data);
    }
}

fn receive(mut stream: TcpStream, until: Instant, count: &AtomicU64) {
    let mut data = vec![0; 1 << 16];
    while Instant::now() < until {
        if let Ok(bytes) = stream.read(&mut data) {
            count.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_router_with_nat_shapes_both_directions_and_is_restored_at_the_end() {
    let Some(home) = Home::new("nat") else { return };
    echo(&home);
    let config = home.config(|text| text);
    let check = home.call(&["check", config.to_str().expect("UTF-8")]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
    let output = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(output.contains("by the addresses inside: uploads before NAT, downloads after it"), "{output}");
    assert_eq!(home.traces(), "0 devices, tables: false");
    let gateway = home.start(&config);
    assert_eq!(home.traces(), "2 devices, tables: true", "{:?}", gateway.said);

    let (one, v6) = (socket(&home, HOSTS[0]), socket(&home, "2001:db8:1::1"));
    assert_eq!(reaches(&one, world_v4(), PATIENCE).as_deref(), Some(PUBLIC));
    let server = format!("[{SERVER_V6}]:7001").parse().expect("an address");
    assert_eq!(reaches(&v6, server, PATIENCE).as_deref(), Some("2001:db8:1::1"));

    what_is_for_the_router_is_not_taken(&home, &config, &one);
    nothing_leaves_that_was_not_taken(&home.home, &home.edge, &home.world);
    shares_are_by_the_hosts_inside(&home, &config);

    let (code, said) = gateway.end(Signal::TERM);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("PACKETS ARE MISSING"), "{said}");
    assert_eq!(home.traces(), "0 devices, tables: false");
    assert_eq!(reaches(&one, world_v4(), PATIENCE).as_deref(), Some(PUBLIC), "the link is open, unshaped");
}

fn what_is_for_the_router_is_not_taken(home: &Home, config: &Path, socket: &UdpSocket) {
    let router = home.edge.at(|| UdpSocket::bind((ROUTER, 7000)).expect("a free port"));
    router.set_read_timeout(Some(PATIENCE)).expect("above zero");
    let before = home.taken_at_rest(config);
    let mut bytes = [0; 64];
    for to in [ROUTER, ROUTER, ROUTER] {
        socket.send_to(b"a question", (to, 7000)).expect("it is near");
        let (_, from) = retried(|| router.recv_from(&mut bytes)).expect("it comes");
        router.send_to(b"an answer", from).expect("it is near");
        retried(|| socket.recv(&mut bytes)).expect("it comes back");
    }
    // The gateway takes no packets for the router's outside address.
    let _ = socket.send_to(b"a question", (PUBLIC, 9));
    assert_eq!(home.taken_at_rest(config), before);
}

/// Under drr each host gets half.
fn shares_are_by_the_hosts_inside(home: &Home, config: &Path) {
    for (is_upload, way, mbps) in [(false, 0, 95.0), (true, 1, 19.0)] {
        let seconds = 3;
        let hosts = [HOSTS[0], HOSTS[1], HOSTS[1], HOSTS[1]];
        let measured = || {
            let got = transfers(home, is_upload, &hosts, seconds);
            let (one, three) = (got[0], got[1..].iter().sum::<u64>());
            let rate = rate_of(one + three, seconds);
            println!("{}: {rate:.1} of {mbps} Mbit/s, {one} and {three} bytes", ["download", "upload"][way]);
            (one, three, rate)
        };
        // Without free processors, the measured shares mean nothing.
        let is_busy = |rate: f64| rate < mbps * 0.2;
        let (one, three, rate) =
            (0..3).map(|_| measured()).find(|&(.., rate)| !is_busy(rate)).unwrap_or_else(measured);
        // Data in TCP's buffers and in the gateway's buffer of 50 ms can raise `rate` above the
        // link's rate.
        assert!(rate <= mbps * 1.05, "{rate} Mbit/s of {mbps}");
        assert!(rate >= mbps * 0.2, "{rate} Mbit/s of {mbps}: a busy machine has more left");
        // Each host's share is a half. Slow start and a busy machine change it by up to a tenth.
        let part = one as f64 / (one + three) as f64;
        assert!((part - 0.5).abs() < 0.1, "{part}");
        let status = home.status(config)["ways"][way].to_string();
        for host in HOSTS {
            assert!(status.contains(host), "{host} is not in {status}");
        }
        assert!(!status.contains(PUBLIC), "what NAT made of it is in {status}");
    }
}

#[test]
fn a_router_whose_gateway_is_killed_forwards_unshaped_or_not_at_all_as_configured() {
    let Some(home) = Home::new("kill") else { return };
    echo(&home);
    let one = socket(&home, HOSTS[0]);
    let open = home.config(|text| text.replace("\"closed\"", "\"open\""));
    assert!(fs::read_to_string(&open).expect("it is there").contains("on_failure = \"open\""));
    let gateway = home.start(&open);
    assert!(reaches(&one, world_v4(), PATIENCE).is_some());
    gateway.end(Signal::KILL);
    home.wait_for_traces("0 devices, tables: false");
    assert!(reaches(&one, world_v4(), PATIENCE).is_some(), "it fails open");

    let closed = home.config(|text| text.replace("\"open\"", "\"closed\""));
    let gateway = home.start(&closed);
    assert!(reaches(&one, world_v4(), PATIENCE).is_some());
    gateway.end(Signal::KILL);
    home.wait_for_traces("0 devices, tables: true");
    assert_eq!(reaches(&one, world_v4(), Duration::from_millis(500)), None, "it fails closed");
    let gateway = home.start(&closed);
    assert!(reaches(&one, world_v4(), PATIENCE).is_some(), "its successor takes over");
    let (code, said) = gateway.end(Signal::TERM);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(home.traces(), "0 devices, tables: false");
    assert!(reaches(&one, world_v4(), PATIENCE).is_some());
}

#[test]
fn a_recreated_inside_interface_is_shaped_again() {
    let Some(home) = Home::new("again") else { return };
    echo(&home);
    let config = home.config(|text| text);
    let gateway = home.start(&config);
    assert!(reaches(&socket(&home, HOSTS[0]), world_v4(), PATIENCE).is_some());
    home.edge.remove(LAN.index).expect("it is there");
    home.edge.join(&home.home, Wire { here: LAN, there: HOST, mtu: 1500 }).expect("it went before");
    home.edge.bring_up(LAN.index).expect("it is there");
    home.home.bring_up(HOST.index).expect("it is there");
    home.home.add_address(HOST.index, address("10.0.0.1/24")).expect("it is there");
    home.edge.add_address(LAN.index, address("10.0.0.254/24")).expect("it is there");
    let route = Route::Via(ROUTER.parse().expect("an address"));
    home.home.add_route(address("0.0.0.0/0"), route).expect("it went before");
    let before = home.taken(&config);
    let socket = socket(&home, HOSTS[0]);
    let until = Instant::now() + PATIENCE;
    // Packets bypass the gateway until it notices the new interface.
    while home.taken(&config) == before && Instant::now() < until {
        reaches(&socket, world_v4(), Duration::from_millis(200));
    }
    assert!(home.taken(&config) > before, "{:?}", gateway.said);
    assert_eq!(home.traces(), "2 devices, tables: true");
    assert_eq!(gateway.end(Signal::TERM).0, Some(0));
    assert_eq!(home.traces(), "0 devices, tables: false");
}

const GUEST: End<'static> = End { name: "guest0", index: 102 };

/// Connects `guests`. Both inside interfaces have one Ethernet address, like VLANs of one card.
fn join_guests(home: &Home, guests: &Host) {
    home.edge.join(guests, Wire { here: GUEST, there: HOST, mtu: 1500 }).expect("root may");
    let lan = home.edge.at(|| fairwire_linux::link::about(LAN.index)).expect("it is there");
    let netlink = home.edge.at(fairwire_linux::netlink::Netlink::open).expect("a socket");
    netlink.set_ethernet_address(GUEST.index, lan.ethernet_address).expect("root may");
    home.edge.bring_up(GUEST.index).expect("it is there");
    guests.bring_up(HOST.index).expect("it is there");
    home.edge.add_address(GUEST.index, address("10.1.0.254/24")).expect("it is there");
    guests.add_address(HOST.index, address("10.1.0.1/24")).expect("it is there");
    let route = Route::Via("10.1.0.254".parse().expect("an address"));
    guests.add_route(address("0.0.0.0/0"), route).expect("it is there");
}

/// Field case C2.
#[test]
fn two_inside_networks_share_one_link_and_recreating_one_disturbs_no_other() {
    let Some(home) = Home::new("guests") else { return };
    let guests = thread::spawn(Host::new).join().expect("it does not panic").expect("one more");
    join_guests(&home, &guests);
    if home.edge.at(|| Command::new("nft").arg("--version").output()).is_ok() {
        let rule = "nft insert rule inet filter forward iifname guest0 oifname wan0 accept";
        home.edge.at(|| command(rule)).expect("root may");
    }
    echo(&home);
    let config = home.config(|text| {
        let several = text.replace("inside = \"lan0\"", "inside = [\"lan0\", \"guest0\"]");
        assert_ne!(several, text, "the example names its interface");
        let class = "[[class]]\nname = \"guests\"\nmatch = { inside = [\"10.1.0.0/24\"] }\ndownload = { ceiling = \"10 Mbit/s\" }\n";
        format!("{several}\n{class}")
    });
    let gateway = home.start(&config);
    assert_eq!(home.traces(), "4 devices, tables: true", "{:?}", gateway.said);
    let hosts =
        [(&home.home, HOSTS[0]), (&home.home, HOSTS[1]), (&guests, "10.1.0.1"), (&guests, "10.1.0.1")];
    let got = transfers_of(&home, false, &hosts, 3);
    let (lan, guest) = (rate_of(got[0] + got[1], 3), rate_of(got[2] + got[3], 3));
    println!("{lan:.1} Mbit/s of the LAN, {guest:.1} of the guests");
    assert!(guest > 2.0 && guest < 10.5, "a ceiling of 10: {guest}");
    assert!(lan > 20.0 && lan + guest < 95.0 * 1.05, "{lan} beside {guest}");

    home.edge.remove(GUEST.index).expect("it is there");
    let (one, until) = (socket(&home, HOSTS[0]), Instant::now() + Duration::from_secs(3));
    while Instant::now() < until {
        assert!(reaches(&one, world_v4(), PATIENCE).is_some(), "{:?}", gateway.said);
    }
    join_guests(&home, &guests);
    let guest = guests.at(|| UdpSocket::bind(("10.1.0.1", 0)).expect("its address"));
    guest.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
    let has_come = || home.status(&config)["ways"][1]["classes"].to_string().contains("guests");
    assert!(has_come());
    let before = home.taken(&config);
    let until = Instant::now() + PATIENCE;
    while home.taken(&config) < before + 5 && Instant::now() < until {
        reaches(&guest, world_v4(), Duration::from_millis(200));
    }
    assert!(home.taken(&config) >= before + 5, "{:?}", gateway.said);
    assert_eq!(gateway.end(Signal::TERM).0, Some(0));
    assert_eq!(home.traces(), "0 devices, tables: false");
}

#[test]
fn behind_nat_unclaimed_addresses_have_a_ceiling_each_and_one_together() {
    let Some(home) = Home::new("each") else { return };
    home.write(
        "plans.csv",
        "name,addresses,download_ceiling,upload_ceiling\nann,10.0.0.9,9 Mbit/s,9 Mbit/s\n",
    );
    let bounds = "{ each = \"3 Mbit/s\", ceiling = \"4 Mbit/s\" }";
    let config = home.config(|text| {
        format!(
            "{text}[subscribers]\nfile = \"plans.csv\"\n[[class]]\nname = \"unclaimed\"\n\
             download = {bounds}\nupload = {bounds}\n"
        )
    });
    let gateway = home.start(&config);
    for is_upload in [false, true] {
        // On a busy machine, TCP may use only half of `most`.
        for (hosts, most) in [(vec![HOSTS[0]; 4], 3.0), (vec![HOSTS[0], HOSTS[1], HOSTS[0], HOSTS[1]], 4.0)] {
            let seconds = 3;
            let got: u64 = transfers(&home, is_upload, &hosts, seconds).iter().sum();
            let mbps = rate_of(got, seconds);
            // In 3 s, data in the 50 ms buffer adds 2 %.
            assert!((0.5 * most..1.05 * most).contains(&mbps), "{mbps} of {most} Mbit/s");
        }
    }
    let (code, said) = gateway.end(Signal::TERM);
    assert!(code == Some(0) && !said.contains("MISSING"), "{said}");
}

#[test]
fn a_bump_on_a_router_is_refused_unless_requested() {
    let Some(home) = Home::new("bump") else { return };
    let bump = |more: &str| {
        let more = format!("[wire]\n{more}");
        home.config(|text| text.replace("backend = \"router\"\n", "").replace("[wire]\n", &more))
    };
    let config = bump("");
    for command in ["check", "run"] {
        let output = home.call(&[command, config.to_str().expect("UTF-8")]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let message = String::from_utf8_lossy(&output.stderr).replace("\n  │ ", " ");
        for part in [ROUTER, PUBLIC, "ip_forward", "backend = \"router\"", "allow_forwarding = true"] {
            assert!(message.contains(part), "no `{part}` in: {message}");
        }
    }
    assert_eq!(home.traces(), "0 devices, tables: false");
    let allowed = bump("backend = { af-packet = { allow_forwarding = true } }\n");
    let output = home.call(&["check", allowed.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let config = bump("");
    home.edge.remove_address(LAN.index, address("10.0.0.254/24")).expect("it is there");
    let output = home.call(&["check", config.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(2));
    // A machine that has addresses but does not forward is no router.
    home.edge.at(|| fs::write("/proc/sys/net/ipv6/conf/all/forwarding", "0").expect("root may"));
    let output = home.call(&["check", config.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
