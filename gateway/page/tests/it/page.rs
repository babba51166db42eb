//! The page over HTTP, for a datapath on memory ports.

use super::telemetry::{observed, request, send};
use fairwire_core::{Duration, Ecn, FlowHash, Seed, Time};
use fairwire_datapath::arrivals::Arrival;
use fairwire_datapath::classify::LinkKind;
use fairwire_page::Watch;
use fairwire_page::history::{Bounds, History};
use fairwire_page::http::{Latest, Readers, Site, listen, serve};
use fairwire_page::replay::replay;
use fairwire_service::config::{Config, PlanContext};
use fairwire_service::telemetry::Board;
use fairwire_wire::Way;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

struct Served {
    address: SocketAddr,
    watch: Arc<Watch>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn new(token: Option<&str>) -> Self {
        let (board, _) = observed(3, &mut |_, _| ());
        Served::of(board, token)
    }

    fn of(board: Arc<Board>, token: Option<&str>) -> Self {
        let readers = Readers { token: token.map(String::from), hosts: Vec::new() };
        let listener = listen("127.0.0.1:0".parse().expect("an address"), token).expect("loopback is free");
        let address = listener.local_addr().expect("it is bound");
        let latest = Latest::of(board.clone());
        let history = History::open(None, Bounds { bytes: 1 << 20, keep_s: 86_400 });
        let context =
            PlanContext { secret: [0; 16], seed: Seed(1), frame_bytes: 1518, link: LinkKind::Ethernet };
        let watch = Watch::new(board, latest.clone(), history, context);
        let stop = Arc::new(AtomicBool::new(false));
        let site = Site::page(listener, &readers, latest, fairwire_page::routes(watch.clone()));
        let thread = serve(vec![site], stop.clone()).expect("a thread");
        Served { address, watch, stop, thread: Some(thread) }
    }

    fn get(&self, path: &str) -> String {
        let (head, body) = send(self.address, &request(&format!("GET {path}"), ""));
        assert!(head.starts_with("http/1.1 200"), "{path}: {head} {body}");
        body
    }

    fn json(&self, path: &str) -> Value {
        let (head, body) = send(self.address, &request(&format!("GET {path}"), ""));
        assert!(head.contains("content-type: application/json"), "{head}");
        serde_json::from_str(&body).expect("JSON")
    }

