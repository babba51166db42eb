//! The results of a run, as records.

use crate::app::load::Demand;
use crate::app::session::{Session, Timed};
use crate::ends::Took;
use crate::event::Events;
use crate::flow::{Counts, Flow};
use crate::group::Group;
use crate::link::Link;
use crate::model::{Model, WATCH_EVERY};
use crate::observe::Tap;
use crate::plan::{GroupPlan, Measured, Source};
use fairwire_core::Duration;
use fairwire_metrics::record::{FlowRecord, TransferRecord};
use fairwire_metrics::{Completed, FlowName, Kind};
use fairwire_tcp::LossCounts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

struct Names {
    name: FlowName,
    group: Arc<str>,
    kind: Arc<str>,
}

impl<T: Tap, E: Events> Model<T, E> {
    pub(crate) fn measured(&self) -> Measured {
        // The number of each plan's latest flow.
        let mut numbers: Vec<u32> = self.groups.iter().map(|group| group.before).collect();
        let names = self
            .groups
            .iter()
            .map(|Group { plan, .. }| (plan.name.as_str().into(), kind(&plan.source).into()));
        let names: Vec<(Arc<str>, Arc<str>)> = names.collect();
        let has_faults = self.links.iter().any(Link::has_faults);
        let mut rest = &self.store.flows[..];
        let mut flows = Vec::with_capacity(rest.len()); // or fewer, if a member has several flows
        while let Some(first) = rest.first() {
            let group = first.group() as usize;
            let of_group = &self.groups[group];
            let plan = &of_group.plan;
            let (of_member, others) = rest.split_at(plan.flows_each());
            rest = others;
            let member = plan.members[(numbers[group] - of_group.before) as usize];
            numbers[group] += 1;
            let sessions = of_member.iter().step_by(plan.connections()).filter_map(Flow::session);
            let sessions: Vec<&Session> = sessions.map(|session| &self.sessions[session as usize]).collect();
            let name = FlowName::numbered(&plan.name, numbers[group]);
            let (group, kind) = names[group].clone();
            let names = Names { name, group, kind };
            let seconds = match self.on_times {
                None => self.end.since(self.measured_from),
                Some(_) => self.active(plan, member),
            };
            let record = self.flow_record(plan, names, &Counts::sum(of_member), (&sessions, seconds.secs()));
            let base_rtt = of_group.base_rtt(member.access_delay);
            flows.push(FlowRecord {
                start_s: Some(member.start.seconds()),
                access_delay_s: Some(member.access_delay.seconds()),
                base_rtt_s: base_rtt.map(Duration::seconds),
                packets_lost: record.packets_lost.filter(|_| has_faults),
                ..record
            });
        }
        Measured {
            flows,
            links: self.links.iter().map(|link| link.record(self.end)).collect(),
            transfers: self.transfer_records(),
            aggregates: self.edges.as_ref().map_or(Vec::new(), |edges| edges.counts(self.end)),
            presence: self.presence(),
            events: self.watched + (WATCH_EVERY - self.left) - self.meaningless,
        }
    }

    fn transfer_records(&self) -> Vec<TransferRecord> {
        let all = self.all_timed();
        let none = Timed::default();
        let of_group = |(number, group): (u32, &Group)| {
            let timed = all.get(&number).unwrap_or(&none);
            let name = &group.plan.name;
            let transfers = timed.transfers.record(name, Kind::Transfer);
            let pages = timed.pages.record(name, Kind::Page);
            // Plans with the same name are one group, counted with the first plan.
            let expected = lasting(&group.plan.source).into_iter().filter(|_| group.head == number);
            let kinds: BTreeSet<Kind> = expected.chain(timed.lasting.keys().copied()).collect();
            let lasting = kinds.into_iter().map(|kind| {
                let meter = timed.lasting.get(&kind).cloned().unwrap_or_default();
                meter.lasting(name, kind, self.measured_s(number))
            });
            transfers.into_iter().chain(pages).chain(lasting).collect::<Vec<_>>()
        };
        (0..).zip(&self.groups).flat_map(of_group).collect()
    }

