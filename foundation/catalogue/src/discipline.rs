//! Checks, builds and describes a discipline, given its name and parameters.

use crate::choice::Choice;
use crate::error::{BuildError, UnknownDiscipline};
use crate::registry::{Entry, find};
use crate::spec::{DisciplineSpec, Parameters};
use fairwire_core::Discipline;
use fairwire_core::units::Amount;
use fairwire_laws::error::Parameter;
use fairwire_laws::part::Part;
use fairwire_laws::role;
use fairwire_laws::scheduler::Service;
use fairwire_laws::scheduler::service::SCHEDULER;
use fairwire_laws::spec::EcnChoice;
use fairwire_laws::{BadParameter, Site};
use std::borrow::Cow;

/// Builds the discipline with this name or alias for `site`.
pub fn build(
    name: &str,
    parameters: &Parameters,
    site: &Site<'_>,
) -> Result<Box<dyn Discipline>, BuildError> {
    Ok(with_spec(find(name)?, parameters, |spec| spec.build(site))?)
}

/// Checks the parameters of the discipline with this name or alias at `site`, without building it.
pub fn check(name: &str, parameters: &Parameters, site: &Site<'_>) -> Result<(), BuildError> {
    Ok(with_spec(find(name)?, parameters, |spec| spec.check(site))?)
}

/// Calls `made` with the parameters of `entry`'s discipline, or else with the defaults.
pub(crate) fn with_spec<R>(
    entry: &Entry,
    parameters: &Parameters,
    made: impl FnOnce(&dyn DisciplineSpec) -> Result<R, BadParameter>,
) -> Result<R, BadParameter> {
    match served(entry, parameters)?.find(entry.key) {
        Some(spec) => made(spec),
        None => made(&*entry.spec.default()),
    }
}

/// Checks the base parameters of each discipline at `site`.
///
/// Skips a discipline that a choice in `uses` names without parameters: the check of that choice
/// covers the base parameters. Accepts wrong base parameters that a choice in `uses` corrects.
pub fn check_base<'a>(
    base: &Parameters,
    uses: impl Iterator<Item = &'a Choice> + Clone,
    site: &Site<'_>,
) -> Result<(), BuildError> {
    for name in base.typed() {
        let is_named = |choice: &&Choice| find(choice.name()).is_ok_and(|entry| entry.key == name);
        let mut given = uses.clone().filter(is_named).map(Choice::parameters);
        if given.clone().any(|own| own.is_none()) {
            continue;
        }
        let base = base.only(name);
        let is_right_with = |own: &Parameters| check(name, &base.filled(own), site).is_ok();
        if let Err(error) = check(name, &base, site)
            && !given.any(|own| own.is_some_and(is_right_with))
        {
            return Err(error);
        }
    }
    Ok(())
}

/// The buffer that the discipline's parameters set, if any.
pub fn own_buffer(name: &str, parameters: &Parameters) -> Result<Option<Amount>, UnknownDiscipline> {
    Ok(parameters.find(find(name)?.key).and_then(|spec| role::BUFFER.given(spec)).map(|own| own.0))
}

/// Gives the discipline the outer ECN policy, unless its parameters set one.
pub fn inherit_ecn(name: &str, parameters: &mut Parameters, ecn: EcnChoice) -> Result<(), UnknownDiscipline> {
    let part: &mut dyn Part = parameters.entry(find(name)?.key);
    part.set_default(role::ECN, ecn);
    Ok(())
}

/// Calls `answer` with the parameters of the discipline with this name or alias, or else with the
/// defaults.
pub fn with_part<R>(
    name: &str,
    parameters: &Parameters,
    answer: impl FnOnce(&dyn Part) -> R,
) -> Result<R, UnknownDiscipline> {
    let entry = find(name)?;
    let is_typed = entry.scheduler.is_none();
    Ok(match parameters.find(entry.key).filter(|_| is_typed) {
        Some(spec) => answer(spec),
        None => answer(part_mut(name, &mut parameters.clone())?),
    })
}

/// The entry in `parameters` for the discipline with this name or alias. If there is none, adds the
/// defaults.
pub fn part_mut<'a>(
    name: &str,
    parameters: &'a mut Parameters,
) -> Result<&'a mut dyn Part, UnknownDiscipline> {
    Ok(part_of_entry(find(name)?, parameters))
}

pub(crate) fn part_of_entry<'a>(entry: &Entry, parameters: &'a mut Parameters) -> &'a mut dyn Part {
    serve(entry, parameters);
    parameters.entry(entry.key)
}

/// The parameters of the chosen discipline; `None` if its name is unknown.
pub(crate) fn part_of_choice(choice: &mut Choice) -> Option<&mut dyn Part> {
    let (name, parameters) = choice.parts_mut();
    part_mut(name, parameters).ok()
}

fn served<'a>(entry: &Entry, parameters: &'a Parameters) -> Result<Cow<'a, Parameters>, BadParameter> {
    let Some(kind) = entry.scheduler else { return Ok(Cow::Borrowed(parameters)) };
    let typed = parameters.find(entry.key).and_then(|spec| SCHEDULER.given(spec));
    if let Some(other) = typed.filter(|service| service.name != kind) {
        let parameter = Parameter { discipline: entry.key, name: "scheduler" };
        let (kind, name) = (kind.name(), entry.name);
        let allowed = format_args!("`{kind}`, or no `scheduler`, with the discipline `{name}`");
        return Err(parameter.refuse(format_args!("`{}`", other.name.name()), allowed));
    }
    let mut parameters = parameters.clone();
    serve(entry, &mut parameters);
    Ok(Cow::Owned(parameters))
}

/// Sets the scheduler of a combined name such as `drr+faba`, unless `parameters` set one.
/// [`served`] refuses a different scheduler.
fn serve(entry: &Entry, parameters: &mut Parameters) {
    if let Some(kind) = entry.scheduler
        && let Some(service) = SCHEDULER.slot(parameters.entry(entry.key))
    {
        service.get_or_insert_with(|| Service { name: kind, ..Service::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_scheduler_among_the_parameters_is_refused() {
        let site = Site {
            rate: "10 Mbit/s".parse().unwrap(),
            buffer: Amount::Packets(100),
            packet_bytes: 1514,
            seed: fairwire_core::Seed(1),
            stream: "test",
        };
        let typed = |text| toml::from_str::<Parameters>(text).unwrap();
        let error = check("drr+red", &typed("[red]\nscheduler = 'scfq'"), &site).unwrap_err().to_string();
        assert!(error.contains("`scfq`") && error.contains("allowed: `drr`, or no `scheduler`"), "{error}");
        let same = typed("[red]\nscheduler = { drr = { quantum = '300 B' } }");
        assert_eq!(check("drr+red", &same, &site), Ok(()));
    }
}
