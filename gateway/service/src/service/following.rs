//! Rates that follow the outside line. [`Autorate`] runs on the control thread, with round trips
//! from the datapath thread.

use super::engine::{Command, Shared};
use super::log::say;
use super::mailbox;
use crate::config::Config;
use crate::telemetry::Board;
use fairwire_core::{Duration, Rate, RateLaw, RoundTrip, Step, Time};
use fairwire_datapath::trips::Listener;
use fairwire_laws::autorate::{self, Autorate, CountingPoint};
use fairwire_wire::Way;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};

/// The most round trips kept until the next step: 16 from each of 64 peers.
const HEARD: usize = 1024;
/// The least relative change that is applied to a rate.
const DIFFERS: f64 = 0.005;
/// The shortest interval between two updates of telemetry. `SAY` is the shortest interval between
/// two log lines.
const SHOW: Duration = Duration::from_secs(1);
const SAY: Duration = Duration::from_secs(60);
/// The least factor between two logged rates.
const SAID: f64 = 1.5;

type Given = [Option<autorate::Config>; 2];

pub(crate) struct Following {
    given: Given,
    autorate: Autorate,
    trips: Receiver<(RoundTrip, Time)>,
    ways: [Followed; 2],
}

/// A direction's applied rate, the rate that telemetry shows, and the last logged rate. The shown
/// and the logged rate have the times of their updates.
#[derive(Clone, Copy, Default)]
struct Followed {
    set: Option<Rate>,
    shown: Option<(Rate, Time)>,
    said: Option<(Rate, Time)>,
}

impl Following {
    pub(super) fn of(config: &Config) -> Option<(Self, Listener)> {
        let given = given(config);
        if given.iter().all(Option::is_none) {
            return None;
        }
        let (listener, trips) = sync_channel(HEARD);
        // Downloads are counted behind the line, and uploads before it.
        let [download, upload] = given;
        let sides = [
            download.map(|way| (way, CountingPoint::Behind)),
            upload.map(|way| (way, CountingPoint::Before)),
        ];
        Some((Following { given, autorate: Autorate::new(sides), trips, ways: Default::default() }, listener))
    }

    /// True if the reloaded `config` has the same settings, so that this object can be kept.
    /// Forgets the applied and the shown rates, since the reload has applied the file's rates.
    pub(super) fn goes_on(&mut self, config: &Config) -> bool {
        self.ways.iter_mut().for_each(|way| (way.set, way.shown) = (None, None));
        self.given == given(config)
    }

    pub(super) fn step(
        &mut self,
        shared: &Shared,
        commands: &mailbox::Sender<Command>,
        board: &Board,
        now: Time,
    ) {
        // A step takes at most `HEARD` round trips, however fast they arrive.
        for (trip, at) in self.trips.try_iter().take(HEARD) {
            self.autorate.hear(trip, at);
        }
        let carried = [0, 1].map(|way: usize| shared.carried[way].load(Ordering::Relaxed));
        if !self.autorate.advance(carried, now) {
            return;
        }
        for way in Way::ALL {
            let Some(rate) = self.autorate.rate(way as usize) else { continue };
            let followed = &mut self.ways[way as usize];
            let law = || RateLaw::Steps([Step { at: Time::ZERO, rate: Some(rate) }].into());
            if followed.set.is_none_or(|set| differs(set, rate, 1.0 + DIFFERS)) {
                // If the datapath thread has ended, the gateway ends too.
                let _ = commands.send(Command::SetRate(way, law(), now));
                followed.set = Some(rate);
            }
            if is_due(followed.shown, rate, now, SHOW, 1.0 + DIFFERS) {
                board.set_rate(way, law(), now);
                followed.shown = Some((rate, now));
            }
            if is_due(followed.said, rate, now, SAY, SAID) {
                let added = self.autorate.added().map_or(0.0, Duration::secs) * 1e3;
                say(format_args!(
                    "rate of {}: {rate}, as the line outside has it; {added:.0} ms of added delay",
                    way.name()
                ));
                followed.said = Some((rate, now));
            }
        }
    }
}

fn given(config: &Config) -> Given {
    Way::ALL.map(|way| config.shaping(way).and_then(|shaping| shaping.autorate))
}

fn is_due(before: Option<(Rate, Time)>, rate: Rate, now: Time, every: Duration, factor: f64) -> bool {
    before.is_none_or(|(before, at)| now.since(at) >= every && differs(before, rate, factor))
}

fn differs(one: Rate, other: Rate, factor: f64) -> bool {
    let [one, other] = [one, other].map(|rate| rate.bps() as f64);
    one.max(other) > factor * one.min(other)
}
