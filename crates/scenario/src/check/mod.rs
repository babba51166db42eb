//! Does what was typed make sense? Each refusal names the key, what was given, why, and what is allowed.

use crate::build;
use crate::compared::Compared;
use crate::control::ControlSpec;
use crate::document::Places;
use crate::error::{Problem, ScenarioError};
use crate::files::Files;
use crate::links::{LinkSpec, Links, NetworkLinkSpec};
use crate::measure;
use crate::source::{self, Sends};
use crate::spec::{ExpectSpec, FORMAT, FlowSpec, SourceKind, Spec};
use crate::tcp::TcpSpec;
use crate::topology::{self, Fault, QueuePlan, Topology};
use crate::words::{is_printable, shortened};
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, RateLaw};
use fairwire_disciplines::BuildError;
use fairwire_disciplines::catalogue;
use fairwire_disciplines::spec::{MOST_CLASSES, Quantity};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Each flow takes about 2 kB in the simulator: a million of them are 2 GB.
const MOST_FLOWS: u64 = 1_000_000;
/// Eleven days. Longer is a slip of the unit.
const LONGEST_RUN: Duration = Duration::from_secs(1_000_000);
/// The light-time across the inner solar system is shorter.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);
/// Above it, a packet of 512 bytes takes less than the nanoseconds that time is counted in can tell apart well.
const FASTEST: u64 = 1_000_000_000_000;
/// The largest IP packet (RFC 791, section 3.1).
const LARGEST_PACKET: u64 = 65_535;
/// Four million slots of about 150 bytes, taken when the run starts, for each run at the same time.
const MOST_SLOTS: u32 = 1 << 22;
/// Ways are looked for among all nodes, for each group.
const MOST_NODES: usize = 1000;
/// A run longer than this in packets of the bottleneck is a slip of a unit: at ten million a second, a day.
const MOST_PACKETS: f64 = 1e12;

/// Checks the whole scenario; the first thing wrong is told. `own` are the disciplines that the file compares, of which others
/// may have been chosen: what it expects may be of those.
pub(crate) fn check(
    spec: &Spec,
    own: &[Compared],
    files: &Files,
    places: &Places,
) -> Result<Topology, ScenarioError> {
    let check = Check { spec, own, places };
    check.head()?;
    check.times()?;
    check.links()?;
    let sends = check.flows(files)?;
    let topology = topology::resolve(spec, sends, files).map_err(|fault| check.told(fault))?;
    check.rates(&topology)?;
    check.queues(&topology)?;
    check.disciplines(&topology)?;
    let measures = measure::names(spec, &topology);
    let mut expects = spec.expect.iter().enumerate();
    expects.try_for_each(|(at, expect)| check.expectation(at, expect, &measures))?;
    Ok(topology)
}

struct Check<'a> {
    spec: &'a Spec,
    own: &'a [Compared],
    places: &'a Places,
}

type Checked = Result<(), ScenarioError>;

/// A value and what is to be said of it.
struct Refusal<'a> {
    path: &'a str,
    given: String,
    why: String,
    allowed: String,
}

