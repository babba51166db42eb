//! Recognizes a subscriber by PPPoE session, VLAN tags or Ethernet address.

use crate::probing::next_to_move;
use std::fmt;

/// The link-layer names that must agree with an upload's subscriber; otherwise, the upload is
/// spoofed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// The frame has all of the subscriber's names and no name of another subscriber.
    #[default]
    Strict,
    /// The frame has the subscriber's Ethernet address and no name of another subscriber. For
    /// networks that strip tags and sessions before the gateway.
    Mac,
    /// Names may be absent or disagree: the inside address decides, if it belongs to a subscriber.
    Loose,
}

/// The link layer's names for a packet's inside host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The identifier of the outer VLAN.
    pub vlan: Option<u16>,
    /// The identifier of the inner VLAN (IEEE 802.1ad, "QinQ").
    pub inner_vlan: Option<u16>,
    /// The identifier of the PPPoE session.
    pub pppoe: Option<u16>,
    /// The inside host's Ethernet address.
    pub mac: Option<[u8; 6]>,
}

/// One link-layer name of a subscriber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKey {
    /// A PPPoE session.
    Pppoe(u16),
    /// Inner VLAN.
    InnerVlan {
        /// The outer VLAN.
        outer: u16,
        /// The inner one.
        inner: u16,
    },
    /// An outer VLAN.
    Vlan(u16),
    /// An Ethernet address.
    Mac([u8; 6]),
}

impl AccessKey {
    /// The number of key types. `kind` orders them by precedence: narrower types first.
    const KINDS: usize = 4;

    fn kind(self) -> usize {
        match self {
            AccessKey::Pppoe(_) => 0,
            AccessKey::InnerVlan { .. } => 1,
            AccessKey::Vlan(_) => 2,
            AccessKey::Mac(_) => 3,
        }
    }

    /// The key's column in the subscriber file.
    pub fn column(self) -> &'static str {
        match self {
            AccessKey::Pppoe(_) => "pppoe",
            AccessKey::InnerVlan { .. } => "inner_vlan",
            AccessKey::Vlan(_) => "vlan",
            AccessKey::Mac(_) => "mac",
        }
    }

    /// A unique number for each key, never 0.
    fn number(self) -> u64 {
        let value = match self {
            AccessKey::Pppoe(session) => u64::from(session),
            AccessKey::InnerVlan { outer, inner } => u64::from(outer) << 16 | u64::from(inner),
            AccessKey::Vlan(vlan) => u64::from(vlan),
            AccessKey::Mac([a, b, c, d, e, f]) => u64::from_be_bytes([0, 0, a, b, c, d, e, f]),
        };
        (self.kind() as u64 + 1) << 56 | value
    }
}

impl fmt::Display for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessKey::Pppoe(number) | AccessKey::Vlan(number) => write!(f, "{number}"),
            AccessKey::InnerVlan { outer, inner } => write!(f, "{inner} in the outer VLAN {outer}"),
            AccessKey::Mac(octets) => {
                let text: Vec<String> = octets.iter().map(|octet| format!("{octet:02x}")).collect();
                f.write_str(&text.join(":"))
            }
        }
    }
}

