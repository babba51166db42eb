//! Which disciplines are offered, by default and in errors.

use super::tree::quoted;
use fairwire_catalogue::{self as catalogue, Parameters};
use fairwire_laws::part::ClassSupport;

/// What shares where classes or subscribers have guarantees or ceilings.
pub(super) const WITH_BOUNDS: &str = "classful";
/// What shares where there are classes or subscribers.
pub(super) const WITH_CLASSES: &str = "hfaba";
/// What shares where hosts share first and then their flows.
pub(super) const WITH_HOSTS: &str = "fq-codel";
/// What shares where flows are something else.
pub(super) const PLAIN: &str = "faba";
/// What shares in a leaf: as where hosts share first and then their flows.
pub(super) const LEAF: &str = WITH_HOSTS;

/// Disciplines that take a tree.
pub(super) fn of_trees() -> Vec<&'static str> {
    with_classes(|classes| matches!(classes, ClassSupport::Tree | ClassSupport::Queues))
}

/// Disciplines whose classes have queues of their own, guarantees and ceilings, as an error names
/// them.
pub(super) fn with_leaves() -> String {
    let names = with_classes(|classes| classes == ClassSupport::Queues);
    format!("with the discipline {}", listed(&names, " or "))
}

/// Disciplines that know such classes with nothing typed for them.
pub(super) fn with_classes(are_right: impl Fn(ClassSupport) -> bool) -> Vec<&'static str> {
    let nothing = Parameters::default();
    let knows =
        |name| catalogue::with_part(name, &nothing, |part| are_right(part.classes())).unwrap_or(false);
    catalogue::all().iter().map(|entry| entry.name).filter(|name| knows(name)).collect()
}

/// Names, quoted.
pub(super) fn listed(names: &[&str], between: &str) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(between)
}
