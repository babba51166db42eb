//! Lets packets that [control a network](of) bypass the discipline, up to a separate rate.
//!
//! A lost hello of a router takes a route down, so a flood must neither delay nor drop hellos. But
//! an unbounded bypass would let a host disguise its traffic as control. A token bucket therefore
//! bounds the bypass, as for [packets that are not IP](crate::not_ip). IP packets that exceed the
//! bucket pass through the discipline.
//!
//! **A flood of control packets**, even from forged sources, must not use up the bucket. Any source
//! may therefore use half of the burst. The other half is reserved for at most [`SOURCES`] known
//! sources, each within an equal share of the rate.
//!
//! A source is identified by an Ethernet address, an outer VLAN, an IP address and a protocol. A
//! source becomes known when [`KNOWN`] has passed since its first packet, and keeps its slot while
//! it sends. A new source thus takes nothing from a known source, unless it forges that source's
//! addresses in the same VLAN.
//!
//! Hosts send control packets too, such as ARP. Hosts get at most half of the slots; the other half
//! is for routers only. Packets that a router forwards may come from any host. Their sources are
//! never known, and share a sixteenth of the rate.

use crate::not_ip;
use fairwire_core::{Duration, Rate, Time, Transmitter};
use fairwire_wire::headers::{Fragment, Headers, Network, Ports, TCP, UDP, Version};
use std::hash::{BuildHasher, RandomState};

/// The bound on control packets of one direction.
pub struct ControlLimit {
    taken: Transmitter,
    burst: Duration,
    sent_on: Transmitter,
    keys: RandomState,
    sources: Box<[Source; SOURCES]>,
}

struct Source {
    key: u64,
    since: Time,
    seen: Time,
    taken: Transmitter,
}

/// The maximum number of known sources.
pub const SOURCES: usize = 16;
/// The time from a source's first packet until the source is known.
const KNOWN: Duration = Duration::from_secs(3);
/// The silence after which a known source gives up its slot. By then OSPF declares a neighbour dead
/// (RFC 2328, appendix C.3).
const SILENT: Duration = Duration::from_secs(40);
/// The silence after which a source that is not yet known gives up its slot. OSPF sends a hello
/// every 10 s.
const SILENT_ONCE: Duration = Duration::from_secs(12);
/// The bucket's burst, as time at its rate. The burst is at least `BURST_BYTES`.
const BURST: Duration = Duration::from_ms(10);
const BURST_BYTES: u64 = 8 * 1538;
/// The burst of one source: two full frames.
const OWN_BURST_BYTES: u64 = 2 * 1538;
/// The default rate is 1/`PART` of the link's rate, but at least `MIN_BPS`, which is enough for BFD
/// of a few routers.
const PART: u64 = 50;
const MIN_BPS: u64 = 128_000;
/// The default rate is at most 1/`MOST` of the link's rate, which matters on slow links.
const MOST: u64 = 4;

/// The default rate of control packets, on a link of `rate`.
pub fn default_rate(rate: Rate) -> Rate {
    let bps = (rate.bps() / PART).max(MIN_BPS).min(rate.bps() / MOST);
    Rate::from_bps(bps).unwrap_or(rate)
}

fn time_of(bytes: u64, rate: Rate) -> Duration {
    Duration::from_secs_f64(bytes as f64 * 8.0 / rate.bps() as f64)
}

fn part_of(rate: Rate) -> Rate {
    Rate::from_bps(rate.bps() / SOURCES as u64).unwrap_or(rate)
}

impl ControlLimit {
    /// A bound of `rate`, with no known source.
    pub fn new(rate: Rate) -> Self {
        let taken = || Transmitter::new(part_of(rate));
        let free = || Source { key: 0, since: Time::ZERO, seen: Time::ZERO, taken: taken() };
        ControlLimit {
            taken: Transmitter::new(rate),
            burst: BURST.max(time_of(BURST_BYTES, rate)),
            sent_on: taken(),
            keys: RandomState::new(),
            sources: Box::new(std::array::from_fn(|_| free())),
        }
    }

