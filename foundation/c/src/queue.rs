//! A discipline with cookies, events, and a check that time never decreases.
#![allow(unsafe_code, reason = "a part of a packet is copied that both of its forms have")]

use crate::code::*;
use crate::events::{Callback, Sink};
use crate::types::{fw_backlog_size, fw_events, fw_gauge, fw_on_event, fw_packet, fw_site};
use core::ffi::{CStr, c_char, c_void};
use core::mem::{MaybeUninit, offset_of};
use core::ptr::from_ref;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Packet, Probe, Rate, Seed, Time, Unit, Weight};
use fairwire_laws::named::{self, NamedError};
use fairwire_laws::{BadParameter, Site, role};

/// An error code, and details as text, possibly empty.
pub type Refused = (i32, String);

/// A discipline and its capacity in packets, or an error.
pub(crate) type Built = Result<(Box<dyn Discipline>, u64), Refused>;

/// A queue.
pub struct Queue {
    pub(crate) discipline: Box<dyn Discipline>,
    sink: Sink,
    now: u64,
}

pub(crate) fn utf8<'a>(text: &'a CStr, what: &str) -> Result<&'a str, Refused> {
    text.to_str().map_err(|_| (FW_ERROR_TEXT, format!("the {what} is not UTF-8")))
}

impl Queue {
    pub(crate) fn build(name: &str, text: &str, site: &fw_site, buffer: &str) -> Result<Self, Refused> {
        let refused = |message: String| (FW_ERROR_PARAMETER, message);
        let rate = Rate::from_bps(site.rate_bps);
        let site = Site {
            rate: rate.ok_or_else(|| refused("`rate_bps` is 0; allowed: above 0".into()))?,
            buffer: buffer.parse::<Amount>().map_err(|error| refused(format!("`buffer`: {error}")))?,
            packet_bytes: site.packet_bytes,
            seed: Seed(site.seed),
            stream: "fairwire",
        };
        let (mut discipline, packets) = built(name, text, &site)?;
        if discipline.reads_acknowledgements() {
            let what =
                format!("`{name}` with these parameters reads what packets acknowledge, which C cannot say");
            return Err(refused(what));
        }
        Ok(Queue::new(discipline, packets as usize + 1))
    }

    pub(crate) fn new(discipline: Box<dyn Discipline>, capacity: usize) -> Self {
        Queue { discipline, sink: Sink::new(capacity), now: 0 }
    }

    pub(crate) fn on_event(&mut self, function: fw_on_event, user: *mut c_void) {
        self.sink.callback = Callback { function, user };
    }

    #[inline]
    pub(crate) fn advance(&mut self, now: u64) -> Result<Time, i32> {
        if now < self.now || now > i64::MAX as u64 {
            return Err(FW_ERROR_TIME);
        }
        self.now = now;
        Ok(Time::from_ns(now))
    }

    #[inline(always)]
    pub(crate) fn enqueue(
        &mut self,
        packet: &fw_packet,
        now: u64,
        list: Option<&mut fw_events>,
    ) -> Result<(), i32> {
        let now = self.advance(now)?;
        self.sink.begin(list);
        let taken = self.admit(packet, now);
        self.sink.end();
        taken
    }

    #[inline(always)]
    fn admit(&mut self, packet: &fw_packet, now: Time) -> Result<(), i32> {
        if !is_right(packet) {
            return Err(FW_ERROR_PACKET);
        }
        let frame = self.sink.cookies.put(packet.cookie).ok_or(FW_ERROR_EVENTS)?;
        self.discipline.enqueue(inner(packet, frame, now), now, &mut self.sink);
        Ok(())
    }

    /// Enqueues packets up to the first refused packet, and returns their number. Returns an error
    /// only if the first packet is refused.
    #[inline]
    pub(crate) fn enqueue_all(
        &mut self,
        packets: &[fw_packet],
        now: u64,
        list: Option<&mut fw_events>,
    ) -> Result<usize, i32> {
        let now = self.advance(now)?;
        self.sink.begin(list);
        let mut all = Ok(packets.len());
        for (taken, packet) in packets.iter().enumerate() {
            if let Err(code) = self.admit(packet, now) {
                all = if taken == 0 { Err(code) } else { Ok(taken) };
                break;
            }
        }
        self.sink.end();
        all
    }

