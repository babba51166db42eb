//! What is declared of a parameter, and of a struct of them.

use alloc::format;
use alloc::string::String;
#[cfg(feature = "serde")]
use schemars::{Schema, SchemaGenerator, json_schema};

/// What is declared of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name, as typed.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub text: &'static str,
    /// More of it; empty where there is nothing to add.
    pub notes: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What holds where none is given.
    pub default: &'static str,
    /// What is allowed, in words; empty where the unit says it.
    pub range: &'static str,
    /// Where it is from; empty where nobody else has it.
    pub source: &'static str,
    /// Numbers are above this.
    pub above: Option<f64>,
    /// The least number.
    pub min: Option<f64>,
    /// The greatest number.
    pub max: Option<f64>,
    /// Must it be given?
    pub is_required: bool,
    /// The schema of its values; nothing without the feature `serde`.
    pub schema: SchemaOf,
}

/// What makes the schema of a value.
#[cfg(feature = "serde")]
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// What makes the schema of a value: nothing without the feature `serde`.
#[cfg(not(feature = "serde"))]
pub type SchemaOf = ();

/// Of a value whose schema is not known: anything.
#[cfg(feature = "serde")]
pub const NO_SCHEMA: SchemaOf = |_| json_schema!(true);

/// Of a value whose schema is not known: nothing.
#[cfg(not(feature = "serde"))]
pub const NO_SCHEMA: SchemaOf = ();

/// A struct of declared parameters. Implemented by [`parameters`](crate::parameters).
pub trait Declared: Default {
    /// The parameters, in their order.
    const FIELDS: &'static [Field];

    /// Their names.
    const NAMES: &'static [&'static str];

    /// What the file that declares them says of itself, in the `//!` lines that it begins with. Markdown.
    const DOCUMENTATION: &'static str;

    /// The file that declares them, as the compiler was given it: in this workspace from its root, `crates/laws/src/dropper/red/mod.rs`.
    const FILE: &'static str;

    /// Takes from `base` what was not given here.
    fn fill(&mut self, base: &Self);
}

/// How many parameters these parts have.
pub const fn total(parts: &[&[Field]]) -> usize {
    let (mut total, mut at) = (0, 0);
    while at < parts.len() {
        total += parts[at].len();
        at += 1;
    }
    total
}

/// The parameters of these parts, one after the other; `N` is their [`total`].
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
    /// What arrays are filled with before the parameters are known.
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

    /// What it is, what is allowed, and the default, in one or two sentences.
    pub fn description(&self) -> String {
        let Field { default, .. } = self;
        format!("{} Default: {default}.", self.text_with_range())
    }

    /// What it is and what is allowed, in a sentence.
    pub fn text_with_range(&self) -> String {
        match (self.range, self.text.strip_suffix('.')) {
            ("", _) => String::from(self.text),
            (range, Some(text)) => format!("{text} ({range})."),
            (range, None) => format!("{} ({range})", self.text),
        }
    }
}
