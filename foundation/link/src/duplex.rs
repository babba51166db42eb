//! Two links, one in each direction.

use crate::builder::LinkBuilder;
use crate::error::{BadLink, Mistake};
use crate::link::Link;
use crate::moment::Moment;
use std::time::Duration;

/// Two links, one in each direction. They share only the round-trip time, which a buffer in `bdp`
/// uses. If times are instants, each link starts at its own first call.
/// [`starts_at`](LinkBuilder::starts_at) on both links gives a common start.
///
/// ```
/// use fairwire_link::{Duplex, Link};
///
/// // A home's line: fast down, slow up.
/// let down = Link::<Vec<u8>>::new("50 Mbit/s", "20 ms").queue("fq-codel").buffer("1000 packets");
/// let up = Link::new("5 Mbit/s", "20 ms").buffer("1 bdp");
/// let line = Duplex::new(down, up)?;
/// assert_eq!(line.next_timeout(), None);
/// # Ok::<(), fairwire_link::BadLink>(())
/// ```
#[derive(Debug)]
pub struct Duplex<T, I = Duration> {
    /// The link from the first end to the second.
    pub forward: Link<T, I>,
    /// The link from the second end to the first.
    pub back: Link<T, I>,
}

impl<T, I: Moment> Duplex<T, I> {
    /// Builds both links. The default names `forward` and `back` give them different random
    /// numbers.
    ///
    /// # Errors
    /// Mistakes in either link, as in [`LinkBuilder::build`].
    pub fn new(forward: LinkBuilder<T, I>, back: LinkBuilder<T, I>) -> Result<Self, BadLink> {
        let round_trip = forward.delay() + back.delay();
        let forward = forward.build_as("forward", round_trip);
        let back = back.build_as("back", round_trip);
        match (forward, back) {
            (Ok(forward), Ok(back)) => Ok(Duplex { forward, back }),
            (forward, back) => {
                let forward = placed("forward", forward.err());
                Err(BadLink { mistakes: forward.chain(placed("back", back.err())).collect() })
            }
        }
    }

    /// Two equal links: `Duplex::alike(|| Link::new("50 Mbit/s", "20 ms"))`.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn alike(link: impl Fn() -> LinkBuilder<T, I>) -> Result<Self, BadLink> {
        Duplex::new(link(), link())
    }

    /// The earlier [`next_timeout`](Link::next_timeout) of the two.
    pub fn next_timeout(&self) -> Option<I>
    where
        I: Ord,
    {
        self.forward.next_timeout().into_iter().chain(self.back.next_timeout()).min()
    }
}

fn placed(direction: &str, bad: Option<BadLink>) -> impl Iterator<Item = Mistake> {
    let mistakes = bad.map(|bad| bad.mistakes).unwrap_or_default().into_iter();
    mistakes.map(move |mistake| Mistake { method: format!("{direction}.{}", mistake.method), ..mistake })
}
