//! The tuning of a run, chosen once from its network. No result depends on it.

use crate::plan::{GroupPlan, Hop, Network, Settings, Source, TieRule};
use fairwire_core::Duration;

/// The default handles all events one by one, in one order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tuning {
    /// How far hosts may be handled ahead of links; `None` if all events are handled in one order.
    pub(crate) lookahead: Option<Duration>,
    /// For each link: do its packets continue only to sinks? Such packets are delivered together,
    /// at the end of a turn. Empty without a lookahead.
    pub(crate) last_links: Vec<bool>,
    /// Is there only one link, and a lookahead? Then the time at which the link becomes free is
    /// kept outside the lanes.
    pub(crate) has_one_link: bool,
    /// Do the flows' records exceed the caches? Then the data for later events is prefetched.
    pub(crate) has_many_flows: bool,
}

/// The number of flows whose records stay in the first- or second-level cache.
const FEW_FLOWS: usize = 256;

impl Tuning {
    /// Tunes a run. A watched run has no lookahead, because an observer must receive events in
    /// order.
    pub(crate) fn of(plan: &mut Network, settings: &Settings, is_watched: bool) -> Self {
        let lookahead = if is_watched { None } else { lookahead(plan, settings) };
        Tuning::ahead(plan, lookahead)
    }

    pub(crate) fn ahead(plan: &Network, lookahead: Option<Duration>) -> Self {
        let last_links = if lookahead.is_some() { last_links(plan) } else { Vec::new() };
        let has_one_link = lookahead.is_some() && plan.links.len() == 1;
        Tuning { lookahead, last_links, has_one_link, has_many_flows: plan.flow_count() > FEW_FLOWS }
    }
}

/// The maximum lookahead: the slowest link's time to send this number of bytes, which fit in a
/// cache.
const MAX_WINDOW: u64 = 1 << 20;

/// The minimum lookahead: the slowest link's time to send this number of bytes. A shorter turn has
/// too few events to be worthwhile.
const MIN_WINDOW: u64 = 1 << 13;

/// The lookahead: the least time from a queued link to a host, limited by [`MAX_WINDOW`]. `None`
/// below [`MIN_WINDOW`], or in one of these cases:
///
/// - Links affect hosts at once (sessions, edges), or hosts affect links at once (round trips).
/// - A wire has faults, or a path has no queue.
/// - A host's packet may reach a link in no time.
/// - Simultaneous events come in scheduling order.
fn lookahead(plan: &mut Network, settings: &Settings) -> Option<Duration> {
    let has_queue = |hops: &[Hop]| hops.iter().any(|hop| matches!(hop, Hop::Link(_)));
    let delays = |group: &GroupPlan| group.members.iter().map(|member| member.access_delay).min();
    let takes_time = |group: &GroupPlan| {
        group.access_rate.time_to_send(1) > Duration::ZERO
            || delays(group).is_none_or(|least| least > Duration::ZERO)
    };
    let is_apart = plan.groups.iter().all(|group| {
        !matches!(group.source, Source::Tcp { .. }) && has_queue(&group.forward) && takes_time(group)
    });
    // A wire with faults delivers packets by events, in the order of their arrival.
    let has_faults = plan.links.iter().any(|link| link.wire.is_some());
    let hears_trips = plan.links.iter_mut().any(|link| link.discipline.hears_round_trips());
    if !is_apart
        || has_faults
        || hears_trips
        || !plan.aggregates.is_empty()
        || settings.tie_rule != TieRule::Random
    {
        return None;
    }
    let link = plan.links.iter().map(|link| link.delay).min()?;
    let access = plan.groups.iter().filter_map(delays).min()?;
    let slowest = plan.links.iter().map(|link| link.rate).min_by_key(|rate| rate.bps())?;
    let lookahead = (link + access).min(slowest.time_to_send(MAX_WINDOW));
    (lookahead >= slowest.time_to_send(MIN_WINDOW)).then_some(lookahead)
}

