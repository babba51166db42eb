//! The disciplines that are defaults or that errors suggest.

use super::tree::quoted;
use fairwire_catalogue::{self as catalogue, Parameters};
use fairwire_laws::part::ClassSupport;

/// The default if classes have guarantees or ceilings.
pub(super) const WITH_BOUNDS: &str = "classful";
/// The default if there are classes or subscribers.
pub(super) const WITH_CLASSES: &str = "hfaba";
/// The default if hosts share first, then their flows.
pub(super) const WITH_HOSTS: &str = "fq-codel";
/// The default if there are no classes and hosts do not share first.
pub(super) const PLAIN: &str = "faba";
pub(super) const LEAF: &str = WITH_HOSTS;

pub(super) fn of_trees() -> Vec<&'static str> {
    with_classes(|classes| matches!(classes, ClassSupport::Tree | ClassSupport::Queues))
}

pub(super) fn with_leaves() -> String {
    let names = with_classes(|classes| classes == ClassSupport::Queues);
    format!("only with the discipline {}", listed(&names, " or "))
}

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
