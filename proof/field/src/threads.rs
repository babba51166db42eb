//! A gateway with sender threads: shares, order and reloads are the same as with one thread.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::{Happened, bps, kernel_count};
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::Duration;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::backend::{AfPacketSpec, Backend};
use fairwire_service::config::spec::FlowsChoice;
use fairwire_testbed::host::Host;
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;

/// A rate that a single processor cannot forward. The machine is the limit, and all threads work.
const UNLIMITED_MBPS: u64 = 10_000;
/// A rate that a single processor can forward, so the discipline divides it.
const LIMITED_MBPS: u64 = 200;
const SECONDS: u64 = 12;
/// The unmeasured start.
const WARM_UP_S: u64 = 4;
const FLOWS: u16 = 8;
const DELAY: Duration = Duration::from_ms(2);
/// The largest promised share error: one percentage point.
const SHARE_ERROR: f64 = 1.0;
const SENDER: &str = "sender";
/// Reordered segments, by the three methods with which a sender's kernel detects them
/// (`tcp_check_sack_reordering`, net/ipv4/tcp_input.c).
const REORDERED: [&str; 3] = ["TCPSACKReorder", "TCPRenoReorder", "TCPTSReorder"];

/// Runs the cases selected by name.
pub fn all(is_wanted: &dyn Fn(&str) -> bool) -> Vec<Happened> {
    let runs: [(&'static str, u32, u64); 4] = [
        ("threads-1-limited", 1, LIMITED_MBPS),
        ("threads-2-limited", 2, LIMITED_MBPS),
        ("threads-1-unlimited", 1, UNLIMITED_MBPS),
        ("threads-2-unlimited", 2, UNLIMITED_MBPS),
    ];
    let promised = "eight CUBIC each get their part to a point where the rate is the limit, no segment \
                    overtakes another of its connection, and reloads leave every packet its place";
    let one = |(name, threads, mbps): (&'static str, u32, u64)| {
        Happened::tried(false, &mut || Happened::of(name, promised, |happened| run(happened, threads, mbps)))
    };
    runs.into_iter().filter(|(name, ..)| is_wanted(name)).map(one).collect()
}

fn document(threads: u32, mbps: u64, discipline: &str) -> Document {
    let mut document = Document::both_ways(direction(mbps, discipline, Some(FlowsChoice::FiveTuple)));
    let spec = AfPacketSpec { threads: Some(threads), ..AfPacketSpec::default() };
    document.spec.wire.backend = Backend::AfPacket(spec);
    document
}

fn run(happened: &mut Happened, threads: u32, mbps: u64) -> Fallible<()> {
    let stop_ns = SECONDS * 1_000_000_000;
    let bulk = |number| flow("tcp", Sends::Tcp("cubic".into()), Way::Download, number, stop_ns);
    let traffic = Traffic::new((0..FLOWS).map(bulk).collect(), stop_ns);
    let wiring = Wiring { delays: [DELAY; 2], ..Wiring::default() };
    let mut run = Run::begin(wiring, Middle::Gateway(&document(threads, mbps, "drr")), traffic)?;
    for (second, discipline) in [(1.0, "fq-codel"), (2.0, "drr")] {
        run.wait_until(second);
        let reloaded = run.gateway().reload(&document(threads, mbps, discipline))?;
        happened.check(
            reloaded.is_balanced,
            format!("every packet has its place after a reload to {discipline}"),
        );
    }
    run.wait_until(SECONDS as f64 - 0.5);
    let [sends, others] = run.gateway().ran_s(SENDER);
    happened.count("processor time of threads that only send, s", sends);
    happened.count("of the others, s", others);
    let seen = happened.finish(&mut run)?;
    let total = bps(&run.traffic, &seen, "tcp", WARM_UP_S as f64, SECONDS as f64);
    happened.count("Mbit/s on the link", total / 1e6);
    let slots = (WARM_UP_S * 10) as usize..(SECONDS * 10) as usize;
    let got: Vec<f64> =
        seen.flows.iter().map(|flow| flow.link_bytes[slots.clone()].iter().sum::<u64>() as f64).collect();
    let error = share_error(&got);
    match mbps {
        LIMITED_MBPS => happened.expect_in_time("share error, points", error, Allowed::at_most(SHARE_ERROR)),
        _ => happened.count("share error, points", error),
    }
    if threads > 1 && mbps == UNLIMITED_MBPS {
        happened.expect_in_time("processor time of threads that only send, s", sends, Allowed::above(0.0));
    }
    let sender = run.world.sender(Way::Download);
    happened.expect("times that segments overtook others", reordered(sender)? as f64, Allowed::at_most(0.0));
    let again = kernel_count(sender, ("snmp", "Tcp"), "RetransSegs")?;
    happened.count("segments sent again", again as f64);
    let stuck = run.gateway().status()?.changes.get("sender-stuck").copied().unwrap_or_default();
    happened.count("threads that were stuck", stuck as f64);
    happened.check_conservation(run.gateway())
}

fn reordered(sender: &Host) -> Fallible<u64> {
    REORDERED.iter().map(|name| kernel_count(sender, ("netstat", "TcpExt"), name)).sum()
}

fn share_error(got: &[f64]) -> f64 {
    let (all, part) = (got.iter().sum::<f64>(), 1.0 / got.len() as f64);
    got.iter().map(|own| (own / all - part).abs() * 100.0).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_error_is_that_of_the_worst_flow() {
        assert_eq!(share_error(&[5.0; 8]), 0.0);
        assert_eq!(share_error(&[2.0, 1.0, 1.0, 0.0]), 25.0);
    }
}
