//! One process takes over from another, while traffic passes.

use super::bed::{Bed, Gateway, Hosts, INSIDE};
use fairwire_control::client;
use fairwire_control::protocol::{Answer, Request, Wanted};
use fairwire_service::config::Config;
use fairwire_testing::program::retried;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
struct Seen {
    numbers: Vec<u32>,
    longest: Duration,
    gaps: Vec<(Instant, Duration)>,
}

fn receive(socket: &UdpSocket, is_over: &AtomicBool) -> Seen {
    let (mut seen, mut last) = (Seen::default(), Instant::now());
    let mut bytes = [0; 2048];
    while !is_over.load(Ordering::Relaxed) {
        let Ok(count) = socket.recv(&mut bytes) else { continue };
        let now = Instant::now();
        if count >= 4 {
            seen.numbers.push(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        }
        let gap = now - last;
        if gap > Duration::from_millis(1) {
            seen.gaps.push((last, gap));
        }
        seen.longest = seen.longest.max(gap);
        last = now;
    }
    seen
}

/// Sends a numbered datagram about every half millisecond. Returns the number of datagrams, and the
/// longest time between two consecutive datagrams.
fn send(socket: &UdpSocket, is_over: &AtomicBool) -> (u32, Duration) {
    let (mut number, mut longest, mut last) = (0_u32, Duration::ZERO, Instant::now());
    let mut frame = [0; 200];
    while !is_over.load(Ordering::Relaxed) {
        frame[..4].copy_from_slice(&number.to_be_bytes());
        socket.send_to(&frame, (INSIDE, 7000)).expect("there is room");
        number += 1;
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
        thread::sleep(Duration::from_micros(450));
    }
    (number, longest)
}

fn successor(bed: &Bed, config: &Path) -> Gateway {
    let gateway = bed.begin(&["run", "--take-over", config.to_str().expect("UTF-8")]);
    gateway.wait_for("forwards between");
    gateway
}

fn transfer<'scope>(
    bed: &'scope Bed,
    scope: &'scope thread::Scope<'scope, '_>,
    is_over: &'scope AtomicBool,
    arrived: &'scope AtomicU64,
) {
    let listener = bed.hosts.sink.at(|| TcpListener::bind((INSIDE, 7100)).expect("a free port"));
    scope.spawn(move || {
        let (mut stream, _) = listener.accept().expect("it connects");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("above zero");
        let mut bytes = vec![0; 1 << 16];
        while !is_over.load(Ordering::Relaxed) {
            let count = stream.read(&mut bytes).unwrap_or(0);
            arrived.fetch_add(count as u64, Ordering::Relaxed);
        }
    });
    let mut stream = bed.hosts.source.at(|| TcpStream::connect((INSIDE, 7100)).expect("it is there"));
    stream.set_write_timeout(Some(Duration::from_millis(50))).expect("above zero");
    scope.spawn(move || {
        let bytes = vec![7; 1 << 16];
        while !is_over.load(Ordering::Relaxed) {
            let _ = stream.write(&bytes);
        }
    });
}

/// Returns the results of [`send`] and [`receive`], and the number of TCP bytes that arrived.
fn under_load(bed: &Bed, hosts: &Hosts, act: impl FnOnce()) -> ((u32, Duration), Seen, u64) {
    let (is_over, is_sent, arrived) = (AtomicBool::new(false), AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        transfer(bed, scope, &is_sent, &arrived);
        let receiver = scope.spawn(|| receive(&hosts.inside, &is_over));
        let sender = scope.spawn(|| send(&hosts.outside, &is_sent));
        thread::sleep(Duration::from_millis(300));
        act();
        thread::sleep(Duration::from_millis(300));
        is_sent.store(true, Ordering::Relaxed);
        let sent = sender.join().expect("it does not panic");
        // Waiting packets leave.
        thread::sleep(Duration::from_millis(500));
        is_over.store(true, Ordering::Relaxed);
        (sent, receiver.join().expect("it does not panic"), arrived.load(Ordering::Relaxed))
    })
}

/// A configuration whose queue separates the datagrams from TCP, and loses no datagram.
fn config(bed: &Bed, extra: &str) -> std::path::PathBuf {
    let text = bed.text().replace("20 Mbit/s", "100 Mbit/s").replace("\"faba\"", "\"fq-codel\"");
    bed.write("gateway.toml", &format!("{text}{extra}"))
}

