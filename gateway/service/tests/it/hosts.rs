//! Hosts share the link, and the conversations of each host share the host's rate.

use etherparse::PacketBuilder;
use fairwire_core::{Seed, Time};
use fairwire_datapath::classify::LinkKind;
use fairwire_datapath::io::memory::{Arrival, Departure, MemoryPort, run};
use fairwire_datapath::{Datapath, Wire};
use fairwire_service::config::{Config, PlanContext};
use fairwire_service::telemetry::{About, Observer};
use fairwire_wire::vnet::VnetHeader;
use std::collections::BTreeMap;

const OUTSIDE: [u8; 4] = [198, 51, 100, 1];
const MADE: PlanContext =
    PlanContext { secret: [7; 16], seed: Seed(1), frame_bytes: 1514, link: LinkKind::Ethernet };

const HOUSE: &str = "[[class]]\nname = \"house\"\nmatch = { inside = [\"10.0.0.0/8\"] }\n\
                     [[class]]\nname = \"calls\"\nmatch = { dscp = [\"EF\"] }\ndownload = { guaranteed = \"1 Mbit/s\" }\n";

fn config(keys: &str) -> Config {
    let way = format!("rate = \"50 Mbit/s\"\n{keys}\n");
    let text = format!(
        "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[download]\n{way}[upload]\n{way}{}",
        if keys.contains("classful") { HOUSE } else { "" }
    );
    Config::parse("t.toml", &text, None).unwrap_or_else(|error| panic!("{error}"))
}

fn datapath(keys: &str) -> Datapath {
    Datapath::new(config(keys).plan(&MADE).expect("it was checked"))
}

/// `len` includes the IP header.
fn datagram(source: [u8; 4], destination: [u8; 4], port: u16, len: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, destination[3]])
        .ipv4(source, destination, 64)
        .udp(port, 9);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0xab; len - 28]).expect("a vector takes everything");
    frame
}

/// All times are in nanoseconds.
fn every(gap: u64, [from, until]: [u64; 2], frame: &[u8]) -> impl Iterator<Item = Arrival> {
    let times = (from..until).step_by(gap as usize);
    times.map(move |at| Arrival { at: Time::from_ns(at), frame: frame.to_vec(), vnet: VnetHeader::PLAIN })
}

fn through(datapath: &mut Datapath, mut arrivals: Vec<Arrival>, is_upload: bool) -> Vec<Departure> {
    arrivals.sort_by_key(|arrival| arrival.at);
    let (from, to) = (MemoryPort::new(arrivals), MemoryPort::new(vec![]));
    let mut wire = if is_upload { Wire { left: to, right: from } } else { Wire { left: from, right: to } };
    run(datapath, &mut wire, Time::MAX);
    assert!(datapath.forward.is_balanced() && datapath.backward.is_balanced());
    let sent = if is_upload { wire.left.sent() } else { wire.right.sent() };
    sent.to_vec()
}

const MS: u64 = 1_000_000;

/// In Mbit/s of frames.
fn rates<N: Ord>(sent: &[Departure], [from, until]: [u64; 2], of: fn(&[u8]) -> N) -> BTreeMap<N, f64> {
    let mut rates = BTreeMap::new();
    for departure in sent.iter().filter(|departure| (from..until).contains(&departure.at.ns())) {
        let mbits = departure.frame.len() as f64 * 8.0 / ((until - from) as f64 / 1e3);
        *rates.entry(of(&departure.frame)).or_insert(0.0) += mbits;
    }
    rates
}

fn destination(frame: &[u8]) -> [u8; 4] {
    frame[30..34].try_into().expect("four bytes")
}

fn source(frame: &[u8]) -> [u8; 4] {
    frame[26..30].try_into().expect("four bytes")
}

