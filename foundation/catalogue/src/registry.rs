//! The catalogue: every discipline, once.

use crate::error::UnknownDiscipline;
use crate::page::{BadDocumentation, Page};
use crate::spec::{DisciplineSpec, Disciplines};
use fairwire_core::spelling;
use fairwire_laws::about::About;
use fairwire_laws::part::Part;
use fairwire_laws::scheduler::Kind;
use fairwire_parameters::{self as parameters, Field, Kind as _, Listed as _, NotRegistered, shortened};
use std::sync::{LazyLock, Mutex, PoisonError};

/// One discipline.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, as written in scenario files and on command lines.
    pub name: &'static str,
    /// Its aliases.
    pub aliases: &'static [&'static str],
    /// Its description.
    pub about: About,
    /// The name of its table of parameters: for `drr+faba` it is `faba`.
    pub key: &'static str,
    /// The scheduler in its name: for `drr+faba` it is `drr`.
    pub(crate) scheduler: Option<Kind>,
    pub(crate) spec: &'static parameters::Entry<Disciplines>,
}

impl Entry {
    fn of(spec: &'static parameters::Entry<Disciplines>) -> Self {
        let parameters::Entry { name, aliases, about, .. } = *spec;
        Entry { name, aliases, about, key: name, scheduler: None, spec }
    }

    /// Its parameters.
    pub fn fields(&self) -> &'static [Field] {
        self.spec.fields
    }

    /// The reference page. Fails only if the documentation does not have the form of a page.
    pub fn page(&self) -> Result<Page, BadDocumentation> {
        let takes_scheduler = self.takes_scheduler();
        let mut page = Page::of(self.spec)?.of_discipline(takes_scheduler);
        if takes_scheduler {
            let served = schedulers().filter_map(|(_, entry)| Some(entry?.name)).collect();
            page.related.push(("Schedulers that serve it, beside first come, first served", served));
            page.related.push(("To give parameters to both", vec!["queue"]));
        }
        if schedulers().any(|(_, entry)| entry.is_some_and(|entry| entry.name == self.name)) {
            let droppers = all().iter().filter(|entry| entry.takes_scheduler()).map(|entry| entry.name);
            let how = "Droppers that it can serve in place of its own, joined as in `drr+faba`";
            page.related.push((how, droppers.collect()));
            page.related.push(("To give parameters to both", vec!["queue"]));
        }
        for (parameter, field) in page.parameters.iter_mut().zip(self.spec.fields) {
            parameter.shared_with = sharing(field).filter(|name| *name != self.name).collect();
        }
        Ok(page)
    }

    fn takes_scheduler(&self) -> bool {
        let part: &mut dyn Part = &mut *self.spec.default();
        part.takes_scheduler()
    }

    fn is_called(&self, name: &str) -> bool {
        self.spec.is_called(name)
    }

    fn is_combination(&self, name: &str) -> bool {
        self.name == name
            || name.rsplit_once('+').is_some_and(|(scheduler, dropper)| {
                let is_dropper = all().iter().any(|entry| entry.key == self.key && entry.is_called(dropper));
                is_dropper && self.scheduler.is_some() && self.scheduler == self::scheduler(scheduler)
            })
    }
}

/// Adds a discipline of another crate, with its combined names if any scheduler can serve it.
///
/// Call this before anything else: the catalogue is fixed at its first use.
///
/// # Errors
/// If the name is taken or invalid, or the catalogue was used already.
pub fn register<S: DisciplineSpec + parameters::Part>(about: About) -> Result<(), NotRegistered> {
    Disciplines::registry()
        .register(parameters::Entry::<Disciplines>::of::<S>(about, || Box::new(S::default())))
}

pub(crate) fn with_parameter(name: &str) -> impl Iterator<Item = &'static str> {
    all().iter().filter(move |entry| entry.spec.has(name)).map(|entry| entry.name)
}

fn sharing(field: &Field) -> impl Iterator<Item = &'static str> {
    let is_same =
        |other: &Field| (other.name, other.text, other.notes) == (field.name, field.text, field.notes);
    all().iter().filter(move |entry| entry.spec.fields.iter().any(is_same)).map(|entry| entry.name)
}

