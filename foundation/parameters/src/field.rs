//! The declaration of a parameter, and of a struct of parameters.

use alloc::format;
use alloc::string::String;
#[cfg(feature = "serde")]
use schemars::{Schema, SchemaGenerator, json_schema};

/// The declaration of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name, as written.
    pub name: &'static str,
    /// Its description, in one sentence.
    pub text: &'static str,
    /// More paragraphs of the description; may be empty.
    pub notes: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The default.
    pub default: &'static str,
    /// The allowed range in words; empty if the unit implies it.
    pub range: &'static str,
    /// The paper, section, equation or RFC; empty if the parameter is from no publication.
    pub source: &'static str,
    /// The exclusive lower bound.
    pub above: Option<f64>,
    /// The smallest number.
    pub min: Option<f64>,
    /// The largest number.
    pub max: Option<f64>,
    /// Is it required?
    pub is_required: bool,
    /// The schema of its values; empty without the feature `serde`.
    pub schema: SchemaOf,
}

/// Generates the schema of a value.
#[cfg(feature = "serde")]
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A placeholder without the feature `serde`.
#[cfg(not(feature = "serde"))]
pub type SchemaOf = ();

/// A schema that allows any value.
#[cfg(feature = "serde")]
pub const NO_SCHEMA: SchemaOf = |_| json_schema!(true);

/// The empty schema, without the feature `serde`.
#[cfg(not(feature = "serde"))]
pub const NO_SCHEMA: SchemaOf = ();

/// A struct of declared parameters. Implemented by [`parameters`](crate::parameters).
pub trait Declared: Default {
    /// The parameters, in their order.
    const FIELDS: &'static [Field];

    /// The name of the owner of the parameters, as users write it; empty for a group.
    const OWNER: &'static str;

    /// Their names.
    const NAMES: &'static [&'static str];

    /// The leading `//!` lines of the declaring file, in Markdown.
    const DOCUMENTATION: &'static str;

    /// The declaring file, as passed to the compiler; in this workspace, relative to the root.
    const FILE: &'static str;

    /// Takes the omitted values from `base`.
    fn fill(&mut self, base: &Self);
}

/// The total number of parameters in `parts`.
pub const fn total(parts: &[&[Field]]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < parts.len() {
        total += parts[at].len();
        at += 1;
    }
    total
}

/// Concatenates `parts`; `N` is their [`total`].
pub const fn joined<const N: usize>(parts: &[&[Field]]) -> [Field; N] {
    let mut all = [Field::NONE; N];
    let (mut part, mut to) = (0, 0);
    while part < parts.len() {
        let mut at = 0;
        while at < parts[part].len() {
            all[to] = parts[part][at];
            to += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

/// The names of all `N` parameters.
pub const fn names<const N: usize>(fields: &[Field]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = fields[at].name;
        at += 1;
    }
    names
}

impl Field {
    /// A placeholder for arrays.
    const NONE: Field = Field {
        name: "",
        text: "",
        notes: "",
        unit: "",
        default: "",
        range: "",
        source: "",
        above: None,
        min: None,
        max: None,
        is_required: false,
        schema: NO_SCHEMA,
    };

    /// The description, the range and the default, in one or two sentences.
    pub fn description(&self) -> String {
        let Field { default, .. } = self;
        format!("{} Default: {default}.", self.text_with_range())
    }

    /// The description and the range, in one sentence.
    pub fn text_with_range(&self) -> String {
        match (self.range, self.text.strip_suffix('.')) {
            ("", _) => String::from(self.text),
            (range, Some(text)) => format!("{text} ({range})."),
            (range, None) => format!("{} ({range})", self.text),
        }
    }
}
