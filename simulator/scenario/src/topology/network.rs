//! A network of links, `[[link]]`, and the routes over them.

use super::plan::{
    Laid, NOT_SIZED, Own, QueuePlan, Route, back_laws, device, no_pattern, only_with, tail_drop, wire,
};
use crate::fault::{Fault, missing, refused};
use crate::files::Files;
use crate::graph::{Edge, Graph, NoRoute};
use crate::links::NetworkLinkSpec;
use crate::spec::{FlowSpec, Spec};
use fairwire_core::{Duration, Rate, RateLaw, WireLaw};
use fairwire_document::Problem;
use fairwire_sim::Hop;

pub(super) fn laid(spec: &Spec, links: &[NetworkLinkSpec], files: &Files) -> Result<Laid, Fault> {
    let mut laid = Layout { graph: Graph::new(&spec.nodes), queues: Vec::new(), files };
    let is_marked = links.iter().any(|link| link.bottleneck);
    // Links marked as the bottleneck come first, since results call the first queue the bottleneck.
    let (marked, others): (Vec<_>, Vec<_>) = links.iter().enumerate().partition(|(_, link)| link.bottleneck);
    for (at, link) in marked.into_iter().chain(others) {
        laid.add(at, link, is_marked)?;
    }
    laid.check_names()?;
    if laid.queues.iter().all(|queue| queue.own.is_some()) {
        return Err(refused(
            "link",
            "a network in which each link has a `discipline` or is a `wire`",
            "that leaves no link for the list `disciplines`",
            "at least one link with a `buffer` and without a `discipline`",
        ));
    }
    let routes =
        spec.flow.iter().enumerate().map(|(at, flow)| laid.route(at, flow)).collect::<Result<_, _>>()?;
    Ok((laid.queues, routes))
}

struct Layout<'a> {
    graph: Graph<'a>,
    queues: Vec<QueuePlan>,
    files: &'a Files,
}

impl Layout<'_> {
    fn add(&mut self, at: usize, link: &NetworkLinkSpec, is_marked: bool) -> Result<(), Fault> {
        let path = format!("link.{at}");
        let from = self.node(&format!("{path}.from"), &link.from)?;
        let to = self.node(&format!("{path}.to"), &link.to)?;
        if from == to {
            let why = "that equals `from`";
            return Err(refused(format!("{path}.to"), format!("`{}`", link.to), why, "another node"));
        }
        let rate = link.varying().required_rate(&path, link.rate, self.files)?;
        let delay = link.varying().required_delay(&path, link.delay, self.files)?;
        let mut queue = queue(&path, link, (rate, delay), is_marked)?;
        if let Some(queue) = &mut queue {
            let changes = link.varying().law(&path, rate, self.files)?;
            queue.law = changes.rates;
            queue.wire = wire(&path, link.impair.as_deref(), changes.wire)?;
        }
        let hop = self.hop(queue.clone(), rate, delay);
        self.graph.add(Edge { from, to, delay, place: 2 * at, hop });
        let Some(back) = link.back.clone().or_else(|| (!link.one_way).then(Default::default)) else {
            return Ok(());
        };
        let rate = back.varying().rate(back.rate, self.files).unwrap_or(rate);
        let delay = back.varying().delay(back.delay, self.files).unwrap_or(delay);
        let own = Own {
            impair: back.impair.as_deref(),
            varying: back.varying(),
            has_rate: back.rate.is_some(),
            has_delay: back.delay.is_some(),
        };
        let laws = |there| back_laws(&format!("{path}.back"), own, there, rate, self.files);
        let (law, wire) = queue.as_ref().map(laws).transpose()?.unwrap_or_default();
        let queue = queue.map(|queue| QueuePlan {
            law,
            wire,
            name: link
                .name
                .as_ref()
                .map_or(format!("{}-{}", link.to, link.from), |name| format!("{name}-back")),
            rate,
            delay,
            room: back.buffer.map_or(queue.room, |buffer| buffer.0),
            buffer: NOT_SIZED,
            own: back.discipline.or(queue.own),
            device: queue.device,
            path: if link.back.is_some() { format!("{path}.back") } else { path },
        });
        let hop = self.hop(queue, rate, delay);
        self.graph.add(Edge { from: to, to: from, delay, place: 2 * at + 1, hop });
        Ok(())
    }

    fn hop(&mut self, queue: Option<QueuePlan>, rate: Rate, delay: Duration) -> Hop {
        let Some(queue) = queue else { return Hop::Wire { rate, delay } };
        self.queues.push(queue);
        Hop::Link(self.queues.len() as u32 - 1)
    }

    fn node(&self, path: &str, name: &str) -> Result<usize, Fault> {
        let problem = || Problem::Unknown { what: "node", given: name.into(), allowed: self.graph.names() };
        self.graph.node(name).ok_or_else(|| Fault { path: path.into(), problem: problem() })
    }

    fn check_names(&self) -> Result<(), Fault> {
        for (at, queue) in self.queues.iter().enumerate() {
            if self.queues[..at].iter().any(|other| other.name == queue.name) {
                let path = queue.path.strip_suffix(".back").unwrap_or(&queue.path);
                return Err(refused(
                    format!("{path}.name"),
                    format!("`{}`", queue.name),
                    "another link has that name",
                    "a `name` that no other link has; the default is `FROM-TO`, and `TO-FROM` \
                     for the return direction",
                ));
            }
        }
        Ok(())
    }

    fn route(&mut self, at: usize, flow: &FlowSpec) -> Result<Vec<Route>, Fault> {
        let path = |key: &str| format!("flow.{at}.{key}");
        no_pattern(at, flow)?;
        if flow.direction.is_some() {
            return Err(only_with(&path("direction"), "`[link]`"));
        }
        let [from, to] = [("from", &flow.from), ("to", &flow.to)].map(|(key, name)| {
            let name =
                name.as_ref().ok_or_else(|| missing(format!("flow.{at}"), key, "required with `[[link]]`"));
            name.and_then(|name| self.node(&path(key), name))
        });
        let mut stops = vec![from?];
        for (number, name) in flow.via.iter().enumerate() {
            stops.push(self.node(&path(&format!("via.{number}")), name)?);
        }
        stops.push(to?);
        let forward = self.hops(&stops, at, flow)?;
        stops.reverse();
        let is_answered = flow.source.about().is_answered;
        let back = if is_answered { self.hops(&stops, at, flow)? } else { Vec::new() };
        Ok(vec![Route { forward, back, flows: flow.count() }])
    }

    fn hops(&self, stops: &[usize], at: usize, flow: &FlowSpec) -> Result<Vec<Hop>, Fault> {
        let key = if flow.via.is_empty() { "to" } else { "via" };
        let path = format!("flow.{at}.{key}");
        let given = match key {
            "to" => format!("`{}`", flow.to.as_deref().unwrap_or_default()),
            _ => format!("[{}]", flow.via.join(", ")),
        };
        self.graph.route(stops).map_err(|no_way| match no_way {
            NoRoute::Unreachable { from, to } => {
                let (from, to) = (self.graph.name(from), self.graph.name(to));
                let why = format!("no route leads from `{from}` to `{to}`");
                refused(
                    path,
                    given,
                    why,
                    "nodes that the links connect, or a further `[[link]]`; a `one_way` link leads \
                     only from its `from` to its `to`",
                )
            }
            NoRoute::Loop { node } => {
                let why = format!("the route would pass `{}` twice", self.graph.name(node));
                refused(path, given, why, "each node once on a route")
            }
        })
    }
}

