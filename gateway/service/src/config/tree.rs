//! Builds the tree from classes and subscribers as written, and checks how they relate.

use super::places::{Origin, Texts};
use super::spec::{ClassSpec, Spec};
use fairwire_core::class_tree::{MAX_CLASSES, MAX_LEVELS};
use fairwire_core::{ClassTerms, ClassTree, ClassTreeError, Weight};
use fairwire_datapath::class_book::{Bounds, Class, ClassBook, ClassKind, UNCLAIMED};
use fairwire_document::{DocumentError, shortened};
use fairwire_subscribers::sheet::{MAX_FAULTS, SubscriberRow, UNCLAIMED_NAME, checked_name};
use std::collections::HashMap;

pub(super) struct Tree {
    pub book: ClassBook,
    /// By number.
    pub origins: Vec<Origin>,
}

pub(super) fn grow(spec: &Spec, texts: &Texts<'_>) -> Result<Tree, DocumentError> {
    let names = names(spec, texts)?;
    let classes = class_tree(spec, &names, texts)?;
    let mut tree = TreeBuilder { classes: vec![unclaimed()], origins: vec![Origin::Unclaimed] };
    // The number of each class, by its position in the tree. Unclaimed packets have number 0.
    let mut numbers: Vec<u32> = Vec::with_capacity(classes.len());
    for (place, &at) in classes.given().iter().enumerate() {
        let parent = classes.parent(place).map(|place| numbers[place]);
        let class = of_spec(&spec.class[at], classes.terms()[place].weight, parent);
        numbers.push(tree.add(Origin::Class(at), class));
    }
    let number = |place: usize| numbers[place];
    let rows = texts.sheet.map_or(&[][..], |sheet| &sheet.rows);
    for (at, row) in rows.iter().enumerate() {
        let above = above_row(spec, row, Origin::Row(at), &names, &classes, texts)?;
        tree.add(Origin::Row(at), of_row(row, above.map(number)));
    }
    if tree.classes.len() > MAX_CLASSES as usize {
        let given = format_args!("{} classes and subscribers", tree.classes.len());
        return Err(texts.refuse(
            "class",
            given,
            "that is above the maximum",
            format_args!("at most {MAX_CLASSES}"),
        ));
    }
    let tree = Tree { book: ClassBook::new(tree.classes), origins: tree.origins };
    matches_are_of_leaves(spec, &tree, texts)?;
    Ok(tree)
}

struct TreeBuilder {
    classes: Vec<Class>,
    origins: Vec<Origin>,
}

impl TreeBuilder {
    fn add(&mut self, origin: Origin, class: Class) -> u32 {
        if class.name == UNCLAIMED_NAME {
            (self.classes[0], self.origins[0]) = (class, origin);
            return UNCLAIMED;
        }
        self.classes.push(class);
        self.origins.push(origin);
        self.classes.len() as u32 - 1
    }
}

/// The class of unclaimed packets, if the configuration does not list it.
fn unclaimed() -> Class {
    Class {
        name: UNCLAIMED_NAME.into(),
        parent: None,
        kind: ClassKind::Class,
        weight: Weight::ONE,
        bounds: [Bounds::default(); 2],
        is_suspended: false,
    }
}

fn of_spec(class: &ClassSpec, weight: Weight, parent: Option<u32>) -> Class {
    let bounds = [&class.download, &class.upload].map(|bounds| Bounds {
        guaranteed: bounds.guaranteed.map(|rate| rate.0),
        ceiling: bounds.ceiling.map(|rate| rate.0),
        burst: bounds.burst.map(|burst| burst.0),
        each: bounds.each.map(|rate| rate.0),
    });
    let (name, kind) = (class.name.clone(), ClassKind::Class);
    Class { name, parent, kind, weight, bounds, is_suspended: false }
}

pub(super) fn of_row(row: &SubscriberRow, parent: Option<u32>) -> Class {
    let (name, kind) = (row.name.clone(), ClassKind::Subscriber);
    let SubscriberRow { weight, bounds, is_suspended, .. } = *row;
    Class { name, parent, kind, weight, bounds, is_suspended }
}

fn names<'a>(spec: &'a Spec, texts: &'a Texts<'_>) -> Result<HashMap<&'a str, Origin>, DocumentError> {
    let mut names = HashMap::new();
    for (at, class) in spec.class.iter().enumerate() {
        let origin = Origin::Class(at);
        if class.name == UNCLAIMED_NAME {
            check_unclaimed(class, origin, texts)?;
        } else if let Err(bad) = checked_name(&class.name) {
            return Err(texts.refuse_of(origin, "name", quoted(&class.name), bad.why, bad.allowed));
        }
        claim_name(&mut names, &class.name, origin, texts)?;
        checked_weight(class.weight.unwrap_or(1.0), origin, texts)?;
    }
    let rows = texts.sheet.iter().flat_map(|sheet| sheet.rows.iter().enumerate());
    let claimed = rows.map(|(at, row)| claim_name(&mut names, &row.name, Origin::Row(at), texts));
    let faults = claimed.filter_map(Result::err).take(MAX_FAULTS).collect();
    DocumentError::of_all(faults).map_or(Ok(names), Err)
}

