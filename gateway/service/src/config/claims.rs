//! The claims on packets: unique prefixes and link-layer keys of subscribers, and the rules of
//! classes.

use super::backend::BackendKind;
use super::notes::NAMED;
use super::places::{Origin, Texts};
use super::spec::{BindSpec, DscpSpec, MatchSpec, OneOrMany, Spec};
use super::tree::{Tree, quoted};
use fairwire_datapath::classify::{AccessKey, AccessTable, Bind, Claims, PortSet, Prefix, Rule};
use fairwire_document::{DocumentError, shortened};
use fairwire_subscribers::sheet::{MAX_FAULTS, VLANS};
use std::collections::HashMap;

pub(super) fn claims(
    spec: &Spec,
    tree: &Tree,
    texts: &Texts<'_>,
) -> Result<(Claims, Vec<String>), DocumentError> {
    let mut prefixes = Vec::new();
    let mut accesses: HashMap<AccessKey, u32> = HashMap::new();
    let mut faults = Vec::new();
    for (number, &origin) in (0..).zip(&tree.origins) {
        let Some(row) = texts.row(origin) else { continue };
        prefixes.extend(row.prefixes.iter().map(|prefix| (*prefix, number)));
        for key in &row.access {
            let Some(other) = accesses.insert(*key, number) else { continue };
            let why = format!(
                "`{}` ({}) has it already",
                name(tree, other),
                texts.called(tree.origins[other as usize])
            );
            let allowed = match key {
                AccessKey::Vlan(_) => "a VLAN that no other subscriber has",
                AccessKey::InnerVlan { .. } => {
                    "an inner VLAN that no other subscriber has in the same outer VLAN"
                }
                AccessKey::Pppoe(_) => "a session that no other subscriber has",
                AccessKey::Mac(_) => "an Ethernet address that no other subscriber has",
            };
            faults.push(texts.refuse_of(origin, key.column(), key, why, allowed));
        }
    }
    let overlaps = Overlaps::of(&prefixes);
    faults.extend(overlaps.same.iter().take(MAX_FAULTS).map(|pair| said_twice(pair, tree, texts)));
    faults.truncate(MAX_FAULTS);
    if let Some(fault) = DocumentError::of_all(faults) {
        return Err(fault);
    }
    let notes = overlaps.note(tree).into_iter().collect();
    let accesses: Vec<(AccessKey, u32)> = accesses.into_iter().collect();
    let table = AccessTable::new(&accesses).binding(bind(spec));
    Ok((Claims::new(&prefixes, table, rules(spec, tree, texts)?), notes))
}

/// The link-layer keys of an uploaded packet that must equal the subscriber's keys. On a router, at
/// most the Ethernet address is left, because the kernel has stripped VLAN tags and PPPoE sessions.
fn bind(spec: &Spec) -> Bind {
    let typed = spec.subscribers.as_ref().and_then(|subscribers| subscribers.bind);
    match (typed, spec.wire.backend.kind()) {
        (Some(BindSpec::Loose), _) => Bind::Loose,
        (_, BackendKind::Router) => Bind::Mac,
        _ => Bind::Strict,
    }
}

fn name(tree: &Tree, number: u32) -> String {
    tree.book.class(number).map_or(String::new(), |class| shortened(&class.name))
}

/// A prefix, and the number of its class.
type Claim = (Prefix, u32);

#[derive(Debug, Default)]
struct Overlaps {
    same: Vec<[Claim; 2]>,
    /// Pairs of a prefix and another subscriber's prefix that contains it. Shared addresses belong
    /// to the longer prefix.
    nested: Vec<[Claim; 2]>,
}

impl Overlaps {
    fn of(prefixes: &[Claim]) -> Self {
        let mut sorted: Vec<&Claim> = prefixes.iter().collect();
        // A prefix sorts before the prefixes that it contains.
        sorted.sort_by_key(|(prefix, number)| (prefix.address(), prefix.bits(), *number));
        let mut overlaps = Overlaps::default();
        // The prefixes that contain the previous prefix, shortest first, and then the previous
        // prefix itself.
        let mut around: Vec<&Claim> = Vec::new();
        for claim in sorted {
            while around.last().is_some_and(|(outer, _)| !outer.overlaps(&claim.0)) {
                around.pop();
            }
            match around.last() {
                Some(outer) if outer.0 == claim.0 => overlaps.same.push([**outer, *claim]),
                Some(outer) if outer.1 != claim.1 => overlaps.nested.push([*claim, **outer]),
                _ => {}
            }
            around.push(claim);
        }
        overlaps
    }

    fn note(&self, tree: &Tree) -> Option<String> {
        let pairs = self.nested.iter().take(NAMED).map(|[(inner, of_inner), (outer, of_outer)]| {
            format!("`{inner}` of `{}` in `{outer}` of `{}`", name(tree, *of_inner), name(tree, *of_outer))
        });
        let pairs: Vec<String> = pairs.collect();
        let more = self.nested.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!pairs.is_empty())
            .then(|| format!("prefixes inside others (the longest counts): {}{more}", pairs.join(", ")))
    }
}

fn said_twice([(prefix, first), (_, second)]: &[Claim; 2], tree: &Tree, texts: &Texts<'_>) -> DocumentError {
    let whose = match first == second {
        true => "the same line".to_owned(),
        false => format!("`{}` ({})", name(tree, *first), texts.called(tree.origins[*first as usize])),
    };
    let origin = tree.origins[*second as usize];
    let why = format!("{whose} has it already");
    texts.refuse_of(origin, "addresses", format!("`{prefix}`"), why, "each prefix once")
}

