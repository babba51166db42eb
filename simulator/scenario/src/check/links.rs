//! Checks the links, and the nodes between them.

use super::{Check, Checked, FASTEST, MAX_DELAY, bps};
use crate::fault::{missing, refused};
use crate::links::{LinkSpec, Links, NetworkLinkSpec};
use fairwire_core::{Duration, Rate};
use fairwire_laws::spec::Quantity;

/// The maximum number of nodes, because each group searches for routes among all nodes.
const MAX_NODES: usize = 1000;

impl Check<'_> {
    pub(super) fn links(&self) -> Checked {
        match &self.spec.link {
            None => self.has_network()?,
            Some(_) if self.spec.network.is_some() => {
                return Err(refused("network", "given", "`link` is given too", "one of the two"));
            }
            Some(Links::Shared(LinkSpec { rate, delay, .. })) => self.part("link", *rate, *delay)?,
            Some(Links::Network(links)) => {
                self.nodes()?;
                for (at, link) in links.iter().enumerate() {
                    self.network_link(&format!("link.{at}"), link)?;
                }
            }
        }
        let Some(back) = &self.spec.return_link else { return Ok(()) };
        if back.bottleneck && back.discipline.is_some() {
            let why = "the disciplines compared work at a link with `bottleneck = true`";
            let allowed = "`discipline` or `bottleneck = true`, not both";
            return Err(refused("return.discipline", "given", why, allowed));
        }
        self.part("return", back.rate, back.delay)
    }

    fn has_network(&self) -> Checked {
        if self.spec.network.is_some() {
            return Ok(());
        }
        Err(missing("", "link", "or `network`"))
    }

    fn network_link(&self, path: &str, link: &NetworkLinkSpec) -> Checked {
        link.name.as_ref().map_or(Ok(()), |name| self.name(&format!("{path}.name"), name))?;
        self.part(path, link.rate, link.delay)?;
        link.back.as_ref().map_or(Ok(()), |back| self.part(&format!("{path}.back"), back.rate, back.delay))
    }

    /// Checks the names of nodes, which form the names of links.
    fn nodes(&self) -> Checked {
        let nodes = &self.spec.nodes;
        if !(2..=MAX_NODES).contains(&nodes.len()) {
            let given = format!("a list of {} name{}", nodes.len(), if nodes.len() == 1 { "" } else { "s" });
            let allowed = format!("2 to {MAX_NODES} names of nodes");
            return Err(refused("nodes", given, "that is out of range", allowed));
        }
        for (at, node) in nodes.iter().enumerate() {
            self.name(&format!("nodes.{at}"), node)?;
            if nodes[..at].contains(node) {
                let (path, given) = (format!("nodes.{at}"), format!("`{node}`"));
                return Err(refused(path, given, "another node has that name", "each node once"));
            }
        }
        Ok(())
    }

    fn line(&self, path: &str, rate: Rate, delay: Duration) -> Checked {
        self.within(&format!("{path}.rate"), rate, bps(1)..=bps(FASTEST))?;
        self.within(&format!("{path}.delay"), delay, Duration::ZERO..=MAX_DELAY)
    }

    fn part(&self, path: &str, rate: Option<Quantity<Rate>>, delay: Option<Quantity<Duration>>) -> Checked {
        self.line(path, rate.map_or(bps(1), |rate| rate.0), delay.map_or(Duration::ZERO, |delay| delay.0))
    }
}
