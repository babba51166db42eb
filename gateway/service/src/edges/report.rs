//! A report from one edge to the other: a request for each class, in one datagram.
//!
//! ```text
//! "fwe1"                                     4 bytes: format and version
//! time of sending, ns since 1970             8
//! number of classes                          1
//! of each: a hash of its name                8
//!          0 keep, 1 increase, 2 decrease    1
//!          the estimate, in 1/65535          2
//! HMAC-SHA256 of all of it                  16   (RFC 2104; its section 5 allows the left half)
//! ```
//!
//! Numbers are big-endian. The time is the sequence number: a report is new if it was sent after
//! the last accepted report, and within 10 s of the receiver's time. So neither end keeps state
//! across a restart, and a report older than 10 s is never accepted.

use fairwire_core::RateRequest;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// The most classes in a report, and therefore at a reporting edge.
pub const MAX_CLASSES: usize = 64;
pub(crate) const MAX_REPORT_BYTES: usize = HEAD + MAX_CLASSES * CLASS + TAG;
/// The minimum length of a key, in bytes: the length of the authentication tag (RFC 2104, section
/// 3).
pub(crate) const MIN_KEY_BYTES: usize = TAG;
/// The largest accepted difference between the clocks of two edges, including a report's travel
/// time.
const WINDOW_NS: u64 = 10_000_000_000;

const MAGIC: [u8; 4] = *b"fwe1";
const HEAD: usize = 13;
const CLASS: usize = 11;
const TAG: usize = 16;

/// The key that both edges share.
#[derive(Clone)]
pub struct Key(Hmac<Sha256>);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)") // not for logs
    }
}

impl Key {
    /// The key that consists of `bytes`, of any length.
    pub fn new(bytes: &[u8]) -> Self {
        Key(Hmac::new_from_slice(bytes).expect("HMAC takes keys of any length"))
    }
}

impl Key {
    /// Is this key equal to `other`?
    pub fn is(&self, other: &Key) -> bool {
        let tag = |key: &Key| key.0.clone().finalize();
        tag(self) == tag(other)
    }
}

/// The hash of a class's name, by which two gateways identify the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassId(u64);

impl ClassId {
    /// The first bytes of the SHA-256 of `name`.
    pub fn of(name: &str) -> Self {
        let hash = Sha256::digest(name.as_bytes());
        ClassId(u64::from_be_bytes(first(&hash)))
    }
}

/// A report of an edge.
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeReport {
    /// The time of sending, nanoseconds since 1970.
    pub sent_ns: u64,
    /// The requests of classes, at most [`MAX_CLASSES`].
    pub classes: Vec<ClassReport>,
}

/// A request for a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassReport {
    /// The class.
    pub class: ClassId,
    /// The request.
    pub request: RateRequest,
    /// The marked fraction of the class's in-profile packets, 0 to 1, in steps of 1/65535.
    pub estimate: f64,
}

/// Why a report is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The datagram is no report of this version.
    Malformed,
    /// The sender does not know the key.
    Forged,
    /// The clocks of the two edges differ, or the report is old.
    Clock,
    /// The report is not newer than the last accepted report.
    Replayed,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Refusal; 4] = [Refusal::Malformed, Refusal::Forged, Refusal::Clock, Refusal::Replayed];

    /// The reason in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Refusal::Malformed => "malformed",
            Refusal::Forged => "forged",
            Refusal::Clock => "clock",
            Refusal::Replayed => "replayed",
        }
    }
}

impl EdgeReport {
    /// The report's bytes, authenticated by `key`.
    ///
    /// # Panics
    /// If there are more than [`MAX_CLASSES`] classes.
    pub fn encode(&self, key: &Key) -> Vec<u8> {
        assert!(self.classes.len() <= MAX_CLASSES, "a report has room for {MAX_CLASSES} classes");
        let mut bytes = Vec::with_capacity(HEAD + self.classes.len() * CLASS + TAG);
        bytes.extend(MAGIC);
        bytes.extend(self.sent_ns.to_be_bytes());
        bytes.push(self.classes.len() as u8);
        for ClassReport { class, request, estimate } in &self.classes {
            bytes.extend(class.0.to_be_bytes());
            bytes.push(match request {
                RateRequest::Keep => 0,
                RateRequest::Increase => 1,
                RateRequest::Decrease => 2,
            });
            bytes.extend(((estimate.clamp(0.0, 1.0) * STEPS).round() as u16).to_be_bytes());
        }
        let tag = key.0.clone().chain_update(&bytes).finalize().into_bytes();
        bytes.extend(&tag[..TAG]);
        bytes
    }

    /// The report in `bytes`, if `key` authenticates it. [`Freshness`] decides whether the report
    /// is new.
    pub fn decode(bytes: &[u8], key: &Key) -> Result<EdgeReport, Refusal> {
        let (said, tag) = bytes.split_last_chunk::<TAG>().ok_or(Refusal::Malformed)?;
        let (head, classes) = said.split_first_chunk::<HEAD>().ok_or(Refusal::Malformed)?;
        let count = usize::from(head[HEAD - 1]);
        if head[..4] != MAGIC || count > MAX_CLASSES || classes.len() != count * CLASS {
            return Err(Refusal::Malformed);
        }
        key.0.clone().chain_update(said).verify_truncated_left(tag).map_err(|_| Refusal::Forged)?;
        let classes = classes.chunks_exact(CLASS).map(class_report).collect::<Option<_>>();
        Ok(EdgeReport {
            sent_ns: u64::from_be_bytes(first(&head[4..])),
            classes: classes.ok_or(Refusal::Malformed)?,
        })
    }
}

const STEPS: f64 = u16::MAX as f64;

