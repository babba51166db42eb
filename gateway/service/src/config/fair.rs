//! The share of each class when all classes are busy: weighted max-min fairness over the tree.
//! Guarantees apply first, and ceilings last.

use fairwire_datapath::class_book::ClassBook;
use fairwire_metrics::class_shares::class_shares;
use fairwire_wire::Way;

/// The rate of each class in bit/s, by class number, on a link of `rate_bps`.
pub(super) fn busy(book: &ClassBook, way: Way, rate_bps: f64) -> Vec<f64> {
    // A parent offers nothing itself: it takes only what its children take.
    let offer = |number| if book.is_leaf(number) { f64::INFINITY } else { 0.0 };
    let offered: Vec<f64> = (0..book.numbers() as u32).map(offer).collect();
    class_shares(&book.terms(way), &offered, rate_bps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Rate, Weight};
    use fairwire_datapath::class_book::{Bounds, Class, ClassKind};

    fn class(name: &str, parent: Option<u32>, weight: f64, bounds: (u64, u64)) -> Class {
        let bounds = Bounds {
            guaranteed: Rate::from_bps(bounds.0),
            ceiling: Rate::from_bps(bounds.1),
            ..Bounds::default()
        };
        Class {
            name: name.into(),
            parent,
            kind: ClassKind::Class,
            weight: Weight::new(weight).expect("a weight"),
            bounds: [bounds; 2],
            is_suspended: false,
        }
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
    fn guarantees_come_first_and_capacity_above_a_ceiling_goes_to_siblings() {
        let book = ClassBook::new(vec![
            class("unclaimed", None, 1.0, (0, 0)),
            class("a", None, 1.0, (400, 0)),
            class("b", None, 2.0, (0, 100)),
        ]);
        // Class `a` gets 400 bit/s (its guarantee), and `b` gets 100 bit/s (its ceiling). Unclaimed
        // traffic and `a` share the other 500 bit/s.
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
