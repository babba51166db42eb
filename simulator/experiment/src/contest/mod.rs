//! The plan and the record of a contest between this kernel's senders over one link, with any type
//! of forwarding.

mod coordinator;

pub use coordinator::{Coordinator, Meter, Next};

use crate::dumbbell::{Dumbbell, Sender};
use crate::plan::Plan;
use crate::series::{self, Series, Snapshot};
use crate::stage::{CannotRun, Failed};
use crate::watch::Watch;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate, RateLaw, Seed, WireLaw};
use fairwire_datapath::account::FlowCount;
use fairwire_linux::port::{PortError, PortHealth};
use fairwire_metrics::presence::{self, Presence};
use fairwire_metrics::record::{FlowRecord, LinkRecord, RunRecord, WireRecord};
use fairwire_testbed::bed::{SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::error::TestbedError;
use fairwire_testbed::path::{Carried, FaultCounts, Faults, Lane, Path, Run};
use fairwire_testbed::traffic::{
    Flow, FlowCounts, HostCounts, Sends, Slots, TCP_PORT, Traffic, UDP_PORT, port_of,
};
use fairwire_wire::flow_key::{FlowKey, Tuple};
use fairwire_wire::headers::{Ports, TCP, UDP};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use std::ops::Range;
use std::os::fd::OwnedFd;

/// The flows, the link and the duration of a contest.
#[derive(Clone, Debug)]
pub struct ContestPlan {
    /// The link's name in results.
    pub name: String,
    /// The link's rate, counting IP packets.
    pub rate: Rate,
    /// The changes of the rate. Time 0 is the start of the contest.
    pub law: RateLaw,
    /// The buffer.
    pub buffer: Amount,
    /// The longest IP packet.
    pub mtu: u32,
    /// The wire behind the link, if the wire has faults.
    pub wire: Option<Lane>,
    /// The seed of the contest's random numbers.
    pub seed: u64,
    /// The senders.
    pub senders: Vec<Sender>,
    /// The total length, including the warm-up.
    pub duration: Duration,
    /// The unmeasured time at the start.
    pub warm_up: Duration,
    /// The sampling interval of series; `None` for no series.
    pub every: Option<Duration>,
    /// The time for which flows continue after the end, for stages that receive the counts late.
    pub tail: Duration,
}

impl ContestPlan {
    fn path(&self) -> Path {
        // If a wire delays data packets, the path delays acknowledgements by the rest of the round
        // trip.
        let there = self.wire.as_ref().map_or(Duration::ZERO, |lane| Duration::from_ns(lane.others_ns));
        let path = Path::round_trips(self.senders.iter().map(|sender| sender.rtt - there));
        let run = Run { from_ns: self.warm_up.ns(), until_ns: self.duration.ns() };
        match &self.wire {
            Some(lane) => Path { to_sink: lane.clone(), seed: self.seed, run: Some(run), ..path },
            None => path,
        }
    }

    fn traffic(&self) -> Traffic {
        let (warm_up_ns, duration_ns) = (self.warm_up.ns(), self.duration.ns());
        let sent_ns = duration_ns + self.tail.ns();
        let flow = |sender: &Sender| Flow {
            group: sender.group.clone(),
            sends: sender.sends.clone(),
            from: Side::Left,
            source: SOURCE_ADDRESS.into(),
            destination: SINK_ADDRESS.into(),
            start_ns: sender.start.ns(),
            stop_ns: sender.stop.map_or(sent_ns, |stop| stop.ns().min(sent_ns)),
            receiver_behind: None,
            ecn: sender.ecn,
        };
        let count = if self.has_stops() { (duration_ns - warm_up_ns).div_ceil(self.slot().ns()) } else { 1 };
        let each_ns = if count > 1 { self.slot().ns() } else { duration_ns - warm_up_ns };
        let slots = Slots { from_ns: warm_up_ns, each_ns, count: count as usize };
        // The gateway counts packets, so the hosts need not.
        Traffic {
            flows: self.senders.iter().map(flow).collect(),
            duration_ns: sent_ns,
            slots,
            is_tapped: false,
            tcp_every_ns: self.every.map(Duration::ns),
        }
    }

    fn has_stops(&self) -> bool {
        self.senders.iter().any(|sender| sender.stop.is_some())
    }

    fn slot(&self) -> Duration {
        presence::slot(self.duration - self.warm_up, self.senders.len())
    }

    /// The on-times of the flows, and the bytes that each flow received. Like the throughput, the
    /// bytes include the overhead on the link.
    fn presence(&self, seen: &HostCounts, flows: &[FlowRecord]) -> Option<Presence> {
        if !self.has_stops() {
            return None;
        }
        let (from, until) = (self.warm_up, self.duration);
        let senders: Vec<Range<usize>> = by_flow(&self.senders).collect();
        let on = |senders: &Range<usize>| {
            let on = self.senders[senders.clone()].iter().map(|sender| {
                let stop = sender.stop.unwrap_or(until);
                [sender.start, stop].map(|at| at.clamp(from, until).seconds())
            });
            on.filter(|[from, until]| from < until).collect()
        };
        let got = |sender: usize, slot: usize| {
            let FlowRecord { throughput_bps, goodput_bps, .. } = flows[sender];
            let payload = seen.flows.get(sender).and_then(|seen| seen.payload_bytes.get(slot));
            payload.map_or(0.0, |payload| *payload as f64 * throughput_bps / goodput_bps.max(1.0))
        };
        let slots = (until - from).ns().div_ceil(self.slot().ns()) as usize;
        let mut sums = vec![0.0; senders.len()];
        let mut bytes = Vec::with_capacity(slots * senders.len());
        for slot in 0..slots {
            for (sum, senders) in sums.iter_mut().zip(&senders) {
                *sum += senders.clone().map(|sender| got(sender, slot)).sum::<f64>();
                bytes.push(*sum as u64);
            }
        }
        let [from_s, until_s] = [from, until].map(Duration::seconds);
        let on = senders.iter().map(on).collect();
        Some(Presence { from_s, until_s, on, slot_s: self.slot().seconds(), bytes })
    }

    /// The flow key of the packets of sender number `flow`.
    pub fn flow_key(&self, flow: usize) -> FlowKey {
        let is_tcp = matches!(self.senders[flow].sends, Sends::Tcp(_));
        let (protocol, destination) = if is_tcp { (TCP, TCP_PORT) } else { (UDP, UDP_PORT) };
        FlowKey::Ipv4(Tuple {
            source: SOURCE_ADDRESS,
            destination: SINK_ADDRESS,
            protocol,
            ports: Some(Ports { source: port_of(flow), destination }),
        })
    }

    /// The contest of `plan` between the senders of `dumbbell`.
    pub fn of(plan: &Plan<'_>, seed: u64, dumbbell: &Dumbbell) -> Self {
        let Some(link) = plan.scenario.queues().next() else { unreachable!("a dumbbell has one link") };
        ContestPlan {
            name: dumbbell.name.clone(),
            rate: dumbbell.rate,
            law: dumbbell.law.clone(),
            buffer: link.buffer,
            mtu: dumbbell.mtu,
            wire: dumbbell.wire.as_ref().map(|law| wire(dumbbell, law, seed)),
            seed,
            senders: dumbbell.senders.clone(),
            duration: plan.duration(),
            warm_up: plan.warm_up(),
            every: None,
            tail: Duration::ZERO,
        }
    }

    /// Like [`of`](Self::of), with samples for `watch`.
    ///
    /// # Errors
    /// If there would be too many samples.
    pub fn watched(
        plan: &Plan<'_>,
        seed: u64,
        dumbbell: &Dumbbell,
        watch: &dyn Watch,
    ) -> Result<Self, CannotRun> {
        let contest = ContestPlan { every: watch.every(), ..ContestPlan::of(plan, seed, dumbbell) };
        series::check(contest.every, contest.senders.len(), contest.duration).map(|()| contest)
    }

    /// The mean rate over the measured time, as in a link's record.
    pub fn mean_rate(&self) -> Rate {
        self.law.mean(self.rate, self.warm_up, self.duration)
    }

    /// Passes the series to `watch`, and returns the record. `None` if the caller stopped the
    /// contest.
    ///
    /// # Errors
    /// The reason why the contest could not run.
    pub fn outcome(
        &self,
        plan: &Plan<'_>,
        held: Result<Held, ContestError>,
        watch: &mut dyn Watch,
    ) -> Result<Option<RunRecord>, Failed> {
        match held {
            Ok(held) => Ok(Some(self.record(plan, held, watch))),
            Err(error) => error.stopped_or_failed(),
        }
    }

    fn record(&self, plan: &Plan<'_>, held: Held, watch: &mut dyn Watch) -> RunRecord {
        let Held { counted, seen, snapshots } = held;
        Series {
            link: &self.name,
            rate: self.rate,
            law: &self.law,
            senders: &self.senders,
            snapshots: &snapshots,
            seen: &seen,
        }
        .give(watch);
        let (mut flows, mut link) = (self.flow_records(&counted, &seen), counted.link);
        let presence = self.presence(&seen, &flows);
        let Carried { overflowed, failed, faults, .. } = seen.path;
        if self.wire.is_some() {
            let FaultCounts { lost, held_back, duplicated, lost_of } = faults;
            link.wire = Some(WireRecord { lost, held_back, duplicated });
            flows.iter_mut().zip(lost_of).for_each(|(flow, lost)| flow.packets_lost = Some(lost));
        }
        add_losses(&mut link, [("path-overflow", overflowed), ("path-failed", failed)]);
        plan.record(self.seed, joined(flows, presence.as_ref()), presence.as_ref(), link)
    }

    /// The record of each flow. Throughput is the traffic that left the link for the sink. Goodput
    /// is the data that the sink's programs received.
    ///
    /// In a short contest, goodput does not measure the share of the link. Data from the warm-up
    /// waits at the sink until gaps are filled, and then arrives all at once.
    fn flow_records(&self, counted: &Counted, seen: &HostCounts) -> Vec<FlowRecord> {
        let window = self.duration - self.warm_up;
        let goodput_bps =
            |seen: &FlowCounts| seen.payload_bytes.iter().sum::<u64>() as f64 * 8.0 / window.secs();
        let flows = self.senders.iter().zip(counted.flows.iter().zip(&seen.flows));
        flows.map(|(sender, (count, seen))| sender.record(count, counted.window, goodput_bps(seen))).collect()
    }
}

/// The indices of each flow's senders, which are adjacent.
pub(crate) fn by_flow(senders: &[Sender]) -> impl Iterator<Item = Range<usize>> {
    let mut first = 0;
    senders.chunk_by(|a, b| a.name == b.name).map(move |same| {
        let all = first..first + same.len();
        first = all.end;
        all
    })
}

/// Joins the records of each flow's senders. Rates become means over the time that the flow was on.
fn joined(flows: Vec<FlowRecord>, presence: Option<&Presence>) -> Vec<FlowRecord> {
    let Some(presence) = presence else { return flows };
    let mut all: Vec<FlowRecord> = Vec::new();
    for flow in flows {
        match all.last_mut().filter(|last| last.name == flow.name) {
            Some(last) => {
                last.throughput_bps += flow.throughput_bps;
                last.goodput_bps += flow.goodput_bps;
                last.packets_sent += flow.packets_sent;
                last.packets_dropped += flow.packets_dropped;
                last.packets_marked += flow.packets_marked;
                last.packets_lost = last.packets_lost.zip(flow.packets_lost).map(|(a, b)| a + b);
            }
            None => all.push(flow),
        }
    }
    let measured_s = presence.until_s - presence.from_s;
    for (flow, active_s) in all.iter_mut().zip(presence.active_s()) {
        let longer = if active_s > 0.0 { measured_s / active_s } else { 0.0 };
        flow.throughput_bps *= longer;
        flow.goodput_bps *= longer;
    }
    all
}

/// A contest's wire. For each packet, it draws the same random numbers as the simulated wire under
/// `seed`.
fn wire(dumbbell: &Dumbbell, law: &WireLaw, seed: u64) -> Lane {
    let delay_ns = dumbbell.delay.ns();
    Lane {
        flows_ns: vec![delay_ns; dumbbell.senders.len()],
        others_ns: delay_ns,
        faults: Faults::of(law, Seed(seed)),
        name: format!("wire/{}", dumbbell.name),
    }
}

/// The outcome of a contest.
pub struct Held {
    /// The counts at the link.
    pub counted: Counted,
    /// The report of the hosts.
    pub seen: HostCounts,
    /// The state of the link at each interval.
    pub snapshots: Vec<Snapshot>,
}

/// The counts of the link between the end of the warm-up and the end of the contest.
pub struct Counted {
    /// The measured time, by the clock.
    pub window: Duration,
    /// Per sender.
    pub flows: Vec<FlowCount>,
    /// The record of the link, which includes losses in addition to the discipline's drops.
    pub link: LinkRecord,
}

/// Adds frames that were lost before they were counted, if any, to the drops of `link`.
pub fn add_unseen(link: &mut LinkRecord, health: PortHealth) {
    let unseen = [("receive-overflow", health.overflows), ("receive-truncated", health.truncated)];
    add_losses(link, unseen);
}

/// Adds `losses` by name to the drops of `link`, except zero counts.
pub fn add_losses<'a>(link: &mut LinkRecord, losses: impl IntoIterator<Item = (&'a str, u64)>) {
    for (name, count) in losses.into_iter().filter(|(_, count)| *count > 0) {
        link.drops.insert(name.to_owned(), count);
    }
}

