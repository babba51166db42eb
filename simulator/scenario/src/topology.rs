//! From links and flows as typed to queues, and the route of each group. Computed once,
//! when a scenario is read.

use crate::compared::Compared;
use crate::fault::Fault;
use crate::fault::refused;
use crate::files::Files;
use crate::generated::NetworkChoice;
use crate::graph::Edge;
use crate::graph::Graph;
use crate::graph::NoRoute;
use crate::hosts::Hosts;
use crate::impair::ImpairSpec;
use crate::links::LinkSpec;
use crate::links::Links;
use crate::links::NetworkLinkSpec;
use crate::links::ReturnSpec;
use crate::passing::Passing;
use crate::passing::passing;
use crate::rates::Changes;
use crate::source::Sends;
use crate::spec::DirectionSpec;
use crate::spec::FlowSpec;
use crate::spec::Spec;
use crate::varying::Varying;
use fairwire_catalogue::Choice;
use fairwire_core::DelayStep;
use fairwire_core::Duration;
use fairwire_core::Rate;
use fairwire_core::RateLaw;
use fairwire_core::WireLaw;
use fairwire_core::units::{Amount, Room};
use fairwire_document::Problem;
use fairwire_parameters::OutOfRange;
use fairwire_sim::Hop;
use std::sync::Arc;

/// The names of the shared link and of its return direction in results.
const SHARED: [&str; 2] = ["bottleneck", "return"];

/// The queues of a scenario, and the routes over them.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Links at which packets wait, each in one direction; those marked as the bottleneck first.
    pub(crate) queues: Vec<QueuePlan>,
    /// What passes each of them.
    pub(crate) passing: Vec<Passing>,
    /// Per group of flows, in the order of the file: its ways, one at least, whose flows come one
    /// after the other.
    pub(crate) routes: Vec<Vec<Route>>,
    /// What each group sends, likewise.
    pub(crate) sends: Vec<Sends>,
}

/// A link at which packets wait.
#[derive(Clone, Debug)]
pub(crate) struct QueuePlan {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) law: RateLaw,
    pub(crate) delay: Duration,
    pub(crate) wire: WireLaw,
    /// How much may wait, as given.
    pub(crate) room: Room,
    /// The same, as an amount.
    pub(crate) buffer: Amount,
    /// What works there whatever is compared; `None` where those compared do.
    pub(crate) own: Option<Compared>,
    /// Its path in the file.
    pub(crate) path: String,
}

/// From the source's access link to the sink's, and back.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) forward: Vec<Hop>,
    pub(crate) back: Vec<Hop>,
    /// How many flows go it.
    pub(crate) flows: u32,
}

/// The queues and routes of `spec`, whose values are within their ranges.
pub(crate) fn resolve(spec: &Spec, sends: Vec<Sends>, files: &Files) -> Result<Topology, Fault> {
    let is_network = matches!(spec.link, Some(Links::Network(_)));
    if !spec.nodes.is_empty() && !is_network {
        return Err(only_with("nodes", "`[[link]]`"));
    }
    if spec.return_link.is_some() && !matches!(spec.link, Some(Links::Shared(_))) {
        return Err(only_with("return", "`[link]`"));
    }
    let (mut queues, mut routes) = match (&spec.link, &spec.network) {
        (Some(Links::Shared(link)), _) => shared(spec, link, files),
        (Some(Links::Network(links)), _) => network(spec, links, files),
        (None, Some(network)) => generated(spec, network),
        (None, None) => unreachable!("without links nothing is resolved"),
    }?;
    add_access_wires(spec, &mut queues, &mut routes)?;
    let passing = passing(queues.len(), &routes, &sends);
    Ok(Topology { queues, passing, routes, sends })
}

/// The rate of a link at which nothing waits: more than any that may be given, and than all that
/// come together there.
const UNCONTENDED: Rate = Rate::from_bps(10_000_000_000_000).expect("not zero");

