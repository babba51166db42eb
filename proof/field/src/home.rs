//! Tests a home from its residents' view: the rates of a heavy host and its competitor, and the
//! pings of the heavy host and a quiet host. `proof/suite/field/home.toml` defines the home.

use crate::config::Document;
use crate::contest::{Case, Delay, Group, UNCLAIMED, judge, read};
use crate::fallible::Fallible;
use crate::finding::{Finding, Subject, balances};
use crate::report;
use crate::run::{Middle, Run};
use crate::tries::Outcome;
use crate::world::{OUTSIDE, Wiring, public_address, side};
use fairwire_catalogue::Choice;
use fairwire_core::units::Amount;
use fairwire_core::{Duration, Rate};
use fairwire_document::DocumentError;
use fairwire_laws::spec::Quantity;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::backend::{Backend, RouterSpec};
use fairwire_service::config::spec::{DirectionSpec, FlowsSpec};
use fairwire_testbed::traffic::{HostCounts, Sends, Traffic};
use fairwire_wire::Way;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// A home, as written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Home {
    /// The one-way delay between the gateway and the inside.
    delay: Quantity<Duration>,
    promised: Promised,
    download: DirectionSpec,
    upload: DirectionSpec,
    /// The constant traffic.
    flow: Vec<Group>,
    /// The types of sharing.
    #[serde(rename = "row")]
    pub rows: Vec<Method>,
    /// The actions of the heavy host. The idle action is first.
    #[serde(rename = "trouble")]
    pub troubles: Vec<Trouble>,
}

/// The promises of rows with `is_promised`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promised {
    share: f64,
    ping_above_idle: Quantity<Duration>,
    quiet_loss: f64,
}

/// A method of sharing the link.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// A single word.
    pub name: String,
    /// A few words.
    pub title: String,
    discipline: Option<Choice>,
    flows: Option<FlowsSpec>,
    /// If set, the kernel's HTB shapes the link, and the gateway's rate is far above the link's
    /// rate. The values are the lengths of HTB's queues in packets, down and up.
    htb: Option<[u32; 2]>,
    #[serde(default)]
    has_subscribers: bool,
    #[serde(default)]
    is_router: bool,
    #[serde(default)]
    is_promised: bool,
}

/// An action of the heavy host.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// A single word, for names of contests.
    pub name: String,
    /// A few words, for people.
    pub title: String,
    /// The direction in which the heavy host competes with host B's connection.
    #[serde(default = "download")]
    direction: Way,
    #[serde(default)]
    flow: Vec<Group>,
}

fn download() -> Way {
    Way::Download
}

const A: (&str, u8) = ("A", 1);
const B: (&str, u8) = ("B", 2);
const OWN_PING: &str = "A ping";
/// The gateway's rate if the kernel's HTB shapes the link: far above the link's rate.
const WIDE: Rate = match Rate::from_bps(1_000_000_000) {
    Some(rate) => rate,
    None => panic!("not zero"),
};

/// Round trips of pings, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pings {
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The share of lost pings.
    pub loss: f64,
}

/// The result of one trouble under one method.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The method of sharing.
    pub row: String,
    /// The action of the heavy host.
    pub trouble: String,
    /// The rates of the heavy host A and of host B, Mbit/s, in the direction in which they compete.
    pub mbps: [f64; 2],
    /// The deviation of each rate in `mbps` from the host's max-min fair share of the departures,
    /// relative to that share.
    pub off: [f64; 2],
    /// The pings of the quiet host.
    pub quiet: Pings,
    /// The pings of the heavy host.
    pub own: Pings,
    /// The promises, and their outcomes.
    pub findings: Vec<Finding>,
    /// Evidence that the machine starved the gateway of CPU time, if any.
    pub starved: Option<String>,
}

impl Outcome for Cell {
    fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn starved(&self) -> Option<&str> {
        self.starved.as_deref()
    }
}

impl Method {
    /// The reason why this machine cannot run the method, if any.
    pub fn needs(&self) -> Option<String> {
        self.htb.and_then(|_| crate::peers::check().err()).map(|error| error.to_string())
    }
}

