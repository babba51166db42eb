//! What an observer tells of a datapath on memory ports and virtual time, and how it is read.

use etherparse::PacketBuilder;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, Time};
use fairwire_gateway::class_book::ClassBook;
use fairwire_gateway::classify::{Classifier, FlowKind};
use fairwire_gateway::datapath::{Datapath, DatapathPlan, Wire};
use fairwire_gateway::direction::{DirectionPlan, ShaperPlan};
use fairwire_gateway::io::memory::{Arrival, MemoryPort, run};
use fairwire_gateway::pool::PoolSize;
use fairwire_gateway::telemetry::snapshot::Snapshot;
use fairwire_gateway::telemetry::{
    About, Board, Observer, PortState, ServeError, WayAbout, listen, openmetrics, serve_metrics,
};
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::vnet::VnetHeader;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// 8 Mbit/s: one byte is 1 us.
const BPS: u64 = 8_000_000;
const BYTES: u64 = 1000;

struct TailDrop;
impl Dropper for TailDrop {}

fn about() -> About {
    let way = |discipline: &str, rate_bps| WayAbout {
        discipline: discipline.into(),
        rate_bps,
        flows: FlowKind::FiveTuple,
        accounts: 64,
    };
    About {
        name: "edge".into(),
        book: Arc::new(ClassBook::plain()),
        ways: [way("tail-drop", BPS), way("", 0)],
        interfaces: ["lan0".into(), "wan0".into()],
        is_headless: false,
        captured: 16,
    }
}

fn datapath() -> Datapath {
    let direction = |shaper| DirectionPlan {
        shaper,
        delay: Duration::ZERO,
        classifier: Classifier::new(FlowHasher::new([7; 16]), 0),
        pool: PoolSize { frames: 256, frame_bytes: 1518 },
        flows: 64,
        classes: 1,
        loss: None,
    };
    let shaper = ShaperPlan {
        discipline: Box::new(Queue::new(Limit::packets(20), Fcfs, TailDrop)),
        rate: Rate::from_bps(BPS).expect("not zero"),
        catch_up: Duration::ZERO,
        not_ip: Rate::from_bps(BPS).expect("not zero"),
    };
    Datapath::new(DatapathPlan { forward: direction(Some(shaper)), backward: direction(None) }, Time::ZERO)
}

/// A UDP frame of [`BYTES`] from a host to a port of another.
fn udp(from: u16) -> Vec<u8> {
    let builder =
        PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([192, 0, 2, 1], [10, 0, 0, 2], 64).udp(from, 9);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; BYTES as usize - 42]).expect("a vector takes everything");
    frame
}

/// Two flows download for `seconds`, at three quarters of the link each, and one uploads at a tenth of that.
fn arrivals(seconds: u64) -> [Vec<Arrival>; 2] {
    let at = |us: u64, frame| Arrival { at: Time::from_ns(us * 1000), frame, vnet: VnetHeader::PLAIN };
    // One in 1333 us each; the second flow sends half a period later.
    let download = (0..seconds * 750).flat_map(|n| [at(n * 1333, udp(1)), at(n * 1333 + 666, udp(2))]);
    let upload = (0..seconds * 100).map(|n| at(n * 10_000, udp(3)));
    [download.collect(), upload.collect()]
}

/// Runs for `seconds`, observed every 10 ms; each observation is looked at by `look`.
fn observed(seconds: u64, look: &mut dyn FnMut(u64, &mut Observer)) -> (Arc<Board>, Datapath) {
    let [download, upload] = arrivals(seconds);
    let mut wire = Wire { left: MemoryPort::new(download), right: MemoryPort::new(upload) };
    let mut datapath = datapath();
    let mut observer = Observer::of(about(), Time::ZERO);
    observer.record(&mut datapath);
    for ms in (0..seconds * 1000).step_by(10) {
        let now = Time::ZERO + Duration::from_ms(ms);
        run(&mut datapath, &mut wire, now);
        observer.observe(now, &datapath, [PortState { is_up: true, ..PortState::default() }; 2]);
        look(ms, &mut observer);
    }
    (observer.board(), datapath)
}

fn near(told: f64, truth: f64, within: f64) {
    assert!((told - truth).abs() <= within, "{told}, not {truth} within {within}");
}