#[test]
fn hosts_share_equally_and_sparse_flows_do_not_wait() {
    let [heavy, one, quiet] = [[10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 3]];
    for keys in [
        "",
        "discipline = \"drr\"",
        "discipline = \"drr\"\nflows = [\"mac\", \"5-tuple\"]",
        "discipline = \"classful\"",
        "discipline = \"classful\"\nleaf = \"drr\"\nflows = [\"mac\", \"5-tuple\"]",
    ] {
        let whole = [0, 2000 * MS];
        let mut arrivals = Vec::new();
        for flow in 0..64 {
            let frame = datagram(OUTSIDE, heavy, 1000 + flow, 1500);
            arrivals.extend(every(5 * MS, [u64::from(flow) * 70_000, whole[1]], &frame)); // 154 Mbit/s in all
        }
        arrivals.extend(every(MS / 4, whole, &datagram(OUTSIDE, one, 5, 1500))); // 48 Mbit/s
        // The heavy host's 64 flows need 31 ms for one packet each, but pings come every 20 ms.
        let pings = [(heavy, 7), (quiet, 8)].map(|(host, port)| datagram(OUTSIDE, host, port, 100));
        for ping in &pings {
            arrivals.extend(every(20 * MS, [0, whole[1]], ping));
        }
        let sent = through(&mut datapath(keys), arrivals, false);
        let rates = rates(&sent, [500 * MS, 2000 * MS], destination);
        // In 1.5 s, one packet is 0.03 % of a host's rate. The heavy host's rate includes its
        // pings.
        let share = (rates[&heavy] + rates[&one]) / 2.0;
        for host in [heavy, one] {
            assert!((rates[&host] / share - 1.0).abs() < 0.005, "{keys}: {rates:?}");
        }
        assert!((rates[&heavy] + rates[&one]) > 0.98 * 50.0 * 1514.0 / 1538.0, "{keys}: {rates:?}");
        for ping in &pings {
            let times: Vec<u64> =
                sent.iter().filter(|sent| sent.frame == *ping).map(|sent| sent.at.ns()).collect();
            assert_eq!(times.len(), 100, "{keys}: a ping was lost");
            // A ping waits for three packets of 0.25 ms. The first two pings also wait for the 64
            // new flows.
            let waits = times.iter().zip(0..).map(|(at, number)| at - number * 20 * MS);
            let longest = waits.skip(2).max().unwrap();
            assert!(longest < 2 * MS, "{keys}: {longest} ns");
        }
    }
}

/// The throughput, in Mbit/s, of a flow that offers 40 Mbit/s during a flood: 80 Mbit/s of short
/// datagrams from forged addresses.
fn under_a_spoofed_flood(keys: &str) -> f64 {
    let honest = [10, 0, 0, 2];
    let mut arrivals: Vec<Arrival> =
        every(MS * 3 / 10, [0, 700 * MS], &datagram(honest, OUTSIDE, 5, 1500)).collect();
    let mut state = 9u32;
    for number in 0..60_000u64 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [a, b, c, _] = state.to_be_bytes();
        let frame = datagram([10 | (a & 1), b, c, number as u8], OUTSIDE, 6, 46);
        let at = Time::from_ns(200 * MS + number * 8_400);
        arrivals.push(Arrival { at, frame, vnet: VnetHeader::PLAIN });
    }
    let sent = through(&mut datapath(keys), arrivals, true);
    rates(&sent, [300 * MS, 700 * MS], source).get(&honest).copied().unwrap_or(0.0)
}

#[test]
fn a_flood_from_spoofed_addresses_gets_the_share_of_one_host() {
    let [hosts, one_level] =
        ["flows = [\"inside\", \"5-tuple\"]", "discipline = \"drr\"\nflows = \"inside\""]
            .map(under_a_spoofed_flood);
    let half = 25.0 * 1514.0 / 1538.0;
    // No forged address becomes a known host: each occurs fewer than eight times.
    assert!(hosts > 0.97 * half, "{hosts} of {half}");
    assert!(hosts > one_level, "{hosts}, where a queue for each gives {one_level}");
}

