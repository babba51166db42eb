//! A home of 50/10 Mbit/s and a round trip of 20 ms, as who lives there sees it: what a heavy host leaves another, and how long a ping of a
//! quiet host and of the heavy one itself takes.

use crate::config::{Document, Link};
use crate::contest::home::{A, B, HEAVY, OTHER, OWN_PING, TROUBLES, Trouble};
use crate::contest::{Case, NOBODY, judge, tries, unbalanced};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{OUTSIDE, Wiring, public_address, side};
use fairwire_gateway::class_book::Way;
use fairwire_testbed::traffic::{Seen, Sends, Traffic};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Who shares the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// In a word.
    pub name: &'static str,
    /// In a few.
    pub title: &'static str,
    discipline: &'static str,
    sharing: Sharing,
    /// Are the promises of the home its own?
    is_promised: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sharing {
    /// The kernel's HTB with so many packets down, so many up.
    Htb([u32; 2]),
    /// The gateway, where a flow is this.
    Flows(&'static str),
    /// The gateway, with a list of subscribers.
    Subscribers,
    /// The gateway on a router with NAT.
    Router(&'static str),
}

/// Hosts, and their connections.
const BOTH: &str = "[\"inside\", \"5-tuple\"]";

/// All of them.
pub const ROWS: &[Row] = &[
    row("htb-50ms", "HTB + pfifo 50 ms", "", Sharing::Htb([203, 41])),
    row("htb-1000", "HTB + pfifo 1000", "", Sharing::Htb([1000, 1000])),
    row("faba", "`faba`, inside", "faba", Sharing::Flows("inside")),
    row("drr", "`drr`, inside", "drr", Sharing::Flows("inside")),
    row("classful", "subscribers, `classful`", "classful", Sharing::Subscribers),
    Row { is_promised: true, ..row("default", "inside and 5-tuple, a bump", "", Sharing::Flows(BOTH)) },
    Row { is_promised: true, ..row("router", "inside and 5-tuple, a NAT router", "", Sharing::Router(BOTH)) },
    row("router-drr", "`drr`, inside, a NAT router", "drr", Sharing::Router("inside")),
];

const fn row(name: &'static str, title: &'static str, discipline: &'static str, sharing: Sharing) -> Row {
    Row { name, title, discipline, sharing, is_promised: false }
}

/// Round trips of pings, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pings {
    /// The median.
    pub p50_ms: f64,
    /// 95 of 100 took less.
    pub p95_ms: f64,
    /// The part of them that did not come back.
    pub loss: f64,
}

/// What a trouble came to.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Who shared the link.
    pub row: String,
    /// What the heavy host did.
    pub trouble: String,
    /// Mbit/s of the heavy host and of the other, in the way in which they compete.
    pub mbps: [f64; 2],
    /// How far they are from their max-min fair shares of what left, as a part of these.
    pub off: [f64; 2],
    /// Of the quiet host.
    pub quiet: Pings,
    /// Of the heavy host.
    pub own: Pings,
    /// What is promised and does not hold.
    pub broken: Vec<String>,
    /// How the machine kept the gateway from its work, if it did.
    pub starved: Option<String>,
}

/// What is promised of [`Row`]s that promise something.
const SHARE: f64 = 0.02;
const ABOVE_IDLE_MS: f64 = 10.0;

impl Row {
    /// What it needs that is missing on this machine, if anything.
    pub fn needs(&self) -> Option<String> {
        let needs_tools = matches!(self.sharing, Sharing::Htb(_));
        needs_tools.then(crate::peers::check).and_then(Result::err).map(|error| error.to_string())
    }

    /// Goes through all troubles, the idle one first; `report` hears of each.
    pub fn hold(&self, seconds: u64, report: &mut dyn FnMut(&Cell)) -> Fallible<Vec<Cell>> {
        let mut cells: Vec<Cell> = Vec::new();
        for trouble in TROUBLES {
            let case = trouble.case(self.name, self.discipline, seconds);
            let mut cell = self.cell(trouble, &case).map_err(|error| format!("{}: {error}", case.name))?;
            if self.is_promised {
                cell.broken.extend(broken(&cell, cells.first().unwrap_or(&cell)));
            }
            report(&cell);
            cells.push(cell);
        }
        Ok(cells)
    }

