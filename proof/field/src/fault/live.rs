//! Faults of interfaces and of the process, under traffic.

use super::happened::Happened;
use super::plain::{MBPS, WATCHDOG, begin, document, longest_gap_ms, tcp_percent, traffic};
use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::run::Run;
use crate::tries::Outcome as _;
use crate::world::{INSIDE, OUTSIDE};
use fairwire_control::protocol::{Answer, Request};
use fairwire_core::Duration;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port as _;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::OnFailure::{Closed, Open};
use fairwire_service::config::spec::{FlowsChoice, OnFailure};
use fairwire_testbed::bed::HOST;
use fairwire_testbed::traffic::HostCounts;
use fairwire_wire::Way;
use rustix::process::Signal;

/// The minimum use of a recovered link, percent.
const IN_USE: f64 = 80.0;
/// The time for building the bridge and for the hosts to find it.
const BRIDGING: Duration = Duration::from_ms(500);

fn expect_traffic(run: &mut Run, happened: &mut Happened, from_s: f64) -> Fallible<()> {
    let seen = happened.finish(run)?;
    let end = run.traffic.duration_ns as f64 / 1e9;
    let percent = tcp_percent(&run.traffic, &seen, from_s, end);
    happened.expect_in_time("of the link TCP used afterwards, %", percent, Allowed::at_least(IN_USE));
    happened.check_conservation(run.gateway())
}

pub(super) fn interface_down_and_up(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Closed), traffic(6))?;
    run.wait_until(1.5);
    run.world.gateway.take_down(INSIDE.index)?;
    run.wait_until(2.0);
    run.world.gateway.bring_up(INSIDE.index)?;
    // Traffic is judged only from 4.5 s on. TCP's timers doubled during the outage, and the kernel
    // takes up to a second to notice the carrier.
    expect_traffic(&mut run, happened, 4.5)?;
    let ports = run.gateway().status()?.ports;
    let outages: u64 = ports.iter().map(|port| port.outages).sum();
    happened.expect("outages", outages as f64, Allowed::at_least(1.0));
    Ok(())
}

pub(super) fn mtu_changes(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Closed), traffic(12))?;
    run.wait_until(2.0);
    run.world.gateway.set_mtu(INSIDE.index, 1300)?;
    run.wait_until(3.0);
    run.world.gateway.set_mtu(INSIDE.index, 1500)?;
    run.wait_until(5.0);
    for (host, index) in [
        (&run.world.gateway, OUTSIDE.index),
        (&run.world.gateway, INSIDE.index),
        (&run.world.outside, HOST.index),
        (&run.world.inside, HOST.index),
    ] {
        host.set_mtu(index, 9000)?;
    }
    expect_traffic(&mut run, happened, 8.0)?;
    let status = run.gateway().status()?;
    let lost: u64 = status.ways.iter().flat_map(|way| way.totals.lost.values()).sum();
    happened.expect("frames too long for the interface", lost as f64, Allowed::at_least(1.0));
    Ok(())
}

pub(super) fn peer_gone(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Closed), traffic(14))?;
    run.wait_until(2.0);
    run.world.gateway.remove(OUTSIDE.index)?;
    run.wait_until(3.0);
    let has_ended = run.gateway().end().map(|status| status.to_string());
    happened.check(has_ended.is_none(), format!("its end one second later: {has_ended:?}"));
    run.world.rejoin(Way::Download)?;
    expect_traffic(&mut run, happened, 10.0)
}

fn stop_for_two_seconds(run: &mut Run) -> Fallible<()> {
    run.wait_until(2.0);
    run.gateway().signal(Signal::STOP)?;
    run.wait_until(4.0);
    run.gateway().signal(Signal::CONT)
}

pub(super) fn stopped_and_continued(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Closed), traffic(7))?;
    stop_for_two_seconds(&mut run)?;
    let seen = happened.finish(&mut run)?;
    let gap = longest_gap_ms(&run.traffic, &seen, 1.0, 7.0);
    happened.expect("no ping while it was stopped for 2000 ms, ms", gap, Allowed::above(1900.0));
    let percent = tcp_percent(&run.traffic, &seen, 5.5, 7.0);
    happened.expect_in_time(
        "of the link TCP used 1.5 s after it went on, %",
        percent,
        Allowed::at_least(IN_USE),
    );
    happened.check_conservation(run.gateway())
}

