//! Flows that start and stop: their fair shares, and the time until they reach new shares.
//!
//! Starts and stops divide the measured time into intervals, each with a max-min allocation among
//! the flows that are on. A flow's fair share is the mean of its allocations while it is on.

use crate::fairness::{Route, compared, shares};
use crate::record::{ChangeRecord, Fairness, FlowRecord, PresenceRecord};
use fairwire_core::Duration;
use std::collections::BTreeSet;

/// The on-times of each flow, and its cumulative bytes delivered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Presence {
    /// When measuring began, seconds.
    pub from_s: f64,
    /// When it ended.
    pub until_s: f64,
    /// The on-times of each flow while measured, in order, seconds.
    pub on: Vec<Vec<[f64; 2]>>,
    /// The length of a slot, seconds.
    pub slot_s: f64,
    /// Bytes on the wire delivered from `from_s` to the end of each slot: ordered by slot, then by
    /// flow. Empty if not counted.
    pub bytes: Vec<u64>,
}

/// The shortest slot: several round trips in most networks. Users notice a change after about four
/// such slots.
const SLOT: Duration = Duration::from_ms(100);
/// The most counts kept for a run: 16 MB.
const MAX_COUNTS: u64 = 2_000_000;
/// The maximum number of fair shares kept during summation: 160 MB. Above this number, nearby
/// changes are merged.
const MAX_SHARES: usize = 20_000_000;
const REACHED: f64 = 0.9;
/// The minimum bits of a fair share in one measurement: twenty packets of 1500 bytes. Nineteen of
/// these packets still reach the fraction [`REACHED`].
const MIN_BITS: f64 = 20.0 * 1500.0 * 8.0;

/// The length of a slot for `flows` flows over the time `measured`.
pub fn slot(measured: Duration, flows: usize) -> Duration {
    SLOT.max(Duration::from_ns((measured.ns() / MAX_COUNTS).saturating_mul(flows as u64)))
}

