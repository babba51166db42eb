//! The leaf disciplines chosen for the direction and for classes. Equal choices are stored once, so
//! thousands of leaves share their parameters.

use super::offered::{self, with_leaves};
use super::places::Texts;
use super::spec::Spec;
use super::tree::{Tree, quoted};
use fairwire_catalogue::{Choice, Parameters};
use fairwire_document::DocumentError;
use std::collections::BTreeMap;
use std::fmt;

/// A leaf discipline, as the configuration gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct LeafChoice {
    name: &'static str,
    choice: Choice,
    path: String,
}

impl LeafChoice {
    pub(super) fn unset(path: &str) -> Self {
        LeafChoice { name: offered::LEAF, choice: Choice::named(offered::LEAF), path: path.into() }
    }

    pub(super) fn new(name: &'static str, choice: &Choice, path: &str) -> Self {
        LeafChoice { name, choice: choice.clone(), path: path.into() }
    }

    /// The discipline's name in the catalogue.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The given value: a name, or a table with the name and its parameters.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The path in the configuration. If several choices are equal, this is the path of the first.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn parameters(&self, base: &Parameters) -> Parameters {
        self.choice.parameters().map_or_else(|| base.clone(), |own| base.with(own))
    }
}

impl fmt::Display for LeafChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&as_typed(&self.choice))
    }
}

/// The choice as the file contains it: `codel`, or `{ codel = { target = "2 ms" } }`.
pub(super) fn as_typed(choice: &Choice) -> String {
    if choice.parameters().is_none() {
        return choice.name().to_owned();
    }
    toml::Value::try_from(choice).expect("what was read can be written").to_string()
}

#[derive(Clone, Debug, Default)]
pub(super) struct ClassLeaves {
    choices: Vec<LeafChoice>,
    /// For each class number, the index in `choices`; `None` for subscribers.
    of_class: Box<[Option<usize>]>,
}

impl ClassLeaves {
    /// Collects the leaf disciplines of all classes. `read` checks the choice at a path.
    pub(super) fn new(
        spec: &Spec,
        tree: &Tree,
        is_classful: bool,
        texts: &Texts<'_>,
        read: impl Fn(&Choice, &str) -> Result<LeafChoice, DocumentError>,
    ) -> Result<Self, DocumentError> {
        let (mut choices, mut of_class) = (Vec::new(), Vec::new());
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (at, class) in spec.class.iter().enumerate() {
            let Some(given) = &class.leaf else { continue };
            let path = format!("class.{at}.leaf");
            if !is_classful {
                let why = "neither direction has a discipline with leaves";
                return Err(texts.refuse(&path, quoted(given.name()), why, with_leaves()));
            }
            let choice = read(given, &path)?;
            let written = as_typed(given);
            let place = *places.entry(written).or_insert_with(|| {
                choices.push(choice);
                choices.len() - 1
            });
            let number = tree.book.number(&class.name).expect("every class is in the book") as usize;
            of_class.resize(of_class.len().max(number + 1), None);
            of_class[number] = Some(place);
        }
        Ok(ClassLeaves { choices, of_class: of_class.into() })
    }
    pub(super) fn choices(&self) -> &[LeafChoice] {
        &self.choices
    }

    pub(super) fn place(&self, number: u32) -> Option<usize> {
        *self.of_class.get(number as usize)?
    }

    pub(super) fn of(&self, number: u32) -> Option<&LeafChoice> {
        self.place(number).map(|place| &self.choices[place])
    }
}
