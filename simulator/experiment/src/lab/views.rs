//! The link, seen while the contest goes on.

use crate::dumbbell::Sender;
use crate::view::{FlowView, LinkView, View};
use fairwire_core::{Duration, Time};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::direction::Direction;

/// What the next view needs of those before.
pub(super) struct Views {
    next: Time,
    before: Time,
    flows: Vec<FlowCount>,
}

/// The interval of views.
const EVERY: Duration = Duration::from_ms(100);

impl Views {
    pub(super) fn new(flows: usize) -> Self {
        Views { next: Time::ZERO, before: Time::ZERO, flows: vec![FlowCount::default(); flows] }
    }

    /// The view that is due at `now`, of a contest that began at `start`, where the flows were
    /// counted for `flows`. Its link has a name, and a mean rate between two times after the start.
    pub(super) fn take(
        &mut self,
        (start, now): (Time, Time),
        (name, rate): (&str, &dyn Fn(Duration, Duration) -> f64),
        link: &Direction,
        senders: &[Sender],
        flows: Vec<FlowCount>,
    ) -> Option<View> {
        if now < self.next.max(start) {
            return None;
        }
        let since = self.before.max(start);
        let seconds = now.since(since).secs();
        (self.next, self.before) = (now + EVERY, now);
        let before = std::mem::replace(&mut self.flows, flows);
        if seconds <= 0.0 {
            return None;
        }
        let flow = |(sender, (count, before)): (&Sender, (&FlowCount, &FlowCount))| FlowView {
            name: sender.name.clone(),
            bps: count.bytes_out.saturating_sub(before.bytes_out) as f64 * 8.0 / seconds,
            fair_bps: None,
            dropped: count.dropped,
            window: None,
        };
        let flows: Vec<FlowView> = senders.iter().zip(self.flows.iter().zip(&before)).map(flow).collect();
        let (totals, backlog, waits) = (link.totals(), link.backlog(), link.sojourns().window(now));
        let view = LinkView {
            name: name.into(),
            rate_bps: rate(since.since(start), now.since(start)),
            sent_bps: flows.iter().map(|flow| flow.bps).sum(),
            backlog_packets: u64::from(backlog.packets),
            backlog_bytes: backlog.bytes,
            wait_p50_s: waits.p50_s,
            wait_p99_s: waits.p99_s,
            dropped: totals.dropped.iter().sum(),
            marked: Some(totals.marked.iter().sum()),
            lost: totals.lost.iter().sum(),
            flows,
        };
        Some(View { at_s: now.since(start).secs(), links: vec![view] })
    }
}
