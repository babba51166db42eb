//! What is seen of both ways, for those who watch.

use super::Watched;
use crate::forwarding::{VIEW_EVERY, flow_view, link_view};
use crate::view::{FlowView, LinkView, View};
use fairwire_core::{FlowHash, Rate, RateLaw, Time};
use fairwire_datapath::account::{Account, FirstPacket, FlowCount};
use fairwire_datapath::direction::Direction;
use fairwire_wire::flow_key::{FlowKey, Tuple};
use fairwire_wire::headers::{TCP, UDP};
use std::collections::HashMap;
use std::fmt::Display;

/// Counts, and passes on what is seen.
pub(super) struct Meter {
    watched: Watched,
    start: Time,
    /// When the latest view was taken.
    before: Time,
    ways: [Seen; 2],
}

/// A way, as it was seen last.
struct Seen {
    name: &'static str,
    rate: Option<(Rate, RateLaw)>,
    flows: HashMap<FlowHash, FlowCount>,
}

/// Flows of a view.
const MAX_FLOWS: usize = 16;

impl Meter {
    /// Of ways with these rates, towards the command and away from it.
    pub(super) fn new(watched: Watched, [down, up]: [Option<(Rate, RateLaw)>; 2], start: Time) -> Self {
        let seen = |name, rate| Seen { name, rate, flows: HashMap::new() };
        Meter { watched, start, before: start, ways: [seen("down", down), seen("up", up)] }
    }

    /// Takes a view where one is due. Of each way there are the packets that its wire lost.
    pub(super) fn look(&mut self, now: Time, ways: [(&Direction, u64); 2]) {
        if now < self.before + VIEW_EVERY || !self.watched.has_viewers() {
            return;
        }
        let (start, before) = (self.start, std::mem::replace(&mut self.before, now));
        let view = |(seen, (link, lost)): (&mut Seen, (&Direction, u64))| {
            let view = seen.view(link, start, (before, now));
            LinkView { lost: view.lost + lost, ..view }
        };
        let links = self.ways.iter_mut().zip(ways).map(view).collect();
        self.watched.show(View { at_s: now.since(start).secs(), links });
    }
}

impl Seen {
    /// What `link` did since the last view.
    fn view(&mut self, link: &Direction, start: Time, (before, now): (Time, Time)) -> LinkView {
        let (accounts, opened) = link.accounts().all();
        let flow = |(account, opened)| -> Option<FlowView> {
            let (account, opened): (&Account, &FirstPacket) = (account, opened);
            let earlier = self.flows.get(&account.flow).copied().unwrap_or_default();
            let is_active = account.count != earlier;
            is_active
                .then(|| flow_view(name_of(&opened.key), &account.count, &earlier, now.since(before).secs()))
        };
        let mut flows: Vec<FlowView> = accounts.iter().zip(opened).filter_map(flow).collect();
        flows.sort_by(|a, b| b.bps.total_cmp(&a.bps));
        self.flows = accounts.iter().map(|account| (account.flow, account.count)).collect();
        let mean_bps =
            |(rate, law): &(Rate, RateLaw)| law.mean_bps(*rate, before.since(start), now.since(start));
        let rate_bps = self.rate.as_ref().map_or(0.0, mean_bps);
        let mut view = link_view((self.name, rate_bps), (link, now), flows);
        view.flows.truncate(MAX_FLOWS);
        view
    }
}

/// A flow in a few words.
fn name_of(key: &FlowKey) -> String {
    match key {
        FlowKey::Ipv4(tuple) => ends(tuple),
        FlowKey::Ipv6(tuple) => ends(tuple),
        FlowKey::Other { ethertype, .. } => format!("EtherType {ethertype:#06x}"),
    }
}

fn ends<A: Display>(Tuple { source, destination, protocol, ports }: &Tuple<A>) -> String {
    let protocol = match *protocol {
        TCP => "TCP".to_owned(),
        UDP => "UDP".to_owned(),
        1 => "ICMP".to_owned(),
        other => format!("protocol {other}"),
    };
    match ports {
        Some(ports) => {
            format!("{protocol} {source}:{} to {destination}:{}", ports.source, ports.destination)
        }
        None => format!("{protocol} {source} to {destination}"),
    }
}
