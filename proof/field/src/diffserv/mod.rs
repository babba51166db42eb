//! A live DiffServ domain with adaptive token buckets: three gateways, configured as in the recipe
//! (`docs/gateway/diffserv.md`), and this kernel's TCP.

mod network;

use crate::fallible::Fallible;
use crate::fault::Happened;
use crate::finding::{Finding, Subject, balances};
use crate::gateway::{Gateway, simulator};
use crate::tries::starved;
use crate::world::server;
use fairwire_control::snapshot::{EdgeSnapshot, Snapshot};
use fairwire_core::{Duration, RateRequest, Time};
use fairwire_linux::clock;
use fairwire_metrics::judge::Allowed;
use fairwire_service::edges::report::{ClassId, ClassReport, EdgeReport, Key};
use fairwire_testbed::agents::Agents;
use fairwire_testbed::bed::Side;
use fairwire_testbed::pid_namespace::SCRATCH;
use fairwire_testbed::traffic::{Flow, Sends, Traffic};
use network::Domain;
use std::fs;
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::Command;

const INGRESS: &str = include_str!("../../../../docs/gateway/diffserv/ingress.toml");
const CORE: &str = include_str!("../../../../docs/gateway/diffserv/core.toml");
const EGRESS: &str = include_str!("../../../../docs/gateway/diffserv/egress.toml");
const SCENARIO: &str = include_str!("../../../../docs/gateway/diffserv/scenario.toml");
/// The contracts, Mbit/s.
const CONTRACTS: [(&str, f64); 4] = [("north", 1.0), ("east", 2.0), ("south", 3.0), ("west", 4.0)];
const RATE_MBPS: f64 = 15.0;
/// A rate below the sum of all contracts.
const OVER_MBPS: f64 = 8.0;
const FLOWS: u16 = 20;
const KEY: &str = "this is no secret: it is a key for tests";
/// The seeds of the simulation. Gains differ by a percent or two between seeds.
const SEEDS: &str = "1,2,3,4,5";
/// The allowed deviation of live gains from simulated ones.
const NEAR: f64 = 0.1;
/// The bounds of live gain divided by simulated gain, known from ten runs. They apply to moving
/// targets if the sum of the contracts exceeds the link's rate.
const FAIRER: Allowed = Allowed { min: 0.7, max: 1.3 };
const WHY_FAIRER: &str = "live targets come down to the link's rate, and simulated ones less: gains are nearer to 1 live; this \
                          kernel's receivers acknowledge more and its senders repair sooner, which explains a part \
                          (docs/gateway/measured.md)";
/// The maximum share of reports in all traffic, thousandths.
const REPORTS: f64 = 1.0;

#[derive(Clone, Copy, PartialEq)]
enum Markers {
    /// Fixed contracts.
    Fixed,
    /// Moving targets.
    Adaptive,
}

/// For each file, the adaptive marker and its replacement for fixed targets.
const ADAPTIVE: [[&str; 2]; 2] = [
    ["marker = \"adaptive-token-bucket\"", "marker = \"token-bucket\""],
    ["marker = { adaptive-token-bucket =", "marker = { token-bucket ="],
];

impl Markers {
    fn in_file(self, text: &str) -> String {
        match self {
            Markers::Fixed => {
                ADAPTIVE.iter().fold(text.to_owned(), |text, [adaptive, fixed]| text.replace(adaptive, fixed))
            }
            Markers::Adaptive => text.to_owned(),
        }
    }

    /// The length of a run and of its unmeasured start, seconds. Adaptive targets move by only 0.5
    /// % of the contract per second.
    fn seconds(self) -> (f64, f64) {
        match self {
            Markers::Fixed => (120.0, 40.0),
            Markers::Adaptive => (240.0, 140.0),
        }
    }
}

type Promise = (&'static str, &'static str, fn(&mut Happened) -> Fallible<()>);

