//! The values of the configuration that telemetry needs.

use crate::config::Config;
use fairwire_core::{Rate, RateLaw, Time, Weight};
use fairwire_datapath::account::FirstPacket;
use fairwire_datapath::class_book::{ClassBook, ClassKind};
use fairwire_datapath::classify::FlowKind;
use fairwire_wire::flow_key::Mac;
use fairwire_wire::{FlowKey, Way};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// The values of the configuration that telemetry needs.
#[derive(Clone, Debug)]
pub struct About {
    /// The gateway's name.
    pub name: String,
    /// The classes.
    pub book: Arc<ClassBook>,
    /// Both directions, by the number of the [`Way`].
    pub ways: [WayAbout; 2],
    /// The interfaces, inside first.
    pub interfaces: [String; 2],
    /// Do frames begin with the IP header, as on TUN devices?
    pub is_headless: bool,
    /// The capacity of each direction's capture ring, in events.
    pub captured: usize,
    /// The configuration, if arrivals are kept for replays.
    pub config: Option<Arc<Config>>,
}

/// The values of one direction that telemetry needs.
#[derive(Clone, Debug)]
pub struct WayAbout {
    /// The discipline's name in the catalogue; empty if the direction is not shaped.
    pub discipline: String,
    /// The link's rate in the file, bit/s; 0 if the direction is not shaped.
    pub rate_bps: u64,
    /// The rates over time that replace `rate_bps`, and their start time. A request has set these
    /// rates, or they follow the outside line.
    pub law: Option<(RateLaw, Time)>,
    /// The definition of a flow.
    pub flows: FlowKind,
    /// The most flows that are counted individually.
    pub accounts: usize,
}

impl WayAbout {
    /// The rate at `now`, bit/s; 0 if the direction is not shaped or sends nothing.
    pub(crate) fn rate_bps_at(&self, now: Time) -> u64 {
        match (&self.law, Rate::from_bps(self.rate_bps)) {
            (Some((law, start)), Some(rate)) => law.rate_after(rate, now.since(*start)).map_or(0, Rate::bps),
            _ => self.rate_bps,
        }
    }
}

/// The default capacity of a capture ring, in events.
pub(crate) const CAPTURED: u32 = 4096;

/// The default number of arrivals that each direction keeps for replays. They take 10 MB.
const ARRIVALS: u32 = 1 << 18;

/// The number of arrivals kept for replays in each direction; 0 without a page.
pub fn max_arrivals(config: &Config) -> usize {
    config.spec().telemetry.page.as_ref().map_or(0, |page| page.arrivals.unwrap_or(ARRIVALS) as usize)
}

impl About {
    /// The values of `config` that telemetry needs.
    pub fn of(config: &Arc<Config>) -> Self {
        let spec = config.spec();
        let way = |way| match config.shaping(way) {
            Some(shaping) => WayAbout {
                discipline: shaping.discipline.to_owned(),
                rate_bps: shaping.rate.bps(),
                law: None,
                flows: shaping.flows,
                accounts: config.accounts(way),
            },
            None => WayAbout {
                discipline: String::new(),
                rate_bps: 0,
                law: None,
                flows: FlowKind::FiveTuple,
                accounts: config.accounts(way),
            },
        };
        About {
            name: spec.name.clone(),
            book: config.book().clone(),
            ways: Way::ALL.map(way),
            interfaces: [spec.wire.inside.to_string(), spec.wire.outside.clone()],
            is_headless: !spec.wire.backend.link_kind().has_ethernet(),
            captured: spec.telemetry.captured.unwrap_or(CAPTURED) as usize,
            config: (max_arrivals(config) > 0).then(|| config.clone()),
        }
    }

    /// The name of a flow of `way`, made from its first packet.
    pub fn flow_name(&self, way: Way, opened: &FirstPacket) -> String {
        let key = &opened.key;
        match self.ways[way as usize].flows {
            FlowKind::FiveTuple => key.to_string(),
            FlowKind::Source => host(key, End::Source),
            FlowKind::Destination => host(key, End::Destination),
            FlowKind::Inside => host(key, inside(way)),
            FlowKind::Mac => match address(key, inside(way)) {
                Some(address) => format!("{} ({address})", Mac(opened.mac)),
                None => key.to_string(),
            },
            FlowKind::Outside => host(key, outside(way)),
            FlowKind::Subscriber => match self.book.class(opened.class) {
                Some(class) if class.kind == ClassKind::Subscriber => class.name.clone(),
                _ => host(key, inside(way)),
            },
            FlowKind::Vlan if opened.vlan == 0 => "no vlan".into(),
            FlowKind::Vlan => format!("vlan {}", opened.vlan),
            FlowKind::Dscp => format!("dscp {}", opened.dscp),
            FlowKind::Prefix(bits) => network(key, inside(way), bits.ipv4, bits.ipv6),
        }
    }

