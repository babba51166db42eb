//! Each declared parameter by itself: its bounds hold, and its values are read and written back.

use super::bounds::{Kind, allowed, bounds};
use super::{refusal, site};
use fairwire_catalogue::compose::{classful, conditioner, prio};
use fairwire_catalogue::page::ParameterPage;
use fairwire_catalogue::{self as catalogue, Parameters, marker};
use fairwire_laws::autorate;
use fairwire_laws::dropper::rio;
use fairwire_laws::scheduler::service::ServiceTerms;
use fairwire_laws::spec::TreeClass;
use fairwire_parameters::{Declared, Entry, Field};

struct Table {
    discipline: &'static str,
    head: String,
    /// How messages refer to a parameter; `{}` is replaced by its name.
    key: String,
    fields: &'static [Field],
}

fn tables() -> Vec<Table> {
    let discipline = |entry: &catalogue::Entry| Table {
        discipline: entry.name,
        head: format!("[{:?}]", entry.name),
        key: format!("`{{}}` of `{}`", entry.name),
        fields: entry.fields(),
    };
    let marker = |entry: &Entry<marker::Markers>| Table {
        discipline: "conditioner",
        head: format!("[conditioner.marker.{}]", entry.name),
        key: format!("`{{}}` of `{}` in `conditioner.marker`", entry.name),
        fields: entry.fields,
    };
    let inside = |(discipline, head, way, fields): (_, &str, _, _)| Table {
        discipline,
        head: head.into(),
        key: format!("`{way}.{{}}` of `{discipline}`"),
        fields,
    };
    let all_inside = [
        ("red", "[red.scheduler.drr]", "scheduler.drr", ServiceTerms::FIELDS),
        ("rio", "[rio.red]", "red", rio::Thresholds::FIELDS),
        ("hfaba", "[[hfaba.class]]\nid = 1", "class.0", TreeClass::FIELDS),
        ("classful", "[[classful.class]]\nid = 1", "class.0", classful::Class::FIELDS),
        ("conditioner", "[[conditioner.class]]\nid = 1", "class.0", conditioner::Class::FIELDS),
        ("prio", "[[prio.band]]", "band.0", prio::Band::FIELDS),
    ];
    let of_markers = marker::all().iter().map(marker);
    let autorate = Table {
        discipline: "shaper",
        head: "[shaper.autorate]".into(),
        key: "`{}` of `autorate` in `shaper`".into(),
        fields: autorate::Spec::FIELDS,
    };
    let all = catalogue::all().iter().map(discipline).chain(of_markers).chain(all_inside.map(inside));
    all.chain([autorate]).collect()
}

impl Table {
    fn with(&self, field: &Field, value: &str) -> String {
        let head = if field.name == "id" { self.head.trim_end_matches("\nid = 1") } else { &self.head };
        format!("{head}\n{} = {value}", field.name)
    }

    fn check(&self, typed: &str) -> Result<(), String> {
        let typed: Parameters = toml::from_str(typed).unwrap_or_else(|error| panic!("{typed}: {error}"));
        catalogue::check(self.discipline, &typed, &site()).map_err(|error| error.to_string())
    }
}

#[test]
fn a_value_at_its_bound_is_allowed_and_the_next_one_is_refused_by_name() {
    for table in tables() {
        for field in table.fields.iter().filter(|field| !field.range.is_empty()) {
            let key = table.key.replace("{}", field.name);
            let ends = format!("; {}", allowed(field));
            let (within, refused) = bounds(field);
            assert!(!within.is_empty() && !refused.is_empty(), "{key}: {}", field.range);
            for value in &within {
                assert_eq!(table.check(&table.with(field, value)), Ok(()), "{key}: {value}");
            }
            for value in &refused {
                let message = table.check(&table.with(field, value)).expect_err(value);
                let is_by_name = message.starts_with(&format!("{key} is "));
                assert!(is_by_name && message.ends_with(&ends), "{key} {value}{ends}: {message}");
            }
        }
    }
}

