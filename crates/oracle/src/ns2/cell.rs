//! One cell of the grid: what is said once, and spelled for either side from the same numbers.

use std::fmt::Write;

/// One contest.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Its name.
    pub name: &'static str,
    /// The rate of the bottleneck, Mbit/s. Its delay is [`DELAY_MS`].
    pub mbps: u64,
    /// What shares it.
    pub queue: Queue,
    /// How much may wait, packets of [`WIRE_BYTES`].
    pub buffer: u32,
    /// Who sends. In RIO the first is out of profile, and the others are in it.
    pub classes: &'static [Class],
    /// The length of a run, seconds.
    pub duration_s: u32,
    /// What is not measured of it, at the start, seconds.
    pub warm_up_s: u32,
    /// Runs on either side, each under a seed of its own.
    pub seeds: u64,
    /// Is it among the few that every test run does?
    pub is_quick: bool,
}

/// Payload of a TCP segment, bytes.
pub const PAYLOAD_BYTES: u32 = 512;
/// Headers that both count, bytes.
pub const HEADER_BYTES: u32 = 40;
/// A full segment on the wire, bytes: the typical packet of either side's queue.
pub const WIRE_BYTES: u32 = PAYLOAD_BYTES + HEADER_BYTES;
/// The propagation delay of the bottleneck, ms.
pub const DELAY_MS: u64 = 10;
/// The rate of each flow's own links, Mbit/s.
pub const ACCESS_MBPS: u64 = 100;

/// Flows that are alike.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// Its name.
    pub name: &'static str,
    /// What its flows are.
    pub kind: Kind,
    /// How many they are.
    pub flows: u32,
    /// The delay of their own links, ms; the round trip is twice the bottleneck's and four times this.
    pub access_ms: u64,
}

/// What a flow is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A transfer without end.
    Tcp {
        /// How losses are repaired.
        recovery: Recovery,
        /// How its window moves; Reno's way without.
        binomial: Option<Binomial>,
        /// The shortest retransmission timeout, ms.
        min_rto_ms: u64,
    },
    /// Constant bit rate over UDP, packets at even gaps.
    Cbr {
        /// Bit/s on the wire.
        bps: u64,
        /// Bytes on the wire per packet.
        bytes: u32,
    },
}

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// `Agent/TCP`.
    Tahoe,
    /// `Agent/TCP/Reno`.
    Reno,
    /// `Agent/TCP/Newreno`.
    NewReno,
    /// `Agent/TCP/Sack1`.
    Sack,
}

/// A window that grows by c1 / w^k per acknowledgement and loses c2 w^l per loss.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the letters of the formula")]
pub struct Binomial {
    pub c1: f64,
    pub c2: f64,
    pub k: f64,
    pub l: f64,
}

/// What shares the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Queue {
    /// First come, first served, until it is full.
    DropTail,
    /// RED.
    Red(Red),
    /// REM. The constants not named are ns-2's defaults.
    Rem {
        /// The wanted backlog, packets.
        target: u32,
    },
    /// RIO, with ns-2's thresholds by profile.
    Rio {
        /// For packets out of profile.
        out: Thresholds,
        /// For packets in profile.
        within: Thresholds,
    },
    /// DRR, where a full buffer drops the oldest packet of the longest queue.
    Drr,
    /// SFQ: round robin packet by packet, where who holds half of the free room gets no more.
    Sfq,
}

/// RED's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// When, and how often.
    pub thresholds: Thresholds,
    /// From the upper threshold the probability goes on rising to 1 at twice of it.
    pub gentle: bool,
    /// At least 1/p arrivals between signals.
    pub wait: bool,
    /// Count bytes.
    pub bytes: bool,
}

/// Two thresholds, packets, and a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// No signal below this average.
    pub min: u32,
    /// The probability is 1 / `inverse` here.
    pub max: u32,
    /// ns-2's `linterm_`.
    pub inverse: u32,
}

impl Queue {
    /// Its name among ours, and its parameters as in a scenario file.
    pub fn ours(&self, buffer: u32) -> (&'static str, String) {
        let packets = format!("buffer = '{buffer} packets'\n");
        match *self {
            Queue::DropTail => ("tail-drop", format!("[tail-drop]\n{packets}")),
            Queue::Red(Red { thresholds, gentle, wait, bytes }) => {
                let (measure, buffer) = match bytes {
                    true => ("bytes", format!("buffer = '{} B'\n", buffer * WIRE_BYTES)),
                    false => ("packets", packets),
                };
                let Thresholds { min, max, inverse } = thresholds;
                let text = format!(
                    "[red]\n{buffer}min_threshold = '{min} packets'\nmax_threshold = '{max} packets'\n\
                     max_probability = {:?}\nweight = 0.002\ngentle = {gentle}\nwait = {wait}\nmeasure = '{measure}'\n",
                    1.0 / f64::from(inverse),
                );
                ("red", text)
            }
            Queue::Rem { target } => ("rem", format!("[rem]\n{packets}target = '{target} packets'\n")),
            Queue::Rio { out, within } => {
                let table = |color, Thresholds { min, max, inverse }: Thresholds| {
                    let p = 1.0 / f64::from(inverse);
                    format!(
                        "{color} = {{ min_threshold = '{min} packets', max_threshold = '{max} packets', max_probability = {p:?} }}\n"
                    )
                };
                let (green, yellow) = (table("green", within), table("yellow", out));
                ("rio", format!("[rio]\n{packets}{green}{yellow}wait = true\nout_rule = 'ns2'\n"))
            }
            Queue::Sfq => {
                ("drr", format!("[drr]\n{packets}quantum = '{WIRE_BYTES} B'\ndropper = 'half-free'\n"))
            }
            Queue::Drr => {
                let bytes = buffer * WIRE_BYTES;
                ("drr", format!("[drr]\nbuffer = '{bytes} B'\nquantum = '{WIRE_BYTES} B'\ndropper = 'lqd'\n"))
            }
        }
    }

