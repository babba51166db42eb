//! The dumbbells, and how each simulator is asked for one.

use crate::answer::Dialect;
use crate::child::{Failure, Took, measured};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One size of the dumbbell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// What it is called.
    pub name: &'static str,
    /// TCP flows.
    pub tcp: u32,
    /// UDP flows of 5 Mbit/s.
    pub cbr: u32,
    /// Rate of the shared link, Mbit/s.
    pub mbps: u32,
    /// Packets that may wait.
    pub buffer: u32,
    /// Flows start at random before this, milliseconds.
    pub starts_ms: u32,
    /// Simulated milliseconds.
    pub lasts_ms: u32,
    /// Has each flow links of its own?
    pub has_access: bool,
    /// What ns-3 simulates of it, where it can.
    pub in_ns3: Option<InNs3>,
}

/// What ns-3 simulates: less time, since it is slow, and pairs of hosts that share the flows, which is its faster layout.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InNs3 {
    /// Pairs of hosts; 0 for one for each flow.
    pub hosts: u32,
    /// Simulated milliseconds.
    pub lasts_ms: u32,
}

const NINE: Case = Case {
    name: "nine",
    tcp: 9,
    cbr: 1,
    mbps: 10,
    buffer: 780,
    starts_ms: 1000,
    lasts_ms: 1_000_000,
    has_access: true,
    in_ns3: Some(InNs3 { hosts: 0, lasts_ms: 100_000 }),
};

const THOUSAND: Case = Case {
    name: "thousand",
    tcp: 1000,
    cbr: 0,
    mbps: 1000,
    buffer: 7812,
    starts_ms: 200,
    lasts_ms: 20_000,
    has_access: true,
    in_ns3: Some(InNs3 { hosts: 32, lasts_ms: 2000 }),
};

/// Those that are compared. Buffers are one bandwidth-delay product, but for the nine flows, which have that of
/// `scenarios/selfish-flow.toml`.
pub(crate) const COMPARED: [Case; 4] = [
    NINE,
    Case { name: "nine-lean", has_access: false, in_ns3: None, ..NINE },
    THOUSAND,
    Case {
        name: "ten-thousand",
        tcp: 10_000,
        mbps: 10_000,
        buffer: 78_125,
        lasts_ms: 2000,
        in_ns3: Some(InNs3 { hosts: 100, lasts_ms: 400 }),
        ..THOUSAND
    },
];

/// Ours alone: 1 Mbit/s for each flow up to a hundred thousand, then a million on the same link; and a thousand on that link. The
/// million run for as long as ten thousand do: in half a second each sends ten packets, and what is made once for each is a third.
pub(crate) const LADDER: [Case; 7] = [
    ours(10, 10, 312, 400_000),
    ours(100, 100, 781, 40_000),
    ours(1000, 1000, 7812, 10_000),
    ours(10_000, 10_000, 78_125, 2000),
    ours(100_000, 100_000, 781_250, 500),
    Case { name: "million", ..ours(1_000_000, 100_000, 781_250, 2000) },
    Case { name: "thousand-fast", ..ours(1000, 100_000, 781_250, 500) },
];

/// A hundred thousand flows that do not get to send.
pub(crate) const SET_UP: Case = Case { starts_ms: 1, lasts_ms: 2, ..ours(100_000, 100_000, 781_250, 0) };

const fn ours(tcp: u32, mbps: u32, buffer: u32, lasts_ms: u32) -> Case {
    Case {
        name: "ladder",
        tcp,
        cbr: 0,
        mbps,
        buffer,
        starts_ms: 200,
        lasts_ms,
        has_access: true,
        in_ns3: None,
    }
}

impl Case {
    /// TCP and UDP flows.
    pub(crate) fn flows(&self) -> u32 {
        self.tcp + self.cbr
    }
}

/// One simulator.
#[derive(Clone, Debug)]
pub(crate) enum Contestant {
    /// Ours, built with this benchmark.
    Fairwire,
    /// ns-2 with our script.
    Ns2,
    /// ns-3 with our program, compiled here.
    Ns3(PathBuf),
}

