//! A bounded table of traffic counts per flow.

use crate::class_book::UNCLAIMED;
use fairwire_core::{Duration, FlowHash, FlowIndex, Time};
use fairwire_wire::FlowKey;

/// The counts of one flow, or of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCount {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Bytes that arrived, as counted on the shaped link.
    pub bytes_in: u64,
    /// Packets dropped by the discipline or for lack of a buffer.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets sent on.
    pub packets_out: u64,
    /// Bytes sent on, as counted on the shaped link.
    pub bytes_out: u64,
}

/// Facts about a flow from the packet that opened its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstPacket {
    /// The key of the first packet.
    pub key: FlowKey,
    /// Its class.
    pub class: u32,
    /// The VLAN; 0 if untagged.
    pub vlan: u16,
    /// Its differentiated-services codepoint.
    pub dscp: u8,
    /// The Ethernet address of the inside host; zero if the frame has none.
    pub mac: [u8; 6],
}

/// The account of one flow: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Account {
    /// The flow.
    pub flow: FlowHash,
    /// Latest arrival, in [`ticks`].
    seen: u32,
    /// The number of earlier flows in this slot, whose account numbers are invalid. The top bit is
    /// [`KNOWN`].
    uses: u32,
    /// The flow's traffic.
    pub count: FlowCount,
}

const _: () = assert!(size_of::<Account>() == 64);

impl Account {
    #[inline]
    fn number_at(&self, place: u32) -> u32 {
        (place + 1) | (self.uses << PLACE_BITS)
    }
}

/// The counts of a bounded number of flows. Flows without room are counted together.
///
/// **Accounts age.** When the table is full, a new flow checks the next [`LOOKS`] accounts in a
/// circle, and takes over the first whose flow is silent. A flow is silent after [`SILENT`] without
/// a packet, or after [`SILENT_ONCE`] if it sent only one. The old counts are added to those of the
/// flows without an account. A flood of forged senders thus takes only the slots of silent flows.
/// The search is O(1), and all memory is allocated at construction.
///
/// A packet's account number includes the number of times that the slot was reassigned. If the slot
/// is reassigned while the packet is in the gateway, the packet is counted with the flows without
/// an account.
#[derive(Debug)]
pub struct Accounts {
    index: FlowIndex,
    /// For each value of a hash's low bits, the slot of the latest flow with this value. Most
    /// packets thus need no lookup in the index.
    recent: Box<[u32]>,
    accounts: Vec<Account>,
    opened: Vec<FirstPacket>,
    capacity: usize,
    hand: usize,
    others: FlowCount,
    /// The counts of accounts that other flows took over.
    ended: FlowCount,
}

/// The account number of all flows that found the table full. Other account numbers have the slot
/// plus 1 in the low [`PLACE_BITS`] bits, and the count of the slot's uses in the higher bits.
pub(crate) const OTHERS: u32 = 0;
/// Bits of an account number that hold the slot.
const PLACE_BITS: u32 = 21;
pub(crate) const MAX_ACCOUNTS: usize = 1 << 20;
/// The maximum length of `recent`: 16 KiB, which stay in the cache.
const MAX_RECENT: usize = 4096;
/// Accounts that a new flow checks when the table is full.
const LOOKS: usize = 4;
/// The silence after which a flow gives up its slot. It exceeds the telemetry's windows.
pub const SILENT: Duration = Duration::from_secs(3);
/// The silence after which a flow of a single packet gives up its slot. Forged senders typically
/// send one packet.
pub(crate) const SILENT_ONCE: Duration = Duration::from_ms(500);

/// A host becomes known after this number of packets, once none of its earlier packets is in the
/// gateway. A scan or flood from random addresses sends fewer packets per address.
const FIRST: u64 = 8;
/// A host becomes known after this number of packets, even if earlier packets are in the gateway.
/// TCP's initial window is only 10 packets (RFC 6928). After that window, a flow's queue is usually
/// empty.
const LAST: u64 = 16;
/// The flag in `uses` that marks a known host. The other bits count uses; an account number has
/// only the count's low 11 bits.
const KNOWN: u32 = 1 << 31;

