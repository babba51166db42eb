//! What each group of flows sends: from its tables as typed to the simulator's source.

use crate::app::{
    BurstsSpec, OnOffSpec, PoissonSpec, ReplaySpec, SequenceSpec, TelnetSpec, TransfersSpec, VideoSpec,
    VoipSpec, WebSpec,
};
use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::law::{LawSpec, Random};
use crate::spec::{FlowSpec, SourceKind};
use crate::tcp::TcpSpec;
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_document::Problem;
use fairwire_laws::spec::Quantity;
use fairwire_sim::Source;
use fairwire_sim::app::{
    Arrivals, Bursts, Law, Load, OnOff, Poisson, Replay, Sequence, Talk, Telnet, Traffic, Transfers, Video,
    Voip, Web,
};
use fairwire_tcp::Config;

/// The default packet of a source of datagrams.
const PACKET: u32 = 512;
/// IPv4 and UDP headers (RFC 791, RFC 768).
const HEADER: u32 = 28;
/// With those of RTP (RFC 3550).
const HEADER_OF_RTP: u32 = 40;
/// A shorter time between packets is a slip of the unit: a million of them a second.
const SHORTEST_GAP: Duration = Duration::from_us(1);
/// Nothing would come in a run.
const LONGEST_GAP: Duration = Duration::from_secs(1_000_000);
/// A browser has six, and each takes the memory of a flow.
const MOST_CONNECTIONS: u16 = 1024;

/// About the mean bytes of the frames of a video whose sizes are not given.
const I_FRAME: f64 = 45_455.0;
const P_FRAME: f64 = 11_364.0;

/// What a group sends.
#[derive(Clone, Debug)]
pub(crate) struct Sends {
    pub(crate) source: Source,
    /// A typical packet of its data on the wire.
    pub(crate) packet_bytes: u32,
}

impl Sends {
    /// An acknowledgement on the wire; 0 where there are none.
    pub(crate) fn ack_bytes(&self) -> u32 {
        match &self.source {
            Source::Bulk { tcp } | Source::Tcp { tcp, .. } => tcp.header_bytes,
            Source::Cbr { .. } | Source::Datagrams { .. } => 0,
        }
    }

    /// Flows that each member takes in the simulator.
    pub(crate) fn connections(&self) -> u64 {
        match &self.source {
            Source::Tcp { load, .. } => load.connections().into(),
            _ => 1,
        }
    }
}

/// The constants of the TCP of `flow`.
pub(crate) fn tcp_config(flow: &FlowSpec) -> Config {
    flow.tcp.as_ref().unwrap_or(&TcpSpec::default()).config()
}

/// A key of another source than that of `flow`, which stands at `path`.
pub(crate) fn check_keys(path: &str, flow: &FlowSpec) -> Result<(), Fault> {
    use SourceKind as Kind;
    let (cbr, datagrams, tcp) = (&[Kind::Cbr][..], Kind::DATAGRAMS, Kind::TCP);
    let keys: [(&str, bool, &[Kind]); 15] = [
        ("tcp", flow.tcp.is_some(), tcp),
        ("rate", flow.rate.is_some(), cbr),
        ("packet", flow.packet.is_some(), cbr),
        ("header", flow.header.is_some(), datagrams),
        ("dither", flow.dither.is_some(), cbr),
        ("on-off", flow.on_off.is_some(), &[Kind::OnOff]),
        ("poisson", flow.poisson.is_some(), &[Kind::Poisson]),
        ("voip", flow.voip.is_some(), &[Kind::Voip]),
        ("video", flow.video.is_some(), &[Kind::Video]),
        ("replay", flow.replay.is_some(), &[Kind::Replay]),
        ("transfers", flow.transfers.is_some(), &[Kind::Transfers]),
        ("bursts", flow.bursts.is_some(), &[Kind::Bursts]),
        ("telnet", flow.telnet.is_some(), &[Kind::Telnet]),
        ("sequence", flow.sequence.is_some(), &[Kind::Sequence]),
        ("web", flow.web.is_some(), &[Kind::Web]),
    ];
    let foreign = |(_, is_given, kinds): &(&str, bool, &[Kind])| *is_given && !kinds.contains(&flow.source);
    let Some((key, _, kinds)) = keys.into_iter().find(foreign) else { return Ok(()) };
    let named = |kind: &Kind| format!("`source = \"{}\"`", kind.word());
    let named = kinds.iter().map(named).collect::<Vec<_>>().join(" or ");
    let (why, allowed) = (format!("it belongs to {named}"), format!("leave it out, or {named}"));
    Err(refused(format!("{path}.{key}"), "given", &why, &allowed))
}

