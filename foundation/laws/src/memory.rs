//! Estimates of the memory that tables take.

/// Bytes of a slot of a buffer, including links and an entry in the flow index.
pub const SLOT: u64 = 150;
/// The maximum bytes of a queue with a separate dropper, including an entry in the round robin.
pub(crate) const LAW: u64 = 130;
/// The bytes per queue that sharing between hosts adds to the scheduler and the dropper, if each
/// queue belongs to a different host.
pub const HOST: u64 = 220;
/// Bytes of a bucket or a sample, with its flow and index entry.
pub(crate) const BUCKET: u64 = 48;

/// The default number of flows with buckets.
pub fn flows(packets: u64) -> u64 {
    (4 * packets).max(4096)
}

/// The count given, or the default.
pub fn count(typed: Option<u32>, default: u64) -> u64 {
    typed.map_or(default, u64::from)
}
