//! The kernel bridge between the two interfaces while the gateway does not forward.

use super::error::ServiceError;
use fairwire_linux::link::index_of;
use fairwire_linux::netlink::Netlink;
use std::io;

#[derive(Debug)]
pub(super) struct Bridge {
    index: u32,
    pub name: String,
    /// Interface indexes: inside, outside.
    pub ports: [u32; 2],
}

fn name_for(inside: u32) -> String {
    format!("{}{inside}", crate::config::environment::BRIDGE_PREFIX)
}

impl Bridge {
    /// Bridges the interfaces with these indexes. The bridge forwards at once: it has no spanning
    /// tree, forwarding delay, multicast snooping or address. On failure, the partly built bridge
    /// is removed.
    pub(super) fn make(inside: u32, outside: u32) -> Result<Self, ServiceError> {
        let fail = |what: &'static str| move |error: io::Error| ServiceError::system(what, error);
        let netlink = Netlink::open().map_err(fail("opening a netlink socket"))?;
        let name = name_for(inside);
        netlink.add_bridge(&name).map_err(fail("making a bridge"))?;
        let index = index_of(&name).and_then(|index| index.ok_or(io::ErrorKind::NotFound.into()));
        let index = index.map_err(fail("looking for the bridge"))?;
        let bridge = Bridge { index, name, ports: [inside, outside] };
        // A kernel without IPv6 refuses the call, but has nothing to silence.
        let _ = netlink.silence(index);
        let joined = [inside, outside]
            .into_iter()
            .try_for_each(|port| netlink.add_port(index, port))
            .and_then(|()| netlink.bring_up(index));
        match joined {
            Ok(()) => Ok(bridge),
            Err(error) => {
                let _ = bridge.remove();
                Err(fail("joining interfaces by a bridge")(error))
            }
        }
    }

    /// The bridge that a killed guard left behind, if any. `inside` is the inside interface's
    /// index.
    pub(super) fn left_behind(inside: u32) -> io::Result<Option<Self>> {
        let name = name_for(inside);
        Ok(index_of(&name)?.map(|index| Bridge { index, name, ports: [inside, 0] }))
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        Netlink::open()?.remove(self.index)
    }
}
