//! The properties of a machine that matter when its gateway is configured.

use super::super::backend::BackendKind;
use super::forwarding::is_on;
use super::{has_global_ipv6, interfaces, is_ours, sys};
use fairwire_core::Rate;
use fairwire_linux::interface::ipv4_address;
use fairwire_linux::link::{self, About};
use std::fs;
use std::net::Ipv4Addr;

/// The interfaces of this network namespace, and its routing.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The interfaces in the kernel's order, without the loopback.
    pub interfaces: Vec<Surveyed>,
    /// The interface of the default route.
    pub default_route: Option<String>,
    /// Does the kernel forward IPv4?
    pub forwards_ipv4: bool,
    /// Does the kernel forward IPv6?
    pub forwards_ipv6: bool,
}

/// An interface.
#[derive(Clone, Debug)]
pub struct Surveyed {
    /// Its name.
    pub name: String,
    /// The kernel's description of the interface.
    pub about: About,
    /// The first IPv4 address.
    pub ipv4: Option<Ipv4Addr>,
    /// Does the interface have an IPv6 address that is not link-local?
    pub has_ipv6: bool,
    /// The bridge or bond of which the interface is a port.
    pub master: Option<String>,
    /// The link speed, if the interface has one.
    pub speed: Option<Rate>,
}

impl Surveyed {
    /// Does the interface have an IPv4 address, or an IPv6 address that is not link-local?
    pub fn has_address(&self) -> bool {
        self.ipv4.is_some() || self.has_ipv6
    }
}

/// Bytes and packets that an interface received and sent since it came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Bytes received and sent, from the Ethernet header on, without frame check sequence.
    pub bytes: [u64; 2],
    /// Packets: in, out.
    pub packets: [u64; 2],
}

impl Survey {
    /// Surveys this machine without changing anything.
    pub fn take() -> Survey {
        Survey {
            interfaces: interfaces().into_iter().filter_map(surveyed).collect(),
            default_route: default_route(),
            forwards_ipv4: is_on("ipv4/ip_forward"),
            forwards_ipv6: is_on("ipv6/conf/all/forwarding"),
        }
    }

    /// The interface called `name`.
    pub fn find(&self, name: &str) -> Option<&Surveyed> {
        self.interfaces.iter().find(|interface| interface.name == name)
    }

    /// The interface that is probably outside: usually that of the default route.
    ///
    /// On a machine that does not forward, two interfaces with carrier but no address are for the
    /// gateway. The interface of the default route is then for management. If `inside` is one of
    /// the two interfaces, the other is outside. Otherwise this returns `None`.
    pub fn outside(&self, inside: Option<&str>) -> Option<&Surveyed> {
        let is_router = self.forwards_ipv4 || self.forwards_ipv6;
        let mut bare = self.bare().filter(|interface| Some(interface.name.as_str()) != inside);
        let (first, second) = (bare.next(), bare.next());
        let route = self.default_route.as_deref().and_then(|name| self.find(name));
        let route = route.filter(|interface| Some(interface.name.as_str()) != inside);
        match (first, second) {
            _ if is_router => route.or(first.filter(|_| second.is_none())),
            (Some(_), Some(_)) => None,
            (Some(other), None) if self.bare().count() == 2 => Some(other),
            (first, _) => route.or(first),
        }
    }

    /// The interface that is probably inside. Either both this interface and `outside` have an
    /// address, or neither has one.
    pub fn inside(&self, outside: &str) -> Option<&Surveyed> {
        let has_address = self.find(outside).is_some_and(Surveyed::has_address);
        let fit = |interface: &&Surveyed| {
            interface.name != outside
                && interface.about.is_ethernet
                && interface.master.is_none()
                && interface.has_address() == has_address
        };
        let mut found: Vec<&Surveyed> = self.interfaces.iter().filter(fit).collect();
        // Interfaces with carrier come first.
        found.sort_by_key(|interface| !interface.about.is_running);
        found.first().copied()
    }

    /// The back end for two interfaces: `router` if both have addresses, otherwise `af-packet`.
    pub fn backend(&self, inside: &str, outside: &str) -> BackendKind {
        let has_address = |name: &str| self.find(name).is_some_and(Surveyed::has_address);
        match has_address(inside) && has_address(outside) {
            true => BackendKind::Router,
            false => BackendKind::AfPacket,
        }
    }

    fn bare(&self) -> impl Iterator<Item = &Surveyed> {
        let is_bare = |interface: &&Surveyed| {
            let about = interface.about;
            about.is_ethernet && about.is_running && !interface.has_address() && interface.master.is_none()
        };
        self.interfaces.iter().filter(is_bare)
    }
}

/// The counters of `name`; `None` if there is no such interface.
pub fn counted(name: &str) -> Option<Counted> {
    let text = fs::read_to_string("/proc/self/net/dev").ok()?;
    parse_counted(&text, name)
}

/// Parses a line of `net/dev` (proc(5)): bytes and packets received, six other numbers, bytes and
/// packets sent.
fn parse_counted(text: &str, name: &str) -> Option<Counted> {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'))?;
    let fields: Vec<u64> = line.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let at = |place: usize| fields.get(place).copied();
    Some(Counted { bytes: [at(0)?, at(8)?], packets: [at(1)?, at(9)?] })
}

