//! The code that the catalogue's fair queueing entries share: a scheduler, its terms, and the
//! dropper that makes room.

use crate::dropper::half_free::HalfFree;
use crate::dropper::lqd::Lqd;
use crate::dropper::push_out;
use crate::dropper::tail_drop::TailDrop;
use crate::error::{BadParameter, Of as _};
use crate::queueing::Queueing;
use crate::role;
use crate::scheduler::kind::Kind;
use crate::scheduler::service::{CheckedService, QueueTerms, Service, ServiceTerms};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Limit, Rng};
use fairwire_parameters::{parameters, word};

/// Implements `Part`, `check` and `build` for a `Spec` with the scheduler `$kind`. `$quantum` is
/// the parameter for the bytes per round, if any.
macro_rules! schedules {
    ($kind:expr $(, $quantum:ident)?) => {
        impl crate::part::Part for Spec {
            fn table_bytes(&self, packets: u64) -> u64 {
                $kind.table_bytes(packets, self.entry.queue.queues)
            }
        }

        impl Spec {
            /// Checks the parameters against the site.
            pub fn check(
                &self,
                site: &crate::Site<'_>,
            ) -> Result<super::entry::CheckedEntry, crate::BadParameter> {
                self.entry.check(NAME, $kind, None$(.or(self.$quantum))?, site)
            }

            /// Checks and builds.
            pub fn build(
                &self,
                site: &crate::Site<'_>,
            ) -> Result<alloc::boxed::Box<dyn fairwire_core::Discipline>, crate::BadParameter> {
                Ok(self.check(site)?.build(site.rng(NAME)))
            }
        }
    };
}

pub(super) use schedules;

/// The rule that makes room in a full buffer.
#[word(gated)]
pub enum MakesRoom {
    /// The oldest packet of the longest queue is pushed out. Suter et al. 1998, section II. More
    /// than 256 different weights are refused.
    #[default]
    Lqd,
    /// The arrival is refused.
    TailDrop,
    /// An arrival is refused, even before the buffer is full, if its queue holds at least half as
    /// many packets as still fit. ns-2's SFQ has this rule.
    HalfFree,
}

/// The parameters that all entries share.
#[parameters(gated, checked = Checked, group)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The size of the buffer.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether early signals drop or mark ECN-capable packets.
    ///
    /// This has no effect, since there are no early signals.
    #[parameter(is = role::ECN, default = EcnChoice::Drop)]
    pub ecn: Option<EcnChoice>,
    /// The queues.
    #[parameter(flatten)]
    pub queue: QueueTerms,
    /// The rule that makes room in a full buffer.
    #[parameter(default = MakesRoom::Lqd)]
    pub dropper: Option<MakesRoom>,
}

/// The checked parameters of an [`Entry`].
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedEntry {
    /// The size of the buffer.
    pub limit: Limit,
    /// The response to a signal.
    pub ecn: EcnChoice,
    /// The order of service.
    pub service: CheckedService,
    /// The rule that makes room.
    pub dropper: MakesRoom,
    longest: push_out::Config,
}

impl Entry {
    /// Checks the parameters of `discipline`, whose scheduler is of `kind`.
    pub fn check(
        &self,
        discipline: &'static str,
        kind: Kind,
        quantum: Option<Quantity<Size>>,
        site: &Site<'_>,
    ) -> Result<CheckedEntry, BadParameter> {
        let Checked { ecn, dropper } = self.checked().of(discipline)?;
        let limit = site.room(discipline, self.buffer)?.limit;
        let terms = ServiceTerms { queue: self.queue.clone(), quantum };
        let scheduler = Some(Service { name: kind, terms });
        let service = Service::check(&scheduler, discipline, site).map_err(at_the_top)?;
        let queue = Queueing { buffer: self.buffer, ecn: self.ecn, scheduler };
        let pushed_out = push_out::Parameters { queue, measure: None, drop: None };
        let (_, mut longest) = pushed_out.check(discipline, site).map_err(at_the_top)?;
        if dropper == MakesRoom::Lqd {
            longest = longest.with_few_weights(discipline, &pushed_out.queue).map_err(at_the_top)?;
        }
        Ok(CheckedEntry { limit, ecn, service, dropper, longest })
    }
}

/// Removes the prefix `scheduler.KIND.`: an entry has the scheduler's parameters at its top level.
fn at_the_top(bad: BadParameter) -> BadParameter {
    let term = bad.parameter.strip_prefix("scheduler.").and_then(|named| named.split_once('.'));
    match term {
        Some((_, parameter)) => BadParameter { parameter: parameter.to_owned().into(), ..bad },
        None => bad,
    }
}

impl CheckedEntry {
    /// Builds the discipline. To make room, `rng` chooses among equally long queues.
    pub(crate) fn build(&self, rng: Rng) -> Box<dyn Discipline> {
        match self.dropper {
            MakesRoom::Lqd => self.service.queue(self.limit, self.ecn, self.lqd(rng)),
            MakesRoom::TailDrop => self.service.queue(self.limit, self.ecn, TailDrop),
            MakesRoom::HalfFree => self.service.queue(self.limit, self.ecn, HalfFree),
        }
    }

    pub(super) fn lqd(&self, rng: Rng) -> Lqd {
        Lqd::new(self.longest.clone(), rng)
    }
}
