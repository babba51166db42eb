//! The link that all flows share, `[link]`, and its return direction.

use super::plan::{
    Laid, NOT_SIZED, Own, QueuePlan, Route, back_laws, device, no_pattern, only_with, tail_drop, wire,
};
use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::links::{LinkSpec, ReturnSpec};
use crate::spec::{DirectionSpec, FlowSpec, Spec};
use fairwire_core::{Duration, Rate, RateLaw, WireLaw};
use fairwire_sim::Hop;

const SHARED: [&str; 2] = ["bottleneck", "return"];

pub(super) fn laid(spec: &Spec, link: &LinkSpec, files: &Files) -> Result<Laid, Fault> {
    let rate = link.varying().required_rate("link", link.rate, files)?;
    let delay = link.varying().required_delay("link", link.delay, files)?;
    let changes = link.varying().law("link", rate, files)?;
    let mut queues = vec![QueuePlan {
        name: SHARED[0].into(),
        rate,
        law: changes.rates,
        delay,
        wire: wire("link", link.impair.as_deref(), changes.wire)?,
        room: link.buffer.0,
        buffer: NOT_SIZED,
        own: None,
        device: device("link", link.device)?,
        path: "link".into(),
    }];
    if let Some(back) = &spec.return_link {
        let rate = back.varying().rate(back.rate, files).unwrap_or(rate);
        let own = Own {
            impair: back.impair.as_deref(),
            varying: back.varying(),
            has_rate: back.rate.is_some(),
            has_delay: back.delay.is_some(),
        };
        let (law, wire) = back_laws("return", own, &queues[0], rate, files)?;
        let delay = back.varying().delay(back.delay, files).unwrap_or(delay);
        let device = device("return", back.device)?;
        queues.push(QueuePlan { wire, delay, device, ..return_queue(link, back, rate, law) });
    }
    let back = if queues.len() > 1 { Hop::Link(1) } else { Hop::Wire { rate, delay } };
    let routes = spec
        .flow
        .iter()
        .enumerate()
        .map(|(at, flow)| shared_route(at, flow, back))
        .collect::<Result<_, _>>()?;
    Ok((queues, routes))
}

fn return_queue(link: &LinkSpec, back: &ReturnSpec, rate: Rate, law: RateLaw) -> QueuePlan {
    QueuePlan {
        name: SHARED[1].into(),
        rate,
        law,
        delay: Duration::ZERO,
        wire: WireLaw::default(),
        room: back.buffer.unwrap_or(link.buffer).0,
        buffer: NOT_SIZED,
        own: if back.bottleneck { None } else { Some(back.discipline.clone().unwrap_or_else(tail_drop)) },
        device: 0,
        path: "return".into(),
    }
}

fn shared_route(at: usize, flow: &FlowSpec, back: Hop) -> Result<Vec<Route>, Fault> {
    let places = [("from", flow.from.is_some()), ("to", flow.to.is_some()), ("via", !flow.via.is_empty())];
    if let Some((key, _)) = places.iter().find(|(_, is_given)| *is_given) {
        let table = if *key == "via" { "`[[link]]`" } else { "`[[link]]` or `network`" };
        return Err(only_with(&format!("flow.{at}.{key}"), table));
    }
    no_pattern(at, flow)?;
    let there = Hop::Link(0);
    let route = |there, back| Ok(vec![Route { forward: vec![there], back: vec![back], flows: flow.count() }]);
    match (flow.direction.unwrap_or_default(), back) {
        (DirectionSpec::Forward, back) => route(there, back),
        (DirectionSpec::Reverse, Hop::Link(_)) => route(back, there),
        (DirectionSpec::Reverse, Hop::Wire { .. }) => Err(refused(
            format!("flow.{at}.direction"),
            "`reverse`",
            "the route back has no queue that its packets could wait in",
            "`forward`, or a table `[return]`",
        )),
    }
}
