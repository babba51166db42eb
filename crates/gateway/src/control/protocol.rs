//! What is said over the control socket: one JSON object a line, a request and then its answer.

use crate::telemetry::snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is asked of a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// One snapshot, with all classes if they are wanted.
    Status {
        /// Every class, and not only the busiest.
        #[serde(default)]
        classes: bool,
    },
    /// A snapshot every so often, until the asker goes away.
    Watch {
        /// Milliseconds between them; at least the gateway's own interval.
        every_ms: u32,
    },
    /// Read the configuration file again.
    Reload,
    /// Give a class or a subscriber another weight, until the next reload.
    Weigh {
        /// Its name.
        class: String,
        /// From 1e-6 to 1e6.
        weight: f64,
    },
    /// Write the capture ring to a file.
    Capture {
        /// Where: a path that the gateway's process can write, and that is not there yet.
        path: PathBuf,
    },
}

/// What a gateway answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// To `status` and `watch`.
    Snapshot(Box<Snapshot>),
    /// To `reload`.
    Reloaded(Reloaded),
    /// To `weigh`.
    Weighed {
        /// The weight that it had.
        before: f64,
    },
    /// To `capture`.
    Captured {
        /// Packets written.
        packets: u64,
    },
    /// It was refused, and nothing was changed.
    Refused {
        /// Why, with the place in the file.
        message: String,
    },
}

/// What a reload did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reloaded {
    /// What changed, a line each; empty where the file says what it said before.
    pub changes: Vec<String>,
    /// Packets that waited and were handed over.
    pub handed_over: u64,
    /// Of these, packets that went ahead of the new discipline because it would have refused some.
    pub ahead: u64,
    /// Milliseconds from the request to the answer.
    pub took_ms: f64,
    /// Milliseconds that no packet was forwarded.
    pub paused_ms: f64,
    /// Of these, milliseconds in which the thread that forwards had a processor: the rest is other programs'.
    pub paused_cpu_ms: f64,
    /// Does every packet that ever came in have its place (in = out + dropped + lost + inside), in both ways?
    pub is_balanced: bool,
}