    fn cell(&self, trouble: &Trouble, case: &Case) -> Fallible<Cell> {
        let document = self.document(case);
        let mut traffic = case.traffic();
        let wiring = Wiring { is_router: document.is_router, ..Wiring::default() };
        if document.is_router {
            let downloads = traffic.flows.iter_mut().filter(|flow| flow.from == side(Way::Download));
            downloads.for_each(|flow| flow.receiver_behind = Some(public_address()));
        }
        let commands = self.commands();
        let middle = match commands.is_empty() {
            true => Middle::Gateway(&document),
            false => Middle::Both(&commands, &document),
        };
        let mut run = Run::begin(wiring, middle, traffic)?;
        let waited_before = run.gateway().waited_s();
        let seen = run.finish()?;
        let waited_s = run.gateway().waited_s() - waited_before;
        let status = run.gateway().status()?;
        let overflows = status.ports.iter().map(|port| port.overflows).sum();
        let judged = judge(case, &run.traffic, &seen, 0.0);
        let way = judged.ways.iter().find(|judged| judged.way == trouble.way).ok_or("a way is missing")?;
        let hosts = [A, B].map(|host| of_host(&way.groups, host));
        Ok(Cell {
            row: self.name.to_owned(),
            trouble: trouble.name.to_owned(),
            mbps: hosts.map(|[got, _]| got / 1e6),
            off: hosts.map(|[got, fair]| if fair > 0.0 { got / fair - 1.0 } else { 0.0 }),
            quiet: pings(&run.traffic, &seen, "ping", case),
            own: pings(&run.traffic, &seen, OWN_PING, case),
            broken: status.ways.iter().filter_map(unbalanced).collect(),
            starved: tries::starved(waited_s, case.seconds as f64, overflows),
        })
    }

    fn document(&self, case: &Case) -> Document {
        let plain = Document { flows: None, ..case.document() };
        match self.sharing {
            Sharing::Flows(flows) => Document { flows: Some(flows), ..plain },
            Sharing::Router(flows) => Document { flows: Some(flows), is_router: true, ..plain },
            Sharing::Subscribers => {
                let hosts = [("A", HEAVY), ("B", OTHER), ("quiet", NOBODY)];
                let rows: String =
                    hosts.iter().map(|(name, class)| format!("{name},10.{class}.0.0/16\n")).collect();
                Document { subscribers: Some(format!("name,addresses\n{rows}")), ..plain }
            }
            // Nothing but the delay: the kernel shapes.
            Sharing::Htb(_) => {
                let wide =
                    |link: Link| Link { mbps: 1000, discipline: "tail-drop", buffer: "100 ms", ..link };
                let (download, upload) = (plain.download.map(wide), plain.upload.map(wide));
                Document { download, upload, outside: "m1", ..plain }
            }
        }
    }

    /// A bridge of the kernel before the gateway, with HTB both ways.
    fn commands(&self) -> Vec<String> {
        let Sharing::Htb(limits) = self.sharing else { return Vec::new() };
        let mut commands = vec![
            "ip link add m0 type veth peer name m1".to_owned(),
            "ip link add bridge0 type bridge forward_delay 0 stp_state 0".to_owned(),
            format!("ip link set {} master bridge0", OUTSIDE.name),
            "ip link set m0 master bridge0".to_owned(),
            "ip link set m0 up".to_owned(),
            "ip link set m1 up".to_owned(),
            "ip link set bridge0 up".to_owned(),
        ];
        for ((device, mbps), limit) in [("m0", 50), (OUTSIDE.name, 10)].into_iter().zip(limits) {
            commands.extend([
                format!("tc qdisc add dev {device} root handle 1: htb default 1"),
                format!(
                    "tc class add dev {device} parent 1: classid 1:1 htb rate {mbps}mbit ceil {mbps}mbit overhead 24 mpu 84 quantum 3000"
                ),
                format!("tc qdisc add dev {device} parent 1:1 handle 10: pfifo limit {limit}"),
            ]);
        }
        commands
    }
}

