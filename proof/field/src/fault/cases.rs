//! The table of faults.

use super::happened::Happened;
use super::{hellos, hostile, kinds, live, support};
use crate::diffserv;
use crate::fallible::Fallible;

/// A fault.
pub struct Fault {
    /// Its name.
    pub name: &'static str,
    /// The promise.
    pub promised: &'static str,
    /// Do this crate's tests also run the fault?
    pub is_quick: bool,
    act: fn(&mut Happened) -> Fallible<()>,
}

/// Every fault.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "control-survives-floods",
        promised: "beside three times the link of UDP, 20 000 made-up sources a second, bulk TCP and 2000 forged hellos a second \
                   no hello and no BFD frame of routers on both sides is lost, and BFD has no gap above 150 ms",
        is_quick: false,
        act: hellos::control_survives_floods,
    },
    Fault {
        name: "interface-down-and-up",
        promised: "the gateway goes on, and when the interface is back so is the traffic; what was refused meanwhile is counted",
        is_quick: true,
        act: live::interface_down_and_up,
    },
    Fault {
        name: "diffserv-edges",
        promised: "an edge that is cut off or restarted goes back to its contract, what is forged or replayed is refused and counted, and \
                   the link goes on",
        is_quick: true,
        act: diffserv::faults_of_edges,
    },
    Fault {
        name: "mtu-changes",
        promised: "frames longer than the interface takes are counted as lost, longer ones than the gateway's buffers too; with the MTU back, traffic is",
        is_quick: false,
        act: live::mtu_changes,
    },
    Fault {
        name: "peer-gone",
        promised: "an interface that is removed is waited for; when there is one of its name again, traffic flows",
        is_quick: false,
        act: live::peer_gone,
    },
    Fault {
        name: "stopped-and-continued",
        promised: "closed: nothing passes while the process is stopped; it goes on where it was, and what overflowed is counted",
        is_quick: true,
        act: live::stopped_and_continued,
    },
    Fault {
        name: "stopped-open",
        promised: "open: the kernel bridges within the watchdog's time plus 0.5 s of the process falling silent, and the gateway shapes again when it goes on",
        is_quick: false,
        act: live::stopped_open,
    },
    Fault {
        name: "killed-closed",
        promised: "closed: nothing passes after the process was killed",
        is_quick: true,
        act: live::killed_closed,
    },
    Fault {
        name: "killed-open",
        promised: "open: the kernel bridges within the watchdog's time plus 0.5 s after the process was killed",
        is_quick: true,
        act: live::killed_open,
    },
    Fault {
        name: "1000-reloads",
        promised: "at each of 1000 reloads under load every packet has its place; none pauses traffic for 10 ms; no flow stalls",
        is_quick: false,
        act: live::thousand_reloads,
    },
    Fault {
        name: "bad-reload",
        promised: "a configuration that makes no sense changes nothing, and the answer says why",
        is_quick: true,
        act: live::bad_reload,
    },
    Fault {
        name: "passed-by",
        promised: "what a program of the gateway's own machine sends past it is reported within ten seconds, with its rate, and no sharing is claimed",
        is_quick: false,
        act: live::passed_by,
    },
    Fault {
        name: "malformed-frames",
        promised: "frames of random bytes end nothing: each has its place, and TCP beside them keeps the link busy",
        is_quick: true,
        act: hostile::malformed_frames,
    },
    Fault {
        name: "every-kind",
        promised: "PPPoE, three VLAN tags, LLC and SNAP, ARP and random EtherTypes at twice the link's rate: with TCP beside them, no more than the rate plus 1 % leaves by the interface",
        is_quick: true,
        act: kinds::every_kind,
    },
    Fault {
        name: "tunnel",
        promised: "TCP in VXLAN, segmentation offload on, with and without outer checksums, uses at least 90 % of a link of 100 Mbit/s; no super-packet is lost",
        is_quick: false,
        act: kinds::tunnel,
    },
    Fault {
        name: "round-trips",
        promised: "round trips are within 1 ms or 5 % of what the path takes, without the wait in the gateway's queue, and up to `coalesce` more; retransmissions are as many as the senders' kernels count",
        is_quick: true,
        act: support::round_trips,
    },
    Fault {
        name: "full-for-a-minute",
        promised: "a download that TCP fills for 75 s is reported as full once, after a minute",
        is_quick: false,
        act: support::full_for_a_minute,
    },
    Fault {
        name: "million-sources",
        promised: "a million spoofed sources: memory grows by less than 16 MB, and each established host has at least 95 % of its fair share",
        is_quick: false,
        act: hostile::million_sources,
    },
    Fault {
        name: "spoofed-on-a-free-link",
        promised: "spoofed sources that fill four fifths of a link leave an honest TCP at least 0.9 of what they leave it under `drr`",
        is_quick: false,
        act: hostile::spoofed_on_a_free_link,
    },
    Fault {
        name: "wall-clock",
        promised: "nothing but the page, the time stamps of captures and of changes, the reports between edges, and the metric of the process's start comes of the wall clock, by the gateway's sources: a step of it is nothing to the rest (no namespace of Linux has a wall clock of its own to step)",
        is_quick: true,
        act: hostile::wall_clock,
    },
];

/// The fault called `name`.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}

impl Fault {
    /// Runs it once.
    pub fn happen(&self) -> Happened {
        Happened::of(self.name, self.promised, self.act)
    }

    /// Runs the fault up to three times. A run that misses while the gateway was starved is
    /// repeated.
    pub fn tried(&self) -> Happened {
        Happened::tried(true, &mut || self.happen())
    }
}
