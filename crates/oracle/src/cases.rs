//! The cases, as data: a discipline of ours, its counterpart in the kernel, the traffic, and what may differ and why.

use crate::compare::{Figure, Tolerance};
use crate::frame::FIRST_PORT;
use crate::trace::Traffic;
use crate::traffic::{BULLY, BULLY_ECN, BURSTS, MILD, OVERLOAD, SHORT};
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Duration, Rate, Seed};

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

impl Case {
    /// Our discipline, drawing under `seed`; or why it cannot be built.
    pub fn discipline(&self, seed: u64) -> Result<Box<dyn Discipline>, String> {
        let parameters: Parameters = toml::from_str(self.parameters).map_err(|error| error.to_string())?;
        let site = Site {
            rate: RATE,
            buffer: Amount::Packets(1000),
            packet_bytes: 1024,
            seed: Seed(seed),
            stream: "oracle",
        };
        build(self.ours, &parameters, &site).map_err(|error| error.to_string())
    }
}

/// The case called `name`.
pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// Puts each flow into a queue of its own, so that no two meet in one by the kernel's random hash.
const FILTER: &str =
    "filter add dev DEV parent 10: protocol ip prio 1 u32 match ip sport PORT 0xffff flowid 10:FLOW";

/// Runs of a case in which something is drawn.
const MANY: u64 = 12;

/// What most cases have in common.
const CASE: Case = Case {
    name: "",
    ours: "",
    parameters: "",
    kernel: "",
    per_flow: &[],
    shaper: Shaper::Htb,
    modules: &[],
    traffic: &OVERLOAD,
    runs: 1,
    tolerances: &[],
};

const fn within(figure: Figure, allowed: f64, because: &'static str) -> Tolerance {
    Tolerance { figure, allowed, deviations: 0.0, because }
}

/// For decisions that are drawn. With 12 runs a mean lies outside of 5 standard errors once in 2500 times.
const fn drawn(figure: Figure, allowed: f64, because: &'static str) -> Tolerance {
    Tolerance { figure, allowed, deviations: 5.0, because }
}

/// Nothing may differ.
const SAME: &[Tolerance] = &[
    within(
        Figure::Decisions,
        0.0,
        "nothing is drawn, and no rounding reaches a decision: each packet must meet the same fate",
    ),
    within(
        Figure::Departure,
        0.002,
        "the guest's clock moves in steps of 256 ns and its shaper in ticks of 64 ns; two packets that changed places would be \
         0.3 ms each",
    ),
];

const RED_GAPS: &str = "decisions are drawn; after a signal the kernel counts arrivals from 0 and ours from 1, as figure 2 of the \
                        paper has it, so its gaps are 1 + p as long, at most a tenth here";
const CODEL_ROOT: &str = "from the third signal on the paths part: the kernel takes 1/sqrt(count) by one step of Newton's method, \
                          so its third gap is 50 ms where RFC 8289 has 70.7 ms; with its arithmetic every fate is the same (codel-linux)";
const FQ_CODEL_PATHS: &str = "the square root as for CoDel; besides, the kernel holds the backlog of all queues against the MTU where \
                              RFC 8289 has the queue's own, and lets an empty new queue go when no old ones wait where RFC 8290 \
                              makes it an old one; with its rules and its arithmetic every fate is the same (fq-codel-linux)";
const FQ_CODEL_FULL: &str = "as fq-codel; besides, the kernel's CoDel counts what overflow took from its queue, which RFC 8290 does not \
                             say; with its rules and its arithmetic every fate is the same (fq-codel-full-linux)";
const COBALT_START: &str = "the kernel's first signal of a queue comes with the packet after the first late one, for its root of the \
                            count starts as 0; ours waits an interval";
const COBALT_ROOT: &str = "one signal more at the start (see cobalt-bursts), and after 25 signals the roots differ enough for a signal to \
                           come one packet sooner";
const CAKE_PATHS: &str = "as cobalt; besides, CAKE rounds its quantum at random and lets queues decay where ours has RFC 8290's lists; \
                          not traced further";
