//! Frames of all types, and tunnels.

use super::happened::Happened;
use super::plain::{DOWNLOADS, MBPS, begin, document, traffic};
use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{INSIDE, NO_TUNNEL, Vxlan, Wiring, flow};
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::{FlowsChoice, OnFailure};
use fairwire_testbed::traffic::{FRAMING, Sends, Traffic};
use fairwire_wire::Way;

/// Frames per second: 41 Mbit/s on a link of 20 Mbit/s.
const PER_SECOND: u64 = 5000;

pub(super) fn every_kind(happened: &mut Happened) -> Fallible<()> {
    let mut traffic = traffic(6);
    traffic.flows.push(flow(
        "kinds",
        Sends::Kinds { per_second: PER_SECOND },
        Way::Download,
        60,
        traffic.duration_ns,
    ));
    let mut run = begin(&document(OnFailure::Closed), traffic)?;
    run.wait_until(2.0);
    let (began, before) = (fairwire_linux::clock::now(), sent_by(INSIDE.name)?);
    run.wait_until(5.5);
    let (ended, after) = (fairwire_linux::clock::now(), sent_by(INSIDE.name)?);
    happened.finish(&mut run)?;
    // The kernel's count at the interface, plus Ethernet's overhead per frame. The padding of short
    // frames is not counted.
    let bytes = after.bytes - before.bytes + (after.frames - before.frames) * u64::from(FRAMING);
    let percent = bytes as f64 * 8.0 / ended.since(began).secs() / (MBPS as f64 * 1e4);
    // A catch-up burst (10 ms) and a burst of non-IP frames (eight full frames) add 0.4 % in 3.5 s.
    let in_use = Allowed { min: 90.0, max: 101.0 };
    happened.expect("of the rate left by the interface, of every kind, %", percent, in_use);
    let lost: u64 = run.gateway().status()?.ways.iter().filter_map(|way| way.totals.lost.get("not-ip")).sum();
    happened.expect("lost as not-ip", lost as f64, Allowed::above(1000.0));
    happened.check_conservation(run.gateway())
}

/// The kernel's counters of an interface in this thread's namespace.
struct Counted {
    bytes: u64,
    frames: u64,
}

fn sent_by(name: &str) -> Fallible<Counted> {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev")?;
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
    let numbers: Vec<u64> =
        line.unwrap_or_default().split_whitespace().filter_map(|word| word.parse().ok()).collect();
    match numbers.get(8..10) {
        Some(&[bytes, frames]) => Ok(Counted { bytes, frames }),
        _ => Err(format!("/proc/net/dev has no line for {name}").into()),
    }
}

/// The rate of the link below the tunnel, Mbit/s.
const TUNNEL_MBPS: u64 = 100;
const PROMISED_PERCENT: f64 = 90.0;
/// The bytes of a full frame on the link, and of its TCP payload in VXLAN. Of the tunnel's MTU of
/// 1450, headers with timestamps take 52 bytes.
const FRAME_AND_PAYLOAD: (f64, f64) = (1538.0, 1398.0);

pub(super) fn tunnel(happened: &mut Happened) -> Fallible<()> {
    for has_sum in [false, true] {
        let document = Document::both_ways(direction(TUNNEL_MBPS, "drr", Some(FlowsChoice::FiveTuple)));
        let wiring = Wiring { vxlan: Some(Vxlan { has_sum }), ..Wiring::default() };
        let Traffic { flows, duration_ns, .. } = traffic(6);
        let flows = flows.into_iter().take(usize::from(DOWNLOADS)).collect();
        let mut run = match Run::begin(wiring, Middle::Gateway(&document), Traffic::new(flows, duration_ns)) {
            Err(error) if error.to_string().contains(NO_TUNNEL) => {
                eprintln!("SKIPPED: the tunnel: {error}");
                happened.notes.push(format!("SKIPPED: {error}"));
                return Ok(());
            }
            run => run?,
        };
        let seen = happened.finish(&mut run)?;
        let payload: u64 =
            seen.flows.iter().flat_map(|flow| flow.payload_bytes.get(20..60).unwrap_or_default()).sum();
        let payload_bps = payload as f64 * 8.0 / 4.0;
        let percent = payload_bps * FRAME_AND_PAYLOAD.0 / FRAME_AND_PAYLOAD.1 / (TUNNEL_MBPS as f64 * 1e4);
        let sums = if has_sum { "with" } else { "without" };
        happened.count(&format!("TCP payload {sums} outer checksums, Mbit/s"), payload_bps / 1e6);
        let what = format!("of the link TCP in VXLAN used {sums} outer checksums, %");
        happened.expect_in_time(&what, percent, Allowed::at_least(PROMISED_PERCENT));
        let malformed: u64 =
            run.gateway().status()?.ways.iter().filter_map(|way| way.totals.lost.get("malformed")).sum();
        happened.expect("super-packets lost as malformed", malformed as f64, Allowed::at_most(0.0));
        happened.check_conservation(run.gateway())?;
    }
    Ok(())
}