fn rules(spec: &Spec, tree: &Tree, texts: &Texts<'_>) -> Result<Vec<Rule>, DocumentError> {
    let mut rules = Vec::new();
    for (at, class) in spec.class.iter().enumerate() {
        if class.matches == MatchSpec::default() {
            continue;
        }
        let path = format!("class.{at}.match");
        let number = tree.book.number(&class.name).expect("every class is in the book");
        rules.push(Rule {
            class: number,
            dscp: codepoints(&class.matches.dscp, &path, texts)?,
            vlan: vlans(&class.matches.vlan, &path, texts)?,
            inside: prefixes(&class.matches.inside, &format!("{path}.inside"), texts)?,
            outside: prefixes(&class.matches.outside, &format!("{path}.outside"), texts)?,
            protocols: protocols(&class.matches.protocol, &format!("{path}.protocol"), texts)?,
            ports: [
                ports(&class.matches.inside_ports, &format!("{path}.inside_ports"), texts)?,
                ports(&class.matches.outside_ports, &format!("{path}.outside_ports"), texts)?,
            ],
        });
    }
    Ok(rules)
}

fn vlans(typed: &[u16], path: &str, texts: &Texts<'_>) -> Result<Box<[u16]>, DocumentError> {
    match typed.iter().enumerate().find(|(_, vlan)| !VLANS.contains(vlan)) {
        None => Ok(typed.into()),
        Some((at, vlan)) => Err(texts.refuse(
            &format!("{path}.vlan.{at}"),
            vlan,
            "that is not a VLAN",
            "a whole number from 1 to 4094",
        )),
    }
}

fn prefixes(typed: &[String], path: &str, texts: &Texts<'_>) -> Result<Box<[Prefix]>, DocumentError> {
    let read = |(at, text): (usize, &String)| {
        text.parse().map_err(|error: fairwire_datapath::classify::PrefixError| {
            let allowed = "a prefix such as `10.1.0.0/16` or `2001:db8::/48`";
            texts.refuse(&format!("{path}.{at}"), quoted(text), error, allowed)
        })
    };
    typed.iter().enumerate().map(read).collect()
}

fn protocols(typed: &OneOrMany, path: &str, texts: &Texts<'_>) -> Result<Box<[u8]>, DocumentError> {
    let read = |(end, text): (String, String)| {
        let known =
            PROTOCOLS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&text)).map(|(_, number)| *number);
        known.or_else(|| text.parse().ok()).ok_or_else(|| {
            let names = PROTOCOLS.map(|(known, _)| quoted(known)).join(", ");
            let allowed = format_args!("{names}, or a number from 0 to 255");
            texts.refuse(&format!("{path}{end}"), quoted(&text), "that is no protocol", allowed)
        })
    };
    typed.texts().into_iter().map(read).collect()
}

/// IANA protocol numbers.
const PROTOCOLS: [(&str, u8); 8] = [
    ("tcp", 6),
    ("udp", 17),
    ("icmp", 1),
    ("icmpv6", 58),
    ("sctp", 132),
    ("gre", 47),
    ("esp", 50),
    ("ipip", 4),
];

fn ports(typed: &OneOrMany, path: &str, texts: &Texts<'_>) -> Result<PortSet, DocumentError> {
    let (mut ranges, mut without) = (Vec::new(), Vec::new());
    for (end, text) in typed.texts() {
        let (set, range) = match text.strip_prefix('!') {
            Some(range) => (&mut without, range),
            None => (&mut ranges, text.as_str()),
        };
        let ends = range.split_once('-').unwrap_or((range, range));
        let port = |text: &str| text.trim().parse::<u16>().ok();
        match (port(ends.0), port(ends.1)) {
            (Some(first), Some(last)) if first <= last => set.push((first, last)),
            _ => {
                let allowed =
                    "a port such as `443`, a range such as `10000-20000`, or either after `!` for all others";
                return Err(texts.refuse(
                    &format!("{path}{end}"),
                    quoted(&text),
                    "those are no ports",
                    allowed,
                ));
            }
        }
    }
    Ok(PortSet { ranges: ranges.into(), without: without.into() })
}

fn codepoints(typed: &[DscpSpec], path: &str, texts: &Texts<'_>) -> Result<u64, DocumentError> {
    let mut set = 0;
    for (at, codepoint) in typed.iter().enumerate() {
        let path = format!("{path}.dscp.{at}");
        set |= 1
            << match codepoint {
                DscpSpec::Number(number) if *number < 64 => *number,
                DscpSpec::Number(number) => {
                    return Err(texts.refuse(
                        &path,
                        number,
                        "that is not a codepoint",
                        "a whole number from 0 to 63",
                    ));
                }
                DscpSpec::Name(name) => {
                    match CODEPOINTS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
                        Some((_, number)) => *number,
                        None => {
                            let allowed = CODEPOINTS.iter().map(|(known, _)| (*known).to_owned()).collect();
                            return Err(texts.unknown(Origin::Unclaimed, &path, "codepoint", name, allowed));
                        }
                    }
                }
            };
    }
    Ok(set)
}

/// The names of codepoints: RFC 2474 (CS), RFC 2597 (AF), RFC 3246 (EF), RFC 5865 (VA), RFC 8622
/// (LE), RFC 9956 (NQB).
const CODEPOINTS: [(&str, u8); 25] = [
    ("CS0", 0),
    ("DF", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("NQB", 45),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];
