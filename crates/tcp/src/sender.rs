//! The sending end: NewReno loss recovery (RFC 6582), limited transmit (RFC 3042), retransmission timer (RFC 6298).

use crate::config::Config;
use crate::congestion::Reno;
use crate::receiver::Ack;
use crate::rtt::RttEstimator;
use fairwire_core::Time;

/// Receives the segments to send, in order, at the time of the call that caused them.
pub trait Output {
    /// Sends `segment`.
    fn send(&mut self, segment: Segment);
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// The opening of a connection.
    Syn,
    /// Data segment number so-and-so, counted from 0.
    Data(u64),
}

/// Duplicate acknowledgements that tell of a loss (RFC 5681, section 3.2).
const DUPLICATES: u32 = 3;

/// No window grows past this, segments: it would take 10^9 acknowledgements without a loss.
const WIDEST_WINDOW: f64 = 1e9;

/// Most new segments that one duplicate acknowledgement in recovery lets out, as in ns-2's NewReno.
const BURST_IN_RECOVERY: u64 = 2;

/// A sender with endless data.
#[derive(Debug)]
pub struct Sender {
    window_limit: f64,
    limited_transmit: bool,
    state: State,
    reno: Reno,
    rtt: RttEstimator,
    unacked: u64, // everything below is acknowledged
    next: u64,    // next to send; below `highest` after a timeout (go back N)
    highest: u64, // never sent yet
    end: u64,
    recover: Option<u64>, // highest sequence sent when the latest loss was seen
    duplicates: u32,
    inflation: u32, // segments known to have left the network during recovery
    timed: Option<(u64, Time)>,
    deadline: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    /// Absent once it has been sent again: it must not be timed then (Karn).
    SynSent {
        first_sent: Option<Time>,
    },
    Open,
    Recovery {
        seen_partial: bool,
    },
}

impl Sender {
    /// A sender that has not started.
    pub fn new(config: &Config) -> Self {
        Sender {
            window_limit: config.window.map_or(f64::INFINITY, f64::from),
            limited_transmit: config.limited_transmit,
            state: if config.handshake { State::Closed } else { State::Open },
            reno: Reno::new(config.initial_window),
            rtt: RttEstimator::new(config),
            unacked: 0,
            next: 0,
            highest: 0,
            end: u64::MAX,
            recover: None,
            duplicates: 0,
            inflation: 0,
            timed: None,
            deadline: None,
        }
    }

    /// A sender that sends what it is given.
    pub fn without_data(config: &Config) -> Self {
        Sender { end: 0, ..Sender::new(config) }
    }

    /// Gives more.
    pub fn write(&mut self, segments: u64, now: Time, out: &mut impl Output) {
        self.end = self.end.saturating_add(segments);
        if !matches!(self.state, State::Closed | State::SynSent { .. }) {
            self.send_window(u64::MAX, now, out);
        }
    }

    /// Is all acknowledged?
    pub fn is_finished(&self) -> bool {
        self.unacked == self.end
    }

    /// Opens the connection.
    pub fn start(&mut self, now: Time, out: &mut impl Output) {
        match self.state {
            State::Closed => {
                self.state = State::SynSent { first_sent: Some(now) };
                out.send(Segment::Syn);
                self.arm(now);
            }
            _ => self.send_window(u64::MAX, now, out),
        }
    }

    /// When [`on_timeout`](Sender::on_timeout) is due.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// The congestion window, segments.
    pub fn window(&self) -> f64 {
        self.reno.window()
    }

    /// The slow-start threshold, segments.
    pub fn threshold(&self) -> f64 {
        self.reno.threshold()
    }

    /// The smoothed round-trip time, once measured.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Is a loss being repaired by fast recovery?
    pub fn is_recovering(&self) -> bool {
        matches!(self.state, State::Recovery { .. })
    }

    /// Takes in an acknowledgement.
    pub fn on_ack(&mut self, ack: Ack, now: Time, out: &mut impl Output) {
        match self.state {
            State::Closed => {}
            State::SynSent { first_sent } => self.opened(first_sent, now, out),
            _ if ack.is_for_syn => {} // sent again, or answered twice
            _ if ack.next > self.unacked => self.on_new_ack(ack.next, now, out),
            _ if ack.next == self.unacked && self.highest > self.unacked => self.on_duplicate(now, out),
            _ => {} // an old acknowledgement, overtaken by a newer one
        }
    }

    /// The retransmission timer has run out: starts over from the first unacknowledged segment (RFC 5681, section 3.1).
    pub fn on_timeout(&mut self, now: Time, out: &mut impl Output) {
        self.rtt.back_off();
        self.timed = None;
        if matches!(self.state, State::SynSent { .. }) {
            self.state = State::SynSent { first_sent: None };
            out.send(Segment::Syn);
            self.arm(now);
            return;
        }
        self.reno.restart(self.in_use());
        self.state = State::Open;
        self.recover = self.highest.checked_sub(1);
        self.duplicates = 0;
        self.inflation = 0;
        self.next = self.unacked;
        self.arm(now);
        self.send_window(u64::MAX, now, out);
    }