fn check_unclaimed(class: &ClassSpec, origin: Origin, texts: &Texts<'_>) -> Result<(), DocumentError> {
    let (key, why) = match class {
        ClassSpec { parent: Some(_), .. } => ("parent", "unclaimed traffic is under the root"),
        class if class.matches != Default::default() => ("match", "unclaimed packets match no class"),
        _ => return Ok(()),
    };
    Err(texts.refuse_of(origin, key, "given", why, "leave it out"))
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

fn checked_weight(weight: f64, origin: Origin, texts: &Texts<'_>) -> Result<Weight, DocumentError> {
    let refuse = || {
        texts.refuse_of(origin, "weight", weight, "that is out of range", "a number from 0.000001 to 1000000")
    };
    Weight::new(weight).ok_or_else(refuse)
}

/// The tree of the classes in `spec`. A class's number is its position in the list.
fn class_tree(
    spec: &Spec,
    names: &HashMap<&str, Origin>,
    texts: &Texts<'_>,
) -> Result<ClassTree, DocumentError> {
    let mut classes = Vec::with_capacity(spec.class.len());
    for (at, class) in spec.class.iter().enumerate() {
        let origin = Origin::Class(at);
        let parent = match &class.parent {
            None => None,
            Some(parent) => match names.get(parent.as_str()) {
                Some(Origin::Class(above)) if parent != UNCLAIMED_NAME => Some(*above as u32),
                _ if parent == UNCLAIMED_NAME => {
                    let why = "no class can be below the class of unclaimed traffic";
                    let allowed = "another class, or no `parent`";
                    return Err(texts.refuse_of(origin, "parent", quoted(parent), why, allowed));
                }
                _ => {
                    let mut others = class_names(spec);
                    others.retain(|name| *name != class.name);
                    return Err(texts.unknown(origin, "parent", "class", parent, others));
                }
            },
        };
        let weight = checked_weight(class.weight.unwrap_or(1.0), origin, texts)?;
        classes.push((at as u32, ClassTerms::new(parent).with_weight(weight)));
    }
    ClassTree::new(&classes).map_err(|error| {
        let at = error.class() as usize;
        let why = match error {
            ClassTreeError::Circle { .. } => "the class is then below itself",
            ClassTreeError::TooDeep { .. } => "the tree would be too deep",
            ClassTreeError::NumberTooLarge { .. } => "there are too many classes",
            ClassTreeError::Twice { .. } | ClassTreeError::NoParent { .. } => {
                unreachable!("numbers are places in the list, and parents were found there")
            }
        };
        let parent = quoted(spec.class[at].parent.as_deref().unwrap_or_default());
        texts.refuse_of(Origin::Class(at), "parent", parent, why, error.allowed())
    })
}

fn class_names(spec: &Spec) -> Vec<String> {
    let names = spec.class.iter().map(|class| class.name.clone());
    names.filter(|name| name != UNCLAIMED_NAME).collect()
}

/// The position in the tree of the class above a subscriber.
fn above_row(
    spec: &Spec,
    row: &SubscriberRow,
    origin: Origin,
    names: &HashMap<&str, Origin>,
    classes: &ClassTree,
    texts: &Texts<'_>,
) -> Result<Option<usize>, DocumentError> {
    let Some(class) = &row.class else { return Ok(None) };
    let Some(Origin::Class(above)) = names.get(class.as_str()).filter(|_| class != UNCLAIMED_NAME) else {
        return Err(texts.unknown(origin, "class", "class", class, class_names(spec)));
    };
    let above = classes.place(*above as u32).expect("every class of the list is in the tree");
    if classes.level(above) == MAX_LEVELS {
        let allowed = format_args!("a tree of at most {MAX_LEVELS} levels, subscribers included");
        return Err(texts.refuse_of(origin, "class", quoted(class), "the tree would be too deep", allowed));
    }
    Ok(Some(above))
}

/// Checks that only leaves have matches, since all packets of other classes belong to the classes
/// below them.
fn matches_are_of_leaves(spec: &Spec, tree: &Tree, texts: &Texts<'_>) -> Result<(), DocumentError> {
    for (number, _) in tree.book.iter() {
        let Origin::Class(at) = tree.origins[number as usize] else { continue };
        if spec.class[at].matches != Default::default() && !tree.book.is_leaf(number) {
            let below = tree.book.iter().find(|(_, below)| below.parent == Some(number));
            let below = below.map_or("", |(_, below)| below.name.as_str());
            let given = "given";
            let why = format_args!("`{}` is below that class", shortened(below));
            let allowed = "`match` in a class with neither classes nor subscribers below it";
            return Err(texts.refuse_of(tree.origins[number as usize], "match", given, why, allowed));
        }
    }
    Ok(())
}

pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}
