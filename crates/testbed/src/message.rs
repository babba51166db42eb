//! What the processes of a test bed tell each other: orders downwards and answers upwards, a line of JSON each; and from the
//! [process that makes a network](crate::crew) a datagram for each report, with descriptors beside it.

use super::bed::Side;
use super::error::Trouble;
use super::traffic::{Seen, Traffic};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

/// The argument after which a program hands over to [`agent::main`](crate::agent::main).
pub const AGENT_COMMAND: &str = "lab-agent";
/// This program, also after another was put in its place.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// What a helper process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Makes a network, and starts the two hosts.
    Network,
    /// A host: sends and receives.
    Host(Side),
}

impl Role {
    const ALL: [Role; 3] = [Role::Network, Role::Host(Side::Left), Role::Host(Side::Right)];

    /// By its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Its name, as an argument and in errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::Network => "network",
            Role::Host(Side::Left) => "left-host",
            Role::Host(Side::Right) => "right-host",
        }
    }
}

/// To a helper.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// First of all, to a network: what it is to be.
    Make {
        /// Of all wires, bytes.
        mtu: u32,
    },
    /// To a network, and first of all to a host: what is to be sent.
    Send(Traffic),
    /// To a host: both listen, and connections may be opened.
    Connect,
    /// Traffic begins at this time of the monotonic clock.
    Start {
        /// When.
        at_ns: u64,
    },
}

/// From a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It takes connections.
    Listening,
    /// All connections that it is to open stand.
    Connected,
    /// The run is over.
    Seen(Seen),
    /// It cannot go on.
    Failed(Trouble),
}

/// From a process that makes a network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The namespaces are there and joined. Two descriptors come along: the packet sockets at the gateway, from left to right.
    Wired,
    /// All TCP connections stand.
    Connected,
    /// What both hosts saw.
    Seen(Seen),
    /// A helper cannot go on.
    Failed {
        /// Which.
        role: String,
        /// Why.
        trouble: Trouble,
    },
}

/// A message as a line.
pub(crate) fn to_line(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("a message is plain data") + "\n"
}

/// The message in the next line; `None` where there are no more.
pub(crate) fn read_line<T: DeserializeOwned>(reader: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    match reader.read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_str(&line)?)),
    }
}

/// The next order; `None` when there can be no more: the run is over.
pub(crate) fn next_order() -> io::Result<Option<Order>> {
    read_line(&mut io::stdin().lock())
}

/// More than the report of the largest contest needs.
const LONGEST_REPORT: usize = 64 * 1024;

/// Sends a report with `descriptors` beside it.
pub(crate) fn send(socket: impl AsFd, report: &Report, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = serde_json::to_vec(report)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut beside, SendFlags::empty())?;
    Ok(())
}

/// The next report, if one is there, with the descriptors beside it. Never waits.
pub(crate) fn receive(socket: &UnixDatagram) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    let mut bytes = vec![0; LONGEST_REPORT];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let count = match recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut beside, flags) {
        Ok(message) => message.bytes,
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let descriptors = beside.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    Ok(Some((serde_json::from_slice(&bytes[..count])?, descriptors.collect())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::FlowSeen;
    use std::io::{Read, Write};

    #[test]
    fn a_report_arrives_whole_with_a_working_descriptor() {
        let (up, down) = UnixDatagram::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        assert!(receive(&up).unwrap().is_none());
        send(&down, &Report::Wired, &[writer.as_fd()]).unwrap();
        drop(writer);
        let (report, mut descriptors) = receive(&up).unwrap().unwrap();
        assert!(matches!(report, Report::Wired));
        assert_eq!(descriptors.len(), 1);
        std::fs::File::from(descriptors.remove(0)).write_all(b"through").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn what_was_seen_of_two_hundred_flows_fits_a_report() {
        let most = vec![u64::MAX];
        let flow = FlowSeen {
            link_bytes: most.clone(),
            back_bytes: most.clone(),
            payload_bytes: most,
            sent: u64::MAX,
            refused: u64::MAX,
            ..FlowSeen::default()
        };
        let seen = Seen { flows: vec![flow; 201], ..Seen::default() };
        assert!(serde_json::to_vec(&Report::Seen(seen)).unwrap().len() < LONGEST_REPORT);
    }

    #[test]
    fn a_line_is_an_order_and_the_end_is_none() {
        let line = to_line(&Order::Start { at_ns: 7 });
        let read = |text: &str| read_line::<Order>(&mut text.as_bytes());
        assert!(matches!(read(&line), Ok(Some(Order::Start { at_ns: 7 }))));
        assert!(matches!(read(""), Ok(None)));
        assert!(read("nonsense\n").is_err());
    }
}
