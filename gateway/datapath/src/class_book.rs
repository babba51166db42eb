//! The classes of a gateway: a tree whose leaves are subscribers and classes without children.
//!
//! A class's number, the same in both directions, is its position in this book. A
//! [`Packet::class`](fairwire_core::Packet::class) is a leaf's number.

use crate::probing::next_to_move;
use crate::shared::SharedList;
use fairwire_core::units::UnitError;
use fairwire_core::{ClassTerms, Duration, Rate, Weight};
use fairwire_wire::Way;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{DefaultHasher, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// The leaf of packets that match no subscriber and no other class. It always exists, under the root.
pub const UNCLAIMED: u32 = 0;

/// One class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The name, unique among classes and subscribers.
    pub name: String,
    /// The number of the parent; `None` under the root.
    pub parent: Option<u32>,
    /// Its type.
    pub kind: ClassKind,
    /// The weight among siblings, from 1e-6 to 1e6.
    pub weight: Weight,
    /// The guarantee and the ceiling, indexed by the [`Way`].
    pub bounds: [Bounds; 2],
    /// Are all packets of the class lost, in both directions?
    pub is_suspended: bool,
}

impl Class {
    /// The terms in one direction.
    pub fn terms(&self, way: Way) -> ClassTerms {
        let Bounds { guaranteed, ceiling, .. } = self.bounds[way as usize];
        ClassTerms { parent: self.parent, weight: self.weight, guarantee: guaranteed, ceiling }
    }
}

/// The type of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// A class of the configuration, or [`UNCLAIMED`].
    Class,
    /// A row of the subscriber file.
    Subscriber,
}

/// The guarantee and the ceiling of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The rate that is always available to the class.
    pub guaranteed: Option<Rate>,
    /// The rate that the class never exceeds, except in a burst.
    pub ceiling: Option<Rate>,
    /// The burst, if there is a ceiling.
    pub burst: Option<Burst>,
    /// The rate that no host of the class exceeds.
    pub each: Option<Rate>,
}

impl Bounds {
    /// The highest rate that the class ever gets.
    pub fn most(&self) -> Option<Rate> {
        self.burst.map(|burst| burst.rate).or(self.ceiling)
    }
}

const MAX_BURST: Duration = Duration::from_secs(3600);

/// A burst beyond the ceiling after a pause, such as `40 Mbit/s for 10 s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The rate that the class never exceeds during the burst.
    pub rate: Rate,
    /// The time for which the class may send at `rate` after a sufficient pause.
    pub time: Duration,
}

impl Burst {
    /// The bytes allowed beyond `ceiling`.
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

/// All classes by number: parents before children, then vacant leaf numbers for new subscribers.
/// Copies share unchanged entries.
#[derive(Clone, Debug)]
pub struct ClassBook {
    /// `None` for a vacant number.
    classes: SharedList<Option<Class>>,
    /// A hash table from names to numbers, with open addressing. Empty slots hold [`FREE`].
    by_name: SharedList<u32>,
    is_leaf: Arc<[bool]>,
    leaf_count: usize,
    /// Vacant numbers, longest vacant first.
    vacant: VecDeque<u32>,
    suspended: SharedList<bool>,
    suspended_count: usize,
}

const FREE: u32 = u32::MAX;

impl ClassBook {
    /// A book of `classes`. The first must be [`UNCLAIMED`], names must differ, and parents must
    /// precede their children.
    ///
    /// # Panics
    /// If `classes` is empty, or a parent does not precede its child.
    pub fn new(classes: Vec<Class>) -> Self {
        ClassBook::of(classes, 0)
    }

    /// This book with `vacant` vacant numbers after the classes.
    #[must_use]
    pub fn with_vacant(&self, vacant: usize) -> Self {
        ClassBook::of(self.classes.iter().flatten().cloned().collect(), vacant)
    }

    fn of(classes: Vec<Class>, vacant: usize) -> Self {
        assert!(!classes.is_empty(), "a book begins with the class of unclaimed packets");
        let (taken, numbers) = (classes.len(), classes.len() + vacant);
        let mut is_leaf = vec![true; numbers];
        for (number, class) in classes.iter().enumerate() {
            if let Some(parent) = class.parent {
                assert!((parent as usize) < number, "class {number} comes before the one above it");
                is_leaf[parent as usize] = false;
            }
        }
        let suspended = classes.iter().map(|class| class.is_suspended);
        let suspended_count = suspended.clone().filter(|is_suspended| *is_suspended).count();
        let suspended = suspended.chain((0..vacant).map(|_| false)).collect();
        // At most two thirds of slots are filled.
        let slots = (numbers * 3 / 2 + 1).next_power_of_two();
        let mut book = ClassBook {
            classes: classes.into_iter().map(Some).chain((0..vacant).map(|_| None)).collect(),
            by_name: (0..slots).map(|_| FREE).collect(),
            leaf_count: is_leaf.iter().filter(|is_leaf| **is_leaf).count(),
            is_leaf: is_leaf.into(),
            vacant: (taken as u32..numbers as u32).collect(),
            suspended,
            suspended_count,
        };
        (0..taken as u32).for_each(|number| book.enter(number));
        book
    }

