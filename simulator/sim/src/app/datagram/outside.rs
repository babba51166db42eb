//! External datagram sources.

use super::packet::{Emission, MAX_BYTES};
use core::fmt::{self, Debug};
use fairwire_core::{Rng, Time};
use std::sync::Arc;

/// A running datagram source.
pub trait DatagramSource: Debug + Send {
    /// Returns the next packet, or `None` when the source has finished. Invoked when the source
    /// starts, and when it has sent a packet.
    ///
    /// The packet is sent at `now` or later, and has no more bytes than IP can carry, headers
    /// included. The run never ends if each packet is sent at `now`.
    fn next(&mut self, now: Time, rng: &mut Rng) -> Option<Emission>;
}

/// An external datagram source, with its constants.
#[derive(Clone)]
pub struct OutsideTraffic {
    name: &'static str,
    typical_bytes: u32,
    starting: Arc<Starting>,
}

type Starting = dyn Fn(u32) -> Box<dyn DatagramSource> + Send + Sync;

impl OutsideTraffic {
    /// A source named `name` in records. `typical_bytes` is the usual packet size on the wire, or 0
    /// if sizes vary. `starting` creates the source of each flow from the header bytes per packet.
    pub fn new<S: DatagramSource + 'static>(
        name: &'static str,
        typical_bytes: u32,
        starting: impl Fn(u32) -> S + Send + Sync + 'static,
    ) -> Self {
        OutsideTraffic {
            name,
            typical_bytes,
            starting: Arc::new(move |header_bytes| Box::new(starting(header_bytes))),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn typical_bytes(&self) -> u32 {
        self.typical_bytes
    }
}

impl Debug for OutsideTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// External constants cannot be compared, so a source equals only its clones.
impl PartialEq for OutsideTraffic {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.starting, &other.starting)
    }
}

#[derive(Debug)]
pub(crate) struct Generator {
    source: Box<dyn DatagramSource>,
    header_bytes: u32,
}

impl Generator {
    pub(crate) fn new(plan: &OutsideTraffic, header_bytes: u32) -> Self {
        Generator { source: (plan.starting)(header_bytes), header_bytes }
    }

    pub(crate) fn next(&mut self, now: Time, rng: &mut Rng) -> Option<Emission> {
        let next = self.source.next(now, rng)?;
        let allowed = u64::from(self.header_bytes).max(1)..=MAX_BYTES;
        assert!(
            allowed.contains(&next.bytes.into()),
            "a packet of {} bytes; allowed: {allowed:?}",
            next.bytes
        );
        assert!(next.at >= now, "a packet at {:?} was returned at {now:?}", next.at);
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Duration, Seed};

    #[derive(Clone, Debug)]
    struct Same {
        bytes: u32,
        first: Time,
    }

    impl DatagramSource for Same {
        fn next(&mut self, _: Time, _: &mut Rng) -> Option<Emission> {
            let at = self.first;
            self.first += Duration::from_ms(5);
            Some(Emission::of(self.bytes, at))
        }
    }

    fn second(bytes: u32, now: Time) -> Option<Emission> {
        let plan = OutsideTraffic::new("same", bytes, move |_| Same { bytes, first: Time::ZERO });
        let (mut generator, mut rng) = (Generator::new(&plan, 28), Seed(1).stream("test"));
        assert_eq!((plan.name(), plan.typical_bytes()), ("same", bytes));
        generator.next(Time::ZERO, &mut rng).expect("it never ends");
        generator.next(now, &mut rng)
    }

    #[test]
    fn its_packets_come_from_the_external_crate() {
        let next = second(512, Time::ZERO);
        assert_eq!(next, Some(Emission::of(512, Time::ZERO + Duration::from_ms(5))));
    }

    #[test]
    #[should_panic(expected = "was returned at")]
    fn a_packet_in_the_past_ends_the_run() {
        second(512, Time::ZERO + Duration::from_ms(6));
    }

    #[test]
    #[should_panic(expected = "a packet of 27 bytes; allowed: 28..=65535")]
    fn a_packet_without_room_for_its_headers_ends_the_run() {
        second(27, Time::ZERO);
    }
}
