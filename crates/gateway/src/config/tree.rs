//! From classes and subscribers as typed to the tree, with everything that must hold between them.

use super::places::{Origin, Texts};
use super::spec::{ClassSpec, Spec};
use super::subscribers::{MOST_FAULTS, Row, WEIGHTS, checked_name};
use crate::class_book::{Bounds, Class, ClassBook, ClassKind};
use fairwire_document::{DocumentError, shortened};
use fairwire_laws::class_tree::MOST_LEVELS;
use fairwire_laws::spec::MOST_CLASSES;
use std::collections::HashMap;

/// The tree, and where each of its classes stands in the files.
pub(super) struct Tree {
    /// The classes.
    pub book: ClassBook,
    /// By number.
    pub origins: Vec<Origin>,
}

/// Makes the tree of `spec` and its subscribers.
pub(super) fn grow(spec: &Spec, texts: &Texts<'_>) -> Result<Tree, DocumentError> {
    let names = names(spec, texts)?;
    let levels = levels(spec, &names, texts)?;
    let mut order: Vec<usize> = (0..spec.class.len()).collect();
    order.sort_by_key(|&at| levels[at]); // a stable sort: the order typed, level by level
    let unclaimed_weight = spec.subscribers.as_ref().and_then(|subscribers| subscribers.unclaimed_weight);
    let mut tree = Growing {
        classes: vec![unclaimed(unclaimed_weight.unwrap_or(1.0))],
        origins: vec![Origin::Unclaimed],
    };
    if !WEIGHTS.contains(&tree.classes[0].weight) {
        return Err(bad_weight(texts, Origin::Unclaimed, tree.classes[0].weight));
    }
    let mut numbers = vec![0; spec.class.len()];
    for at in order {
        let class = &spec.class[at];
        let above = class.parent.as_deref().map(|parent| numbers[class_of(&names, parent)]);
        numbers[at] = tree.classes.len() as u32;
        tree.add(Origin::Class(at), of_spec(class, above));
    }
    let rows = texts.sheet.map_or(&[][..], |sheet| &sheet.rows);
    for (at, row) in rows.iter().enumerate() {
        let above = above_row(spec, row, Origin::Row(at), &names, &levels, texts)?;
        tree.add(Origin::Row(at), of_row(row, above.map(|above| numbers[above])));
    }
    if tree.classes.len() > MOST_CLASSES as usize {
        let given = format_args!("{} classes and subscribers", tree.classes.len());
        return Err(texts.refuse("class", given, "that is too much", format_args!("at most {MOST_CLASSES}")));
    }
    let tree = Tree { book: ClassBook::new(tree.classes), origins: tree.origins };
    matches_are_of_leaves(spec, &tree, texts)?;
    Ok(tree)
}

struct Growing {
    classes: Vec<Class>,
    origins: Vec<Origin>,
}

impl Growing {
    fn add(&mut self, origin: Origin, class: Class) {
        self.classes.push(class);
        self.origins.push(origin);
    }
}

fn unclaimed(weight: f64) -> Class {
    Class {
        name: "unclaimed".into(),
        parent: None,
        kind: ClassKind::Class,
        weight,
        bounds: [Bounds::default(); 2],
    }
}

fn of_spec(class: &ClassSpec, parent: Option<u32>) -> Class {
    let bounds = [&class.download, &class.upload].map(|bounds| Bounds {
        guaranteed: bounds.guaranteed.map(|rate| rate.0),
        ceiling: bounds.ceiling.map(|rate| rate.0),
    });
    let weight = class.weight.unwrap_or(1.0);
    Class { name: class.name.clone(), parent, kind: ClassKind::Class, weight, bounds }
}

fn of_row(row: &Row, parent: Option<u32>) -> Class {
    let kind = ClassKind::Subscriber;
    Class { name: row.name.clone(), parent, kind, weight: row.weight, bounds: row.bounds }
}

/// Where each name stands; names are right, and all different.
fn names<'a>(spec: &'a Spec, texts: &'a Texts<'_>) -> Result<HashMap<&'a str, Origin>, DocumentError> {
    let mut names = HashMap::new();
    for (at, class) in spec.class.iter().enumerate() {
        let origin = Origin::Class(at);
        if let Err(bad) = checked_name(&class.name) {
            return Err(texts.refuse_of(origin, "name", quoted(&class.name), bad.why, bad.allowed));
        }
        claim_name(&mut names, &class.name, origin, texts)?;
        let weight = class.weight.unwrap_or(1.0);
        if !WEIGHTS.contains(&weight) {
            return Err(bad_weight(texts, origin, weight));
        }
    }
    let rows = texts.sheet.iter().flat_map(|sheet| sheet.rows.iter().enumerate());
    let claimed = rows.map(|(at, row)| claim_name(&mut names, &row.name, Origin::Row(at), texts));
    let faults = claimed.filter_map(Result::err).take(MOST_FAULTS).collect();
    DocumentError::of_all(faults).map_or(Ok(names), Err)
}

