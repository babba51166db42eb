//! The latest drops, marks and losses, with the first bytes of their frames, for `fairwire-gateway
//! capture`.
//!
//! The datapath never waits for a [`Ring`]: events during a copy count as missed.

use crate::class_book::ClassBook;
use crate::ledger::Loss;
use fairwire_core::{Cause, Duration, Time};
use fairwire_linux::clock;
use fairwire_wire::Way;
use fairwire_wire::headers::{Headers, parse, parse_ip};
use fairwire_wire::pcapng::{self, Frame, LinkType};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The maximum number of bytes kept of a frame: enough for TCP over IPv6 with a VLAN tag and TCP
/// options.
pub const MAX_KEPT: usize = 128;

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incident {
    /// The discipline dropped the packet.
    Dropped(Cause),
    /// The discipline marked the packet.
    Marked(Cause),
    /// The gateway lost the packet.
    Lost(Loss),
}

impl Incident {
    /// The fate and its reason, in words.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Incident::Dropped(cause) => ("dropped", cause.name()),
            Incident::Marked(cause) => ("marked", cause.name()),
            Incident::Lost(loss) => ("lost", loss.name()),
        }
    }
}

/// The record of a packet, apart from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its time.
    pub at: Time,
    /// The packet's fate.
    pub fate: Incident,
    /// Its class.
    pub class: u32,
    /// The packet's wait in the queue.
    pub waited: Duration,
}

/// One event and the first bytes of its frame.
#[derive(Clone, Copy, Debug)]
pub struct CapturedEvent {
    /// The packet's fate and its time.
    pub event: Event,
    whole: u32,
    kept: u8,
    bytes: [u8; MAX_KEPT],
}

impl CapturedEvent {
    /// The first bytes of the frame.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.kept)]
    }
}

/// The latest events of one direction.
#[derive(Clone, Debug)]
pub struct Ring {
    kept: Vec<CapturedEvent>,
    capacity: usize,
    next: usize,
    count: u64,
    link: LinkType,
}

/// A ring that the datapath fills and the control thread copies.
pub type SharedRing = Arc<Mutex<Ring>>;

impl Ring {
    /// An empty ring for `events` events; `link` is the frames' link type.
    pub fn new(events: usize, link: LinkType) -> Self {
        Ring { kept: Vec::with_capacity(events), capacity: events, next: 0, count: 0, link }
    }

    /// Events in it.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Is it empty?
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Adds an event; a full ring loses its oldest.
    pub fn push(&mut self, event: Event, frame: &[u8]) {
        if self.capacity == 0 {
            return;
        }
        if self.kept.len() < self.capacity {
            self.kept.push(CapturedEvent { event, whole: 0, kept: 0, bytes: [0; MAX_KEPT] });
        }
        let place = &mut self.kept[self.next];
        let kept = frame.len().min(MAX_KEPT);
        (place.event, place.whole, place.kept) = (event, frame.len() as u32, kept as u8);
        place.bytes[..kept].copy_from_slice(&frame[..kept]);
        self.next = if self.next + 1 == self.capacity { 0 } else { self.next + 1 };
        self.count += 1;
    }

    /// Returns the newest events after the first `seen`: at most `max`, oldest first. Also returns
    /// the number of events ever recorded.
    pub fn after(&self, seen: u64, max: usize) -> (Vec<CapturedEvent>, u64) {
        let new = usize::try_from(self.count.saturating_sub(seen)).unwrap_or(usize::MAX);
        let wanted = new.min(max).min(self.kept.len());
        (self.events().skip(self.kept.len() - wanted).copied().collect(), self.count)
    }

    fn events(&self) -> impl Iterator<Item = &CapturedEvent> {
        let (newer, older) = self.kept.split_at(self.next.min(self.kept.len()));
        older.iter().chain(newer)
    }
}

/// The writer of a ring, on the datapath's thread.
#[derive(Debug)]
pub struct Recorder {
    ring: Option<SharedRing>,
    kept: usize,
    missed: u64,
}

impl Recorder {
    /// A recorder that keeps nothing.
    pub const fn off() -> Self {
        Recorder { ring: None, kept: 0, missed: 0 }
    }

    pub(crate) fn into_ring(ring: SharedRing) -> Self {
        Recorder { ring: Some(ring), kept: 0, missed: 0 }
    }

    /// Records an event unless the ring is being copied.
    #[inline]
    pub fn record(&mut self, event: Event, frame: &[u8]) {
        let Some(ring) = &self.ring else { return };
        match ring.try_lock() {
            Ok(mut ring) => {
                ring.push(event, frame);
                self.kept = ring.len();
            }
            Err(_) => self.missed += 1,
        }
    }

