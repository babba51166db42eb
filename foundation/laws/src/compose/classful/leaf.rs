//! The leaf of a tree: a label, a discipline, and its part of a pool.

use alloc::boxed::Box;
use alloc::string::String;
use fairwire_core::{Backlog, Discipline};

/// The label and the discipline of one node of the tree.
pub struct Contents {
    /// How the class is called in gauges.
    pub label: String,
    /// Its discipline, in a leaf.
    pub inner: Option<Inner>,
}

/// The discipline of a leaf.
pub enum Inner {
    /// It is there.
    Made(Box<dyn Discipline>),
    /// It is made with its first packet.
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

/// Makes the discipline of the leaf at a place of the tree, always the same.
pub type Maker = Box<dyn Fn(usize) -> Box<dyn Discipline> + Send>;

/// The limit of what may wait in all leaves together, beside the room of each.
///
/// A leaf may hold as much as is free: dynamic thresholds with a factor of one (A. K. Choudhury and
/// E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM ToN
/// 6(2), 1998). So one alone has half of the pool. Where n want more, each has one part of n + 1,
/// and one part is always free for a leaf that was silent until now. No leaf's packets make room
/// for another's: beyond its threshold an arrival pushes out packets of its own leaf, or is
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u32,
}

impl Pool {
    /// May a leaf with `own` waiting have `len` bytes more, where `all` wait in all leaves?
    #[inline]
    pub(super) fn has_room(&self, own: Backlog, all: Backlog, len: u32) -> bool {
        own.bytes + u64::from(len) <= self.bytes.saturating_sub(all.bytes)
            && own.packets < self.packets.saturating_sub(all.packets)
    }
}
