//! This machine's own TCP and UDP, in network namespaces, through the same compiled discipline.
//!
//! The hosts are a [crew](fairwire_testbed::crew) of helper processes. They hand the gateway's two packet sockets to this process, which
//! forwards every frame through the discipline. The program must hand its `lab-agent` command over to
//! [`agent::main`](fairwire_testbed::agent::main).
//!
//! What is not as in the simulator: TCP is the kernel's, with selective acknowledgements and its own timers, whatever profile the scenario
//! names; only the congestion control and the length of segments are the scenario's. Access links take no time beyond their delay.

mod contest;
mod samples;

use crate::dumbbell::Dumbbell;
use crate::plan::Plan;
use crate::series;
use crate::stage::{Failed, Stage, Why};
use crate::watch::Watch;
use contest::{Contest, ContestPlan};
use fairwire_linux::port::PortError;
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::Links;
use fairwire_testbed::error::TestbedError;
use fairwire_testbed::traffic::Sends;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use std::sync::atomic::AtomicBool;

/// The laboratory on this machine: real sockets, real frames, and our discipline between them.
#[derive(Clone, Debug, Default)]
pub struct Lab {
    /// The congestion control of every TCP flow, as the kernel calls it, in place of the scenario's.
    pub congestion_control: Option<String>,
}

impl Lab {
    fn dumbbell(&self, plan: &Plan<'_>, seed: u64) -> Result<Dumbbell, Failed> {
        let dumbbell = Dumbbell::of(plan, seed)?;
        match &self.congestion_control {
            Some(control) => Ok(dumbbell.with_congestion_control(control)),
            None => Ok(dumbbell),
        }
    }
}

impl Stage for Lab {
    fn name(&self) -> &'static str {
        "lab"
    }

    fn summary(&self) -> &'static str {
        "this kernel's own TCP and UDP between network namespaces, through the same compiled discipline"
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Why> {
        // The senders do not hang on the seed.
        match self.dumbbell(plan, 0) {
            Ok(dumbbell) => {
                if let Some(sender) = dumbbell.senders.iter().find(|sender| sender.ecn) {
                    let given = format!("ECN of `{}`", sender.group);
                    return Err(Why::new(given, "`tcp.ecn` left out: TCP in the lab is without ECN"));
                }
                dumbbell.common_rtt()?;
                check_congestion_controls(&dumbbell)
            }
            Err(Failed::Plan(why)) => Err(why),
            Err(Failed::Machine(what)) => Err(Why::new(what, "a plan that can be built")),
        }
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let Links::Shared(link) = &plan.scenario.spec().link else { unreachable!("a dumbbell has one link") };
        let dumbbell = self.dumbbell(plan, seed)?;
        let rtt = dumbbell.common_rtt()?;
        let Dumbbell { name, rate, discipline, mtu, senders } = dumbbell;
        let (duration, warm_up) = (plan.duration(), plan.warm_up());
        let every = watch.every();
        series::check(every, senders.len(), duration)?;
        let contest =
            ContestPlan { name, rate, buffer: link.buffer.0, rtt, mtu, senders, duration, warm_up, every };
        match contest::hold(Contest { plan: contest, discipline }, watch, stop) {
            Ok((flows, link)) => Ok(Some(RunRecord {
                discipline: plan.label().into(),
                stage: String::new(),
                seed,
                fairness: plan.fairness(&flows),
                flows,
                links: vec![link],
                transfers: Vec::new(),
                aggregates: Vec::new(),
                events: None,
            })),
            Err(LabError::Stopped) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A contest that could not be held.
#[derive(Debug, thiserror::Error)]
enum LabError {
    /// There is no network for it, or its hosts did not do as they were told.
    #[error(transparent)]
    Testbed(#[from] TestbedError),
    /// A port of the gateway failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A helper process did not answer in time.
    #[error("the lab's helpers did not get as far as {what} within {seconds} s")]
    Stalled {
        /// What was waited for.
        what: &'static str,
        /// How long.
        seconds: u64,
    },
    /// The caller asked to stop.
    #[error("the contest was stopped before its end")]
    Stopped,
}

impl From<LabError> for Failed {
    fn from(error: LabError) -> Self {
        match error {
            LabError::Testbed(error @ (TestbedError::NoRights { .. } | TestbedError::NoVeth { .. })) => {
                Failed::Plan(Why::new(error.to_string(), "the stage `sim`, which needs no rights"))
            }
            other => Failed::Machine(other.to_string()),
        }
    }
}

/// The kernel loads a congestion control that it has as a module, so asking is the only way to know.
fn check_congestion_controls(dumbbell: &Dumbbell) -> Result<(), Why> {
    let mut asked: Vec<&str> = Vec::new();
    for sender in &dumbbell.senders {
        let Sends::Tcp(control) = &sender.sends else { continue };
        if asked.contains(&control.as_str()) {
            continue;
        }
        asked.push(control);
        let Ok(socket) = socket(AddressFamily::INET, SocketType::STREAM, None) else { continue };
        // A user may be refused here what the root of the lab's own namespace is allowed.
        if let Err(Errno::NOENT | Errno::INVAL) = sockopt::set_tcp_congestion(&socket, control) {
            let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
            let available = list.unwrap_or_default().trim().replace(' ', ", ");
            let given =
                format!("this kernel's TCP has no congestion control `{control}` (of `{}`)", sender.group);
            return Err(Why::new(given, available));
        }
    }
    Ok(())
}
