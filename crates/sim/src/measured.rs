//! What came out of a run, as records.

use crate::app::load::Demand;
use crate::app::session::{Session, Timed};
use crate::ends::Took;
use crate::event::Events;
use crate::flow::Counts;
use crate::group::Group;
use crate::link::Link;
use crate::model::Model;
use crate::observe::Tap;
use crate::plan::{GroupPlan, Measured, Source};
use fairwire_core::Duration;
use fairwire_metrics::record::{FlowRecord, TransferRecord};
use fairwire_metrics::{Completed, FlowName};
use fairwire_tcp::LossCounts;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a flow's record calls it, its group and its kind.
struct Names {
    name: FlowName,
    group: Arc<str>,
    kind: Arc<str>,
}

impl<T: Tap, E: Events> Model<T, E> {
    /// What came out.
    pub(crate) fn measured(&self) -> Measured {
        // By plan: the number of its latest flow. Plans of one name are numbered as one group.
        let mut numbers: Vec<u32> = self.groups.iter().map(|group| group.before).collect();
        let names = self
            .groups
            .iter()
            .map(|Group { plan, .. }| (plan.name.as_str().into(), kind(&plan.source).into()));
        // Of a group and its kind, which its flows share.
        let names: Vec<(Arc<str>, Arc<str>)> = names.collect();
        let mut rest = &self.store.flows[..];
        let mut flows = Vec::with_capacity(rest.len()); // or fewer, where a member is several
        while let Some(first) = rest.first() {
            let group = first.group() as usize;
            let of_group = &self.groups[group];
            let plan = &of_group.plan;
            let (of_member, others) = rest.split_at(plan.connections());
            rest = others;
            let member = plan.members[(numbers[group] - of_group.before) as usize];
            numbers[group] += 1;
            let session = first.session().map(|session| &self.sessions[session as usize]);
            let name = FlowName::numbered(&plan.name, numbers[group]);
            let (group, kind) = names[group].clone();
            let names = Names { name, group, kind };
            let record = self.flow_record(plan, names, &Counts::sum(of_member), session);
            let base_rtt = of_group.base_rtt(member.access_delay);
            flows.push(FlowRecord {
                start_s: Some(member.start.seconds()),
                access_delay_s: Some(member.access_delay.seconds()),
                base_rtt_s: base_rtt.map(Duration::seconds),
                ..record
            });
        }
        Measured {
            flows,
            links: self.links.iter().map(|link| link.record(self.end)).collect(),
            transfers: self.transfer_records(),
            aggregates: self.edges.as_ref().map_or(Vec::new(), |edges| edges.counts(self.end)),
            events: self.handled - self.meaningless,
        }
    }

    fn transfer_records(&self) -> Vec<TransferRecord> {
        let of_ends = self.timed_ends();
        let of_group = |(number, group): (u32, &Group)| {
            let timed = self.timed.get(&number).or(of_ends.get(&number))?;
            let name = &group.plan.name;
            Some([timed.transfers.record(name, "transfer"), timed.pages.record(name, "page")])
        };
        (0..).zip(&self.groups).filter_map(of_group).flatten().flatten().collect()
    }

    /// How long the transfers of endpoints of other crates took, of those completed after the
    /// warm-up, by the number of the group.
    fn timed_ends(&self) -> BTreeMap<u32, Timed> {
        let mut timed = BTreeMap::<u32, Timed>::new();
        for flow in self.store.flows.iter() {
            if let Some(Took { at, took }) = flow.took()
                && at >= self.measured_from
            {
                timed
                    .entry(self.groups[flow.group() as usize].head)
                    .or_default()
                    .transfers
                    .completed(Completed { took, bytes: None, alone: None });
            }
        }
        timed
    }

    fn flow_record(
        &self,
        plan: &GroupPlan,
        Names { name, group, kind }: Names,
        counts: &Counts,
        session: Option<&Session>,
    ) -> FlowRecord {
        let seconds = self.end.since(self.measured_from).secs();
        let rate_of = |bytes: u64| bytes as f64 * 8.0 / seconds;
        let of_tcp = |tcp: &fairwire_tcp::Config| {
            let of = |bytes: u32| counts.delivered * u64::from(bytes);
            (of(tcp.segment_bytes + tcp.header_bytes), of(tcp.segment_bytes))
        };
        let of_datagrams = |header_bytes: u32| {
            let bytes = counts.datagram_bytes.delivered;
            (bytes, bytes.saturating_sub(counts.delivered * u64::from(header_bytes)))
        };
        let (offered_bps, (wire_bytes, good_bytes)) = match &plan.source {
            Source::Bulk { tcp } => (None, of_tcp(tcp)),
            Source::Tcp { tcp, load } => {
                let of = |segments: u64| rate_of(segments * u64::from(tcp.segment_bytes + tcp.header_bytes));
                let offered = session.and_then(|session| match load.demand() {
                    Demand::Offered => Some(of(session.offered())),
                    // What is on the sink's access link when the warm-up ends is with the receiver
                    // already. `requested` lacks it, though it is delivered after the warm-up. So
                    // no less was requested than was delivered.
                    Demand::Requested => Some(of(session.requested().max(counts.delivered))),
                    Demand::Endless => None,
                });
                (offered, of_tcp(tcp))
            }
            Source::Cbr { rate, header_bytes, .. } => (Some(rate.bps() as f64), of_datagrams(*header_bytes)),
            Source::Datagrams { header_bytes, .. } => {
                let offered = rate_of(counts.datagram_bytes.sent);
                (Some(offered), of_datagrams(*header_bytes))
            }
            Source::Endpoints { header_bytes, .. } => (None, of_datagrams(*header_bytes)),
        };
        let losses = matches!(plan.source, Source::Bulk { .. } | Source::Tcp { .. }).then_some(counts.losses);
        FlowRecord {
            name,
            group,
            kind,
            offered_bps,
            throughput_bps: rate_of(wire_bytes),
            goodput_bps: rate_of(good_bytes),
            packets_sent: counts.sent,
            packets_dropped: counts.dropped,
            packets_marked: counts.marked,
            packets_lost: self.links.iter().any(Link::has_faults).then_some(counts.lost),
            timeouts: losses.map(|losses| losses.timeouts.into()),
            loss_episodes: losses.map(LossCounts::episodes),
            timeout_episodes: losses.map(|losses| losses.timed_out.into()),
            start_s: None,
            access_delay_s: None,
            base_rtt_s: None,
            fair_bps: None,
            delivered_bytes: Some(good_bytes),
        }
    }
}

/// What a record calls a source.
fn kind(source: &Source) -> String {
    match source {
        Source::Bulk { tcp } => format!("bulk {}", tcp.name()),
        Source::Tcp { tcp, load } => format!("{} {}", load.kind(), tcp.name()),
        Source::Cbr { .. } => "cbr".into(),
        Source::Datagrams { traffic, .. } => traffic.kind().into(),
        Source::Endpoints { endpoints, .. } => endpoints.name().into(),
    }
}