    #[inline(always)]
    pub(crate) fn dequeue(
        &mut self,
        place: &mut MaybeUninit<fw_packet>,
        now: u64,
        list: Option<&mut fw_events>,
    ) -> Result<bool, i32> {
        let now = self.advance(now)?;
        self.sink.begin(list);
        let has = self.release(place, now);
        self.sink.end();
        Ok(has)
    }

    #[inline(always)]
    fn release(&mut self, place: &mut MaybeUninit<fw_packet>, now: Time) -> bool {
        let Some(packet) = self.discipline.dequeue(now, &mut self.sink) else { return false };
        let cookie = self.sink.cookies.take(packet.frame);
        place.write(outer(&packet, cookie));
        true
    }

    #[inline]
    pub(crate) fn dequeue_all(
        &mut self,
        out: &mut [MaybeUninit<fw_packet>],
        now: u64,
        list: Option<&mut fw_events>,
    ) -> Result<usize, i32> {
        let now = self.advance(now)?;
        self.sink.begin(list);
        let mut taken = 0;
        for place in out {
            if !self.release(place, now) {
                break;
            }
            taken += 1;
        }
        self.sink.end();
        Ok(taken)
    }

    pub(crate) fn ready_at(&self) -> Option<u64> {
        self.discipline.ready_at().map(Time::ns)
    }

    pub(crate) fn backlog(&self) -> fw_backlog_size {
        let waiting = self.discipline.backlog();
        fw_backlog_size { packets: waiting.packets.into(), bytes: waiting.bytes }
    }

    pub(crate) fn drain(&mut self, out: &mut [MaybeUninit<fw_packet>]) -> Result<usize, i32> {
        if (self.discipline.backlog().packets as usize + self.sink.kept.len()) > out.len() {
            return Err(FW_ERROR_ROOM);
        }
        let mut places = out.iter_mut();
        let mut taken = 0;
        let mut hand = |packet| {
            if let Some(place) = places.next() {
                place.write(packet);
                taken += 1;
            }
        };
        while let Some(event) = self.sink.next_kept() {
            hand(event.packet);
        }
        let cookies = &mut self.sink.cookies;
        self.discipline.drain(&mut |packet| {
            let cookie = cookies.take(packet.frame);
            hand(outer(&packet, cookie));
        });
        Ok(taken)
    }

    pub(crate) fn set_weight(&mut self, class: u32, weight: f64) -> Result<f64, i32> {
        let weight = Weight::new(weight).ok_or(FW_ERROR_WEIGHT)?;
        self.discipline.set_weight(class, weight).map(Weight::get).map_err(|_| FW_ERROR_WEIGHT)
    }

    pub(crate) fn inspect(&self, out: &mut [MaybeUninit<fw_gauge>]) -> usize {
        let mut gauges = Gauges { out, count: 0, part: Name::default() };
        self.discipline.inspect(&mut gauges);
        gauges.count
    }
}

fn built(name: &str, text: &str, site: &Site<'_>) -> Built {
    #[cfg(feature = "composed")]
    if let Some(built) = crate::composed::built(name, text, site) {
        return built;
    }
    let law = named::read(name, text).map_err(|error| {
        let code = match error {
            NamedError::Unknown(_) => FW_ERROR_NAME,
            NamedError::Bad(_) => FW_ERROR_PARAMETER,
            _ => FW_ERROR_TEXT,
        };
        (code, error.to_string())
    })?;
    let refused = |bad: BadParameter| (FW_ERROR_PARAMETER, bad.to_string());
    let discipline = law.build(site).map_err(refused)?;
    let room = site.room("", role::BUFFER.given(&*law).copied()).map_err(refused)?;
    Ok((discipline, room.limit.max_packets().into()))
}

