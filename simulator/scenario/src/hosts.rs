//! The links and paths that flows need in a generated network.

use crate::fault::{Fault, missing, refused};
use crate::generated::{Ends, Layout, Line};
use crate::spec::FlowSpec;
use crate::topology::plan::{NOT_SIZED, QueuePlan, Route};
use fairwire_core::{RateLaw, Seed, WireLaw};
use fairwire_sim::Hop;

pub(crate) struct Hosts<'a> {
    layout: &'a dyn Layout,
    /// The key of the network in the file, such as `network.fat-tree`.
    path: String,
    is_passed: Vec<bool>,
    /// The paths added so far, for each group. Links are numbered as in `layout`.
    routes: Vec<Vec<Numbered>>,
}

struct Numbered {
    forward: Vec<u32>,
    back: Vec<u32>,
    flows: u32,
}

impl<'a> Hosts<'a> {
    pub(crate) fn new(layout: &'a dyn Layout, path: String) -> Self {
        Hosts { layout, path, is_passed: vec![false; layout.links() as usize], routes: Vec::new() }
    }

    pub(crate) fn add(&mut self, at: usize, flow: &FlowSpec) -> Result<(), Fault> {
        let pairs = self.pairs(&format!("flow.{at}"), flow)?;
        let is_answered = flow.source.about().is_answered;
        let count = flow.count();
        let (each, more) = (count / pairs.len() as u32, count as usize % pairs.len());
        let mut routes = Vec::with_capacity(pairs.len());
        let group = Seed(0).numbered(format_args!("ways of {}", flow.group));
        let mut first = 0;
        for (number, (from, to)) in pairs.into_iter().enumerate() {
            let mut route = |from, to, flow| {
                let mut links = Vec::with_capacity(6);
                self.layout.add_route(Ends { from, to, flow }, &mut links);
                links.iter().for_each(|link| self.is_passed[*link as usize] = true);
                links
            };
            let flows = each + u32::from(number < more);
            let together = if self.layout.is_by_flow() { 1 } else { flows };
            for _ in 0..flows / together.max(1) {
                first += 1;
                let mut hashes = group.stream(first, "");
                let forward = route(from, to, hashes.next_u64());
                let back = if is_answered { route(to, from, hashes.next_u64()) } else { Vec::new() };
                routes.push(Numbered { forward, back, flows: together });
            }
        }
        self.routes.push(routes);
        Ok(())
    }

    /// The pairs of hosts between which the flows run, at most one pair per flow.
    fn pairs(&self, path: &str, flow: &FlowSpec) -> Result<Vec<(u32, u32)>, Fault> {
        if !flow.via.is_empty() {
            let why = "a generated network chooses each route itself";
            return Err(refused(format!("{path}.via"), "given", why, "leave it out"));
        }
        let Some(pattern) = &flow.pattern else {
            let [from, to] = [("from", &flow.from), ("to", &flow.to)].map(|(key, name)| {
                let name = name.as_ref().ok_or_else(|| missing(path, key, "or `pattern`"));
                name.and_then(|name| self.host(&format!("{path}.{key}"), name))
            });
            let (from, to) = (from?, to?);
            if from == to {
                let given = format!("`{}`", flow.to.as_deref().unwrap_or_default());
                return Err(refused(format!("{path}.to"), given, "that equals `from`", "another host"));
            }
            return Ok(vec![(from, to)]);
        };
        if let Some((key, _)) =
            [("from", &flow.from), ("to", &flow.to)].iter().find(|(_, name)| name.is_some())
        {
            let why = "`pattern` says who sends to whom";
            let allowed = "`pattern`, or `from` and `to`, not both";
            return Err(refused(format!("{path}.{key}"), "given", why, allowed));
        }
        pattern.pairs(self.layout.hosts(), flow.count()).map_err(|bad| {
            let path = format!("{path}.pattern.{}.{}", pattern.name(), bad.name);
            refused(path, &bad.given, "that is out of range", &bad.allowed)
        })
    }

    fn host(&self, path: &str, name: &str) -> Result<u32, Fault> {
        let hosts = self.layout.hosts();
        let number = name.strip_prefix('h').and_then(|digits| digits.parse::<u32>().ok());
        let is_plain = |number: &u32| (1..=hosts).contains(number) && format!("h{number}") == name;
        number.filter(is_plain).map(|number| number - 1).ok_or_else(|| {
            let given = format!("`{}`", fairwire_document::shortened(name));
            let why = "the network has no host of that name";
            refused(path, given, why, format!("`h1` to `h{hosts}`"))
        })
    }

    pub(crate) fn laid(self, wire: &WireLaw) -> (Vec<QueuePlan>, Vec<Vec<Route>>) {
        let mut places = vec![0; self.is_passed.len()];
        let mut queues = Vec::new();
        for number in (0..self.layout.links()).filter(|number| self.is_passed[*number as usize]) {
            places[number as usize] = queues.len() as u32;
            let Line { name, rate, delay } = self.layout.link(number);
            let (law, room, path) = (RateLaw::Fixed, self.layout.buffer(), self.path.clone());
            let wire = wire.clone();
            queues.push(QueuePlan {
                name,
                rate,
                law,
                delay,
                wire,
                room,
                buffer: NOT_SIZED,
                own: None,
                device: 0,
                path,
            });
        }
        let hops = |links: Vec<u32>| links.into_iter().map(|link| Hop::Link(places[link as usize])).collect();
        let route = |route: Numbered| Route {
            forward: hops(route.forward),
            back: hops(route.back),
            flows: route.flows,
        };
        let routes = self.routes.into_iter().map(|routes| routes.into_iter().map(route).collect()).collect();
        (queues, routes)
    }
}