    /// Changes the bound to `rate`. Sources stay known.
    pub fn set_rate(&mut self, rate: Rate) {
        self.burst = BURST.max(time_of(BURST_BYTES, rate));
        self.taken.set_rate(rate, Duration::ZERO);
        self.sent_on.set_rate(part_of(rate), Duration::ZERO);
        self.sources.iter_mut().for_each(|source| source.taken.set_rate(part_of(rate), Duration::ZERO));
    }

    /// True if the [control](of) packet `frame`, with `bytes` on the link, may pass at `now`. If
    /// so, counts the packet.
    #[cold]
    pub fn takes(&mut self, frame: &[u8], headers: &Headers, bytes: u32, now: Time) -> bool {
        let key = self.keys.hash_one(source(frame, headers)) | 1;
        let rate = self.taken.rate();
        let kind = Kind::of(headers);
        let own_burst = time_of(OWN_BURST_BYTES, part_of(rate));
        let place = match kind {
            Kind::SentOn if self.sent_on.free_at().since(now) >= own_burst => return false,
            Kind::SentOn => None,
            Kind::Host => self.place(key, SOURCES / 2, now),
            Kind::Router => self.place(key, SOURCES, now),
        };
        let own = place.map(|place| &mut self.sources[place]);
        let has_own = |source: &Source| source.taken.free_at().since(now) < own_burst;
        let is_owed = own.as_ref().is_some_and(|own| now.since(own.since) >= KNOWN && has_own(own));
        let bound = if is_owed { self.burst } else { Duration::from_ns(self.burst.ns() / 2) };
        if self.taken.free_at().since(now) >= bound {
            return false;
        }
        take(&mut self.taken, bytes, now);
        if kind == Kind::SentOn {
            take(&mut self.sent_on, bytes, now);
        }
        if let Some(own) = own.filter(|own| has_own(own)) {
            take(&mut own.taken, bytes, now);
        }
        true
    }

    fn place(&mut self, key: u64, places: usize, now: Time) -> Option<usize> {
        let place = self.sources.iter().position(|source| source.key == key).or_else(|| {
            let is_given_up = |source: &Source| {
                let is_known = source.seen.since(source.since) >= KNOWN;
                source.key == 0 || now.since(source.seen) > if is_known { SILENT } else { SILENT_ONCE }
            };
            let place = self.sources[..places].iter().position(is_given_up)?;
            (self.sources[place].key, self.sources[place].since) = (key, now);
            Some(place)
        })?;
        self.sources[place].seen = now;
        Some(place)
    }
}

fn take(taken: &mut Transmitter, bytes: u32, now: Time) {
    taken.idle_until(now);
    taken.start(bytes, now);
}

/// The identity of a source: its Ethernet address, outer VLAN and IP address, and its packet's IP
/// protocol or EtherType.
fn source<'a>(frame: &'a [u8], headers: &Headers) -> (&'a [u8], u16, &'a [u8], u16) {
    let part = |from: usize, bytes: usize| frame.get(from..from + bytes).unwrap_or_default();
    let mac = if headers.has_ethernet { part(6, 6) } else { &[] };
    let (address, protocol) = match &headers.network {
        Some(network) => {
            let (from, bytes) = if network.version == Version::V4 { (12, 4) } else { (8, 16) };
            (part(network.offset + from, bytes), network.protocol.into())
        }
        None => (&[][..], headers.ethertype.unwrap_or(0)),
    };
    (mac, headers.outer_vlan(frame).unwrap_or(0), address, protocol)
}

