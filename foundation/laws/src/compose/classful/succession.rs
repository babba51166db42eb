//! Lets one tree replace another without restarting the bursts of unchanged classes.

use super::leaf::Inner;
use super::node::{Node, ROOT};
use super::tree::Classful;
use crate::compose::prio::moved;
use alloc::boxed::Box;
use alloc::vec;
use fairwire_core::{Backlog, ClassTree, Discipline, Kept, Time};

impl Classful {
    pub(super) fn inherit(&mut self, before: &mut Classful, kept: &Kept<'_>, now: Time) {
        self.nodes[ROOT].inherit(&before.nodes[ROOT], 0);
        let mut has_heir = vec![false; self.nodes.len()];
        for (class, &next) in (0..).zip(kept.classes) {
            let (Some(was), Some(is)) = (before.tree.place(class), self.tree.place(next)) else { continue };
            let (was, is) = (was + 1, is + 1);
            // Of several classes that merge into one, only the first is inherited.
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

    pub(super) fn adopt(&mut self, class: u32, parent: Option<u32>, fresh: &mut Classful, now: Time) -> bool {
        let place = |tree: &ClassTree, class| tree.place(class).map(|place| place + 1);
        let above = parent.map_or(Some(ROOT), |parent| place(&self.tree, parent));
        let (Some(above), Some(at), Some(of)) = (above, place(&self.tree, class), place(&fresh.tree, class))
        else {
            return false;
        };
        let are_leaves = |nodes: [&Node; 2]| nodes.iter().all(|node| node.contents.inner.is_some());
        if self.nodes[above].contents.inner.is_some() || !are_leaves([&self.nodes[at], &fresh.nodes[of]]) {
            return false;
        }
        if let Some(maker) = &mut self.maker {
            let is_adopted =
                fresh.maker.as_ref().is_some_and(|theirs| maker.adopt(at - 1, &**theirs, of - 1));
            if !is_adopted {
                return false;
            }
        }
        let is_later = self.maker.is_some() && self.inner(at).is_none();
        if !is_later {
            let Some(fresh_leaf) = fresh.taken_leaf(of) else { return false };
            let is_retuned = match &mut self.nodes[at].contents.inner {
                Some(Inner::Made(leaf)) => {
                    let is_retuned = leaf.retune(&*fresh_leaf, now);
                    if !is_retuned && !leaf.backlog().is_empty() {
                        return false;
                    }
                    is_retuned
                }
                _ => false,
            };
            if !is_retuned {
                self.nodes[at].contents.inner = Some(Inner::Made(fresh_leaf));
                self.emptied.push(at); // it was not polled yet
            }
        }
        self.deactivate(at);
        self.forget_times(self.nodes[at].parent);
        let clock = self.nodes[self.nodes[at].parent].clocks[self.nodes[at].priority];
        // The old node is dropped with `fresh`.
        core::mem::swap(&mut self.nodes[at], &mut fresh.nodes[of]);
        let before = &mut fresh.nodes[of];
        self.nodes[at].contents.inner = before.contents.inner.take();
        self.nodes[at].inherit(before, clock);
        self.nodes[at].parent = above;
        self.nodes[at].is_used = before.is_used;
        self.nodes[at].tag += self.nodes[above].clocks[self.nodes[at].priority];
        self.tree.set_weight(at - 1, fresh.tree.terms()[of - 1].weight);
        self.terms = None; // the tree is no longer the one that was built
        self.forget_times(at);
        if self.inner(at).is_some_and(|inner| !inner.backlog().is_empty()) {
            self.activate(at);
        }
        true
    }

    fn taken_leaf(&mut self, at: usize) -> Option<Box<dyn Discipline>> {
        match self.nodes[at].contents.inner.take()? {
            Inner::Made(leaf) => Some(leaf),
            Inner::Later => Some(self.leaf(at)),
        }
    }

    fn keep_leaf(&mut self, is: usize, before: &mut Classful, was: usize, now: Time) {
        let is_later = match &self.nodes[is].contents.inner {
            None => return,
            Some(Inner::Later) => true,
            Some(Inner::Made(_)) => false,
        };
        let Some(Inner::Made(old)) = &mut before.nodes[was].contents.inner else { return };
        let backlog = old.backlog();
        // An empty leaf that can be built later need not be kept: its next packet builds it in its
        // initial state.
        if is_later && backlog.is_empty() {
            return;
        }
        let fresh = match self.nodes[is].contents.inner.take() {
            Some(Inner::Made(fresh)) => fresh,
            _ => self.leaf(is),
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