fn surveyed(name: String) -> Option<Surveyed> {
    let about = super::about(&name)?;
    if about.is_loopback {
        return None;
    }
    let speed = fs::read_to_string(sys(&name, "speed")).ok().filter(|_| is_ours(&name));
    // The kernel reports -1 if the interface has no speed.
    let speed = speed.and_then(|text| text.trim().parse::<u64>().ok()).filter(|mbps| *mbps > 0);
    Some(Surveyed {
        ipv4: ipv4_address(&name).ok().flatten(),
        has_ipv6: has_global_ipv6(&name),
        master: about.master.and_then(|master| link::name_of(master).ok().flatten()),
        speed: speed.and_then(|mbps| Rate::from_bps(mbps.checked_mul(1_000_000)?)),
        about,
        name,
    })
}

fn default_route() -> Option<String> {
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    route4(&read("/proc/self/net/route")).or_else(|| route6(&read("/proc/self/net/ipv6_route")))
}

fn route4(text: &str) -> Option<String> {
    let default = |line: &str| -> Option<(u32, String)> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_default = *fields.get(1)? == "00000000" && *fields.get(7)? == "00000000";
        is_default.then_some((fields.get(6)?.parse().ok()?, (*fields.first()?).to_owned()))
    };
    text.lines().skip(1).filter_map(default).min_by_key(|(metric, _)| *metric).map(|(_, name)| name)
}

/// The interface of the IPv6 default route. Routes through the loopback refuse packets, and are
/// skipped.
fn route6(text: &str) -> Option<String> {
    let default = |line: &str| -> Option<(u32, String)> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_default = fields.first()?.bytes().all(|digit| digit == b'0') && *fields.get(1)? == "00";
        let name = *fields.last()?;
        let metric = u32::from_str_radix(fields.get(5)?, 16).ok()?;
        (is_default && name != "lo").then(|| (metric, name.to_owned()))
    };
    text.lines().filter_map(default).min_by_key(|(metric, _)| *metric).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str, ipv4: Option<&str>, is_running: bool) -> Surveyed {
        Surveyed {
            name: name.to_owned(),
            about: About { is_ethernet: true, is_up: is_running, is_running, ..About::default() },
            ipv4: ipv4.map(|address| address.parse().unwrap()),
            has_ipv6: false,
            master: None,
            speed: None,
        }
    }

    fn names(survey: &Survey) -> (String, String, BackendKind) {
        let outside = survey.outside(None).unwrap().name.clone();
        let inside = survey.inside(&outside).unwrap().name.clone();
        let backend = survey.backend(&inside, &outside);
        (inside, outside, backend)
    }

    #[test]
    fn a_router_has_its_default_route_outside_and_another_address_inside() {
        let port = Surveyed { master: Some("br0".into()), ..interface("lan1", None, true) };
        let survey = Survey {
            interfaces: vec![
                port,
                interface("old0", Some("10.9.0.1"), false),
                interface("br0", Some("192.168.1.1"), true),
                interface("wan0", Some("203.0.113.5"), true),
            ],
            default_route: Some("wan0".into()),
            ..Survey::default()
        };
        assert_eq!(names(&survey), ("br0".into(), "wan0".into(), BackendKind::Router));
    }

    #[test]
    fn a_bump_has_two_interfaces_without_addresses() {
        let survey = Survey {
            interfaces: vec![
                interface("a", None, true),
                interface("b", None, true),
                interface("management", Some("10.0.0.2"), true),
            ],
            default_route: Some("management".into()),
            ..Survey::default()
        };
        assert!(survey.outside(None).is_none(), "nothing shows which of the two is outside");
        assert_eq!(survey.outside(Some("a")).unwrap().name, "b", "the other one");
        assert_eq!(survey.inside("b").unwrap().name, "a");
        assert_eq!(survey.backend("a", "b"), BackendKind::AfPacket);
        let router = Survey { forwards_ipv4: true, ..survey };
        assert_eq!(router.outside(None).unwrap().name, "management");
        assert!(Survey::default().outside(None).is_none());
    }

    #[test]
    fn the_default_route_has_the_smallest_metric() {
        let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";
        let text = format!(
            "{head}lan0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n\
             lte0\t00000000\t0100000A\t0003\t0\t0\t700\t00000000\t0\t0\t0\n\
             wan0\t00000000\t0100A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        );
        assert_eq!(route4(&text).as_deref(), Some("wan0"));
        assert_eq!(route4(head), None);
        let zeros = "0".repeat(32);
        let line = |metric: &str, name: &str| {
            format!("{zeros} 00 {zeros} 00 {zeros} {metric} 00000001 00000000 00200200 {name:>8}\n")
        };
        let text = line("ffffffff", "lo") + &line("00000400", "wan6");
        assert_eq!(route6(&text).as_deref(), Some("wan6"));
    }

    #[test]
    fn counters_are_found_by_the_full_name() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes packets\n  wan10: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n\
                    \u{20}  wan1:1500 2 0 0 0 0 0 0 300 4 0 0 0 0 0 0\n";
        assert_eq!(parse_counted(text, "wan1"), Some(Counted { bytes: [1500, 300], packets: [2, 4] }));
        assert_eq!(parse_counted(text, "wan"), None);
    }
}
