//! Cuts messages larger than a packet into pieces, and joins the pieces.

use crate::error::NotSent;
use std::collections::BTreeMap;

/// A piece of a message, as the payload of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<T> {
    message: u64,
    number: u32,
    of: u32,
    payload: Option<T>,
}

/// The pieces of a message, each with its bytes on the link.
#[derive(Clone, Debug)]
pub struct Pieces<T> {
    next: Piece<T>,
    bytes: usize,
    header: usize,
    mtu: usize,
}

/// Cuts a message of `bytes` into pieces of at most `mtu` bytes, each with a header of `header`
/// bytes. The number `message` must be new to the [`Joiner`].
///
/// ```
/// use fairwire_link::{Ecn, Joiner, Link, Piece, cut};
/// use std::time::Duration;
///
/// let mut link = Link::<Piece<&str>>::new("8 Mbit/s", "10 ms").build()?;
/// for (piece, bytes) in cut("a large file", 1, 100_000, 40, 1500)? {
///     link.send(piece, bytes, 7, Ecn::NotEct, Duration::ZERO)?;
/// }
/// let mut joiner = Joiner::new();
/// let far = std::iter::from_fn(|| link.receive(Duration::from_secs(1)));
/// let whole: Vec<&str> = far.filter_map(|arrival| joiner.join(arrival.payload)).collect();
/// assert_eq!(whole, ["a large file"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there are no bytes, more than 2^32 - 1 pieces, or no room after the header. The error returns
/// the message.
pub fn cut<T>(
    payload: T,
    message: u64,
    bytes: usize,
    header: usize,
    mtu: u32,
) -> Result<Pieces<T>, NotSent<T>> {
    let room = (mtu as usize).saturating_sub(header);
    match bytes.checked_div(room).filter(|_| bytes > 0).and_then(|_| u32::try_from(bytes.div_ceil(room)).ok())
    {
        Some(of) => {
            let next = Piece { message, number: 0, of, payload: Some(payload) };
            Ok(Pieces { next, bytes, header, mtu: mtu as usize })
        }
        None => Err(NotSent { payload, bytes, mtu }),
    }
}

impl<T> Iterator for Pieces<T> {
    type Item = (Piece<T>, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let Piece { message, number, of, .. } = self.next;
        if number == of {
            return None;
        }
        let size = (self.bytes + self.header).min(self.mtu);
        self.bytes -= size - self.header;
        let payload = self.next.payload.take();
        self.next.number += 1;
        Some((Piece { message, number, of, payload }, size))
    }
}

/// Joins pieces into messages, in any order of arrival.
#[derive(Debug)]
pub struct Joiner<T> {
    messages: BTreeMap<u64, Parts<T>>,
}

#[derive(Debug)]
struct Parts<T> {
    has: Vec<bool>,
    missing: u32,
    payload: Option<T>,
}

impl<T> Default for Joiner<T> {
    fn default() -> Self {
        Joiner { messages: BTreeMap::new() }
    }
}

impl<T> Joiner<T> {
    /// A joiner without pieces.
    pub fn new() -> Self {
        Joiner::default()
    }

    /// Adds a piece. Returns the message once, when its last missing piece arrives.
    pub fn join(&mut self, piece: Piece<T>) -> Option<T> {
        let Piece { message, number, of, payload } = piece;
        let fresh = || Parts { has: vec![false; of as usize], missing: of, payload: None };
        let parts = self.messages.entry(message).or_insert_with(fresh);
        let has = parts.has.get_mut(number as usize)?;
        if std::mem::replace(has, true) {
            return None;
        }
        parts.missing -= 1;
        parts.payload = parts.payload.take().or(payload);
        if parts.missing > 0 {
            return None;
        }
        parts.has = Vec::new(); // what comes later is a copy
        parts.payload.take()
    }

    /// The numbers of incomplete messages, in order.
    pub fn incomplete(&self) -> impl Iterator<Item = u64> + '_ {
        self.messages.iter().filter(|(_, parts)| parts.missing > 0).map(|(message, _)| *message)
    }

    /// Forgets messages with numbers below `message`. This frees a byte per piece of an incomplete
    /// message, and a few words per complete message.
    pub fn forget_below(&mut self, message: u64) {
        self.messages = self.messages.split_off(&message);
    }
}