pub(super) fn stopped_open(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Open), traffic(9))?;
    stop_for_two_seconds(&mut run)?;
    let seen = happened.finish(&mut run)?;
    let gap = longest_gap_ms(&run.traffic, &seen, 1.0, 4.0);
    expect_bridge(&mut run, happened, gap);
    let percent = tcp_percent(&run.traffic, &seen, 6.0, 9.0);
    let shaped = Allowed { min: IN_USE, ..Allowed::below(105.0) };
    happened.expect_in_time("of the link TCP used two seconds after it went on, %", percent, shaped);
    happened.check_conservation(run.gateway())
}

fn expect_bridge(run: &mut Run, happened: &mut Happened, gap_ms: f64) {
    let promised = Allowed::at_most((WATCHDOG + BRIDGING).secs() * 1e3);
    happened.expect_in_time("no ping until the kernel bridged, ms", gap_ms, promised);
    let words = run.gateway().last_words();
    if !happened.holds() && !words.is_empty() {
        happened.notes.push(format!("the gateway said: {}", words.replace('\n', " | ")));
    }
}

fn kill_at_two_seconds(on_failure: OnFailure, happened: &mut Happened) -> Fallible<(Run, HostCounts)> {
    let mut run = begin(&document(on_failure), traffic(5))?;
    run.wait_until(2.0);
    run.gateway().signal(Signal::KILL)?;
    let seen = happened.finish(&mut run)?;
    Ok((run, seen))
}

pub(super) fn killed_closed(happened: &mut Happened) -> Fallible<()> {
    let (run, seen) = kill_at_two_seconds(Closed, happened)?;
    let after = longest_gap_ms(&run.traffic, &seen, 2.1, 5.0);
    happened.expect("no ping to the end, ms", after, Allowed::at_least(2899.0));
    Ok(())
}

pub(super) fn killed_open(happened: &mut Happened) -> Fallible<()> {
    let (mut run, seen) = kill_at_two_seconds(Open, happened)?;
    let gap = longest_gap_ms(&run.traffic, &seen, 1.0, 5.0);
    expect_bridge(&mut run, happened, gap);
    Ok(())
}

fn variant(number: usize) -> Document {
    let discipline = ["faba", "drr", "afd-nft"][number % 3];
    let mbps = MBPS + (number % 2) as u64;
    Document::both_ways(direction(mbps, discipline, Some(FlowsChoice::FiveTuple)))
}

const RELOADS: usize = 1000;
/// After this number of reloads, the gateway has allocated the memory for every configuration that
/// `variant` returns.
const SETTLED: usize = 100;
const APART_MS: u64 = 20;

#[derive(Default)]
struct Pauses {
    clock_ms: Vec<f64>,
    /// The longest pause, in milliseconds of CPU time.
    processor_ms: f64,
}

impl Pauses {
    /// Checks the longest pause in CPU time, since other programs may have occupied the processor.
    /// A thread that waits takes no CPU time. So the median pause by the clock must also be below
    /// the promise.
    fn check(mut self, happened: &mut Happened) {
        self.clock_ms.sort_by(f64::total_cmp);
        let median_ms = self.clock_ms.get(self.clock_ms.len() / 2).copied().unwrap_or(f64::NAN);
        let longest_ms = self.clock_ms.last().copied().unwrap_or(f64::NAN);
        let promised = Allowed::below(10.0);
        happened.count("longest pause, ms", longest_ms);
        happened.expect_in_time("median pause, ms", median_ms, promised);
        happened.expect("longest pause, ms of processor time", self.processor_ms, promised);
    }
}

