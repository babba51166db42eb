//! Strict priority: the first band that has a packet to send is served. RFC 3290, section 7.1.2.
//!
//! Each band is a discipline. An arrival's class, differentiated-services codepoint or colour
//! decides its band.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::any::Any;
use fairwire_core::{Backlog, Control, Discipline, Packet, Probe, Room, Signals, Time, Unit};
use fairwire_parameters::word;

/// The maximum number of bands; one poll may visit all.
pub const MAX_BANDS: usize = 64;

/// The field that decides the band.
#[word(gated)]
pub enum By {
    /// The class that the classifier put the packet in.
    #[default]
    Class,
    /// The differentiated-services codepoint, from 0 to 63.
    Dscp,
    /// The drop precedence that a marker gave: 0 green, 1 yellow, 2 red.
    Color,
}

/// The field that decides the band, and the band for each of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The field that decides the band.
    pub by: By,
    /// The band of each value of `by`; values beyond the end have the default band.
    pub band_of: Box<[u8]>,
    /// The band, numbered from 0, for values beyond the end of `band_of`.
    pub default_band: u8,
}

struct Labelled {
    label: String,
    inner: Box<dyn Discipline>,
}

/// Sends from the first band with a packet to send. See the [module](self).
pub struct Prio {
    config: Config,
    bands: Box<[Labelled]>,
    backlog: Backlog,
    /// A bit for each band that has become empty since its last poll. Some disciplines must learn
    /// from a poll that they are idle.
    emptied: u64,
}

impl Prio {
    /// Serves `bands` in strict priority, the most urgent first. All bands must be empty.
    ///
    /// # Panics
    /// When there are fewer bands than `config` names, or more than [`MAX_BANDS`].
    pub fn new(config: Config, bands: Vec<Box<dyn Discipline>>) -> Self {
        let named = config.band_of.iter().chain([&config.default_band]);
        assert!(named.max().is_some_and(|&band| usize::from(band) < bands.len()), "a band is missing");
        let count = bands.len();
        assert!(count <= MAX_BANDS, "{count} bands are too many");
        let labelled = |(inner, number)| Labelled { label: format!("band {number}"), inner };
        Prio {
            config,
            bands: bands.into_iter().zip(1..).map(labelled).collect(),
            backlog: Backlog::default(),
            emptied: u64::MAX >> (MAX_BANDS - count),
        }
    }

    fn poll_idle(&mut self, first: usize, now: Time, signals: &mut dyn Signals) {
        for (at, Labelled { inner, .. }) in self.bands.iter_mut().enumerate().skip(first) {
            if (self.emptied >> at) & 1 == 1 && inner.backlog().is_empty() {
                let none = inner.dequeue(now, signals);
                assert!(none.is_none(), "an empty discipline gave a packet");
            }
            self.emptied &= !(1 << at);
        }
    }

    #[inline]
    fn band(&self, packet: &Packet) -> usize {
        let value = match self.config.by {
            By::Class => packet.class,
            By::Dscp => u32::from(packet.dscp),
            By::Color => u32::from(packet.color),
        };
        self.band_of(value)
    }

    #[inline]
    fn band_of(&self, value: u32) -> usize {
        usize::from(self.config.band_of.get(value as usize).copied().unwrap_or(self.config.default_band))
    }
}

impl Discipline for Prio {
    #[inline]
    fn offer(&mut self, packet: Packet, room: Room, now: Time, signals: &mut dyn Signals) {
        let at = self.band(&packet);
        let inner = &mut self.bands[at].inner;
        let before = inner.backlog();
        inner.offer(packet, room, now, signals);
        self.backlog = moved(self.backlog, before, inner.backlog());
        if !before.is_empty() && inner.backlog().is_empty() {
            self.emptied |= 1 << at;
        }
    }

    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        // Empty bands are polled too: some disciplines must know that they had no packets.
        for (at, Labelled { inner, .. }) in self.bands.iter_mut().enumerate() {
            let before = inner.backlog();
            let packet = inner.dequeue(now, signals);
            let after = inner.backlog();
            self.backlog = moved(self.backlog, before, after);
            if packet.is_some() {
                if self.emptied >> at > 1 {
                    self.poll_idle(at + 1, now, signals);
                }
                self.emptied |= u64::from(after.is_empty()) << at;
                return packet;
            }
            self.emptied &= !(1 << at);
        }
        None
    }

    fn ready_at(&self) -> Option<Time> {
        self.bands.iter().filter_map(|band| band.inner.ready_at()).min()
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn inspect(&self, probe: &mut dyn Probe) {
        probe.gauge("backlog_packets", Unit::Packets, f64::from(self.backlog.packets));
        probe.gauge("backlog_bytes", Unit::Bytes, self.backlog.bytes as f64);
        for Labelled { label, inner } in &self.bands {
            probe.enter(label);
            inner.inspect(probe);
            probe.leave();
        }
    }

    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        for (at, Labelled { inner, .. }) in self.bands.iter_mut().enumerate() {
            self.emptied |= u64::from(!inner.backlog().is_empty()) << at;
            inner.drain(take);
        }
        self.backlog = Backlog::default();
    }
}

impl Control for Prio {
    fn inside(&mut self, class: Option<u32>, visit: &mut dyn FnMut(&mut dyn Discipline)) {
        match class.filter(|_| self.config.by == By::Class) {
            Some(class) => visit(&mut *self.bands[self.band_of(class)].inner),
            None => self.bands.iter_mut().for_each(|band| visit(&mut *band.inner)),
        }
    }

    fn retune(&mut self, fresh: &dyn Discipline, now: Time) -> bool {
        let Some(fresh) = (fresh as &dyn Any).downcast_ref::<Self>() else { return false };
        let is_alike = self.config == fresh.config && self.bands.len() == fresh.bands.len();
        is_alike
            && self
                .bands
                .iter_mut()
                .zip(&fresh.bands)
                .all(|(band, fresh)| band.inner.retune(&*fresh.inner, now))
    }
}

#[inline]
pub(crate) fn moved(total: Backlog, before: Backlog, after: Backlog) -> Backlog {
    Backlog {
        packets: total.packets + after.packets - before.packets,
        bytes: total.bytes + after.bytes - before.bytes,
    }
}