/// `ns` in steps of 2^20 ns (1.05 ms). As `u32`, the steps fit an account's cache line, and wrap
/// after 52 days.
pub(crate) const fn ticks(ns: u64) -> u32 {
    (ns >> 20) as u32
}

impl Accounts {
    /// Empty accounts for `flows` flows, at most [`MAX_ACCOUNTS`].
    pub fn new(flows: usize) -> Self {
        let capacity = flows.min(MAX_ACCOUNTS);
        Accounts {
            index: FlowIndex::new(capacity),
            recent: vec![0; capacity.next_power_of_two().min(MAX_RECENT)].into(),
            accounts: Vec::with_capacity(capacity),
            opened: Vec::with_capacity(capacity),
            capacity,
            hand: 0,
            others: FlowCount::default(),
            ended: FlowCount::default(),
        }
    }

    /// The number of `flow`'s account, for a packet that arrives at `now`. `first` describes the
    /// packet if the account is new.
    #[inline]
    pub fn open(&mut self, flow: FlowHash, now: Time, first: impl FnOnce() -> FirstPacket) -> u32 {
        let tick = ticks(now.ns());
        let slot = flow.0 as usize & (self.recent.len() - 1);
        let place = self.recent[slot];
        // The remembered slot may have another flow now.
        if let Some(account) = self.accounts.get_mut(place as usize).filter(|account| account.flow == flow) {
            account.seen = tick;
            return account.number_at(place);
        }
        self.open_by_index(flow, tick, first)
    }

    fn open_by_index(&mut self, flow: FlowHash, tick: u32, first: impl FnOnce() -> FirstPacket) -> u32 {
        let found = self.index.find(flow, |place| self.accounts[place].flow == flow);
        let place = match found.or_else(|| self.place_for(flow, tick)) {
            None => return OTHERS,
            Some(place) => place,
        };
        if found.is_none() {
            self.opened_at(place, first());
        }
        let slot = flow.0 as usize & (self.recent.len() - 1);
        self.recent[slot] = place as u32;
        let account = &mut self.accounts[place];
        account.seen = tick;
        account.number_at(place as u32)
    }

    #[cold]
    fn place_for(&mut self, flow: FlowHash, tick: u32) -> Option<usize> {
        if self.accounts.len() < self.capacity {
            let place = self.accounts.len();
            self.accounts.push(Account { flow, seen: tick, uses: 0, count: FlowCount::default() });
            self.index.insert(flow, place);
            return Some(place);
        }
        let place = self.silent(tick)?;
        let gone = self.accounts[place];
        self.index.remove(gone.flow, place, |place| self.accounts[place].flow);
        self.ended.add(&gone.count);
        self.accounts[place] = Account {
            flow,
            seen: tick,
            uses: gone.uses.wrapping_add(1) & !KNOWN,
            count: FlowCount::default(),
        };
        self.index.insert(flow, place);
        Some(place)
    }

    fn silent(&mut self, tick: u32) -> Option<usize> {
        for _ in 0..LOOKS.min(self.capacity) {
            let place = self.hand;
            self.hand = if place + 1 == self.capacity { 0 } else { place + 1 };
            let account = &self.accounts[place];
            let bound = if account.count.packets_in <= 1 { SILENT_ONCE } else { SILENT };
            if tick.wrapping_sub(account.seen) > ticks(bound.ns()) {
                return Some(place);
            }
        }
        None
    }

    fn opened_at(&mut self, place: usize, opened: FirstPacket) {
        match self.opened.get_mut(place) {
            Some(at) => *at = opened,
            None => self.opened.push(opened), // a new account's place is the last
        }
    }

    /// The counts of account `account`, mutable.
    #[inline]
    pub fn entry(&mut self, account: u32) -> &mut FlowCount {
        let place = (account & ((1 << PLACE_BITS) - 1)) as usize;
        match self.accounts.get_mut(place.wrapping_sub(1)) {
            Some(own) if own.uses << PLACE_BITS == account & !((1 << PLACE_BITS) - 1) => &mut own.count,
            _ => &mut self.others,
        }
    }

