//! Tunnels of a router. Peers of a VPN server or PPP concentrator share the router's link (field
//! case C13), as do hosts behind the router's VPN client (field case C10).

use super::router::{
    HOSTS, Home, LAN, PATIENCE, PUBLIC, SERVER, WAN, address, echo, rate_of, reaches, transfers_of,
    transfers_to, world_v4,
};
use fairwire_linux::netlink::{End, Route};
use fairwire_linux::port::{LinkKind, Port as _};
use fairwire_linux::tun::Tun;
use fairwire_testbed::bed::HOST;
use fairwire_testbed::host::{Host, Wire};
use fairwire_testbed::program::command;
use fairwire_wire::split::{MAX_FRAME_BYTES, split_parsed};
use fairwire_wire::vnet;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;
use std::cell::Cell;
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A tunnel from `wg0` to its peers: threads copy packets between two TUN devices.
struct Tunnel {
    is_over: Arc<AtomicBool>,
    copies: Vec<JoinHandle<()>>,
}

const PEERS: [&str; 3] = ["10.8.0.1", "10.8.0.2", "10.8.0.3"];

fn peers_route() -> Route {
    Route::Via("10.8.0.254".parse().expect("an address"))
}

impl Tunnel {
    fn new(router: &Host, peers: &Host) -> Self {
        Tunnel::called("wg0", router, peers)
    }

    fn called(name: &str, router: &Host, peers: &Host) -> Self {
        let device = |host: &Host, name| Arc::new(host.at(|| Tun::create(name, 1420)).expect("root may"));
        let ends = [device(router, name), device(peers, "tun0")];
        router.add_address(ends[0].index(), address("10.8.0.254/24")).expect("it is there");
        for peer in PEERS {
            peers.add_address(ends[1].index(), address(&format!("{peer}/24"))).expect("it is there");
        }
        peers.add_route(address("0.0.0.0/0"), peers_route()).expect("it is there");
        let is_over = Arc::new(AtomicBool::new(false));
        let copies = [[0, 1], [1, 0]].map(|[from, to]| {
            let (from, to, is_over) = (ends[from].clone(), ends[to].clone(), is_over.clone());
            thread::spawn(move || copy(&from, &to, &is_over))
        });
        Tunnel { is_over, copies: copies.into() }
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.copies.drain(..).for_each(|copy| copy.join().expect("it does not panic"));
    }
}

/// Copies packets, including super-packets, with their virtio-net headers.
fn copy(from: &Tun, to: &Tun, is_over: &AtomicBool) {
    let mut packet = vec![0; 70_000];
    while !is_over.load(Ordering::Relaxed) {
        let tenth = rustix::time::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let _ = poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&tenth));
        while let Ok(count) = rustix::io::read(from, &mut packet[..]) {
            let _ = rustix::io::write(to, &packet[..count]); // lost if it does not fit
        }
    }
}

/// Connects router and peers by Ethernet, under the name of the tunnel.
fn ethernet_as_wg0(router: &Host, peers: &Host) -> End<'static> {
    let here = End { name: "wg0", index: 103 };
    router.join(peers, Wire { here, there: HOST, mtu: 1500 }).expect("the name is free");
    router.bring_up(here.index).expect("it is there");
    peers.bring_up(HOST.index).expect("it is there");
    router.add_address(here.index, address("10.8.0.254/24")).expect("it is there");
    peers.add_address(HOST.index, address(&format!("{}/24", PEERS[0]))).expect("it is there");
    peers.add_route(address("0.0.0.0/0"), peers_route()).expect("the other one went");
    here
}

/// Makes the firewall accept packets from one interface to another.
fn accept(home: &Home, from: &str, to: &str) {
    let rule = format!("nft insert rule inet filter forward iifname {from} oifname {to} accept");
    if home.edge.at(|| Command::new("nft").arg("--version").output()).is_ok() {
        home.edge.at(|| command(&rule)).expect("root may");
    }
}

/// The download rates of the peers in Mbit/s.
fn rates(home: &Home, peers: &Host) -> [f64; 3] {
    let (seconds, counts) = (3, [1, 4, 16]);
    let hosts: Vec<(&Host, &str)> = PEERS
        .into_iter()
        .zip(counts)
        .flat_map(|(peer, count)| std::iter::repeat_n((peers, peer), count))
        .collect();
    let got = transfers_of(home, false, &hosts, seconds);
    let sum = |from: usize, to: usize| rate_of(got[from..to].iter().sum(), seconds);
    [sum(0, 1), sum(1, 5), sum(5, 21)]
}

