//! The two interfaces: looked at before anything is changed, then opened.

use super::bridge::{self, About, Bridge};
use super::error::ServiceError;
use crate::config::spec::{BackendChoice, Spec, WireSpec};
use crate::io::af_packet::AfPacket;
use crate::io::tun::Tun;
use crate::io::{LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take};
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};

/// What is opened on an interface, by the back end of the configuration.
#[derive(Debug)]
pub(super) enum AnyPort {
    /// A packet socket on an interface that was there.
    AfPacket(Box<AfPacket>),
    /// A device of ours.
    Tun(Tun),
}

/// Ethernet header and two VLAN tags.
const HEADER_BYTES: u32 = 14 + 8;

/// The MTU of TUN devices, unless told otherwise, in bytes.
const TUN_MTU: u32 = 1500;

/// Opens the port on `name`, as `wire` says.
pub(super) fn open(wire: &WireSpec, name: &str) -> Result<AnyPort, PortError> {
    Ok(match wire.backend {
        BackendChoice::AfPacket => AnyPort::AfPacket(Box::new(AfPacket::open(name)?)),
        BackendChoice::Tun => AnyPort::Tun(Tun::create(name, wire.mtu.unwrap_or(TUN_MTU))?),
    })
}

impl AnyPort {
    fn port(&mut self) -> &mut dyn Port {
        match self {
            AnyPort::AfPacket(port) => &mut **port,
            AnyPort::Tun(port) => port,
        }
    }
}

impl Port for AnyPort {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        self.port().receive(take)
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.port().transmit(frame)
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        self.port().transmit_all(frames)
    }

    fn link_kind(&self) -> LinkKind {
        match self {
            AnyPort::AfPacket(port) => port.link_kind(),
            AnyPort::Tun(port) => port.link_kind(),
        }
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.port().check()
    }

    fn health(&mut self) -> PortHealth {
        self.port().health()
    }
}

impl AsFd for AnyPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            AnyPort::AfPacket(port) => port.as_fd(),
            AnyPort::Tun(port) => port.as_fd(),
        }
    }
}

/// Refuses what cannot work, before anything is changed: interfaces that are not there, or that are ports of a bridge or bond. A bridge
/// that a killed guard left is removed.
pub(super) fn check(spec: &Spec) -> Result<(), ServiceError> {
    let WireSpec { backend, inside, outside, .. } = &spec.wire;
    if inside == outside {
        return Err(ServiceError::Unfit {
            key: "outside",
            name: outside.clone(),
            why: "`wire.inside` is the same interface".into(),
            remedy: "a gateway stands between two interfaces".into(),
        });
    }
    if *backend == BackendChoice::Tun {
        return free("inside", inside).and_then(|()| free("outside", outside));
    }
    let index = index("inside", inside)?;
    if let Some(left) = Bridge::left_behind(index).map_err(|error| fail(inside, error))? {
        left.remove().map_err(|error| fail(inside, error))?;
    }
    for (key, name) in [("inside", inside), ("outside", outside)] {
        let about = about(key, name)?;
        if let Some(master) = about.master {
            return Err(ServiceError::Unfit {
                key,
                name: name.clone(),
                why: format!("it is a port of another interface (number {master}), a bridge or a bond"),
                remedy: format!("take it out with `ip link set {name} nomaster`, or name the other one"),
            });
        }
    }
    Ok(())
}

/// A TUN device is made by the gateway, so its name must be free.
fn free(key: &'static str, name: &str) -> Result<(), ServiceError> {
    let found = bridge::index_of(name).map_err(|error| fail(name, error))?;
    found.map_or(Ok(()), |_| {
        Err(ServiceError::Unfit {
            key,
            name: name.to_owned(),
            why: "there is an interface of that name, and the gateway makes its TUN devices itself".into(),
            remedy: "allowed: a name that `ip link` does not list here".into(),
        })
    })
}

/// Bytes of the longest frame that the interfaces take.
pub(super) fn frame_bytes(spec: &Spec) -> Result<u32, ServiceError> {
    if spec.wire.backend == BackendChoice::Tun {
        return Ok(spec.wire.mtu.unwrap_or(TUN_MTU));
    }
    let mtus = [("inside", &spec.wire.inside), ("outside", &spec.wire.outside)]
        .map(|(key, name)| about(key, name).map(|about| about.mtu));
    let [inside, outside] = mtus;
    Ok(inside?.max(outside?) + HEADER_BYTES)
}

fn index(key: &'static str, name: &str) -> Result<u32, ServiceError> {
    let found = bridge::index_of(name).map_err(|error| fail(name, error))?;
    found.ok_or_else(|| ServiceError::NoInterface { key, name: name.to_owned() })
}

fn about(key: &'static str, name: &str) -> Result<About, ServiceError> {
    bridge::about(index(key, name)?).map_err(|error| fail(name, error))
}

fn fail(name: &str, error: std::io::Error) -> ServiceError {
    ServiceError::system(format!("looking at the interface `{name}`"), error)
}

/// A failure to open a port, as the user is told it.
pub(super) fn refused(key: &'static str, error: PortError) -> ServiceError {
    match error {
        PortError::Gone { name } => ServiceError::NoInterface { key, name },
        PortError::System { operation, name, source } if source.kind() == ErrorKind::PermissionDenied => {
            ServiceError::NoRights { operation: format!("{operation} on interface {name}"), source }
        }
        other => ServiceError::Port(other),
    }
}
