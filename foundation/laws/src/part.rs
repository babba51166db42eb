//! The properties that each discipline declares, so no other file needs a list of names.

use crate::role;
use crate::scheduler::service::{PER, Per, SCHEDULER, Service};
use crate::spec::{Share, TreeClass, Weights};
use core::any::Any;
use fairwire_core::ClassTerms;
use fairwire_parameters::{Role, Roles};

/// The classes between which a discipline shares the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassSupport {
    /// None: the discipline distinguishes only flows.
    None,
    /// Classes directly under the root, by weights.
    Weights,
    /// A tree of classes, by weights.
    Tree,
    /// A tree of classes, by weights, guarantees and ceilings; each leaf has a separate queue.
    Queues,
}

/// A discipline's parameters, for callers that estimate memory or adapt the discipline to a link.
/// The [roles](crate::role) of fields declare the other properties.
pub trait Part: Any + Roles {
    /// The estimated bytes of tables for a buffer of `packets`, excluding the buffer itself and a
    /// scheduler given as a parameter. 0 if the tables are small compared with the buffer.
    fn table_bytes(&self, _packets: u64) -> u64 {
        0
    }

    /// The classes between which the discipline shares the link.
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

    /// The name of the parameter that gave classes or their weights, if any.
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

    /// Shares between hosts (the upper half of a flow hash), then between the flows of each host.
    /// Returns false if the given parameters prevent this.
    fn set_hosts(&mut self) -> bool {
        false
    }

    /// Does the discipline mark ECN-capable packets by default on a real link?
    fn marks_on_a_link(&self) -> bool {
        false
    }

    /// True if an arrival's place in the sequence of arrivals decides whether it is dropped, as in
    /// RED above its maximum threshold. Losses may then depend on the round-trip time modulo a
    /// packet's transmission time.
    fn drops_by_place(&self) -> bool {
        false
    }

    /// The inner dropper of a composition. It has the roles that the outer discipline lacks.
    fn dropper_mut(&mut self) -> Option<&mut dyn Part> {
        None
    }
}

impl dyn Part {
    /// Can every scheduler serve the discipline?
    pub fn takes_scheduler(&mut self) -> bool {
        SCHEDULER.slot(self).is_some() && self.dropper_mut().is_none()
    }

    /// Sets the parameter of `role`, unless it was given.
    pub fn set_default<T: 'static>(&mut self, role: Role<T>, value: T) {
        if let Some(slot) = role.slot(self) {
            slot.get_or_insert(value);
        } else if let Some(dropper) = self.dropper_mut() {
            dropper.set_default(role, value);
        }
    }

    /// Shares between classes with these weights. No effect without [`classes`](Part::classes).
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

    /// Shares between the classes of a tree. In `classes`, parents come first, and a class's index
    /// is its number. No effect without a [tree](ClassSupport::Tree).
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
