//! RACK-TLP (RFC 8985), F-RTO (RFC 5682), and undone reductions (RFC 4015), over a path that
//! reorders, delays, duplicates and loses.

use super::path::Path;
use fairwire_core::{Duration, Seed, Time};
use fairwire_tcp::congestion::ControlConfig;
use fairwire_tcp::{Config, LossCounts, Profile, Segment, Sender};
use std::sync::Arc;

/// The approximate round trip without a queue: 32 ms of propagation, and the transmissions.
const ROUND_TRIP: Duration = Duration::from_ms(34);

fn today() -> Config {
    Config { control: ControlConfig::Reno, ..Config::new(Profile::Modern, 1448) }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn again(path: &Path<'_>) -> Vec<u64> {
    path.sent.iter().filter(|(_, s)| s.is_retransmission).map(|(_, s)| s.seq).collect()
}

fn transfer<'a>(segments: u32, fate: impl FnMut(u64, &Segment) -> Vec<Duration> + 'a) -> Path<'a> {
    let config = Arc::new(Config { initial_window: segments, ..today() });
    let mut path = Path::with(Sender::without_data(&config), &config, 1000).fate(fate);
    path.start();
    path.write(segments.into());
    assert!(!path.run_until(at(10_000)), "it comes to an end");
    assert!(path.sender.is_finished());
    path
}

fn none() -> Vec<Duration> {
    vec![Duration::ZERO]
}

#[test]
fn reordering_without_loss_costs_nothing() {
    for jitter_us in [200, 1000, 5000] {
        let mut rng = Seed(1).stream("jitter");
        let jitter = |_: u64, _: &Segment| vec![Duration::from_us(1 + u64::from(rng.below(jitter_us)))];
        let mut path = Path::new(&today(), 60).fate(jitter);
        path.start();
        path.run_until(at(30_000));
        let share = path.delivered as f64 / (30.0 * 10e6 / (1488.0 * 8.0));
        assert!(share > 0.95, "{jitter_us} us: {share} of the link");
        let needless = again(&path).len() as f64 - path.drops as f64;
        assert!(needless < 0.002 * path.delivered as f64, "{jitter_us} us: {needless} needless");
        assert_eq!(path.sender.loss_counts().timeouts, 0);
    }
}

