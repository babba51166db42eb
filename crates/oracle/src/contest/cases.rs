//! The contests, as data: who contends over what, and what may differ and why.

use super::{Class, Sends, Tolerance};

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

const PFIFO_17: (&str, &str) = ("[tail-drop]\nbuffer = '17 packets'", "pfifo limit 17");
const PFIFO_66: (&str, &str) = ("[tail-drop]\nbuffer = '66 packets'", "pfifo limit 66");
const PFIFO_264: (&str, &str) = ("[tail-drop]\nbuffer = '264 packets'", "pfifo limit 264");
const CODEL: (&str, &str) =
    ("[codel]\nbuffer = '1000 packets'", "codel limit 1000 target 5ms interval 100ms noecn");
const CODEL_ECN: (&str, &str) =
    ("[codel]\nbuffer = '1000 packets'\necn = 'mark'", "codel limit 1000 target 5ms interval 100ms ecn");
const STEP: (&str, &str) = (
    "[codel]\nbuffer = '1000 packets'\necn = 'mark'\nce_threshold = '5 ms'\ntarget = '500 ms'\ninterval = '1 s'",
    "codel limit 1000 target 500ms interval 1s ecn ce_threshold 5ms",
);
const FQ_CODEL: (&str, &str) = (
    "[fq-codel]\nbuffer = '1000 packets'",
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
    Contest { name: "udp", classes: &[class(Sends::Udp(12_000_000), 1, 40)], ..CONTEST },
    Contest { name: "reno", classes: &[class(Sends::Reno, 1, 40)], ..CONTEST },
    Contest { name: "cubic", classes: &[class(Sends::Cubic, 1, 40)], ..CONTEST },
    Contest { name: "bbr", classes: &[class(Sends::Bbr, 1, 40)], ..CONTEST },
    Contest { name: "reno-rtt", classes: &[class(Sends::Reno, 1, 20), class(Sends::Reno, 1, 80)], ..CONTEST },
    Contest {
        name: "cubic-reno",
        classes: &[class(Sends::Cubic, 4, 40), class(Sends::Reno, 4, 40)],
        ..CONTEST
    },
    Contest {
        name: "bbr-cubic-short",
        classes: &[class(Sends::Bbr, 1, 40), class(Sends::Cubic, 1, 40)],
        parameters: PFIFO_17.0,
        kernel: PFIFO_17.1,
        ..CONTEST
    },
    Contest {
        name: "bbr-cubic-long",
        classes: &[class(Sends::Bbr, 1, 40), class(Sends::Cubic, 1, 40)],
        parameters: PFIFO_264.0,
        kernel: PFIFO_264.1,
        ..CONTEST
    },
    Contest {
        name: "dctcp-step",
        classes: &[class(Sends::Dctcp, 2, 20)],
        ecn: true,
        parameters: STEP.0,
        kernel: STEP.1,
        ..OVER_CODEL
    },
    Contest {
        name: "cubic-dctcp-codel",
        classes: &[class(Sends::Cubic, 2, 20), class(Sends::Dctcp, 2, 20)],
        ecn: true,
        parameters: CODEL_ECN.0,
        kernel: CODEL_ECN.1,
        ..OVER_CODEL
    },
    Contest { name: "cubic-codel", classes: &[class(Sends::Cubic, 4, 40)], ..OVER_CODEL },
    Contest {
        name: "cubic-codel-ecn",
        classes: &[class(Sends::Cubic, 4, 40)],
        ecn: true,
        parameters: CODEL_ECN.0,
        kernel: CODEL_ECN.1,
        ..OVER_CODEL
    },
    Contest {
        name: "cubic-pie",
        classes: &[class(Sends::Cubic, 4, 40)],
        ours: "pie",
        parameters: PIE.0,
        kernel: PIE.1,
        modules: &["sch_pie"],
        ..CONTEST
    },
    Contest {
        name: "cubic-bbr-fq-codel",
        classes: &[class(Sends::Cubic, 2, 40), class(Sends::Bbr, 2, 40)],
        ..OVER_FQ_CODEL
    },
    Contest {
        name: "reno-udp-fq-codel",
        classes: &[class(Sends::Reno, 2, 40), class(Sends::Udp(12_000_000), 1, 40)],
        ..OVER_FQ_CODEL
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::simulated::discipline;

    #[test]
    fn every_contest_can_be_built_and_is_found_by_a_name_that_no_case_has() {
        for contest in CONTESTS {
            discipline(contest, 1).map(drop).unwrap_or_else(|why| panic!("{}: {why}", contest.name));
            let found = find(contest.name).expect("it is listed");
            assert!(std::ptr::eq(found, contest), "{} stands twice", contest.name);
            assert!(crate::cases::find(contest.name).is_none(), "{} is a case too", contest.name);
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
