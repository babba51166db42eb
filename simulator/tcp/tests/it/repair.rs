//! Retransmissions and their times for each loss recovery, with one to four packets of one window
//! lost.
//!
//! The round trip is 32.6 ms. The first lost segment is 24; its third duplicate acknowledgement
//! comes at 168 ms. ns-2 2.35 retransmits the same segments at the same times
//! (`proof/bench/few-losses.tcl`).

use crate::path;

use fairwire_core::{Duration, Time};
use fairwire_tcp::{Config, Profile, Quirks, Recovery, Segment, Sender};
use path::Path;
use std::sync::Arc;

/// The SYN is number 0, so number 25 is segment 24.
const ONE: &[u64] = &[25];
const TWO: &[u64] = &[25, 26];
const THREE: &[u64] = &[25, 28, 31];
const FOUR: &[u64] = &[25, 27, 29, 31];

fn config(recovery: Recovery) -> Config {
    Config { recovery, window: Some(16), ..Config::new(Profile::Ns2In2002, 512) }
}

fn repairs(config: &Config, lost: &[u64]) -> Vec<(u64, u32)> {
    let mut path = Path::new(config, 1000).losing(lost);
    path.start();
    path.run_until(Time::ZERO + Duration::from_secs(4));
    let again: Vec<(Time, Segment)> =
        path.sent.iter().copied().filter(|(_, segment)| segment.is_retransmission).collect();
    let first = again[0].0;
    assert_eq!(first.secs().mul_add(1000.0, 0.5).floor(), 168.0);
    let rounds = |at: Time| (at.since(first).secs() / 0.0326).round() as u32;
    again.iter().map(|&(at, segment)| (segment.seq, rounds(at))).collect()
}

#[test]
fn tahoe_restarts_from_the_first_loss_and_resends_data_between_losses() {
    let repairs = |lost| repairs(&config(Recovery::Tahoe), lost);
    assert_eq!(repairs(ONE), [(24, 0)]); // slow start from 24; its acknowledgement covers everything sent
    assert_eq!(repairs(TWO), [(24, 0), (25, 1), (26, 1)]); // a window of 2 continues from 25, though 26 has arrived
    assert_eq!(
        repairs(THREE),
        [(24, 0), (27, 1), (28, 1), (30, 2), (31, 2), (32, 2), (33, 2)] // windows of 1, 2 and 4
    );
    let four = repairs(FOUR);
    assert_eq!(four[..3], [(24, 0), (26, 1), (27, 1)]);
    assert_eq!(four.len(), 10);
}

#[test]
fn reno_repairs_one_loss_and_waits_for_the_timer_with_more() {
    let repairs = |lost| repairs(&config(Recovery::Reno), lost);
    let segments = |lost| repairs(lost).iter().map(|&(seq, _)| seq).collect::<Vec<_>>();
    assert_eq!(repairs(ONE), [(24, 0)]);
    // The timer of 1 s restarts when segment 24 is acknowledged, a round trip after its
    // retransmission.
    assert_eq!(repairs(TWO), [(24, 0), (25, 32)]);
    assert_eq!(segments(THREE), [24, 27, 30, 31]); // from 27 in slow start: 1, then 2
    assert_eq!(segments(FOUR), [24, 26, 28, 29, 30, 31, 32, 33]);
}

#[test]
fn newreno_repairs_one_loss_per_round_trip() {
    let repairs = |lost| repairs(&config(Recovery::NewReno), lost);
    assert_eq!(repairs(ONE), [(24, 0)]);
    assert_eq!(repairs(TWO), [(24, 0), (25, 1)]);
    assert_eq!(repairs(THREE), [(24, 0), (27, 1), (30, 2)]);
    assert_eq!(repairs(FOUR), [(24, 0), (26, 1), (28, 2), (30, 3)]);
}

#[test]
fn sack_repairs_all_losses_within_a_round_trip_under_any_counting() {
    for quirks in [Quirks::default(), config(Recovery::Sack).quirks] {
        let config = Config { quirks, ..config(Recovery::Sack) };
        for lost in [ONE, TWO, THREE, FOUR] {
            let repairs = repairs(&config, lost);
            let expected: Vec<u64> = lost.iter().map(|n| n - 1).collect();
            let segments: Vec<u64> = repairs.iter().map(|&(seq, _)| seq).collect();
            assert_eq!(segments[..lost.len()], expected);
            // With the receiver's window used up, RFC 6675 sends the last segment again, as a
            // rescue.
            let rescues = &segments[lost.len()..];
            assert!(rescues.len() <= 1 && rescues.iter().all(|&seq| seq >= 39), "{rescues:?}");
            assert!(quirks == Quirks::default() || rescues.is_empty());
            assert!(repairs.iter().all(|&(_, round)| round <= 1), "{repairs:?}");
        }
    }
}

