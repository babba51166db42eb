//! Plans of thousands of subscribers.

use fairwire_core::{Cause, Duration, Ecn, Packet, Seed, Server, Service, Signals, Time, Transmitter};
use fairwire_datapath::class_book::UNCLAIMED;
use fairwire_datapath::classify::LinkKind;
use fairwire_service::config::{Config, PlanContext};
use fairwire_wire::Way;
use std::fmt::Write as _;

const MADE: PlanContext =
    PlanContext { secret: [7; 16], seed: Seed(1), frame_bytes: 1514, link: LinkKind::Ethernet };

const WIRE: &str = "format = 2\nname = \"plans\"\n[wire]\ninside = \"in0\"\noutside = \"out0\"\n";

fn plans(subscribers: u32) -> Config {
    let mut csv = String::from("name,addresses,download_ceiling\n");
    for n in 0..subscribers {
        let _ = writeln!(csv, "s{n},10.77.{}.{},200 Mbit/s", n >> 8, n & 255);
    }
    let text = format!("{WIRE}[download]\nrate = \"1 Gbit/s\"\n[subscribers]\nfile = \"s.csv\"\n");
    Config::parse("gw.toml", &text, Some(("s.csv", &csv))).unwrap_or_else(|error| panic!("{error}"))
}

fn server(config: &Config) -> Server {
    let plan = config.direction(Way::Download, &MADE).unwrap_or_else(|error| panic!("{error}"));
    let shaper = plan.shaper.expect("it is shaped");
    Server::new(shaper.discipline, Transmitter::new(shaper.rate))
}

fn number(config: &Config, name: &str) -> u32 {
    config.book().iter().find(|(_, class)| class.name == name).expect("a class").0
}
#[derive(Default)]
struct Drops(std::collections::BTreeMap<u32, u32>);

impl Drops {
    fn of(&self, class: u32) -> u32 {
        self.0.get(&class).copied().unwrap_or(0)
    }
}