fn claim_name<'a>(
    names: &mut HashMap<&'a str, Origin>,
    name: &'a str,
    origin: Origin,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    match names.insert(name, origin) {
        None => Ok(()),
        Some(other) => {
            let why = format_args!("{} has that name", texts.called(other));
            Err(texts.refuse_of(
                origin,
                "name",
                quoted(name),
                why,
                "a name that no other class or subscriber has",
            ))
        }
    }
}

fn bad_weight(texts: &Texts<'_>, origin: Origin, weight: f64) -> DocumentError {
    texts.refuse_of(origin, "weight", weight, "that is no weight", "a number from 0.000001 to 1000000")
}

/// The place in the list of the class called `name`, which is known to be there.
fn class_of(names: &HashMap<&str, Origin>, name: &str) -> usize {
    match names.get(name) {
        Some(Origin::Class(at)) => *at,
        _ => unreachable!("`{name}` was looked up before"),
    }
}

/// How deep each class is, 1 under the root; there is no circle, and the tree is not too deep.
fn levels(
    spec: &Spec,
    names: &HashMap<&str, Origin>,
    texts: &Texts<'_>,
) -> Result<Vec<usize>, DocumentError> {
    let mut parents = Vec::with_capacity(spec.class.len());
    for (at, class) in spec.class.iter().enumerate() {
        parents.push(match &class.parent {
            None => None,
            Some(parent) => match names.get(parent.as_str()) {
                Some(Origin::Class(above)) => Some(*above),
                _ => {
                    return Err(texts.unknown(
                        Origin::Class(at),
                        "parent",
                        "class",
                        parent,
                        class_names(spec),
                    ));
                }
            },
        });
    }
    let level = |at: usize| {
        let upwards = std::iter::successors(Some(at), |&at| parents[at]);
        let level = upwards.take(MOST_LEVELS + 1).count();
        if level <= MOST_LEVELS {
            return Ok(level);
        }
        let parent = quoted(spec.class[at].parent.as_deref().unwrap_or_default());
        let is_circle = std::iter::successors(parents[at], |&at| parents[at])
            .take(spec.class.len())
            .any(|above| above == at);
        let why = if is_circle { "the class is then below itself" } else { "the tree is then too deep" };
        let allowed = format_args!("a tree of at most {MOST_LEVELS} levels");
        Err(texts.refuse_of(Origin::Class(at), "parent", parent, why, allowed))
    };
    (0..spec.class.len()).map(level).collect()
}

fn class_names(spec: &Spec) -> Vec<String> {
    spec.class.iter().map(|class| class.name.clone()).collect()
}

/// The class above a subscriber, by its place in the list.
fn above_row(
    spec: &Spec,
    row: &Row,
    origin: Origin,
    names: &HashMap<&str, Origin>,
    levels: &[usize],
    texts: &Texts<'_>,
) -> Result<Option<usize>, DocumentError> {
    let Some(class) = &row.class else { return Ok(None) };
    let Some(Origin::Class(above)) = names.get(class.as_str()) else {
        return Err(texts.unknown(origin, "class", "class", class, class_names(spec)));
    };
    if levels[*above] == MOST_LEVELS {
        let allowed = format_args!("a tree of at most {MOST_LEVELS} levels, subscribers included");
        return Err(texts.refuse_of(origin, "class", quoted(class), "the tree is then too deep", allowed));
    }
    Ok(Some(*above))
}

/// A class with others below it has no packets of its own, so it matches none.
fn matches_are_of_leaves(spec: &Spec, tree: &Tree, texts: &Texts<'_>) -> Result<(), DocumentError> {
    for (number, class) in tree.book.iter() {
        let Origin::Class(at) = tree.origins[number as usize] else { continue };
        if spec.class[at].matches != Default::default() && !tree.book.is_leaf(number) {
            let below = tree.book.iter().find(|(_, below)| below.parent == Some(number));
            let below = below.map_or("", |(_, below)| below.name.as_str());
            let given = format_args!("there, of `{}`", shortened(&class.name));
            let why = format_args!("`{}` is below that class", shortened(below));
            let allowed = "`match` in classes without children and subscribers";
            return Err(texts.refuse_of(tree.origins[number as usize], "match", given, why, allowed));
        }
    }
    Ok(())
}

pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}
