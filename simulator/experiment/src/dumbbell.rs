//! The plans that real senders can run: one link, and senders with unlimited data or a constant
//! rate.

use crate::plan::Plan;
use crate::stage::{CannotRun, Failed};
use fairwire_core::{Discipline, Duration, Ecn, Rate, RateLaw, Step, Time, WireLaw};
use fairwire_datapath::account::FlowCount;
use fairwire_metrics::record::FlowRecord;
use fairwire_sim::{GroupPlan, Hop, LinkPlan, Source};
use fairwire_tcp::{Config, EcnMode};
use fairwire_testbed::traffic::Sends;
use std::borrow::Cow;

/// One link that all senders share, and an uncontended return path.
pub struct Dumbbell {
    /// The link's name in results.
    pub name: String,
    /// The link's rate, counting IP packets. If the rate changes, this is the rate that disciplines
    /// assume.
    pub rate: Rate,
    /// The changes of the rate, from the start of the run.
    pub law: RateLaw,
    /// The link's one-way delay, without faults.
    pub delay: Duration,
    /// The effect of the link's wire on packets, if any.
    pub wire: Option<WireLaw>,
    /// The discipline of the link.
    pub discipline: Box<dyn Discipline>,
    /// The longest IP packet of any sender.
    pub mtu: u32,
    /// The senders, in the order of results.
    pub senders: Vec<Sender>,
}

/// A flow of a dumbbell, or one of its on-times.
#[derive(Clone, Debug, PartialEq)]
pub struct Sender {
    /// The sender's name in results, such as `tcp.3`.
    pub name: String,
    /// Its group.
    pub group: String,
    /// The name of the sender's source in results.
    pub kind: String,
    /// The data that the sender sends.
    pub sends: Sends,
    /// When it starts.
    pub start: Duration,
    /// The time when the sender stops; `None` for the end of the run. The on-times of a flow are
    /// consecutive senders with the same name.
    pub stop: Option<Duration>,
    /// The sender's round-trip time without queueing.
    pub rtt: Duration,
    /// Does the sender's TCP use ECN?
    pub ecn: bool,
}

impl Sender {
    /// The sender's offered rate, bit/s; `None` if the sender takes all that it can get.
    pub fn offered_bps(&self) -> Option<f64> {
        match &self.sends {
            Sends::Udp { bps, .. } => Some(*bps as f64),
            _ => None,
        }
    }

    /// The sender's record. `count` is from the link during `window`, and `goodput_bps` from the
    /// sink's programs.
    pub fn record(&self, count: &FlowCount, window: Duration, goodput_bps: f64) -> FlowRecord {
        FlowRecord {
            name: self.name.clone().into(),
            group: self.group.as_str().into(),
            kind: self.kind.as_str().into(),
            offered_bps: self.offered_bps(),
            throughput_bps: count.bytes_out as f64 * 8.0 / window.secs(),
            goodput_bps,
            packets_sent: count.packets_in,
            packets_dropped: count.dropped,
            packets_marked: count.marked,
            packets_lost: None,
            timeouts: None,
            loss_episodes: None,
            timeout_episodes: None,
            start_s: None,
            access_delay_s: None,
            base_rtt_s: None,
            fair_bps: None,
            delivered_bytes: None,
        }
    }
}

/// The size of IPv4 and UDP headers, bytes.
const UDP_HEADERS: u32 = 28;
/// The size of IPv4 and TCP headers without options, bytes.
const TCP_HEADERS: u32 = 40;
/// The size of IPv4 and TCP headers with the most options possible, bytes.
const MAX_TCP_HEADERS: u32 = 80;
/// The smallest TCP segment that a kernel accepts.
const MIN_SEGMENT: u32 = 48;
const MAX_PACKET: u32 = 1500;
/// The maximum number of senders, each of which needs a thread at either end.
const MAX_SENDERS: usize = 1000;
/// A user-space gateway's maximum rate on one core, bit/s.
const MAX_RATE: u64 = 10_000_000_000;
const MAX_RTT: Duration = Duration::from_secs(2);
const MAX_DURATION: Duration = Duration::from_secs(3600);

const ONE_LINK: &str = "one `[link]` without `[return]`, all flows over it in one direction";
const SENDERS: &str = "`bulk`, which the kernel's TCP sends, and `cbr`";

