//! Finds the transport header of a super-packet inside a tunnel, and every header around it that
//! has a length or a checksum.
//!
//! The kernel reports the type of the *inner* packet and, by `csum_start`, the start of its
//! transport header. [`find`] walks there from the outer header, past IP, GRE (RFC 2784, RFC 2890),
//! VXLAN (RFC 7348), Geneve (RFC 8926), PPPoE and VLAN tags.
//!
//! Like a kernel, this code copies the header of an unknown UDP tunnel onto every segment. If the
//! walk ends early, [`find`] searches for an IP header that ends at `csum_start`. This header's
//! length must agree with the enclosing packet and, in IPv4, its checksum must be correct. The
//! transport header must contain the sum of its pseudo header.

use crate::bytes::{array_at, u8_at, u16_at, write_at};
use crate::checksum::{checksum, never_zero, pseudo};
use crate::headers::{
    self, Between, ETHERTYPE_IPV4, ETHERTYPE_IPV6, Fragment, Headers, Network, Transport, UDP, Version,
};

#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) protocol: u8,
    pub(super) version: Option<Version>,
    /// The starts of the transport header and of its checksum.
    pub(super) place: Option<(usize, usize)>,
}

pub(super) struct Found {
    pub(super) network: Network,
    pub(super) transport: Transport,
    pub(super) wraps: Wraps,
}

/// Headers around a packet, outermost first.
#[derive(Clone, Copy, Default)]
pub(crate) struct Wraps {
    all: [Option<Wrap>; MAX_WRAPS],
    count: usize,
}

/// The maximum number of headers around a packet. VXLAN over PPPoE has four.
const MAX_WRAPS: usize = 8;

#[derive(Clone, Copy)]
enum Wrap {
    Ipv4 {
        at: usize,
        bytes: usize,
    },
    Ipv6 {
        at: usize,
    },
    /// `addresses` is the start of the addresses in the IP header before UDP.
    Udp {
        at: usize,
        addresses: usize,
        address_bytes: usize,
    },
    Gre {
        at: usize,
        has_checksum: bool,
        sequence: Option<usize>,
    },
    Pppoe {
        at: usize,
    },
}

impl Wraps {
    pub(super) fn of(headers: &Headers) -> Wraps {
        let mut wraps = Wraps::default();
        if let (Between::Pppoe, Some(network)) = (headers.between, headers.network) {
            let at = network.offset.saturating_sub(Between::Pppoe.bytes());
            (wraps.all[0], wraps.count) = (Some(Wrap::Pppoe { at }), 1);
        }
        wraps
    }

    #[must_use]
    fn add(&mut self, wrap: Wrap) -> bool {
        let place = self.all.get_mut(self.count);
        let has_room = place.is_some();
        if let Some(place) = place {
            *place = Some(wrap);
            self.count += 1;
        }
        has_room
    }

    pub(crate) fn start(&self) -> Option<usize> {
        self.all[0].map(|wrap| match wrap {
            Wrap::Ipv4 { at, .. }
            | Wrap::Ipv6 { at }
            | Wrap::Udp { at, .. }
            | Wrap::Gre { at, .. }
            | Wrap::Pppoe { at } => at,
        })
    }

    /// Corrects these headers in the otherwise complete `segment`, number `index` of `frame`. Inner
    /// headers come first, because outer checksums cover them.
    pub(crate) fn write(&self, frame: &[u8], segment: &mut [u8], index: usize) {
        for wrap in self.all[..self.count].iter().rev().flatten() {
            wrap.write(frame, segment, index);
        }
    }
}

impl Wrap {
    /// Corrects this header in `segment`. Earlier checks keep segments within the range of the
    /// length fields.
    fn write(self, frame: &[u8], segment: &mut [u8], index: usize) {
        let len = segment.len();
        match self {
            Wrap::Ipv4 { at, bytes } => {
                let id = u16_at(frame, at + 4).unwrap_or(0);
                write_at(segment, at + 2, ((len - at) as u16).to_be_bytes());
                write_at(segment, at + 4, id.wrapping_add(index as u16).to_be_bytes());
                write_at(segment, at + 10, [0, 0]);
                let sum = checksum(&segment[at..at + bytes]);
                write_at(segment, at + 10, sum.to_be_bytes());
            }
            Wrap::Ipv6 { at } => write_at(segment, at + 4, ((len - at - 40) as u16).to_be_bytes()),
            Wrap::Udp { at, addresses, address_bytes } => {
                write_at(segment, at + 4, ((len - at) as u16).to_be_bytes());
                if u16_at(segment, at + 6) == Some(0) {
                    return; // no checksum (RFC 768; in IPv6 tunnels: RFC 6935)
                }
                write_at(segment, at + 6, [0, 0]);
                let covered = &segment[at..];
                let pseudo =
                    pseudo(&segment[addresses..addresses + address_bytes], covered.len() as u32, UDP);
                let sum = never_zero(pseudo.with(covered).checksum());
                write_at(segment, at + 6, sum.to_be_bytes());
            }
            Wrap::Gre { at, has_checksum, sequence } => {
                if let Some(at) = sequence {
                    let first = u32::from_be_bytes(array_at(frame, at).unwrap_or_default());
                    write_at(segment, at, first.wrapping_add(index as u32).to_be_bytes());
                }
                if has_checksum {
                    write_at(segment, at + 4, [0, 0]);
                    let sum = checksum(&segment[at..]);
                    write_at(segment, at + 4, sum.to_be_bytes());
                }
            }
            Wrap::Pppoe { at } => write_at(segment, at + 4, ((len - at - 6) as u16).to_be_bytes()),
        }
    }
}

