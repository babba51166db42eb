//! The leaves of a tree, and the pool that they share.

use alloc::boxed::Box;
use alloc::string::String;
use core::any::Any;
use fairwire_core::{Backlog, Discipline};

/// The label and discipline of a node.
pub struct Contents {
    /// The name of the class in gauges.
    pub label: String,
    /// The discipline of a leaf.
    pub inner: Option<Inner>,
}

/// The discipline of a leaf.
pub enum Inner {
    /// It exists.
    Made(Box<dyn Discipline>),
    /// Built with its first packet.
    Later,
}

impl Inner {
    pub(super) fn made(&self) -> Option<&dyn Discipline> {
        match self {
            Inner::Made(inner) => Some(&**inner),
            Inner::Later => None,
        }
    }
}

/// Makes the disciplines of the leaves of a tree.
pub trait Maker: Any + Send {
    /// Makes the discipline of the leaf at `place`, identical at every call.
    fn make(&self, place: usize) -> Box<dyn Discipline>;

    /// From now on, [`make`](Self::make) makes for `place` what `fresh` makes for `from`. Returns
    /// false if that is impossible.
    fn adopt(&mut self, place: usize, fresh: &dyn Maker, from: usize) -> bool;
}

impl<F: Fn(usize) -> Box<dyn Discipline> + Send + 'static> Maker for F {
    fn make(&self, place: usize) -> Box<dyn Discipline> {
        self(place)
    }

    fn adopt(&mut self, _: usize, _: &dyn Maker, _: usize) -> bool {
        false
    }
}

/// The limit of the backlog of all leaves together, in addition to the room of each.
///
/// A leaf may hold as much as is free: dynamic thresholds with a factor of one (A. K. Choudhury and
/// E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM ToN
/// 6(2), 1998). If n leaves demand more, each gets 1/(n + 1) of the pool. The rest stays free for
/// idle leaves. At a leaf's threshold, an arrival pushes out only packets of that leaf, or is
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

impl Pool {
    #[inline]
    pub(super) fn has_room(&self, own: Backlog, all: Backlog, len: u32) -> bool {
        own.bytes + u64::from(len) <= self.bytes.saturating_sub(all.bytes)
            && own.packets < self.packets.saturating_sub(all.packets)
    }
}
