//! Linux's discipline and its TCP, in User Mode Linux, a separate program whose code is not copied.
//!
//! The clock is virtual (`examples/virtual_clock.rs`), so a run is independent of the machine's
//! load.

pub mod contest;
pub mod guest;
mod keeper;
mod modules;
mod network;
mod program;
mod qdisc;
mod sockets;
mod tally;
pub mod uml;
pub(crate) mod watched;

pub use modules::Modules;
pub use program::{Fallible, command};
pub use tally::{FlowTally, Tally};

use contest::{Class, Contest};
use fairwire_core::{Duration, Rate, Seed, WireLaw};
use fairwire_datapath::account::FlowCount;
use fairwire_experiment::dumbbell::{Dumbbell, Sender, check_device, check_stops, rates};
use fairwire_experiment::{About, CannotRun, Clock, Failed, Plan, Stage, Watch};
use fairwire_metrics::histogram::DelayHistogram;
use fairwire_metrics::record::{BacklogRecord, FlowRecord, LinkRecord, RunRecord, Sojourn, WireRecord};
use fairwire_testbed::path::{FaultCounts, Faults};
use fairwire_testbed::scratch::Scratch;
use fairwire_testbed::traffic::Sends;
use guest::Run;
pub(crate) use qdisc::Qdisc;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use uml::{Uml, UmlError, result};

/// Linux's discipline and its TCP, in User Mode Linux.
#[derive(Clone, Copy, Debug)]
pub struct Linux;

pub(crate) const ETHERNET: u32 = 14;
/// The timer resolution of Debian's guest kernel, which has 100 Hz.
const TICK: Duration = Duration::from_ms(10);
/// The maximum number of sender classes, each with a separate network.
const MAX_CLASSES: usize = 200;

impl Stage for Linux {
    fn about(&self) -> About {
        About {
            name: "linux",
            summary: "Linux's own discipline and TCP, in User Mode Linux on a virtual clock",
            clock: Clock::Virtual,
        }
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        contest(&Dumbbell::of(plan, 0)?, plan, 0)?;
        Ok(Uml::find().map(drop).map_err(missing)?)
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let uml = Uml::find().map_err(missing)?;
        let dumbbell = Dumbbell::of(plan, seed)?;
        let (contest, order) = contest(&dumbbell, plan, seed)?;
        let folder = Scratch::new("fairwire-guest-")
            .map_err(|error| Failed::Machine(format!("a scratch folder: {error}")))?;
        let work = serde_json::to_value(&contest).expect("plain data");
        let run = Run { name: "contest".into(), work };
        match uml.run(folder.path(), std::slice::from_ref(&run), &mut |done| watch.reached(done), stop) {
            Ok(()) => {}
            Err(UmlError::Stopped) => return Ok(None),
            Err(error) => return Err(Failed::Machine(error.to_string())),
        }
        let tally: Tally = result(folder.path(), &run).map_err(|error| Failed::Machine(error.to_string()))?;
        watch.reached(1.0);
        let window = plan.duration() - plan.warm_up();
        let flows = flow_records(&dumbbell, &order, &tally, window);
        let rate = dumbbell.law.mean(dumbbell.rate, plan.warm_up(), plan.duration());
        let mut link = link_record(&dumbbell.name, rate, &tally, window);
        let FaultCounts { lost, held_back, duplicated, .. } = tally.faults;
        link.wire = dumbbell.wire.is_some().then_some(WireRecord { lost, held_back, duplicated });
        Ok(Some(plan.record(seed, flows, None, link)))
    }
}

/// If this process belongs to a guest of this stage, takes over and does not return. Must be called
/// first in `main`.
pub fn take_over() {
    guest::take_over(&mut |run, modules, progress| {
        let contest: Contest = serde_json::from_value(run.work.clone())?;
        Ok(serde_json::to_vec(&contest.hold(modules, progress)?)?)
    });
}

fn missing(error: UmlError) -> CannotRun {
    CannotRun::lacking(error.to_string(), "another stage")
}

fn faults(law: &WireLaw, seed: u64) -> Result<Faults, CannotRun> {
    let WireLaw { delays: _, outages, delay_trace: _, loss, jitter, overtakes, reorder, duplicate } = law;
    let others = [loss.is_some(), jitter.is_some(), reorder.is_some()];
    let refusals = [
        (law.has_delays(), "a delay that changes", "a delay that stays, with `impair`"),
        (!outages.is_empty(), "an outage that loses", "a link that is never `down`"),
        (
            jitter.is_some() && !overtakes,
            "`jitter` that keeps the order",
            "`overtakes = true` beside it: what takes less time overtakes in netem",
        ),
        (
            jitter.as_ref().is_some_and(|jitter| jitter.correlation() != 0.0),
            "a `jitter_correlation`",
            "none: netem's own correlation makes the deviation smaller",
        ),
        (
            jitter.is_some() && reorder.is_some(),
            "`jitter` and `reorder` together",
            "one of the two: netem sends at once what it does not hold back",
        ),
        (
            *duplicate > 0.0 && others.contains(&true),
            "`duplicate` beside `loss`, `jitter` or `reorder`",
            "it alone: in netem a copy has a fate of its own",
        ),
    ];
    match refusals.into_iter().find(|(is_so, ..)| *is_so) {
        Some((_, given, allowed)) => Err(CannotRun::new(given, allowed)),
        None => Ok(Faults::of(law, Seed(seed))),
    }
}

