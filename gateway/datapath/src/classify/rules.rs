//! Finds the class of a packet.

use super::access::{Access, AccessKey, AccessTable};
use super::prefix::Prefix;
use super::table::PrefixTable;
use crate::account::renumbered;
use std::net::IpAddr;
use std::sync::Arc;

/// The fields that rules match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchFields {
    /// The inside host.
    pub inside: IpAddr,
    /// The outside host.
    pub outside: IpAddr,
    /// The link layer's names of the inside host.
    pub access: Access,
    /// The differentiated-services codepoint, 0 to 63.
    pub dscp: u8,
    /// The protocol number.
    pub protocol: u8,
    /// The inside and the outside port; `None` for fragments, and for protocols without ports.
    pub ports: Option<[u16; 2]>,
}

/// A set of ports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortSet {
    /// Port ranges, both ends included; empty for all ports.
    pub ranges: Box<[(u16, u16)]>,
    /// Ranges excluded from `ranges`.
    pub without: Box<[(u16, u16)]>,
}

impl PortSet {
    fn is_any(&self) -> bool {
        self.ranges.is_empty() && self.without.is_empty()
    }

    fn has(&self, port: Option<u16>) -> bool {
        let Some(port) = port else { return self.is_any() };
        let is_in =
            |ranges: &[(u16, u16)]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&port));
        (self.ranges.is_empty() || is_in(&self.ranges)) && !is_in(&self.without)
    }
}

/// A class's `match`. A packet must match every given field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The class.
    pub class: u32,
    /// Codepoints as a bit set; zero for all.
    pub dscp: u64,
    /// VLANs; empty for all packets.
    pub vlan: Box<[u16]>,
    /// Networks of the inside host; empty for all.
    pub inside: Box<[Prefix]>,
    /// Networks of the outside host; empty for all.
    pub outside: Box<[Prefix]>,
    /// Protocol numbers; empty for all.
    pub protocols: Box<[u8]>,
    /// Inside and outside ports.
    pub ports: [PortSet; 2],
}

impl Rule {
    fn fits(&self, fields: &MatchFields) -> bool {
        let is_in = |prefixes: &[Prefix], host| {
            prefixes.is_empty() || prefixes.iter().any(|prefix| prefix.contains(host))
        };
        (self.dscp == 0 || self.dscp >> fields.dscp & 1 == 1)
            && (self.vlan.is_empty() || fields.access.vlan.is_some_and(|vlan| self.vlan.contains(&vlan)))
            && is_in(&self.inside, fields.inside)
            && is_in(&self.outside, fields.outside)
            && (self.protocols.is_empty() || self.protocols.contains(&fields.protocol))
            && (0..2).all(|end| self.ports[end].has(fields.ports.map(|ports| ports[end])))
    }
}

/// Claims on packets, shared by both directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    prefixes: PrefixTable,
    access: AccessTable,
    rules: Arc<[Rule]>,
}

/// The prefixes and names of subscribers, each with its class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Claimed {
    /// Their networks.
    pub prefixes: Vec<(Prefix, u32)>,
    /// Their link-layer names.
    pub access: Vec<(AccessKey, u32)>,
}

impl Claims {
    /// Claims from the subscribers' prefixes and link-layer names, and from the classes' rules in
    /// order.
    pub fn new(prefixes: &[(Prefix, u32)], access: AccessTable, rules: Vec<Rule>) -> Self {
        Claims { prefixes: PrefixTable::new(prefixes), access, rules: rules.into() }
    }

    /// A copy without the claims `gone` and with the claims `new`: see [`PrefixTable::changed`] and
    /// [`AccessTable::changed`].
    pub fn changed(&self, gone: &Claimed, new: &Claimed) -> Option<Self> {
        let prefixes = match gone.prefixes == new.prefixes {
            true => self.prefixes.clone(),
            false => self.prefixes.changed(&gone.prefixes, &new.prefixes)?,
        };
        let access = self.access.changed(&gone.access, &new.access)?;
        Some(Claims { prefixes, access, rules: Arc::clone(&self.rules) })
    }

    /// Do these claims equal `other` if each class n is renumbered to `map[n]`?
    pub fn is_renumbered(&self, map: &[u32], other: &Claims) -> bool {
        let to = |class| renumbered(class, map);
        let of_rules = |rule: &Rule| Rule { class: to(rule.class), ..rule.clone() };
        self.prefixes.is_renumbered(map, &other.prefixes)
            && self.access.entries(&to) == other.access.entries(&|class| class)
            && self.rules.iter().map(of_rules).eq(other.rules.iter().cloned())
    }

    /// The first class whose rule matches `fields`, for a packet of no subscriber.
    #[inline]
    pub fn matched(&self, fields: &MatchFields) -> Option<u32> {
        self.rules.iter().find(|rule| rule.fits(fields)).map(|rule| rule.class)
    }

    /// The subscriber of a packet.
    #[inline]
    pub fn subscriber(&self, fields: &MatchFields) -> Option<u32> {
        self.prefixes.find(fields.inside).or_else(|| self.access.find(&fields.access))
    }

