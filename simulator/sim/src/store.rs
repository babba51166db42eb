//! Stores a run's frames and flows. Only this module and the modules `frames` and `flow` decide on
//! memory layout and prefetching.

use crate::event::{Event, Memory};
use crate::flow::Flow;
use crate::frames::Frames;
use crate::observe::{self, Tap};
use crate::seen::What;
use fairwire_core::{Acknowledgement, Cause, Packet, Signals};

/// Frames, flows and the observer: everything that a discipline's signals touch.
pub(crate) struct Store<T> {
    pub(crate) frames: Frames,
    pub(crate) flows: Vec<Flow>,
    pub(crate) tap: T,
}

impl<T: Tap> Store<T> {
    pub(crate) fn new(tap: T, flows: usize) -> Self {
        let frames = if T::IS_ON { Frames::with_stamps() } else { Frames::default() };
        Store { frames, flows: Vec::with_capacity(flows), tap }
    }
}

impl<T> Memory for Store<T> {
    #[inline]
    fn fetch_frame(&self, event: Event) {
        if let Event::Arrival(slot) | Event::Ack(slot) | Event::Sink(slot) | Event::Packet(slot) = event {
            self.frames.fetch(slot);
        }
    }

    #[inline]
    fn fetch_flow(&self, event: Event) {
        let of_frame = |slot| &self.flows[self.frames.at(slot).flow as usize];
        match event {
            Event::Ack(slot) => of_frame(slot).fetch_source(),
            Event::Sink(slot) => of_frame(slot).fetch_sink(),
            Event::Wake(flow) => {
                let flow = &self.flows[flow as usize];
                flow.fetch_sink(); // which has the flow's group
                flow.fetch_source();
            }
            _ => {}
        }
    }
}

impl<T: Tap> Signals for Store<T> {
    fn dropped(&mut self, packet: Packet, cause: Cause) {
        let frame = self.frames.at(packet.frame);
        self.flows[frame.flow as usize].dropped();
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
    fn acknowledges(&self, frame: u32) -> Option<Acknowledgement> {
        let is_tcp = |flow: u32| self.flows[flow as usize].is_tcp();
        self.frames.acknowledges(frame).filter(|_| is_tcp(self.frames.at(frame).flow))
    }
}