/// The contest on `dumbbell`, and the sender index of each flow.
fn contest(dumbbell: &Dumbbell, plan: &Plan<'_>, seed: u64) -> Result<(Contest, Vec<usize>), CannotRun> {
    check_device(plan, "linux")?;
    let stops = dumbbell.senders.iter().find(|sender| sender.stop.is_some());
    check_stops(stops.map(|sender| &*sender.group), "linux")?;
    let changes =
        rates(&dumbbell.law, plan.duration())?.into_iter().map(|(at, rate)| (at.ns(), rate.bps())).collect();
    let qdisc = Qdisc::of(plan)?;
    let (classes, order) = classes(dumbbell);
    if classes.len() > MAX_CLASSES {
        let given =
            format!("{} kinds of senders, by what they send and their round-trip time", classes.len());
        return Err(CannotRun::new(given, format!("at most {MAX_CLASSES}")));
    }
    let contest = Contest {
        rate_bps: dumbbell.rate.bps(),
        changes,
        overhead: -ETHERNET.cast_signed(),
        mtu: dumbbell.mtu,
        discipline: qdisc.line(TICK),
        modules: qdisc.module.into_iter().map(String::from).collect(),
        classes,
        starts: order.iter().map(|&place| dumbbell.senders[place].start.ns()).collect(),
        warm_up_ns: plan.warm_up().ns(),
        duration_ns: plan.duration().ns(),
        faults: dumbbell.wire.as_ref().map(|law| faults(law, seed)).transpose()?,
    };
    Ok((contest, order))
}

/// Groups identical senders, in order of first occurrence. Returns the classes, and each flow's
/// sender index.
///
/// A class's round-trip time includes a packet's transmission time, since the kernel's shaper
/// releases packets when transmission starts.
fn classes(Dumbbell { senders, rate, mtu, .. }: &Dumbbell) -> (Vec<Class>, Vec<usize>) {
    let mut classes: Vec<(Class, Vec<usize>)> = Vec::new();
    for (place, sender) in senders.iter().enumerate() {
        let packet = match &sender.sends {
            Sends::Udp { counted, .. } => *counted,
            _ => *mtu,
        };
        let rtt = sender.rtt + rate.time_to_send(packet.into());
        let class = Class { sends: sender.sends.clone(), flows: 1, rtt_ns: rtt.ns(), ecn: sender.ecn };
        match classes.iter_mut().find(|(known, _)| *known == class) {
            Some((_, members)) => members.push(place),
            None => classes.push((class, vec![place])),
        }
    }
    let order = classes.iter().flat_map(|(_, members)| members.iter().copied()).collect();
    let counted = |(class, members): (Class, Vec<usize>)| Class { flows: members.len(), ..class };
    (classes.into_iter().map(counted).collect(), order)
}

/// The records of flows. Throughput counts the IP packets that left the bottleneck.
fn flow_records(dumbbell: &Dumbbell, order: &[usize], tally: &Tally, window: Duration) -> Vec<FlowRecord> {
    let senders = &dumbbell.senders;
    let mut places: Vec<usize> = vec![0; senders.len()];
    order.iter().enumerate().for_each(|(flow, &place)| places[place] = flow);
    let record = |(sender, flow): (&Sender, usize)| {
        let goodput_bps = tally.delivered_bytes[flow] as f64 * 8.0 / window.secs();
        let packets_lost = tally.faults.lost_of.get(flow).copied();
        let record = sender.record(&FlowCount::from(&tally.flows[flow]), window, goodput_bps);
        FlowRecord { packets_lost, ..record }
    };
    senders.iter().zip(places).map(record).collect()
}

impl From<&FlowTally> for FlowCount {
    /// Counts IP packets. The number of arrived bytes is unknown.
    fn from(flow: &FlowTally) -> Self {
        FlowCount {
            packets_in: flow.arrived,
            dropped: flow.dropped,
            marked: flow.marked,
            packets_out: flow.left,
            bytes_out: flow.left_bytes - flow.left * u64::from(ETHERNET),
            ..FlowCount::default()
        }
    }
}

pub(crate) fn link_record(name: &str, rate: Rate, tally: &Tally, window: Duration) -> LinkRecord {
    let packets: u64 = tally.flows.iter().map(|flow| flow.left).sum();
    let bytes: u64 = tally.flows.iter().map(|flow| flow.left_bytes - flow.left * u64::from(ETHERNET)).sum();
    // Little's law: the mean queue is the arrival rate times the mean wait.
    let mean_packets = tally.waits_ns.iter().sum::<u64>() as f64 / window.ns() as f64;
    let by_cause = |count: u64| {
        if count == 0 { BTreeMap::new() } else { BTreeMap::from([("linux".to_string(), count)]) }
    };
    LinkRecord {
        name: name.into(),
        rate_bps: rate.bps() as f64,
        utilization: (bytes as f64 * 8.0 / window.secs() / rate.bps() as f64).min(1.0),
        packets_in: tally.arrived,
        packets_out: packets,
        drops: by_cause(tally.dropped),
        marks: by_cause(tally.marked),
        sojourn: Some(sojourn(&tally.waits_ns)),
        wire: None,
        backlog: BacklogRecord {
            mean_packets,
            mean_bytes: if packets == 0 { 0.0 } else { mean_packets * bytes as f64 / packets as f64 },
            max_packets: Some(tally.most_waiting),
        },
    }
}

fn sojourn(waits_ns: &[u64]) -> Sojourn {
    let mut histogram = DelayHistogram::new();
    waits_ns.iter().for_each(|&ns| histogram.record(Duration::from_ns(ns)));
    histogram.sojourn()
}