impl Home {
    /// The home of the suite in `folder`.
    ///
    /// # Errors
    /// An unreadable or invalid file, with the location.
    pub fn read(folder: &Path) -> Result<Home, DocumentError> {
        Ok(read(&folder.join("home.toml"))?.0)
    }

    /// Runs every trouble under the method `row`, the idle trouble first. Passes each result to
    /// `report`.
    pub fn hold(&self, row: &Method, seconds: u64, report: &mut dyn FnMut(&Cell)) -> Fallible<Vec<Cell>> {
        let mut cells: Vec<Cell> = Vec::new();
        for trouble in &self.troubles {
            let case = self.case(row, trouble, seconds);
            let mut cell =
                self.cell(row, trouble, &case).map_err(|error| format!("{}: {error}", case.name))?;
            if row.is_promised {
                cell.findings.extend(self.findings(&cell, cells.first().unwrap_or(&cell)));
            }
            report(&cell);
            cells.push(cell);
        }
        Ok(cells)
    }

    fn case(&self, row: &Method, trouble: &Trouble, seconds: u64) -> Case {
        let shared = |direction: &DirectionSpec| {
            let (discipline, flows) = (row.discipline.clone(), row.flows.clone());
            Some(DirectionSpec { discipline, flows, ..direction.clone() })
        };
        Case {
            name: format!("{}/{}", row.name, trouble.name),
            download: shared(&self.download),
            upload: shared(&self.upload),
            classes: Vec::new(),
            delay: self.delay.0,
            groups: trouble.flow.iter().chain(&self.flow).cloned().collect(),
            is_by_host: true,
            warm_up: seconds / 3,
            seconds,
            is_quick: false,
            is_exact: false,
            promises: Vec::new(),
            draws_classes: None,
        }
    }

    fn cell(&self, row: &Method, trouble: &Trouble, case: &Case) -> Fallible<Cell> {
        let document = document(row, case);
        let mut traffic = case.traffic();
        let wiring = Wiring { is_router: row.is_router, ..case.wiring() };
        if row.is_router {
            let downloads = traffic.flows.iter_mut().filter(|flow| flow.from == side(Way::Download));
            downloads.for_each(|flow| flow.receiver_behind = Some(public_address()));
        }
        let commands = row.htb.map(|limits| self.commands(limits));
        let middle = match &commands {
            None => Middle::Gateway(&document),
            Some(commands) => Middle::Both(commands, &document),
        };
        let mut run = Run::begin(wiring, middle, traffic)?;
        let seen = run.finish()?;
        let judged = judge(case, &run.traffic, &seen, 0.0);
        let way = judged.ways.iter().find(|judged| judged.way == trouble.direction);
        let groups = &way.ok_or("a way is missing")?.groups;
        let hosts = [A.0, B.0].map(|host| of_host(groups, host));
        Ok(Cell {
            row: row.name.clone(),
            trouble: trouble.name.clone(),
            mbps: hosts.map(|[got, _]| got / 1e6),
            off: hosts.map(|[got, fair]| if fair > 0.0 { got / fair - 1.0 } else { 0.0 }),
            quiet: pings(&run.traffic, &seen, "ping", case),
            own: pings(&run.traffic, &seen, OWN_PING, case),
            findings: balances(run.gateway())?,
            starved: run.starved(&seen)?,
        })
    }

    fn commands(&self, limits: [u32; 2]) -> Vec<String> {
        let mut commands = vec![
            "ip link add m0 type veth peer name m1".to_owned(),
            "ip link add bridge0 type bridge forward_delay 0 stp_state 0".to_owned(),
            format!("ip link set {} master bridge0", OUTSIDE.name),
            "ip link set m0 master bridge0".to_owned(),
            "ip link set m0 up".to_owned(),
            "ip link set m1 up".to_owned(),
            "ip link set bridge0 up".to_owned(),
        ];
        let ports = [("m0", &self.download), (OUTSIDE.name, &self.upload)];
        for ((device, direction), limit) in ports.into_iter().zip(limits) {
            let bps = direction.rate.0.bps();
            commands.extend([
                format!("tc qdisc add dev {device} root handle 1: htb default 1"),
                format!(
                    "tc class add dev {device} parent 1: classid 1:1 htb rate {bps}bit ceil {bps}bit overhead 24 mpu 84 quantum 3000"
                ),
                format!("tc qdisc add dev {device} parent 1:1 handle 10: pfifo limit {limit}"),
            ]);
        }
        commands
    }

