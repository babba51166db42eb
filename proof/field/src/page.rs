//! The cost and robustness of the gateway's page.
//!
//! The cost of viewers is measured as CPU time, since a gateway's throughput differs by a tenth
//! between two intervals of 2 s. If the forwarding thread's work for viewers takes 1 % of a core,
//! the maximum throughput falls by 1 %.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::Happened;
use crate::gateway::Gateway;
use crate::run::{Middle, Run};
use crate::scale;
use crate::world::{Wiring, flow};
use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::{FlowsChoice, PageSpec};
use fairwire_testbed::traffic::{Flow, Sends, Traffic, on_the_link};
use fairwire_wire::Way;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

/// The address of the page, in the gateway's namespace.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9821);
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// All tests of the page, once each.
pub fn all() -> Vec<Happened> {
    vec![
        Happened::tried(false, &mut || {
            Happened::of(
                "page-viewers",
                "three viewers at 100 Hz take 1 % of the thread that forwards, and 3 % of a core in all other threads",
                viewers,
            )
        }),
        Happened::tried(false, &mut || {
            Happened::of("page-list", "20 000 subscribers are searched and listed in 300 ms", list)
        }),
        Happened::tried(false, &mut || {
            Happened::of(
                "page-crowd",
                "10 000 connections that send a header by the byte disturb neither forwarding nor another reader",
                crowd,
            )
        }),
    ]
}

fn with_page(mut document: Document) -> Document {
    document.spec.telemetry.page = Some(PageSpec {
        address: ADDRESS.to_string(),
        history: None,
        size: None,
        keep: None,
        arrivals: None,
    });
    document
}