/// Converts the helpers' sockets to an array.
pub fn handed<const COUNT: usize>(sockets: Vec<OwnedFd>) -> Result<[OwnedFd; COUNT], TestbedError> {
    let count = sockets.len();
    sockets.try_into().map_err(|_| TestbedError::Helper {
        role: "network".to_owned(),
        operation: "handing over its sockets".to_owned(),
        reason: format!("{count} came, {COUNT} were expected"),
    })
}

/// Checks that this kernel's senders can run a contest of `dumbbell`.
///
/// The check tries each congestion control, because the kernel loads modules on demand.
pub fn check(dumbbell: &Dumbbell) -> Result<(), CannotRun> {
    let mut tried: Vec<&str> = Vec::new();
    for sender in &dumbbell.senders {
        let Sends::Tcp(control) = &sender.sends else { continue };
        if tried.contains(&control.as_str()) {
            continue;
        }
        tried.push(control);
        let Ok(socket) = socket(AddressFamily::INET, SocketType::STREAM, None) else { continue };
        // Other errors are ignored: the kernel may refuse a control to this user, but not to the
        // namespace's root.
        if let Err(Errno::NOENT | Errno::INVAL) = sockopt::set_tcp_congestion(&socket, control) {
            let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let available = list.unwrap_or_default().trim().replace(' ', ", ");
            let given =
                format!("this kernel's TCP has no congestion control `{control}` (of `{}`)", sender.group);
            return Err(CannotRun::lacking(given, available));
        }
    }
    Ok(())
}

