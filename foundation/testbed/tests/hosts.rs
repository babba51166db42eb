//! Tests hosts that this kernel's bridge connects. The test starts itself again, so this file has a
//! `main`. If network namespaces are refused, the test passes with a notice.

use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_testbed::agent;
use fairwire_testbed::agents::{Agents, Failed};
use fairwire_testbed::bed::{Bed, HOST, SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::error::{Trouble, TroubleKind};
use fairwire_testbed::host::Host;
use fairwire_testbed::message::AGENT_COMMAND;
use fairwire_testbed::path::{Carried, Faults, Lane, Path};
use fairwire_testbed::traffic::{Flow, Sends, Traffic, datagram_bytes};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(AGENT_COMMAND) => std::process::exit(agent::main(arguments)),
        Some("--list") => return ExitCode::SUCCESS, // a test runner lists names: there are none to select
        _ => {}
    }
    match bridged(None) {
        Ok(bed) => {
            what_is_sent_arrives(&bed);
            println!("hosts: what is sent arrives, is counted once, and its delay is known ... ok");
            a_killed_host_is_reported_at_once(&bed);
            println!("hosts: a killed host is reported at once ... ok");
            nothing_is_left_of_a_dropped(bed);
            println!("hosts: nothing is left of a bed that is dropped ... ok");
            a_path_delays_each_flow_by_its_own_time();
            println!("hosts: a path delays each flow by its own time ... ok");
            a_path_loses_what_it_is_to_lose_and_says_how_much();
            println!("hosts: a path loses what it is to lose and says how much ... ok");
        }
        Err(trouble) if trouble.kind == TroubleKind::Other => panic!("{trouble}"),
        Err(trouble) => fairwire_testing::skipped(format_args!("all tests of hosts: {trouble}")),
    }
    ExitCode::SUCCESS
}

fn bridged(path: Option<&Path>) -> Result<Bed, Trouble> {
    let bed = Bed::with_path(1500, path)?;
    bed.gateway.bridge("br0", &Side::BOTH.map(|side| side.end().index))?;
    Ok(bed)
}

const SECOND_NS: u64 = 1_000_000_000;
const UDP_PAYLOAD: u32 = 1000;
const PER_SECOND: u64 = 1000;

fn traffic() -> Traffic {
    let (left, right) = (SOURCE_ADDRESS.into(), SINK_ADDRESS.into());
    let flow = |sends, from| Flow {
        group: "test".into(),
        sends,
        from,
        source: if from == Side::Left { left } else { right },
        destination: if from == Side::Left { right } else { left },
        start_ns: 0,
        stop_ns: SECOND_NS,
        receiver_behind: None,
        ecn: false,
    };
    let counted = datagram_bytes(UDP_PAYLOAD, left) as u32;
    let udp = Sends::Udp { bps: PER_SECOND * u64::from(counted) * 8, payload: UDP_PAYLOAD, counted };
    let flows = vec![
        flow(Sends::Tcp("reno".into()), Side::Left),
        flow(udp, Side::Left),
        flow(Sends::Ping { every_ns: 10_000_000 }, Side::Right),
    ];
    Traffic { tcp_every_ns: Some(SECOND_NS / 10), ..Traffic::new(flows, SECOND_NS) }
}

fn started(bed: &Bed, traffic: &Traffic) -> Result<Agents, Failed> {
    let mut agents = Agents::start([&bed.source, &bed.sink], traffic)?;
    agents.begin(clock::now() + Duration::from_ms(50))?;
    Ok(agents)
}

fn what_is_sent_arrives(bed: &Bed) {
    let before = bed.sink.counted(HOST.name).expect("it is there");
    let seen =
        started(bed, &traffic()).and_then(|mut agents| agents.finish()).expect("nothing is in the way");
    let after = bed.sink.counted(HOST.name).expect("it is there");
    let sum = |slots: &[u64]| slots.iter().sum::<u64>();
    let [tcp, udp, ping] = seen.flows.as_slice() else { panic!("{seen:?}") };
    // `link` counts a packet on arrival, with 90 bytes of overhead. `payload` counts the packet
    // later, when its data is read.
    let (payload, link) = (sum(&tcp.payload_bytes), sum(&tcp.link_bytes));
    assert!(payload > 1_000_000 && link > payload, "{payload} of {link}");
    assert!(sum(&tcp.back_bytes) > 0, "it is acknowledged");
    // A late sender skips samples.
    let times: Vec<u64> = tcp.tcp.iter().map(|sample| sample.at_ns).collect();
    assert!(times.len() >= 7 && times.iter().all(|ns| ns % (SECOND_NS / 10) == 0), "{times:?}");
    assert!(times.is_sorted() && tcp.tcp.iter().all(|sample| sample.cwnd > 0 && sample.srtt_us.is_some()));
    assert!(udp.tcp.is_empty() && ping.tcp.is_empty());
    assert_eq!((udp.sent, udp.refused), (PER_SECOND, 0));
    // A busy machine may send the last datagrams after the run.
    let came = sum(&udp.payload_bytes) / u64::from(UDP_PAYLOAD);
    assert!(came <= PER_SECOND && came > PER_SECOND * 9 / 10, "{came}");
    assert!(ping.delays_ns.len() > 90 && ping.delays_ns.iter().all(|(_, took)| *took > 0), "{ping:?}");
    assert_eq!(seen.missed, 0);
    assert!(after.received - before.received > came, "an interface counts what it received");
}

