//! A tree of classes for hierarchical FABA, the class tree of disciplines, the gateway's
//! configuration, and the fair shares with which results are compared.

use crate::rate::Rate;
use crate::weight::Weight;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The maximum depth: the work per packet grows with it.
pub const MAX_LEVELS: usize = 8;

/// Class numbers are below this, so a class can be looked up by its number.
pub const MAX_CLASSES: u32 = 1 << 20;

/// One class: its parent, and its share of the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassTerms {
    /// The parent class; `None` under the root.
    pub parent: Option<u32>,
    /// The weight among siblings, for sharing the rate beyond guarantees.
    pub weight: Weight,
    /// The rate that the class can always have.
    pub guarantee: Option<Rate>,
    /// The rate that the class never exceeds.
    pub ceiling: Option<Rate>,
}

impl ClassTerms {
    /// A class of weight 1 under `parent`, without a guarantee and without a ceiling.
    pub const fn new(parent: Option<u32>) -> Self {
        ClassTerms { parent, weight: Weight::ONE, guarantee: None, ceiling: None }
    }

    /// This class, with `weight`.
    #[must_use]
    pub const fn with_weight(self, weight: Weight) -> Self {
        ClassTerms { weight, ..self }
    }
}

/// A checked tree. The place of a class is its index. Parents come before children; otherwise the
/// given order is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTree {
    given: Box<[usize]>,
    terms: Box<[ClassTerms]>,
    places: Box<[u32]>,
}

const NOWHERE: u32 = u32::MAX;

impl ClassTree {
    /// The tree of `classes`, each with its number. A parent is named by its number, too.
    ///
    /// # Errors
    /// When a number is given twice or is not below [`MAX_CLASSES`], a parent is missing, a class
    /// is below itself, or there are more than [`MAX_LEVELS`] levels.
    pub fn new(classes: &[(u32, ClassTerms)]) -> Result<Self, ClassTreeError> {
        let mut given_at = BTreeMap::new();
        for (at, &(class, _)) in classes.iter().enumerate() {
            if class >= MAX_CLASSES {
                return Err(ClassTreeError::NumberTooLarge { class });
            }
            if given_at.insert(class, at).is_some() {
                return Err(ClassTreeError::Twice { class });
            }
        }
        let levels = classes
            .iter()
            .map(|(class, _)| level(*class, classes, &given_at))
            .collect::<Result<Vec<_>, _>>()?;
        let mut given: Vec<usize> = (0..classes.len()).collect();
        given.sort_by_key(|&at| levels[at]); // a stable sort: the order given, level by level
        let mut places = vec![NOWHERE; given_at.last_key_value().map_or(0, |(class, _)| *class as usize + 1)];
        for (place, &at) in given.iter().enumerate() {
            places[classes[at].0 as usize] = place as u32;
        }
        let placed = |&at: &usize| {
            let terms = classes[at].1;
            ClassTerms { parent: terms.parent.map(|parent| places[parent as usize]), ..terms }
        };
        let terms = given.iter().map(placed).collect();
        Ok(ClassTree { given: given.into(), terms, places: places.into() })
    }

