//! Faults of interfaces and of the process, with traffic under way.

use super::happened::Happened;
use super::plain::{MBPS, begin, bps, document, longest_gap_ms, traffic};
use crate::config::Link;
use crate::fallible::Fallible;
use crate::run::Run;
use crate::world::{INSIDE, OUTSIDE};
use fairwire_core::Duration;
use fairwire_gateway::class_book::Way;
use fairwire_gateway::control::protocol::{Answer, Request};
use fairwire_linux::clock;
use fairwire_testbed::bed::HOST;
use rustix::process::Signal;

/// A link that is in use again carries at least this part of its rate.
const IN_USE: f64 = 0.8;
/// What the watchdog of these gateways waits, milliseconds.
const WATCHDOG_MS: f64 = 500.0;
/// Time for the bridge to be made and found by the hosts, milliseconds.
const BRIDGING_MS: f64 = 500.0;
const OPEN: &str = "on_failure = \"open\"\nwatchdog = \"500 ms\"";
const CLOSED: &str = "on_failure = \"closed\"";

/// Waits for the end, and checks that the link is in use `from_s` after the start and later.
fn expect_traffic(run: &mut Run, happened: &mut Happened, from_s: f64) -> Fallible<()> {
    let seen = run.finish()?;
    let end = run.traffic.duration_ns as f64 / 1e9;
    let part = bps(&run.traffic, &seen, "tcp", from_s, end) / (MBPS as f64 * 1e6);
    happened.count("part of the link in use afterwards", part);
    happened.check(part >= IN_USE, format!("from {from_s} s on TCP used {:.1} % of the link", part * 100.0));
    happened.check_conservation(run.gateway())
}

pub(super) fn interface_down_and_up(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(CLOSED), traffic(6))?;
    run.wait_until(1.5);
    run.world.gateway.take_down(INSIDE.index)?;
    run.wait_until(2.0);
    run.world.gateway.bring_up(INSIDE.index)?;
    // TCP's timers doubled during the outage, and the kernel notices a carrier within a second.
    expect_traffic(&mut run, happened, 4.5)?;
    let ports = run.gateway().status()?.ports;
    let outages: u64 = ports.iter().map(|port| port.outages).sum();
    happened.count("outages", outages as f64);
    happened.check(outages >= 1, format!("{outages} outages counted"));
    Ok(())
}

pub(super) fn mtu_changes(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(CLOSED), traffic(12))?;
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
    happened.check(lost > 0, format!("{lost} frames too long for the interface were counted as lost"));
    Ok(())
}

pub(super) fn peer_gone(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(CLOSED), traffic(14))?;
    run.wait_until(2.0);
    run.world.gateway.remove(OUTSIDE.index)?;
    run.wait_until(3.0);
    let has_ended = run.gateway().end().map(|status| status.to_string());
    happened.check(has_ended.is_none(), format!("its end one second later: {has_ended:?}"));
    run.world.rejoin(Way::Download)?;
    expect_traffic(&mut run, happened, 10.0)
}

/// Stops the process at 2 s for 2 s.
fn stop_for_two_seconds(run: &mut Run) -> Fallible<()> {
    run.wait_until(2.0);
    run.gateway().signal(Signal::STOP)?;
    run.wait_until(4.0);
    run.gateway().signal(Signal::CONT)
}

pub(super) fn stopped_and_continued(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(CLOSED), traffic(7))?;
    stop_for_two_seconds(&mut run)?;
    let seen = run.finish()?;
    let gap = longest_gap_ms(&run.traffic, &seen, 1.0, 7.0);
    happened.count("longest gap of pings, ms", gap);
    happened.check(gap > 1900.0, format!("no ping for {gap:.0} ms, of the 2000 ms of the stop"));
    let part = bps(&run.traffic, &seen, "tcp", 5.5, 7.0) / (MBPS as f64 * 1e6);
    happened.check(
        part >= IN_USE,
        format!("from 1.5 s after it went on TCP used {:.1} % of the link", part * 100.0),
    );
    happened.check_conservation(run.gateway())
}

pub(super) fn stopped_open(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(OPEN), traffic(9))?;
    stop_for_two_seconds(&mut run)?;
    let seen = run.finish()?;
    let gap = longest_gap_ms(&run.traffic, &seen, 1.0, 4.0);
    happened.count("longest gap of pings, ms", gap);
    happened.check(gap <= WATCHDOG_MS + BRIDGING_MS, format!("no ping for {gap:.0} ms after it stopped"));
    quote(&mut run, happened);
    let part = bps(&run.traffic, &seen, "tcp", 6.0, 9.0) / (MBPS as f64 * 1e6);
    let is_shaped = (IN_USE..1.05).contains(&part);
    happened
        .check(is_shaped, format!("two seconds after it went on TCP got {:.1} % of its rate", part * 100.0));
    happened.check_conservation(run.gateway())
}

/// What the gateway and its guard said, where a promise of theirs does not hold.
fn quote(run: &mut Run, happened: &mut Happened) {
    let words = run.gateway().last_words();
    if !happened.broken.is_empty() && !words.is_empty() {
        happened.happened.push(format!("the gateway said: {}", words.replace('\n', " | ")));
    }
}

fn kill_at_two_seconds(safety: &str) -> Fallible<(Run, fairwire_testbed::traffic::Seen)> {
    let mut run = begin(&document(safety), traffic(5))?;
    run.wait_until(2.0);
    run.gateway().signal(Signal::KILL)?;
    let seen = run.finish()?;
    Ok((run, seen))
}