fn last_links(plan: &Network) -> Vec<bool> {
    let mut are_last = vec![true; plan.links.len()];
    let links = |hops: &[Hop]| {
        hops.iter()
            .filter_map(|hop| if let Hop::Link(at) = hop { Some(*at as usize) } else { None })
            .collect::<Vec<_>>()
    };
    for group in &plan.groups {
        let forward = links(&group.forward);
        let goes_on = forward.split_last().map_or(&[][..], |(_, before)| before);
        goes_on.iter().chain(&links(&group.back)).for_each(|link| are_last[*link] = false);
    }
    are_last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{LinkPlan, Member};
    use fairwire_core::scheduler::Fcfs;
    use fairwire_core::{Dropper, Limit, Queue, Rate, RateLaw, Seed};

    struct TailDrop;
    impl Dropper for TailDrop {}

    fn network(mbps: u64, delay: Duration, access_mbps: u64, access_delay: Duration) -> Network {
        let rate = |mbps: u64| Rate::from_bps(mbps * 1_000_000).expect("not zero");
        let discipline = Box::new(Queue::new(Limit::packets(9), Fcfs, TailDrop));
        let link = LinkPlan {
            name: "l".into(),
            rate: rate(mbps),
            law: RateLaw::Fixed,
            delay,
            wire: None,
            discipline,
        };
        let source = Source::Cbr { rate: rate(1), packet_bytes: 512, header_bytes: 28, dither: 0.0 };
        let members = vec![Member { start: Duration::ZERO, access_delay }];
        let (forward, back, access_rate) = (Vec::new(), Vec::new(), rate(access_mbps));
        let group = GroupPlan {
            name: "g".into(),
            source,
            forward,
            back,
            access_rate,
            class: 0,
            dscp: 0,
            ecn: fairwire_core::Ecn::NotEct,
            members,
            on: Vec::new(),
        };
        Network::dumbbell(link, vec![group])
    }

    fn found(mut plan: Network, tie_rule: TieRule) -> Option<Duration> {
        let (duration, warm_up, seed) = (Duration::from_ms(2), Duration::ZERO, Seed(1));
        lookahead(&mut plan, &Settings { duration, warm_up, seed, tie_rule })
    }

    #[test]
    fn the_lookahead_is_the_shortest_path_to_a_host_if_worthwhile() {
        let [none, one, ten] = [0, 1, 10].map(Duration::from_ms);
        let at = |mbps, delay, access| found(network(mbps, delay, 1000, access), TieRule::Random);
        assert_eq!(at(100, ten, one), Some(Duration::from_ms(11)));
        // At 1 Gbit/s, 11 ms exceed the maximum of 8.389 ms (1 MiB). At 10 Mbit/s, 2 ms are below
        // the minimum of 6.554 ms (8 KiB).
        assert_eq!(at(1000, ten, one), Some(Duration::from_ns(8_388_608)));
        assert_eq!((at(10, one, one), at(100, one, none), at(100, none, none)), (None, Some(one), None));
        assert_eq!(found(network(100, ten, 1000, one), TieRule::Fifo), None, "in the order scheduled");
    }

    #[test]
    fn a_source_without_delay_to_the_link_has_no_separate_side() {
        let [none, ten] = [0, 10].map(Duration::from_ms);
        let at = |access_mbps, access| found(network(100, ten, access_mbps, access), TieRule::Random);
        assert_eq!(at(400_000, none), None, "40 bytes take 0.8 ns");
        assert!(at(400_000, Duration::from_ns(1)).is_some() && at(1000, none).is_some());
    }

    #[test]
    fn a_link_is_last_if_no_packet_continues_from_it() {
        let mut plan = network(100, Duration::from_ms(10), 1000, Duration::ZERO);
        assert_eq!(last_links(&plan), [true]);
        plan.groups[0].back = vec![Hop::Link(0)];
        assert_eq!(last_links(&plan), [false], "acknowledgements go on to their senders");
        plan.groups[0].back.clear();
        let more = network(100, Duration::from_ms(10), 1000, Duration::ZERO);
        plan.links.extend(more.links);
        plan.groups[0].forward.push(Hop::Link(1));
        assert_eq!(last_links(&plan), [false, true]);
    }
}
