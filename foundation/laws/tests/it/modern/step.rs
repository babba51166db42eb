//! Step marking against a one-line transcription.

use crate::beside::{Event, Line, Offer, Reading, Traffic, compare};
use fairwire_core::scheduler::Fcfs;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Duration, EcnPolicy, Limit, Queue};
use fairwire_laws::dropper::step::Spec;
use fairwire_laws::spec::Quantity;

struct Reference {
    line: Line,
    most: f64,
    in_bytes: bool,
}

impl Reading for Reference {
    fn offer(&mut self, offer: Offer, _: u64, events: &mut Vec<Event>) {
        if self.line.is_full(offer.len) {
            return events.push(Event::Dropped(offer.frame, Cause::Overflow));
        }
        let is_marked = self.line.held(self.in_bytes) > self.most && offer.ecn.is_capable();
        self.line.admit(offer, is_marked.then_some(Cause::Early), is_marked, events);
    }

    fn request(&mut self, _: u64, events: &mut Vec<Event>) {
        self.line.send(events);
    }
}

#[test]
fn arrivals_above_the_threshold_are_marked_and_only_overflow_drops() {
    // At 10 Mbit/s.
    let thresholds = [
        (Amount::Packets(20), 20.0, false),
        (Amount::Bytes(8000), 8000.0, true),
        (Amount::Time(Duration::from_ms(8)), 10_000.0, true),
    ];
    for (threshold, most, in_bytes) in thresholds {
        let spec = Spec { threshold: Some(Quantity(threshold)), ..Spec::default() };
        let (_, step) = spec.check(&crate::site(Amount::Packets(40))).expect("it is allowed");
        let limit = Limit::packets(40);
        let mut queue = Queue::new(limit, Fcfs, step).with_ecn(EcnPolicy::Mark);
        let mut plain = Reference { line: Line::new(limit, EcnPolicy::Mark), most, in_bytes };
        let met = compare(&mut queue, &mut plain, &Traffic::default(), (20_000, 1), |_, _| {});
        assert!(met["marked"] > 1000 && met["overflow"] > 500 && met.len() == 3, "{threshold:?}: {met:?}");
    }
}
