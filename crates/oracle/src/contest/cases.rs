//! The contests, as data: who contends over what, and what may differ and why.

use super::compare::Figure::{self, Dropped, LongWait, Marked, MeanWait, Share, Used};
use super::compare::Tolerance;
use super::setting::{Class, Sends};
use fairwire_core::{Duration, Seed};

/// One contest.
#[derive(Clone, Copy, Debug)]
pub struct Contest {
    /// Its name.
    pub name: &'static str,
    /// Who contends.
    pub classes: &'static [Class],
    /// Do the TCPs use ECN?
    pub ecn: bool,
    /// Our discipline.
    pub ours: &'static str,
    /// Its parameters, as in a scenario file.
    pub parameters: &'static str,
    /// The kernel's discipline and its parameters, as `tc` takes them.
    pub kernel: &'static str,
    /// The modules that the kernel needs for it.
    pub modules: &'static [&'static str],
    /// What may differ, by how much, and why. A figure without a tolerance is shown for information.
    pub tolerances: &'static [Tolerance],
}

impl Contest {
    /// The class of each flow, in order.
    pub fn members(&self) -> impl Iterator<Item = &Class> {
        self.classes.iter().flat_map(|class| std::iter::repeat_n(class, class.flows))
    }

    /// Who contends, for people.
    pub fn flows(&self) -> String {
        let tell = |class: &Class| format!("{} {} ({} ms)", class.flows, class.sends.name(), class.rtt_ms);
        self.classes.iter().map(tell).collect::<Vec<_>>().join(", ")
    }

    /// When each flow starts in the run of `seed`: within the first second, the same on either side.
    pub(super) fn starts(&self, seed: u64) -> Vec<Duration> {
        let mut rng = Seed(seed).stream("starts");
        let flows = self.classes.iter().map(|class| class.flows).sum();
        (0..flows).map(|_| Duration::from_ms(u64::from(rng.below(1000)))).collect()
    }
}

/// The contest called `name`.
pub fn find(name: &str) -> Option<&'static Contest> {
    CONTESTS.iter().find(|contest| contest.name == name)
}

/// Runs of each contest on each side.
pub const RUNS: u64 = 6;

const fn class(sends: Sends, flows: usize, rtt_ms: u64) -> Class {
    Class { sends, flows, rtt_ms }
}

const fn within(figure: Figure, allowed: f64, because: &'static str) -> Tolerance {
    Tolerance { figure, allowed, because }
}

const NOTHING_ANSWERS: &str = "the source heeds nothing, so only the phase of its packets to those of the link is left, less than \
                               one transmission (1.2 ms) over 20 000 packets";
const ECN_SPARES: &str =
    "every packet but a connection's first is ECN-capable, and no queue comes near its limit";
const A_PACKET: &str = "one packet takes 1.2 ms, the step in which queues of whole packets differ: a single CUBIC has the kernel's peaks and troughs to the packet, \
                        3.11 s apart where the kernel's are 3.08";
const BBR_ROUNDS_UP: &str = "both round BBR's window up to an even number and add two segments while it probes; one step is two segments of a window of 40 or \
                             more, and the phases of the gain cycle are drawn";
const BBR_IN_A_LONG_QUEUE: &str = "two segments of a window of some 60 are a thirtieth of it, a point of its share; what BBR \
                                   gets hangs on which part of CUBIC's sawtooth its ten seconds end, which spreads runs and stands in their error";
const DCTCP_CUT: &str = "windows of ten lose one segment or two, a packet of 1.2 ms for a part of the time, and up to a tenth more marks; open: cuts that are spread \
                         over a round trip, as in the kernel, did not change it";
const SAME_CODEL: &str = "both CoDels count alike (the cases codel-linux, codel-ecn-linux); windows of ten are counted in segments, and waits move in steps of one packet, \
                     1.2 ms, or a part of that in the mean";
const CODEL_AND_DCTCP: &str = "open: neither the kernel's CoDel nor cuts that are spread over a round trip changed it; up to a packet, 1.2 ms, of wait, and CUBIC's windows of \
                               two or three segments, of which a tenth is a point of share";