#[test]
fn twenty_take_overs_neither_lose_nor_duplicate_nor_reorder_frames() {
    let Some(bed) = Bed::new("heirs") else { return };
    let config = config(&bed, "");
    let first = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    hosts.drain();
    // Without a take-over, only the machine's noise causes gaps.
    let (_, noise, _) = under_load(&bed, &hosts, || thread::sleep(Duration::from_secs(2)));
    let (mut pauses, mut gateway) = (Vec::new(), Some(first));
    let (sent, seen, arrived) = under_load(&bed, &hosts, || {
        for _ in 0..20 {
            let next = successor(&bed, &config);
            let mut former = gateway.replace(next).expect("there is one");
            let line = former.wait_for("handed over to another process");
            pauses.push(line);
            let exit = former.child.wait().expect("it is ours");
            let said = former.lines.iter().collect::<Vec<_>>().join("\n");
            assert!(exit.success() && !said.contains("MISSING"), "{exit}: {said}");
            thread::sleep(Duration::from_millis(30));
        }
    });
    let mut gaps: Vec<f64> = seen.gaps.iter().map(|(_, gap)| gap.as_secs_f64() * 1e3).collect();
    gaps.sort_by(f64::total_cmp);
    eprintln!(
        "longest time without a datagram: {:.2} ms with 20 take-overs, {:.2} ms without; the sender's own {:.2} ms",
        seen.longest.as_secs_f64() * 1e3,
        noise.longest.as_secs_f64() * 1e3,
        sent.1.as_secs_f64() * 1e3
    );
    eprintln!("the longest ones: {:.2?}", &gaps[gaps.len().saturating_sub(25)..]);
    eprintln!("{}", pauses.join("\n"));
    let different: BTreeSet<u32> = seen.numbers.iter().copied().collect();
    assert_eq!(different.len(), seen.numbers.len(), "none is doubled");
    assert!(seen.numbers.is_sorted(), "none overtakes another");
    assert_eq!(seen.numbers.len() as u32, sent.0, "none is lost");
    assert!(arrived > 1_000_000, "TCP goes on: {arrived} bytes");
    let last = gateway.expect("there is one");
    assert_eq!(bed.status(&config)["ports"][0]["is_up"], true, "its socket answers");
    let (exit, said) = last.end();
    assert!(exit.success() && !said.contains("MISSING"), "{said}");
    assert!(!bed.socket_file().exists(), "the last one takes its socket away");
}

fn false_heir(bed: &Bed, config: &Path, protocol: u32) -> Result<UnixStream, String> {
    let read = Config::load(config).expect("it is ours");
    let spec = read.spec();
    let wanted = Wanted {
        protocol,
        name: bed.name.clone(),
        wire: serde_json::to_value(&spec.wire).expect("it is data"),
        on_failure: serde_json::to_value(spec.safety.on_failure).expect("it is data"),
        watchdog_ms: 1000,
    };
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let handed = [OwnedFd::from(theirs)].into_iter().collect();
    match client::send(&bed.socket_file(), &Request::TakeOver { wanted, handed }) {
        Ok(Answer::Offered) => {}
        Ok(other) => return Err(format!("{other:?}")),
        Err(error) => return Err(error.to_string()),
    }
    let mut list = [0; 1024];
    let count = (&ours).read(&mut list).expect("it sends its papers");
    assert!(list[..count].starts_with(b"[\"control\",\"name\""), "{:?}", &list[..count]);
    Ok(ours)
}

#[test]
fn a_successor_that_dies_or_stalls_costs_only_time() {
    let Some(bed) = Bed::new("heir-dies") else { return };
    let config = config(&bed, "");
    let gateway = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    hosts.drain();
    let attempt = |silence: Duration| {
        let stream = false_heir(&bed, &config, 1).expect("it is offered");
        (&stream).write_all(b"g").expect("it listens");
        // This successor receives everything, but acknowledges nothing.
        stream.set_read_timeout(Some(Duration::from_millis(100))).expect("above zero");
        let mut bytes = vec![0; 1 << 16];
        let until = Instant::now() + silence;
        while (&stream).read(&mut bytes).is_ok_and(|count| count > 0) || Instant::now() < until {}
        drop(stream);
        eprintln!("{}", gateway.wait_for("this process goes on"));
    };
    let (sent, seen, _) = under_load(&bed, &hosts, || attempt(Duration::ZERO));
    assert_eq!(seen.numbers, (0..sent.0).collect::<Vec<_>>(), "none is lost, doubled or out of order");
    let (_, seen, arrived) = under_load(&bed, &hosts, || attempt(Duration::from_millis(1500)));
    let different: BTreeSet<u32> = seen.numbers.iter().copied().collect();
    assert!(different.len() == seen.numbers.len() && seen.numbers.is_sorted(), "none is doubled");
    assert!(arrived > 1_000_000, "TCP goes on: {arrived} bytes");
    drop(false_heir(&bed, &config, 1).expect("it is offered"));
    gateway.wait_for("is gone: this one goes on");
    let (exit, said) = gateway.end();
    assert!(exit.success() && !said.contains("MISSING"), "{said}");
}

