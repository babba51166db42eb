//! The messages between a test bed's processes. Instructions to a child process and its answers are
//! lines of JSON. The [process that builds a network](crate::processes) sends each report as a
//! datagram with descriptors attached.

use super::bed::Side;
use super::error::Trouble;
use super::path::Path;
use super::shaping::Shaping;
use super::traffic::{HostCounts, Traffic};
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

/// A program with this first argument passes control to [`agent::main`](crate::agent::main).
pub const AGENT_COMMAND: &str = "lab-agent";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Builds a network, and starts the two hosts.
    Network,
    Host(Side),
    /// Becomes the program at the gateway, which the following arguments specify.
    Gateway,
    /// Keeps a [scratch folder](crate::scratch) with the following argument as its prefix.
    Keeper,
    /// The first process of an [enclosure](crate::enclosure): runs the following command.
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

    pub(crate) fn named(name: &str) -> Option<Self> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

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
    /// The process that started the helpers. It receives the gateway's packet sockets.
    Maker,
    /// The given program.
    Program(Program),
    /// This machine's kernel, which shapes the traffic to the sink. The process that started the
    /// helpers receives sockets to watch this traffic.
    Kernel(Shaping),
}

/// A program started at the gateway. It ends with the network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its executable.
    pub file: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to the inherited environment.
    pub environment: Vec<(String, String)>,
    /// An existing file for the process's stdout and stderr.
    pub log: PathBuf,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Instruction {
    Make {
        /// MTU of all wires, bytes.
        mtu: u32,
        /// The path to the sink; `None` if there is only a wire.
        path: Option<Box<Path>>,
        /// The forwarder.
        at_gateway: AtGateway,
    },
    /// The traffic. A host receives this message first, and a network receives it after `Make`.
    Send(Traffic),
    /// To a host, once both hosts listen: connect.
    Connect,
    /// Traffic starts at this time of the monotonic clock.
    Start {
        /// The time.
        at_ns: u64,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It accepts connections.
    Listening,
    Connected,
    Counted(HostCounts),
    /// It cannot continue.
    Failed(Trouble),
}

/// A message from the process that builds a network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum BuilderMessage {
    /// The namespaces are connected. If [the parent forwards](AtGateway::Maker), the gateway's two
    /// packet sockets are attached, from left to right. If [the kernel
    /// forwards](AtGateway::Kernel), two packet sockets are attached, for frames from the source
    /// and frames that left for the sink, and then a netlink socket at the gateway.
    Wired,
    /// All TCP connections are established.
    Connected,
    /// The counts of both hosts.
    Counted(HostCounts),
    /// A helper cannot continue.
    Failed {
        /// The helper.
        role: String,
        /// The cause.
        trouble: Trouble,
    },
}

pub(crate) fn to_line(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("a message is plain data") + "\n"
}

pub(crate) fn read_line<T: DeserializeOwned>(reader: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    match reader.read_line(&mut line)? {
        0 => Ok(None),
        _ => Ok(Some(serde_json::from_str(&line)?)),
    }
}

pub(crate) fn next_instruction() -> io::Result<Option<Instruction>> {
    read_line(&mut io::stdin().lock())
}

const MAX_DESCRIPTORS: usize = 3;

/// Sends a report with `descriptors` attached. The report may exceed a datagram, so it is in a
/// memory file, whose descriptor comes last.
pub(crate) fn send(
    socket: impl AsFd,
    report: &BuilderMessage,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
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
    // An empty datagram would be read as the end of the reports.
    sendmsg(socket, &[IoSlice::new(&[0])], &mut beside, SendFlags::empty())?;
    Ok(())
}

pub(crate) fn receive(socket: &UnixDatagram) -> io::Result<Option<(BuilderMessage, Vec<OwnedFd>)>> {
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
    use crate::traffic::{FlowCounts, TcpSample};
    use std::io::Read;

    #[test]
    fn a_report_arrives_complete_with_a_working_descriptor() {
        let (up, down) = UnixDatagram::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        assert!(receive(&up).unwrap().is_none());
        send(&down, &BuilderMessage::Wired, &[writer.as_fd()]).unwrap();
        drop(writer);
        let (report, mut descriptors) = receive(&up).unwrap().unwrap();
        assert!(matches!(report, BuilderMessage::Wired));
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
        let flow = FlowCounts { sent: u64::MAX, tcp: vec![sample; 10_000], ..FlowCounts::default() };
        let seen = HostCounts { flows: vec![flow; 20], ..HostCounts::default() };
        let (up, down) = UnixDatagram::pair().unwrap();
        send(&down, &BuilderMessage::Counted(seen), &[]).unwrap();
        let Some((BuilderMessage::Counted(seen), descriptors)) = receive(&up).unwrap() else {
            panic!("it was sent")
        };
        assert_eq!((seen.flows.len(), descriptors.len()), (20, 0));
        assert!(seen.flows.iter().all(|flow| flow.tcp == vec![sample; 10_000]));
    }

    #[test]
    fn each_line_is_an_instruction_and_the_end_of_input_is_none() {
        let line = to_line(&Instruction::Start { at_ns: 7 });
        let read = |text: &str| read_line::<Instruction>(&mut text.as_bytes());
        assert!(matches!(read(&line), Ok(Some(Instruction::Start { at_ns: 7 }))));
        assert!(matches!(read(""), Ok(None)));
        assert!(read("nonsense\n").is_err());
    }
}