const ARP: u16 = 0x0806;
const PPPOE_DISCOVERY: u16 = 0x8863;
const IGMP: u8 = 2;
const ICMPV6: u8 = 58;
const OSPF: u8 = 89;
const VRRP: u8 = 112;
/// UDP ports of BFD: one hop, echo, several hops (RFC 5881, section 4; RFC 5883, section 5).
const BFD: [u16; 2] = [3784, 3785];
const BFD_OVER_HOPS: u16 = 4784;
/// DHCP (RFC 2131, section 4.1; RFC 9915, section 7.2).
const DHCP: [u16; 4] = [67, 68, 546, 547];
/// mDNS (RFC 6762) and LLMNR (RFC 4795), which discover services.
const DISCOVERY: [u16; 2] = [5353, 5355];
/// The ICMPv6 types of MLD: query, report, done, version 2 report (RFC 9777, section 5).
const MLD: [u8; 4] = [130, 131, 132, 143];
/// The ICMPv6 types of router and neighbour discovery (RFC 4861, section 4).
const ND: std::ops::RangeInclusive<u8> = 133..=137;
/// The hop limit of a packet that no router forwarded (RFC 5082, section 3).
const NOT_SENT_ON: u8 = 255;
/// The hop limit that keeps routers from forwarding the packet.
const NOT_TO_BE_SENT_ON: u8 = 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A router or a bridge that sends to its neighbours.
    Router,
    /// Any host that sends to its neighbours: ARP, neighbour discovery, IGMP, MLD, PPPoE discovery.
    Host,
    /// Any host in the world, for packets that a router forwards: BFD over several hops, and DHCP.
    SentOn,
}

impl Kind {
    fn of(headers: &Headers) -> Self {
        let port = headers.transport.map(|transport| transport.ports.destination);
        match (&headers.network, port) {
            (Some(Network { protocol: UDP, .. }), Some(port))
                if port == BFD_OVER_HOPS || DHCP.contains(&port) =>
            {
                Kind::SentOn
            }
            (Some(Network { protocol: IGMP | ICMPV6, .. }), _) => Kind::Host,
            (None, _) if matches!(headers.ethertype, Some(ARP | PPPOE_DISCOVERY)) => Kind::Host,
            _ => Kind::Router,
        }
    }
}

/// Does `frame` control a network? [`not_ip::is_control`] covers frames that are not IP. These IP
/// packets are control packets, unless they are fragments:
///
/// - packets to link-local groups (224.0.0.0/24, ff02::/16), except TCP, mDNS and LLMNR;
/// - OSPF and IGMP with hop limit 1;
/// - VRRP, BFD and neighbour discovery with hop limit 255;
/// - BFD over several hops, MLD with hop limit 1, and DHCP.
#[inline]
pub fn of(frame: &[u8], headers: &Headers) -> bool {
    match &headers.network {
        Some(Network { protocol: TCP, .. }) => false,
        Some(network) => is_control(frame, network, headers.transport.map(|transport| transport.ports)),
        None => not_ip::is_control(frame, headers),
    }
}

#[inline]
fn is_control(frame: &[u8], network: &Network, ports: Option<Ports>) -> bool {
    let at = |from: usize| frame.get(network.offset + from).copied().unwrap_or(0);
    let (hops, is_link_group) = match network.version {
        Version::V4 => (at(8), [at(16), at(17), at(18)] == [224, 0, 0]),
        Version::V6 => (at(7), [at(24), at(25)] == [0xff, 0x02]),
    };
    if network.fragment != Fragment::Whole {
        return false;
    }
    match (network.protocol, ports) {
        (UDP, Some(Ports { source, destination })) => {
            BFD.contains(&destination) && hops == NOT_SENT_ON
                || destination == BFD_OVER_HOPS
                || DHCP.contains(&destination) && DHCP.contains(&source)
                || is_link_group && !DISCOVERY.contains(&destination)
        }
        (OSPF | IGMP, _) => is_link_group || hops == NOT_TO_BE_SENT_ON,
        (VRRP, _) => is_link_group || hops == NOT_SENT_ON,
        (ICMPV6, _) => {
            let kind = frame.get(network.payload).copied().unwrap_or(0);
            is_link_group
                || ND.contains(&kind) && hops == NOT_SENT_ON
                || MLD.contains(&kind) && hops == NOT_TO_BE_SENT_ON
        }
        _ => is_link_group,
    }
}

#[cfg(test)]
mod tests;