    fn status(&self, line: &str, more: &str) -> String {
        send(self.address, &request(line, more)).0.split(' ').nth(1).expect("a status").to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn metric(page: &str, name: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("`{name}` is not in\n{page}")).parse().expect("a number")
}

#[test]
fn numbers_of_the_page_match_the_metrics() {
    let served = Served::new(None);
    let (shown, metrics) = (served.json("/api/snapshot"), served.get("/metrics"));
    let download = &shown["ways"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    for (name, value) in [
        ("fairwire_uptime_seconds", &shown["uptime_s"]),
        ("fairwire_utilization_ratio{way=\"download\"}", &download["utilization"]),
        ("fairwire_jain_index{way=\"download\"}", &download["jain"]),
        ("fairwire_active_flows{way=\"download\"}", &download["active_flows"]),
    ] {
        assert_eq!(metric(&metrics, name), number(value), "{name}");
    }
    assert!(
        shown["fairness"].as_str().expect("a sentence").starts_with("Download: 2 flows"),
        "{}",
        shown["fairness"]
    );
}

#[test]
fn files_need_no_token_and_measurements_need_one() {
    let served = Served::new(Some("secret"));
    let token = "Authorization: Bearer secret\r\n";
    for path in ["/", "/gateway.js", "/gateway.css"] {
        assert_eq!(served.status(&format!("GET {path}"), ""), "200", "{path}");
    }
    for path in [
        "/api/snapshot",
        "/api/stream",
        "/api/classes?way=upload",
        "/api/history?span=now",
        "/api/drops",
        "/api/capture",
        "/metrics",
    ] {
        assert_eq!(served.status(&format!("GET {path}"), ""), "401", "{path}");
        if path != "/api/stream" && path != "/api/capture" {
            assert_eq!(served.status(&format!("GET {path}"), token), "200", "{path}");
        }
    }
    assert_eq!(served.status("GET /etc/passwd", token), "404");
    assert_eq!(served.status("POST /api/snapshot", token), "405");
}

#[test]
fn every_answer_has_security_headers_and_other_sites_get_nothing() {
    let served = Served::new(None);
    for path in ["/", "/api/snapshot", "/nothing"] {
        let (head, _) = send(served.address, &request(&format!("GET {path}"), ""));
        for header in [
            "content-security-policy: default-src 'self';",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
        ] {
            assert!(head.contains(header), "{path}: {head}");
        }
    }
    assert_eq!(served.status("GET /api/snapshot", "Origin: https://evil.example\r\n"), "403");
    let foreign = "GET /api/snapshot HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
    assert!(send(served.address, foreign).0.starts_with("http/1.1 421"));
}

#[test]
fn nonsensical_requests_are_refused_with_the_reason() {
    let served = Served::new(None);
    for path in [
        "/api/classes",
        "/api/classes?way=sideways",
        "/api/classes?way=upload&limit=-1",
        "/api/classes?way=upload&order=%00",
        "/api/history?span=century",
        "/api/stream?picks=x",
        "/api/stream?picks=[{\"way\":\"upload\",\"kind\":\"class\"}]",
    ] {
        assert_eq!(served.status(&format!("GET {path}"), ""), "400", "{path}");
    }
    let long = "a".repeat(300);
    assert_eq!(served.status(&format!("GET /api/classes?way=upload&search={long}"), ""), "400");
    let picks = format!("[{}]", ["{\"way\":\"upload\",\"kind\":\"class\",\"name\":\"x\"}"; 9].join(","));
    assert_eq!(served.status(&format!("GET /api/stream?picks={picks}"), ""), "400");
}

#[test]
fn a_stream_begins_with_a_snapshot_and_a_17th_viewer_is_refused() {
    let served = Served::new(None);
    let viewer = || {
        let mut stream = TcpStream::connect(served.address).expect("it listens");
        stream.write_all(request("GET /api/stream", "").as_bytes()).expect("it takes a request");
        let mut lines = BufReader::new(stream).lines().map(|line| line.expect("it answers"));
        (lines.next().expect("a status"), lines)
    };
    let viewers: Vec<_> = (0..16).map(|_| viewer()).collect();
    assert!(viewers.iter().all(|(status, _)| status.ends_with("200 OK")));
    assert_eq!(viewer().0, "HTTP/1.1 503 Service Unavailable");
    for (_, mut lines) in viewers {
        let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).expect("an event");
        let shown: Value = serde_json::from_str(&data).expect("JSON");
        assert!(shown["name"] == "edge" || shown["at_s"].is_array(), "{data}");
    }
    assert!(served.watch.live.viewers() <= 16);
}

/// A second of arrivals at twice the rate of a 10 Mbit/s link.
fn load() -> Vec<Arrival> {
    let arrival = |n: u64| Arrival {
        at: Time::ZERO + Duration::from_us(n * 600),
        flow: FlowHash(n % 4),
        conversation: FlowHash::of_host((n % 4) as u32, FlowHash(n % 8)),
        class: (n % 2) as u32,
        len: 1538,
        ecn: Ecn::NotEct,
        dscp: 0,
    };
    (0..1667).map(arrival).collect()
}

#[test]
fn the_last_minute_is_replayed_through_every_discipline_with_any_classes() {
    let head = "format = 2\nname = \"x\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[download]\nrate = \"10 Mbit/s\"\n";
    let class = |name: &str, more: &str| format!("[[class]]\nname = \"{name}\"\n{more}");
    let nested = class("gold", "") + &class("alice", "parent = \"gold\"\nmatch.dscp = [1]\n");
    let bounds = class("gold", "download.guaranteed = \"1 Mbit/s\"\nmatch.dscp = [1]\n");
    let context = PlanContext { secret: [0; 16], seed: Seed(1), frame_bytes: 1518, link: LinkKind::Ethernet };
    for (classes, has_classes) in [(String::new(), false), (nested, true), (bounds, true)] {
        let config = Config::parse("x.toml", &format!("{head}{classes}"), None).expect("it makes sense");
        for entry in fairwire_catalogue::all() {
            let other = config.other_discipline(Way::Download, entry.name, &context);
            let other =
                other.unwrap_or_else(|error| panic!("{}: {error}", entry.name)).expect("it is shaped");
            let outcome = replay(other, &load(), has_classes, &|unit| format!("{unit:?}"));
            let dropped: u64 = outcome.dropped.values().sum();
            let gone = outcome.packets_out + dropped;
            // Packets that wait at the end are neither sent nor dropped.
            assert!(gone <= outcome.packets_in && outcome.packets_out > 400, "{}: {outcome:?}", entry.name);
            assert!(outcome.throughput_bps <= 10.2e6, "{}: {outcome:?}", entry.name);
        }
        assert!(config.other_discipline(Way::Upload, "red", &context).expect("it is known").is_none());
        assert!(config.other_discipline(Way::Download, "redd", &context).is_err());
    }
}