/// What the groups of a host got, acknowledgements too, and what is fair.
fn of_host(groups: &BTreeMap<String, [f64; 2]>, host: &str) -> [f64; 2] {
    let own = groups.iter().filter(|(name, _)| name.trim_start_matches("acks of ").starts_with(host));
    own.fold([0.0; 2], |sums, (_, group)| [sums[0] + group[0], sums[1] + group[1]])
}

/// Round trips of the pings of `group`: of those of one number, which are to be sent both ways at the same time, how long both took together.
fn pings(traffic: &Traffic, seen: &Seen, group: &str, case: &Case) -> Pings {
    let own = || traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == group);
    let every_ns = own().find_map(|(flow, _)| match flow.sends {
        Sends::Ping { every_ns } => Some(every_ns),
        _ => None,
    });
    let number = |seconds: u64| (seconds * 1_000_000_000 / every_ns.unwrap_or(1_000_000_000)) as u32;
    let (from, to) = (number(case.warm_up), number(case.seconds));
    let mut trips: BTreeMap<u32, (u32, u64)> = BTreeMap::new();
    for (_, seen) in own() {
        let numbered = seen.numbers.iter().zip(&seen.delays_ns);
        for (number, (_, took)) in numbered.filter(|(number, _)| (from..to).contains(*number)) {
            let trip = trips.entry(*number).or_default();
            (trip.0, trip.1) = (trip.0 + 1, trip.1 + took);
        }
    }
    let mut whole: Vec<u64> =
        trips.into_values().filter(|(ways, _)| *ways == 2).map(|(_, took)| took).collect();
    whole.sort_unstable();
    let part = |hundredths: usize| {
        let at = (whole.len() * hundredths / 100).min(whole.len().saturating_sub(1));
        whole.get(at).map_or(f64::NAN, |ns| *ns as f64 / 1e6)
    };
    let sent = f64::from(to - from);
    Pings { p50_ms: part(50), p95_ms: part(95), loss: (1.0 - whole.len() as f64 / sent).max(0.0) }
}

/// What is promised of `cell` and does not hold.
fn broken(cell: &Cell, idle: &Cell) -> Vec<String> {
    let mut broken = Vec::new();
    for ((host, off), mbps) in ["A", "B"].into_iter().zip(cell.off).zip(cell.mbps) {
        // What is not a number does not hold.
        let is_fair = off.abs() <= SHARE;
        if cell.trouble != "idle" && !is_fair {
            broken.push(format!(
                "{host} has {mbps:.2} Mbit/s, {:.1} % off its share (at most 2 %)",
                off * 100.0
            ));
        }
    }
    for (whose, pings, idle) in [("quiet host", cell.quiet, idle.quiet), ("heavy host", cell.own, idle.own)] {
        let most = idle.p95_ms + ABOVE_IDLE_MS;
        let is_quick = pings.p95_ms <= most;
        if !is_quick {
            broken.push(format!(
                "95 of 100 pings of the {whose} take {:.1} ms (at most {most:.1})",
                pings.p95_ms
            ));
        }
    }
    // One of 800 may be on its way at the end.
    if cell.quiet.loss > 0.0013 {
        broken.push(format!("{:.2} % of the quiet host's pings are lost", cell.quiet.loss * 100.0));
    }
    broken
}

/// A cell as a line of text.
pub fn line(cell: &Cell) -> String {
    let mut text = format!(
        "{:<28} A {:>5.1} B {:>5.2} Mbit/s ({:>+6.1} {:>+6.1} %)  quiet {:>6.1} /{:>7.1} ms {:>5.1} %  own {:>6.1} /{:>7.1} ms {:>5.1} %\n",
        format!("{}/{}", cell.row, cell.trouble),
        cell.mbps[0],
        cell.mbps[1],
        cell.off[0] * 100.0,
        cell.off[1] * 100.0,
        cell.quiet.p50_ms,
        cell.quiet.p95_ms,
        cell.quiet.loss * 100.0,
        cell.own.p50_ms,
        cell.own.p95_ms,
        cell.own.loss * 100.0,
    );
    if let Some(starved) = &cell.starved {
        let _ = writeln!(text, "    the machine was busy: {starved}");
    }
    for fault in &cell.broken {
        let _ = writeln!(text, "    DOES NOT HOLD: {fault}");
    }
    text
}

