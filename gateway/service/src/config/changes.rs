//! Compares two configurations.

use super::Config;
use super::leaves::as_typed;
use super::spec::ClassSpec;
use fairwire_datapath::class_book::{Class, UNCLAIMED};
use fairwire_subscribers::sheet::SubscriberRow;
use std::collections::{BTreeMap, BTreeSet};

/// The differences between two successive configurations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// One readable line for each change. If many classes changed, only the first few are named.
    pub lines: Vec<String>,
    /// The changed keys that take effect only after a restart.
    pub needs_restart: Vec<String>,
    /// Classes with a new weight, by their numbers in the next configuration.
    pub new_weights: Vec<(u32, fairwire_core::Weight)>,
    /// True if all changes concern weights, suspensions or claims on packets, so that classes and
    /// their numbers stay the same.
    pub is_edit: bool,
    /// Whether nothing changed.
    pub is_empty: bool,
}

/// The most classes that are named for each type of change.
const NAMED: usize = 5;

const GONE: &str = "gone";
const NEW: &str = "new";
const SUSPENDED: &str = "suspended";
const RESUMED: &str = "not suspended any more";

/// Keys whose value is used only at the start, in addition to `name` and all keys of `wire`,
/// `ingress`, `egress` and `telemetry.page`.
const OPENED_ONCE: [&str; 10] = [
    "safety.on_failure",
    "safety.patience",
    "safety.user",
    "safety.watchdog",
    "telemetry.captured",
    "telemetry.hosts",
    "telemetry.metrics",
    "telemetry.readers",
    "telemetry.socket",
    "telemetry.token_file",
];

impl Config {
    /// The changes that `next` would bring.
    pub fn changes(&self, next: &Config) -> Changes {
        let mut changes = Changes::default();
        self.compare_keys(next, &mut changes);
        let keys = changes.lines.len();
        let others = self.compare_classes(next, &mut changes);
        if !self.claims.is_renumbered(&self.class_map(next), &next.claims) {
            changes.lines.push("addresses, VLANs or matches of classes".into());
        }
        changes.is_empty = changes.lines.is_empty();
        // A changed class number makes `others` true, since a discipline knows classes by their
        // numbers.
        changes.is_edit = keys == 0 && !others && !changes.is_empty;
        changes
    }

    /// Maps each class number to the number of the class with the same name in `next`, or to
    /// [`UNCLAIMED`] if that class is gone. A number that is vacant in both configurations stays.
    pub fn class_map(&self, next: &Config) -> Box<[u32]> {
        let is_vacant =
            |number: &u32| (*number as usize) < next.book.numbers() && next.book.class(*number).is_none();
        let number = |number| match self.book.class(number) {
            Some(class) => next.book.number(&class.name).unwrap_or(UNCLAIMED),
            None => Some(number).filter(is_vacant).unwrap_or(UNCLAIMED),
        };
        (0..self.book.numbers() as u32).map(number).collect()
    }

    pub(crate) fn other_rows(
        &self,
        next: &Config,
        before: &[SubscriberRow],
        after: &[SubscriberRow],
    ) -> Vec<String> {
        let [mut gone, mut new, mut others, mut suspended, mut resumed] =
            [(); 5].map(|()| NameList::default());
        for SubscriberRow { name, .. } in before.iter().filter(|row| next.book.number(&row.name).is_none()) {
            gone.add(name);
        }
        for SubscriberRow { name, is_suspended, .. } in after {
            let was = self.book.number(name).and_then(|number| self.book.class(number));
            let list = match (was.map(|class| class.is_suspended), is_suspended) {
                (None, _) => &mut new,
                (Some(false), true) => &mut suspended,
                (Some(true), false) => &mut resumed,
                _ => &mut others,
            };
            list.add(name);
        }
        let lines =
            [(GONE, gone), (NEW, new), ("other values", others), (SUSPENDED, suspended), (RESUMED, resumed)];
        lines.iter().filter_map(|(what, named)| named.line(what)).collect()
    }

