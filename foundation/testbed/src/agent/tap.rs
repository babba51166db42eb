//! Counts each frame that arrives at a host's interface, to measure the gateway's link.

use super::stage::{Slots, Stage};
use crate::bed::HOST;
use crate::traffic::{flow_of, on_the_link};
use fairwire_core::Duration;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError};
use fairwire_wire::headers::parse;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::sync::Arc;

pub(super) struct Tap {
    stage: Arc<Stage>,
    port: AfPacket,
}

pub(super) struct Tapped {
    /// The bytes of arriving frames, per flow and slot, for flows that the other host sends.
    pub link: Vec<Slots>,
    /// The bytes of arriving frames, such as acknowledgements, per flow and slot, for flows that
    /// this host sends.
    pub back: Vec<Slots>,
    /// Other IP packets.
    pub strange: Slots,
    /// Frames that were not fetched in time.
    pub missed: u64,
}

const PAUSE: Duration = Duration::from_ms(5);
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

impl Tap {
    pub(super) fn open(stage: &Arc<Stage>) -> Result<Tap, PortError> {
        Ok(Tap { stage: Arc::clone(stage), port: AfPacket::open(HOST.name)? })
    }

    pub(super) fn run(mut self) -> Tapped {
        let mut tapped = Tapped::nothing(&self.stage);
        while !self.stage.is_over() {
            let _ = poll(&mut [PollFd::new(&self.port, PollFlags::IN)], Some(&TICK));
            let slot = self.stage.slot(clock::now());
            let stage = &self.stage;
            let fetched = self.port.receive(&mut |frame, vnet| {
                if let Some(slot) = slot {
                    tapped.count(stage, frame, vnet.gso_size.into(), slot);
                }
            });
            if fetched.is_err() {
                tapped.missed += self.port.health().overflows;
                self.reopen();
            }
        }
        tapped.missed += self.port.health().overflows;
        tapped
    }
}

impl Tap {
    fn reopen(&mut self) {
        while !self.stage.is_over() {
            match AfPacket::open(HOST.name) {
                Ok(port) => return self.port = port,
                Err(_) => clock::sleep_until(clock::now() + PAUSE),
            }
        }
    }
}

impl Tapped {
    pub(super) fn nothing(stage: &Stage) -> Tapped {
        let flows = stage.traffic.flows.len();
        Tapped {
            link: vec![stage.empty(); flows],
            back: vec![stage.empty(); flows],
            strange: stage.empty(),
            missed: 0,
        }
    }

    fn count(&mut self, stage: &Stage, frame: &[u8], segment: usize, slot: usize) {
        let headers = parse(frame);
        if headers.network.is_none() {
            return; // not shaped
        }
        let flows = &stage.traffic.flows;
        let ports = headers.transport.map(|transport| transport.ports);
        let of = |port: Option<u16>| port.and_then(|port| flow_of(port, flows.len()));
        // The port of the host that opened a flow identifies the flow.
        let there = of(ports.map(|ports| ports.source)).filter(|flow| !flows[*flow].is_opened_by(stage.side));
        let here =
            of(ports.map(|ports| ports.destination)).filter(|flow| flows[*flow].is_opened_by(stage.side));
        let count = match there.or(here) {
            Some(flow) if flows[flow].from != stage.side => &mut self.link[flow],
            Some(flow) => &mut self.back[flow],
            None => &mut self.strange,
        };
        let payload = headers.transport.and_then(|transport| transport.payload).unwrap_or(frame.len());
        count[slot] += wire_bytes(frame.len(), payload, segment);
    }
}

/// The bytes that a frame of `len` bytes takes on the link. If `segment` is not 0, the kernel
/// splits the frame into packets with up to `segment` bytes of payload, after headers that end at
/// offset `payload`.
fn wire_bytes(len: usize, payload: usize, segment: usize) -> u64 {
    let rest = len.saturating_sub(payload);
    if segment == 0 || rest <= segment {
        return on_the_link(len);
    }
    let (whole, left) = (rest / segment, rest % segment);
    let last = if left > 0 { on_the_link(payload + left) } else { 0 };
    whole as u64 * on_the_link(payload + segment) + last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_super_packet_counts_as_its_segments() {
        assert_eq!(wire_bytes(1514, 66, 0), 1538);
        assert_eq!(wire_bytes(66 + 3 * 1448, 66, 1448), 3 * 1538);
        assert_eq!(wire_bytes(66 + 1448 + 1, 66, 1448), 1538 + 91);
    }
}
