//! The control socket's protocol: a request and then its answer, one JSON object per line.
//!
//! A request may name its sender and protocol version. A gateway of another version refuses the
//! request.

use super::handed::Handed;
use crate::snapshot::{CountsSnapshot, Snapshot};
use fairwire_wire::Way;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The version of this protocol. It changes if an older peer would misread a message.
pub const PROTOCOL: u32 = 1;

/// The name of this program, as sent to the peer.
pub const PROGRAM: &str = concat!("fairwire-gateway ", env!("CARGO_PKG_VERSION"));

/// The maximum number of flows per direction in one answer: about 2 MB.
pub const MAX_FLOWS: u32 = 10_000;

/// The maximum number of lines in which a status shows one program's omissions.
pub const MAX_LEFT_OUT: usize = 10;

/// A request to a gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// One snapshot, with all classes if requested.
    Status {
        /// Every class, not only the busiest.
        #[serde(default)]
        classes: bool,
    },
    /// The counts since the start: totals, waits, and the traffic of each flow.
    Counts {
        /// The maximum number of flows per direction, at most [`MAX_FLOWS`]. The largest flows come
        /// first.
        flows: u32,
    },
    /// A snapshot at an interval, until the client disconnects.
    Watch {
        /// Milliseconds between snapshots; at least the gateway's interval.
        every_ms: u32,
    },
    /// Read the configuration file again.
    Reload {
        /// Files whose descriptors come with the request. The gateway opens the configuration's
        /// other files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<PathBuf>,
        /// True to keep weights and rates set by earlier requests, if the file is unchanged.
        /// Programs that change subscribers set this; an operator's reload does not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps: bool,
        /// The named files, open, and optionally a [`Record`](crate::record::Record).
        #[serde(skip)]
        handed: Handed,
    },
    /// Change, add or remove subscribers. Two tables in the format of the subscriber file come with
    /// the request: these subscribers' lines before and after the change.
    Subscribers {
        /// The two tables, as open files, and a [`Record`](crate::record::Record).
        #[serde(skip)]
        handed: Handed,
    },
    /// Give a class or a subscriber another weight, until a reload reverts it.
    SetWeight {
        /// Its name.
        class: String,
        /// The weight, from 1e-6 to 1e6.
        weight: f64,
    },
    /// Set the link rate of a direction, or several rates in turn, until a reload. The discipline
    /// keeps the file's rate as its parameter, and waiting packets stay.
    SetRate {
        /// The direction.
        way: Way,
        /// The rates, in order of time: 1 to [`MAX_STEPS`].
        steps: Vec<RateStep>,
    },
    /// Show in the status what a program that maintains subscribers left out, until the program's
    /// next list.
    LeftOut {
        /// The program.
        by: String,
        /// The omissions and their positions, one per line; empty for none. The first
        /// [`MAX_LEFT_OUT`] are shown.
        lines: Vec<String>,
    },
    /// Offer the link to another process, which sends one end of a stream with the request. The
    /// gateway hands over the link only after that process reports through the stream that it is
    /// ready.
    TakeOver {
        /// The settings that the two processes must share.
        wanted: Wanted,
        /// The gateway's end of the stream, as an open file.
        #[serde(skip)]
        handed: Handed,
    },
    /// Write the capture ring to the attached file, or to a new one.
    Capture {
        /// The file's name. Without an attached file, it must be a path that does not exist and
        /// that the gateway's process can write.
        path: PathBuf,
        /// The file, open.
        #[serde(skip)]
        handed: Handed,
    },
}

impl Request {
    /// Does the request only read the gateway's counts?
    pub fn only_reads(&self) -> bool {
        match self {
            Request::Status { .. } | Request::Counts { .. } | Request::Watch { .. } => true,
            Request::Reload { .. }
            | Request::Subscribers { .. }
            | Request::SetWeight { .. }
            | Request::SetRate { .. }
            | Request::LeftOut { .. }
            | Request::TakeOver { .. }
            | Request::Capture { .. } => false,
        }
    }

    /// The attached files.
    pub fn handed(&self) -> Handed {
        match self {
            Request::Reload { handed, .. }
            | Request::Subscribers { handed }
            | Request::Capture { handed, .. }
            | Request::TakeOver { handed, .. } => handed.clone(),
            _ => Handed::default(),
        }
    }

    /// Attaches `files`, if the request takes files.
    pub fn with(mut self, files: Handed) -> Self {
        if let Request::Reload { handed, .. }
        | Request::Subscribers { handed }
        | Request::Capture { handed, .. }
        | Request::TakeOver { handed, .. } = &mut self
        {
            *handed = files;
        }
        self
    }
}

/// The settings that must match for a take-over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The version of the protocol between the two processes.
    pub protocol: u32,
    /// The name of the gateway.
    pub name: String,
    /// Its `[wire]`.
    pub wire: serde_json::Value,
    /// Its `safety.on_failure`.
    pub on_failure: serde_json::Value,
    /// The gateway's `safety.watchdog`, in milliseconds.
    pub watchdog_ms: u64,
}

/// The maximum number of rates in one request, which has at most 8 KiB.
pub const MAX_STEPS: usize = 100;

/// A rate, and the time from which it holds. A packet in transmission continues at the new rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Milliseconds after the request.
    #[serde(default)]
    pub after_ms: f64,
    /// The rate, bit/s; 0 stops sending.
    pub bps: u64,
}