    /// The number of events in the ring after the latest recording.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Events missed because the ring was being copied.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

/// The names that a capture file needs, and the time since which they apply.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The classes, as numbered since `since`.
    pub book: &'a ClassBook,
    /// The disciplines' names, indexed by the [`Way`].
    pub disciplines: [&'a str; 2],
    /// The start of the current configuration. The file names no class or discipline for earlier
    /// packets.
    pub since: Time,
}

/// Writes both rings, indexed by the [`Way`], to `file`, and returns the number of packets. `file`
/// must be regular, because other files may accept only some of the bytes at once.
pub fn write_pcapng(mut file: &File, rings: [&Ring; 2], setting: &Setting<'_>) -> io::Result<u64> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "that is no regular file"));
    }
    let (bytes, packets) = as_pcapng(rings, setting);
    file.write_all(&bytes).and_then(|()| file.sync_all()).map(|()| packets)
}

/// A file that appears at `path` complete or not at all. The file is written under a temporary name
/// in the same folder, and then linked to `path`. The link fails if `path` exists. Only the file's
/// owner may read it, because it has headers of other people's packets.
#[derive(Debug)]
pub struct PartialFile {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl PartialFile {
    /// Creates the file for `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part)?;
        Ok(PartialFile { file, part, path: path.to_owned() })
    }

    /// The file, for writing.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the finished file its name.
    pub fn place(self) -> io::Result<()> {
        std::fs::hard_link(&self.part, &self.path)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.part);
    }
}

/// Both rings as one pcapng file in memory, in order of time, and the number of events.
pub fn as_pcapng(rings: [&Ring; 2], setting: &Setting<'_>) -> (Vec<u8>, u64) {
    let epoch = clock::calendar().since(clock::now());
    let mut out = Vec::new();
    pcapng::section(
        &mut out,
        "fairwire gateway",
        "packets that were dropped, marked or lost, each with the reason",
    );
    for (way, ring) in Way::ALL.iter().zip(rings) {
        pcapng::interface_of(&mut out, way.name(), ring.link, MAX_KEPT as u32);
    }
    let mut events: Vec<(u32, &CapturedEvent)> =
        (0..).zip(rings).flat_map(|(way, ring)| ring.events().map(move |kept| (way, kept))).collect();
    events.sort_by_key(|(_, kept)| kept.event.at); // stable: events of one instant keep their order
    for (way, kept) in &events {
        let bytes = kept.bytes();
        let comment = comment(kept, rings[*way as usize].link, setting.disciplines[*way as usize], setting);
        let frame = Frame { bytes, whole: kept.whole };
        pcapng::captured(&mut out, *way, kept.event.at + epoch, frame, Some(&comment));
    }
    (out, events.len() as u64)
}

/// The comment on an event, such as `dropped: faba no-tokens; class gold/alice; flow tcp
/// 10.0.0.1:4000 -> 10.0.0.2:80; waited 12.3 ms`.
fn comment(kept: &CapturedEvent, link: LinkType, discipline: &str, setting: &Setting<'_>) -> String {
    let Event { at, fate, class, waited } = kept.event;
    let (what, why) = fate.words();
    let mut text = format!("{what}: ");
    let is_of_now = at >= setting.since;
    if is_of_now && !matches!(fate, Incident::Lost(_)) && !discipline.is_empty() {
        text += discipline;
        text += " ";
    }
    text += why;
    // A packet refused by the outgoing interface has already left the discipline, so its class is
    // unknown. Packets that loop or are not IP have no class.
    let has_class =
        !matches!(fate, Incident::Lost(Loss::Refused | Loss::OverMtu | Loss::NotIp | Loss::Looped));
    if is_of_now && has_class {
        text += "; class ";
        text += &class_path(setting.book, class);
    }
    let bytes = kept.bytes();
    let headers = headers(bytes, link);
    let _ = write!(text, "; flow {}; waited {:.3} ms", headers.flow_key(bytes), waited.secs() * 1e3);
    text
}

/// The headers of a frame of link type `link`.
pub fn headers(frame: &[u8], link: LinkType) -> Headers {
    match link {
        LinkType::Ethernet => parse(frame),
        LinkType::Ip => parse_ip(frame),
    }
}

