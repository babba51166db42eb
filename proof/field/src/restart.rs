//! Twenty times, another process takes over a link that carries this kernel's TCP.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::{Happened, bps};
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::Duration;
use fairwire_metrics::judge::Allowed;
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;

const LINK_MBPS: u64 = 100;
const DELAYS: [Duration; 2] = [Duration::from_ms(5); 2];
const EVERY: Duration = Duration::from_ms(1);
const TIMES: u32 = 20;
const APART_S: f64 = 0.5;
/// The unmeasured start.
const WARM_UP_S: f64 = 3.0;
const PAUSE_MS: f64 = 5.0;

/// The cases selected by name.
pub fn all(is_wanted: &dyn Fn(&str) -> bool) -> Vec<Happened> {
    let runs: [(&'static str, &'static str, u32); 2] = [
        ("restart-never", "nothing: what pings wait when no process takes over, to compare", 0),
        (
            "restart",
            "when another process takes the link over, nothing is forwarded for 5 ms at most, no ping is lost, and TCP uses 95 % \
             of the link",
            TIMES,
        ),
    ];
    let one = |(name, promised, times): (&'static str, &'static str, u32)| {
        Happened::tried(false, &mut || Happened::of(name, promised, |happened| run(happened, times)))
    };
    runs.into_iter().filter(|(name, ..)| is_wanted(name)).map(one).collect()
}

fn run(happened: &mut Happened, times: u32) -> Fallible<()> {
    let seconds = (WARM_UP_S + f64::from(TIMES) * APART_S + 2.0) as u64;
    let duration_ns = seconds * 1_000_000_000;
    let mut flows: Vec<_> = (0..4)
        .map(|number| flow("tcp", Sends::Tcp("cubic".into()), Way::Download, number, duration_ns))
        .collect();
    // The pings end before the run does, so all of them can arrive.
    let ping_ns = duration_ns - 1_000_000_000;
    flows.push(flow("ping", Sends::Ping { every_ns: EVERY.ns() }, Way::Download, 50, ping_ns));
    let document = Document::both_ways(direction(LINK_MBPS, "fq-codel", None));
    let wiring = Wiring { delays: DELAYS, ..Wiring::default() };
    let mut run = Run::begin(wiring, Middle::Gateway(&document), Traffic::new(flows, duration_ns))?;
    let mut pauses = Vec::new();
    for time in 0..times {
        run.wait_until(WARM_UP_S + f64::from(time) * APART_S);
        pauses.push(run.gateway().take_over()?);
    }
    let seen = happened.finish(&mut run)?;
    let used = bps(&run.traffic, &seen, "tcp", WARM_UP_S, seconds as f64 - 1.0) / (LINK_MBPS as f64 * 1e6);
    happened.expect_in_time("the part of the link that TCP uses", used, Allowed::at_least(0.95));
    let pings = run.traffic.flows.iter().zip(&seen.flows).find(|(flow, _)| flow.group == "ping");
    let (_, pings) = pings.ok_or("the run has no pings")?;
    let lost = pings.sent.saturating_sub(pings.numbers.len() as u64);
    happened.expect("pings lost", lost as f64, Allowed::at_most(0.0));
    let is_in_order = pings.numbers.windows(2).all(|pair| pair[0] < pair[1]);
    happened.check(is_in_order, "each ping comes once, and in order");
    let arrived: Vec<u64> = pings.delays_ns.iter().map(|(sent, took)| sent + took).collect();
    let gap = arrived.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max().unwrap_or(0);
    happened.count("the longest time without a ping, ms", gap as f64 / 1e6);
    pauses.sort_by(f64::total_cmp);
    if let (Some(longest), Some(median)) = (pauses.last(), pauses.get(pauses.len() / 2)) {
        happened.count("nothing was forwarded for, median, ms", *median);
        happened.expect_in_time(
            "nothing was forwarded for, at most, ms",
            *longest,
            Allowed::at_most(PAUSE_MS),
        );
    }
    happened.check_conservation(run.gateway())
}