#[test]
fn peers_of_a_tunnel_share_the_link_and_a_tunnel_that_returns_is_shaped_within_a_second() {
    let Some(home) = Home::new("peers") else { return };
    let peers = thread::spawn(Host::new).join().expect("it does not panic").expect("one more");
    accept(&home, "wg0", WAN.name);
    echo(&home);
    let user = Cell::new("");
    let config = |more: &str| {
        home.config(|text| {
            let insides = format!("inside = [\"wg0\", \"{}\"]", LAN.name);
            let text = text.replace("inside = \"lan0\"", &insides).replace("95 Mbit/s", "30 Mbit/s");
            let text = text.replace("[safety]\n", &format!("[safety]\n{}", user.get()));
            format!("{text}\n{more}")
        })
    };
    let path = config("");
    let check = || home.checked(&path);
    // Some containers reserve the device for root.
    let is_open = fs::metadata("/dev/net/tun").expect("it is there").permissions().mode() & 6 == 6;
    let expected = ["it will pass unshaped, because the user", "it is shaped within a second"];
    assert!(
        check().contains(&format!("`wg0` is missing; {}", expected[usize::from(is_open)])),
        "{}",
        check()
    );
    user.set("user = \"root\"\n");
    config("");
    assert!(check().contains(expected[1]), "{}", check());
    let gateway = home.start(&path);
    assert_eq!(home.traces(), "2 devices, tables: true", "{:?}", gateway.said);
    let tunnel = Tunnel::new(&home.edge, &peers);
    home.wait_for_traces("4 devices, tables: true");

    let got = rates(&home, &peers);
    println!("{got:.2?} Mbit/s");
    let all: f64 = got.iter().sum();
    // A packet of 1458 B has 1368 B of data. So `all` is 28.1 of 30 Mbit/s, or less on a busy
    // machine. Slow start and the 50 ms buffer move a share by up to 3 percentage points.
    assert!((24.0..31.5).contains(&all), "{got:?}");
    assert!(got.iter().all(|rate| (rate / all - 1.0 / 3.0).abs() < 0.03), "{got:?}");
    let status = home.status(&path)["ways"][0].to_string();
    assert!(PEERS.iter().all(|peer| status.contains(peer)), "{status}");

    let class = "[[class]]\nname = \"slow\"\nmatch = { inside = [\"10.8.0.2/32\"] }\ndownload = { ceiling = \"5 Mbit/s\" }\n";
    config(class);
    let reload = home.call(&["reload", path.to_str().expect("UTF-8")]);
    assert!(reload.status.success(), "{}", String::from_utf8_lossy(&reload.stderr));
    let got = rates(&home, &peers);
    println!("{got:.2?} Mbit/s with a ceiling of 5 for one");
    // Data buffered for 50 ms may raise `got[1]` above 5 Mbit/s. In 3 s, slow start costs a
    // connection up to a seventh of its data.
    assert!(got[1] < 5.3 && got[1] > 4.0 && (got[0] / got[2] - 1.0).abs() < 0.15, "{got:?}");

    // Uploads arrive at `wg0`, and the gateway takes them once.
    let one = peers.at(|| UdpSocket::bind((PEERS[0], 0)).expect("its address"));
    one.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
    let before = home.taken_at_rest(&path);
    assert!(reaches(&one, world_v4(), PATIENCE).is_some(), "{:?}", gateway.said);
    assert_eq!(home.taken_at_rest(&path), before + 2, "a question and its answer");

    drop(tunnel);
    thread::sleep(Duration::from_millis(1500));
    let tunnel = Tunnel::new(&home.edge, &peers);
    let is_taken = || {
        let (came, before) = (Instant::now(), home.taken(&path));
        while home.taken(&path) < before + 5 && came.elapsed() < PATIENCE {
            reaches(&one, world_v4(), Duration::from_millis(50));
        }
        println!("shaped {:?} after its return", came.elapsed());
        // The documented limit is 1 s. The five packets and a busy machine take additional time.
        home.taken(&path) >= before + 5 && came.elapsed() < Duration::from_secs(3)
    };
    assert!(is_taken(), "{:?}", gateway.said);

    drop(tunnel);
    let wire = ethernet_as_wg0(&home.edge, &peers);
    assert!(is_taken(), "{:?}", gateway.said);
    assert_eq!(gateway.end(Signal::TERM).0, Some(0));
    home.edge.remove(wire.index).expect("it is there");
    let _tunnel = Tunnel::new(&home.edge, &peers);
    assert!(check().contains("packets of `wg0` have no Ethernet address"), "{}", check());
    assert_eq!(home.traces(), "0 devices, tables: false");
}

