//! What each class gets when all are busy: weighted max-min fairness over the tree, with guarantees first and ceilings last.

use crate::class_book::{ClassBook, Way};

/// Bit/s of each class, by number, on a link of `rate_bps`.
pub(super) fn busy(book: &ClassBook, way: Way, rate_bps: f64) -> Vec<f64> {
    let mut below: Vec<Vec<u32>> = vec![Vec::new(); book.len()];
    let mut root = Vec::new();
    for (number, class) in book.iter() {
        match class.parent {
            Some(parent) => below[parent as usize].push(number),
            None => root.push(number),
        }
    }
    let wants = wants(book, way, &below);
    let mut shares = vec![0.0; book.len()];
    deal(rate_bps, &root, &wants, &mut shares);
    for number in 0..book.len() {
        deal(shares[number], &below[number], &wants, &mut shares);
    }
    shares
}

/// What a class can claim and what it can use.
#[derive(Clone, Copy)]
struct Want {
    guaranteed: f64,
    most: f64,
    weight: f64,
}

fn wants(book: &ClassBook, way: Way, below: &[Vec<u32>]) -> Vec<Want> {
    let mut wants = vec![Want { guaranteed: 0.0, most: f64::INFINITY, weight: 1.0 }; book.len()];
    for number in (0..book.len()).rev() {
        let class = book.class(number as u32).expect("numbers are of the book");
        let bounds = class.bounds[way as usize];
        let sum = |part: fn(&Want) -> f64| {
            below[number].iter().map(|&child| part(&wants[child as usize])).sum::<f64>()
        };
        let used = if below[number].is_empty() { f64::INFINITY } else { sum(|want| want.most) };
        let guaranteed =
            bounds.guaranteed.map_or_else(|| sum(|want| want.guaranteed), |rate| rate.bps() as f64);
        let most = bounds.ceiling.map_or(f64::INFINITY, |rate| rate.bps() as f64).min(used);
        wants[number] = Want { guaranteed, most, weight: class.weight };
    }
    wants
}

/// Deals `total` out to `classes`: to each its guarantee, and the rest by weight among those below their ceilings.
fn deal(total: f64, classes: &[u32], wants: &[Want], shares: &mut [f64]) {
    let want = |class: &u32| wants[*class as usize];
    let promised: f64 = classes.iter().map(|class| want(class).guaranteed.min(want(class).most)).sum();
    let mut left = (total - promised).max(0.0);
    let mut weights: f64 = classes.iter().map(|class| want(class).weight).sum();
    // Those who are full first leave the most to the others.
    let room = |class: &u32| (want(class).most - want(class).guaranteed).max(0.0) / want(class).weight;
    let mut order = classes.to_vec();
    order.sort_by(|a, b| room(a).total_cmp(&room(b)));
    for class in order {
        let Want { guaranteed, most, weight } = want(&class);
        let extra = (left * weight / weights).min((most - guaranteed).max(0.0));
        shares[class as usize] = guaranteed.min(most) + extra;
        (left, weights) = (left - extra, weights - weight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_book::{Bounds, Class, ClassKind};
    use fairwire_core::Rate;

    fn class(name: &str, parent: Option<u32>, weight: f64, bounds: (u64, u64)) -> Class {
        let bounds = Bounds { guaranteed: Rate::from_bps(bounds.0), ceiling: Rate::from_bps(bounds.1) };
        Class { name: name.into(), parent, kind: ClassKind::Class, weight, bounds: [bounds; 2] }
    }

    #[test]
    fn weights_divide_each_level() {
        let book = ClassBook::new(vec![
            class("unclaimed", None, 1.0, (0, 0)),
            class("a", None, 3.0, (0, 0)),
            class("a1", Some(1), 1.0, (0, 0)),
            class("a2", Some(1), 2.0, (0, 0)),
        ]);
        assert_eq!(busy(&book, Way::Download, 400.0), [100.0, 300.0, 100.0, 200.0]);
    }

    #[test]
    fn guarantees_come_first_and_what_a_ceiling_leaves_goes_to_siblings() {
        let book = ClassBook::new(vec![
            class("unclaimed", None, 1.0, (0, 0)),
            class("a", None, 1.0, (400, 0)),
            class("b", None, 2.0, (0, 100)),
        ]);
        // 600 are left over: 300 for b, of which it takes 100; the rest in equal parts.
        assert_eq!(busy(&book, Way::Upload, 1000.0), [250.0, 650.0, 100.0]);
    }

    #[test]
    fn a_class_takes_no_more_than_its_children_can_use() {
        let book = ClassBook::new(vec![
            class("unclaimed", None, 1.0, (0, 0)),
            class("a", None, 1.0, (0, 0)),
            class("a1", Some(1), 1.0, (0, 100)),
            class("a2", Some(1), 1.0, (0, 100)),
        ]);
        assert_eq!(busy(&book, Way::Download, 1000.0), [800.0, 200.0, 100.0, 100.0]);
    }
}
