//! Checks that this machine can do what a configuration requires. The checks change nothing.

mod forwarding;
pub mod survey;

use super::Config;
use super::backend::BackendKind;
use super::spec::OnFailure;
use super::user::{self, User};
use crate::device;
use fairwire_document::{DocumentError, Problem, listed};
use fairwire_linux::link;
use fairwire_wire::Way;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A remark about this machine, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note(pub String);

/// The number of this capability in Linux's capability.h.
const CAP_NET_ADMIN: u32 = 12;

/// The prefix of a guard's bridge name; the index of the inside interface follows.
pub(crate) const BRIDGE_PREFIX: &str = "fwbr";

const REMEDY: &str =
    "run it as root, or by its systemd unit, which gives it CAP_NET_ADMIN and CAP_NET_RAW alone";

/// Checks that this machine has the interfaces, the back end and the rights that `config` requires.
pub fn check(config: &Config) -> Result<Vec<Note>, DocumentError> {
    let wire = &config.spec().wire;
    let mut notes = Vec::new();
    match wire.backend.kind() {
        BackendKind::AfPacket => {
            let there = interfaces();
            for (key, name) in [("inside", wire.inside.first()), ("outside", &wire.outside)] {
                notes.extend(fits(config, key, name, &there)?);
                notes.extend(name_notes(config, key, name));
            }
            notes.extend(mtu_note(wire.inside.first(), &wire.outside));
            forwarding::refuse_beside(config)?;
            packet_socket(config)?;
        }
        BackendKind::Router => {
            notes.extend(forwarding::check_router(config)?);
            tun(config, "router")?;
        }
        BackendKind::Tun => {
            let there = interfaces();
            for (key, name) in [("inside", wire.inside.first()), ("outside", &wire.outside)] {
                is_free(config, key, name, &there)?;
            }
            tun(config, "tun")?;
        }
    }
    if config.spec().safety.on_failure == OnFailure::Open {
        needs(config, "safety.on_failure", "open", CAP_NET_ADMIN, "CAP_NET_ADMIN")?;
    }
    config.token()?;
    config.key_files().try_for_each(|(path, file)| config.edge_key(path, file).map(|_| ()))?;
    user::readers(config)?;
    notes.extend(file_notes(config, user::of(config)?.as_ref()));
    Ok(notes)
}

/// A note for each interface that a running gateway uses.
pub fn held(config: &Config) -> Vec<Note> {
    let wire = &config.spec().wire;
    let holder_of = |name: &String| {
        let holder = device::holder(link::index_of(name).ok()??)?;
        Some(Note(format!("`{name}` is in use by {holder}: another gateway cannot have it")))
    };
    [wire.inside.first(), &wire.outside].into_iter().filter_map(holder_of).collect()
}

fn file_notes(config: &Config, user: Option<&User>) -> Vec<Note> {
    let mut notes = Vec::new();
    // A file that does not exist yet need not be readable.
    let files = config.files().into_iter().filter(|file| file.exists());
    let closed = files.filter(|file| user.is_some_and(|user| !user.may_read(file)));
    if let (Some(user), closed @ [first, ..]) = (user, &closed.collect::<Vec<_>>()[..]) {
        let more = if closed.len() > 1 { " and the file of subscribers" } else { "" };
        notes.push(Note(format!(
            "the process runs as the user `{}`, who may not read `{}`{more}: SIGHUP will not reload it, `fairwire-gateway reload` will, since it \
             hands the file over",
            user.name,
            first.display()
        )));
    }
    let is_open = |file: &Path| fs::metadata(file).is_ok_and(|about| about.permissions().mode() & 0o004 != 0);
    for (what, file) in config.secret_files().filter(|(_, file)| is_open(file)) {
        let file = file.display();
        notes.push(Note(format!(
            "every user of this machine may read the {what} in `{file}`: `chmod o-r {file}`"
        )));
    }
    notes
}

fn refused(config: &Config, path: &str, given: &str, why: String, allowed: String) -> DocumentError {
    let given = format!("`{given}`");
    config.refuse(path, Problem::Refused { key: path.into(), given, why, allowed })
}

fn interfaces() -> Vec<String> {
    fairwire_linux::interface::names().unwrap_or_default()
}

const LOOPBACK: &str = "that is the machine's loopback, which leads nowhere";

