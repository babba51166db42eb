//! Packets as pcapng, with synthetic headers.

use crate::output::trace::{Flow, Names, Packets};
use fairwire_scenario::{Content, PacketEvent, What};
use fairwire_wire::pcapng::{self, CWR, ECE, MAX_BLOCKS, MadeUp, SYN, Transport};
use std::collections::BTreeMap;

/// Writes frames.
pub(in crate::output) fn packets() -> Box<dyn Packets> {
    Box::new(Frames::default())
}

/// The bytes of the IPv4 and TCP headers of a synthetic segment, without options.
const TCP_IP: u32 = 40;

#[derive(Debug, Default)]
struct Frames {
    /// Frames marked but not sent yet, with the cause of the mark.
    marked: BTreeMap<u32, &'static str>,
}

impl Packets for Frames {
    fn start(&mut self, names: &Names, out: &mut Vec<u8>) {
        let program = concat!("fairwire ", env!("CARGO_PKG_VERSION"));
        pcapng::section(out, program, &names.title);
        for link in &names.links {
            for place in ["in", "out", "drop"] {
                pcapng::interface(out, &format!("{link} {place}"));
            }
        }
        pcapng::interface(out, "delivered");
    }

    fn packet(&mut self, event: &PacketEvent, names: &Names, out: &mut Vec<u8>) {
        let place = match event.what {
            What::Mark(cause) => {
                self.marked.insert(event.frame, cause.name());
                return; // reported when it leaves
            }
            What::Arrive => 0,
            What::Depart => 1,
            What::Drop(_) | What::Lost => 2,
            What::Deliver => 0,
        };
        let interface = event.link.map_or(3 * names.links.len() as u32, |link| 3 * link + place);
        let comment = match event.what {
            What::Drop(cause) => {
                self.marked.remove(&event.frame);
                Some(format!("drop: {}", cause.name()))
            }
            What::Depart => self.marked.remove(&event.frame).map(|cause| format!("mark: {cause}")),
            What::Lost => Some("lost on the wire".into()),
            What::Arrive | What::Mark(_) | What::Deliver => None,
        };
        let headers = made_up(event, &names.flows[event.flow as usize]).headers();
        pcapng::packet(out, interface, event.at, &headers, comment.as_deref());
    }
}

/// Synthetic headers. Data starts at sequence number 1, after the handshake, and every segment is
/// full.
fn made_up(event: &PacketEvent, flow: &Flow) -> MadeUp {
    let payload = u64::from(flow.data_bytes.saturating_sub(TCP_IP));
    let at = |number: u64| (1 + number * payload) as u32; // sequence numbers wrap (RFC 9293, section 3.4)
    let none = [None; MAX_BLOCKS];
    let tcp = |seq, ack, flags| Transport::Tcp { seq, ack, flags, sack: none };
    let transport = match event.content {
        Content::Datagram => Transport::Udp,
        Content::Syn => tcp(0, None, SYN),
        Content::Data { seq, cwr, .. } => tcp(at(seq), Some(1), if cwr { CWR } else { 0 }),
        Content::Ack { next, is_for_syn, ece, sack } => {
            let mut edges = none;
            for (to, range) in edges.iter_mut().zip(sack.ranges(next)) {
                *to = Some(range.map(at));
            }
            let flags = if is_for_syn { SYN } else { 0 } | if ece { ECE } else { 0 };
            Transport::Tcp { seq: u32::from(!is_for_syn), ack: Some(at(next)), flags, sack: edges }
        }
    };
    let is_reverse = matches!(event.content, Content::Ack { .. });
    MadeUp {
        flow: event.flow,
        is_reverse,
        ip_bytes: event.wire_bytes,
        dscp: flow.dscp,
        ecn: event.ecn,
        transport,
    }
}
