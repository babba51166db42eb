//! Coordinates the hosts of a contest through its phases.

use super::{ContestError, ContestPlan, Counted};
use crate::view::View;
use crate::watch::Watch;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_testbed::message::{AtGateway, BuilderMessage};
use fairwire_testbed::processes::BedProcesses;
use fairwire_testbed::traffic::HostCounts;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts the packets on the link, for a contest.
pub trait Meter {
    /// Called several times a second, from `start` to the end, while flows send.
    fn look(&mut self, start: Time, now: Time) -> Result<(), ContestError>;

    /// The time when `look` must be called next, in a contest that began at `start`. `Time::MAX` if
    /// there is no exact time.
    fn due(&self, _start: Time) -> Time {
        Time::MAX
    }

    /// The current view of the link, if one is due and the meter provides views. Called only if the
    /// link is watched.
    fn view(&mut self, _start: Time, _now: Time) -> Option<View> {
        None
    }

    /// Called when measuring starts.
    fn begin(&mut self, now: Time) -> Result<(), ContestError>;

    /// Called repeatedly when measuring ends, until it returns the counts since the start of
    /// measuring.
    fn end(&mut self, now: Time) -> Result<Option<Counted>, ContestError>;
}

/// When to poll the coordinator again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At this time.
    At(Time),
    /// Never: the contest has ended or failed.
    Over,
}

/// Starts the hosts and their flows, and decides when to count.
pub struct Coordinator<'a> {
    plan: &'a ContestPlan,
    watch: &'a mut dyn Watch,
    stop: &'a AtomicBool,
    bed: BedProcesses,
    /// The hosts' report, which may arrive before the link's counts.
    seen: Option<HostCounts>,
    phase: Option<Phase>,
}

enum Phase {
    /// The hosts wait for the TCP connections, at most until this time.
    Connecting {
        until: Time,
    },
    Running {
        start: Time,
        is_measured: bool,
    },
    Reporting {
        until: Time,
        counted: Counted,
    },
    Done(Counted, HostCounts),
    Failed(ContestError),
}

/// The interval at which the helpers and the stop flag are checked.
const TICK: Duration = Duration::from_ms(20);
/// The time limit for each step of the helpers, far above their needs.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between the start command and the start of the flows.
const LEAD: Duration = Duration::from_ms(50);

impl<'a> Coordinator<'a> {
    /// Starts the helpers, which build the network with the gateway in it.
    pub fn new(
        plan: &'a ContestPlan,
        at_gateway: AtGateway,
        watch: &'a mut dyn Watch,
        stop: &'a AtomicBool,
    ) -> Result<Self, ContestError> {
        let bed = BedProcesses::start(plan.mtu, Some(plan.path()), at_gateway)?;
        let phase = Some(Phase::Connecting { until: clock::now() + PATIENCE });
        Ok(Coordinator { plan, watch, stop, bed, seen: None, phase })
    }

    /// Waits until the helpers have built the network; returns the descriptors that they hand over.
    pub fn wait_for_wire(&mut self) -> Result<Vec<OwnedFd>, ContestError> {
        self.wait_for("making the network", &mut |report| match report {
            Some((BuilderMessage::Wired, sockets)) => Some(sockets),
            _ => None,
        })
    }

    /// Waits until the gateway `is_ready`.
    pub fn wait_for_gateway(&mut self, is_ready: &dyn Fn() -> bool) -> Result<(), ContestError> {
        self.wait_for("starting the gateway", &mut |_| is_ready().then_some(()))
    }

    fn wait_for<T>(
        &mut self,
        what: &'static str,
        found: &mut dyn FnMut(Option<(BuilderMessage, Vec<OwnedFd>)>) -> Option<T>,
    ) -> Result<T, ContestError> {
        let until = clock::now() + PATIENCE;
        while clock::now() < until {
            if self.is_to_stop() {
                return Err(ContestError::Stopped);
            }
            if let Some(found) = found(self.bed.next_report()?) {
                return Ok(found);
            }
            clock::sleep_until(clock::now() + Duration::from_ms(1));
        }
        Err(stalled(what))
    }

    /// Connects the flows; from now on, [`follow`](Coordinator::follow) controls the contest.
    pub fn connect(&mut self) -> Result<(), ContestError> {
        self.phase = Some(Phase::Connecting { until: clock::now() + PATIENCE });
        Ok(self.bed.connect(&self.plan.traffic())?)
    }

