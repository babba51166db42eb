//! What each discipline states about itself, so that no list of names is needed elsewhere.

use crate::queueing::Queueing;
use crate::scheduler::kind::Kind;
use crate::scheduler::service::{Per, Service};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, Weights};
use alloc::format;
use alloc::string::String;
use fairwire_core::units::Amount;
use fairwire_core::{ClassTerms, Duration, Limit};

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

/// A queueing discipline of Linux, as `tc qdisc` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// Its name and its parameters, but for `timer`.
    pub parameters: String,
    /// The name of a time that the kernel counts in ticks of its clock, and how long it is to take.
    pub timer: Option<(&'static str, Duration)>,
    /// The kernel's module for it; `None` where that is always there.
    pub module: Option<&'static str>,
}

impl Qdisc {
    /// What `tc qdisc` takes, for a kernel with ticks of this length. Its timers ring a tick after
    /// their time, so they are set to less.
    pub fn line(&self, tick: Duration) -> String {
        let Qdisc { parameters, timer, .. } = self;
        timer.map_or_else(
            || parameters.clone(),
            |(name, takes)| {
                let us = takes.ns().saturating_sub(tick.ns()).div_ceil(1000).max(1);
                format!("{parameters} {name} {us}us")
            },
        )
    }

    /// What Linux counts in packets; `None` for a limit in bytes.
    pub(crate) fn packets(limit: Limit) -> Option<u32> {
        (!limit.is_in_bytes()).then(|| limit.max_packets())
    }
}

/// A queue of ns-2, with its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ns2Queue {
    /// Its class, below `Queue`.
    pub class: &'static str,
    /// Its variables, its limit among them, as Tcl takes them: names and values in turn.
    pub variables: String,
    /// The most flows that it keeps apart as ours does; `None` for any number.
    pub most_flows: Option<u32>,
}

impl Ns2Queue {
    /// For any number of flows.
    pub(crate) fn new(class: &'static str, variables: String) -> Self {
        Ns2Queue { class, variables, most_flows: None }
    }
}

/// The parameters of one discipline, for callers that size it or suit it to a link. Each method has
/// a default, for disciplines to which it does not apply.
pub trait Part {
    /// Its buffer, its signals and its order of service, where any dropper can take its place.
    fn queue(&self) -> Option<&Queueing> {
        None
    }

    /// The same, to be changed.
    fn queue_mut(&mut self) -> Option<&mut Queueing> {
        None
    }

    /// Linux's discipline that is the same, where this works; `None` where Linux has none, or not
    /// with these parameters.
    fn linux(&self, _site: &Site<'_>) -> Option<Qdisc> {
        None
    }

    /// The queue of ns-2 2.35 that is the same, where this works; `None` where ns-2 has none, or
    /// not with these parameters.
    fn ns2(&self, _site: &Site<'_>) -> Option<Ns2Queue> {
        None
    }

    /// The buffer that was given for it; `None` if it takes the site's.
    fn buffer(&self) -> Option<Amount> {
        self.queue()?.buffer.map(|buffer| buffer.0)
    }

    /// Takes the ECN policy of the discipline around it, unless it was given one of its own.
    fn inherit_ecn(&mut self, ecn: EcnChoice) {
        if let Some(queue) = self.queue_mut() {
            queue.ecn.get_or_insert(ecn);
        }
    }

    /// The order of service inside, where any can be given.
    fn scheduler(&self) -> Option<&Service> {
        self.queue()?.scheduler.as_ref()
    }

    /// Where the order of service is given, to be changed. `None` where none can be.
    fn scheduler_mut(&mut self) -> Option<&mut Option<Service>> {
        self.queue_mut().map(|queue| &mut queue.scheduler)
    }

    /// Buffers that it has, each of the size typed.
    fn buffers(&self) -> u64 {
        1
    }

    /// Bytes of its tables, with room for `packets`, and without its buffer and its `scheduler`. An
    /// estimate.
    fn table_bytes(&self, _packets: u64) -> u64 {
        0
    }

    /// Which classes it shares between with what was typed.
    fn classes(&self) -> ClassSupport {
        match self.scheduler() {
            Some(service) if service.name != Kind::Fcfs => ClassSupport::Weights,
            _ => ClassSupport::None,
        }
    }

    /// Has each flow of a class the weight of the class, rather than the class as a whole?
    fn weighs_each_flow(&self) -> bool {
        false
    }

    /// The key by which classes or their weights were typed, if they were.
    fn typed_classes(&self) -> Option<&'static str> {
        let service = self.scheduler().filter(|service| service.name != Kind::Fcfs)?;
        service.terms.queue.weights.is_some().then_some("scheduler")
    }

    /// Shares between classes with these weights. Without effect where it knows no
    /// [`classes`](Part::classes).
    fn set_weights(&mut self, weights: Weights) {
        let service = self.scheduler_mut().and_then(Option::as_mut);
        if let Some(service) = service.filter(|service| service.name != Kind::Fcfs) {
            service.terms.queue.per.get_or_insert(Per::Class);
            service.terms.queue.weights = Some(weights);
        }
    }

    /// Shares between the classes of this tree, which are numbered by their places, parents first.
    /// Without effect where it knows no [tree](ClassSupport::Tree).
    fn set_tree(&mut self, _classes: &[ClassTerms]) {}

    /// Shares between hosts, which are classes, before it shares between the flows of each. False
    /// where it cannot with what was typed.
    fn set_hosts(&mut self) -> bool {
        false
    }

    /// Counts bytes where it could count packets, unless typed otherwise.
    fn default_to_bytes(&mut self) {}

    /// Serves a flow's packets in trains, in rounds of this length, unless typed otherwise.
    fn default_round(&mut self, _round: Duration) {}

    /// Sets the number of queues, unless it was typed.
    fn default_queues(&mut self, _queues: u32) {}

    /// Sets the maximum number of flows with state, unless it was typed.
    fn default_flows(&mut self, _flows: u32) {}

    /// Drops nothing below this backlog, unless typed otherwise.
    fn default_free_below(&mut self, _amount: Quantity<Amount>) {}

    /// Does it mark ECN-capable packets by default, on a link that is shared for real?
    fn marks_on_a_link(&self) -> bool {
        false
    }
}

/// The two methods of a [`Part`] with a field `queue`.
macro_rules! has_queue {
    () => {
        fn queue(&self) -> Option<&crate::queueing::Queueing> {
            Some(&self.queue)
        }

        fn queue_mut(&mut self) -> Option<&mut crate::queueing::Queueing> {
            Some(&mut self.queue)
        }
    };
}

pub(crate) use has_queue;
