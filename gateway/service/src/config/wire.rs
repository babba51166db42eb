//! The table [wire]: the interfaces that the gateway connects.

use super::backend::Backend;
use fairwire_core::Duration;
use fairwire_datapath::io::insides::{covers, is_pattern};
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The two interfaces that the gateway connects.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WireSpec {
    /// The back end: a name, or a table with the name and its parameters. Default: `af-packet`.
    #[serde(default)]
    pub backend: Backend,
    /// The interface towards the subscribers. A router may have several: a list of at most 16,
    /// which share `outside`. A router also accepts patterns: `ppp*` covers all interfaces that
    /// begin with `ppp`, except `outside` and the tunnels.
    pub inside: Insides,
    /// The interface towards the rest of the world.
    pub outside: String,
    /// A router's tunnels whose packets leave by `outside`, such as a VPN client's tunnel; at most
    /// 3. Traffic between the inside and a tunnel is shaped as traffic of `outside`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnels: Vec<TunnelSpec>,
    /// The least time between two wakings while packets wait. A longer time saves processor time,
    /// and delays packets by at most that time. Default: 1 ms; from 0 s to 5 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coalesce: Option<Quantity<Duration>>,
}

/// A tunnel that ends on this router.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TunnelSpec {
    /// The tunnel's interface, such as `wg0`. It may be missing at times.
    pub interface: String,
    /// The bytes that the tunnel adds to each packet: 60 for WireGuard over IPv4, 80 over IPv6. At
    /// most 512.
    pub overhead_bytes: u16,
}

/// The interfaces towards the subscribers: a name, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "this is neither a text in quotes nor a list of such texts")]
pub enum Insides {
    /// One.
    One(String),
    /// Several interfaces of a router.
    Several(Vec<String>),
}

impl WireSpec {
    /// The inside interfaces among the interfaces `there`, in the order of the list.
    pub fn insides_among(&self, there: &[String]) -> Vec<String> {
        let is_other = |name: &String| {
            *name == self.outside || self.tunnels.iter().any(|tunnel| tunnel.interface == *name)
        };
        let listed = self.inside.names().iter();
        let all = listed.flat_map(|inside| there.iter().filter(move |name| covers(inside, name)));
        all.filter(|name| !is_other(name)).cloned().collect()
    }
}

impl From<&str> for Insides {
    fn from(name: &str) -> Self {
        Insides::One(name.to_owned())
    }
}

impl Insides {
    /// Their names, and patterns of names.
    pub fn names(&self) -> &[String] {
        match self {
            Insides::One(name) => std::slice::from_ref(name),
            Insides::Several(names) => names,
        }
    }

    /// Is one of them a pattern?
    pub fn has_pattern(&self) -> bool {
        self.names().iter().any(|name| is_pattern(name))
    }

    /// The first interface, or the only one.
    pub fn first(&self) -> &String {
        &self.names()[0]
    }
}

impl fmt::Display for Insides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(", "))
    }
}
