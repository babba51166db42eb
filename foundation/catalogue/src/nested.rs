//! A discipline that another discipline contains.

use crate::choice::Choice;
use crate::discipline;
use crate::registry::{self, Entry};
use crate::spec::{DisciplineSpec, Inside, Parameters};
use core::fmt::Display;
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, spelling};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::error::Parameter;
use fairwire_laws::memory::SLOT;
use fairwire_laws::part::Part;
use fairwire_laws::role;
use fairwire_laws::scheduler::service::SCHEDULER;
use fairwire_laws::site::MAX_SLOTS;
use fairwire_laws::spec::EcnChoice;
use std::borrow::Cow;

/// The maximum depth of nested disciplines, the outermost included.
pub const MAX_NESTED: usize = 8;

/// A discipline inside another: `discipline = { codel = { target = "5 ms" } }`.
#[derive(Clone, Copy)]
pub struct Nested<'a> {
    /// The choice as given.
    pub choice: &'a Choice,
    /// The ECN policy of the outer discipline, used unless the inner discipline sets its own.
    pub ecn: Option<EcnChoice>,
    /// The parameter of the outer discipline that names this discipline.
    pub typed_as: Parameter,
    /// The index of this discipline, from 0, if `typed_as` is a list.
    pub place: Option<usize>,
}

/// A discipline inside another, and its site.
pub type Placed<'a> = (Nested<'a>, Site<'a>);

impl Nested<'_> {
    /// Checks the discipline at `site`.
    pub fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.with_spec(site, |spec| spec.check(site))
    }

    /// Checks and builds the discipline at `site`.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        self.with_spec(site, |spec| spec.build(site))
    }

    fn with_spec<R>(
        &self,
        site: &Site<'_>,
        made: impl FnOnce(&dyn DisciplineSpec) -> Result<R, BadParameter>,
    ) -> Result<R, BadParameter> {
        let entry = self.outlined(site)?;
        discipline::with_spec(entry, &self.effective(entry), made).map_err(|bad| self.placed(bad))
    }

    /// Adds this discipline's path to `bad`, an error in it or in a discipline inside it.
    pub(crate) fn placed(&self, bad: BadParameter) -> BadParameter {
        let Parameter { discipline, name } = self.typed_as;
        let outer = match self.place {
            Some(place) => format!("{discipline}.{name}.{place}.discipline"),
            None => format!("{discipline}.{name}"),
        };
        bad.inside(&outer)
    }

    fn effective(&self, entry: &Entry) -> Cow<'_, Parameters> {
        let Some(ecn) = self.ecn else {
            return self.choice.parameters().map_or_else(|| Cow::Owned(Parameters::default()), Cow::Borrowed);
        };
        let mut parameters = self.choice.parameters().cloned().unwrap_or_default();
        let part: &mut dyn Part = parameters.entry(entry.key);
        part.set_default(role::ECN, ecn);
        Cow::Owned(parameters)
    }

    /// Finds the catalogue entry. Refuses unknown names, and nesting deeper than [`MAX_NESTED`].
    pub(crate) fn outlined(&self, site: &Site<'_>) -> Result<&'static Entry, BadParameter> {
        let entry = registry::find(self.choice.name()).map_err(|unknown| {
            let why = unknown.why.as_ref();
            let why = why.map_or(", an unknown discipline".to_owned(), |why| format!(" ({why})"));
            let near = spelling::question(&unknown.likely).map_or(String::new(), |near| format!("; {near}"));
            let given = format_args!("`{}`{why}", unknown.given);
            let allowed = format_args!("the name of a discipline{near}");
            self.refuse(self.key(), given, allowed)
        })?;
        if fits_into(&(self.choice, *site), MAX_NESTED - 1) {
            return Ok(entry);
        }
        let (name, most) = (self.choice.name(), MAX_NESTED);
        let given = format_args!("`{name}`, which makes more than {most} disciplines inside each other");
        let allowed = format_args!("at most {MAX_NESTED} disciplines inside each other");
        Err(self.refuse(self.key(), given, allowed))
    }

    fn key(&self) -> &'static str {
        if self.place.is_some() { "discipline" } else { self.typed_as.name }
    }

    fn refuse(&self, key: &str, given: impl Display, allowed: impl Display) -> BadParameter {
        let bad = self.typed_as.refuse(given, allowed);
        match self.place {
            Some(place) => bad.of_item(place, key),
            None => bad,
        }
    }
}

fn fits_into((choice, site): &Inside<'_>, levels: usize) -> bool {
    levels > 0 && inside(choice, site).iter().all(|inner| fits_into(inner, levels - 1))
}

/// The memory of `choice` at `site`, in packets: the maximum backlog, plus one packet per `SLOT`
/// bytes of tables.
pub fn slots((choice, site): &Inside<'_>) -> u64 {
    let inside = inside(choice, site);
    if !inside.is_empty() {
        return inside.iter().map(slots).sum();
    }
    let nothing = Parameters::default();
    let (name, parameters) = (choice.name(), choice.parameters().unwrap_or(&nothing));
    let typed = discipline::own_buffer(name, parameters).ok().flatten();
    let packets = u64::from(typed.unwrap_or(site.buffer).limit(site.rate).max_packets());
    let slots = discipline::with_part(name, parameters, |part| {
        let order = SCHEDULER
            .given(part)
            .map_or(0, |service| service.name.table_bytes(packets, service.terms.queue.queues));
        packets + (part.table_bytes(packets) + order) / SLOT
    });
    slots.unwrap_or(packets) // an unknown name is refused where it is built
}

/// Returns an error if the disciplines together need more than `MAX_SLOTS` slots, the limit for one
/// buffer. Their sum counts, because all slots are allocated at construction.
pub(crate) fn check_slots(
    owner: &'static str,
    placed: &[(Nested<'_>, Site<'_>)],
) -> Result<(), BadParameter> {
    let slots: u64 = placed.iter().map(|(nested, site)| slots(&(nested.choice, *site))).sum();
    if slots <= u64::from(MAX_SLOTS) {
        return Ok(());
    }
    let given = format_args!("room for {slots} packets in all disciplines inside");
    let allowed = format_args!("room for {MAX_SLOTS} packets, where {SLOT} B of tables count as one");
    Err(Parameter { discipline: owner, name: "buffer" }.refuse(given, allowed))
}

fn inside<'a>(choice: &'a Choice, site: &Site<'a>) -> Vec<Inside<'a>> {
    let given = choice.parameters().zip(registry::find(choice.name()).ok());
    let spec = given.and_then(|(parameters, entry)| parameters.find(entry.key));
    spec.map(|spec| spec.inside(site)).unwrap_or_default()
}

/// One of `children` equal parts of `buffer`. Each part has room for a typical packet, unless
/// `buffer` is too small.
pub(crate) fn part_of(buffer: Amount, children: usize, packet_bytes: u32) -> Amount {
    let children = children.max(1) as u64;
    match buffer {
        Amount::Packets(packets) => Amount::Packets((u64::from(packets) / children).max(1) as u32),
        Amount::Bytes(bytes) => Amount::Bytes((bytes / children).max(bytes.min(packet_bytes.into()))),
        Amount::Time(time) => Amount::Time(fairwire_core::Duration::from_ns((time.ns() / children).max(1))),
    }
}