#[test]
fn groups_are_no_hosts_and_one_ethernet_address_is_one_host() {
    let counted = |keys: &str, frames: &[Vec<u8>]| {
        let mut datapath = datapath(keys);
        let at = |(number, frame): (u64, &Vec<u8>)| Arrival {
            at: Time::from_ns(number * MS),
            frame: frame.clone(),
            vnet: VnetHeader::PLAIN,
        };
        let sent = through(&mut datapath, (0..).zip(frames).map(at).collect(), false);
        assert_eq!(sent.len(), frames.len());
        let about = About::of(&std::sync::Arc::new(config(keys)));
        let (_, opened) = datapath.forward.accounts().all();
        let names = opened.iter().map(|opened| about.flow_name(fairwire_wire::Way::Download, opened));
        (names.collect::<Vec<_>>(), datapath.forward.accounts().others().packets_out)
    };
    let ipv6 = |destination: &str, mac: [u8; 6]| {
        let [source, destination] = ["2001:db8::1", destination]
            .map(|address| address.parse::<std::net::Ipv6Addr>().unwrap().octets());
        let builder =
            PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], mac).ipv6(source, destination, 64).udp(1, 2);
        let mut frame = Vec::new();
        builder.write(&mut frame, &[0; 40]).unwrap();
        frame
    };
    let (machine, group) = ([2, 0, 0, 0, 0, 0x1f], [0x33, 0x33, 0, 0, 0, 0x16]);
    let frames = [
        ipv6("2001:db8:1::a", machine),
        ipv6("2001:db8:1::b", machine),
        ipv6("ff02::16", group),
        datagram(OUTSIDE, [224, 0, 0, 251], 5353, 100),
        datagram(OUTSIDE, [255, 255, 255, 255], 68, 100),
    ];
    let (names, others) = counted("", &frames);
    assert_eq!((names, others), (vec!["2001:db8:1::a".into(), "2001:db8:1::b".into()], 3));
    let (names, others) = counted("flows = [\"mac\", \"5-tuple\"]", &frames);
    assert_eq!((names, others), (vec!["02:00:00:00:00:1f (2001:db8:1::a)".to_owned()], 3));
}

#[test]
fn few_flows_on_a_fast_link_are_served_in_trains_with_exact_totals() {
    let text = |discipline: &str| {
        format!(
            "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n\
             [download]\nrate = \"1 Gbit/s\"\ndiscipline = \"{discipline}\"\nflows = \"5-tuple\"\n"
        )
    };
    for discipline in ["drr", "fq-codel"] {
        let config = Config::parse("t.toml", &text(discipline), None).unwrap();
        let mut datapath = Datapath::new(config.plan(&MADE).unwrap());
        let mut arrivals = Vec::new();
        for flow in 0..4 {
            let frame = datagram(OUTSIDE, [10, 0, 0, 1], flow, 1500);
            // Each flow offers 400 Mbit/s, so the buffer stays full.
            arrivals.extend(every(30_000, [u64::from(flow), 100 * MS], &frame));
        }
        let sent = through(&mut datapath, arrivals, false);
        let steady = &sent[sent.len() / 2..];
        let port = |departure: &Departure| departure.frame[35];
        let changes = steady.windows(2).filter(|pair| port(&pair[0]) != port(&pair[1])).count();
        let train = steady.len() as f64 / changes.max(1) as f64;
        // A flow sends about 20 packets in a row.
        assert!(train > 10.0, "{discipline}: {train} packets in a row");
        let by_flow = rates(&sent, [20 * MS, 90 * MS], |frame| frame[35]);
        for rate in by_flow.values() {
            // One more train in 70 ms is 1.4 % of a flow's rate.
            assert!(
                (rate / (1000.0 * 1514.0 / 1538.0 / 4.0) - 1.0).abs() < 0.02,
                "{discipline}: {by_flow:?}"
            );
        }
    }
}