    /// A book with only [`UNCLAIMED`].
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

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.numbers() - self.vacant.len()
    }

    /// Never true: [`UNCLAIMED`] always exists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of class numbers, including vacant ones: the highest number plus 1.
    pub fn numbers(&self) -> usize {
        self.classes.len()
    }

    /// The vacant numbers.
    pub fn vacant(&self) -> impl Iterator<Item = u32> + '_ {
        self.vacant.iter().copied()
    }

    /// The class with this number; `None` if the number is vacant.
    pub fn class(&self, number: u32) -> Option<&Class> {
        self.classes.get(number as usize)?.as_ref()
    }

    /// The number of the class with this name.
    pub fn number(&self, name: &str) -> Option<u32> {
        let number = self.slot(self.slot_of(name));
        (number != FREE).then_some(number)
    }

    /// True for leaves and vacant numbers.
    pub fn is_leaf(&self, number: u32) -> bool {
        self.is_leaf.get(number as usize).copied().unwrap_or(false)
    }

    /// The number of leaves, including vacant ones. It never changes.
    pub fn leaf_count(&self) -> usize {
        self.leaf_count
    }

    /// All classes, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Class)> {
        (0..).zip(self.classes.iter()).filter_map(|(number, class)| Some((number, class.as_ref()?)))
    }

    /// A flag per class number, true for suspended classes; empty if no class is suspended.
    pub fn suspended(&self) -> SharedList<bool> {
        if self.suspended_count > 0 { self.suspended.clone() } else { SharedList::default() }
    }

    /// The weights of all numbers.
    pub fn weights(&self) -> Vec<Weight> {
        let weight = |class: &Option<Class>| class.as_ref().map_or(Weight::ONE, |class| class.weight);
        self.classes.iter().map(weight).collect()
    }

    /// The terms of all class numbers in one direction: parents first, as in a
    /// [`ClassTree`](fairwire_core::ClassTree).
    pub fn terms(&self, way: Way) -> Vec<ClassTerms> {
        let terms =
            |class: &Option<Class>| class.as_ref().map_or(ClassTerms::new(None), |class| class.terms(way));
        self.classes.iter().map(terms).collect()
    }

    /// Do both books have the same vacant numbers?
    pub fn is_numbered_as(&self, other: &ClassBook) -> bool {
        let is_there = |(one, other): (&Option<Class>, &Option<Class>)| one.is_some() == other.is_some();
        self.numbers() == other.numbers() && self.classes.iter().zip(other.classes.iter()).all(is_there)
    }

    /// Replaces leaf `number` by `class` of the same name. Returns false if no such leaf exists, or
    /// the new parent is a leaf.
    pub fn set(&mut self, number: u32, class: Class) -> bool {
        let is_there = self.class(number).is_some_and(|known| known.name == class.name);
        if !is_there || !self.is_leaf(number) || !self.may_be_above(class.parent, number) {
            return false;
        }
        self.put(number, Some(class));
        true
    }

    /// Gives `class` the longest-vacant number, and returns this number. `None` if no number is
    /// vacant, the name is taken, or the parent is a leaf.
    pub fn take(&mut self, class: Class) -> Option<u32> {
        let number = *self.vacant.front()?;
        if self.number(&class.name).is_some() || !self.may_be_above(class.parent, number) {
            return None;
        }
        self.vacant.pop_front();
        self.put(number, Some(class));
        self.enter(number);
        Some(number)
    }

    /// Makes a leaf's number vacant. Returns false for [`UNCLAIMED`], and if no leaf has this
    /// number.
    pub fn vacate(&mut self, number: u32) -> bool {
        if number == UNCLAIMED || self.class(number).is_none() || !self.is_leaf(number) {
            return false;
        }
        self.strike(number);
        self.put(number, None);
        self.vacant.push_back(number);
        true
    }

    fn may_be_above(&self, parent: Option<u32>, number: u32) -> bool {
        parent.is_none_or(|parent| parent < number && !self.is_leaf(parent))
    }

    fn put(&mut self, number: u32, class: Option<Class>) {
        let is_suspended = class.as_ref().is_some_and(|class| class.is_suspended);
        let was_suspended = self.suspended.get(number as usize) == Some(&true);
        if is_suspended != was_suspended
            && let Some(flag) = self.suspended.entry(number as usize)
        {
            *flag = is_suspended;
            self.suspended_count =
                self.suspended_count + usize::from(is_suspended) - usize::from(was_suspended);
        }
        if let Some(place) = self.classes.entry(number as usize) {
            *place = class;
        }
    }

    fn slot_of(&self, name: &str) -> usize {
        let mut slot = self.first_slot(name);
        while self.class(self.slot(slot)).is_some_and(|class| class.name != name) {
            slot = (slot + 1) & (self.by_name.len() - 1);
        }
        slot
    }

    fn first_slot(&self, name: &str) -> usize {
        let mut hasher = DefaultHasher::new();
        hasher.write(name.as_bytes());
        hasher.finish() as usize & (self.by_name.len() - 1)
    }

    fn slot(&self, slot: usize) -> u32 {
        self.by_name.get(slot).copied().unwrap_or(FREE)
    }

    fn set_slot(&mut self, slot: usize, number: u32) {
        if let Some(place) = self.by_name.entry(slot) {
            *place = number;
        }
    }

    fn enter(&mut self, number: u32) {
        let slot = self.class(number).map(|class| self.slot_of(&class.name));
        slot.into_iter().for_each(|slot| self.set_slot(slot, number));
    }

    fn strike(&mut self, number: u32) {
        let Some(mut free) = self.class(number).map(|class| self.slot_of(&class.name)) else { return };
        let last = self.by_name.len() - 1;
        let first = |book: &Self, slot| book.class(book.slot(slot)).map(|class| book.first_slot(&class.name));
        while let Some(slot) = next_to_move(free, last, |slot| first(self, slot)) {
            self.set_slot(free, self.slot(slot));
            free = slot;
        }
        self.set_slot(free, FREE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_a_rate_for_a_time_and_gives_the_excess_bytes() {
        let burst: Burst = "40 Mbit/s for 10 s".parse().expect("a burst");
        assert_eq!(burst.to_string(), "40 Mbit/s for 10 s");
        assert_eq!(burst.bytes("20 Mbit/s".parse().expect("a rate")), 25_000_000);
        for text in ["40 Mbit/s", "40 for 10 s", "40 Mbit/s for 0 s", "40 Mbit/s for 2 h", ""] {
            assert!(text.parse::<Burst>().is_err(), "{text}");
        }
    }

    fn class(name: &str, parent: Option<u32>) -> Class {
        let kind = ClassKind::Subscriber;
        let (weight, bounds) = (Weight::ONE, [Bounds::default(); 2]);
        Class { name: name.into(), parent, kind, weight, bounds, is_suspended: false }
    }

    #[test]
    fn a_class_takes_the_longest_vacant_number_and_copies_are_unchanged() {
        let classes = [("unclaimed", None), ("gold", None), ("ann", Some(1))];
        let mut book = ClassBook::new(classes.map(|(name, above)| class(name, above)).into()).with_vacant(2);
        let before = book.clone();
        assert_eq!((book.len(), book.numbers()), (3, 5));
        assert_eq!([class("ann", None), class("x", Some(2))].map(|class| book.take(class)), [None; 2]);
        assert_eq!(book.take(class("bob", Some(1))), Some(3));
        assert!(book.vacate(2) && !book.vacate(2) && !book.vacate(1) && !book.vacate(UNCLAIMED));
        assert_eq!(["ann", "bob", "gold"].map(|name| book.number(name)), [None, Some(3), Some(1)]);
        assert_eq!(
            [0, 1].map(|_| book.take(Class { is_suspended: true, ..class("eve", None) })),
            [Some(4), None]
        );
        assert_eq!(book.suspended(), (0..5).map(|number| number == 4).collect());
        assert_eq!(book.take(class("max", None)), Some(2));
        assert_eq!(book.take(class("zoe", None)), None, "none is vacant");
        assert!(book.vacate(4) && book.suspended().len() == 0);
        assert_eq!(
            before.iter().map(|(_, class)| class.name.as_str()).collect::<Vec<_>>(),
            ["unclaimed", "gold", "ann"]
        );
        assert_eq!(before.number("ann"), Some(2));
    }

    #[test]
    fn names_map_to_their_numbers_across_many_changes() {
        let mut book = ClassBook::new(vec![class("unclaimed", None)]).with_vacant(40);
        let mut rng = fairwire_core::Seed(3).stream("book");
        let mut there = std::collections::BTreeMap::new();
        for _ in 0..20_000 {
            let name = format!("s{}", rng.below(60));
            match there.remove(&name) {
                Some(number) => assert!(book.vacate(number)),
                None => match book.take(class(&name, None)) {
                    Some(number) => drop(there.insert(name, number)),
                    None => assert_eq!(there.len(), 40),
                },
            }
            let wanted = format!("s{}", rng.below(60));
            assert_eq!(book.number(&wanted), there.get(&wanted).copied());
        }
        assert_eq!(book.len(), there.len() + 1);
    }
}