#[test]
fn nan_is_refused_by_name_for_every_bounded_parameter() {
    for table in tables() {
        let has_bounds = |field: &&Field| !field.range.is_empty() && Kind::of(field) == Kind::Number;
        for field in table.fields.iter().filter(has_bounds) {
            let message = table.check(&table.with(field, "nan")).expect_err(field.name);
            assert!(message.starts_with(&table.key.replace("{}", field.name)), "{message}");
        }
    }
}

#[test]
fn buffers_without_room_for_a_packet_or_beyond_the_maximum_are_refused() {
    for entry in catalogue::all() {
        for (buffer, allowed) in [
            ("999 B", "room for one typical packet, 1000 B, or more"),
            ("16777217 packets", "at most 16777216 packets, 448 MiB, or the time to send that"),
        ] {
            let refused = refusal(entry.name, &format!("[{:?}]\nbuffer = '{buffer}'", entry.name));
            let is_by_name = refused.starts_with("`buffer` of `");
            assert!(
                is_by_name && refused.ends_with(&format!(" is {buffer}; allowed: {allowed}")),
                "{refused}"
            );
        }
    }
}

#[test]
fn a_weight_of_zero_is_refused_in_every_discipline() {
    for entry in catalogue::all() {
        for (field, key) in [("weights", "weights"), ("scheduler", "scheduler.fcfs.weights")] {
            if entry.fields().iter().any(|declared| declared.name == field) {
                let refused = refusal(entry.name, &format!("[{:?}]\n{key}.1 = 0.0", entry.name));
                let allowed = " is a weight of 0 for class 1; allowed: weights from 0.000001 to 1000000";
                assert!(
                    refused.starts_with(&format!("`{key}` of `")) && refused.ends_with(allowed),
                    "{refused}"
                );
            }
        }
    }
}

const VALUES: &[&str] = &[
    "true",
    "1",
    "2",
    "0.5",
    "'3 packets'",
    "'64 KiB'",
    "'100 ms'",
    "'1 Mbit/s'",
    "'10 Mbit/s'",
    "'1 GB'",
    "'0 B'",
    "{ 1 = 2.0 }",
    "[1]",
    "[{ id = 1 }]",
    "[{ of = [1] }]",
    "'drr'",
    "'red'",
    "'sr-tcm'",
    "{ min_threshold = '1 packet' }",
    "{ keep = 0.5 }",
];

/// Parameters that are refused alone, because they name a class or require another parameter.
const NOT_ALONE: &[(&str, &str)] = &[
    ("`{}` of `policer`", "rate"),
    ("`{}` of `classful`", "default"),
    ("`class.0.{}` of `hfaba`", "parent"),
    ("`class.0.{}` of `classful`", "parent"),
    ("`class.0.{}` of `classful`", "peak"),
];

#[test]
fn every_parameter_accepts_some_value_and_is_written_as_typed() {
    let mut not_alone = Vec::new();
    for table in tables() {
        for field in table.fields {
            let words = ParameterPage::of(field).choices.into_iter().map(|(word, _)| format!("{word:?}"));
            let within = if field.range.is_empty() { Vec::new() } else { bounds(field).0 };
            let mut allowed = 0;
            for value in words.chain(within).chain(VALUES.iter().map(|&value| value.to_owned())) {
                let typed = table.with(field, &value);
                let Ok(read) = toml::from_str::<Parameters>(&typed) else { continue };
                let written = toml::to_string(&read).expect("plain data");
                assert_eq!(toml::from_str(&written), Ok(read), "{typed}\nis written as\n{written}");
                assert!(written.contains(field.name), "{typed}\nis written as\n{written}");
                allowed += u32::from(table.check(&typed).is_ok());
            }
            if allowed == 0 {
                not_alone.push((table.key.clone(), field.name));
            }
        }
    }
    let not_alone: Vec<_> = not_alone.iter().map(|(key, name)| (key.as_str(), *name)).collect();
    assert_eq!(not_alone, NOT_ALONE);
}