/// Field case C17: multicast groups together share like one host, and are counted as `others`.
#[test]
fn starving_groups_are_named_and_their_own_class_helps() {
    let seen = |classes: &str| {
        let text = format!(
            "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[download]\nrate = \"50 Mbit/s\"\n{classes}"
        );
        let config = Config::parse("t.toml", &text, None).unwrap_or_else(|error| panic!("{error}"));
        let mut datapath = Datapath::new(config.plan(&MADE).expect("it was checked"));
        let whole = [0, 2000 * MS];
        let mut arrivals = Vec::new();
        for host in 1..=5 {
            arrivals.extend(every(MS / 2, whole, &datagram(OUTSIDE, [10, 0, 0, host], 5, 1500))); // 24 Mbit/s each
        }
        // The groups send 22, 9 and 4 Mbit/s.
        for (group, gap) in [(1, 547_000), (2, 1_337_000), (3, 3_008_000)] {
            arrivals.extend(every(gap, whole, &datagram(OUTSIDE, [239, 1, 1, group], 5, 1500)));
        }
        arrivals.sort_by_key(|arrival| arrival.at);
        let mut wire = Wire { left: MemoryPort::new(arrivals), right: MemoryPort::new(vec![]) };
        let mut observer = Observer::of(About::of(&std::sync::Arc::new(config)), Time::ZERO);
        for at in (10..2000).step_by(10) {
            run(&mut datapath, &mut wire, Time::from_ns(at * MS));
            observer.observe(Time::from_ns(at * MS), &datapath, Default::default());
        }
        let snapshot = observer.board().latest();
        (snapshot.fairness.clone(), snapshot.ways[0].clone())
    };
    let (sentence, way) = seen("");
    let lost = way.starving.get("others").copied().unwrap_or(0.0);
    assert!((0.7..0.8).contains(&lost), "{:?}", way.starving);
    assert!(sentence.contains("`others` loses 7"), "{sentence}");
    assert!(
        way.flows.iter().any(|flow| flow.flow == "others" && flow.throughput_bps > 7e6),
        "{:?}",
        way.flows
    );
    let class = "discipline = \"classful\"\n[[class]]\nname = \"tv\"\nmatch = { inside = [\"239.0.0.0/8\"] }\n\
                 download = { guaranteed = \"40 Mbit/s\" }\n[[class]]\nname = \"rest\"\nmatch = { inside = [\"10.0.0.0/8\"] }\n";
    let (sentence, way) = seen(class);
    assert!(!way.starving.contains_key("tv") && !way.starving.contains_key("others"), "{:?}", way.starving);
    assert!(sentence.contains("`rest` loses"), "{sentence}");
}

fn with_unclaimed(way: &str, unclaimed: &str) -> Result<Config, String> {
    let text = format!(
        "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[subscribers]\nfile = \"s.csv\"\n\
         [download]\nrate = \"50 Mbit/s\"\n{way}\n[[class]]\nname = \"unclaimed\"\n{unclaimed}\n"
    );
    let csv = "name,addresses,download_ceiling\nann,10.0.0.1,20 Mbit/s\n";
    Config::parse("t.toml", &text, Some(("s.csv", csv))).map_err(|error| error.to_string())
}

#[test]
fn unclaimed_hosts_have_a_ceiling_each_and_one_together() {
    for way in ["", "leaf = \"codel\"", "flows = \"inside\""] {
        let unclaimed = "download = { each = \"2 Mbit/s\", ceiling = \"5 Mbit/s\" }";
        let config = with_unclaimed(way, unclaimed).unwrap_or_else(|error| panic!("{error}"));
        assert!(!config.notes().iter().any(|note| note.contains("has none")), "{:?}", config.notes());
        for (others, each) in [(1, 2.0), (2, 2.0), (5, 1.0)] {
            let hosts: Vec<[u8; 4]> =
                [[10, 0, 0, 1]].into_iter().chain((0..others).map(|n| [10, 9, 0, n])).collect();
            let flood = |host: &[u8; 4]| -> Vec<Arrival> {
                every(MS, [0, 2000 * MS], &datagram(OUTSIDE, *host, 1, 1500)).collect()
            };
            let mut datapath = Datapath::new(config.plan(&MADE).expect("it was checked"));
            let sent = through(&mut datapath, hosts.iter().flat_map(flood).collect(), false);
            let rates = rates(&sent, [500 * MS, 2000 * MS], destination);
            let of = |host: &[u8; 4]| rates[host] * 1538.0 / 1514.0;
            assert!(of(&hosts[0]) > 11.5, "{way}: {rates:?}");
            // One packet in 1.5 s is at most 0.8 % of a host's rate.
            assert!(hosts[1..].iter().all(|host| (of(host) / each - 1.0).abs() < 0.02), "{way}: {rates:?}");
        }
    }
}

#[test]
fn a_ceiling_for_each_host_is_refused_without_hosts_or_a_leaf() {
    let each = "download.each = \"2 Mbit/s\"";
    for (way, keys, why) in [
        ("flows = \"5-tuple\"", each, "flows here have no hosts"),
        ("discipline = \"hfaba\"", each, "supports neither guarantees nor ceilings"),
        ("", "upload.each = \"2 Mbit/s\"", "there is no [upload]"),
        (
            "",
            "[[class]]\nname = \"a\"\ndownload.each = \"2 Mbit/s\"\n[[class]]\nname = \"b\"\nparent = \"a\"",
            "are below that class",
        ),
    ] {
        let error = with_unclaimed(way, keys).expect_err("it is refused");
        assert!(error.contains(why), "{error}");
    }
}