impl Check<'_> {
    fn refuse(&self, Refusal { path, given, why, allowed }: Refusal<'_>) -> Checked {
        Err(self.places.refuse(path, Problem::Refused { key: path.into(), given, why, allowed }))
    }

    fn told(&self, fault: Fault) -> ScenarioError {
        self.places.refuse(&fault.path, fault.problem)
    }

    fn within<T: PartialOrd + Display>(&self, path: &str, value: T, range: RangeInclusive<T>) -> Checked {
        if range.contains(&value) {
            return Ok(());
        }
        let side = if value < *range.start() { "below the least" } else { "above the most" };
        self.refuse(Refusal {
            path,
            given: value.to_string(),
            why: format!("that is {side} that makes sense here"),
            allowed: format!("{} to {}", range.start(), range.end()),
        })
    }

    fn head(&self) -> Checked {
        if self.spec.format != FORMAT {
            return self.refuse(Refusal {
                path: "format",
                given: self.spec.format.to_string(),
                why: "this version of fairwire does not know that format".into(),
                allowed: FORMAT.to_string(),
            });
        }
        self.name("name", &self.spec.name)?;
        self.text("title", &self.spec.title)
    }

    /// Text for people goes to terminals and into pictures.
    fn text(&self, path: &str, text: &str) -> Checked {
        let Some(bad) = text.chars().find(|&c| !is_printable(c)) else { return Ok(()) };
        self.refuse(Refusal {
            path,
            given: format!("`{}`", shortened(text)),
            why: format!("it has the control character {}", bad.escape_unicode()),
            allowed: "one line of text without control characters".into(),
        })
    }

    /// A bound that any number may be, but that must be one.
    fn finite(&self, path: &str, value: Option<f64>) -> Checked {
        let why = match value {
            Some(value) if value.is_nan() => "that is not a number",
            Some(value) if value.is_infinite() => "that is no bound",
            _ => return Ok(()),
        };
        let given = value.unwrap_or_default().to_string();
        self.refuse(Refusal { path, given, why: why.into(), allowed: "a finite number".into() })
    }

    /// Names go into paths of `--set`, names of files and measures.
    fn name(&self, path: &str, name: &str) -> Checked {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if starts_well && name.len() <= 64 && name.chars().all(is_plain) {
            return Ok(());
        }
        self.refuse(Refusal {
            path,
            given: format!("`{}`", shortened(name)),
            why: "it is used in paths and names of files".into(),
            allowed: "a letter, then letters, digits, `-` and `_`, 64 at most".into(),
        })
    }

    fn times(&self) -> Checked {
        let (duration, warm_up) = (self.spec.duration.0, self.spec.warm_up.0);
        self.within("duration", duration, Duration::from_ns(1)..=LONGEST_RUN)?;
        if warm_up >= duration {
            return self.refuse(Refusal {
                path: "warm_up",
                given: warm_up.to_string(),
                why: format!("the whole run, `duration`, lasts {duration}: nothing would be left to measure"),
                allowed: format!("less than {duration}"),
            });
        }
        Ok(())
    }

    fn links(&self) -> Checked {
        match &self.spec.link {
            Links::Shared(LinkSpec { rate, delay, .. }) => self.line("link", rate.0, delay.0)?,
            Links::Network(links) => {
                self.nodes()?;
                for (at, link) in links.iter().enumerate() {
                    self.network_link(&format!("link.{at}"), link)?;
                }
            }
        }
        let Some(back) = &self.spec.return_link else { return Ok(()) };
        if back.bottleneck && back.discipline.is_some() {
            return self.refuse(Refusal {
                path: "return.discipline",
                given: "given".into(),
                why: "the disciplines compared work at a link with `bottleneck = true`".into(),
                allowed: "one of the two".into(),
            });
        }
        self.part("return", back.rate, back.delay)
    }

    fn network_link(&self, path: &str, link: &NetworkLinkSpec) -> Checked {
        link.name.as_ref().map_or(Ok(()), |name| self.name(&format!("{path}.name"), name))?;
        self.line(path, link.rate.0, link.delay.0)?;
        link.back.as_ref().map_or(Ok(()), |back| self.part(&format!("{path}.back"), back.rate, back.delay))
    }

    /// Names of nodes become names of links.
    fn nodes(&self) -> Checked {
        let nodes = &self.spec.nodes;
        self.within("nodes", nodes.len(), 2..=MOST_NODES)?;
        for (at, node) in nodes.iter().enumerate() {
            self.name(&format!("nodes.{at}"), node)?;
            if nodes[..at].contains(node) {
                return self.refuse(Refusal {
                    path: &format!("nodes.{at}"),
                    given: format!("`{node}`"),
                    why: "another node has that name".into(),
                    allowed: "each node once".into(),
                });
            }
        }
        Ok(())
    }

    fn line(&self, path: &str, rate: Rate, delay: Duration) -> Checked {
        self.within(&format!("{path}.rate"), rate, bps(1)..=bps(FASTEST))?;
        self.within(&format!("{path}.delay"), delay, Duration::ZERO..=LONGEST_DELAY)
    }

    /// A link of which only some is said.
    fn part(&self, path: &str, rate: Option<Quantity<Rate>>, delay: Option<Quantity<Duration>>) -> Checked {
        self.line(path, rate.map_or(bps(1), |rate| rate.0), delay.map_or(Duration::ZERO, |delay| delay.0))
    }

    /// Later rates are within the range of the first.
    fn rates(&self, topology: &Topology) -> Checked {
        for queue in &topology.queues {
            let RateLaw::Steps(steps) = &queue.law else { continue };
            for (at, step) in steps.iter().enumerate() {
                let path = format!("{}.changes.{at}.rate", queue.path);
                self.within(&path, step.rate, bps(1)..=bps(FASTEST))?;
            }
        }
        Ok(())
    }

    fn queues(&self, topology: &Topology) -> Checked {
        for (at, queue) in topology.queues.iter().enumerate() {
            self.memory(&format!("{}.buffer", queue.path), queue.buffer, queue)?;
            self.room(topology, at)?;
        }
        self.length(topology)
    }

    /// All slots of a buffer are taken when a run starts, whoever asked for them.
    fn memory(&self, path: &str, buffer: Amount, queue: &QueuePlan) -> Checked {
        if buffer.limit(queue.rate).max_packets() <= MOST_SLOTS {
            return Ok(());
        }
        let megabytes = u64::from(MOST_SLOTS) * 28 / 1_000_000;
        self.refuse(Refusal {
            path,
            given: buffer.to_string(),
            why: "it would take more than 600 MB of memory in each run".into(),
            allowed: format!("at most {MOST_SLOTS} packets, or {megabytes} MB"),
        })
    }

    /// A buffer that some packet can never enter starves its flow, whatever the discipline.
    fn room(&self, topology: &Topology, at: usize) -> Checked {
        let QueuePlan { rate, buffer, path, .. } = &topology.queues[at];
        let room = buffer.limit(*rate).max_bytes();
        let flows = self.spec.flow.iter().zip(&topology.ways).zip(&topology.sends);
        let sizes = flows.filter_map(|((flow, way), sends)| {
            let data = way.queues().any(|queue| queue == at).then_some(sends.packet_bytes);
            let ack = way.queues_back().any(|queue| queue == at).then(|| sends.ack_bytes());
            Some((data.max(ack)?, &flow.group))
        });
        let Some((bytes, group)) = sizes.max_by_key(|(bytes, _)| *bytes) else { return Ok(()) };
        if room >= u64::from(bytes) {
            return Ok(());
        }
        self.refuse(Refusal {
            path: &format!("{path}.buffer"),
            given: buffer.to_string(),
            why: format!("that is {room} B, and a packet of `{group}` has {bytes} B on the wire"),
            allowed: format!("at least {bytes} B, or the time to send that"),
        })
    }

    fn flows(&self, files: &Files) -> Result<Vec<Sends>, ScenarioError> {
        if self.spec.flow.is_empty() {
            self.refuse(Refusal {
                path: "flow",
                given: "empty".into(),
                why: "nothing would be sent".into(),
                allowed: "at least one `[[flow]]`".into(),
            })?;
        }
        let mut all = Vec::with_capacity(self.spec.flow.len());
        for (at, flow) in self.spec.flow.iter().enumerate() {
            self.flow(&format!("flow.{at}"), flow)?;
            if self.spec.flow[..at].iter().any(|other| other.group == flow.group) {
                self.refuse(Refusal {
                    path: &format!("flow.{at}.group"),
                    given: format!("`{}`", flow.group),
                    why: "another group has that name".into(),
                    allowed: "a name of its own for each group".into(),
                })?;
            }
            let sends = source::sends(&format!("flow.{at}"), flow, files);
            all.push(sends.map_err(|fault| self.told(fault))?);
        }
        self.totals(&all)?;
        Ok(all)
    }

    fn totals(&self, sends: &[Sends]) -> Checked {
        let flows = self.spec.flow.iter().zip(sends);
        let flows: u64 = flows.map(|(flow, sends)| u64::from(flow.count) * sends.connections()).sum();
        if flows > MOST_FLOWS {
            return self.refuse(Refusal {
                path: "flow",
                given: format!("{flows} flows and connections in all"),
                why: "they would take more than 2 GB of memory".into(),
                allowed: format!("at most {MOST_FLOWS} flows"),
            });
        }
        Ok(())
    }

    fn length(&self, topology: &Topology) -> Checked {
        let per_second = |(at, queue): (usize, &QueuePlan)| {
            let bytes = build::mean_packet_bytes(self.spec, topology, at);
            queue.mean_bps(Duration::ZERO, self.spec.duration.0) / (8.0 * f64::from(bytes))
        };
        let all: f64 = topology.queues.iter().enumerate().map(per_second).sum();
        let packets = self.spec.duration.0.secs() * all;
        if packets <= MOST_PACKETS {
            return Ok(());
        }
        let (said, send) = match &self.spec.link {
            Links::Shared(link) => (format!("at {} the link", link.rate), "rate"),
            Links::Network(_) => ("the links together".into(), "rates"),
        };
        self.refuse(Refusal {
            path: "duration",
            given: self.spec.duration.to_string(),
            why: format!("{said} would send {packets:.1e} packets, which takes days"),
            allowed: format!("duration and {send} for at most {MOST_PACKETS:.0e} packets"),
        })
    }

    fn flow(&self, path: &str, flow: &FlowSpec) -> Checked {
        self.name(&format!("{path}.group"), &flow.group)?;
        self.within(&format!("{path}.count"), u64::from(flow.count), 1..=MOST_FLOWS)?;
        self.within(&format!("{path}.access.rate"), flow.access.rate.0, bps(1)..=bps(FASTEST))?;
        self.within(
            &format!("{path}.access.delay"),
            flow.access.delay.longest(),
            Duration::ZERO..=LONGEST_DELAY,
        )?;
        self.within(&format!("{path}.class"), flow.class.unwrap_or(0), 0..=MOST_CLASSES - 1)?;
        self.within(&format!("{path}.dscp"), flow.dscp.unwrap_or(0), 0..=63)?;
        if flow.start.latest >= self.spec.duration.0 {
            return self.refuse(Refusal {
                path: &format!("{path}.start"),
                given: flow.start.latest.to_string(),
                why: "the run is over by then".into(),
                allowed: format!("before {}", self.spec.duration),
            });
        }
        source::check_keys(path, flow).map_err(|fault| self.told(fault))?;
        self.size(&format!("{path}.header"), flow.header, 0..=LARGEST_PACKET - 1)?;
        if flow.source == SourceKind::Cbr {
            self.cbr(path, flow)?;
        }
        flow.tcp.as_ref().map_or(Ok(()), |tcp| self.tcp(&format!("{path}.tcp"), tcp))
    }

    fn tcp(&self, path: &str, tcp: &TcpSpec) -> Checked {
        let config = tcp.config();
        let header = u64::from(config.header_bytes);
        self.size(&format!("{path}.header"), tcp.header, 1..=LARGEST_PACKET - 1)?;
        self.size(&format!("{path}.segment"), tcp.segment, 1..=LARGEST_PACKET - header)?;
        let most = 1 << 30; // sequence numbers are 32 bits of segments, and half of them must not be in flight
        self.within(&format!("{path}.window"), tcp.window.unwrap_or(1), 1..=most)?;
        self.within(&format!("{path}.initial_window"), config.initial_window, 1..=most)?;
        let (tick, hour) = (Duration::from_ns(1), Duration::from_secs(3600));
        self.within(&format!("{path}.tick"), config.tick, Duration::ZERO..=hour)?;
        self.within(&format!("{path}.min_rto"), config.min_rto, tick..=hour)?;
        self.within(&format!("{path}.max_rto"), config.max_rto, config.min_rto..=hour)?;
        self.within(&format!("{path}.initial_rto"), config.initial_rto, tick..=config.max_rto)?;
        self.within(&format!("{path}.restart_window"), config.restart_window.unwrap_or(1), 1..=most)?;
        if let Some(delayed) = tcp.delayed_ack {
            let path = format!("{path}.delayed_ack");
            self.within(&format!("{path}.segments"), delayed.segments.unwrap_or(1), 1..=most)?;
            let timeout = delayed.timeout.map_or(tick, |timeout| timeout.0);
            self.within(&format!("{path}.timeout"), timeout, tick..=hour)?;
        }
        let Some(bad) = tcp.control.as_ref().and_then(ControlSpec::out_of_range) else { return Ok(()) };
        self.finite(&format!("{path}.control.{}", bad.path), Some(bad.given))?;
        self.within(&format!("{path}.control.{}", bad.path), bad.given, bad.least..=bad.most)
    }

    fn cbr(&self, path: &str, flow: &FlowSpec) -> Checked {
        let Some(rate) = &flow.rate else {
            let problem =
                Problem::Missing { key: "rate".into(), table: format!("{path} (source = \"cbr\")") };
            return Err(self.places.refuse(path, problem));
        };
        self.within(&format!("{path}.rate"), rate.0, bps(1)..=bps(FASTEST))?;
        if rate.0 > flow.access.rate.0 {
            return self.refuse(Refusal {
                path: &format!("{path}.rate"),
                given: rate.to_string(),
                why: format!("the flow's own link, `access`, sends only {}", flow.access.rate),
                allowed: format!("1 bit/s to {}", flow.access.rate),
            });
        }
        let header = flow.header.map_or(28, |header| header.0.0);
        self.size(&format!("{path}.packet"), flow.packet, header + 1..=LARGEST_PACKET)?;
        self.finite(&format!("{path}.dither"), flow.dither)?;
        self.within(&format!("{path}.dither"), flow.dither.unwrap_or(0.0), 0.0..=1.0)
    }

    fn size(
        &self,
        path: &str,
        size: Option<Quantity<fairwire_core::units::Size>>,
        bytes: RangeInclusive<u64>,
    ) -> Checked {
        let size_of = fairwire_core::units::Size;
        match size {
            Some(size) => self.within(path, size.0, size_of(*bytes.start())..=size_of(*bytes.end())),
            None => Ok(()),
        }
    }

    fn disciplines(&self, topology: &Topology) -> Checked {
        let compared = &self.spec.disciplines;
        if compared.is_empty() {
            return self.refuse(Refusal {
                path: "disciplines",
                given: "empty".into(),
                why: "nothing would be compared".into(),
                allowed: "at least one name, see `fairwire list disciplines`".into(),
            });
        }
        for (at, compared) in compared.iter().enumerate() {
            let path = format!("disciplines.{at}");
            self.named(&path, compared)?;
            for (queue, _) in topology.compared() {
                self.parameters(&path, compared, topology, queue)?;
            }
            self.label(at, compared)?;
        }
        for (at, queue) in topology.queues.iter().enumerate() {
            let Some(own) = &queue.own else { continue };
            let path = format!("{}.discipline", queue.path);
            self.named(&path, own)?;
            if own.label.is_some() {
                return self.refuse(Refusal {
                    path: &format!("{path}.label"),
                    given: "given".into(),
                    why: "only disciplines that are compared have labels".into(),
                    allowed: "leave it out".into(),
                });
            }
            self.parameters(&path, own, topology, at)?;
        }
        Ok(())
    }

    /// The name exists, and so do the parameters that stand beside it.
    fn named(&self, path: &str, compared: &Compared) -> Checked {
        let named = if compared.is_name_only() { path.into() } else { format!("{path}.name") };
        let entry =
            catalogue::find(&compared.name).map_err(|_| self.unknown_discipline(&named, &compared.name))?;
        let mut typed = compared.parameters.iter().flat_map(|parameters| parameters.typed());
        if let Some(foreign) = typed.find(|&typed| typed != entry.name) {
            return self.refuse(Refusal {
                path: &format!("{path}.parameters.{foreign}"),
                given: "given".into(),
                why: format!("the discipline there is `{}`", entry.name),
                allowed: format!("parameters of `{}` only", entry.name),
            });
        }
        Ok(())
    }

    /// Results are found by label, and expectations are of one.
    fn label(&self, at: usize, compared: &Compared) -> Checked {
        let label = compared.label();
        let key = if compared.label.is_some() { ".label" } else { "" };
        let path = format!("disciplines.{at}{key}");
        let refuse = |why: String, allowed: &str| {
            self.refuse(Refusal {
                path: &path,
                given: format!("`{}`", shortened(label)),
                why,
                allowed: allowed.into(),
            })
        };
        let own_name = catalogue::find(&compared.name).map_or("", |entry| entry.name);
        if label != own_name {
            self.name(&path, label)?;
            if catalogue::find(label).is_ok() {
                let why = format!("that is a name in the catalogue, and not of `{own_name}`");
                return refuse(why, "a label that is no other discipline's name");
            }
        }
        if self.spec.disciplines[..at].iter().any(|other| other.label() == label) {
            let why = format!("`{}` stands there already", shortened(label));
            return refuse(why, "each discipline once, or with a `label` of its own each time");
        }
        Ok(())
    }

    fn unknown_discipline(&self, path: &str, name: &str) -> ScenarioError {
        let every = catalogue::all().iter();
        let names = every.flat_map(|e| [e.name].into_iter().chain(e.aliases.iter().copied()));
        // A table's `name` is one of the catalogue; elsewhere labels will do.
        let takes_labels = !path.ends_with(".name");
        let own = self.own.iter().filter(|_| takes_labels);
        let labels = own.filter_map(|compared| compared.label.as_deref());
        let (given, allowed) = (shortened(name), labels.chain(names).map(Into::into).collect());
        self.places.refuse(path, Problem::Unknown { what: "discipline", given, allowed })
    }

    /// Checks the discipline's parameters, so that a run cannot fail on them; building it would take its memory.
    fn parameters(&self, path: &str, compared: &Compared, topology: &Topology, at: usize) -> Checked {
        let table = match compared.parameters {
            Some(_) => format!("{path}.parameters"),
            None => "discipline".into(),
        };
        if let Ok(Some(buffer)) = catalogue::own_buffer(&compared.name, compared.parameters(self.spec)) {
            let name = catalogue::find(&compared.name).map_or("", |entry| entry.name);
            self.memory(&format!("{table}.{name}.buffer"), buffer, &topology.queues[at])?;
        }
        match build::check_discipline(self.spec, topology, at, compared) {
            Ok(()) => Ok(()),
            Err(BuildError::Unknown(_)) => Err(self.unknown_discipline(path, &compared.name)),
            Err(BuildError::Parameter(bad)) => self.refuse(Refusal {
                path: &format!("{table}.{}", bad.path()),
                given: bad.given,
                why: format!("`{}` cannot work with that", bad.discipline),
                allowed: bad.allowed,
            }),
        }
    }

    fn expectation(&self, at: usize, expect: &ExpectSpec, measures: &[String]) -> Checked {
        let path = |key: &str| format!("expect.{at}.{key}");
        let is_label = |name: &String| self.own.iter().any(|compared| compared.label() == name);
        if let Some(name) = &expect.discipline
            && !is_label(name)
            && catalogue::find(name).is_err()
        {
            return Err(self.unknown_discipline(&path("discipline"), name));
        }
        if !measures.contains(&expect.measure) {
            let (given, allowed) = (shortened(&expect.measure), measures.to_vec());
            return Err(self
                .places
                .refuse(&path("measure"), Problem::Unknown { what: "measure", given, allowed }));
        }
        self.text(&path("because"), &expect.because)?;
        for (key, bound) in [("min", expect.min), ("max", expect.max)] {
            self.finite(&path(key), bound)?;
        }
        match (expect.min, expect.max) {
            (None, None) => Err(self.places.refuse(
                &format!("expect.{at}"),
                Problem::Missing { key: "min".into(), table: format!("expect.{at}") },
            )),
            (Some(min), Some(max)) if min > max => self.refuse(Refusal {
                path: &path("min"),
                given: min.to_string(),
                why: format!("`max` is {max}: nothing can be between"),
                allowed: "`min` at most `max`".into(),
            }),
            _ => Ok(()),
        }
    }
}

fn bps(bits: u64) -> Rate {
    Rate::from_bps(bits).expect("bounds are above zero")
}
