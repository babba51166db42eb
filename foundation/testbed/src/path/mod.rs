//! A path between two hosts, which delays packets and loses some of them.
//!
//! ```text
//!   source ── gateway ── path ── sink
//! ```
//!
//! The [path](Path) is data: for each direction, a delay per flow and [faults](Faults), which a
//! [wire](fairwire_core::Wire) applies. A separate host holds the path, so a gateway under test
//! does not apply the faults itself. A program that forwards can instead apply them at [its
//! ports](WiredPort).
//!
//! Super-packets are split, so frames are delayed and lost singly. A frame is lost and
//! [counted](Carried::overflowed) if too many bytes are in transit.

mod carrier;
mod faults;
mod lane;
pub(crate) mod plan;
mod wired;

use super::error::{During, Trouble};
use super::host::{Host, Wire};
use super::side::Side;
use carrier::Carrier;
use fairwire_core::Time;
use fairwire_linux::af_packet::{AfPacket, open_socket};
use fairwire_linux::netlink::End;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path as File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

pub use faults::{Faults, Losses};
pub use plan::{Carried, FaultCounts, Lane, Path, Run};
pub use wired::WiredPort;

/// A host that holds a [path](Path) between its two neighbours. Frames pass from the call of
/// [`carry`](PathHost::carry) until [`finish`](PathHost::finish) is called or this value is
/// dropped.
#[derive(Debug)]
pub struct PathHost {
    host: Host,
    work: Option<Work>,
}

#[derive(Debug)]
struct Work {
    is_over: Arc<AtomicBool>,
    begins_ns: Arc<AtomicU64>,
    thread: JoinHandle<Result<Carried, Trouble>>,
}

impl Side {
    const fn path_end(self) -> End<'static> {
        match self {
            Side::Left => End { name: "p0", index: 100 },
            Side::Right => End { name: "p1", index: 101 },
        }
    }
}

impl PathHost {
    /// Creates a host without neighbours. Moves this thread to the host.
    pub fn new() -> Result<Self, Trouble> {
        let host = Host::new()?;
        // Without IPv6, this host's kernel sends nothing, so only the neighbours' traffic is on the
        // wire.
        let silence = "net/ipv6/conf/default/disable_ipv6";
        if File::new("/proc/sys").join(silence).exists() {
            host.set_variable(silence, "1")?;
        }
        Ok(PathHost { host, work: None })
    }

    /// Creates a wire of this MTU from this host's end at `side` to the end `other`. Brings this
    /// host's end up.
    pub fn join(&self, side: Side, other: (&Host, End<'_>), mtu: u32) -> Result<(), Trouble> {
        let here = side.path_end();
        self.host.join(other.0, Wire { here, there: other.1, mtu })?;
        self.host.bring_up(here.index)
    }

    pub(crate) fn wait_for_carriers(&self) -> Result<(), Trouble> {
        Side::BOTH.into_iter().try_for_each(|side| self.host.wait_for_carrier(side.path_end().index))
    }

    /// Changes the MTU of both interfaces.
    pub fn set_mtu(&self, mtu: u32) -> Result<(), Trouble> {
        Side::BOTH.into_iter().try_for_each(|side| self.host.set_mtu(side.path_end().index, mtu))
    }

    /// A packet socket that receives the frames from the host at `side`.
    pub fn watch(&self, side: Side) -> Result<OwnedFd, Trouble> {
        Ok(self.host.at(|| open_socket(side.path_end().name))?)
    }

    /// Starts a thread that passes frames according to `path`.
    ///
    /// # Panics
    /// If frames pass already.
    pub fn carry(&mut self, path: &Path) -> Result<(), Trouble> {
        assert!(self.work.is_none(), "a path is carried once");
        let open = |side: Side| self.host.at(|| AfPacket::open(side.path_end().name));
        let [left, right] = Side::BOTH.map(open);
        let mut carrier = Carrier::new([left?, right?], path);
        let (is_over, begins_ns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (flag, begins) = (Arc::clone(&is_over), Arc::clone(&begins_ns));
        let thread = thread::Builder::new().name("path".into());
        let thread = thread.spawn(move || Ok(carrier.run(&flag, &begins)?)).during("starting a path")?;
        self.work = Some(Work { is_over, begins_ns, thread });
        Ok(())
    }

    /// Starts the run at the time `at` of the monotonic clock.
    pub fn begin(&self, at: Time) {
        self.work.iter().for_each(|work| work.begins_ns.store(at.ns(), Ordering::Relaxed));
    }

    /// Ends the path's thread, and returns the frame counts, which are zero if no thread was
    /// started.
    ///
    /// # Errors
    /// If the thread failed earlier.
    pub fn finish(&mut self) -> Result<Carried, Trouble> {
        let Some(Work { is_over, thread, .. }) = self.work.take() else { return Ok(Carried::default()) };
        is_over.store(true, Ordering::Relaxed);
        let panicked = |_| Trouble::new("carrying frames over a path", &io::Error::other("it panicked"));
        thread.join().map_err(panicked)?
    }
}

impl Drop for PathHost {
    fn drop(&mut self) {
        let _ = self.finish(); // callers that need the counts call `finish` first
    }
}
