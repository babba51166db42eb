//! A dumbbell of dumbbells: two hubs with a link between them, and equally many branches at each
//! hub.

use super::{About, Ends, Layout, Line, NetworkSpec, check_nodes};
use crate::impair::ImpairSpec;
use fairwire_core::units::Room;
use fairwire_core::{Duration, Rate};
use fairwire_parameters::{OutOfRange, Quantity, parameters};

pub(super) const ABOUT: About = About {
    summary: "Two hubs with a link between them, and at each as many switches with hosts, behind a link of their own each.",
    source: "",
    example: "branches = 3, hosts = 2, rate = \"100 Mbit/s\", inner_rate = \"10 Mbit/s\", outer_rate = \"100 Mbit/s\", delay = \"1 ms\", \
              buffer = \"100 packets\"",
};

/// A dumbbell of dumbbells: hosts at switches, an inner link from each switch to its hub, and an
/// outer link between the hubs.
#[parameters(name = "dumbbells", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DumbbellsSpec {
    /// The switches at each hub.
    #[parameter(required, min = 1, max = 10000, unit = "1")]
    pub branches: Option<u32>,
    /// The hosts at each switch.
    ///
    /// The hosts on the left are numbered first. With `n` hosts in all, the counterpart of host `i`
    /// on the left is host `i + n/2`.
    #[parameter(required, min = 1, max = 10000, unit = "1")]
    pub hosts: Option<u32>,
    /// The rate of the links of hosts.
    #[parameter(required, max = "1 Tbit/s")]
    pub rate: Option<Quantity<Rate>>,
    /// The rate of each link between a switch and its hub.
    #[parameter(required, max = "1 Tbit/s")]
    pub inner_rate: Option<Quantity<Rate>>,
    /// The rate of the link between the hubs.
    #[parameter(required, max = "1 Tbit/s")]
    pub outer_rate: Option<Quantity<Rate>>,
    /// The propagation delay of each link, one way.
    #[parameter(required, max = "1 h")]
    pub delay: Option<Quantity<Duration>>,
    /// The propagation delay of the link between the hubs.
    #[parameter(unset = "`delay`", max = "1 h")]
    pub outer_delay: Option<Quantity<Duration>>,
    /// The capacity of the queue at each link, in each direction.
    #[parameter(required)]
    pub buffer: Option<Quantity<Room>>,
    /// The faults of the wire behind each link, in each direction.
    #[parameter(unset = "nothing", unit = "table")]
    pub impair: Option<ImpairSpec>,
}

impl NetworkSpec for DumbbellsSpec {
    fn impair(&self) -> Option<&ImpairSpec> {
        self.impair.as_ref()
    }

    fn layout(&self) -> Result<Box<dyn Layout>, OutOfRange> {
        let Checked { branches, hosts: per_switch, rate, inner_rate, outer_rate, delay, outer_delay, buffer } =
            self.checked()?;
        let nodes = 2 + 2 * u64::from(branches) * (1 + u64::from(per_switch));
        check_nodes("hosts", per_switch, nodes)?;
        let rates = [outer_rate, inner_rate, rate];
        let delays = [outer_delay.unwrap_or(delay), delay, delay];
        Ok(Box::new(Dumbbells { branches, per_switch, rates, delays, buffer }))
    }
}

#[derive(Clone, Copy, Debug)]
struct Dumbbells {
    branches: u32,
    per_switch: u32,
    /// Rates of the outer link, of inner links, and of hosts' links.
    rates: [Rate; 3],
    delays: [Duration; 3],
    buffer: Room,
}

const HUBS: [&str; 2] = ["left", "right"];

impl Dumbbells {
    /// The number of switches on both sides; those on the left have the lower numbers.
    fn branches(&self) -> u32 {
        2 * self.branches
    }

    fn side(&self, switch: u32) -> u32 {
        switch / self.branches
    }

