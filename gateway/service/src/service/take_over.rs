//! One process takes a link over from another while frames are forwarded.
//!
//! ```text
//!   the new process                              the old one
//!   reads, checks, builds    -- take-over -->    compares the wires
//!                            <-- papers ----     its listeners, its name, its guard's pipes
//!   gives up its rights      -- GO --------->    forwards on until here
//!                            <-- ports ------    sockets, places in their rings, locks, frames
//!   classifies, queues       -- HAVE ------->    holds all frames until here
//!   forwards                 <-- YOURS ------    ends, and removes nothing
//!                            -- KNOWN ------>    the service manager was notified
//! ```
//!
//! The request comes over the control socket, from a client that may change the gateway. Everything
//! else uses a separate stream, one end of which comes with the request. If the stream is cut
//! before YOURS, the old process puts its frames back and continues. The new process forwards
//! nothing before YOURS.

use super::error::ServiceError;
use super::guarding::GuardPipes;
use super::log::say;
use crate::config::Config;
use crate::config::backend::BackendKind;
use crate::device::DeviceLock;
use fairwire_control::handed::Handed;
use fairwire_control::protocol::{Answer, Request, Wanted};
use fairwire_core::{Duration, Time};
use fairwire_datapath::direction::transit::{TakenOut, Transit};
use fairwire_datapath::{Datapath, Wire};
use fairwire_linux::clock;
use fairwire_linux::port::{LinkKind, Port};
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

pub(super) const PROTOCOL: u32 = 1;
const GO: u8 = b'g';
const HAVE: u8 = b'h';
const YOURS: u8 = b'y';
const KNOWN: u8 = b'k';

/// The time for which each process waits for the other while nothing is forwarded.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time for which the old process waits for GO. The new process starts and gives up its rights
/// within milliseconds.
const PREPARING: Duration = Duration::from_secs(10);
const MAX_PAPERS: usize = 16;
/// The most bytes of a list of descriptors.
const MAX_LIST: usize = 1024;
const BUFFER: usize = 64 << 10;
/// The longest frame, in bytes: the longest IP packet with its headers.
const MAX_FRAME: usize = (64 << 10) + 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Paper {
    Control,
    /// The lock file of the gateway's name.
    Name,
    ToGuard,
    FromGuard,
    /// A TCP socket that listens for HTTP readers.
    Stream,
    /// A UDP socket for the reports of another edge.
    Datagram,
}

/// The handles that a process receives before it takes over.
pub(super) struct Papers {
    /// The stream to the process that hands the link over.
    pub stream: UnixStream,
    pub control: UnixListener,
    pub name: File,
    pub guard: Option<GuardPipes>,
    pub streams: Vec<TcpListener>,
    pub datagrams: Vec<UdpSocket>,
}

/// The values that the gateway of `config` must share with its predecessor.
pub(super) fn wanted(config: &Config) -> Wanted {
    let spec = config.spec();
    Wanted {
        protocol: PROTOCOL,
        name: spec.name.clone(),
        wire: serde_json::to_value(&spec.wire).unwrap_or_default(),
        on_failure: serde_json::to_value(spec.safety.on_failure).unwrap_or_default(),
        watchdog_ms: super::pace::watchdog(&spec.safety).ns() / 1_000_000,
    }
}

pub(super) fn refusal(config: &Config, wanted_there: &Wanted) -> Option<String> {
    let here = wanted(config);
    let backend = config.spec().wire.backend.kind();
    let differs = |key: &str, there: String, here: String| {
        Some(format!(
            "`{key}` is {there} there, but {here} in the process that runs; allowed: the same, for anything else stop the gateway \
             and start it"
        ))
    };
    match wanted_there {
        there if there.protocol != PROTOCOL => {
            differs("protocol", there.protocol.to_string(), PROTOCOL.to_string())
        }
        there if there.name != here.name => differs("name", there.name.clone(), here.name),
        there if there.wire != here.wire => differs("wire", there.wire.to_string(), here.wire.to_string()),
        there if there.on_failure != here.on_failure => {
            differs("safety.on_failure", there.on_failure.to_string(), here.on_failure.to_string())
        }
        there if there.watchdog_ms != here.watchdog_ms => {
            let ms = |ms: u64| format!("{ms} ms");
            differs("safety.watchdog", ms(there.watchdog_ms), ms(here.watchdog_ms))
        }
        _ if backend != BackendKind::AfPacket || config.spec().wire.backend.threads() > 1 => Some(
            "only `af-packet` with one thread is handed over; allowed: stop the gateway, and start it"
                .to_owned(),
        ),
        _ => None,
    }
}

