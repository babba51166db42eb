//! Frames that carry the trace number of their packet.

use crate::trace::Arrival;
use fairwire_core::Ecn;
use fairwire_wire::checksum::checksum;

/// The address of the sending interface.
pub const SENDER: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The address of the receiving interface.
pub const RECEIVER: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// The source port of flow 0. The other flows have the next ports.
pub const FIRST_PORT: u16 = 1001;

const ETHERNET: usize = 14;
const IP: usize = 20;
const UDP: usize = 8;
const NUMBER: usize = ETHERNET + IP + UDP;

/// An IPv4 UDP packet in an Ethernet frame, with its number as payload.
///
/// # Panics
/// If the packet is too short for its headers and number, or too long for IP.
pub fn frame(number: u32, arrival: &Arrival) -> Vec<u8> {
    let mut frame = vec![0; arrival.bytes as usize];
    let flow = u8::try_from(arrival.flow).expect("few flows");
    let ip_bytes = u16::try_from(frame.len() - ETHERNET).expect("an IP packet");
    frame[..6].copy_from_slice(&RECEIVER);
    frame[6..12].copy_from_slice(&SENDER);
    frame[12..14].copy_from_slice(&0x0800_u16.to_be_bytes());
    let ip = &mut frame[ETHERNET..ETHERNET + IP];
    ip[0] = 0x45; // version 4, five words
    ip[1] = arrival.ecn as u8;
    ip[2..4].copy_from_slice(&ip_bytes.to_be_bytes());
    ip[8] = 64; // time to live
    ip[9] = 17; // UDP
    ip[12..16].copy_from_slice(&[10, 0, 0, flow + 1]);
    ip[16..20].copy_from_slice(&[10, 0, 1, 1]);
    let sum = checksum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let udp = &mut frame[ETHERNET + IP..NUMBER]; // without a checksum, which IPv4 allows (RFC 768)
    udp[..2].copy_from_slice(&(FIRST_PORT + u16::from(flow)).to_be_bytes());
    udp[2..4].copy_from_slice(&9_u16.to_be_bytes()); // discard
    udp[4..6].copy_from_slice(&(ip_bytes - IP as u16).to_be_bytes());
    frame[NUMBER..NUMBER + 4].copy_from_slice(&number.to_be_bytes());
    frame
}

/// The packet number in our frame, and the frame's current ECN codepoint; `None` for any other
/// frame.
pub fn read(frame: &[u8]) -> Option<(u32, Ecn)> {
    let headers = fairwire_wire::parse(frame);
    let transport = headers.transport?;
    let is_ours = frame.get(6..12)? == SENDER && transport.ports.destination == 9;
    let number = frame.get(transport.payload?..)?.first_chunk()?;
    is_ours.then(|| (u32::from_be_bytes(*number), headers.ecn()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_carries_its_number_its_codepoint_and_a_right_checksum() {
        let arrival = Arrival { at_ns: 0, flow: 3, bytes: 128, ecn: Ecn::Ect0 };
        let frame = frame(70_000, &arrival);
        assert_eq!(frame.len(), 128);
        assert_eq!(read(&frame), Some((70_000, Ecn::Ect0)));
        assert_eq!(checksum(&frame[ETHERNET..ETHERNET + IP]), 0);
    }

    #[test]
    fn a_frame_of_another_sender_is_not_read() {
        let arrival = Arrival { at_ns: 0, flow: 0, bytes: 128, ecn: Ecn::NotEct };
        let mut frame = frame(1, &arrival);
        frame[6] ^= 4;
        assert_eq!(read(&frame), None);
        assert_eq!(read(&[]), None);
    }
}