    /// The place of `class`, if it is in the tree.
    #[inline]
    pub fn place(&self, class: u32) -> Option<usize> {
        self.places.get(class as usize).filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    /// The terms of all classes, by place. The field `parent` is a place, too.
    pub fn terms(&self) -> &[ClassTerms] {
        &self.terms
    }

    /// For each place, the class's index in the given list.
    pub fn given(&self) -> &[usize] {
        &self.given
    }

    /// The parent's place; `None` under the root.
    #[inline]
    pub fn parent(&self, place: usize) -> Option<usize> {
        self.terms[place].parent.map(|parent| parent as usize)
    }

    /// The same tree with these `guarantees`, by place.
    #[must_use]
    pub fn with_guarantees(mut self, guarantees: impl IntoIterator<Item = Option<Rate>>) -> Self {
        self.terms.iter_mut().zip(guarantees).for_each(|(terms, guarantee)| terms.guarantee = guarantee);
        self
    }

    /// Sets a class's weight, and returns the previous one.
    pub fn set_weight(&mut self, place: usize, weight: Weight) -> Weight {
        core::mem::replace(&mut self.terms[place].weight, weight)
    }

    /// The depth of the class at `place`: 1 under the root.
    pub fn level(&self, place: usize) -> usize {
        core::iter::successors(Some(place), |&place| self.parent(place)).count()
    }

    /// The number of classes: places are below this.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Are there no classes?
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// For each place, whether the class there has no children.
    pub fn leaves(&self) -> Vec<bool> {
        let mut is_leaf = vec![true; self.len()];
        self.terms
            .iter()
            .filter_map(|terms| terms.parent)
            .for_each(|parent| is_leaf[parent as usize] = false);
        is_leaf
    }
}

/// The guaranteed rate of each class in bit/s: its own guarantee, or else the sum of its
/// children's. Parents come first, as in [`ClassTree::terms`].
///
/// # Errors
/// If a class is guaranteed less than its children or more than its ceiling, or if the classes
/// under the root are together guaranteed more than `rate`.
pub fn guarantees(terms: &[ClassTerms], rate: Rate) -> Result<Vec<u128>, Overpromised> {
    let mut guarantees = vec![0u128; terms.len()];
    let mut total = 0;
    for (place, own) in terms.iter().enumerate().rev() {
        let below = guarantees[place];
        let guaranteed = own.guarantee.map_or(below, |rate| rate.bps().into());
        if below > guaranteed {
            return Err(Overpromised::Guarantee { place, below });
        }
        if own.ceiling.is_some_and(|ceiling| guaranteed > ceiling.bps().into()) {
            return Err(Overpromised::Ceiling { place, guaranteed });
        }
        guarantees[place] = guaranteed;
        *own.parent.map_or(&mut total, |parent| &mut guarantees[parent as usize]) += guaranteed;
    }
    if total > rate.bps().into() {
        return Err(Overpromised::Link { total });
    }
    Ok(guarantees)
}

fn level(
    class: u32,
    classes: &[(u32, ClassTerms)],
    given_at: &BTreeMap<u32, usize>,
) -> Result<usize, ClassTreeError> {
    let (mut at, mut level) = (class, 1);
    while let Some(parent) = classes[given_at[&at]].1.parent {
        if !given_at.contains_key(&parent) {
            return Err(ClassTreeError::NoParent { class: at, parent });
        }
        (at, level) = (parent, level + 1);
        if at == class {
            return Err(ClassTreeError::Circle { class });
        }
        if level > MAX_LEVELS {
            return Err(ClassTreeError::TooDeep { class });
        }
    }
    Ok(level)
}

/// Why classes are not a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassTreeError {
    /// A number is not below [`MAX_CLASSES`].
    NumberTooLarge {
        /// The number.
        class: u32,
    },
    /// A number is given twice.
    Twice {
        /// The number.
        class: u32,
    },
    /// The parent class is not in the list.
    NoParent {
        /// The class.
        class: u32,
        /// The missing parent.
        parent: u32,
    },
    /// The class is below itself.
    Circle {
        /// The class.
        class: u32,
    },
    /// The class has [`MAX_LEVELS`] or more ancestors.
    TooDeep {
        /// The class.
        class: u32,
    },
}

impl ClassTreeError {
    /// The class at fault.
    pub const fn class(self) -> u32 {
        match self {
            ClassTreeError::NumberTooLarge { class }
            | ClassTreeError::Twice { class }
            | ClassTreeError::NoParent { class, .. }
            | ClassTreeError::Circle { class }
            | ClassTreeError::TooDeep { class } => class,
        }
    }

    /// The allowed alternative, for an error message.
    pub fn allowed(self) -> Allowed {
        Allowed(self)
    }
}

/// The given value.
impl fmt::Display for ClassTreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClassTreeError::NumberTooLarge { class } => write!(f, "class {class}"),
            ClassTreeError::Twice { class } => write!(f, "class {class} twice"),
            ClassTreeError::NoParent { class, parent } => {
                write!(f, "class {class} under class {parent}, which is not listed")
            }
            ClassTreeError::Circle { class } => write!(f, "class {class} below itself"),
            ClassTreeError::TooDeep { class } => {
                write!(f, "class {class} with {MAX_LEVELS} or more above it")
            }
        }
    }
}

impl core::error::Error for ClassTreeError {}

/// The `allowed` part of a [`ClassTreeError`]'s message.
#[derive(Clone, Copy, Debug)]
pub struct Allowed(ClassTreeError);

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ClassTreeError::NumberTooLarge { .. } => write!(f, "numbers from 0 to {}", MAX_CLASSES - 1),
            ClassTreeError::Twice { .. } => f.write_str("each class once"),
            ClassTreeError::NoParent { .. } => {
                f.write_str("a listed class as `parent`, or no `parent` for a class under the root")
            }
            ClassTreeError::Circle { .. } => {
                f.write_str("a parent that is neither the class itself nor below it")
            }
            ClassTreeError::TooDeep { .. } => write!(f, "a tree of at most {MAX_LEVELS} levels"),
        }
    }
}

