//! Router mode: shapes the packets that the kernel forwards between two interfaces. The gateway
//! takes uploads before NAT and downloads after NAT, so each packet has its inside address.
//!
//! ```text
//!   upload:    inside ─ ingress ──▶ [TAP up] ─▶ gateway ─▶ [TAP down]
//!                ──▶ ingress of inside ─▶ firewall, routes, NAT ─▶ outside
//!   download:  outside ─▶ NAT, routes, firewall ─▶ egress of inside
//!                ──▶ [TAP down] ─▶ gateway ─▶ [TAP up] ──▶ inside
//! ```
//!
//! NAT, connection tracking and the firewall process each packet once, on the same interfaces as
//! without a gateway. Packets to and from the router itself are not taken.
//!
//! Rules in our tables of the packet filter take packets out. Traffic control on the TAP devices
//! gives them back.
//!
//! If the packets of an inside interface have no Ethernet header (a VPN, PPP), the TAP device's
//! port prepends one. Traffic control removes the header from downloads. On uploads, the header
//! remains before the IP packet, where no protocol reads it. It distinguishes the uploads given
//! back from new ones.

use super::diversion::{Diversion, Interfaces};
use super::insides::{DEVICES, covers, is_pattern};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_linux::interface;
use fairwire_linux::link::{self, About};
use fairwire_linux::port::{
    LinkKind, MAX_FRAMES_AT_ONCE, Outgoing, Port, PortError, PortHealth, Refused, Take,
};
use fairwire_linux::tun::Tun;
use rustix::event::epoll;
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Two interfaces between which packets are shaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The name of the gateway and of its tables.
    pub table: String,
    /// The interface towards the hosts that share the link. If this is a pattern, which ends with
    /// `*`, each interface that the pattern [covers] gets a passage, whose table has the interface's
    /// name in place of the pattern.
    pub inside: String,
    /// The interface towards the rest of the world.
    pub outside: String,
    /// This passage's number in the gateway, below 4 * [`MAX_INSIDES`]. Passages of one inside
    /// interface differ only in the last 2 bits.
    pub number: u8,
    /// The bytes that `outside` adds to each packet if it is a tunnel, else 0.
    pub added_bytes: u16,
    /// The fate of packets when the process dies.
    pub failing: Failing,
}

/// The maximum number of inside interfaces of a gateway.
pub const MAX_INSIDES: u8 = 16;

/// The fate of packets when the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// The kernel forwards packets, unshaped.
    Open,
    /// Packets are dropped until a gateway of the same name starts, or an operator deletes its
    /// tables.
    Closed,
}

/// A port of a passage: the inside port, which has the diversion, or the outside port.
#[derive(Debug)]
struct RouterPort {
    // The diversion is dropped first, so that no packet is led to a missing device.
    diversion: Option<Diversion>,
    tap: Tun,
    /// The address of the passage's TAP device for downloads. Inside the gateway, uploads have this
    /// destination address, and downloads have this source address.
    tag: [u8; 6],
    /// The address of the inside interface.
    own: [u8; 6],
    /// Do the inside interface's packets have an Ethernet header?
    is_ethernet: bool,
}

/// The interval of the diversion's checks.
const LOOK: Duration = Duration::from_ms(500);
/// The maximum number of bytes that our devices' names take from the inside interface's name.
const MAX_OF_NAME: usize = 10;
/// The bit that marks forwarded packets from the outside until the egress chain takes them.
/// Passages through a tunnel use lower bits.
const MARK: u32 = 0x4000_0000;
/// The first octets of the addresses of the TAP devices for downloads. The kernel ignores other
/// hosts' packets to these addresses.
pub(super) const OURS: [u8; 4] = [0x02, 0xfa, 0x69, 0x72];

impl Passage {
    fn find(&self, name: &str) -> Result<About, PortError> {
        let fail = |source| PortError::System { operation: "looking", name: name.to_owned(), source };
        let index = link::index_of(name).map_err(fail)?.ok_or(PortError::Gone { name: name.to_owned() })?;
        link::about(index).map_err(fail)
    }

