//! What the lab's processes tell each other: one datagram per report upwards, one line per order downwards.

use fairwire_testbed::error::Trouble;
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;

/// From a helper to the process that started the lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Report {
    /// The namespaces are there and joined. Two descriptors come along: the packet sockets towards source and sink.
    Wired,
    /// All TCP connections stand.
    Connected,
    /// What arrived.
    Arrived(Arrived),
    /// A helper cannot go on.
    Failed {
        /// Which.
        role: String,
        /// Why.
        trouble: Trouble,
    },
}

/// What arrived between the end of the warm-up and the end of the contest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Arrived {
    /// How long that was, by the sink's clock.
    pub window_ns: u64,
    /// Payload bytes in order and once, per flow.
    pub payload_bytes: Vec<u64>,
}

/// From the process that started the lab to its helpers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Order {
    /// The contest begins at this time of the monotonic clock.
    Start { at_ns: u64 },
}

impl Order {
    /// As a line.
    pub(super) fn to_line(self) -> String {
        serde_json::to_string(&self).expect("an order is plain data") + "\n"
    }

    /// The next order from standard input; `None` when it is closed: the lab is over.
    pub(super) fn read_next() -> Option<Order> {
        let mut line = String::new();
        let count = io::stdin().lock().read_line(&mut line).ok()?;
        (count > 0).then(|| serde_json::from_str(&line).ok()).flatten()
    }
}

/// More than the report of the largest contest needs.
const LONGEST_REPORT: usize = 64 * 1024;

/// Sends a report with `descriptors` beside it.
pub(super) fn send(socket: impl AsFd, report: &Report, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
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
pub(super) fn receive(socket: &UnixDatagram) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
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
    use std::io::{Read, Write};

    #[test]
    fn a_report_arrives_whole_with_a_working_descriptor() {
        let (up, down) = UnixDatagram::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        assert!(receive(&up).unwrap().is_none());
        send(&down, &Report::Wired, &[writer.as_fd()]).unwrap();
        drop(writer);
        let (report, mut descriptors) = receive(&up).unwrap().unwrap();
        assert_eq!((report, descriptors.len()), (Report::Wired, 1));
        std::fs::File::from(descriptors.remove(0)).write_all(b"through").unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn the_report_of_the_largest_contest_fits() {
        let most = Arrived { window_ns: u64::MAX, payload_bytes: vec![u64::MAX; 201] };
        let report = Report::Arrived(most);
        assert!(serde_json::to_vec(&report).unwrap().len() < LONGEST_REPORT);
    }
}
