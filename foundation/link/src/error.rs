//! What can be wrong with a link as given, and with a packet.

use std::fmt;

/// A link that could not be built: everything that is wrong with what was given, at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLink {
    /// What is wrong, in the order in which it was given; at least one.
    pub mistakes: Vec<Mistake>,
}

/// One thing that is wrong with a link as given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The method of [`LinkBuilder`](crate::LinkBuilder) that was given it, such as `loss`; of a
    /// [`Duplex`](crate::Duplex) with the direction before it: `back.loss`.
    pub method: String,
    /// What was given and what is allowed.
    pub message: String,
}

impl Mistake {
    pub(crate) fn of(method: &str, message: impl fmt::Display) -> Self {
        Mistake { method: method.into(), message: message.to_string() }
    }
}

impl std::error::Error for Mistake {}

impl fmt::Display for BadLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.mistakes.iter().enumerate() {
            let line = if at == 0 { "" } else { "\n" };
            write!(f, "{line}{mistake}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of the link: {}", self.method, self.message)
    }
}

impl std::error::Error for BadLink {}

/// A packet that the link does not take: it has no bytes, or more than the link's
/// [`mtu`](crate::LinkBuilder::mtu). Nothing is counted. Who ignores this error has a network that
/// loses such packets silently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotSent<T> {
    /// The payload, given back.
    pub payload: T,
    /// Its bytes, as given.
    pub bytes: usize,
    /// The most bytes that a packet of this link may have.
    pub mtu: u32,
}

impl<T> fmt::Debug for NotSent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotSent").field("bytes", &self.bytes).field("mtu", &self.mtu).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for NotSent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotSent { bytes, mtu, .. } = self;
        write!(
            f,
            "a packet of {bytes} bytes is not sent; allowed: 1 to {mtu} bytes, the link's `mtu`; cut it in pieces"
        )
    }
}

impl<T> std::error::Error for NotSent<T> {}