    /// Do all names of a packet's sender agree with `subscriber`?
    #[inline]
    pub fn agrees(&self, subscriber: u32, fields: &MatchFields) -> bool {
        self.access.agrees(subscriber, &fields.access)
    }

    /// The memory in bytes.
    pub fn memory(&self) -> usize {
        self.prefixes.memory() + self.access.memory() + size_of_val(&*self.rules)
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::AccessKey;
    use super::*;
    use crate::class_book::UNCLAIMED;

    fn fields(inside: &str, vlan: Option<u16>, dscp: u8) -> MatchFields {
        let access = Access { vlan, ..Access::default() };
        MatchFields {
            inside: inside.parse().unwrap(),
            outside: "198.51.100.1".parse().unwrap(),
            access,
            dscp,
            protocol: 17,
            ports: Some([5060, 443]),
        }
    }

    fn class(claims: &Claims, fields: &MatchFields) -> u32 {
        claims.subscriber(fields).or_else(|| claims.matched(fields)).unwrap_or(UNCLAIMED)
    }

    fn rule(class: u32) -> Rule {
        let (inside, outside) = Default::default();
        let (protocols, ports) = Default::default();
        Rule { class, dscp: 0, vlan: Box::new([]), inside, outside, protocols, ports }
    }

    #[test]
    fn addresses_precede_vlans_and_vlans_precede_rules() {
        let claims = Claims::new(
            &[("192.0.2.0/24".parse().unwrap(), 1)],
            AccessTable::new(&[(AccessKey::Vlan(100), 2)]),
            vec![Rule { dscp: 1 << 46, ..rule(3) }, Rule { dscp: 1 << 46 | 1 << 8, ..rule(4) }],
        );
        assert_eq!(class(&claims, &fields("192.0.2.9", Some(100), 46)), 1);
        assert_eq!(class(&claims, &fields("192.0.3.9", Some(100), 46)), 2);
        assert_eq!(class(&claims, &fields("192.0.3.9", Some(101), 46)), 3); // the first that matches
        assert_eq!(class(&claims, &fields("192.0.3.9", None, 8)), 4);
        assert_eq!(class(&claims, &fields("192.0.3.9", None, 0)), UNCLAIMED);
        assert_eq!(claims.subscriber(&fields("192.0.3.9", None, 46)), None);
    }

    #[test]
    fn a_rule_requires_every_part_at_any_of_its_values() {
        let both = Rule {
            vlan: [7, 8].into(),
            outside: ["198.51.100.0/25".parse().unwrap(), "2001:db8::/32".parse().unwrap()].into(),
            inside: ["192.0.2.0/28".parse().unwrap()].into(),
            ..rule(1)
        };
        let claims = Claims::new(&[], AccessTable::default(), vec![both]);
        assert_eq!(class(&claims, &fields("192.0.2.1", Some(8), 0)), 1);
        assert_eq!(class(&claims, &fields("192.0.2.1", Some(9), 0)), UNCLAIMED);
        assert_eq!(class(&claims, &fields("192.0.2.1", None, 0)), UNCLAIMED);
        assert_eq!(class(&claims, &fields("192.0.2.16", Some(8), 0)), UNCLAIMED);
        let elsewhere =
            MatchFields { outside: "198.51.100.128".parse().unwrap(), ..fields("192.0.2.1", Some(8), 0) };
        assert_eq!(class(&claims, &elsewhere), UNCLAIMED);
    }

    #[test]
    fn a_port_rule_matches_no_packet_without_ports() {
        let ports = |ranges: &[(u16, u16)], without: &[(u16, u16)]| PortSet {
            ranges: ranges.into(),
            without: without.into(),
        };
        let game = Rule {
            protocols: [17].into(),
            ports: [PortSet::default(), ports(&[], &[(443, 443)])],
            ..rule(1)
        };
        let voice =
            Rule { ports: [ports(&[(5060, 5060), (10000, 20000)], &[]), PortSet::default()], ..rule(2) };
        let claims = Claims::new(&[], AccessTable::default(), vec![game, voice]);
        let with = |protocol, ports| {
            class(&claims, &MatchFields { protocol, ports, ..fields("192.0.2.1", None, 0) })
        };
        assert_eq!(with(17, Some([3074, 3074])), 1);
        assert_eq!(with(6, Some([3074, 3074])), UNCLAIMED, "another protocol");
        assert_eq!(with(17, Some([3074, 443])), UNCLAIMED, "a port that is taken out");
        assert_eq!([20000, 20001].map(|port| with(6, Some([port, 443]))), [2, UNCLAIMED]);
        assert_eq!([6, 17].map(|protocol| with(protocol, None)), [UNCLAIMED; 2], "a fragment");
    }

    #[test]
    fn without_claims_every_packet_is_unclaimed() {
        assert_eq!(class(&Claims::default(), &fields("192.0.2.1", Some(4095), 63)), UNCLAIMED);
    }
}
