//! What each discipline states about itself, so that no list of names is needed elsewhere.

use crate::role;
use crate::scheduler::service::{PER, Per, SCHEDULER, Service};
use crate::spec::{Share, TreeClass, Weights};
use core::any::Any;
use fairwire_core::ClassTerms;
use fairwire_parameters::{Role, Roles};

/// Which classes a discipline shares between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassSupport {
    /// None: it knows flows only.
    None,
    /// Classes that are all under the root, by weights.
    Weights,
    /// A tree of classes, by weights.
    Tree,
    /// A tree of classes, by weights, guarantees and ceilings; each leaf has a queue of its own.
    Queues,
}

/// The parameters of one discipline, for callers that size it or suit it to a link. What they can
/// read or set, fields declare by their [roles](crate::role); the rest is here.
pub trait Part: Any + Roles {
    /// Bytes of its tables, with room for `packets`, and without its buffer and its scheduler. An
    /// estimate; 0 where they are small beside the buffer.
    fn table_bytes(&self, _packets: u64) -> u64 {
        0
    }

    /// Which classes it shares between with what was typed.
    fn classes(&self) -> ClassSupport {
        let weights = role::WEIGHTS.name_in(self).or(role::FLOW_WEIGHTS.name_in(self));
        if role::TREE.name_in(self).is_some() {
            ClassSupport::Tree
        } else if weights.is_some() || SCHEDULER.given(self).is_some_and(Service::has_queues) {
            ClassSupport::Weights
        } else {
            ClassSupport::None
        }
    }

    /// The key by which classes or their weights were typed, if they were.
    fn typed_classes(&self) -> Option<&'static str> {
        fn typed<T: 'static>(role: Role<T>, part: &(impl Roles + ?Sized)) -> Option<Option<&'static str>> {
            role.name_in(part).map(|name| role.given(part).is_some().then_some(name))
        }
        let own = typed(role::TREE, self)
            .or_else(|| typed(role::WEIGHTS, self))
            .or_else(|| typed(role::FLOW_WEIGHTS, self));
        own.unwrap_or_else(|| {
            let service = SCHEDULER.given(self).filter(|service| service.has_queues())?;
            service.terms.queue.weights.is_some().then_some("scheduler")
        })
    }

    /// Shares between hosts, which the upper half of flow hashes names, before it shares between the
    /// flows of each. False where it cannot with what was typed.
    fn set_hosts(&mut self) -> bool {
        false
    }

    /// Does it mark ECN-capable packets by default, on a link that is shared for real?
    fn marks_on_a_link(&self) -> bool {
        false
    }

    /// Does it take its victim by its place when a packet arrives, as RED does above its maximum?
    /// Losses may follow from round trips modulo a packet's transmission time then.
    fn drops_by_place(&self) -> bool {
        false
    }

    /// The dropper inside, where it is a queue of parts: it has the roles that the queue has not.
    fn dropper_mut(&mut self) -> Option<&mut dyn Part> {
        None
    }
}

impl dyn Part {
    /// Can any scheduler serve it?
    pub fn takes_scheduler(&mut self) -> bool {
        SCHEDULER.slot(self).is_some() && self.dropper_mut().is_none()
    }

    /// Gives the parameter of this role the value, unless it was typed. Without effect where there
    /// is none.
    pub fn set_default<T: 'static>(&mut self, role: Role<T>, value: T) {
        if let Some(slot) = role.slot(self) {
            slot.get_or_insert(value);
        } else if let Some(dropper) = self.dropper_mut() {
            dropper.set_default(role, value);
        }
    }

    /// Shares between classes with these weights. Without effect where it knows no
    /// [`classes`](Part::classes).
    pub fn set_weights(&mut self, weights: Weights) {
        if let Some(slot) = role::WEIGHTS.slot(self) {
            *slot = Some(weights);
            self.set_default(PER, Per::Class);
            self.set_default(role::SHARE_BETWEEN, Share::Classes);
        } else if let Some(slot) = role::FLOW_WEIGHTS.slot(self) {
            *slot = Some(weights);
        } else if let Some(Some(service)) = SCHEDULER.slot(self)
            && service.has_queues()
        {
            service.terms.queue.per.get_or_insert(Per::Class);
            service.terms.queue.weights = Some(weights);
        }
    }

    /// Shares between the classes of this tree, which are numbered by their places, parents first.
    /// Without effect where it knows no [tree](ClassSupport::Tree).
    pub fn set_tree(&mut self, classes: &[ClassTerms]) {
        let class = |(id, terms): (u32, &ClassTerms)| TreeClass {
            id: Some(id),
            weight: Some(terms.weight.get()),
            parent: terms.parent,
        };
        if let Some(slot) = role::TREE.slot(self) {
            *slot = Some((0..).zip(classes).map(class).collect());
        }
    }
}
