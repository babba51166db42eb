//! Runs a command in a network namespace that is connected to the outside only through a TUN device
//! of this process.
//!
//! ```text
//!   network namespace of the command      this process            outside
//!   fairwire-lab0  100.64.0.2  ◄──── inside ◄─────► outside ────►  100.64.0.1
//! ```
//!
//! The outside is this machine if the process may create a device in its network namespace. The
//! kernel then routes and masquerades. Otherwise, the outside is a [relay](super::relay), which
//! needs only a user's rights.
//!
//! The command's processes, network, devices, packet filter rules and mounts end with this process,
//! even if it is killed.

use super::again;
use super::error::{During, Trouble};
use super::host::Host;
use super::message::Role;
use super::namespace::{die_with_parent, gain_rights, part_processes, part_sys};
use super::nat::masquerade_source;
use super::relay::Relay;
use fairwire_linux::link::index_of;
use fairwire_linux::netlink::{Address, Netlink, Route};
use fairwire_linux::nftables::Nftables;
use fairwire_linux::port::PortError;
use fairwire_linux::tun::Tun;
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use rustix::process::{WaitOptions, WaitStatus, wait};
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Child, Command};
use std::{io, thread};

/// A network for one command.
#[derive(Debug)]
pub struct Enclosure {
    /// The device through which the command sends and receives its packets.
    pub inside: Tun,
    /// The device at the outside.
    pub outside: Tun,
    /// The network behind the outside device.
    pub beyond: Beyond,
    /// Its addresses.
    pub place: Place,
    /// The network of the command.
    pub network: Network,
}

/// A command's network, which ends with this value.
#[derive(Debug)]
pub struct Network(Host);

impl Network {
    /// Bytes of the command's TCP connections that are not sent, or not acknowledged. A
    /// connection's end counts as one byte. Connections of ended processes are included, because
    /// the kernel still sends their data.
    pub fn unacknowledged(&self) -> u64 {
        let tables = self.0.at(|| TCP_TABLES.map(std::fs::read_to_string));
        tables.iter().flatten().map(|table| unacknowledged(table)).sum()
    }
}

const TCP_TABLES: [&str; 2] = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];

fn unacknowledged(table: &str) -> u64 {
    let queue = |line: &str| {
        let (send, _receive) = line.split_whitespace().nth(4)?.split_once(':')?;
        u64::from_str_radix(send, 16).ok()
    };
    table.lines().filter_map(queue).sum()
}

/// The network behind the outer device.
#[derive(Debug)]
pub enum Beyond {
    /// This machine's network namespace.
    Machine {
        /// The rules that masquerade forwarded packets with this machine's address. Dropping this
        /// value removes them.
        nat: Result<Nftables, Trouble>,
        /// Does the kernel forward packets to other machines?
        forwards: bool,
    },
    /// A host that hands each connection over to this process.
    Relay(Relay),
}

/// The network required behind the outer device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// This machine if permitted, otherwise a relay.
    #[default]
    Any,
    /// This machine.
    Machine,
    /// A relay.
    Relay,
}

/// An enclosure's block of four addresses in 100.64.0.0/10, which RFC 6598 reserves for networks
/// between a user and the Internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u8);

/// The longest packet on either device, bytes.
pub const MTU: u32 = 1500;
/// A device's queue, in packets: 100 ms of full packets at 1 Gbit/s, without super-packets.
const DEVICE_QUEUE: u32 = 8192;
const PREFIX_BITS: u8 = 30;

impl Place {
    /// The outside device's address, to which the command's default route leads.
    pub fn outside(self) -> Ipv4Addr {
        Ipv4Addr::new(100, 64, self.0 / 64, self.0 % 64 * 4 + 1)
    }

    /// The address of the command.
    pub fn inside(self) -> Ipv4Addr {
        Ipv4Addr::new(100, 64, self.0 / 64, self.0 % 64 * 4 + 2)
    }

    /// The name of both devices and of the packet filter's table.
    pub fn name(self) -> String {
        format!("fairwire-lab{}", self.0)
    }

    fn all() -> impl Iterator<Item = Place> {
        (0..=u8::MAX).map(Place)
    }
}

