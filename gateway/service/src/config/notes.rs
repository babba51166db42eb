//! Notes on what makes sense in a configuration and may still surprise.

use super::edges::CONDITIONER;
use super::places::Texts;
use super::shaping::{self, Shaping};
use super::spec::Spec;
use super::tree::{self, Tree};
use fairwire_catalogue as catalogue;
use fairwire_core::Rate;
use fairwire_datapath::classify::FlowKind;
use fairwire_laws::part::ClassSupport;
use fairwire_laws::role;
use fairwire_wire::Way;

/// The number of classes or prefixes that a note names.
pub(super) const NAMED: usize = 3;

/// The notes on a configuration, a sentence each.
pub(super) fn notes(
    spec: &Spec,
    tree: &Tree,
    shaping: &[Option<Shaping>; 2],
    texts: &Texts<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    let silent: Vec<&str> = texts
        .sheet
        .iter()
        .flat_map(|sheet| &sheet.rows)
        .filter(|row| row.prefixes.is_empty() && row.access.is_empty())
        .map(|row| row.name.as_str())
        .collect();
    if let Some(first) = silent.get(..silent.len().min(NAMED)).filter(|names| !names.is_empty()) {
        let names: Vec<String> = first.iter().map(|name| tree::quoted(name)).collect();
        let more =
            if silent.len() > NAMED { format!(" and {} more", silent.len() - NAMED) } else { String::new() };
        notes.push(format!("without addresses and VLAN, so no packet is theirs: {}{more}", names.join(", ")));
    }
    for (at, class) in spec.class.iter().enumerate() {
        let number = tree.book.number(&class.name).filter(|number| tree.book.is_leaf(*number));
        if number.is_some() && spec.class[at].matches == Default::default() {
            notes.push(format!(
                "class {} has no subscribers and no `match`, so no packet is of it",
                tree::quoted(&class.name)
            ));
        }
    }
    for way in Way::ALL {
        match &shaping[way as usize] {
            None => notes.push(format!("there is no [{}]: that way is not shaped", way.name())),
            Some(shaping) => notes.extend(way_notes(shaping, way, tree)),
        }
    }
    notes
}

fn way_notes(shaping: &Shaping, way: Way, tree: &Tree) -> Vec<String> {
    let mut notes = Vec::new();
    let name = way.name();
    let room = shaping.buffer.in_packets(shaping.packet_bytes(shaping::TYPICAL_FRAME), shaping.rate);
    let leaves = tree.book.iter().filter(|(number, _)| tree.book.is_leaf(*number)).count();
    // A conditioner lists the classes with a marker by itself.
    let knows_classes = shaping.sharing != ClassSupport::None || shaping.discipline == CONDITIONER;
    if tree.book.len() > 1 && !knows_classes {
        notes.push(format!(
            "{name}: `{}` does not support classes; they are only counted",
            shaping.discipline
        ));
    }
    let weighs_each_flow = catalogue::with_part(shaping.discipline, &shaping.parameters, |part| {
        role::FLOW_WEIGHTS.name_in(part)
    })
    .is_ok_and(|weights| weights.is_some());
    if weighs_each_flow && shaping.sharing == ClassSupport::Weights && shaping.flows != FlowKind::Subscriber {
        notes.push(format!(
            "{name}: with `{}` the weight of a class is that of each of its flows",
            shaping.discipline
        ));
    }
    notes.extend(idle_ceilings(shaping, way, tree));
    if shaping.sharing != ClassSupport::Queues && leaves as f64 > room {
        notes.push(format!(
            "{name}: the buffer holds {room:.0} full packets and there are {leaves} classes to share it: while more of them send at once than fit, shares are coarse"
        ));
    } else if room < FEW_PACKETS {
        notes.push(format!(
            "{name}: the buffer holds {room:.0} full packets; shares and TCP need {FEW_PACKETS:.0} or more"
        ));
    }
    notes
}

/// Ceilings above what the link, or a class above, lets pass: a slip of a digit, or of a unit.
fn idle_ceilings(shaping: &Shaping, way: Way, tree: &Tree) -> Option<String> {
    let link = shaping.autorate.map_or(shaping.rate, |autorate| autorate.max);
    let ceiling = |number: u32| tree.book.class(number)?.bounds[way as usize].ceiling;
    let parent = |number: &u32| tree.book.class(*number)?.parent;
    let most = |number: u32| {
        let above = std::iter::successors(parent(&number), parent).filter_map(ceiling);
        above.chain([link]).min().unwrap_or(link)
    };
    let idle: Vec<(u32, &str, Rate)> = tree
        .book
        .iter()
        .filter_map(|(number, class)| Some((number, class.name.as_str(), ceiling(number)?)))
        .filter(|(number, _, ceiling)| *ceiling > most(*number))
        .collect();
    let (number, name, ceiling) = *idle.first()?;
    let more = if idle.len() > 1 { format!(", and {} more", idle.len() - 1) } else { String::new() };
    Some(format!(
        "{}: {} has a ceiling of {ceiling}, but what is above lets {} pass{more}: such a ceiling bounds nothing",
        way.name(),
        tree::quoted(name),
        most(number)
    ))
}

/// With fewer, a TCP flow cannot recover by fast retransmission, and tokens are too coarse for
/// shares.
const FEW_PACKETS: f64 = 20.0;
