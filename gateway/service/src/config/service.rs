//! Checks the settings that belong to neither direction: names, interfaces, telemetry and safety.

use super::backend::{Backend, BackendKind};
use super::passages::passages;
use super::places::Texts;
use super::spec::{FORMAT, OnFailure, Spec};
use super::tree::quoted;
use super::wire::TunnelSpec;
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_datapath::io::insides::{is_pattern, overlap};
use fairwire_datapath::io::router::MAX_INSIDES;
use fairwire_document::DocumentError;
use fairwire_parameters::{Choice as _, OutOfRange};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

/// The most bytes of an interface's name, without the final zero (`IFNAMSIZ` of Linux).
pub(super) const MAX_INTERFACE_BYTES: usize = 15;
const MAX_NAME_BYTES: usize = 64;
const MAX_FLOWS: u32 = 1 << 20;
const MAX_FRAMES: u32 = 1 << 22;

pub(super) fn check(spec: &Spec, texts: &Texts<'_>) -> Result<(), DocumentError> {
    if spec.format != FORMAT {
        let why = format_args!("this version of fairwire reads only format {FORMAT}");
        return Err(texts.refuse("format", spec.format, why, FORMAT));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if spec.name.is_empty() || spec.name.len() > MAX_NAME_BYTES || !spec.name.chars().all(is_word) {
        let why = match spec.name.len() {
            0 => "a name is needed",
            1..=MAX_NAME_BYTES => "it has a character that the name of the socket cannot have",
            _ => "it is too long for the name of the socket",
        };
        let allowed = "1 to 64 ASCII letters, digits, `-` and `_`";
        return Err(texts.refuse("name", quoted(&spec.name), why, allowed));
    }
    wire(spec, texts)?;
    telemetry(spec, texts)?;
    safety(spec, texts)
}

/// Why `name` is not valid for an interface, and what is allowed; `None` if it is valid. Only some
/// keys may have patterns.
fn problem_of(name: &str, may_be_pattern: bool) -> Option<(&'static str, &'static str)> {
    let start = name.strip_suffix('*').filter(|start| may_be_pattern && !start.is_empty());
    let is_odd = |c: char| c == '/' || c == ':' || c.is_whitespace() || c.is_control();
    let why = match name {
        "" => "an interface needs a name",
        "." | ".." => "no interface can have that name",
        name if name.len() > MAX_INTERFACE_BYTES => "that is too long for the name of an interface",
        name if start.unwrap_or(name).contains('*') => {
            let why = match may_be_pattern {
                true => "a pattern is the beginning of a name with one `*` after it",
                false => "only the `inside` of a router may be a pattern",
            };
            return Some((why, "a name; in the `inside` of a router also a pattern such as `ppp*`"));
        }
        name if name.chars().any(is_odd) => "no interface can have that name",
        _ => return None,
    };
    Some((why, "1 to 15 bytes without `/`, `:` and spaces, such as `eth0`"))
}

const MAX_TUNNELS: usize = 3;

fn wire(spec: &Spec, texts: &Texts<'_>) -> Result<(), DocumentError> {
    let wire = &spec.wire;
    let names = wire.inside.names();
    let is_router = wire.backend.kind() == BackendKind::Router;
    if names.is_empty() || names.len() > if is_router { usize::from(MAX_INSIDES) } else { 1 } {
        let why = match is_router {
            true => "a router has from 1 to 16 interfaces inside",
            false => "this back end has one interface inside",
        };
        let given = format_args!("a list of {} names", names.len());
        let allowed = "the name of an interface; or, with `backend = \"router\"`, a list of at most 16";
        return Err(texts.refuse("wire.inside", given, why, allowed));
    }
    let tunnels = wire.tunnels.iter().enumerate();
    let tunnels = tunnels.map(|(at, tunnel)| (format!("tunnels.{at}.interface"), &tunnel.interface));
    let insides = names.iter().map(|name| ("inside".to_owned(), name));
    for (key, name) in insides.chain([("outside".to_owned(), &wire.outside)]).chain(tunnels) {
        if let Some((why, allowed)) = problem_of(name, is_router && key == "inside") {
            return Err(texts.refuse(&format!("wire.{key}"), quoted(name), why, allowed));
        }
    }
    let is_twice = |at: &usize| names[..*at].iter().any(|name| overlap(name, &names[*at]));
    if let Some(twice) = (1..names.len()).find(is_twice) {
        let why = "that interface is listed twice, or a pattern covers another entry";
        let path = format!("wire.inside.{twice}");
        return Err(texts.refuse(&path, quoted(&names[twice]), why, "each interface once"));
    }
    if names.contains(&wire.outside) {
        let why = "that is the interface of the other side too";
        return Err(texts.refuse("wire.outside", quoted(&wire.outside), why, "two different interfaces"));
    }
    if !wire.tunnels.is_empty() && (!is_router || wire.tunnels.len() > MAX_TUNNELS) {
        let why = match is_router {
            true => "a router has at most 3 tunnels",
            false => "only a router has tunnels",
        };
        let plural = if wire.tunnels.len() == 1 { "" } else { "s" };
        let given = format_args!("a list of {} tunnel{plural}", wire.tunnels.len());
        let allowed = "at most 3 tunnels, and only with `backend = \"router\"`";
        return Err(texts.refuse("wire.tunnels", given, why, allowed));
    }
    for (at, TunnelSpec { interface, overhead_bytes }) in wire.tunnels.iter().enumerate() {
        let is_twice = wire.tunnels[..at].iter().any(|tunnel| tunnel.interface == *interface);
        if is_twice || names.contains(interface) || *interface == wire.outside {
            let (path, why) = (format!("wire.tunnels.{at}.interface"), "[wire] lists that interface already");
            return Err(texts.refuse(&path, quoted(interface), why, "each interface once in [wire]"));
        }
        span(&format!("wire.tunnels.{at}.overhead_bytes"), Some(*overhead_bytes), 0..=512, texts)?;
    }
    let (passages, mut taps) = (if is_router { passages(spec) } else { Vec::new() }, BTreeSet::new());
    // A pattern's devices have the names of the interfaces that it covers.
    for passage in passages.iter().filter(|passage| !is_pattern(&passage.inside)) {
        if !passage.taps().into_iter().all(|tap| taps.insert(tap)) {
            let why = "its devices would have the same names as those of another interface";
            let allowed = "interfaces whose names differ in their last 10 bytes";
            return Err(texts.refuse("wire.inside", quoted(&passage.inside), why, allowed));
        }
    }
    let coalesce = wire.coalesce.map(|coalesce| coalesce.0);
    // The maximum is half of the lost time that a link may make up for. The other half is for a
    // late wake-up.
    span("wire.coalesce", coalesce, Duration::ZERO..=Duration::from_ms(5), texts)?;
    wire.backend.check().map_err(|OutOfRange { name, given, allowed }| {
        let path = format!("wire.backend.{}.{name}", Backend::names()[wire.backend.kind() as usize]);
        texts.refuse(&path, given, "that is out of range", allowed)
    })
}

fn telemetry(spec: &Spec, texts: &Texts<'_>) -> Result<(), DocumentError> {
    let telemetry = &spec.telemetry;
    let interval = telemetry.interval.map(|interval| interval.0);
    span("telemetry.interval", interval, Duration::from_ms(1)..=Duration::from_secs(10), texts)?;
    span("telemetry.flows", telemetry.flows, 1..=MAX_FLOWS, texts)?;
    span("telemetry.captured", telemetry.captured, 0..=MAX_FLOWS, texts)?;
    let page = telemetry.page.as_ref();
    let room = page.and_then(|page| page.size).map(|size| size.0);
    span("telemetry.page.size", room, Size(1 << 20)..=Size(16 << 30), texts)?;
    let keep = page.and_then(|page| page.keep).map(|keep| keep.0);
    span("telemetry.page.keep", keep, DAY..=Duration::from_secs(366 * 24 * 3600), texts)?;
    let arrivals = page.and_then(|page| page.arrivals);
    span("telemetry.page.arrivals", arrivals, 0..=MAX_FRAMES, texts)?;
    let served = [
        ("telemetry.metrics", telemetry.metrics.as_ref()),
        ("telemetry.page.address", page.map(|page| &page.address)),
    ];
    if served.iter().all(|(_, address)| address.is_none()) {
        let given = [("token_file", telemetry.token_file.is_some()), ("hosts", !telemetry.hosts.is_empty())];
        return match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((key, _)) => {
                let key = format!("telemetry.{key}");
                Err(texts.refuse(
                    &key,
                    "given",
                    "it has no effect without `metrics` or `page`",
                    "leave it out, or give `metrics` or `page` too",
                ))
            }
        };
    }
    if let Some(host) = telemetry.hosts.iter().find(|host| !is_host(host)) {
        let why = "that is not the name of a host";
        let allowed = "letters, digits, `-` and `.`, without a port, such as `gw.example.net`";
        return Err(texts.refuse("telemetry.hosts", quoted(host), why, allowed));
    }
    for (key, given) in served {
        let Some(given) = given else { continue };
        let Ok(address) = given.parse::<SocketAddr>() else {
            let why = "that is not an address with a port";
            let allowed = "an address with a port, such as `127.0.0.1:9820` or `[::1]:9820`";
            return Err(texts.refuse(key, quoted(given), why, allowed));
        };
        if !address.ip().is_loopback() && telemetry.token_file.is_none() {
            let why = "other machines could read it";
            let allowed = "a loopback address, or `telemetry.token_file` as well";
            return Err(texts.refuse(key, quoted(given), why, allowed));
        }
    }
    Ok(())
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Can `name` be a host name (RFC 1123, section 2.1)? Underscores are accepted too.
fn is_host(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.chars().all(is_letter);
    name.len() <= 253 && name.split('.').all(is_label)
}

fn safety(spec: &Spec, texts: &Texts<'_>) -> Result<(), DocumentError> {
    if spec.safety.on_failure == OnFailure::Open && spec.wire.backend.kind() == BackendKind::Tun {
        let why = "TUN devices vanish with the gateway, and cannot be bridged";
        let allowed = "`closed`, with routes that bypass the devices when they are gone";
        return Err(texts.refuse("safety.on_failure", "`open`", why, allowed));
    }
    let watchdog = spec.safety.watchdog.map(|watchdog| watchdog.0);
    span("safety.watchdog", watchdog, Duration::from_ms(100)..=Duration::from_secs(60), texts)?;
    span("safety.frames", spec.safety.frames, 16..=MAX_FRAMES, texts)
}

fn span<T: PartialOrd + Display>(
    path: &str,
    value: Option<T>,
    allowed: RangeInclusive<T>,
    texts: &Texts<'_>,
) -> Result<(), DocumentError> {
    match value.filter(|value| !allowed.contains(value)) {
        None => Ok(()),
        Some(value) => {
            let (from, to) = (allowed.start(), allowed.end());
            Err(texts.refuse(path, value, "that is out of range", format_args!("from {from} to {to}")))
        }
    }
}
