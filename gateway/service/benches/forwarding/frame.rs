//! The frames that the benchmarks send.

use fairwire_wire::checksum::checksum;

/// Bytes of a frame including its check sequence, which software never sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameBytes(pub usize);

const CHECK_SEQUENCE_BYTES: usize = 4;
const ETHERNET_BYTES: usize = 14;
/// Discard (RFC 863).
const PORT: u16 = 9;

/// A UDP frame to `mac`. `hosts` are the source and destination; `flow` is the source port.
pub(crate) fn udp(bytes: FrameBytes, mac: [u8; 6], hosts: [[u8; 4]; 2], flow: u16) -> Vec<u8> {
    let mut frame = ip(bytes, mac, hosts, flow, 17);
    let udp_bytes = (frame.len() - PORTS_AT) as u16;
    frame[PORTS_AT + 4..PORTS_AT + 6].copy_from_slice(&udp_bytes.to_be_bytes());
    frame
}

/// A TCP frame with timestamps.
#[allow(dead_code, reason = "of two programs one sends TCP")]
pub(crate) fn tcp(bytes: FrameBytes, mac: [u8; 6], hosts: [[u8; 4]; 2], flow: u16) -> Vec<u8> {
    let mut frame = ip(bytes, mac, hosts, flow, 6);
    frame[PORTS_AT + 12..PORTS_AT + 14].copy_from_slice(&[0x80, 0x10]);
    frame[PORTS_AT + 20..PORTS_AT + 24].copy_from_slice(&[1, 1, 8, 10]);
    frame
}

/// Gives a TCP frame the sequence number and the timestamp of packet `number` of its flow.
#[allow(dead_code, reason = "of two programs one sends TCP")]
pub(crate) fn goes_on(frame: &mut [u8], number: u32) {
    let payload = (frame.len() - PORTS_AT - 32) as u32;
    frame[PORTS_AT + 4..PORTS_AT + 8].copy_from_slice(&number.wrapping_mul(payload).to_be_bytes());
    frame[PORTS_AT + 24..PORTS_AT + 28].copy_from_slice(&number.to_be_bytes());
}

/// Turns a UDP frame into packet `number` of a QUIC flow. Packet 0 is a handshake. The spin bit of
/// later packets changes every 16 packets.
#[allow(dead_code, reason = "of two programs one sends QUIC")]
pub(crate) fn spins(frame: &mut [u8], number: u32) {
    let spin = (number / 16 % 2) as u8 * 0x20;
    let begin = if number == 0 { [0xc0, 0, 0, 0, 1] } else { [0x40 | spin, 0, 0, 0, 1] };
    frame[PORTS_AT + 8..PORTS_AT + 13].copy_from_slice(&begin);
}

const PORTS_AT: usize = ETHERNET_BYTES + 20;

fn ip(
    bytes: FrameBytes,
    mac: [u8; 6],
    [source, destination]: [[u8; 4]; 2],
    flow: u16,
    protocol: u8,
) -> Vec<u8> {
    let mut frame = vec![0; bytes.0 - CHECK_SEQUENCE_BYTES];
    let ip_bytes = (frame.len() - ETHERNET_BYTES) as u16;
    frame[..6].copy_from_slice(&mac);
    frame[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 0x77, 0x08, 0x00]);
    let ip = &mut frame[ETHERNET_BYTES..];
    ip[0] = 0x45;
    ip[2..4].copy_from_slice(&ip_bytes.to_be_bytes());
    ip[8] = 64;
    ip[9] = protocol;
    ip[12..16].copy_from_slice(&source);
    ip[16..20].copy_from_slice(&destination);
    let sum = checksum(&ip[..20]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    ip[20..22].copy_from_slice(&flow.to_be_bytes());
    ip[22..24].copy_from_slice(&PORT.to_be_bytes());
    frame
}
