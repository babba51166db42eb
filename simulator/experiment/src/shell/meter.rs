//! Views of both directions, for processes that watch a shell.

use super::Watched;
use super::links::Varying;
use crate::forwarding::{VIEW_EVERY, flow_view, link_view};
use crate::view::{FlowView, LinkView, View};
use fairwire_core::Time;
use fairwire_datapath::account::{Account, FlowCount};
use fairwire_datapath::direction::Direction;
use fairwire_wire::flow_key::{FlowKey, Tuple};
use fairwire_wire::headers::{TCP, UDP};
use std::cmp::Reverse;
use std::fmt::Display;

pub(super) struct Meter {
    watched: Watched,
    rates: [Option<Varying>; 2],
    start: Time,
    /// The time of the latest view, and the accounts of both directions at that time.
    before: Time,
    accounts: [Vec<Account>; 2],
}

pub(super) struct Metered<'a> {
    pub(super) link: &'a Direction,
    pub(super) lost: u64,
}

const MAX_FLOWS: usize = 16;

impl Meter {
    pub(super) fn new(watched: Watched, rates: [Option<Varying>; 2], start: Time) -> Self {
        Meter { watched, rates, start, before: start, accounts: Default::default() }
    }

    pub(super) fn look(&mut self, now: Time, [down, up]: [Metered<'_>; 2]) {
        if now >= self.before + VIEW_EVERY && self.watched.has_viewers() {
            let links = vec![self.view(0, "down", down, now), self.view(1, "up", up, now)];
            self.watched.show(View { at_s: now.since(self.start).secs(), links });
            self.before = now;
        }
    }

    fn view(&mut self, way: usize, name: &str, Metered { link, lost }: Metered<'_>, now: Time) -> LinkView {
        let (accounts, opened) = link.accounts().all();
        let before = std::mem::replace(&mut self.accounts[way], accounts.to_vec());
        let since = |place: usize| {
            let Account { flow, count, .. } = accounts[place];
            let same = before.get(place).filter(|account| account.flow == flow);
            (same.map_or(count, |account| count.since(&account.count)), place)
        };
        let mut active: Vec<(FlowCount, usize)> =
            (0..accounts.len()).map(since).filter(|(since, _)| *since != FlowCount::default()).collect();
        active.sort_unstable_by_key(|(since, _)| Reverse(since.bytes_out));
        let seconds = now.since(self.before).secs();
        let flow = |(since, place): &(FlowCount, usize)| {
            flow_view(name_of(&opened[*place].key), since, accounts[*place].count.dropped, seconds)
        };
        let flows: Vec<FlowView> = active.iter().take(MAX_FLOWS).map(flow).collect();
        let (from, to) = (self.before.since(self.start), now.since(self.start));
        let rate_bps =
            self.rates[way].as_ref().map_or(0.0, |rate| rate.law.mean_bps(rate.at_first, from, to));
        let view = link_view(name, rate_bps, link, now, flows);
        let sent_bps = active.iter().map(|(since, _)| since.bytes_out).sum::<u64>() as f64 * 8.0 / seconds;
        LinkView { sent_bps, lost: view.lost + lost, ..view }
    }
}

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
