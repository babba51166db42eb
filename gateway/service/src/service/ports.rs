//! The ports on the two interfaces: opening them, and removing what killed processes left.

use super::bridge::Bridge;
use super::error::ServiceError;
use crate::config::backend::BackendKind;
use crate::config::passages::{passages, table_of};
use crate::config::spec::Spec;
use crate::config::wire::WireSpec;
use crate::config::{Config, environment};
use fairwire_datapath::io::diversion::remove_tables;
use fairwire_datapath::io::router::{End, RouterEnd};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::interface::{self, mtu};
use fairwire_linux::link;
use fairwire_linux::port::{LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take, Transmit};
use fairwire_linux::tun::Tun;
use fairwire_wire::headers::MAX_LINK_BYTES;
use std::io::ErrorKind;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

#[derive(Debug)]
pub(super) enum AnyPort {
    AfPacket(Box<AfPacket>),
    Tun(Tun),
    /// A device that the gateway creates, to which traffic forwarded by this machine is diverted.
    Router(RouterEnd),
}

/// The most bytes before an IP header. An MTU excludes the Ethernet header and any VLAN tag.
const HEADER_BYTES: u32 = MAX_LINK_BYTES as u32;

/// Opens a port. In router mode, the outside port must be opened first, since downloads come from
/// it.
pub(super) fn open(spec: &Spec, name: &str) -> Result<AnyPort, PortError> {
    Ok(match spec.wire.backend.kind() {
        BackendKind::AfPacket => AnyPort::AfPacket(Box::new(AfPacket::open(name)?)),
        BackendKind::Tun => {
            AnyPort::Tun(Tun::create(name, spec.wire.backend.mtu().expect("TUN devices have one"))?)
        }
        BackendKind::Router => {
            let end = if name == spec.wire.outside { End::Outside } else { End::Inside };
            AnyPort::Router(RouterEnd::open(passages(spec), end)?)
        }
    })
}

impl AnyPort {
    fn port(&mut self) -> &mut dyn Port {
        match self {
            AnyPort::AfPacket(port) => &mut **port,
            AnyPort::Tun(port) => port,
            AnyPort::Router(port) => port,
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
            AnyPort::Router(port) => port.link_kind(),
        }
    }

    fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
        self.port().remote()
    }

    fn place(&self) -> Option<u32> {
        match self {
            AnyPort::AfPacket(port) => port.place(),
            AnyPort::Tun(_) | AnyPort::Router(_) => None,
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
            AnyPort::Router(port) => port.as_fd(),
        }
    }
}

/// Removes what killed processes left: a guard's bridge on the inside interface, and a router's
/// tables. [`environment::check`](crate::config::environment::check) checks the interfaces
/// afterwards.
pub(super) fn remove_left(spec: &Spec) -> Result<(), ServiceError> {
    let inside = spec.wire.inside.first();
    let remove = || match link::index_of(inside)? {
        Some(index) => Bridge::left_behind(index)?.map_or(Ok(()), |left| left.remove()),
        None => Ok(()),
    };
    remove().map_err(|error| ServiceError::system(format!("looking at the interface `{inside}`"), error))?;
    if spec.wire.backend.kind() != BackendKind::Router {
        return Ok(());
    }
    let fail = |error| {
        ServiceError::system(format!("deleting the tables that a gateway `{}` left", spec.name), error)
    };
    remove_tables(&table_of(spec)).map_err(fail)
}

/// An inside interface that exists; if none does, the first name or pattern.
pub(super) fn an_inside(wire: &WireSpec) -> String {
    let there = wire.insides_among(&interface::names().unwrap_or_default());
    there.into_iter().next().unwrap_or_else(|| wire.inside.first().clone())
}

/// The longest frame that the interfaces accept, in bytes.
pub(super) fn frame_bytes(spec: &Spec) -> Result<u32, PortError> {
    if let Some(mtu) = spec.wire.backend.mtu() {
        return Ok(mtu);
    }
    if spec.wire.backend.kind() == BackendKind::Router {
        let there = spec.wire.insides_among(&interface::names().unwrap_or_default());
        let largest = there.iter().filter_map(|name| mtu(name).ok()).max();
        if spec.wire.inside.has_pattern() {
            // An interface that appears later may have the MTU of the outside.
            return Ok(mtu(&spec.wire.outside)?.max(largest.unwrap_or(0)) + HEADER_BYTES);
        }
        return Ok(largest.map_or_else(|| mtu(spec.wire.inside.first()), Ok)? + HEADER_BYTES);
    }
    let inside = mtu(spec.wire.inside.first())?;
    let outside = mtu(&spec.wire.outside)?;
    Ok(inside.max(outside) + HEADER_BYTES)
}

/// The error for the user if the port that `wire.{key}` names cannot be opened.
pub(super) fn refused(config: &Config, key: &'static str, error: PortError) -> ServiceError {
    match error {
        PortError::Gone { .. } => environment::gone(config, key).into(),
        PortError::System { operation, name, source } if source.kind() == ErrorKind::PermissionDenied => {
            ServiceError::NoRights { operation: format!("{operation} on interface {name}"), source }
        }
        other => ServiceError::Port(other),
    }
}
