//! Several links in one process.

use super::bed::{Bed, Gateway};
use fairwire_linux::netlink::{Address, End};
use fairwire_testbed::host::{Host, Wire};
use fairwire_testing::program::retried;
use rustix::process::Signal;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The interfaces of a second link. `THERE` is the interface at each host.
const OUTSIDE: End<'static> = End { name: "h0", index: 110 };
const INSIDE: End<'static> = End { name: "h1", index: 111 };
const THERE: End<'static> = End { name: "eth1", index: 110 };
const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const SINK: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);

fn two_links(name: &str) -> Option<(Bed, UdpSocket, UdpSocket)> {
    let bed = Bed::new(name)?;
    let lay = |host: &Host, here: End<'static>, ip: Ipv4Addr| {
        bed.hosts.gateway.join(host, Wire { here, there: THERE, mtu: 1500 }).expect("root may");
        host.add_address(THERE.index, Address { ip: ip.into(), prefix_bits: 24 }).expect("root may");
        host.bring_up(THERE.index).expect("root may");
        bed.hosts.gateway.bring_up(here.index).expect("root may");
        let socket = host.at(|| UdpSocket::bind((ip, 7001)).expect("a free port"));
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("above zero");
        socket
    };
    let (outside, inside) = (lay(&bed.hosts.source, OUTSIDE, SOURCE), lay(&bed.hosts.sink, INSIDE, SINK));
    Some((bed, outside, inside))
}

fn second(bed: &Bed, extra: &str) -> PathBuf {
    let text = bed.text().replace("name = \"", "name = \"second-");
    let text = text.replace("\"g1\"", "\"h1\"").replace("\"g0\"", "\"h0\"");
    bed.write("second.toml", &format!("{text}{extra}"))
}

fn wait_until_it_passes(outside: &UdpSocket, inside: &UdpSocket) {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        let _ = outside.send_to(b"x", (SINK, 7001));
        if inside.recv(&mut [0; 64]).is_ok() {
            return;
        }
    }
    panic!("nothing came through the second link for 20 s");
}

fn wait_for_all(gateway: &Gateway, parts: &[&str]) {
    let mut missing = parts.to_vec();
    let mut seen = Vec::new();
    while let Ok(line) = gateway.lines.recv_timeout(Duration::from_secs(20)) {
        missing.retain(|part| !line.contains(part));
        seen.push(line);
        if missing.is_empty() {
            return;
        }
    }
    panic!("waited 20 s in vain for {missing:?}; it said: {seen:#?}");
}

#[test]
fn two_links_in_one_process_forward_reload_and_fail_independently() {
    let Some((bed, outside, inside)) = two_links("several") else { return };
    let first = bed.config("");
    let second = second(&bed, "[safety]\npatience = \"200 ms\"\n");
    let [a, b] = [&first, &second].map(|path| path.to_str().expect("UTF-8").to_owned());
    let name = format!("fairwire-several-{}", std::process::id());
    // Abstract sockets belong to a network namespace, here the gateway's.
    let manager = bed.hosts.gateway.at(|| {
        UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a short name"))
            .expect("the name is free")
    });
    manager.set_read_timeout(Some(Duration::from_secs(20))).expect("above zero");
    let mut command = bed.fairwire(&["run", &a, &b]);
    command.env("NOTIFY_SOCKET", format!("@{name}"));
    let gateway = bed.begin_command(command);
    wait_for_all(&gateway, &["` forwards between g1 and g0", "` forwards between h1 and h0"]);
    let mut text = [0; 500];
    let count = retried(|| manager.recv(&mut text)).expect("the manager is notified");
    let said = String::from_utf8_lossy(&text[..count]).into_owned();
    assert_eq!(
        said,
        format!("READY=1\nSTATUS={}: forwarding; second-{}: forwarding", bed.name, bed.name),
        "once, when both forward"
    );
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    wait_until_it_passes(&outside, &inside);

    fs::write(&second, fs::read_to_string(&second).expect("it is ours").replace("20 Mbit", "30 Mbit"))
        .expect("it is ours");
    let reloaded = bed.call(&["reload", &b]);
    assert!(reloaded.status.success(), "{}", String::from_utf8_lossy(&reloaded.stderr));
    gateway.wait_for(&format!("second-{}: reloaded: 1 change", bed.name));
    assert_eq!(bed.status(&first)["changes"]["reload"].as_u64().unwrap_or(0), 0);
    assert_eq!(bed.status(&second)["changes"]["reload"].as_u64(), Some(1));
    gateway.signal(Signal::HUP);
    let [one, two] = ["", "second-"].map(|before| format!("{before}{}: reloaded", bed.name));
    wait_for_all(&gateway, &[&one, &two]);

    bed.hosts.gateway.remove(INSIDE.index).expect("root may");
    gateway.wait_for("this gateway has ended: ");
    hosts.drain();
    hosts.wait_until_it_passes();
    let gone = bed.call(&["status", &b]);
    assert_eq!(gone.status.code(), Some(2), "it has taken its socket away");
    let (exit, said) = gateway.end();
    assert_eq!(exit.code(), Some(1), "one of them failed: {said}");
    assert!(said.contains("0 left inside") && !said.contains("MISSING"), "{said}");
}

#[test]
fn several_links_start_all_or_none() {
    let Some((bed, ..)) = two_links("none") else { return };
    let first = bed.config("[safety]\non_failure = \"open\"\n");
    let a = first.to_str().expect("UTF-8");
    let refused = |b: &PathBuf| {
        let output = bed.call(&["run", a, b.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(!said.contains("forwards between"), "{said}");
        assert!(!bed.socket_file().exists() && !bed.is_bridged(), "all is as before: {said}");
        said
    };
    let said = refused(&first);
    assert!(said.contains("gateway.toml:2:") && said.contains("has it already in this process"), "{said}");
    let same = fs::read_to_string(second(&bed, "")).expect("it is ours").replace("\"h1\"", "\"g1\"");
    let said = refused(&bed.write("same.toml", &same));
    assert!(said.contains("same.toml:4:") && said.contains("gateway.toml:4:"), "{said}");
    let missing = same.replace("\"g1\"", "\"no0\"");
    assert!(refused(&bed.write("missing.toml", &missing)).contains("no0"));
    let taken = bed.hosts.gateway.at(|| std::net::TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let address = taken.local_addr().expect("it is bound");
    let text = fs::read_to_string(second(&bed, "")).expect("it is ours");
    let text = text.replace("[telemetry]", &format!("[telemetry]\nmetrics = \"{address}\""));
    assert!(refused(&bed.write("taken.toml", &text)).contains(&address.to_string()));
    let gateway = bed.begin(&["run", a, second(&bed, "").to_str().expect("UTF-8")]);
    wait_for_all(&gateway, &["` forwards between g1 and g0", "` forwards between h1 and h0"]);
    let (exit, said) = gateway.end();
    assert!(exit.success() && !bed.is_bridged(), "{said}");
}
