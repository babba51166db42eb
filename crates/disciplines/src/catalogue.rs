//! The catalogue: every discipline there is, once.

use crate::error::{BadParameter, BuildError, Parameter};
use crate::page::{BadDocumentation, Page};
use crate::part::Part;
use crate::scheduler::Kind;
use crate::site::Site;
use crate::spec::EcnChoice;
use core::fmt;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, spelling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::LazyLock;

/// One discipline.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, as typed in scenario files and on command lines.
    pub name: &'static str,
    /// Other names that people know it by.
    pub aliases: &'static [&'static str],
    /// What kind of discipline it is.
    pub family: Family,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it remembers, and for whom.
    pub state: &'static str,
    /// The work per packet.
    pub cost: &'static str,
    /// Does it give early signals, which a mark can carry in place of a drop?
    pub marks: bool,
    /// The paper or RFC, with its section.
    pub source: &'static str,
    /// The name of its table of parameters: of `drr+faba` it is `faba`.
    pub key: &'static str,
    /// The scheduler in its name: of `drr+faba` it is `drr`.
    scheduler: Option<Kind>,
    build: Builder,
    check: Checker,
    own_buffer: fn(&Parameters) -> Option<Amount>,
    part: fn(&Parameters) -> Option<&dyn Part>,
    part_mut: fn(&mut Parameters) -> &mut dyn Part,
    page: fn() -> Result<Page, BadDocumentation>,
    inherit_ecn: fn(&mut Parameters, EcnChoice),
}

impl Entry {
    /// Everything said of it. Fails only where the documentation in the code is not of the form that pages are made of.
    pub fn page(&self) -> Result<Page, BadDocumentation> {
        (self.page)()
    }

    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Is `name` a scheduler and a dropper, each by any of their names, that make this?
    fn is_combination(&self, name: &str) -> bool {
        self.name == name
            || name.rsplit_once('+').is_some_and(|(scheduler, dropper)| {
                let is_dropper =
                    ENTRIES.iter().any(|entry| entry.key == self.key && entry.is_called(dropper));
                let is_scheduler = |kind: Kind| kind.name() == scheduler || kind.alias() == Some(scheduler);
                is_dropper && self.scheduler.is_some_and(is_scheduler)
            })
    }

    /// The parameters with the scheduler of its name.
    fn served<'a>(&self, parameters: &'a Parameters) -> Result<Cow<'a, Parameters>, BadParameter> {
        let Some(kind) = self.scheduler else { return Ok(Cow::Borrowed(parameters)) };
        let typed = (self.part)(parameters).and_then(|part| part.scheduler());
        if let Some(other) = typed.filter(|service| service.name != kind) {
            let parameter = Parameter { discipline: self.key, name: "scheduler" };
            let allowed = format_args!("`{}`, or none, with the discipline `{}`", kind.name(), self.name);
            return Err(parameter.refuse(format_args!("`{}`", other.name.name()), allowed));
        }
        let mut parameters = parameters.clone();
        self.serve(&mut parameters);
        Ok(Cow::Owned(parameters))
    }

    /// Puts the scheduler of its name into the parameters.
    fn serve(&self, parameters: &mut Parameters) {
        if let Some(kind) = self.scheduler
            && let Some(service) = (self.part_mut)(parameters).scheduler_mut()
        {
            service.get_or_insert_default().name = kind;
        }
    }
}

/// What a discipline's own file tells the catalogue of it.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// What kind of discipline it is.
    pub family: Family,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it remembers, and for whom.
    pub state: &'static str,
    /// The work per packet.
    pub cost: &'static str,
    /// Does it give early signals, which a mark can carry in place of a drop?
    pub marks: bool,
    /// The paper or RFC, with its section.
    pub source: &'static str,
}

/// What kind of discipline it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// What a plain router does; the others are measured against it.
    Baseline,
    /// Signals congestion early, blind to flows.
    ActiveQueueManagement,
    /// One first-come-first-served queue, made fair between flows by whom it drops.
    FairDropping,
    /// A full buffer takes its room back from the flows that hold more than their part.
    PushOut,
    /// Flows or hosts have queues of their own, served in turn.
    FairQueueing,
    /// Made of other disciplines.
    Composition,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Family::Baseline => "baseline",
            Family::ActiveQueueManagement => "active queue management",
            Family::FairDropping => "fair dropping",
            Family::PushOut => "push-out",
            Family::FairQueueing => "fair queueing",
            Family::Composition => "composition",
        })
    }
}