#[test]
fn interfaces_that_a_pattern_covers_are_shaped_while_they_exist() {
    let Some(home) = Home::new("pattern") else { return };
    let peers = thread::spawn(Host::new).join().expect("it does not panic").expect("one more");
    ["ppp7", "ppp99"].into_iter().for_each(|name| accept(&home, name, WAN.name));
    echo(&home);
    let config = home.config(|text| {
        let text = text.replace("inside = \"lan0\"", "inside = [\"wg0\", \"ppp*\"]");
        text.replace("[safety]\n", "[safety]\nuser = \"root\"\n")
    });
    assert!(home.checked(&config).contains("`ppp*` is a pattern"), "{}", home.checked(&config));
    let gateway = home.start(&config);
    assert_eq!(home.traces(), "0 devices, tables: false");
    let is_shaped = |name: &str| {
        let _tunnel = Tunnel::called(name, &home.edge, &peers);
        let one = peers.at(|| UdpSocket::bind((PEERS[0], 0)).expect("its address"));
        one.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
        let (begun, before) = (Instant::now(), home.taken(&config));
        let mut answers = 0;
        // Three questions and their answers are taken.
        while answers < 3 || home.taken(&config) < before + 6 {
            assert!(begun.elapsed() < PATIENCE, "{name}: {answers} answers; {:?}", gateway.said);
            answers += usize::from(reaches(&one, world_v4(), Duration::from_millis(50)).is_some());
        }
    };
    for _ in 0..2 {
        is_shaped("ppp7");
        // As for a listed interface, the devices stay.
        home.wait_for_traces("2 devices, tables: false");
    }
    let create = |number| home.edge.at(|| Tun::create(&format!("ppp{number}"), 1420)).expect("root may");
    let all: Vec<Tun> = (0..20).map(create).collect();
    // `wg0` is missing but has a number, so 15 of the 20 interfaces have two devices each.
    home.wait_for_traces("30 devices, tables: true");
    drop(all);
    home.wait_for_traces("30 devices, tables: false");
    is_shaped("ppp99");
    home.wait_for_traces("30 devices, tables: false");
    let (exit, said) = gateway.end(Signal::TERM);
    assert_eq!(exit, Some(0));
    for line in [
        "`ppp7` is there",
        "`ppp7`, which a pattern covered, is gone",
        "21 interfaces are inside: at most 16",
    ] {
        assert!(said.contains(line), "no `{line}` in {said}");
    }
    assert_eq!(home.traces(), "0 devices, tables: false");
}

#[test]
fn hosts_of_a_tunnel_are_not_counted_by_ethernet_addresses() {
    let Some(home) = Home::new("bare") else { return };
    let peers = thread::spawn(Host::new).join().expect("it does not panic").expect("one more");
    let _tunnel = Tunnel::new(&home.edge, &peers);
    let config = |inside: &str| {
        home.config(|text| {
            let text = text.replace("inside = \"lan0\"", &format!("inside = \"{inside}\""));
            text.replace("[download]\n", "[download]\nflows = [\"mac\", \"5-tuple\"]\n")
        })
    };
    // An interface that only a pattern covers does not stop the gateway.
    let checked = home.checked(&config("wg*"));
    assert!(checked.contains("a pattern covers `wg0`, which does not fit"), "{checked}");
    let config = config("wg0");
    let check = home.call(&["check", config.to_str().expect("UTF-8")]);
    let message = String::from_utf8_lossy(&check.stderr).replace("\n  │ ", " ");
    assert_eq!(check.status.code(), Some(2), "{message}");
    assert!(message.contains("download.flows") && message.contains("no Ethernet address"), "{message}");
}

/// Each packet in the VPN gets IPv4 and UDP headers of `ADDED` bytes.
const CLIENT: &str = "10.9.0.254";
const VPN_SERVER: &str = "10.9.0.1";
const ADDED: u32 = 28;