const FQ_AND_BBR: &str = "both FQ-CoDels decide alike (the cases fq-codel-linux, fq-codel-full-linux); in a tenth of the time the kernel's BBR takes the link for \
                          policed, sends at one rate and loses a third as much, which ours does not have";
const FQ_AND_RENO: &str = "both FQ-CoDels decide alike (the cases fq-codel-linux, fq-codel-full-linux), so nothing is left but the spread of runs, and a packet of UDP's, 1.2 ms";
const PFIFO_17: (&str, &str) = ("[tail-drop]\nbuffer = '17 packets'", "pfifo limit 17");
const PFIFO_66: (&str, &str) = ("[tail-drop]\nbuffer = '66 packets'", "pfifo limit 66");
const PFIFO_264: (&str, &str) = ("[tail-drop]\nbuffer = '264 packets'", "pfifo limit 264");
const CODEL: (&str, &str) = (
    "[codel]\nbuffer = '1000 packets'\narithmetic = 'linux'",
    "codel limit 1000 target 5ms interval 100ms noecn",
);
const CODEL_ECN: (&str, &str) = (
    "[codel]\nbuffer = '1000 packets'\necn = 'mark'\narithmetic = 'linux'",
    "codel limit 1000 target 5ms interval 100ms ecn",
);
const STEP: (&str, &str) = (
    "[codel]\nbuffer = '1000 packets'\necn = 'mark'\nce_threshold = '5 ms'\ntarget = '500 ms'\ninterval = '1 s'",
    "codel limit 1000 target 500ms interval 1s ecn ce_threshold 5ms",
);
const FQ_CODEL: (&str, &str) = (
    "[fq-codel]\nbuffer = '1000 packets'\narithmetic = 'linux'\nrules = 'linux'",
    "fq_codel limit 1000 flows 1024 quantum 1514 target 5ms interval 100ms noecn",
);
const PIE: (&str, &str) = (
    "[pie]\nbuffer = '1000 packets'\ntarget = '15 ms'\nupdate = '30 ms'",
    "pie limit 1000 target 15ms tupdate 20ms alpha 2 beta 20",
);

const CONTEST: Contest = Contest {
    name: "",
    classes: &[],
    ecn: false,
    ours: "tail-drop",
    parameters: PFIFO_66.0,
    kernel: PFIFO_66.1,
    modules: &[],
    tolerances: &[],
};
const OVER_CODEL: Contest =
    Contest { ours: "codel", parameters: CODEL.0, kernel: CODEL.1, modules: &["sch_codel"], ..CONTEST };
const OVER_FQ_CODEL: Contest = Contest {
    ours: "fq-codel",
    parameters: FQ_CODEL.0,
    kernel: FQ_CODEL.1,
    modules: &["sch_fq_codel"],
    ..CONTEST
};

