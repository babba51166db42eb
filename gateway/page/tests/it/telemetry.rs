//! The observer of a datapath on memory ports and virtual time, and the readers of its
//! measurements.

use etherparse::PacketBuilder;
use fairwire_control::snapshot::Snapshot;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, Time};
use fairwire_datapath::class_book::ClassBook;
use fairwire_datapath::classify::{Classifier, FlowKind};
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::io::memory::{Arrival, MemoryPort, run};
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan, Wire};
use fairwire_page::http::{Readers, listen, serve_metrics};
use fairwire_service::sites::ServeError;
use fairwire_service::telemetry::exposition::Format;
use fairwire_service::telemetry::{About, Board, Observer, PortState, WayAbout, exposition};
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::vnet::VnetHeader;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The link's rate: a byte takes 1 us.
const BPS: u64 = 8_000_000;
const BYTES: u64 = 1000;

struct TailDrop;
impl Dropper for TailDrop {}

fn about() -> About {
    let way = |discipline: &str, rate_bps| WayAbout {
        discipline: discipline.into(),
        rate_bps,
        law: None,
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
        config: None,
    }
}

fn datapath() -> Datapath {
    let direction = |shaper| DirectionPlan {
        shaper,
        classifier: Classifier::new(FlowHasher::new([7; 16]), 0),
        pool: PoolSize { frames: 256, frame_bytes: 1518 },
        flows: 64,
        classes: 1,
    };
    let shaper = ShaperPlan {
        discipline: Box::new(Queue::new(Limit::packets(20), Fcfs, TailDrop)),
        rate: Rate::from_bps(BPS).expect("not zero"),
        catch_up: Duration::ZERO,
        not_ip: Rate::from_bps(BPS).expect("not zero"),
        control: Rate::from_bps(BPS).expect("not zero"),
    };
    Datapath::new(DatapathPlan { forward: direction(Some(shaper)), backward: direction(None) })
}

fn udp(from: u16) -> Vec<u8> {
    let builder =
        PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([192, 0, 2, 1], [10, 0, 0, 2], 64).udp(from, 9);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; BYTES as usize - 42]).expect("a vector takes everything");
    frame
}

/// Two downloads at three quarters of [`BPS`] each, and an upload at a tenth of [`BPS`].
fn arrivals(seconds: u64) -> [Vec<Arrival>; 2] {
    let at = |us: u64, frame| Arrival { at: Time::from_ns(us * 1000), frame, vnet: VnetHeader::PLAIN };
    let download = (0..seconds * 750).flat_map(|n| [at(n * 1333, udp(1)), at(n * 1333 + 666, udp(2))]);
    let upload = (0..seconds * 100).map(|n| at(n * 10_000, udp(3)));
    [download.collect(), upload.collect()]
}

pub(super) fn observed(seconds: u64, look: &mut dyn FnMut(u64, &mut Observer)) -> (Arc<Board>, Datapath) {
    let [download, upload] = arrivals(seconds);
    let mut wire = Wire { left: MemoryPort::new(download), right: MemoryPort::new(upload) };
    let mut datapath = datapath();
    let mut observer = Observer::of(about(), Time::ZERO);
    observer.record(&mut datapath);
    for ms in (0..seconds * 1000).step_by(10) {
        let now = Time::ZERO + Duration::from_ms(ms);
        run(&mut datapath, &mut wire, now);
        observer.took(Duration::from_ms(250));
        observer.observe(now, &datapath, [PortState { is_up: true, ..PortState::default() }; 2]);
        look(ms, &mut observer);
    }
    (observer.board(), datapath)
}

fn near(shown: f64, truth: f64, within: f64) {
    assert!((shown - truth).abs() <= within, "{shown}, not {truth} within {within}");
}