    /// Performs the work due `now`.
    pub fn follow(&mut self, now: Time, meter: &mut dyn Meter) -> Next {
        let phase = self.phase.take().expect("a phase follows every phase");
        let phase = match self.next_phase(phase, now, meter) {
            Ok(phase) => phase,
            Err(error) => Phase::Failed(error),
        };
        let next = self.next(&phase, now, meter);
        self.phase = Some(phase);
        next
    }

    fn next_phase(&mut self, phase: Phase, now: Time, meter: &mut dyn Meter) -> Result<Phase, ContestError> {
        if self.is_to_stop() {
            return Err(ContestError::Stopped);
        }
        let is_connected = match self.bed.next_report()? {
            Some((BuilderMessage::Counted(seen), _)) => {
                self.seen = Some(seen);
                false
            }
            report => matches!(report, Some((BuilderMessage::Connected, _))),
        };
        match phase {
            Phase::Connecting { .. } if is_connected => self.begin(now),
            Phase::Connecting { until } if now > until => Err(stalled("connecting")),
            Phase::Running { start, is_measured } => self.run(start, is_measured, now, meter),
            Phase::Reporting { until, counted } => match self.seen.take() {
                Some(seen) => Ok(Phase::Done(counted, seen)),
                None if now > until => Err(stalled("the hosts' reports")),
                None => Ok(Phase::Reporting { until, counted }),
            },
            phase => Ok(phase),
        }
    }

    fn begin(&mut self, now: Time) -> Result<Phase, ContestError> {
        let start = now + LEAD;
        self.bed.begin(start)?;
        Ok(Phase::Running { start, is_measured: false })
    }

    fn run(
        &mut self,
        start: Time,
        is_measured: bool,
        now: Time,
        meter: &mut dyn Meter,
    ) -> Result<Phase, ContestError> {
        let end = start + self.plan.duration;
        self.watch.reached((now.max(start).since(start).secs() / self.plan.duration.secs()).min(1.0));
        meter.look(start, now)?;
        if self.watch.wants_views()
            && let Some(view) = meter.view(start, now)
        {
            self.watch.view(view);
        }
        if !is_measured && now >= start + self.plan.warm_up {
            meter.begin(now)?;
            return Ok(Phase::Running { start, is_measured: true });
        }
        let counted = if is_measured && now >= end { meter.end(now)? } else { None };
        match counted {
            Some(counted) => Ok(Phase::Reporting { until: now + PATIENCE, counted }),
            None if now > end + PATIENCE => Err(stalled("counting")),
            None => Ok(Phase::Running { start, is_measured }),
        }
    }

    fn next(&self, phase: &Phase, now: Time, meter: &dyn Meter) -> Next {
        let soon = now + TICK;
        let due = |time: Time| if time > now { time.min(soon) } else { soon };
        match phase {
            Phase::Running { start, is_measured } => {
                let until = if *is_measured { self.plan.duration } else { self.plan.warm_up };
                Next::At(due(*start + until).min(meter.due(*start)))
            }
            Phase::Connecting { .. } | Phase::Reporting { .. } => Next::At(soon),
            Phase::Done(..) | Phase::Failed(_) => Next::Over,
        }
    }

    /// The outcome.
    pub fn outcome(mut self) -> Result<(Counted, HostCounts), ContestError> {
        match self.phase.take() {
            Some(Phase::Done(counted, seen)) => Ok((counted, seen)),
            Some(Phase::Failed(error)) => Err(self.cause_of(error)),
            _ => unreachable!("the caller stops only when the contest is done or has failed"),
        }
    }

    /// Returns the cause of `error` if the cause is reported within 0.5 s, or else `error`. A
    /// request to an ended gateway fails before the gateway's parent reports the cause.
    pub(crate) fn cause_of(&mut self, error: ContestError) -> ContestError {
        let until = clock::now() + Duration::from_ms(500);
        let may_have_another = matches!(error, ContestError::Gateway(_) | ContestError::Port(_));
        while may_have_another && clock::now() < until {
            if let Err(cause) = self.bed.next_report() {
                return cause.into();
            }
            clock::sleep_until(clock::now() + TICK);
        }
        error
    }

    fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn stalled(what: &'static str) -> ContestError {
    ContestError::Stalled { what, seconds: PATIENCE.ns() / 1_000_000_000 }
}
