//! Each peer's shortest round trip, and the excess of later round trips.

use fairwire_core::{Duration, RoundTrip, Time};

const PEERS: usize = 64;
/// A peer that has been silent for this long yields its place to a new peer.
const SILENT: Duration = Duration::from_secs(5);
/// A silent peer is awaited for this long, or for two of its round trips if these take longer.
const PATIENCE: Duration = Duration::from_ms(500);
/// Each step multiplies the count of a peer's bytes by this factor. So the count covers about one
/// second.
const FADES: f64 = 0.95;
/// Peers are counted in order of delay until they carry this fraction of the traffic. The last
/// counted delay is the added delay, so a host with less traffic cannot forge a small added delay.
const QUARTER: f64 = 0.25;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Heard {
    /// The departure of an answered segment. `quarter` picks the segment's peer.
    pub left: Time,
    /// The duration of that segment's round trip.
    pub trip: Duration,
    /// The excess of that round trip over the base, if the other end answered at once.
    pub added: Duration,
    /// The lower bound of this excess, however long the other end waited.
    pub certain: Duration,
}

#[derive(Clone, Debug)]
pub(super) struct Peers {
    keys: [u32; PEERS],
    peers: [Peer; PEERS],
    half: Duration,
    /// The time at which the current half of the window ends.
    turn: Time,
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    /// The shortest round trip of the previous half of the window.
    before: Duration,
    /// The shortest round trip of the current half of the window.
    lately: Duration,
    /// The shortest round trip since the line became full.
    recent: Duration,
    seen: Time,
    /// True if the peer's base was measured before the line was full.
    is_trusted: bool,
    trip: Duration,
    /// The bytes that the peer carried lately.
    carries: f64,
    heard: Option<Span>,
}

/// A round trip that took between `least` and `most`, and its departure.
#[derive(Clone, Copy, Debug)]
struct Span {
    left: Time,
    most: Duration,
    least: Duration,
}

const NONE: Duration = Duration::from_ns(u64::MAX);
const NO_PEER: Peer = Peer {
    before: NONE,
    lately: NONE,
    recent: NONE,
    seen: Time::ZERO,
    is_trusted: false,
    trip: Duration::ZERO,
    carries: 0.0,
    heard: None,
};

impl Peers {
    pub(super) fn new(window: Duration) -> Self {
        let half = Duration::from_ns(window.ns() / 2);
        Peers { keys: [0; PEERS], peers: [NO_PEER; PEERS], half, turn: Time::ZERO + half }
    }

    pub(super) fn hear(&mut self, trip: RoundTrip, now: Time, is_full: bool) {
        let Some(place) = self.place(trip.peer.max(1), now, is_full) else { return };
        let peer = &mut self.peers[place];
        (peer.seen, peer.trip) = (now, trip.time);
        peer.lately = peer.lately.min(trip.time);
        peer.recent = peer.recent.min(trip.time);
        peer.carries += f64::from(trip.bytes.max(1));
        let new = Span { left: now.saturating_sub(trip.time), most: trip.time, least: trip.least };
        peer.heard = Some(peer.heard.map_or(new, |heard| heard.with(new)));
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

    /// Combines the round trips of all peers since the last verdict. If any of these peers are
    /// trusted, only trusted peers count. `None` while the awaited peers carry more than the heard
    /// peers.
    pub(super) fn verdict(&mut self, now: Time) -> Option<Heard> {
        self.age(now);
        let has_trusted = self.peers.iter().any(|peer| peer.is_trusted && peer.heard.is_some());
        let mut all = [Voice { delay: Duration::ZERO, carries: 0.0, place: 0 }; PEERS];
        let (mut count, mut awaited) = (0, 0.0);
        for (place, peer) in self.peers.iter().enumerate().filter(|(_, peer)| peer.is_trusted == has_trusted)
        {
            let Some(heard) = peer.heard else {
                awaited += if peer.is_awaited(now) { peer.carries } else { 0.0 };
                continue;
            };
            all[count] = Voice { delay: heard.most - peer.least(), carries: peer.carries, place };
            count += 1;
        }
        let all = &mut all[..count];
        let carried: f64 = all.iter().map(|voice| voice.carries).sum();
        if count == 0 || carried < awaited {
            return None;
        }
        let Voice { delay: added, place, .. } = quarter(all);
        let Span { left, most, .. } = self.peers[place].heard?;
        for voice in &mut *all {
            let peer = &self.peers[voice.place];
            voice.delay = peer.heard.map_or(Duration::ZERO, |heard| heard.least - peer.least());
        }
        let certain = quarter(all).delay;
        self.peers.iter_mut().for_each(|peer| peer.heard = None);
        Some(Heard { left, trip: most, added, certain: certain.min(added) })
    }

    fn age(&mut self, now: Time) {
        self.peers.iter_mut().for_each(|peer| peer.carries *= FADES);
        if now < self.turn {
            return;
        }
        self.turn = now + self.half;
        for peer in &mut self.peers {
            (peer.before, peer.lately) = (peer.lately, NONE);
        }
    }

    /// Trusts all bases: the line was not full.
    pub(super) fn trust_all(&mut self) {
        self.peers.iter_mut().for_each(|peer| peer.is_trusted = true);
    }

    pub(super) fn forget_recent(&mut self) {
        self.peers.iter_mut().for_each(|peer| peer.recent = NONE);
    }

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

    fn is_awaited(&self, now: Time) -> bool {
        now.since(self.seen) <= PATIENCE.max(self.trip * 2)
    }
}

impl Span {
    /// Merges two round trips of one peer.
    fn with(self, other: Span) -> Span {
        let least = self.least.max(other.least);
        let first = if other.most < self.most { other } else { self };
        Span { least: least.min(first.most), ..first }
    }
}

#[derive(Clone, Copy, Debug)]
struct Voice {
    delay: Duration,
    carries: f64,
    place: usize,
}

fn quarter(voices: &mut [Voice]) -> Voice {
    voices.sort_unstable_by_key(|voice| voice.delay);
    let mut left = QUARTER * voices.iter().map(|voice| voice.carries).sum::<f64>();
    let is_reached = |voice: &&Voice| {
        left -= voice.carries;
        left <= 0.0
    };
    voices.iter().find(is_reached).copied().unwrap_or(voices[voices.len() - 1])
}
