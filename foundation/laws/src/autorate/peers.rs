//! The least round trip of each peer, and what peers added to it in an interval.

use fairwire_core::{Duration, RoundTrip, Time};

/// How many peers are known.
const PEERS: usize = 64;
/// A peer that is not heard for this long gives up its place to a new one.
const SILENT: Duration = Duration::from_secs(5);

/// What was heard of a peer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heard {
    /// When the segment left.
    pub left: Time,
    /// What its round trip took.
    pub trip: Duration,
    /// What it took above the base.
    pub added: Duration,
}

/// The known peers.
#[derive(Clone, Debug)]
pub(super) struct Peers {
    keys: [u32; PEERS],
    peers: [Peer; PEERS],
    half: Duration,
    /// When the older half of the window is over.
    turn: Time,
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    /// The least round trips of the halves of the window, and since the line is full; `MAX` for
    /// none.
    before: Duration,
    lately: Duration,
    recent: Duration,
    seen: Time,
    /// Was it known when the line was not full? Others may never have seen it empty.
    is_trusted: bool,
    heard: Option<(Time, Duration)>,
}

const NONE: Duration = Duration::from_ns(u64::MAX);
const NO_PEER: Peer =
    Peer { before: NONE, lately: NONE, recent: NONE, seen: Time::ZERO, is_trusted: false, heard: None };

impl Peers {
    pub(super) fn new(window: Duration) -> Self {
        let half = Duration::from_ns(window.ns() / 2);
        Peers { keys: [0; PEERS], peers: [NO_PEER; PEERS], half, turn: Time::ZERO + half }
    }

    pub(super) fn hear(&mut self, trip: RoundTrip, now: Time, is_full: bool) {
        let Some(place) = self.place(trip.peer.max(1), now, is_full) else { return };
        let peer = &mut self.peers[place];
        peer.seen = now;
        peer.lately = peer.lately.min(trip.time);
        peer.recent = peer.recent.min(trip.time);
        if peer.heard.is_none_or(|(_, least)| trip.time < least) {
            peer.heard = Some((now.saturating_sub(trip.time), trip.time));
        }
    }

    fn place(&mut self, key: u32, now: Time, is_full: bool) -> Option<usize> {
        if let Some(place) = self.keys.iter().position(|known| *known == key) {
            return Some(place);
        }
        let is_free = |place: &usize| self.keys[*place] == 0 || now.since(self.peers[*place].seen) > SILENT;
        let place = (0..PEERS).find(is_free)?;
        self.keys[place] = key;
        self.peers[place] = Peer { is_trusted: !is_full, ..NO_PEER };
        Some(place)
    }

    /// Of the peers that were heard since the last call, the one with the median of added delays;
    /// trusted ones, where there are any.
    pub(super) fn median(&mut self, now: Time) -> Option<Heard> {
        let mut all = [(Duration::ZERO, 0); PEERS];
        let mut count = 0;
        let has_trusted = self.peers.iter().any(|peer| peer.is_trusted && peer.heard.is_some());
        for (place, peer) in self.peers.iter().enumerate() {
            let Some((_, trip)) = peer.heard else { continue };
            if peer.is_trusted == has_trusted {
                all[count] = (trip - peer.least(), place);
                count += 1;
            }
        }
        let all = &mut all[..count];
        all.sort_unstable();
        let median = all.get(count.saturating_sub(1) / 2).and_then(|(added, place)| {
            let (left, trip) = self.peers[*place].heard?;
            Some(Heard { left, trip, added: *added })
        });
        self.peers.iter_mut().for_each(|peer| peer.heard = None);
        self.age(now);
        median
    }

    /// The older half of the window goes where it is over.
    fn age(&mut self, now: Time) {
        if now < self.turn {
            return;
        }
        self.turn = now + self.half;
        for peer in &mut self.peers {
            (peer.before, peer.lately) = (peer.lately, NONE);
        }
    }

    /// Bases are known: the line was not full.
    pub(super) fn trust_all(&mut self) {
        self.peers.iter_mut().for_each(|peer| peer.is_trusted = true);
    }

    /// From now on the least is noted anew.
    pub(super) fn forget_recent(&mut self) {
        self.peers.iter_mut().for_each(|peer| peer.recent = NONE);
    }

    /// Bases are the least since [`forget_recent`](Peers::forget_recent).
    pub(super) fn take_recent(&mut self) {
        for peer in &mut self.peers {
            (peer.before, peer.lately, peer.is_trusted) = (peer.recent, peer.recent, true);
        }
    }
}

impl Peer {
    fn least(&self) -> Duration {
        self.before.min(self.lately)
    }
}
