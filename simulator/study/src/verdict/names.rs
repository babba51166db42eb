//! Checks that the exhibit has the names that its claims use.

use super::words::name;
use crate::plan::Plan;
use crate::spec::{ClaimSpec, Names};
use crate::text::{hint, listed};
use fairwire_scenario::ScenarioError;

pub(crate) fn check(plan: &Plan<'_>) -> Result<(), ScenarioError> {
    for (number, claim) in plan.spec().claim.iter().enumerate() {
        check_claim(claim, plan)
            .map_err(|why| plan.study.refuse(plan.at, &format!("claim.{number}"), why))?;
    }
    Ok(())
}

fn check_claim(claim: &ClaimSpec, plan: &Plan<'_>) -> Result<(), String> {
    let mut measures: Vec<&Option<String>> = Vec::new();
    let mut series: Vec<&Names> = Vec::new();
    if let Some(order) = &claim.order {
        measures.extend([&order.measure, &order.than_measure]);
        series.extend([&order.more, &order.than]);
    }
    for bound in [&claim.bound, &claim.slope].into_iter().flatten() {
        measures.push(&bound.measure);
        series.push(&bound.of);
    }
    if let Some(value) = &claim.value {
        measures.push(&value.measure);
        series.push(&value.of);
    }
    if let Some(trend) = &claim.trend {
        measures.push(&trend.measure);
        series.push(&trend.of);
    }
    for extreme in [&claim.lowest, &claim.highest].into_iter().flatten() {
        measures.push(&extreme.measure);
        series.push(&extreme.of);
    }
    let known: Vec<String> = plan.measures.iter().map(|measure| measure.id.clone()).collect();
    measures.into_iter().flatten().try_for_each(|name| is_one_of("measure", name, &known))?;
    if plan.computed.is_some() {
        return Ok(()); // its series and points are known only once it is computed
    }
    series.into_iter().flat_map(Names::list).try_for_each(|name| is_one_of("series", name, &plan.series))?;
    let points = crate::sweep::points(plan.spec().vary.as_ref()).map_err(|(_, why)| why)?;
    let names: Vec<String> = points.iter().map(|point| point.at.clone()).collect();
    claim
        .points()
        .iter()
        .filter(|at| !points.iter().any(|point| point.is(at)))
        .try_for_each(|at| is_one_of("point", &name(at), &names))
}

fn is_one_of(what: &str, name: &str, known: &[String]) -> Result<(), String> {
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let near = hint(name, known);
    Err(format!("there is no {what} `{name}` in this exhibit; allowed: {}{near}", listed(known)))
}
