//! The fat-tree: switches with `k` ports, in three layers and `k` pods.
//!
//! Source: M. Al-Fares, A. Loukissas and A. Vahdat, "A scalable, commodity data center network
//! architecture", SIGCOMM 2008, section 3.

use super::{About, Ends, Layout, Line, NetworkSpec, check_nodes};
use crate::impair::ImpairSpec;
use fairwire_core::units::Room;
use fairwire_core::{Duration, Rate, rng};
use fairwire_parameters::{OutOfRange, Quantity, parameters, word};

pub(super) const ABOUT: About = About {
    summary: "Hosts under three layers of switches, with as much room between pods as the hosts can fill.",
    source: "Al-Fares, Loukissas and Vahdat 2008, section 3; ways by flow as RFC 2992, by destination as Zahavi, Johnson, Kerbyson and Lang 2010.",
    example: "k = 4, rate = \"10 Mbit/s\", delay = \"1 ms\", buffer = \"100 packets\"",
};

/// A fat-tree of switches with `k` ports: `k` pods of `k`/2 edge switches and `k`/2 aggregation
/// switches each, under (`k`/2)² core switches.
#[parameters(name = "fat-tree", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FatTreeSpec {
    /// The number of ports of a switch, which must be even.
    ///
    /// There are 5`k`²/4 switches and, unless `hosts` is given, `k`³/4 hosts.
    #[parameter(required, min = 2, max = 64, unit = "1")]
    pub k: Option<u32>,
    /// The number of hosts at each edge switch.
    ///
    /// If all links have the same rate, more than `k`/2 hosts can overload their switch's upward
    /// links.
    #[parameter(unset = "`k` / 2", min = 1, max = 1000, unit = "1")]
    pub hosts: Option<u32>,
    /// The rate of the links of hosts.
    #[parameter(required, max = "1 Tbit/s")]
    pub rate: Option<Quantity<Rate>>,
    /// The rate of the links between switches.
    #[parameter(unset = "`rate`", max = "1 Tbit/s")]
    pub switch_rate: Option<Quantity<Rate>>,
    /// The rule that chooses the upward path.
    #[parameter(default = RouteBy::Flow)]
    pub route: Option<RouteBy>,
    /// The propagation delay of each link, one way.
    #[parameter(required, max = "1 h")]
    pub delay: Option<Quantity<Duration>>,
    /// The capacity of the queue at each link, in each direction.
    #[parameter(required)]
    pub buffer: Option<Quantity<Room>>,
    /// The faults of the wire behind each link, in each direction.
    #[parameter(unset = "nothing", unit = "table")]
    pub impair: Option<ImpairSpec>,
}

/// The rule that chooses the upward path.
#[word]
pub enum RouteBy {
    /// By a hash of the flow at each switch (ECMP, RFC 2992). A flow's acknowledgements have
    /// another hash. The hash does not depend on the seed.
    #[default]
    Flow,
    /// Only by the destination: an edge switch uses the destination's port, an aggregation switch
    /// uses the destination's edge switch. With the pattern `stride`, no two flows share a link
    /// (D-mod-K; Zahavi, Johnson, Kerbyson and Lang 2010).
    Destination,
}

impl NetworkSpec for FatTreeSpec {
    fn impair(&self) -> Option<&ImpairSpec> {
        self.impair.as_ref()
    }

    fn layout(&self) -> Result<Box<dyn Layout>, OutOfRange> {
        let Checked { k, hosts, rate, switch_rate, route, delay, buffer } = self.checked()?;
        if k % 2 == 1 {
            let given = format!("{k}, which is odd");
            let allowed = "an even number from 2 to 64: half of a switch's ports lead up".into();
            return Err(OutOfRange { name: "k", given, allowed });
        }
        let half = k / 2;
        let per_edge = hosts.unwrap_or(half);
        let rates = [rate, switch_rate.unwrap_or(rate)];
        let tree = FatTree { half, per_edge, rates, route_by: route, delay, buffer };
        let nodes = u64::from(tree.hosts()) + u64::from(tree.switches());
        check_nodes("hosts", per_edge, nodes)?;
        Ok(Box::new(tree))
    }
}

/// A valid fat-tree.
#[derive(Clone, Copy, Debug)]
struct FatTree {
    /// The number of ports that lead upwards: half of a switch's ports.
    half: u32,
    per_edge: u32,
    /// The rates of hosts' links, and of links between switches.
    rates: [Rate; 2],
    route_by: RouteBy,
    delay: Duration,
    buffer: Room,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Port {
    /// The number of the port's edge switch, among all edge switches.
    edge: u32,
    /// Its port there.
    port: u32,
}

impl FatTree {
    fn pods(&self) -> u32 {
        2 * self.half
    }

    /// The number of edge switches, which equals the number of aggregation switches.
    fn edges(&self) -> u32 {
        self.pods() * self.half
    }

    /// The number of cables between two layers of switches.
    fn cables(&self) -> u32 {
        self.edges() * self.half
    }

    fn port_of(&self, host: u32) -> Port {
        Port { edge: host / self.per_edge, port: host % self.per_edge }
    }

    /// The number of the first link of type `kind`. The types, from 0: host to edge, edge to host,
    /// edge to aggregation, aggregation to edge, aggregation to core, core to aggregation.
    fn first(&self, kind: u32) -> u32 {
        match kind {
            0 | 1 => kind * self.hosts(),
            _ => 2 * self.hosts() + (kind - 2) * self.cables(),
        }
    }
}

impl Layout for FatTree {
    fn hosts(&self) -> u32 {
        self.edges() * self.per_edge
    }

    fn switches(&self) -> u32 {
        2 * self.edges() + self.half * self.half
    }

    fn links(&self) -> u32 {
        self.first(6)
    }

