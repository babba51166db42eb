//! Nodes, links between them, and the shortest routes by delay.

use fairwire_core::Duration;
use fairwire_sim::Hop;

pub(crate) struct Graph<'a> {
    nodes: &'a [String],
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) delay: Duration,
    /// The edge's position in the file. The two directions of a link have different positions.
    pub(crate) place: usize,
    pub(crate) hop: Hop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRoute {
    Unreachable { from: usize, to: usize },
    Loop { node: usize },
}

/// The distance of a node, compared by delay, then by the number of links, then by the file order
/// of the last link.
type Far = (Duration, usize, usize);

impl<'a> Graph<'a> {
    pub(crate) fn new(nodes: &'a [String]) -> Self {
        Graph { nodes, edges: Vec::new() }
    }

    pub(crate) fn add(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node == name)
    }

    pub(crate) fn name(&self, node: usize) -> &str {
        &self.nodes[node]
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.nodes.to_vec()
    }

    pub(crate) fn route(&self, stops: &[usize]) -> Result<Vec<Hop>, NoRoute> {
        let mut edges = Vec::new();
        for pair in stops.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if from == to {
                return Err(NoRoute::Loop { node: from });
            }
            edges.extend(self.shortest(from, to).ok_or(NoRoute::Unreachable { from, to })?);
        }
        let mut passed = vec![false; self.nodes.len()];
        passed[stops[0]] = true;
        for edge in &edges {
            if std::mem::replace(&mut passed[edge.to], true) {
                return Err(NoRoute::Loop { node: edge.to });
            }
        }
        Ok(edges.iter().map(|edge| edge.hop).collect())
    }

    /// Dijkstra's algorithm (Numerische Mathematik 1, 1959), with the nodes in a simple list, since
    /// there are few.
    fn shortest(&self, from: usize, to: usize) -> Option<Vec<Edge>> {
        let mut far: Vec<Option<(Far, Option<Edge>)>> = vec![None; self.nodes.len()];
        let mut is_settled = vec![false; self.nodes.len()];
        far[from] = Some(((Duration::ZERO, 0, 0), None));
        while let Some((at, (delay, links, _))) = nearest(&far, &is_settled) {
            is_settled[at] = true;
            for edge in self.edges.iter().filter(|edge| edge.from == at) {
                let reached = (delay + edge.delay, links + 1, edge.place);
                if far[edge.to].is_none_or(|(known, _)| reached < known) {
                    far[edge.to] = Some((reached, Some(*edge)));
                }
            }
        }
        let mut route = Vec::new();
        let mut at = to;
        while let (_, Some(edge)) = far[at]? {
            route.push(edge);
            at = edge.from;
        }
        route.reverse();
        Some(route)
    }
}

fn nearest(far: &[Option<(Far, Option<Edge>)>], is_settled: &[bool]) -> Option<(usize, Far)> {
    let open = far.iter().enumerate().filter(|(node, _)| !is_settled[*node]);
    open.filter_map(|(node, known)| Some((node, known.as_ref()?.0))).min_by_key(|(_, far)| *far)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph<'a>(nodes: &'a [String], edges: &[(usize, usize, u64)]) -> Graph<'a> {
        let mut graph = Graph::new(nodes);
        for (place, &(from, to, ms)) in edges.iter().enumerate() {
            let (delay, hop) = (Duration::from_ms(ms), Hop::Link(place as u32));
            graph.add(Edge { from, to, delay, place, hop });
        }
        graph
    }

    fn nodes() -> Vec<String> {
        ["a", "b", "c", "d"].map(String::from).to_vec()
    }

    fn links(route: Result<Vec<Hop>, NoRoute>) -> Vec<u32> {
        let link = |hop: &Hop| match hop {
            Hop::Link(link) => *link,
            Hop::Wire { .. } => unreachable!("there is none"),
        };
        route.expect("there is a route").iter().map(link).collect()
    }

    #[test]
    fn the_route_is_the_shortest_by_delay_then_links_then_file_order() {
        let nodes = nodes();
        // Paths from a (0) to d (3): 3 ms over b, 2 ms over c, 2 ms directly.
        let edges = [(0, 1, 1), (1, 3, 2), (0, 2, 1), (2, 3, 1), (0, 3, 2), (0, 3, 2)];
        assert_eq!(links(graph(&nodes, &edges).route(&[0, 3])), [4]);
        assert_eq!(links(graph(&nodes, &edges[..4]).route(&[0, 3])), [2, 3]);
        assert_eq!(links(graph(&nodes, &edges[..2]).route(&[0, 3])), [0, 1]);
        let equal = [(0, 1, 1), (0, 2, 1), (2, 3, 1), (1, 3, 1)];
        assert_eq!(links(graph(&nodes, &equal).route(&[0, 3])), [1, 2], "link 2 is before link 3");
    }

    #[test]
    fn a_route_passes_its_stops_and_no_node_twice() {
        let nodes = nodes();
        let edges = [(0, 1, 1), (1, 3, 2), (0, 2, 1), (2, 3, 1), (1, 0, 1)];
        let graph = graph(&nodes, &edges);
        assert_eq!(links(graph.route(&[0, 1, 3])), [0, 1]);
        assert_eq!(graph.route(&[0, 0]), Err(NoRoute::Loop { node: 0 }));
        assert_eq!(graph.route(&[1, 2, 3]).map(|route| route.len()), Ok(3));
        assert_eq!(graph.route(&[0, 1, 2]), Err(NoRoute::Loop { node: 0 }), "b reaches c only over a");
        assert_eq!(graph.route(&[3, 0]), Err(NoRoute::Unreachable { from: 3, to: 0 }));
    }
}