    /// The number of `account`'s host, from 1. Hosts without an account or not yet known have
    /// number 0, so all forged senders share like one host. The host's latest packet must already
    /// be counted.
    ///
    /// After [`FIRST`] packets, a host becomes known once a packet finds no other packet of the
    /// host in the gateway. Otherwise the packet would overtake packets that wait under number 0.
    /// After [`LAST`] packets, the host becomes known anyway, and some of its packets are overtaken
    /// once.
    #[inline]
    pub fn host(&mut self, account: u32) -> u32 {
        let place = account & ((1 << PLACE_BITS) - 1);
        match self.accounts.get_mut((place as usize).wrapping_sub(1)) {
            Some(account) if account.uses & KNOWN != 0 => place,
            Some(account) => {
                let FlowCount { packets_in, .. } = account.count;
                let is_known = packets_in > LAST || packets_in > FIRST && account.count.inside() <= 1;
                account.uses |= if is_known { KNOWN } else { 0 };
                if is_known { place } else { 0 }
            }
            None => 0,
        }
    }

    /// Makes the host of `account` known at once, for a packet that another gateway hands over.
    pub fn know(&mut self, account: u32) {
        let place = account & ((1 << PLACE_BITS) - 1);
        if let Some(account) = self.accounts.get_mut((place as usize).wrapping_sub(1)) {
            account.uses |= KNOWN;
        }
    }

    /// The traffic of `flow`; zeros if it has no account.
    pub fn of(&self, flow: FlowHash) -> FlowCount {
        let place = self.index.find(flow, |place| self.accounts[place].flow == flow);
        place.map(|place| self.accounts[place].count).unwrap_or_default()
    }

    /// All accounts, and the first packet of each.
    pub fn all(&self) -> (&[Account], &[FirstPacket]) {
        (&self.accounts, &self.opened)
    }

    /// The most accounts possible.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The traffic of all flows without an account, including flows whose accounts were taken over.
    pub fn others(&self) -> FlowCount {
        let mut all = self.ended;
        all.add(&self.others);
        all
    }

    /// The traffic of flows that never had an account.
    pub fn never_counted(&self) -> FlowCount {
        self.others
    }
}

impl FlowCount {
    fn inside(&self) -> u64 {
        self.packets_in.saturating_sub(self.packets_out + self.dropped)
    }

    /// Counts the arrival of a packet of `len` bytes.
    #[inline]
    pub fn came(&mut self, len: u32) {
        self.packets_in += 1;
        self.bytes_in += u64::from(len);
    }

    /// Counts a departure of `len` bytes.
    #[inline]
    pub fn left(&mut self, len: u32) {
        self.packets_out += 1;
        self.bytes_out += u64::from(len);
    }

    /// The increase since `before`, per counter. A restarted counter counts in full.
    #[must_use]
    pub fn since(&self, before: &FlowCount) -> FlowCount {
        let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
        FlowCount {
            packets_in: since(self.packets_in, before.packets_in),
            bytes_in: since(self.bytes_in, before.bytes_in),
            dropped: since(self.dropped, before.dropped),
            marked: since(self.marked, before.marked),
            packets_out: since(self.packets_out, before.packets_out),
            bytes_out: since(self.bytes_out, before.bytes_out),
        }
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &FlowCount) {
        self.packets_in += other.packets_in;
        self.bytes_in += other.bytes_in;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.packets_out += other.packets_out;
        self.bytes_out += other.bytes_out;
    }
}

pub(crate) fn renumbered(class: u32, map: &[u32]) -> u32 {
    map.get(class as usize).copied().unwrap_or(UNCLAIMED)
}

/// The counts of all classes, by number.
#[derive(Debug)]
pub struct ClassCounts {
    all: Box<[FlowCount]>,
    gone: FlowCount,
}

impl ClassCounts {
    /// Zeros for `classes` classes, at least one.
    pub fn new(classes: usize) -> Self {
        ClassCounts { all: vec![FlowCount::default(); classes.max(1)].into(), gone: FlowCount::default() }
    }

