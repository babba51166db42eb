//! Endpoints: a protocol of one's own at both ends of a flow.
//!
//! An [`Endpoint`] has no clock, no socket and no thread: it is given packets and the time, and
//! returns packets and the time at which it is to be called again. [`Endpoints`] makes both ends of
//! each flow of a group. Between them are the flow's own links, the queued links and whatever else
//! shares them, as for the simulator's TCP.
//!
//! The engine calls [`poll_transmit`](Endpoint::poll_transmit) on an end when its flow starts,
//! after each packet that arrives there, and when its timeout is due. It repeats the call until it
//! returns `None`. Then it reads [`next_timeout`](Endpoint::next_timeout). The same plan and seed
//! give the same bits, if the endpoint draws from [`Start::rng`] alone and reads no clock.

use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_core::{Ecn, Rate, Rng, Time};
use fairwire_metrics::{Kind, Lasted};
use std::sync::Arc;

/// One end of a flow of another crate's protocol, without I/O.
pub trait Endpoint: Send {
    /// Invoked when `packet` of the other end arrived, at `now`.
    fn on_packet(&mut self, packet: Packet, now: Time);

    /// Invoked at the start, after each arrival and at each timeout: does what is due at `now` and
    /// returns the next packet to be sent; `None` when there is no more. Packets leave in this
    /// order over the flow's own link, which holds as many as there are.
    ///
    /// A packet of no bytes or of more than 65 535, and more than 65 536 packets at one instant,
    /// end the run with a panic.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// When `poll_transmit` is to be called without an arrival. Invoked after `poll_transmit` has
    /// returned `None`, so it must be later than that call; otherwise the run ends with a panic.
    fn next_timeout(&mut self) -> Option<Time>;

    /// Has it finished? It is not called any more then. How long the first end of a flow took is a
    /// transfer of its group.
    fn finished(&self) -> bool {
        false
    }

    /// All that it has timed, of the kinds of [`Endpoints::timing`], and what is under way as if it
    /// ended at `end`. Invoked when the run is over.
    fn lasted(&self, _end: Time) -> Vec<Lasted> {
        Vec::new()
    }
}

/// A packet between two endpoints.
#[derive(Debug)]
pub struct Packet {
    /// Bytes on the wire, all headers included: 1 to 65 535.
    pub bytes: u32,
    /// The ECN codepoint: as it is sent, or as it arrives.
    pub ecn: Ecn,
    pub(crate) payload: Option<Box<dyn Any + Send>>,
}

impl Packet {
    /// A packet of `bytes` on the wire, without a payload and not ECN-capable.
    pub fn new(bytes: usize) -> Self {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX); // refused where it is sent
        Packet { bytes, ecn: Ecn::NotEct, payload: None }
    }

    /// The same with this ECN codepoint.
    #[must_use]
    pub fn with_ecn(self, ecn: Ecn) -> Self {
        Packet { ecn, ..self }
    }

    /// The same with a payload, such as its bytes or the headers that the other end reads. It takes
    /// no room on the wire: `bytes` does.
    #[must_use]
    pub fn carrying<P: Any + Send>(self, payload: P) -> Self {
        Packet { payload: Some(Box::new(payload)), ..self }
    }

    /// Its payload, if it has one of this type.
    pub fn payload<P: Any>(self) -> Option<P> {
        self.payload?.downcast().ok().map(|payload| *payload)
    }
}

/// The flow for which endpoints are made.
#[derive(Debug)]
pub struct Start {
    /// Its number in its group, from 1.
    pub number: u32,
    /// Its stream of random numbers, of which no other flow has any.
    pub rng: Rng,
}

/// A factory of both ends of each flow of a group.
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
    /// What records call `name`. Most packets of the first end have `packet_bytes` on the wire, or
    /// 0 where they differ: what they take is then computed once. For each flow `starting` makes
    /// both ends: the first, whose packets are counted as sent and delivered, and the second, whose
    /// packets go the way of acknowledgements.
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

    /// The same, whose ends time what is of these `kinds`, which last: results have a record of
    /// each also where there was none.
    #[must_use]
    pub fn timing(self, kinds: &'static [Kind]) -> Self {
        Endpoints { kinds, ..self }
    }

    /// The same, whose first end sends no more than `most`, bits on the wire: records take that for
    /// what it offers, and its max-min share is no more.
    #[must_use]
    pub fn at_most(self, most: Rate) -> Self {
        Endpoints { most: Some(most), ..self }
    }

    /// The most that its first end sends, if it says so.
    pub(crate) fn most(&self) -> Option<Rate> {
        self.most
    }

    /// What its ends time.
    pub(crate) fn kinds(&self) -> &'static [Kind] {
        self.kinds
    }

    /// What records call it.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The packet that most of the first end's are, bytes on the wire, or 0.
    pub fn packet_bytes(&self) -> u32 {
        self.packet_bytes
    }

    /// Both ends of a flow.
    pub(crate) fn start(&self, start: Start) -> [Box<dyn Endpoint>; 2] {
        (self.starting)(start)
    }
}

impl Debug for Endpoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// What other crates make cannot be compared: it is equal to itself alone.
impl PartialEq for Endpoints {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.starting, &other.starting)
    }
}
