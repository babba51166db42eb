//! The dumbbell networks in `proof/suite/peers`, with the arguments for each simulator.

use crate::answer::Dialect;
use crate::child::{Failure, Took, measured};
use fairwire_core::units::{Amount, Room};
use fairwire_core::{Duration, Rate};
use fairwire_scenario::{Delays, FlowSpec, Overrides, load};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The name of the case, and of its file.
    pub name: &'static str,
    /// The scenario.
    file: PathBuf,
    tcp: u32,
    cbr: u32,
    rate: Rate,
    buffer: u64,
    /// The end of the interval in which the flows start at random times.
    starts: Duration,
    /// The simulated time.
    pub lasts: Duration,
    has_access: bool,
    /// The reduced case for ns-3; `None` if ns-3 cannot simulate the case.
    pub in_ns3: Option<InNs3>,
}

/// A shorter case, because ns-3 is slow. The flows share pairs of hosts, which is faster in ns-3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InNs3 {
    /// The number of pairs of hosts; 0 for one pair per flow.
    hosts: u32,
    /// The simulated time.
    pub lasts: Duration,
}

pub(crate) const COMPARED: [&str; 4] = ["nine", "nine-lean", "thousand", "ten-thousand"];

const IN_NS3: [(&str, InNs3); 3] = [
    ("nine", InNs3 { hosts: 0, lasts: Duration::from_secs(100) }),
    ("thousand", InNs3 { hosts: 32, lasts: Duration::from_secs(2) }),
    ("ten-thousand", InNs3 { hosts: 100, lasts: Duration::from_ms(400) }),
];

/// Cases only for fairwire. The first five have 1 Mbit/s per flow; the last two have the link of
/// `ladder-100000`.
pub(crate) const LADDER: [&str; 7] =
    ["ladder-10", "ladder-100", "ladder-1000", "ladder-10000", "ladder-100000", "million", "thousand-fast"];

/// A case with a hundred thousand flows, which ends before the flows send.
pub(crate) const SET_UP: &str = "set-up";

impl Case {
    pub(crate) fn read(name: &'static str, root: &Path) -> Result<Case, Failure> {
        let file = root.join(format!("proof/suite/peers/{name}.toml"));
        let scenario = load(&file, &Overrides::default())?;
        let spec = scenario.spec();
        let wrong = |what: &str| format!("{}: {what}", file.display());
        let Some(link) = spec.shared_link() else { return Err(wrong("it has no shared link").into()) };
        let (Some(rate), Room::Amount(Amount::Packets(buffer))) = (&link.rate, link.buffer.0) else {
            return Err(wrong("its link has no constant rate, or a buffer that is not in packets").into());
        };
        let group = |name: &str| spec.flow.iter().find(|flow| flow.group == name);
        let tcp = group("tcp").ok_or_else(|| wrong("it has no group called tcp"))?;
        Ok(Case {
            name,
            tcp: tcp.count(),
            cbr: group("udp").map_or(0, FlowSpec::count),
            rate: rate.0,
            buffer: buffer.into(),
            starts: tcp.start.unwrap_or_default().latest,
            lasts: spec.duration.0,
            has_access: has_access(tcp),
            in_ns3: IN_NS3.iter().find(|(known, _)| *known == name).map(|(_, size)| *size),
            file,
        })
    }

    pub(crate) fn flows(&self) -> u32 {
        self.tcp + self.cbr
    }
}

fn has_access(flow: &FlowSpec) -> bool {
    flow.access.delay != Some(Delays::Fixed(Duration::ZERO))
}

/// One simulator.
#[derive(Clone, Debug)]
pub(crate) enum Contestant {
    /// fairwire, built with this benchmark.
    Fairwire,
    /// ns-2, with our script.
    Ns2,
    /// ns-3, with our program, compiled here.
    Ns3(PathBuf),
}

impl Contestant {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Contestant::Fairwire => "fairwire",
            Contestant::Ns2 => "ns-2",
            Contestant::Ns3(_) => "ns-3",
        }
    }

    pub(crate) fn run(&self, case: &Case, root: &Path) -> Result<Option<Took>, Failure> {
        Ok(Some(match (self, case.in_ns3) {
            (Contestant::Fairwire, _) => measured(&fairwire(case), Dialect::Json)?,
            (Contestant::Ns2, _) => measured(&ns2(case, root), Dialect::Lines)?,
            (Contestant::Ns3(program), Some(size)) => measured(&ns3(case, size, program), Dialect::Lines)?,
            (Contestant::Ns3(_), None) => return Ok(None),
        }))
    }
}

fn fairwire(case: &Case) -> Vec<String> {
    let file = case.file.display().to_string();
    [env!("CARGO_BIN_EXE_fairwire"), "run", &file, "--quiet", "--jobs=1", "--format=json"]
        .map(String::from)
        .into()
}

fn ns2(case: &Case, root: &Path) -> Vec<String> {
    let layout = if case.has_access { "full" } else { "lean" };
    let mut words = vec!["ns".to_string(), root.join("proof/bench/dumbbell.tcl").display().to_string()];
    let options = sizes(case, case.lasts).into_iter().chain([("layout", layout.into())]);
    words.extend(options.flat_map(|(name, value)| [format!("-{name}"), value]));
    words
}

fn ns3(case: &Case, size: InNs3, program: &Path) -> Vec<String> {
    let options = sizes(case, size.lasts).into_iter().chain([("hosts", size.hosts.to_string())]);
    let program = std::iter::once(program.display().to_string());
    program.chain(options.map(|(name, value)| format!("--{name}={value}"))).collect()
}

fn sizes(case: &Case, lasts: Duration) -> [(&'static str, String); 6] {
    [
        ("flows", case.tcp.to_string()),
        ("cbr", case.cbr.to_string()),
        ("rate", case.rate.bps().to_string()),
        ("buffer", case.buffer.to_string()),
        ("duration", lasts.secs().to_string()),
        ("starts", case.starts.secs().to_string()),
    ]
}

pub(crate) fn has_ns2() -> bool {
    // With empty input, ns-2 exits immediately.
    let started = Command::new("ns").stdin(Stdio::null()).stdout(Stdio::null()).status();
    started.is_ok_and(|status| status.success())
}

/// Compiles our program for ns-3. `None` without ns-3 or a compiler.
pub(crate) fn compiled_ns3(root: &Path) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ns3-dumbbell");
    let libraries = ["applications", "internet", "point-to-point", "traffic-control", "network", "core"];
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O3", "-o"])
        .arg(&program)
        .arg(root.join("proof/bench/ns3/dumbbell.cc"))
        .args(libraries.map(|name| format!("-lns3-{name}")))
        .stderr(Stdio::null())
        .status();
    compiled.is_ok_and(|status| status.success()).then_some(program)
}
