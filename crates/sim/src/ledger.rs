//! The books of a run: frames and flows.

use crate::event::Event;
use crate::flow::Flow;
use crate::frames::Frames;
use crate::observe::{self, Tap};
use crate::seen::What;
use fairwire_core::{Cause, Packet, Signals};

/// Frames and flows, and who watches: all that a discipline's signals touch.
pub(crate) struct Ledger<T> {
    pub(crate) frames: Frames,
    pub(crate) flows: Vec<Flow>,
    drops: Vec<u32>, // of these flows, to be counted
    pub(crate) tap: T,
}

/// So many drops are counted at once.
const DROPS_AT_ONCE: usize = 32;

impl<T> Ledger<T> {
    pub(crate) fn new(tap: T) -> Self {
        let drops = Vec::with_capacity(DROPS_AT_ONCE);
        Ledger { frames: Frames::default(), flows: Vec::new(), drops, tap }
    }

    /// The warm-up is over.
    pub(crate) fn start_measuring(&mut self) {
        self.drops.clear(); // of before
        self.flows.iter_mut().for_each(Flow::start_measuring);
    }

    /// Asks for the frame of an event to come.
    #[inline]
    pub(crate) fn fetch_frame(&self, event: Event) {
        if let Event::Arrival(slot) | Event::Ack(slot) | Event::Sink(slot) | Event::Packet(slot) = event {
            self.frames.fetch(slot);
        }
    }

    /// Asks for what an event to come needs of its flow; its frame was asked for before.
    #[inline]
    pub(crate) fn fetch_flow(&self, event: Event) {
        let of_frame = |slot| &self.flows[self.frames.at(slot).flow as usize];
        match event {
            Event::Ack(slot) => of_frame(slot).fetch_source(),
            Event::Sink(slot) => of_frame(slot).fetch_sink(),
            Event::Wake(flow) => {
                let flow = &self.flows[flow as usize];
                flow.fetch_sink(); // its group stands there
                flow.fetch_source();
            }
            Event::Arrival(_) | Event::LinkFree(_) | Event::Session(_) | Event::Packet(_) => {}
        }
    }

    /// Counts the drops that were noted, all at once: each is of a flow far away in memory, and they come together.
    pub(crate) fn count_drops(&mut self) {
        for flow in self.drops.drain(..) {
            self.flows[flow as usize].dropped();
        }
    }
}

impl<T: Tap> Signals for Ledger<T> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        let frame = self.frames.at(packet.frame);
        if self.drops.len() == DROPS_AT_ONCE {
            self.count_drops();
        }
        self.drops.push(frame.flow);
        self.flows[frame.flow as usize].fetch_seldom();
        if T::IS_ON {
            let is_tcp = self.flows[frame.flow as usize].is_tcp();
            let about = observe::about(&packet, &self.frames, is_tcp);
            self.tap.happened(What::Drop(cause), about);
        }
        self.frames.drop_payload(packet.frame);
        self.frames.release(packet.frame);
    }
    fn marked(&mut self, packet: &Packet, cause: Cause) {
        let frame = self.frames.at(packet.frame);
        self.flows[frame.flow as usize].marked();
        if T::IS_ON {
            let is_tcp = self.flows[frame.flow as usize].is_tcp();
            let about = observe::about(packet, &self.frames, is_tcp);
            self.tap.happened(What::Mark(cause), about);
        }
    }
}
