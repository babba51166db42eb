//! The conditioner: a marker in front of a discipline. RFC 2475, section 2.3.3.
//!
//! The marker of an arrival's class colours the arrival.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::Any;
use fairwire_core::{Backlog, Control, Discipline, Marker, Packet, Probe, RateRequest, Room, Signals, Time};

struct Labelled {
    label: String,
    marker: Box<dyn Marker>,
}

/// Colours arrivals, and offers them to the inner discipline. See the [module](self).
pub struct Conditioner {
    markers: Box<[Labelled]>,
    /// For each class, the index of its marker in `markers`. Marker 0 is shared, and also serves
    /// classes that are not listed.
    of_class: Box<[u32]>,
    inner: Box<dyn Discipline>,
}

impl Conditioner {
    /// Puts `inner` behind `markers`, each with its name in gauges. `of_class` gives the index of
    /// each class's marker. Classes beyond the end of `of_class` share the first marker.
    ///
    /// # Panics
    /// When `of_class` names a marker that does not exist.
    pub fn new(
        inner: Box<dyn Discipline>,
        markers: Vec<(String, Box<dyn Marker>)>,
        of_class: Box<[u32]>,
    ) -> Self {
        let named = of_class.iter().copied().max().unwrap_or(0);
        assert!((named as usize) < markers.len(), "a marker is missing");
        let labelled = |(label, marker)| Labelled { label, marker };
        Conditioner { markers: markers.into_iter().map(labelled).collect(), of_class, inner }
    }

    /// The index of the marker of `class`; `None` for the shared marker, which a report on one
    /// class must not change for all.
    fn own_marker(&self, class: u32) -> Option<usize> {
        self.of_class.get(class as usize).map(|at| *at as usize).filter(|at| *at != 0)
    }
}

impl Discipline for Conditioner {
    #[inline]
    fn offer(&mut self, mut packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let at = self.of_class.get(packet.class as usize).copied().unwrap_or(0);
        self.markers[at as usize].marker.color(&mut packet, now);
        self.inner.offer(packet, room, now, signals);
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.inner.dequeue(now, signals)
    }

    fn ready_at(&self) -> Option<Time> {
        self.inner.ready_at()
    }

    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        for Labelled { label, marker } in &self.markers {
            probe.enter(label);
            marker.inspect(probe);
            probe.leave();
        }
        self.inner.inspect(probe);
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.inner.drain(take);
    }
}

impl Control for Conditioner {
    fn inside(&mut self, _: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        visit(&mut *self.inner);
    }

    fn on_report(&mut self, class: u32, request: RateRequest, until: Time, now: Time) {
        match self.own_marker(class) {
            Some(at) => self.markers[at].marker.on_report(request, until, now),
            None => self.inner.on_report(class, request, until, now),
        }
    }

    fn target_bps(&mut self, class: u32, now: Time) -> Option<f64> {
        match self.own_marker(class) {
            Some(at) => self.markers[at].marker.target_bps(now),
            None => self.inner.target_bps(class, now),
        }
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let is_alike = |(own, fresh): (&Labelled, &Labelled)| {
            own.label == fresh.label && own.marker.is_like(&*fresh.marker)
        };
        self.of_class == fresh.of_class
            && self.markers.len() == fresh.markers.len()
            && self.markers.iter().zip(&fresh.markers).all(is_alike)
            && self.inner.retune(&*fresh.inner, now)
    }
}