const SFQ_ORDER: &str = "SFQ lets a queue send while anything is left of its allotment and owe the rest, DRR only what fits: rounds are as \
                         long, but packets change places, and another packet of the same flow is at the head when room is made";
const PIE_TIMER: &str = "decisions are drawn; both sides update every 30 ms, but not at the same moments";
const CHOKE_DRAWS: &str = "decisions are drawn; RED's gaps as for red; the kernel draws up to three times where packets left holes in its ring";
const SFB_ABOVE_HALF: &str = "decisions are drawn; of the capable packets picked at a probability p above one half the kernel still marks a part \
                              that falls to none at 1, ours with this mark_limit drops all, and the paper marks all";
const SFB_DRAWS: &str = "decisions are drawn, and whether the culprit's backlog just reaches its bin's size moves the probability for good";

const RED: &str = "
[red]
buffer = '150 packets'
min_threshold = '20 packets'
max_threshold = '60 packets'
max_probability = 0.1
weight = 0.015625
gentle = false
wait = false
spare_short_queue = false";

const RED_ECN: &str = "
[red]
buffer = '150 packets'
min_threshold = '20 packets'
max_threshold = '60 packets'
max_probability = 0.1
weight = 0.015625
gentle = false
wait = false
spare_short_queue = false
ecn = 'mark'";

const CHOKE: &str = "
[choke]
buffer = '150 packets'
min_threshold = '20 packets'
max_threshold = '60 packets'
max_probability = 0.1
weight = 0.015625
spare_short_queue = false";

/// The kernel's bins act at their size and limit, the paper's (and ours) above it: hence one less.
const SFB: &str = "
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
mark_limit = 0.5";

const CODEL: Case = Case { ours: "codel", modules: &["sch_codel"], ..CASE };
const FQ_CODEL: Case = Case { ours: "fq-codel", modules: &["sch_fq_codel"], per_flow: &[FILTER], ..CASE };
const PIE: Case = Case { ours: "pie", modules: &["sch_pie"], runs: MANY, ..CASE };
const CAKE: Case = Case { shaper: Shaper::Itself, modules: &["sch_cake"], ..CASE };
const COBALT: Case = Case {
    ours: "cobalt",
    parameters: "[cobalt]\nbuffer = '4000 packets'\necn = 'mark'",
    kernel: "cake bandwidth 8mbit besteffort flowblind rtt 100ms memlimit 10mb raw",
    ..CAKE
};

