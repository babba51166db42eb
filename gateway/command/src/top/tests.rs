use super::*;
use fairwire_control::protocol::Request;
use fairwire_control::snapshot::{
    ClassSnapshot, FlowSnapshot, PortSnapshot, SNAPSHOT_VERSION, SojournSnapshot, TotalsSnapshot, WaySnapshot,
};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::collections::BTreeMap;
use std::os::unix::net::UnixListener;

fn class(class: &str, parent: &str, weight: f64, mbps: [f64; 3]) -> ClassSnapshot {
    let [offered_bps, throughput_bps, fair_bps] = mbps.map(|mbps| mbps * 1e6);
    ClassSnapshot {
        class: class.into(),
        parent: parent.into(),
        weight,
        offered_bps,
        throughput_bps,
        fair_bps,
        drops_per_s: (offered_bps - throughput_bps) / 12_000.0,
        ..ClassSnapshot::default()
    }
}

fn flow(flow: &str, offered_bps: f64, throughput_bps: f64) -> FlowSnapshot {
    FlowSnapshot { flow: flow.into(), offered_bps, throughput_bps, drops_per_s: 3.0, marks_per_s: 12.4 }
}

/// `step` counts steps of 10 ms.
fn canned(step: u64) -> Snapshot {
    let counts = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        counts.iter().map(|(cause, count)| ((*cause).to_owned(), *count)).collect()
    };
    let sojourn = SojournSnapshot { mean_s: 0.011, p50_s: 0.0093, p95_s: 0.0214, p99_s: 0.1305, max_s: 0.2 };
    let download = WaySnapshot {
        way: "download".into(),
        discipline: "hfaba".into(),
        rate_bps: 100_000_000,
        totals: TotalsSnapshot {
            bytes_out: step * 120_000,
            dropped: counts(&[("no-tokens", 4711), ("overflow", 0)]),
            marked: counts(&[("early", 17)]),
            ..TotalsSnapshot::default()
        },
        backlog_packets: 40 + 10 * (step % 12),
        backlog_bytes: 123_456,
        sojourn: sojourn.clone(),
        throughput_bps: 98.7e6,
        utilization: 0.987,
        jain: 0.99871,
        active_flows: 1234,
        flows: vec![
            flow("tcp 192.0.2.1:443 -> 10.1.0.7:50123", 45e6, 44.4e6),
            flow("udp 198.51.100.7:9 -> 10.1.0.9:5001", 999.6e6, 20e6),
            flow("tcp [2001:db8::1]:443 -> [2001:db8:1::2]:40000", 0.5e6, 0.5e6),
        ],
        classes: vec![
            class("unclaimed", "", 1.0, [0.2, 0.2, 0.2]),
            class("gold", "", 3.0, [120.0, 74.0, 73.9]),
            class("alice", "gold", 1.0, [60.0, 37.1, 36.95]),
            class("silver", "", 1.0, [1100.0, 24.5, 24.6]),
        ],
        worst_share_error_points: 0.152,
        ..WaySnapshot::default()
    };
    let upload =
        WaySnapshot { way: "upload".into(), throughput_bps: 12_345.0, sojourn, ..WaySnapshot::default() };
    let port = |interface: &str, is_up| PortSnapshot {
        interface: interface.into(),
        is_up,
        ..PortSnapshot::default()
    };
    Snapshot {
        version: SNAPSHOT_VERSION,
        name: "edge".into(),
        uptime_s: 90_061.0 + step as f64 * 0.01,
        reloads: 2,
        ways: vec![download, upload],
        ports: vec![port("lan0", true), port("wan0", false)],
        ..Snapshot::default()
    }
}

fn seen(steps: u64) -> View {
    let mut view = View::new(Path::new("edge.sock"));
    (0..steps).for_each(|step| view.take(News::Snapshot(Box::new(canned(step)))));
    view
}

fn press(view: &mut View, keys: &str) -> bool {
    keys.chars().any(|key| is_last(view, KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)))
}

#[test]
fn classes_fit_a_terminal_of_80_by_24() {
    let view = seen(200);
    insta::assert_snapshot!(picture(80, 24, &|frame| draw::draw(frame, &view)));
}

#[test]
fn flows_fit_a_terminal_of_120_by_20() {
    let mut view = seen(50);
    assert!(!press(&mut view, "fss"));
    insta::assert_snapshot!(picture(120, 20, &|frame| draw::draw(frame, &view)));
}

#[test]
fn a_lost_gateway_is_shown_with_its_last_snapshot() {
    let mut view = seen(3);
    view.take(News::Lost("the gateway at edge.sock has ended".into()));
    let drawn = picture(120, 24, &|frame| draw::draw(frame, &view));
    assert!(drawn.contains("OLD NUMBERS: the gateway at edge.sock has ended"), "{drawn}");
    assert!(drawn.contains("gold/alice"), "{drawn}");
    assert!(is_grey(&view), "old numbers do not look like new ones");
    view.take(News::Snapshot(Box::new(canned(9))));
    assert!(!picture(120, 24, &|frame| draw::draw(frame, &view)).contains("has ended"));
    assert!(!is_grey(&view));
}

