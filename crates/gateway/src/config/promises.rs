//! What classes are promised must be there to give.

use super::places::{Origin, Texts};
use super::tree::Tree;
use crate::class_book::Way;
use fairwire_core::Rate;
use fairwire_document::{DocumentError, shortened};

/// Checks guarantees and ceilings one way; `rate` is that of the link, `None` where that way is not shaped.
pub(super) fn check(
    tree: &Tree,
    way: Way,
    rate: Option<Rate>,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    let book = &tree.book;
    let own = |number: u32| book.class(number).expect("numbers are of the book").bounds[way as usize];
    let refuse = |number: u32, key: &str, given: &dyn std::fmt::Display, why: String, allowed: String| {
        texts.refuse_of(tree.origins[number as usize], &format!("{}.{key}", way.name()), given, why, allowed)
    };
    let mut below = vec![0u128; book.len()]; // what the classes below each are promised
    let mut at_root = 0u128;
    for number in (0..book.len() as u32).rev() {
        let bounds = own(number);
        if rate.is_none() {
            if let Some((key, given)) =
                bounds.guaranteed.map(|g| ("guaranteed", g)).or(bounds.ceiling.map(|c| ("ceiling", c)))
            {
                let why = format!("there is no [{}], so that way is not shaped", way.name());
                return Err(refuse(
                    number,
                    key,
                    &given,
                    why,
                    format!("a table [{}] with a rate, or none of this", way.name()),
                ));
            }
            continue;
        }
        let promised = bounds.guaranteed.map_or(below[number as usize], |rate| rate.bps().into());
        if let Some(given) = bounds.guaranteed.filter(|given| below[number as usize] > given.bps().into()) {
            let why = format!(
                "the classes under it are promised {}",
                told(tree, way, Some(number), below[number as usize])
            );
            return Err(refuse(
                number,
                "guaranteed",
                &given,
                why,
                "no less than what is promised below".into(),
            ));
        }
        if let Some(ceiling) = bounds.ceiling.filter(|ceiling| promised > ceiling.bps().into()) {
            let why = match bounds.guaranteed {
                Some(guaranteed) => format!("{guaranteed} is guaranteed"),
                None => {
                    format!("the classes under it are promised {}", told(tree, way, Some(number), promised))
                }
            };
            return Err(refuse(number, "ceiling", &ceiling, why, "no less than what is guaranteed".into()));
        }
        match book.class(number).and_then(|class| class.parent) {
            Some(parent) => below[parent as usize] += promised,
            None => at_root += promised,
        }
    }
    match rate.filter(|rate| at_root > rate.bps().into()) {
        Some(rate) => {
            let why = format!("the classes under the root are promised {}", told(tree, way, None, at_root));
            Err(texts.refuse(&format!("{}.rate", way.name()), rate, why, "no less than what is promised"))
        }
        None => Ok(()),
    }
}

/// So many of those who are promised something are named.
const NAMED: usize = 3;

/// A sum, and whose it is.
fn told(tree: &Tree, way: Way, parent: Option<u32>, sum: u128) -> String {
    let mut of: Vec<(u128, &str)> = tree
        .book
        .iter()
        .filter(|(_, class)| class.parent == parent)
        .map(|(number, class)| (promise(tree, way, number), class.name.as_str()))
        .filter(|(promised, _)| *promised > 0)
        .collect();
    of.sort_by(|(a, _), (b, _)| b.cmp(a));
    let mut parts: Vec<String> = of
        .iter()
        .take(NAMED)
        .map(|(promised, name)| format!("`{}` {}", shortened(name), rate(*promised)))
        .collect();
    if of.len() > NAMED {
        parts.push(format!("{} more", of.len() - NAMED));
    }
    format!("{} ({})", rate(sum), parts.join(", "))
}

/// What a class is promised: its guarantee, or those of the classes below it.
fn promise(tree: &Tree, way: Way, number: u32) -> u128 {
    let class = tree.book.class(number).expect("numbers are of the book");
    match class.bounds[way as usize].guaranteed {
        Some(rate) => rate.bps().into(),
        None => {
            let below = tree.book.iter().filter(|(_, below)| below.parent == Some(number));
            below.map(|(below, _)| promise(tree, way, below)).sum()
        }
    }
}

fn rate(bps: u128) -> String {
    match u64::try_from(bps).ok().and_then(Rate::from_bps) {
        Some(rate) => rate.to_string(),
        None => format!("{bps} bit/s"),
    }
}

/// The first class with a guarantee or a ceiling one way, and the key that says so.
pub(super) fn first(tree: &Tree, way: Way) -> Option<(Origin, &'static str)> {
    tree.book.iter().find_map(|(number, class)| {
        let bounds = class.bounds[way as usize];
        let key = match (bounds.guaranteed, bounds.ceiling) {
            (Some(_), _) => "guaranteed",
            (None, Some(_)) => "ceiling",
            (None, None) => return None,
        };
        Some((tree.origins[number as usize], key))
    })
}
