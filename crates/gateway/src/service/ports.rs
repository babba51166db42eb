//! The two interfaces: looked at before anything is changed, then opened.

use super::bridge::{self, About, Bridge};
use super::error::ServiceError;
use crate::config::spec::{BackendChoice, Spec, WireSpec};
use crate::io::PortError;
use crate::io::af_packet::AfPacket;
use std::io::ErrorKind;

/// What is opened on an interface, by the back end of the configuration.
pub(super) type AnyPort = AfPacket;

/// Ethernet header and two VLAN tags.
const HEADER_BYTES: u32 = 14 + 8;

/// Opens the port on `name`.
pub(super) fn open(name: &str) -> Result<AnyPort, PortError> {
    AfPacket::open(name)
}

/// Refuses what cannot work, before anything is changed: interfaces that are not there, or that are ports of a bridge or bond. A bridge
/// that a killed guard left is removed.
pub(super) fn check(spec: &Spec) -> Result<(), ServiceError> {
    let WireSpec { backend, inside, outside, .. } = &spec.wire;
    if *backend != BackendChoice::AfPacket {
        return Err(ServiceError::Unfit {
            key: "backend",
            name: "tun".into(),
            why: "this build has no TUN back end".into(),
            remedy: "allowed: `af-packet`".into(),
        });
    }
    if inside == outside {
        return Err(ServiceError::Unfit {
            key: "outside",
            name: outside.clone(),
            why: "`wire.inside` is the same interface".into(),
            remedy: "a gateway stands between two interfaces".into(),
        });
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

/// Bytes of the longest frame that the interfaces take.
pub(super) fn frame_bytes(spec: &Spec) -> Result<u32, ServiceError> {
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
