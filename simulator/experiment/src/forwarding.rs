//! The functions that the stage `lab` and a shell share.

use crate::view::{FlowView, LinkView};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, Time};
use fairwire_datapath::account::FlowCount;
use fairwire_datapath::classify::{Classifier, ETHERNET_HEADER_BYTES, secret};
use fairwire_datapath::direction::Direction;
use fairwire_datapath::pool::PoolSize;
use fairwire_wire::flow_key::FlowHasher;

pub(crate) const VIEW_EVERY: Duration = Duration::from_ms(100);
/// The frames in addition to those of the buffer. A discipline may have a separate buffer, such as
/// FQ-CoDel's 10240 packets.
const SPARE_FRAMES: f64 = 16_384.0;

/// A classifier that counts only the bytes of IP packets, as the simulator does.
pub(crate) fn classifier() -> Classifier {
    Classifier::new(FlowHasher::new(secret()), -ETHERNET_HEADER_BYTES)
}

pub(crate) fn pool_size(buffer: Amount, rate: Rate, frame_bytes: u32) -> PoolSize {
    let waiting = buffer.in_packets(frame_bytes, rate);
    // An extreme scenario could take all memory, so there are at most a million frames. Further
    // frames count as lost.
    let frames = (2.0 * waiting + SPARE_FRAMES).min(1_048_576.0) as u32;
    PoolSize { frames, frame_bytes }
}

/// The view of `link`. The percentiles of waits cover the last second.
pub(crate) fn link_view(
    name: &str,
    rate_bps: f64,
    link: &Direction,
    now: Time,
    flows: Vec<FlowView>,
) -> LinkView {
    let (totals, backlog, waits) = (link.totals(), link.backlog(), link.sojourns().window(now));
    LinkView {
        name: name.into(),
        rate_bps,
        sent_bps: flows.iter().map(|flow| flow.bps).sum(),
        backlog_packets: u64::from(backlog.packets),
        backlog_bytes: backlog.bytes,
        wait_p50_s: waits.p50_s,
        wait_p99_s: waits.p99_s,
        dropped: totals.dropped.iter().sum(),
        marked: Some(totals.marked.iter().sum()),
        lost: totals.lost.iter().sum(),
        flows,
    }
}

pub(crate) fn flow_view(name: String, since: &FlowCount, dropped: u64, seconds: f64) -> FlowView {
    FlowView { name, bps: since.bytes_out as f64 * 8.0 / seconds, fair_bps: None, dropped, window: None }
}
