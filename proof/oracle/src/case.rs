//! The cases, read from files in `proof/suite/packets`. Disciplines, quantities and sources are
//! spelled as in scenarios.

use crate::compare::{Figure, Tolerance};
use crate::frame::FIRST_PORT;
use crate::trace::Traffic;
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Duration, Rate, Seed};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The rate of the link: one byte per microsecond, so both disciplines have exact service times.
pub const RATE: Rate = match Rate::from_bps(8_000_000) {
    Some(rate) => rate,
    None => panic!("not zero"),
};

/// One case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the case and of its file.
    pub name: String,
    /// Our discipline.
    pub ours: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// The kernel's discipline.
    pub kernel: Kernel,
    /// The traffic.
    pub traffic: Traffic,
    /// The number of runs, which have different seeds.
    pub runs: u64,
    /// The permitted differences with their reasons. A figure without a tolerance is only shown.
    pub tolerances: Vec<Tolerance>,
}

/// The kernel's side of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// The kernel's discipline with its parameters, in the form of `tc`.
    pub qdisc: String,
    /// Further lines for `tc`, repeated for each flow. DEV is the interface, FLOW is the flow's
    /// number from 1 on, and PORT is its source port.
    #[serde(default)]
    pub per_flow: Vec<String>,
    /// Does the discipline limit the rate itself? Otherwise HTB limits it, with the discipline in
    /// its only class.
    #[serde(default)]
    pub shapes_itself: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Typed {
    disciplines: [String; 1],
    traffic: String,
    #[serde(default = "one")]
    runs: u64,
    #[serde(default)]
    discipline: Parameters,
    kernel: Kernel,
    #[serde(default)]
    agree: Vec<TypedTolerance>,
}

/// A tolerance as written, in the units of scenarios: fractions and seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedTolerance {
    measure: String,
    within: f64,
    #[serde(default)]
    deviations: f64,
    because: String,
}

fn one() -> u64 {
    1
}

impl TypedTolerance {
    fn read(self) -> Result<Tolerance, String> {
        let TypedTolerance { measure, within, deviations, because } = self;
        let figure = Figure::ALL.into_iter().find(|figure| figure.measure() == measure).ok_or_else(|| {
            let allowed = Figure::ALL.map(Figure::measure).join(", ");
            format!("the measure `{measure}`; allowed: {allowed}")
        })?;
        if !(within >= 0.0 && deviations >= 0.0) {
            return Err(format!("`within` or `deviations` of `{measure}`; allowed: 0 or more"));
        }
        Ok(Tolerance { figure, allowed: within * figure.shown_per_unit(), deviations, because })
    }
}

