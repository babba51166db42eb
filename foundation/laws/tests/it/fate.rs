//! Records of the fates of packets.

use fairwire_core::{Cause, Discipline, Packet, Signals};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Dropped(u32, Cause),
    Marked(u32, Cause),
    Sent(u32),
}

impl Event {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Event::Dropped(_, cause) => cause.name(),
            Event::Marked(..) => "marked",
            Event::Sent(_) => "sent",
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) Vec<Event>);

impl Events {
    pub(crate) fn dropped(&self) -> Vec<(u32, Cause)> {
        let dropped = |event: &Event| {
            if let Event::Dropped(frame, cause) = *event { Some((frame, cause)) } else { None }
        };
        self.0.iter().filter_map(dropped).collect()
    }

    pub(crate) fn lost(&self) -> Vec<u32> {
        self.dropped().into_iter().map(|(frame, _)| frame).collect()
    }

    pub(crate) fn dropped_by(&self, cause: Cause) -> usize {
        self.dropped().iter().filter(|(_, of)| *of == cause).count()
    }

    pub(crate) fn marked(&self) -> Vec<(u32, Cause)> {
        let marked = |event: &Event| {
            if let Event::Marked(frame, cause) = *event { Some((frame, cause)) } else { None }
        };
        self.0.iter().filter_map(marked).collect()
    }
}

impl Signals for Events {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        self.0.push(Event::Dropped(packet.frame, cause));
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        self.0.push(Event::Marked(packet.frame, cause));
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OfferOutcome {
    #[default]
    In,
    Marked(Cause),
    Dropped(Cause),
}

impl OfferOutcome {
    pub(crate) fn of(packet: Packet, discipline: &mut impl Discipline) -> OfferOutcome {
        let (now, mut fate) = (packet.arrived, OfferOutcome::In);
        discipline.enqueue(packet, now, &mut fate);
        fate
    }
}

impl Signals for OfferOutcome {
    fn dropped(&mut self, _: Packet, cause: Cause) {
        *self = OfferOutcome::Dropped(cause);
    }
    fn marked(&mut self, _: &Packet, cause: Cause) {
        *self = OfferOutcome::Marked(cause);
    }
}

pub(crate) fn gauge(discipline: &(impl Discipline + ?Sized), name: &str) -> f64 {
    let mut found = None;
    discipline.inspect(&mut |shown: &str, _, value: f64| found = (shown == name).then_some(value).or(found));
    found.unwrap_or_else(|| panic!("there is no `{name}`"))
}
