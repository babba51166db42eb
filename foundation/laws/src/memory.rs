//! Estimates of the memory that tables take, from the structures in other files.

/// Bytes of a slot of a buffer, with its links and its entry in the flow index.
pub const SLOT: u64 = 150;
/// The bytes of a queue with a separate law, including its entry in the round: the maximum over all
/// laws in the catalogue.
pub(crate) const LAW: u64 = 130;
/// The bytes that sharing between hosts adds per queue, in the scheduler and the dropper: each
/// queue may have its own host.
pub const HOST: u64 = 220;
/// Bytes of a bucket, or of a sample, with its flow and its entry in the index.
pub(crate) const BUCKET: u64 = 48;

/// The default number of flows with a bucket, for a buffer of `packets`.
pub fn flows(packets: u64) -> u64 {
    (4 * packets).max(4096)
}

/// The count given, or the default.
pub fn count(typed: Option<u32>, default: u64) -> u64 {
    typed.map_or(default, u64::from)
}