    fn opened(&mut self, first_sent: Option<Time>, now: Time, out: &mut impl Output) {
        if let Some(sent) = first_sent {
            self.rtt.measured(now.since(sent));
        }
        self.state = State::Open;
        self.deadline = None;
        self.send_window(u64::MAX, now, out);
    }

    fn on_new_ack(&mut self, acked_to: u64, now: Time, out: &mut impl Output) {
        let newly = acked_to - self.unacked;
        self.unacked = acked_to;
        self.next = self.next.max(acked_to);
        self.duplicates = 0;
        self.measure(acked_to, now);
        if let State::Recovery { seen_partial } = self.state {
            // Everything up to `recover` must be acknowledged before recovery ends (RFC 6582, section 3.2).
            if self.recover.is_some_and(|recover| acked_to <= recover) {
                return self.on_partial_ack(newly, seen_partial, now, out);
            }
            self.state = State::Open;
            self.inflation = 0;
        }
        self.reno.acked(self.window_limit.min(WIDEST_WINDOW));
        self.rearm(now);
        self.send_window(u64::MAX, now, out);
    }

    /// Part of the window is acknowledged: the next hole is lost too. The window deflates by what was acknowledged, less one
    /// for the retransmission; the timer restarts only on the first partial acknowledgement (the "impatient" variant of RFC 6582).
    fn on_partial_ack(&mut self, newly: u64, seen_partial: bool, now: Time, out: &mut impl Output) {
        let deflate = u32::try_from(newly - 1).unwrap_or(u32::MAX);
        self.inflation = self.inflation.saturating_sub(deflate);
        if !seen_partial {
            self.state = State::Recovery { seen_partial: true };
            self.timed = None;
            self.arm(now);
        }
        out.send(Segment::Data(self.unacked));
        self.send_window(BURST_IN_RECOVERY, now, out);
    }

    fn on_duplicate(&mut self, now: Time, out: &mut impl Output) {
        self.duplicates += 1;
        if self.is_recovering() {
            self.inflation += 1;
            self.send_window(BURST_IN_RECOVERY, now, out);
        } else if self.duplicates < DUPLICATES {
            if self.limited_transmit {
                self.send_one_beyond(now, out);
            }
        } else if self.duplicates == DUPLICATES && self.is_new_loss() {
            self.enter_recovery(now, out);
        }
    }

    /// Does a loss now belong to a window later than the one last repaired? The acknowledgement must cover *more* than
    /// `recover` (RFC 6582, section 3.2): duplicates that ask for the segment just after it may stem from going back N.
    fn is_new_loss(&self) -> bool {
        self.recover.is_none_or(|recover| self.unacked > recover + 1)
    }

    fn enter_recovery(&mut self, now: Time, out: &mut impl Output) {
        self.reno.halve(self.in_use());
        self.recover = self.highest.checked_sub(1);
        self.state = State::Recovery { seen_partial: false };
        self.inflation = DUPLICATES;
        self.timed = None;
        self.arm(now);
        out.send(Segment::Data(self.unacked));
        self.send_window(BURST_IN_RECOVERY, now, out);
    }

    /// The window that a reaction to loss halves, segments. Inflation is no part of it: that much has left the network.
    fn in_use(&self) -> f64 {
        self.reno.window().min(self.window_limit)
    }

    /// The first segment beyond the window.
    fn window_end(&self) -> u64 {
        let inflated = self.reno.window() + f64::from(self.inflation);
        self.unacked + inflated.min(self.window_limit) as u64
    }

    fn send_window(&mut self, most: u64, now: Time, out: &mut impl Output) {
        let end = self.window_end().min(self.next.saturating_add(most)).min(self.end);
        while self.next < end {
            self.send_next(now, out);
        }
    }

    /// Limited transmit: one new segment per early duplicate, at most two beyond the window (RFC 3042).
    fn send_one_beyond(&mut self, now: Time, out: &mut impl Output) {
        let beyond = self.window_end() + u64::from(self.duplicates);
        let receivable = self.unacked as f64 + self.window_limit;
        if self.next < beyond && (self.next as f64) < receivable && self.next < self.end {
            self.send_next(now, out);
        }
    }

    fn send_next(&mut self, now: Time, out: &mut impl Output) {
        let is_new = self.next == self.highest;
        if is_new && self.timed.is_none() {
            self.timed = Some((self.next, now));
        }
        out.send(Segment::Data(self.next));
        self.next += 1;
        self.highest = self.highest.max(self.next);
        if self.deadline.is_none() {
            self.arm(now);
        }
    }

