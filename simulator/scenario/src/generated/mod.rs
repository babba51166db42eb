//! Networks that are generated: of which a few numbers say all, and among whose hosts flows go by a
//! pattern.
//!
//! Nothing is computed for what no flow needs: a way is arithmetic on the numbers of its ends, and
//! links that none passes are not laid.

mod dumbbells;
mod fat_tree;
mod pattern;

pub use dumbbells::DumbbellsSpec;
pub use fat_tree::FatTreeSpec;
pub use pattern::{AllToAllSpec, PatternChoice, PermutationSpec, StrideSpec};

use crate::impair::ImpairSpec;
use core::fmt::{self, Debug};
use fairwire_core::units::Room;
use fairwire_core::{Duration, Rate};
use fairwire_parameters::{Choice, Declared, Field, OutOfRange, SchemaOf, deserialize_choice, tables_schema};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess};
use std::borrow::Cow;

/// More nodes are a slip: the links of a fat-tree of these take a gigabyte.
pub(crate) const MAX_NODES: u64 = 100_000;

/// What a generated network is like.
pub(crate) trait Layout {
    /// Hosts, numbered from 0. People call the first one `h1`.
    fn hosts(&self) -> u32;

    /// Switches.
    fn switches(&self) -> u32;

    /// Links, each in one direction, numbered from 0.
    fn links(&self) -> u32;

    /// The link of this number.
    fn link(&self, number: u32) -> Line;

    /// How much may wait at each link.
    fn buffer(&self) -> Room;

    /// Adds the links on the way from one host to another, in their order. It depends on nothing
    /// but its ends.
    fn add_route(&self, from: u32, to: u32, route: &mut Vec<u32>);
}

/// A link of a generated network, in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) rate: Rate,
    pub(crate) delay: Duration,
}

/// A network as typed: `{ fat-tree = { k = 4, rate = "10 Mbit/s", delay = "1 ms", buffer = "100
/// packets" } }`.
#[derive(Clone, Debug)]
pub struct NetworkChoice {
    /// In the list of all.
    place: usize,
    given: Given,
}

/// What is known of a kind of network.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name, as typed in scenarios.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The paper.
    pub source: &'static str,
    /// Parameters of an example as typed.
    pub example: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
    schema: SchemaOf,
}

impl Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What is said of a kind of network in its file.
struct About {
    summary: &'static str,
    source: &'static str,
    example: &'static str,
}

/// Lists each kind of network once: its name, its file, its parameters.
macro_rules! networks {
    ($($name:literal => $module:ident::$spec:ident;)+) => {
        const ALL: &[Entry] = &[$(Entry {
            name: $name,
            summary: $module::ABOUT.summary,
            source: $module::ABOUT.source,
            example: $module::ABOUT.example,
            fields: $module::$spec::FIELDS,
            schema: SchemaGenerator::subschema_for::<$module::$spec>,
        }),+];

        const NAMES: &[&str] = &[$($name),+];

        /// What was given for one of them.
        #[derive(Clone, Debug)]
        enum Given {
            $($spec($module::$spec),)+
        }

        impl Given {
            /// Reads the parameters of the network at this place, which come next in a table.
            fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Self, A::Error> {
                let mut at = 0..;
                $(if at.next() == Some(place) {
                    return table.next_value().map(Given::$spec);
                })+
                unreachable!("a place is in the list")
            }

            fn impair(&self) -> Option<&ImpairSpec> {
                match self {
                    $(Given::$spec(spec) => spec.impair.as_ref(),)+
                }
            }

            fn layout(&self) -> Result<Box<dyn Layout>, OutOfRange> {
                match self {
                    $(Given::$spec(spec) => Ok(Box::new(spec.layout()?)),)+
                }
            }
        }
    };
}

networks! {
    "fat-tree" => fat_tree::FatTreeSpec;
    "dumbbells" => dumbbells::DumbbellsSpec;
}

/// Every kind of network, in the order in which it is listed to people.
pub fn all() -> &'static [Entry] {
    ALL
}

impl NetworkChoice {
    /// Its name, as typed in scenarios.
    pub fn name(&self) -> &'static str {
        NAMES[self.place]
    }

    /// How many hosts and how many switches it has; `None` where its parameters make no sense.
    pub fn nodes(&self) -> Option<(u32, u32)> {
        self.layout().ok().map(|layout| (layout.hosts(), layout.switches()))
    }

    /// What the wire behind each link does to packets, where that was given.
    pub(crate) fn impair(&self) -> Option<&ImpairSpec> {
        self.given.impair()
    }

    /// The network, if all parameters are within their bounds.
    pub(crate) fn layout(&self) -> Result<Box<dyn Layout>, OutOfRange> {
        self.given.layout()
    }
}

impl<'de> Deserialize<'de> for NetworkChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Choice for NetworkChoice {
    const WHAT: &'static str = "network";
    const EXAMPLE: &'static str =
        "{ fat-tree = { k = 4, rate = \"10 Mbit/s\", delay = \"1 ms\", buffer = \"100 packets\" } }";

    fn names() -> &'static [&'static str] {
        NAMES
    }

    fn named(_: usize) -> Self {
        unreachable!("each needs a parameter")
    }

    fn needed(place: usize) -> Option<&'static str> {
        ALL[place].fields.iter().find(|field| field.is_required).map(|field| field.name)
    }

    fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Self, A::Error> {
        Given::read(place, table).map(|given| NetworkChoice { place, given })
    }
}

impl JsonSchema for NetworkChoice {
    fn schema_name() -> Cow<'static, str> {
        "Network".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema =
            tables_schema(ALL.iter().map(|entry| (entry.name, entry.summary, entry.schema)), generator);
        let what = "A network that is generated: a table of the name of its kind with its parameters.";
        schema.insert("description".into(), what.into());
        schema
    }
}

/// Refuses more nodes than there can be. `name` is the parameter that makes for most of them.
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

    /// Does `way` lead from one to the other, link by link, by the names of the links' ends?
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
    fn every_way_leads_from_its_first_host_to_its_last_and_passes_no_node_twice() {
        for layout in networks() {
            let mut used = HashSet::new();
            for (from, to) in
                (0..layout.hosts()).flat_map(|from| (0..layout.hosts()).map(move |to| (from, to)))
            {
                let mut route = Vec::new();
                if from != to {
                    layout.add_route(from, to, &mut route);
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
    fn no_two_links_have_one_name() {
        for layout in networks() {
            let names: HashSet<String> = (0..layout.links()).map(|number| layout.link(number).name).collect();
            assert_eq!(names.len(), layout.links() as usize);
        }
    }
}
