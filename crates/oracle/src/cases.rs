//! The cases, as data: a discipline of ours, its counterpart in the kernel, the traffic, and what may differ and why.

use crate::compare::{Figure, Tolerance};
use crate::frame::FIRST_PORT;
use crate::trace::{Flow, Traffic};
use fairwire_core::{Duration, Ecn, Rate};

/// The rate of the link: one byte in one microsecond, so that service times are exact on both sides.
pub const RATE: Rate = match Rate::from_bps(8_000_000) {
    Some(rate) => rate,
    None => panic!("not zero"),
};

/// One case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Our discipline.
    pub ours: &'static str,
    /// Its parameters, as in a scenario file.
    pub parameters: &'static str,
    /// The kernel's discipline and its parameters, as `tc` takes them.
    pub kernel: &'static str,
    /// Further lines for `tc`, said for each flow: FLOW is its number from 1 on, PORT its source port.
    pub per_flow: &'static [&'static str],
    /// What limits the rate on the kernel's side.
    pub shaper: Shaper,
    /// The modules that the kernel needs for it.
    pub modules: &'static [&'static str],
    /// The traffic.
    pub traffic: &'static Traffic,
    /// Runs, each under a seed of its own.
    pub runs: u64,
    /// What may differ, by how much, and why. A figure without a tolerance is shown for information.
    pub tolerances: &'static [Tolerance],
}

/// What limits the rate on the kernel's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaper {
    /// HTB, with the discipline as its only class.
    Htb,
    /// The discipline itself.
    Itself,
}

impl Shaper {
    /// How much lost time it makes up for. One byte of burst is the smallest that `tc` takes for HTB: 1 us at this rate, in
    /// ticks of 64 ns.
    pub const fn credit(self) -> Duration {
        match self {
            Shaper::Htb => Duration::from_ns(960),
            Shaper::Itself => Duration::ZERO,
        }
    }
}

impl Case {
    /// The lines for `tc` that make the kernel's discipline and its shaper; DEV stands for the interface.
    pub fn commands(&self) -> Vec<String> {
        let rate = RATE.bps();
        let mut lines = match self.shaper {
            Shaper::Itself => vec![format!("qdisc add dev DEV root handle 10: {}", self.kernel)],
            Shaper::Htb => vec![
                "qdisc add dev DEV root handle 1: htb default 1".to_owned(),
                format!(
                    "class add dev DEV parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit burst 1 cburst 1 quantum 3000"
                ),
                format!("qdisc add dev DEV parent 1:1 handle 10: {}", self.kernel),
            ],
        };
        for flow in 0..self.traffic.flows.len() {
            let (number, port) = ((flow + 1).to_string(), (usize::from(FIRST_PORT) + flow).to_string());
            lines.extend(
                self.per_flow.iter().map(|line| line.replace("FLOW", &number).replace("PORT", &port)),
            );
        }
        lines
    }
}

/// The case called `name`.
pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

const fn flow(bytes: u32, mean_gap_us: u64, ecn: Ecn) -> Flow {
    Flow { bytes, mean_gap_us, ecn, from_ms: 0, until_ms: u64::MAX }
}

/// Packets of many sizes, half of the flows ECN-capable. A greedy flow comes for six seconds and takes the load from 0.9 to 1.4.
pub static OVERLOAD: Traffic = Traffic {
    duration_ms: 12_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 2_000, until_ms: 8_000, ..flow(1024, 2_000, Ecn::NotEct) },
        flow(256, 5_120, Ecn::NotEct),
        flow(1408, 14_080, Ecn::Ect0),
        flow(512, 5_120, Ecn::NotEct),
    ],
};

/// As [`OVERLOAD`], with packets of one size.
pub static ONE_SIZE: Traffic = Traffic {
    duration_ms: 12_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 2_000, until_ms: 8_000, ..flow(1024, 2_000, Ecn::NotEct) },
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 10_240, Ecn::Ect0),
        flow(1024, 10_240, Ecn::NotEct),
    ],
};

/// As [`ONE_SIZE`] and shorter, for disciplines that draw and so need many runs.
pub static SHORT: Traffic = Traffic {
    duration_ms: 6_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 1_000, until_ms: 5_000, ..flow(1024, 2_000, Ecn::NotEct) },
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 10_240, Ecn::Ect0),
        flow(1024, 10_240, Ecn::NotEct),
    ],
};