impl Enclosure {
    /// Creates an enclosure. This process must have only one thread.
    pub fn new(way: Way) -> Result<Self, Trouble> {
        let here = if way == Way::Relay { Ok(None) } else { machine() };
        let here = match here {
            Err(trouble) if way == Way::Machine => return Err(trouble.for_want_of_rights()),
            Err(_) => None,
            Ok(here) => here,
        };
        let place = match &here {
            Some((place, ..)) => *place,
            None => free_place()?,
        };
        gain_rights()?;
        let (host, inside) = elsewhere(|| {
            let host = quiet_host()?;
            let inside = device(place, place.inside())?;
            host.add_route(EVERYWHERE, Route::Via(place.outside().into()))?;
            Ok((host, inside))
        })?;
        let (outside, beyond) = match here {
            Some((_, outside, beyond)) => (outside, beyond),
            None => elsewhere(|| {
                let host = quiet_host()?;
                let outside = device(place, place.outside())?;
                Ok((outside, Beyond::Relay(Relay::new(host, place)?)))
            })?,
        };
        Ok(Enclosure { inside, outside, beyond, place, network: Network(host) })
    }

    /// Starts `command` with `environment` added. Another thread waits for the command's end.
    /// `names`, if given, replaces this machine's name server.
    pub fn start(
        &self,
        command: &[OsString],
        environment: &[(String, String)],
        names: Option<Ipv4Addr>,
    ) -> Result<Running, Trouble> {
        let names = names.map_or_else(|| NO_NAMES.to_owned(), |names| names.to_string());
        let mut first = again::command(Role::First);
        first.arg(&names).args(command);
        first.envs(environment.iter().map(|(name, value)| (name, value)));
        // The starting thread also waits, because the command dies with that thread.
        let (started, child) = std::sync::mpsc::channel();
        let namespace = self.network.0.namespace()?;
        let waiting = thread::Builder::new().name("command".into()).spawn(move || {
            let parted = namespace.enter().and_then(|()| part_processes());
            let child = parted.and_then(|()| first.spawn().during("starting the command"));
            let id = child.as_ref().map(Child::id).map_err(Clone::clone);
            let _ = started.send(id); // the caller waits for it
            child.and_then(|mut child| child.wait().during("waiting for the command"))
        });
        let waiting = waiting.during("starting a thread")?;
        let id = child
            .recv()
            .map_err(|_| Trouble::new("starting the command", &io::Error::other("no answer")))??;
        Ok(Running { id, waiting })
    }
}

/// A running command.
#[derive(Debug)]
pub struct Running {
    id: u32,
    waiting: thread::JoinHandle<Result<std::process::ExitStatus, Trouble>>,
}

impl Running {
    /// Has it ended?
    pub fn is_over(&self) -> bool {
        self.waiting.is_finished()
    }

    /// Kills the command and all processes that it started.
    pub fn kill(&self) {
        let id = i32::try_from(self.id).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id.filter(|_| !self.is_over()) {
            let _ = rustix::process::kill_process(id, rustix::process::Signal::KILL);
        }
    }

    /// Waits until the command ends, and returns its exit code: after a signal, 128 plus the
    /// signal's number, as in a shell.
    pub fn exit_code(self) -> Result<u8, Trouble> {
        use std::os::unix::process::ExitStatusExt;
        let status = self.waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
    }
}

const EVERYWHERE: Address = Address { ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED), prefix_bits: 0 };

/// Creates the outside device in this machine's namespace. Returns the addresses, the device and
/// the network behind it; `None` if every place is taken.
fn machine() -> Result<Option<(Place, Tun, Beyond)>, Trouble> {
    for place in Place::all() {
        match device(place, place.outside()) {
            Ok(outside) => {
                let nat = masquerade_source(&place.name(), place.inside());
                let forwards = std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward");
                let forwards = forwards.is_ok_and(|value| value.trim() != "0");
                return Ok(Some((place, outside, Beyond::Machine { nat, forwards })));
            }
            Err(_) if is_taken(place)? => {}
            Err(trouble) => return Err(trouble),
        }
    }
    Ok(None)
}

