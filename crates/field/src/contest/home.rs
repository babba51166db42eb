//! Loads of a home: a heavy host, another with one connection, and a quiet one.

use super::cases::{Case, of_host, tcp, udp, up};
use super::group::{Group, Kind};
use fairwire_gateway::class_book::Way;

/// What the heavy host does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trouble {
    /// In a word, for names of contests.
    pub name: &'static str,
    /// In a few, for people.
    pub title: &'static str,
    /// The way in which the other host's connection competes.
    pub way: Way,
    groups: &'static [Group],
}

/// The link, and the delay each way.
const DOWN_MBPS: u64 = 50;
const UP_MBPS: u64 = 10;
const DELAY_MS: u64 = 10;
/// The second byte of the heavy host's address.
pub const HEAVY: u8 = 1;
/// That of the other host.
pub const OTHER: u8 = 2;

/// The names of the heavy host's groups begin with this.
pub const A: &str = "A";
/// Those of the other host.
pub const B: &str = "B";
/// The heavy host's own pings.
pub const OWN_PING: &str = "A ping";

/// Seldom, as a ping is: one a round of the host's flows is a sparse flow, of which each packet goes first; a hundred a second are not.
const fn ping(way: Way) -> Group {
    Group { sends: Kind::SlowPing, way, ..of_host(HEAVY, tcp(OWN_PING, "", 1)) }
}

const PINGS: [Group; 2] = [ping(Way::Download), ping(Way::Upload)];
const B_DOWN: Group = of_host(OTHER, tcp(B, "cubic", 1));
const B_UP: Group = up(B_DOWN);

const fn heavy(group: Group) -> Group {
    of_host(HEAVY, group)
}

/// What a heavy host does, the lightest first.
pub const TROUBLES: &[Trouble] = &[
    Trouble { name: "idle", title: "idle", way: Way::Download, groups: &PINGS },
    Trouble {
        name: "cubic-64",
        title: "A 64 CUBIC down",
        way: Way::Download,
        groups: &[heavy(tcp("A down", "cubic", 64)), B_DOWN, PINGS[0], PINGS[1]],
    },
    Trouble {
        name: "bbr-64",
        title: "A 64 BBR down",
        way: Way::Download,
        groups: &[heavy(tcp("A down", "bbr", 64)), B_DOWN, PINGS[0], PINGS[1]],
    },
    Trouble {
        name: "bittorrent",
        title: "bittorrent: A 100 down, 60 up",
        way: Way::Download,
        groups: &[
            heavy(tcp("A down", "cubic", 100)),
            up(heavy(tcp("A up", "cubic", 60))),
            B_DOWN,
            PINGS[0],
            PINGS[1],
        ],
    },
    Trouble {
        name: "flood-down",
        title: "A floods 150 Mbit/s down",
        way: Way::Download,
        groups: &[heavy(udp("A flood", 150_000)), B_DOWN, PINGS[0], PINGS[1]],
    },
    Trouble {
        name: "flood-up",
        title: "A floods 60 Mbit/s up",
        way: Way::Upload,
        groups: &[up(heavy(udp("A flood", 60_000))), B_UP, PINGS[0], PINGS[1]],
    },
];

impl Trouble {
    /// The contest of this under a discipline; `row` is what it is called by.
    pub fn case(&self, row: &str, discipline: &'static str, seconds: u64) -> Case {
        Case {
            name: format!("{row}/{}", self.name),
            discipline,
            parameters: "",
            buffer: "50 ms",
            delay_ms: DELAY_MS,
            down_mbps: DOWN_MBPS,
            up_mbps: UP_MBPS,
            classes: &[],
            groups: self.groups,
            is_by_host: true,
            warm_up: seconds / 3,
            seconds,
            ping_ms: 0.0,
            times: 1,
            is_quick: false,
            is_exact: false,
        }
    }
}
