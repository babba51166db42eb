//! Coordinates the hosts of a contest through its phases.

use super::{ContestError, ContestPlan, Counted};
use crate::view::View;
use crate::watch::Watch;
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_testbed::message::{AtGateway, Report};
use fairwire_testbed::processes::BedProcesses;
use fairwire_testbed::traffic::Seen;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Counts the packets on the link, for a contest.
pub trait Meter {
    /// Invoked some times a second while flows send, which they do since `start`.
    fn look(&mut self, start: Time, now: Time) -> Result<(), ContestError>;

    /// When `look` must be invoked next, in a contest that began at `start`; `Time::MAX` if soon is
    /// enough.
    fn due(&self, _start: Time) -> Time {
        Time::MAX
    }

    /// What is seen of the link now, if it is time for another view and the meter has any. Invoked
    /// where that is watched.
    fn view(&mut self, _start: Time, _now: Time) -> Option<View> {
        None
    }

    /// Invoked when measuring begins.
    fn begin(&mut self, now: Time) -> Result<(), ContestError>;

    /// Invoked when measuring is over, until it returns what was counted since the beginning.
    fn end(&mut self, now: Time) -> Result<Option<Counted>, ContestError>;
}

/// When the coordinator must be polled again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At this time.
    At(Time),
    /// Never: the contest is over, or went wrong.
    Over,
}

/// Starts the hosts, has the flows begin, and says when to count.
pub struct Coordinator<'a> {
    plan: &'a ContestPlan,
    watch: &'a mut dyn Watch,
    stop: &'a AtomicBool,
    bed: BedProcesses,
    /// What the hosts saw: it may come before we know what was counted.
    seen: Option<Seen>,
    phase: Option<Phase>,
}

enum Phase {
    /// The TCP connections are being made; until then at most.
    Connecting { until: Time },
    /// The contest began, or will begin, at `start`.
    Running { start: Time, is_measured: bool },
    /// It is over, and the sink has still to report.
    Reporting { until: Time, counted: Counted },
    /// All is known.
    Done(Counted, Seen),
    /// It went wrong.
    Failed(ContestError),
}

/// How often the helpers and the stop flag are looked at.
const TICK: Duration = Duration::from_ms(20);
/// How long the helpers may take for each step of theirs: far more than they need.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between the order to start and the start.
const LEAD: Duration = Duration::from_ms(50);

impl<'a> Coordinator<'a> {
    /// Starts the helpers, which make the network, and what forwards there.
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

    /// Waits until the helpers have made the network, and gives the descriptors that they hand
    /// over.
    pub fn wait_for_wire(&mut self) -> Result<Vec<OwnedFd>, ContestError> {
        self.wait_for("making the network", &mut |report| match report {
            Some((Report::Wired, sockets)) => Some(sockets),
            _ => None,
        })
    }

    /// Waits until what forwards `is_ready`.
    pub fn wait_for_gateway(&mut self, is_ready: &dyn Fn() -> bool) -> Result<(), ContestError> {
        self.wait_for("starting the gateway", &mut |_| is_ready().then_some(()))
    }

    fn wait_for<T>(
        &mut self,
        what: &'static str,
        found: &mut dyn FnMut(Option<(Report, Vec<OwnedFd>)>) -> Option<T>,
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

    /// Has the flows connected: from now on [`follow`](Coordinator::follow) leads.
    pub fn connect(&mut self) -> Result<(), ContestError> {
        self.phase = Some(Phase::Connecting { until: clock::now() + PATIENCE });
        Ok(self.bed.connect(&self.plan.traffic())?)
    }

    /// Does what is due `now`.
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
            Some((Report::Seen(seen), _)) => {
                self.seen = Some(seen);
                false
            }
            report => matches!(report, Some((Report::Connected, _))),
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

    /// When to be polled again: soon, and exactly at the end of the warm-up and of the contest.
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

    /// What came out.
    pub fn outcome(mut self) -> Result<(Counted, Seen), ContestError> {
        match self.phase.take() {
            Some(Phase::Done(counted, seen)) => Ok((counted, seen)),
            Some(Phase::Failed(error)) => Err(self.cause_of(error)),
            _ => unreachable!("the caller stops only when the contest is done or has failed"),
        }
    }

    /// A request to a gateway that has just ended fails before its parent reports the end, with the
    /// cause. A port of a network whose host has ended is gone. So the cause is waited for.
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