/// The table in Markdown, as `docs/gateway/measured.md` has it.
pub fn markdown(cells: &[Cell]) -> String {
    let mut text = String::from("| |");
    for trouble in TROUBLES {
        let _ = write!(text, " {} |", trouble.title);
    }
    text += "\n|---|";
    text += &"---|".repeat(TROUBLES.len());
    text.push('\n');
    for row in ROWS {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.row == row.name).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(text, "| {} |", row.title);
        for cell in own {
            let form = |pings: Pings| match pings.p50_ms.is_nan() {
                true => format!("-, {:.1} %", pings.loss * 100.0),
                false => format!("{:.0} / {:.0}, {:.1} %", pings.p50_ms, pings.p95_ms, pings.loss * 100.0),
            };
            let rates = match cell.trouble.as_str() {
                "idle" => String::new(),
                _ => format!("{:.1}, {:.1}; ", cell.mbps[0], cell.mbps[1]),
            };
            let _ = write!(text, " {rates}{}; {} |", form(cell.quiet), form(cell.own));
        }
        text.push('\n');
    }
    text
}

/// The table as CSV.
pub fn csv(cells: &[Cell]) -> String {
    let mut text = String::from(
        "row,trouble,a_mbps,b_mbps,a_off,b_off,quiet_p50_ms,quiet_p95_ms,quiet_loss,own_p50_ms,own_p95_ms,own_loss,holds\n",
    );
    for cell in cells {
        let Cell { row, trouble, mbps: [a, b], off: [a_off, b_off], quiet, own, .. } = cell;
        let _ = writeln!(
            text,
            "{row},{trouble},{a:.3},{b:.3},{a_off:.4},{b_off:.4},{:.2},{:.2},{:.4},{:.2},{:.2},{:.4},{}",
            quiet.p50_ms,
            quiet.p95_ms,
            quiet.loss,
            own.p50_ms,
            own.p95_ms,
            own.loss,
            cell.broken.is_empty()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_testbed::traffic::FlowSeen;

    fn cell(trouble: &str, off: f64, p95_ms: f64, loss: f64) -> Cell {
        let pings = Pings { p50_ms: 20.0, p95_ms, loss };
        Cell {
            row: "router".into(),
            trouble: trouble.into(),
            mbps: [24.0, 24.0],
            off: [off; 2],
            quiet: pings,
            own: pings,
            broken: Vec::new(),
            starved: None,
        }
    }

    #[test]
    fn each_promise_of_a_home_can_be_broken() {
        let idle = cell("idle", f64::NAN, 21.0, 0.0);
        assert!(broken(&idle, &idle).is_empty());
        assert!(broken(&cell("x", 0.019, 30.0, 0.0), &idle).is_empty());
        assert_eq!(broken(&cell("x", -0.03, 30.0, 0.0), &idle).len(), 2);
        assert_eq!(broken(&cell("x", f64::NAN, f64::NAN, 0.0), &idle).len(), 4);
        assert_eq!(broken(&cell("x", 0.0, 31.1, 0.01), &idle).len(), 3);
    }

    #[test]
    fn a_round_trip_is_both_ways_and_what_went_one_way_alone_is_lost() {
        let case = TROUBLES[0].case("drr", "drr", 3);
        let traffic = case.traffic();
        let ms = 1_000_000;
        let seen = |flow: &fairwire_testbed::traffic::Flow| FlowSeen {
            delays_ns: vec![(0, 12 * ms); 300],
            numbers: (0..300)
                .map(|n| if flow.from == side(Way::Upload) && n % 4 == 0 { 1000 } else { n })
                .collect(),
            ..FlowSeen::default()
        };
        let seen = Seen { flows: traffic.flows.iter().map(seen).collect(), ..Seen::default() };
        let found = pings(&traffic, &seen, "ping", &case);
        assert_eq!((found.p50_ms, found.p95_ms), (24.0, 24.0));
        assert!((found.loss - 0.25).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn a_hosts_part_is_that_of_all_its_groups() {
        let groups = [("A down", 2.0), ("acks of A up", 1.0), ("B", 5.0), ("ping", 9.0)];
        let groups = groups.map(|(name, got)| (name.to_owned(), [got, got * 2.0])).into();
        assert_eq!((of_host(&groups, A), of_host(&groups, B)), ([3.0, 6.0], [5.0, 10.0]));
    }
}