/// Parameters that several disciplines declare in the same words. Each item lists parameters, and
/// the disciplines that share these.
pub fn shared_parameters() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let mut found: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for field in all().iter().flat_map(|entry| entry.spec.fields) {
        let names: Vec<&str> = sharing(field).collect();
        match found.iter_mut().find(|(_, of)| *of == names) {
            Some((fields, _)) if !fields.contains(&field.name) => fields.push(field.name),
            None if names.len() > 1 => found.push((vec![field.name], names)),
            _ => {}
        }
    }
    found
}

/// Each scheduler's name, and the discipline of that name, if any. Such a discipline has a
/// longest-queue dropper.
pub fn schedulers() -> impl Iterator<Item = (&'static str, Option<&'static Entry>)> {
    let entry =
        |kind: Kind| all().iter().find(|entry| kind.name() == entry.name || kind.alias() == Some(entry.name));
    Kind::ALL.into_iter().map(move |kind| (kind.name(), entry(kind)))
}

static COMBINED: LazyLock<Box<[Entry]>> = LazyLock::new(|| {
    let combinations = |entry: &'static Entry| {
        Kind::ALL.map(|kind| Entry {
            name: format!("{}+{}", kind.name(), entry.name).leak(),
            aliases: &[],
            scheduler: Some(kind),
            ..*entry
        })
    };
    all().iter().filter(|entry| entry.takes_scheduler()).flat_map(combinations).collect()
});

/// Every scheduler combined with every discipline that any scheduler can serve, such as `drr+faba`.
pub fn combined() -> &'static [Entry] {
    &COMBINED
}

/// The allowed names, for an error about the unknown name `given`. If a side of a `+` in `given` is
/// a known scheduler or dropper, only combinations with it are returned; otherwise, all names.
pub fn allowed(given: &str) -> Vec<&'static str> {
    let of_both = |kind: Option<Kind>, dropper: Option<&str>| -> Vec<&'static str> {
        let is_it = |entry: &&Entry| {
            kind.is_none_or(|kind| entry.scheduler == Some(kind))
                && dropper.is_none_or(|key| entry.key == key)
        };
        combined().iter().filter(is_it).map(|entry| entry.name).collect()
    };
    let lower = given.to_lowercase();
    let found = parts(&lower).find_map(|(before, after)| {
        match (scheduler(before), dropper(after), dropper(before), scheduler(after)) {
            (Some(kind), ..) => Some(of_both(Some(kind), None)),
            (None, Some(key), ..) => Some(of_both(None, Some(key))),
            // In reversed order.
            (None, None, Some(key), Some(kind)) => Some(of_both(Some(kind), Some(key))),
            _ => None,
        }
    });
    let names = |entry: &'static Entry| [entry.name].into_iter().chain(entry.aliases.iter().copied());
    found.unwrap_or_else(|| all().iter().flat_map(names).collect())
}

/// Returns the two sides of each `+`. The last `+` comes first, because a name such as `wf2q+`
/// contains a `+`.
fn parts(given: &str) -> impl Iterator<Item = (&str, &str)> {
    given.match_indices('+').map(|(at, _)| (&given[..at], &given[at + 1..])).rev()
}

/// The error for a name such as `drr+fq-codel`, whose discipline has its own scheduler. `None` if
/// the name may be misspelt.
fn why_not(given: &str) -> Option<String> {
    parts(given).find_map(|(before, after)| {
        let kind = scheduler(before)?.name();
        let name = all().iter().find(|entry| entry.is_called(after))?.name;
        let own = format!("`{name}` has a scheduler of its own, so `{kind}` cannot serve it");
        dropper(after).is_none().then_some(own)
    })
}

fn scheduler(name: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name() == name || kind.alias() == Some(name))
}

fn dropper(name: &str) -> Option<&'static str> {
    let entry = all().iter().find(|entry| entry.is_called(name))?;
    entry.takes_scheduler().then_some(entry.key)
}

/// Every discipline, in the order in which users see them listed, without the [`combined`] ones.
pub fn all() -> &'static [Entry] {
    static ALL: LazyLock<Box<[Entry]>> =
        LazyLock::new(|| Disciplines::registry().all().iter().map(Entry::of).collect());
    &ALL
}

