//! Packets between two devices, through a link each way.

use super::meter::Meter;
use super::{Frame, Links};
use fairwire_core::{Duration, Ecn, Time};
use fairwire_link::Link;
use fairwire_linux::clock;
use fairwire_linux::port::{MAX_FRAMES_AT_ONCE, Outgoing, Port, PortError};
use fairwire_linux::tun::Tun;
use fairwire_wire::ecn::set_ecn;
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::headers::{Headers, Version, parse_ip};
use fairwire_wire::join::TcpOffsets;
use fairwire_wire::split::{MAX_FRAME_BYTES, split_parsed};
use fairwire_wire::vnet::VnetHeader;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU64;

/// Both devices.
pub(super) struct Forwarder {
    inside: Tun,
    outside: Tun,
    hasher: FlowHasher,
    scratch: Box<[u8]>,
}

/// A thread that sleeps until an instant wakes up to this much late, more so in a virtual machine.
/// It wakes earlier, and waits for the instant without sleep.
const EARLY: Duration = Duration::from_us(60);

impl Forwarder {
    pub(super) fn new(inside: Tun, outside: Tun) -> Self {
        // By default the kernel wakes a thread up to 50 us late, to save power.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let half = |salt: u8| RandomState::new().hash_one(salt).to_ne_bytes();
        let mut key = [0; 16];
        key[..8].copy_from_slice(&half(0));
        key[8..].copy_from_slice(&half(1));
        Forwarder { inside, outside, hasher: FlowHasher::new(key), scratch: vec![0; MAX_FRAME_BYTES].into() }
    }

    /// Takes in what has arrived at either device, and sends what has come through its link.
    pub(super) fn step(&mut self, links: &mut Links, meter: &mut Meter, now: Time) -> Result<(), PortError> {
        let Forwarder { inside, outside, hasher, scratch } = self;
        take(inside, &mut links.back, hasher, scratch, meter)?;
        take(outside, &mut links.forward, hasher, scratch, meter)?;
        give(&mut links.forward, inside, now);
        give(&mut links.back, outside, now);
        Ok(())
    }

    /// Sleeps until a packet arrives, one is due, or it is `until`.
    pub(super) fn wait(&self, links: &Links, until: Time) -> Result<(), PortError> {
        let due = links.next_timeout().map_or(until, |due| due.min(until));
        let idle = due.since(clock::now() + EARLY);
        if idle.is_zero() {
            return Ok(());
        }
        let mut devices = [&self.inside, &self.outside].map(|device| PollFd::new(device, PollFlags::IN));
        match poll(&mut devices, Some(&clock::timespec(idle.ns()))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => {
                let name = self.inside.name().to_owned();
                Err(PortError::System { operation: "waiting", name, source: error.into() })
            }
        }
    }
}

/// Sends what has arrived at `device` into `link`.
fn take(
    device: &mut Tun,
    link: &mut Link<Frame, Time>,
    hasher: &FlowHasher,
    scratch: &mut [u8],
    meter: &mut Meter,
) -> Result<(), PortError> {
    device.receive(&mut |packet: &[u8], vnet: &VnetHeader| {
        let headers = parse_ip(packet);
        if headers.network.is_none_or(|network| network.version != Version::V4) {
            return; // what a kernel says by itself
        }
        let key = headers.flow_key(packet);
        let flow = hasher.hash(&key).0;
        meter.met(flow, key);
        let offsets = if vnet.is_gso() { TcpOffsets::of(&headers) } else { None };
        let (ecn, now) = (headers.ecn(), clock::now());
        let mut send = |bytes: &[u8]| {
            let frame = Frame { bytes: bytes.into(), offsets };
            // A packet that is too long for the device is one that the kernel would not send.
            let _ = link.send(frame, bytes.len(), flow, ecn, now);
        };
        if vnet.is_gso() || vnet.partial().is_some() {
            // What is malformed is lost, as at any router.
            let _ = split_parsed(packet, &headers, vnet, scratch, &mut send);
        } else {
            send(packet);
        }
    })
}

/// Sends what has come through `link` by `now` to `device`.
fn give(link: &mut Link<Frame, Time>, device: &mut Tun, now: Time) {
    loop {
        let mut due: Vec<Frame> = Vec::new();
        while due.len() < MAX_FRAMES_AT_ONCE
            && let Some(arrival) = link.receive(now)
        {
            let mut frame = arrival.payload;
            if arrival.ecn == Ecn::Ce {
                mark(&mut frame.bytes);
            }
            due.push(frame);
        }
        let outgoing: Vec<Outgoing<'_>> = due
            .iter()
            .map(|frame| Outgoing { offsets: frame.offsets, ..Outgoing::of(&frame.bytes) })
            .collect();
        device.transmit_all(&outgoing); // a device takes all that comes, or counts it itself
        if due.len() < MAX_FRAMES_AT_ONCE {
            return;
        }
    }
}

fn mark(bytes: &mut [u8]) {
    let headers: Headers = parse_ip(bytes);
    if headers.ecn() != Ecn::Ce {
        set_ecn(bytes, &headers, Ecn::Ce);
    }
}
