//! The JSON Schema of scenario files, and the list of the tables in it.

use crate::spec::Spec;
use serde_json::Value;
use std::collections::BTreeSet;

/// The JSON Schema (draft 2020-12) of a scenario.
pub fn schema() -> Value {
    schemars::schema_for!(Spec).to_value()
}

pub(crate) struct Table {
    /// The path of the table, such as `flow.access`; `[[link]]` for the array that may replace the
    /// table `link`.
    pub(crate) path: String,
    pub(crate) keys: BTreeSet<String>,
}

/// The names of tables in which each key names a component. [`tables`] omits these tables.
const OF_PARTS: [&str; 3] = ["discipline", "disciplines", "marker"];

/// The tables of a scenario, except tables whose only key names a component.
pub(crate) fn tables() -> Vec<Table> {
    let schema = schema();
    let mut found: Vec<Table> = Vec::new();
    visit(&schema, &schema, "", &mut found);
    found.sort_by_key(|table| (table.path.starts_with('['), table.path.matches('.').count()));
    found
}

fn visit(schema: &Value, at: &Value, path: &str, found: &mut Vec<Table>) {
    let defined = at["$ref"].as_str().and_then(|name| schema.pointer(name.trim_start_matches('#')));
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|kind| at[kind].as_array()).flatten();
    for inner in alternatives.chain(defined) {
        visit(schema, inner, path, found);
    }
    if let Some(inner) = at.get("items") {
        let is_other = found.iter().any(|table| table.path == path);
        visit(schema, inner, &if is_other { format!("[[{path}]]") } else { path.into() }, found);
    }
    let Some(keys) = at["properties"].as_object().filter(|keys| keys.len() > 1) else { return };
    if !path.is_empty() {
        let names = keys.keys().cloned();
        match found.iter_mut().find(|table| table.path == path) {
            Some(table) => table.keys.extend(names),
            None => found.push(Table { path: path.into(), keys: names.collect() }),
        }
    }
    for (name, inner) in keys.iter().filter(|(name, _)| !OF_PARTS.contains(&name.as_str())) {
        let outer = path.trim_matches(['[', ']']);
        let path = if outer.is_empty() { name.clone() } else { format!("{outer}.{name}") };
        visit(schema, inner, &path, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_of_a_scenario_is_known_with_its_keys() {
        let tables = tables();
        let has =
            |path: &str, key: &str| tables.iter().any(|table| table.path == path && table.keys.contains(key));
        for (path, key) in [
            ("link", "buffer"),
            ("[[link]]", "from"),
            ("link.impair", "loss"),
            ("return", "rate"),
            ("flow.tcp.delayed_ack", "quick_acks"),
            ("aggregate.estimator", "cadence"),
            ("expect.less_than", "margin"),
        ] {
            assert!(has(path, key), "{path}.{key}");
        }
        assert!(!has("link", "from"), "only a link of a network leads from a node");
        assert!(tables.iter().all(|table| !table.path.starts_with("flow.source")), "these are parts");
    }
}