/// An answer of the gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// The answer to `status` and `watch`.
    Snapshot(Box<Snapshot>),
    /// To `counts`.
    Counts(Box<CountsSnapshot>),
    /// The answer to `reload` and `subscribers`.
    Reloaded(Reloaded),
    /// The answer to `subscribers` if the change needs a reload; nothing was changed.
    ReloadNeeded,
    /// To `set-weight`.
    WeightSet {
        /// The previous weight.
        before: f64,
    },
    /// To `set-rate`.
    RateSet {
        /// The previous rate, bit/s; 0 if sending was stopped.
        before_bps: u64,
    },
    /// To `left-out`.
    Noted,
    /// The answer to `take-over`. Further messages follow on the attached stream.
    Offered,
    /// To `capture`.
    Captured {
        /// Packets written.
        packets: u64,
    },
    /// A refusal; nothing was changed.
    Refused {
        /// The reason, with the position of a fault in a file.
        message: String,
    },
}

/// The outcome of a reload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reloaded {
    /// The changes, one per line; empty if the file is unchanged.
    pub changes: Vec<String>,
    /// Waiting packets that were handed over.
    pub handed_over: u64,
    /// The number of `handed_over` packets sent before the new discipline's first packet. The new
    /// discipline would have refused some packets.
    pub ahead: u64,
    /// Milliseconds from the request to the answer.
    pub took_ms: f64,
    /// Milliseconds without forwarding.
    pub paused_ms: f64,
    /// The milliseconds of `paused_ms` in which the forwarding thread ran. In the remaining time,
    /// the thread waited for a processor.
    pub paused_cpu_ms: f64,
    /// Is every packet that ever arrived accounted for (in = out + dropped + lost + inside), in
    /// both directions?
    pub is_balanced: bool,
}

#[derive(Serialize)]
struct Signed<'a> {
    #[serde(flatten)]
    request: &'a Request,
    protocol: u32,
    program: &'a str,
}

/// The sender of a request; optional for third-party programs.
#[derive(Default, Deserialize)]
struct Sender {
    protocol: Option<u32>,
    program: Option<String>,
}

impl Request {
    /// The request as a line, without the line's end.
    ///
    /// # Errors
    /// If a path in the request is not UTF-8.
    pub fn to_line(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Signed { request: self, protocol: PROTOCOL, program: PROGRAM })
    }

    /// Reads a line. [`Request::with`] adds the attached files.
    ///
    /// # Errors
    /// The message for the sender, if the line is no request or has another protocol version.
    pub fn of_line(line: &[u8]) -> Result<Self, String> {
        let no_request = |error: serde_json::Error| {
            format!("this is no request: {error}; allowed: one JSON object a line")
        };
        let mut object: Map<String, Value> = serde_json::from_slice(line).map_err(no_request)?;
        let mut sender = Map::new();
        for key in ["protocol", "program"] {
            sender.extend(object.remove(key).map(|value| (key.to_owned(), value)));
        }
        let Sender { protocol, program } = Sender::deserialize(Value::Object(sender)).map_err(no_request)?;
        if let Some(theirs) = protocol.filter(|protocol| *protocol != PROTOCOL) {
            let program: String = program.unwrap_or_default().chars().take(64).collect();
            let program = if program.is_empty() { "the client".to_owned() } else { program };
            return Err(format!(
                "{program} speaks version {theirs} of the control protocol, and this gateway ({PROGRAM}) version {PROTOCOL}; \
                 allowed: the same version of fairwire-gateway at both ends"
            ));
        }
        Request::deserialize(Value::Object(object)).map_err(no_request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back_from_its_line_and_may_omit_its_sender() {
        let request = Request::SetWeight { class: "gold".into(), weight: 2.0 };
        let line = request.to_line().expect("it is data");
        assert!(line.contains(r#""protocol":1"#) && line.contains(PROGRAM), "{line}");
        assert_eq!(Request::of_line(line.as_bytes()), Ok(request.clone()));
        let own = br#"{"request":"set-weight","class":"gold","weight":2}"#;
        assert_eq!(Request::of_line(own), Ok(request));
        let typo = br#"{"request":"set-weight","class":"gold","wieght":2,"protocol":1}"#;
        assert!(Request::of_line(typo).unwrap_err().contains("wieght"));
    }

    #[test]
    fn a_request_of_another_version_is_refused_with_both_versions() {
        // The version is checked before other faults of the request.
        let newer = br#"{"request":"fly","protocol":2,"program":"fairwire-gateway 9.9.9"}"#;
        let why = Request::of_line(newer).unwrap_err();
        for part in ["fairwire-gateway 9.9.9", "version 2", PROGRAM, "version 1"] {
            assert!(why.contains(part), "no `{part}` in: {why}");
        }
        assert!(
            Request::of_line(br#"{"request":"status","protocol":2}"#).unwrap_err().contains("the client")
        );
        for odd in [
            &br#"{"request":"status","protocol":"1"}"#[..],
            br#"{"request":"status","program":1}"#,
            b"[]",
            b"\xff",
        ] {
            assert!(Request::of_line(odd).unwrap_err().starts_with("this is no request"), "{odd:?}");
        }
    }

    #[test]
    fn optional_fields_may_be_omitted() {
        let read = |text: &str| serde_json::from_str::<Request>(text).expect("it is one");
        let reload = Request::Reload { files: Vec::new(), keeps: false, handed: Handed::default() };
        assert_eq!(read(r#"{"request":"reload"}"#), reload);
        assert_eq!(serde_json::to_string(&reload).expect("it is data"), r#"{"request":"reload"}"#);
        let capture = Request::Capture { path: "x".into(), handed: Handed::default() };
        assert_eq!(read(r#"{"request":"capture","path":"x"}"#), capture);
    }
}
