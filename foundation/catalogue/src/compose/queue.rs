//! A queue of parts: any scheduler with any dropper.
//!
//! # What it does
//! The dropper refuses, marks and pushes out packets of one buffer, and the scheduler decides which
//! packet leaves next. A name such as `drr+faba` is the short form.
//!
//! # Why
//! Service and dropping are independent choices. FABA under deficit round robin needs no extra
//! code.
//!
//! # State and cost
//! Those of the scheduler and of the dropper. With `tail-drop`, which gives no early signals, `ecn`
//! has no effect.
//!
//! # Source (section, equation)
//! B. Suter, T. V. Lakshman, D. Stiliadis and A. K. Choudhury, "Design Considerations for
//! Supporting TCP with Per-flow Queueing", INFOCOM 1998, sections II.A and II.B.
//!
//! # Where we differ
//! A discipline with its own scheduler, such as `fq-codel` or `drr`, is refused as a dropper.
//!
//! # Example
//! ```toml
//! [discipline.queue]
//! scheduler = { drr = { quantum = "1514 B" } }
//! dropper = { faba = { lambda2 = 0.2 } }
//! ecn = "mark"
//! ```

use crate::choice::Choice;
use crate::discipline::{self, part_of_choice};
use crate::nested::{Nested, Placed, check_slots};
use crate::registry::Entry;
use crate::spec::{DisciplineSpec, Parameters};
use fairwire_core::Discipline;
use fairwire_core::units::Amount;
use fairwire_laws::about::{About, Family};
use fairwire_laws::error::Parameter;
use fairwire_laws::part::Part;
use fairwire_laws::role;
use fairwire_laws::scheduler::Service;
use fairwire_laws::scheduler::service::SCHEDULER;
use fairwire_laws::spec::{EcnChoice, Quantity};
use fairwire_laws::{BadParameter, Site};
use fairwire_parameters::parameters;

/// The entry of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::Composition,
    summary: "any scheduler with any dropper",
    state: "that of the scheduler and of the dropper",
    cost: "that of the scheduler and of the dropper",
    marks: false,
    source: "Suter, Lakshman, Stiliadis, Choudhury 1998, section II",
};

const NAME: &str = "queue";

static DEFAULT: Choice = Choice::named("tail-drop");

/// Parameters of `queue`.
#[parameters]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The size of the buffer, unless the dropper sets it.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether an early signal drops or marks ECN-capable packets, unless the dropper sets it.
    #[parameter(is = role::ECN, unset = "the dropper's")]
    pub ecn: Option<EcnChoice>,
    /// The order in which packets leave.
    #[parameter(is = SCHEDULER, unset = "`fcfs`", unit = "scheduler")]
    pub scheduler: Option<Service>,
    /// The component that refuses, marks and pushes out packets: the name of a discipline that any
    /// scheduler can serve, or a table with its name and its parameters.
    #[parameter(unset = "`tail-drop`", unit = "discipline")]
    pub dropper: Option<Choice>,
}

impl Part for Spec {
    fn table_bytes(&self, packets: u64) -> u64 {
        self.of_dropper(|part| part.table_bytes(packets)).unwrap_or(0)
    }

    fn marks_on_a_link(&self) -> bool {
        self.of_dropper(|part| part.marks_on_a_link()).unwrap_or(false)
    }

    fn drops_by_place(&self) -> bool {
        self.of_dropper(|part| part.drops_by_place()).unwrap_or(false)
    }

    fn dropper_mut(&mut self) -> Option<&mut dyn Part> {
        part_of_choice(self.dropper.get_or_insert_with(|| DEFAULT.clone()))
    }
}

impl Spec {
    fn choice(&self) -> &Choice {
        self.dropper.as_ref().unwrap_or(&DEFAULT)
    }

    fn of_dropper<R>(&self, answer: impl FnOnce(&dyn Part) -> R) -> Option<R> {
        let nothing = Parameters::default();
        let given = self.choice().parameters().unwrap_or(&nothing);
        discipline::with_part(self.choice().name(), given, answer).ok()
    }

    /// The parameters of the dropper, with the queue's scheduler and ECN policy added.
    fn whole(&self, entry: &Entry) -> Result<Parameters, BadParameter> {
        let name = self.choice().name();
        let mut parameters = self.choice().parameters().cloned().unwrap_or_default();
        let refuse = |name, given: String, allowed: &str| -> BadParameter {
            Parameter { discipline: NAME, name }.refuse(given, allowed)
        };
        let part = discipline::part_of_entry(entry, &mut parameters);
        if !part.takes_scheduler() {
            let allowed =
                "a dropper that any scheduler can serve, such as `tail-drop`, `red`, `lqd` or `faba`";
            return Err(refuse("dropper", format!("`{name}`, which has a scheduler of its own"), allowed));
        }
        if let Some(service) = &self.scheduler
            && let Some(slot) = SCHEDULER.slot(part)
            && slot.replace(service.clone()).is_some_and(|own| own != *service)
        {
            let kind = service.name.name();
            let given = format!("`{kind}`, and the dropper `{name}` has a different `scheduler`");
            return Err(refuse("scheduler", given, "one `scheduler`, in `queue` or in the dropper"));
        }
        if let Some(ecn) = self.ecn {
            part.set_default(role::ECN, ecn);
        }
        Ok(parameters)
    }

    fn nested(&self) -> Nested<'_> {
        let typed_as = Parameter { discipline: NAME, name: "dropper" };
        Nested { choice: self.choice(), ecn: self.ecn, typed_as, place: None }
    }

    /// Adds the dropper's path to `bad`. An error in the queue's own scheduler gets the queue's
    /// path instead.
    fn placed_error(&self, bad: BadParameter) -> BadParameter {
        let is_order = bad.within.is_empty() && bad.parameter.starts_with("scheduler");
        match self.scheduler.is_some() && is_order {
            true => BadParameter { discipline: NAME, ..bad },
            false => self.nested().placed(bad),
        }
    }

    fn with_whole<R>(
        &self,
        site: &Site<'_>,
        made: impl FnOnce(&dyn DisciplineSpec, &Site<'_>) -> Result<R, BadParameter>,
    ) -> Result<R, BadParameter> {
        let entry = self.nested().outlined(site)?;
        let made = |spec: &dyn DisciplineSpec| made(spec, &self.inner_site(site));
        discipline::with_spec(entry, &self.whole(entry)?, made).map_err(|bad| self.placed_error(bad))
    }

    fn inner_site<'a>(&self, site: &Site<'a>) -> Site<'a> {
        Site { buffer: self.buffer.map_or(site.buffer, |buffer| buffer.0), ..*site }
    }

    pub(crate) fn placed<'a>(&'a self, site: &Site<'a>) -> Vec<Placed<'a>> {
        vec![(self.nested(), self.inner_site(site))]
    }

    /// Checks the parameters and the dropper against the site.
    pub fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.with_whole(site, |spec, site| spec.check(site))?;
        check_slots(NAME, &self.placed(site))
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        self.check(site)?;
        self.with_whole(site, |spec, site| spec.build(site))
    }
}
