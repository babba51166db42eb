//! Lets frames that are not IP bypass the discipline, up to a separate rate.
//!
//! ARP, STP, LLDP, LACP and EAPOL keep a link alive and must not wait in a full queue. But with an
//! unbounded bypass, a sender would choose an EtherType to avoid the shaper, so a token bucket
//! bounds the bypass. Half of the burst is reserved for [control frames](is_control) against a
//! flood of other EtherTypes.

use fairwire_core::{Duration, Rate, Time, Transmitter};
use fairwire_wire::headers::Headers;

/// The bound on frames of one direction that are not IP.
pub struct NotIpLimit {
    taken: Transmitter,
    burst: Duration,
}

/// The bucket's burst, as time at its rate. The burst is at least [`BURST_BYTES`].
const BURST: Duration = Duration::from_ms(10);
/// Eight full frames. At a low rate, even one frame takes longer than [`BURST`].
const BURST_BYTES: u64 = 8 * 1538;
/// The default rate is 1/`PART` of the link's rate, but at least [`MIN_BPS`], which is enough for
/// ARP of a few hosts.
const PART: u64 = 100;
const MIN_BPS: u64 = 64_000;

/// The default rate of frames that are not IP, on a link of `rate`.
pub fn default_rate(rate: Rate) -> Rate {
    let bps = (rate.bps() / PART).max(MIN_BPS).min(rate.bps());
    Rate::from_bps(bps).unwrap_or(rate)
}

impl NotIpLimit {
    /// A bound of `rate`.
    pub fn new(rate: Rate) -> Self {
        let frames = Duration::from_secs_f64(BURST_BYTES as f64 * 8.0 / rate.bps() as f64);
        NotIpLimit { taken: Transmitter::new(rate), burst: BURST.max(frames) }
    }

    /// May a frame of `bytes` pass at `now`? If so, counts it.
    pub fn takes(&mut self, bytes: u32, is_control: bool, now: Time) -> bool {
        let ahead = self.taken.free_at().since(now);
        let bound = if is_control { self.burst } else { Duration::from_ns(self.burst.ns() / 2) };
        let is_taken = ahead < bound;
        if is_taken {
            self.taken.idle_until(now);
            self.taken.start(bytes, now);
        }
        is_taken
    }
}

/// ARP, reverse ARP, PPPoE discovery, EAPOL, slow protocols (LACP, OAM), LLDP, connectivity fault
/// management (CFM), PTP, MRP and MVRP.
const CONTROL: [u16; 10] = [0x0806, 0x8035, 0x8863, 0x888e, 0x8809, 0x88cc, 0x8902, 0x88f7, 0x88f5, 0x88f6];
const PPPOE_SESSION: u16 = 0x8864;

/// True if `frame`, which is not IP, keeps a link or a session alive. Such frames have certain
/// EtherTypes, or a reserved bridge address as receiver (IEEE 802.1Q, table 8-1), or are PPPoE
/// session frames without IP.
pub fn is_control(frame: &[u8], headers: &Headers) -> bool {
    let is_reserved =
        headers.has_ethernet && matches!(frame, [0x01, 0x80, 0xc2, 0, 0, last, ..] if *last < 0x30);
    match headers.ethertype {
        Some(PPPOE_SESSION) => is_ppp_control(frame, headers),
        Some(ethertype) => is_reserved || CONTROL.contains(&ethertype),
        None => is_reserved,
    }
}

/// Protocols for negotiation or control have numbers from 8000 (hexadecimal) on (RFC 1661, section
/// 2).
fn is_ppp_control(frame: &[u8], headers: &Headers) -> bool {
    let protocol = 14 + usize::from(headers.vlan_tags) * 4 + 6;
    frame.get(protocol).is_some_and(|high| *high >= 0x80)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_wire::headers::parse;

    fn frame(destination: [u8; 6], after: &[u8]) -> Vec<u8> {
        [&destination[..], &[2, 0, 0, 0, 0, 1], after, &[0; 46]].concat()
    }

    fn is_control_of(destination: [u8; 6], after: &[u8]) -> bool {
        let frame = frame(destination, after);
        is_control(&frame, &parse(&frame))
    }

    #[test]
    fn keep_alive_frames_are_recognized() {
        let any = [2, 0, 0, 0, 0, 2];
        let bridges = [0x01, 0x80, 0xc2, 0, 0, 0];
        assert!(is_control_of([0xff; 6], &[0x08, 0x06]), "ARP");
        assert!(is_control_of([0xff; 6], &[0x81, 0x00, 0, 5, 0x08, 0x06]), "ARP in a VLAN");
        assert!(is_control_of(bridges, &[0, 38, 0x42, 0x42, 3]), "STP");
        assert!(is_control_of([0x01, 0x80, 0xc2, 0, 0, 2], &[0x88, 0x09]), "LACP");
        assert!(is_control_of(any, &[0x88, 0x8e]), "EAPOL");
        assert!(is_control_of(any, &[0x88, 0x63]), "PPPoE discovery");
        assert!(is_control_of(any, &[0x88, 0x64, 0x11, 0, 0, 1, 0, 10, 0xc0, 0x21]), "LCP");
        assert!(
            !is_control_of(any, &[0x88, 0x64, 0x11, 0, 0, 1, 0, 10, 0x00, 0xfd]),
            "compressed data in PPPoE"
        );
        assert!(!is_control_of(any, &[0x88, 0x47]), "MPLS");
        assert!(!is_control_of(any, &[0x12, 0x34]));
        assert!(!is_control_of(any, &[0, 38, 0xaa, 0xaa, 3]), "LLC to a host");
        for len in 0..24 {
            let frame = &frame(any, &[0x88, 0x64, 0x11])[..len];
            is_control(frame, &parse(frame)); // a truncated frame does no harm
        }
    }

    #[test]
    fn a_flood_is_limited_and_leaves_control_its_own_rate() {
        let mut limit = NotIpLimit::new(Rate::from_bps(1_000_000).expect("not zero"));
        let (mut flood, mut control, mut refused) = (0_u64, 0, 0);
        for ms in 0..10_000 {
            let now = Time::ZERO + Duration::from_ms(ms);
            for _ in 0..10 {
                flood += if limit.takes(1538, false, now) { 1538 } else { 0 };
            }
            if ms % 10 == 0 {
                let is_taken = limit.takes(84, true, now);
                control += u64::from(is_taken);
                refused += u64::from(!is_taken);
            }
        }
        assert_eq!((control, refused), (1000, 0), "100 ARP frames a second beside a flood of 123 Mbit/s");
        let all = flood + control * 84;
        // The burst is eight full frames, and one more frame may exceed it.
        let most = 1_250_000 + 9 * 1538;
        assert!(all <= most && all > 1_230_000, "{all} bytes");
    }

    #[test]
    fn other_protocols_get_a_hundredth_of_a_link_and_on_a_slow_one_enough_for_arp() {
        let of = |bps| default_rate(Rate::from_bps(bps).expect("not zero")).bps();
        assert_eq!([of(50_000_000), of(1_000_000), of(10_000)], [500_000, 64_000, 10_000]);
    }
}
