//! Contests: Linux's own TCPs behind a discipline of the kernel, and ours behind ours.
//!
//! Nothing is replayed here. Each side has senders, round-trip times, a bottleneck and random start times of its own, alike
//! but never equal, so what is compared are means over runs: who got how much, and how long packets waited. The kernel's side is that of
//! the stage [`linux`](fairwire_experiment::linux).

pub mod cases;
mod compare;
mod setting;
mod simulated;

pub use cases::{CONTESTS, Contest, find};
pub use compare::{Comparison, Figure, Row, Tolerance};
pub use fairwire_experiment::linux::Tally;
pub use setting::{Class, DURATION, HEADER_BYTES, RATE, SEGMENT_BYTES, Sends, WARM_UP};
pub use simulated::simulate;

use fairwire_experiment::linux::contest;
use setting::UDP_HEADER_BYTES;

/// `contest` in the run of `seed`, for the guest.
pub fn of_kernel(contest: &Contest, seed: u64) -> contest::Contest {
    let class = |class: &Class| contest::Class {
        sends: sends(class.sends),
        flows: class.flows,
        rtt_ns: class.rtt_ms * 1_000_000,
        ecn: contest.ecn,
    };
    contest::Contest {
        rate_bps: RATE.bps(),
        overhead: 0, // counted as the kernel counts
        mtu: 1500,
        discipline: contest.kernel.into(),
        modules: contest.modules.iter().map(ToString::to_string).collect(),
        classes: contest.classes.iter().map(class).collect(),
        starts: contest.starts(seed).iter().map(|start| start.ns()).collect(),
        warm_up_ns: WARM_UP.ns(),
        duration_ns: DURATION.ns(),
    }
}

fn sends(sends: Sends) -> fairwire_testbed::traffic::Sends {
    let counted = SEGMENT_BYTES + HEADER_BYTES;
    match sends {
        Sends::Udp(bps) => {
            fairwire_testbed::traffic::Sends::Udp { bps, payload: counted - UDP_HEADER_BYTES, counted }
        }
        tcp => fairwire_testbed::traffic::Sends::Tcp(tcp.name().into()),
    }
}
