//! The kernel's bridge between the two interfaces, for the time in which the gateway does not forward.

use super::error::ServiceError;
use crate::io::link::{index_of, silence};
use crate::lab::netlink::{CREATE, IS_UP, Link, Netlink, Request};
use std::io;

/// Two interfaces joined by a bridge of ours.
#[derive(Debug)]
pub(super) struct Bridge {
    index: u32,
    pub name: String,
}

/// The name of the bridge at which the interface `index` would be: one gateway, one bridge.
fn name_for(inside: u32) -> String {
    format!("{}{inside}", crate::config::environment::BRIDGE_PREFIX)
}

impl Bridge {
    /// Joins the interfaces with these numbers. It forwards at once: no spanning tree, no waiting, no learning of groups, and no address of
    /// its own. Where it cannot be completed, nothing is left.
    pub(super) fn make(inside: u32, outside: u32) -> Result<Self, ServiceError> {
        let fail = |what: &'static str| move |error: io::Error| ServiceError::system(what, error);
        let netlink = Netlink::open_plain().map_err(fail("opening a netlink socket"))?;
        let name = name_for(inside);
        netlink.ask(new_bridge(&name)).map_err(fail("making a bridge"))?;
        let index = index_of(&name).and_then(|index| index.ok_or(io::ErrorKind::NotFound.into()));
        let index = index.map_err(fail("looking for the bridge"))?;
        let bridge = Bridge { index, name };
        // Refused by a kernel without IPv6, where there is no need for it.
        let _ = silence(&netlink, index);
        let joined = [inside, outside]
            .into_iter()
            .try_for_each(|port| netlink.ask(enslave(port, index)))
            .and_then(|()| netlink.ask(up(index)));
        match joined {
            Ok(()) => Ok(bridge),
            Err(error) => {
                let _ = bridge.remove();
                Err(fail("joining interfaces by a bridge")(error))
            }
        }
    }

    /// The bridge of ours that a guard left behind that was killed.
    pub(super) fn left_behind(inside: u32) -> io::Result<Option<Self>> {
        let name = name_for(inside);
        Ok(index_of(&name)?.map(|index| Bridge { index, name }))
    }

    /// Removes it: the interfaces are what they were.
    pub(super) fn remove(&self) -> io::Result<()> {
        let mut request = Request::new(libc::RTM_DELLINK, 0);
        request.link(Link::untouched(self.index));
        Netlink::open_plain()?.ask(request)
    }
}

/// Numbers from `linux/if_link.h`.
const BR_FORWARD_DELAY: u16 = 1;
const BR_STP_STATE: u16 = 5;
const BR_MCAST_SNOOPING: u16 = 23;

fn new_bridge(name: &str) -> Request {
    let mut request = Request::new(libc::RTM_NEWLINK, CREATE);
    request.link(Link::untouched(0));
    request.text(libc::IFLA_IFNAME, name);
    request.nested(libc::IFLA_LINKINFO, |request| {
        request.text(libc::IFLA_INFO_KIND, "bridge");
        request.nested(libc::IFLA_INFO_DATA, |request| {
            request.number(BR_FORWARD_DELAY, 0);
            request.number(BR_STP_STATE, 0);
            request.attribute(BR_MCAST_SNOOPING, &[0]);
        });
    });
    request
}

fn enslave(port: u32, bridge: u32) -> Request {
    let mut request = Request::new(libc::RTM_NEWLINK, 0);
    request.link(Link::untouched(port));
    request.number(libc::IFLA_MASTER, bridge);
    request
}

fn up(index: u32) -> Request {
    let mut request = Request::new(libc::RTM_NEWLINK, 0);
    request.link(Link { index, flags: IS_UP, changed: IS_UP });
    request
}
