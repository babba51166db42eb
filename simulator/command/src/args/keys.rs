//! The keys of a scenario, for shells that complete `--set`.

use clap_complete::engine::CompletionCandidate;
use fairwire_scenario::{Links, Overrides, Spec, load, schema};
use serde_json::Value;
use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Completions of `current`: keys of the enclosing table or, in a list, names of elements.
pub(super) fn candidates(current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str().filter(|current| !current.contains('=')) else { return Vec::new() };
    let spec = scenario().and_then(|path| Some(load(&path, &Overrides::default()).ok()?.spec().clone()));
    keys(&schema(), spec.as_ref(), current).into_iter().map(CompletionCandidate::new).collect()
}

fn scenario() -> Option<PathBuf> {
    let mut words = env::args_os().map(PathBuf::from);
    words.find(|word| word.extension().is_some_and(|ending| ending == "toml") && word.is_file())
}

/// Every key or name that begins with `current`, with a dot or `=` added.
fn keys(schema: &Value, spec: Option<&Spec>, current: &str) -> Vec<String> {
    let path = current.rsplit_once('.').map_or("", |(path, _)| path);
    let mut here = forms(schema, schema);
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let below = here.iter().filter_map(|form| form["properties"].get(step).or(form.get("items")));
        here = below.flat_map(|form| forms(schema, form)).collect();
    }
    let is_list = here.iter().any(|form| form.get("items").is_some());
    let names = spec.filter(|_| is_list).map(|spec| elements(spec, path)).unwrap_or_default();
    let mut all: Vec<String> = names.into_iter().map(|name| format!("{name}.")).collect();
    for (key, value) in here.iter().filter_map(|form| form["properties"].as_object()).flatten() {
        let has_keys = |form: &&Value| form.get("properties").is_some();
        let is_inner = forms(schema, value).into_iter().any(|form| {
            has_keys(&form) || form.get("items").is_some_and(|item| forms(schema, item).iter().any(has_keys))
        });
        all.push(format!("{key}{}", if is_inner { '.' } else { '=' }));
    }
    let dot = if path.is_empty() { "" } else { "." };
    let mut all: Vec<String> = all.into_iter().map(|key| format!("{path}{dot}{key}")).collect();
    all.retain(|key| key.starts_with(current));
    all.sort();
    all.dedup();
    all
}

fn forms<'a>(schema: &'a Value, form: &'a Value) -> Vec<&'a Value> {
    if let Some(name) = form["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        return forms(schema, &schema["$defs"][name]);
    }
    let others = ["anyOf", "oneOf"].into_iter().filter_map(|key| form[key].as_array()).flatten();
    [form].into_iter().chain(others.flat_map(|other| forms(schema, other))).collect()
}

fn elements<'a>(spec: &'a Spec, path: &str) -> Vec<&'a str> {
    match (path, &spec.link) {
        ("flow", _) => spec.flow.iter().map(|flow| flow.group.as_str()).collect(),
        ("aggregate", _) => spec.aggregate.iter().map(|aggregate| aggregate.name.as_str()).collect(),
        ("link", Some(Links::Network(links))) => {
            links.iter().filter_map(|link| link.name.as_deref()).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_scenario::parse;

    const TEXT: &str = r#"
        format = 2
        name = "two"
        duration = "2 s"
        seeds = 1
        disciplines = ["tail-drop"]
        link = { rate = "1 Mbit/s", delay = "5 ms", buffer = "20 packets" }
        [[flow]]
        group = "tcp"
        source = "bulk"
        access = { rate = "10 Mbit/s", delay = "1 ms" }
        [[flow]]
        group = "udp"
        source = { cbr = { rate = "1 Mbit/s" } }
        access = { rate = "10 Mbit/s", delay = "1 ms" }
    "#;

    fn completed(current: &str) -> Vec<String> {
        let scenario = parse("two.toml", TEXT, &Overrides::default()).expect("a good scenario");
        keys(&schema(), Some(scenario.spec()), current)
    }

    #[test]
    fn a_key_is_completed_with_its_next_parts() {
        assert_eq!(completed("du"), ["duration="]);
        assert_eq!(completed("link.b"), ["link.buffer="]);
        assert_eq!(completed("discipline.red.ge"), ["discipline.red.gentle="]);
    }

    #[test]
    fn the_elements_of_a_list_have_the_names_of_the_scenario() {
        assert_eq!(completed("flow."), ["flow.tcp.", "flow.udp."]);
        assert_eq!(
            completed("flow.tcp.access."),
            ["flow.tcp.access.delay=", "flow.tcp.access.impair.", "flow.tcp.access.rate="]
        );
        assert_eq!(completed("flow.tcp.tcp.control.cubic.be"), ["flow.tcp.tcp.control.cubic.beta="]);
        assert_eq!(completed("flow.tcp.source.we"), ["flow.tcp.source.web."]);
        let cbr = ["dither=", "ecn=", "packet=", "rate="].map(|key| format!("flow.udp.source.cbr.{key}"));
        assert_eq!(completed("flow.udp.source.cbr."), cbr);
    }

    #[test]
    fn missing_keys_are_not_completed() {
        assert!(completed("flow.tcp.nothing.").is_empty() && completed("zzz").is_empty());
    }
}
