//! Round trips, compared with the path's delay, and retransmissions, compared with the counts of
//! the hosts' kernels.

use super::happened::Happened;
use super::plain::{MBPS, begin, document, traffic};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::Duration;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::COALESCE;
use fairwire_service::config::spec::OnFailure;
use fairwire_testbed::host::Host;
use fairwire_testbed::traffic::Sends;
use fairwire_wire::Way;

/// The one-way delay in each direction between the gateway and the inside.
const DELAYS: [Duration; 2] = [Duration::from_ms(25), Duration::from_ms(15)];
/// The allowed error of a round trip: 1 ms or a twentieth, whichever is larger.
const SLACK_MS: f64 = 1.0;
const SLACK: f64 = 0.05;

pub(super) fn round_trips(happened: &mut Happened) -> Fallible<()> {
    let mut traffic = traffic(10);
    traffic.flows.push(flow("up", Sends::Tcp("cubic".into()), Way::Upload, 60, traffic.duration_ns));
    let wiring = Wiring { delays: DELAYS, ..Wiring::default() };
    let mut run = Run::begin(wiring, Middle::Gateway(&document(OnFailure::Closed)), traffic)?;
    run.wait_until(9.0);
    let status = run.gateway().status()?;
    let trips = [0, 1].map(|way: usize| status.ways[way].round_trip.p50_s * 1e3);
    let path = (DELAYS[0] + DELAYS[1]).secs() * 1e3;
    for (what, measured, truth) in
        [("round trip to the inside, ms", trips[0], path), ("round trip to the outside, ms", trips[1], 0.0)]
    {
        let slack = SLACK_MS.max(truth * SLACK);
        happened.expect_in_time(
            what,
            measured,
            Allowed { min: truth - slack, max: truth + slack + COALESCE.secs() * 1e3 },
        );
    }
    happened.finish(&mut run)?;
    let status = run.gateway().status()?;
    for (way, sender) in [Way::Download, Way::Upload].map(|way| (way, run.world.sender(way))) {
        let (ours, kernel) = (status.ways[way as usize].retransmitted, retransmitted(sender)?);
        let name = way.name();
        happened.count(&format!("retransmitted, {name}, by the gateway"), ours as f64);
        happened.count(&format!("retransmitted, {name}, by the sender's kernel"), kernel as f64);
        happened.check(ours == kernel, format!("{name}: {ours} sent again, by the sender's kernel {kernel}"));
    }
    let again = status.ways[0].retransmitted;
    happened.check(
        again > 0,
        format!("at {MBPS} Mbit/s with losses {again} segments of the download were sent again"),
    );
    let gateway = run.gateway();
    happened.check_conservation(gateway)
}

pub(super) fn full_for_a_minute(happened: &mut Happened) -> Fallible<()> {
    let mut run = begin(&document(OnFailure::Closed), traffic(75))?;
    run.wait_until(55.0);
    let early = run.gateway().status()?.changes.get("full").copied();
    happened.check(early == Some(0), format!("reported as full in the first 55 s: {early:?}"));
    happened.finish(&mut run)?;
    let status = run.gateway().status()?;
    let full = status.changes.get("full").copied();
    let last = status.last_changes.iter().map(|change| change.text.as_str()).collect::<Vec<_>>().join("; ");
    happened.check(full == Some(1), format!("reported as full in 75 s: {full:?} ({last})"));
    happened.check_conservation(run.gateway())
}

/// TCP segments that `host` retransmitted (`TcpRetransSegs`, RFC 4022).
fn retransmitted(host: &Host) -> Fallible<u64> {
    kernel_count(host, ("snmp", "Tcp"), "RetransSegs")
}

/// The counter `name` of `host`'s kernel, from the lines `group` of the file `/proc/net/{file}`.
pub(crate) fn kernel_count(host: &Host, (file, group): (&str, &str), name: &str) -> Fallible<u64> {
    let table = host.at(|| std::fs::read_to_string(format!("/proc/thread-self/net/{file}")))?;
    let heading = format!("{group}: ");
    let mut lines =
        table.lines().filter_map(|line| line.strip_prefix(heading.as_str())).map(str::split_whitespace);
    let (Some(names), Some(mut values)) = (lines.next(), lines.next()) else {
        return Err(format!("/proc/net/{file} has no lines `{group}`").into());
    };
    let place = names.into_iter().position(|own| own == name);
    let value = place.and_then(|place| values.nth(place)?.parse().ok());
    value.ok_or_else(|| format!("/proc/net/{file} does not count {name}").into())
}
