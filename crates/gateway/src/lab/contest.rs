//! Holds a contest: starts the helpers, runs the gateway between them, and writes down who got what.

use super::error::LabError;
use super::plan::Contest;
use crate::account::FlowCount;
use crate::classify::{Classifier, ETHERNET_HEADER_BYTES};
use crate::datapath::{Datapath, DatapathPlan, Wire};
use crate::direction::{DirectionPlan, ShaperPlan};
use crate::driver::{self, Next};
use crate::ledger::{Loss, Totals};
use crate::not_ip::default_rate;
use crate::pool::PoolSize;
use fairwire_catalogue::{self as catalogue, BuildError, Site};
use fairwire_core::{Discipline, Duration, FlowHash, Seed, Time};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortHealth};
use fairwire_metrics::fairness::assess;
use fairwire_metrics::record::{FlowRecord, LinkRecord, RunRecord};
use fairwire_testbed::bed::{SINK_ADDRESS, SOURCE_ADDRESS};
use fairwire_testbed::crew::Crew;
use fairwire_testbed::error::TestbedError;
use fairwire_testbed::message::Report;
use fairwire_testbed::traffic::{Seen, TCP_PORT, UDP_PORT, port_of};
use fairwire_wire::flow_key::{FlowHasher, FlowKey, Tuple};
use fairwire_wire::headers::{Ports, TCP, UDP};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Holds `contest` and tells who got what.
///
/// Takes as long as the contest and a few tenths of a second. `progress` is told the part done, 0 to 1, some times a second.
/// When `stop` becomes true the contest ends with [`LabError::Stopped`]. The program must hand its `lab-agent` command over
/// to [`agent::main`](fairwire_testbed::agent::main).
pub fn share(
    contest: &Contest,
    progress: &mut dyn FnMut(f64),
    stop: &AtomicBool,
) -> Result<RunRecord, LabError> {
    contest.check()?;
    check_congestion_control(&contest.congestion_control)?;
    let name = catalogue::find(&contest.discipline).map_err(BuildError::from)?.name;
    let discipline = build_discipline(contest)?;
    let mut referee = Referee::new(contest, progress, stop)?;
    let mut wire = referee.wait_for_wire()?;
    let mut datapath = Datapath::new(gateway(contest, &referee.classifier, discipline), clock::now());
    driver::run(&mut datapath, &mut wire, &mut |now, datapath| referee.watch(now, datapath))?;
    let (counted, seen) = referee.outcome()?;
    let flows = flow_records(contest, &counted, &seen);
    let link = with_losses(counted.link, &counted.losses, wire.left.health());
    let fairness = assess(&flows, contest.rate.bps() as f64);
    Ok(RunRecord {
        discipline: name.to_owned(),
        seed: contest.seed,
        flows,
        links: vec![link],
        transfers: Vec::new(),
        aggregates: Vec::new(),
        fairness,
        events: None,
    })
}

/// The kernel loads a congestion control that it has as a module, so asking is the only way to know.
fn check_congestion_control(given: &str) -> Result<(), LabError> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)
        .map_err(|error| TestbedError::System { operation: "opening a TCP socket", source: error.into() })?;
    match sockopt::set_tcp_congestion(&socket, given) {
        Err(Errno::NOENT | Errno::INVAL) => {
            let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let available = list.unwrap_or_default().trim().replace(' ', ", ");
            Err(LabError::NoCongestionControl { given: given.to_owned(), available })
        }
        // A user may be refused here what the root of the lab's own namespace is allowed.
        _ => Ok(()),
    }
}

fn build_discipline(contest: &Contest) -> Result<Box<dyn Discipline>, LabError> {
    let site = Site {
        rate: contest.rate,
        buffer: contest.buffer,
        packet_bytes: contest.packet_bytes,
        seed: Seed(contest.seed),
        stream: "link/bottleneck",
    };
    Ok(fairwire_catalogue::build(&contest.discipline, &contest.parameters, &site)?)
}

/// A busy machine may run us this much late without the link losing rate.
const CATCH_UP: Duration = Duration::from_ms(10);
/// Flows beside the contest's own: what the kernels say by themselves.
const OTHER_FLOWS: usize = 64;

/// Towards the sink the contest's link; back only half of the round-trip time.
fn gateway(contest: &Contest, classifier: &Classifier, discipline: Box<dyn Discipline>) -> DatapathPlan {
    let direction = |shaper| DirectionPlan {
        shaper,
        delay: Duration::from_ns(contest.rtt.ns() / 2),
        classifier: classifier.clone(),
        pool: pool_size(contest),
        flows: contest.tcp_flows as usize + 1 + OTHER_FLOWS,
        classes: 1,
        loss: None,
    };
    let not_ip = default_rate(contest.rate);
    let link = ShaperPlan { discipline, rate: contest.rate, catch_up: CATCH_UP, not_ip };
    DatapathPlan { forward: direction(Some(link)), backward: direction(None) }
}