/// As [`SHORT`], with a load of 1.05: an average queue between thresholds can stay there.
pub static MILD: Traffic = Traffic {
    duration_ms: 6_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 500, ..flow(1024, 6_400, Ecn::NotEct) },
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 10_240, Ecn::Ect0),
        flow(1024, 10_240, Ecn::NotEct),
    ],
};

const fn burst(from_ms: u64) -> Flow {
    Flow { from_ms, until_ms: from_ms + 100, ..flow(1024, 1_280, Ecn::NotEct) }
}

/// A load of 0.64, and ten bursts of 100 ms in which it is 1.44.
pub static BURSTS: Traffic = Traffic {
    duration_ms: 11_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        burst(1_000),
        burst(2_000),
        burst(3_000),
        burst(4_000),
        burst(5_000),
        burst(6_000),
        burst(7_000),
        burst(8_000),
        burst(9_000),
        burst(10_000),
    ],
};

/// Puts each flow into a queue of its own, so that no two meet in one by the kernel's random hash.
const FILTER: &str =
    "filter add dev DEV parent 10: protocol ip prio 1 u32 match ip sport PORT 0xffff flowid 10:FLOW";

const SAME: Tolerance = Tolerance {
    figure: Figure::Decisions,
    allowed: 0.0,
    deviations: 0.0,
    because: "nothing is drawn and nothing is rounded: each packet must meet the same fate",
};

const SAME_ORDER: Tolerance = Tolerance {
    figure: Figure::Departure,
    allowed: 0.002,
    deviations: 0.0,
    because: "the guest's clock moves in steps of 256 ns and its shaper in ticks of 64 ns; an exchange of two packets would \
              be 0.3 ms for each",
};