    /// The names of the TAP devices, first for uploads, then for downloads.
    pub fn taps(&self) -> [String; 2] {
        // Keeps the name's end, where names differ most. A name has at most 15 bytes.
        let from = self
            .inside
            .char_indices()
            .rev()
            .map(|(at, _)| at)
            .take_while(|at| self.inside.len() - at <= MAX_OF_NAME);
        let end = &self.inside[from.last().unwrap_or(self.inside.len())..];
        DEVICES[usize::from(self.number & 3)].map(|kind| format!("{kind}{end}"))
    }

    /// The passage of the interface `inside`, which this pattern covers. The passage's inside
    /// interface is number `at` of the gateway.
    fn of(&self, inside: &str, at: u8) -> Passage {
        let (table, inside) = (self.table.replace(&self.inside, inside), inside.to_owned());
        Passage { table, inside, number: at << 2 | self.number & 3, ..self.clone() }
    }

    /// Opens the outside port, by which downloads arrive. Call this before `inside`.
    fn outside(&self) -> Result<RouterPort, PortError> {
        let (inside, [_, down]) = (self.find(&self.inside)?, self.taps());
        let is_ethernet = inside.is_ethernet;
        let tap = Tun::create_tap(&down, inside.mtu)?;
        let tag = self.tag();
        let tap = tap.addressed(tag)?.headless(!is_ethernet).resent();
        Ok(RouterPort { tap, diversion: None, tag, own: inside.ethernet_address, is_ethernet })
    }

    /// Opens the inside port. Packets then arrive at both ports.
    fn inside(&self) -> Result<RouterPort, PortError> {
        let (inside, [up, down]) = (self.find(&self.inside)?, self.taps());
        let tag = self.find(&down)?.ethernet_address;
        let is_ethernet = inside.is_ethernet;
        let tap = Tun::create_tap(&up, inside.mtu)?.headless(!is_ethernet);
        let mut port = RouterPort { tap, diversion: None, tag, own: inside.ethernet_address, is_ethernet };
        self.divert(&mut port).map(|()| port)
    }

    /// The address that distinguishes this passage's frames, as [`LinkKind::Routed`] requires.
    fn tag(&self) -> [u8; 6] {
        let ([a, b, c, d], [e, f]) = (OURS, self.added_bytes.to_be_bytes());
        [a, b, c, d, self.number << 2 | e, f]
    }

    pub(super) fn mark(&self) -> u32 {
        MARK >> (self.number & 3)
    }

    fn divert(&self, port: &mut RouterPort) -> Result<(), PortError> {
        let (inside, down) = (self.find(&self.inside)?, self.find(&self.taps()[1])?);
        let interfaces = Interfaces { inside: inside.index, up: port.tap.index(), down: down.index };
        // The outside end may have given the passage another number.
        (port.tag, port.own) = (down.ethernet_address, inside.ethernet_address);
        port.tap.readdress(port.tag);
        port.diversion = Some(Diversion::make(self.clone(), interfaces)?);
        Ok(())
    }
}

/// An end of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end towards the hosts that share the link.
    Inside,
    /// The end towards the rest of the world, by which downloads arrive. This end must be opened
    /// first.
    Outside,
}

/// The port at one end of all passages of a gateway. A passage recovers automatically after its
/// inside interface was missing or recreated. The other passages continue.
#[derive(Debug)]
pub struct RouterEnd {
    end: End,
    patterns: Vec<Passage>,
    /// The passages of listed interfaces, and of existing interfaces that a pattern covers.
    passages: Vec<(Passage, Option<RouterPort>)>,
    /// Polls the TAP devices of all passages.
    waits: OwnedFd,
    look_at: Time,
    /// Copies of frames with their original source.
    restored: Vec<u8>,
    past: PortHealth,
}

