//! Holds a contest: starts the helpers, runs the gateway between them, and writes down who got what.

use super::LabError;
use super::samples::Samples;
use crate::dumbbell::Sender;
use crate::series::Series;
use crate::watch::Watch;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Duration, FlowHash, Rate, Time};
use fairwire_gateway::account::FlowCount;
use fairwire_gateway::classify::{Classifier, ETHERNET_HEADER_BYTES};
use fairwire_gateway::datapath::{Datapath, DatapathPlan, Wire};
use fairwire_gateway::direction::{DirectionPlan, ShaperPlan};
use fairwire_gateway::driver::{self, Next};
use fairwire_gateway::ledger::{Loss, Totals};
use fairwire_gateway::not_ip::default_rate;
use fairwire_gateway::pool::PoolSize;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortHealth};
use fairwire_metrics::record::{FlowRecord, LinkRecord};
use fairwire_testbed::bed::{SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::crew::Crew;
use fairwire_testbed::error::TestbedError;
use fairwire_testbed::message::Report;
use fairwire_testbed::traffic::{Flow, Seen, Sends, Slots, TCP_PORT, Traffic, UDP_PORT, port_of};
use fairwire_wire::flow_key::{FlowHasher, FlowKey, Tuple};
use fairwire_wire::headers::{Ports, TCP, UDP};
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// A contest, and what shares its link.
pub(super) struct Contest {
    pub plan: ContestPlan,
    pub discipline: Box<dyn Discipline>,
}

/// Who contends for what link, and for how long.
#[derive(Clone, Debug)]
pub(super) struct ContestPlan {
    /// The link's name in results.
    pub name: String,
    /// Its rate, counting IP packets.
    pub rate: Rate,
    /// How much may wait.
    pub buffer: Amount,
    /// The round-trip time without waiting; each direction is delayed by half of it.
    pub rtt: Duration,
    /// The longest IP packet.
    pub mtu: u32,
    /// Who sends.
    pub senders: Vec<Sender>,
    /// The whole length, warm-up included.
    pub duration: Duration,
    /// What is not measured, at the start.
    pub warm_up: Duration,
    /// How often series are sampled; `None` for never.
    pub every: Option<Duration>,
}

impl ContestPlan {
    /// What the hosts send. Counted is what arrives after the warm-up.
    fn traffic(&self) -> Traffic {
        let (warm_up_ns, duration_ns) = (self.warm_up.ns(), self.duration.ns());
        let flow = |sender: &Sender| Flow {
            group: sender.group.clone(),
            sends: sender.sends.clone(),
            from: Side::Left,
            source: SOURCE_ADDRESS.into(),
            destination: SINK_ADDRESS.into(),
            start_ns: sender.start.ns(),
            stop_ns: duration_ns,
            receiver_behind: None,
        };
        let slots = Slots { from_ns: warm_up_ns, each_ns: duration_ns - warm_up_ns, count: 1 };
        // The gateway counts what is on the link.
        Traffic {
            flows: self.senders.iter().map(flow).collect(),
            duration_ns,
            slots,
            is_tapped: false,
            tcp_every_ns: self.every.map(Duration::ns),
        }
    }
}

/// Holds `contest`, in which nothing is measured before `warm_up`, and tells who got what.
///
/// Takes as long as the contest and a few tenths of a second. `watch` follows it. When
/// `stop` becomes true the contest ends with [`LabError::Stopped`].
pub(super) fn hold(
    contest: Contest,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<(Vec<FlowRecord>, LinkRecord), LabError> {
    let Contest { plan, discipline } = contest;
    let mut referee = Referee::new(&plan, watch, stop)?;
    let mut wire = referee.wait_for_wire()?;
    let mut datapath = Datapath::new(gateway(&plan, &referee.classifier, discipline), clock::now());
    driver::run(&mut datapath, &mut wire, &mut |now, datapath| referee.look(now, datapath))?;
    let snapshots = std::mem::take(&mut referee.samples.taken);
    let (counted, seen) = referee.outcome()?;
    Series { link: &plan.name, rate: plan.rate, senders: &plan.senders, snapshots: &snapshots, seen: &seen }
        .give(watch);
    let flows = flow_records(&plan, &counted, &seen);
    let link = with_losses(counted.link, &counted.losses, wire.left.health());
    Ok((flows, link))
}

/// A busy machine may run us this much late without the link losing rate.
const CATCH_UP: Duration = Duration::from_ms(10);
/// Flows beside the contest's own: what the kernels say by themselves.
const OTHER_FLOWS: usize = 64;
/// Frames beside those that the queue and the delay line ask for: a discipline may have a buffer of its own.
const SPARE_FRAMES: f64 = 8192.0;

/// Towards the sink the contest's link; back only half of the round-trip time.
fn gateway(plan: &ContestPlan, classifier: &Classifier, discipline: Box<dyn Discipline>) -> DatapathPlan {
    let direction = |shaper| DirectionPlan {
        shaper,
        delay: Duration::from_ns(plan.rtt.ns() / 2),
        classifier: classifier.clone(),
        pool: pool_size(plan),
        flows: plan.senders.len() + OTHER_FLOWS,
        classes: 1,
        loss: None,
    };
    let not_ip = default_rate(plan.rate);
    let link = ShaperPlan { discipline, rate: plan.rate, catch_up: CATCH_UP, not_ip };
    DatapathPlan { forward: direction(Some(link)), backward: direction(None) }
}

/// Twice what fits the queue and the delay line with the longest packets, and some more for a burst; frames with a VLAN tag.
fn pool_size(plan: &ContestPlan) -> PoolSize {
    let travelling = plan.rtt.secs() / 2.0 * plan.rate.packets_per_second(plan.mtu);
    let waiting = plan.buffer.in_packets(plan.mtu, plan.rate);
    // At most a million, lest a wild contest take all memory; what does not fit is counted as lost.
    let frames = (2.0 * (travelling + waiting) + SPARE_FRAMES).min(1_048_576.0) as u32;
    PoolSize { frames, frame_bytes: plan.mtu + ETHERNET_HEADER_BYTES as u32 + 4 }
}

/// What the gateway counted between the end of the warm-up and the end of the contest.
struct Counted {
    /// How long it counted, by the clock.
    window: Duration,
    flows: Vec<FlowCount>,
    link: LinkRecord,
    losses: Totals,
}

enum Phase {
    /// The TCP connections are being made; until then at most.
    Connecting { until: Time },
    /// The contest began, or will begin, at `start`.
    Running { start: Time, warm: Option<Warm> },
    /// It is over, and the sink has still to report.
    Reporting { until: Time, counted: Counted },
    /// All is known.
    Done(Counted, Seen),
    /// It went wrong.
    Failed(LabError),
}

/// Where things stood when the warm-up was over.
struct Warm {
    at: Time,
    totals: Totals,
}

/// Leads a contest through its phases.
struct Referee<'a> {
    plan: &'a ContestPlan,
    watch: &'a mut dyn Watch,
    samples: Samples,
    stop: &'a AtomicBool,
    crew: Crew,
    classifier: Classifier,
    /// What the hosts saw, which may come a moment before we see that the contest is over.
    seen: Option<Seen>,
    phase: Option<Phase>,
}

/// How often the helpers and the stop flag are looked at.
const TICK: Duration = Duration::from_ms(20);
/// How long the helpers may take for each step of theirs: far more than they need.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between the order to start and the start.
const LEAD: Duration = Duration::from_ms(50);

impl<'a> Referee<'a> {
    fn new(plan: &'a ContestPlan, watch: &'a mut dyn Watch, stop: &'a AtomicBool) -> Result<Self, LabError> {
        // Counts IP packets alone, as the simulator does.
        let classifier = Classifier::new(FlowHasher::new(secret()), -ETHERNET_HEADER_BYTES);
        let phase = Some(Phase::Connecting { until: clock::now() + PATIENCE });
        let crew = Crew::start(plan.mtu, None, &plan.traffic())?;
        let flows = (0..plan.senders.len()).map(|flow| flow_hash(plan, &classifier, flow)).collect();
        let samples = Samples::new(plan.every, flows);
        Ok(Referee { plan, watch, samples, stop, crew, classifier, seen: None, phase })
    }

    /// The gateway's two ports, once the helpers have made them.
    fn wait_for_wire(&mut self) -> Result<Wire<AfPacket>, LabError> {
        let until = clock::now() + PATIENCE;
        while clock::now() < until && !self.is_to_stop() {
            match self.crew.next_report()? {
                Some((Report::Wired, sockets)) => return wire(sockets),
                _ => clock::sleep_until(clock::now() + Duration::from_ms(1)),
            }
        }
        Err(if self.is_to_stop() { LabError::Stopped } else { stalled("making the network") })
    }

    /// Asked by the driver now and then, and at the times that it names.
    fn look(&mut self, now: Time, datapath: &mut Datapath) -> Next {
        let phase = self.phase.take().expect("a phase follows every phase");
        let phase = match self.follow(phase, now, datapath) {
            Ok(phase) => phase,
            Err(error) => Phase::Failed(error),
        };
        let next = self.next(&phase, now);
        self.phase = Some(phase);
        next
    }

    fn follow(&mut self, phase: Phase, now: Time, datapath: &mut Datapath) -> Result<Phase, LabError> {
        if self.is_to_stop() {
            return Err(LabError::Stopped);
        }
        let is_connected = match self.crew.next_report()? {
            Some((Report::Seen(seen), _)) => {
                self.seen = Some(seen);
                false
            }
            report => matches!(report, Some((Report::Connected, _))),
        };
        match phase {
            Phase::Connecting { .. } if is_connected => self.begin(now),
            Phase::Connecting { until } if now > until => Err(stalled("connecting")),
            Phase::Running { start, warm } => Ok(self.run(start, warm, now, datapath)),
            Phase::Reporting { until, counted } => match self.seen.take() {
                Some(seen) => Ok(Phase::Done(counted, seen)),
                None if now > until => Err(stalled("the hosts' reports")),
                None => Ok(Phase::Reporting { until, counted }),
            },
            phase => Ok(phase),
        }
    }

    fn begin(&mut self, now: Time) -> Result<Phase, LabError> {
        let start = now + LEAD;
        self.crew.begin(start)?;
        Ok(Phase::Running { start, warm: None })
    }

    fn run(&mut self, start: Time, warm: Option<Warm>, now: Time, datapath: &mut Datapath) -> Phase {
        let end = start + self.plan.duration;
        self.watch.reached((now.max(start).since(start).secs() / self.plan.duration.secs()).min(1.0));
        self.samples.take(start, now, &datapath.forward);
        match warm {
            None if now >= start + self.plan.warm_up => {
                self.samples.restart(&datapath.forward);
                datapath.restart_measuring(now);
                let warm = Warm { at: now, totals: *datapath.forward.totals() };
                Phase::Running { start, warm: Some(warm) }
            }
            Some(warm) if now >= end => {
                let counted = self.count(&warm, now, datapath);
                Phase::Reporting { until: now + PATIENCE, counted }
            }
            warm => Phase::Running { start, warm },
        }
    }

    fn count(&self, warm: &Warm, now: Time, datapath: &Datapath) -> Counted {
        let forward = &datapath.forward;
        let flow = |flow| forward.accounts().of(flow_hash(self.plan, &self.classifier, flow));
        Counted {
            window: now.since(warm.at),
            flows: (0..self.plan.senders.len()).map(flow).collect(),
            link: forward.link_record(&self.plan.name, now).expect("the way to the sink is shaped"),
            losses: losses_since(&warm.totals, forward.totals()),
        }
    }

    /// When to be asked again: soon, and exactly at the end of the warm-up and of the contest.
    fn next(&self, phase: &Phase, now: Time) -> Next {
        let soon = now + TICK;
        match phase {
            Phase::Running { start, warm } => {
                let until = if warm.is_none() { self.plan.warm_up } else { self.plan.duration };
                Next::AskAt(soon.min(*start + until).min(self.samples.due(*start)))
            }
            Phase::Connecting { .. } | Phase::Reporting { .. } => Next::AskAt(soon),
            Phase::Done(..) | Phase::Failed(_) => Next::Stop,
        }
    }

    fn outcome(self) -> Result<(Counted, Seen), LabError> {
        match self.phase {
            Some(Phase::Done(counted, seen)) => Ok((counted, seen)),
            Some(Phase::Failed(error)) => Err(error),
            _ => unreachable!("the driver stops only when the contest is done or has failed"),
        }
    }

    fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn stalled(what: &'static str) -> LabError {
    LabError::Stalled { what, seconds: PATIENCE.ns() / 1_000_000_000 }
}

fn wire(sockets: Vec<OwnedFd>) -> Result<Wire<AfPacket>, LabError> {
    let count = sockets.len();
    let [left, right]: [OwnedFd; 2] = sockets.try_into().map_err(|_| TestbedError::Helper {
        role: "network".to_owned(),
        operation: "handing over its packet sockets".to_owned(),
        reason: format!("{count} came, 2 were expected"),
    })?;
    Ok(Wire { left: AfPacket::from_socket(left, "g0"), right: AfPacket::from_socket(right, "g1") })
}

/// A key that no sender knows, from the standard library's random hasher, which the system seeds.
fn secret() -> [u8; 16] {
    let half = |salt: u8| RandomState::new().hash_one(salt).to_ne_bytes();
    let mut key = [0; 16];
    key[..8].copy_from_slice(&half(0));
    key[8..].copy_from_slice(&half(1));
    key
}

fn flow_hash(plan: &ContestPlan, classifier: &Classifier, flow: usize) -> FlowHash {
    let is_tcp = matches!(plan.senders[flow].sends, Sends::Tcp(_));
    let (protocol, destination) = if is_tcp { (TCP, TCP_PORT) } else { (UDP, UDP_PORT) };
    classifier.flow(&FlowKey::Ipv4(Tuple {
        source: SOURCE_ADDRESS,
        destination: SINK_ADDRESS,
        protocol,
        ports: Some(Ports { source: port_of(flow), destination }),
    }))
}

/// Throughput is what left the gateway for the sink, which with all drops before it is what the sink gets: bytes that arrive
/// twice are below a thousandth. Goodput is what the sink's programs got. The sink's own count is no measure of a link's
/// share in a short contest, for data from the warm-up waits there for its gaps to be filled, and then comes all at once.
fn flow_records(plan: &ContestPlan, counted: &Counted, seen: &Seen) -> Vec<FlowRecord> {
    let window = plan.duration - plan.warm_up;
    let flows = plan.senders.iter().zip(counted.flows.iter().zip(&seen.flows));
    flows
        .map(|(sender, (count, seen))| FlowRecord {
            name: sender.name.clone().into(),
            group: sender.group.as_str().into(),
            kind: sender.kind.as_str().into(),
            offered_bps: sender.offered_bps(),
            throughput_bps: count.bytes_out as f64 * 8.0 / counted.window.secs(),
            goodput_bps: seen.payload_bytes.iter().sum::<u64>() as f64 * 8.0 / window.secs(),
            packets_sent: count.packets_in,
            packets_dropped: count.dropped,
            packets_marked: count.marked,
            timeouts: None,
            loss_episodes: None,
            timeout_episodes: None,
        })
        .collect()
}

fn losses_since(before: &Totals, now: &Totals) -> Totals {
    let mut losses = *now;
    for (loss, before) in losses.lost.iter_mut().zip(before.lost) {
        *loss -= before;
    }
    losses
}

/// Joins what the gateway lost by itself, if it did, to the discipline's drops.
fn with_losses(mut link: LinkRecord, losses: &Totals, health: PortHealth) -> LinkRecord {
    let lost = Loss::ALL.iter().map(|loss| (loss.name(), losses.lost[*loss as usize]));
    let unseen = [("receive-overflow", health.overflows), ("receive-truncated", health.truncated)];
    for (name, count) in lost.chain(unseen).filter(|(_, count)| *count > 0) {
        link.drops.insert(name.to_owned(), count);
    }
    link
}