/// The class with its ancestors, such as `gold/alice`.
pub fn class_path(book: &ClassBook, class: u32) -> String {
    let mut names = Vec::new();
    let mut next = book.class(class);
    while let Some(class) = next {
        names.push(class.name.as_str());
        next = class.parent.and_then(|parent| book.class(parent));
    }
    names.reverse();
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class_book::{Bounds, Class, ClassKind, UNCLAIMED};
    use etherparse::PacketBuilder;
    use fairwire_wire::pcap;

    fn book() -> ClassBook {
        let class = |name: &str, parent, kind| Class {
            name: name.into(),
            parent,
            kind,
            weight: fairwire_core::Weight::ONE,
            bounds: [Bounds::default(); 2],
            is_suspended: false,
        };
        ClassBook::new(vec![
            class("unclaimed", None, ClassKind::Class),
            class("gold", None, ClassKind::Class),
            class("alice", Some(1), ClassKind::Subscriber),
        ])
    }

    fn tcp(port: u16, payload: usize) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(port, 80, 7, 512);
        let mut frame = Vec::new();
        builder.write(&mut frame, &vec![0xab; payload]).expect("a vector takes everything");
        frame
    }

    fn event(ms: u64, fate: Incident, class: u32) -> Event {
        Event { at: Time::ZERO + Duration::from_ms(ms), fate, class, waited: Duration::from_us(12_345) }
    }

    fn setting(book: &ClassBook) -> Setting<'_> {
        Setting { book, disciplines: ["faba", "red"], since: Time::ZERO + Duration::from_ms(10) }
    }

    fn rings() -> [Ring; 2] {
        let mut rings = [Ring::new(4, LinkType::Ethernet), Ring::new(4, LinkType::Ethernet)];
        rings[0].push(event(20, Incident::Dropped(Cause::NoTokens), 2), &tcp(4000, 1000));
        rings[0].push(event(40, Incident::Lost(Loss::NoBuffer), UNCLAIMED), &tcp(4001, 0));
        rings[1].push(event(5, Incident::Marked(Cause::Early), 1), &tcp(4002, 30));
        rings[1].push(event(30, Incident::Marked(Cause::Early), 1), &tcp(4003, 30));
        rings
    }

    fn comments(bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let (kind, length) = (word(at), word(at + 4) as usize);
            if kind == 6 {
                let option = at + 28 + (word(at + 20) as usize).next_multiple_of(4);
                let text = usize::from(u16::from_le_bytes(bytes[option + 2..option + 4].try_into().unwrap()));
                assert_eq!(bytes[option], 1);
                found.push(String::from_utf8(bytes[option + 4..option + 4 + text].to_vec()).unwrap());
            }
            at += length;
        }
        found
    }

    #[test]
    fn each_packet_has_its_drop_cause_and_no_stale_class_names() {
        let book = book();
        let [download, upload] = rings();
        let (bytes, packets) = as_pcapng([&download, &upload], &setting(&book));
        assert_eq!(packets, 4);
        assert_eq!(
            comments(&bytes),
            [
                "marked: early; flow tcp 10.0.0.1:4002 -> 10.0.0.2:80; waited 12.345 ms",
                "dropped: faba no-tokens; class gold/alice; flow tcp 10.0.0.1:4000 -> 10.0.0.2:80; waited 12.345 ms",
                "marked: red early; class gold; flow tcp 10.0.0.1:4003 -> 10.0.0.2:80; waited 12.345 ms",
                "lost: no-buffer; class unclaimed; flow tcp 10.0.0.1:4001 -> 10.0.0.2:80; waited 12.345 ms",
            ]
        );
    }

    #[test]
    fn our_capture_reader_accepts_it_with_original_lengths() {
        let book = book();
        let [download, upload] = rings();
        let (bytes, _) = as_pcapng([&download, &upload], &setting(&book));
        let seen = pcap::seen(&bytes).expect("a capture");
        let bytes: Vec<u32> = seen.iter().map(|packet| packet.bytes).collect();
        assert_eq!(bytes, [84, 1054, 84, 54]);
        let gaps: Vec<u64> =
            seen.windows(2).map(|two| (two[1].at.ns() - two[0].at.ns()) / 1_000_000).collect();
        assert_eq!(gaps, [15, 10, 10]);
    }

    #[test]
    fn a_full_ring_forgets_the_oldest_and_an_empty_ring_keeps_nothing() {
        let mut ring = Ring::new(2, LinkType::Ethernet);
        (1..=3).for_each(|ms| ring.push(event(ms, Incident::Dropped(Cause::Early), 0), &[0; 300]));
        let times: Vec<u64> = ring.events().map(|kept| kept.event.at.ns() / 1_000_000).collect();
        assert_eq!(times, [2, 3]);
        assert!(ring.events().all(|kept| (kept.whole, kept.kept) == (300, 128)));
        let mut none = Ring::new(0, LinkType::Ethernet);
        none.push(event(1, Incident::Dropped(Cause::Early), 0), &[]);
        assert!(none.is_empty());
    }

    #[test]
    fn the_datapath_does_not_wait_while_the_ring_is_copied() {
        let ring: SharedRing = Arc::new(Mutex::new(Ring::new(2, LinkType::Ethernet)));
        let mut recorder = Recorder::into_ring(ring.clone());
        let copying = ring.lock().unwrap();
        recorder.record(event(1, Incident::Dropped(Cause::Early), 0), &[]);
        drop(copying);
        recorder.record(event(2, Incident::Dropped(Cause::Early), 0), &[]);
        assert_eq!((recorder.missed(), ring.lock().unwrap().len()), (1, 1));
    }

    #[test]
    fn a_file_is_complete_or_absent_and_none_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drops.pcapng");
        let book = book();
        let [download, upload] = rings();
        let write = |path: &Path| {
            let part = PartialFile::create(path)?;
            let packets = write_pcapng(part.file(), [&download, &upload], &setting(&book))?;
            part.place().map(|()| packets)
        };
        assert_eq!(write(&path).unwrap(), 4);
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "for its owner alone");
        let before = std::fs::read(&path).unwrap();
        assert_eq!(write(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(
            write(&folder.path().join("none/drops.pcapng")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no part is left behind");
    }
}
