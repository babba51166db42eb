//! Each parameter of each component that a scenario may name, at its bounds and beyond them.

use super::bounds::{allowed, bounds};
use fairwire_parameters::Field;
use fairwire_scenario::parts::{self, Part};
use fairwire_scenario::{Overrides, generated, parse, source};
use std::collections::BTreeMap;

struct Around {
    discipline: String,
    network: &'static str,
    flow: &'static str,
    table: String,
    /// Required parameters.
    example: &'static str,
}

fn around(part: &Part) -> Around {
    let link = "[link]\nrate = '10 Mbit/s'\ndelay = '5 ms'\nbuffer = '40 packets'\n";
    let name = part.name;
    let mut around = Around {
        discipline: "tail-drop".into(),
        network: link,
        flow: "source = 'bulk'",
        table: String::new(),
        example: "",
    };
    match part.kind {
        "discipline" => {
            around.discipline = name.into();
            around.table = format!("discipline.'{name}'");
        }
        "marker" => around.table = format!("marker.{name}"),
        "controller" => around.table = format!("flow.tcp.control.{name}"),
        "source" => {
            let source = source::all().iter().find(|entry| entry.name == name).expect("listed");
            around.flow = "";
            around.table = format!("flow.source.{name}");
            around.example = source.about.example;
        }
        "network" => {
            let network = generated::all().iter().find(|entry| entry.name == name).expect("listed");
            around.network = "";
            around.flow = "source = 'bulk'\nfrom = 'h1'\nto = 'h2'";
            around.table = format!("network.{name}");
            around.example = network.about.example;
        }
        "impairment" => around.table = format!("link.{name}"),
        other => panic!("a part of another kind: {other}"),
    }
    around
}

/// A scenario with one parameter of `part`, and that parameter's line.
fn scenario(part: &Part, field: &Field, value: &str) -> (String, usize) {
    let Around { discipline, network, flow, table, example } = around(part);
    let example: toml::Table = toml::from_str(&format!("all = {{ {example} }}")).expect("well-formed");
    let others = example["all"].as_table().expect("a table").iter().filter(|(key, _)| **key != *field.name);
    let others: String = others.map(|(key, value)| format!("{key} = {value}\n")).collect();
    let head = format!(
        "format = 2\nname = 'one'\nduration = '2 s'\nseeds = 1\ndisciplines = ['{discipline}']\n{network}\
         [[flow]]\ngroup = 'g'\naccess = {{ rate = '100 Mbit/s', delay = '1 ms' }}\n{flow}\n[{table}]\n{others}"
    );
    let line = head.lines().count() + 1;
    (format!("{head}{} = {value}\n", field.name), line)
}

#[test]
fn every_out_of_bounds_parameter_is_refused_at_its_location() {
    let mut tried = BTreeMap::new();
    for part in parts::all() {
        for field in part.fields.iter().filter(|field| !field.range.is_empty()) {
            let read = |value: &str| {
                let (text, line) = scenario(&part, field, value);
                let message =
                    parse("one.toml", &text, &Overrides::default()).err().map(|error| error.to_string());
                (message, format!("one.toml:{line}:"), text)
            };
            let allowed = allowed(field);
            let (within, beyond) = bounds(field);
            for value in &within {
                let (message, _, text) = read(value);
                // A value at its bound may be refused, but for another reason.
                let is_in_range = message.as_ref().is_none_or(|message| !message.contains(&allowed));
                assert!(is_in_range, "{}: {message:?}\n{text}", part.name);
            }
            for value in &beyond {
                let (message, place, text) = read(value);
                let message = message.unwrap_or_else(|| panic!("taken: {text}"));
                let is_named = message.contains(&format!(".{}`", field.name));
                let is_refused = is_named && message.starts_with(&place) && message.contains(&allowed);
                assert!(is_refused, "{}, {place} {allowed}: {message}\n{text}", part.name);
                *tried.entry(part.kind).or_insert(0) += 1;
            }
        }
    }
    let kinds: Vec<&str> = tried.keys().copied().collect();
    assert_eq!(kinds, ["controller", "discipline", "impairment", "marker", "network", "source"]);
    assert!(tried.values().sum::<u32>() > 300, "{tried:?}");
}