#[inline(always)]
pub(crate) fn is_right(packet: &fw_packet) -> bool {
    let &fw_packet { len, ecn, dscp, color, .. } = packet;
    // The mask has every bit that no valid field sets. The addition turns the invalid colour 3 into
    // 4, which is in the mask.
    let bits = u32::from_le_bytes([ecn, dscp, color, packet.reserved]);
    len.wrapping_sub(1) < u64::from(u32::MAX) && (bits | bits.wrapping_add(0x01_0000)) & 0xfc_c0fc == 0
}

// The last eight bytes of `Packet` and `fw_packet` hold the same fields, except that `Packet` has
// no field in the last byte. Copying all eight at once is faster than byte by byte.
const _: () = {
    assert!(offset_of!(Packet, class) == 24 && offset_of!(fw_packet, class_id) == 32);
    assert!(offset_of!(Packet, ecn) == 28 && offset_of!(fw_packet, ecn) == 36);
    assert!(offset_of!(Packet, dscp) == 29 && offset_of!(fw_packet, dscp) == 37);
    assert!(offset_of!(Packet, color) == 30 && offset_of!(fw_packet, color) == 38);
};

/// Converts a packet, already checked by [`is_right`], to a [`Packet`].
#[inline(always)]
pub(crate) fn inner(packet: &fw_packet, frame: u32, arrived: Time) -> Packet {
    let mut inner = Packet::new(frame, packet.len as u32, packet.flow.into(), arrived);
    // SAFETY: the last eight bytes of both types hold the same fields, and their values were
    // checked.
    unsafe { (&raw mut inner).cast::<u64>().add(3).write(from_ref(packet).cast::<u64>().add(4).read()) };
    inner
}

/// Converts a [`Packet`] to the form of C.
#[inline(always)]
pub(crate) fn outer(packet: &Packet, cookie: u64) -> fw_packet {
    let &Packet { flow, arrived, len, .. } = packet;
    let (flow, arrived, len) = (flow.0, arrived.ns(), len.into());
    let mut outer = fw_packet { cookie, flow, arrived, len, ..fw_packet::default() };
    // SAFETY: the last eight bytes of both types hold the same fields, but the last byte of
    // `Packet` is padding. This byte may be uninitialised until `reserved` is set.
    unsafe {
        let rest = from_ref(packet).cast::<MaybeUninit<u64>>().add(3).read();
        (&raw mut outer).cast::<MaybeUninit<u64>>().add(4).write(rest);
    }
    outer.reserved = 0;
    outer
}

struct Gauges<'a> {
    out: &'a mut [MaybeUninit<fw_gauge>],
    count: usize,
    part: Name,
}

#[derive(Clone, Copy)]
struct Name {
    bytes: [u8; 64],
    len: usize,
}

impl Default for Name {
    fn default() -> Self {
        Name { bytes: [0; 64], len: 0 }
    }
}

impl Name {
    fn push(&mut self, text: &str) {
        let room = self.bytes.len() - 1 - self.len;
        let fits = text.floor_char_boundary(room);
        self.bytes[self.len..][..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.len += fits;
    }

    fn in_c<const N: usize>(&self) -> [c_char; N] {
        let mut text = [0; N];
        // The last byte stays zero, which ends the text.
        for (to, from) in text[..N - 1].iter_mut().zip(&self.bytes[..self.len]) {
            *to = from.cast_signed();
        }
        text
    }
}

impl Probe for Gauges<'_> {
    fn gauge(&mut self, name: &'static str, unit: Unit, value: f64) {
        if let Some(place) = self.out.get_mut(self.count) {
            let (mut full, mut symbol) = (self.part, Name::default());
            full.push(name);
            symbol.push(unit.symbol());
            place.write(fw_gauge { name: full.in_c(), unit: symbol.in_c(), value });
        }
        self.count += 1;
    }

    fn enter(&mut self, part: &str) {
        self.part = Name::default();
        self.part.push(part);
        self.part.push("/");
    }

    fn leave(&mut self) {
        self.part = Name::default();
    }
}