/// Requests `path`, from a thread in the gateway's network namespace.
fn request(path: &str) -> Fallible<TcpStream> {
    let mut stream = TcpStream::connect_timeout(&ADDRESS, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    Ok(stream)
}

fn answer(path: &str) -> Fallible<(String, f64)> {
    let began = clock::now();
    let mut text = String::new();
    request(path)?.read_to_string(&mut text)?;
    let took_ms = clock::now().since(began).secs() * 1e3;
    match text.split_once("\r\n\r\n") {
        Some((head, body)) if head.starts_with("HTTP/1.1 200") => Ok((body.to_owned(), took_ms)),
        _ => Err(format!("the answer to {path} is `{}`", text.lines().next().unwrap_or_default()).into()),
    }
}

/// Viewers. Each selects the busiest download flow.
const VIEWERS: usize = 3;
/// The number of pairs of intervals: one without viewers, one with viewers.
const PAIRS: usize = 16;
const INTERVAL: Duration = Duration::from_secs(1);
/// The time until a new stream is read at its final rate.
const SETTLING: Duration = Duration::from_ms(200);
/// Packets per second. Forwarding them takes a large fraction of a core.
const PACKETS: u64 = 20_000;
/// Readings per second.
const READINGS: f64 = 100.0;
/// The fewest readings per second for a meaningful result. A busy machine skips readings. The cost
/// of the remaining readings is then scaled up to [`READINGS`] per second.
const MIN_READINGS: f64 = 50.0;

/// CPU use in an interval, as fractions of a core.
#[derive(Clone, Copy)]
struct Used {
    forwarding: f64,
    others: f64,
}

fn viewers(happened: &mut Happened) -> Fallible<()> {
    let seconds = 2 + PAIRS as u64 * 3;
    let duration_ns = seconds * 1_000_000_000;
    let size = on_the_link(14 + 28 + 100) as u32;
    let bps = PACKETS * u64::from(size) * 8;
    let sends = Sends::Udp { bps, payload: 100, counted: size };
    let traffic = Traffic::new(vec![flow("udp", sends, Way::Download, 0, duration_ns)], duration_ns);
    let document = with_page(Document::both_ways(direction(100, "faba", Some(FlowsChoice::Inside))));
    let mut run = Run::begin(Wiring::default(), Middle::Gateway(&document), traffic)?;
    run.wait_until(1.0);
    let picks = picks(run.gateway())?;
    let (mut without, mut with, mut readings) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..PAIRS {
        without.push(used(run.gateway()));
        let (used, read) = while_looked_at(&picks, || used(run.gateway()))?;
        with.push(used);
        readings.push(read);
    }
    happened.finish(&mut run)?;
    let median_of =
        |of: fn(&Used) -> f64, all: &[Used]| 100.0 * median(&mut all.iter().map(of).collect::<Vec<f64>>());
    happened.count("forwarding without viewers, % of a core", median_of(|used| used.forwarding, &without));
    let others = median_of(|used| used.others, &without);
    happened.count("other threads without viewers, % of a core", others);
    // For each pair, the extra CPU use with three viewers, % of a core, scaled to [`READINGS`] per
    // second.
    let more = |of: fn(&Used) -> f64| -> Vec<f64> {
        let pairs = with.iter().zip(&without).zip(&readings);
        pairs.map(|((with, without), read)| 100.0 * (of(with) - of(without)) * READINGS / read).collect()
    };
    let mut forwarding = more(|used| used.forwarding);
    let middle = median(&mut forwarding);
    happened.count("the same, lower quartile, % of a core", forwarding[PAIRS / 4]);
    happened.count("the same, upper quartile, % of a core", forwarding[PAIRS * 3 / 4]);
    happened.expect_in_time("forwarding is busier, % of a core", middle, Allowed::at_most(1.0));
    let others = others + median(&mut more(|used| used.others));
    happened.expect_in_time("other threads with viewers, % of a core", others, Allowed::at_most(3.0));
    let least = readings.iter().copied().fold(f64::INFINITY, f64::min);
    happened.expect_in_time("readings of a viewer in a second", least, Allowed::at_least(MIN_READINGS));
    happened.check_conservation(run.gateway())
}

/// The busiest flow as a selection for `/api/stream`, percent-encoded.
fn picks(gateway: &Gateway) -> Fallible<String> {
    let snapshot = gateway.status()?;
    let flow = snapshot.ways.first().and_then(|way| way.flows.first()).ok_or("no flow to pick")?;
    let picks = serde_json::json!([{ "way": "download", "kind": "flow", "name": flow.flow }]);
    Ok(percent_encoded(&picks.to_string()))
}

/// A text encoded as a URL value (RFC 3986, section 2.1).
fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

fn used(gateway: &Gateway) -> Used {
    let (began, before) = (clock::now(), gateway.ran_s(FORWARDING));
    clock::sleep_until(began + INTERVAL);
    let (took, after) = (clock::now().since(began).secs(), gateway.ran_s(FORWARDING));
    Used { forwarding: (after[0] - before[0]) / took, others: (after[1] - before[1]) / took }
}

const FORWARDING: &str = "datapath";

/// Measures while the viewers read the page. Also returns the readings per second of the slowest
/// viewer.
fn while_looked_at(picks: &str, measure: impl FnOnce() -> Used) -> Fallible<(Used, f64)> {
    let path = format!("/api/stream?picks={picks}");
    let mut streams = Vec::new();
    for _ in 0..VIEWERS {
        streams.push(request(&path)?);
    }
    let (stop, counted): (AtomicBool, Vec<AtomicU64>) =
        (AtomicBool::new(false), (0..VIEWERS).map(|_| AtomicU64::new(0)).collect());
    let (stop, counted) = (&stop, &counted);
    thread::scope(|scope| {
        for (mut stream, count) in streams.into_iter().zip(counted) {
            scope.spawn(move || {
                let mut some = [0; 65536];
                let mut kept = 0; // a message may come in two parts
                while !stop.load(Ordering::Relaxed) {
                    let Ok(length @ 1..) = stream.read(&mut some[kept..]) else { break };
                    let all = kept + length;
                    let messages = some[..all].windows(MESSAGE.len()).filter(|part| *part == MESSAGE);
                    count.fetch_add(messages.count() as u64 * AT_ONCE, Ordering::Relaxed);
                    kept = (MESSAGE.len() - 1).min(all);
                    some.copy_within(all - kept..all, 0);
                }
            });
        }
        clock::sleep_until(clock::now() + SETTLING);
        let all = || counted.iter().map(|count| count.load(Ordering::Relaxed)).collect::<Vec<u64>>();
        let (began, before) = (clock::now(), all());
        let used = measure();
        let (took, after) = (clock::now().since(began).secs(), all());
        stop.store(true, Ordering::Relaxed);
        let least = after.iter().zip(before).map(|(after, before)| after - before).min().unwrap_or(0);
        Ok((used, least as f64 / took))
    })
}

/// The start of a message. Each message has [`AT_ONCE`] readings.
const MESSAGE: &[u8] = b"event: pulse\n";
const AT_ONCE: u64 = 5;

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

const SEARCHES: u32 = 40;
const LIST_MS: f64 = 300.0;

fn list(happened: &mut Happened) -> Fallible<()> {
    let duration_ns = 8_000_000_000;
    let ping = flow("ping", Sends::Ping { every_ns: 5_000_000 }, Way::Download, 0, duration_ns);
    let document = with_page(scale::document("classful", 0));
    let traffic = Traffic::new(vec![ping], duration_ns);
    let mut run = Run::begin(Wiring::default(), Middle::Gateway(&document), traffic)?;
    run.wait_until(1.0);
    let (mut took, mut listed) = (Vec::new(), 0);
    for number in 0..SEARCHES {
        // Each search finds 111 names: the wanted name, and the names with one or two more digits.
        let wanted = 100 + number;
        let (body, ms) = answer(&format!("/api/classes?way=download&search=s{wanted}&order=name"))?;
        let found: serde_json::Value = serde_json::from_str(&body)?;
        listed += usize::from(
            found["found"] == 111 && found["list"].as_array().is_some_and(|all| all.len() == 111),
        );
        took.push(ms);
    }
    let middle = median(&mut took);
    happened.finish(&mut run)?;
    happened.expect(
        "searches that found what is there",
        listed as f64,
        Allowed::at_least(f64::from(SEARCHES)),
    );
    happened.count("median, ms", middle);
    let longest = took.last().copied().unwrap_or(f64::NAN);
    happened.expect_in_time("longest, ms", longest, Allowed::at_most(LIST_MS));
    happened.check_conservation(run.gateway())
}

const CONNECTIONS: usize = 10_000;
const OPENERS: usize = 8;
/// Whenever a thread has opened this many further connections, it sends one header byte over each
/// open connection.
const BETWEEN_BYTES: usize = 50;
/// The shaped link.
const MBPS: u64 = 40;
/// The connections' arrival, seconds after the start.
const CROWD_S: f64 = 7.0;
const SECONDS: f64 = 14.0;

fn crowd(happened: &mut Happened) -> Fallible<()> {
    room_for(CONNECTIONS)?;
    let duration_ns = (SECONDS * 1e9) as u64;
    let tcp = |number| flow("tcp", Sends::Tcp("cubic".into()), Way::Download, number, duration_ns);
    let ping = flow("ping", Sends::Ping { every_ns: 5_000_000 }, Way::Download, 50, duration_ns);
    let flows: Vec<Flow> = (0..4).map(tcp).chain([ping]).collect();
    let document = with_page(Document::both_ways(direction(MBPS, "faba", Some(FlowsChoice::FiveTuple))));
    let mut run =
        Run::begin(Wiring::default(), Middle::Gateway(&document), Traffic::new(flows, duration_ns))?;
    run.wait_until(CROWD_S);
    let stop = AtomicBool::new(false);
    let (opened, mut answers) = thread::scope(|scope| -> Fallible<_> {
        let openers: Vec<_> = (0..OPENERS).map(|_| scope.spawn(|| open_slowly(&stop))).collect();
        let mut answers = Vec::new();
        while clock::now() < run.start + Duration::from_ns(duration_ns - 500_000_000) {
            answers.push(answer("/metrics").map(|(_, ms)| ms));
            clock::sleep_until(clock::now() + Duration::from_ms(100));
        }
        stop.store(true, Ordering::Relaxed);
        let opened: usize = openers.into_iter().map(|opener| opener.join().unwrap_or(0)).sum();
        Ok((opened, answers.into_iter().collect::<Fallible<Vec<f64>>>()?))
    })?;
    let seen = happened.finish(&mut run)?;
    let tcp = |from_s: f64, to_s: f64| crate::fault::bps(&run.traffic, &seen, "tcp", from_s, to_s) / 1e6;
    let (before, during) = (tcp(2.0, CROWD_S), tcp(CROWD_S, SECONDS));
    happened.expect("connections opened", opened as f64, Allowed::at_least(CONNECTIONS as f64));
    happened.count("TCP on the link before, Mbit/s", before);
    happened.count("TCP on the link with them, Mbit/s", during);
    happened.expect_in_time("with them, part of before", during / before, Allowed::at_least(0.99));
    let pings = &seen.flows[4].delays_ns;
    let wait_ms = |from_s: f64, to_s: f64| {
        let within = pings.iter().filter(|(at, _)| (from_s..to_s).contains(&(*at as f64 / 1e9)));
        let mut waits: Vec<f64> = within.map(|(_, took)| *took as f64 / 1e6).collect();
        waits.sort_by(f64::total_cmp);
        waits.get(waits.len() * 95 / 100).copied().unwrap_or(f64::NAN)
    };
    let (quiet, crowded) = (wait_ms(2.0, CROWD_S), wait_ms(CROWD_S, SECONDS));
    happened.count("95 of 100 pings took before, ms", quiet);
    // A core that also answers 1400 connections per second delays the forwarding thread by some
    // milliseconds.
    happened.expect_in_time("95 of 100 pings took with them, ms", crowded, Allowed::at_most(quiet + 10.0));
    happened.count("metrics for another reader, median, ms", median(&mut answers));
    let longest = answers.last().copied().unwrap_or(f64::NAN);
    happened.expect_in_time("metrics for another reader, longest, ms", longest, Allowed::at_most(LIST_MS));
    happened.check_conservation(run.gateway())
}

/// Opens a thread's part of the [`CONNECTIONS`], and returns how many were opened.
fn open_slowly(stop: &AtomicBool) -> usize {
    let header = b"GET /metrics HTTP/1.1\r\nX-Slow: ".iter().copied().chain(std::iter::repeat(b'a'));
    let header: Vec<u8> = header.take(CONNECTIONS).collect();
    let (mut open, mut opened) = (Vec::<(TcpStream, usize)>::new(), 0);
    while opened < CONNECTIONS / OPENERS && !stop.load(Ordering::Relaxed) {
        let Ok(stream) = connected_from(CROWD) else { continue };
        opened += 1;
        open.push((stream, 0));
        if opened % BETWEEN_BYTES == 0 {
            open.retain_mut(|(stream, sent)| {
                *sent += 1;
                stream.write_all(&header[*sent - 1..*sent]).is_ok()
            });
        }
    }
    while !stop.load(Ordering::Relaxed) {
        clock::sleep_until(clock::now() + Duration::from_ms(50));
    }
    opened
}

/// The crowd's source address. The server reclaims room from the address with the most connections,
/// so the other reader uses another address.
const CROWD: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2)), 0);

fn connected_from(address: SocketAddr) -> Fallible<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&socket, &address)?;
    connect(&socket, &ADDRESS)?;
    Ok(TcpStream::from(socket))
}

fn room_for(connections: usize) -> Fallible<()> {
    let wanted = connections as u64 + 1000;
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    let maximum = now.maximum.map(|maximum| maximum.max(wanted));
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum })
        .map_err(|error| format!("no room for {wanted} connections in a process: {error}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_percent_encoded() {
        assert_eq!(percent_encoded("[{\"a\": 1.5}]"), "%5B%7B%22a%22%3A%201.5%7D%5D");
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
    }
}