impl Case {
    /// Reads the case in `file`. Its traffic is in the folder `traffic` next to `file`.
    ///
    /// # Errors
    /// A file that cannot be read, or an invalid value.
    pub fn read(file: &Path) -> Result<Case, String> {
        let fault = |what: &dyn std::fmt::Display| format!("{}: {what}", file.display());
        let text = |path: &Path| {
            std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let typed: Typed = toml::from_str(&text(file)?).map_err(|error| fault(&error))?;
        let traffic = file.with_file_name("traffic").join(format!("{}.toml", typed.traffic));
        let traffic = Traffic::read(&text(&traffic)?).map_err(|why| format!("{}: {why}", traffic.display()));
        let [ours] = typed.disciplines;
        let tolerances = typed.agree.into_iter().map(TypedTolerance::read).collect::<Result<_, _>>();
        Ok(Case {
            name: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            ours,
            parameters: typed.discipline,
            kernel: typed.kernel,
            traffic: traffic?,
            runs: typed.runs,
            tolerances: tolerances.map_err(|why| fault(&why))?,
        })
    }

    /// The `tc` commands for the kernel's discipline and its shaper, with DEV for the interface.
    pub fn commands(&self) -> Vec<String> {
        let (rate, qdisc) = (RATE.bps(), &self.kernel.qdisc);
        let mut lines = if self.kernel.shapes_itself {
            vec![format!("qdisc add dev DEV root handle 10: {qdisc}")]
        } else {
            vec![
                "qdisc add dev DEV root handle 1: htb default 1".to_owned(),
                format!(
                    "class add dev DEV parent 1: classid 1:1 htb rate {rate}bit ceil {rate}bit burst 1 cburst 1 quantum 3000"
                ),
                format!("qdisc add dev DEV parent 1:1 handle 10: {qdisc}"),
            ]
        };
        for flow in 0..self.traffic.flows.len() {
            let (number, port) = ((flow + 1).to_string(), (usize::from(FIRST_PORT) + flow).to_string());
            let said = |line: &String| line.replace("FLOW", &number).replace("PORT", &port);
            lines.extend(self.kernel.per_flow.iter().map(said));
        }
        lines
    }

    /// The name of the discipline's kernel module. The module may be built in.
    pub fn module(&self) -> String {
        format!("sch_{}", self.kernel.qdisc.split_whitespace().next().unwrap_or_default())
    }

    /// The longest lost time for which the kernel's shaper compensates. The smallest burst that
    /// `tc` accepts for HTB is one byte, which takes 1 us at this rate. The kernel rounds this down
    /// to 15 ticks of 64 ns.
    pub fn credit(&self) -> Duration {
        if self.kernel.shapes_itself { Duration::ZERO } else { Duration::from_ns(960) }
    }

    /// Our discipline with random numbers from `seed`, or the reason why it cannot be built.
    pub fn discipline(&self, seed: u64) -> Result<Box<dyn Discipline>, String> {
        let site = Site {
            rate: RATE,
            buffer: Amount::Packets(1000),
            packet_bytes: 1024,
            seed: Seed(seed),
            stream: "oracle",
        };
        build(&self.ours, &self.parameters, &site).map_err(|error| error.to_string())
    }
}

/// The cases in `paths`, which are files or folders of files, sorted by name.
///
/// # Errors
/// As for [`Case::read`], and for a folder without a case.
pub fn read_all(paths: &[PathBuf]) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for path in paths {
        if !path.is_dir() {
            cases.push(Case::read(path)?);
            continue;
        }
        let fault = |error: std::io::Error| format!("{}: {error}", path.display());
        let entries = std::fs::read_dir(path).map_err(fault)?.collect::<Result<Vec<_>, _>>();
        let mut files: Vec<PathBuf> = entries.map_err(fault)?.iter().map(std::fs::DirEntry::path).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
        files.sort();
        if files.is_empty() {
            return Err(format!("{}: no case, a file *.toml, is in this folder", path.display()));
        }
        for file in &files {
            cases.push(Case::read(file)?);
        }
    }
    Ok(cases)
}

#[cfg(test)]
pub(crate) const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suite/packets");

#[cfg(test)]
pub(crate) fn find(name: &str) -> Case {
    Case::read(&Path::new(SUITE).join(format!("{name}.toml"))).expect("there is one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_built_and_has_a_reason_for_each_tolerance() {
        let cases = read_all(&[SUITE.into()]).expect("they can be read");
        assert_eq!(cases.len(), 28);
        for case in cases {
            case.discipline(1).map(drop).unwrap_or_else(|why| panic!("{}: {why}", case.name));
            for (i, tolerance) in case.tolerances.iter().enumerate() {
                assert!(tolerance.because.len() > 20, "{}: {:?}", case.name, tolerance.figure);
                let is_drawn = tolerance.deviations > 0.0;
                assert!(!is_drawn || case.runs >= 4, "{}: too few runs for a spread", case.name);
                let others = &case.tolerances[..i];
                assert!(others.iter().all(|other| other.figure != tolerance.figure), "{}", case.name);
            }
        }
    }

    #[test]
    fn per_flow_commands_name_the_number_and_port() {
        let case = find("drr");
        let lines = case.commands();
        assert_eq!(lines.len(), 3 + 3 * case.traffic.flows.len());
        assert!(lines.contains(&"class add dev DEV parent 10: classid 10:8 drr quantum 1514".to_owned()));
        assert!(lines.iter().any(|line| line.ends_with("match ip sport 1008 0xffff flowid 10:8")));
        assert!(lines.iter().all(|line| !line.contains("FLOW") && !line.contains("PORT")));
        assert_eq!((case.module().as_str(), find("cake").commands().len()), ("sch_drr", 1));
    }

    #[test]
    fn nonsense_is_refused_with_the_allowed_values() {
        let typed = |measure: &str, within: f64| TypedTolerance {
            measure: measure.into(),
            within,
            deviations: 0.0,
            because: "a test".into(),
        };
        let why = typed("drops", 0.0).read().expect_err("there is no such measure");
        assert!(why.contains("`drops`") && why.contains("drop_fraction"), "{why}");
        assert!(
            typed("drop_fraction", -1.0).read().is_err() && typed("drop_fraction", f64::NAN).read().is_err()
        );
        let allowed = typed("drop_fraction", 0.01).read().map(|tolerance| tolerance.allowed);
        assert_eq!(allowed, Ok(1.0), "in percent, as it is shown");
    }
}