/// Twice what fits the queue and the delay line with typical packets, and some more for a burst; frames with a VLAN tag.
fn pool_size(contest: &Contest) -> PoolSize {
    let travelling = contest.rtt.secs() / 2.0 * contest.rate.packets_per_second(contest.packet_bytes);
    let waiting = contest.buffer.in_packets(contest.packet_bytes, contest.rate);
    // At most a million, lest a wild contest take all memory; what does not fit is counted as lost.
    let frames = (2.0 * (travelling + waiting) + 1024.0).min(1_048_576.0) as u32;
    PoolSize { frames, frame_bytes: contest.mtu() + ETHERNET_HEADER_BYTES as u32 + 4 }
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
    contest: &'a Contest,
    progress: &'a mut dyn FnMut(f64),
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
    fn new(
        contest: &'a Contest,
        progress: &'a mut dyn FnMut(f64),
        stop: &'a AtomicBool,
    ) -> Result<Self, LabError> {
        // Counts IP packets alone, as the simulator does.
        let classifier = Classifier::new(FlowHasher::new(secret()), -ETHERNET_HEADER_BYTES);
        let phase = Some(Phase::Connecting { until: clock::now() + PATIENCE });
        let crew = Crew::start(contest.mtu(), &contest.traffic())?;
        Ok(Referee { contest, progress, stop, crew, classifier, seen: None, phase })
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
    fn watch(&mut self, now: Time, datapath: &mut Datapath) -> Next {
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
        let end = start + self.contest.duration;
        (self.progress)((now.since(start).secs() / self.contest.duration.secs()).min(1.0));
        match warm {
            None if now >= start + self.contest.warm_up => {
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
        let flow = |flow| forward.accounts().of(flow_hash(self.contest, &self.classifier, flow));
        Counted {
            window: now.since(warm.at),
            flows: (0..=self.contest.tcp_flows).map(flow).collect(),
            link: forward.link_record("bottleneck", now).expect("the way to the sink is shaped"),
            losses: losses_since(&warm.totals, forward.totals()),
        }
    }

    /// When to be asked again: soon, and exactly at the end of the warm-up and of the contest.
    fn next(&self, phase: &Phase, now: Time) -> Next {
        let soon = now + TICK;
        match phase {
            Phase::Running { start, warm: None } => Next::AskAt(soon.min(*start + self.contest.warm_up)),
            Phase::Running { start, .. } => Next::AskAt(soon.min(*start + self.contest.duration)),
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

fn flow_hash(contest: &Contest, classifier: &Classifier, flow: u32) -> FlowHash {
    let (protocol, destination) = if flow < contest.tcp_flows { (TCP, TCP_PORT) } else { (UDP, UDP_PORT) };
    classifier.flow(&FlowKey::Ipv4(Tuple {
        source: SOURCE_ADDRESS,
        destination: SINK_ADDRESS,
        protocol,
        ports: Some(Ports { source: port_of(flow as usize), destination }),
    }))
}

/// Throughput is what left the gateway for the sink, which with all drops before it is what the sink gets: bytes that arrive
/// twice are below a thousandth. Goodput is what the sink's programs got. The sink's own count is no measure of a link's
/// share in a short contest, for data from the warm-up waits there for its gaps to be filled, and then comes all at once.
fn flow_records(contest: &Contest, counted: &Counted, seen: &Seen) -> Vec<FlowRecord> {
    let window = contest.duration - contest.warm_up;
    let flows = (0..).zip(counted.flows.iter().zip(&seen.flows));
    flows
        .map(|(flow, (count, seen))| FlowRecord {
            throughput_bps: count.bytes_out as f64 * 8.0 / counted.window.secs(),
            goodput_bps: seen.payload_bytes.iter().sum::<u64>() as f64 * 8.0 / window.secs(),
            packets_sent: count.packets_in,
            packets_dropped: count.dropped,
            packets_marked: count.marked,
            ..named(contest, flow)
        })
        .collect()
}

/// Who flow `flow` is, before anything is known of what it got.
fn named(contest: &Contest, flow: u32) -> FlowRecord {
    let (name, group) = contest.name_of(flow);
    let is_tcp = flow < contest.tcp_flows;
    FlowRecord {
        name: name.into(),
        group: group.into(),
        kind: if is_tcp { format!("bulk {}", contest.congestion_control).into() } else { "cbr".into() },
        offered_bps: (!is_tcp).then(|| contest.udp_rate.bps() as f64),
        throughput_bps: 0.0,
        goodput_bps: 0.0,
        packets_sent: 0,
        packets_dropped: 0,
        packets_marked: 0,
        timeouts: None,
        loss_episodes: None,
        timeout_episodes: None,
    }
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