/// One end of a VPN that carries each IP packet in a datagram.
fn end_of_vpn(host: &Host, name: &str, ip: &str, [own, peer]: [&str; 2]) {
    let mut tun = host.at(|| Tun::create(name, 1420)).expect("root may");
    host.add_address(tun.index(), address(&format!("{ip}/24"))).expect("it is there");
    let socket = host.at(|| UdpSocket::bind((own, 5555)).expect("a free port"));
    socket.connect((peer, 5555)).expect("an address");
    let (receives, writes) = (socket.try_clone().expect("a copy"), rustix::io::dup(&tun).expect("a copy"));
    thread::spawn(move || {
        let mut packet = vec![0; vnet::LEN + 2000]; // an empty virtio-net header before the packet
        loop {
            // An error reports that the other end was not yet open.
            if let Ok(count) = receives.recv(&mut packet[vnet::LEN..]) {
                let _ = rustix::io::write(&writes, &packet[..vnet::LEN + count]);
            }
        }
    });
    thread::spawn(move || {
        let mut scratch = vec![0; MAX_FRAME_BYTES];
        loop {
            let _ = poll(&mut [PollFd::new(&tun, PollFlags::IN)], None);
            let mut send = |packet: &[u8]| {
                let _ = socket.send(packet);
            };
            let taken = tun.receive(&mut |packet, vnet| {
                let headers = LinkKind::Ip.parse(packet);
                let _ = split_parsed(packet, &headers, vnet, &mut scratch, &mut send);
            });
            if taken.is_err() {
                return;
            }
        }
    });
}

fn add_modems(home: &Home) {
    for (host, device, mbps) in [(&home.world, HOST.name, 20), (&home.edge, WAN.name, 10)] {
        let tbf = format!("tc qdisc add dev {device} root tbf rate {mbps}mbit burst 20kb latency 250ms");
        host.at(|| command(&tbf)).expect("iproute2 and sch_tbf");
    }
}

/// The 95th percentile of round trips in ms. A lost packet counts as 100 ms.
fn ping(socket: &UdpSocket, server: SocketAddr, until: Instant) -> f64 {
    let mut all = Vec::new();
    while Instant::now() < until {
        let sent = Instant::now();
        socket.send_to(b"ping", server).expect("a route");
        let _ = socket.recv(&mut [0; 64]);
        all.push(sent.elapsed().as_secs_f64() * 1e3);
        thread::sleep(Duration::from_millis(20));
    }
    all.sort_by(f64::total_cmp);
    all[all.len() * 95 / 100]
}

fn add_vpn(home: &Home) {
    end_of_vpn(&home.edge, "vpn0", CLIENT, [PUBLIC, SERVER]);
    end_of_vpn(&home.world, "tun0", VPN_SERVER, [SERVER, PUBLIC]);
    let route = Route::Via(CLIENT.parse().expect("an address"));
    home.world.add_route(address(&format!("{}/32", HOSTS[1])), route).expect("it is there");
    accept(home, LAN.name, "vpn0");
}

fn with_tunnel(text: &str, rates: [f64; 2]) -> String {
    let tunnels = format!("[wire]\ntunnels = [{{ interface = \"vpn0\", overhead_bytes = {ADDED} }}]\n");
    with_rates(text, rates).replace("[wire]\n", &tunnels)
}

fn with_rates(text: &str, [down, up]: [f64; 2]) -> String {
    text.replace("19 Mbit/s", &format!("{up} Mbit/s")).replace("95 Mbit/s", &format!("{down} Mbit/s"))
}

/// A socket of the host whose packets take the tunnel, and a server behind the tunnel.
fn through_tunnel(home: &Home) -> (UdpSocket, SocketAddr) {
    let socket = home.home.at(|| UdpSocket::bind((HOSTS[1], 0)).expect("its address"));
    socket.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
    (socket, format!("{VPN_SERVER}:7000").parse().expect("an address"))
}

