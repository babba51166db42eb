//! Checks the edges of a DiffServ domain.

use super::places::Texts;
use super::shaping::Shaping;
use super::spec::Spec;
use super::tree::{Tree, quoted};
use crate::edges::report::MAX_CLASSES;
use fairwire_catalogue::compose::conditioner;
use fairwire_document::DocumentError;
use fairwire_wire::Way;
use std::net::SocketAddr;

/// The discipline with a marker for each class.
pub(super) const CONDITIONER: &str = "conditioner";

pub(super) const EQUAL_KEYS: &str =
    "its key is that of `ingress` too, so that its own reports could be sent back to it";
/// The allowed alternative.
pub(super) const TWO_KEYS: &str = "a key for each direction";

pub(super) fn check(
    spec: &Spec,
    tree: &Tree,
    shaping: &[Option<Shaping>; 2],
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    if let Some(ingress) = &spec.ingress {
        address("ingress.listen", &ingress.listen, texts)?;
        let discipline = shaping[Way::Upload as usize].as_ref().map(|shaping| shaping.discipline);
        if discipline != Some(CONDITIONER) {
            let why = "uploads have no markers whose targets reports could move";
            let allowed = "the discipline `conditioner` for [upload]";
            return Err(texts.refuse("ingress", "given", why, allowed));
        }
    }
    let classes = tree.book.len() - 1;
    for way in Way::ALL {
        let conditioner = shaping[way as usize].as_ref().filter(|shaping| shaping.discipline == CONDITIONER);
        conditioner.map_or(Ok(()), |shaping| markers(shaping, way, classes, texts))?;
    }
    let edges = [("ingress", spec.ingress.is_some()), ("egress", spec.egress.is_some())];
    if let Some((key, _)) = edges.iter().find(|(_, is_edge)| *is_edge)
        && !(1..=MAX_CLASSES).contains(&classes)
    {
        let given = format!("{classes} classes and subscribers");
        return Err(texts.refuse(key, given, "reports are on few", format!("from 1 to {MAX_CLASSES}")));
    }
    if let Some(egress) = &spec.egress {
        address("egress.report_to", &egress.report_to, texts)?;
        if let Some(ingress) = spec.ingress.as_ref().filter(|ingress| ingress.key_file == egress.key_file) {
            let given = quoted(&ingress.key_file.display().to_string());
            return Err(texts.refuse("egress.key_file", given, EQUAL_KEYS, TWO_KEYS));
        }
    }
    Ok(())
}

/// Refuses a marker for a class that does not exist: no packet could have that class.
fn markers(shaping: &Shaping, way: Way, classes: usize, texts: &Texts<'_>) -> Result<(), DocumentError> {
    let typed = shaping.parameters.spec::<conditioner::Spec>().and_then(|spec| spec.class.as_deref());
    let ids = typed.unwrap_or_default().iter().enumerate().filter_map(|(at, class)| Some((at, class.id?)));
    for (at, id) in ids {
        if !(1..=classes).contains(&(id as usize)) {
            let table =
                if shaping.has_own { format!("{}.discipline", way.name()) } else { "discipline".into() };
            let why = "there is no class of that number";
            let allowed = format_args!("from 1 to {classes}, in the order of the classes in the file");
            return Err(texts.refuse(&format!("{table}.{CONDITIONER}.class.{at}.id"), id, why, allowed));
        }
    }
    Ok(())
}

fn address(key: &str, given: &str, texts: &Texts<'_>) -> Result<(), DocumentError> {
    match given.parse::<SocketAddr>() {
        Ok(address) if address.port() != 0 => Ok(()),
        _ => {
            let why = "that is not an address with a port";
            let allowed = "an address with a port, such as `192.0.2.1:9830` or `[2001:db8::1]:9830`";
            Err(texts.refuse(key, quoted(given), why, allowed))
        }
    }
}