/// A guarantee that cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overpromised {
    /// The class at this place is guaranteed less than its children together.
    Guarantee {
        /// Its place.
        place: usize,
        /// The sum of the children's guarantees, in bit/s.
        below: u128,
    },
    /// The ceiling of the class at this place is below its guarantee.
    Ceiling {
        /// Its place.
        place: usize,
        /// The guarantee of the class, or else the sum of its children's guarantees, in bit/s.
        guaranteed: u128,
    },
    /// The classes under the root are guaranteed more than the link has.
    Link {
        /// The sum of the guarantees of these classes, in bit/s.
        total: u128,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn tree(parents: &[(u32, Option<u32>)]) -> Result<ClassTree, ClassTreeError> {
        let classes: Vec<_> =
            parents.iter().map(|&(class, parent)| (class, ClassTerms::new(parent))).collect();
        ClassTree::new(&classes)
    }

    #[test]
    fn parents_come_before_children_for_any_given_order() {
        let tree = tree(&[(5, Some(2)), (2, None), (7, Some(5)), (1, None)]).expect("a tree");
        assert_eq!(tree.given(), [1, 3, 0, 2]);
        assert_eq!([0, 1, 2, 3].map(|place| tree.parent(place)), [None, None, Some(0), Some(2)]);
        assert_eq!([0, 1, 2, 3].map(|place| tree.level(place)), [1, 1, 2, 3]);
        assert_eq!(
            [2, 1, 5, 7, 3, 99].map(|class| tree.place(class)),
            [Some(0), Some(1), Some(2), Some(3), None, None]
        );
        assert_eq!(tree.leaves(), [false, true, false, true]);
    }

    #[test]
    fn a_malformed_tree_is_refused_with_the_class_at_fault() {
        let refusal = |parents| {
            let error = tree(parents).unwrap_err();
            alloc::format!("{error}; allowed: {}", error.allowed())
        };
        assert_eq!(refusal(&[(1, None), (1, None)]), "class 1 twice; allowed: each class once");
        assert!(
            refusal(&[(1, Some(2))])
                .starts_with("class 1 under class 2, which is not listed; allowed: a listed class")
        );
        assert_eq!(tree(&[(3, Some(1)), (1, Some(2)), (2, Some(1))]).map_err(ClassTreeError::class), Err(3));
        assert!(refusal(&[(1, Some(2)), (2, Some(1))]).contains("class 1 below itself"));
        assert!(refusal(&[(1, Some(1))]).contains("class 1 below itself"));
        assert!(refusal(&[(MAX_CLASSES, None)]).contains("numbers from 0 to 1048575"));
        let deep: Vec<_> = (0..9u32).map(|i| (i, i.checked_sub(1))).collect();
        assert!(
            refusal(&deep).contains("class 8 with 8 or more above it; allowed: a tree of at most 8 levels")
        );
        assert!(tree(&deep[..8]).is_ok());
    }

    fn terms(parent: Option<u32>, guarantee: u64, ceiling: u64) -> ClassTerms {
        ClassTerms {
            guarantee: Rate::from_bps(guarantee),
            ceiling: Rate::from_bps(ceiling),
            ..ClassTerms::new(parent)
        }
    }

    #[test]
    fn a_class_is_guaranteed_the_sum_of_its_children() {
        let classes = [terms(None, 0, 0), terms(None, 5, 0), terms(Some(0), 2, 3), terms(Some(0), 1, 0)];
        assert_eq!(guarantees(&classes, rate(8)), Ok(vec![3, 5, 2, 1]));
        assert_eq!(guarantees(&classes, rate(7)), Err(Overpromised::Link { total: 8 }));
    }

    #[test]
    fn a_guarantee_that_cannot_be_kept_is_refused_at_its_class() {
        let under = [terms(None, 2, 0), terms(Some(0), 3, 0)];
        assert_eq!(guarantees(&under, rate(9)), Err(Overpromised::Guarantee { place: 0, below: 3 }));
        let held = [terms(None, 0, 2), terms(Some(0), 3, 0)];
        assert_eq!(guarantees(&held, rate(9)), Err(Overpromised::Ceiling { place: 0, guaranteed: 3 }));
        let own = [terms(None, 3, 2)];
        assert_eq!(guarantees(&own, rate(9)), Err(Overpromised::Ceiling { place: 0, guaranteed: 3 }));
    }

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).expect("above zero")
    }

    #[test]
    fn an_error_names_the_given_value() {
        assert_eq!(
            ClassTreeError::NoParent { class: 1, parent: 2 }.to_string(),
            "class 1 under class 2, which is not listed"
        );
    }
}