    /// One segment is timed per round trip; retransmissions never are (Karn).
    fn measure(&mut self, acked_to: u64, now: Time) {
        if let Some((seq, sent)) = self.timed
            && acked_to > seq
        {
            self.timed = None;
            self.rtt.measured(now.since(sent));
        }
    }

    fn arm(&mut self, now: Time) {
        self.deadline = Some(now + self.rtt.timeout());
    }

    /// New data was acknowledged: restarts the timer, or stops it when nothing is outstanding.
    fn rearm(&mut self, now: Time) {
        if self.highest > self.unacked {
            self.arm(now);
        } else {
            self.deadline = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Profile;
    use crate::receiver::Receiver;
    use fairwire_core::Duration;

    #[derive(Default)]
    struct Sent(Vec<u64>);

    impl Output for Sent {
        fn send(&mut self, segment: Segment) {
            if let Segment::Data(seq) = segment {
                self.0.push(seq);
            }
        }
    }

    impl Sent {
        fn taken(&mut self) -> Vec<u64> {
            std::mem::take(&mut self.0)
        }
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    /// An open sender whose first window of `initial` segments has just left at 0 ms.
    fn open(initial: u32) -> (Sender, Sent) {
        let mut config = Config::new(Profile::Ns2In2002, 512);
        config.handshake = false;
        config.initial_window = initial;
        let (mut sender, mut sent) = (Sender::new(&config), Sent::default());
        sender.start(ms(0), &mut sent);
        assert_eq!(sent.taken(), (0..u64::from(initial)).collect::<Vec<_>>());
        (sender, sent)
    }

    fn ack(sender: &mut Sender, next: u64, at: u64, sent: &mut Sent) -> Vec<u64> {
        sender.on_ack(Ack { next, is_for_syn: false }, ms(at), sent);
        sent.taken()
    }

    #[test]
    fn slow_start_sends_two_per_acknowledgement() {
        let (mut sender, mut sent) = open(2);
        assert_eq!(ack(&mut sender, 1, 30, &mut sent), [2, 3]);
        assert_eq!(ack(&mut sender, 2, 30, &mut sent), [4, 5]);
        assert_eq!(sender.window(), 4.0);
    }

    #[test]
    fn a_lost_syn_is_sent_again_after_the_initial_timeout() {
        let mut syns = 0;
        struct Count<'a>(&'a mut u32);
        impl Output for Count<'_> {
            fn send(&mut self, segment: Segment) {
                *self.0 += u32::from(segment == Segment::Syn);
            }
        }
        let mut sender = Sender::new(&Config::new(Profile::Ns2In2002, 512));
        sender.start(ms(0), &mut Count(&mut syns));
        assert_eq!(sender.deadline(), Some(ms(3000)));
        sender.on_timeout(ms(3000), &mut Count(&mut syns));
        assert_eq!(sender.deadline(), Some(ms(9000)));
        assert_eq!(syns, 2);
    }

    #[test]
    fn the_first_two_duplicates_let_out_one_new_segment_each() {
        let (mut sender, mut sent) = open(4);
        assert_eq!(ack(&mut sender, 0, 30, &mut sent), [4]);
        assert_eq!(ack(&mut sender, 0, 30, &mut sent), [5]);
    }

    #[test]
    fn the_third_duplicate_retransmits_and_halves() {
        let (mut sender, mut sent) = open(8);
        ack(&mut sender, 0, 30, &mut sent);
        ack(&mut sender, 0, 30, &mut sent);
        assert_eq!(ack(&mut sender, 0, 30, &mut sent), [0]);
        assert!(sender.is_recovering());
        assert_eq!(sender.window(), 4.0);
    }

    #[test]
    fn each_partial_acknowledgement_repairs_one_hole_and_the_full_one_ends_recovery() {
        // Segments 0, 3 and 5 of 0..8 are lost; two more leave by limited transmit.
        let (mut sender, mut sent) = open(8);
        for _ in 0..2 {
            ack(&mut sender, 0, 30, &mut sent);
        }
        assert_eq!(ack(&mut sender, 0, 31, &mut sent), [0]);
        for _ in 0..4 {
            ack(&mut sender, 0, 32, &mut sent);
        }
        assert_eq!(ack(&mut sender, 3, 60, &mut sent)[0], 3);
        assert_eq!(ack(&mut sender, 5, 90, &mut sent)[0], 5);
        assert!(sender.is_recovering());
        ack(&mut sender, 10, 120, &mut sent);
        assert!(!sender.is_recovering());
        assert_eq!(sender.window(), 4.25); // half of 8, and the last acknowledgement opens it by 1/4
    }

    #[test]
    fn a_timeout_goes_back_to_the_first_unacknowledged_and_doubles() {
        let (mut sender, mut sent) = open(4);
        assert_eq!(ack(&mut sender, 1, 30, &mut sent), [4, 5]);
        let due = sender.deadline().expect("data is outstanding");
        assert_eq!(due, ms(30) + Duration::from_secs(1)); // the profile's floor
        sender.on_timeout(due, &mut sent);
        assert_eq!(sent.taken(), [1]);
        assert_eq!(sender.window(), 1.0);
        assert_eq!(sender.deadline(), Some(due + Duration::from_secs(2)));
        // Duplicates caused by going back must not start a fast retransmit of an already repaired window.
        for _ in 0..5 {
            ack(&mut sender, 1, 2000, &mut sent);
        }
        assert!(!sender.is_recovering());
    }

    #[test]
    fn duplicates_that_going_back_caused_retransmit_nothing() {
        // Segments 0, 1, 4 and 10 of 0..40 are lost, and every acknowledgement; a timeout goes back to 0.
        let (mut sender, mut sent) = open(40);
        let due = sender.deadline().expect("outstanding");
        sender.on_timeout(due, &mut sent);
        let mut receiver = Receiver::new();
        for seq in (0..40).filter(|seq| ![0, 1, 4, 10].contains(seq)) {
            receiver.on_segment(Segment::Data(seq));
        }
        // Everything now arrives at once, in order: what was lost is refetched, what had arrived comes twice.
        let mut flight = sent.taken();
        while sender.unacked < 40 {
            let acks: Vec<Ack> = flight.iter().map(|&seq| receiver.on_segment(Segment::Data(seq))).collect();
            for ack in acks {
                sender.on_ack(ack, due, &mut sent);
                assert!(!sender.is_recovering(), "a false fast retransmit of {}", sender.unacked);
            }
            flight = sent.taken();
        }
    }

    #[test]
    fn the_answer_to_a_syn_is_timed_once_and_never_a_duplicate() {
        let mut sender = Sender::new(&Config::new(Profile::Ns2In2002, 512));
        let mut sent = Sent::default();
        sender.start(ms(0), &mut sent);
        let answer = Ack { next: 0, is_for_syn: true };
        sender.on_ack(answer, ms(300), &mut sent);
        assert_eq!(sender.rtt().smoothed(), Some(Duration::from_ms(300)));
        assert_eq!(sent.taken(), [0, 1]);
        for _ in 0..4 {
            sender.on_ack(answer, ms(310), &mut sent);
        }
        assert!(!sender.is_recovering());
        assert_eq!(sent.taken(), []);
    }

    #[test]
    fn a_retransmitted_segment_is_never_timed() {
        let (mut sender, mut sent) = open(1);
        let due = sender.deadline().expect("outstanding");
        sender.on_timeout(due, &mut sent);
        ack(&mut sender, 1, 5000, &mut sent);
        assert_eq!(sender.rtt().smoothed(), None);
    }

    #[test]
    fn the_receiver_window_is_never_overrun() {
        let mut config = Config::new(Profile::Ns2In2002, 512);
        (config.handshake, config.window) = (false, Some(3));
        let (mut sender, mut sent) = (Sender::new(&config), Sent::default());
        sender.start(ms(0), &mut sent);
        for next in 1..20 {
            ack(&mut sender, next, 10 * next, &mut sent);
            assert!(sender.highest - sender.unacked <= 3);
        }
        for _ in 0..4 {
            assert_eq!(ack(&mut sender, 19, 300, &mut sent).iter().filter(|&&s| s >= 22).count(), 0);
        }
    }

    #[test]
    fn everything_arrives_over_a_lossy_path_whatever_is_lost() {
        for seed in 0..50 {
            let mut rng = fairwire_core::Seed(seed).stream("loss");
            let (mut sender, mut sent) = open(2);
            let mut receiver = Receiver::new();
            let mut now = 0;
            let mut flight: Vec<u64> = vec![0, 1];
            while receiver.delivered() < 300 {
                now += 30;
                let mut acks = Vec::new();
                for seq in flight.drain(..) {
                    if !rng.chance(0.1) {
                        acks.push(receiver.on_segment(Segment::Data(seq)));
                    }
                }
                for ack in acks {
                    if !rng.chance(0.1) {
                        sender.on_ack(ack, ms(now), &mut sent);
                    }
                }
                if sent.0.is_empty() {
                    let due = sender.deadline().expect("a stalled sender has a timer");
                    now = now.max(due.ns() / 1_000_000);
                    sender.on_timeout(due.max(ms(now)), &mut sent);
                }
                flight = sent.taken();
                assert!(now < 10_000_000, "stalled at {}", receiver.delivered());
            }
        }
    }
}