pub(super) fn request(path: &Path, config: &Config) -> Result<Papers, ServiceError> {
    let fail = |error: io::Error| ServiceError::system("taking over", error);
    let refused = |message: String| ServiceError::NotHandedOver { message };
    let (stream, theirs) = UnixStream::pair().map_err(fail)?;
    let handed: Handed = [OwnedFd::from(theirs)].into_iter().collect();
    let request = Request::TakeOver { wanted: wanted(config), handed };
    let answer =
        fairwire_control::client::send(path, &request).map_err(|error| refused(error.to_string()))?;
    drop(request); // so that only the other process has their end
    match answer {
        Answer::Offered => {}
        Answer::Refused { message } => return Err(refused(message)),
        _ => return Err(refused("the process that runs answered something else".to_owned())),
    }
    set_patience(&stream, PATIENCE).map_err(fail)?;
    Papers::receive(stream).map_err(|error| refused(format!("what it sent is not complete: {error}")))
}

fn set_patience(stream: &UnixStream, patience: Duration) -> io::Result<()> {
    let patience = std::time::Duration::from_nanos(patience.ns());
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))
}

impl Papers {
    fn receive(stream: UnixStream) -> io::Result<Self> {
        let mut bytes = [0; MAX_LIST];
        let (count, files) = receive_with(&stream, &mut bytes)?;
        let list: Vec<Paper> = serde_json::from_slice(&bytes[..count])?;
        if list.len() != files.len() {
            return Err(ErrorKind::InvalidData.into());
        }
        let (mut control, mut name, mut to_guard, mut from_guard) = (None, None, None, None);
        let (mut streams, mut datagrams) = (Vec::new(), Vec::new());
        for (paper, file) in list.into_iter().zip(files) {
            match paper {
                Paper::Control => control = Some(UnixListener::from(file)),
                Paper::Name => name = Some(File::from(file)),
                Paper::ToGuard => to_guard = Some(file),
                Paper::FromGuard => from_guard = Some(file),
                Paper::Stream => streams.push(file.into()),
                Paper::Datagram => datagrams.push(file.into()),
            }
        }
        let pipes = |(to_guard, from_guard)| GuardPipes { to_guard, from_guard, since: clock::now() };
        let missing = || io::Error::from(ErrorKind::InvalidData);
        Ok(Papers {
            stream,
            control: control.ok_or_else(missing)?,
            name: name.ok_or_else(missing)?,
            guard: to_guard.zip(from_guard).map(pipes),
            streams,
            datagrams,
        })
    }
}

/// The control thread's stream to a process that waits to take over.
pub(super) struct Offer {
    stream: Option<UnixStream>,
    until: Time,
}

