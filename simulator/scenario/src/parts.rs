//! All components that a scenario may name, and the page of each.

use crate::generated::{self, Networks};
use crate::{Controller, ImpairSpec, control, impair, source};
use fairwire_catalogue::page::{BadDocumentation, Page, ParameterPage};
use fairwire_catalogue::{self as catalogue, Disciplines, marker};
use fairwire_core::spelling;
use fairwire_document::shortened;
pub use fairwire_parameters::Field;
use fairwire_parameters::{Declared as _, Entry, Kind, Listed as _};
use std::collections::BTreeSet;

/// The types of item that have pages, in search order.
pub const KINDS: &str = "discipline, marker, controller, source, network, impairment or parameter";

const IMPAIR: &str = "impair";

/// A component that a scenario may name.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// `discipline`, `marker`, `controller`, `source`, `network` or `impairment`.
    pub kind: &'static str,
    /// The component's name, as entered.
    pub name: &'static str,
    /// Other common names of the component.
    pub aliases: &'static [&'static str],
    /// The component's function, in one line.
    pub summary: &'static str,
    /// The paper or RFC, with its section; empty if there is none.
    pub source: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
}

impl Part {
    fn of<K: Kind>(entry: &Entry<K>) -> Part {
        let Entry { name, aliases, fields, .. } = *entry;
        Part { kind: K::NOUN, name, aliases, summary: entry.summary(), source: entry.source(), fields }
    }

    /// All names under which the component can be looked up.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.name].into_iter().chain(self.aliases.iter().copied())
    }
}

/// Every component, by type and in listing order.
pub fn all() -> impl Iterator<Item = Part> {
    let impairment = Part {
        kind: "impairment",
        name: IMPAIR,
        aliases: &[],
        summary: impair::SUMMARY,
        source: "",
        fields: ImpairSpec::FIELDS,
    };
    let disciplines = Disciplines::registry().all().iter().map(Part::of);
    disciplines
        .chain(marker::all().iter().map(Part::of))
        .chain(control::all().iter().map(Part::of))
        .chain(source::all().iter().map(Part::of))
        .chain(generated::all().iter().map(Part::of))
        .chain([impairment])
}

/// The error if components of two types have the same name, because each name has only one page.
pub fn taken_twice() -> Option<String> {
    let names = all().flat_map(|part| part.names().map(move |name| (part.kind, name)));
    twice(&names.collect::<Vec<_>>())
}

fn twice(parts: &[(&str, &str)]) -> Option<String> {
    let same = |at: usize, name: &str| parts[..at].iter().find(|(_, other)| *other == name);
    let mut twice =
        parts.iter().enumerate().filter_map(|(at, (kind, name))| Some((kind, name, same(at, name)?.0)));
    let (kind, name, other) = twice.next()?;
    Some(format!(
        "the name `{name}` is taken by a {other}, and is given to a {kind} too; allowed: a name that no other part has"
    ))
}

/// The error for a page that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPage {
    /// Nothing has the name given.
    #[error("unknown {KINDS} `{given}`{}", why.as_ref().map_or(String::new(), |why| format!(": {why}")))]
    Unknown {
        /// The given name, shortened if it is long.
        given: String,
        /// The reason why the name is unknown, if it is more than a typing error.
        why: Option<String>,
        /// The most likely intended names, if any are similar.
        likely: Vec<&'static str>,
    },
    /// The documentation in the code does not have the form required for pages.
    #[error(transparent)]
    Documentation(#[from] BadDocumentation),
}

/// The page of the component `name`, such as `drr+faba` or `impair`, or else of the parameter
/// `name`.
///
/// # Errors
/// If nothing has this name, or if the component's documentation is malformed.
pub fn page(name: &str) -> Result<Page, NoPage> {
    if let Some(controller) = control::all().iter().find(|controller| controller.name == name) {
        return Ok(of_controller(controller));
    }
    if let Some(source) = source::all().iter().find(|source| source.name == name) {
        return Ok(of_source(source));
    }
    if let Some(network) = generated::all().iter().find(|network| network.name == name) {
        return Ok(of_network(network));
    }
    if name == IMPAIR {
        return Ok(of_impairments());
    }
    if let Some(marker) = marker::all().iter().find(|marker| marker.name == name) {
        return Ok(Page::of(marker)?);
    }
    match catalogue::find(name) {
        Ok(entry) => Ok(entry.page()?),
        Err(unknown) => of_parameter(name).ok_or_else(|| not_there(name, unknown.why)),
    }
}

fn not_there(given: &str, why: Option<String>) -> NoPage {
    let names = || all().filter(|part| part.kind != "discipline").flat_map(|part| part.names());
    let parts = catalogue::allowed(given).into_iter().chain(names());
    let given = shortened(given);
    let mut likely = spelling::likely(&given, parts);
    if likely.is_empty() {
        let parameters = all().flat_map(|part| part.fields.iter().map(|field| field.name));
        likely = spelling::likely(&given, parameters.collect::<BTreeSet<_>>());
    }
    NoPage::Unknown { given, why, likely }
}