impl Dumbbell {
    /// Reduces `plan` under `seed` to the data that real senders need.
    ///
    /// # Errors
    /// If the plan has a feature that real senders cannot run.
    pub fn of(plan: &Plan<'_>, seed: u64) -> Result<Self, Failed> {
        check_spec(plan)?;
        let shared = Shared::of(plan, seed)?;
        Ok(of_shared(shared)?)
    }
}

/// One link, and the groups that send data over it. Their acknowledgements return over an
/// uncontended wire.
pub struct Shared {
    /// The link.
    pub link: LinkPlan,
    /// The senders.
    pub groups: Vec<GroupPlan>,
}

impl Shared {
    /// Reduces `plan` to one link under `seed`.
    ///
    /// # Errors
    /// If the plan has another link, or a feature that [`Shared`] lacks.
    pub fn of(plan: &Plan<'_>, seed: u64) -> Result<Self, CannotRun> {
        let spec = plan.scenario.spec();
        if spec.shared_link().is_none() {
            return Err(CannotRun::new("a network of links", ONE_LINK));
        }
        if spec.return_link.is_some() {
            return Err(CannotRun::new("a queue in the return direction, `[return]`", ONE_LINK));
        }
        check_access(plan)?;
        let network = plan
            .network(seed)
            .map_err(|error| CannotRun::new(error.to_string(), "`fairwire list disciplines`"))?;
        let mut links = network.links.into_iter();
        let (Some(mut link), None) = (links.next(), links.next()) else {
            return Err(CannotRun::new("several links", ONE_LINK));
        };
        if link.discipline.hears_round_trips() {
            return Err(CannotRun::new(
                "a `shaper` with `autorate`, which hears no round trips here",
                "`sim`",
            ));
        }
        if let Some(group) = network.groups.iter().find(|group| group.class != 0 || group.dscp != 0) {
            let given = format!("a `class` or a `dscp` of `{}`", group.name);
            return Err(CannotRun::new(given, "flows without `class` and `dscp`"));
        }
        match network.groups.iter().find(|group| group.ecn != Ecn::NotEct) {
            Some(group) => {
                Err(CannotRun::new(format!("an `ecn` of `{}`", group.name), "`sim`, or datagrams without"))
            }
            None => Ok(Shared { link, groups: network.groups }),
        }
    }

    /// The return delay of the acknowledgements of `group`, without access links.
    ///
    /// # Errors
    /// If the group's path is not the link in one direction and a wire in the other.
    pub fn back_delay(group: &GroupPlan) -> Result<Duration, CannotRun> {
        match group.back.as_slice() {
            [Hop::Wire { delay, .. }] if group.forward == [Hop::Link(0)] => Ok(*delay),
            _ => Err(CannotRun::new(format!("the way of `{}`", group.name), ONE_LINK)),
        }
    }
}

/// Checks that access links have no faults.
pub(crate) fn check_access(plan: &Plan<'_>) -> Result<(), CannotRun> {
    match plan.scenario.spec().flow.iter().find(|flow| flow.access.impair.is_some()) {
        Some(flow) => {
            let given = format!("access links with faults, of `{}`", flow.group);
            Err(CannotRun::new(given, "`impair` of the link"))
        }
        None => Ok(()),
    }
}

/// The steps of `law` in a run of this `duration`, for a stage that sets rates rather than delivery
/// opportunities.
///
/// # Errors
/// If `law` is a trace of opportunities, or repeats too often.
pub fn steps(law: &RateLaw, duration: Duration) -> Result<Cow<'_, [Step]>, CannotRun> {
    match law {
        RateLaw::Fixed => Ok(Cow::Borrowed(&[])),
        RateLaw::Steps(steps) => Ok(Cow::Borrowed(steps)),
        RateLaw::Pattern(pattern) => {
            let all = pattern.steps().take_while(|step| step.at.since(Time::ZERO) < duration);
            let steps: Vec<Step> = all.take(MAX_STEPS + 1).collect();
            if steps.len() > MAX_STEPS {
                let given = format!("a pattern that changes more than {MAX_STEPS} times");
                return Err(CannotRun::new(given, "fewer, or `sim`"));
            }
            Ok(Cow::Owned(steps))
        }
        RateLaw::Trace(_) => {
            Err(CannotRun::new("a `trace`, whose link has single opportunities", "`changes` of its rate"))
        }
    }
}

/// The maximum number of rates in an unrolled pattern, such as one rate per 10 ms for 100 s.
const MAX_STEPS: usize = 10_000;