impl Signals for Drops {
    fn dropped(&mut self, packet: Packet, _: Cause) {
        *self.0.entry(packet.class).or_default() += 1;
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

fn at(ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(ns)
}

const MS: u64 = 1_000_000;

/// The size on the link, in bytes, of a datagram with 1400 B of payload.
const DATAGRAM: u32 = 1400 + 42 + 24;

struct Source {
    /// The class of packet number n.
    class: Box<dyn Fn(u64) -> u32>,
    burst: u64,
    every_ns: u64,
    len: u32,
}

fn run(server: &mut Server, sources: &[Source], ms: u64) -> (Drops, std::collections::BTreeMap<u32, u64>) {
    let (mut drops, mut sent) = (Drops::default(), std::collections::BTreeMap::new());
    let mut count = |service: Option<Service>| {
        if let Some(Service { packet, .. }) = service {
            *sent.entry(packet.class).or_insert(0) += u64::from(packet.len);
        }
    };
    let mut due: Vec<(u64, u64)> = vec![(0, 0); sources.len()];
    while let Some(next) = (0..due.len()).min_by_key(|&i| due[i].0) {
        let now = due[next].0;
        while server.next_poll_at() <= at(now.min(ms * MS)) {
            count(server.poll(server.next_poll_at(), &mut drops));
        }
        if now >= ms * MS {
            break;
        }
        let source = &sources[next];
        for _ in 0..source.burst {
            let class = (source.class)(due[next].1);
            let packet = Packet::new(0, source.len, u64::from(class).into(), at(now));
            count(server.enqueue(Packet { class, ..packet }, at(now), &mut drops));
            due[next].1 += 1;
        }
        due[next].0 += source.every_ns;
    }
    (drops, sent)
}

fn of(class: u32, burst: u64, every_ns: u64) -> Source {
    Source { class: Box::new(move |_| class), burst, every_ns, len: DATAGRAM }
}

#[test]
fn a_burst_of_one_super_packet_loses_nothing_with_any_number_of_subscribers() {
    for subscribers in [10, 1000, 20_000] {
        let config = plans(subscribers);
        let one = number(&config, "s7");
        let (drops, sent) = run(&mut server(&config), &[of(one, 44, 50 * MS)], 2000);
        assert_eq!((drops.of(one), sent[&one]), (0, 40 * 44 * u64::from(DATAGRAM)), "{subscribers}");
    }
}

#[test]
fn unclaimed_packets_may_use_idle_capacity() {
    // Unclaimed packets in bursts of 64 offer 400 Mbit/s to a link of 1 Gbit/s.
    let bits = 64 * u64::from(DATAGRAM) * 8;
    for subscribers in [10, 20_000] {
        let config = plans(subscribers);
        let (drops, _) = run(&mut server(&config), &[of(UNCLAIMED, 64, bits * 1000 / 400)], 500);
        assert_eq!(drops.of(UNCLAIMED), 0, "{subscribers}");
    }
}

#[test]
fn unclaimed_traffic_follows_its_class_and_its_absence_is_noted() {
    let listed = |terms: &str| {
        let csv =
            "name,addresses,download_ceiling\nann,10.77.0.2,5 Mbit/s\nbob,10.77.0.3 fd77::/64,5 Mbit/s\n";
        let text = format!(
            "{WIRE}[download]\nrate = \"50 Mbit/s\"\n[subscribers]\nfile = \"s.csv\"\n{terms}\n\
             [[class]]\nname = \"homes\"\n"
        );
        Config::parse("gw.toml", &text, Some(("s.csv", csv))).unwrap_or_else(|error| panic!("{error}"))
    };
    let flood = |config: &Config| {
        let bits = u64::from(DATAGRAM) * 8;
        let (_, sent) = run(&mut server(config), &[of(UNCLAIMED, 1, bits * 1000 / 100)], 2000);
        sent[&UNCLAIMED] as f64 * 8.0 / 2e6
    };
    let without = listed("");
    assert!((flood(&without) - 50.0).abs() < 1.0, "{}", flood(&without));
    let has = |config: &Config, part: &str| config.notes().iter().any(|note| note.contains(part));
    assert!(has(
        &without,
        "`unclaimed` has none: a host with an address of no subscriber may have 50 Mbit/s"
    ));
    assert!(has(&without, "recognized by IPv4 addresses alone, so that their IPv6 is `unclaimed`: `ann`"));
    let config = listed("[[class]]\nname = \"unclaimed\"\nweight = 0.5\ndownload.ceiling = \"2 Mbit/s\"");
    assert!(!has(&config, "`unclaimed` has none"));
    assert!((flood(&config) - 2.0).abs() < 0.1, "{}", flood(&config));
    let book: Vec<_> =
        config.book().iter().map(|(_, class)| (class.name.as_str(), class.weight.get())).collect();
    assert_eq!(book, [("unclaimed", 0.5), ("homes", 1.0), ("ann", 1.0), ("bob", 1.0)]);
    assert_eq!(without.class_map(&config)[..4], [0, 1, 2, 3]);
}

#[test]
fn a_flood_in_one_leaf_takes_nothing_from_another() {
    let config = plans(1000);
    let (quiet, bursty, greedy) = (number(&config, "s1"), number(&config, "s2"), number(&config, "s3"));
    let bits = u64::from(DATAGRAM) * 8;
    // `greedy` has a plan of 200 Mbit/s and offers 800 Mbit/s. Unclaimed packets offer 2 Gbit/s.
    let sources = [
        of(greedy, 10, 10 * bits * 1000 / 800),
        of(UNCLAIMED, 10, 10 * bits * 1000 / 2000),
        of(bursty, 44, 50 * MS),
        of(quiet, 1, 5 * MS),
    ];
    let (drops, sent) = run(&mut server(&config), &sources, 2000);
    assert_eq!((drops.of(quiet), drops.of(bursty)), (0, 0));
    let mbps = |class: u32| sent[&class] as f64 * 8.0 / 2e6;
    assert!((mbps(greedy) - 200.0).abs() < 4.0, "{}", mbps(greedy)); // its burst of 1 ms and two packets, and the cut-off at the end
    assert!(mbps(UNCLAIMED) > 750.0, "{}", mbps(UNCLAIMED));
}

#[test]
fn the_backlog_of_all_leaves_is_bounded_and_shared_by_greedy_ones() {
    let config = plans(1000);
    let classes: Vec<u32> = (0..100).map(|n| number(&config, &format!("s{n}"))).collect();
    let (few, quiet) = (classes.clone(), number(&config, "s500"));
    let bits = u64::from(DATAGRAM) * 8;
    // Together, the hundred subscribers offer 3 Gbit/s.
    let flood = Source {
        class: Box::new(move |n| few[n as usize % few.len()]),
        burst: 1,
        every_ns: bits * 1000 / 3000,
        len: DATAGRAM,
    };
    let mut server = server(&config);
    let (drops, sent) = run(&mut server, &[flood, of(quiet, 8, 10 * MS)], 1000);
    let pool = 2 * 6_250_000; // twice 50 ms
    assert!(server.backlog().bytes <= pool, "{:?}", server.backlog());
    assert_eq!(drops.of(quiet), 0);
    let (least, most) = classes
        .iter()
        .map(|class| sent[class])
        .fold((u64::MAX, 0), |(least, most), bytes| (least.min(bytes), most.max(bytes)));
    assert!(most - least <= 4 * u64::from(DATAGRAM), "{least} to {most}"); // whole packets, and the turn at which it ends
}

#[test]
fn thousands_of_alternating_senders_are_forgotten_without_packet_loss() {
    let config = plans(20_000);
    let everybody: Vec<u32> = (0..20_000).map(|n| number(&config, &format!("s{n}"))).collect();
    let in_turn = Source {
        class: Box::new(move |n| everybody[n as usize % 20_000]),
        burst: 1,
        every_ns: 20_000,
        len: 500,
    };
    let (drops, sent) = run(&mut server(&config), &[in_turn], 1000);
    assert_eq!(drops.0.len(), 0);
    assert_eq!((sent.len(), sent.values().sum::<u64>()), (20_000, 50_000 * 500));
}

/// The marks and drops of three ECN-capable flows that offer 4/3 of the link's rate.
fn marks(discipline: &str, more: &str) -> (u32, u32) {
    #[derive(Default)]
    struct Counts(u32, u32);
    impl Signals for Counts {
        fn dropped(&mut self, _: Packet, _: Cause) {
            self.1 += 1;
        }
        fn marked(&mut self, _: &Packet, _: Cause) {
            self.0 += 1;
        }
    }
    let text = format!(
        "{WIRE}[download]\nrate = \"12 Mbit/s\"\nbuffer = \"200 ms\"\ndiscipline = \"{discipline}\"\n{more}"
    );
    let config = Config::parse("gw.toml", &text, None).unwrap_or_else(|error| panic!("{error}"));
    let (mut server, mut counts) = (server(&config), Counts::default());
    for n in 0..3000u32 {
        let now = at(u64::from(n) * 750_000);
        while server.next_poll_at() <= now {
            let _ = server.poll(server.next_poll_at(), &mut counts);
        }
        let packet = Packet { ecn: Ecn::Ect0, ..Packet::new(0, 1500, u64::from(n % 3).into(), now) };
        let _ = server.enqueue(packet, now, &mut counts);
    }
    (counts.0, counts.1)
}

#[test]
fn disciplines_of_linux_and_gateway_defaults_mark_packets_by_default() {
    for name in ["faba", "classful", "fq-codel", "cake-like", "codel", "pie", "fq-pie"] {
        assert!(marks(name, "").0 > 0, "{name}");
    }
    for name in ["codel", "pie", "fq-pie"] {
        assert_eq!(marks(name, &format!("[discipline.{name}]\necn = \"drop\"\n")).0, 0, "{name}");
    }
    assert_eq!(marks("red", "").0, 0);
    assert!(marks("red", "[discipline.red]\necn = \"mark\"\n").0 > 0);
    for name in ["faba", "classful", "fq-codel"] {
        assert_eq!(marks(name, &format!("[discipline.{name}]\necn = \"drop\"\n")).0, 0, "{name}");
    }
}

fn leaves(gold: u32, silver: u32) -> Config {
    let class = |name: &str, leaf: String| format!("[[class]]\nname = \"{name}\"\n{leaf}");
    let own = |packets: u32| format!("leaf = {{ tail-drop = {{ buffer = \"{packets} packets\" }} }}\n");
    let text = format!(
        "{WIRE}[download]\nrate = \"12 Mbit/s\"\ndiscipline = \"classful\"\nleaf = \"tail-drop\"\n\
         [discipline.tail-drop]\nbuffer = \"20 packets\"\n{}{}{}",
        class("gold", own(gold)),
        class("silver", own(silver)),
        class("plain", String::new())
    );
    Config::parse("gw.toml", &text, None).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn leaves_of_one_discipline_have_separate_parameters() {
    let config = leaves(5, 30);
    // `lost` is 40 packets minus the leaf's buffer. One packet may leave at once, so one fewer may
    // be lost.
    for (name, lost) in [("gold", 35), ("silver", 10), ("plain", 20)] {
        let class = number(&config, name);
        let (drops, _) = run(&mut server(&config), &[of(class, 40, 1000 * MS)], 900);
        assert!((lost - 1..=lost).contains(&drops.of(class)), "{name}: {}", drops.of(class));
    }
}

#[test]
fn a_new_parameter_of_a_leaf_is_a_change_and_an_equal_one_is_not() {
    let before = leaves(5, 30);
    assert!(before.changes(&leaves(5, 30)).is_empty);
    let changes = before.changes(&leaves(6, 30));
    assert!(!changes.is_empty && !changes.is_edit && changes.needs_restart.is_empty());
    let [line] = changes.lines.as_slice() else { panic!("{:?}", changes.lines) };
    assert!(line.starts_with("another `leaf`: gold: ") && line.contains("6 packets"), "{line}");
}

#[test]
fn a_plan_with_a_burst_has_a_peak_and_a_bad_one_is_refused_at_its_line() {
    let with = |burst: &str| {
        let csv = format!(
            "name,addresses,class,download_ceiling,download_burst\nann,10.0.0.1,home,20 Mbit/s,{burst}\n"
        );
        let text = format!(
            "{WIRE}[download]\nrate = \"100 Mbit/s\"\n[subscribers]\nfile = \"s.csv\"\n\
             [[class]]\nname = \"home\"\ndownload = {{ ceiling = \"50 Mbit/s\" }}\n"
        );
        Config::parse("gw.toml", &text, Some(("s.csv", &csv))).map_err(|error| error.to_string())
    };
    let config = with("40 Mbit/s for 10 s").unwrap_or_else(|error| panic!("{error}"));
    let shaper = config.direction(Way::Download, &MADE).unwrap_or_else(|error| panic!("{error}")).shaper;
    let mut rates = Vec::new();
    let mut probe = |name: &str, _, value: f64| {
        if ["ceiling", "peak"].contains(&name) {
            rates.push((name.to_owned(), value / 1e6));
        }
    };
    shaper.expect("it is shaped").discipline.inspect(&mut probe);
    assert!(rates.contains(&("peak".to_owned(), 40.0)), "{rates:?}");
    let ann = config.explain().ways[0].tree.iter().find(|class| class.class == "ann").cloned();
    assert_eq!(
        ann.and_then(|ann| ann.burst).map(|burst| burst.0.to_string()).as_deref(),
        Some("40 Mbit/s for 10 s")
    );
    for (burst, said) in [
        ("60 Mbit/s for 10 s", "`home` above it gets at most 50 Mbit/s"),
        ("20 Mbit/s for 10 s", "the ceiling is 20 Mbit/s"),
        ("40 Mbit/s", "such as `40 Mbit/s for 10 s`"),
    ] {
        let error = with(burst).expect_err(burst);
        assert!(error.contains("s.csv:2") && error.contains(said), "{error}");
    }
}
