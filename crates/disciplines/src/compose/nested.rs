//! A discipline inside another, as typed: its name and its parameters.

use crate::catalogue::{self, Parameters};
use crate::error::{BadParameter, BuildError, Parameter};
use crate::site::Site;
use crate::spec::EcnChoice;
use fairwire_core::Discipline;
use fairwire_core::units::Amount;
use std::borrow::Cow;

/// At most so many disciplines stand inside each other, the outermost included.
pub const MOST_NESTED: usize = 8;

/// A discipline inside another: `discipline = "codel"` and `parameters = { codel = { target = "5 ms" } }`.
#[derive(Clone, Copy)]
pub(crate) struct Nested<'a> {
    /// Its name.
    pub name: &'a str,
    /// What was typed for it.
    pub parameters: Option<&'a Parameters>,
    /// The ECN policy of whatever it stands in, which it has unless its own parameters say otherwise.
    pub ecn: Option<EcnChoice>,
}

impl Nested<'_> {
    /// Checks it, inside of `owner`, at `site`.
    pub fn check(&self, owner: &'static str, site: &Site<'_>) -> Result<(), BuildError> {
        self.check_depth(owner)?;
        let parameters = self.effective()?;
        catalogue::check(self.name, &parameters, site)
    }

    /// Checks and builds it, inside of `owner`, at `site`.
    pub fn build(&self, owner: &'static str, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        self.check_depth(owner)?;
        let parameters = self.effective()?;
        catalogue::build(self.name, &parameters, site)
    }

    /// Its parameters with what it inherits.
    fn effective(&self) -> Result<Cow<'_, Parameters>, BuildError> {
        let Some(ecn) = self.ecn else {
            return Ok(self.parameters.map_or_else(|| Cow::Owned(Parameters::default()), Cow::Borrowed));
        };
        let mut parameters = self.parameters.cloned().unwrap_or_default();
        catalogue::inherit_ecn(self.name, &mut parameters, ecn)?;
        Ok(Cow::Owned(parameters))
    }

    /// Refuses what is nested too deeply, before anything recurses into it.
    fn check_depth(&self, owner: &'static str) -> Result<(), BadParameter> {
        if self.fits_into(MOST_NESTED - 1) {
            return Ok(());
        }
        let given = format_args!("`{}`, with {MOST_NESTED} or more levels of disciplines in all", self.name);
        let allowed = format!("at most {MOST_NESTED} disciplines inside each other");
        Err(Parameter { discipline: owner, name: "discipline" }.refuse(given, allowed))
    }

    /// Has it at most `levels` levels, itself included?
    fn fits_into(&self, levels: usize) -> bool {
        levels > 0 && inside(self).iter().all(|nested| nested.fits_into(levels - 1))
    }
}

/// The disciplines that were typed directly inside of `nested`.
fn inside<'a>(nested: &Nested<'a>) -> Vec<Nested<'a>> {
    let Some(parameters) = nested.parameters else {
        return Vec::new();
    };
    match catalogue::find(nested.name).map(|entry| entry.name) {
        Ok("conditioner") => parameters.conditioner.as_ref().map(|spec| vec![spec.nested()]),
        Ok("shaper") => parameters.shaper.as_ref().map(|spec| vec![spec.nested()]),
        Ok("prio") => parameters.prio.as_ref().map(|spec| spec.nested()),
        Ok("classful") => parameters.classful.as_ref().map(|spec| spec.nested()),
        _ => None,
    }
    .unwrap_or_default()
}

/// The part of a buffer that each of `children` gets which have none of their own: an equal one, with room for one typical
/// packet at least if the whole has it.
pub(crate) fn part_of(buffer: Amount, children: usize, packet_bytes: u32) -> Amount {
    let children = children.max(1) as u64;
    match buffer {
        Amount::Packets(packets) => Amount::Packets((u64::from(packets) / children).max(1) as u32),
        Amount::Bytes(bytes) => Amount::Bytes((bytes / children).max(bytes.min(packet_bytes.into()))),
        Amount::Time(time) => Amount::Time(fairwire_core::Duration::from_ns((time.ns() / children).max(1))),
    }
}

/// The name that was typed, or `default`.
pub(crate) fn name_or<'a>(typed: &'a Option<String>, default: &'static str) -> &'a str {
    typed.as_deref().unwrap_or(default)
}