/// The rates of `law` in a run of this `duration`, with their start times.
///
/// # Errors
/// If the link is down at times, or follows a trace.
pub fn rates(law: &RateLaw, duration: Duration) -> Result<Vec<(Duration, Rate)>, CannotRun> {
    let given = |step: &Step| {
        let rate =
            step.rate.ok_or_else(|| CannotRun::new("a link that is `down`", "`changes` of its `rate`"));
        rate.map(|rate| (step.at.since(Time::ZERO), rate))
    };
    steps(law, duration)?.iter().map(given).collect()
}

/// Refuses `group`, which has a `stop` or `on`, because all flows on `stage` send until the end.
///
/// # Errors
/// If there is such a group.
pub fn check_stops(group: Option<&str>, stage: &str) -> Result<(), CannotRun> {
    group.map_or(Ok(()), |group| {
        let given = format!("a `stop` or `on` of `{group}`: on `{stage}` all flows send to the end");
        Err(CannotRun::new(given, "the stages `sim`, `lab`, `gateway` and `kernel`"))
    })
}

/// Checks that the link has no device behind its discipline, because `stage` supports no devices.
///
/// # Errors
/// If the link has a device.
pub fn check_device(plan: &Plan<'_>, stage: &str) -> Result<(), CannotRun> {
    match plan.scenario.spec().shared_link().and_then(|link| link.device) {
        None => Ok(()),
        Some(_) => {
            let given = format!("a `device` behind the discipline, which `{stage}` does not have");
            Err(CannotRun::new(given, "the stages `sim` and `lab`"))
        }
    }
}

impl Dumbbell {
    /// This dumbbell with the congestion control `control` for every TCP flow. The control is named
    /// as in the kernel.
    #[must_use]
    pub(crate) fn with_congestion_control(mut self, control: &str) -> Self {
        for sender in &mut self.senders {
            if let Sends::Tcp(name) = &mut sender.sends {
                *name = control.into();
                sender.kind = format!("bulk {control}");
            }
        }
        self
    }
}

fn check_spec(plan: &Plan<'_>) -> Result<(), CannotRun> {
    let spec = plan.scenario.spec();
    if !spec.aggregate.is_empty() {
        return Err(CannotRun::new("aggregates with contracts, `[[aggregate]]`", "no `[[aggregate]]`"));
    }
    if plan.duration() > MAX_DURATION {
        let given = format!("a duration of {}", plan.duration());
        return Err(CannotRun::new(given, format!("at most {MAX_DURATION}, since runs are in real time")));
    }
    Ok(())
}

fn of_shared(Shared { link, groups }: Shared) -> Result<Dumbbell, CannotRun> {
    if let Some(rate) = all_rates(&link).find(|rate| rate.bps() > MAX_RATE) {
        return Err(CannotRun::new(format!("a link of {rate}"), "at most 10 Gbit/s"));
    }
    let mut senders = Vec::new();
    let mut mtu = Mtu::default();
    for group in &groups {
        let (sends, kind) = sends(group, &mut mtu)?;
        let rtts = rtts(group, &link)?;
        let ecn = matches!(&group.source, Source::Bulk { tcp } if tcp.ecn != EcnMode::Off);
        let members = group.members.iter().zip(rtts).zip(1..);
        let each = members.flat_map(|((member, rtt), number): (_, u32)| {
            group.on_times(*member).map(move |on| (on, rtt, number))
        });
        senders.extend(each.map(|(on, rtt, number)| Sender {
            rtt,
            ecn,
            name: format!("{}.{number}", group.name),
            group: group.name.clone(),
            kind: kind.clone(),
            sends: sends.clone(),
            start: on.from,
            stop: (!group.on.is_empty()).then_some(on.until),
        }));
    }
    if senders.len() > MAX_SENDERS {
        return Err(CannotRun::new(format!("{} flows", senders.len()), format!("at most {MAX_SENDERS}")));
    }
    let LinkPlan { name, rate, law, delay, wire, discipline } = link;
    let wire = wire.map(|wire| wire.law().clone());
    Ok(Dumbbell { name, rate, law, delay, wire, discipline, mtu: mtu.bytes()?, senders })
}

fn all_rates(link: &LinkPlan) -> impl Iterator<Item = Rate> {
    let (steps, fastest): (&[Step], _) = match &link.law {
        RateLaw::Steps(steps) => (steps, None),
        RateLaw::Pattern(pattern) => (&[], Some(pattern.fastest())),
        RateLaw::Fixed | RateLaw::Trace(_) => (&[], None),
    };
    std::iter::once(link.rate).chain(fastest).chain(steps.iter().filter_map(|step| step.rate))
}

