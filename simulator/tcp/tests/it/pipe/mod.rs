//! A path with one bottleneck of constant rate, without losses. It informs a controller as a sender
//! does.

use fairwire_core::{Duration, Time};
use fairwire_tcp::congestion::{Acked, Control, RateSample};
use std::collections::VecDeque;

pub(crate) struct Pipe {
    /// Segments per second.
    pub rate: f64,
    /// The round-trip time of a segment, without queueing and transmission.
    pub propagation_s: f64,
    /// An arriving segment is marked if at least this many segments are waiting.
    pub mark_at: f64,
    pub now_s: f64,
    pub delivered: u64,
    /// The queueing delay of the segment acknowledged last.
    pub queueing_s: f64,
    pub rounds: u32,
    in_flight: VecDeque<Sent>,
    free_at_s: f64,
    may_send_at_s: f64,
    first_sent_s: f64,
    delivered_at_s: f64,
    round_ends_at: u64,
}

#[derive(Clone, Copy)]
struct Sent {
    at_s: f64,
    acked_at_s: f64,
    waited_s: f64,
    is_marked: bool,
    delivered: u64,
    delivered_at_s: f64,
    first_sent_s: f64,
}

impl Pipe {
    pub(crate) fn new(rate: f64, propagation_s: f64) -> Self {
        Pipe {
            rate,
            propagation_s,
            mark_at: f64::INFINITY,
            now_s: 0.0,
            delivered: 0,
            queueing_s: 0.0,
            rounds: 0,
            in_flight: VecDeque::new(),
            free_at_s: 0.0,
            may_send_at_s: 0.0,
            first_sent_s: 0.0,
            delivered_at_s: 0.0,
            round_ends_at: 0,
        }
    }

    pub(crate) fn step(&mut self, control: &mut dyn Control) {
        while let Some(at_s) = self.next_send(control) {
            self.now_s = self.now_s.max(at_s);
            self.send(control.pace());
        }
        let Some(sent) = self.in_flight.pop_front() else {
            panic!("nothing may be sent and nothing is under way")
        };
        self.now_s = self.now_s.max(sent.acked_at_s);
        let acked = self.acked(sent);
        control.acked(&acked);
    }

    pub(crate) fn run_until(&mut self, until_s: f64, control: &mut dyn Control) {
        while self.now_s < until_s {
            self.step(control);
        }
    }

    fn next_send(&self, control: &dyn Control) -> Option<f64> {
        let at_s = if control.pace().is_some() { self.may_send_at_s.max(self.now_s) } else { self.now_s };
        let has_room = (self.in_flight.len() as f64) < control.window().floor();
        let is_first = self.in_flight.front().is_none_or(|sent| at_s < sent.acked_at_s);
        (has_room && is_first).then_some(at_s)
    }

    fn send(&mut self, pace: Option<f64>) {
        if self.in_flight.is_empty() {
            (self.first_sent_s, self.delivered_at_s) = (self.now_s, self.now_s);
        }
        let begins_s = self.free_at_s.max(self.now_s);
        self.free_at_s = begins_s + 1.0 / self.rate;
        self.may_send_at_s = self.now_s + pace.map_or(0.0, |pace| 1.0 / pace);
        self.in_flight.push_back(Sent {
            at_s: self.now_s,
            acked_at_s: self.free_at_s + self.propagation_s,
            waited_s: begins_s - self.now_s,
            is_marked: (begins_s - self.now_s) * self.rate >= self.mark_at,
            delivered: self.delivered,
            delivered_at_s: self.delivered_at_s,
            first_sent_s: self.first_sent_s,
        });
    }

    fn acked(&mut self, sent: Sent) -> Acked {
        let in_flight = self.in_flight.len() as u32 + 1;
        self.delivered += 1;
        (self.delivered_at_s, self.first_sent_s, self.queueing_s) = (self.now_s, sent.at_s, sent.waited_s);
        let ends_round = sent.delivered >= self.round_ends_at;
        if ends_round {
            self.round_ends_at = self.delivered;
            self.rounds += 1;
        }
        // By draft-cheng-iccrg-delivery-rate-estimation, the rate is measured over the longer of
        // the sending time and the delivery time.
        let over_s = (sent.at_s - sent.first_sent_s).max(self.now_s - sent.delivered_at_s);
        let per_second = (self.delivered - sent.delivered) as f64 / over_s;
        Acked {
            now: Time::ZERO + Duration::from_secs_f64(self.now_s),
            newly: 1,
            growth: 1,
            marked: u32::from(sent.is_marked),
            lost: 0,
            in_flight,
            rtt: Some(Duration::from_secs_f64(self.now_s - sent.at_s)),
            ends_round,
            rate: Some(RateSample {
                per_second,
                is_limited_by_application: false,
                delivered: self.delivered as u32,
                delivered_before: sent.delivered as u32,
            }),
            is_window_used: true,
            max_window: 1e9,
        }
    }
}
