//! Checks the queues of the topology.

use super::{Check, Checked, FASTEST, bps};
use crate::fault::refused;
use crate::links::Links;
use crate::topology::{QueuePlan, Topology};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, RateLaw};

/// The maximum number of slots of a buffer. Each takes about 150 bytes, allocated at the start of
/// each concurrent run.
const MAX_SLOTS: u32 = 1 << 22;
/// The maximum number of packets of all queues in a run; more indicate a wrong unit. At ten million
/// a second, this number takes a day.
const MAX_PACKETS: f64 = 1e12;

impl Check<'_> {
    pub(super) fn rates(&self, topology: &Topology) -> Checked {
        for queue in &topology.queues {
            let rate = match &queue.law {
                RateLaw::Trace(trace) => trace.mean(),
                RateLaw::Pattern(pattern) => pattern.fastest(),
                RateLaw::Fixed | RateLaw::Steps(_) => continue,
            };
            self.within(&format!("{}.trace", queue.path), rate, bps(1)..=bps(FASTEST))?;
        }
        Ok(())
    }

    pub(super) fn queues(&self, topology: &Topology) -> Checked {
        for (at, queue) in topology.queues.iter().enumerate() {
            self.memory(&format!("{}.buffer", queue.path), queue.buffer, queue)?;
            self.room(topology, at)?;
        }
        self.length(topology)
    }

    /// Checks a buffer's memory, which is allocated in full when a run starts.
    pub(super) fn memory(&self, path: &str, buffer: Amount, queue: &QueuePlan) -> Checked {
        if buffer.limit(queue.rate).max_packets() <= MAX_SLOTS {
            return Ok(());
        }
        // `Limit::bytes` has one slot per 28 B, the size of the smallest packet.
        let megabytes = u64::from(MAX_SLOTS) * 28 / 1_000_000;
        let why = "its slots, one per packet or per 28 B, would take more than 600 MB of memory in each run";
        Err(refused(path, buffer, why, format!("at most {MAX_SLOTS} packets, or {megabytes} MB")))
    }

    /// Checks that each packet fits into the buffer. Otherwise, its flow would starve.
    fn room(&self, topology: &Topology, at: usize) -> Checked {
        let QueuePlan { rate, buffer, path, .. } = &topology.queues[at];
        let room = buffer.limit(*rate).max_bytes();
        let Some((bytes, group)) = topology.passing[at].largest else { return Ok(()) };
        if room >= u64::from(bytes) {
            return Ok(());
        }
        let group = &self.spec.flow[group].group;
        let why = format!(
            "a packet of the group `{group}` has {bytes} B on the wire, and there is room for {room} B"
        );
        let allowed = format!("at least {bytes} B, or the time to send {bytes} B");
        Err(refused(format!("{path}.buffer"), buffer, why, allowed))
    }

    /// Checks that all queues together, if always busy, would process at most [`MAX_PACKETS`]
    /// packets in a run.
    fn length(&self, topology: &Topology) -> Checked {
        let per_second = |(at, queue): (usize, &QueuePlan)| {
            let bytes = topology.passing[at].packet_bytes;
            queue.mean_bps(Duration::ZERO, self.spec.duration.0) / (8.0 * f64::from(bytes))
        };
        let contended = topology.queues.iter().enumerate().filter(|(_, queue)| queue.is_contended());
        let all: f64 = contended.map(per_second).sum();
        let packets = self.spec.duration.0.secs() * all;
        if packets <= MAX_PACKETS {
            return Ok(());
        }
        let (said, send) = match &self.spec.link {
            Some(Links::Shared(_)) => (format!("at {} the link", topology.queues[0].rate), "a lower rate"),
            _ => ("the links together".into(), "lower rates"),
        };
        let why = format!("{said} would send {packets:.1e} packets, which takes days to simulate");
        let allowed = format!("a shorter duration or {send}, for at most {MAX_PACKETS:.0e} packets");
        Err(refused("duration", self.spec.duration, why, allowed))
    }
}
