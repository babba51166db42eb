//! A description of a player's runs, as data for the page.

use crate::player::SAMPLE;
use crate::recorder::{FlowAbout, Recorded};
use fairwire_core::Cause;
use fairwire_scenario::parts::{self, Field};
use fairwire_scenario::{Scenario, source};
use serde_json::{Value, json};

pub(crate) fn of(scenario: &Scenario, labels: &[&str], seen: &Recorded) -> Value {
    let spec = scenario.spec();
    let flow = |flow: &FlowAbout| json!({ "name": flow.name, "group": flow.group, "is_tcp": flow.is_tcp });
    let document: Value = toml::from_str(scenario.toml()).unwrap_or(Value::Null);
    let lesson = spec.lesson.as_ref().map(|lesson| {
        json!({
            "question": lesson.question, "look": lesson.look, "measure": lesson.measure,
            "reads": lesson.reads, "answer": lesson.answer, "figure": lesson.figure,
        })
    });
    json!({
        "name": spec.name,
        "title": spec.title,
        "duration_s": spec.duration.0.secs(),
        "warm_up_s": spec.warm_up.0.secs(),
        "seed": spec.seeds.as_slice().first(),
        "sample_s": SAMPLE.secs(),
        "disciplines": spec.disciplines.iter().map(|compared| compared.label()).collect::<Vec<_>>(),
        "sides": labels,
        "links": scenario.links().collect::<Vec<_>>(),
        "flows": seen.flows.iter().map(flow).collect::<Vec<_>>(),
        "causes": Cause::ALL.map(Cause::name),
        "document": document,
        "toml": scenario.toml(),
        "notes": scenario.notes(),
        "lesson": lesson,
    })
}

/// Every component that a scenario may name, with its parameters. A source also has a complete
/// example.
pub(crate) fn catalogue() -> Value {
    parts::all()
        .map(|part| {
            let source = source::all().iter().find(|entry| part.kind == "source" && entry.name == part.name);
            json!({
                "kind": part.kind, "name": part.name, "summary": part.summary, "source": part.source,
                "fields": part.fields.iter().map(field).collect::<Vec<_>>(),
                "is_tcp": source.map(|entry| entry.about.is_tcp),
                "typed": source.map(typed),
            })
        })
        .collect()
}

fn field(field: &Field) -> Value {
    json!({
        "name": field.name, "text": field.text, "unit": field.unit, "default": field.default,
        "range": field.range,
    })
}

/// A source as written in a scenario.
fn typed(entry: &source::Entry) -> Value {
    let name = entry.name;
    if entry.needed().is_none() {
        return name.into();
    }
    let table: Result<Value, _> = toml::from_str(&format!("{name} = {{ {} }}", entry.about.example));
    table.unwrap_or(name.into())
}