const PROMISES: [Promise; 4] = [
    ("diffserv-under-fixed", GAINS, |happened| gains(happened, Markers::Fixed, RATE_MBPS)),
    ("diffserv-under-adaptive", GAINS, |happened| gains(happened, Markers::Adaptive, RATE_MBPS)),
    ("diffserv-over-fixed", GAINS, |happened| gains(happened, Markers::Fixed, OVER_MBPS)),
    ("diffserv-over-adaptive", GAINS, |happened| gains(happened, Markers::Adaptive, OVER_MBPS)),
];

const GAINS: &str = "each contract gains what it does in the simulation, within 10 %";

/// The cases selected by name.
pub fn all(is_wanted: &dyn Fn(&str) -> bool) -> Vec<Happened> {
    let wanted = PROMISES.iter().filter(|(name, ..)| is_wanted(name));
    let held =
        |(name, promised, hold): &Promise| Happened::tried(false, &mut || Happened::of(name, promised, hold));
    wanted.map(held).collect()
}

struct Run {
    domain: Domain,
    ingress: Gateway,
    core: Gateway,
    egress: Gateway,
    agents: Agents,
    start: Time,
    waited_before_s: f64,
}

impl Run {
    fn begin(ingress: &str, core: &str, seconds: f64) -> Fallible<Run> {
        let domain = Domain::new()?;
        let ingress = gateway(&domain.ingress, "ingress", ingress)?;
        let core = gateway(&domain.core, "core", core)?;
        let egress = gateway(&domain.egress, "egress", EGRESS)?;
        let mut agents = Agents::start([&domain.receivers, &domain.customers], &traffic(seconds))?;
        let start = clock::now() + Duration::from_ms(50);
        agents.begin(start)?;
        let mut run = Run { domain, ingress, core, egress, agents, start, waited_before_s: 0.0 };
        run.waited_before_s = run.gateways_waited_s();
        Ok(run)
    }

    fn wait_until(&self, seconds: f64) {
        clock::sleep_until(self.start + Duration::from_secs_f64(seconds));
    }

    fn gateways_waited_s(&self) -> f64 {
        [&self.ingress, &self.core, &self.egress].into_iter().map(Gateway::waited_s).sum()
    }

    fn finish(mut self, happened: &mut Happened, seconds: f64) -> Fallible<()> {
        self.agents.finish()?;
        let path = self.domain.finish_path()?;
        for gateway in [&self.ingress, &self.core, &self.egress] {
            happened.findings.extend(balances(gateway)?);
        }
        let gateways = [&self.ingress, &self.core, &self.egress];
        let unfetched = gateways.into_iter().map(Gateway::overflows).sum::<Fallible<u64>>()?;
        let waited_s = self.gateways_waited_s() - self.waited_before_s + path.waited_ns as f64 / 1e9;
        // The limit is for a single gateway, so the mean of all gateways is compared.
        let waited_s = waited_s / gateways.len() as f64;
        let kept = starved(waited_s, seconds, unfetched + path.overflowed + path.failed);
        happened.starved = happened.starved.take().or(kept);
        Ok(())
    }
}

