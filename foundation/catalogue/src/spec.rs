//! An entry of the catalogue: the parameters of a discipline, and how it is made of them.

use crate::choice::Choice;
use crate::error::BuildError;
use crate::page::{BadDocumentation, Page};
use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_core::Discipline;
use fairwire_laws::Site;
use fairwire_laws::about::About;
use fairwire_laws::part::Part;
use fairwire_parameters::{ByName, Declared, Field, Tabled};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The parameters of one discipline, and how it is made of them: an entry of the catalogue.
///
/// Those of this crate are listed there; others are added with [`catalogue::register`].
pub trait DisciplineSpec:
    Clone + Debug + DeserializeOwned + JsonSchema + Part + PartialEq + Send + Serialize + Sync + Tabled + 'static
{
    /// Its name, as typed in scenario files and on command lines.
    const NAME: &'static str;

    /// Other names that people know it by.
    const ALIASES: &'static [&'static str] = &[];

    /// Its entry in the catalogue.
    const ABOUT: About;

    /// The disciplines inside of it, and where they work.
    fn inside<'a>(&'a self, _site: &Site<'a>) -> Vec<Inside<'a>> {
        Vec::new()
    }

    /// Checks it against the site.
    fn check(&self, site: &Site<'_>) -> Result<(), BuildError>;

    /// Checks and builds.
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError>;
}

/// A discipline that was given inside another, and where it works.
pub type Inside<'a> = (&'a Choice, Site<'a>);

/// A [`DisciplineSpec`], whichever.
pub(crate) trait AnySpec: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn cloned(&self) -> Box<dyn AnySpec>;
    fn equals(&self, other: &dyn AnySpec) -> bool;
    fn fill(&mut self, base: &dyn AnySpec);
    fn part(&self) -> &dyn Part;
    fn part_mut(&mut self) -> &mut dyn Part;
    fn inside<'a>(&'a self, site: &Site<'a>) -> Vec<Inside<'a>>;
    fn check(&self, site: &Site<'_>) -> Result<(), BuildError>;
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError>;
    fn json(&self) -> serde_json::Result<serde_json::Value>;
}

impl<S: DisciplineSpec> AnySpec for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnySpec> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn AnySpec) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn fill(&mut self, base: &dyn AnySpec) {
        if let Some(base) = base.as_any().downcast_ref() {
            Declared::fill(self, base);
        }
    }

    fn part(&self) -> &dyn Part {
        self
    }

    fn part_mut(&mut self) -> &mut dyn Part {
        self
    }

    fn inside<'a>(&'a self, site: &Site<'a>) -> Vec<Inside<'a>> {
        DisciplineSpec::inside(self, site)
    }

    fn check(&self, site: &Site<'_>) -> Result<(), BuildError> {
        DisciplineSpec::check(self, site)
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        DisciplineSpec::build(self, site)
    }

    fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self)
    }
}

/// What the catalogue must know of a type of [`DisciplineSpec`].
#[derive(Clone, Copy)]
pub(crate) struct SpecType {
    pub default: fn() -> Box<dyn AnySpec>,
    pub read: fn(serde_json::Value) -> serde_json::Result<Box<dyn AnySpec>>,
    pub table: ByName,
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    pub fields: &'static [Field],
    pub page: fn() -> Result<Page, BadDocumentation>,
}

impl SpecType {
    pub(crate) const fn of<S: DisciplineSpec>() -> Self {
        SpecType {
            default: || Box::new(S::default()),
            read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
            table: ByName::of::<S>(),
            schema: SchemaGenerator::subschema_for::<S>,
            fields: S::FIELDS,
            page: || {
                Page::of_file(
                    S::NAME,
                    [S::ABOUT.summary, S::ABOUT.source],
                    S::FIELDS,
                    [S::DOCUMENTATION, S::FILE],
                )
            },
        }
    }
}

impl Debug for SpecType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpecType")
    }
}
