//! What tables take in memory, as their owners estimate it from the sizes in their files.

/// Bytes of a slot of a buffer, with its links and its place in the flow index.
pub const SLOT: u64 = 150;
/// Bytes of a queue with a law of its own, and its place in the round: the most that one of the
/// catalogue takes.
pub(crate) const LAW: u64 = 130;
/// Bytes of the host that there may be for each queue, of the scheduler and of the dropper.
pub const HOST: u64 = 220;
/// Bytes of a bucket, and of a sample, with its flow and its place in the index.
pub(crate) const BUCKET: u64 = 48;

/// Flows that have a bucket unless typed otherwise, where there is room for `packets`.
pub fn flows(packets: u64) -> u64 {
    (4 * packets).max(4096)
}

/// The count that was typed, or the default.
pub fn count(typed: Option<u32>, default: u64) -> u64 {
    typed.map_or(default, u64::from)
}
