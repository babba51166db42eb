//! Everything arrives exactly once and no window leaves its bounds, whatever the path does.

use crate::path;

use fairwire_core::{Duration, Rng, Seed, Time};
use fairwire_tcp::congestion::{
    Bbr3Parameters, BbrParameters, BicParameters, BinomialParameters, ControlConfig, CubicParameters,
    DctcpParameters, LedbatParameters, PragueParameters, VegasParameters, WestwoodParameters,
};
use fairwire_tcp::{Config, DelayedAck, EcnMode, Profile, Recovery, Sender};
use path::Path;
use std::cell::RefCell;
use std::sync::Arc;

const RECOVERIES: [Recovery; 5] =
    [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
const PROFILES: [Profile; 4] = [Profile::Ns1In1998, Profile::Ns2In2002, Profile::Ns2In2006, Profile::Modern];

fn controls() -> Vec<ControlConfig> {
    vec![
        ControlConfig::Reno,
        ControlConfig::Binomial(BinomialParameters { c1: 1.5, c2: 1.0, k: 2.0, l: 0.0 }),
        ControlConfig::Binomial(BinomialParameters { c1: 1.0, c2: 0.5, k: 0.0, l: 1.0 }),
        ControlConfig::Cubic(CubicParameters::default()),
        ControlConfig::Dctcp(DctcpParameters::default()),
        ControlConfig::Prague(PragueParameters::default()),
        ControlConfig::Ledbat(LedbatParameters::default()),
        ControlConfig::Bbr(BbrParameters::default()),
        ControlConfig::Bbr3(Bbr3Parameters::default()),
        ControlConfig::Vegas(VegasParameters::default()),
        ControlConfig::Bic(BicParameters::default()),
        ControlConfig::Westwood(WestwoodParameters::default()),
    ]
}

#[derive(Clone, Copy, Debug)]
struct Nature {
    loss: f64,
    reorder: f64,
    duplicate: f64,
    ack_loss: f64,
}

impl Nature {
    fn of(rng: &mut Rng) -> Self {
        let mut upto = |most: f64| if rng.chance(0.3) { 0.0 } else { most * rng.uniform() };
        Nature { loss: upto(0.2), reorder: upto(0.2), duplicate: upto(0.1), ack_loss: upto(0.2) }
    }

    fn fate(&self, loss: f64, rng: &mut Rng) -> Vec<Duration> {
        if rng.chance(loss) {
            return vec![];
        }
        let late = rng.chance(self.reorder);
        let delay = if late { Duration::from_us(u64::from(rng.below(20_000))) } else { Duration::ZERO };
        let copies = if rng.chance(self.duplicate) { 2 } else { 1 };
        vec![delay; copies]
    }
}

fn config(rng: &mut Rng, recovery: Recovery, control: &ControlConfig) -> Config {
    let profile = PROFILES[rng.below(4) as usize];
    let base = Config::new(profile, 512);
    let delayed = DelayedAck { segments: 2, timeout: Duration::from_ms(100), quick_acks: 5 };
    Config {
        recovery,
        control: control.clone(),
        window: rng.chance(0.5).then(|| 1 + rng.below(50)),
        delayed_ack: if rng.chance(0.5) { Some(delayed) } else { base.delayed_ack },
        ecn: [EcnMode::Off, EcnMode::Ect0, EcnMode::Ect1][rng.below(3) as usize],
        exact_rtt: rng.chance(0.5),
        limited_transmit: rng.chance(0.7),
        ..base
    }
}

fn transfer(seed: u64, recovery: Recovery, control: &ControlConfig) -> String {
    let rng = &mut Seed(seed).stream("fuzz");
    let config = Arc::new(config(rng, recovery, control));
    let nature = Nature::of(rng);
    let (fates, ack_fates) =
        (RefCell::new(Seed(seed).stream("data")), RefCell::new(Seed(seed).stream("acks")));
    let segments = 1 + u64::from(rng.below(400));
    // At a loss, BBR sets its window to the number in flight plus one.
    let most = config.window.map_or(1e9, f64::from).max(f64::from(config.initial_window)) + 1.0;
    let mut path = Path::with(Sender::without_data(&config), &config, rng.below(40) as usize)
        .fate(|_, _| nature.fate(nature.loss, &mut fates.borrow_mut()))
        .ack_fate(|_| nature.fate(nature.ack_loss, &mut ack_fates.borrow_mut()))
        .marking_above(5);
    path.start();
    path.write(segments / 2);
    let mut steps = 0;
    let mut written = segments / 2;
    loop {
        let is_busy = path.run_until(path.now + Duration::from_ms(5));
        let window = path.sender.window();
        assert!((1.0..=most).contains(&window), "seed {seed}: a window of {window} under {config:?}");
        if written < segments && path.sender.is_finished() {
            path.run_until(path.now + Duration::from_ms(1 + u64::from(rng.below(3000))));
            path.write(segments - written);
            written = segments;
        } else if !is_busy {
            break;
        }
        steps += 1;
        assert!(steps < 2_000_000, "seed {seed}: stuck at {} under {config:?}", path.receiver.delivered());
    }
    assert!(
        path.sender.is_finished(),
        "seed {seed}: nothing to do, {} acked, {config:?}",
        path.sender.acked()
    );
    assert_eq!((path.receiver.delivered(), path.delivered), (segments, segments), "seed {seed}");
    assert_eq!(path.sender.deadline(), None, "seed {seed}: a timer runs for nothing");
    if let Some(window) = config.window {
        assert!(path.most_ahead <= u64::from(window), "seed {seed}: the receiver's window was overrun");
    }
    format!("{:?}", path.sent)
}

#[test]
fn everything_arrives_over_any_path_under_every_recovery_and_controller() {
    for recovery in RECOVERIES {
        for control in controls() {
            for seed in 0..150 {
                transfer(seed, recovery, &control);
            }
        }
    }
}

#[test]
fn the_same_path_carries_the_same_segments_at_the_same_times() {
    for recovery in RECOVERIES {
        for control in controls() {
            assert_eq!(transfer(7, recovery, &control), transfer(7, recovery, &control));
        }
    }
    assert_ne!(
        transfer(7, Recovery::Sack, &ControlConfig::Reno),
        transfer(8, Recovery::Sack, &ControlConfig::Reno)
    );
}

#[test]
fn a_dead_path_is_probed_ever_more_rarely_and_then_resumed() {
    for recovery in RECOVERIES {
        let config = Config { recovery, ..Config::new(Profile::Modern, 512) };
        let dead = Time::ZERO + Duration::from_secs(1)..Time::ZERO + Duration::from_secs(30);
        let now = RefCell::new(Time::ZERO);
        let mut path = Path::new(&config, 20)
            .fate(|_, _| if dead.contains(&*now.borrow()) { vec![] } else { vec![Duration::ZERO] });
        path.start();
        let mut before = 0;
        for ms in 0..80_000 {
            *now.borrow_mut() = Time::ZERO + Duration::from_ms(ms);
            path.run_until(Time::ZERO + Duration::from_ms(ms + 1));
            if ms == 60_000 {
                before = path.delivered; // doubling from 0.2 s on, a probe leaves after 26 s, and the next one after 52
            }
        }
        let probes = path.sent.iter().filter(|(at, _)| dead.contains(at) && at.secs() > 2.0).count();
        assert!((2..=9).contains(&probes), "{recovery:?}: {probes}"); // 28 s in doubling steps from 0.2 s
        let delivered = path.delivered - before;
        assert!(delivered > 15_000, "{recovery:?}: {delivered}"); // a third of 2264 per second
    }
}
