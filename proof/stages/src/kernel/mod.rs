//! The queueing discipline and the TCP of this machine's kernel, between network namespaces.
//!
//! The hosts and the path between them are [processes](fairwire_testbed::processes), as on the
//! stage `lab`, but the kernel forwards over a bridge. On the bridge's port towards the sink, HTB
//! sets the rate, and the discipline is below HTB.

mod samples;

use crate::linux::watched::{Passing, WatchedPackets};
use crate::linux::{self, ETHERNET, Tally};
use fairwire_core::{Duration, Time};
use fairwire_datapath::account::FlowCount;
use fairwire_experiment::contest::{
    self, ContestError, ContestPlan, Coordinator, Counted, Held, Meter, Next, handed,
};
use fairwire_experiment::dumbbell::{Dumbbell, check_device, rates};
use fairwire_experiment::{About, CannotRun, Clock, Failed, Plan, Stage, Watch};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{Port, PortError};
use fairwire_metrics::record::RunRecord;
use fairwire_testbed::error::TestbedError;
use fairwire_testbed::message::AtGateway;
use fairwire_testbed::shaping::Shaping;
use fairwire_testbed::traffic::port_of;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_getres};
use samples::Samples;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;

/// This kernel's discipline and its TCP.
#[derive(Clone, Copy, Debug)]
pub struct Kernel;

/// The lost time for which HTB may compensate with a burst, as on the stage `lab`.
const CATCH_UP: Duration = Duration::from_ms(10);
/// The time after the end within which every queued packet leaves or is dropped.
const DRAIN: Duration = Duration::from_secs(2);

impl Stage for Kernel {
    fn about(&self) -> About {
        About {
            name: "kernel",
            summary: "the same under this kernel's own discipline, where it has that",
            clock: Clock::Machine,
        }
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        check_device(plan, "kernel")?;
        let dumbbell = Dumbbell::of(plan, 0)?;
        let at_gateway = at_gateway(plan, &dumbbell)?;
        contest::check(&dumbbell)?;
        // The discipline may be a module, so only using it shows whether the kernel has it.
        let contest = ContestPlan::of(plan, 0, &dumbbell);
        let (mut unwatched, never) = (|_: f64| {}, AtomicBool::new(false));
        let tried = Coordinator::new(&contest, at_gateway, &mut unwatched, &never)
            .and_then(|mut coordinator| coordinator.wait_for_wire().map(drop));
        tried.or_else(|error| refused(error).stopped_or_failed().map(|_: Option<()>| ()))
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let dumbbell = Dumbbell::of(plan, seed)?;
        let at_gateway = at_gateway(plan, &dumbbell)?;
        let contest = ContestPlan::watched(plan, seed, &dumbbell, watch)?;
        let held = hold(&contest, at_gateway, watch, stop);
        contest.outcome(plan, held.map_err(refused), watch)
    }
}

fn at_gateway(plan: &Plan<'_>, dumbbell: &Dumbbell) -> Result<AtGateway, CannotRun> {
    let changes =
        rates(&dumbbell.law, plan.duration())?.into_iter().map(|(at, rate)| (at.ns(), rate.bps())).collect();
    let rate_bps = dumbbell.rate.bps();
    Ok(AtGateway::Kernel(Shaping {
        rate_bps,
        changes,
        overhead: -ETHERNET.cast_signed(),
        burst_bytes: (rate_bps as f64 / 8.0 * CATCH_UP.secs()) as u64,
        discipline: linux::Qdisc::of(plan)?.line(tick()),
    }))
}

/// The kernel's timer resolution.
fn tick() -> Duration {
    // The coarse clock advances with each timer tick.
    let resolution = clock_getres(ClockId::MonotonicCoarse);
    Duration::from_ns(resolution.tv_nsec.unsigned_abs())
}

/// Reports failed shaping as a missing feature of the machine.
fn refused(error: ContestError) -> ContestError {
    match error {
        ContestError::Testbed(TestbedError::Helper { role, operation, reason }) if role == "gateway" => {
            let allowed = "iproute2, and a kernel with HTB and this discipline; the stage `linux` brings one";
            CannotRun::lacking(format!("`{operation}` failed ({reason})"), allowed).into()
        }
        other => other,
    }
}