/// Every case.
pub static CASES: &[Case] = &[
    Case {
        name: "pfifo",
        ours: "tail-drop",
        parameters: "[tail-drop]\nbuffer = '50 packets'",
        kernel: "pfifo limit 50",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &[],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[SAME, SAME_ORDER],
    },
    Case {
        name: "bfifo",
        ours: "tail-drop",
        parameters: "[tail-drop]\nbuffer = '50000 B'",
        kernel: "bfifo limit 50000",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &[],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[SAME, SAME_ORDER],
    },
    Case {
        name: "red",
        ours: "red",
        parameters: "[red]\nbuffer = '150 packets'\nmin_threshold = '20 packets'\nmax_threshold = '60 packets'\n\
                     max_probability = 0.1\nweight = 0.015625\ngentle = false\nwait = false\nspare_short_queue = false",
        kernel: "red limit 153600 min 20480 max 61440 avpkt 1024 burst 55 probability 0.1 bandwidth 8mbit",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_red"],
        traffic: &MILD,
        runs: 6,
        tolerances: &[],
    },
    Case {
        name: "red-ecn",
        ours: "red",
        parameters: "[red]\nbuffer = '150 packets'\nmin_threshold = '20 packets'\nmax_threshold = '60 packets'\n\
                     max_probability = 0.1\nweight = 0.015625\ngentle = false\nwait = false\nspare_short_queue = false\n\
                     ecn = 'mark'",
        kernel: "red limit 153600 min 20480 max 61440 avpkt 1024 burst 55 probability 0.1 bandwidth 8mbit ecn harddrop",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_red"],
        traffic: &MILD,
        runs: 6,
        tolerances: &[],
    },
    Case {
        name: "drr",
        ours: "drr",
        parameters: r#"
[drr]
buffer = '8000 packets'
quantum = '1514 B'"#,
        kernel: "drr",
        per_flow: &[
            "class add dev DEV parent 10: classid 10:FLOW drr quantum 1514",
            "qdisc add dev DEV parent 10:FLOW handle 2FLOW: pfifo limit 4000",
            FILTER,
        ],
        shaper: Shaper::Htb,
        modules: &["sch_drr"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[SAME, SAME_ORDER],
    },
    Case {
        name: "sfq",
        ours: "drr",
        parameters: r#"
[drr]
buffer = '100 packets'
quantum = '1514 B'
dropper = 'lqd'"#,
        kernel: "sfq limit 100 depth 100 quantum 1514 divisor 1024 headdrop",
        per_flow: &[FILTER],
        shaper: Shaper::Htb,
        modules: &["sch_sfq"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "codel-bursts",
        ours: "codel",
        parameters: "[codel]\nbuffer = '10240 packets'",
        kernel: "codel limit 10240 target 5ms interval 100ms noecn",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_codel"],
        traffic: &BURSTS,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "codel",
        ours: "codel",
        parameters: "[codel]\nbuffer = '10240 packets'",
        kernel: "codel limit 10240 target 5ms interval 100ms noecn",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_codel"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "codel-ecn-bursts",
        ours: "codel",
        parameters: "[codel]\nbuffer = '10240 packets'\necn = 'mark'",
        kernel: "codel limit 10240 target 5ms interval 100ms ecn",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_codel"],
        traffic: &BURSTS,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "codel-ecn",
        ours: "codel",
        parameters: "[codel]\nbuffer = '10240 packets'\necn = 'mark'",
        kernel: "codel limit 10240 target 5ms interval 100ms ecn",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_codel"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "fq-codel-bursts",
        ours: "fq-codel",
        parameters: "[fq-codel]\nbuffer = '10240 packets'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn drop_batch 1",
        per_flow: &[FILTER],
        shaper: Shaper::Htb,
        modules: &["sch_fq_codel"],
        traffic: &BURSTS,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "fq-codel",
        ours: "fq-codel",
        parameters: "[fq-codel]\nbuffer = '10240 packets'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn drop_batch 1",
        per_flow: &[FILTER],
        shaper: Shaper::Htb,
        modules: &["sch_fq_codel"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "fq-codel-ecn",
        ours: "fq-codel",
        parameters: "[fq-codel]\nbuffer = '10240 packets'\necn = 'mark'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn drop_batch 1",
        per_flow: &[FILTER],
        shaper: Shaper::Htb,
        modules: &["sch_fq_codel"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "pie",
        ours: "pie",
        parameters: r#"
[pie]
buffer = '10240 packets'
target = '15 ms'
update = '30 ms'"#,
        kernel: "pie limit 10240 target 15ms tupdate 20ms alpha 2 beta 20",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_pie"],
        traffic: &SHORT,
        runs: 6,
        tolerances: &[],
    },
    Case {
        name: "choke",
        ours: "choke",
        parameters: r#"
[choke]
buffer = '150 packets'
min_threshold = '20 packets'
max_threshold = '60 packets'
max_probability = 0.1
weight = 0.015625
spare_short_queue = false"#,
        kernel: "choke limit 150 min 20 max 60 avpkt 1024 burst 55 probability 0.1 bandwidth 8mbit",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_choke"],
        traffic: &SHORT,
        runs: 6,
        tolerances: &[],
    },
    Case {
        name: "sfb",
        ours: "sfb",
        parameters: r#"
[sfb]
buffer = '150 packets'
levels = 8
bins = 16
bin_size = '19 packets'
bin_limit = '24 packets'
increase = 0.0050050
decrease = 0.00050355
penalty_rate = 10
penalty_burst = 20
ecn = 'mark'
mark_limit = 0.5"#,
        kernel: "sfb limit 150 max 25 target 20 increment 0.0050050 decrement 0.00050355 penalty_rate 10 penalty_burst 20 rehash 600000 db 60000",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_sfb"],
        traffic: &SHORT,
        runs: 6,
        tolerances: &[],
    },
    Case {
        name: "cobalt-bursts",
        ours: "cobalt",
        parameters: r#"
[cobalt]
buffer = '4000 packets'
ecn = 'mark'
target = '5 ms'"#,
        kernel: "cake bandwidth 8mbit besteffort flowblind rtt 100ms memlimit 10mb raw",
        per_flow: &[],
        shaper: Shaper::Itself,
        modules: &["sch_cake"],
        traffic: &BURSTS,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "cobalt",
        ours: "cobalt",
        parameters: r#"
[cobalt]
buffer = '4000 packets'
ecn = 'mark'
target = '5 ms'"#,
        kernel: "cake bandwidth 8mbit besteffort flowblind rtt 100ms memlimit 10mb raw",
        per_flow: &[],
        shaper: Shaper::Itself,
        modules: &["sch_cake"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "cake",
        ours: "cake-like",
        parameters: "[cake-like]\nbuffer = '4000 packets'\necn = 'mark'",
        kernel: "cake bandwidth 8mbit besteffort flows rtt 100ms memlimit 10mb raw",
        per_flow: &[],
        shaper: Shaper::Itself,
        modules: &["sch_cake"],
        traffic: &OVERLOAD,
        runs: 1,
        tolerances: &[],
    },
    Case {
        name: "hhf",
        ours: "afd-nft",
        parameters: "",
        kernel: "hhf limit 150",
        per_flow: &[],
        shaper: Shaper::Htb,
        modules: &["sch_hhf"],
        traffic: &SHORT,
        runs: 2,
        tolerances: &[],
    },
];
