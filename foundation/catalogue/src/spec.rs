//! The parameters of disciplines, from which disciplines are built.

use crate::choice::Choice;
use fairwire_core::Discipline;
use fairwire_laws::about::About;
use fairwire_laws::part::Part;
use fairwire_laws::{BadParameter, Site};
use fairwire_parameters::{self as parameters, Given, Kind, Tables, Writes};
use schemars::{Schema, SchemaGenerator};

/// The kind.
pub struct Disciplines;

/// The parameters of each discipline, under its name; unknown keys are refused.
///
/// ```
/// use fairwire_catalogue::Parameters;
/// use fairwire_laws::dropper::red;
///
/// let given: Parameters = toml::from_str("[red]\ngentle = false")?;
/// assert_eq!(given.spec::<red::Spec>().unwrap().gentle, Some(false));
/// assert!(toml::from_str::<Parameters>("[red]\ngentel = false").is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
pub type Parameters = Tables<Disciplines>;

/// Parameters from which one discipline is built. Other crates add disciplines with
/// [`catalogue::register`].
///
/// [`catalogue::register`]: crate::register
pub trait DisciplineSpec: Given + Part {
    /// The inner disciplines and their sites.
    fn inside<'a>(&'a self, _site: &Site<'a>) -> Vec<Inside<'a>> {
        Vec::new()
    }

    /// Checks the parameters against the site.
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter>;

    /// Checks and builds.
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter>;
}

/// A discipline given inside another, and its site.
pub type Inside<'a> = (&'a Choice, Site<'a>);

impl Kind for Disciplines {
    const NOUN: &'static str = "discipline";
    const EXAMPLE: &'static str = "{ red = { gentle = true } }";
    const SCHEMA: &'static str = "Discipline";
    const TABLES: [&'static str; 2] = [
        "Parameters",
        "What is given for each discipline, under its name. What is left out has its default.",
    ];

    type Part = dyn DisciplineSpec;
    type About = About;

    fn summary(about: &About) -> &'static str {
        about.summary
    }

    fn source(about: &About) -> &'static str {
        about.source
    }

    fn table_schema(entry: &parameters::Entry<Disciplines>, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = entry.schema(generator);
        schema.insert("description".into(), format!("Parameters of `{}`.", entry.name).into());
        schema
    }
}

impl Writes<Parameters> for Disciplines {}
