//! Looks up the class of the longest prefix that contains an address.
//!
//! Prefixes are cut into disjoint, sorted ranges, each with the class of its longest prefix. An
//! index divides the addresses into buckets of equal size. A lookup searches only the ranges of one
//! bucket, which are few if prefixes are evenly spread.

use super::prefix::{Ends, Prefix};
use crate::account::renumbered;
use std::net::IpAddr;

/// Prefixes, each with its class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrefixTable {
    v4: Ranges<u32>,
    v6: Ranges<u128>,
    /// True if no prefix contains another. Each prefix then is one range.
    is_flat: bool,
}

impl PrefixTable {
    /// A table of `entries`. If two prefixes are equal, the later one counts.
    pub fn new(entries: &[(Prefix, u32)]) -> Self {
        let of4 = entries.iter().filter_map(|(prefix, class)| Some((prefix.ends4()?, *class)));
        let of6 = entries.iter().filter_map(|(prefix, class)| Some((prefix.ends6()?, *class)));
        let (of4, of6) = (sorted(of4.collect()), sorted(of6.collect()));
        let is_flat = is_flat(&of4) && is_flat(&of6);
        PrefixTable { v4: Ranges::new(disjoint(&of4)), v6: Ranges::new(disjoint(&of6)), is_flat }
    }

    /// A copy without the prefixes `gone` and with the prefixes `new`, made without a rebuild.
    /// `None` if prefixes nest, or a prefix of `gone` does not have the given class.
    pub fn changed(&self, gone: &[(Prefix, u32)], new: &[(Prefix, u32)]) -> Option<Self> {
        if !self.is_flat {
            return None;
        }
        let mut ranges = (self.v4.ranges.to_vec(), self.v6.ranges.to_vec());
        for (prefix, class) in gone {
            match (prefix.ends4(), prefix.ends6()) {
                (Some(ends), _) => take_out(&mut ranges.0, ends, *class)?,
                (_, Some(ends)) => take_out(&mut ranges.1, ends, *class)?,
                _ => return None,
            }
        }
        for (prefix, class) in new {
            match (prefix.ends4(), prefix.ends6()) {
                (Some(ends), _) => put_in(&mut ranges.0, ends, *class)?,
                (_, Some(ends)) => put_in(&mut ranges.1, ends, *class)?,
                _ => return None,
            }
        }
        Some(PrefixTable { v4: Ranges::new(ranges.0), v6: Ranges::new(ranges.1), is_flat: true })
    }

    pub(super) fn is_renumbered(&self, map: &[u32], other: &PrefixTable) -> bool {
        self.v4.is_renumbered(map, &other.v4) && self.v6.is_renumbered(map, &other.v6)
    }

    /// The class of the longest prefix that contains `address`.
    #[inline]
    pub fn find(&self, address: IpAddr) -> Option<u32> {
        match address {
            IpAddr::V4(address) => self.v4.find(address.to_bits()),
            IpAddr::V6(address) => self.v6.find(address.to_bits()),
        }
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.v4.ranges.is_empty() && self.v6.ranges.is_empty()
    }

    /// The memory in bytes.
    pub fn memory(&self) -> usize {
        self.v4.memory() + self.v6.memory()
    }
}

trait Address: Copy + Ord {
    const BITS: u32;
    /// The number of significant bits of `self - base`.
    fn span_bits(self, base: Self) -> u32;
    /// `(self - base) >> shift`, which must fit a `usize`.
    fn bucket(self, base: Self, shift: u32) -> usize;
    fn next(self) -> Option<Self>;
    fn previous(self) -> Option<Self>;
}

macro_rules! address {
    ($number:ty) => {
        impl Address for $number {
            const BITS: u32 = <$number>::BITS;
            fn span_bits(self, base: Self) -> u32 {
                <$number>::BITS - (self - base).leading_zeros()
            }
            #[inline]
            fn bucket(self, base: Self, shift: u32) -> usize {
                (self - base).checked_shr(shift).unwrap_or(0) as usize
            }
            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }
            fn previous(self) -> Option<Self> {
                self.checked_sub(1)
            }
        }
    };
}

address!(u32);
address!(u128);