fn children() -> Vec<Pid> {
    let path = "/proc/thread-self/children";
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

fn a_killed_host_is_reported_at_once(bed: &Bed) {
    let mut agents = started(bed, &traffic()).expect("nothing is in the way");
    let children = children();
    let Some(last) = children.last() else {
        return fairwire_testing::skipped(
            "a killed host: this kernel does not list children (CONFIG_PROC_CHILDREN)",
        );
    };
    assert_eq!(children.len(), 2);
    kill_process(*last, Signal::KILL).expect("it is ours");
    let failed = agents.finish().expect_err("one is killed");
    assert_eq!(failed.role, "right-host");
    assert!(failed.to_string().contains("ended before its time"), "{failed}");
    drop(agents);
    assert_eq!(self::children(), []);
}

fn namespaces() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("net:[")).collect()
}

fn nothing_is_left_of_a_dropped(bed: Bed) {
    assert_eq!(namespaces().len(), 3);
    let own = Host::new().expect("there are rights"); // this thread also changes its namespace
    drop(bed);
    assert_eq!(namespaces().len(), 1);
    drop(own);
    assert_eq!(namespaces(), Vec::<PathBuf>::new());
}

fn a_path_delays_each_flow_by_its_own_time() {
    let ms = Duration::from_ms;
    let mut bed = bridged(Some(&Path::round_trips([ms(40), ms(0), ms(25)]))).expect("there are rights");
    let seen =
        started(&bed, &traffic()).and_then(|mut agents| agents.finish()).expect("nothing is in the way");
    let carried = bed.finish_path().expect("it carries");
    let [tcp, udp, ping] = seen.flows.as_slice() else { panic!("{seen:?}") };
    // The machine adds a varying delay to the path's 25 ms.
    let delays = || ping.delays_ns.iter().map(|(_, took)| *took);
    assert!(delays().count() > 80 && delays().all(|took| took >= ms(25).ns()), "{ping:?}");
    assert!(delays().min() < Some(ms(40).ns()), "{:?}: it has the delay of another", delays().min());
    let trips: Vec<u32> = tcp.tcp.iter().filter_map(|sample| sample.srtt_us).collect();
    assert!(trips.len() > 5 && trips.iter().all(|us| *us >= 40_000), "{trips:?}");
    assert!(udp.payload_bytes.iter().sum::<u64>() > 0);
    assert!(carried.passed > 2 * PER_SECOND && carried.processor_ns > 0, "{carried:?}");
    assert_eq!((carried.faults.lost, carried.overflowed, carried.failed), (0, 0, 0));
    assert_eq!(bed.finish_path(), Ok(Carried::default()), "it has ended");
}

fn a_path_loses_what_it_is_to_lose_and_says_how_much() {
    let to_sink = Lane { faults: Faults::losing(0.1), ..Lane::default() };
    let mut bed = bridged(Some(&Path { to_sink, seed: 1, ..Path::default() })).expect("there are rights");
    let datagrams = Traffic::new(vec![traffic().flows[1].clone()], SECOND_NS);
    let mut agents = started(&bed, &datagrams).expect("nothing is in the way");
    let seen = agents.finish().expect("nothing is in the way");
    let carried = bed.finish_path().expect("it carries");
    let came = seen.flows[0].payload_bytes.iter().sum::<u64>() / u64::from(UDP_PAYLOAD);
    assert!((62..=138).contains(&carried.faults.lost), "{carried:?}"); // 100 +- 4 sd of 9.5
    // Packets of the hosts' kernels (MLD, RFC 3810) can be lost, too.
    assert!(came + carried.faults.lost <= PER_SECOND + 20, "{came} and {}", carried.faults.lost);
    assert!(came > PER_SECOND * 8 / 10, "{came}");
}