type Builder = fn(&Parameters, &Site<'_>) -> Result<Box<dyn Discipline>, BuildError>;
type Checker = fn(&Parameters, &Site<'_>) -> Result<(), BuildError>;

/// Lists each discipline once: its key in [`Parameters`], its name, its aliases, and the module with its `ABOUT` and its
/// `Spec`. `Parameters`, the entries and the builders all follow from this list.
macro_rules! catalogue {
    ($($key:ident: $name:literal ($($alias:literal),*) => $($module:ident)::+;)+) => {
        /// What was typed for each discipline, under its name: in TOML, `[discipline.red]` with `gentle = true`.
        ///
        /// What is left out has its documented default. Unknown keys are refused.
        ///
        /// ```
        /// use fairwire_disciplines::Parameters;
        ///
        /// let typed: Parameters = toml::from_str("[red]\ngentle = false")?;
        /// assert_eq!(typed.red.unwrap().gentle, Some(false));
        /// assert!(toml::from_str::<Parameters>("[red]\ngentel = false").is_err());
        /// # Ok::<(), toml::de::Error>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Parameters {
            $(
                #[doc = concat!("Parameters of `", $name, "`.")]
                #[serde(rename = $name, default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<$($module)::+::Spec>,
            )+
        }

        impl Parameters {
            /// The disciplines for which something was typed.
            pub fn typed(&self) -> impl Iterator<Item = &'static str> {
                [$((self.$key.is_some(), $name)),+].into_iter().filter_map(|(is_typed, name)| is_typed.then_some(name))
            }
        }

        const ENTRIES: &[Entry] = &[$({
            let about = $($module)::+::ABOUT;
            Entry {
                name: $name,
                aliases: &[$($alias),*],
                family: about.family,
                summary: about.summary,
                state: about.state,
                cost: about.cost,
                marks: about.marks,
                source: about.source,
                key: $name,
                scheduler: None,
                build: |parameters, site| match &parameters.$key {
                    Some(spec) => spec.build(site),
                    None => $($module)::+::Spec::default().build(site),
                },
                check: |parameters, site| match &parameters.$key {
                    Some(spec) => Ok(spec.check(site).map(drop)?),
                    None => Ok($($module)::+::Spec::default().check(site).map(drop)?),
                },
                own_buffer: |parameters| Some(parameters.$key.as_ref()?.buffer?.0),
                part: |parameters| parameters.$key.as_ref().map(|spec| spec as &dyn Part),
                part_mut: |parameters| parameters.$key.get_or_insert_default(),
                page: || Page::of::<$($module)::+::Spec>($name, concat!($("::", stringify!($module)),+)),
                inherit_ecn: |parameters, ecn| {
                    parameters.$key.get_or_insert_default().ecn.get_or_insert(ecn);
                },
            }
        }),+];
    };
}

catalogue! {
    tail_drop: "tail-drop" ("drop-tail", "fifo") => crate::dropper::tail_drop;
    drop_front: "drop-front" () => crate::dropper::drop_front;
    red: "red" () => crate::dropper::red;
    rio: "rio" () => crate::dropper::rio;
    rem: "rem" () => crate::dropper::rem;
    blue: "blue" () => crate::dropper::blue;
    avq: "avq" () => crate::dropper::avq;
    rqm: "rqm" () => crate::dropper::rqm;
    codel: "codel" () => crate::dropper::codel;
    pie: "pie" () => crate::dropper::pie;
    cobalt: "cobalt" () => crate::dropper::cobalt;
    dual_pi2: "dualpi2" () => crate::compose::dual_pi2;
    sfed: "sfed" () => crate::dropper::sfed;
    faba: "faba" () => crate::dropper::faba;
    hfaba: "hfaba" ("hierarchical-faba") => crate::dropper::hfaba;
    afd_sb: "afd-sb" () => crate::dropper::afd::sb;
    afd_ft: "afd-ft" () => crate::dropper::afd::ft;
    afd_nft: "afd-nft" () => crate::dropper::afd::nft;
    afd_exact: "afd-exact" ("etrap") => crate::dropper::afd::exact;
    fred: "fred" () => crate::dropper::fred;
    choke: "choke" () => crate::dropper::choke;
    sfb: "sfb" () => crate::dropper::sfb;
    lqd: "lqd" () => crate::dropper::lqd;
    lqd_binned: "lqd-binned" ("bin-lqd") => crate::dropper::lqd_binned;
    alqd: "alqd" () => crate::dropper::alqd;
    rnd: "rnd" () => crate::dropper::rnd;
    drr: "drr" () => crate::scheduler::drr;
    sfq_start: "sfq-start" ("start-time-fair-queueing") => crate::scheduler::sfq;
    scfq: "scfq" () => crate::scheduler::scfq;
    fbfq: "fbfq" () => crate::scheduler::fbfq;
    wf2q_plus: "wf2q+" () => crate::scheduler::wf2q_plus;
    fq_codel: "fq-codel" () => crate::compose::fq_codel;
    fq_pie: "fq-pie" () => crate::compose::fq_pie;
    cake_like: "cake-like" () => crate::compose::cake_like;
    conditioner: "conditioner" () => crate::compose::conditioner;
    shaper: "shaper" () => crate::compose::shaper;
    prio: "prio" () => crate::compose::prio;
    classful: "classful" () => crate::compose::classful;
}