/// What `flow`, which stands at `path`, sends. Sizes of constant-rate sources and constants of TCP have been checked.
pub(crate) fn sends(path: &str, flow: &FlowSpec, files: &Files) -> Result<Sends, Fault> {
    let at = Table { path, key: flow.source.word() };
    let usual_header = if flow.source == SourceKind::Voip { HEADER_OF_RTP } else { HEADER };
    let header = bytes(flow.header, usual_header);
    let datagrams = |(traffic, packet_bytes)| at.datagrams(traffic, header, packet_bytes);
    match flow.source {
        SourceKind::Bulk => {
            let tcp = tcp_config(flow);
            Ok(Sends { packet_bytes: full_packet(&tcp), source: Source::Bulk { tcp } })
        }
        SourceKind::Cbr => {
            let rate = flow.rate.ok_or_else(|| at.missing_beside("rate"))?.0;
            let (packet_bytes, dither) = (bytes(flow.packet, PACKET), flow.dither.unwrap_or(0.0));
            let source = Source::Cbr { rate, packet_bytes, header_bytes: header, dither };
            Ok(Sends { source, packet_bytes })
        }
        SourceKind::OnOff => at.on_off(at.table(flow.on_off.as_ref())?, flow).and_then(datagrams),
        SourceKind::Poisson => at.poisson(at.table(flow.poisson.as_ref())?, flow).and_then(datagrams),
        SourceKind::Voip => at.voip(&flow.voip.unwrap_or_default(), header, flow).and_then(datagrams),
        SourceKind::Video => at.video(&flow.video.unwrap_or_default(), flow).and_then(datagrams),
        SourceKind::Replay => at.replay(at.table(flow.replay.as_ref())?, files, flow).and_then(datagrams),
        SourceKind::Transfers => {
            at.transfers(at.table(flow.transfers.as_ref())?).and_then(|l| at.load(flow, l))
        }
        SourceKind::Bursts => at.bursts(&flow.bursts.unwrap_or_default()).and_then(|l| at.load(flow, l)),
        SourceKind::Telnet => at.telnet(&flow.telnet.unwrap_or_default()).and_then(|l| at.load(flow, l)),
        SourceKind::Sequence => {
            at.sequence(&flow.sequence.unwrap_or_default()).and_then(|l| at.load(flow, l))
        }
        SourceKind::Web => at.web(&flow.web.unwrap_or_default()).and_then(|l| at.load(flow, l)),
    }
}

/// The table of a source, in a group of flows.
#[derive(Clone, Copy)]
struct Table<'a> {
    path: &'a str,
    key: &'static str,
}

type Datagrams = Result<(Traffic, u32), Fault>;
type Loaded = Result<Load, Fault>;