enum Next {
    Ip(Network),
    /// The Ethernet header of an inner frame.
    Ethernet(usize),
    Unknown(usize),
}

/// Finds the transport header that `wanted` describes, in a tunnel with outer `headers`. Returns
/// `None` if no header matches `wanted` completely.
pub(super) fn find(frame: &[u8], headers: &Headers, wanted: Wanted) -> Option<Found> {
    let mut walk = Walk { frame, wanted, wraps: Wraps::of(headers), end: None };
    let mut next = match headers.network {
        Some(network) => Next::Ip(network),
        None => Next::Unknown(MIN_LINK_BYTES),
    };
    for _ in 0..MAX_WRAPS {
        next = match next {
            Next::Ip(network) if walk.is_wanted(&network) => return walk.found(network),
            Next::Ip(network) => walk.past_ip(&network)?,
            Next::Ethernet(at) => walk.past_ethernet(at)?,
            Next::Unknown(from) => {
                let network = walk.search(from)?;
                return walk.found(network);
            }
        };
    }
    None
}

/// The minimum number of bytes before an unknown header: two Ethernet addresses and a type.
const MIN_LINK_BYTES: usize = 14;

struct Walk<'a> {
    frame: &'a [u8],
    wanted: Wanted,
    wraps: Wraps,
    /// The end of the outermost packet, where every inner packet must end.
    end: Option<usize>,
}

