//! The catalogue entries for classes.

use super::class::{Class, DROPPER, Kind, QUEUE};
use super::controller;
use super::dropper::Law;
use super::queue::Full;
use super::scope::{Run, find};
use fairwire_catalogue::{self as catalogue, About, DisciplineSpec, Family};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Dropper, Queue, scheduler::Fcfs};
use fairwire_laws::error::Parameter;
use fairwire_laws::part::Part;
use fairwire_laws::queueing::Queueing;
use fairwire_laws::role;
use fairwire_laws::spec::{EcnChoice, Quantity};
use fairwire_laws::{BadParameter, Site};
use fairwire_parameters::parameters;
use fairwire_scenario::control;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;

/// Registers the entries once, before any lookup.
pub(crate) fn register() -> PyResult<()> {
    catalogue::register::<DropperSpec>(about("a dropper that is a class of Python"))
        .and_then(|()| catalogue::register::<QueueSpec>(about("a whole queue that is a class of Python")))
        .and_then(|()| control::register::<controller::Spec>(controller::ABOUT))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The dropper used if `__init__` of the dropper's class failed. By then, the run has ended.
struct Nothing;

impl Dropper for Nothing {}

fn found(
    discipline: &'static str,
    text: &Option<String>,
    kind: Kind,
) -> Result<(Arc<Class>, Arc<Run>), BadParameter> {
    let text = text.as_deref().unwrap_or_default();
    find(text).filter(|(class, _)| class.kind == kind).ok_or_else(|| {
        let allowed = format!("a class of Python itself, a fairwire.{}, in place of this table", kind.base());
        Parameter { discipline, name: "class" }.refuse(format_args!("`{text}`"), allowed)
    })
}

const fn about(summary: &'static str) -> About {
    About {
        family: Family::ActiveQueueManagement,
        summary,
        state: "the class's",
        cost: "a call of Python",
        marks: true,
        source: "fairwire.own",
    }
}

/// Parameters of `python`.
#[parameters(name = "python")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DropperSpec {
    /// The buffer, the treatment of signals, and the scheduler.
    #[parameter(flatten)]
    queue: Queueing,
    /// The class, a `fairwire.Dropper`, with its arguments.
    #[parameter(unset = "none, which is refused", unit = "text")]
    class: Option<String>,
}

/// Parameters of `python-queue`.
#[parameters(name = "python-queue")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct QueueSpec {
    /// The buffer.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    buffer: Option<Quantity<Amount>>,
    /// The class, a `fairwire.Queue`, with its arguments.
    #[parameter(unset = "none, which is refused", unit = "text")]
    class: Option<String>,
}

impl Part for DropperSpec {}

impl DisciplineSpec for DropperSpec {
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.queue.check(DROPPER, site)?;
        found(DROPPER, &self.class, Kind::Dropper)?;
        Ok(())
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let (class, run) = found(DROPPER, &self.class, Kind::Dropper)?;
        // Marks are the default, since a class may return "mark".
        let ecn = Some(self.queue.ecn.unwrap_or(EcnChoice::Mark));
        let queue = Queueing { ecn, ..self.queue.clone() }.check(DROPPER, site)?;
        let law = made(&run, |py| Law::new(py, &class, &run, (queue.room.limit, site)));
        Ok(match law {
            Some(law) => queue.serve(law),
            None => queue.serve(Nothing),
        })
    }
}

impl Part for QueueSpec {}

impl DisciplineSpec for QueueSpec {
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        site.room(QUEUE, self.buffer)?;
        found(QUEUE, &self.class, Kind::Queue)?;
        Ok(())
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let limit = site.room(QUEUE, self.buffer)?.limit;
        let (class, run) = found(QUEUE, &self.class, Kind::Queue)?;
        Ok(match made(&run, |py| Full::new(py, &class, &run, (limit, site))) {
            Some(queue) => Box::new(queue),
            None => Box::new(Queue::new(limit, Fcfs, Nothing)),
        })
    }
}

fn made<T>(run: &Run, make: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
    Python::attach(|py| make(py).map_err(|error| run.fail(py, error, fairwire_core::Time::ZERO)).ok())
}