/// Assesses fairness, lists starts and stops, and writes max-min shares into the records.
/// `capacities_bps` gives the mean rate of each link between two times, seconds.
///
/// # Panics
/// As [`assess_network`](crate::fairness::assess_network).
pub fn assess(
    flows: &mut [FlowRecord],
    routes: &[Route<'_>],
    capacities_bps: impl Fn(f64, f64) -> Vec<f64>,
    presence: &Presence,
) -> (Fairness, PresenceRecord) {
    let stretches = presence.stretches();
    let fair_in = |&[from, until]: &[f64; 2]| {
        let capacities = capacities_bps(from, until);
        shares(flows, routes, &capacities, |flow| presence.is_on(flow, (from + until) / 2.0))
    };
    let fair: Vec<Vec<f64>> = stretches.iter().map(fair_in).collect();
    let active_s = presence.active_s();
    for (at, flow) in flows.iter_mut().enumerate() {
        let bits = stretches.iter().zip(&fair).map(|([from, until], fair)| fair[at] * (until - from));
        let bits: f64 = bits.sum();
        flow.fair_bps = (active_s[at] > 0.0).then(|| bits / active_s[at]);
    }
    let measured_s = presence.until_s - presence.from_s;
    let fair_bps = flows.iter().map(|flow| flow.fair_bps.unwrap_or(0.0));
    let fairness = compared(flows, fair_bps.zip(active_s.iter().map(|active| active / measured_s)));
    let changes = (0..stretches.len()).filter_map(|at| presence.change(at, &stretches, &fair, flows));
    let changes = changes.collect();
    (fairness, PresenceRecord { active_s, changes })
}

impl Presence {
    /// The time that each flow was on, seconds.
    pub fn active_s(&self) -> Vec<f64> {
        self.on.iter().map(|on| on.iter().map(|[from, until]| until - from).sum()).collect()
    }

    /// The `flows` with rates over the full measured time, instead of over each flow's time on.
    pub fn over_all(&self, flows: &[FlowRecord]) -> Vec<FlowRecord> {
        let mut flows = flows.to_vec();
        for (flow, active) in flows.iter_mut().zip(self.active_s()) {
            let part = active / (self.until_s - self.from_s);
            (flow.throughput_bps, flow.goodput_bps) = (flow.throughput_bps * part, flow.goodput_bps * part);
        }
        flows
    }

    fn is_on(&self, flow: usize, at_s: f64) -> bool {
        let begun = self.on[flow].partition_point(|[from, _]| *from <= at_s);
        begun.checked_sub(1).is_some_and(|latest| at_s < self.on[flow][latest][1])
    }

    fn stretches(&self) -> Vec<[f64; 2]> {
        let edges = self.on.iter().flatten().flatten().copied();
        let mut edges: Vec<f64> = edges.filter(|edge| (self.from_s..self.until_s).contains(edge)).collect();
        edges.push(self.from_s);
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let most = (MAX_SHARES / self.on.len().max(1)).max(10);
        if edges.len() > most {
            let least = (self.until_s - self.from_s) / most as f64;
            edges.dedup_by(|next, kept| *next - *kept < least);
        }
        let ends = edges.iter().skip(1).copied().chain([self.until_s]);
        edges.iter().copied().zip(ends).map(|(from, until)| [from, until]).collect()
    }

    fn change(
        &self,
        at: usize,
        stretches: &[[f64; 2]],
        fair: &[Vec<f64>],
        flows: &[FlowRecord],
    ) -> Option<ChangeRecord> {
        let [from, until] = stretches[at];
        if at == 0 && from > 0.0 {
            return None; // the end of the warm-up
        }
        let middle = |[from, until]: [f64; 2]| (from + until) / 2.0;
        let was_on = |flow| at > 0 && self.is_on(flow, middle(stretches[at - 1]));
        let is_on = |flow| self.is_on(flow, middle([from, until]));
        let groups = |is_one: &dyn Fn(usize) -> bool| -> Vec<String> {
            let all = (0..flows.len()).filter(|flow| is_one(*flow)).map(|flow| &*flows[flow].group);
            all.collect::<BTreeSet<_>>().into_iter().map(str::to_owned).collect()
        };
        let has_edge = |flow: usize, end: usize| {
            self.on[flow].binary_search_by(|on: &[f64; 2]| on[end].total_cmp(&from)).is_ok()
        };
        let begins = |flow: usize| has_edge(flow, 0);
        let ends = |flow: usize| has_edge(flow, 1);
        let starts = groups(&|flow| begins(flow) || is_on(flow) && !was_on(flow));
        let stops = groups(&|flow| ends(flow) || was_on(flow) && !is_on(flow));
        let rises = |flow: &usize| {
            let before = if at > 0 && !begins(*flow) { fair[at - 1][*flow] } else { 0.0 };
            fair[at][*flow] > before * (1.0 + 1e-9)
        };
        let reached =
            (0..flows.len()).filter(rises).map(|flow| self.reached(flow, fair[at][flow], [from, until]));
        let reached_s = reached.reduce(|a, b| Some(a?.max(b?))).flatten();
        let is_one = !starts.is_empty() || !stops.is_empty();
        is_one.then_some(ChangeRecord { at_s: from, starts, stops, reached_s })
    }

    /// The time from `from` until the flow's rate reaches [`REACHED`] times `fair` (bit/s), as a
    /// mean over as many slots as [`MIN_BITS`] requires. `None` if that is after `until`.
    fn reached(&self, flow: usize, fair: f64, [from, until]: [f64; 2]) -> Option<f64> {
        let slots = self.bytes.len() / self.on.len().max(1);
        let wide = (MIN_BITS / (fair * self.slot_s)).ceil().clamp(1.0, 1e9) as usize;
        let upto = |slot: usize| if slot == 0 { 0 } else { self.bytes[(slot - 1) * self.on.len() + flow] };
        let end_s = |slot: usize| self.from_s + slot as f64 * self.slot_s;
        // With the tolerance of 1e-6 for rounding, a slot that starts at the change counts as after
        // the change.
        let first = ((from - self.from_s) / self.slot_s - 1e-6).ceil().max(0.0) as usize;
        let enough = REACHED * fair * self.slot_s * wide as f64 / 8.0;
        let mut ends = (first.saturating_add(wide)..=slots).take_while(|end| end_s(*end) <= until + 1e-6);
        let end = ends.find(|end| (upto(*end) - upto(*end - wide)) as f64 >= enough)?;
        Some(((end_s(end) - from) * 1e9).round() / 1e9) // times are integer nanoseconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_name::FlowName;

    fn flow(group: &str, throughput_bps: f64) -> FlowRecord {
        let record = serde_json::json!({
            "name": FlowName::numbered(group, 1).to_string(), "group": group, "kind": "bulk",
            "throughput_bps": throughput_bps, "goodput_bps": throughput_bps,
            "packets_sent": 0, "packets_dropped": 0, "packets_marked": 0
        });
        serde_json::from_value(record).expect("a record")
    }

    /// Two flows on a link of 12 Mbit/s.
    fn two(bytes: Vec<u64>) -> (Vec<FlowRecord>, Presence) {
        let on = vec![vec![[0.0, 30.0]], vec![[10.0, 20.0]]];
        let flows = vec![flow("a", 10e6), flow("b", 6e6)];
        (flows, Presence { from_s: 0.0, until_s: 30.0, on, slot_s: 1.0, bytes })
    }

    fn judged(
        (mut flows, presence): (Vec<FlowRecord>, Presence),
    ) -> (Fairness, PresenceRecord, Vec<FlowRecord>) {
        let routes = [Route { links: &[0], max_bps: 1e9, flows: 2 }];
        let (fairness, record) = assess(&mut flows, &routes, |_, _| vec![12e6], &presence);
        (fairness, record, flows)
    }

    #[test]
    fn a_flow_is_compared_with_the_fair_share_while_it_was_on() {
        let (fairness, record, flows) = judged(two(Vec::new()));
        assert_eq!(record.active_s, [30.0, 10.0]);
        // The shares of `a` are 12, 6 and 12 Mbit/s. Their mean is 10 Mbit/s.
        assert_eq!(flows.iter().map(|flow| flow.fair_bps).collect::<Vec<_>>(), [Some(10e6), Some(6e6)]);
        assert_eq!((fairness.jain, fairness.worst_share), (1.0, 1.0));
        assert!((fairness.group_fraction["a"] - 300.0 / 360.0).abs() < 1e-12);
    }

    #[test]
    fn a_flow_that_is_never_on_has_no_share_and_others_are_unaffected() {
        let (mut flows, mut presence) = two(Vec::new());
        presence.on[1] = Vec::new();
        (flows[0].throughput_bps, flows[1].throughput_bps) = (6e6, 0.0);
        let (fairness, record, flows) = judged((flows, presence));
        assert_eq!(record.active_s, [30.0, 0.0]);
        assert_eq!(flows.iter().map(|flow| flow.fair_bps).collect::<Vec<_>>(), [Some(12e6), None]);
        assert_eq!(fairness.group_share, [("a".to_owned(), 0.5)].into());
        assert_eq!(fairness.group_fraction, [("a".to_owned(), 1.0)].into());
        assert_eq!((fairness.jain, fairness.jain_throughput, fairness.worst_share), (1.0, 1.0, 0.5));
    }

    #[test]
    fn a_change_is_followed_once_rising_flows_have_nine_tenths_of_their_share() {
        let mbit = |mbps: f64| (mbps * 1e6 / 8.0) as u64;
        let rates = |second: u64| match second {
            0 => [mbit(6.0), 0], // slow start
            1..10 => [mbit(12.0), 0],
            10..13 => [mbit(9.0), mbit(3.0)],
            13..20 => [mbit(6.5), mbit(5.5)],
            _ => [mbit(10.0), 0], // never nine tenths of 12
        };
        let mut sum = [0, 0];
        let bytes = (0..30).flat_map(|second| {
            let [a, b] = rates(second);
            sum = [sum[0] + a, sum[1] + b];
            sum
        });
        let (_, record, _) = judged(two(bytes.collect()));
        let changes: Vec<_> = record.changes.iter().map(|one| (one.at_s, one.reached_s)).collect();
        assert_eq!(changes, [(0.0, Some(2.0)), (10.0, Some(4.0)), (20.0, None)]);
        assert_eq!(
            (&*record.changes[1].starts, &*record.changes[2].stops),
            (&["b".into()][..], &["b".into()][..])
        );
    }

    #[test]
    fn many_changes_are_merged_and_slots_lengthen_to_bound_memory() {
        let on = (0..5000).map(|at| vec![[f64::from(at) * 1e-3, 10.0]]).collect();
        let presence = Presence { from_s: 0.0, until_s: 10.0, on, slot_s: 0.1, bytes: Vec::new() };
        assert!(presence.stretches().len() <= MAX_SHARES / 5000 + 1);
        assert_eq!(slot(Duration::from_secs(60), 4), SLOT);
        assert_eq!(slot(Duration::from_secs(60), 1_000_000), Duration::from_secs(30));
    }

    #[test]
    fn a_flow_that_toggles_two_thousand_times_has_its_exact_fair_share() {
        let on = vec![
            vec![[0.0, 20.0]],
            (0..2000).map(|at| [f64::from(at) / 100.0, f64::from(at) / 100.0 + 0.002]).collect(),
        ];
        let flows = vec![flow("a", 10e6), flow("b", 6e6)];
        let presence = Presence { from_s: 0.0, until_s: 20.0, on, slot_s: 1.0, bytes: vec![] };
        let (_, record, flows) = judged((flows, presence));
        let fair = |at: usize| flows[at].fair_bps.expect("it is assessed") / 1e6;
        assert!((fair(0) - 10.8).abs() < 1e-6 && (fair(1) - 6.0).abs() < 1e-6, "{} {}", fair(0), fair(1));
        assert!(record.changes.len() >= 3999, "{}", record.changes.len());
    }
}