fn fits(config: &Config, key: &str, name: &str, there: &[String]) -> Result<Option<Note>, DocumentError> {
    let path = format!("wire.{key}");
    let failed = |error: std::io::Error| {
        let why = format!("the kernel does not describe it: {error}");
        refused(config, &path, name, why, "an interface that `ip link` shows".into())
    };
    let Some(index) = link::index_of(name).map_err(failed)? else { return Err(missing(config, key, there)) };
    let about = link::about(index).map_err(failed)?;
    let is_router = config.spec().wire.backend.kind() == BackendKind::Router;
    if about.is_loopback || !about.is_ethernet && !is_router {
        let (why, allowed) = match about.is_loopback {
            true => (LOOPBACK, "a network card, a VLAN or a bridge"),
            false => (
                "its packets have no Ethernet header, as those of VPNs and PPP",
                "an Ethernet interface, such as a network card, one end of a veth pair or a VLAN of one; \
                 or `backend = \"router\"`, which shapes what this machine forwards between any two interfaces",
            ),
        };
        return Err(refused(config, &path, name, why.into(), allowed.into()));
    }
    match about.master {
        None => Ok(None),
        Some(master) => {
            let master = link::name_of(master).map_err(failed)?.unwrap_or_else(|| master.to_string());
            enslaved(config, key, name, &master).map(Some)
        }
    }
}

fn missing(config: &Config, key: &str, there: &[String]) -> DocumentError {
    let wire = &config.spec().wire;
    let (name, other) = match key {
        "inside" => (wire.inside.first(), &wire.outside),
        _ => (&wire.outside, wire.inside.first()),
    };
    let fit: Vec<String> = there.iter().filter(|name| *name != other && is_fit(name)).cloned().collect();
    let near = fairwire_core::spelling::hint(name, fit.iter().map(String::as_str));
    let why = "there is no such interface here".to_owned();
    let allowed = match fit.is_empty() {
        true => "an Ethernet interface, of which there is none here".to_owned(),
        false => listed(&fit),
    };
    refused(config, &format!("wire.{key}"), name, why, format!("{allowed}{near}"))
}

fn about(name: &str) -> Option<link::About> {
    link::about(link::index_of(name).ok()??).ok()
}

fn is_fit(name: &str) -> bool {
    about(name).is_none_or(|about| about.is_ethernet && !about.is_loopback)
}

pub(crate) fn gone(config: &Config, key: &str) -> DocumentError {
    missing(config, key, &interfaces())
}

fn is_free(config: &Config, key: &str, name: &str, there: &[String]) -> Result<(), DocumentError> {
    // An existing persistent TUN device is refused as well: another program set it up.
    match there.iter().any(|other| other == name) {
        false => Ok(()),
        true => {
            let why = "an interface has that name".to_owned();
            Err(refused(
                config,
                &format!("wire.{key}"),
                name,
                why,
                "a name that is free; the gateway makes the device".into(),
            ))
        }
    }
}

fn sys(name: &str, file: &str) -> std::path::PathBuf {
    Path::new("/sys/class/net").join(name).join(file)
}

/// Does /sys show the interface of our own network namespace?
fn is_ours(name: &str) -> bool {
    let shown =
        fs::read_to_string(sys(name, "ifindex")).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let Ok(socket) = socket(AddressFamily::INET, SocketType::DGRAM, None) else { return false };
    shown.is_some() && rustix::net::netdevice::name_to_index(&socket, name).ok() == shown
}

/// Refuses the interface `name`, since its bridge or bond `master` would also forward its frames. A
/// guard's bridge causes only a note, since a starting gateway removes it.
fn enslaved(config: &Config, key: &str, name: &str, master: &str) -> Result<Note, DocumentError> {
    if is_of_a_guard(master) {
        return Ok(Note(format!(
            "`{name}` is bridged by `{master}`, unshaped, since a gateway died or is stuck; a gateway that starts removes that bridge"
        )));
    }
    let why = format!("it is a port of `{master}`, which would forward its frames as well");
    let allowed = format!("an interface without a master: `ip link set {name} nomaster`");
    Err(refused(config, &format!("wire.{key}"), name, why, allowed))
}