/// The queue at `link` in its forward direction; `None` for a wire.
fn queue(
    path: &str,
    link: &NetworkLinkSpec,
    (rate, delay): (Rate, Duration),
    is_marked: bool,
) -> Result<Option<QueuePlan>, Fault> {
    if link.one_way && link.back.is_some() {
        let path = format!("{path}.back");
        return Err(refused(path, "given", "the link is `one_way`", "`back` or `one_way`, not both"));
    }
    if link.bottleneck && link.discipline.is_some() {
        let why = "a link with `bottleneck = true` runs the disciplines of the list `disciplines`";
        let allowed = "`discipline` or `bottleneck = true`, not both";
        return Err(refused(format!("{path}.discipline"), "given", why, allowed));
    }
    if link.wire {
        let back = link.back.as_ref();
        let keys = [
            ("buffer", link.buffer.is_some()),
            ("discipline", link.discipline.is_some()),
            ("bottleneck", link.bottleneck),
            ("back.buffer", back.is_some_and(|back| back.buffer.is_some())),
            ("back.discipline", back.is_some_and(|back| back.discipline.is_some())),
            ("changes", link.changes.is_some()),
            ("pattern", link.pattern.is_some()),
            ("trace", link.trace.is_some()),
            ("delays", link.delays.is_some()),
            ("scale_to", link.scale_to.is_some()),
            ("back.changes", back.is_some_and(|back| back.changes.is_some())),
            ("back.pattern", back.is_some_and(|back| back.pattern.is_some())),
            ("back.trace", back.is_some_and(|back| back.trace.is_some())),
            ("back.delays", back.is_some_and(|back| back.delays.is_some())),
            ("back.scale_to", back.is_some_and(|back| back.scale_to.is_some())),
            ("impair", link.impair.is_some()),
            ("device", link.device.is_some()),
            ("back.impair", back.is_some_and(|back| back.impair.is_some())),
        ];
        let Some((key, _)) = keys.iter().find(|(_, is_given)| *is_given) else { return Ok(None) };
        return Err(refused(
            format!("{path}.{key}"),
            "given",
            "a link with `wire = true` has only a rate and a delay",
            format!("`{key}` or `wire = true`, not both"),
        ));
    }
    let Some(buffer) = link.buffer else {
        return Err(missing(path, "buffer", "or `wire = true`"));
    };
    let is_compared = link.bottleneck || !is_marked;
    Ok(Some(QueuePlan {
        name: link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to)),
        rate,
        law: RateLaw::Fixed,
        delay,
        wire: WireLaw::default(),
        room: buffer.0,
        buffer: NOT_SIZED,
        own: link.discipline.clone().or_else(|| (!is_compared).then(tail_drop)),
        device: device(path, link.device)?,
        path: path.into(),
    }))
}