pub(super) fn thousand_reloads(happened: &mut Happened) -> Fallible<()> {
    let seconds = 3 + RELOADS as u64 * APART_MS / 1000 + 10;
    let mut run = begin(&variant(0), traffic(seconds))?;
    run.wait_until(2.0);
    let (mut unbalanced, mut refused, mut took_ms, mut handed) = (0, 0, 0.0_f64, 0);
    let mut pauses = Pauses::default();
    let mut memory = [0; 2];
    for number in 1..=RELOADS {
        match number {
            SETTLED => memory[0] = run.gateway().resident_bytes(),
            RELOADS => memory[1] = run.gateway().resident_bytes(),
            _ => {}
        }
        match run.gateway().reload(&variant(number)) {
            Ok(reloaded) => {
                unbalanced += usize::from(!reloaded.is_balanced);
                pauses.clock_ms.push(reloaded.paused_ms);
                pauses.processor_ms = pauses.processor_ms.max(reloaded.paused_cpu_ms);
                took_ms = took_ms.max(reloaded.took_ms);
                handed += reloaded.handed_over;
            }
            Err(error) => {
                refused += 1;
                if refused == 1 {
                    happened.check(false, format!("reload {number}: {error}"));
                }
            }
        }
        clock::sleep_until(clock::now() + Duration::from_ms(APART_MS));
    }
    let reloading = clock::now().since(run.start).secs();
    let seen = happened.finish(&mut run)?;
    for (name, value) in [
        ("longest reload, ms", took_ms),
        ("packets handed over", handed as f64),
        ("memory after 100, KiB", (memory[0] >> 10) as f64),
        ("memory after 1000, KiB", (memory[1] >> 10) as f64),
        ("seconds of reloading", reloading - 2.0),
    ] {
        happened.count(name, value);
    }
    happened.expect("reloads that were refused", f64::from(refused), Allowed::at_most(0.0));
    happened.expect("reloads that left a packet without a place", unbalanced as f64, Allowed::at_most(0.0));
    pauses.check(happened);
    let to = (reloading.min(seconds as f64) * 10.0).floor() / 10.0;
    let slots = |second: f64| (second * 10.0) as usize;
    let tcp = run.traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == "tcp");
    // TCP's minimum timer is 200 ms and doubles, so a flow counts as stalled only after one second.
    let stalled = tcp
        .filter(|(_, seen)| {
            seen.link_bytes[slots(2.0)..slots(to)].chunks(10).any(|second| second.iter().sum::<u64>() == 0)
        })
        .count();
    happened.expect_in_time(
        "flows that delivered nothing for a second",
        stalled as f64,
        Allowed::at_most(0.0),
    );
    let percent = tcp_percent(&run.traffic, &seen, 2.0, to);
    happened.expect_in_time("of the link TCP used meanwhile, %", percent, Allowed::at_least(IN_USE));
    happened.check_conservation(run.gateway())
}

/// The size of frames that bypass the gateway. One per millisecond is 10 Mbit/s, half the link's
/// rate.
const PAST_BYTES: usize = 1250;
const PAST_S: [u64; 2] = [2, 13];

pub(super) fn passed_by(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Closed), traffic(14))?;
    let mut port = run.world.gateway.at(|| AfPacket::open(INSIDE.name))?;
    let start = run.start;
    let program = std::thread::spawn(move || {
        let frame = [&[2, 0, 0, 0, 0, 2, 2, 0x67, 0, 0, 0, 1, 8, 0][..], &[0; PAST_BYTES - 14]].concat();
        for ms in PAST_S[0] * 1000..PAST_S[1] * 1000 {
            clock::sleep_until(start + Duration::from_ms(ms));
            port.transmit(&frame);
        }
    });
    run.wait_until(12.5);
    let status = run.gateway().status()?;
    let mbps = status.ways[0].bypass_bps / 1e6;
    happened.expect_in_time(
        "reported to pass the gateway by, Mbit/s of 10",
        mbps,
        Allowed { min: 8.5, max: 10.5 },
    );
    happened.expect("the same of the upload", status.ways[1].bypass_bps, Allowed::at_most(0.0));
    let reported = status.changes.get("bypass").copied();
    happened.check(reported == Some(1), format!("reported within 10.5 s: {reported:?}"));
    let says_so =
        status.fairness.contains("pass the gateway by") && !status.fairness.contains("share equally");
    happened.check(says_so, status.fairness.clone());
    program.join().map_err(|_| "the program's thread panicked")?;
    happened.finish(&mut run)?;
    happened.check_conservation(run.gateway())
}

pub(super) fn bad_reload(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(Closed), traffic(3))?;
    run.wait_until(1.0);
    let file = run.gateway().file.clone();
    let text = std::fs::read_to_string(&file)?.replace("\"faba\"", "\"fabba\"");
    std::fs::write(&file, text)?;
    match run.gateway().send(&Request::Reload {
        files: Vec::new(),
        keeps: false,
        handed: Default::default(),
    })? {
        Answer::Refused { message } => {
            happened
                .check(message.contains("faba"), format!("it was refused: {}", message.replace('\n', " ")));
        }
        other => happened.check(false, format!("a discipline `fabba` was answered {other:?}")),
    }
    let discipline = run.gateway().status()?.ways.first().map(|way| way.discipline.clone());
    happened.check(discipline.as_deref() == Some("faba"), format!("the discipline is {discipline:?}"));
    expect_traffic(&mut run, happened, 1.0)
}
