//! The bounds of a parameter in their written form. Tests of two crates share this file.

use fairwire_core::units::Size;
use fairwire_core::{Duration, Rate};
use fairwire_parameters::Field;
use schemars::SchemaGenerator;

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Whole,
    Number,
    Time,
    Size,
    Rate,
}

impl Kind {
    pub(crate) fn of(field: &Field) -> Kind {
        let schema = (field.schema)(&mut SchemaGenerator::default()).to_value();
        let name = |key: &str| schema[key].as_str().unwrap_or_default().rsplit('/').next().map(str::to_owned);
        match (name("type").as_deref(), name("$ref").as_deref()) {
            (Some("integer"), _) => Kind::Whole,
            (Some("number"), _) => Kind::Number,
            (_, Some("Duration")) => Kind::Time,
            (_, Some("Size")) => Kind::Size,
            (_, Some("Rate")) => Kind::Rate,
            _ => panic!("`{}` has bounds and is {schema}", field.name),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Whole => "a whole number",
            Kind::Number => "a number",
            Kind::Time => "a time",
            Kind::Size => "a size",
            Kind::Rate => "a rate",
        }
    }

    fn typed(self, bound: &str) -> String {
        let bound = if bound == "zero" { "0 s" } else { bound };
        match self {
            Kind::Whole => bound.to_owned(),
            Kind::Number => format!("{:?}", bound.parse::<f64>().expect("a number")),
            Kind::Time => format!("'{} ns'", bound.parse::<Duration>().expect("a time").ns()),
            Kind::Size => format!("'{} B'", bound.parse::<Size>().expect("a size").0),
            Kind::Rate => format!("'{} bit/s'", bound.parse::<Rate>().expect("a rate").bps()),
        }
    }

    fn next(self, typed: &str, is_up: bool) -> Option<String> {
        if self == Kind::Number {
            let number: f64 = typed.parse().expect("as it was typed");
            return Some(format!("{:?}", if is_up { number.next_up() } else { number.next_down() }));
        }
        let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
        let number: u64 = digits.parse().expect("as it was typed");
        let next = if is_up { number + 1 } else { number.checked_sub(1)? };
        Some(typed.replace(&digits, &next.to_string()))
    }
}

pub(crate) fn bounds(field: &Field) -> (Vec<String>, Vec<String>) {
    let kind = Kind::of(field);
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    let mut low = |bound: &str, is_allowed: bool| {
        let bound = kind.typed(bound);
        let other = kind.next(&bound, !is_allowed);
        let (inside, beyond) = if is_allowed { (Some(bound), other) } else { (other, Some(bound)) };
        allowed.extend(inside);
        refused.extend(beyond);
    };
    let range = field.range;
    let (lowest, most) = range.split_once(" to ").or(range.split_once(", at most ")).unwrap_or((range, ""));
    let most = if most.is_empty() { range.strip_prefix("at most ") } else { Some(most) };
    if let Some(least) = lowest.strip_prefix("from ").or(lowest.strip_prefix("at least ")) {
        low(least, true);
    } else if let Some(above) = lowest.strip_prefix("above ") {
        low(above, false);
    }
    if let Some(most) = most {
        let most = kind.typed(most);
        refused.extend(kind.next(&most, true));
        allowed.push(most);
    }
    (allowed, refused)
}

pub(crate) fn allowed(field: &Field) -> String {
    let of = if field.range.starts_with("at ") { " of" } else { "" };
    format!("allowed: {}{of} {}", Kind::of(field).name(), field.range)
}
