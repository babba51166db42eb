//! The transitions between the states: draft-ietf-ccwg-bbr-05, section 5.3.

use super::sample::{Latest, Sample};
use super::{
    AckPhase, Bbr3, Bbr3State, DRAIN_ROUNDS, Growth, MORE_PROBE_WAIT_NS, PROBE_WAIT_NS, RENO_ROUNDS, Repair,
    STARTUP_LOSS_EVENTS,
};
use crate::congestion::bbr_parts::{Dwell, Plateau};
use fairwire_core::rng::mix;
use fairwire_core::{Duration, Time};

impl Bbr3 {
    /// BBRCheckFullBWReached.
    pub(super) fn check_plateau(&mut self, sample: &Sample, is_new_round: bool) {
        if self.plateau.is_reached || !is_new_round || sample.is_limited {
            return;
        }
        self.plateau.take(sample.rate);
        self.is_pipe_filled |= self.plateau.is_reached;
    }

    /// BBRCheckStartupDone.
    pub(super) fn check_startup(&mut self, sample: &Sample, ends_loss_round: bool) {
        if self.state == Bbr3State::Startup && ends_loss_round {
            // BBRCheckStartupHighLoss.
            let is_lossy = self.loss_events >= STARTUP_LOSS_EVENTS && self.is_too_much(sample);
            if is_lossy && self.repair != Repair::None {
                self.is_pipe_filled = true;
                self.bounds.in_flight_long = self.product(1.0).max(self.latest.delivered);
            }
        }
        if ends_loss_round {
            self.loss_events = 0;
        }
        if self.state == Bbr3State::Startup && self.is_pipe_filled {
            self.plateau.is_reached = true;
            (self.state, self.drain_began_in) = (Bbr3State::Drain, self.rounds.count);
        }
    }

    /// BBRCheckDrainDone.
    pub(super) fn check_drain(&mut self, now: Time, in_flight: f64) {
        let rounds = self.rounds.count.wrapping_sub(self.drain_began_in);
        let is_drained = in_flight <= self.quantized(self.product(1.0)) || rounds > DRAIN_ROUNDS;
        if self.state == Bbr3State::Drain && is_drained {
            self.start_down(now);
        }
    }

    /// BBRUpdateProbeBWCyclePhase.
    pub(super) fn advance_cycle(
        &mut self,
        now: Time,
        sample: &Sample,
        flight: f64,
        is_full: bool,
        is_new_round: bool,
    ) {
        if !self.is_pipe_filled {
            return;
        }
        self.adapt_long_term(sample, is_new_round, is_full);
        match self.state {
            Bbr3State::Down | Bbr3State::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            Bbr3State::Down if self.is_time_to_cruise(flight) => self.state = Bbr3State::Cruise,
            Bbr3State::Refill if is_new_round => {
                self.has_probe_samples = true;
                self.start_up(sample.rate);
            }
            Bbr3State::Up if is_full && self.window >= self.bounds.in_flight_long => {
                self.plateau = Plateau::above(sample.rate); // the bound limits the rate
            }
            Bbr3State::Up if self.plateau.is_reached => self.start_down(now),
            _ => {}
        }
    }

    /// BBRIsTimeToProbeBW.
    pub(super) fn is_time_to_probe(&self, now: Time) -> bool {
        now.since(self.cycle_began) > self.wait
            || f64::from(self.rounds_since_probe) >= self.target().min(RENO_ROUNDS)
    }

    /// BBRIsTimeToCruise.
    pub(super) fn is_time_to_cruise(&self, in_flight: f64) -> bool {
        in_flight <= self.with_headroom() && in_flight <= self.quantized(self.product(1.0))
    }

    /// BBRStartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Time) {
        self.has_lost_in_round = false; // BBRResetCongestionSignals
        self.latest = Latest::after(&self.latest);
        self.growth.per_segment = f64::INFINITY;
        self.pick_wait();
        self.cycle_began = now;
        self.acks = AckPhase::Stopping;
        self.rounds.begin();
        self.state = Bbr3State::Down;
    }

    /// BBRPickProbeWait.
    pub(super) fn pick_wait(&mut self) {
        let drawn = mix(self.parameters.seed.wrapping_add(u64::from(self.rounds.count)));
        self.rounds_since_probe = (drawn & 1) as u32;
        self.wait = Duration::from_ns(PROBE_WAIT_NS + (drawn >> 1) % MORE_PROBE_WAIT_NS);
    }

    /// BBRStartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self) {
        self.forget_short_term();
        self.growth = Growth { per_segment: f64::INFINITY, ..Growth::default() };
        self.acks = AckPhase::Refilling;
        self.rounds.begin();
        self.state = Bbr3State::Refill;
    }

    /// BBRStartProbeBW_UP.
    pub(super) fn start_up(&mut self, rate: f64) {
        self.acks = AckPhase::Starting;
        self.rounds.begin();
        self.plateau = Plateau::above(rate);
        self.state = Bbr3State::Up;
        self.raise_growth();
    }

    /// BBRCheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, now: Time, in_flight: f64, is_due: bool, is_new_round: bool) {
        if self.state != Bbr3State::ProbeRtt && is_due {
            self.save_window();
            (self.state, self.dwell) = (Bbr3State::ProbeRtt, Dwell::new());
            self.acks = AckPhase::Stopping;
            self.rounds.begin();
        }
        let is_little = in_flight <= self.probe_rtt_window();
        if self.state == Bbr3State::ProbeRtt
            && self.dwell.is_over(now, is_little, is_new_round, &mut self.rounds)
        {
            self.exit_probe_rtt(now);
        }
    }

    /// BBRExitProbeRTT.
    pub(super) fn exit_probe_rtt(&mut self, now: Time) {
        self.recent_rtt.at = now;
        self.restore_window();
        self.limited_rounds = 2;
        self.forget_short_term();
        if self.is_pipe_filled {
            self.start_down(now);
            self.state = Bbr3State::Cruise;
        } else {
            self.state = Bbr3State::Startup;
        }
    }
}
