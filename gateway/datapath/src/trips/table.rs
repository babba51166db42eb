//! Conversations in a bounded hash table, under keys that no host knows.

use super::Ticket;
use super::conversation::Conversation;
use crate::account::{SILENT, SILENT_ONCE, ticks};
use fairwire_core::Time;
use fairwire_wire::Way;
use fairwire_wire::headers::{Headers, Version};
use std::hash::{BuildHasher, RandomState};

/// The maximum number of conversations (2 MiB). In a full table, a new conversation replaces a
/// silent one, or is not followed.
pub const MAX_CONVERSATIONS: usize = 1 << 15;
/// Associativity: the number of adjacent entries that may hold a conversation.
const PLACES: usize = 4;

#[derive(Debug)]
pub(super) struct Table {
    keys: [u64; 4],
    conversations: Box<[Conversation]>,
}

impl Table {
    /// A table of `size` entries, a power of two.
    pub(super) fn new(size: usize) -> Self {
        let random = RandomState::new();
        Table {
            keys: [0, 1, 2, 3].map(|number: u64| random.hash_one(number)),
            conversations: vec![Conversation::default(); size].into(),
        }
    }

    /// The conversation's hash, equal in both directions and never 0.
    #[inline]
    pub(super) fn hash(&self, frame: &[u8], headers: &Headers, way: Way) -> u64 {
        let [k0, k1, k2, k3] = self.keys;
        let (Some(network), Some(transport)) = (&headers.network, &headers.transport) else { return 1 };
        let ports = &transport.ports;
        let ordered = |source: u64, destination: u64| match way {
            Way::Download => (destination, source),
            Way::Upload => (source, destination),
        };
        let (inside, outside) = ordered(ports.source.into(), ports.destination.into());
        let vlan = if headers.vlan_tags == 0 { 0 } else { headers.outer_vlan(frame).unwrap_or(0) };
        let ends = inside << 48 | outside << 32 | u64::from(vlan);
        let word = |at: usize| -> u64 {
            let bytes = frame.get(network.offset + at..).and_then(|rest| rest.first_chunk::<8>());
            bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
        };
        let addresses = match network.version {
            Version::V4 => {
                let both = word(12);
                let (inside, outside) = ordered(both >> 32, both & 0xffff_ffff);
                inside << 32 | outside
            }
            Version::V6 => {
                let (inside, outside) = ordered(8, 24);
                let [inside, outside] =
                    [inside, outside].map(|at| folded(word(at as usize) ^ k2, word(at as usize + 8) ^ k3));
                folded(inside ^ k1, outside ^ k0)
            }
        };
        folded(folded(addresses ^ k0, ends ^ k1) ^ k2, k3) | 1
    }

    /// A QUIC conversation's hash. TCP with equal ports has another hash.
    #[inline]
    pub(super) fn hash_of_quic(&self, frame: &[u8], headers: &Headers, way: Way) -> u64 {
        self.hash(frame, headers, way) ^ 2
    }

    /// The conversation with this `hash`, and its index. If `opens` is true, an unknown
    /// conversation takes a free or silent entry. `None` if the conversation has no entry.
    #[inline]
    pub(super) fn find(&mut self, hash: u64, opens: bool, now: Time) -> Option<(usize, &mut Conversation)> {
        let first = (hash >> 32) as usize & (self.conversations.len() - 1) & !(PLACES - 1);
        let tick = ticks(now.ns());
        let set = &self.conversations[first..first + PLACES];
        let place = match set.iter().position(|conversation| conversation.hash == hash) {
            Some(place) => first + place,
            None if opens => self.place_for(hash, first, tick)?,
            None => return None,
        };
        let conversation = &mut self.conversations[place];
        conversation.seen = tick;
        Some((place, conversation))
    }

    #[cold]
    fn place_for(&mut self, hash: u64, first: usize, tick: u32) -> Option<usize> {
        let is_given_up = |conversation: &Conversation| {
            let bound = if conversation.is_mutual() { SILENT } else { SILENT_ONCE };
            conversation.hash == 0 || tick.wrapping_sub(conversation.seen) > ticks(bound.ns())
        };
        let place = first + self.conversations[first..first + PLACES].iter().position(is_given_up)?;
        self.conversations[place] = Conversation::new(hash);
        Some(place)
    }

    pub(super) fn ticket(place: usize, number: u8) -> Ticket {
        (place as u32 + 1) << 8 | u32::from(number)
    }

    #[inline]
    pub(super) fn leaves(&mut self, ticket: Ticket, way: usize, now: Time) {
        let place = (ticket >> 8).checked_sub(1).and_then(|place| self.conversations.get_mut(place as usize));
        if let Some(conversation) = place {
            conversation.leaves(way, ticket as u8, now);
        }
    }
}

/// Folds the halves of `a * b`, so each bit depends on all bits of both (as in wyhash).
#[inline]
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}