fn is_grey(view: &View) -> bool {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a buffer");
    terminal.draw(|frame| draw::draw(frame, view)).expect("a buffer takes everything");
    let buffer = terminal.backend().buffer();
    let cells = (1..24_u16).flat_map(|y| (0..80_u16).map(move |x| (x, y)));
    cells.map(|at| &buffer[at]).all(|cell| cell.fg == ratatui::style::Color::DarkGray)
}

#[test]
fn names_are_shown_on_any_narrow_terminal() {
    let mut view = seen(30);
    for (width, kept, given_up) in [
        (80, &["weight", "offered", "got", "fair", "share (| fair)", "drop/s"][..], &[][..]),
        (60, &["weight", "offered", "got", "fair", "drop/s"], &["share"]),
        (40, &["got", "fair"], &["share", "weight", "offered"]),
        (20, &["got"], &["fair"]),
    ] {
        view.show(0, Table::Classes);
        let drawn = picture(width, 24, &|frame| draw::draw(frame, &view));
        let (_, below) = drawn.split_once("download classes").expect("the table says whose it is");
        assert!(below.contains("gold/alice") && kept.iter().all(|head| below.contains(head)), "{drawn}");
        assert!(!given_up.iter().any(|head| below.contains(head)), "{drawn}");
        view.show(0, Table::Flows);
        let drawn = picture(width, 24, &|frame| draw::draw(frame, &view));
        assert!(drawn.contains("tcp 192.0.2") && drawn.contains("44.4 M"), "{drawn}");
    }
}

fn crowd() -> (Snapshot, Snapshot) {
    let mut all = canned(1);
    all.ways[0].classes = (0..500)
        .map(|n| class(&format!("sub-{n:03}"), "", 1.0, [1.0, f64::from(500 - n) / 100.0, 1.0]))
        .collect();
    all.ways[0].class_count = 500;
    let mut busiest = all.clone();
    busiest.ways[0].classes.truncate(32);
    (busiest, all)
}

#[test]
fn every_row_can_be_scrolled_to_and_searched() {
    let (busiest, all) = crowd();
    let mut view = View::new(Path::new("edge.sock"));
    view.take(News::Snapshot(Box::new(busiest.clone())));
    let drawn = |view: &View| picture(80, 24, &|frame| draw::draw(frame, view));
    let first = drawn(&view);
    assert!(first.contains("download classes  1 to 9 of 500  by got"), "{first}");
    assert!(!view.wants_all(), "what is seen is there");
    let key = |view: &mut View, code| assert!(!is_last(view, KeyEvent::new(code, KeyModifiers::NONE)));
    key(&mut view, KeyCode::PageDown);
    assert!(view.wants_all());
    view.take(News::Classes(Box::new(all)));
    assert!(drawn(&view).contains("10 to 18 of 500"), "{}", drawn(&view));
    view.take(News::Snapshot(Box::new(busiest.clone())));
    key(&mut view, KeyCode::End);
    assert!(
        drawn(&view).contains("492 to 500 of 500") && drawn(&view).contains("sub-499"),
        "{}",
        drawn(&view)
    );
    // Scrolling down stops at the end, so one step up has an effect at once.
    key(&mut view, KeyCode::Down);
    key(&mut view, KeyCode::Up);
    assert!(drawn(&view).contains("491 to 499 of 500"), "{}", drawn(&view));
    press(&mut view, "/SUB-41q"); // letters are not commands while a name is typed
    key(&mut view, KeyCode::Backspace);
    let found = drawn(&view);
    assert!(
        found.contains("1 to 9 of 500  by got  10 with \"SUB-41_\"") && found.contains("sub-410"),
        "{found}"
    );
    key(&mut view, KeyCode::Enter);
    press(&mut view, "jj");
    assert!(drawn(&view).contains("2 to 10 of 500  by got  10 with \"SUB-41\""), "{}", drawn(&view));
    key(&mut view, KeyCode::Esc);
    view.take(News::Snapshot(Box::new(busiest)));
    assert!(drawn(&view).contains("1 to 9 of 500  by got\n") && !view.wants_all(), "{}", drawn(&view));
    assert!(is_last(&mut view, KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE)));
}

#[test]
fn it_draws_on_a_terminal_of_any_size() {
    let view = seen(30);
    for (width, height) in [(1, 1), (3, 40), (200, 2), (20, 10), (79, 23), (300, 100)] {
        picture(width, height, &|frame| draw::draw(frame, &view));
    }
}

