//! Tests a gateway in front of a line whose modem buffers a second of packets. The line's rate
//! halves and recovers, or is constant. The gateway has a fixed rate, or uses `autorate`.
//!
//! The line is another gateway with a FIFO queue. The customers are at the outside of the
//! [`World`](crate::world::World). So the downloads of the gateway under test are uploads in the
//! world.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::{Happened, bps};
use crate::hostile::ipv4;
use crate::run::{Middle, Run};
use crate::world::{BETWEEN, INSIDE, OUTSIDE, Wiring, flow};
use fairwire_control::protocol::{Answer, RateStep, Request};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Time};
use fairwire_laws::spec::Quantity;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port as _;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::{DirectionSpec, FlowsChoice};
use fairwire_testbed::bed::{HOST, Side};
use fairwire_testbed::traffic::{Flow, HostCounts, Sends, Traffic};
use fairwire_wire::Way;
use std::thread;

/// The line's rates, Mbit/s.
const PHASES: [u64; 3] = [20, 10, 20];
const PHASE_S: u64 = 20;
/// The unmeasured start.
const WARM_UP_S: u64 = 5;
/// The configured rate, which suits the line at first.
const FIXED_MBPS: u64 = 19;
/// The buffer of the modem: a second at 10 Mbit/s.
const MODEM_BYTES: u64 = 1_250_000;
/// The one-way delay between the line and the rest of the internet.
const DELAY: Duration = Duration::from_ms(10);
const EVERY: Duration = Duration::from_ms(10);
const FLOWS: u16 = 2;