#[test]
fn a_snapshot_shows_the_work_of_the_datapath() {
    let (board, datapath) = observed(4, &mut |_, _| ());
    let snapshot = board.latest_with_classes();
    assert_eq!((snapshot.name.as_str(), snapshot.uptime_s, snapshot.reloads), ("edge", 3.99, 0));
    let [download, upload] = &snapshot.ways[..] else { panic!("two ways") };
    // Three packets of 8000 bits may be miscounted in a second.
    near(download.throughput_bps, 8e6, 24e3);
    near(download.utilization, 1.0, 0.003);
    near(upload.throughput_bps, 0.8e6, 24e3);
    assert_eq!((upload.discipline.as_str(), upload.utilization), ("", 0.0));
    // A full queue of 20 packets takes 20 ms to send. The tolerance is 1 ms plus a bucket's width.
    near(download.sojourn.p50_s, 0.020, 0.002);
    assert!(download.sojourn.p99_s <= download.sojourn.max_s);
    let totals = &download.totals;
    let gone: u64 = totals.dropped.values().chain(totals.lost.values()).sum();
    assert_eq!(totals.packets_in, totals.packets_out + gone + totals.inside);
    assert_eq!(totals.bytes_in, totals.packets_in * BYTES);
    assert_eq!(totals.dropped["overflow"], datapath.forward.totals().dropped[0]);
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
    // The copy may be 500 ms old. In this time, 500,000 bytes leave.
    let bytes = datapath.forward.classes().all()[0].bytes_out;
    assert!((bytes - 500_000..=bytes).contains(&class.bytes_out), "{} of {bytes}", class.bytes_out);
    near(class.fair_bps, class.throughput_bps, 1e-6);
    near(download.worst_share_error_points, 0.0, 1e-9);
    assert_eq!(snapshot.captured, 16);
    let text = serde_json::to_string(&*snapshot).expect("it has no infinity");
    let back: Snapshot = serde_json::from_str(&text).expect("its own form");
    assert_eq!((&back.ports, &back.ways[0].totals), (&snapshot.ports, &snapshot.ways[0].totals));
    near(back.ways[0].flows[0].offered_bps, snapshot.ways[0].flows[0].offered_bps, 1e-6);
}