/// Returns `others` and the names of all disciplines. Serde requires a `'static` list, so each list
/// is built once and leaked. The constant `others` identifies the list by its address and length.
pub(crate) fn names_and(others: &'static [&'static str]) -> &'static [&'static str] {
    static KEPT: Mutex<Vec<[&'static [&'static str]; 2]>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some([_, all]) = kept.iter().find(|[other, _]| std::ptr::eq(*other, others)) {
        return all;
    }
    let all: &'static [_] = [others, Disciplines::registry().names()].concat().leak();
    kept.push([others, all]);
    all
}

/// The discipline with this name or alias. A name can combine a scheduler and a dropper, as in
/// `drr+faba`.
///
/// ```
/// use fairwire_catalogue as catalogue;
///
/// assert_eq!(catalogue::find("fifo")?.name, "tail-drop");
/// assert_eq!(catalogue::find("drr+faba")?.key, "faba");
/// let error = catalogue::find("fabba").unwrap_err();
/// assert_eq!(error.likely, ["faba"]);
/// # Ok::<(), fairwire_catalogue::UnknownDiscipline>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry, UnknownDiscipline> {
    let single = all().iter().find(|entry| entry.is_called(name));
    let found = single.or_else(|| {
        let both = name.contains('+').then(|| combined().iter());
        both.into_iter().flatten().find(|entry| entry.is_combination(name))
    });
    found.ok_or_else(|| {
        let why = why_not(name);
        let likely = if why.is_some() { Vec::new() } else { likely(name) };
        let (kind, given) = (Disciplines::NOUN, shortened(name));
        UnknownDiscipline { kind, given, why, likely, allowed: listed() }
    })
}

/// The name of the parameter table of the discipline called `name`. An unknown name is returned
/// unchanged.
pub fn key(name: &str) -> &str {
    find(name).map_or(name, |entry| entry.key)
}

fn likely(given: &str) -> Vec<&'static str> {
    spelling::likely(given, allowed(given))
}

fn listed() -> String {
    let one = |entry: &Entry| match entry.aliases {
        [] => format!("`{}`", entry.name),
        aliases => format!("`{}` (or `{}`)", entry.name, aliases.join("`, `")),
    };
    let names: Vec<String> = all().iter().map(one).collect();
    format!("{}, or a scheduler and a dropper such as `drr+faba`", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_or_alias_is_listed_twice() {
        let mut seen = HashSet::new();
        for entry in all() {
            for name in entry.aliases.iter().chain([&entry.name]) {
                assert!(seen.insert(*name), "{name} is listed twice");
                assert_eq!(find(name).map(|found| found.name), Ok(entry.name));
            }
        }
    }

    #[test]
    fn schedulers_combine_with_every_dropper_and_only_with_droppers() {
        let droppers = all().iter().filter(|entry| entry.takes_scheduler()).count();
        assert_eq!(combined().len(), droppers * Kind::ALL.len());
        for (name, key) in [("drr+faba", "faba"), ("wf2q++red", "red"), ("sfq-start+fifo", "tail-drop")] {
            assert_eq!(find(name).map(|entry| entry.key), Ok(key), "{name}");
        }
        assert_eq!(find("sfq-start+fifo").map(|entry| entry.name), Ok("sfq+tail-drop"));
        for name in ["drr+fq-codel", "drr+drr", "fq-codel+red", "+red", "drr+", "drr++red", "red+drr"] {
            assert!(find(name).is_err(), "{name}");
        }
        for given in ["drr+fabba", "ddr+faba"] {
            assert_eq!(find(given).unwrap_err().likely, ["drr+faba"], "{given}");
        }
        assert_eq!(allowed("faba+drr"), ["drr+faba"]);
        assert_eq!(find("DRR+FABA").unwrap_err().likely, ["drr+faba"]);
        for (name, own) in [("drr+wf2q+", "`wf2q+`"), ("wf2q++wf2q+", "`wf2q+`"), ("wf2q++drr", "`drr`")] {
            let why = find(name).unwrap_err().why.unwrap_or_default();
            assert!(why.starts_with(own) && why.contains("a scheduler of its own"), "{name}: {why}");
        }
        let of_its_own = find("drr+fq-codel").unwrap_err();
        assert_eq!(of_its_own.likely, <[&str; 0]>::default());
        let why = "there is no discipline `drr+fq-codel`: `fq-codel` has a scheduler of its own, so `drr` cannot serve it; ";
        assert!(of_its_own.to_string().starts_with(why), "{of_its_own}");
    }

    #[test]
    fn a_wrong_name_is_refused_with_the_nearest_and_all_names() {
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