/// A host with two direct connections and a host with four connections through the tunnel get equal
/// shares. After `slow_start` seconds, a ping through the tunnel takes at most 25 ms longer than
/// when idle (field case C10).
fn shares_are_equal(home: &Home, rates: [f64; 2], slow_start: u64, seconds: u64, tolerance: f64) {
    let (socket, server) = through_tunnel(home);
    let ping_for = |seconds| ping(&socket, server, Instant::now() + Duration::from_secs(seconds));
    let idle = ping_for(1);
    for (is_upload, mbps) in [false, true].into_iter().zip(rates) {
        let direct = (&home.home, HOSTS[0], SERVER);
        let tunnelled = (&home.home, HOSTS[1], VPN_SERVER);
        let all = [[direct; 2], [tunnelled; 2], [tunnelled; 2]].concat();
        let (got, loaded) = thread::scope(|scope| {
            let ping = scope.spawn(|| {
                thread::sleep(Duration::from_secs(slow_start));
                ping_for(seconds - slow_start)
            });
            (transfers_to(home, is_upload, &all, seconds), ping.join().expect("it does not panic"))
        });
        // A packet takes 1538 B of the link for 1448 B of data. In the tunnel, it takes 1420 +
        // ADDED + 38 B for 1368 B.
        let direct = rate_of(got[..2].iter().sum(), seconds) * 1538.0 / 1448.0;
        let through = rate_of(got[2..].iter().sum(), seconds) * f64::from(1420 + ADDED + 38) / 1368.0;
        println!(
            "of {mbps} Mbit/s, {direct:.2} direct and {through:.2} in the tunnel; pings {idle:.1} ms, then {loaded:.1} ms"
        );
        assert!(loaded < idle + 25.0, "{idle} and {loaded}");
        assert!((direct / through - 1.0).abs() < tolerance, "{direct} and {through}");
        // Slow start and a busy machine cost up to a fifth of the rate. The buffer of 50 ms adds
        // 2 % in 3 s.
        assert!((0.8..1.05).contains(&((direct + through) / mbps)), "{direct} and {through}");
    }
}

#[test]
fn hosts_behind_the_routers_vpn_client_share_the_link_with_the_others() {
    let Some(home) = Home::new("vpn") else { return };
    echo(&home);
    let rates = [20.0, 10.0];
    let shaped = |text: String| with_tunnel(&text, rates);
    let check = |path: &std::path::Path| home.checked(path);
    let loopback = home.config(|text| shaped(text).replace("\"vpn0\"", "\"lo\""));
    assert_eq!(home.call(&["check", loopback.to_str().expect("UTF-8")]).status.code(), Some(2));
    let path = home.config(shaped);
    assert!(check(&path).contains("the tunnel `vpn0` is missing"), "{}", check(&path));
    add_vpn(&home);
    let path = home.config(|text| with_rates(&text, rates));
    assert!(check(&path).contains("`vpn0` is a tunnel"), "{}", check(&path));
    let path = home.config(shaped);
    assert!(!check(&path).contains("is a tunnel"), "{}", check(&path));
    let gateway = home.start(&path);
    assert_eq!(home.traces(), "4 devices, tables: true", "{:?}", gateway.said);
    // In 3 s, slow start and a busy machine change the shares' ratio by up to a tenth.
    shares_are_equal(&home, rates, 1, 3, 0.1);
    assert_eq!(gateway.end(Signal::TERM).0, Some(0));
    assert_eq!(home.traces(), "0 devices, tables: false");

    // The next gateway deletes even tables of tunnels that are no longer listed.
    let closed = |text: String| text.replace("\"open\"", "\"closed\"");
    home.start(&home.config(|text| closed(shaped(text)))).end(Signal::KILL);
    home.wait_for_traces("0 devices, tables: true");
    let gateway = home.start(&home.config(|text| closed(with_rates(&text, rates))));
    let (socket, server) = through_tunnel(&home);
    assert!(reaches(&socket, server, PATIENCE).is_some(), "{:?}", gateway.said);
    assert_eq!(gateway.end(Signal::TERM).0, Some(0));
    assert_eq!(home.traces(), "0 devices, tables: false");
}

#[test]
#[ignore = "a minute, and it needs tc and BBR: `make field-tunnel`"]
fn a_modem_before_the_routers_vpn_client_stays_empty() {
    let Some(mut home) = Home::distant("modem", Duration::from_millis(10)) else { return };
    add_modems(&home);
    echo(&home);
    add_vpn(&home);
    // The gateway's rates are fractions of the modems' rates, because dropped packets have already
    // passed the modem. The gateway drops 1 % with CUBIC, and 6 % with BBR, which does not slow
    // down for drops.
    for (controller, part) in [("cubic", 0.95), ("bbr", 0.85)] {
        home.controller = controller;
        let rates = [20.0, 10.0].map(|rate| rate * part);
        let gateway = home.start(&home.config(|text| with_tunnel(&text, rates)));
        println!("{controller} at {part}");
        // Windows grow slowly after slow start. The host with fewer connections then gets about 4 %
        // less.
        shares_are_equal(&home, rates, 4, 14, 0.08);
        assert_eq!(gateway.end(Signal::TERM).0, Some(0));
    }
}