/// Runs the cases selected by name, on the varying and on the constant line.
pub fn all(is_wanted: &dyn Fn(&str) -> bool) -> Vec<Happened> {
    let runs: [(&'static str, Way, bool); 4] = [
        ("autorate-download-fixed", Way::Download, false),
        ("autorate-download", Way::Download, true),
        ("autorate-upload-fixed", Way::Upload, false),
        ("autorate-upload", Way::Upload, true),
    ];
    let one = |(name, way, follows): (&'static str, Way, bool)| {
        let promised = match follows {
            true => "beside bulk TCP 95 % of pings wait 30 ms at most, and 80 % of the line is used",
            false => "nothing: what a fixed rate gives, to compare",
        };
        Happened::tried(false, &mut || Happened::of(name, promised, |happened| run(happened, way, follows)))
    };
    let varied = runs.into_iter().filter(|(name, ..)| is_wanted(name)).map(one);
    let beside = BESIDE.iter().filter(|beside| is_wanted(beside.name)).map(|beside| {
        let promised = "0.9 of the line is used, and 95 % of pings wait 30 ms at most";
        Happened::tried(false, &mut || {
            Happened::of(beside.name, promised, |happened| run_beside(happened, beside))
        })
    });
    varied.chain(beside).collect()
}

/// The traffic next to two downloads on a constant line.
struct Beside {
    name: &'static str,
    /// The number of TCP conversations. In each, both ends send 30 bytes every `every_ms`.
    talks: u16,
    every_ms: u64,
    /// The number of calls, of 64 kbit/s in each direction.
    calls: u16,
    /// Do a customer and servers forge timestamps?
    is_forged: bool,
}

/// The cases on a constant line: a typical home, and conversations that once held the gateway's
/// rate at a tenth of the line's rate.
const BESIDE: [Beside; 12] = [
    talking("autorate-beside-none", 0, 40),
    talking("autorate-beside-1-each-40-ms", 1, 40),
    talking("autorate-beside-4-each-40-ms", 4, 40),
    talking("autorate-beside-8-each-40-ms", 8, 40),
    talking("autorate-beside-40-each-40-ms", 40, 40),
    talking("autorate-beside-1-each-100-ms", 1, 100),
    talking("autorate-beside-4-each-100-ms", 4, 100),
    talking("autorate-beside-8-each-100-ms", 8, 100),
    talking("autorate-beside-40-each-100-ms", 40, 100),
    Beside { calls: 4, ..talking("autorate-beside-calls-and-a-game", 2, 16) },
    // A terminal echoes about five characters a second.
    talking("autorate-beside-terminals", 4, 200),
    Beside { is_forged: true, ..talking("autorate-beside-forged-timestamps", 0, 40) },
];
/// The length of each case, seconds. The last [`LAST_S`] seconds are judged.
const BESIDE_S: u64 = 18;
const LAST_S: u64 = 8;

const fn talking(name: &'static str, talks: u16, every_ms: u64) -> Beside {
    Beside { name, talks, every_ms, calls: 0, is_forged: false }
}

fn run_beside(happened: &mut Happened, beside: &Beside) -> Fallible<()> {
    let wiring = Wiring { delays: [DELAY; 2], ..Wiring::default() };
    let documents = [gateway(true), line()];
    let mut run = Run::begin(wiring, Middle::BeforeLine(&documents[0], &documents[1]), beside.traffic())?;
    let forger = beside.is_forged.then(|| Forger::start(&run)).transpose()?;
    for at_s in (2..BESIDE_S).step_by(2) {
        run.wait_until(at_s as f64);
        let status = run.gateway().status()?;
        let rate = status.ways.iter().find(|own| own.way == Way::Download.name()).map(|own| own.rate_bps);
        happened.count(&format!("the rate after {at_s} s, Mbit/s"), rate.unwrap_or(0) as f64 / 1e6);
    }
    let seen = happened.finish(&mut run)?;
    if let Some(forger) = forger {
        let sent = forger.join().map_err(|_| "the forger's thread panicked")?;
        happened.count("forged segments", sent as f64);
        happened.check(sent > 4000, format!("the forgery was made, of {sent} segments"));
    }
    let (from, to) = (BESIDE_S - LAST_S, BESIDE_S);
    let used = bps(&run.traffic, &seen, "tcp", from as f64, to as f64) / (PHASES[0] as f64 * 1e6);
    let [p50, p95] = waited(&run.traffic, &seen, from, to);
    happened.count("pings wait, median, ms", p50);
    happened.expect_in_time("pings wait, 95 %, ms", p95, Allowed::at_most(30.0));
    happened.expect_in_time("the part of the line that TCP uses", used, Allowed::at_least(0.9));
    happened.check_conservation(run.gateway())
}

impl Beside {
    fn traffic(&self) -> Traffic {
        let duration_ns = BESIDE_S * 1_000_000_000;
        let mut traffic = traffic(Way::Download, BESIDE_S);
        let talk = Sends::Talk { every_ns: self.every_ms * 1_000_000, payload: 30 };
        for number in 0..self.talks {
            traffic.flows.push(flow("talk", talk.clone(), in_world(Way::Download), 60 + number, duration_ns));
        }
        let call = Sends::Udp { bps: 64_000, payload: 160, counted: 160 };
        for (number, way) in (0..self.calls).flat_map(|number| Way::ALL.map(|way| (number, way))) {
            traffic.flows.push(flow("call", call.clone(), in_world(way), 120 + number, duration_ns));
        }
        traffic
    }
}

/// A customer and servers that forge timestamps in small conversations. Until [`PROMPT_S`], the
/// servers answer at once, so the lowest round trip is short. After that, they answer 300 ms late.
struct Forger {
    ports: [AfPacket; 2],
    start: Time,
}

const FORGED: u16 = 8;
const FORGED_EVERY_MS: u64 = 50;
const PROMPT_S: u64 = 4;
/// The delay of the servers' late answers, in segments.
const LATER: u32 = 6;

impl Forger {
    /// Starts a thread, which returns the number of segments sent.
    fn start(run: &Run) -> Fallible<thread::JoinHandle<u64>> {
        let [customer, servers] = [&run.world.outside, &run.world.inside];
        let ports = [customer.at(|| AfPacket::open(HOST.name))?, servers.at(|| AfPacket::open(HOST.name))?];
        let forger = Forger { ports, start: run.start };
        Ok(thread::spawn(move || forger.forge()))
    }

    fn forge(mut self) -> u64 {
        let rounds = BESIDE_S * 1000 / FORGED_EVERY_MS;
        for round in 0..rounds {
            clock::sleep_until(self.start + Duration::from_ms(round * FORGED_EVERY_MS));
            let round = round as u32 + 1;
            let is_late = u64::from(round) * FORGED_EVERY_MS > PROMPT_S * 1000;
            let echoed = if is_late { round - LATER } else { round };
            for conversation in 0..FORGED {
                for (port, [sent, answered]) in [[round, round - 1], [round, echoed]].into_iter().enumerate()
                {
                    let source = if port == 0 { Side::Left } else { Side::Right };
                    self.ports[port].transmit(&forged(source, conversation, sent, answered));
                }
                if !is_late {
                    // The answer must not overtake the segment.
                    clock::sleep_until(clock::now() + Duration::from_us(100));
                }
            }
        }
        rounds * u64::from(FORGED) * 2
    }
}

/// A segment with forged timestamps. Its addresses belong to no host, so no kernel answers.
fn forged(source: Side, conversation: u16, stamp: u32, echo: u32) -> Vec<u8> {
    const BYTES: u32 = 100;
    let [customer, server] = [[10, 66, 6, 6], [203, 0, 113, 6]];
    let ports = [40_000 + conversation, 443];
    let (addresses, ports, to) = match source {
        Side::Left => ([customer, server], ports, Side::Right),
        Side::Right => ([server, customer], [ports[1], ports[0]], Side::Left),
    };
    let mut segment = Vec::new();
    ports.iter().for_each(|port| segment.extend(port.to_be_bytes()));
    segment.extend((stamp * BYTES).to_be_bytes());
    segment.extend((echo * BYTES + BYTES).to_be_bytes());
    segment.extend([0x80, 0x10, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10]);
    segment.extend(stamp.to_be_bytes());
    segment.extend(echo.to_be_bytes());
    segment.resize(segment.len() + BYTES as usize, 0xab);
    let head = [&to.ethernet_address()[..], &source.ethernet_address(), &[8, 0]].concat();
    [head, ipv4(addresses, 6, &segment)].concat()
}

fn in_world(way: Way) -> Way {
    match way {
        Way::Download => Way::Upload,
        Way::Upload => Way::Download,
    }
}

fn run(happened: &mut Happened, way: Way, follows: bool) -> Fallible<()> {
    let seconds = PHASE_S * PHASES.len() as u64;
    let wiring = Wiring { delays: [DELAY; 2], ..Wiring::default() };
    let documents = [gateway(follows), line()];
    let mut run =
        Run::begin(wiring, Middle::BeforeLine(&documents[0], &documents[1]), traffic(way, seconds))?;
    let began_s = vary(&run, way)?;
    happened.count("the line began to vary after, s", began_s);
    let mut rates = Vec::new();
    for phase in 1..=PHASES.len() as u64 {
        run.wait_until((phase * PHASE_S) as f64 - 1.0);
        let status = run.gateway().status()?;
        rates.extend(status.ways.iter().find(|own| own.way == way.name()).map(|own| own.rate_bps));
    }
    let seen = happened.finish(&mut run)?;
    for ((mbps, rate), number) in PHASES.iter().zip(rates).zip(1..) {
        happened.count(&format!("{number}: the rate at the end of {mbps} Mbit/s, Mbit/s"), rate as f64 / 1e6);
    }
    judge(happened, &run.traffic, &seen, follows);
    happened.check_conservation(run.gateway())
}

/// Makes the line's rate follow [`PHASES`]. Returns how late the phases begin, in seconds.
fn vary(run: &Run, way: Way) -> Fallible<f64> {
    let line = run.line.as_ref().ok_or("this run has no line")?;
    run.wait_until(0.0);
    let steps = (0..).zip(PHASES).map(|(phase, mbps): (u64, u64)| RateStep {
        after_ms: (phase * PHASE_S * 1000) as f64,
        bps: mbps * 1_000_000,
    });
    match line.send(&Request::SetRate { way, steps: steps.collect() })? {
        Answer::RateSet { .. } => Ok(clock::now().since(run.start).secs()),
        other => Err(format!("the answer to rates of the line is {other:?}").into()),
    }
}

fn traffic(way: Way, seconds: u64) -> Traffic {
    let duration_ns = seconds * 1_000_000_000;
    let bulk = |number| flow("tcp", Sends::Tcp("cubic".into()), in_world(way), number, duration_ns);
    let mut flows: Vec<Flow> = (0..FLOWS).map(bulk).collect();
    flows.push(flow("ping", Sends::Ping { every_ns: EVERY.ns() }, in_world(way), 50, duration_ns));
    Traffic::new(flows, duration_ns)
}

/// The gateway under test. Its inside is connected to the outside host of the test network.
fn gateway(follows: bool) -> Document {
    let fixed = direction(FIXED_MBPS, "fq-codel", None);
    let own = match follows {
        true => DirectionSpec { autorate: Some(Default::default()), ..fixed },
        false => fixed,
    };
    let mut document = Document::both_ways(own);
    document.spec.wire.inside = OUTSIDE.name.into();
    document.spec.wire.outside = BETWEEN[0].name.into();
    document
}

fn line() -> Document {
    let plain = direction(PHASES[0], "tail-drop", Some(FlowsChoice::FiveTuple));
    let buffer = Some(Quantity(Amount::Bytes(MODEM_BYTES)));
    let mut document = Document::both_ways(DirectionSpec { buffer, ..plain });
    document.spec.name = "line".into();
    document.spec.wire.inside = BETWEEN[1].name.into();
    document.spec.wire.outside = INSIDE.name.into();
    document
}

fn judge(happened: &mut Happened, traffic: &Traffic, seen: &HostCounts, follows: bool) {
    let phases = (0..).zip(PHASES).map(|(phase, mbps): (u64, u64)| {
        let from = if phase == 0 { WARM_UP_S } else { phase * PHASE_S };
        (from, (phase + 1) * PHASE_S, mbps)
    });
    let (mut carried, mut offered) = (0.0, 0.0);
    for (number, (from, to, mbps)) in (1..).zip(phases) {
        let seconds = (to - from) as f64;
        let used = bps(traffic, seen, "tcp", from as f64, to as f64);
        carried += used * seconds;
        offered += mbps as f64 * 1e6 * seconds;
        happened
            .count(&format!("{number}: the part of {mbps} Mbit/s that TCP uses"), used / (mbps as f64 * 1e6));
        let [p50, p95] = waited(traffic, seen, from, to);
        happened.count(&format!("{number}: pings wait at {mbps} Mbit/s, median, ms"), p50);
        happened.count(&format!("{number}: pings wait at {mbps} Mbit/s, 95 %, ms"), p95);
    }
    let [p50, p95] = waited(traffic, seen, WARM_UP_S, PHASE_S * PHASES.len() as u64);
    happened.count("pings wait, median, ms", p50);
    if follows {
        happened.expect_in_time("pings wait, 95 %, ms", p95, Allowed::at_most(30.0));
        happened.expect_in_time(
            "the part of the line that TCP uses",
            carried / offered,
            Allowed::at_least(0.8),
        );
    } else {
        happened.count("pings wait, 95 %, ms", p95);
        happened.count("the part of the line that TCP uses", carried / offered);
    }
}

/// The waits of pings sent from `from_s` to `to_s`, in ms: the median and the 95th percentile. A
/// wait excludes the path's delay.
fn waited(traffic: &Traffic, seen: &HostCounts, from_s: u64, to_s: u64) -> [f64; 2] {
    let own = traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == "ping");
    let range = from_s * 1_000_000_000..to_s * 1_000_000_000;
    let mut ms: Vec<f64> = own
        .flat_map(|(_, seen)| &seen.delays_ns)
        .filter(|(sent, _)| range.contains(sent))
        .map(|(_, took)| (*took as f64 - DELAY.ns() as f64) / 1e6)
        .collect();
    ms.sort_by(f64::total_cmp);
    [0.5, 0.95].map(|part| ms.get((part * ms.len() as f64) as usize).copied().unwrap_or(f64::NAN))
}