/// Is this the name of a guard's bridge (docs/gateway/operation.md)?
fn is_of_a_guard(master: &str) -> bool {
    let number = master.strip_prefix(BRIDGE_PREFIX);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn name_notes(config: &Config, key: &str, name: &str) -> Vec<Note> {
    let mut notes = Vec::new();
    if has_addresses(name) {
        notes.push(Note(format!(
            "`{name}` has addresses or routes of this machine: what is for this machine is forwarded as well, and the machine's own packets are not shaped"
        )));
    }
    let speed = fs::read_to_string(sys(name, "speed")).ok().and_then(|text| text.trim().parse::<u64>().ok());
    // The inside interface sends the downloads.
    let way = if key == "inside" { Way::Download } else { Way::Upload };
    if let (Some(mbits), Some(shaping)) = (speed.filter(|_| is_ours(name)), config.shaping(way))
        && shaping.rate.bps() > mbits * 1_000_000
    {
        notes.push(Note(format!(
            "{} of {} is more than the {mbits} Mbit/s of `{name}`: the queue will be there and not here",
            shaping.rate,
            way.name()
        )));
    }
    notes
}

/// A note if the two MTUs differ: frames too long for the other interface are lost, without an ICMP
/// message to the sender.
fn mtu_note(inside: &str, outside: &str) -> Option<Note> {
    let mtu = |name: &str| fairwire_linux::interface::mtu(name).ok();
    let (in_mtu, out_mtu) = (mtu(inside)?, mtu(outside)?);
    (in_mtu != out_mtu).then(|| {
        let (long, short) = if in_mtu > out_mtu { (inside, outside) } else { (outside, inside) };
        Note(format!(
            "the MTU of `{inside}` is {in_mtu} and that of `{outside}` is {out_mtu}: what comes by `{long}` and is too long for `{short}` is \
             lost (`over-mtu`), and a bump in the wire has no address to send \"packet too big\" from: give both one MTU"
        ))
    })
}

fn has_addresses(name: &str) -> bool {
    let routes = fs::read_to_string("/proc/self/net/route").unwrap_or_default();
    let is_routed = routes.lines().skip(1).any(|line| line.split_whitespace().next() == Some(name));
    is_routed || has_global_ipv6(name)
}

fn has_global_ipv6(name: &str) -> bool {
    let v6 = fs::read_to_string("/proc/self/net/if_inet6").unwrap_or_default();
    // Scope 20 is link-local. Every interface that is up has a link-local address.
    let is_global = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.last() == Some(&name) && fields.get(3).is_some_and(|scope| *scope != "20")
    };
    v6.lines().any(is_global)
}

/// Opens a packet socket that receives nothing, and closes it.
fn packet_socket(config: &Config) -> Result<(), DocumentError> {
    match socket(AddressFamily::PACKET, SocketType::RAW, None) {
        Ok(_) => Ok(()),
        Err(Errno::AFNOSUPPORT) => {
            let why = "this kernel has no packet sockets".to_owned();
            let allowed = "`tun`, or a kernel with CONFIG_PACKET (`modprobe af_packet`)".to_owned();
            Err(refused(config, "wire.backend", "af-packet", why, allowed))
        }
        Err(Errno::PERM | Errno::ACCESS) => {
            let why = "the right CAP_NET_RAW is missing".to_owned();
            Err(refused(config, "wire.backend", "af-packet", why, REMEDY.into()))
        }
        Err(error) => {
            let why = format!("a packet socket cannot be opened: {error}");
            Err(refused(config, "wire.backend", "af-packet", why, "a machine that has them".into()))
        }
    }
}

fn tun(config: &Config, given: &str) -> Result<(), DocumentError> {
    if !Path::new("/dev/net/tun").exists() {
        let why = "there is no /dev/net/tun".to_owned();
        let allowed = "`af-packet`, or a kernel with CONFIG_TUN (`modprobe tun`)".to_owned();
        return Err(refused(config, "wire.backend", given, why, allowed));
    }
    needs(config, "wire.backend", given, CAP_NET_ADMIN, "CAP_NET_ADMIN")
}

fn needs(
    config: &Config,
    path: &str,
    given: &str,
    capability: u32,
    called: &str,
) -> Result<(), DocumentError> {
    if has_capability(&fs::read_to_string("/proc/self/status").unwrap_or_default(), capability) {
        return Ok(());
    }
    Err(refused(config, path, given, format!("the right {called} is missing"), REMEDY.into()))
}