    fn measured_s(&self, head: u32) -> f64 {
        let members = self.groups.iter().filter(|group| group.head == head).map(|group| &group.plan);
        let members = members.flat_map(|plan| plan.members.iter().map(move |member| (plan, *member)));
        members.map(|(plan, member)| self.active(plan, member).secs()).sum()
    }

    fn all_timed(&self) -> BTreeMap<u32, Timed> {
        let head = |group: u32| self.groups[group as usize].head;
        let mut all = self.timed.clone();
        for flow in self.store.flows.iter() {
            if let Some(Took { at, took }) = flow.took()
                && at >= self.measured_from
            {
                let completed = Completed { took, bytes: None, alone: None };
                all.entry(head(flow.group())).or_default().transfers.completed(completed);
            }
            for lasted in flow.lasted(self.end) {
                all.entry(head(flow.group())).or_default().lasted(lasted, self.measured_from);
            }
        }
        for session in &self.sessions {
            for lasted in session.under_way(self.end) {
                all.entry(head(session.group)).or_default().lasted(lasted, self.measured_from);
            }
        }
        all
    }

    /// The bytes on the wire and the payload bytes delivered to a member of `plan`, computed from
    /// `counts`.
    pub(crate) fn bytes(&self, plan: &GroupPlan, counts: &Counts) -> (u64, u64) {
        match &plan.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => {
                let of = |bytes: u32| counts.delivered * u64::from(bytes);
                (of(tcp.segment_bytes + tcp.header_bytes), of(tcp.segment_bytes))
            }
            Source::Cbr { header_bytes, .. }
            | Source::Datagrams { header_bytes, .. }
            | Source::Endpoints { header_bytes, .. } => {
                let bytes = counts.datagram_bytes.delivered;
                (bytes, bytes.saturating_sub(counts.delivered * u64::from(*header_bytes)))
            }
        }
    }

    fn flow_record(
        &self,
        plan: &GroupPlan,
        Names { name, group, kind }: Names,
        counts: &Counts,
        (sessions, seconds): (&[&Session], f64),
    ) -> FlowRecord {
        let rate_of = |bytes: u64| if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 };
        let (wire_bytes, good_bytes) = self.bytes(plan, counts);
        let offered_bps = match &plan.source {
            Source::Bulk { .. } => None,
            Source::Tcp { tcp, load } => {
                let of = |segments: u64| rate_of(segments * u64::from(tcp.segment_bytes + tcp.header_bytes));
                let all = |of: fn(&Session) -> u64| sessions.iter().map(|session| of(session)).sum::<u64>();
                match load.demand() {
                    Demand::Offered => Some(of(all(Session::offered))),
                    // At the end of the warm-up, packets on the sink's access link already count as
                    // arrived, so `requested` lacks them. They are delivered after the warm-up, so
                    // `delivered` may be larger.
                    Demand::Requested => Some(of(all(Session::requested).max(counts.delivered))),
                    Demand::Endless => None,
                }
            }
            Source::Cbr { rate, .. } => Some(rate.bps() as f64),
            Source::Datagrams { .. } => Some(rate_of(counts.datagram_bytes.sent)),
            Source::Endpoints { endpoints, .. } => endpoints.most().map(|most| most.bps() as f64),
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
            packets_lost: Some(counts.lost),
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

fn lasting(source: &Source) -> Vec<Kind> {
    match source {
        Source::Tcp { load, .. } => load.lasting().collect(),
        Source::Endpoints { endpoints, .. } => endpoints.kinds().to_vec(),
        Source::Bulk { .. } | Source::Cbr { .. } | Source::Datagrams { .. } => Vec::new(),
    }
}

fn kind(source: &Source) -> String {
    match source {
        Source::Bulk { tcp } => format!("bulk {}", tcp.name()),
        Source::Tcp { tcp, load } => format!("{} {}", load.kind(), tcp.name()),
        Source::Cbr { .. } => "cbr".into(),
        Source::Datagrams { traffic, .. } => traffic.kind().into(),
        Source::Endpoints { endpoints, .. } => endpoints.name().into(),
    }
}