    fn findings(&self, cell: &Cell, idle: &Cell) -> Vec<Finding> {
        let mut findings = Vec::new();
        let promised = &self.promised;
        for ((host, off), mbps) in [A.0, B.0].into_iter().zip(cell.off).zip(cell.mbps) {
            if cell.trouble != idle.trouble {
                let what = format!("{host} has {mbps:.2} Mbit/s, which is off its share by");
                findings.push(Finding::judged(what, off, Allowed::near(0.0, promised.share), None));
            }
        }
        let of_pings = [("quiet host", cell.quiet, idle.quiet), ("heavy host", cell.own, idle.own)];
        for (host, pings, idle) in of_pings {
            let max_ms = idle.p95_ms + promised.ping_above_idle.0.secs() * 1e3;
            let what = format!("95 of 100 pings of the {host}, ms");
            let finding = Finding::judged(what, pings.p95_ms, Allowed::at_most(max_ms), None);
            findings.push(finding.about(Subject::Time));
        }
        let lost = Allowed::at_most(promised.quiet_loss);
        findings.push(Finding::judged("of the quiet host's pings are lost", cell.quiet.loss, lost, None));
        findings
    }

    /// The table in Markdown.
    pub fn markdown(&self, cells: &[Cell]) -> String {
        let mut text = String::from("| |");
        for trouble in &self.troubles {
            let _ = write!(text, " {} |", trouble.title);
        }
        text += "\n|---|";
        text += &"---|".repeat(self.troubles.len());
        text.push('\n');
        for row in &self.rows {
            let own: Vec<&Cell> = cells.iter().filter(|cell| cell.row == row.name).collect();
            if own.is_empty() {
                continue;
            }
            let _ = write!(text, "| {} |", row.title);
            for cell in own {
                let form = |pings: Pings| match pings.p50_ms.is_nan() {
                    true => format!("-, {:.1} %", pings.loss * 100.0),
                    false => {
                        format!("{:.0} / {:.0}, {:.1} %", pings.p50_ms, pings.p95_ms, pings.loss * 100.0)
                    }
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
}

/// The rate and the fair share of `host`, bit/s, summed over its groups and their acknowledgements.
fn of_host(groups: &BTreeMap<String, [f64; 2]>, host: &str) -> [f64; 2] {
    let own = groups.iter().filter(|(name, _)| name.trim_start_matches("acks of ").starts_with(host));
    own.fold([0.0; 2], |sums, (_, group)| [sums[0] + group[0], sums[1] + group[1]])
}

/// The round trips of the pings of `group`. Both hosts send pings of the same number at once, so
/// the one-way delays are added.
fn pings(traffic: &Traffic, seen: &HostCounts, group: &str, case: &Case) -> Pings {
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
    let whole = trips.into_values().filter(|(ways, _)| *ways == 2).map(|(_, took)| took);
    let delay = Delay::of(whole.collect());
    let came = delay.map_or(0, |delay| delay.count);
    let [p50_ms, p95_ms] = delay.map_or([f64::NAN; 2], |delay| [delay.p50_ms, delay.p95_ms]);
    let sent = f64::from(to - from);
    Pings { p50_ms, p95_ms, loss: (1.0 - came as f64 / sent).max(0.0) }
}

fn document(row: &Method, case: &Case) -> Document {
    let mut document = case.document();
    let spec = &mut document.spec;
    if row.is_router {
        spec.wire.backend = Backend::Router(RouterSpec::default());
    }
    if row.htb.is_some() {
        spec.wire.outside = "m1".into();
        for direction in [&mut spec.download, &mut spec.upload].into_iter().flatten() {
            direction.rate = Quantity(WIDE);
            direction.discipline = Some(Choice::named("tail-drop"));
            direction.buffer = Some(Quantity(Amount::Time(Duration::from_ms(100))));
        }
    }
    if row.has_subscribers {
        let hosts = [A, B, ("quiet", UNCLAIMED)];
        let rows: String = hosts.iter().map(|(name, k)| format!("{name},10.{k}.0.0/16\n")).collect();
        return document.with_subscribers(format!("name,addresses\n{rows}"));
    }
    document
}

/// A cell as a line of text.
pub fn line(cell: &Cell) -> String {
    let text = format!(
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
    text + &report::misses(&cell.findings, cell.starved.as_deref())
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
            cell.holds()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::SUITE;
    use fairwire_service::config::Config;
    use fairwire_testbed::traffic::FlowCounts;

    fn home() -> Home {
        Home::read(Path::new(SUITE)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn cell(trouble: &str, off: f64, p95_ms: f64, loss: f64) -> Cell {
        let pings = Pings { p50_ms: 20.0, p95_ms, loss };
        Cell {
            row: "router".into(),
            trouble: trouble.into(),
            mbps: [24.0, 24.0],
            off: [off; 2],
            quiet: pings,
            own: pings,
            findings: Vec::new(),
            starved: None,
        }
    }

    #[test]
    fn rows_and_troubles_are_unchanged_and_the_gateway_reads_each() {
        let home = home();
        let names: Vec<&str> = home.rows.iter().map(|row| row.name.as_str()).collect();
        let rows = ["htb-50ms", "htb-1000", "faba", "drr", "classful", "default", "router", "router-drr"];
        assert_eq!(names, rows);
        let names: Vec<&str> = home.troubles.iter().map(|trouble| trouble.name.as_str()).collect();
        assert_eq!(names, ["idle", "cubic-64", "bbr-64", "bittorrent", "flood-down", "flood-up"]);
        for row in &home.rows {
            let document = document(row, &home.case(row, &home.troubles[0], 12));
            let text = document.text(Path::new("/run/field.sock"));
            let csv = document.subscribers().map(|csv| ("subscribers.csv", csv));
            Config::parse(&row.name, &text, csv).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }

    #[test]
    fn each_promise_of_a_home_can_be_broken() {
        let idle = cell("idle", f64::NAN, 21.0, 0.0);
        let broken =
            |cell: &Cell| home().findings(cell, &idle).iter().filter(|finding| finding.fails()).count();
        assert_eq!(broken(&idle), 0);
        assert_eq!(broken(&cell("x", 0.019, 30.0, 0.0)), 0);
        assert_eq!(broken(&cell("x", -0.03, 30.0, 0.0)), 2);
        assert_eq!(broken(&cell("x", f64::NAN, f64::NAN, 0.0)), 4);
        assert_eq!(broken(&cell("x", 0.0, 31.1, 0.01)), 3);
    }

    #[test]
    fn a_round_trip_needs_both_directions_or_counts_as_lost() {
        let home = home();
        let case = home.case(&home.rows[0], &home.troubles[0], 3);
        let traffic = case.traffic();
        let ms = 1_000_000;
        let seen = |flow: &fairwire_testbed::traffic::Flow| FlowCounts {
            delays_ns: vec![(0, 12 * ms); 300],
            numbers: (0..300)
                .map(|n| if flow.from == side(Way::Upload) && n % 4 == 0 { 1000 } else { n })
                .collect(),
            ..FlowCounts::default()
        };
        let seen = HostCounts { flows: traffic.flows.iter().map(seen).collect(), ..HostCounts::default() };
        let found = pings(&traffic, &seen, "ping", &case);
        assert_eq!((found.p50_ms, found.p95_ms), (24.0, 24.0));
        assert!((found.loss - 0.25).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn the_share_of_a_host_is_the_sum_of_its_groups() {
        let groups = [("A down", 2.0), ("acks of A up", 1.0), ("B", 5.0), ("ping", 9.0)];
        let groups = groups.map(|(name, got)| (name.to_owned(), [got, got * 2.0])).into();
        assert_eq!((of_host(&groups, A.0), of_host(&groups, B.0)), ([3.0, 6.0], [5.0, 10.0]));
    }
}