impl Table<'_> {
    fn table<T>(self, table: Option<&T>) -> Result<&T, Fault> {
        table.ok_or_else(|| self.missing_beside(self.key))
    }

    /// A key of the group itself is missing.
    fn missing_beside(self, key: &str) -> Fault {
        let note = format!("source = \"{}\"", self.key);
        let problem = Problem::Missing { key: key.into(), table: self.path.into(), note };
        Fault { path: self.path.into(), problem }
    }

    fn refuse(self, key: &str, given: &str, why: &str, allowed: &str) -> Fault {
        let dot = if key.is_empty() { "" } else { "." };
        refused(format!("{}.{}{dot}{key}", self.path, self.key), given, why, allowed)
    }

    fn law<Q: Random>(self, key: &str, given: Option<&LawSpec<Q>>, default: Law) -> Result<Law, Fault> {
        let allowed = format!(
            "one law, such as {{ exponential = \"{}\" }}, with bounds from 0 on in their order",
            Q::EXAMPLES[0]
        );
        given.map_or(Ok(default), |spec| {
            spec.law().map_err(|why| self.refuse(key, "no law that can be drawn from", why, &allowed))
        })
    }

    fn gap(self, key: &str, given: Option<Quantity<Duration>>, default: Duration) -> Result<Duration, Fault> {
        let gap = given.map_or(default, |gap| gap.0);
        let allowed = format!("{SHORTEST_GAP} to {LONGEST_GAP}");
        let why = if gap < SHORTEST_GAP { "a run would take days" } else { "nothing would come" };
        if (SHORTEST_GAP..=LONGEST_GAP).contains(&gap) {
            Ok(gap)
        } else {
            Err(self.refuse(key, &gap.to_string(), why, &allowed))
        }
    }

    fn connections(self, given: Option<u16>, default: u16) -> Result<u16, Fault> {
        let connections = given.unwrap_or(default);
        if (1..=MOST_CONNECTIONS).contains(&connections) {
            return Ok(connections);
        }
        let why =
            if connections == 0 { "nothing could be fetched" } else { "each takes the memory of a flow" };
        Err(self.refuse("connections", &connections.to_string(), why, &format!("1 to {MOST_CONNECTIONS}")))
    }

    /// What remains wrong is said by the simulator.
    fn datagrams(self, traffic: Traffic, header_bytes: u32, packet_bytes: u32) -> Result<Sends, Fault> {
        if let Some(problem) = traffic.problem(header_bytes) {
            let allowed = format!("packets of 1 to 65535 bytes, {header_bytes} or more of them for headers");
            return Err(self.refuse("", "as it stands", &problem, &allowed));
        }
        Ok(Sends { source: Source::Datagrams { traffic, header_bytes }, packet_bytes })
    }

    fn load(self, flow: &FlowSpec, load: Load) -> Result<Sends, Fault> {
        if let Some(problem) = load.problem() {
            return Err(self.refuse("", "as it stands", &problem, "what the table of this source tells"));
        }
        let tcp = tcp_config(flow);
        Ok(Sends { packet_bytes: full_packet(&tcp), source: Source::Tcp { tcp, load } })
    }

    /// What comes faster than its own link sends would wait in front of it without end.
    fn carried(self, key: &str, bps: f64, flow: &FlowSpec) -> Result<(), Fault> {
        let most = flow.access.rate;
        if bps <= most.0.bps() as f64 {
            return Ok(());
        }
        let why = format!("the flow's own link, `access`, sends only {most}");
        Err(self.refuse(key, &format!("{bps:.0} bit/s in the mean"), &why, &format!("at most {most}")))
    }

    fn on_off(self, spec: &OnOffSpec, flow: &FlowSpec) -> Datagrams {
        let rate = spec.rate.0;
        self.carried("rate", rate.bps() as f64, flow)?;
        let packet_bytes = bytes(spec.packet, PACKET);
        let burst = self.law("burst", Some(&spec.burst), Law::Fixed(1.0))?;
        let idle = self.law("idle", Some(&spec.idle), Law::Fixed(0.0))?;
        Ok((Traffic::OnOff(OnOff { rate, packet_bytes, burst, idle }), packet_bytes))
    }

    fn poisson(self, spec: &PoissonSpec, flow: &FlowSpec) -> Datagrams {
        let mean_gap = self.gap("mean_gap", Some(spec.mean_gap), SHORTEST_GAP)?;
        let size = self.law("size", spec.size.as_ref(), Law::Fixed(PACKET.into()))?;
        let about = spec.size.as_ref().map_or(f64::from(PACKET), LawSpec::about);
        self.carried("mean_gap", about * 8.0 / mean_gap.secs(), flow)?;
        Ok((Traffic::Poisson(Poisson { mean_gap, size }), whole_bytes(about)))
    }

    fn voip(self, spec: &VoipSpec, header: u32, flow: &FlowSpec) -> Datagrams {
        let default = Voip::default();
        let frame = self.gap("frame", spec.frame, default.frame)?;
        let payload_bytes = bytes(spec.payload, default.payload_bytes);
        let usual = Talk::default();
        for (key, is_given) in [("spurt", spec.spurt.is_some()), ("silence", spec.silence.is_some())] {
            if spec.continuous && is_given {
                let why = "somebody talks all the time, with `continuous`";
                return Err(self.refuse(key, "given", why, "one of the two"));
            }
        }
        let talk = Talk {
            spurt: self.law("spurt", spec.spurt.as_ref(), usual.spurt)?,
            silence: self.law("silence", spec.silence.as_ref(), usual.silence)?,
        };
        let about = |law: &Option<LawSpec<Duration>>| law.as_ref().map_or(1.0, LawSpec::about);
        if about(&spec.spurt) + about(&spec.silence) < SHORTEST_GAP.secs() {
            let why = "with silences as short as that a run would take days";
            return Err(self.refuse(
                "spurt",
                "next to nothing",
                why,
                &format!("together {SHORTEST_GAP} or more"),
            ));
        }
        let packet_bytes = payload_bytes.saturating_add(header);
        self.carried("frame", f64::from(packet_bytes) * 8.0 / frame.secs(), flow)?;
        let plan = Voip { frame, payload_bytes, talk: (!spec.continuous).then_some(talk) };
        Ok((Traffic::Voip(plan), packet_bytes))
    }

    fn video(self, spec: &VideoSpec, flow: &FlowSpec) -> Datagrams {
        let default = Video::default();
        let plan = Video {
            frame: self.gap("frame", spec.frame, default.frame)?,
            group: spec.group.unwrap_or(default.group),
            i_bytes: self.law("i_frame", spec.i_frame.as_ref(), default.i_bytes)?,
            p_bytes: self.law("p_frame", spec.p_frame.as_ref(), default.p_bytes)?,
            packet_bytes: bytes(spec.packet, default.packet_bytes),
            is_paced: spec.paced,
        };
        let about = |given: &Option<LawSpec<Size>>, usual: f64| given.as_ref().map_or(usual, LawSpec::about);
        let [i, p] = [about(&spec.i_frame, I_FRAME), about(&spec.p_frame, P_FRAME)];
        let group = f64::from(plan.group.max(1));
        self.carried("frame", (i + (group - 1.0) * p) / group * 8.0 / plan.frame.secs(), flow)?;
        let packet_bytes = plan.packet_bytes;
        Ok((Traffic::Video(plan), packet_bytes))
    }

    /// The capture, and its mean packet.
    fn replay(self, spec: &ReplaySpec, files: &Files, flow: &FlowSpec) -> Datagrams {
        let (packets, speed) = (files.capture(&spec.file), spec.speed.unwrap_or(1.0));
        let total: u64 = packets.iter().map(|packet| u64::from(packet.bytes)).sum();
        let seconds = packets.last().map_or(0.0, |last| last.at.secs());
        let bps = total as f64 * 8.0 / seconds * speed;
        if spec.repeats && bps.is_finite() {
            self.carried("speed", bps, flow)?;
        }
        let mean = total / (packets.len() as u64).max(1);
        Ok((Traffic::Replay(Replay { packets, speed, repeats: spec.repeats }), mean as u32))
    }

    fn transfers(self, spec: &TransfersSpec) -> Loaded {
        let size = self.law("size", Some(&spec.size), Law::Fixed(0.0))?;
        let arrivals = match (&spec.think, spec.mean_gap) {
            (Some(_), None) if spec.connections.is_some() => {
                let why = "with `think` there is one at a time";
                return Err(self.refuse("connections", "given", why, "leave it out, or `mean_gap`"));
            }
            (Some(think), None) => Arrivals::Think(self.law("think", Some(think), Law::Fixed(0.0))?),
            (None, Some(_)) => Arrivals::Poisson {
                mean_gap: self.gap("mean_gap", spec.mean_gap, SHORTEST_GAP)?,
                connections: self.connections(spec.connections, 32)?,
            },
            (Some(_), Some(_)) => {
                let why = "`think` says already when transfers begin";
                return Err(self.refuse("mean_gap", "given", why, "one of the two"));
            }
            (None, None) => {
                let path = format!("{}.{}", self.path, self.key);
                let note = "or `mean_gap`".into();
                let problem = Problem::Missing { key: "think".into(), table: path.clone(), note };
                return Err(Fault { path, problem });
            }
        };
        Ok(Load::Transfers(Transfers { size, arrivals }))
    }

    fn bursts(self, spec: &BurstsSpec) -> Loaded {
        let default = Bursts::default();
        Ok(Load::Bursts(Bursts {
            burst: self.law("burst", spec.burst.as_ref(), default.burst)?,
            idle: self.law("idle", spec.idle.as_ref(), default.idle)?,
            renews: spec.renews,
        }))
    }

    fn telnet(self, spec: &TelnetSpec) -> Loaded {
        let mean_gap = self.gap("mean_gap", spec.mean_gap, Telnet::default().mean_gap)?;
        Ok(Load::Telnet(Telnet { mean_gap }))
    }

    fn sequence(self, spec: &SequenceSpec) -> Loaded {
        Ok(Load::Sequence(Sequence { lasts: self.gap("lasts", spec.lasts, Sequence::default().lasts)? }))
    }

    fn web(self, spec: &WebSpec) -> Loaded {
        let default = Web::default();
        Ok(Load::Web(Box::new(Web {
            first_bytes: self.law("first", spec.first.as_ref(), default.first_bytes)?,
            parsing: self.law("parsing", spec.parsing.as_ref(), default.parsing)?,
            objects: self.law("objects", spec.objects.as_ref(), default.objects)?,
            object_bytes: self.law("object", spec.object.as_ref(), default.object_bytes)?,
            reading: self.law("reading", spec.reading.as_ref(), default.reading)?,
            connections: self.connections(spec.connections, default.connections)?,
            is_persistent: spec.persistent.unwrap_or(default.is_persistent),
        })))
    }
}

/// A full data packet on the wire.
fn full_packet(tcp: &Config) -> u32 {
    tcp.segment_bytes.saturating_add(tcp.header_bytes)
}

/// As a packet of IP.
fn whole_bytes(bytes: f64) -> u32 {
    bytes.clamp(1.0, 65_535.0) as u32
}

/// A size in bytes; what is too large for the field is too large for a packet too, so it may be cut here.
fn bytes(size: Option<Quantity<Size>>, default: u32) -> u32 {
    size.map_or(default, |size| u32::try_from(size.0.0).unwrap_or(u32::MAX))
}