#[test]
fn a_snapshot_tells_what_the_datapath_did() {
    let (board, datapath) = observed(4, &mut |_, _| ());
    let snapshot = board.latest_with_classes();
    assert_eq!((snapshot.name.as_str(), snapshot.uptime_s, snapshot.reloads), ("edge", 3.99, 0));
    let [download, upload] = &snapshot.ways[..] else { panic!("two ways") };
    // Within three packets of 1000 B in a second: at either end, and what is in between.
    near(download.throughput_bps, 8e6, 24e3);
    near(download.utilization, 1.0, 0.003);
    near(upload.throughput_bps, 0.8e6, 24e3);
    assert_eq!((upload.discipline.as_str(), upload.utilization), ("", 0.0));
    // A full queue of twenty packets of 1 ms, to the millisecond of a step and a bucket.
    near(download.sojourn.p50_s, 0.020, 0.002);
    assert!(download.sojourn.p99_s <= download.sojourn.max_s);
    let totals = &download.totals;
    let gone: u64 = totals.dropped.values().chain(totals.lost.values()).sum();
    assert_eq!(totals.packets_in, totals.packets_out + gone + totals.inside);
    assert_eq!(totals.bytes_in, totals.packets_in * BYTES);
    assert_eq!(totals.dropped["overflow"], datapath.forward.totals().dropped[0]);
    // Flows: one link is taken by both, of which each offered three quarters.
    assert_eq!((download.active_flows, upload.active_flows), (2, 1));
    let names: BTreeSet<&str> = download.flows.iter().map(|flow| flow.flow.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["udp 192.0.2.1:1 -> 10.0.0.2:9", "udp 192.0.2.1:2 -> 10.0.0.2:9"]));
    near(download.flows.iter().map(|flow| flow.throughput_bps).sum(), 8e6, 24e3);
    for flow in &download.flows {
        near(flow.offered_bps, 6e6, 12e3);
        near(flow.drops_per_s * 8000.0, flow.offered_bps - flow.throughput_bps, 24e3);
    }
    let shares: Vec<f64> = download.flows.iter().map(|flow| flow.throughput_bps).collect();
    near(download.jain, fairwire_metrics::jain::jain(&shares), 1e-12);
    assert_eq!(upload.jain, 1.0);
    let [class] = &download.classes[..] else { panic!("one class") };
    assert_eq!(class.class, "unclaimed");
    // Class counters are copied every 500 ms.
    let bytes = datapath.forward.classes().all()[0].bytes_out;
    assert!((bytes - 500_000..=bytes).contains(&class.bytes_out), "{} of {bytes}", class.bytes_out);
    near(class.fair_bps, class.throughput_bps, 1e-6);
    near(download.worst_share_error_points, 0.0, 1e-9);
    assert_eq!(snapshot.captured, 16);
    // As JSON and back.
    let text = serde_json::to_string(&*snapshot).expect("it has no infinity");
    let back: Snapshot = serde_json::from_str(&text).expect("its own form");
    assert_eq!((&back.ports, &back.ways[0].totals), (&snapshot.ports, &snapshot.ways[0].totals));
    near(back.ways[0].flows[0].offered_bps, snapshot.ways[0].flows[0].offered_bps, 1e-6);
}

#[test]
fn a_reader_that_holds_the_board_does_not_make_the_observer_wait() {
    let stop = Arc::new(AtomicBool::new(false));
    let mut readers = Vec::new();
    let (board, _) = observed(3, &mut |ms, observer| {
        if ms == 0 {
            for _ in 0..2 {
                let (board, stop) = (observer.board(), stop.clone());
                readers.push(std::thread::spawn(move || {
                    let mut last = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let sent = board.latest().ways[0].totals.packets_out;
                        assert!(sent >= last, "totals went back from {last} to {sent}");
                        last = sent;
                    }
                }));
            }
        }
    });
    stop.store(true, Ordering::Relaxed);
    readers.into_iter().for_each(|reader| reader.join().expect("no reader fails"));
    assert!(board.latest().uptime_s <= 2.99);
}