/// Adds the wires with faults of access links out of the network. That of a group is behind a link
/// of its own, at which nothing waits, after the last one on its ways.
fn add_access_wires(
    spec: &Spec,
    queues: &mut Vec<QueuePlan>,
    routes: &mut [Vec<Route>],
) -> Result<(), Fault> {
    for (at, (flow, routes)) in spec.flow.iter().zip(routes).enumerate() {
        let Some(impair) = flow.access.impair.as_deref() else { continue };
        let (name, path) = (format!("{}-access", flow.group), format!("flow.{at}.access"));
        let wire = wire(&path, Some(impair), Arc::default())?;
        if wire.is_plain() {
            continue;
        }
        if queues.iter().any(|queue| queue.name == name) {
            let why = "a link has that name, which results would call the access link";
            return Err(refused(
                format!("flow.{at}.group"),
                &format!("`{}`", flow.group),
                why,
                "another name",
            ));
        }
        let link = Hop::Link(queues.len() as u32);
        routes.iter_mut().for_each(|route| route.forward.push(link));
        queues.push(QueuePlan {
            name,
            rate: UNCONTENDED,
            law: RateLaw::Fixed,
            delay: Duration::ZERO,
            wire,
            room: Room::Amount(Amount::Packets(1000)),
            buffer: NOT_SIZED,
            own: Some(tail_drop()),
            path,
        });
    }
    Ok(())
}

/// A buffer before its size is known: the routes say what a bandwidth-delay product is.
pub(crate) const NOT_SIZED: Amount = Amount::Packets(1);

type Laid = (Vec<QueuePlan>, Vec<Vec<Route>>);

impl QueuePlan {
    /// May packets wait there?
    pub(crate) fn is_contended(&self) -> bool {
        self.rate != UNCONTENDED
    }

    /// What it can send from `from` to `to`, in bit/s: the mean, where its rate changes.
    pub(crate) fn mean_bps(&self, from: Duration, to: Duration) -> f64 {
        self.law.mean_bps(self.rate, from, to)
    }
}

impl Topology {
    /// Is it of no account at which of two queues a discipline works, but for its draws?
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let site = |at: usize| {
            let QueuePlan { rate, buffer, .. } = &self.queues[at];
            (*rate, *buffer, self.passing[at].packet_bytes)
        };
        site(one) == site(other)
    }

    /// Where the disciplines that are compared work: of places that are alike, the first.
    pub(crate) fn compared_places(&self) -> Vec<usize> {
        let mut places: Vec<usize> = Vec::new();
        for (at, _) in self.compared() {
            if !places.iter().any(|other| self.are_alike(*other, at)) {
                places.push(at);
            }
        }
        places
    }

    /// Where the disciplines that are compared work.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (usize, &QueuePlan)> {
        self.queues.iter().enumerate().filter(|(_, queue)| queue.own.is_none())
    }
}

impl Route {
    /// The queues on the forward route.
    pub(crate) fn queues(&self) -> impl Iterator<Item = usize> {
        queues(&self.forward)
    }

    /// The slowest wire of the forward route.
    pub(crate) fn slowest_wire(&self) -> Option<Rate> {
        let rate = |hop: &Hop| match hop {
            Hop::Wire { rate, .. } => Some(*rate),
            Hop::Link(_) => None,
        };
        self.forward.iter().filter_map(rate).min()
    }

    /// The queues on the route of acknowledgements.
    pub(crate) fn queues_back(&self) -> impl Iterator<Item = usize> {
        queues(&self.back)
    }
}

fn queues(hops: &[Hop]) -> impl Iterator<Item = usize> {
    hops.iter().filter_map(|hop| match hop {
        Hop::Link(link) => Some(*link as usize),
        Hop::Wire { .. } => None,
    })
}