impl Contestant {
    /// Its name in tables and records.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Contestant::Fairwire => "fairwire",
            Contestant::Ns2 => "ns-2",
            Contestant::Ns3(_) => "ns-3",
        }
    }

    /// Simulates `case` once; none where it cannot.
    pub(crate) fn run(&self, case: &Case, root: &Path) -> Result<Option<Took>, Failure> {
        Ok(Some(match (self, case.in_ns3) {
            (Contestant::Fairwire, _) => measured(&fairwire(case, root), Dialect::Json)?,
            (Contestant::Ns2, _) => measured(&ns2(case, root), Dialect::Lines)?,
            (Contestant::Ns3(program), Some(size)) => measured(&ns3(case, size, program), Dialect::Lines)?,
            (Contestant::Ns3(_), None) => return Ok(None),
        }))
    }
}

fn fairwire(case: &Case, root: &Path) -> Vec<String> {
    let file = if case.cbr > 0 { "bench/nine-and-one.toml" } else { "bench/dumbbell.toml" };
    let mut words: Vec<String> = [
        env!("CARGO_BIN_EXE_fairwire"),
        "run",
        &root.join(file).display().to_string(),
        "--quiet",
        "--jobs=1",
        "--format=json",
    ]
    .map(String::from)
    .into();
    let mut set = |path: &str, value: String| words.push(format!("--set={path}={value}"));
    set("flow.tcp.count", case.tcp.to_string());
    set("link.rate", format!("\"{} Mbit/s\"", case.mbps));
    set("link.buffer", format!("\"{} packets\"", case.buffer));
    set("duration", format!("\"{} ms\"", case.lasts_ms));
    set("flow.tcp.start", format!("\"0 s..{} ms\"", case.starts_ms));
    if !case.has_access {
        // A link so fast that it takes no time, and all of the delay in the middle.
        let groups = if case.cbr > 0 { &["tcp", "udp"][..] } else { &["tcp"] };
        for group in groups {
            set(&format!("flow.{group}.access"), r#"{ rate = "1 Tbit/s", delay = "0 s" }"#.into());
        }
        set("link.delay", "\"16 ms\"".into());
    }
    words
}

fn ns2(case: &Case, root: &Path) -> Vec<String> {
    let layout = if case.has_access { "full" } else { "lean" };
    let mut words = vec!["ns".to_string(), root.join("bench/dumbbell.tcl").display().to_string()];
    let options = [
        ("flows", case.tcp.to_string()),
        ("cbr", case.cbr.to_string()),
        ("rate", (f64::from(case.mbps) * 1e6).to_string()),
        ("buffer", case.buffer.to_string()),
        ("duration", seconds(case.lasts_ms)),
        ("starts", seconds(case.starts_ms)),
        ("layout", layout.into()),
    ];
    words.extend(options.into_iter().flat_map(|(name, value)| [format!("-{name}"), value]));
    words
}

fn ns3(case: &Case, size: InNs3, program: &Path) -> Vec<String> {
    let options = [
        ("flows", case.tcp.to_string()),
        ("cbr", case.cbr.to_string()),
        ("hosts", size.hosts.to_string()),
        ("rate", (f64::from(case.mbps) * 1e6).to_string()),
        ("buffer", case.buffer.to_string()),
        ("duration", seconds(size.lasts_ms)),
        ("starts", seconds(case.starts_ms)),
    ];
    let program = std::iter::once(program.display().to_string());
    program.chain(options.into_iter().map(|(name, value)| format!("--{name}={value}"))).collect()
}

fn seconds(ms: u32) -> String {
    (f64::from(ms) / 1e3).to_string()
}

/// Is there a program `ns` on the path?
pub(crate) fn has_ns2() -> bool {
    // With nothing to read, ns-2 ends at once.
    let started = Command::new("ns").stdin(Stdio::null()).stdout(Stdio::null()).status();
    started.is_ok_and(|status| status.success())
}

/// Our program for ns-3, compiled against the one installed; none where there is none, or no compiler.
pub(crate) fn compiled_ns3(root: &Path) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ns3-dumbbell");
    let libraries = ["applications", "internet", "point-to-point", "traffic-control", "network", "core"];
    let compiled = Command::new("g++")
        .args(["-std=c++17", "-O3", "-o"])
        .arg(&program)
        .arg(root.join("bench/ns3/dumbbell.cc"))
        .args(libraries.map(|name| format!("-lns3-{name}")))
        .stderr(Stdio::null())
        .status();
    compiled.is_ok_and(|status| status.success()).then_some(program)
}