impl Walk<'_> {
    fn is_wanted(&self, network: &Network) -> bool {
        network.protocol == self.wanted.protocol
            && self.wanted.version.is_none_or(|version| version == network.version)
            && self.wanted.place.is_none_or(|(start, _)| start == network.payload)
    }

    fn fits(&self, network: &Network) -> bool {
        network.fragment == Fragment::Whole
            && !network.is_truncated
            && !network.is_length_zero
            && !network.is_source_routed
            && network.end <= self.frame.len()
            && self.end.is_none_or(|end| end == network.end)
    }

    fn found(&self, network: Network) -> Option<Found> {
        let transport = self.fits(&network).then(|| headers::transport(self.frame, &network))??;
        Some(Found { network, transport, wraps: self.wraps })
    }

    fn past_ip(&mut self, network: &Network) -> Option<Next> {
        if !self.fits(network) {
            return None;
        }
        self.end = Some(network.end);
        let (at, payload) = (network.offset, network.payload);
        let (wrap, addresses, address_bytes) = match network.version {
            Version::V4 => (Wrap::Ipv4 { at, bytes: payload.checked_sub(at)? }, at + 12, 8),
            Version::V6 => (Wrap::Ipv6 { at }, at + 8, 32),
        };
        let mut has_room = self.wraps.add(wrap);
        let next = match network.protocol {
            IP_IN_IP => Next::Ip(headers::ipv4(self.frame, payload)?),
            IPV6_IN_IP => Next::Ip(headers::ipv6(self.frame, payload)?),
            UDP => {
                has_room &= self.wraps.add(Wrap::Udp { at: payload, addresses, address_bytes });
                self.past_udp(payload)?
            }
            GRE => self.past_gre(payload)?,
            _ => Next::Unknown(payload),
        };
        has_room.then_some(next)
    }

    fn past_udp(&self, at: usize) -> Option<Next> {
        let tunnel = at + 8;
        if Some(usize::from(u16_at(self.frame, at + 4)?)) != self.end?.checked_sub(at) {
            return None;
        }
        match u16_at(self.frame, at + 2)? {
            // Only a flag identifies the VXLAN header.
            4789 | 8472 if u8_at(self.frame, tunnel)? == 0x08 => Some(Next::Ethernet(tunnel + 8)),
            6081 => {
                let first = u8_at(self.frame, tunnel).filter(|first| first >> 6 == 0)?;
                let ethertype = u16_at(self.frame, tunnel + 2)?;
                self.past_type(ethertype, tunnel + 8 + 4 * usize::from(first & 0x3f))
            }
            _ => Some(Next::Unknown(tunnel)),
        }
    }

    fn past_gre(&mut self, at: usize) -> Option<Next> {
        let flags = u16_at(self.frame, at)?;
        if flags & !(GRE_CHECKSUM | GRE_KEY | GRE_SEQUENCE) != 0 {
            return None; // another version, with other fields (RFC 2637)
        }
        let word = |flag| if flags & flag != 0 { 4 } else { 0 };
        let sequence = at + 4 + word(GRE_CHECKSUM) + word(GRE_KEY);
        let wrap = Wrap::Gre {
            at,
            has_checksum: flags & GRE_CHECKSUM != 0,
            sequence: (flags & GRE_SEQUENCE != 0).then_some(sequence),
        };
        let next = self.past_type(u16_at(self.frame, at + 2)?, sequence + word(GRE_SEQUENCE))?;
        self.wraps.add(wrap).then_some(next)
    }

    fn past_type(&self, ethertype: u16, at: usize) -> Option<Next> {
        Some(match ethertype {
            ETHERTYPE_IPV4 => Next::Ip(headers::ipv4(self.frame, at)?),
            ETHERTYPE_IPV6 => Next::Ip(headers::ipv6(self.frame, at)?),
            TRANSPARENT_ETHERNET => Next::Ethernet(at),
            _ => Next::Unknown(at),
        })
    }

    fn past_ethernet(&mut self, at: usize) -> Option<Next> {
        let within = headers::parse_at(self.frame, at);
        let Some(network) = within.network else { return Some(Next::Unknown(at + MIN_LINK_BYTES)) };
        let has_room = match within.between {
            Between::Nothing => true,
            Between::Pppoe => self.wraps.add(Wrap::Pppoe { at: network.offset - Between::Pppoe.bytes() }),
            Between::Snap => return None, // no super-packet fits the length
        };
        has_room.then_some(Next::Ip(network))
    }

    /// The IP header at or after `from` that ends where the wanted transport header starts.
    fn search(&self, from: usize) -> Option<Network> {
        let (start, field) = self.wanted.place?;
        let end = self.end.unwrap_or(self.frame.len());
        let is_it = |network: &Network| {
            network.end == end
                && self.is_wanted(network)
                && self.fits(network)
                && self.is_summed(network, field)
        };
        // The lengths of all headers and extensions are multiples of four bytes.
        let places = |lengths: core::ops::RangeInclusive<usize>| {
            lengths.step_by(4).filter_map(move |len| start.checked_sub(len)).filter(move |at| *at >= from)
        };
        let is_right = |at: usize| self.frame.get(at..start).is_some_and(|header| checksum(header) == 0);
        let v4 = || {
            places(20..=60)
                .filter(|at| is_right(*at))
                .find_map(|at| headers::ipv4(self.frame, at).filter(is_it))
        };
        let v6 = || places(40..=MAX_IPV6_BYTES).find_map(|at| headers::ipv6(self.frame, at).filter(is_it));
        match self.wanted.version {
            Some(Version::V4) => v4(),
            Some(Version::V6) => v6(),
            None => v4().or_else(v6),
        }
    }

    /// Does the transport header contain the sum of its pseudo header, as in a packet with an
    /// incomplete checksum?
    fn is_summed(&self, network: &Network, field: usize) -> bool {
        let addresses = match network.version {
            Version::V4 => network.offset + 12..network.offset + 20,
            Version::V6 => network.offset + 8..network.offset + 40,
        };
        let Some(addresses) = self.frame.get(addresses) else { return false };
        let bytes = network.end.saturating_sub(network.payload) as u32;
        let expected = pseudo(addresses, bytes, network.protocol).fold();
        u16_at(self.frame, network.payload + field) == Some(expected)
    }
}

const IP_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
const GRE_CHECKSUM: u16 = 0x8000;
const GRE_KEY: u16 = 0x2000;
const GRE_SEQUENCE: u16 = 0x1000;
/// RFC 1701, section "Protocol Type".
const TRANSPARENT_ETHERNET: u16 = 0x6558;
/// The maximum number of bytes examined for an IPv6 header and its extensions in an unknown tunnel.
const MAX_IPV6_BYTES: usize = 40 + 64 * 8;