fn shared(spec: &Spec, link: &LinkSpec, files: &Files) -> Result<Laid, Fault> {
    let (rate, delay) = (link.varying().required_rate("link", link.rate, files)?, link.delay.0);
    let changes = link.varying().law("link", rate, files)?;
    let mut queues = vec![QueuePlan {
        name: SHARED[0].into(),
        rate,
        law: changes.rates,
        delay,
        wire: wire("link", link.impair.as_deref(), changes.delays)?,
        room: link.buffer.0,
        buffer: NOT_SIZED,
        own: None,
        path: "link".into(),
    }];
    if let Some(back) = &spec.return_link {
        let rate = back.varying().rate(back.rate, files).unwrap_or(rate);
        let own =
            Own { impair: back.impair.as_deref(), varying: back.varying(), has_rate: back.rate.is_some() };
        let (law, wire) = back_laws("return", own, &queues[0], rate, files)?;
        queues.push(QueuePlan { wire, ..return_queue(link, back, rate, law) });
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

/// What the wire of the link in the table at `path` does.
fn wire(path: &str, given: Option<&ImpairSpec>, delays: Arc<[DelayStep]>) -> Result<WireLaw, Fault> {
    let law = WireLaw { delays, ..WireLaw::default() };
    given.map_or(Ok(law.clone()), |impair| impair.law(path, law))
}

/// What the way back over a link has of its own.
struct Own<'a> {
    impair: Option<&'a ImpairSpec>,
    varying: Varying<'a>,
    has_rate: bool,
}

/// How the way back over the link `there` changes, and what its wire does: as there, where it has
/// nothing of its own. With a rate of its own its rate does not change as there.
fn back_laws(
    path: &str,
    own: Own<'_>,
    there: &QueuePlan,
    rate: Rate,
    files: &Files,
) -> Result<(RateLaw, WireLaw), Fault> {
    let changes = if own.varying.is_given() || own.has_rate {
        own.varying.law(path, rate, files)?
    } else {
        Changes { rates: there.law.clone(), delays: Arc::clone(&there.wire.delays) }
    };
    let Some(impair) = own.impair else {
        return Ok((changes.rates, WireLaw { delays: changes.delays, ..there.wire.clone() }));
    };
    Ok((changes.rates, wire(path, Some(impair), changes.delays)?))
}

fn return_queue(link: &LinkSpec, back: &ReturnSpec, rate: Rate, law: RateLaw) -> QueuePlan {
    QueuePlan {
        name: SHARED[1].into(),
        rate,
        law,
        delay: back.delay.unwrap_or(link.delay).0,
        wire: WireLaw::default(),
        room: back.buffer.unwrap_or(link.buffer).0,
        buffer: NOT_SIZED,
        own: if back.bottleneck { None } else { Some(back.discipline.clone().unwrap_or_else(tail_drop)) },
        path: "return".into(),
    }
}

fn shared_route(at: usize, flow: &FlowSpec, back: Hop) -> Result<Vec<Route>, Fault> {
    let places = [("from", flow.from.is_some()), ("to", flow.to.is_some()), ("via", !flow.via.is_empty())];
    if let Some((key, _)) = places.iter().find(|(_, is_given)| *is_given) {
        return Err(only_with(&format!("flow.{at}.{key}"), "`[[link]]`"));
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

fn network(spec: &Spec, links: &[NetworkLinkSpec], files: &Files) -> Result<Laid, Fault> {
    let mut laid = Layout { graph: Graph::new(&spec.nodes), queues: Vec::new(), files };
    let is_marked = links.iter().any(|link| link.bottleneck);
    // Those marked come first, for the first queue is the one that results call the bottleneck.
    let (marked, others): (Vec<_>, Vec<_>) = links.iter().enumerate().partition(|(_, link)| link.bottleneck);
    for (at, link) in marked.into_iter().chain(others) {
        laid.add(at, link, is_marked)?;
    }
    laid.check_names()?;
    if laid.queues.iter().all(|queue| queue.own.is_some()) {
        return Err(refused(
            "link".into(),
            "a network of wires and of links with a `discipline` of their own",
            "the disciplines compared need a link",
            "`bottleneck = true` at one link or more, or a link without `discipline`",
        ));
    }
    let routes =
        spec.flow.iter().enumerate().map(|(at, flow)| laid.route(at, flow)).collect::<Result<_, _>>()?;
    Ok((laid.queues, routes))
}

/// A network that is generated.
fn generated(spec: &Spec, network: &NetworkChoice) -> Result<Laid, Fault> {
    let path = format!("network.{}", network.name());
    let wire = wire(&path, network.impair(), Arc::default())?;
    let refuse = |bad: OutOfRange| {
        refused(format!("{path}.{}", bad.name), &bad.given, "that is out of range", &bad.allowed)
    };
    let layout = network.layout().map_err(refuse)?;
    let mut hosts = Hosts::new(&*layout, path);
    for (at, flow) in spec.flow.iter().enumerate() {
        if flow.direction.is_some() {
            return Err(only_with(&format!("flow.{at}.direction"), "`[link]`"));
        }
        hosts.add(at, flow)?;
    }
    Ok(hosts.laid(&wire))
}

fn no_pattern(at: usize, flow: &FlowSpec) -> Result<(), Fault> {
    match flow.pattern {
        Some(_) => Err(only_with(&format!("flow.{at}.pattern"), "`network`")),
        None => Ok(()),
    }
}

/// What is laid of a network.
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
            let why = "that is where it comes from";
            return Err(refused(format!("{path}.to"), &format!("`{}`", link.to), why, "another node"));
        }
        let rate = link.varying().required_rate(&path, link.rate, self.files)?;
        let mut queue = queue(&path, link, rate, is_marked)?;
        if let Some(queue) = &mut queue {
            let changes = link.varying().law(&path, rate, self.files)?;
            queue.law = changes.rates;
            queue.wire = wire(&path, link.impair.as_deref(), changes.delays)?;
        }
        let delay = link.delay.0;
        let hop = self.hop(queue.clone(), rate, delay);
        self.graph.add(Edge { from, to, delay, place: 2 * at, hop });
        let Some(back) = link.back.clone().or_else(|| (!link.one_way).then(Default::default)) else {
            return Ok(());
        };
        let (rate, delay) =
            (back.varying().rate(back.rate, self.files).unwrap_or(rate), back.delay.map_or(delay, |d| d.0));
        let own =
            Own { impair: back.impair.as_deref(), varying: back.varying(), has_rate: back.rate.is_some() };
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
        self.graph.node(name).ok_or_else(|| Fault {
            path: path.into(),
            problem: Problem::Unknown { what: "node", given: name.into(), allowed: self.graph.names() },
        })
    }

    fn check_names(&self) -> Result<(), Fault> {
        for (at, queue) in self.queues.iter().enumerate() {
            if self.queues[..at].iter().any(|other| other.name == queue.name) {
                return Err(refused(
                    format!("{}.name", queue.path),
                    &format!("`{}`", queue.name),
                    "another link has that name",
                    "a `name` of its own for each of several links between two nodes",
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
            let missing = || {
                let (path, note) = (format!("flow.{at}"), "with `[[link]]`".into());
                let problem = Problem::Missing { key: key.into(), table: path.clone(), note };
                Fault { path, problem }
            };
            name.as_ref().ok_or_else(missing).and_then(|name| self.node(&path(key), name))
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
                    &given,
                    &why,
                    "what can be reached, or another link; a `one_way` link has no route back",
                )
            }
            NoRoute::Loop { node } => {
                let why = format!("the route would pass `{}` twice", self.graph.name(node));
                refused(path, &given, &why, "each node once on a route")
            }
        })
    }
}

