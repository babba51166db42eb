//! Other values of some subscribers, without reading and checking all others again.

use super::discipline::DisciplinePlan;
use super::{Config, PlanContext, Shaping, promises, tree};
use fairwire_core::class_tree::guarantees;
use fairwire_core::{Discipline, Rate, Weight};
use fairwire_datapath::class_book::{Bounds, Class, ClassBook, ClassKind, UNCLAIMED};
use fairwire_laws::part::ClassSupport;
use fairwire_subscribers::sheet::Row;
use fairwire_wire::Way;
use std::sync::Arc;

/// A configuration in which subscribers have other values.
#[derive(Debug)]
pub(crate) struct OtherRows {
    /// It.
    pub config: Config,
    /// Classes with other terms in a tree with queues.
    pub terms: Vec<OtherTerms>,
    /// Classes with another weight, where that is all that a discipline knows of them.
    pub weights: Vec<(u32, Weight)>,
    /// Are other packets theirs, or are others suspended?
    pub has_members: bool,
}

/// A class with other terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherTerms {
    pub class: u32,
    pub parent: Option<u32>,
    /// Is it so in that [`Way`]?
    pub ways: [bool; 2],
}

/// A subscriber before and after.
struct OtherRow {
    number: u32,
    was: Class,
    is: Class,
    /// Are its terms others, by the number of the [`Way`]?
    ways: [bool; 2],
}

impl Config {
    /// The same where the subscribers of `before` have the values of `after`, row by row. `None` where
    /// more is needed for that: to read all files again, which also says what is wrong.
    pub(crate) fn with_rows(&self, before: &[Row], after: &[Row]) -> Option<OtherRows> {
        if before.len() != after.len() || self.spec.ingress.is_some() || self.spec.egress.is_some() {
            return None;
        }
        let mut book = (*self.book).clone();
        let (mut terms, mut weights) = (Vec::new(), Vec::new());
        let [mut gone, mut new] = [Vec::new(), Vec::new()];
        let (mut has_members, mut has_guarantees) = (false, false);
        for (before, after) in before.iter().zip(after) {
            let OtherRow { number, was, is, ways } = self.other_row(&book, before, after)?;
            if ways.contains(&true) {
                terms.push(OtherTerms { class: number, parent: is.parent, ways });
            }
            if was.weight != is.weight {
                weights.push((number, is.weight));
            }
            has_guarantees |= guaranteed(&was) != guaranteed(&is);
            has_members |= was.is_suspended != is.is_suspended || before.prefixes != after.prefixes;
            gone.extend(before.prefixes.iter().map(|prefix| (*prefix, number)));
            new.extend(after.prefixes.iter().map(|prefix| (*prefix, number)));
            if !book.set(number, is) {
                return None;
            }
            for (way, shaping) in Way::ALL.into_iter().zip(&self.shaping) {
                let Some(shaping) = shaping else { continue };
                if promises::burst_fault(&book, number, way, shaping.rate).is_some() {
                    return None;
                }
            }
        }
        let keeps = |(way, shaping): (Way, &Option<Shaping>)| {
            shaping.as_ref().is_none_or(|shaping| guarantees(&book.terms(way), shaping.rate).is_ok())
        };
        if has_guarantees && !Way::ALL.into_iter().zip(&self.shaping).all(keeps) {
            return None;
        }
        let claims = match gone == new {
            true => Arc::clone(&self.claims),
            false => Arc::new(self.claims.changed(&gone, &new)?),
        };
        let config = Config { book: Arc::new(book), claims, ..self.clone() };
        Some(OtherRows { config, terms, weights, has_members })
    }

    /// What becomes of one subscriber.
    fn other_row(&self, book: &ClassBook, before: &Row, after: &Row) -> Option<OtherRow> {
        let number = book.number(&before.name)?;
        let was = tree::of_row(before, above(book, before)?);
        let is = tree::of_row(after, above(book, after)?);
        // Where the file said something else, all of it is to be read.
        if before.name != after.name || before.access != after.access || book.class(number) != Some(&was) {
            return None;
        }
        let has_moved = was.parent != is.parent;
        // What classes below it are guaranteed together, a class is guaranteed too.
        let is_kept = guaranteed(&was) == guaranteed(&is) && (!has_moved || guaranteed(&is) == [None; 2]);
        if !is_kept && (was.parent, is.parent) != (None, None) {
            return None;
        }
        let mut ways = [false; 2];
        for way in [0, 1] {
            let (own, is_other) = (is.bounds[way], has_moved || was.bounds[way] != is.bounds[way]);
            let is_below = own.guaranteed.zip(own.ceiling).is_some_and(|(least, most)| least > most);
            ways[way] = match &self.shaping[way] {
                None if own != Bounds::default() => return None,
                None => false,
                Some(Shaping { sharing: ClassSupport::Queues, .. }) if !is_below => is_other,
                Some(_) if is_other => return None,
                Some(_) => false,
            };
        }
        Some(OtherRow { number, was, is, ways })
    }

