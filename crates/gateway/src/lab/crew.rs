//! The lab's helper processes, seen from the process that started them.

use super::agent::{AGENT_COMMAND, NETWORK};
use super::message::{Order, Report, receive};
use super::plan::Traffic;
use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_testbed::error::TestbedError;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The helpers, ended when this is dropped.
#[derive(Debug)]
pub(super) struct Crew {
    child: Child,
    orders: Option<ChildStdin>,
    reports: UnixDatagram,
}

impl Crew {
    /// Starts the helpers for `traffic`.
    pub(super) fn start(traffic: &Traffic) -> Result<Self, TestbedError> {
        let (reports, theirs) =
            UnixDatagram::pair().map_err(failed("making a channel to the lab's helpers"))?;
        let plan = serde_json::to_string(traffic).expect("a plan is plain data");
        let program = std::env::current_exe().map_err(failed("finding this program"))?;
        let mut child = Command::new(program)
            .args([AGENT_COMMAND, NETWORK, &plan])
            .stdin(Stdio::piped())
            .stdout(OwnedFd::from(theirs))
            // Ctrl-C in a terminal goes to a whole process group. Ours is asked to stop; the helpers end when we end them.
            .process_group(0)
            .spawn()
            .map_err(failed("starting the lab's helpers"))?;
        let orders = child.stdin.take();
        Ok(Crew { child, orders, reports })
    }

    /// The next report, if there is one. Never waits. That a helper failed is an error.
    pub(super) fn next_report(&mut self) -> Result<Option<(Report, Vec<OwnedFd>)>, TestbedError> {
        match receive(&self.reports).map_err(failed("listening to the lab's helpers"))? {
            Some((Report::Failed { role, trouble }, _)) => Err(trouble.into_error(&role)),
            Some(report) => Ok(Some(report)),
            None => self.check_alive().map(|()| None),
        }
    }

    /// Gives an order to all helpers.
    pub(super) fn order(&mut self, order: Order) -> Result<(), TestbedError> {
        let orders = self.orders.as_mut().expect("orders end with the crew");
        orders.write_all(order.to_line().as_bytes()).map_err(failed("talking to the lab's helpers"))
    }

    /// A helper that ended may have left a report just before.
    fn check_alive(&mut self) -> Result<(), TestbedError> {
        match self.child.try_wait().map_err(failed("looking after the lab's helpers"))? {
            None => Ok(()),
            Some(status) => match receive(&self.reports) {
                Ok(Some((Report::Failed { role, trouble }, _))) => Err(trouble.into_error(&role)),
                _ => Err(TestbedError::HelperEnded { status: status.to_string() }),
            },
        }
    }
}

/// How long the helpers may take to end by themselves.
const GRACE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_ms(2);

impl Drop for Crew {
    /// The orders end, so the helpers do. One that hangs is killed, and the kernel kills its children.
    fn drop(&mut self) {
        self.orders = None;
        let until = clock::now() + GRACE;
        while clock::now() < until {
            match self.child.try_wait() {
                Ok(None) => clock::sleep_until(clock::now() + PAUSE),
                _ => return,
            }
        }
        // It may have ended in this moment: either way it is waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Names what was tried when the system refused it.
pub(super) fn failed(operation: &'static str) -> impl FnOnce(io::Error) -> TestbedError {
    move |source| TestbedError::System { operation, source }
}
