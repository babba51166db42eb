//! A video call, which adapts its rate to the path and times its frames.
//!
//! # What it does
//! By default, the first end codes a frame every 33 ms, at the rate that [NADA](nada) allows, and
//! paces the frame's packets. The second end reassembles frames, shows them, and times each from
//! its capture to its last packet. It reports the state of the path every 100 ms.
//!
//! A frame depends on the previous one. So after a lost frame, the second end requests a key frame,
//! which is larger. It shows no frame until the key frame arrives.
//!
//! # Source
//! RFC 8698 for the rate of the coder and the pace. RFC 4585, section 6.3.1 for the request of a
//! key frame (picture loss indication). A freeze is as W3C defines it ("Identifiers for WebRTC's
//! Statistics API", `freezeCount`): a long gap between two shown frames. The gap is at least three
//! times the mean of the last 30 gaps, and at least that mean plus 150 ms.
//!
//! # Where we differ
//! - Sound is not included: that is `voip`. There is no retransmission and no forward error
//!   correction (RFC 4588, RFC 5109).
//! - There is no jitter buffer: a frame is shown when its last packet arrives. A buffer of fixed
//!   delay would miss the frames that are later than the deadline.
//! - Frame sizes are uniform around the allowed rate, whatever the picture.
//! - A packet counts as lost if the complete next frame arrives before it.

mod nada;
mod picture;

pub use nada::Rates;

use crate::endpoint::{Endpoint, Endpoints, Packet, Start};
use fairwire_core::{Duration, Ecn, Rng, Time};
use fairwire_metrics::{Kind, Lasted};
use nada::{Arrived, REPORT_EVERY, ReceiverReport};
use picture::{Picture, Piece};
use std::collections::VecDeque;

/// A call in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// The bounds of the rate on the wire.
    pub rates: Rates,
    /// The time between two frames, above zero.
    pub frame: Duration,
    /// The maximum deviation of a frame's size, as a fraction of the mean, below 1. Sizes have a
    /// uniform distribution.
    pub variation: f64,
    /// The size of a key frame relative to other frames; 1 or more.
    pub key_size: f64,
    /// The time between periodic key frames, in addition to the first and to requested key frames;
    /// zero for none.
    pub key_every: Duration,
    /// The time from capture to display above which a frame is late.
    pub deadline: Duration,
    /// Bytes on the wire of a full packet.
    pub packet_bytes: u32,
    /// The header bytes of each packet; fewer than `packet_bytes`.
    pub header_bytes: u32,
    /// Are packets ECN-capable?
    pub ecn: bool,
}

impl Default for Call {
    /// Rates: RFC 8698, figure 3. Deadline: ITU-T G.114, one-way delays above 400 ms are not
    /// acceptable.
    fn default() -> Self {
        Call {
            rates: Rates { least_bps: 150e3, most_bps: 1.5e6, priority: 1.0 },
            frame: Duration::from_ms(33),
            variation: 0.1,
            key_size: 3.0,
            key_every: Duration::ZERO,
            deadline: Duration::from_ms(400),
            packet_bytes: 1200,
            header_bytes: 40,
            ecn: false,
        }
    }
}

/// The types of events that a call times.
pub const KINDS: &[Kind] = &[Kind::Frame, Kind::LateFrame, Kind::LostFrame, Kind::Freeze];

/// Bytes of a report on the wire: IPv4 and UDP headers, and 12 bytes of a feedback message (RFC
/// 4585, section 6.1). RFC 8698, section 5.3, adds 8 bytes, rounded up to words.
const REPORT_BYTES: usize = 20 + 8 + 12 + 8;

impl Call {
    /// Both ends of each flow.
    pub fn endpoints(self) -> Endpoints {
        Endpoints::new("call", self.packet_bytes, move |start: Start| {
            (Speaker::new(self, start.rng), Listener::new(self))
        })
        .timing(KINDS)
    }

    /// The size of a frame that is not a key frame, relative to the mean size at the coder's rate.
    fn usual_size(&self) -> f64 {
        if self.key_every.is_zero() {
            return 1.0;
        }
        let frames = (self.key_every.secs() / self.frame.secs()).max(1.0);
        frames / (frames - 1.0 + self.key_size)
    }
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    at: Time,
    piece: Piece,
}

#[derive(Clone, Copy, Debug)]
struct Feedback {
    report: Option<ReceiverReport>,
    /// The time at which the latest packet was sent. `waited` is the time since its arrival.
    last_sent: Time,
    waited: Duration,
    /// A requested key frame must be later than the frame with this number; `None` without a
    /// request.
    key_after: Option<u64>,
}

struct Speaker {
    call: Call,
    nada: nada::Sender,
    rng: Rng,
    next_frame: Option<Time>,
    frames: u64,
    packets: u64,
    /// The number and the time of the latest key frame.
    key: (u64, Time),
    is_key_wanted: bool,
    /// Pieces waiting to be sent, in order, with their bytes on the wire.
    queue: VecDeque<(Piece, u32)>,
    queued_bytes: u64,
    may_send: Time,
}