/// Every scheduler with every dropper that can be served by any: `drr+faba`.
static COMBINED: LazyLock<Box<[Entry]>> = LazyLock::new(|| {
    let takes_any = |entry: &&Entry| (entry.part_mut)(&mut Parameters::default()).scheduler_mut().is_some();
    let with = |entry: &'static Entry| {
        Kind::ALL.map(|kind| Entry {
            name: format!("{}+{}", kind.name(), entry.name).leak(),
            aliases: &[],
            scheduler: Some(kind),
            ..*entry
        })
    };
    ENTRIES.iter().filter(takes_any).flat_map(with).collect()
});

/// Every scheduler with every dropper that any of them can serve, by names such as `drr+faba`. Made at the first call, and
/// kept.
pub fn combined() -> &'static [Entry] {
    &COMBINED
}

/// The names that are allowed where `given` is none of them: those of the catalogue, or, where a scheduler stands before a
/// `+`, those that
/// begin with it.
pub fn allowed(given: &str) -> Vec<&'static str> {
    let is_of = |kind: &Kind, scheduler: &str| kind.name() == scheduler || kind.alias() == Some(scheduler);
    let before = given.rsplit_once('+').map(|(before, _)| before);
    match before.and_then(|before| Kind::ALL.into_iter().find(|kind| is_of(kind, before))) {
        Some(kind) => {
            combined().iter().filter(|entry| entry.scheduler == Some(kind)).map(|entry| entry.name).collect()
        }
        None => ENTRIES
            .iter()
            .flat_map(|entry| [entry.name].into_iter().chain(entry.aliases.iter().copied()))
            .collect(),
    }
}

/// Every discipline, in the order in which it is listed to people; without the [`combined`] ones.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// The discipline called `name`, or known by it as an alias, or a scheduler and a dropper with `+` between them.
///
/// ```
/// use fairwire_disciplines::catalogue;
///
/// assert_eq!(catalogue::find("fifo")?.name, "tail-drop");
/// assert_eq!(catalogue::find("drr+faba")?.key, "faba");
/// let error = catalogue::find("fabba").unwrap_err();
/// assert_eq!(error.likely, ["faba"]);
/// # Ok::<(), fairwire_disciplines::UnknownDiscipline>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry, UnknownDiscipline> {
    let single = ENTRIES.iter().find(|entry| entry.is_called(name));
    let found = single.or_else(|| {
        let both = name.contains('+').then(|| combined().iter());
        both.into_iter().flatten().find(|entry| entry.is_combination(name))
    });
    found.ok_or_else(|| UnknownDiscipline { given: shortened(name), likely: likely(name) })
}

/// Builds the discipline called `name` (or known by it as an alias) for `site`.
pub fn build(
    name: &str,
    parameters: &Parameters,
    site: &Site<'_>,
) -> Result<Box<dyn Discipline>, BuildError> {
    let entry = find(name)?;
    (entry.build)(entry.served(parameters)?.as_ref(), site)
}

/// Checks what was typed for the discipline called `name` (or known by it as an alias) at `site`, without building it.
pub fn check(name: &str, parameters: &Parameters, site: &Site<'_>) -> Result<(), BuildError> {
    let entry = find(name)?;
    (entry.check)(entry.served(parameters)?.as_ref(), site)
}

/// The buffer that was typed for the discipline called `name` itself; `None` if it takes the site's.
pub fn own_buffer(name: &str, parameters: &Parameters) -> Result<Option<Amount>, UnknownDiscipline> {
    Ok((find(name)?.own_buffer)(parameters))
}

/// Gives the discipline called `name` the ECN policy of the one that it stands in, unless it has one of its own.
pub fn inherit_ecn(name: &str, parameters: &mut Parameters, ecn: EcnChoice) -> Result<(), UnknownDiscipline> {
    (find(name)?.inherit_ecn)(parameters, ecn);
    Ok(())
}