#[test]
fn sack_resends_a_doubtful_segment_without_new_data() {
    // Segments 10 and 17 are lost. Only two segments arrive after 17, one too few to consider it
    // lost.
    let of_today = Config::new(Profile::Modern, 512);
    let config = Arc::new(Config { initial_window: 20, recovery: Recovery::Sack, ..of_today });
    let mut path = Path::with(Sender::without_data(&config), &config, 1000).losing(&[11, 18]);
    path.start();
    path.write(20);
    path.run_until(Time::ZERO + Duration::from_secs(2));
    let again: Vec<(Time, u64)> =
        path.sent.iter().filter(|(_, s)| s.is_retransmission).map(|&(at, s)| (at, s.seq)).collect();
    assert_eq!(again.iter().map(|&(_, seq)| seq).collect::<Vec<_>>(), [10, 19, 17]); // 19 is the rescue
    assert!(again[2].0.since(again[0].0) < Duration::from_ms(5), "{again:?}"); // no timer, no round trip
    assert!(path.sender.is_finished());
}

#[test]
fn in_ns2_sack_ignores_duplicates_that_report_nothing() {
    let config = Config { window: Some(20), ..config(Recovery::Sack) };
    let mut path = Path::new(&config, 1000).losing(&[62, 66, 72, 73, 82, 84]);
    path.start();
    path.run_until(Time::ZERO + Duration::from_secs(2));
    // Segment 72 arrives for the second time, and its acknowledgement releases no segment. The
    // order is that of ns-2:
    let late = path.sent.iter().filter(|(at, _)| at.secs() > 1.0).take(8);
    let sent: Vec<(u64, u64)> = late.map(|(at, s)| (at.ns() / 1_000_000, s.seq)).collect();
    assert_eq!(
        sent,
        [(1233, 61), (1266, 71), (1266, 72), (1298, 81), (1298, 82), (1298, 83), (1331, 84), (1331, 85)]
    );
}

#[test]
fn a_lost_retransmission_shown_by_the_scoreboard_is_sent_again() {
    let lost_again = |config: &Config| {
        let mut is_first = true;
        let mut path = Path::new(config, 1000).fate(move |n, segment| {
            let is_lost = n == 25 || (segment.is_retransmission && std::mem::take(&mut is_first));
            if is_lost { vec![] } else { vec![Duration::ZERO] }
        });
        path.start();
        path.run_until(Time::ZERO + Duration::from_secs(4));
        let times: Vec<Time> =
            path.sent.iter().filter(|(_, segment)| segment.seq == 24).map(|&(at, _)| at).collect();
        assert_eq!(times.len(), 3);
        times[2].since(times[1]).secs()
    };
    let roomy = Config { window: None, initial_window: 32, ..config(Recovery::Sack) };
    let by_rfc = Config { quirks: Quirks::default(), ..roomy };
    assert!(lost_again(&by_rfc) < 0.1, "by the first segment sent after it, a round trip later");
    assert!(lost_again(&config(Recovery::Sack)) > 0.9, "by the timer");
    assert!(lost_again(&config(Recovery::NewReno)) > 0.9, "by the timer");
}

#[test]
fn one_loss_halves_once_under_every_recovery() {
    for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Tahoe] {
        let mut path = Path::new(&config(recovery), 1000).losing(ONE);
        path.start();
        path.run_until(Time::ZERO + Duration::from_ms(150));
        assert_eq!((path.sender.window(), path.sender.threshold()), (16.0, f64::INFINITY));
        path.run_until(Time::ZERO + Duration::from_ms(180));
        let window = if recovery == Recovery::Tahoe { 1.0 } else { 8.0 };
        assert_eq!((path.sender.window(), path.sender.threshold()), (window, 8.0), "{recovery:?}");
        path.run_until(Time::ZERO + Duration::from_ms(800));
        assert!((15.0..=16.0).contains(&path.sender.window()), "{recovery:?}: {}", path.sender.window());
    }
}