#[test]
fn a_retransmission_that_is_lost_is_sent_again_without_a_timeout() {
    let mut losses = 0;
    let mut path = Path::new(&today(), 1000).fate(|_, segment| {
        let is_lost = segment.seq == 5 && losses < 3;
        losses += u32::from(is_lost);
        if is_lost { vec![] } else { none() }
    });
    path.start();
    path.run_until(at(1_000));
    assert_eq!(again(&path), [5, 5, 5]);
    assert_eq!(path.sender.loss_counts(), LossCounts { timeouts: 0, repaired: 1, timed_out: 0 });
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_rather_than_the_timeout() {
    let path = transfer(10, |_, s| if s.seq > 7 && !s.is_retransmission { vec![] } else { none() });
    assert_eq!((again(&path), path.sender.loss_counts().timeouts), (vec![9, 8], 0));
    let probed = path.sent[11].0;
    let waited = probed.since(path.sent[10].0).ns() as f64 / ROUND_TRIP.ns() as f64;
    assert!((3.0..4.5).contains(&waited), "{waited} round trips"); // one of them until the last acknowledgement
    assert!(path.sender.window() < 10.0, "the loss that it repaired is answered: {}", path.sender.window());
}

#[test]
fn three_losses_at_the_end_are_repaired_after_the_probe() {
    let path = transfer(12, |_, s| if s.seq > 8 && !s.is_retransmission { vec![] } else { none() });
    assert_eq!(again(&path), [11, 9, 10]);
    assert_eq!(path.sender.loss_counts(), LossCounts { timeouts: 0, repaired: 1, timed_out: 0 });
}

#[test]
fn a_needless_probe_costs_no_window() {
    // The last acknowledgements are late. The probed segment therefore arrives twice, which DSACK
    // reports.
    let config = Arc::new(Config { initial_window: 10, ..today() });
    let late = |n| vec![if n > 3 { Duration::from_ms(140) } else { Duration::ZERO }];
    let mut path = Path::with(Sender::without_data(&config), &config, 1000).ack_fate(late);
    path.start();
    path.write(10);
    path.run_until(at(5_000));
    assert_eq!(again(&path), [9]);
    assert!(path.sender.window() >= 10.0 && path.sender.threshold().is_infinite());
}

#[test]
fn data_held_for_two_seconds_is_no_loss_and_keeps_the_window() {
    let mut path = Path::new(&Config { window: Some(40), ..today() }, 60);
    path.start();
    path.run_until(at(5_000));
    let window = path.sender.window();
    let clock = std::cell::Cell::new(at(5_000));
    let mut path = {
        let held = |_: u64, _: &Segment| vec![at(7_000).since(clock.get())];
        path.fate(held)
    };
    let mut now = 5_000;
    while now < 7_000 {
        clock.set(at(now));
        path.run_until(at(now));
        now += 1;
    }
    assert!(path.sender.loss_counts().timeouts > 1);
    let mut path = path.fate(|_, _| none());
    path.run_until(at(7_300));
    assert!(path.sender.window() >= window, "{} of {window}", path.sender.window());
    let delivered = path.delivered;
    path.run_until(at(8_300));
    assert!((path.delivered - delivered) as f64 > 0.98 * 10e6 / (1488.0 * 8.0));
}

#[test]
fn data_held_during_a_silence_is_resent_only_by_timeouts_and_probes() {
    // The time from a retransmission to the acknowledgement is longer than any earlier round trip.
    // So, for the sender, the retransmission may have arrived.
    for silence_ms in [300, 500, 1000] {
        let mut path = Path::new(&Config { window: Some(40), ..today() }, 60);
        path.start();
        path.run_until(at(5_000));
        let (sent, end, clock) = (again(&path).len(), 5_000 + silence_ms, std::cell::Cell::new(at(5_000)));
        let mut held = 0;
        let mut path = path.fate(|_, _| {
            held += 1; // they come in order
            vec![at(end).since(clock.get()) + Duration::from_us(20 * held)]
        });
        for step in 0..100 * silence_ms {
            clock.set(at(5_000) + Duration::from_us(10 * step));
            path.run_until(clock.get());
        }
        let mut path = path.fate(|_, _| none());
        path.run_until(at(end + 2_000));
        let (again, timeouts) = (again(&path).len() - sent, path.sender.loss_counts().timeouts);
        assert_eq!(path.drops, 0);
        assert!(again <= timeouts as usize + 1, "{silence_ms} ms: {again} again, {timeouts} timeouts");
    }
}

#[test]
fn a_two_second_loss_is_repaired_in_slow_start_up_to_half_the_window() {
    let mut path = Path::new(&Config { window: Some(40), ..today() }, 60);
    path.start();
    path.run_until(at(5_000));
    let in_use = path.sender.window().min(40.0);
    let mut path = path.fate(|_, _| vec![]);
    path.run_until(at(7_000));
    assert!(path.sender.loss_counts().timeouts > 2);
    assert_eq!((path.sender.window(), path.sender.threshold()), (1.0, (in_use / 2.0).floor()), "once");
    let delivered = path.delivered;
    let mut path = path.fate(|_, _| none());
    path.run_until(at(12_000));
    assert!(path.delivered > delivered + 2000);
}

#[test]
fn duplicates_cost_no_throughput() {
    let mut path =
        Path::new(&today(), 60).fate(|n, _| if n % 10 == 0 { vec![Duration::ZERO; 2] } else { none() });
    path.start();
    path.run_until(at(20_000));
    let sent_for_drops = again(&path).len() as u64;
    assert!(sent_for_drops <= path.drops, "{sent_for_drops} of {}", path.drops);
    // One packet in eleven is a copy.
    assert!(path.delivered as f64 > 0.95 * 20.0 * 10e6 / (1488.0 * 8.0) * 10.0 / 11.0);
}

#[test]
fn a_segment_later_than_its_window_is_resent_and_its_cut_is_undone() {
    // DSACK or the echo of the original reveals that a packet was late.
    for late_ms in [20, 40, 60] {
        let late = |n: u64, _: &Segment| {
            if n % 200 == 199 { vec![Duration::from_ms(late_ms)] } else { none() }
        };
        let mut path = Path::new(&Config { window: Some(40), ..today() }, 60).fate(late);
        path.start();
        path.run_until(at(20_000));
        assert_eq!((path.drops, path.sender.loss_counts().timeouts), (0, 0));
        let share = path.delivered as f64 / (20.0 * 10e6 / (1488.0 * 8.0));
        // A packet is late every 238 ms (200 packets). The cut to half lasts at most 70 ms and
        // costs at most 0.5 x 70 / 238 = 0.147 of the link.
        assert!(share > 0.85, "{late_ms} ms: {share}");
    }
}

#[test]
fn acknowledgements_that_are_lost_undo_no_reduction_for_a_loss() {
    // The acknowledgement of a retransmission is lost. The next acknowledgement echoes a segment
    // that was first sent after the retransmission.
    let delivered = |ack_loss: f64| {
        let (mut rng, mut back) = (Seed(1).stream("data"), Seed(1).stream("acknowledgements"));
        let mut path = Path::new(&today(), 60)
            .fate(move |_, _| if rng.chance(0.005) { vec![] } else { none() })
            .ack_fate(move |_| if back.chance(ack_loss) { vec![] } else { none() });
        path.start();
        path.run_until(at(120_000));
        path.delivered as f64
    };
    let whole = delivered(0.0);
    for ack_loss in [0.02, 0.1, 0.3] {
        let ratio = delivered(ack_loss) / whole;
        assert!(ratio < 1.0, "{ack_loss}: {ratio}");
    }
}