/// 2^16 buckets take 256 KiB.
const MAX_INDEX_BITS: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range<N> {
    first: N,
    last: N,
    class: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranges<N> {
    ranges: Box<[Range<N>]>,
    /// For each bucket, the first range that ends in or after the bucket. A final entry with the
    /// last range closes the last bucket.
    index: Box<[u32]>,
    shift: u32,
}

impl<N> Default for Ranges<N> {
    fn default() -> Self {
        Ranges { ranges: Box::default(), index: Box::default(), shift: 0 }
    }
}

impl<N: Address> Ranges<N> {
    fn new(ranges: Vec<Range<N>>) -> Self {
        let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ranges::default() };
        // With twice as many buckets as ranges, evenly spread prefixes share no bucket.
        let wanted = (2 * ranges.len()).next_power_of_two().trailing_zeros().min(MAX_INDEX_BITS);
        let (base, span) = (first.first, last.last.span_bits(first.first));
        let shift = span.saturating_sub(wanted).min(N::BITS);
        let buckets = last.last.bucket(base, shift) + 1;
        let mut index = Vec::with_capacity(buckets + 1);
        let mut range = 0;
        for bucket in 0..buckets {
            while ranges[range].last.bucket(base, shift) < bucket {
                range += 1;
            }
            index.push(range as u32);
        }
        index.push(ranges.len() as u32 - 1);
        Ranges { ranges: ranges.into(), index: index.into(), shift }
    }

    fn is_renumbered(&self, map: &[u32], other: &Ranges<N>) -> bool {
        let is_same = |(one, other): (&Range<N>, &Range<N>)| {
            (one.first, one.last, renumbered(one.class, map)) == (other.first, other.last, other.class)
        };
        self.ranges.len() == other.ranges.len() && self.ranges.iter().zip(&other.ranges).all(is_same)
    }

    #[inline]
    fn find(&self, address: N) -> Option<u32> {
        let base = self.ranges.first()?.first;
        if address < base || address > self.ranges.last()?.last {
            return None;
        }
        let bucket = address.bucket(base, self.shift);
        // The address's range ends in this bucket, or is the first range that ends after the
        // bucket.
        let (low, high) = (*self.index.get(bucket)? as usize, *self.index.get(bucket + 1)? as usize);
        let candidates = self.ranges.get(low..=high)?;
        let range = candidates.get(candidates.partition_point(|range| range.last < address))?;
        (range.first <= address).then_some(range.class)
    }

    fn memory(&self) -> usize {
        size_of_val(&*self.ranges) + size_of_val(&*self.index)
    }
}

/// The first and the last address of a prefix, and its class.
type Claimed<N> = ((N, N), u32);

/// Sorts each prefix before the prefixes within it. Equal prefixes keep their order, and the last
/// wins.
fn sorted<N: Address>(mut prefixes: Vec<Claimed<N>>) -> Vec<Claimed<N>> {
    prefixes.sort_by(|((a, a_last), _), ((b, b_last), _)| a.cmp(b).then(b_last.cmp(a_last)));
    prefixes
}

fn is_flat<N: Address>(prefixes: &[Claimed<N>]) -> bool {
    prefixes.windows(2).all(|pair| pair[0].0.1 < pair[1].0.0)
}

fn take_out<N: Address>(ranges: &mut Vec<Range<N>>, (first, last): Ends<N>, class: u32) -> Option<()> {
    let place = ranges.binary_search_by(|range| range.first.cmp(&first)).ok()?;
    let is_that = ranges[place] == Range { first, last, class };
    is_that.then(|| {
        ranges.remove(place);
    })
}

fn put_in<N: Address>(ranges: &mut Vec<Range<N>>, (first, last): Ends<N>, class: u32) -> Option<()> {
    let place = ranges.partition_point(|range| range.last < first);
    let is_free = ranges.get(place).is_none_or(|range| range.first > last);
    is_free.then(|| ranges.insert(place, Range { first, last, class }))
}

/// Cuts sorted prefixes into ranges.
fn disjoint<N: Address>(prefixes: &[((N, N), u32)]) -> Vec<Range<N>> {
    let mut cut = Cut { ranges: Vec::with_capacity(prefixes.len()), open: Vec::new(), at: None };
    for &((first, last), class) in prefixes {
        cut.close_before(Some(first));
        if let (Some(&(_, outer)), Some(end)) = (cut.open.last(), first.previous()) {
            cut.emit(end, outer);
        }
        cut.at = Some(first);
        cut.open.push((last, class));
    }
    cut.close_before(None);
    cut.ranges
}

struct Cut<N> {
    ranges: Vec<Range<N>>,
    /// Prefixes that contain the current position, outermost first: the last address and the class
    /// of each.
    open: Vec<(N, u32)>,
    /// The first address not in any range yet; `None` before the first prefix and after the last
    /// address.
    at: Option<N>,
}

impl<N: Address> Cut<N> {
    fn close_before(&mut self, first: Option<N>) {
        while let Some((last, class)) = self.open.pop_if(|(last, _)| first.is_none_or(|first| *last < first))
        {
            self.emit(last, class);
        }
    }