fn class_report(bytes: &[u8]) -> Option<ClassReport> {
    let request = match bytes[8] {
        0 => RateRequest::Keep,
        1 => RateRequest::Increase,
        2 => RateRequest::Decrease,
        _ => return None,
    };
    let class = ClassId(u64::from_be_bytes(first(bytes)));
    Some(ClassReport { class, request, estimate: f64::from(u16::from_be_bytes(first(&bytes[9..]))) / STEPS })
}

fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("the length was checked")
}

/// Decides which reports are new.
#[derive(Clone, Copy, Debug, Default)]
pub struct Freshness {
    last_ns: Option<u64>,
}

impl Freshness {
    /// Accepts a report that was sent at `sent_ns`, if it is new at `now_ns`. Both times are since
    /// 1970.
    pub fn take(&mut self, sent_ns: u64, now_ns: u64) -> Result<(), Refusal> {
        if sent_ns.abs_diff(now_ns) > WINDOW_NS {
            return Err(Refusal::Clock);
        }
        // If our clock was set back, the last report's time is in the future, and does not count.
        let last = self.last_ns.filter(|last| *last <= now_ns.saturating_add(WINDOW_NS));
        if last.is_some_and(|last| sent_ns <= last) {
            return Err(Refusal::Replayed);
        }
        self.last_ns = Some(sent_ns);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: u64 = 1_000_000_000;

    fn key() -> Key {
        Key::new(b"sixteen letters.")
    }

    fn any_report() -> impl Strategy<Value = EdgeReport> {
        let request =
            prop_oneof![Just(RateRequest::Keep), Just(RateRequest::Increase), Just(RateRequest::Decrease)];
        let class = (any::<u64>(), request, any::<u16>()).prop_map(|(id, request, steps)| ClassReport {
            class: ClassId(id),
            request,
            estimate: f64::from(steps) / STEPS,
        });
        (any::<u64>(), prop::collection::vec(class, 0..=MAX_CLASSES))
            .prop_map(|(sent_ns, classes)| EdgeReport { sent_ns, classes })
    }

    proptest! {
        #[test]
        fn a_report_arrives_unchanged(report in any_report()) {
            let bytes = report.encode(&key());
            prop_assert!(bytes.len() <= MAX_REPORT_BYTES);
            prop_assert_eq!(EdgeReport::decode(&bytes, &key()), Ok(report));
        }

        #[test]
        fn a_changed_bit_or_another_key_is_no_report(report in any_report(), bit: prop::sample::Index) {
            let mut bytes = report.encode(&key());
            prop_assert_eq!(EdgeReport::decode(&bytes, &Key::new(b"another key of 16")), Err(Refusal::Forged));
            let bit = bit.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(EdgeReport::decode(&bytes, &key()).is_err());
        }

        #[test]
        fn random_bytes_are_never_a_report(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
            prop_assert!(EdgeReport::decode(&bytes, &key()).is_err());
            let mut near = b"fwe1".to_vec();
            near.extend(&bytes);
            prop_assert!(EdgeReport::decode(&near, &key()).is_err());
        }

        #[test]
        fn every_report_is_accepted_at_most_once(
            mut sent in prop::collection::vec(0..30 * S, 1..20),
            twice: prop::sample::Index,
        ) {
            let again = sent[twice.index(sent.len())];
            sent.push(again);
            let mut freshness = Freshness::default();
            let taken: Vec<u64> =
                sent.into_iter().filter(|sent| freshness.take(*sent, 15 * S).is_ok()).collect();
            prop_assert!(taken.is_sorted_by(|a, b| a < b), "{:?}", taken);
            prop_assert!(taken.iter().all(|sent| sent.abs_diff(15 * S) <= WINDOW_NS));
        }
    }

    #[test]
    fn a_recorded_report_is_refused_forever_even_after_a_restart() {
        let (now, mut listening) = (1000 * S, Freshness::default());
        assert_eq!(listening.take(now, now), Ok(()));
        assert_eq!(listening.take(now, now + S / 5), Err(Refusal::Replayed));
        assert_eq!(listening.take(now - 1, now), Err(Refusal::Replayed));
        assert_eq!(listening.take(now, now + 11 * S), Err(Refusal::Clock));
        assert_eq!(Freshness::default().take(now, now + 11 * S), Err(Refusal::Clock));
        // The sender restarted, and its clock continued.
        assert_eq!(listening.take(now + 30 * S, now + 30 * S), Ok(()));
    }

    #[test]
    fn an_edge_whose_clock_was_set_back_listens_again() {
        let (wrong, right) = (5000 * S, 1000 * S);
        let mut listening = Freshness::default();
        assert_eq!(listening.take(wrong, wrong), Ok(()));
        assert_eq!(listening.take(right, right), Ok(()));
        assert_eq!(listening.take(right, right), Err(Refusal::Replayed));
    }

    #[test]
    fn reports_of_four_classes_take_a_thousandth_of_5_mbit_s() {
        let class =
            |name| ClassReport { class: ClassId::of(name), request: RateRequest::Keep, estimate: 0.0 };
        let report = EdgeReport { sent_ns: 0, classes: ["a", "b", "c", "d"].map(class).to_vec() };
        let on_the_wire = report.encode(&key()).len() + 8 + 20 + 24; // UDP, IPv4, Ethernet
        assert!(5 * 8 * on_the_wire <= 5_000_000 / 1000, "{on_the_wire} bytes");
    }

    #[test]
    fn the_authentication_is_hmac_sha_256() {
        // The key and the data are those of RFC 4231, section 4.3.
        let mac = Key::new(b"Jefe").0.chain_update(b"what do ya want for nothing?").finalize().into_bytes();
        assert_eq!(mac[..8], [0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e]);
    }
}