    pub(super) fn flow_weight(&self, way: Way, opened: &FirstPacket, weights: &[Weight]) -> f64 {
        let is_subscriber =
            || self.book.class(opened.class).is_some_and(|class| class.kind == ClassKind::Subscriber);
        match self.ways[way as usize].flows {
            FlowKind::Subscriber if is_subscriber() => weights[opened.class as usize].get(),
            _ => 1.0,
        }
    }
}

#[derive(Clone, Copy)]
enum End {
    Source,
    Destination,
}

fn inside(way: Way) -> End {
    match way {
        Way::Download => End::Destination,
        Way::Upload => End::Source,
    }
}

fn outside(way: Way) -> End {
    match way {
        Way::Download => End::Source,
        Way::Upload => End::Destination,
    }
}

fn address(key: &FlowKey, end: End) -> Option<IpAddr> {
    match (key, end) {
        (FlowKey::Ipv4(tuple), End::Source) => Some(tuple.source.into()),
        (FlowKey::Ipv4(tuple), End::Destination) => Some(tuple.destination.into()),
        (FlowKey::Ipv6(tuple), End::Source) => Some(tuple.source.into()),
        (FlowKey::Ipv6(tuple), End::Destination) => Some(tuple.destination.into()),
        (FlowKey::Other { .. }, _) => None,
    }
}

fn host(key: &FlowKey, end: End) -> String {
    address(key, end).map_or_else(|| key.to_string(), |address| address.to_string())
}

fn network(key: &FlowKey, end: End, ipv4: u8, ipv6: u8) -> String {
    match address(key, end) {
        None => key.to_string(),
        Some(IpAddr::V4(address)) => {
            let bits = u32::from(ipv4.min(32));
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            format!("{}/{bits}", Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        Some(IpAddr::V6(address)) => {
            let bits = u32::from(ipv6.min(128));
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            format!("{}/{bits}", Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_datapath::class_book::{Bounds, Class};
    use fairwire_wire::flow_key::{NetworkBits, Tuple};
    use fairwire_wire::headers::Ports;

    fn about(flows: FlowKind) -> About {
        let class = |name: &str, kind| Class {
            name: name.into(),
            parent: None,
            kind,
            weight: Weight::ONE,
            bounds: [Bounds::default(); 2],
            is_suspended: false,
        };
        let book =
            ClassBook::new(vec![class("unclaimed", ClassKind::Class), class("alice", ClassKind::Subscriber)]);
        let way = WayAbout { discipline: "faba".into(), rate_bps: 1, law: None, flows, accounts: 1 };
        About {
            name: "x".into(),
            book: Arc::new(book),
            ways: [way.clone(), way],
            interfaces: ["in".into(), "out".into()],
            is_headless: false,
            captured: 0,
            config: None,
        }
    }

    fn opened(class: u32) -> FirstPacket {
        let key = FlowKey::Ipv4(Tuple {
            source: [192, 0, 2, 1].into(),
            destination: [10, 1, 2, 3].into(),
            protocol: 6,
            ports: Some(Ports { source: 443, destination: 5000 }),
        });
        FirstPacket { key, class, vlan: 7, dscp: 46, mac: [2, 0, 0, 0, 0, 0x1f] }
    }

    #[test]
    fn a_flow_is_named_by_the_configured_kind() {
        use FlowKind as Flows;
        for (flows, class, download, upload) in [
            (Flows::FiveTuple, 0, "tcp 192.0.2.1:443 -> 10.1.2.3:5000", "tcp 192.0.2.1:443 -> 10.1.2.3:5000"),
            (Flows::Source, 0, "192.0.2.1", "192.0.2.1"),
            (Flows::Destination, 0, "10.1.2.3", "10.1.2.3"),
            (Flows::Inside, 0, "10.1.2.3", "192.0.2.1"),
            (Flows::Outside, 0, "192.0.2.1", "10.1.2.3"),
            (Flows::Subscriber, 1, "alice", "alice"),
            (Flows::Subscriber, 0, "10.1.2.3", "192.0.2.1"),
            (Flows::Vlan, 0, "vlan 7", "vlan 7"),
            (Flows::Dscp, 0, "dscp 46", "dscp 46"),
        ] {
            let about = about(flows);
            assert_eq!(about.flow_name(Way::Download, &opened(class)), download);
            assert_eq!(about.flow_name(Way::Upload, &opened(class)), upload);
        }
    }

    #[test]
    fn a_prefix_names_the_network_of_the_inside_host() {
        for (ipv4, name) in [(16, "10.1.0.0/16"), (32, "10.1.2.3/32"), (1, "0.0.0.0/1")] {
            let about = about(FlowKind::Prefix(NetworkBits { ipv4, ipv6: 64 }));
            assert_eq!(about.flow_name(Way::Download, &opened(0)), name);
        }
    }
}
