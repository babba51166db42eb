//! The classes of a gateway: a tree whose leaves are subscribers and classes without children.
//!
//! A class has one number in both directions, the place in this book:
//! [`Packet::class`](fairwire_core::Packet::class) is the number of a leaf.

use fairwire_core::units::UnitError;
use fairwire_core::{ClassTerms, Duration, Rate, Weight};
use fairwire_wire::Way;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The leaf of whatever no subscriber and no class claims. It is always there, under the root.
pub const UNCLAIMED: u32 = 0;

/// One class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name; those of classes and of subscribers are all different.
    pub name: String,
    /// The number of the class above it; `None` under the root.
    pub parent: Option<u32>,
    /// Its kind.
    pub kind: ClassKind,
    /// Its weight among its siblings, from 1e-6 to 1e6.
    pub weight: Weight,
    /// Its guarantee and its ceiling, by the number of the [`Way`].
    pub bounds: [Bounds; 2],
    /// Are all its packets lost, in both directions?
    pub is_suspended: bool,
}

impl Class {
    /// Its terms in one direction.
    pub fn terms(&self, way: Way) -> ClassTerms {
        let Bounds { guaranteed, ceiling, .. } = self.bounds[way as usize];
        ClassTerms { parent: self.parent, weight: self.weight, guarantee: guaranteed, ceiling }
    }
}

/// The kind of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// A class of the configuration; [`UNCLAIMED`] too.
    Class,
    /// A row of the subscriber file.
    Subscriber,
}

/// The guarantee and the ceiling of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The rate that it can always have.
    pub guaranteed: Option<Rate>,
    /// The rate that it never exceeds, but for a burst.
    pub ceiling: Option<Rate>,
    /// The burst, where there is a ceiling.
    pub burst: Option<Burst>,
}

impl Bounds {
    /// The highest rate that it ever gets.
    pub fn most(&self) -> Option<Rate> {
        self.burst.map(|burst| burst.rate).or(self.ceiling)
    }
}

/// The longest time of a burst.
const MAX_BURST: Duration = Duration::from_secs(3600);

/// The burst that a class may send beyond its ceiling after a pause, such as `40 Mbit/s for 10 s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The rate that it never exceeds meanwhile.
    pub rate: Rate,
    /// How long it may send at that rate, after a pause that was long enough.
    pub time: Duration,
}

impl Burst {
    /// The bytes allowed beyond `ceiling`: the difference of the rates times the burst's time.
    pub fn bytes(&self, ceiling: Rate) -> u64 {
        let beyond = self.rate.bps().saturating_sub(ceiling.bps());
        let bits = u128::from(beyond) * u128::from(self.time.ns()) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }
}

impl FromStr for Burst {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rate, time) = text.split_once(" for ").ok_or("allowed: such as `40 Mbit/s for 10 s`")?;
        let rate = rate.trim().parse().map_err(|error: UnitError| error.to_string())?;
        let time: Duration = time.trim().parse().map_err(|error: UnitError| error.to_string())?;
        if time.is_zero() || time > MAX_BURST {
            return Err(format!("a burst of {time}; allowed: above 0 s, at most {MAX_BURST}"));
        }
        Ok(Burst { rate, time })
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {}", self.rate, self.time)
    }
}

/// All classes by number, parents before children.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassBook {
    classes: Vec<Class>,
    /// All numbers, in the order of the names.
    by_name: Box<[u32]>,
    is_leaf: Vec<bool>,
}

impl ClassBook {
    /// A book of `classes`, which were checked: the first is [`UNCLAIMED`], names differ, parents
    /// come before children.
    ///
    /// # Panics
    /// If there are none, or a parent does not come before its child.
    pub fn new(classes: Vec<Class>) -> Self {
        assert!(!classes.is_empty(), "a book begins with the class of unclaimed packets");
        let mut is_leaf = vec![true; classes.len()];
        for (number, class) in classes.iter().enumerate() {
            if let Some(parent) = class.parent {
                assert!((parent as usize) < number, "class {number} comes before the one above it");
                is_leaf[parent as usize] = false;
            }
        }
        let mut by_name: Box<[u32]> = (0..classes.len() as u32).collect();
        by_name.sort_unstable_by(|a, b| classes[*a as usize].name.cmp(&classes[*b as usize].name));
        ClassBook { classes, by_name, is_leaf }
    }

    /// A book with [`UNCLAIMED`] alone.
    pub fn plain() -> Self {
        ClassBook::new(vec![Class {
            name: "unclaimed".into(),
            parent: None,
            kind: ClassKind::Class,
            weight: Weight::ONE,
            bounds: [Bounds::default(); 2],
            is_suspended: false,
        }])
    }

    /// The number of classes. Class numbers are below it.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Never: there is always the class of unclaimed packets.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The class with that number.
    pub fn class(&self, number: u32) -> Option<&Class> {
        self.classes.get(number as usize)
    }

    /// The number of the class with that name.
    pub fn number(&self, name: &str) -> Option<u32> {
        let named = |number: &u32| self.classes[*number as usize].name.as_str().cmp(name);
        self.by_name.binary_search_by(named).ok().map(|at| self.by_name[at])
    }

    /// Is that class a leaf?
    pub fn is_leaf(&self, number: u32) -> bool {
        self.is_leaf.get(number as usize).copied().unwrap_or(false)
    }

    /// All, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Class)> {
        self.classes.iter().enumerate().map(|(number, class)| (number as u32, class))
    }

    /// Which are suspended, by number; empty where none is.
    pub fn suspended(&self) -> Arc<[bool]> {
        let all = self.classes.iter().map(|class| class.is_suspended);
        if all.clone().any(|is_suspended| is_suspended) { all.collect() } else { Arc::default() }
    }

    /// The terms of all classes in one direction, by number: parents first, as in a
    /// [`ClassTree`](fairwire_core::ClassTree).
    pub fn terms(&self, way: Way) -> Vec<ClassTerms> {
        self.classes.iter().map(|class| class.terms(way)).collect()
    }

    /// Puts another class in the place of the one with that number and that name, a leaf. False where
    /// there is none, or where it would be below a leaf.
    pub fn set(&mut self, number: u32, class: Class) -> bool {
        let is_there = self.class(number).is_some_and(|known| known.name == class.name);
        let is_above = |parent: u32| parent < number && !self.is_leaf(parent);
        if !is_there || !self.is_leaf(number) || !class.parent.is_none_or(is_above) {
            return false;
        }
        self.classes[number as usize] = class;
        true
    }

    /// Gives the class `number` another weight, and returns the one that it had.
    pub fn set_weight(&mut self, number: u32, weight: Weight) -> Option<Weight> {
        let class = self.classes.get_mut(number as usize)?;
        Some(std::mem::replace(&mut class.weight, weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_rate_for_a_time_and_what_the_difference_brings() {
        let burst: Burst = "40 Mbit/s for 10 s".parse().expect("a burst");
        assert_eq!(burst.to_string(), "40 Mbit/s for 10 s");
        assert_eq!(burst.bytes("20 Mbit/s".parse().expect("a rate")), 25_000_000);
        for text in ["40 Mbit/s", "40 for 10 s", "40 Mbit/s for 0 s", "40 Mbit/s for 2 h", ""] {
            assert!(text.parse::<Burst>().is_err(), "{text}");
        }
    }
}