/// Every contest.
pub static CONTESTS: &[Contest] = &[
    Contest {
        name: "udp",
        classes: &[class(Sends::Udp(12_000_000), 1, 40)],
        tolerances: &[
            within(Used, 0.05, NOTHING_ANSWERS),
            within(MeanWait, 0.1, NOTHING_ANSWERS),
            within(LongWait, 0.1, NOTHING_ANSWERS),
            within(Dropped, 0.02, NOTHING_ANSWERS),
        ],
        ..CONTEST
    },
    Contest {
        name: "reno",
        classes: &[class(Sends::Reno, 1, 40)],
        tolerances: &[
            within(Used, 0.1, A_PACKET),
            within(MeanWait, 1.2, A_PACKET),
            within(LongWait, 0.2, A_PACKET),
            within(Dropped, 0.02, A_PACKET),
        ],
        ..CONTEST
    },
    Contest {
        name: "cubic",
        classes: &[class(Sends::Cubic, 1, 40)],
        tolerances: &[
            within(Used, 0.1, A_PACKET),
            within(MeanWait, 1.2, A_PACKET),
            within(LongWait, 0.2, A_PACKET),
            within(Dropped, 0.02, A_PACKET),
        ],
        ..CONTEST
    },
    Contest {
        name: "bbr",
        classes: &[class(Sends::Bbr, 1, 40)],
        tolerances: &[
            within(Used, 0.1, BBR_ROUNDS_UP),
            within(MeanWait, 1.2, BBR_ROUNDS_UP),
            within(LongWait, 1.2, BBR_ROUNDS_UP),
            within(Dropped, 0.01, BBR_ROUNDS_UP),
        ],
        ..CONTEST
    },
    Contest {
        name: "reno-rtt",
        classes: &[class(Sends::Reno, 1, 20), class(Sends::Reno, 1, 80)],
        tolerances: &[
            within(Share, 1.0, A_PACKET),
            within(Used, 0.1, A_PACKET),
            within(MeanWait, 1.2, A_PACKET),
            within(LongWait, 0.2, A_PACKET),
            within(Dropped, 0.02, A_PACKET),
        ],
        ..CONTEST
    },
    Contest {
        name: "cubic-reno",
        classes: &[class(Sends::Cubic, 4, 40), class(Sends::Reno, 4, 40)],
        tolerances: &[
            within(Share, 1.0, A_PACKET),
            within(Used, 0.1, A_PACKET),
            within(MeanWait, 1.2, A_PACKET),
            within(LongWait, 0.2, A_PACKET),
            within(Dropped, 0.1, A_PACKET),
        ],
        ..CONTEST
    },
    Contest {
        name: "bbr-cubic-short",
        classes: &[class(Sends::Bbr, 1, 40), class(Sends::Cubic, 1, 40)],
        parameters: PFIFO_17.0,
        kernel: PFIFO_17.1,
        tolerances: &[
            within(Share, 0.5, BBR_ROUNDS_UP),
            within(Used, 0.1, BBR_ROUNDS_UP),
            within(MeanWait, 1.2, BBR_ROUNDS_UP),
            within(LongWait, 1.2, BBR_ROUNDS_UP),
            within(Dropped, 0.1, BBR_ROUNDS_UP),
        ],
        ..CONTEST
    },
    Contest {
        name: "bbr-cubic-long",
        classes: &[class(Sends::Bbr, 1, 40), class(Sends::Cubic, 1, 40)],
        parameters: PFIFO_264.0,
        kernel: PFIFO_264.1,
        tolerances: &[
            within(Share, 1.0, BBR_IN_A_LONG_QUEUE),
            within(Used, 0.1, BBR_IN_A_LONG_QUEUE),
            within(MeanWait, 1.2, BBR_IN_A_LONG_QUEUE),
            within(LongWait, 1.2, BBR_IN_A_LONG_QUEUE),
            within(Dropped, 0.05, BBR_IN_A_LONG_QUEUE),
        ],
        ..CONTEST
    },
    Contest {
        name: "dctcp-step",
        classes: &[class(Sends::Dctcp, 2, 20)],
        ecn: true,
        parameters: STEP.0,
        kernel: STEP.1,
        tolerances: &[
            within(Used, 0.1, DCTCP_CUT),
            within(MeanWait, 0.6, DCTCP_CUT),
            within(LongWait, 0.6, DCTCP_CUT),
            within(Dropped, 0.01, ECN_SPARES),
            within(Marked, 3.0, DCTCP_CUT),
        ],
        ..OVER_CODEL
    },
    Contest {
        name: "cubic-dctcp-codel",
        classes: &[class(Sends::Cubic, 2, 20), class(Sends::Dctcp, 2, 20)],
        ecn: true,
        parameters: CODEL_ECN.0,
        kernel: CODEL_ECN.1,
        tolerances: &[
            within(Share, 1.0, CODEL_AND_DCTCP),
            within(Used, 0.05, CODEL_AND_DCTCP),
            within(MeanWait, 1.2, CODEL_AND_DCTCP),
            within(LongWait, 1.2, CODEL_AND_DCTCP),
            within(Dropped, 0.01, ECN_SPARES),
            within(Marked, 0.5, CODEL_AND_DCTCP),
        ],
        ..OVER_CODEL
    },
    Contest {
        name: "cubic-codel",
        classes: &[class(Sends::Cubic, 4, 40)],
        tolerances: &[
            within(Used, 0.1, SAME_CODEL),
            within(MeanWait, 0.5, SAME_CODEL),
            within(LongWait, 0.5, SAME_CODEL),
            within(Dropped, 0.1, SAME_CODEL),
        ],
        ..OVER_CODEL
    },
    Contest {
        name: "cubic-codel-ecn",
        classes: &[class(Sends::Cubic, 4, 40)],
        ecn: true,
        parameters: CODEL_ECN.0,
        kernel: CODEL_ECN.1,
        tolerances: &[
            within(Used, 0.2, SAME_CODEL),
            within(MeanWait, 0.5, SAME_CODEL),
            within(LongWait, 0.5, SAME_CODEL),
            within(Dropped, 0.01, ECN_SPARES),
            within(Marked, 0.1, SAME_CODEL),
        ],
        ..OVER_CODEL
    },
    Contest {
        name: "cubic-pie",
        classes: &[class(Sends::Cubic, 4, 40)],
        ours: "pie",
        parameters: PIE.0,
        kernel: PIE.1,
        modules: &["sch_pie"],
        tolerances: &[
            within(Used, 0.1, A_PACKET),
            within(MeanWait, 0.5, A_PACKET),
            within(LongWait, 0.5, A_PACKET),
            within(Dropped, 0.05, A_PACKET),
        ],
        ..CONTEST
    },
    Contest {
        name: "cubic-bbr-fq-codel",
        classes: &[class(Sends::Cubic, 2, 40), class(Sends::Bbr, 2, 40)],
        tolerances: &[
            within(Share, 1.0, FQ_AND_BBR),
            within(Used, 0.1, FQ_AND_BBR),
            within(MeanWait, 0.5, FQ_AND_BBR),
            within(LongWait, 1.2, FQ_AND_BBR),
            within(Dropped, 1.0, FQ_AND_BBR),
        ],
        ..OVER_FQ_CODEL
    },
    Contest {
        name: "reno-udp-fq-codel",
        classes: &[class(Sends::Reno, 2, 40), class(Sends::Udp(12_000_000), 1, 40)],
        tolerances: &[
            within(Share, 0.5, FQ_AND_RENO),
            within(Used, 0.1, FQ_AND_RENO),
            within(MeanWait, 1.2, FQ_AND_RENO),
            within(LongWait, 1.2, FQ_AND_RENO),
            within(Dropped, 0.0, FQ_AND_RENO),
        ],
        ..OVER_FQ_CODEL
    },
    // For docs/gateway/measured.md: a flood at twice the link, as in the field's contests.
    Contest { name: "flood-fq-codel", classes: FLOOD, ..OVER_FQ_CODEL },
    Contest {
        name: "flood-cake",
        classes: FLOOD,
        ours: "cake-like",
        parameters: "[cake-like]",
        kernel: "cake unlimited besteffort flows noatm nonat nowash no-ack-filter no-split-gso",
        modules: &["sch_cake"],
        ..CONTEST
    },
    Contest { name: "flood-pfifo", classes: FLOOD, ..CONTEST },
];

/// Nine CUBIC flows, and UDP at twice the link.
const FLOOD: &[Class] = &[class(Sends::Cubic, 9, 10), class(Sends::Udp(20_000_000), 1, 10)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::simulated::discipline;

    #[test]
    fn every_contest_can_be_built_and_is_found_by_its_name() {
        for contest in CONTESTS {
            discipline(contest, 1).map(drop).unwrap_or_else(|why| panic!("{}: {why}", contest.name));
            let found = find(contest.name).expect("it is listed");
            assert!(std::ptr::eq(found, contest), "{} stands twice", contest.name);
            assert!(contest.classes.len() <= 250, "classes are octets of addresses");
        }
    }

    #[test]
    fn dctcp_always_has_ecn() {
        for contest in CONTESTS.iter().filter(|c| c.classes.iter().any(|class| class.sends == Sends::Dctcp)) {
            assert!(contest.ecn, "{}", contest.name);
        }
    }
}