fn rtts(group: &GroupPlan, link: &LinkPlan) -> Result<Vec<Duration>, CannotRun> {
    let back = Shared::back_delay(group)?;
    let rtt = |access: Duration| Duration::from_ns(4 * access.ns() + link.delay.ns() + back.ns());
    let rtts: Vec<Duration> = group.members.iter().map(|member| rtt(member.access_delay)).collect();
    match rtts.iter().find(|rtt| **rtt > MAX_RTT) {
        Some(rtt) => {
            let given = format!("a round-trip time of {rtt} of `{}`", group.name);
            Err(CannotRun::new(given, format!("at most {MAX_RTT}")))
        }
        None => Ok(rtts),
    }
}

fn sends(group: &GroupPlan, mtu: &mut Mtu) -> Result<(Sends, String), CannotRun> {
    let of = |what: String| format!("{what} of `{}`", group.name);
    match &group.source {
        Source::Bulk { tcp } => {
            mtu.tcp(tcp, &group.name)?;
            if tcp.ecn == EcnMode::Ect1 {
                return Err(CannotRun::new(of("ECT(1)".into()), "ECT(0), or no ECN"));
            }
            let control = tcp.control.name();
            Ok((Sends::Tcp(control.into()), format!("bulk {control}")))
        }
        Source::Cbr { rate, packet_bytes, header_bytes, .. } => {
            if *header_bytes != UDP_HEADERS {
                let given = of(format!("headers of {header_bytes} B"));
                return Err(CannotRun::new(given, format!("{UDP_HEADERS} B, those of UDP over IPv4")));
            }
            if !(MIN_UDP..=MAX_PACKET).contains(packet_bytes) {
                let given = of(format!("packets of {packet_bytes} B"));
                return Err(CannotRun::new(given, format!("from {MIN_UDP} B to {MAX_PACKET} B")));
            }
            if group.ecn.is_capable() {
                return Err(CannotRun::new(of("an ECN codepoint".into()), "`ecn = \"none\"`"));
            }
            mtu.udp(*packet_bytes);
            let payload = packet_bytes - UDP_HEADERS;
            Ok((Sends::Udp { bps: rate.bps(), payload, counted: *packet_bytes }, "cbr".into()))
        }
        Source::Tcp { .. } | Source::Datagrams { .. } | Source::Endpoints { .. } => {
            Err(CannotRun::new(of("the source".into()), SENDERS))
        }
    }
}

/// The smallest datagram in bytes, which contains a number and a time.
const MIN_UDP: u32 = UDP_HEADERS + fairwire_testbed::traffic::HEAD_BYTES as u32;

/// The longest IP packets of TCP and of UDP.
#[derive(Clone, Copy, Debug, Default)]
struct Mtu {
    tcp: Option<u32>,
    udp: u32,
}

impl Mtu {
    /// Adds TCP packets of the scenario's length. The kernel decides how many of their bytes are
    /// headers: 40, or 52 with timestamps.
    fn tcp(&mut self, tcp: &Config, group: &str) -> Result<(), CannotRun> {
        let headers = tcp.header_bytes.clamp(TCP_HEADERS, MAX_TCP_HEADERS);
        let (segment, allowed) = (tcp.segment_bytes, MIN_SEGMENT..=MAX_PACKET - headers);
        if !allowed.contains(&segment) {
            let given = format!("segments of {segment} B of `{group}`");
            return Err(CannotRun::new(given, format!("from {MIN_SEGMENT} B to {} B", MAX_PACKET - headers)));
        }
        match self.tcp.replace(segment + headers) {
            Some(other) if other != segment + headers => {
                let given = format!("TCP packets of {other} B and of {} B", segment + headers);
                Err(CannotRun::new(given, "one length of segments for all TCP flows"))
            }
            _ => Ok(()),
        }
    }

    fn udp(&mut self, packet: u32) {
        self.udp = self.udp.max(packet);
    }

    /// The MTU of the wire. The kernel fills packets of this size with its segments.
    fn bytes(self) -> Result<u32, CannotRun> {
        let Some(tcp) = self.tcp else { return Ok(self.udp) };
        if self.udp > tcp {
            let given = format!("datagrams of {} B beside TCP's packets of {tcp} B", self.udp);
            return Err(CannotRun::new(
                given,
                format!("datagrams of at most {tcp} B, since the MTU of the wire is that of TCP's packets"),
            ));
        }
        Ok(tcp)
    }
}
