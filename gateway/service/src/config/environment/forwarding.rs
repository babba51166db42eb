//! Checks the kernel's forwarding. `router` needs forwarding; with `af-packet`, forwarded packets
//! bypass the gateway.

use super::super::Config;
use super::{LOOPBACK, Note, about, fits, has_global_ipv6, interfaces, missing, refused};
use crate::config::passages::passages;
use crate::config::spec::Spec;
use crate::config::user::{self, User};
use crate::config::wire::TunnelSpec;
use fairwire_datapath::classify::FlowKind;
use fairwire_datapath::io::insides::is_pattern;
use fairwire_datapath::io::router::{MAX_INSIDES, Passage};
use fairwire_document::DocumentError;
use fairwire_linux::interface::ipv4_address;
use fairwire_linux::nftables::{Family, Nftables};
use fairwire_wire::Way;
use std::fs;
use std::io::ErrorKind;

/// Does the kernel forward between the interfaces `names`? `family` is `ipv4` or `ipv6`.
fn forwards(family: &str, names: [&str; 2]) -> bool {
    names.iter().all(|name| is_on(&format!("{family}/conf/{name}/forwarding")))
}

pub(super) fn is_on(setting: &str) -> bool {
    let value = fs::read_to_string(format!("/proc/sys/net/{setting}")).unwrap_or_default();
    value.trim().parse::<u8>().is_ok_and(|value| value > 0)
}

/// Refuses `af-packet` between two interfaces if the kernel also forwards between them.
pub(super) fn refuse_beside(config: &Config) -> Result<(), DocumentError> {
    let wire = &config.spec().wire;
    let names = [wire.inside.first().as_str(), wire.outside.as_str()];
    if wire.backend.allows_forwarding() {
        return Ok(());
    }
    let ipv4 = names.map(|name| ipv4_address(name).ok().flatten());
    let found = match ipv4 {
        [Some(inside), Some(outside)] if forwards("ipv4", names) => {
            format!("it has the address {inside} and `{}` {outside}, and net.ipv4.ip_forward is on", names[1])
        }
        _ if names.iter().all(|name| has_global_ipv6(name)) && forwards("ipv6", names) => {
            format!("it and `{}` have IPv6 addresses, and net.ipv6.conf.all.forwarding is on", names[1])
        }
        _ => return Ok(()),
    };
    let why = format!(
        "{found}: this machine is a router, and its kernel forwards every packet past the gateway, unshaped, \
         while broadcasts of the inside reach the outside"
    );
    let allowed = "`backend = \"router\"` in [wire], which shapes what the kernel forwards, with NAT or without \
                   (docs/gateway/router.md); or interfaces without addresses; or `backend = { af-packet = { allow_forwarding = true } }`, where you know better";
    Err(refused(config, "wire.inside", names[0], why, allowed.into()))
}

/// Notes on a router's traffic that bypasses the gateway: in tunnels that `tunnels` does not list,
/// and through the firewall's flowtables.
fn passing_by(spec: &Spec) -> Vec<Note> {
    let mut notes = Vec::new();
    let (wire, there, outside) = (&spec.wire, interfaces(), &spec.wire.outside);
    let insides = wire.insides_among(&there);
    let is_shaped = |name: &String| wire.tunnels.iter().any(|tunnel| tunnel.interface == *name);
    let ours: Vec<String> = passages(spec).iter().flat_map(Passage::taps).collect();
    let is_tunnel = |name: &String| {
        let is_other = !insides.contains(name) && name != outside && !is_shaped(name) && !ours.contains(name);
        is_other && about(name).is_some_and(|about| about.is_up && !about.is_ethernet && !about.is_loopback)
    };
    for tunnel in there.iter().filter(|name| is_tunnel(name)) {
        notes.push(Note(format!(
            "`{tunnel}` is a tunnel: what is routed into it leaves `{outside}` as this machine's own, unshaped; list it in `tunnels`, or leave \
             room for it in `rate`; `status` says how much it is"
        )));
    }
    if Nftables::open().and_then(|nftables| nftables.has_flowtable()).unwrap_or(false) {
        notes.push(Note(
            "the firewall has a flowtable: downloads of its flows pass the gateway by, unshaped; take the flowtable out".to_owned(),
        ));
    }
    notes
}

fn without_ethernet(config: &Config, inside: &str) -> Result<Option<Note>, DocumentError> {
    if about(inside).is_none_or(|about| about.is_ethernet) {
        return Ok(None);
    }
    let by_address = |way: &Way| config.shaping(*way).is_some_and(|shaping| shaping.flows == FlowKind::Mac);
    if let Some(way) = Way::ALL.into_iter().find(by_address) {
        let why = format!("packets of `{inside}` have no Ethernet address, as those of VPNs and PPP");
        let path = format!("{}.flows", way.name());
        return Err(refused(config, &path, "mac", why, "`inside` for each address".into()));
    }
    Ok(Some(Note(format!(
        "packets of `{inside}` have no Ethernet address: its hosts are known by their IP addresses, and uploads of a subscriber with a `mac` are \
         lost there as `spoofed`"
    ))))
}