#[test]
fn a_capture_holds_the_drops_of_a_run() {
    let (board, _) = observed(1, &mut |_, _| ());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("drops.pcapng");
    assert_eq!(board.capture(&path).expect("a new file"), 16);
    let bytes = std::fs::read(&path).expect("it is there");
    let seen = fairwire_wire::pcap::seen(&bytes).expect("a capture");
    assert!(seen.len() == 16 && seen.iter().all(|packet| u64::from(packet.bytes) == BYTES));
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("dropped: tail-drop overflow; class unclaimed; flow udp 192.0.2.1:"));
    assert_eq!(board.capture(&path).expect_err("it exists").kind(), std::io::ErrorKind::AlreadyExists);
}

/// A page of OpenMetrics: the kind of each family, and its samples with labels as they stand.
#[derive(Debug, Default)]
struct Page {
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

/// Reads a page as strictly as the specification's grammar has it, and of the families what it asks for.
fn strictly(text: &str) -> Page {
    let mut page = Page::default();
    let mut family = String::new();
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF and a line feed");
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (word, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            match word {
                "TYPE" => {
                    assert!(["counter", "gauge", "info", "summary"].contains(&rest), "{line}");
                    assert!(page.kinds.insert(name.into(), rest.into()).is_none(), "{name} stands twice");
                    family = name.into();
                }
                "UNIT" => assert!(name == family && name.ends_with(&format!("_{rest}")), "{line}"),
                "HELP" => assert!(name == family && !rest.contains('\\'), "{line}"),
                _ => panic!("no such line: {line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let suffix = match page.kinds[&family].as_str() {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        assert_eq!(name, format!("{family}{suffix}"), "a sample stands under its family");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
        let names = label_names(labels, line);
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "{line}");
        assert_eq!(page.kinds[&family] == "summary", names.contains(&"quantile".to_owned()), "{line}");
        let value: f64 = value.parse().expect("a number");
        assert!(
            value.is_finite() && (suffix != "_total" || value >= 0.0) && (suffix != "_info" || value == 1.0)
        );
        assert!(page.samples.insert(series.into(), value).is_none(), "{series} stands twice");
    }
    page
}

fn label_names(labels: &str, line: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = labels;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").expect("a quoted value");
        assert!(!name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
        names.push(name.to_owned());
        let mut escaped = false;
        let end = after.find(|c: char| {
            let ends = c == '"' && !escaped;
            assert!(!escaped || ['"', '\\', 'n'].contains(&c), "{line}");
            escaped = c == '\\' && !escaped;
            ends
        });
        let after = &after[end.expect("the quote's end") + 1..];
        rest = after.strip_prefix(',').or_else(|| after.strip_prefix('}')).expect("a comma or the end");
        assert_eq!(rest.is_empty(), after == "}", "{line}");
    }
    names
}

#[test]
fn open_metrics_has_the_grammar_of_its_specification_and_the_numbers_of_the_snapshot() {
    let (board, _) = observed(2, &mut |_, _| ());
    let snapshot = board.latest_with_classes();
    let page = strictly(&openmetrics::text(&snapshot, &board.about()));
    let totals = &snapshot.ways[0].totals;
    let queue = "{device=\"lan0\",kind=\"tail-drop\"}";
    for (series, value) in [
        (format!("node_qdisc_packets_total{queue}"), totals.packets_out as f64),
        (format!("node_qdisc_bytes_total{queue}"), totals.bytes_out as f64),
        (format!("node_qdisc_backlog{queue}"), snapshot.ways[0].backlog_bytes as f64),
        (
            "fairwire_dropped_packets_total{way=\"download\",cause=\"overflow\"}".into(),
            totals.dropped["overflow"] as f64,
        ),
        (
            "fairwire_sojourn_seconds{way=\"download\",quantile=\"0.99\"}".into(),
            snapshot.ways[0].sojourn.p99_s,
        ),
        (
            "fairwire_class_bytes_total{way=\"download\",class=\"unclaimed\"}".into(),
            snapshot.ways[0].classes[0].bytes_out as f64,
        ),
        ("fairwire_port_up{device=\"wan0\"}".into(), 1.0),
        ("fairwire_gateway_info{name=\"edge\"}".into(), 1.0),
    ] {
        assert_eq!(page.samples.get(&series), Some(&value), "{series}");
    }
    assert!(!page.samples.keys().any(|series| series.contains("192.0.2.1")), "no label per flow");
    assert!(!page.samples.keys().any(|series| series.starts_with("node_qdisc") && series.contains("wan0")));
}

#[test]
fn counters_of_open_metrics_never_go_back_over_a_reload() {
    let mut last: BTreeMap<String, f64> = BTreeMap::new();
    let (board, _) = observed(3, &mut |ms, observer| {
        if ms == 1500 {
            let board = observer.board();
            let samplers = board.samplers(&about(), Time::ZERO + Duration::from_ms(ms));
            drop(observer.replaced_by(samplers));
            board.replaced(about(), Time::ZERO + Duration::from_ms(ms));
        }
        let board = observer.board();
        let page = strictly(&openmetrics::text(&board.latest_with_classes(), &board.about()));
        for (series, value) in page.samples.into_iter().filter(|(series, _)| series.contains("_total")) {
            let before = last.insert(series.clone(), value).unwrap_or(0.0);
            assert!(value >= before, "{series} went from {before} to {value} at {ms} ms");
        }
    });
    assert_eq!(board.latest().reloads, 1);
    board.reloaded();
    assert_eq!(board.latest().reloads, 2, "one that changes weights alone is one too");
    assert!(last["node_qdisc_packets_total{device=\"lan0\",kind=\"tail-drop\"}"] > 2500.0);
}

/// Asks once and returns the head and the body of the answer.
fn ask(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it takes a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in words");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (head.to_ascii_lowercase(), body.to_owned())
}

fn request(line: &str, more: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}\r\n")
}

struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new(token: Option<&str>) -> Self {
        let (board, _) = observed(1, &mut |_, _| ());
        let listener = listen("127.0.0.1:0".parse().expect("an address"), token).expect("loopback is free");
        let address = listener.local_addr().expect("it is bound");
        let stop = Arc::new(AtomicBool::new(false));
        let thread = serve_metrics(listener, token.map(String::from), board, stop.clone()).expect("a thread");
        Served { address, stop, thread: Some(thread) }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

#[test]
fn metrics_are_served_and_nothing_else_is() {
    let served = Served::new(None);
    let (head, body) = ask(served.address, &request("GET /metrics", ""));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(
        head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"),
        "{head}"
    );
    assert!(strictly(&body).samples.len() > 50);
    for (line, status) in [("GET /", "404"), ("POST /metrics", "405"), ("GET /metrics/../etc", "404")] {
        let (head, _) = ask(served.address, &request(line, ""));
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{line}: {head}");
    }
    let large = format!("X: {}\r\n", "x".repeat(100_000));
    let mut stream = TcpStream::connect(served.address).expect("it listens");
    // It may hang up before all is written.
    let _ = stream.write_all(request("GET /metrics", &large).as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "a head of 100 kB is refused");
}

#[test]
fn clients_that_say_nothing_are_sent_away_and_others_answered() {
    let served = Served::new(None);
    let silent: Vec<TcpStream> =
        (0..15).map(|_| TcpStream::connect(served.address).expect("it listens")).collect();
    let (head, _) = ask(served.address, &request("GET /metrics", ""));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    // Until their two seconds are over: reading ends because the other side hangs up.
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}

#[test]
fn with_a_token_only_who_shows_it_is_answered() {
    let served = Served::new(Some("secret"));
    for (shown, status) in [
        ("", "401"),
        ("Authorization: Bearer secret\r\n", "200"),
        ("Authorization: bearer secret\r\n", "200"),
        ("Authorization: Bearer secre\r\n", "401"),
        ("Authorization: Bearer secrets\r\n", "401"),
        ("Authorization: Basic secret\r\n", "401"),
        ("Authorization: Bearer \r\n", "401"),
    ] {
        let (head, _) = ask(served.address, &request("GET /metrics", shown));
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{shown:?}: {head}");
    }
}

#[test]
fn beyond_loopback_a_token_is_needed() {
    let refused = listen("0.0.0.0:0".parse().expect("an address"), None).expect_err("no token");
    assert!(matches!(refused, ServeError::Open { .. }));
    assert!(refused.to_string().contains("telemetry.token_file"), "{refused}");
    assert!(matches!(listen("[::1]:0".parse().expect("an address"), Some("")), Err(ServeError::EmptyToken)));
    assert!(listen("0.0.0.0:0".parse().expect("an address"), Some("secret")).is_ok());
}
