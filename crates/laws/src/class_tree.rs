//! A tree of classes, as typed: what hierarchical FABA and the class tree of disciplines have in common.

use crate::error::{BadParameter, Parameter};
use crate::spec::MOST_CLASSES;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// Deeper trees are refused: the work per packet grows with the depth.
pub const MOST_LEVELS: usize = 8;

/// One class as it hangs in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its number.
    pub class: u32,
    /// The number of the class above it; `None` under the root.
    pub parent: Option<u32>,
}

/// A checked tree: classes have places, parents before children, in the order typed otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassTree {
    /// For each place, where in what was typed the class stood.
    pub typed: Box<[usize]>,
    /// For each place, the place of its parent; `None` under the root.
    pub parents: Box<[Option<usize>]>,
    places: Box<[u32]>,
}

const NOWHERE: u32 = u32::MAX;

impl ClassTree {
    /// Checks that classes are numbered once, that parents exist, and that the tree is a tree of at most [`MOST_LEVELS`].
    pub fn check(branches: &[Branch], parameter: Parameter) -> Result<ClassTree, BadParameter> {
        let mut typed_at = BTreeMap::new();
        for (at, branch) in branches.iter().enumerate() {
            if branch.class >= MOST_CLASSES {
                let allowed = format!("numbers from 0 to {}", MOST_CLASSES - 1);
                return Err(parameter.refuse(format_args!("class {}", branch.class), allowed));
            }
            if typed_at.insert(branch.class, at).is_some() {
                return Err(parameter.refuse(format_args!("class {} twice", branch.class), "each class once"));
            }
        }
        let mut levels = Vec::with_capacity(branches.len());
        for branch in branches {
            levels.push(level(branch, branches, &typed_at, parameter)?);
        }
        let mut typed: Vec<usize> = (0..branches.len()).collect();
        typed.sort_by_key(|&at| levels[at]); // a stable sort: the order typed, level by level
        let mut places = vec![NOWHERE; typed_at.last_key_value().map_or(0, |(class, _)| *class as usize + 1)];
        for (place, &at) in typed.iter().enumerate() {
            places[branches[at].class as usize] = place as u32;
        }
        let parent = |at: &usize| branches[*at].parent.map(|parent| places[parent as usize] as usize);
        let parents = typed.iter().map(parent).collect();
        Ok(ClassTree { typed: typed.into(), parents, places: places.into() })
    }

    /// The place of `class`, if it is in the tree.
    #[inline]
    pub fn place(&self, class: u32) -> Option<usize> {
        self.places.get(class as usize).filter(|&&place| place != NOWHERE).map(|&place| place as usize)
    }

    /// How many classes there are: places are below this.
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// Are there no classes?
    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    /// Has the class at `place` none below it?
    pub fn is_leaf(&self, place: usize) -> bool {
        !self.parents.contains(&Some(place))
    }
}

/// How far a class is below the root.
fn level(
    branch: &Branch,
    branches: &[Branch],
    typed_at: &BTreeMap<u32, usize>,
    parameter: Parameter,
) -> Result<usize, BadParameter> {
    let (mut at, mut level) = (branch, 1);
    while let Some(parent) = at.parent {
        let Some(&above) = typed_at.get(&parent) else {
            let given = format_args!("class {} under class {parent}, which is not there", at.class);
            return Err(
                parameter.refuse(given, "parents that are listed, or none for a class under the root")
            );
        };
        (at, level) = (&branches[above], level + 1);
        if level > MOST_LEVELS {
            let given = format_args!("class {} with {MOST_LEVELS} or more above it", branch.class);
            return Err(parameter.refuse(given, format_args!("a tree of at most {MOST_LEVELS} levels")));
        }
    }
    Ok(level)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMETER: Parameter = Parameter { discipline: "some", name: "class" };

    fn tree(branches: &[(u32, Option<u32>)]) -> Result<ClassTree, BadParameter> {
        let branches: Vec<_> = branches.iter().map(|&(class, parent)| Branch { class, parent }).collect();
        ClassTree::check(&branches, PARAMETER)
    }

    #[test]
    fn parents_come_before_children_whatever_the_order_typed() {
        let tree = tree(&[(5, Some(2)), (2, None), (7, Some(5)), (1, None)]).expect("a tree");
        assert_eq!(*tree.typed, [1, 3, 0, 2]);
        assert_eq!(*tree.parents, [None, None, Some(0), Some(2)]);
        assert_eq!(
            [2, 1, 5, 7, 3, 99].map(|class| tree.place(class)),
            [Some(0), Some(1), Some(2), Some(3), None, None]
        );
        assert_eq!([0, 1, 2, 3].map(|place| tree.is_leaf(place)), [false, true, false, true]);
    }

    #[test]
    fn what_is_no_tree_is_refused_with_the_class_at_fault() {
        let refusal = |branches| tree(branches).unwrap_err().to_string();
        assert!(refusal(&[(1, None), (1, None)]).contains("class 1 twice"));
        assert!(refusal(&[(1, Some(2))]).contains("class 1 under class 2, which is not there"));
        assert!(refusal(&[(1, Some(2)), (2, Some(1))]).contains("at most 8 levels"));
        assert!(refusal(&[(MOST_CLASSES, None)]).contains("numbers from 0 to"));
        let deep: Vec<_> = (0..9u32).map(|i| (i, i.checked_sub(1))).collect();
        assert!(refusal(&deep).contains("class 8 with 8 or more above it"));
        assert!(tree(&deep[..8]).is_ok());
    }
}
