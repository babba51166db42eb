//! Notes on valid settings that may surprise.

use super::edges::CONDITIONER;
use super::places::Texts;
use super::shaping::{self, Shaping};
use super::spec::Spec;
use super::tree::{self, Tree};
use fairwire_catalogue as catalogue;
use fairwire_core::Rate;
use fairwire_datapath::class_book::{Class, ClassKind, UNCLAIMED};
use fairwire_datapath::classify::{Dscp, FlowKind};
use fairwire_laws::part::ClassSupport;
use fairwire_laws::role;
use fairwire_subscribers::sheet::{MIN_PLAN_BPS, UNCLAIMED_NAME};
use fairwire_wire::Way;

/// The most classes or prefixes that a note names.
pub(super) const NAMED: usize = 3;

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
    if let Some(names) = first_of(&silent) {
        notes.push(format!("without addresses and VLAN, so no packet is theirs: {names}"));
    }
    if let Some(names) = first_of(&by_ipv4_alone(texts)) {
        notes.push(format!(
            "recognized by IPv4 addresses alone, so that their IPv6 is `{UNCLAIMED_NAME}`: {names}"
        ));
    }
    for (at, class) in spec.class.iter().enumerate() {
        let number = tree.book.number(&class.name).filter(|number| tree.book.is_leaf(*number));
        if number.is_some_and(|number| number != UNCLAIMED) && spec.class[at].matches == Default::default() {
            notes.push(format!(
                "class {} has no subscribers and no `match`, so no packet is of it",
                tree::quoted(&class.name)
            ));
        }
    }
    let writes = |shaping: &Shaping| matches!(shaping.dscp.rewriting(), Dscp::Assured(_));
    if spec.ingress.is_some() && !shaping[Way::Upload as usize].as_ref().is_some_and(writes) {
        notes.push(
            "upload: no colour is written (`dscp = \"af1\"`), so that the core cannot know who is in profile"
                .into(),
        );
    }
    for way in Way::ALL {
        match &shaping[way as usize] {
            None => notes.push(format!("there is no [{}]: that way is not shaped", way.name())),
            Some(shaping) => notes.extend(way_notes(shaping, way, tree)),
        }
    }
    notes
}

fn first_of(names: &[&str]) -> Option<String> {
    let first: Vec<String> = names.iter().take(NAMED).map(|name| tree::quoted(name)).collect();
    let more = names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!first.is_empty()).then(|| first.join(", ") + &more)
}

/// Subscribers whose IPv6 traffic bypasses their plan.
fn by_ipv4_alone<'a>(texts: &'a Texts<'_>) -> Vec<&'a str> {
    let rows = texts.sheet.iter().flat_map(|sheet| &sheet.rows);
    rows.filter(|row| row.access.is_empty() && !row.prefixes.is_empty())
        .filter(|row| row.prefixes.iter().all(|prefix| prefix.address().is_ipv4()))
        .map(|row| row.name.as_str())
        .collect()
}

fn unclaimed_note(shaping: &Shaping, way: Way, tree: &Tree) -> Option<String> {
    let is_bounded = |number: u32| {
        let bounds = tree.book.class(number).map(|class| class.bounds[way as usize]).unwrap_or_default();
        bounds.ceiling.or(bounds.each).is_some()
    };
    let has_plans =
        tree.book.iter().any(|(number, class)| class.kind == ClassKind::Subscriber && is_bounded(number));
    (has_plans && !is_bounded(UNCLAIMED)).then(|| {
        format!(
            "{}: subscribers have ceilings and `{UNCLAIMED_NAME}` has none: a host with an address of no subscriber \
             may have {}",
            way.name(),
            shaping.rate
        )
    })
}

fn way_notes(shaping: &Shaping, way: Way, tree: &Tree) -> Vec<String> {
    let mut notes = Vec::new();
    let name = way.name();
    let room = shaping.buffer.in_packets(shaping.packet_bytes(shaping::TYPICAL_FRAME), shaping.rate);
    let leaves = tree.book.iter().filter(|(number, _)| tree.book.is_leaf(*number)).count();
    // A conditioner has its own list of classes, each with a marker.
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
    notes.extend(unclaimed_note(shaping, way, tree));
    notes.extend(idle_ceilings(shaping, way, tree));
    notes.extend(slips(way, tree));
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

/// The note on ceilings above the link's rate or above a parent's ceiling. Probably a digit or unit
/// is wrong.
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

/// The note on subscriber ceilings too low to be useful: probably kbit/s written as bit/s.
fn slips(way: Way, tree: &Tree) -> Option<String> {
    let ceiling = |class: &Class| {
        let ceiling = class.bounds[way as usize].ceiling?;
        (class.kind == ClassKind::Subscriber && ceiling.bps() < MIN_PLAN_BPS).then_some(ceiling)
    };
    let all: Vec<(&str, Rate)> =
        tree.book.iter().filter_map(|(_, class)| Some((class.name.as_str(), ceiling(class)?))).collect();
    let (name, ceiling) = all.first()?;
    let more = if all.len() > 1 { format!(", and {} more such", all.len() - 1) } else { String::new() };
    Some(format!("{}: {} has a ceiling of {ceiling}{more}: is it in kbit/s?", way.name(), tree::quoted(name)))
}

/// The fewest full packets in a useful buffer. With fewer, a TCP flow cannot recover by fast
/// retransmission, and disciplines such as `faba` have too few tokens for precise shares.
pub(super) const FEW_PACKETS: f64 = 20.0;