    /// The counts of `class`, mutable. An unknown number means the first class.
    #[inline]
    pub fn entry(&mut self, class: u32) -> &mut FlowCount {
        let place = if (class as usize) < self.all.len() { class as usize } else { 0 };
        &mut self.all[place]
    }

    /// The counts of all classes.
    pub fn all(&self) -> &[FlowCount] {
        &self.all
    }

    /// The counts of removed classes.
    pub fn gone(&self) -> &FlowCount {
        &self.gone
    }

    pub(crate) fn is_idle(&self, class: u32) -> bool {
        self.all.get(class as usize).is_none_or(|count| count.inside() == 0)
    }

    /// Resets the counts of number `class`, so that another class can take the number. Packets
    /// still in the gateway stay counted.
    pub(crate) fn vacate(&mut self, class: u32) {
        let Some(count) = self.all.get_mut(class as usize) else { return };
        let left = FlowCount { packets_in: count.inside(), ..FlowCount::default() };
        let mut gone = std::mem::replace(count, left);
        gone.packets_in -= left.packets_in;
        self.gone.add(&gone);
    }

    /// Adds the counts of `before`, whose class n is now `map[n]`. Counts of removed classes go to
    /// the unclaimed class, which preserves sums.
    pub(crate) fn add_renumbered(&mut self, before: &ClassCounts, map: &[u32]) {
        for (class, count) in before.all.iter().enumerate() {
            self.entry(renumbered(class as u32, map)).add(count);
        }
        self.gone.add(&before.gone);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn first() -> FirstPacket {
        let key = FlowKey::Other { ethertype: 0x0806, source: [0; 6], destination: [0; 6] };
        FirstPacket { key, class: 0, vlan: 0, dscp: 0, mac: [0; 6] }
    }

    fn packet(accounts: &mut Accounts, flow: u64, ms: u64) -> u32 {
        let account = accounts.open(FlowHash(flow), at(ms), first);
        accounts.entry(account).packets_in += 1;
        account
    }

    #[test]
    fn flows_beyond_the_bound_are_counted_together() {
        let mut accounts = Accounts::new(2);
        for flow in [1, 2, 3, 4, 1] {
            packet(&mut accounts, flow, 0);
        }
        assert_eq!(accounts.of(FlowHash(1)).packets_in, 2);
        assert_eq!(accounts.of(FlowHash(2)).packets_in, 1);
        assert_eq!(accounts.of(FlowHash(3)), FlowCount::default());
        assert_eq!(accounts.others().packets_in, 2);
    }

    #[test]
    fn a_silent_flow_loses_its_place_and_its_queued_packets_count_as_others() {
        let mut accounts = Accounts::new(2);
        let silent = packet(&mut accounts, 1, 0);
        packet(&mut accounts, 1, 1);
        packet(&mut accounts, 2, 0);
        packet(&mut accounts, 2, 2900);
        assert_eq!(packet(&mut accounts, 3, 2990), OTHERS, "no flow has been silent for three seconds");
        let taken = packet(&mut accounts, 3, 3010);
        assert_ne!(taken, silent);
        assert_eq!(accounts.of(FlowHash(1)), FlowCount::default());
        assert_eq!(accounts.of(FlowHash(2)).packets_in, 2);
        assert_eq!(accounts.others().packets_in, 3, "the two of flow 1, and the first of flow 3");
        accounts.entry(silent).packets_out += 1;
        assert_eq!(accounts.of(FlowHash(3)).packets_out, 0);
        assert_eq!(accounts.others().packets_out, 1);
    }

    #[test]
    fn a_flood_of_senders_neither_displaces_active_flows_nor_blinds_forever() {
        let mut accounts = Accounts::new(64);
        for flow in 0..32 {
            packet(&mut accounts, flow, 0);
            packet(&mut accounts, flow, 0);
        }
        // 100 new flows arrive per millisecond, for 10 s.
        for flood in 0..1_000_000u64 {
            let ms = flood / 100;
            packet(&mut accounts, 1_000_000 + flood, ms);
            if flood % 10_000 == 0 {
                for flow in 0..32 {
                    packet(&mut accounts, flow, ms);
                }
            }
        }
        for flow in 0..32 {
            assert_eq!(accounts.of(FlowHash(flow)).packets_in, 102, "flow {flow} was counted throughout");
        }
        // Each packet of a new flow checks 4 of 64 accounts for silence.
        for _ in 0..16 {
            packet(&mut accounts, 77, 10_600);
        }
        assert!(accounts.of(FlowHash(77)).packets_in > 0);
    }

    #[test]
    fn a_host_becomes_known_with_a_packet_that_overtakes_no_other() {
        let mut accounts = Accounts::new(4);
        let mut account = 0;
        for _ in 0..2 * FIRST {
            account = packet(&mut accounts, 1, 0);
            assert_eq!(accounts.host(account), 0, "earlier packets wait under number 0");
        }
        accounts.entry(account).packets_out += 2 * FIRST;
        for _ in 0..3 {
            let account = packet(&mut accounts, 1, 1);
            assert_eq!(accounts.host(account), 1, "known from a packet that was alone");
        }
        let numbers = (0..=LAST).map(|_| {
            let account = packet(&mut accounts, 4, 1);
            accounts.host(account)
        });
        assert_eq!(numbers.filter(|number| *number > 0).count(), 1, "a backlog that never ends");
        for number in 1..=FIRST + 1 {
            let account = packet(&mut accounts, 2, number);
            assert_eq!(accounts.host(account), if number > FIRST { 3 } else { 0 });
            accounts.entry(account).packets_out += 1;
        }
        let account = packet(&mut accounts, 3, 1);
        accounts.know(account);
        assert_eq!(accounts.host(account), 4);
    }

    #[test]
    fn a_slot_that_changes_hands_holds_a_host_that_is_not_known() {
        let mut accounts = Accounts::new(1);
        let account = packet(&mut accounts, 1, 0);
        accounts.know(account);
        assert_eq!(accounts.host(account), 1);
        let next = packet(&mut accounts, 2, 60_000);
        assert_eq!((next == account, accounts.host(next)), (false, 0));
    }

    #[test]
    fn every_packet_is_counted_once_across_changes_of_places() {
        let mut accounts = Accounts::new(8);
        let mut rng = fairwire_core::Seed(5).stream("accounts");
        let mut inside = Vec::new();
        for step in 0..50_000u64 {
            inside.push(packet(&mut accounts, u64::from(rng.below(40)), step * 7));
            if inside.len() > 20 {
                let place = rng.below(20) as usize;
                accounts.entry(inside.swap_remove(place)).packets_out += 1;
            }
        }
        let mut all = accounts.others();
        accounts.all().0.iter().for_each(|account| all.add(&account.count));
        assert_eq!((all.packets_in, all.packets_out), (50_000, 49_980));
    }

    #[test]
    fn removed_classes_count_as_unclaimed_after_renumbering() {
        let mut counts = ClassCounts::new(3);
        (0..3).for_each(|class| counts.entry(class).packets_in = 1 << class);
        let mut next = ClassCounts::new(2);
        next.add_renumbered(&counts, &[0, 0, 1]);
        assert_eq!(next.all().iter().map(|count| count.packets_in).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn a_vacated_number_keeps_only_counts_of_queued_packets() {
        let mut counts = ClassCounts::new(2);
        let came =
            FlowCount { packets_in: 9, bytes_in: 900, dropped: 2, packets_out: 4, bytes_out: 400, marked: 1 };
        *counts.entry(1) = came;
        counts.vacate(1);
        assert_eq!(counts.gone(), &FlowCount { packets_in: 6, ..came });
        assert_eq!(counts.all()[1], FlowCount { packets_in: 3, ..FlowCount::default() });
        (0..2).for_each(|_| counts.entry(1).left(100));
        assert!(!counts.is_idle(1));
        counts.entry(1).dropped += 1;
        assert!(counts.is_idle(1));
        counts.vacate(1);
        assert_eq!(counts.all()[1], FlowCount::default());
        assert_eq!(counts.gone(), &FlowCount { dropped: 3, packets_out: 6, bytes_out: 600, ..came });
    }
}