    /// Its class in ns-2.
    pub fn ns2_name(&self) -> &'static str {
        match self {
            Queue::DropTail => "DropTail",
            Queue::Red(_) => "RED",
            Queue::Rem { .. } => "REM",
            Queue::Rio { .. } => "RED/RIO",
            Queue::Drr => "DRR",
            Queue::Sfq => "SFQ",
        }
    }

    /// Its limit in ns-2, where drop-tail and REM hold one packet fewer than that, and DRR counts bytes.
    pub fn ns2_limit(&self, buffer: u32) -> u32 {
        match self {
            Queue::DropTail | Queue::Rem { .. } => buffer + 1,
            Queue::Red(_) | Queue::Rio { .. } | Queue::Sfq => buffer,
            Queue::Drr => buffer * WIRE_BYTES,
        }
    }

    /// Its variables in ns-2, for `flows` flows and a buffer of `buffer` packets.
    pub fn ns2_variables(&self, buffer: u32, flows: u32) -> String {
        match *self {
            Queue::DropTail => String::new(),
            Queue::Red(Red { thresholds: Thresholds { min, max, inverse }, gentle, wait, bytes }) => format!(
                "thresh_ {min} maxthresh_ {max} linterm_ {inverse} q_weight_ 0.002 gentle_ {gentle} wait_ {wait} \
                 bytes_ {bytes} queue_in_bytes_ {bytes}"
            ),
            Queue::Rem { target } => format!("pbo_ {target}"),
            // Out of profile, its code takes linterm_, and lets out_linterm_ lie. The other thresholds are those of the total.
            Queue::Rio { out, within } => format!(
                "thresh_ {0} maxthresh_ {1} linterm_ {2} out_thresh_ {0} out_maxthresh_ {1} out_linterm_ {2} \
                 in_thresh_ {3} in_maxthresh_ {4} in_linterm_ {5} q_weight_ 0.002 gentle_ false wait_ true",
                out.min, out.max, out.inverse, within.min, within.max, within.inverse
            ),
            // Its hash keeps the pairs of up to twelve flows apart.
            Queue::Sfq => format!("maxqueue_ {buffer} buckets_ 16"),
            // Its hash is the address of the source modulo the number of buckets: with one for each node, nobody shares.
            Queue::Drr => format!("buckets_ {} quantum_ {WIRE_BYTES}", 2 * flows + 2),
        }
    }
}

impl Class {
    /// It, as `dumbbell.tcl` takes it.
    pub fn ns2_words(&self) -> String {
        let Class { name, kind, flows, access_ms } = self;
        let delay_s = *access_ms as f64 / 1000.0;
        match kind {
            Kind::Cbr { bps, bytes } => {
                format!("{name} cbr {flows} {delay_s} rate_ {bps} packetSize_ {bytes}")
            }
            Kind::Tcp { recovery, binomial, min_rto_ms } => {
                let min_rto_s = *min_rto_ms as f64 / 1000.0;
                let mut words =
                    format!("{name} {} {flows} {delay_s} minrto_ {min_rto_s}", recovery.ns2_name());
                if let Some(Binomial { c1, c2, k, l }) = binomial {
                    let _ = write!(
                        words,
                        " windowOption_ 6 increase_num_ {c1} decrease_num_ {} k_parameter_ {} l_parameter_ {l}",
                        1.0 - c2,
                        k - 1.0
                    );
                }
                words
            }
        }
    }
}

impl Recovery {
    fn ns2_name(self) -> &'static str {
        match self {
            Recovery::Tahoe => "tahoe",
            Recovery::Reno => "reno",
            Recovery::NewReno => "newreno",
            Recovery::Sack => "sack",
        }
    }
}

impl Cell {
    /// How many flows there are.
    pub fn flows(&self) -> u32 {
        self.classes.iter().map(|class| class.flows).sum()
    }

    /// The words for `dumbbell.tcl`.
    pub fn ns2_words(&self, seed: u64) -> Vec<String> {
        let mut words: Vec<String> = [
            ("-rate", (self.mbps * 1_000_000).to_string()),
            ("-delay", (DELAY_MS as f64 / 1000.0).to_string()),
            ("-queue", self.queue.ns2_name().to_owned()),
            ("-limit", self.queue.ns2_limit(self.buffer).to_string()),
            ("-set", self.queue.ns2_variables(self.buffer, self.flows())),
            ("-duration", self.duration_s.to_string()),
            ("-warm-up", self.warm_up_s.to_string()),
            ("-seed", seed.to_string()),
        ]
        .into_iter()
        .flat_map(|(option, value)| [option.to_owned(), value])
        .collect();
        words.extend(self.classes.iter().flat_map(|class| ["-class".to_owned(), class.ns2_words()]));
        words
    }
}