    /// Compares all keys as JSON, but only the key `leaf` of classes.
    fn compare_keys(&self, next: &Config, changes: &mut Changes) {
        let keys_of = |config: &Config| {
            let mut value = serde_json::to_value(&config.spec).expect("what was read can be written");
            if let Some(table) = value.as_object_mut() {
                table.remove("class");
            }
            let mut keys = Vec::new();
            flatten("", &value, &mut keys);
            keys
        };
        let (before, after) = (keys_of(self), keys_of(next));
        let find = |keys: &[(String, String)], path: &str| {
            keys.iter().find(|(key, _)| key == path).map_or("nothing".to_owned(), |(_, value)| value.clone())
        };
        let mut paths: Vec<&String> = before.iter().chain(&after).map(|(path, _)| path).collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let (was, is) = (find(&before, path), find(&after, path));
            if was == is {
                continue;
            }
            if path == "name"
                || path.starts_with("wire.")
                || ["ingress", "egress"].contains(&path.split('.').next().unwrap_or_default())
                || path.starts_with("telemetry.page.")
                || OPENED_ONCE.contains(&path.as_str())
            {
                changes.needs_restart.push(path.clone());
            }
            changes.lines.push(format!("`{path}`: {was} -> {is}"));
        }
        changes.lines.extend(self.other_leaves(next).line("another `leaf`"));
    }

    fn other_leaves(&self, next: &Config) -> NameList {
        let given = |config: &Config| -> BTreeMap<String, String> {
            let of = |class: &ClassSpec| Some((class.name.clone(), as_typed(class.leaf.as_ref()?)));
            config.spec.class.iter().filter_map(of).collect()
        };
        let (before, after) = (given(self), given(next));
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let mut others = NameList::default();
        for name in names {
            let (was, is) = (before.get(name), after.get(name));
            if was != is {
                let shown = |leaf: Option<&String>| leaf.map_or("nothing", String::as_str).to_owned();
                others.add(&format!("{name}: {} -> {}", shown(was), shown(is)));
            }
        }
        others
    }

    /// Returns whether a class was added or removed, or got another parent, bound or number.
    fn compare_classes(&self, next: &Config, changes: &mut Changes) -> bool {
        let mut gone = NameList::default();
        let mut new = NameList::default();
        let mut moved = NameList::default();
        let mut weights = NameList::default();
        let [mut suspended, mut resumed] = [NameList::default(), NameList::default()];
        let mut is_renumbered = !self.book.is_numbered_as(&next.book);
        let above = |config: &Config, class: &Class| {
            class.parent.and_then(|parent| config.book.class(parent)).map(|parent| parent.name.clone())
        };
        for (number, class) in self.book.iter() {
            let Some(number_then) = next.book.number(&class.name) else {
                gone.add(&class.name);
                continue;
            };
            let then = next.book.class(number_then).expect("it was found by name");
            is_renumbered |= number != number_then;
            if above(self, class) != above(next, then)
                || class.bounds != then.bounds
                || class.kind != then.kind
            {
                moved.add(&class.name);
            }
            match (class.is_suspended, then.is_suspended) {
                (false, true) => suspended.add(&class.name),
                (true, false) => resumed.add(&class.name),
                _ => {}
            }
            if class.weight != then.weight {
                weights.add(&format!("{}: {} -> {}", class.name, class.weight, then.weight));
                changes.new_weights.push((number_then, then.weight));
            }
        }
        next.book
            .iter()
            .filter(|(_, class)| self.book.number(&class.name).is_none())
            .for_each(|(_, class)| new.add(&class.name));
        let is_other = [&gone, &new, &moved].iter().any(|named| named.count > 0);
        for (what, named) in [
            (GONE, gone),
            (NEW, new),
            ("another parent or other bounds", moved),
            ("another weight", weights),
            (SUSPENDED, suspended),
            (RESUMED, resumed),
        ] {
            changes.lines.extend(named.line(what));
        }
        is_other || is_renumbered
    }
}

#[derive(Default)]
struct NameList {
    first: Vec<String>,
    count: usize,
}

impl NameList {
    fn add(&mut self, name: &str) {
        if self.count < NAMED {
            self.first.push(name.to_owned());
        }
        self.count += 1;
    }

    fn line(&self, what: &str) -> Option<String> {
        let more =
            if self.count > NAMED { format!(" and {} more", self.count - NAMED) } else { String::new() };
        (self.count > 0).then(|| format!("{what}: {}{more}", self.first.join(", ")))
    }
}

fn flatten(path: &str, value: &serde_json::Value, keys: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::Null => {}
        serde_json::Value::Object(table) => {
            for (key, value) in table {
                let dot = if path.is_empty() { "" } else { "." };
                flatten(&format!("{path}{dot}{key}"), value, keys);
            }
        }
        value => keys.push((path.to_owned(), value.to_string())),
    }
}