fn has_capability(status: &str, capability: u32) -> bool {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    effective.is_some_and(|bits| bits >> capability & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAP_NET_RAW: u32 = 13;

    const CONFIG: &str = "format = 2\nname = \"t\"\n[wire]\ninside = \"nothere0\"\noutside = \"lo\"\n[download]\nrate = \"1 Gbit/s\"\n";

    #[test]
    fn a_missing_interface_is_refused_with_suitable_ones() {
        let config = Config::parse("t.toml", CONFIG, None).unwrap();
        let message = check(&config).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "t.toml:4:10: `wire.inside` is `nothere0`, but there is no such interface here; allowed: "
            ),
            "{message}"
        );
        assert!(!message.contains("`lo`"), "it would be refused: {message}");
        assert!(is_fit("no-such-if") && !is_fit("lo"));
    }

    #[test]
    fn world_readable_tokens_and_unreadable_files_are_noted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        let text = "[telemetry]\nmetrics = \"127.0.0.1:0\"\ntoken_file = \"token\"\n";
        std::fs::write(&path, format!("{CONFIG}{text}")).unwrap();
        let token = folder.path().join("token");
        std::fs::write(&token, "open-sesame-open\n").unwrap();
        let config = Config::load(&path).unwrap();
        let with = |mode, user: Option<&User>| -> Vec<String> {
            std::fs::set_permissions(&token, fs::Permissions::from_mode(mode)).unwrap();
            file_notes(&config, user).into_iter().map(|note| note.0).collect()
        };
        assert_eq!(with(0o600, None), Vec::<String>::new());
        let notes = with(0o644, None);
        assert!(notes.len() == 1 && notes[0].contains("chmod o-r"), "{notes:?}");
        std::fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let other = User { name: "other".into(), uid: u32::MAX - 2, gid: u32::MAX - 2 };
        let notes = with(0o600, Some(&other));
        assert!(notes.len() == 1 && notes[0].contains("`other`, who may not read"), "{notes:?}");
    }

    #[test]
    fn the_loopback_is_refused_at_its_line_with_a_remedy() {
        let text = CONFIG.replace("nothere0", "lo").replace("outside = \"lo\"", "outside = \"else0\"");
        let message = check(&Config::parse("t.toml", &text, None).unwrap()).unwrap_err().to_string();
        let whole = "t.toml:4:10: `wire.inside` is `lo`, but that is the machine's loopback, which leads nowhere; allowed: \
                     a network card, a VLAN or a bridge";
        assert!(message.starts_with(whole), "{message}");
    }

    #[test]
    fn an_unreadable_empty_or_short_token_is_refused_at_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        let text = "[telemetry]\nmetrics = \"127.0.0.1:0\"\ntoken_file = \"token\"\n";
        std::fs::write(&path, format!("{CONFIG}{text}")).unwrap();
        let config = Config::load(&path).unwrap();
        let line = format!("{}:10:14: ", path.display());
        let message = config.token().unwrap_err().to_string();
        assert!(message.starts_with(&line) && message.contains("token"), "{message}");
        std::fs::write(folder.path().join("token"), " \n").unwrap();
        let message = config.token().unwrap_err().to_string();
        assert!(message.starts_with(&line) && message.contains("it is empty"), "{message}");
        std::fs::write(folder.path().join("token"), "secret\n").unwrap();
        let message = config.token().unwrap_err().to_string();
        assert!(message.starts_with(&line) && message.contains("its token has 6 bytes"), "{message}");
        std::fs::write(folder.path().join("token"), "open-sesame-open\n").unwrap();
        assert_eq!(config.token().unwrap().as_deref(), Some("open-sesame-open"));
    }

    #[test]
    fn a_tun_device_needs_a_free_name() {
        let text = CONFIG.replace("[wire]", "[wire]\nbackend = \"tun\"");
        let message = check(&Config::parse("t.toml", &text, None).unwrap()).unwrap_err().to_string();
        assert!(
            message.contains(
                "`wire.outside` is `lo`, but an interface has that name; allowed: a name that is free"
            ),
            "{message}"
        );
    }

    #[test]
    fn the_bridge_of_a_guard_is_recognized_by_its_name() {
        assert!(is_of_a_guard("fwbr2") && is_of_a_guard("fwbr117"));
        assert!(!["fwbr", "fwbrx", "br0", "fwbr2a"].into_iter().any(is_of_a_guard));
    }

    #[test]
    fn capabilities_are_read_from_the_status() {
        let status = "Name:\tx\nCapPrm:\t0000000000003000\nCapEff:\t0000000000002000\n";
        assert!(has_capability(status, CAP_NET_RAW) && !has_capability(status, CAP_NET_ADMIN));
        assert!(!has_capability("", CAP_NET_RAW));
    }
}