/// The answer of the discipline called `name` (or known by it as an alias) with what was typed for it.
pub fn with_part<R>(
    name: &str,
    parameters: &Parameters,
    answer: impl FnOnce(&dyn Part) -> R,
) -> Result<R, UnknownDiscipline> {
    let entry = find(name)?;
    let is_typed = entry.scheduler.is_none();
    Ok(match (entry.part)(parameters).filter(|_| is_typed) {
        Some(part) => answer(part),
        None => answer(part_mut(name, &mut parameters.clone())?),
    })
}

/// What was typed for the discipline called `name` (or known by it as an alias), or its defaults, to be changed.
pub fn part_mut<'a>(
    name: &str,
    parameters: &'a mut Parameters,
) -> Result<&'a mut dyn Part, UnknownDiscipline> {
    let entry = find(name)?;
    entry.serve(parameters);
    Ok((entry.part_mut)(parameters))
}

/// No discipline has the name given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDiscipline {
    /// What was given, cut short where it is long.
    pub given: String,
    /// The names or aliases that were most likely meant, if any come near.
    pub likely: Vec<&'static str>,
}

impl std::error::Error for UnknownDiscipline {}

impl fmt::Display for UnknownDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no discipline `{}`; ", self.given)?;
        if let Some(question) = spelling::question(&self.likely) {
            write!(f, "{question} ")?;
        }
        write!(f, "allowed: ")?;
        for entry in ENTRIES {
            write!(f, "`{}`", entry.name)?;
            if !entry.aliases.is_empty() {
                write!(f, " (or `{}`)", entry.aliases.join("`, `"))?;
            }
            write!(f, ", ")?;
        }
        write!(f, "or a scheduler and a dropper such as `drr+faba`")
    }
}

fn likely(given: &str) -> Vec<&'static str> {
    spelling::likely(given, allowed(given))
}

fn shortened(text: &str) -> String {
    if text.chars().count() > 60 { text.chars().take(60).chain(['…']).collect() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_or_alias_stands_twice() {
        let mut seen = HashSet::new();
        for entry in all() {
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert!(seen.insert(*name), "{name} stands twice");
                assert_eq!(find(name).map(|found| found.name), Ok(entry.name));
            }
        }
    }

    #[test]
    fn every_scheduler_stands_before_every_dropper_and_before_nothing_else() {
        assert_eq!(combined().len(), 25 * Kind::ALL.len());
        for (name, key) in [("drr+faba", "faba"), ("wf2q++red", "red"), ("sfq-start+fifo", "tail-drop")] {
            assert_eq!(find(name).map(|entry| entry.key), Ok(key), "{name}");
        }
        assert_eq!(find("sfq-start+fifo").map(|entry| entry.name), Ok("sfq+tail-drop"));
        for name in ["drr+fq-codel", "drr+drr", "fq-codel+red", "+red", "drr+", "drr++red", "red+drr"] {
            assert!(find(name).is_err(), "{name}");
        }
        assert!(find("drr+fabba").unwrap_err().to_string().contains("did you mean `drr+faba`?"));
    }

    #[test]
    fn a_scheduler_in_the_name_and_another_among_the_parameters_are_one_too_many() {
        let site = Site {
            rate: "10 Mbit/s".parse().unwrap(),
            buffer: Amount::Packets(100),
            packet_bytes: 1514,
            seed: fairwire_core::Seed(1),
            stream: "test",
        };
        let typed = |text| toml::from_str::<Parameters>(text).unwrap();
        let error = check("drr+red", &typed("[red]\nscheduler = 'scfq'"), &site).unwrap_err().to_string();
        assert!(error.contains("`scfq`") && error.contains("allowed: `drr`, or none"), "{error}");
        let same = typed("[red]\nscheduler = { name = 'drr', quantum = '300 B' }");
        assert_eq!(check("drr+red", &same, &site), Ok(()));
    }

    #[test]
    fn a_wrong_name_is_told_the_nearest_and_all_that_there_are() {
        let message = |name: &str| find(name).unwrap_err().to_string();
        assert!(message("rde").contains("did you mean `red`?"));
        assert!(message("Tail_Drop").contains("did you mean `tail-drop`?"));
        assert!(message("afd").contains("did you mean `afd-sb`, `afd-ft`, `afd-nft` or `afd-exact`?"));
        assert!(!message("something else").contains("did you mean"));
        for entry in all() {
            assert!(message("something else").contains(entry.name));
        }
        assert!(message(&"x".repeat(1_000_000)).len() < 1000);
    }
}