    fn link(&self, number: u32) -> Line {
        let half = self.half;
        let kind = (0..6).rev().find(|kind| self.first(*kind) <= number).unwrap_or(0);
        let at = number - self.first(kind);
        let (below, above) = match kind {
            0 | 1 => (format!("h{}", at + 1), format!("e{}", at / self.per_edge + 1)),
            2 | 3 => {
                let (edge, up) = (at / half, at % half);
                (format!("e{}", edge + 1), format!("a{}", edge / half * half + up + 1))
            }
            _ => {
                let (aggregation, up) = (at / half, at % half);
                (format!("a{}", aggregation + 1), format!("c{}", aggregation % half * half + up + 1))
            }
        };
        Line {
            name: if kind % 2 == 0 { format!("{below}-{above}") } else { format!("{above}-{below}") },
            rate: self.rates[usize::from(kind > 1)],
            delay: self.delay,
        }
    }

    fn buffer(&self) -> Room {
        self.buffer
    }

    fn is_by_flow(&self) -> bool {
        self.route_by == RouteBy::Flow
    }

    fn add_route(&self, Ends { from, to, flow }: Ends, route: &mut Vec<u32>) {
        let half = self.half;
        let [source, sink] = [from, to].map(|host| self.port_of(host));
        let [pod, far_pod] = [source, sink].map(|port| port.edge / half);
        let (up, core) = match self.route_by {
            RouteBy::Destination => (sink.port % half, sink.edge % half),
            RouteBy::Flow => {
                let of_half = |hash: u64| (((hash >> 32) * u64::from(half)) >> 32) as u32;
                (of_half(rng::mix(flow)), of_half(rng::mix(!flow)))
            }
        };
        route.push(self.first(0) + from);
        if source.edge != sink.edge {
            route.push(self.first(2) + source.edge * half + up);
            if pod != far_pod {
                route.push(self.first(4) + (pod * half + up) * half + core);
                route.push(self.first(5) + (far_pod * half + up) * half + core);
            }
            route.push(self.first(3) + sink.edge * half + up);
        }
        route.push(self.first(1) + to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::units::Amount;
    use std::collections::BTreeMap;

    fn tree(k: u32, hosts: Option<u32>) -> Box<dyn Layout> {
        tree_by(None, k, hosts)
    }

    fn tree_by(route: Option<RouteBy>, k: u32, hosts: Option<u32>) -> Box<dyn Layout> {
        let rate = Some(Quantity("10 Mbit/s".parse().expect("a rate")));
        let (delay, buffer) =
            (Some(Quantity(Duration::from_ms(1))), Some(Quantity(Room::Amount(Amount::Packets(9)))));
        let spec = FatTreeSpec { k: Some(k), hosts, rate, route, delay, buffer, ..FatTreeSpec::default() };
        spec.layout().expect("it makes sense")
    }

    #[test]
    fn it_has_the_hosts_and_switches_of_the_paper() {
        // Section 3: k = 48 gives 27 648 hosts and 5k²/4 = 2880 switches. There are three layers of
        // cables, each with one cable per host. A cable is two links.
        let tree48 = tree(48, None);
        assert_eq!((tree48.hosts(), tree48.switches()), (27_648, 2880));
        assert_eq!(tree48.links(), 2 * 3 * 27_648);
        assert_eq!((tree(4, None).hosts(), tree(4, Some(3)).hosts()), (16, 24));
    }

    #[test]
    fn under_a_fixed_stride_no_two_flows_share_a_link() {
        for k in [2, 4, 6] {
            let tree = tree_by(Some(RouteBy::Destination), k, None);
            for by in 1..tree.hosts() {
                let mut flows = vec![0; tree.links() as usize];
                for from in 0..tree.hosts() {
                    let mut route = Vec::new();
                    let ends = Ends { from, to: (from + by) % tree.hosts(), flow: 0 };
                    tree.add_route(ends, &mut route);
                    route.iter().for_each(|link| flows[*link as usize] += 1);
                }
                assert_eq!(flows.iter().max(), Some(&1), "k = {k}, {by} places on");
            }
        }
    }

    #[test]
    fn flows_between_pods_use_core_switches_evenly_unless_routed_by_destination() {
        let cores = |route| {
            let tree = tree_by(route, 4, None);
            let mut cores = BTreeMap::new();
            for flow in 0..4000 {
                let mut route = Vec::new();
                tree.add_route(Ends { from: 0, to: 15, flow }, &mut route);
                *cores.entry(tree.link(route[2]).name).or_insert(0) += 1;
            }
            cores
        };
        let (by_flow, by_destination) = (cores(None), cores(Some(RouteBy::Destination)));
        assert_eq!((by_flow.len(), by_destination.len()), (4, 1));
        // The bounds differ from the mean, 1000, by 4 standard deviations of a binomial with p =
        // 1/4.
        assert!(by_flow.values().all(|flows| (890..1110).contains(flows)), "{by_flow:?}");
    }

    #[test]
    fn an_odd_number_of_ports_and_too_many_nodes_are_refused() {
        let refused = |k, hosts| {
            let given = FatTreeSpec {
                k: Some(k),
                hosts,
                rate: Some(Quantity("1 Mbit/s".parse().expect("a rate"))),
                delay: Some(Quantity(Duration::ZERO)),
                buffer: Some(Quantity(Room::Amount(Amount::Packets(1)))),
                ..FatTreeSpec::default()
            };
            given.layout().expect_err("it makes no sense").to_string()
        };
        let allowed = "an even number from 2 to 64: half of a switch's ports lead up";
        assert_eq!(refused(5, None), format!("`k` is 5, which is odd; allowed: {allowed}"));
        assert!(refused(64, Some(1000)).contains("allowed: at most 100000 nodes"));
    }
}
