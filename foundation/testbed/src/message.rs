//! The messages between the processes of a test bed: instructions downwards and answers upwards, a
//! line of JSON each. The [process that makes a network](crate::processes) sends a datagram for
//! each report, with descriptors attached.

use super::bed::Side;
use super::error::Trouble;
use super::path::Path;
use super::shaping::Shaping;
use super::traffic::{Seen, Traffic};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

/// The argument after which a program hands over to [`agent::main`](crate::agent::main).
pub const AGENT_COMMAND: &str = "lab-agent";

/// The role of a helper process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Makes a network, and starts the two hosts.
    Network,
    /// A host: sends and receives.
    Host(Side),
    /// The program at the gateway: becomes this program with the arguments that follow.
    Gateway,
    /// Keeps a [scratch folder](crate::scratch) whose name begins with the argument that follows.
    Keeper,
    /// The first process of an [enclosure](crate::enclosure): runs the command that follows.
    First,
}

impl Role {
    const ALL: [Role; 6] = [
        Role::Network,
        Role::Host(Side::Left),
        Role::Host(Side::Right),
        Role::Gateway,
        Role::Keeper,
        Role::First,
    ];

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
            Role::Gateway => "gateway",
            Role::Keeper => "keeper",
            Role::First => "first",
        }
    }
}

/// The forwarder between the two hosts of a network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AtGateway {
    /// The process that made the network: its packet sockets are handed over.
    Maker,
    /// This program, with these arguments.
    Program(Program),
    /// This kernel, which shares traffic to the sink as this says. The process that made the
    /// network watches.
    Kernel(Shaping),
}

/// A program that is started at the gateway. It ends with the network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The file with it.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to our environment.
    pub environment: Vec<(String, String)>,
    /// Where its standard output and error go: a file that is there.
    pub log: PathBuf,
}

/// A message to a helper.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Instruction {
    /// The first message to a network: its plan.
    Make {
        /// MTU of all wires, bytes.
        mtu: u32,
        /// The path between the gateway and the sink, if it is more than a wire.
        path: Option<Box<Path>>,
        /// The forwarder.
        at_gateway: AtGateway,
    },
    /// To a network, and the first message to a host: the traffic to send.
    Send(Traffic),
    /// To a host: both listen, and connections may be opened.
    Connect,
    /// Traffic begins at this time of the monotonic clock.
    Start {
        /// When.
        at_ns: u64,
    },
}

/// A message from a host.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It takes connections.
    Listening,
    /// All connections that it must open are established.
    Connected,
    /// The run is over.
    Seen(Seen),
    /// It cannot continue.
    Failed(Trouble),
}

/// A message from the process that makes a network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Report {
    /// The namespaces exist and are joined. Where [we forward](AtGateway::Maker), two descriptors
    /// come along: the packet sockets at the gateway, from left to right. Where [the kernel
    /// forwards](AtGateway::Kernel), three come along: packet sockets for frames from the source
    /// and frames that left for the sink, and a netlink socket at the gateway.
    Wired,
    /// All TCP connections are established.
    Connected,
    /// The counts of both hosts.
    Seen(Seen),
    /// A helper cannot continue.
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

/// The next instruction; `None` when there can be no more: the run is over.
pub(crate) fn next_instruction() -> io::Result<Option<Instruction>> {
    read_line(&mut io::stdin().lock())
}

/// Descriptors that go with a report at most.
const MAX_DESCRIPTORS: usize = 3;

/// Sends a report with `descriptors` attached. A report may exceed a datagram, so it is in a file
/// in memory, whose descriptor comes last.
pub(crate) fn send(socket: impl AsFd, report: &Report, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut text = File::from(memfd_create("report", MemfdFlags::CLOEXEC)?);
    text.write_all(&serde_json::to_vec(report)?)?;
    text.rewind()?;
    let mut all = descriptors.to_vec();
    all.push(text.as_fd());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS + 1))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(&all)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // A datagram without bytes would read as the end.
    sendmsg(socket, &[IoSlice::new(&[0])], &mut beside, SendFlags::empty())?;
    Ok(())
}

/// The next report, if there is one, with its descriptors. Never waits.
pub(crate) fn receive(socket: &UnixDatagram) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS + 1))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    match recvmsg(socket, &mut [IoSliceMut::new(&mut [0])], &mut beside, flags) {
        Ok(_) => {}
        Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut descriptors = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    let Some(text) = descriptors.pop() else { return Ok(None) };
    Ok(Some((serde_json::from_reader(BufReader::new(File::from(text)))?, descriptors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::{FlowSeen, TcpSample};
    use std::io::Read;

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
    fn a_report_of_any_length_arrives() {
        let sample = TcpSample {
            at_ns: u64::MAX,
            cwnd: 10,
            ssthresh: None,
            srtt_us: Some(1),
            retransmissions: 0,
            delivery_rate_bps: Some(u64::MAX),
        };
        let flow = FlowSeen { sent: u64::MAX, tcp: vec![sample; 10_000], ..FlowSeen::default() };
        let seen = Seen { flows: vec![flow; 20], ..Seen::default() };
        let (up, down) = UnixDatagram::pair().unwrap();
        send(&down, &Report::Seen(seen), &[]).unwrap();
        let Some((Report::Seen(seen), descriptors)) = receive(&up).unwrap() else { panic!("it was sent") };
        assert_eq!((seen.flows.len(), descriptors.len()), (20, 0));
        assert!(seen.flows.iter().all(|flow| flow.tcp == vec![sample; 10_000]));
    }

    #[test]
    fn a_line_is_an_order_and_the_end_is_none() {
        let line = to_line(&Instruction::Start { at_ns: 7 });
        let read = |text: &str| read_line::<Instruction>(&mut text.as_bytes());
        assert!(matches!(read(&line), Ok(Some(Instruction::Start { at_ns: 7 }))));
        assert!(matches!(read(""), Ok(None)));
        assert!(read("nonsense\n").is_err());
    }
}
