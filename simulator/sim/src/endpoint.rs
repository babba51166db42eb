//! Endpoints: a custom protocol at both ends of a flow.
//!
//! The engine calls [`poll_transmit`](Endpoint::poll_transmit) of an [`Endpoint`] when the flow
//! starts, after each packet that arrives there, and when the timeout is due. The engine repeats
//! the call until it returns `None`. Runs are reproducible if the endpoint draws only from
//! [`Start::rng`] and reads no clock.

use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_core::{Ecn, Rate, Rng, Time};
use fairwire_metrics::{Kind, Lasted};
use std::sync::Arc;

/// One end of an external protocol's flow, without I/O.
pub trait Endpoint: Send {
    /// Invoked when `packet` from the other end arrives at `now`.
    fn on_packet(&mut self, packet: Packet, now: Time);

    /// Does the work due at `now`, and returns the next packet to send; `None` if there is none.
    /// Packets leave in the order returned, over the flow's own link, which holds any number of
    /// them.
    ///
    /// The run ends with a panic if a packet has no bytes or more than 65 535, or if more than 65
    /// 536 packets leave at one instant.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// The next time to call `poll_transmit` without an arrival. Invoked after `poll_transmit` has
    /// returned `None`. If the time is not later than that call, the run ends with a panic.
    fn next_timeout(&mut self) -> Option<Time>;

    /// True if this end has finished. A finished end is not called again. When end `F` (see
    /// [`Endpoints::new`]) has finished, the flow's time so far is recorded as a transfer of the
    /// group.
    fn finished(&self) -> bool {
        false
    }

    /// All events that this end has timed, of the types in [`Endpoints::timing`]. Unfinished events
    /// count as if they ended at `end`.
    fn lasted(&self, _end: Time) -> Vec<Lasted> {
        Vec::new()
    }
}

/// A packet between two endpoints.
#[derive(Debug)]
pub struct Packet {
    /// Bytes on the wire, all headers included: 1 to 65 535.
    pub bytes: u32,
    /// The ECN codepoint with which the packet is sent, or has arrived.
    pub ecn: Ecn,
    pub(crate) payload: Option<Box<dyn Any + Send>>,
}

impl Packet {
    /// A packet of `bytes` on the wire, without a payload and not ECN-capable.
    pub fn new(bytes: usize) -> Self {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX); // refused when it is sent
        Packet { bytes, ecn: Ecn::NotEct, payload: None }
    }

    /// Sets the ECN codepoint.
    #[must_use]
    pub fn with_ecn(self, ecn: Ecn) -> Self {
        Packet { ecn, ..self }
    }

    /// Adds a payload. Only `bytes` determines the packet's size on the wire.
    #[must_use]
    pub fn carrying<P: Any + Send>(self, payload: P) -> Self {
        Packet { payload: Some(Box::new(payload)), ..self }
    }

    /// The payload, if the packet has one of this type.
    pub fn payload<P: Any>(self) -> Option<P> {
        self.payload?.downcast().ok().map(|payload| *payload)
    }
}

/// The flow whose endpoints are created.
#[derive(Debug)]
pub struct Start {
    /// The flow's number in its group, from 1.
    pub number: u32,
    /// The flow's own stream of random numbers.
    pub rng: Rng,
}

/// Creates both ends of each flow of a group.
#[derive(Clone)]
pub struct Endpoints {
    name: &'static str,
    packet_bytes: u32,
    kinds: &'static [Kind],
    most: Option<Rate>,
    starting: Arc<Starting>,
}

type Starting = dyn Fn(Start) -> [Box<dyn Endpoint>; 2] + Send + Sync;

impl Endpoints {
    /// Endpoints named `name` in records. `packet_bytes` is the usual size of the first end's
    /// packets on the wire, or 0 if sizes differ. The transmission time of this size is computed
    /// once. Only the first end's packets are counted. The second end's packets take the path of
    /// acknowledgements.
    pub fn new<F: Endpoint + 'static, S: Endpoint + 'static>(
        name: &'static str,
        packet_bytes: u32,
        starting: impl Fn(Start) -> (F, S) + Send + Sync + 'static,
    ) -> Self {
        let starting = Arc::new(move |start: Start| -> [Box<dyn Endpoint>; 2] {
            let (first, second) = starting(start);
            [Box::new(first), Box::new(second)]
        });
        Endpoints { name, packet_bytes, kinds: &[], most: None, starting }
    }

    /// Declares the `kinds` of events that the ends time. Results have a record of each kind, even
    /// if no such event occurred.
    #[must_use]
    pub fn timing(self, kinds: &'static [Kind]) -> Self {
        Endpoints { kinds, ..self }
    }

    /// Declares the highest rate of the first end, bit/s on the wire. In records, it is the offered
    /// load. The max-min share is limited to it.
    #[must_use]
    pub fn at_most(self, most: Rate) -> Self {
        Endpoints { most: Some(most), ..self }
    }

    pub(crate) fn most(&self) -> Option<Rate> {
        self.most
    }

    pub(crate) fn kinds(&self) -> &'static [Kind] {
        self.kinds
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The usual size of the first end's packets, bytes on the wire; 0 if sizes differ.
    pub fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    pub(crate) fn start(&self, start: Start) -> [Box<dyn Endpoint>; 2] {
        (self.starting)(start)
    }
}

impl Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// External code cannot be compared, so endpoints equal only their clones.
impl PartialEq for Endpoints {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.starting, &other.starting)
    }
}
