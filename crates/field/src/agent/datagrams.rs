//! UDP, received: one thread that counts datagrams, and how long pings took.

use super::{Slots, Stage};
use crate::Fallible;
use crate::traffic::{HEAD_BYTES, Sends, UDP_PORT};
use fairwire_gateway::clock;
use rustix::net::sockopt;
use std::net::{Ipv6Addr, UdpSocket};
use std::sync::Arc;
use std::time::Duration as StdDuration;

/// What may wait for this thread: at 100 Mbit/s a third of a second.
const SOCKET_BUFFER_BYTES: usize = 4 << 20;

pub(super) struct Catcher {
    stage: Arc<Stage>,
    socket: UdpSocket,
}

/// What was received.
pub(super) struct Caught {
    /// By flow and slot.
    pub payload: Vec<Slots>,
    /// Flow; when it was sent, nanoseconds after the start; nanoseconds on the way.
    pub delays: Vec<(usize, u64, u64)>,
}

impl Catcher {
    pub(super) fn listen(stage: &Arc<Stage>) -> Fallible<Catcher> {
        let socket = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, UDP_PORT))?;
        if sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BUFFER_BYTES).is_err() {
            let _ = sockopt::set_socket_recv_buffer_size(&socket, SOCKET_BUFFER_BYTES);
        }
        socket.set_read_timeout(Some(StdDuration::from_millis(20)))?;
        Ok(Catcher { stage: Arc::clone(stage), socket })
    }

    /// Until the run is over.
    pub(super) fn run(self) -> Caught {
        let flows = &self.stage.traffic.flows;
        let mut caught = Caught { payload: vec![self.stage.empty(); flows.len()], delays: Vec::new() };
        let mut data = vec![0; 1 << 16];
        while !self.stage.is_over() {
            let Ok(bytes) = self.socket.recv(&mut data) else { continue };
            let now = clock::now();
            let Some((flow, sent_ns)) = head(&data[..bytes]).filter(|(flow, _)| *flow < flows.len()) else {
                continue;
            };
            if let Some(slot) = self.stage.slot(now) {
                caught.payload[flow][slot] += bytes as u64;
            }
            if matches!(flows[flow].sends, Sends::Ping { .. }) {
                let at_ns = sent_ns.saturating_sub(self.stage.start().ns());
                caught.delays.push((flow, at_ns, now.ns().saturating_sub(sent_ns)));
            }
        }
        caught
    }
}

/// Marks datagrams as ours.
const MAGIC: u32 = 0xfa1e_f1e1;

/// Writes the head of a datagram of `flow`, sent at `now_ns`.
pub(super) fn write_head(payload: &mut [u8], flow: usize, now_ns: u64) {
    payload[..4].copy_from_slice(&MAGIC.to_be_bytes());
    payload[4..8].copy_from_slice(&(flow as u32).to_be_bytes());
    payload[8..16].copy_from_slice(&now_ns.to_be_bytes());
    payload[16..HEAD_BYTES].fill(0);
}

/// Flow and time of a datagram of ours.
fn head(payload: &[u8]) -> Option<(usize, u64)> {
    let magic = u32::from_be_bytes(*payload.first_chunk()?);
    let flow = u32::from_be_bytes(*payload.get(4..)?.first_chunk()?);
    let at_ns = u64::from_be_bytes(*payload.get(8..)?.first_chunk()?);
    (magic == MAGIC).then_some((flow as usize, at_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_tells_its_flow_and_when_it_was_sent_and_others_tell_nothing() {
        let mut payload = [7; HEAD_BYTES];
        assert_eq!(head(&payload), None);
        write_head(&mut payload, 12, 345);
        assert_eq!(head(&payload), Some((12, 345)));
        assert_eq!(head(&payload[..15]), None);
    }
}