impl RouterEnd {
    /// The port at `end` of `passages`. At least one inside interface must exist, unless there is a
    /// pattern.
    pub fn open(passages: Vec<Passage>, end: End) -> Result<Self, PortError> {
        let name = passages.first().map_or_else(String::new, |passage| passage.inside.clone());
        let fail = |source: Errno| PortError::System { operation: "waiting", name, source: source.into() };
        let waits = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(fail)?;
        let (patterns, listed) =
            passages.into_iter().partition::<Vec<_>, _>(|passage| is_pattern(&passage.inside));
        let passages = listed.into_iter().map(|passage| (passage, None)).collect();
        let (restored, past) = (Vec::new(), PortHealth::default());
        let look_at = clock::now() + LOOK;
        let mut port = RouterEnd { end, patterns, passages, waits, look_at, restored, past };
        port.follow_patterns();
        match port.open_missing() {
            // A missing interface may appear later.
            None | Some(PortError::Gone { .. }) => port.alive().map(|()| port),
            Some(fault) => Err(fault),
        }
    }

    fn open_missing(&mut self) -> Option<PortError> {
        let mut fault = None;
        for (number, (passage, port)) in (0..).zip(&mut self.passages).filter(|(_, (_, port))| port.is_none())
        {
            let opened = match self.end {
                End::Inside => passage.inside(),
                End::Outside => passage.outside(),
            };
            let opened = opened.and_then(|opened| {
                let (data, flags) = (epoll::EventData::new_u64(number), epoll::EventFlags::IN);
                epoll::add(&self.waits, &opened.tap, data, flags)
                    .map_err(|source| PortError::System {
                        operation: "waiting",
                        name: passage.inside.clone(),
                        source: source.into(),
                    })
                    .map(|()| opened)
            });
            match opened {
                Ok(opened) => *port = Some(opened),
                // An interface that a pattern covers does not stop the others.
                Err(_) if self.patterns.iter().any(|pattern| covers(&pattern.inside, &passage.inside)) => {}
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        fault
    }

    /// Adds passages for the interfaces that a pattern covers. The outside end chooses at most
    /// [`MAX_INSIDES`] interfaces, and the inside end follows the devices of the outside end. All
    /// other interfaces pass unshaped.
    ///
    /// The ports of an interface that disappears stay, like those of a listed interface, until
    /// another interface needs their number.
    fn follow_patterns(&mut self) {
        let RouterEnd { end, patterns, passages, past, .. } = self;
        if patterns.is_empty() {
            return;
        }
        let Ok(there) = interface::names() else { return }; // tried again at the next look
        let there: BTreeSet<String> = there.into_iter().collect();
        let pattern_of = |name: &str| patterns.iter().find(|pattern| covers(&pattern.inside, name));
        if *end == End::Inside {
            let is_chosen = |passage: &Passage| there.contains(&passage.taps()[1]);
            let is_listed = |passage: &Passage| pattern_of(&passage.inside).is_none();
            keep(passages, past, |passage| is_listed(passage) || is_chosen(passage));
        }
        for name in &there {
            let Some(pattern) = pattern_of(name) else { continue };
            let taps = pattern.of(name, 0).taps();
            let is_outside = patterns.iter().any(|pattern| pattern.outside == *name);
            let is_chosen = *end == End::Outside || there.contains(&taps[1]);
            let is_known = |(passage, _): &(Passage, _)| passage.inside == *name || passage.taps() == taps;
            if is_outside || !is_chosen || passages.iter().any(is_known) {
                continue;
            }
            let is_free = |at: &u8| passages.iter().all(|(passage, _)| passage.number >> 2 != *at);
            let free = (0..MAX_INSIDES).find(is_free);
            let is_gone =
                |passage: &Passage| pattern_of(&passage.inside).is_some() && !there.contains(&passage.inside);
            let gone = || passages.iter().find(|(passage, _)| is_gone(passage));
            let Some(at) = free.or_else(|| Some(gone()?.0.number >> 2)) else { return };
            keep(passages, past, |passage| passage.number >> 2 != at);
            let of_pattern = patterns.iter().filter(|other| other.inside == pattern.inside);
            passages.extend(of_pattern.map(|pattern| (pattern.of(name, at), None)));
            if free.is_none() {
                return; // one at a look, because closing devices takes tens of milliseconds
            }
        }
    }

    /// Opens missing ports, and renews diversions after an interface was recreated or tables were
    /// removed. Ports keep their TAP devices, because the process may lack permission to open new
    /// ones.
    fn look(&mut self) {
        self.look_at = clock::now() + LOOK;
        self.follow_patterns();
        for (passage, port) in &mut self.passages {
            let Some(open) = port else { continue };
            // An interface of the other type (with or without Ethernet) needs new devices at both
            // ends.
            if passage.find(&passage.inside).is_ok_and(|about| about.is_ethernet != open.is_ethernet) {
                close(port, &mut self.past);
            }
            let Some(port) = port.as_mut().filter(|_| self.end == End::Inside) else { continue };
            if port.diversion.as_ref().is_none_or(|diversion| !diversion.is_whole()) {
                port.diversion = None;
                let _ = passage.divert(port); // tried again after a failure
            }
        }
        let _ = self.open_missing(); // likewise
    }

    fn alive(&self) -> Result<(), PortError> {
        let works = |port: &RouterPort| self.end == End::Outside || port.diversion.is_some();
        let works = self.passages.iter().any(|(_, port)| port.as_ref().is_some_and(works));
        match works || !self.patterns.is_empty() {
            true => Ok(()),
            false => {
                let name =
                    self.passages.first().map_or_else(String::new, |(passage, _)| passage.inside.clone());
                Err(PortError::Gone { name })
            }
        }
    }

    fn each(&mut self, mut call: impl FnMut(&mut Tun) -> Result<(), PortError>) -> Result<(), PortError> {
        for (_, port) in &mut self.passages {
            match port.as_mut().map(|port| call(&mut port.tap)) {
                Some(Err(PortError::Gone { .. })) => close(port, &mut self.past),
                Some(Err(error)) => return Err(error),
                _ => {}
            }
        }
        self.alive()
    }

    fn passage_of(&self, frame: &[u8]) -> Option<usize> {
        let at = match self.end {
            End::Inside => 6,
            End::Outside => 0,
        };
        let tag = frame.get(at..at + 6)?;
        self.passages.iter().position(|(_, port)| port.as_ref().is_some_and(|port| port.tag == *tag))
    }

    /// Sends `frames`, all of passage `number`. Frames that leave by an inside interface get the
    /// interface's address as source again.
    fn send(&mut self, number: usize, frames: &[Outgoing<'_>]) -> Refused {
        let RouterEnd { end, passages, restored, .. } = self;
        let Some(port) = &mut passages[number].1 else { return Refused::first(frames.len()) };
        if *end == End::Outside {
            return port.tap.transmit_all(frames);
        }
        restored.clear();
        for frame in frames {
            restored.extend_from_slice(&frame.bytes[..6]);
            restored.extend_from_slice(&port.own);
            restored.extend_from_slice(&frame.bytes[12..]);
        }
        let (mut batch, mut rest) = ([Outgoing::default(); MAX_FRAMES_AT_ONCE], &restored[..]);
        for (place, frame) in batch.iter_mut().zip(frames) {
            let (bytes, after) = rest.split_at(frame.bytes.len());
            (*place, rest) = (Outgoing { bytes, ..*frame }, after);
        }
        port.tap.transmit_all(&batch[..frames.len()])
    }
}

/// Closes the passages for which `stays` is false.
fn keep(
    passages: &mut Vec<(Passage, Option<RouterPort>)>,
    past: &mut PortHealth,
    stays: impl Fn(&Passage) -> bool,
) {
    passages.retain_mut(|(passage, port)| {
        let stays = stays(passage);
        if !stays {
            close(port, past);
        }
        stays
    });
}

fn close(port: &mut Option<RouterPort>, past: &mut PortHealth) {
    let health = port.as_mut().map(|port| port.tap.health()).unwrap_or_default();
    past.overflows += health.overflows;
    past.truncated += health.truncated;
    *port = None;
}

impl Port for RouterEnd {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        if clock::now() >= self.look_at {
            self.look();
        }
        self.each(|tap| tap.receive(take))
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        let frames = &frames[..frames.len().min(MAX_FRAMES_AT_ONCE)];
        let (mut refused, mut from) = (Refused::NONE, 0);
        while from < frames.len() {
            let number = self.passage_of(frames[from].bytes);
            let same =
                frames[from..].iter().take_while(|frame| self.passage_of(frame.bytes) == number).count();
            let run = &frames[from..from + same];
            let part = number.map_or(Refused::first(same), |number| self.send(number, run));
            refused.add_part(part, from);
            from += same;
        }
        refused
    }

    fn link_kind(&self) -> LinkKind {
        LinkKind::Routed
    }

    fn check(&mut self) -> Result<(), PortError> {
        self.each(Tun::check)
    }

    fn health(&mut self) -> PortHealth {
        let mut all = self.past;
        for port in self.passages.iter_mut().filter_map(|(_, port)| port.as_mut()) {
            let health = port.tap.health();
            all.overflows += health.overflows;
            all.truncated += health.truncated;
            all.outages += health.outages;
        }
        all
    }
}

impl AsFd for RouterEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waits.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_wire::Way;

    fn passage(inside: &str) -> Passage {
        Passage {
            table: "fairwire-t".into(),
            inside: inside.into(),
            outside: "wan0".into(),
            number: 0,
            added_bytes: 0,
            failing: Failing::Open,
        }
    }

    #[test]
    fn device_names_keep_the_end_of_the_inside_name_and_fit() {
        assert_eq!(passage("lan0").taps(), ["fwup-lan0", "fwdn-lan0"]);
        assert_eq!(passage("enp0s31f6.1234").taps()[0], "fwup-s31f6.1234");
        for name in ["a-name-of-15-by", "ääääääää", ""] {
            assert!(passage(name).taps().iter().all(|tap| tap.len() <= 15), "{name}");
        }
    }

    #[test]
    fn a_passage_of_a_pattern_has_the_name_of_its_interface() {
        let pattern = Passage { table: "fairwire-t/ppp*/1".into(), number: 1, ..passage("ppp*") };
        let one = pattern.of("ppp7", 15);
        assert_eq!((one.table.as_str(), one.inside.as_str(), one.number), ("fairwire-t/ppp7/1", "ppp7", 61));
    }

    #[test]
    fn frames_of_a_tunnel_count_with_the_bytes_that_it_adds() {
        let passage = Passage { number: 63, added_bytes: 512, ..passage("lan0") };
        assert_eq!(passage.taps(), ["fwu3-lan0", "fwd3-lan0"]);
        for (way, at) in [(Way::Upload, 0), (Way::Download, 6)] {
            let mut frame = [0xff; 60];
            frame[at..at + 6].copy_from_slice(&passage.tag());
            assert_eq!(LinkKind::Routed.length(&frame, way), 60 + 512);
            assert_eq!(LinkKind::Ethernet.length(&frame, way), 60);
            assert_eq!(LinkKind::Routed.length(&frame[..3], way), 3);
        }
    }

    #[test]
    fn a_missing_inside_interface_is_reported_and_nothing_is_created() {
        let gone = passage("no-such-if").outside().map(|_| ()).expect_err("it is not there");
        assert!(matches!(gone, PortError::Gone { ref name } if name == "no-such-if"), "{gone}");
        assert!(link::index_of("fwdn-no-such-if").is_ok_and(|index| index.is_none()));
    }
}