    /// A discipline of `way` with `class` and the classes above it alone, as it has them among all.
    pub(crate) fn with_class_alone(
        &self,
        way: Way,
        class: u32,
        context: &PlanContext,
    ) -> Option<Box<dyn Discipline>> {
        let plan = self.discipline_plan(self.shaping(way)?, way, context.frame_bytes, context.seed);
        DisciplinePlan { only: Some(class), ..plan }.build().ok()
    }
}

fn guaranteed(class: &Class) -> [Option<Rate>; 2] {
    class.bounds.map(|bounds| bounds.guaranteed)
}

/// The class above a subscriber; `None` where it can have none below it.
fn above(book: &ClassBook, row: &Row) -> Option<Option<u32>> {
    let Some(name) = &row.class else { return Some(None) };
    let number = book.number(name)?;
    let is_above = number != UNCLAIMED && !book.is_leaf(number);
    (is_above && book.class(number)?.kind == ClassKind::Class).then_some(Some(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_core::{Probe, Seed, Time, Unit};
    use fairwire_datapath::classify::LinkKind;
    use fairwire_subscribers::sheet::{SheetText, read};

    const HEAD: &str =
        "name,addresses,class,weight,suspended,download_guaranteed,download_ceiling,download_burst\n";
    const CONTEXT: PlanContext =
        PlanContext { secret: [0; 16], seed: Seed(0), frame_bytes: 1514, link: LinkKind::Ethernet };

    fn config(discipline: &str, table: &str) -> Config {
        let leaf = if discipline == "classful" { "leaf = \"drr\"\n" } else { "" };
        let text = format!(
            "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[subscribers]\nfile = \"s.csv\"\n\
             [download]\nrate = \"50 Mbit/s\"\ndiscipline = \"{discipline}\"\n\
             [[class]]\nname = \"gold\"\n[[class]]\nname = \"silver\"\n{leaf}"
        );
        Config::parse("t.toml", &text, Some(("s.csv", table))).expect("a configuration")
    }

    /// What `before` becomes in `table`, and what the table becomes.
    fn changed(config: &Config, table: &str, [before, after]: [&str; 2]) -> (Option<OtherRows>, String) {
        let sheets = [before, after].map(|line| format!("{HEAD}{line}\n"));
        let [before_rows, after_rows] = [0, 1]
            .map(|place: usize| read(SheetText { name: "s.csv", text: &sheets[place] }).expect("rows").rows);
        assert!(table.contains(before), "{before}");
        (config.with_rows(&before_rows, &after_rows), table.replace(before, after))
    }

    /// All that a discipline shows of each class, in the order of their names.
    fn shown(discipline: &dyn Discipline) -> Vec<String> {
        struct All(Vec<String>);
        impl Probe for All {
            fn gauge(&mut self, name: &'static str, _: Unit, value: f64) {
                let last = self.0.last_mut().expect("there is one");
                *last += &format!(", {name} {value}");
            }
            fn enter(&mut self, part: &str) {
                self.0.push(part.to_owned());
            }
        }
        let mut all = All(vec![String::new()]);
        discipline.inspect(&mut all);
        all.0.sort();
        all.0
    }

    fn discipline(config: &Config) -> Box<dyn Discipline> {
        let plan = config.direction(Way::Download, &CONTEXT).expect("it can be built");
        plan.shaper.expect("it is shaped").discipline
    }

    const ANN: &str = "ann,10.0.0.1,gold,1,no,,10 Mbit/s,";
    const BOB: &str = "bob,10.0.0.2,silver,1,no,5 Mbit/s,20 Mbit/s,30 Mbit/s for 2 s";
    const ROOT: &str = "zoe,10.0.1.0/24,,1,no,,,";
    /// A class without any below it would be a leaf in another file.
    const OTHERS: &str = "eve,10.0.2.1,gold,1,no,,,\nmax,10.0.2.2,silver,1,no,,,\n";

    #[test]
    fn other_values_of_a_subscriber_are_those_of_another_file() {
        let many: String =
            (0..1500).map(|n| format!("c{n},10.1.{}.{},gold,1,no,,,\n", n / 250, n % 250)).collect();
        for more in ["", &many] {
            let table = format!("{HEAD}{ANN}\n{BOB}\n{ROOT}\n{OTHERS}{more}");
            let present = config("classful", &table);
            for [before, after] in [
                [ANN, "ann,10.0.0.1,gold,1,no,,11 Mbit/s,"],
                [ANN, "ann,10.0.0.9 2001:db8::/48,gold,1,no,,10 Mbit/s,"],
                [ANN, "ann,10.0.0.1,gold,1,yes,,10 Mbit/s,"],
                [ANN, "ann,10.0.0.1,gold,3,no,,10 Mbit/s,12 Mbit/s for 1 s"],
                [ANN, "ann,10.0.0.7,silver,2,no,,,"],
                [BOB, "bob,,silver,1,no,5 Mbit/s,40 Mbit/s,"],
                [ROOT, "zoe,10.0.1.0/24,,1,no,6 Mbit/s,,"],
                [ROOT, "zoe,10.0.1.0/24,gold,1,no,,1 Mbit/s,"],
            ] {
                let (next, text) = changed(&present, &table, [before, after]);
                let next = next.unwrap_or_else(|| panic!("{after} takes no reload"));
                let wanted = config("classful", &text);
                for (number, class) in wanted.book.iter() {
                    assert_eq!(next.config.book.class(number), Some(class), "{after}");
                }
                assert_eq!(next.config.claims, wanted.claims, "{after}");
                let mut tree = discipline(&present);
                for OtherTerms { class, parent, ways } in next.terms {
                    assert_eq!(ways, [true, false]);
                    let fresh = next.config.with_class_alone(Way::Download, class, &CONTEXT);
                    let mut fresh = fresh.expect("it can be built");
                    assert!(tree.retune_class(class, parent, &mut *fresh, Time::ZERO), "{after}");
                    assert_eq!(shown(&*tree), shown(&*discipline(&wanted)), "{after}");
                }
            }
        }
    }

    #[test]
    fn what_takes_more_than_the_rows_is_left_to_a_reload() {
        let table = format!("{HEAD}{ANN}\n{BOB}\n{ROOT}\n");
        let present = config("classful", &table);
        let is_possible = |config: &Config, lines| changed(config, &table, lines).0.is_some();
        for (after, why) in [
            ("ann,10.0.0.2,gold,1,no,,10 Mbit/s,", "an address of another"),
            ("ann,10.0.1.7,gold,1,no,,10 Mbit/s,", "in a network of another"),
            ("ann,10.0.0.1,none,1,no,,10 Mbit/s,", "no such class"),
            ("ann,10.0.0.1,zoe,1,no,,10 Mbit/s,", "below a subscriber"),
            ("ann,10.0.0.1,gold,1,no,1 Mbit/s,,", "guaranteed below a class, which is guaranteed that too"),
            ("ann,10.0.0.1,gold,1,no,11 Mbit/s,10 Mbit/s,", "more guaranteed than allowed"),
            ("ann,10.0.0.1,gold,1,no,,10 Mbit/s,9 Mbit/s for 1 s", "a burst below the ceiling"),
            ("eve,10.0.0.1,gold,1,no,,10 Mbit/s,", "another name"),
        ] {
            assert!(!is_possible(&present, [ANN, after]), "{why}");
        }
        assert!(
            !is_possible(&present, [ROOT, "zoe,10.0.1.0/24,,1,no,46 Mbit/s,,"]),
            "more than the link keeps"
        );
        let other = config("classful", &table.replace(ANN, "ann,10.0.0.1,gold,1,no,,12 Mbit/s,"));
        let after = "ann,10.0.0.1,gold,1,no,,13 Mbit/s,";
        assert!(!is_possible(&other, [ANN, after]), "the file was another when it was read");
        let plain = format!("{HEAD}ann,10.0.0.1,gold,1,no,,,\nbob,10.0.0.2,silver,1,no,,,\n");
        let tokens = config("hfaba", &plain);
        let of = |after| changed(&tokens, &plain, ["ann,10.0.0.1,gold,1,no,,,", after]).0;
        assert!(of("ann,10.0.0.1,silver,1,no,,,").is_none(), "a tree of tokens is built anew");
        assert_eq!(of("ann,10.0.0.1,gold,2,no,,,").expect("a weight").weights.len(), 1);
    }
}