#[test]
fn keys_choose_direction_table_and_order_and_a_pause_freezes_the_picture() {
    let mut view = seen(3);
    let first = |view: &View| view.classes()[0].class.clone();
    assert_eq!(first(&view), "gold");
    press(&mut view, "s");
    assert_eq!(first(&view), "silver", "it offered most");
    press(&mut view, "sss");
    assert_eq!(first(&view), "gold", "the first by name of those under the root");
    press(&mut view, "up");
    view.take(News::Snapshot(Box::new(canned(40))));
    assert_eq!((view.way, view.snapshot.as_ref().unwrap().uptime_s), (1, 90_061.02));
    assert!(press(&mut view, "q"));
    assert!(is_last(&mut view, KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)));
}

#[test]
fn sparklines_show_departures_between_snapshots_and_restart_with_the_gateway() {
    let mut view = seen(4);
    assert_eq!(view.pasts[0].throughput_bps.len(), 3);
    // 120 000 bytes in 10 ms are 96 Mbit/s, apart from rounding of the time difference.
    assert!(
        view.pasts[0].throughput_bps.iter().all(|bps| bps.abs_diff(96_000_000) < 10),
        "{:?}",
        view.pasts[0].throughput_bps
    );
    assert_eq!(view.pasts[0].backlog_packets, [50, 60, 70]);
    view.take(News::Snapshot(Box::new(Snapshot { uptime_s: 1.0, ..canned(0) })));
    assert!(view.pasts[0].throughput_bps.is_empty());
}

fn read(line: &str) -> Request {
    Request::of_line(line.as_bytes()).expect("a request")
}

fn gateway(socket: &Path, steps: u64) -> std::thread::JoinHandle<String> {
    use std::io::{BufRead, BufReader, Write};
    let listener = UnixListener::bind(socket).expect("a new socket");
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client connects");
        let mut request = String::new();
        BufReader::new(&stream).read_line(&mut request).expect("a line");
        for step in 0..steps {
            let answer = fairwire_control::protocol::Answer::Snapshot(Box::new(canned(step)));
            let line = serde_json::to_string(&answer).expect("it has a JSON form");
            writeln!(&stream, "{line}").expect("the client reads");
        }
        request
    })
}

#[test]
fn one_picture_shows_both_directions() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("edge.sock");
    assert!(feed::fetch(&socket).is_err_and(|why| why.contains("no gateway answers at")));
    let served = gateway(&socket, 1);
    let snapshot = feed::fetch(&socket).expect("an answer");
    assert_eq!(read(&served.join().expect("it served")), Request::Status { classes: true });
    let text = as_text(snapshot, &socket);
    assert_eq!(text.matches("fairwire gateway").count(), 1, "one head");
    for title in ["download classes", "download flows", "download dropped", "upload dropped"] {
        assert_eq!(text.lines().filter(|line| line.starts_with(title)).count(), 1, "{title}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn all_classes_are_requested_once_the_user_wants_them() {
    use std::io::{BufRead, BufReader, Write};
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("edge.sock");
    let listener = UnixListener::bind(&socket).expect("a new socket");
    let served = std::thread::spawn(move || {
        let mut streams = Vec::new();
        let mut requests = Vec::new();
        for stream in listener.incoming().take(2).map(|stream| stream.expect("a client connects")) {
            let mut request = String::new();
            BufReader::new(&stream).read_line(&mut request).expect("a line");
            let answer = fairwire_control::protocol::Answer::Snapshot(Box::new(canned(0)));
            writeln!(&stream, "{}", serde_json::to_string(&answer).expect("it has a JSON form"))
                .expect("it reads");
            requests.push(request);
            streams.push(stream); // the watcher stays connected
        }
        (requests, streams)
    });
    let wanted = Arc::new(AtomicBool::new(false));
    let news = feed::follow(socket, 10, wanted.clone());
    assert!(matches!(news.recv(), Ok(News::Snapshot(_))));
    wanted.store(true, Ordering::Relaxed);
    assert!(matches!(news.recv(), Ok(News::Classes(_))));
    let (requests, _streams) = served.join().expect("it served");
    assert_eq!(
        requests.iter().map(|line| read(line)).collect::<Vec<_>>(),
        [Request::Watch { every_ms: 10 }, Request::Status { classes: true }]
    );
}

#[test]
fn a_restarted_gateway_is_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("edge.sock");
    let first = gateway(&socket, 3);
    let news = feed::follow(socket.clone(), 10, Default::default());
    let snapshots = |count| (0..count).all(|_| matches!(news.recv(), Ok(News::Snapshot(_))));
    assert!(snapshots(3));
    assert_eq!(read(&first.join().expect("it served")), Request::Watch { every_ms: 10 });
    assert!(matches!(news.recv(), Ok(News::Lost(why)) if why.contains("has ended")));
    std::fs::remove_file(&socket).expect("its socket");
    let second = gateway(&socket, 2);
    let found = news.iter().find(|news| matches!(news, News::Snapshot(_)));
    assert!(found.is_some() && snapshots(1));
    second.join().expect("it served");
}