#[test]
fn an_unfit_configuration_is_not_handed_over_and_the_reason_is_given() {
    let Some(bed) = Bed::new("heir-refused") else { return };
    let path = config(&bed, "");
    let gateway = bed.start(&path);
    let said = false_heir(&bed, &path, 2).expect_err("another version is refused");
    assert!(said.contains("`protocol` is 2 there, but 1"), "{said}");
    let refused = |path: &Path| {
        let output = bed.call(&["run", "--take-over", path.to_str().expect("UTF-8")]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        said
    };
    let text = std::fs::read_to_string(&path).expect("it is ours");
    let turned = text.replace("\"g1\"", "\"x\"").replace("\"g0\"", "\"g1\"").replace("\"x\"", "\"g0\"");
    let other = bed.write("other.toml", &turned);
    assert!(refused(&other).contains("`wire` is "), "another wire is refused");
    let guarded = bed.write("guarded.toml", &format!("{text}[safety]\non_failure = \"open\"\n"));
    assert!(refused(&guarded).contains("`safety.on_failure`"), "another guard is refused");
    let stranger = bed.write("stranger.toml", &text.replace("name = \"", "name = \"no-"));
    let said = refused(&stranger);
    assert!(said.contains("runs that could be taken over: this one starts"), "{said}");
    assert!(said.contains("is taken by"), "{said}");
    let elsewhere = bed.write("elsewhere.toml", &text.replace("\"g1\"", "\"no-such-if\""));
    assert!(refused(&elsewhere).contains("no-such-if"), "an interface that is not there is named");
    bed.hosts().wait_until_it_passes();
    assert!(bed.socket_file().exists(), "nothing was removed");
    assert!(gateway.end().0.success());
}

#[test]
fn the_guard_follows_the_link_and_the_service_manager_learns_the_process() {
    let Some(bed) = Bed::new("heir-guard") else { return };
    let config = config(&bed, "[safety]\non_failure = \"open\"\n");
    let mut first = bed.start(&config);
    let hosts = bed.hosts();
    hosts.wait_until_it_passes();
    let name = format!("fairwire-heir-{}", std::process::id());
    let manager = bed.hosts.gateway.at(|| {
        UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a short name"))
            .expect("the name is free")
    });
    manager.set_read_timeout(Some(Duration::from_secs(20))).expect("above zero");
    let mut command = bed.fairwire(&["run", "--take-over", config.to_str().expect("UTF-8")]);
    command.env("NOTIFY_SOCKET", format!("@{name}"));
    let second = bed.begin_command(command);
    // These signals act like a suspension of the machine. The take-over must survive them.
    for _ in 0..100 {
        second.signal(Signal::STOP);
        second.signal(Signal::CONT);
        thread::sleep(Duration::from_millis(1));
    }
    second.wait_for("forwards between");
    let mut text = [0; 200];
    let count = retried(|| manager.recv(&mut text)).expect("the manager is notified");
    let said = String::from_utf8_lossy(&text[..count]).into_owned();
    assert_eq!(said, format!("READY=1\nMAINPID={}\nSTATUS=forwarding", second.pid()));
    assert!(first.child.wait().expect("it is ours").success());
    thread::sleep(Duration::from_millis(1500));
    assert!(!bed.is_bridged(), "the guard hears of the second one");
    assert!(hosts.passes(1));
    second.signal(Signal::KILL);
    let until = Instant::now() + Duration::from_secs(10);
    while !bed.is_bridged() && Instant::now() < until {
        thread::sleep(Duration::from_millis(10));
    }
    assert!(bed.is_bridged(), "the second one is gone");
    // A successor now takes the link from the guard.
    let third = successor(&bed, &config);
    assert!(!bed.is_bridged(), "it has the link");
    hosts.drain();
    hosts.wait_until_it_passes();
    assert!(third.end().0.success());
}