/// Every case.
pub static CASES: &[Case] = &[
    Case {
        name: "pfifo",
        ours: "tail-drop",
        parameters: "[tail-drop]\nbuffer = '50 packets'",
        kernel: "pfifo limit 50",
        tolerances: SAME,
        ..CASE
    },
    Case {
        name: "bfifo",
        ours: "tail-drop",
        parameters: "[tail-drop]\nbuffer = '50000 B'",
        kernel: "bfifo limit 50000",
        tolerances: SAME,
        ..CASE
    },
    Case {
        name: "red",
        ours: "red",
        parameters: RED,
        kernel: "red limit 153600 min 20480 max 61440 avpkt 1024 burst 55 probability 0.1 bandwidth 8mbit",
        modules: &["sch_red"],
        traffic: &MILD,
        runs: MANY,
        tolerances: &[
            drawn(Figure::Dropped, 0.05, RED_GAPS),
            drawn(Figure::Wait, 0.5, RED_GAPS),
            drawn(Figure::Share, 0.1, RED_GAPS),
        ],
        ..CASE
    },
    Case {
        name: "red-ecn",
        ours: "red",
        parameters: RED_ECN,
        kernel: "red limit 153600 min 20480 max 61440 avpkt 1024 burst 55 probability 0.1 bandwidth 8mbit ecn harddrop",
        modules: &["sch_red"],
        traffic: &MILD,
        runs: MANY,
        tolerances: &[
            drawn(Figure::Dropped, 0.1, RED_GAPS),
            drawn(Figure::Marked, 0.25, RED_GAPS),
            drawn(Figure::Wait, 1.0, RED_GAPS),
            drawn(Figure::Share, 0.1, RED_GAPS),
        ],
        ..CASE
    },
    Case {
        name: "drr",
        ours: "drr",
        parameters: "[drr]\nbuffer = '8000 packets'\nquantum = '1514 B'",
        kernel: "drr",
        per_flow: &[
            "class add dev DEV parent 10: classid 10:FLOW drr quantum 1514",
            "qdisc add dev DEV parent 10:FLOW handle 2FLOW: pfifo limit 4000",
            FILTER,
        ],
        modules: &["sch_drr"],
        tolerances: SAME,
        ..CASE
    },
    Case {
        name: "sfq",
        ours: "drr",
        parameters: "[drr]\nbuffer = '100 packets'\nquantum = '1514 B'\ndropper = 'lqd'",
        kernel: "sfq limit 100 depth 100 quantum 1514 divisor 1024 headdrop",
        per_flow: &[FILTER],
        modules: &["sch_sfq"],
        tolerances: &[
            within(Figure::Dropped, 0.05, SFQ_ORDER),
            within(Figure::Wait, 0.1, SFQ_ORDER),
            within(Figure::Share, 0.1, SFQ_ORDER),
        ],
        ..CASE
    },
    Case {
        name: "codel-bursts",
        parameters: "[codel]\nbuffer = '10240 packets'",
        kernel: "codel limit 10240 target 5ms interval 100ms noecn",
        traffic: &BURSTS,
        tolerances: SAME,
        ..CODEL
    },
    Case {
        name: "codel-ecn-bursts",
        parameters: "[codel]\nbuffer = '10240 packets'\necn = 'mark'",
        kernel: "codel limit 10240 target 5ms interval 100ms ecn",
        traffic: &BURSTS,
        tolerances: SAME,
        ..CODEL
    },
    Case {
        name: "codel",
        parameters: "[codel]\nbuffer = '10240 packets'",
        kernel: "codel limit 10240 target 5ms interval 100ms noecn",
        tolerances: &[
            within(Figure::Dropped, 0.3, CODEL_ROOT),
            within(Figure::Wait, 6.0, CODEL_ROOT),
            within(Figure::Share, 0.5, CODEL_ROOT),
        ],
        ..CODEL
    },
    Case {
        name: "codel-ecn",
        parameters: "[codel]\nbuffer = '10240 packets'\necn = 'mark'",
        kernel: "codel limit 10240 target 5ms interval 100ms ecn",
        tolerances: &[
            within(Figure::Dropped, 0.3, CODEL_ROOT),
            within(Figure::Marked, 0.1, CODEL_ROOT),
            within(Figure::Wait, 6.0, CODEL_ROOT),
            within(Figure::Share, 0.5, CODEL_ROOT),
        ],
        ..CODEL
    },
    Case {
        name: "codel-linux",
        parameters: "[codel]\nbuffer = '10240 packets'\narithmetic = 'linux'",
        kernel: "codel limit 10240 target 5ms interval 100ms noecn",
        tolerances: SAME,
        ..CODEL
    },
    Case {
        name: "codel-ecn-linux",
        parameters: "[codel]\nbuffer = '10240 packets'\necn = 'mark'\narithmetic = 'linux'",
        kernel: "codel limit 10240 target 5ms interval 100ms ecn",
        tolerances: SAME,
        ..CODEL
    },
    Case {
        name: "fq-codel-bursts",
        parameters: "[fq-codel]\nbuffer = '10240 packets'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn",
        traffic: &BURSTS,
        tolerances: SAME,
        ..FQ_CODEL
    },
    Case {
        name: "fq-codel",
        parameters: "[fq-codel]\nbuffer = '10240 packets'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn",
        tolerances: &[
            within(Figure::Dropped, 0.3, FQ_CODEL_PATHS),
            within(Figure::Wait, 10.0, FQ_CODEL_PATHS),
            within(Figure::Share, 0.5, FQ_CODEL_PATHS),
        ],
        ..FQ_CODEL
    },
    Case {
        name: "fq-codel-ecn",
        parameters: "[fq-codel]\nbuffer = '10240 packets'\necn = 'mark'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn",
        tolerances: &[
            within(Figure::Dropped, 0.3, FQ_CODEL_PATHS),
            within(Figure::Marked, 0.6, FQ_CODEL_PATHS),
            within(Figure::Wait, 14.0, FQ_CODEL_PATHS),
            within(Figure::Share, 0.5, FQ_CODEL_PATHS),
        ],
        ..FQ_CODEL
    },
    Case {
        name: "fq-codel-full",
        parameters: "[fq-codel]\nbuffer = '200 packets'\nbatch = 64",
        kernel: "fq_codel limit 200 flows 1024 quantum 1514 target 5ms interval 100ms noecn drop_batch 64",
        tolerances: &[
            within(Figure::Dropped, 0.6, FQ_CODEL_FULL),
            within(Figure::Wait, 7.0, FQ_CODEL_FULL),
            within(Figure::Share, 0.5, FQ_CODEL_FULL),
        ],
        ..FQ_CODEL
    },
    Case {
        name: "fq-codel-linux",
        parameters: "[fq-codel]\nbuffer = '10240 packets'\narithmetic = 'linux'\nrules = 'linux'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms noecn",
        tolerances: SAME,
        ..FQ_CODEL
    },
    Case {
        name: "fq-codel-ecn-linux",
        parameters: "[fq-codel]\nbuffer = '10240 packets'\necn = 'mark'\narithmetic = 'linux'\nrules = 'linux'",
        kernel: "fq_codel limit 10240 flows 1024 quantum 1514 target 5ms interval 100ms ecn",
        tolerances: SAME,
        ..FQ_CODEL
    },
    Case {
        name: "fq-codel-full-linux",
        parameters: "[fq-codel]\nbuffer = '200 packets'\narithmetic = 'linux'\nrules = 'linux'",
        kernel: "fq_codel limit 200 flows 1024 quantum 1514 target 5ms interval 100ms noecn drop_batch 64",
        tolerances: SAME,
        ..FQ_CODEL
    },
    Case {
        name: "pie",
        parameters: "[pie]\nbuffer = '10240 packets'\ntarget = '15 ms'\nupdate = '30 ms'",
        kernel: "pie limit 10240 target 15ms tupdate 20ms alpha 2 beta 20",
        traffic: &SHORT,
        tolerances: &[
            drawn(Figure::Dropped, 0.1, PIE_TIMER),
            drawn(Figure::Wait, 0.5, PIE_TIMER),
            drawn(Figure::Share, 0.1, PIE_TIMER),
        ],
        ..PIE
    },
    Case {
        name: "pie-ecn",
        parameters: "[pie]\nbuffer = '10240 packets'\ntarget = '15 ms'\nupdate = '30 ms'\necn = 'mark'\nmark_limit = 0.1",
        kernel: "pie limit 10240 target 15ms tupdate 20ms alpha 2 beta 20 ecn",
        traffic: &MILD,
        tolerances: &[
            drawn(Figure::Dropped, 0.1, PIE_TIMER),
            drawn(Figure::Marked, 0.05, PIE_TIMER),
            drawn(Figure::Wait, 0.5, PIE_TIMER),
            drawn(Figure::Share, 0.1, PIE_TIMER),
        ],
        ..PIE
    },
    Case {
        name: "choke",
        ours: "choke",
        parameters: CHOKE,
        kernel: "choke limit 150 min 20 max 60 avpkt 1024 burst 55 probability 0.1 bandwidth 8mbit",
        modules: &["sch_choke"],
        traffic: &SHORT,
        runs: MANY,
        tolerances: &[
            drawn(Figure::Dropped, 0.1, CHOKE_DRAWS),
            drawn(Figure::Wait, 0.5, CHOKE_DRAWS),
            drawn(Figure::Share, 0.3, CHOKE_DRAWS),
        ],
        ..CASE
    },
    Case {
        name: "sfb",
        ours: "sfb",
        parameters: SFB,
        kernel: "sfb limit 150 max 25 target 20 increment 0.0050050 decrement 0.00050355 penalty_rate 10 penalty_burst 20 \
                 rehash 600000 db 60000",
        modules: &["sch_sfb"],
        traffic: &BULLY,
        runs: MANY,
        tolerances: &[
            drawn(Figure::Dropped, 0.1, SFB_DRAWS),
            drawn(Figure::Marked, 0.1, SFB_DRAWS),
            drawn(Figure::Wait, 0.5, SFB_DRAWS),
            drawn(Figure::Share, 0.2, SFB_DRAWS),
        ],
        ..CASE
    },
    Case {
        name: "sfb-ecn",
        ours: "sfb",
        parameters: SFB,
        kernel: "sfb limit 150 max 25 target 20 increment 0.0050050 decrement 0.00050355 penalty_rate 10 penalty_burst 20 \
                 rehash 600000 db 60000",
        modules: &["sch_sfb"],
        traffic: &BULLY_ECN,
        runs: MANY,
        tolerances: &[drawn(Figure::Share, 0.5, SFB_ABOVE_HALF)], // marks and waits differ: see the reason
        ..CASE
    },
    Case {
        name: "cobalt-bursts",
        traffic: &BURSTS,
        tolerances: &[
            within(Figure::Dropped, 0.03, COBALT_START),
            within(
                Figure::Marked,
                0.0,
                "the signals that the kernel gives too early fall on packets that cannot be marked: see the drops",
            ),
            within(Figure::Wait, 0.1, COBALT_START),
        ],
        ..COBALT
    },
    Case {
        name: "cobalt",
        tolerances: &[
            within(Figure::Dropped, 0.2, COBALT_ROOT),
            within(Figure::Marked, 0.2, COBALT_ROOT),
            within(Figure::Wait, 8.0, COBALT_ROOT),
            within(Figure::Share, 0.5, COBALT_ROOT),
        ],
        ..COBALT
    },
    Case {
        name: "cake",
        ours: "cake-like",
        parameters: "[cake-like]\nbuffer = '4000 packets'\necn = 'mark'\nallowance = 'packets'",
        kernel: "cake bandwidth 8mbit besteffort flows rtt 100ms memlimit 10mb raw",
        tolerances: &[
            within(Figure::Dropped, 0.6, CAKE_PATHS),
            within(Figure::Marked, 1.8, CAKE_PATHS),
            within(Figure::Wait, 9.0, CAKE_PATHS),
            within(Figure::Share, 0.8, CAKE_PATHS),
        ],
        ..CAKE
    },
    // No counterpart: only to see what each leaves to a greedy flow.
    Case {
        name: "hhf",
        ours: "afd-nft",
        kernel: "hhf limit 150",
        modules: &["sch_hhf"],
        traffic: &SHORT,
        runs: 2,
        ..CASE
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_built_and_is_found_by_its_name() {
        for case in CASES {
            case.discipline(1).map(drop).unwrap_or_else(|why| panic!("{}: {why}", case.name));
            assert_eq!(
                find(case.name).map(|found| found.kernel),
                Some(case.kernel),
                "{} stands twice",
                case.name
            );
        }
    }

    #[test]
    fn what_is_said_for_each_flow_names_its_number_and_its_port() {
        let lines = find("drr").expect("there is one").commands();
        assert_eq!(lines.len(), 3 + 3 * OVERLOAD.flows.len());
        assert!(lines.contains(&"class add dev DEV parent 10: classid 10:8 drr quantum 1514".to_owned()));
        assert!(lines.iter().any(|line| line.ends_with("match ip sport 1008 0xffff flowid 10:8")));
        assert!(lines.iter().all(|line| !line.contains("FLOW") && !line.contains("PORT")));
    }
}
