//! Generated networks, which a few numbers describe.
//!
//! The links of a path are computed from its ends, so only the links that flows need are created.

mod dumbbells;
mod fat_tree;
mod pattern;

pub use dumbbells::DumbbellsSpec;
pub use fat_tree::{FatTreeSpec, RouteBy};
pub use pattern::{AllToAllSpec, IncastSpec, PatternChoice, PermutationSpec, StrideSpec};

use crate::impair::ImpairSpec;
use core::fmt::Debug;
use fairwire_core::units::Room;
use fairwire_core::{Duration, Rate};
use fairwire_parameters::{
    Entry, Given, Kind, Listed as _, Named, NotRegistered, OutOfRange, Part, tables_schema_of,
};
use schemars::{Schema, SchemaGenerator};

/// The maximum number of nodes. The links of a fat-tree of this size take a gigabyte.
pub(crate) const MAX_NODES: u64 = 100_000;

/// The structure of a generated network.
pub trait Layout: Debug {
    /// The number of hosts, which are numbered from 0 but named from 1: `h1`, `h2` and so on.
    fn hosts(&self) -> u32;

    /// Switches.
    fn switches(&self) -> u32;

    /// The number of links, each in one direction, numbered from 0.
    fn links(&self) -> u32;

    /// Link `number` of the network.
    fn link(&self, number: u32) -> Line;

    /// The capacity of the queue at each link.
    fn buffer(&self) -> Room;

    /// Adds the links on the path between two hosts, in order. The path depends only on the hosts
    /// and, if [paths differ by flow](Layout::is_by_flow), on the flow.
    fn add_route(&self, ends: Ends, route: &mut Vec<u32>);

    /// May two flows between the same hosts take different paths?
    fn is_by_flow(&self) -> bool {
        false
    }
}

/// The ends of a path, and the flow on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// The host where the path begins.
    pub from: u32,
    /// The host where the path ends.
    pub to: u32,
    /// A hash of the flow. A flow's acknowledgements have another hash.
    pub flow: u64,
}

/// A link of a generated network, in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The name of the link: the names of its ends, with `-` between them.
    pub name: String,
    /// Its rate.
    pub rate: Rate,
    /// The link's propagation delay, one way.
    pub delay: Duration,
}

/// The parameters of a network, from which it is built.
pub trait NetworkSpec: Given {
    /// The faults of the wire behind each link, if given.
    fn impair(&self) -> Option<&ImpairSpec> {
        None
    }

    /// The network, if all parameters are within their bounds.
    fn layout(&self) -> Result<Box<dyn Layout>, OutOfRange>;

    /// The numbers of hosts and of switches; `None` if the parameters make no sense.
    fn nodes(&self) -> Option<(u32, u32)> {
        self.layout().ok().map(|layout| (layout.hosts(), layout.switches()))
    }
}

/// The description of a type of network.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// The description in one line.
    pub summary: &'static str,
    /// The paper.
    pub source: &'static str,
    /// Parameters of an example as entered.
    pub example: &'static str,
}

/// The component type of networks.
pub struct Networks;

/// A network as entered.
pub type NetworkChoice = Named<Networks>;

impl Kind for Networks {
    const NOUN: &'static str = "network";
    const EXAMPLE: &'static str =
        "{ fat-tree = { k = 4, rate = \"10 Mbit/s\", delay = \"1 ms\", buffer = \"100 packets\" } }";
    const SCHEMA: &'static str = "Network";

    type Part = dyn NetworkSpec;
    type About = About;

    fn summary(about: &About) -> &'static str {
        about.summary
    }

    fn source(about: &About) -> &'static str {
        about.source
    }

    /// The schema allows only the table form, because each network has a required parameter.
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = tables_schema_of::<Networks>(generator);
        let what = "A network that is generated: a table of the name of its kind with its parameters.";
        schema.insert("description".into(), what.into());
        schema
    }
}

fairwire_parameters::parts! { Networks:
    fat_tree => FatTreeSpec;
    dumbbells => DumbbellsSpec;
}

/// Every type of network, in listing order.
pub fn all() -> &'static [Entry<Networks>] {
    Networks::registry().all()
}

/// Adds an external network. Must be called before the list of networks is first read, because
/// reading fixes the list.
///
/// # Errors
/// If the name is taken, or the list was already read.
pub fn register<S: NetworkSpec + Part>(about: About) -> Result<(), NotRegistered> {
    Networks::registry().register(Entry::<Networks>::of::<S>(about, || Box::new(S::default())))
}

/// Checks the number of nodes. `name` is the parameter that causes most of them.
fn check_nodes(name: &'static str, given: u32, nodes: u64) -> Result<(), OutOfRange> {
    if nodes <= MAX_NODES {
        return Ok(());
    }
    let given = format!("{given}, which makes {nodes} nodes");
    Err(OutOfRange { name, given, allowed: format!("at most {MAX_NODES} nodes") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn leads(layout: &dyn Layout, from: u32, to: u32, route: &[u32]) -> bool {
        let mut at = format!("h{}", from + 1);
        for number in route {
            let name = layout.link(*number).name;
            let Some((start, end)) = name.split_once('-') else { return false };
            if start != at {
                return false;
            }
            at = end.into();
        }
        at == format!("h{}", to + 1)
    }

    fn networks() -> Vec<Box<dyn Layout>> {
        let texts = [
            "{\"fat-tree\": {\"k\": 2, \"rate\": \"1 Mbit/s\", \"delay\": \"1 ms\", \"buffer\": \"9 packets\"}}",
            "{\"fat-tree\": {\"k\": 4, \"rate\": \"1 Mbit/s\", \"delay\": \"1 ms\", \"buffer\": \"9 packets\"}}",
            "{\"fat-tree\": {\"k\": 6, \"hosts\": 5, \"rate\": \"1 Mbit/s\", \"delay\": \"1 ms\", \"buffer\": \"9 packets\"}}",
            "{\"dumbbells\": {\"branches\": 3, \"hosts\": 2, \"rate\": \"1 Mbit/s\", \"inner_rate\": \"1 Mbit/s\", \
              \"outer_rate\": \"1 Mbit/s\", \"delay\": \"1 ms\", \"buffer\": \"9 packets\"}}",
        ];
        let layout = |text: &str| {
            let choice: NetworkChoice = serde_json::from_str(text).expect("a network");
            choice.layout().expect("it makes sense")
        };
        texts.into_iter().map(layout).collect()
    }

    #[test]
    fn every_route_connects_its_hosts_and_passes_no_node_twice() {
        for layout in networks() {
            let mut used = HashSet::new();
            for (from, to) in
                (0..layout.hosts()).flat_map(|from| (0..layout.hosts()).map(move |to| (from, to)))
            {
                let mut route = Vec::new();
                if from != to {
                    layout.add_route(Ends { from, to, flow: u64::from(from * 7 + to) }, &mut route);
                    assert!(leads(&*layout, from, to, &route), "{from} to {to}: {route:?}");
                }
                let mut names: Vec<String> = route.iter().map(|link| layout.link(*link).name).collect();
                names.iter_mut().for_each(|name| *name = name.split('-').next().unwrap_or_default().into());
                assert_eq!(names.iter().collect::<HashSet<_>>().len(), route.len());
                used.extend(route);
            }
            assert!(used.iter().all(|link| *link < layout.links()));
        }
    }

    #[test]
    fn no_two_links_have_the_same_name() {
        for layout in networks() {
            let names: HashSet<String> = (0..layout.links()).map(|number| layout.link(number).name).collect();
            assert_eq!(names.len(), layout.links() as usize);
        }
    }
}
