//! Detects traffic that bypasses the gateway, by comparing the kernel's interface counters with the
//! gateway's.
//!
//! A `tc` redirect, a flowtable, a VPN on the router or a second bridge may carry such traffic. The
//! traffic still fills the line, so the gateway's shares are no longer fair.

use crate::config::backend::BackendKind;
use crate::config::environment::survey::{Counted, counted};
use crate::config::wire::WireSpec;
use crate::telemetry::{Board, ChangeKind, WayCounted};
use fairwire_core::{Duration, Rate, Time};
use fairwire_wire::Way;

const LOOK: Duration = Duration::from_secs(5);
/// A bypass is reported as over after this time without bypassing traffic.
const OVER: Duration = Duration::from_secs(60);
/// Bypassing traffic below this fraction of the rate is ignored, such as a router's DNS and
/// updates.
const PART: f64 = 0.05;
/// Bytes of a frame check sequence, which some interfaces count.
const CHECK_SEQUENCE: u64 = 4;
/// The most bytes of a packet. A lost packet counts as this many bytes, since it may have been lost
/// before the gateway counted it.
const MAX_PACKET: u64 = 1538;

#[derive(Debug, Default)]
pub(super) struct Bypass {
    look_at: Time,
    last: Option<Look>,
    /// For each direction, the last time at which traffic bypassed the gateway. `None` once the end
    /// of the bypass is reported.
    reported: [Option<Time>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Look {
    at: Time,
    inside: Counted,
    outside: Counted,
    /// Download first.
    own: [WayCounted; 2],
}

impl Bypass {
    pub(super) fn look(
        &mut self,
        wire: &WireSpec,
        board: &Board,
        now: Time,
        report: &mut dyn FnMut(ChangeKind, String),
    ) {
        if now < self.look_at || wire.backend.kind() == BackendKind::Tun {
            return;
        }
        self.look_at = now + LOOK;
        // The gateway's counters are read last, so a packet that passes between the readings is
        // counted only as the gateway's.
        // On a router only the outside counts, since the router also sends its own packets to the
        // inside.
        let is_bump = wire.backend.kind() == BackendKind::AfPacket;
        let inside = if is_bump { counted(wire.inside.first()) } else { Some(Counted::default()) };
        let seen = inside.zip(counted(&wire.outside));
        let look = seen.map(|(inside, outside)| Look { at: now, inside, outside, own: board.counted() });
        let between = std::mem::replace(&mut self.last, look).zip(look);
        let past = between.map_or([0.0; 2], |(before, after)| past(&before, &after, is_bump));
        self.take(past, wire, now, report);
        board.show_bypass(past);
    }

    fn take(
        &mut self,
        past: [f64; 2],
        wire: &WireSpec,
        now: Time,
        report: &mut dyn FnMut(ChangeKind, String),
    ) {
        for ((way, bps), reported) in Way::ALL.into_iter().zip(past).zip(&mut self.reported) {
            match *reported {
                None if bps > 0.0 => {
                    let rate = Rate::from_bps(bps as u64)
                        .map_or_else(String::new, |rate| rate.rounded().to_string());
                    report(
                        ChangeKind::Bypass,
                        format!(
                            "{rate} of {} cross `{}` or `{}` and not the gateway, unshaped: a redirect of `tc`, a flowtable of \
                             nftables, a VPN or a program of this machine, or a second bridge",
                            way.name(),
                            wire.inside,
                            wire.outside
                        ),
                    );
                    *reported = Some(now);
                }
                Some(_) if bps > 0.0 => *reported = Some(now),
                Some(since) if now.since(since) >= OVER => {
                    report(
                        ChangeKind::NoBypass,
                        format!("all of the {} goes through the gateway again", way.name()),
                    );
                    *reported = None;
                }
                _ => {}
            }
        }
    }
}

/// For each direction, the rate of traffic that bypassed the gateway between two looks, bit/s; 0 if
/// negligible.
fn past(before: &Look, after: &Look, is_bump: bool) -> [f64; 2] {
    let seconds = after.at.since(before.at).secs();
    Way::ALL.map(|way| {
        let (was, is) = (before.own[way as usize], after.own[way as usize]);
        if is.rate_bps == 0 || seconds <= 0.0 {
            return 0.0;
        }
        // First the interface where packets arrive, then the interface where they leave.
        let ends = match way {
            Way::Download => [(before.outside, after.outside), (before.inside, after.inside)],
            Way::Upload => [(before.inside, after.inside), (before.outside, after.outside)],
        };
        let excess = |direction: usize| {
            let (before, after) = ends[direction];
            // A re-created interface counts from zero. Its difference is then negative and ignored.
            let crossed = after.bytes[direction].checked_sub(before.bytes[direction])?;
            let own = is.bytes[direction].checked_sub(was.bytes[direction])?;
            let packets = is.packets[direction].saturating_sub(was.packets[direction]);
            let lost = if direction == 0 { (is.lost - was.lost.min(is.lost)) * MAX_PACKET } else { 0 };
            crossed.checked_sub(own + packets * CHECK_SEQUENCE + lost)
        };
        let has_missed = is.overflows != was.overflows;
        let arrived = (is_bump || way == Way::Download) && !has_missed;
        let left = is_bump || way == Way::Upload;
        let most =
            [arrived.then(|| excess(0)), left.then(|| excess(1))].into_iter().flatten().flatten().max();
        let bps = most.unwrap_or(0) as f64 * 8.0 / seconds;
        if bps >= PART * is.rate_bps as f64 { bps } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bypass that a gateway of 20 Mbit/s detects. Of the downloads, `own` Mbit/s pass through
    /// it and `by` Mbit/s bypass it.
    fn seen(own: u64, by: u64, change: impl FnOnce(&mut Look)) -> [f64; 2] {
        let ways = [WayCounted { rate_bps: 20_000_000, ..WayCounted::default() }; 2];
        let zero = Counted { bytes: [0; 2], packets: [0; 2] };
        let before = Look { at: Time::ZERO, inside: zero, outside: zero, own: ways };
        let mut after = Look { at: Time::ZERO + Duration::from_secs(1), ..before };
        let packets = own * 1_000_000 / 8 / 1538;
        after.own[0].bytes = [packets * 1538; 2];
        after.own[0].packets = [packets; 2];
        after.outside.bytes[0] = packets * 1514 + by * 125_000;
        after.inside.bytes[1] = packets * 1514 + by * 125_000;
        change(&mut after);
        past(&before, &after, true)
    }

    #[test]
    fn bypassing_traffic_is_measured_within_a_few_percent() {
        assert_eq!(seen(19, 0, |_| {}), [0.0; 2]);
        let [download, upload] = seen(10, 48, |_| {});
        assert!((download / 48e6 - 1.0).abs() < 0.02 && upload == 0.0, "{download} {upload}");
        assert_eq!(seen(0, 0, |after| after.outside.bytes[1] = 250_000), [0.0, 2e6]);
        assert_eq!(seen(0, 0, |after| after.outside.bytes[1] = 100_000), [0.0; 2], "less than a twentieth");
    }

    #[test]
    fn losses_missed_frames_and_reset_counters_are_no_bypass() {
        let lost = |after: &mut Look| {
            after.inside.bytes[1] = 0;
            after.own[0].lost = 5_000;
        };
        assert_eq!(seen(0, 48, lost), [0.0; 2]);
        let missed = |after: &mut Look| {
            after.inside.bytes[1] = 0;
            after.own.iter_mut().for_each(|own| own.overflows = 1);
        };
        assert_eq!(seen(0, 48, missed), [0.0; 2]);
        assert_eq!(seen(0, 48, |after| (after.outside, after.inside) = Default::default()), [0.0; 2]);
    }

    #[test]
    fn a_bypass_and_its_end_are_each_reported_once() {
        let wire = crate::config::Config::parse(
            "t.toml",
            "format = 2\nname = \"t\"\n[wire]\ninside = \"lan0\"\noutside = \"wan0\"\n[download]\nrate = \"20 Mbit/s\"\n",
            None,
        );
        let wire = wire.expect("a configuration").spec().wire.clone();
        let mut bypass = Bypass::default();
        let mut lines = Vec::new();
        for look in 0..40 {
            let past = if look < 20 { [8.4e6, 0.0] } else { [0.0; 2] };
            let now = Time::ZERO + Duration::from_secs(5 * look);
            bypass.take(past, &wire, now, &mut |kind, line| lines.push((kind, line)));
        }
        assert_eq!(
            lines.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
            [ChangeKind::Bypass, ChangeKind::NoBypass]
        );
        assert!(lines[0].1.starts_with("8.4 Mbit/s of download cross `lan0` or `wan0`"), "{}", lines[0].1);
    }
}