impl Speaker {
    fn new(call: Call, rng: Rng) -> Self {
        Speaker {
            call,
            nada: nada::Sender::new(call.rates),
            rng,
            next_frame: None,
            frames: 0,
            packets: 0,
            key: (0, Time::ZERO),
            is_key_wanted: true,
            queue: VecDeque::new(),
            queued_bytes: 0,
            may_send: Time::ZERO,
        }
    }

    /// The rate that would empty the buffer within the time of one frame, bit/s: `8*buffer_len*FPS`
    /// in RFC 8698.
    fn buffered_bps(&self) -> f64 {
        self.queued_bytes as f64 * 8.0 / self.call.frame.secs()
    }

    fn capture(&mut self, now: Time) {
        let every = self.call.key_every;
        let is_key = self.is_key_wanted || (!every.is_zero() && now.since(self.key.1) >= every);
        if is_key {
            (self.key, self.is_key_wanted) = ((self.frames, now), false);
        }
        let size = self.call.usual_size() * if is_key { self.call.key_size } else { 1.0 };
        let varied = 1.0 + self.call.variation * (2.0 * self.rng.uniform() - 1.0);
        let bits = self.nada.coder_bps(self.buffered_bps()) * self.call.frame.secs() * size * varied;
        let (full, least) = (self.call.packet_bytes, self.call.header_bytes + 1);
        let bytes = ((bits / 8.0) as u32).max(least);
        let pieces = bytes.div_ceil(full);
        let frame = self.frames;
        for piece in 0..pieces {
            let bytes = if piece + 1 < pieces { full } else { (bytes - full * (pieces - 1)).max(least) };
            self.queue.push_back((Piece { frame, captured: now, pieces, is_key }, bytes));
            self.queued_bytes += u64::from(bytes);
        }
        self.frames += 1;
    }
}

impl Endpoint for Speaker {
    fn on_packet(&mut self, packet: Packet, now: Time) {
        let Some(Feedback { report, last_sent, waited, key_after }) = packet.payload() else { return };
        if let Some(report) = report {
            let rtt = Duration::from_ns(now.since(last_sent).ns().saturating_sub(waited.ns()));
            self.nada.take(&report, rtt, now);
        }
        // If the last key frame is later than frame `after`, it may be in flight, so no second key
        // frame is coded. If it was lost too, a later request has a larger `after`.
        self.is_key_wanted |= key_after.is_some_and(|after| self.key.0 <= after);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let due = *self.next_frame.get_or_insert(now);
        if due <= now {
            self.capture(now);
            self.next_frame = Some(due + self.call.frame);
        }
        if self.may_send > now {
            return None;
        }
        let pace_bps = self.nada.pace_bps(self.buffered_bps());
        let (piece, bytes) = self.queue.pop_front()?;
        self.queued_bytes -= u64::from(bytes);
        self.may_send = now + Duration::from_secs_f64(f64::from(bytes) * 8.0 / pace_bps);
        let sent = Sent { number: self.packets, at: now, piece };
        self.packets += 1;
        let ecn = if self.call.ecn { Ecn::Ect0 } else { Ecn::NotEct };
        Some(Packet::new(bytes as usize).with_ecn(ecn).carrying(sent))
    }

    fn next_timeout(&mut self) -> Option<Time> {
        let frame = self.next_frame?;
        Some(if self.queue.is_empty() { frame } else { frame.min(self.may_send) })
    }
}

struct Listener {
    nada: nada::Receiver,
    picture: Picture,
    next_report: Option<Time>,
    /// The times at which the latest packet was sent and arrived.
    last: Option<(Time, Time)>,
    requested: Option<u64>,
}

impl Listener {
    fn new(call: Call) -> Self {
        Listener {
            nada: nada::Receiver::default(),
            picture: Picture::new(call.frame, call.deadline),
            next_report: None,
            last: None,
            requested: None,
        }
    }
}

impl Endpoint for Listener {
    fn on_packet(&mut self, packet: Packet, now: Time) {
        let (bytes, is_marked) = (packet.bytes, packet.ecn == Ecn::Ce);
        let Some(Sent { number, at, piece }) = packet.payload() else { return };
        self.nada.take(Arrived { number, bytes, delay: now.since(at), is_marked }, now);
        self.next_report.get_or_insert(now + REPORT_EVERY);
        self.last = Some((at, now));
        self.picture.take(piece, now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.picture.begin(now);
        let (last_sent, came) = self.last?;
        let due = self.next_report.filter(|due| *due <= now);
        if let Some(due) = due {
            self.next_report = Some(due + REPORT_EVERY);
        }
        // A new request is sent at once, and repeated with each report (RFC 4585, section 3.5).
        let key_after = self.picture.key_after();
        let is_news = key_after.is_some() && key_after != self.requested;
        self.requested = key_after;
        (due.is_some() || is_news).then(|| {
            let report = due.map(|_| self.nada.report(now));
            let waited = now.since(came);
            Packet::new(REPORT_BYTES).carrying(Feedback { report, last_sent, waited, key_after })
        })
    }

    fn next_timeout(&mut self) -> Option<Time> {
        self.next_report
    }

    fn lasted(&self, end: Time) -> Vec<Lasted> {
        self.picture.lasted(end)
    }
}

#[cfg(test)]
mod tests;
