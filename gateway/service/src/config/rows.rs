//! Changes, adds and removes single subscribers without reading and checking all others again.

use super::discipline::DisciplinePlan;
use super::shaping::has_leaves_alone;
use super::{Config, PlanContext, Shaping, promises, tree};
use fairwire_core::class_tree::guarantees;
use fairwire_core::{Discipline, Rate, Weight};
use fairwire_datapath::class_book::{Bounds, Class, ClassBook, ClassKind, UNCLAIMED};
use fairwire_datapath::classify::Claimed;
use fairwire_laws::part::ClassSupport;
use fairwire_subscribers::sheet::SubscriberRow;
use fairwire_wire::Way;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A configuration after changes of some subscribers.
#[derive(Debug)]
pub(crate) struct OtherRows {
    pub config: Config,
    /// The numbers of removed subscribers.
    pub gone: Vec<u32>,
    /// The numbers of new subscribers.
    pub new: Vec<u32>,
    /// The terms of changed and new classes, for disciplines with a queue per class.
    pub terms: Vec<OtherTerms>,
    /// Existing classes with a new weight.
    pub weights: Vec<(u32, Weight)>,
    /// Did suspensions or claims on packets change?
    pub has_members: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherTerms {
    pub class: u32,
    pub parent: Option<u32>,
    /// For each [`Way`]: are the terms new?
    pub ways: [bool; 2],
}

type Named<'a> = BTreeMap<&'a str, &'a SubscriberRow>;

fn named(rows: &[SubscriberRow]) -> Named<'_> {
    rows.iter().map(|row| (row.name.as_str(), row)).collect()
}

impl Config {
    /// Replaces the rows `before` by `after`. A subscriber only in `before` is removed; a
    /// subscriber only in `after` is new. Returns `None` if there is a fault, or if all files must
    /// be read again.
    pub(crate) fn with_rows(&self, before: &[SubscriberRow], after: &[SubscriberRow]) -> Option<OtherRows> {
        let [was, is] = [before, after].map(named);
        if was.len() != before.len() || is.len() != after.len() {
            return None;
        }
        let mut next = NextRows::of(self);
        for row in before.iter().filter(|row| !is.contains_key(row.name.as_str())) {
            next.remove(row)?;
        }
        for (name, row) in &was {
            is.get(name).map_or(Some(()), |after| next.change(row, after))?;
        }
        for row in after.iter().filter(|row| !was.contains_key(row.name.as_str())) {
            next.add(row)?;
        }
        next.finished()
    }

    /// A discipline of `way` with only `class` and the classes above it, all as in the entire tree.
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

struct NextRows<'a> {
    config: &'a Config,
    book: ClassBook,
    done: OtherRows,
    /// Claims given up, and new claims.
    claimed: [Claimed; 2],
    /// The classes whose bursts must be checked.
    touched: Vec<u32>,
    has_guarantees: bool,
}

impl<'a> NextRows<'a> {
    fn of(config: &'a Config) -> Self {
        let done = OtherRows {
            config: config.clone(),
            gone: Vec::new(),
            new: Vec::new(),
            terms: Vec::new(),
            weights: Vec::new(),
            has_members: false,
        };
        let (book, claimed) = ((*config.book).clone(), Default::default());
        NextRows { config, book, done, claimed, touched: Vec::new(), has_guarantees: false }
    }

    fn remove(&mut self, row: &SubscriberRow) -> Option<()> {
        let (number, was) = self.known(row)?;
        let has_none = guaranteed(&was) == [None; 2];
        if !has_leaves_alone(&self.config.spec, &self.config.shaping)
            || !(has_none || was.parent.is_none())
            || !self.book.vacate(number)
        {
            return None;
        }
        self.has_guarantees |= !has_none;
        self.claim(0, number, row);
        self.done.gone.push(number);
        Some(())
    }

    fn add(&mut self, row: &SubscriberRow) -> Option<()> {
        let is = tree::of_row(row, above(&self.book, row)?);
        let has_none = guaranteed(&is) == [None; 2];
        if !(has_none || is.parent.is_none()) {
            return None;
        }
        let ways = self.ways(&is, [true; 2])?;
        let (parent, number) = (is.parent, self.book.take(is)?);
        self.done.terms.push(OtherTerms { class: number, parent, ways });
        self.done.new.push(number);
        self.touched.push(number);
        self.has_guarantees |= !has_none;
        self.claim(1, number, row);
        Some(())
    }