pub(super) fn killed_closed(happened: &mut Happened) -> Fallible<()> {
    let (run, seen) = kill_at_two_seconds(CLOSED)?;
    let after = longest_gap_ms(&run.traffic, &seen, 2.1, 5.0);
    happened.count("longest gap of pings, ms", after);
    happened.check(after >= 2899.0, format!("no ping for {after:.0} ms, to the end"));
    Ok(())
}

pub(super) fn killed_open(happened: &mut Happened) -> Fallible<()> {
    let (mut run, seen) = kill_at_two_seconds(OPEN)?;
    let gap = longest_gap_ms(&run.traffic, &seen, 1.0, 5.0);
    happened.count("longest gap of pings, ms", gap);
    happened.check(gap <= WATCHDOG_MS + BRIDGING_MS, format!("no ping for {gap:.0} ms after it was killed"));
    quote(&mut run, happened);
    Ok(())
}

/// Configurations between which reloads alternate: other rates, other disciplines.
fn variant(number: usize) -> crate::config::Document {
    let mut document = document(CLOSED);
    let discipline = ["faba", "drr", "afd-nft"][number % 3];
    let link = Link { mbps: MBPS + (number % 2) as u64, discipline, buffer: "50 ms", delay_ms: 0 };
    (document.download, document.upload) = (Some(link), Some(link));
    document
}

const RELOADS: usize = 1000;
/// After so many of them every variant has had its memory.
const SETTLED: usize = 100;
/// Between two of them, milliseconds.
const APART_MS: u64 = 20;

/// How long the packets waited at each reload.
#[derive(Default)]
struct Pauses {
    clock_ms: Vec<f64>,
    /// The longest, in time of the processor.
    processor_ms: f64,
}

impl Pauses {
    /// How long other programs kept the processor meanwhile is not the gateway's. But what waits for something else takes no
    /// processor time, and would show in most pauses: half of them by the clock are below the promise too.
    fn check(mut self, happened: &mut Happened) {
        self.clock_ms.sort_by(f64::total_cmp);
        let median_ms = self.clock_ms.get(self.clock_ms.len() / 2).copied().unwrap_or(f64::NAN);
        let longest_ms = self.clock_ms.last().copied().unwrap_or(f64::NAN);
        for (name, value) in [
            ("longest pause, ms", longest_ms),
            ("median pause, ms", median_ms),
            ("longest pause, ms of processor time", self.processor_ms),
        ] {
            happened.count(name, value);
        }
        happened.check(
            median_ms < 10.0,
            format!("half of the pauses took at most {median_ms:.2} ms by the clock"),
        );
        happened.check(
            self.processor_ms < 10.0,
            format!(
                "the longest pause took {longest_ms:.2} ms, none more than {:.2} ms of processor time",
                self.processor_ms
            ),
        );
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
                    happened.broken.push(format!("reload {number}: {error}"));
                }
            }
        }
        clock::sleep_until(clock::now() + Duration::from_ms(APART_MS));
    }
    let reloading = clock::now().since(run.start).secs();
    let seen = run.finish()?;
    for (name, value) in [
        ("longest reload, ms", took_ms),
        ("packets handed over", handed as f64),
        ("memory after 100, KiB", (memory[0] >> 10) as f64),
        ("memory after 1000, KiB", (memory[1] >> 10) as f64),
        ("seconds of reloading", reloading - 2.0),
    ] {
        happened.count(name, value);
    }
    happened.check(refused == 0, format!("{refused} of {RELOADS} reloads were refused"));
    happened.check(unbalanced == 0, format!("{unbalanced} of {RELOADS} left a packet without a place"));
    pauses.check(happened);
    let to = (reloading.min(seconds as f64) * 10.0).floor() / 10.0;
    let slots = |second: f64| (second * 10.0) as usize;
    let tcp = run.traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == "tcp");
    // A second, since TCP's least timer is 200 ms, and doubles.
    let stalled = tcp
        .filter(|(_, seen)| {
            seen.link_bytes[slots(2.0)..slots(to)].chunks(10).any(|second| second.iter().sum::<u64>() == 0)
        })
        .count();
    happened.check(stalled == 0, format!("{stalled} flows stood still for a second"));
    let part = bps(&run.traffic, &seen, "tcp", 2.0, to) / (MBPS as f64 * 1e6);
    happened.check(part >= IN_USE, format!("meanwhile TCP used {:.1} % of the link", part * 100.0));
    happened.check_conservation(run.gateway())
}

pub(super) fn bad_reload(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(CLOSED), traffic(3))?;
    run.wait_until(1.0);
    let file = run.gateway().file.clone();
    let text = std::fs::read_to_string(&file)?.replace("\"faba\"", "\"fabba\"");
    std::fs::write(&file, text)?;
    match run.gateway().ask(&Request::Reload { files: Vec::new(), handed: Default::default() })? {
        Answer::Refused { message } => {
            happened
                .check(message.contains("faba"), format!("it was refused: {}", message.replace('\n', " ")));
        }
        other => happened.broken.push(format!("a discipline `fabba` was answered {other:?}")),
    }
    let discipline = run.gateway().status()?.ways.first().map(|way| way.discipline.clone());
    happened.check(discipline.as_deref() == Some("faba"), format!("the discipline is {discipline:?}"));
    expect_traffic(&mut run, happened, 1.0)
}
