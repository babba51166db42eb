//! Mistakes in links and in packets.

use std::fmt;

/// All mistakes in the description of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLink {
    /// The mistakes, in the order of the calls; at least one.
    pub mistakes: Vec<Mistake>,
}

/// One mistake in the description of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The method of [`LinkBuilder`](crate::LinkBuilder) with the mistake, such as `loss`. In a
    /// [`Duplex`](crate::Duplex) the direction precedes the method: `back.loss`.
    pub method: String,
    /// The value given and the allowed values.
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

/// A packet that the link refuses, because it has no bytes, or more than the link's
/// [`mtu`](crate::LinkBuilder::mtu). The link does not count the packet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NotSent<T> {
    /// The payload, returned to the caller.
    pub payload: T,
    /// The number of bytes given.
    pub bytes: usize,
    /// The maximum size of a packet on this link, in bytes.
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
