//! A tree takes the place of another: no class's burst begins anew because another's terms changed.

use super::leaf::Inner;
use super::node::ROOT;
use super::tree::Classful;
use crate::compose::prio::moved;
use alloc::vec;
use fairwire_core::{Backlog, Discipline, Kept, Time};

impl Classful {
    /// Takes over from `before` the buckets and turns of its classes, and the leaves that can stay.
    pub(super) fn inherit(&mut self, before: &mut Classful, kept: &Kept<'_>, now: Time) {
        self.nodes[ROOT].inherit(&before.nodes[ROOT], 0);
        let mut has_heir = vec![false; self.nodes.len()];
        for (class, &next) in (0..).zip(kept.classes) {
            let (Some(was), Some(is)) = (before.tree.place(class), self.tree.place(next)) else { continue };
            let (was, is) = (was + 1, is + 1);
            // The first of the classes that became one: the others are gone.
            if core::mem::replace(&mut has_heir[is], true) {
                continue;
            }
            let old = &before.nodes[was];
            self.nodes[is].inherit(old, before.nodes[old.parent].clocks[old.priority]);
            if kept.names && class == next {
                self.keep_leaf(is, before, was, now);
            }
        }
    }

    /// Moves the discipline of the leaf `was` of `before` to the leaf `is`, where it can take over
    /// the parameters of the one there.
    fn keep_leaf(&mut self, is: usize, before: &mut Classful, was: usize, now: Time) {
        let is_later = match &self.nodes[is].contents.inner {
            None => return,
            Some(Inner::Later) => true,
            Some(Inner::Made(_)) => false,
        };
        let Some(Inner::Made(old)) = &mut before.nodes[was].contents.inner else { return };
        let backlog = old.backlog();
        // A leaf that is made later is made again as at first.
        if is_later && backlog.is_empty() {
            return;
        }
        let fresh = match self.nodes[is].contents.inner.take() {
            Some(Inner::Made(fresh)) => fresh,
            _ => self.maker.as_ref().expect("a leaf that is made later has a maker")(is - 1),
        };
        if !old.retune(&*fresh, now) {
            self.nodes[is].contents.inner = Some(if is_later { Inner::Later } else { Inner::Made(fresh) });
            return;
        }
        let old = core::mem::replace(old, fresh);
        self.nodes[is].contents.inner = Some(Inner::Made(old));
        if is_later {
            self.made.push(is);
        }
        before.backlog = moved(before.backlog, backlog, Backlog::default());
        self.backlog = moved(self.backlog, Backlog::default(), backlog);
        if !backlog.is_empty() {
            before.deactivate(was);
            self.activate(is);
        }
    }
}
