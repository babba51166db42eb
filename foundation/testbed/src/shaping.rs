//! A link with a discipline of the kernel.

use serde::{Deserialize, Serialize};

/// The rate of a link, and the kernel's discipline that shares the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shaping {
    /// Bit/s.
    pub rate_bps: u64,
    /// Later changes of the rate: the time in nanoseconds after the start, and the new rate in
    /// bit/s.
    #[serde(default)]
    pub changes: Vec<(u64, u64)>,
    /// Bytes added to each frame's length, which includes the Ethernet header. With -14, only the
    /// IP packet counts.
    pub overhead: i32,
    /// Bytes that may leave at once after the shaper was late. `tc` requires at least one.
    pub burst_bytes: u64,
    /// The discipline and its parameters, in the form of `tc`.
    pub discipline: String,
}

/// The handle of the queue that shares the link.
pub const QUEUE: u32 = 0x10_0000;

impl Shaping {
    /// The `tc` lines that install HTB at the interface `device`, and the discipline inside HTB.
    pub fn lines(&self, device: &str) -> [String; 3] {
        let Shaping { rate_bps, overhead, discipline, .. } = self;
        let counted = match overhead {
            0 => String::new(),
            overhead => format!("stab linklayer ethernet overhead {overhead} "),
        };
        [
            format!("qdisc add dev {device} root handle 1: {counted}htb default 1"),
            self.class("add", device, *rate_bps),
            format!("qdisc add dev {device} parent 1:1 handle {:x}: {discipline}", QUEUE >> 16),
        ]
    }

    /// The `tc` line that sets the link's rate at `device` to `rate_bps`. Queued packets remain.
    pub fn change(&self, device: &str, rate_bps: u64) -> String {
        self.class("change", device, rate_bps)
    }

    fn class(&self, verb: &str, device: &str, rate: u64) -> String {
        let burst = self.burst_bytes;
        format!(
            "class {verb} dev {device} parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit burst {burst} cburst {burst} quantum 3000"
        )
    }
}
