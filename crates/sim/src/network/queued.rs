//! A link at work, and what waits for it.

use crate::event::Lane;
use crate::link::Link;
use std::collections::VecDeque;

/// A link, and the lane of its questions.
pub(crate) struct Queued {
    pub(super) link: Link,
    pub(super) lane: Lane,
    /// The packets offered to it, in that order, where the run looks ahead and delivers at once.
    pub(super) waiting: VecDeque<Waiting>,
    /// Do all that leave it go to their sinks, so that they can be delivered later, all at once?
    pub(super) is_last: bool,
}

/// A packet offered to a link: its frame's slot, and its flow.
pub(super) struct Waiting {
    pub(super) slot: u32,
    pub(super) flow: u32,
}

impl Queued {
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }
}
