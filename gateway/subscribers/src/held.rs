//! A subscriber's temporary addresses, from leases or sessions.

use fairwire_datapath::classify::Prefix;
use std::net::IpAddr;

/// The notation of `prefix` in the column `leased`.
pub fn written(prefix: &Prefix) -> String {
    let most = if prefix.address().is_ipv4() { 32 } else { 128 };
    if prefix.bits() == most { prefix.address().to_string() } else { prefix.to_string() }
}

/// The shortest prefix lengths that one subscriber may lease: IPv4, IPv6.
const MIN_BITS: [u8; 2] = [8, 16];

/// Networks without subscribers' addresses: RFC 6890, RFC 1112 and RFC 4291.
const NO_HOSTS: [(IpAddr, u8); 7] = {
    use std::net::{Ipv4Addr as V4, Ipv6Addr as V6};
    [
        (IpAddr::V4(V4::UNSPECIFIED), 8),
        (IpAddr::V4(V4::new(127, 0, 0, 0)), 8),
        (IpAddr::V4(V4::new(169, 254, 0, 0)), 16),
        (IpAddr::V4(V4::new(224, 0, 0, 0)), 3), // multicast, and the reserved range above it
        (IpAddr::V6(V6::UNSPECIFIED), 8),
        (IpAddr::V6(V6::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
        (IpAddr::V6(V6::new(0xff00, 0, 0, 0, 0, 0, 0, 0)), 8),
    ]
};

/// Can one subscriber have this network? `0.0.0.0`, `::/0` and similar networks would take the
/// traffic of others.
pub fn is_plausible(prefix: &Prefix) -> bool {
    let fewest = MIN_BITS[usize::from(prefix.address().is_ipv6())];
    let is_of = |(address, bits): &(IpAddr, u8)| Prefix::containing(*address, *bits).overlaps(prefix);
    prefix.bits() >= fewest && !NO_HOSTS.iter().any(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implausible_addresses_are_not_leased() {
        let is_plausible = |text: &str| is_plausible(&text.parse().unwrap());
        for good in ["10.0.0.7", "198.51.100.16/29", "2001:db8:aa00::/56", "fd00::1", "100.64.0.0/10"] {
            assert!(is_plausible(good), "{good}");
        }
        for absurd in [
            "0.0.0.0",
            "::/0",
            "::",
            "::1",
            "127.0.0.1",
            "255.255.255.255",
            "239.1.1.1",
            "fe80::1",
            "64.0.0.0/2",
        ] {
            assert!(!is_plausible(absurd), "{absurd}");
        }
    }

    #[test]
    fn an_address_alone_has_no_length() {
        let written = |text: &str| written(&text.parse().unwrap());
        assert_eq!(written("10.0.0.7/32"), "10.0.0.7");
        assert_eq!(written("2001:db8::1/128"), "2001:db8::1");
        assert_eq!(written("2001:db8::/56"), "2001:db8::/56");
    }
}