/// A contest that failed.
#[derive(Debug, thiserror::Error)]
pub enum ContestError {
    /// The network could not be built, or its hosts failed.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A port of the gateway failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The gateway's process failed.
    #[error("{0}")]
    Gateway(String),
    /// A helper process did not answer in time.
    #[error("the lab's helpers did not get as far as {what} within {seconds} s")]
    Stalled {
        /// The step.
        what: &'static str,
        /// The time limit.
        seconds: u64,
    },
    /// This contest cannot run.
    #[error(transparent)]
    CannotRun(#[from] CannotRun),
    /// The sockets that watch the link missed packets, so the fate of these packets is unknown.
    #[error("{0} frames at the link were not seen in time: this machine is too busy for the link's rate")]
    Missed(u64),
    /// The caller requested the stop.
    #[error("the contest was stopped before its end")]
    Stopped,
}

impl ContestError {
    /// The error as a stage's result, which is `None` if the caller stopped the contest.
    pub fn stopped_or_failed<T>(self) -> Result<Option<T>, Failed> {
        match self {
            ContestError::Stopped => Ok(None),
            ContestError::CannotRun(why) => Err(why.into()),
            ContestError::Testbed(error @ (TestbedError::NoRights { .. } | TestbedError::NoVeth { .. })) => {
                Err(CannotRun::lacking(error.to_string(), "the stage `sim`, which needs no rights").into())
            }
            other => Err(Failed::Machine(other.to_string())),
        }
    }
}
