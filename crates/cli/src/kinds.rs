//! The parts of every kind: what `fairwire describe NAME` finds, and what has a page in the
//! reference.

use fairwire_catalogue::{self as catalogue, marker};
use fairwire_scenario::{control, generated, source};

/// Where the names are.
pub(crate) const LISTS: &str = "`fairwire list disciplines`, `list markers`, `list controllers`, `list sources` and `list networks` have the names";

/// The kind and the name of every part, under each of its names.
pub(crate) fn parts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let disciplines = catalogue::all()
        .iter()
        .flat_map(|entry| [entry.name].into_iter().chain(entry.aliases.iter().copied()));
    let markers = marker::all().iter().map(|entry| ("marker", entry.name));
    let controllers = control::all().iter().map(|controller| ("controller", controller.name));
    let sources = source::all().iter().map(|source| ("source", source.name));
    let networks = generated::all().iter().map(|network| ("network", network.name));
    let disciplines = disciplines.map(|name| ("discipline", name));
    disciplines.chain(markers).chain(controllers).chain(sources).chain(networks)
}

/// What is wrong if a name means parts of two kinds: it could not be described, and has one page.
/// Those of one kind are compared where they are registered.
pub(crate) fn taken_twice() -> Option<String> {
    twice(&parts().collect::<Vec<_>>())
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
}
