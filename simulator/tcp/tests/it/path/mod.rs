//! One flow over one link with a tail-drop buffer, between two access links. Acknowledgements
//! return over similar links without other traffic. This is the path of `proof/bench/one-flow.tcl`.
#![allow(dead_code, reason = "each test file uses some of it")]

use fairwire_core::{Duration, Ecn, Time};
use fairwire_tcp::{Ack, Config, Output, Receiver, Segment, Sender};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;

/// The additional delay of each copy of the n-th packet that reaches the queued link; empty if the
/// packet is lost.
pub(crate) type Fate<'a> = dyn FnMut(u64, &Segment) -> Vec<Duration> + 'a;

pub(crate) struct Path<'a> {
    pub sender: Sender,
    pub receiver: Receiver,
    config: Arc<Config>,
    fate: Box<Fate<'a>>,
    ack_fate: Box<dyn FnMut(u64) -> Vec<Duration> + 'a>,
    events: BinaryHeap<Reverse<(Time, u64)>>,
    pending: BTreeMap<u64, Event>,
    scheduled: u64,
    buffer: usize,
    mark_above: usize,
    is_marked: Box<dyn Fn(u64) -> bool + 'a>,
    queued: u64,
    queue: VecDeque<Segment>,
    is_busy: bool,
    up_free_at: Time,
    down_free_at: Time,
    pub now: Time,
    reached: u64,
    acked: u64,
    pub sent: Vec<(Time, Segment)>,
    /// Packets that the buffer dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// The maximum number of segments sent but not known to be acknowledged.
    pub most_ahead: u64,
    /// Segments that the receiver had in order.
    pub delivered: u64,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    AtLink(Segment),
    Queue(Segment),
    LinkFree,
    AtReceiver(Segment),
    AtSender(Ack),
}

struct Sent<'b>(&'b mut Vec<Segment>);

impl Output for Sent<'_> {
    fn send(&mut self, segment: Segment) {
        self.0.push(segment);
    }
}

const ACCESS_BPS: u64 = 100_000_000;
const LINK_BPS: u64 = 10_000_000;
const ACCESS_DELAY: Duration = Duration::from_ms(3);
const LINK_DELAY: Duration = Duration::from_ms(10);

fn takes(bytes: u32, bps: u64) -> Duration {
    Duration::from_ns(u64::from(bytes) * 8 * 1_000_000_000 / bps)
}

impl<'a> Path<'a> {
    /// A flow with unlimited data. `buffer` is in packets and excludes the packet in transmission.
    pub(crate) fn new(config: &Config, buffer: usize) -> Self {
        let config = Arc::new(config.clone());
        Path::with(Sender::new(&config), &config, buffer)
    }

    pub(crate) fn with(sender: Sender, config: &Arc<Config>, buffer: usize) -> Self {
        Path {
            sender,
            receiver: Receiver::new(config),
            config: Arc::clone(config),
            fate: Box::new(|_, _| vec![Duration::ZERO]),
            ack_fate: Box::new(|_| vec![Duration::ZERO]),
            events: BinaryHeap::new(),
            pending: BTreeMap::new(),
            scheduled: 0,
            buffer,
            mark_above: usize::MAX,
            is_marked: Box::new(|_| false),
            queued: 0,
            queue: VecDeque::new(),
            is_busy: false,
            up_free_at: Time::ZERO,
            down_free_at: Time::ZERO,
            now: Time::ZERO,
            reached: 0,
            acked: 0,
            sent: Vec::new(),
            drops: 0,
            marks: 0,
            most_ahead: 0,
            delivered: 0,
        }
    }

    pub(crate) fn fate(mut self, fate: impl FnMut(u64, &Segment) -> Vec<Duration> + 'a) -> Self {
        self.fate = Box::new(fate);
        self
    }

    /// Packets are numbered from 0 in order of arrival at the link.
    pub(crate) fn losing(self, lost: &'a [u64]) -> Self {
        self.fate(|n, _| if lost.contains(&n) { vec![] } else { vec![Duration::ZERO] })
    }

    pub(crate) fn ack_fate(mut self, fate: impl FnMut(u64) -> Vec<Duration> + 'a) -> Self {
        self.ack_fate = Box::new(fate);
        self
    }

    pub(crate) fn marking_above(mut self, packets: usize) -> Self {
        self.mark_above = packets;
        self
    }

    /// Packets are numbered from 0 in order of arrival at the queue.
    pub(crate) fn marking(mut self, is_marked: impl Fn(u64) -> bool + 'a) -> Self {
        self.is_marked = Box::new(is_marked);
        self
    }

    /// Nothing may be due before `now`.
    pub(crate) fn at(mut self, now: Time) -> Self {
        self.now = now;
        self
    }

    pub(crate) fn acks(&self) -> u64 {
        self.acked
    }