    fn emit(&mut self, last: N, class: u32) {
        if let Some(first) = self.at.filter(|at| *at <= last) {
            self.ranges.push(Range { first, last, class });
            self.at = last.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn naive(entries: &[(Prefix, u32)], address: IpAddr) -> Option<u32> {
        let fits = entries.iter().filter(|(prefix, _)| prefix.contains(address));
        fits.max_by_key(|(prefix, _)| prefix.bits()).map(|(_, class)| *class) // the last of equals
    }

    /// Addresses close to each other, so that prefixes nest.
    fn near() -> impl Strategy<Value = IpAddr> {
        let v4 = prop_oneof![
            (0..512u32).prop_map(|low| Ipv4Addr::from_bits(0x0a00_0000 | low)),
            (0..=u32::MAX).prop_map(Ipv4Addr::from_bits),
            (0..512u32).prop_map(|low| Ipv4Addr::from_bits(u32::MAX - low)),
        ];
        let v6 = prop_oneof![
            (0..512u128, 0..4u128)
                .prop_map(|(low, high)| Ipv6Addr::from_bits(0x2001_0db8 << 96 | high << 70 | low)),
            any::<u128>().prop_map(Ipv6Addr::from_bits),
            (0..512u128).prop_map(|low| Ipv6Addr::from_bits(u128::MAX - low)),
        ];
        prop_oneof![v4.prop_map(IpAddr::V4), v6.prop_map(IpAddr::V6)]
    }

    fn prefixes() -> impl Strategy<Value = Vec<(Prefix, u32)>> {
        let prefix = (near(), 0..=128u8).prop_map(|(address, bits)| {
            let bits = if address.is_ipv4() { bits % 33 } else { bits };
            Prefix::containing(address, bits)
        });
        prop::collection::vec((prefix, 0..1000u32), 0..60)
    }

    proptest! {
        #[test]
        fn a_changed_table_equals_one_built_from_the_changed_prefixes(entries in prefixes(), new in prefixes(), class in 0..4_u32) {
            let (gone, stays): (Vec<_>, Vec<_>) = entries.iter().copied().partition(|(_, of)| *of == class);
            let then = [&stays[..], &new].concat();
            let changed = PrefixTable::new(&entries).changed(&gone, &new);
            let flat = |entries: &[(Prefix, u32)]| {
                let overlaps = |(at, (a, _)): (usize, &(Prefix, u32))| entries[..at].iter().any(|(b, _)| a.overlaps(b));
                !entries.iter().enumerate().any(overlaps)
            };
            let is_possible = flat(&entries) && flat(&then);
            prop_assert_eq!(changed, is_possible.then(|| PrefixTable::new(&then)));
            if is_possible && !gone.is_empty() {
                let wrong: Vec<_> = gone.iter().map(|(prefix, class)| (*prefix, class + 1)).collect();
                prop_assert_eq!(PrefixTable::new(&entries).changed(&wrong, &[]), None);
            }
        }

        #[test]
        fn the_table_agrees_with_a_linear_search(entries in prefixes(), addresses in prop::collection::vec(near(), 50)) {
            let table = PrefixTable::new(&entries);
            let ends = entries.iter().flat_map(|(prefix, _)| {
                let last = match (prefix.ends4(), prefix.ends6()) {
                    (Some((_, last)), _) => IpAddr::V4(Ipv4Addr::from_bits(last)),
                    (_, Some((_, last))) => IpAddr::V6(Ipv6Addr::from_bits(last)),
                    _ => unreachable!("a prefix is of one version"),
                };
                let behind = match last {
                    IpAddr::V4(last) => IpAddr::V4(Ipv4Addr::from_bits(last.to_bits().wrapping_add(1))),
                    IpAddr::V6(last) => IpAddr::V6(Ipv6Addr::from_bits(last.to_bits().wrapping_add(1))),
                };
                [prefix.address(), last, behind]
            });
            for address in addresses.iter().copied().chain(ends) {
                prop_assert_eq!(table.find(address), naive(&entries, address), "{} in {:?}", address, entries);
            }
        }
    }

    #[test]
    fn twenty_thousand_subscribers_with_two_prefixes_take_two_megabytes_at_most() {
        let entries: Vec<(Prefix, u32)> = (0..20_000u32)
            .flat_map(|n| {
                let v4 = Prefix::containing(IpAddr::V4(Ipv4Addr::from_bits(0x6440_0000 + n)), 32);
                let v6 = Prefix::containing(
                    Ipv6Addr::from_bits((0x2001_0db8_0000 + u128::from(n)) << 80).into(),
                    56,
                );
                [(v4, n + 1), (v6, n + 1)]
            })
            .collect();
        let table = PrefixTable::new(&entries);
        for (prefix, class) in &entries {
            assert_eq!(table.find(prefix.address()), Some(*class));
        }
        assert!(table.memory() <= 2_000_000, "{} bytes", table.memory());
    }

    #[test]
    fn an_empty_table_finds_nothing() {
        let table = PrefixTable::new(&[]);
        assert!(table.is_empty());
        assert_eq!(table.find(Ipv4Addr::LOCALHOST.into()), None);
        let all = PrefixTable::new(&[("::/0".parse().unwrap(), 7)]);
        assert_eq!(all.find(Ipv6Addr::from_bits(u128::MAX).into()), Some(7));
        assert_eq!(all.find(Ipv4Addr::LOCALHOST.into()), None);
    }
}