    fn change(&mut self, before: &SubscriberRow, after: &SubscriberRow) -> Option<()> {
        let (number, was) = self.known(before)?;
        let is = tree::of_row(after, above(&self.book, after)?);
        let has_moved = was.parent != is.parent;
        // A parent is guaranteed the sum of the guarantees below it, so the parent's terms would
        // change too.
        let is_kept = guaranteed(&was) == guaranteed(&is) && (!has_moved || guaranteed(&is) == [None; 2]);
        if !is_kept && (was.parent, is.parent) != (None, None) {
            return None;
        }
        let ways = self.ways(&is, [0, 1].map(|way| has_moved || was.bounds[way] != is.bounds[way]))?;
        if ways.contains(&true) {
            self.done.terms.push(OtherTerms { class: number, parent: is.parent, ways });
        }
        if was.weight != is.weight {
            self.done.weights.push((number, is.weight));
        }
        self.has_guarantees |= guaranteed(&was) != guaranteed(&is);
        self.done.has_members |= was.is_suspended != is.is_suspended;
        if before.prefixes != after.prefixes || before.access != after.access {
            self.claim(0, number, before);
            self.claim(1, number, after);
        }
        self.touched.push(number);
        self.book.set(number, is).then_some(())
    }

    /// The number and the class of `row`. Returns `None` if the configuration's class does not
    /// match `row`. Then the entire file must be read.
    fn known(&self, row: &SubscriberRow) -> Option<(u32, Class)> {
        let number = self.book.number(&row.name)?;
        let was = tree::of_row(row, above(&self.book, row)?);
        (self.book.class(number) == Some(&was)).then_some((number, was))
    }

    /// For each direction, returns whether the class gets new terms. A class gets new terms if
    /// `are_others` is true and the direction is shaped. Returns `None` if the bounds are at fault,
    /// or if a discipline does not support new terms.
    fn ways(&self, is: &Class, mut are_others: [bool; 2]) -> Option<[bool; 2]> {
        for (is_other, (own, shaping)) in
            are_others.iter_mut().zip(is.bounds.iter().zip(&self.config.shaping))
        {
            let is_below = own.guaranteed.zip(own.ceiling).is_some_and(|(least, most)| least > most);
            match shaping {
                None if *own != Bounds::default() => return None,
                None => *is_other = false,
                Some(Shaping { sharing: ClassSupport::Queues, .. }) if !is_below => {}
                Some(_) if *is_other => return None,
                Some(_) => {}
            }
        }
        Some(are_others)
    }

    fn claim(&mut self, place: usize, number: u32, row: &SubscriberRow) {
        let Claimed { prefixes, access } = &mut self.claimed[place];
        prefixes.extend(row.prefixes.iter().map(|prefix| (*prefix, number)));
        access.extend(row.access.iter().map(|key| (*key, number)));
        self.done.has_members = true;
    }

    fn finished(self) -> Option<OtherRows> {
        let NextRows { config, book, mut done, claimed: [gone, new], touched, has_guarantees } = self;
        for (way, shaping) in Way::ALL.into_iter().zip(&config.shaping) {
            let Some(shaping) = shaping else { continue };
            let is_at_fault =
                |number: &u32| promises::burst_fault(&book, *number, way, shaping.rate).is_some();
            if touched.iter().any(is_at_fault)
                || has_guarantees && guarantees(&book.terms(way), shaping.rate).is_err()
            {
                return None;
            }
        }
        if done.has_members {
            done.config.claims = Arc::new(config.claims.changed(&gone, &new)?);
        }
        done.config.book = Arc::new(book);
        Some(done)
    }
}

fn guaranteed(class: &Class) -> [Option<Rate>; 2] {
    class.bounds.map(|bounds| bounds.guaranteed)
}