    pub(crate) fn start(&mut self) {
        self.act(|sender, now, out| sender.start(now, out));
    }

    pub(crate) fn write(&mut self, segments: u64) {
        self.act(|sender, now, out| sender.write(segments, now, out));
    }

    /// Returns whether anything is left to do.
    pub(crate) fn run_until(&mut self, end: Time) -> bool {
        loop {
            let event_at = self.events.peek().map_or(Time::MAX, |Reverse((at, _))| *at);
            let sender_at = self.sender.deadline().unwrap_or(Time::MAX);
            let receiver_at = self.receiver.deadline().unwrap_or(Time::MAX);
            let at = event_at.min(sender_at).min(receiver_at);
            if at > end || at == Time::MAX {
                self.now = self.now.max(end.min(at));
                return at != Time::MAX;
            }
            assert!(at >= self.now, "time runs backwards");
            self.now = at;
            if event_at == at {
                self.next_event();
            } else if receiver_at == at {
                let ack = self.receiver.on_timeout(at).expect("it is due");
                self.acknowledge(ack);
            } else {
                self.act(|sender, now, out| sender.on_timeout(now, out));
                assert!(self.sender.deadline().is_none_or(|due| due > at), "a deadline that does not pass");
            }
        }
    }

    fn next_event(&mut self) {
        let Reverse((_, number)) = self.events.pop().expect("there is one");
        match self.pending.remove(&number).expect("it was scheduled") {
            Event::AtLink(segment) => {
                let copies = (self.fate)(self.reached, &segment);
                self.reached += 1;
                for delay in copies {
                    if delay.is_zero() {
                        self.queue(segment);
                    } else {
                        self.schedule(self.now + delay, Event::Queue(segment));
                    }
                }
            }
            Event::Queue(segment) => self.queue(segment),
            Event::LinkFree => {
                self.is_busy = false;
                if let Some(segment) = self.queue.pop_front() {
                    self.transmit(segment);
                }
            }
            Event::AtReceiver(segment) => {
                let before = self.receiver.delivered();
                let ack = self.receiver.on_segment(segment, self.now);
                self.delivered += self.receiver.delivered() - before;
                if let Some(ack) = ack {
                    self.acknowledge(ack);
                }
            }
            Event::AtSender(ack) => self.act(|sender, now, out| sender.on_ack(ack, now, out)),
        }
    }

    fn act(&mut self, act: impl FnOnce(&mut Sender, Time, &mut Sent<'_>)) {
        let mut sent = Vec::new();
        act(&mut self.sender, self.now, &mut Sent(&mut sent));
        for segment in sent {
            self.sent.push((self.now, segment));
            if !segment.is_syn {
                self.most_ahead = self.most_ahead.max(segment.seq + 1 - self.sender.acked());
            }
            self.up_free_at = self.up_free_at.max(self.now) + takes(self.bytes(&segment), ACCESS_BPS);
            self.schedule(self.up_free_at + ACCESS_DELAY, Event::AtLink(segment));
        }
    }

    fn bytes(&self, segment: &Segment) -> u32 {
        if segment.is_syn {
            self.config.ack_bytes
        } else {
            self.config.header_bytes + self.config.segment_bytes
        }
    }

    fn queue(&mut self, mut segment: Segment) {
        let is_marked = self.queue.len() > self.mark_above || (self.is_marked)(self.queued);
        self.queued += 1;
        if is_marked && segment.ecn.is_capable() {
            segment.ecn = Ecn::Ce;
            self.marks += 1;
        }
        if !self.is_busy {
            self.transmit(segment);
        } else if self.queue.len() < self.buffer {
            self.queue.push_back(segment);
        } else {
            self.drops += 1;
        }
    }

    fn transmit(&mut self, segment: Segment) {
        self.is_busy = true;
        let bytes = self.bytes(&segment);
        let free_at = self.now + takes(bytes, LINK_BPS);
        self.schedule(free_at, Event::LinkFree);
        self.down_free_at = self.down_free_at.max(free_at + LINK_DELAY) + takes(bytes, ACCESS_BPS);
        self.schedule(self.down_free_at + ACCESS_DELAY, Event::AtReceiver(segment));
    }

    fn acknowledge(&mut self, ack: Ack) {
        let bytes = self.config.ack_bytes;
        let transmission = takes(bytes, ACCESS_BPS) + takes(bytes, LINK_BPS) + takes(bytes, ACCESS_BPS);
        let arrives = self.now + transmission + ACCESS_DELAY + LINK_DELAY + ACCESS_DELAY;
        self.acked += 1;
        for delay in (self.ack_fate)(self.acked - 1) {
            self.schedule(arrives + delay, Event::AtSender(ack));
        }
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.events.push(Reverse((at, self.scheduled)));
        self.pending.insert(self.scheduled, event);
        self.scheduled += 1;
    }
}
