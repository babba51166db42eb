//! A port that sends through a wire.

use super::lane::{Held, Travelling};
use fairwire_core::{Duration, Time, Wire};
use fairwire_linux::port::{
    LinkKind, MAX_FRAMES_AT_ONCE, Outgoing, Port, PortError, PortHealth, Refused, Take,
};
use std::os::fd::{AsFd, BorrowedFd};

/// A port whose frames pass a wire before they are sent.
#[derive(Debug)]
pub struct WiredPort<P> {
    port: P,
    pub(super) held: Held,
    leaves_at: Time,
    /// Frames that left the wire, including those that the port then refused.
    pub(super) came_out: u64,
    pub(super) refused: u64,
}

impl<P: Port> WiredPort<P> {
    /// A port that applies `delay` (and `wire`, if given) before it sends through `port`. Time zero
    /// of `wire` is `start`.
    pub fn new(port: P, (delay, wire): (Duration, Option<Wire>), start: Time) -> Self {
        WiredPort::of(port, Held::of(delay, wire, start))
    }

    pub(super) fn of(port: P, held: Held) -> Self {
        WiredPort { port, held, leaves_at: Time::ZERO, came_out: 0, refused: 0 }
    }

    /// Frames on the wire.
    pub fn under_way(&self) -> usize {
        self.held.frames.len()
    }

    /// Packets lost since the start, for any reason.
    pub fn lost(&self) -> u64 {
        self.held.counts.lost + self.held.overflowed + self.refused
    }

    pub(super) fn carry(&mut self, frame: &Outgoing<'_>, now: Time) {
        self.held.push(frame, self.port.link_kind(), now);
    }
}

impl<P: Port> Port for WiredPort<P> {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        self.port.receive(take)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        frames.iter().for_each(|frame| self.carry(frame, self.leaves_at));
        Refused::NONE
    }

    fn leaves_at(&mut self, time: Time) {
        self.leaves_at = time;
    }

    fn send_due(&mut self, now: Time) {
        loop {
            let due = std::iter::from_fn(|| self.held.pop(now));
            let due: Vec<Travelling> = due.take(MAX_FRAMES_AT_ONCE).collect();
            if due.is_empty() {
                return;
            }
            let frames: Vec<Outgoing<'_>> = due.iter().map(Travelling::outgoing).collect();
            self.came_out += frames.len() as u64;
            self.refused += u64::from(self.port.transmit_all(&frames).count());
        }
    }

    fn due(&self, next: Option<Time>) -> Option<Time> {
        next.map(|next| next + self.held.shortest).into_iter().chain(self.held.next_due()).min()
    }

    fn link_kind(&self) -> LinkKind {
        self.port.link_kind()
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.port.check()
    }

    fn health(&mut self) -> PortHealth {
        self.port.health()
    }
}

impl<P: AsFd> AsFd for WiredPort<P> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.port.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{DelayStep, Seed, WireLaw};

    /// The batches received.
    #[derive(Debug, Default)]
    struct Noting(Vec<Vec<u8>>);

    impl Port for Noting {
        fn receive(&mut self, _: &mut Take<'_>) -> Result<(), PortError> {
            Ok(())
        }

        fn transmit(&mut self, frame: &[u8]) -> bool {
            self.0.push(frame.to_vec());
            frame.len() < 1500
        }

        fn link_kind(&self) -> LinkKind {
            LinkKind::Ip
        }

        fn health(&mut self) -> PortHealth {
            PortHealth::default()
        }
    }

    const DELAY: Duration = Duration::from_ms(20);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn packet(bytes: usize, last: u8) -> Vec<u8> {
        let [high, low] = (bytes as u16).to_be_bytes();
        let header = [0x45, 0, high, low, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let mut packet = vec![last; bytes];
        packet[..20].copy_from_slice(&header);
        packet
    }

    #[test]
    fn a_frame_arrives_one_delay_after_its_departure_even_if_handled_late() {
        let mut port = WiredPort::new(Noting::default(), (DELAY, None), Time::ZERO);
        assert_eq!((port.due(None), port.due(Some(at(1)))), (None, Some(at(21))));
        for ms in [5, 7] {
            port.leaves_at(at(ms));
            assert!(port.transmit(&packet(100, ms as u8)));
        }
        assert_eq!(
            (port.due(None), port.due(Some(at(1))), port.under_way()),
            (Some(at(25)), Some(at(21)), 2)
        );
        port.send_due(at(24));
        assert_eq!(port.under_way(), 2);
        port.send_due(at(50));
        assert_eq!(port.port.0, [packet(100, 5), packet(100, 7)]);
        assert_eq!((port.due(None), port.under_way(), port.lost()), (None, 0, 0));
    }

    #[test]
    fn losses_by_faults_and_ports_are_counted() {
        let wire = |law| Some(Wire::new(law, Seed(1), "wire"));
        let lossy = WireLaw { loss: Some(1.0.into()), ..WireLaw::default() };
        let mut port = WiredPort::new(Noting::default(), (DELAY, wire(lossy)), Time::ZERO);
        assert!(port.transmit(&packet(100, 1)), "it took it");
        assert_eq!((port.under_way(), port.lost()), (0, 1));

        let delays = [DelayStep { at: at(10), delay: Duration::from_ms(3) }];
        let law = WireLaw { delays: delays.into(), duplicate: 1.0, ..WireLaw::default() };
        let mut port = WiredPort::new(Noting::default(), (DELAY, wire(law)), at(1000));
        assert_eq!(port.due(Some(at(1000))), Some(at(1003)), "no frame is due before");
        port.leaves_at(at(1010));
        port.transmit(&packet(1500, 1));
        assert_eq!((port.due(None), port.under_way()), (Some(at(1013)), 2));
        port.send_due(at(1013));
        assert_eq!((port.port.0.len(), port.lost()), (2, 2), "too long for the port");
    }
}