/// The number of the class above the subscriber of `row`; `Some(None)` is the root. Returns `None`
/// if the class that `row` names cannot have subscribers below it.
fn above(book: &ClassBook, row: &SubscriberRow) -> Option<Option<u32>> {
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

    fn changed(config: &Config, table: &str, [before, after]: [&str; 2]) -> (Option<OtherRows>, String) {
        let sheets = [before, after].map(|line| format!("{HEAD}{line}\n"));
        let [before_rows, after_rows] = [0, 1]
            .map(|place: usize| read(SheetText { name: "s.csv", text: &sheets[place] }).expect("rows").rows);
        assert!(table.contains(before), "{before}");
        (config.with_rows(&before_rows, &after_rows), table.replace(before, after))
    }

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
        all.0.retain(|part| !part.is_empty()); // of a vacant leaf
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
    /// Rows that are never removed, so their classes never become leaves.
    const OTHERS: &str = "eve,10.0.2.1,gold,1,no,,,\nmax,10.0.2.2,silver,1,no,,,\n";

    #[test]
    fn changed_rows_give_the_configuration_of_the_changed_file() {
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
                let has_terms = !next.terms.is_empty();
                retune(&mut *tree, next);
                if has_terms {
                    assert_eq!(shown(&*tree), shown(&*discipline(&wanted)), "{after}");
                }
            }
        }
    }

    fn retune(tree: &mut dyn Discipline, next: OtherRows) {
        for OtherTerms { class, parent, ways } in next.terms {
            assert_eq!(ways, [true, false]);
            let fresh = next.config.with_class_alone(Way::Download, class, &CONTEXT);
            let mut fresh = fresh.expect("it can be built");
            assert!(tree.retune_class(class, parent, &mut *fresh, Time::ZERO), "{class}");
        }
    }

    fn rows(lines: &[&str]) -> Vec<SubscriberRow> {
        let text = format!("{HEAD}{}\n", lines.join("\n"));
        read(SheetText { name: "s.csv", text: &text }).expect("rows").rows
    }

    #[test]
    fn added_and_removed_rows_give_the_configuration_of_the_changed_file() {
        let many: String =
            (0..1500).map(|n| format!("c{n},10.1.{}.{},gold,1,no,,,\n", n / 250, n % 250)).collect();
        for more in ["", &many] {
            let table = format!("{HEAD}{ANN}\n{BOB}\n{ROOT}\n{OTHERS}{more}");
            let mut present = config("classful", &table);
            let mut tree = discipline(&present);
            let mut lines: Vec<&str> = table.lines().skip(1).collect();
            for (gone, new) in [
                (None, Some("ida,10.0.3.1,gold,2,no,,5 Mbit/s,9 Mbit/s for 2 s")),
                (Some(ANN), None),
                (None, Some("udo,10.0.0.1 2001:db8::/48,silver,1,yes,,,")), // Ann's address
                (None, Some("pia,10.0.3.2,,1,no,3 Mbit/s,,")),
                (None, Some(ANN.replace("10.0.0.1", "10.0.0.9").leak())),
                (Some(ROOT), Some("kai,10.0.1.0/24,,1,no,,7 Mbit/s,")),
            ] {
                let [before, after] = [gone, new].map(|line| rows(line.as_slice()));
                let next = present.with_rows(&before, &after).expect("it takes no reload");
                lines.retain(|line| Some(*line) != gone);
                lines.extend(new);
                let wanted = config("classful", &format!("{HEAD}{}\n", lines.join("\n")));
                assert_eq!((next.gone.len(), next.new.len()), (before.len(), after.len()));
                present = next.config.clone();
                retune(&mut *tree, next);
                let changes = present.changes(&wanted);
                assert_eq!(changes.lines, [""; 0], "{gone:?} {new:?}");
                assert_eq!(present.book.len(), wanted.book.len());
                assert_eq!(present.book.numbers(), config("classful", &table).book.numbers());
                let is_gone = |part: &String| [ANN, ROOT].iter().any(|line| part.starts_with(&line[..3]));
                let [mut is, mut then] = [shown(&*tree), shown(&*discipline(&wanted))];
                // The leaf of a removed subscriber stays until another subscriber takes the leaf.
                [&mut is, &mut then].into_iter().for_each(|parts| parts.retain(|part| !is_gone(part)));
                assert_eq!(is, then, "{gone:?} {new:?}");
            }
        }
    }

    #[test]
    fn link_layer_keys_are_added_and_removed_with_their_subscriber() {
        let head = "name,vlan,mac\n";
        let config = |table: &str| {
            let text = "format = 2\nname = \"t\"\n[wire]\ninside = \"a\"\noutside = \"b\"\n[subscribers]\nfile = \"s.csv\"\n\
                        [download]\nrate = \"50 Mbit/s\"\ndiscipline = \"classful\"\n";
            Config::parse("t.toml", text, Some(("s.csv", table))).expect("a configuration")
        };
        let rows = |line: &str| {
            let text = format!("{head}{line}\n");
            read(SheetText { name: "s.csv", text: &text }).expect("rows").rows
        };
        let (ann, bob) = ("ann,7,02:00:00:00:00:01", "bob,8,");
        let present = config(&format!("{head}{ann}\n{bob}\n"));
        let new = "eve,7,02:00:00:00:00:01";
        assert!(present.with_rows(&[], &rows(new)).is_none(), "they are of ann");
        let gone = present.with_rows(&rows(ann), &[]).expect("no reload").config;
        let next = gone.with_rows(&[], &rows(new)).expect("no reload").config;
        let moved = next.with_rows(&rows(bob), &rows("bob,9,02:00:00:00:00:02")).expect("no reload").config;
        let wanted = config(&format!("{head}bob,9,02:00:00:00:00:02\n{new}\n"));
        assert_eq!(moved.changes(&wanted).lines, [""; 0]);
    }

    #[test]
    fn a_subscriber_without_a_vacant_leaf_or_with_a_used_name_needs_a_reload() {
        let mut present = config("classful", &format!("{HEAD}{ANN}\n{OTHERS}"));
        for number in 0..64 {
            let line = format!("n{number},10.2.0.{number},gold,1,no,,,");
            let next = present.with_rows(&[], &rows(&[&line])).expect("one is vacant").config;
            assert!(next.with_rows(&[], &rows(&[&line])).is_none(), "it is there already");
            present = next;
        }
        let one_more = rows(&["last,10.3.0.1,gold,1,no,,,"]);
        assert!(present.with_rows(&[], &one_more).is_none());
        let present = present.with_rows(&rows(&[ANN]), &[]).expect("no reload").config;
        assert!(present.with_rows(&[], &one_more).is_some(), "one is vacant again");
    }

    #[test]
    fn changes_beyond_the_rows_need_a_reload() {
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