fn is_loopback(name: &str) -> bool {
    about(name).is_some_and(|about| about.is_loopback)
}

/// States whether an interface that appears later is shaped. TAP devices must be created for such
/// an interface.
fn shaped_later(user: Option<&User>) -> String {
    match user.filter(|user| !user.may_open_tun()) {
        None => "it is shaped within a second of its creation".into(),
        Some(user) => format!(
            "it will pass unshaped, because the user `{}` may not open /dev/net/tun: `chmod 666 /dev/net/tun`, as on most distributions, or set \
             `safety.user = \"root\"`",
            user.name
        ),
    }
}

/// Notes on the inside interfaces: `insides` are those that exist among the interfaces `there`.
fn inside_notes(
    config: &Config,
    insides: &[String],
    there: &[String],
    later: &str,
) -> Result<Vec<Note>, DocumentError> {
    let inside = &config.spec().wire.inside;
    let (listed, has_pattern, mut notes) = (inside.names(), inside.has_pattern(), Vec::new());
    for inside in listed.iter().filter(|inside| !insides.contains(inside)) {
        match is_pattern(inside) {
            true => notes.push(Note(format!(
                "`{inside}` is a pattern: when another interface appears, {later}; at most {MAX_INSIDES} inside interfaces are shaped at a time"
            ))),
            false if has_pattern || !insides.is_empty() => {
                notes.push(Note(format!("`{inside}` is missing; {later}")));
            }
            false => return Err(missing(config, "inside", there)),
        }
    }
    for inside in insides {
        let fit = fits(config, "inside", inside, there)
            .and_then(|note| Ok([note, without_ethernet(config, inside)?]));
        match fit {
            Ok(found) => notes.extend(found.into_iter().flatten()),
            Err(refusal) if listed.contains(inside) => return Err(refusal),
            Err(refusal) => {
                notes.push(Note(format!("a pattern covers `{inside}`, which does not fit: {refusal}")))
            }
        }
    }
    Ok(notes)
}

pub(super) fn check_router(config: &Config) -> Result<Vec<Note>, DocumentError> {
    let wire = &config.spec().wire;
    let there = interfaces();
    let mut notes = Vec::new();
    let later = shaped_later(user::of(config)?.as_ref());
    let insides = wire.insides_among(&there);
    notes.extend(inside_notes(config, &insides, &there, &later)?);
    // An interface that appears later begins with the settings of `default`.
    let inside = insides.first().map_or("default", String::as_str);
    let names = [inside, wire.outside.as_str()];
    for (at, TunnelSpec { interface, .. }) in wire.tunnels.iter().enumerate() {
        if !there.contains(interface) {
            notes.push(Note(format!("the tunnel `{interface}` is missing; {later}")));
        }
        if is_loopback(interface) {
            let path = format!("wire.tunnels.{at}.interface");
            let allowed = "the interface of a tunnel, such as `wg0`";
            return Err(refused(config, &path, interface, LOOPBACK.into(), allowed.into()));
        }
    }
    if !there.contains(&wire.outside) {
        return Err(missing(config, "outside", &there));
    }
    if is_loopback(&wire.outside) {
        let allowed = "the interface to which the default route leads";
        return Err(refused(config, "wire.outside", &wire.outside, LOOPBACK.into(), allowed.into()));
    }
    let tables = Nftables::open().and_then(|nftables| nftables.has_table(Family::Netdev, "fairwire"));
    // Another check reports missing rights.
    if let Some(error) = tables.err().filter(|error| error.kind() != ErrorKind::PermissionDenied) {
        let why = format!("this kernel has no nftables: {error}");
        let allowed = "a kernel with CONFIG_NF_TABLES_NETDEV (Linux 5.18 or later); `af-packet` on a machine of its own".to_owned();
        return Err(refused(config, "wire.backend", "router", why, allowed));
    }
    let families =
        [("IPv4", "ipv4", "net.ipv4.ip_forward"), ("IPv6", "ipv6", "net.ipv6.conf.all.forwarding")];
    for (called, _, setting) in families.into_iter().filter(|(_, family, _)| !forwards(family, names)) {
        notes.push(Note(format!(
            "this machine does not forward {called} between `{}` and `{}` ({setting})",
            names[0], names[1]
        )));
    }
    for passage in passages(config.spec()) {
        let (Passage { table, inside, outside, .. }, [up, down]) = (&passage, passage.taps());
        notes.push(Note(format!(
            "takes what this machine forwards between `{inside}` and `{outside}` at `{inside}`, by the addresses inside: uploads before NAT, \
             downloads after it. While it runs there are the devices `{up}` and `{down}`, and the nftables tables `netdev {table}` and \
             `inet {table}`"
        )));
    }
    notes.push(Note("what this machine itself sends and receives is not shaped".to_owned()));
    notes.extend(passing_by(config.spec()));
    Ok(notes)
}