/// Parses six hexadecimal octets, separated by `:` or `-`.
pub fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let separator = if text.contains('-') { '-' } else { ':' };
    let mut mac = [0; 6];
    let mut parts = text.split(separator);
    for octet in &mut mac {
        let part = parts.next().filter(|part| part.len() == 2)?;
        // `from_str_radix` would accept a sign.
        if !part.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *octet = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

/// Subscribers by link-layer name: a table with open addressing, at most half full.
///
/// Keys come only from the configuration, so no sender can lengthen chains.
#[derive(Clone, Debug, Default)]
pub struct AccessTable {
    /// The number and the class of each key; number 0 is an empty slot.
    slots: Box<[(u64, u32)]>,
    count: usize,
    has: [bool; AccessKey::KINDS],
    /// The types of keys of each class, one bit per type.
    bound: Vec<u8>,
    bind: Bind,
}

impl PartialEq for AccessTable {
    /// Compares the entries without their slots, which depend on the insertion order.
    fn eq(&self, other: &Self) -> bool {
        self.bind == other.bind && self.entries(&|class| class) == other.entries(&|class| class)
    }
}

impl AccessTable {
    /// Sets the names that must agree.
    #[must_use]
    pub fn binding(self, bind: Bind) -> Self {
        AccessTable { bind, ..self }
    }

    /// A table of `entries` in any order, with [`Bind::Strict`]. If keys are equal, the lowest
    /// class number counts.
    pub fn new(entries: &[(AccessKey, u32)]) -> Self {
        let mut entries = entries.to_vec();
        entries.sort_unstable();
        let mut table = AccessTable::default();
        table.grow(entries.len());
        for (key, class) in entries {
            table.put_in(key, class);
        }
        table
    }

    /// A copy without the keys `gone` and with the keys `new`. `None` if a key of `gone` does not
    /// have the given class, or a key of `new` is present.
    pub fn changed(&self, gone: &[(AccessKey, u32)], new: &[(AccessKey, u32)]) -> Option<Self> {
        let mut table = self.clone();
        for (key, class) in gone {
            if table.class(Some(*key)) != Some(*class) {
                return None;
            }
            table.take_out(*key, *class);
        }
        for (key, class) in new {
            if table.class(Some(*key)).is_some() {
                return None;
            }
            table.grow(table.count + 1);
            table.put_in(*key, *class);
        }
        Some(table)
    }

    pub(super) fn entries(&self, number: &dyn Fn(u32) -> u32) -> Vec<(u64, u32)> {
        let taken = self.slots.iter().filter(|(key, _)| *key != 0);
        let mut entries: Vec<(u64, u32)> = taken.map(|(key, class)| (*key, number(*class))).collect();
        entries.sort_unstable();
        entries
    }

    fn grow(&mut self, count: usize) {
        if count * 2 <= self.slots.len() {
            return;
        }
        let slots = vec![(0, 0); (count * 2).next_power_of_two()].into();
        for (number, class) in
            std::mem::replace(&mut self.slots, slots).into_iter().filter(|slot| slot.0 != 0)
        {
            let place = self.slot(number);
            self.slots[place] = (number, class);
        }
    }

    fn put_in(&mut self, key: AccessKey, class: u32) {
        self.has[key.kind()] = true;
        self.bound.resize(self.bound.len().max(class as usize + 1), 0);
        self.bound[class as usize] |= 1 << key.kind();
        let place = self.slot(key.number());
        if self.slots[place].0 == 0 {
            self.slots[place] = (key.number(), class);
            self.count += 1;
        }
    }

    /// Removes a key of `class`. A class has at most one key of each type.
    fn take_out(&mut self, key: AccessKey, class: u32) {
        self.bound[class as usize] &= !(1 << key.kind());
        let (mut free, last) = (self.slot(key.number()), self.slots.len() - 1);
        let first = |table: &Self, slot: usize| {
            let (number, _) = table.slots[slot];
            (number != 0).then(|| table.place(number))
        };
        while let Some(slot) = next_to_move(free, last, |slot| first(self, slot)) {
            self.slots[free] = self.slots[slot];
            free = slot;
        }
        self.slots[free] = (0, 0);
        self.count -= 1;
    }

    fn slot(&self, number: u64) -> usize {
        let mut place = self.place(number);
        while self.slots[place].0 != 0 && self.slots[place].0 != number {
            place = (place + 1) & (self.slots.len() - 1);
        }
        place
    }

    /// The subscriber's class. Names are tried in this order: PPPoE session, both VLANs, outer
    /// VLAN, Ethernet address.
    #[inline]
    pub fn find(&self, access: &Access) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let inner = || Some(AccessKey::InnerVlan { outer: access.vlan?, inner: access.inner_vlan? });
        self.class(access.pppoe.map(AccessKey::Pppoe))
            .or_else(|| self.class(inner()))
            .or_else(|| self.class(access.vlan.map(AccessKey::Vlan)))
            .or_else(|| self.class(access.mac.map(AccessKey::Mac)))
    }

    /// Do a frame's names agree with `class`, as far as [`Bind`] requires? An outer VLAN does not
    /// count if the inner VLAN belongs to a subscriber.
    #[inline]
    pub fn agrees(&self, class: u32, access: &Access) -> bool {
        if self.slots.is_empty() || self.bind == Bind::Loose {
            return true;
        }
        let Access { vlan, inner_vlan, pppoe, mac } = *access;
        let inner = vlan.zip(inner_vlan).map(|(outer, inner)| AccessKey::InnerVlan { outer, inner });
        let session = self.class(pppoe.map(AccessKey::Pppoe));
        let line = self.class(inner).or_else(|| self.class(vlan.map(AccessKey::Vlan)));
        let device = self.class(mac.map(AccessKey::Mac));
        let shown = if self.bind == Bind::Strict { u8::MAX } else { 1 << AccessKey::Mac([0; 6]).kind() };
        let bound = self.bound.get(class as usize).copied().unwrap_or(0) & shown;
        let fits = |found: Option<u32>, kinds: u8| match found {
            Some(found) => found == class,
            None => bound & kinds == 0,
        };
        fits(session, 1) && fits(line, 1 << 1 | 1 << 2) && fits(device, 1 << 3)
    }

    fn class(&self, key: Option<AccessKey>) -> Option<u32> {
        let key = key.filter(|key| self.has[key.kind()])?;
        let (found, class) = self.slots[self.slot(key.number())];
        (found != 0).then_some(class)
    }

    /// The first slot of a key: multiplicative hashing (Knuth, The Art of Computer Programming,
    /// volume 3, section 6.4).
    fn place(&self, number: u64) -> usize {
        let bits = self.slots.len().trailing_zeros();
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    /// Bytes of memory.
    pub fn memory(&self) -> usize {
        size_of_val(&*self.slots) + self.bound.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn key() -> impl Strategy<Value = AccessKey> {
        prop_oneof![
            (0..64u16).prop_map(AccessKey::Pppoe),
            (1..8u16, 1..8u16).prop_map(|(outer, inner)| AccessKey::InnerVlan { outer, inner }),
            (1..64u16).prop_map(AccessKey::Vlan),
            (0..64u8).prop_map(|last| AccessKey::Mac([2, 0, 0, 0, 0, last])),
        ]
    }

    proptest! {
        #[test]
        fn the_table_agrees_with_a_map(entries in prop::collection::vec((key(), 0..1000u32), 0..99), wanted in key()) {
            let mut map = HashMap::new();
            for (key, class) in &entries {
                let least = map.entry(*key).or_insert(*class);
                *least = (*least).min(*class);
            }
            let table = AccessTable::new(&entries);
            let reversed: Vec<_> = entries.iter().rev().copied().collect();
            prop_assert_eq!(&AccessTable::new(&reversed), &table, "a reload would find another");
            prop_assert_eq!(if entries.is_empty() { None } else { table.class(Some(wanted)) }, map.get(&wanted).copied());
            for (key, class) in map {
                prop_assert_eq!(table.class(Some(key)), Some(class));
            }
        }

        #[test]
        fn a_changed_table_equals_one_built_so(
            changes in prop::collection::vec((key(), 0..1000u32), 0..300),
            bind in prop_oneof![Just(Bind::Strict), Just(Bind::Mac)],
            access in (prop::option::of(0..8u16), prop::option::of(0..8u16), 0..64u8),
        ) {
            let mut map: HashMap<AccessKey, u32> = HashMap::new();
            let mut table = AccessTable::default().binding(bind);
            for (key, class) in changes {
                let has_that_kind = |(other, of): (&AccessKey, &u32)| *of == class && other.kind() == key.kind();
                match map.remove(&key) {
                    Some(was) => {
                        prop_assert!(table.changed(&[(key, was + 1)], &[]).is_none(), "it is of another");
                        prop_assert!(table.changed(&[], &[(key, class)]).is_none(), "it is there already");
                        table = table.changed(&[(key, was)], &[]).expect("it is there");
                    }
                    None if map.iter().any(has_that_kind) => {}
                    None => {
                        table = table.changed(&[], &[(key, class)]).expect("it is not there");
                        map.insert(key, class);
                    }
                }
            }
            let all: Vec<(AccessKey, u32)> = map.into_iter().collect();
            let made = AccessTable::new(&all).binding(bind);
            prop_assert_eq!(&table, &made);
            let access = Access { vlan: access.0, inner_vlan: access.1, pppoe: None, mac: Some([2, 0, 0, 0, 0, access.2]) };
            prop_assert_eq!(table.find(&access), made.find(&access));
            for class in 0..1000 {
                prop_assert_eq!(table.agrees(class, &access), made.agrees(class, &access));
            }
        }
    }

    #[test]
    fn the_most_specific_key_counts_first() {
        let mac = [2, 0, 0, 0, 0, 7];
        let access = Access { vlan: Some(100), inner_vlan: Some(7), pppoe: Some(9), mac: Some(mac) };
        let all = [
            (AccessKey::Mac(mac), 4),
            (AccessKey::Vlan(100), 3),
            (AccessKey::InnerVlan { outer: 100, inner: 7 }, 2),
            (AccessKey::Pppoe(9), 1),
        ];
        for left in (1..=4).rev() {
            assert_eq!(AccessTable::new(&all[..left]).find(&access), Some(5 - left as u32));
        }
        assert_eq!(AccessTable::new(&all).find(&Access::default()), None);
        assert_eq!(AccessTable::default().find(&access), None);
        let other = Access { vlan: Some(101), inner_vlan: Some(7), ..Access::default() };
        assert_eq!(AccessTable::new(&all).find(&other), None);
    }

    #[test]
    fn sender_keys_must_agree_as_far_as_they_are_bound() {
        let [ann, bob] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
        // Class 1 is Ann, 2 is Bob, and 3 is Cid, whose VLAN is within Ann's.
        let entries = [
            (AccessKey::Vlan(101), 1),
            (AccessKey::Mac(ann), 1),
            (AccessKey::Pppoe(7), 2),
            (AccessKey::InnerVlan { outer: 101, inner: 5 }, 3),
        ];
        let table = |bind| AccessTable::new(&entries).binding(bind);
        let of = |vlan, inner_vlan, pppoe, mac| Access { vlan, inner_vlan, pppoe, mac: Some(mac) };
        for (class, access, strict, mac, why) in [
            (1, of(Some(101), None, None, ann), true, true, "her own"),
            (1, of(None, None, None, ann), false, true, "without her tag"),
            (1, of(Some(101), None, None, bob), false, false, "from another device"),
            (1, of(Some(102), None, None, ann), false, true, "in an unknown VLAN"),
            (2, of(None, None, Some(7), bob), true, true, "his own; his device is in no row"),
            (2, of(Some(101), None, Some(7), bob), false, false, "his session in her VLAN"),
            (2, of(None, None, Some(7), ann), false, false, "his session from her device"),
            (2, of(None, None, None, bob), false, true, "without his session"),
            (3, of(Some(101), Some(5), None, bob), true, true, "his line, whose outer VLAN is hers"),
            (1, of(Some(101), Some(5), None, ann), false, false, "her device on his line"),
            (4, of(None, None, None, bob), true, true, "by an address alone"),
            (4, of(None, None, None, ann), false, false, "his address from her device"),
        ] {
            assert_eq!(table(Bind::Strict).agrees(class, &access), strict, "strict: {class}, {why}");
            assert_eq!(table(Bind::Mac).agrees(class, &access), mac, "mac: {class}, {why}");
            assert!(table(Bind::Loose).agrees(class, &access), "loose: {class}, {why}");
        }
        assert!(AccessTable::default().agrees(1, &Access::default()));
    }

    #[test]
    fn an_ethernet_address_has_six_parts_of_two_digits() {
        assert_eq!(parse_mac("02:00:5e:00:53:Af"), Some([2, 0, 0x5e, 0, 0x53, 0xaf]));
        assert_eq!(parse_mac("02-00-5e-00-53-af"), Some([2, 0, 0x5e, 0, 0x53, 0xaf]));
        for text in [
            "",
            "02:00:5e:00:53",
            "02:00:5e:00:53:af:01",
            "2:0:5e:0:53:af",
            "02:00:5e:00:53:+f",
            "02-00:5e-00-53-af",
        ] {
            assert_eq!(parse_mac(text), None, "{text}");
        }
        assert_eq!(AccessKey::Mac([2, 0, 0x5e, 0, 0x53, 0xaf]).to_string(), "02:00:5e:00:53:af");
    }
}
