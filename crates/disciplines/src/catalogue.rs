//! The catalogue: every discipline there is, once.

use crate::error::BuildError;
use crate::page::{BadDocumentation, Page};
use crate::part::Part;
use crate::site::Site;
use crate::spec::EcnChoice;
use core::fmt;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, spelling};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Every discipline, in the order in which it is listed to people.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// The discipline called `name`, or known by it as an alias.
///
/// ```
/// use fairwire_disciplines::catalogue;
///
/// assert_eq!(catalogue::find("fifo")?.name, "tail-drop");
/// let error = catalogue::find("fabba").unwrap_err();
/// assert_eq!(error.likely, ["faba"]);
/// # Ok::<(), fairwire_disciplines::UnknownDiscipline>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry, UnknownDiscipline> {
    ENTRIES
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
        .ok_or_else(|| UnknownDiscipline { given: shortened(name), likely: likely(name) })
}

/// Builds the discipline called `name` (or known by it as an alias) for `site`.
pub fn build(
    name: &str,
    parameters: &Parameters,
    site: &Site<'_>,
) -> Result<Box<dyn Discipline>, BuildError> {
    (find(name)?.build)(parameters, site)
}

/// Checks what was typed for the discipline called `name` (or known by it as an alias) at `site`, without building it.
pub fn check(name: &str, parameters: &Parameters, site: &Site<'_>) -> Result<(), BuildError> {
    (find(name)?.check)(parameters, site)
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
    Ok(match (entry.part)(parameters) {
        Some(part) => answer(part),
        None => answer((entry.part_mut)(&mut Parameters::default())),
    })
}

/// What was typed for the discipline called `name` (or known by it as an alias), or its defaults, to be changed.
pub fn part_mut<'a>(
    name: &str,
    parameters: &'a mut Parameters,
) -> Result<&'a mut dyn Part, UnknownDiscipline> {
    Ok((find(name)?.part_mut)(parameters))
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
        for (i, entry) in ENTRIES.iter().enumerate() {
            write!(f, "{}`{}`", if i == 0 { "" } else { ", " }, entry.name)?;
            if !entry.aliases.is_empty() {
                write!(f, " (or `{}`)", entry.aliases.join("`, `"))?;
            }
        }
        Ok(())
    }
}

fn likely(given: &str) -> Vec<&'static str> {
    spelling::likely(
        given,
        ENTRIES.iter().flat_map(|entry| entry.aliases.iter().copied().chain([entry.name])),
    )
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
