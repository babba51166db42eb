//! The contests of `proof/suite/field`: loads in the folder `contests`, and disciplines with the
//! common promises in `promises.toml`.

use super::case::{Case, FULL_BYTES, Measure, Promise, USUAL_SECONDS};
use super::group::Group;
use fairwire_catalogue::Choice;
use fairwire_core::Duration;
use fairwire_core::units::Amount;
use fairwire_document::{DocumentError, Locations, Problem, read_document, read_text};
use fairwire_laws::spec::Quantity;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::{ClassSpec, DirectionSpec, FlowsChoice, FlowsSpec};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promises {
    promised: Promised,
    #[serde(default)]
    miss: Vec<Miss>,
    discipline: Vec<Discipline>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promised {
    utilization: f64,
    worst_flow: f64,
    worst_group: f64,
    share_error_points: f64,
    ping_slack: Quantity<Duration>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Discipline {
    /// The discipline's name within names of contests.
    name: String,
    /// The discipline as in a gateway's configuration. Default: `name`.
    discipline: Option<Choice>,
    ping_waits_for: PingWait,
    /// True if the discipline uses no random numbers.
    #[serde(default)]
    is_exact: bool,
    draws_classes: Option<String>,
    #[serde(default)]
    miss: Vec<Miss>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PingWait {
    /// A ping waits for the entire buffer, since there is one queue.
    Buffer,
    /// A ping waits for one full packet of every other flow.
    Turn,
}

/// A known miss: the bounds that still hold, and the reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Miss {
    /// Only in a contest's file: the discipline that misses. Default: all.
    under: Option<String>,
    #[serde(default)]
    min: BTreeMap<Measure, f64>,
    #[serde(default)]
    max: BTreeMap<Measure, f64>,
    /// The miss affects only contests of at most this length.
    max_duration: Option<Quantity<Duration>>,
    because: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contest {
    disciplines: Vec<String>,
    /// The disciplines under which this crate's tests also run the contest.
    #[serde(default)]
    tests: Vec<String>,
    duration: Quantity<Duration>,
    delay: Quantity<Duration>,
    download: DirectionSpec,
    upload: Option<DirectionSpec>,
    /// The file with the class tree, as a path from the suite's folder.
    classes: Option<PathBuf>,
    flow: Vec<Group>,
    #[serde(default)]
    miss: Vec<Miss>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Classes {
    class: Vec<ClassSpec>,
}

const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn read<T: DeserializeOwned>(file: &Path) -> Result<(T, Locations), DocumentError> {
    let text = read_text(file, MAX_BYTES, "a file of the suite, such as proof/suite/field/promises.toml")?;
    read_document(&file.display().to_string(), &text)
}

/// Every contest of the suite in `folder`, discipline by discipline.
///
/// # Errors
/// If a file cannot be read or is invalid. The error has the location.
pub fn read_all(folder: &Path) -> Result<Vec<Case>, DocumentError> {
    let (promises, _) = read::<Promises>(&folder.join("promises.toml"))?;
    let mut contests = Vec::new();
    for file in files(&folder.join("contests"))? {
        let (contest, places) = read::<Contest>(&file)?;
        contest.check(&promises, &places)?;
        let classes = match &contest.classes {
            Some(classes) => read::<Classes>(&folder.join(classes))?.0.class,
            None => Vec::new(),
        };
        contests.push((
            file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            contest,
            classes,
        ));
    }
    let under = |discipline: &Discipline| {
        let own = contests.iter().filter(|(_, contest, _)| contest.disciplines.contains(&discipline.name));
        own.map(|(name, contest, classes)| contest.case(name, classes, discipline, &promises))
            .collect::<Vec<_>>()
    };
    Ok(promises.discipline.iter().flat_map(under).collect())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, DocumentError> {
    let unreadable = |cause| Problem::Unreadable { path: folder.into(), cause };
    let entries = fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>();
    let mut files: Vec<PathBuf> = entries.map_err(unreadable)?.iter().map(fs::DirEntry::path).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

impl Contest {
    fn check(&self, promises: &Promises, places: &Locations) -> Result<(), DocumentError> {
        let all: Vec<&String> = promises.discipline.iter().map(|discipline| &discipline.name).collect();
        let own: Vec<&String> = self.disciplines.iter().collect();
        let given = |key: &'static str, names: Vec<&'_ String>, allowed: &[&String]| {
            let unknown = names.iter().enumerate().find(|(_, name)| !allowed.contains(name));
            unknown.map(|(at, name)| {
                let allowed = allowed.iter().map(ToString::to_string).collect();
                let problem = Problem::Unknown { what: "discipline", given: name.to_string(), allowed };
                places.refuse(&format!("{key}.{at}"), problem)
            })
        };
        let misses = self.miss.iter().filter_map(|miss| miss.under.as_ref()).collect();
        let refused = [
            given("disciplines", own.clone(), &all),
            given("tests", self.tests.iter().collect(), &own),
            given("miss", misses, &own),
        ];
        refused.into_iter().flatten().next().map_or(Ok(()), Err)
    }

    fn case(&self, name: &str, classes: &[ClassSpec], discipline: &Discipline, promises: &Promises) -> Case {
        let choice = discipline.discipline.clone().unwrap_or_else(|| discipline.name.clone().into());
        let under = |direction: &DirectionSpec| DirectionSpec {
            discipline: Some(choice.clone()),
            ..direction.clone()
        };
        let is_by_host = self.download.flows == Some(FlowsSpec::Named(FlowsChoice::Inside));
        let promised = &promises.promised;
        let mut all = vec![
            (Measure::Utilization, Allowed::at_least(promised.utilization)),
            (Measure::WorstGroup, Allowed::at_most(promised.worst_group)),
            (Measure::ShareErrorPoints, Allowed::at_most(promised.share_error_points)),
            (Measure::PingP95Ms, Allowed::at_most(self.ping_ms(discipline.ping_waits_for, promised))),
        ];
        // Shares of flows are promised only if neither classes nor hosts have shares. Within a
        // class, the leaf's discipline determines shares.
        if classes.is_empty() && !is_by_host {
            all.insert(1, (Measure::WorstFlow, Allowed::at_most(promised.worst_flow)));
        }
        let promises = all.into_iter().map(|(measure, promised)| Promise {
            measure,
            promised,
            known: self.known(measure, discipline, promises),
        });
        let seconds = self.duration.0.ns() / 1_000_000_000;
        Case {
            name: format!("{}/{name}", discipline.name),
            download: Some(under(&self.download)),
            upload: self.upload.as_ref().map(under),
            classes: classes.to_vec(),
            delay: self.delay.0,
            groups: self.flow.clone(),
            is_by_host,
            warm_up: USUAL_SECONDS / 4,
            seconds,
            is_quick: self.tests.contains(&discipline.name),
            is_exact: discipline.is_exact,
            promises: promises.collect(),
            draws_classes: discipline.draws_classes.clone(),
        }
    }

    fn known(
        &self,
        measure: Measure,
        discipline: &Discipline,
        promises: &Promises,
    ) -> Option<(Allowed, String)> {
        let is_own = |miss: &&Miss| miss.under.as_ref().is_none_or(|under| *under == discipline.name);
        let misses = self.miss.iter().filter(is_own).chain(&discipline.miss).chain(&promises.miss);
        let mut fitting =
            misses.filter(|miss| miss.max_duration.is_none_or(|longest| self.duration.0 <= longest.0));
        fitting.find_map(|miss| {
            let (min, max) = (miss.min.get(&measure), miss.max.get(&measure));
            let is_there = min.is_some() || max.is_some();
            is_there.then(|| (Allowed::between(min.copied(), max.copied()), miss.because.clone()))
        })
    }

    /// The bound of the 95th percentile of pings' delays, milliseconds.
    fn ping_ms(&self, waits: PingWait, promised: &Promised) -> f64 {
        let packet_ms = |rate_bps: u64| f64::from(FULL_BYTES) * 8e3 / rate_bps as f64;
        let rate = self.download.rate.0;
        let buffer = self.download.buffer.map_or(Amount::Time(Duration::from_ms(50)), |buffer| buffer.0);
        let buffer_ms = buffer.in_packets(FULL_BYTES, rate) * packet_ms(rate.bps());
        let slowest = self.upload.iter().map(|upload| upload.rate.0).chain([rate]).min().unwrap_or(rate);
        let flows: u16 = self.flow.iter().map(|group| group.count).sum();
        let round_ms = f64::from(flows) * packet_ms(slowest.bps());
        let wait_ms = if waits == PingWait::Buffer { buffer_ms } else { round_ms.min(buffer_ms) };
        wait_ms + (self.delay.0 + promised.ping_slack.0).secs() * 1e3
    }
}

#[cfg(test)]
pub(crate) const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../suite/field");

#[cfg(test)]
pub(crate) fn find(name: &str) -> Case {
    let all = read_all(Path::new(SUITE)).unwrap_or_else(|error| panic!("{error}"));
    all.into_iter().find(|case| case.name == name).unwrap_or_else(|| panic!("there is no {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_service::config::Config;

    fn all() -> Vec<Case> {
        read_all(Path::new(SUITE)).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn each_discipline_meets_its_loads_and_tests_are_unchanged() {
        let cases = all();
        let under = |discipline: &str| {
            let own = cases.iter().filter_map(|case| case.name.strip_prefix(discipline)?.strip_prefix('/'));
            own.collect::<Vec<_>>().join(" ")
        };
        let flat = "both-ways-10 cubic-10-long cubic-100 cubic-1000 cubic-50-long flood-10 hosts-bbr hosts-cubic ipv6-10 mix-12 reno-10 udp-10";
        assert_eq!([under("faba"), under("afd-nft")], [flat; 2]);
        let short = flat.replace("cubic-10-long ", "").replace("cubic-50-long ", "");
        assert_eq!(under("drr+lqd"), short);
        assert_eq!([under("hfaba"), under("classful")], ["tree-both tree-tcp tree-udp"; 2]);
        assert_eq!(cases.len(), 40);
        let quick: Vec<&str> =
            cases.iter().filter(|case| case.is_quick).map(|case| case.name.as_str()).collect();
        assert_eq!(
            quick,
            [
                "faba/udp-10",
                "afd-nft/udp-10",
                "drr+lqd/both-ways-10",
                "drr+lqd/ipv6-10",
                "drr+lqd/mix-12",
                "hfaba/tree-udp",
                "classful/tree-tcp"
            ]
        );
    }

    #[test]
    fn the_gateway_reads_every_contest() {
        for case in all() {
            let text = case.document().text(Path::new("/run/field.sock"));
            Config::parse(&case.name, &text, None).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }

    fn promise(name: &str, measure: Measure) -> (Allowed, Option<Allowed>) {
        let case = find(name);
        let promise =
            case.promises.iter().find(|promise| promise.measure == measure).expect("it is promised");
        (promise.promised, promise.known.as_ref().map(|(allowed, _)| *allowed))
    }

    #[test]
    fn the_most_specific_known_miss_applies() {
        let at_most = |max| Some(Allowed::at_most(max));
        let at_least = |min| Some(Allowed::at_least(min));
        assert_eq!(promise("faba/cubic-100", Measure::WorstFlow).1, at_most(0.2));
        assert_eq!(promise("faba/reno-10", Measure::WorstFlow).1, at_most(0.15));
        assert_eq!(promise("faba/cubic-10-long", Measure::WorstFlow).1, None, "chance evens out");
        assert_eq!(promise("afd-nft/cubic-10-long", Measure::WorstFlow).1, at_most(0.1));
        assert_eq!(promise("afd-nft/reno-10", Measure::Utilization).1, at_least(0.9));
        assert_eq!(promise("drr+lqd/reno-10", Measure::Utilization).1, at_least(0.8));
        assert_eq!(promise("drr+lqd/reno-10", Measure::WorstFlow), (Allowed::at_most(0.03), None));
    }

    #[test]
    fn a_ping_waits_for_the_buffer_or_one_turn_of_each_flow() {
        let most = |name| promise(name, Measure::PingP95Ms).0.max;
        assert!((most("faba/reno-10") - 75.0).abs() < 1e-6);
        // 10 turns of 1538 B take 2.46 ms at 50 Mbit/s, and 20 turns take 12.30 ms at 20 Mbit/s.
        // The path and the allowance add 15 ms.
        assert!((most("drr+lqd/reno-10") - 17.46).abs() < 0.01);
        assert!((most("drr+lqd/both-ways-10") - 27.30).abs() < 0.01);
    }

    #[test]
    fn a_discipline_without_a_promise_is_refused_at_its_location() {
        let folder = Path::new(SUITE);
        let (promises, _) = read::<Promises>(&folder.join("promises.toml")).expect("it can be read");
        let text = fs::read_to_string(folder.join("contests/reno-10.toml")).expect("it is there");
        let (contest, places) = read_document::<Contest>("reno.toml", &text.replace("\"faba\"", "\"fabba\""))
            .expect("it is TOML");
        let refused = contest.check(&promises, &places).expect_err("there is no such discipline").to_string();
        assert!(refused.starts_with("reno.toml:3:16: unknown discipline `fabba`"), "{refused}");
        assert!(refused.contains("faba"), "{refused}");
    }
}