impl Offer {
    pub(super) fn make(stream: OwnedFd, papers: &[(Paper, BorrowedFd<'_>)], now: Time) -> io::Result<Self> {
        let stream = UnixStream::from(stream);
        set_patience(&stream, PATIENCE)?;
        let (list, files): (Vec<Paper>, Vec<BorrowedFd<'_>>) = papers.iter().copied().unzip();
        send_with(&stream, &serde_json::to_vec(&list)?, &files)?;
        stream.set_nonblocking(true)?;
        Ok(Offer { stream: Some(stream), until: now + PREPARING })
    }

    pub(super) fn stream(&self) -> Option<&UnixStream> {
        self.stream.as_ref()
    }

    /// True if the other process has ended, is late, or has sent GO.
    pub(super) fn is_over(&self, now: Time) -> bool {
        self.stream.is_none() || now >= self.until
    }

    pub(super) fn step(&mut self) -> Option<UnixStream> {
        let mut byte = [0];
        match self.stream.as_ref()?.read_byte(&mut byte) {
            Ok(1) if byte[0] == GO => {
                self.stream.take().filter(|stream| set_patience(stream, PATIENCE).is_ok())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => None,
            _ => {
                say(format_args!("the process that was to take over is gone: this one goes on"));
                self.stream = None;
                None
            }
        }
    }
}

trait ReadByte {
    fn read_byte(&self, byte: &mut [u8; 1]) -> io::Result<usize>;
}

impl ReadByte for UnixStream {
    fn read_byte(&self, byte: &mut [u8; 1]) -> io::Result<usize> {
        (&*self).read(byte)
    }
}

/// The header of a link's transfer. Arrays have the left port first. `beat` is the time of the last
/// beat to the guard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Head {
    places: [u32; 2],
    has_lock: [bool; 2],
    frames: u32,
    beat: Time,
}

const HEAD: usize = 22;

impl Head {
    fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[..4].copy_from_slice(&self.places[0].to_le_bytes());
        bytes[4..8].copy_from_slice(&self.places[1].to_le_bytes());
        bytes[8..12].copy_from_slice(&self.frames.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.beat.ns().to_le_bytes());
        (bytes[20], bytes[21]) = (self.has_lock[0].into(), self.has_lock[1].into());
        bytes
    }

    fn of(bytes: &[u8; HEAD]) -> Self {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let beat = u64::from(word(12)) | u64::from(word(16)) << 32;
        Head {
            places: [word(0), word(4)],
            has_lock: [bytes[20] != 0, bytes[21] != 0],
            frames: word(8),
            beat: Time::ZERO + Duration::from_ns(beat),
        }
    }
}

/// Bytes before each frame: arrival time, length and direction. The arrival time is [`THROUGH`] if
/// the discipline has already served the frame.
const BEFORE: usize = 13;
const THROUGH: u64 = u64::MAX;

/// Hands the link over to the process at the other end of `stream`, on the datapath thread. `locks`
/// belong to the left and the right port. Returns the number of packets that moved.
///
/// # Errors
/// Why the link was not handed over. All packets are then back in the datapath.
pub(super) fn hand_over<P: Port + AsFd>(
    stream: &UnixStream,
    datapath: &mut Datapath,
    wire: &mut Wire<P>,
    locks: [Option<BorrowedFd<'_>>; 2],
    beat: Time,
) -> io::Result<u64> {
    let gone = || io::Error::other("an interface is not there");
    let places = [wire.left.place().ok_or_else(gone)?, wire.right.place().ok_or_else(gone)?];
    let taken = [datapath.forward.take_out(), datapath.backward.take_out()];
    let count = taken[0].len() + taken[1].len();
    let head = Head { places, has_lock: locks.map(|lock| lock.is_some()), frames: count as u32, beat };
    let ports = [Some(wire.left.as_fd()), Some(wire.right.as_fd())];
    let files: Vec<BorrowedFd<'_>> = ports.into_iter().chain(locks).flatten().collect();
    match move_frames(stream, datapath, &taken, &head, &files) {
        Ok(()) => {
            datapath.forward.release(&taken[0]);
            datapath.backward.release(&taken[1]);
            Ok(count as u64)
        }
        Err(error) => {
            let now = clock::now();
            let [forward, backward] = taken;
            datapath.forward.put_back(forward, now);
            datapath.backward.put_back(backward, now);
            Err(error)
        }
    }
}

fn move_frames(
    stream: &UnixStream,
    datapath: &mut Datapath,
    taken: &[TakenOut; 2],
    head: &Head,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    send_with(stream, &head.bytes(), files)?;
    let mut out = BufWriter::with_capacity(BUFFER, stream);
    for (way, direction) in [&mut datapath.forward, &mut datapath.backward].into_iter().enumerate() {
        direction.show(&taken[way], &mut |Transit { arrived, frame }| {
            let mut before = [0; BEFORE];
            before[..8].copy_from_slice(&arrived.map_or(THROUGH, Time::ns).to_le_bytes());
            before[8..12].copy_from_slice(&(frame.len() as u32).to_le_bytes());
            before[12] = way as u8;
            out.write_all(&before)?;
            out.write_all(frame)
        })?;
    }
    out.flush()?;
    expect(stream, HAVE)?;
    (&mut &*stream).write_all(&[YOURS])
}

pub(super) struct Takeover {
    stream: BufReader<UnixStream>,
    head: Head,
}

pub(super) struct HandedPort {
    pub socket: OwnedFd,
    /// The port's position in its ring.
    pub place: u32,
    pub lock: Option<DeviceLock>,
}

impl Takeover {
    /// Requests the link from the process at the other end of `stream`. That process then stops
    /// forwarding.
    pub(super) fn begin(stream: UnixStream) -> io::Result<(Self, Wire<HandedPort>)> {
        (&mut &stream).write_all(&[GO])?;
        let mut bytes = [0; HEAD];
        let (count, files) = receive_with(&stream, &mut bytes)?;
        let head = Head::of(&bytes);
        let mut files = files.into_iter();
        let mut next = || files.next().ok_or(io::Error::from(ErrorKind::InvalidData));
        if count != HEAD {
            return Err(ErrorKind::InvalidData.into());
        }
        let (left, right) = (next()?, next()?);
        let [left_lock, right_lock] = head.has_lock.map(|has| has.then(&mut next).transpose());
        let lock = |file: Option<OwnedFd>| file.map(DeviceLock::handed_over).transpose();
        let ports = Wire {
            left: HandedPort { socket: left, place: head.places[0], lock: lock(left_lock?)? },
            right: HandedPort { socket: right, place: head.places[1], lock: lock(right_lock?)? },
        };
        Ok((Takeover { stream: BufReader::with_capacity(BUFFER, stream), head }, ports))
    }

    pub(super) fn beat(&self) -> Time {
        self.head.beat
    }

    pub(super) fn take_in(&mut self, datapath: &mut Datapath, kind: LinkKind) -> io::Result<u32> {
        let mut frame = vec![0; MAX_FRAME];
        for _ in 0..self.head.frames {
            let mut before = [0; BEFORE];
            self.stream.read_exact(&mut before)?;
            let (arrived, len) = before.split_at(8);
            let arrived = u64::from_le_bytes(arrived.try_into().expect("eight bytes"));
            let len = u32::from_le_bytes(len[..4].try_into().expect("four bytes")) as usize;
            let frame = frame.get_mut(..len).ok_or(io::Error::from(ErrorKind::InvalidData))?;
            self.stream.read_exact(frame)?;
            let arrived = (arrived != THROUGH).then(|| Time::ZERO + Duration::from_ns(arrived));
            let direction = if before[12] == 0 { &mut datapath.forward } else { &mut datapath.backward };
            direction.take_in(Transit { arrived, frame }, kind, clock::now());
        }
        Ok(self.head.frames)
    }

    pub(super) fn commit(self) -> io::Result<UnixStream> {
        let stream = self.stream.into_inner();
        (&mut &stream).write_all(&[HAVE])?;
        expect(&stream, YOURS)?;
        Ok(stream)
    }
}

/// Lets the old process end, since the service manager knows the new process.
pub(super) fn let_go(stream: &UnixStream) {
    // If this byte is lost, the old process ends after `PATIENCE`.
    let _ = (&mut &*stream).write_all(&[KNOWN]);
}

/// Waits until the new process lets this process end, but at most `PATIENCE`.
pub(super) fn wait_for_leave(stream: &UnixStream) {
    let _ = expect(stream, KNOWN);
}

/// Waits until the old process has ended, but at most `PATIENCE`.
pub(super) fn wait_for_end(stream: &UnixStream) {
    let _ = (&mut &*stream).read_exact(&mut [0]);
}

fn expect(stream: &UnixStream, wanted: u8) -> io::Result<()> {
    let mut byte = [0];
    (&mut &*stream).read_exact(&mut byte)?;
    if byte[0] == wanted { Ok(()) } else { Err(ErrorKind::InvalidData.into()) }
}

fn send_with(stream: &UnixStream, bytes: &[u8], files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_PAPERS))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !beside.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let parts = [IoSlice::new(bytes)];
    let count = retry_on_intr(|| sendmsg(stream, &parts, &mut beside, SendFlags::NOSIGNAL))?;
    if count == bytes.len() { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
}

fn receive_with(stream: &UnixStream, bytes: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_PAPERS))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(bytes)];
    let message = retry_on_intr(|| recvmsg(stream, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC))?;
    let mut files = Vec::new();
    for part in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = part {
            files.extend(more);
        }
    }
    if message.bytes == 0 {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "the process that runs closed the stream"));
    }
    Ok((message.bytes, files))
}