    /// The number of the first link of type `kind`. The types, from 0: outer link, switch to hub,
    /// hub to switch, from host, to host.
    fn first(&self, kind: u32) -> u32 {
        match kind {
            0 => 0,
            1 | 2 => 2 + (kind - 1) * self.branches(),
            _ => 2 + 2 * self.branches() + (kind - 3) * self.hosts(),
        }
    }
}

impl Layout for Dumbbells {
    fn hosts(&self) -> u32 {
        self.branches() * self.per_switch
    }

    fn switches(&self) -> u32 {
        2 + self.branches()
    }

    fn links(&self) -> u32 {
        self.first(5)
    }

    fn link(&self, number: u32) -> Line {
        let kind = (0..5).rev().find(|kind| self.first(*kind) <= number).unwrap_or(0);
        let at = number - self.first(kind);
        let (below, above) = match kind {
            0 => (HUBS[0].into(), HUBS[1].into()),
            1 | 2 => (format!("s{}", at + 1), HUBS[self.side(at) as usize].to_owned()),
            _ => (format!("h{}", at + 1), format!("s{}", at / self.per_switch + 1)),
        };
        let is_down = if kind == 0 { at == 1 } else { kind % 2 == 0 };
        let layer = kind.div_ceil(2) as usize;
        Line {
            name: if is_down { format!("{above}-{below}") } else { format!("{below}-{above}") },
            rate: self.rates[layer],
            delay: self.delays[layer],
        }
    }

    fn buffer(&self) -> Room {
        self.buffer
    }

    fn add_route(&self, Ends { from, to, .. }: Ends, route: &mut Vec<u32>) {
        let [switch, far] = [from, to].map(|host| host / self.per_switch);
        route.push(self.first(3) + from);
        if switch != far {
            route.push(self.first(1) + switch);
            let [side, far_side] = [switch, far].map(|switch| self.side(switch));
            if side != far_side {
                route.push(side);
            }
            route.push(self.first(2) + far);
        }
        route.push(self.first(4) + to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::units::Amount;

    fn spec(branches: u32, hosts: u32) -> DumbbellsSpec {
        let rate = |text: &str| Some(Quantity(text.parse().expect("a rate")));
        DumbbellsSpec {
            branches: Some(branches),
            hosts: Some(hosts),
            rate: rate("3 Mbit/s"),
            inner_rate: rate("2 Mbit/s"),
            outer_rate: rate("1 Mbit/s"),
            delay: Some(Quantity(Duration::from_ms(1))),
            outer_delay: Some(Quantity(Duration::from_ms(9))),
            buffer: Some(Quantity(Room::Amount(Amount::Packets(9)))),
            impair: None,
        }
    }

    #[test]
    fn a_route_across_passes_a_link_of_each_kind_in_both_directions() {
        let network = spec(3, 2).layout().expect("it makes sense");
        assert_eq!((network.hosts(), network.switches(), network.links()), (12, 8, 2 + 12 + 24));
        let route = |from, to| {
            let mut route = Vec::new();
            network.add_route(Ends { from, to, flow: 0 }, &mut route);
            let printed = |link: &u32| {
                let Line { name, rate, delay } = network.link(*link);
                format!("{name} {} {}", rate.bps() / 1_000_000, delay.ns() / 1_000_000)
            };
            route.iter().map(printed).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(route(3, 9), "h4-s2 3 1, s2-left 2 1, left-right 1 9, right-s5 2 1, s5-h10 3 1");
        assert_eq!(route(9, 3), "h10-s5 3 1, s5-right 2 1, right-left 1 9, left-s2 2 1, s2-h4 3 1");
        assert_eq!(route(3, 0), "h4-s2 3 1, s2-left 2 1, left-s1 2 1, s1-h1 3 1");
        assert_eq!(route(3, 2), "h4-s2 3 1, s2-h3 3 1");
    }

    #[test]
    fn too_many_nodes_are_refused() {
        let refused = spec(1000, 50).layout().expect_err("it makes no sense").to_string();
        assert!(refused.contains("50, which makes 102002 nodes"));
    }
}
