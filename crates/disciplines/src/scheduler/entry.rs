//! What the catalogue's fair queueing entries have in common: a scheduler, its terms, and who makes room.

use super::longest::Longest;
use crate::dropper::tail_drop::TailDrop;
use crate::error::BadParameter;
use crate::scheduler::any::Kind;
use crate::scheduler::service::{CheckedService, Per, Service, Sharing};
use crate::site::Site;
use crate::spec::{EcnChoice, Quantity, Weights};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Discipline, Limit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who makes room in a full buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MakesRoom {
    /// The longest queue: its oldest packet is pushed out. Suter et al. 1998, section II.
    #[default]
    Lqd,
    /// The arrival: it is refused.
    TailDrop,
}

/// What was typed for an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed<'a> {
    pub buffer: Option<Quantity<Amount>>,
    pub ecn: Option<EcnChoice>,
    pub quantum: Option<Quantity<Size>>,
    pub weights: &'a Option<Weights>,
    pub per: Option<Per>,
    pub queues: Option<u32>,
    pub sharing: Option<Sharing>,
    pub dropper: Option<MakesRoom>,
}

/// What was typed, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// How much may wait.
    pub limit: Limit,
    /// What becomes of a signal.
    pub ecn: EcnChoice,
    /// The order of service.
    pub service: CheckedService,
    /// Who makes room.
    pub dropper: MakesRoom,
}

impl Typed<'_> {
    /// Checks what was typed for `discipline`, which serves as `kind` does.
    pub fn check(
        self,
        discipline: &'static str,
        kind: Kind,
        site: &Site<'_>,
    ) -> Result<Checked, BadParameter> {
        let limit = site.room(discipline, self.buffer)?.limit;
        let service = Service {
            name: kind,
            per: self.per,
            weights: self.weights.clone(),
            quantum: self.quantum,
            queues: self.queues,
            sharing: self.sharing,
        };
        let service = Service::check(&Some(service), discipline, site).map_err(at_the_top)?;
        let (ecn, dropper) = (self.ecn.unwrap_or_default(), self.dropper.unwrap_or_default());
        Ok(Checked { limit, ecn, service, dropper })
    }
}

/// Here the terms of service stand among the entry's own parameters, not in a table of their own.
fn at_the_top(bad: BadParameter) -> BadParameter {
    let parameter = bad.parameter.strip_prefix("scheduler.").unwrap_or(bad.parameter);
    BadParameter { parameter, ..bad }
}

impl Checked {
    /// Builds it.
    pub fn build(&self) -> Box<dyn Discipline> {
        match self.dropper {
            MakesRoom::Lqd => self.service.queue(self.limit, self.ecn, Longest::default()),
            MakesRoom::TailDrop => self.service.queue(self.limit, self.ecn, TailDrop),
        }
    }
}