#[test]
fn counts_show_totals_of_each_flow_at_the_time_of_their_copy() {
    let (board, datapath) = observed(4, &mut |_, _| ());
    let counts = board.counts(1000);
    let [download, upload] = &counts.ways[..] else { panic!("two ways") };
    assert_eq!((download.flow_count, download.flows.len()), (2, 2));
    assert_eq!((upload.flow_count, upload.flows[0].flow.as_str()), (1, "udp 192.0.2.1:3 -> 10.0.0.2:9"));
    // Flow counters are copied every half second, last at 3.5 s.
    assert!(download.flows.iter().all(|flow| (flow.at_s - 3.5).abs() < 1e-9), "{:?}", download.flows);
    for flow in &download.flows {
        near(flow.packets_in as f64, 3500.0 / 1.333, 2.0);
        assert_eq!(flow.bytes_in, flow.packets_in * BYTES);
        assert_eq!(flow.bytes_out, flow.packets_out * BYTES);
        // At most twenty packets wait, and one is being sent.
        assert!(flow.packets_in - flow.packets_out - flow.dropped <= 21, "{flow:?}");
    }
    near(download.flows.iter().map(|flow| flow.packets_out).sum::<u64>() as f64, 3500.0, 2.0);
    // Totals and waits, unlike flow counters, are current.
    assert_eq!(download.totals.packets_in, datapath.forward.totals().packets_in);
    let left: u64 = download.waits.counts.iter().sum();
    assert_eq!(left, download.totals.packets_out + 1, "one is being sent");
    let one = board.counts(1);
    assert_eq!((one.ways[0].flow_count, one.ways[0].flows.len()), (2, 1));
    assert_eq!(one.ways[0].flows[0], download.flows[0]);
    assert!(download.flows[0].bytes_out >= download.flows[1].bytes_out);
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

#[derive(Debug, Default)]
struct Page {
    kinds: BTreeMap<String, String>,
    samples: BTreeMap<String, f64>,
}

fn open_metrics(board: &Board) -> String {
    exposition::text(&board.latest_with_classes(), &board.about(), Format::OpenMetrics)
}

fn strictly(text: &str, format: Format) -> Page {
    let mut page = Page::default();
    let mut family = String::new();
    let (body, kinds) = match format {
        Format::OpenMetrics => {
            let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF and a line feed");
            (body, &["counter", "gauge", "info", "histogram"][..])
        }
        Format::Text => (
            text.strip_suffix('\n').expect("it ends with a line feed"),
            &["counter", "gauge", "histogram"][..],
        ),
    };
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.splitn(3, ' ');
            let (word, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            match word {
                "HELP" => {
                    assert!(!rest.contains('\\') && !rest.is_empty(), "{line}");
                    family = name.into();
                }
                "TYPE" => {
                    assert!(name == family && kinds.contains(&rest), "{line}");
                    assert!(page.kinds.insert(name.into(), rest.into()).is_none(), "{name} is there twice");
                }
                "UNIT" => assert!(
                    format == Format::OpenMetrics && name == family && name.ends_with(&format!("_{rest}")),
                    "{line}"
                ),
                _ => panic!("no such line: {line}"),
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let suffixes = match (page.kinds[&family].as_str(), format) {
            ("counter", Format::OpenMetrics) => &["_total"][..],
            ("info", _) => &["_info"],
            ("histogram", _) => &["_bucket", "_sum", "_count"],
            _ => &[""],
        };
        assert!(suffixes.iter().any(|suffix| name == format!("{family}{suffix}")), "{name} under {family}");
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{name}");
        let names = label_names(labels, line);
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "{line}");
        assert_eq!(name.ends_with("_bucket"), names.contains(&"le".to_owned()), "{line}");
        assert!(!names.contains(&"quantile".to_owned()), "{line}");
        let value: f64 = value.parse().expect("a number");
        assert!(value.is_finite() && (!name.ends_with("_total") || value >= 0.0), "{line}");
        assert!(!name.ends_with("_info") || value == 1.0, "{line}");
        assert!(page.samples.insert(series.into(), value).is_none(), "{series} is there twice");
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
fn both_formats_follow_their_grammar_and_match_the_snapshot() {
    let (board, _) = observed(2, &mut |_, _| ());
    let snapshot = board.latest_with_classes();
    let pages = [Format::OpenMetrics, Format::Text]
        .map(|format| strictly(&exposition::text(&snapshot, &board.about(), format), format));
    assert_eq!(pages[0].samples, pages[1].samples, "a series is the same in both");
    let [page, _] = pages;
    let totals = &snapshot.ways[0].totals;
    let queue = "{device=\"lan0\",kind=\"tail-drop\"}";
    let process = snapshot.process.as_ref().expect("Linux has /proc");
    for (series, value) in [
        (format!("node_qdisc_packets_total{queue}"), totals.packets_out as f64),
        (format!("node_qdisc_bytes_total{queue}"), totals.bytes_out as f64),
        (format!("node_qdisc_backlog{queue}"), snapshot.ways[0].backlog_bytes as f64),
        (
            "fairwire_dropped_packets_total{way=\"download\",cause=\"overflow\"}".into(),
            totals.dropped["overflow"] as f64,
        ),
        (
            "fairwire_class_bytes_total{way=\"download\",class=\"unclaimed\"}".into(),
            snapshot.ways[0].classes[0].bytes_out as f64,
        ),
        ("fairwire_rate_bytes_per_second{way=\"download\"}".into(), 1e6),
        ("fairwire_port_up{device=\"wan0\"}".into(), 1.0),
        ("fairwire_gateway_info{name=\"edge\"}".into(), 1.0),
        ("process_resident_memory_bytes".into(), process.resident_bytes as f64),
        ("process_start_time_seconds".into(), process.started_s),
        ("fairwire_forwarding_cpu_seconds_total".into(), 0.25),
    ] {
        assert_eq!(page.samples.get(&series), Some(&value), "{series}");
    }
    assert!(page.samples["process_cpu_seconds_total"] > 0.0 && page.samples["process_threads"] >= 1.0);
    assert!(!page.samples.keys().any(|series| series.contains("192.0.2.1")), "no label per flow");
    assert!(!page.samples.keys().any(|series| series.starts_with("node_qdisc") && series.contains("wan0")));
}

#[test]
fn the_sojourn_is_a_histogram_since_the_start() {
    let (board, datapath) = observed(3, &mut |_, _| ());
    let page = strictly(&open_metrics(&board), Format::OpenMetrics);
    let sample = |name: &str, more: &str| {
        page.samples[&format!("fairwire_sojourn_seconds{name}{{way=\"download\"{more}}}")]
    };
    let count = sample("_count", "");
    // A packet is counted when its transmission begins, so the count may be higher by one.
    near(count, datapath.forward.totals().packets_out as f64, 1.0);
    assert_eq!(sample("_bucket", ",le=\"+Inf\""), count);
    // The queue is mostly full: 20 packets of 1 ms each.
    near(sample("_sum", "") / count, 0.020, 0.002);
    let below = |bound: &str| sample("_bucket", &format!(",le=\"{bound}\"")) / count;
    assert!(below("0.012582912") < 0.1 && below("0.025165824") > 0.99, "a bound is where it says");
    let mut buckets: Vec<(f64, f64)> = page
        .samples
        .iter()
        .filter_map(|(series, value)| {
            let bound = series.strip_prefix("fairwire_sojourn_seconds_bucket{way=\"download\",le=\"")?;
            Some((bound.strip_suffix("\"}")?.parse().expect("a number or +Inf"), *value))
        })
        .collect();
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(buckets.len(), 34);
    assert!(
        buckets.windows(2).all(|pair| pair[0].1 <= pair[1].1),
        "each holds those below it too: {buckets:?}"
    );
}

#[test]
fn counters_never_decrease_across_a_reload() {
    let mut last: BTreeMap<String, f64> = BTreeMap::new();
    let (board, _) = observed(3, &mut |ms, observer| {
        if ms == 1500 {
            let board = observer.board();
            let samplers = board.samplers(&about(), Time::ZERO + Duration::from_ms(ms));
            drop(observer.replaced_by(samplers));
            board.replaced(about(), Time::ZERO + Duration::from_ms(ms));
        }
        let page = strictly(&open_metrics(&observer.board()), Format::OpenMetrics);
        let is_counter =
            |series: &str| ["_total", "_bucket", "_count", "_sum"].iter().any(|end| series.contains(end));
        for (series, value) in page.samples.into_iter().filter(|(series, _)| is_counter(series)) {
            let before = last.insert(series.clone(), value).unwrap_or(0.0);
            assert!(value >= before, "{series} went from {before} to {value} at {ms} ms");
        }
    });
    assert_eq!(board.latest().reloads, 1);
    board.edited(about());
    assert_eq!(board.latest().reloads, 2, "one that leaves all classes in place is one too");
    assert!(last["node_qdisc_packets_total{device=\"lan0\",kind=\"tail-drop\"}"] > 2500.0);
}

pub(super) fn send(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(request.as_bytes()).expect("it takes a request");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers in words");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (head.to_ascii_lowercase(), body.to_owned())
}

pub(super) fn request(line: &str, more: &str) -> String {
    format!("{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n")
}

struct Served {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn new(token: Option<&str>) -> Self {
        Served::to(Readers { token: token.map(String::from), hosts: Vec::new() })
    }

    fn to(readers: Readers) -> Self {
        let (board, _) = observed(1, &mut |_, _| ());
        let token = readers.token.as_deref();
        let listener = listen("127.0.0.1:0".parse().expect("an address"), token).expect("loopback is free");
        let address = listener.local_addr().expect("it is bound");
        let stop = Arc::new(AtomicBool::new(false));
        let thread = serve_metrics(listener, &readers, board, stop.clone()).expect("a thread");
        Served { address, stop, thread: Some(thread) }
    }

    fn status(&self, request: &str) -> String {
        send(self.address, request).0.split(' ').nth(1).expect("a status").to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

#[test]
fn only_metrics_are_served() {
    let served = Served::new(None);
    let (head, body) = send(served.address, &request("GET /metrics", ""));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{head}");
    assert!(strictly(&body, Format::Text).samples.len() > 100);
    let accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5\r\n";
    let (head, body) = send(served.address, &request("GET /metrics", accept));
    assert!(
        head.contains("content-type: application/openmetrics-text; version=1.0.0; charset=utf-8"),
        "{head}"
    );
    assert!(strictly(&body, Format::OpenMetrics).samples.len() > 100);
    for (line, status) in [("GET /", "404"), ("POST /metrics", "405"), ("GET /metrics/../etc", "404")] {
        let (head, _) = send(served.address, &request(line, ""));
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{line}: {head}");
    }
    let large = format!("X: {}\r\n", "x".repeat(100_000));
    let mut stream = TcpStream::connect(served.address).expect("it listens");
    // The server may close the connection before everything is written.
    let _ = stream.write_all(request("GET /metrics", &large).as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "a head of 100 kB is refused");
}

fn connected_from(peer: [u8; 4], to: SocketAddr) -> TcpStream {
    use rustix::net::{AddressFamily, SocketAddrV4, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&socket, &SocketAddrV4::new(peer.into(), 0)).expect("loopback has it");
    connect(&socket, &to).expect("it listens");
    TcpStream::from(socket)
}

fn closed(streams: &[TcpStream]) -> usize {
    let is_over = |stream: &&TcpStream| {
        let mut stream: &TcpStream = stream;
        stream.set_nonblocking(true).expect("a socket can");
        let over = match stream.read(&mut [0; 512]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        };
        stream.set_nonblocking(false).expect("a socket can");
        over
    };
    streams.iter().filter(is_over).count()
}

#[test]
fn three_hundred_silent_clients_keep_no_reader_waiting() {
    let served = Served::new(Some("secret"));
    let token = "Authorization: Bearer secret\r\n";
    let hundred = || (0..100).map(|_| connected_from([127, 0, 0, 2], served.address));
    let mut silent: Vec<TcpStream> = hundred().chain(hundred()).collect();
    let mut slow = connected_from([127, 0, 0, 9], served.address);
    slow.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n").expect("it takes a part");
    silent.extend(hundred());
    slow.write_all(format!("{token}\r\n").as_bytes()).expect("it is still there: others have more");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("it answers in words");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    for _ in 0..5 {
        assert_eq!(served.status(&request("GET /metrics", token)), "200");
    }
    // The server keeps 64 connections and closes 236. Some may close late.
    let over = closed(&silent);
    assert!((230..300).contains(&over), "{over} of 300 had to go");
    // The server closes the rest after two seconds.
    for mut stream in silent {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
}

#[test]
fn a_connection_closes_after_one_answer() {
    let served = Served::new(None);
    let stay = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
    let stayers: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).expect("it listens");
            stream.write_all(stay.as_bytes()).expect("it takes a request");
            stream
        })
        .collect();
    assert_eq!(served.status(&request("GET /metrics", "")), "200");
    for mut stream in stayers {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers and closes");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.to_lowercase().contains("connection: close"));
    }
}

#[test]
fn a_rebound_host_name_gets_nothing() {
    let named = |host: &str| format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let listed = |token: Option<&str>| {
        Served::to(Readers { token: token.map(String::from), hosts: vec!["gw.example.net".into()] })
    };
    let [plain, with_hosts] = [Served::new(None), listed(None)];
    for (host, alone, with) in [
        ("localhost", "200", "200"),
        ("LOCALHOST.:9820", "200", "200"),
        ("127.0.0.1:9820", "200", "200"),
        ("[::1]:9820", "200", "200"),
        ("192.0.2.7", "200", "200"),
        ("gw.example.net:9820", "421", "200"),
        ("GW.example.net.", "421", "200"),
        ("evil.example", "421", "421"),
        ("localhost.evil.example:9820", "421", "421"),
        ("127.0.0.1.evil.example", "421", "421"),
        ("evil.example#127.0.0.1", "400", "400"),
        ("", "400", "400"),
    ] {
        assert_eq!(plain.status(&named(host)), alone, "{host}");
        assert_eq!(with_hosts.status(&named(host)), with, "{host}, with a list");
    }
    let twice = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    let none = "GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n";
    let old = "GET /metrics HTTP/1.0\r\n\r\n";
    let whole = "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    for (request, status) in [(twice, "400"), (none, "400"), (old, "200"), (whole, "421")] {
        assert_eq!(plain.status(request), status, "{request}");
    }
    let token = "Authorization: Bearer secret\r\nConnection: close\r\n\r\n";
    let named = |host: &str| format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n{token}");
    assert_eq!(Served::new(Some("secret")).status(&named("any.example")), "200");
    let both = listed(Some("secret"));
    assert_eq!(
        (both.status(&named("gw.example.net")), both.status(&named("any.example"))),
        ("200".into(), "421".into())
    );
}

#[test]
fn with_a_token_only_its_holders_are_answered() {
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
        let (head, _) = send(served.address, &request("GET /metrics", shown));
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{shown:?}: {head}");
    }
}

#[test]
fn a_token_is_required_beyond_loopback() {
    let refused = listen("0.0.0.0:0".parse().expect("an address"), None).expect_err("no token");
    assert!(matches!(refused, ServeError::Open { .. }));
    assert!(refused.to_string().contains("telemetry.token_file"), "{refused}");
    assert!(matches!(listen("[::1]:0".parse().expect("an address"), Some("")), Err(ServeError::EmptyToken)));
    assert!(listen("0.0.0.0:0".parse().expect("an address"), Some("secret")).is_ok());
}

fn monitoring(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/monitoring").join(name)
}

/// Returns the success and output of `promtool`, or `None` if it is missing.
fn promtool(arguments: &[&str], input: &str) -> Option<(bool, String)> {
    use fairwire_testing::program::Running;
    use std::process::{Command, Stdio};
    let mut command = Command::new("promtool");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match Running::start(&mut command) {
        Ok(child) => child,
        Err(error) => {
            let what = arguments.join(" ");
            fairwire_testing::skipped_for_want_of_a_peer(format_args!(
                "promtool {what}: {error} (apt-get install prometheus)"
            ));
            return None;
        }
    };
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.output();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[test]
fn promtool_accepts_the_metrics() {
    let (board, _) = observed(2, &mut |_, _| ());
    let mut snapshot = (*board.latest_with_classes()).clone();
    // One gauge per unit, with names that disciplines use.
    let gauges =
        ["drop_probability_1", "backlog_packets", "flows", "pool_tokens", "delay_s", "contract_rate_bps"];
    snapshot.ways[0].gauges.extend(gauges.map(|name| (name.to_owned(), 0.5)));
    let page = exposition::text(&snapshot, &board.about(), Format::Text);
    for series in [
        "fairwire_discipline_value{way=\"download\",kind=\"tail-drop\",gauge=\"drop_probability\"} 0.5\n",
        "fairwire_discipline_seconds{way=\"download\",kind=\"tail-drop\",gauge=\"delay\"} 0.5\n",
        "fairwire_discipline_flows{way=\"download\",kind=\"tail-drop\",gauge=\"flows\"} 0.5\n",
        "fairwire_discipline_bytes_per_second{way=\"download\",kind=\"tail-drop\",gauge=\"contract_rate\"} 0.0625\n",
    ] {
        assert!(page.contains(series), "{series} is not in\n{page}");
    }
    if let Some(outcome) = promtool(&["check", "metrics"], &page) {
        assert_eq!(outcome, (true, String::new()));
    }
}

#[test]
fn the_alert_rules_are_valid_and_fire_when_expected() {
    let rules = monitoring("fairwire.rules.yml");
    let tests = monitoring("fairwire.rules.test.yml");
    for (verb, path) in [("check", rules), ("test", tests)] {
        let path = path.to_str().expect("UTF-8");
        if let Some((is_right, said)) = promtool(&[verb, "rules", path], "") {
            assert!(is_right, "{said}");
        }
    }
}

fn metrics_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words
        .filter(|word| ["fairwire_", "node_qdisc_", "process_"].iter().any(|first| word.starts_with(first)))
        .collect()
}

#[test]
fn rules_and_dashboard_name_only_exported_metrics() {
    let (board, _) = observed(1, &mut |_, _| ());
    let page = strictly(&open_metrics(&board), Format::OpenMetrics);
    let exported: BTreeSet<&str> =
        page.samples.keys().map(|series| series.split('{').next().expect("a name")).collect();
    for name in ["fairwire.rules.yml", "fairwire.rules.test.yml", "fairwire-dashboard.json"] {
        let text = std::fs::read_to_string(monitoring(name)).expect("it is checked in");
        let named = metrics_in(&text);
        assert!(named.len() > 5, "{name} names {named:?}");
        let unknown: Vec<_> = named.difference(&exported).collect();
        assert!(unknown.is_empty(), "{name} names {unknown:?}, which no gateway exports");
    }
    // A query with a label that the metrics lack would silently show no data.
    for label in ["way", "device", "kind", "cause", "class", "le"] {
        assert!(page.samples.keys().any(|series| series.contains(&format!("{label}=\""))), "{label}");
    }
}

#[test]
fn the_dashboard_can_be_imported_by_grafana() {
    let text = std::fs::read_to_string(monitoring("fairwire-dashboard.json")).expect("it is checked in");
    let board: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(board["id"].is_null(), "Grafana gives the number");
    assert!(board["uid"].as_str().is_some_and(|uid| (1..=40).contains(&uid.len())));
    assert!(board["title"].as_str().is_some_and(|title| !title.is_empty()));
    assert!(board["schemaVersion"].as_u64().is_some_and(|version| version >= 36));
    let variables: Vec<&str> = board["templating"]["list"]
        .as_array()
        .expect("variables")
        .iter()
        .map(|v| v["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(variables, ["datasource", "instance", "way"]);
    let mut ids = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for panel in board["panels"].as_array().expect("panels") {
        assert!(ids.insert(panel["id"].as_u64().expect("a number")), "an id is there twice: {panel}");
        let kind = panel["type"].as_str().expect("a type");
        assert!(["row", "stat", "timeseries", "heatmap"].contains(&kind), "{kind}");
        assert!(panel["title"].as_str().is_some_and(|title| !title.is_empty()), "{panel}");
        let at = |key: &str| panel["gridPos"][key].as_u64().expect("a place");
        assert!(at("x") + at("w") <= 24 && at("h") > 0, "{panel}");
        for cell in
            (at("x")..at("x") + at("w")).flat_map(|x| (at("y")..at("y") + at("h")).map(move |y| (x, y)))
        {
            assert!(cells.insert(cell), "two panels lie on each other at {cell:?}");
        }
        if kind == "row" {
            continue;
        }
        let mut letters = BTreeSet::new();
        for target in panel["targets"].as_array().expect("what it shows") {
            assert!(letters.insert(target["refId"].as_str().expect("a letter")), "{panel}");
            let query = target["expr"].as_str().expect("a query");
            assert!(!metrics_in(query).is_empty() || query.starts_with("up{"), "{query}");
            assert_eq!(query.matches('(').count(), query.matches(')').count(), "{query}");
            let variables_of = query.split('$').skip(1);
            for name in variables_of.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next())
            {
                let name = name.expect("a name");
                assert!(name == "__rate_interval" || variables.contains(&name), "${name} in {query}");
            }
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{panel}");
        }
    }
}
