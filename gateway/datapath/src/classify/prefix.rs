//! Prefixes of addresses, in their usual notation.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A network, named by the leading bits that its addresses share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

/// Text that is not a valid prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrefixError {
    /// The text has no address.
    #[error("that is no address")]
    NoAddress,
    /// The length is not a number, or is too large.
    #[error("its length is not a whole number from 0 to {max}")]
    BadLength {
        /// The number of bits of the address.
        max: u8,
    },
    /// Bits beyond the length are set.
    #[error("bits of the host are set; the network is `{network}`")]
    HostBits {
        /// The prefix with the bits beyond its length cleared.
        network: Prefix,
    },
}

/// The first and the last address of a range, as numbers.
pub(super) type Ends<N> = (N, N);

impl Prefix {
    /// The network of `address` with `bits` leading bits.
    pub fn containing(address: IpAddr, bits: u8) -> Prefix {
        let bits = bits.min(width(address));
        let address = match address {
            IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & !host_mask4(bits))),
            IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !host_mask6(bits))),
        };
        Prefix { address, bits }
    }

    /// Its first address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The number of leading bits.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// Does the prefix contain `address`?
    #[inline]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(given)) => {
                (own.to_bits() ^ given.to_bits()) & !host_mask4(self.bits) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(given)) => {
                (own.to_bits() ^ given.to_bits()) & !host_mask6(self.bits) == 0
            }
            _ => false,
        }
    }

    /// Does one prefix contain the other?
    pub fn overlaps(&self, other: &Prefix) -> bool {
        self.contains(other.address) || other.contains(self.address)
    }

    pub(crate) fn ends4(&self) -> Option<Ends<u32>> {
        let IpAddr::V4(first) = self.address else { return None };
        Some((first.to_bits(), first.to_bits() | host_mask4(self.bits)))
    }

    pub(crate) fn ends6(&self) -> Option<Ends<u128>> {
        let IpAddr::V6(first) = self.address else { return None };
        Some((first.to_bits(), first.to_bits() | host_mask6(self.bits)))
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn host_mask4(bits: u8) -> u32 {
    u32::MAX.checked_shr(bits.into()).unwrap_or(0)
}

fn host_mask6(bits: u8) -> u128 {
    u128::MAX.checked_shr(bits.into()).unwrap_or(0)
}

impl FromStr for Prefix {
    type Err = PrefixError;

    /// Parses `10.1.0.0/16` or `2001:db8::/48`. An address without a length is a network of one
    /// address.
    fn from_str(text: &str) -> Result<Self, PrefixError> {
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| PrefixError::NoAddress)?;
        let max = width(address);
        let bits = match length {
            None => max,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().ok().filter(|bits| *bits <= max).ok_or(PrefixError::BadLength { max })?
            }
            Some(_) => return Err(PrefixError::BadLength { max }),
        };
        let network = Prefix::containing(address, bits);
        if network.address != address {
            return Err(PrefixError::HostBits { network });
        }
        Ok(network)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_read_as_they_are_written() {
        for text in ["10.1.0.0/16", "0.0.0.0/0", "192.0.2.7/32", "2001:db8::/48", "::/0", "2001:db8::1/128"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        assert_eq!("192.0.2.7".parse::<Prefix>().unwrap().to_string(), "192.0.2.7/32");
        assert_eq!("2001:db8::1".parse::<Prefix>().unwrap().bits(), 128);
    }

    #[test]
    fn a_bad_prefix_is_refused_with_the_reason() {
        let error = |text: &str| text.parse::<Prefix>().unwrap_err();
        assert_eq!(error("10.0.0.0/33"), PrefixError::BadLength { max: 32 });
        assert_eq!(error("10.0.0.0/+8"), PrefixError::BadLength { max: 32 });
        assert_eq!(error("2001:db8::/999"), PrefixError::BadLength { max: 128 });
        assert_eq!(error("10.0.0/24"), PrefixError::NoAddress);
        assert_eq!(error(""), PrefixError::NoAddress);
        assert_eq!(
            error("10.0.0.1/24").to_string(),
            "bits of the host are set; the network is `10.0.0.0/24`"
        );
        assert_eq!(
            error("2001:db8::1/64").to_string(),
            "bits of the host are set; the network is `2001:db8::/64`"
        );
    }

    #[test]
    fn a_prefix_contains_its_ends_and_no_more() {
        let prefix: Prefix = "10.1.0.0/16".parse().unwrap();
        assert!(prefix.contains("10.1.255.255".parse().unwrap()));
        assert!(!prefix.contains("10.2.0.0".parse().unwrap()));
        assert!(!prefix.contains("::ffff:10.1.0.0".parse().unwrap()));
        assert_eq!(prefix.ends4(), Some((0x0a01_0000, 0x0a01_ffff)));
        assert_eq!(prefix.ends6(), None);
        let all: Prefix = "::/0".parse().unwrap();
        assert_eq!(all.ends6(), Some((0, u128::MAX)));
        assert!(all.overlaps(&"2001:db8::/32".parse().unwrap()) && !all.overlaps(&prefix));
    }
}