fn free_place() -> Result<Place, Trouble> {
    for place in Place::all() {
        if !is_taken(place)? {
            return Ok(place);
        }
    }
    Err(Trouble::new("looking for free addresses", &io::Error::other("256 labs are at work")))
}

fn is_taken(place: Place) -> Result<bool, Trouble> {
    Ok(index_of(&place.name()).during("looking at interfaces")?.is_some())
}

fn device(place: Place, ip: Ipv4Addr) -> Result<Tun, Trouble> {
    let tun = Tun::create(&place.name(), MTU).map_err(|error: PortError| Trouble::from(error))?.of_ipv4();
    let netlink = Netlink::open().during("opening a netlink socket")?;
    netlink.set_queue(tun.index(), DEVICE_QUEUE).during("setting the length of a device's queue")?;
    let address = Address { ip: ip.into(), prefix_bits: PREFIX_BITS };
    netlink.add_address(tun.index(), address).during("giving a device its address")?;
    Ok(tun)
}

/// A host that sends only IPv4, and forwards for enclosures within this one.
fn quiet_host() -> Result<Host, Trouble> {
    let host = Host::new()?;
    // Errors are ignored. Without IPv6, there is nothing to disable. Without a writable /proc/sys,
    // only a nested enclosure cannot reach the outside.
    let _ = host.set_variable("net/ipv6/conf/default/disable_ipv6", "1");
    let _ = host.set_variable("net/ipv4/ip_forward", "1");
    Ok(host)
}

/// Runs `make` in another thread, which may enter another network namespace.
fn elsewhere<T: Send>(make: impl FnOnce() -> Result<T, Trouble> + Send) -> Result<T, Trouble> {
    let made = thread::scope(|scope| scope.spawn(make).join());
    made.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The argument with which [`first`] keeps this machine's name server.
const NO_NAMES: &str = "-";

/// Acts as the first process of a process namespace: mounts what the command expects, and runs the
/// command. All processes of the namespace end with this process.
pub(crate) fn first(arguments: impl IntoIterator<Item = String>) -> i32 {
    let mut arguments = arguments.into_iter();
    let names = arguments.next().and_then(|names| names.parse().ok());
    // If a machine cannot mount everything, the command still runs.
    let _ = die_with_parent();
    if part_sys().is_ok() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        let _ = mount("proc", "/proc", "proc", flags, None);
        if let Some(names) = names {
            let _ = mount_names(names);
        }
    }
    let program = arguments.next().unwrap_or_default();
    match Command::new(&program).args(arguments).spawn() {
        Ok(child) => waited(&child),
        Err(error) => {
            eprintln!("fairwire: `{program}` could not be started: {error}");
            2
        }
    }
}

fn mount_names(names: Ipv4Addr) -> io::Result<()> {
    const FILE: &str = "/etc/resolv.conf";
    // The bind mount keeps the file when the folder is unmounted.
    let folder = Path::new("/mnt");
    mount("tmpfs", folder, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)?;
    let file = folder.join("resolv.conf");
    let mounted =
        std::fs::write(&file, format!("nameserver {names}\n")).and_then(|()| Ok(mount_bind(&file, FILE)?));
    unmount(folder, UnmountFlags::DETACH)?;
    mounted
}

/// Waits for the end of `child`, and reaps all orphaned processes meanwhile.
fn waited(child: &Child) -> i32 {
    let code = |status: WaitStatus| {
        let signal = status.terminating_signal().map(|signal| 128 + signal);
        status.exit_status().or(signal).unwrap_or(1)
    };
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((id, status))) if id.as_raw_nonzero().get().cast_unsigned() == child.id() => {
                return code(status);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unacknowledged_bytes_are_the_sum_of_the_send_queues() {
        let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 02004064:D2B4 01004064:2007 04 00000010:00000000 01:00000014 00000000     0        0 0 3 0000
   1: 02004064:D2B6 01004064:2007 09 0000A001:00000007 01:00000014 00000000     0        0 0 3 0000
   2: 00000000:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 9 1 0000
";
        assert_eq!(unacknowledged(table), 0x10 + 0xa001);
        assert_eq!(unacknowledged(""), 0);
    }
}