/// The queue in front of `link`, which has this `rate`, in its own direction; `None` for a wire.
fn queue(
    path: &str,
    link: &NetworkLinkSpec,
    rate: Rate,
    is_marked: bool,
) -> Result<Option<QueuePlan>, Fault> {
    if link.one_way && link.back.is_some() {
        let path = format!("{path}.back");
        return Err(refused(path, "given", "the link is `one_way`", "one of the two"));
    }
    if link.bottleneck && link.discipline.is_some() {
        let why = "the disciplines compared work at a link with `bottleneck = true`";
        return Err(refused(format!("{path}.discipline"), "given", why, "one of the two"));
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
            ("trace", link.trace.is_some()),
            ("back.changes", back.is_some_and(|back| back.changes.is_some())),
            ("back.trace", back.is_some_and(|back| back.trace.is_some())),
            ("impair", link.impair.is_some()),
            ("back.impair", back.is_some_and(|back| back.impair.is_some())),
        ];
        let Some((key, _)) = keys.iter().find(|(_, is_given)| *is_given) else { return Ok(None) };
        return Err(refused(
            format!("{path}.{key}"),
            "given",
            "packets never wait at a wire",
            "leave it out, or `wire`",
        ));
    }
    let Some(buffer) = link.buffer else {
        let note = "or `wire = true`".into();
        let problem = Problem::Missing { key: "buffer".into(), table: path.into(), note };
        return Err(Fault { path: path.into(), problem });
    };
    let is_compared = link.bottleneck || !is_marked;
    Ok(Some(QueuePlan {
        name: link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to)),
        rate,
        law: RateLaw::Fixed,
        delay: link.delay.0,
        wire: WireLaw::default(),
        room: buffer.0,
        buffer: NOT_SIZED,
        own: link.discipline.clone().or_else(|| (!is_compared).then(tail_drop)),
        path: path.into(),
    }))
}

/// A `tail-drop` without the parameters of `[discipline.tail-drop]`, which apply only where it is
/// named.
fn tail_drop() -> Compared {
    Compared { choice: Choice::with_defaults("tail-drop"), label: None }
}

fn only_with(path: &str, table: &str) -> Fault {
    refused(path.into(), "given", &format!("it belongs to {table}"), &format!("leave it out, or use {table}"))
}