fn gateway(host: &fairwire_testbed::host::Host, name: &str, text: &str) -> Fallible<Gateway> {
    let folder = Path::new(SCRATCH).join(format!("{name}-{}", clock::now().ns()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("edge.key"), KEY)?;
    Gateway::start_in(host, &folder, &|socket| {
        format!("{text}\n[telemetry]\nsocket = \"{}\"\n", socket.display())
    })
}

/// The connections start in turn within a second, as in the scenario.
fn traffic(seconds: f64) -> Traffic {
    let duration_ns = (seconds * 1e9) as u64;
    let flow = |class: usize, number: u16| {
        let place = class as u16 * FLOWS + number;
        Flow {
            group: CONTRACTS[class].0.into(),
            sends: Sends::Tcp("reno".into()),
            from: Side::Right,
            source: Ipv4Addr::new(10, class as u8 + 1, 0, number as u8 + 1).into(),
            destination: server(place, false),
            start_ns: u64::from(place) * 1_000_000_000 / u64::from(4 * FLOWS),
            stop_ns: duration_ns,
            receiver_behind: None,
            ecn: true,
        }
    };
    let flows = (0..CONTRACTS.len()).flat_map(|class| (0..FLOWS).map(move |number| flow(class, number)));
    Traffic { is_tapped: false, ..Traffic::new(flows.collect(), duration_ns) }
}

fn gains(happened: &mut Happened, markers: Markers, rate_mbps: f64) -> Fallible<()> {
    let (seconds, warm_up) = markers.seconds();
    let scenario = at_rate(&markers.in_file(SCENARIO), rate_mbps);
    let simulated = simulated(Path::new(SCRATCH), &scenario, seconds, warm_up)?;
    let run = Run::begin(&markers.in_file(INGRESS), &at_rate(CORE, rate_mbps), seconds)?;
    run.wait_until(warm_up);
    let before = classes(&run.egress)?;
    run.wait_until(seconds - 0.5); // connections end in turn
    let after = classes(&run.egress)?;
    let all = after.uptime_s - before.uptime_s;
    let contracts: f64 = CONTRACTS.iter().map(|(_, contract)| contract).sum();
    for ((name, contract), simulated) in CONTRACTS.into_iter().zip(simulated) {
        let bytes = [&after, &before].map(|snapshot| bytes_out(snapshot, name));
        let mbps = (bytes[0] - bytes[1]) * 8.0 / all / 1e6;
        let gain = mbps / (rate_mbps * contract / contracts);
        happened.count(&format!("{name}, Mbit/s"), mbps);
        happened.count(&format!("gain of {name}"), gain);
        happened.count(&format!("gain of {name}, simulated"), simulated);
        let (what, off) = (format!("gain of {name} over the simulated one"), gain / simulated);
        happened.count(&what, off);
        let allowed = Allowed { min: 1.0 - NEAR, max: 1.0 + NEAR };
        let known = (markers == Markers::Adaptive && rate_mbps < contracts).then_some((FAIRER, WHY_FAIRER));
        happened.findings.push(Finding::judged(&what, off, allowed, known).about(Subject::Time));
    }
    let edge = edge(&run.ingress)?;
    for class in &edge.classes {
        if let Some(target) = class.target_bps {
            happened.count(&format!("target of {}, Mbit/s", class.class), target / 1e6);
        }
    }
    let reports = self::edge(&run.egress)?;
    // Each report also has the headers of UDP and IPv4, and Ethernet's header, checksum, preamble
    // and gap.
    let sent = reports.report_bytes_sent as f64 + reports.reports_sent as f64 * (8.0 + 20.0 + 38.0);
    let core = run.core.status()?;
    let totals = &core.ways[1].totals;
    for (what, causes) in [("dropped", &totals.dropped), ("marked", &totals.marked)] {
        for (cause, count) in causes.iter().filter(|(_, count)| **count > 0) {
            happened.count(&format!("{what} by the core: {cause}"), *count as f64);
        }
    }
    happened.count("packets that came to the core", totals.packets_in as f64);
    happened.count("median wait in the core in the last second, ms", core.ways[1].sojourn.p50_s * 1e3);
    let traffic = totals.bytes_out as f64;
    happened.expect("reports, thousandths of the traffic", 1e3 * sent / traffic, Allowed::at_most(REPORTS));
    let heard = edge.reports_received as f64 / reports.reports_sent.max(1) as f64;
    happened.expect("reports heard, part of those sent", heard, Allowed::at_least(0.99));
    let refused: u64 = edge.reports_refused.values().sum();
    happened.expect("reports refused", refused as f64, Allowed::at_most(0.0));
    run.finish(happened, seconds)
}

fn classes(gateway: &Gateway) -> Fallible<Snapshot> {
    gateway.status_with_classes()
}

fn bytes_out(snapshot: &Snapshot, name: &str) -> f64 {
    let classes = snapshot.ways.first().map(|way| way.classes.as_slice()).unwrap_or_default();
    classes.iter().find(|class| class.class == name).map_or(f64::NAN, |class| class.bytes_out as f64)
}

fn edge(gateway: &Gateway) -> Fallible<EdgeSnapshot> {
    Ok(gateway.status()?.edge.ok_or("a gateway is no edge")?)
}

fn at_rate(text: &str, mbps: f64) -> String {
    text.replace(&format!("rate = \"{RATE_MBPS} Mbit/s\""), &format!("rate = \"{mbps} Mbit/s\""))
}

/// The mean gains in the simulated domain, in the order of [`CONTRACTS`].
fn simulated(folder: &Path, scenario: &str, seconds: f64, warm_up: f64) -> Fallible<Vec<f64>> {
    let file = folder.join(format!("scenario-{}.toml", clock::now().ns()));
    fs::write(&file, scenario)?;
    let output = Command::new(simulator()?)
        .args(["run", "--quiet", "--format", "json", "--seeds", SEEDS])
        .args(["--set", &format!("duration={seconds} s"), "--set", &format!("warm_up={warm_up} s")])
        .arg(&file)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let runs = report["runs"].as_array().ok_or("the simulation has no runs")?;
    let gain = |run: &serde_json::Value, name: &str| {
        let aggregates = run["aggregates"].as_array()?;
        aggregates.iter().find(|aggregate| aggregate["name"] == name)?["gain"].as_f64()
    };
    let mean = |name| {
        let gains: Option<Vec<f64>> = runs.iter().map(|run| gain(run, name)).collect();
        let gains = gains.filter(|gains| !gains.is_empty());
        gains.map(|gains| gains.iter().sum::<f64>() / gains.len() as f64)
    };
    let all: Option<Vec<f64>> = CONTRACTS.iter().map(|(name, _)| mean(name)).collect();
    Ok(all.ok_or("the simulation has no gains")?)
}

/// The setting for the run with faults: the step by which targets move every 20 ms. Targets return
/// to their contracts within seconds.
const QUICK_STEP: &str = "delta = 0.005, burst";
/// The minimum share of the link that TCP must use, percent.
const IN_USE: f64 = 85.0;

pub(crate) fn faults_of_edges(happened: &mut Happened) -> Fallible<()> {
    let seconds = 30.0;
    let mut run = Run::begin(&INGRESS.replace("burst", QUICK_STEP), CORE, seconds)?;
    run.wait_until(6.0);
    happened.expect("farthest target from its contract at first, part", farthest(&run)?, MOVED);
    let before = core_bytes(&run)?;

    run.domain.set_reports(false)?;
    run.wait_until(15.0);
    let silent = edge(&run.ingress)?;
    happened.expect("the same with the channel cut, part", farthest(&run)?, AT_CONTRACT);
    happened.expect(
        "seconds without a report",
        silent.heard_s_ago.unwrap_or(f64::NAN),
        Allowed::at_least(7.0),
    );
    run.domain.set_reports(true)?;
    run.wait_until(19.0);
    happened.expect("the same with the channel mended, part", farthest(&run)?, MOVED);

    hostile(&run)?;
    run.wait_until(20.0);
    let refused = edge(&run.ingress)?.reports_refused;
    for (reason, least) in [("malformed", 2.0), ("forged", 1.0), ("clock", 1.0), ("replayed", 1.0)] {
        let count = refused.get(reason).map_or(f64::NAN, |count| *count as f64);
        happened.expect(&format!("datagrams refused as {reason}"), count, Allowed::at_least(least));
    }

    run.egress.stop()?;
    run.egress = gateway(&run.domain.egress, "egress", EGRESS)?;
    run.ingress.stop()?;
    run.ingress = gateway(&run.domain.ingress, "ingress", &INGRESS.replace("burst", QUICK_STEP))?;
    happened.expect(
        "the same of an ingress that has begun anew, part",
        farthest(&run)?,
        Allowed::at_most(0.3),
    );
    run.wait_until(28.0);
    happened.expect("the same with both edges restarted, part", farthest(&run)?, MOVED);
    let after = core_bytes(&run)?;
    let percent = (after.1 - before.1) * 8.0 / (after.0 - before.0) / (RATE_MBPS * 1e6) * 100.0;
    happened.expect_in_time("of the link TCP used all the time, %", percent, Allowed::at_least(IN_USE));
    run.finish(happened, seconds)
}

/// A moved target's distance from its contract, as a fraction of the contract.
const MOVED: Allowed = Allowed { min: 0.05, max: f64::INFINITY };
const AT_CONTRACT: Allowed = Allowed { min: 0.0, max: 0.0 };

fn farthest(run: &Run) -> Fallible<f64> {
    let edge = edge(&run.ingress)?;
    let target = |name: &str| {
        let class = edge.classes.iter().find(|class| class.class == name);
        class.and_then(|class| class.target_bps).unwrap_or(f64::NAN)
    };
    let off = CONTRACTS.iter().map(|(name, contract)| (target(name) / (contract * 1e6) - 1.0).abs());
    Ok(off.fold(0.0, f64::max))
}

fn core_bytes(run: &Run) -> Fallible<(f64, f64)> {
    let status = run.core.status()?;
    Ok((status.uptime_s, status.ways[1].totals.bytes_out as f64))
}

/// Sends invalid reports from the host of the egress to the ingress.
fn hostile(run: &Run) -> Fallible<()> {
    let class = ClassReport { class: ClassId::of("north"), request: RateRequest::Increase, estimate: 0.0 };
    let report = |sent_ns| EdgeReport { sent_ns, classes: vec![class] };
    let (now_ns, own) = (clock::calendar().ns(), Key::new(KEY.as_bytes()));
    let old = report(now_ns - 3_600_000_000_000).encode(&own);
    let again = report(now_ns - 2_000_000_000).encode(&own); // newer ones have been accepted since
    let forged = report(now_ns + 1_000_000_000).encode(&Key::new(b"another key of both"));
    run.domain.egress.at(|| {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        for bytes in [&b"noise"[..], &[], &old, &again, &forged] {
            socket.send_to(bytes, (Ipv4Addr::new(192, 0, 2, 1), 9830))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_service::config::Config;
    use fairwire_testing::skipped;

    #[test]
    fn the_simulator_gives_the_gains_of_the_domain() {
        if simulator().is_err() {
            return skipped("the simulation of the DiffServ domain: `fairwire` is not built");
        }
        let folder = std::env::temp_dir().join(format!("fairwire-diffserv-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("it is new");
        let gains = simulated(&folder, SCENARIO, 10.0, 2.0).expect("it runs");
        fs::remove_dir_all(&folder).expect("it is ours");
        // In 10 s the targets have hardly changed, so small contracts still have the largest gains.
        assert!(gains.is_sorted_by(|more, less| more > less), "{gains:?}");
        // Targets that never change give gains of 0.81 to 1.56 (`make field ARGS=diffserv`).
        // Adaptive targets give a narrower range.
        assert!(gains.iter().all(|gain| (0.7..1.7).contains(gain)), "{gains:?}");
    }

    #[test]
    fn the_recipe_has_the_judged_contracts() {
        let ingress = Config::parse("ingress.toml", INGRESS, None).expect("it makes sense");
        let egress = Config::parse("egress.toml", EGRESS, None).expect("it makes sense");
        Config::parse("core.toml", CORE, None).expect("it makes sense");
        for ((name, contract), number) in CONTRACTS.into_iter().zip(1..) {
            assert_eq!([ingress.book().number(name), egress.book().number(name)], [Some(number); 2]);
            let marker = format!(
                "{{ id = {number}, marker = {{ adaptive-token-bucket = {{ rate = \"{contract} Mbit/s\""
            );
            assert!(INGRESS.contains(&marker), "{marker}");
            assert!(
                SCENARIO.contains(&format!("name = \"{name}\"\ntarget = \"{contract} Mbit/s\"")),
                "{name}"
            );
        }
        assert!(CORE.contains(&format!("rate = \"{RATE_MBPS} Mbit/s\"")));
        assert!(SCENARIO.contains(&format!("count = {FLOWS}\n")));
        let quick = INGRESS.replace("burst", QUICK_STEP);
        let [fixed, scenario] = [INGRESS, SCENARIO].map(|text| Markers::Fixed.in_file(text));
        for text in [quick, fixed.clone()] {
            Config::parse("ingress.toml", &text, None).expect("it makes sense with other markers");
        }
        assert!(!fixed.contains("adaptive") && !scenario.contains("marker = \"adaptive"));
    }
}