fn of_controller(controller: &Controller) -> Page {
    let Controller { name, about, fields, .. } = *controller;
    let mut page = Page::of_fields(name, about.what, about.source, fields);
    page.example = match fields.first() {
        Some(field) => {
            format!("tcp = {{ control = {{ {name} = {{ {} = {} }} }} }}", field.name, typed(field))
        }
        None => format!("tcp = {{ control = \"{name}\" }}"),
    };
    page
}

fn of_source(source: &source::Entry) -> Page {
    let source::Entry { name, about, fields, .. } = *source;
    let mut page = Page::of_fields(name, about.what, "", fields);
    let is_value = |field: &&Field| {
        matches!(field.default, "true" | "false") || field.default.starts_with(|c: char| c.is_ascii_digit())
    };
    let set = match about.example {
        "" => fields.iter().find(is_value).map(|field| format!("{} = {}", field.name, typed(field))),
        example => Some(example.into()),
    };
    page.example = match set {
        Some(set) => format!("source = {{ {name} = {{ {set} }} }}"),
        None => format!("source = \"{name}\""),
    };
    page
}

fn of_network(network: &Entry<Networks>) -> Page {
    let Entry { name, about, fields, .. } = *network;
    let mut page = Page::of_fields(name, about.summary, about.source, fields);
    page.example = format!("network = {{ {name} = {{ {} }} }}", about.example);
    page
}

fn of_impairments() -> Page {
    let mut page = Page::of_fields(IMPAIR, impair::SUMMARY, "", ImpairSpec::FIELDS);
    page.example = format!("link.{IMPAIR} = {{ {} }}", impair::EXAMPLE);
    page
}

/// The page of a parameter, as described by each component that has it. Equal descriptions appear
/// once.
fn of_parameter(name: &str) -> Option<Page> {
    let mut declared: Vec<(&'static Field, Vec<&'static str>)> = Vec::new();
    for part in all() {
        let Some(field) = part.fields.iter().find(|field| field.name == name) else { continue };
        let is_same = |other: &Field| {
            (other.text, other.notes, other.default) == (field.text, field.notes, field.default)
        };
        match declared.iter_mut().find(|(other, _)| is_same(other)) {
            Some((_, parts)) => parts.push(part.name),
            None => declared.push((field, vec![part.name])),
        }
    }
    let (first, _) = declared.first()?;
    let parts: Vec<&'static str> = declared.iter().flat_map(|(_, parts)| parts.iter().copied()).collect();
    let mut page = Page::of_fields(first.name, "A parameter.", "", &[]);
    page.parameters = declared.into_iter().map(|(field, parts)| said(field, &parts)).collect();
    page.related.push(("It is a parameter of", parts));
    Some(page)
}

fn said(field: &Field, parts: &[&str]) -> ParameterPage {
    let parameter = ParameterPage::of(field);
    let names: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
    let notes = format!("{} Of {}.", parameter.notes, names.join(", ")).trim_start().to_owned();
    ParameterPage { notes, ..parameter }
}

fn typed(field: &Field) -> String {
    let fraction = field
        .default
        .split_once('/')
        .and_then(|(over, under)| Some(over.parse::<f64>().ok()? / under.parse::<f64>().ok()?));
    match fraction {
        Some(value) => value.to_string(),
        None if field.unit == "time" || field.default.contains(' ') => format!("\"{}\"", field.default),
        None => field.default.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_means_parts_of_two_kinds() {
        assert_eq!(taken_twice(), None);
        let parts = [("discipline", "red"), ("controller", "reno"), ("source", "red")];
        let message = "the name `red` is taken by a discipline, and is given to a source too; \
                       allowed: a name that no other part has";
        assert_eq!(twice(&parts).as_deref(), Some(message));
    }

    #[test]
    fn every_part_and_every_parameter_has_a_page() {
        for part in all() {
            for name in part.names() {
                assert_eq!(page(name).unwrap().name, part.name, "{name}");
            }
            for field in part.fields {
                assert!(page(field.name).is_ok(), "{} of {}", field.name, part.name);
            }
        }
    }

    #[test]
    fn every_example_is_toml() {
        for part in all() {
            let example = page(part.name).unwrap().example;
            assert!(example.parse::<toml::Table>().is_ok(), "{}: {example}", part.name);
        }
    }

    #[test]
    fn parts_with_an_equal_parameter_share_one_description() {
        let page = page("target").unwrap();
        let [(_, parts)] = page.related.as_slice() else { panic!("{:?}", page.related) };
        assert!(parts.contains(&"codel") && parts.contains(&"pie"), "{parts:?}");
        assert!(page.parameters.len() > 1 && page.parameters.len() < parts.len(), "{:?}", page.parameters);
        assert!(
            page.parameters.iter().all(|said| said.notes.contains(" Of `") || said.notes.starts_with("Of"))
        );
    }

    #[test]
    fn an_unknown_name_comes_with_the_nearest_of_any_kind() {
        for (given, meant) in
            [("fabba", "faba"), ("cubik", "cubic"), ("fat-tre", "fat-tree"), ("lamda2", "lambda2")]
        {
            match page(given) {
                Err(NoPage::Unknown { likely, .. }) => assert_eq!(likely, [meant], "{given}"),
                other => panic!("{other:?}"),
            }
        }
        let Err(NoPage::Unknown { likely, .. }) = page("xyzzy") else { panic!("it resembles none") };
        assert!(likely.is_empty());
    }
}