fn hold(
    plan: &ContestPlan,
    at_gateway: AtGateway,
    watch: &mut dyn Watch,
    stop: &AtomicBool,
) -> Result<Held, ContestError> {
    let mut coordinator = Coordinator::new(plan, at_gateway, watch, stop)?;
    let mut ends = Ends::new(plan, coordinator.wait_for_wire()?)?;
    coordinator.connect()?;
    while let Next::At(time) = coordinator.follow(clock::now(), &mut ends) {
        ends.watch_until(time)?;
    }
    let (counted, seen) = coordinator.outcome()?;
    Ok(Held { counted, seen, snapshots: ends.samples.map_or(Vec::new(), |samples| samples.taken) })
}

struct Ends<'a> {
    plan: &'a ContestPlan,
    entry: AfPacket,
    exit: AfPacket,
    /// The packets observed since the contest started.
    seen: Option<WatchedPackets>,
    /// Departures received but not matched yet.
    leaving: Vec<Passing>,
    samples: Option<Samples>,
}

impl<'a> Ends<'a> {
    fn new(plan: &'a ContestPlan, sockets: Vec<OwnedFd>) -> Result<Self, ContestError> {
        let [came, left, netlink] = handed(sockets)?;
        let (entry, exit) = (AfPacket::from_socket(came, "g0"), AfPacket::from_socket(left, "p0"));
        let samples =
            plan.every.map(|every| Samples::new(every, plan.duration, netlink.into(), plan.senders.len()));
        Ok(Ends { plan, entry, exit, seen: None, leaving: Vec::new(), samples })
    }

    fn watch_until(&mut self, time: Time) -> Result<(), ContestError> {
        while let Some(idle) = Some(time.since(clock::now())).filter(|idle| *idle > Duration::ZERO) {
            let mut waits = [&self.entry, &self.exit].map(|port| PollFd::new(port, PollFlags::IN));
            match poll(&mut waits, Some(&clock::timespec(idle.ns()))) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => {
                    let (operation, name) = ("waiting", "g0".to_owned());
                    return Err(PortError::System { operation, source: error.into(), name }.into());
                }
            }
            self.watch()?;
        }
        Ok(())
    }

    fn watch(&mut self) -> Result<(), PortError> {
        let Ends { entry, exit, seen, leaving, samples, .. } = self;
        // Departures are received first but matched last, so the arrival of each departed packet is
        // known.
        exit.receive(&mut |frame, _| leaving.extend(seen.iter().find_map(|seen| seen.passing(frame))))?;
        let now = clock::now();
        let mut is_empty = false;
        while !is_empty {
            is_empty = true;
            entry.receive(&mut |frame, _| {
                is_empty = false;
                if let Some(seen) = seen
                    && let Some(packet) = seen.passing(frame)
                {
                    seen.came(packet, now);
                    samples.iter_mut().for_each(|samples| samples.came(seen.number(packet.port), packet));
                }
            })?;
        }
        for packet in leaving.drain(..) {
            let Some(seen) = seen else { continue };
            seen.left(packet, now);
            samples.iter_mut().for_each(|samples| samples.left(seen.number(packet.port), packet));
        }
        Ok(())
    }
}

impl Meter for Ends<'_> {
    fn look(&mut self, start: Time, now: Time) -> Result<(), ContestError> {
        let ContestPlan { warm_up, duration, ref senders, .. } = *self.plan;
        let measured = start + warm_up..start + duration;
        self.seen.get_or_insert_with(|| WatchedPackets::new(port_of(0), senders.len(), measured));
        self.samples.iter_mut().try_for_each(|samples| samples.take(start, now))
    }

    fn due(&self, start: Time) -> Time {
        self.samples.as_ref().map_or(Time::MAX, |samples| samples.due(start))
    }

    fn begin(&mut self, _now: Time) -> Result<(), ContestError> {
        Ok(())
    }

    fn end(&mut self, now: Time) -> Result<Option<Counted>, ContestError> {
        if !self.seen.as_ref().is_some_and(|seen| seen.is_settled(now, DRAIN)) {
            return Ok(None);
        }
        let missed: u64 = [&mut self.entry, &mut self.exit].map(|port| port.health().overflows).iter().sum();
        if missed > 0 {
            return Err(ContestError::Missed(missed));
        }
        let window = self.plan.duration - self.plan.warm_up;
        Ok(self.seen.take().map(|seen| counted(self.plan, &seen.finish(), window)))
    }
}

fn counted(plan: &ContestPlan, tally: &Tally, window: Duration) -> Counted {
    let flows = tally.flows.iter().map(FlowCount::from).collect();
    Counted { window, flows, link: linux::link_record(&plan.name, plan.mean_rate(), tally, window) }
}
