//! Checks that a link can keep the guarantees of its classes.

use super::places::{Origin, Texts};
use super::tree::Tree;
use fairwire_core::Rate;
use fairwire_core::class_tree::{Overpromised, guarantees};
use fairwire_datapath::class_book::{Bounds, Burst, ClassBook};
use fairwire_document::{DocumentError, shortened};
use fairwire_wire::Way;

/// Checks the bounds of all classes in one direction. Without a link `rate`, the direction is not
/// shaped, and any bound is refused.
pub(super) fn check(
    tree: &Tree,
    way: Way,
    rate: Option<Rate>,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    let refuse = |number: usize, key: &str, given: Option<Rate>, why: String, allowed: &str| {
        let given = given.map_or(String::new(), |rate| rate.to_string());
        Err(texts.refuse_of(tree.origins[number], &format!("{}.{key}", way.name()), given, why, allowed))
    };
    let terms = tree.book.terms(way);
    let Some(rate) = rate else {
        let promise = |Bounds { guaranteed, ceiling, each, .. }: Bounds| {
            let all = [("guaranteed", guaranteed), ("ceiling", ceiling), ("each", each)];
            all.into_iter().find_map(|(key, rate)| Some((key, rate?)))
        };
        let bounds = tree.book.iter().map(|(number, class)| (number as usize, class.bounds[way as usize]));
        let last = bounds.filter_map(|(number, bounds)| Some((number, promise(bounds)?))).last();
        return last.map_or(Ok(()), |(number, (key, given))| {
            let why = format!("there is no [{}], so that direction is not shaped", way.name());
            let allowed =
                format!("a table [{}] with a rate, or neither guarantee nor ceiling for it", way.name());
            refuse(number, key, Some(given), why, &allowed)
        });
    };
    let below = |number: Option<u32>, sum| {
        format!(
            "the classes below {} are guaranteed {}",
            if number.is_none() { "the root" } else { "it" },
            sum_of_promises(tree, way, number, sum)
        )
    };
    match guarantees(&terms, rate) {
        Ok(_) => check_bursts(tree, way, rate, texts),
        Err(Overpromised::Guarantee { place, below: sum }) => {
            let why = below(Some(place as u32), sum);
            refuse(
                place,
                "guaranteed",
                terms[place].guarantee,
                why,
                "at least the sum of the guarantees below",
            )
        }
        Err(Overpromised::Ceiling { place, guaranteed }) => {
            let why = match terms[place].guarantee {
                Some(guarantee) => format!("{guarantee} is guaranteed"),
                None => below(Some(place as u32), guaranteed),
            };
            refuse(place, "ceiling", terms[place].ceiling, why, "at least what is guaranteed")
        }
        Err(Overpromised::Link { total }) => {
            let why = below(None, total);
            Err(texts.refuse(
                &format!("{}.rate", way.name()),
                rate,
                why,
                "at least the sum of the guarantees",
            ))
        }
    }
}

/// Checks that the rate of each burst is above the class's ceiling, but at most the link's rate and
/// the rates at which parent classes may send.
fn check_bursts(tree: &Tree, way: Way, link: Rate, texts: &Texts<'_>) -> Result<(), DocumentError> {
    for (number, _) in tree.book.iter() {
        if let Some((burst, why, allowed)) = burst_fault(&tree.book, number, way, link) {
            let key = format!("{}.burst", way.name());
            return Err(texts.refuse_of(tree.origins[number as usize], &key, burst, why, allowed));
        }
    }
    Ok(())
}

/// If the burst of class `number` is invalid, returns the burst, the reason, and the allowed
/// values.
pub(super) fn burst_fault(
    book: &ClassBook,
    number: u32,
    way: Way,
    link: Rate,
) -> Option<(Burst, String, &'static str)> {
    let bounds = |number: u32| book.class(number).map(|class| class.bounds[way as usize]);
    let own = bounds(number)?;
    let burst = own.burst?;
    let refuse = |why: String, allowed| Some((burst, why, allowed));
    match own.ceiling {
        None => return refuse("there is no ceiling".into(), "a burst with a ceiling"),
        Some(ceiling) if burst.rate <= ceiling => {
            return refuse(format!("the ceiling is {ceiling}"), "a rate above the ceiling");
        }
        Some(_) => {}
    }
    let above = |number: &u32| book.class(*number)?.parent;
    for parent in std::iter::successors(above(&number), above) {
        if let Some(most) = bounds(parent).and_then(|bounds| bounds.most()).filter(|most| burst.rate > *most)
        {
            let name = book.class(parent).map_or("", |class| class.name.as_str());
            let why = format!("`{}` above it gets at most {most}", shortened(name));
            return refuse(why, "at most what the classes above let pass");
        }
    }
    match burst.rate > link {
        true => refuse(format!("the link has {link}"), "at most the rate of the link"),
        false => None,
    }
}

const NAMED: usize = 3;

fn sum_of_promises(tree: &Tree, way: Way, parent: Option<u32>, sum: u128) -> String {
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

/// The promised rate of a class, bit/s: its guarantee, or the sum of the promised rates below it.
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

pub(super) fn first(tree: &Tree, way: Way) -> Option<(Origin, &'static str)> {
    tree.book.iter().find_map(|(number, class)| {
        let bounds = class.bounds[way as usize];
        let key = match bounds {
            Bounds { guaranteed: Some(_), .. } => "guaranteed",
            Bounds { ceiling: Some(_), .. } => "ceiling",
            Bounds { burst: Some(_), .. } => "burst",
            Bounds { each: Some(_), .. } => "each",
            _ => return None,
        };
        Some((tree.origins[number as usize], key))
    })
}
