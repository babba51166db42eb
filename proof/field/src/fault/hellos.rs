//! Router and BFD hellos on both sides of a flooded gateway.

use super::happened::Happened;
use super::plain::MBPS;
use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::{Duration, Time};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port as _;
use fairwire_metrics::judge::Allowed;
use fairwire_testbed::bed::HOST;
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;
use std::thread;

const SECONDS: u64 = 14;
/// The time of the first forged hello, seconds. By then, the gateway knows the routers.
const FORGED_S: u64 = 7;
const OSPF_EVERY: Duration = Duration::from_ms(250);
const BFD_EVERY: Duration = Duration::from_ms(50);
/// The time after which BFD declares a neighbour down: three intervals.
const BFD_GAP_MS: f64 = 150.0;
/// The flood's rate, bit/s: three times the link's rate.
const UDP_BPS: u64 = 60_000_000;
const SPOOFED_PER_SECOND: u64 = 20_000;
const FORGED_PER_MS: u64 = 2;

pub(super) fn control_survives_floods(happened: &mut Happened) -> Fallible<()> {
    for discipline in ["fq-codel", "faba"] {
        let config = Document::both_ways(direction(MBPS, discipline, None));
        let mut run = Run::begin(Wiring::default(), Middle::Gateway(&config), traffic())?;
        let ports = [&run.world.outside, &run.world.inside].map(|host| host.at(|| AfPacket::open(HOST.name)));
        let [outside, inside] = ports;
        let (start, routers) = (run.start, Routers::new([outside?, inside?]));
        let routers = thread::spawn(move || routers.speak(start));
        run.wait_until(SECONDS as f64);
        let heard = routers.join().map_err(|_| "the routers' thread panicked")??;
        happened.finish(&mut run)?;
        for (heard, way) in heard.into_iter().zip(Way::ALL) {
            let name = |what: &str| format!("{discipline}, {}: {what}", way.name());
            happened.count(&name("hellos sent"), heard.sent[0] as f64);
            happened.count(&name("BFD sent"), heard.sent[1] as f64);
            let lost = [0, 1].map(|kind: usize| heard.sent[kind].saturating_sub(heard.came[kind]));
            happened.expect(&name("hellos lost"), lost[0] as f64, Allowed::at_most(0.0));
            happened.expect(&name("BFD lost"), lost[1] as f64, Allowed::at_most(0.0));
            happened.expect_in_time(
                &name("longest gap of BFD, ms"),
                heard.gap_ms[1],
                Allowed::at_most(BFD_GAP_MS),
            );
            happened.count(&name("longest gap of hellos, ms"), heard.gap_ms[0]);
            happened.count(&name("forged hellos that passed"), heard.forged as f64);
        }
        happened.check_conservation(run.gateway())?;
    }
    Ok(())
}

fn traffic() -> Traffic {
    let duration_ns = SECONDS * 1_000_000_000;
    let mut flows = Vec::new();
    for way in Way::ALL {
        let bulk = |number| flow("tcp", Sends::Tcp("cubic".into()), way, number, duration_ns);
        flows.extend((0..4).map(bulk));
    }
    let udp = Sends::Udp { bps: UDP_BPS, payload: 1300, counted: 1366 };
    let spoofed = Sends::Spoofed { per_second: SPOOFED_PER_SECOND, payload: 18 };
    flows.push(flow("udp", udp, Way::Upload, 60, duration_ns));
    flows.push(flow("spoofed", spoofed, Way::Upload, 61, duration_ns));
    Traffic::new(flows, duration_ns)
}

#[derive(Clone, Copy, Default)]
struct Heard {
    sent: [u64; 2],
    came: [u64; 2],
    last: [Option<Time>; 2],
    gap_ms: [f64; 2],
    forged: u64,
}

/// A router at each side, outside first.
struct Routers {
    ports: [AfPacket; 2],
}

/// The first five bytes of all source addresses. The last byte is the router's side, or [`FORGER`].
const ROUTER: [u8; 5] = [0x02, 0x52, 0, 0, 0];
const FORGER: u8 = 9;

impl Routers {
    fn new(ports: [AfPacket; 2]) -> Self {
        Routers { ports }
    }

    /// Returns the counts by direction.
    fn speak(mut self, start: Time) -> Fallible<[Heard; 2]> {
        let mut heard = [Heard::default(); 2];
        let end = start + Duration::from_ms(SECONDS * 1000 - 500);
        let mut forged = 0;
        while clock::now() < end + Duration::from_ms(300) {
            let since = clock::now().since(start);
            for (side, port) in self.ports.iter_mut().enumerate() {
                let due = [OSPF_EVERY, BFD_EVERY].map(|every| since.ns() / every.ns());
                for (kind, due) in due.into_iter().enumerate().filter(|_| clock::now() < end) {
                    if heard[side].sent[kind] < due {
                        port.transmit(&frame(kind, side as u8, [10, 99, 0, side as u8]));
                        heard[side].sent[kind] += 1;
                    }
                }
            }
            while since >= Duration::from_secs(FORGED_S)
                && forged < (since.ns() / 1_000_000 - FORGED_S * 1000) * FORGED_PER_MS
            {
                forged += 1;
                let source = [10, (forged >> 16) as u8, (forged >> 8) as u8, forged as u8];
                self.ports[1].transmit(&frame(0, FORGER, source));
            }
            self.listen(&mut heard)?;
            clock::sleep_until(clock::now() + Duration::from_us(500));
        }
        Ok(heard)
    }

    fn listen(&mut self, heard: &mut [Heard; 2]) -> Fallible<()> {
        for (side, port) in self.ports.iter_mut().enumerate() {
            let heard = &mut heard[1 - side];
            port.receive(&mut |frame, _| {
                if frame.len() < 24 || frame[6..11] != ROUTER {
                    return;
                }
                if frame[11] == FORGER {
                    heard.forged += 1;
                } else if usize::from(frame[11]) == 1 - side {
                    let kind = usize::from(frame[23] == 17);
                    let now = clock::now();
                    let gap = heard.last[kind].replace(now).map_or(0.0, |last| now.since(last).secs() * 1e3);
                    heard.gap_ms[kind] = heard.gap_ms[kind].max(gap);
                    heard.came[kind] += 1;
                }
            })?;
        }
        Ok(())
    }
}

/// The frame of an OSPF hello (RFC 2328, section A.3.2) or a BFD control packet to port 3784 (RFC
/// 5881, sections 4 and 5). The payload never changes.
fn frame(kind: usize, host: u8, source: [u8; 4]) -> Vec<u8> {
    let (destination, address, hops, protocol): ([u8; 6], [u8; 4], u8, u8) = match kind {
        0 => ([0x01, 0, 0x5e, 0, 0, 5], [224, 0, 0, 5], 1, 89),
        _ => ([0x02, 0x52, 0, 0, 0, 1 - host], [10, 99, 0, 1 - host], 255, 17),
    };
    let mut frame = [&destination[..], &ROUTER, &[host], &[0x08, 0x00]].concat();
    frame.extend([0x45, 0, 0, 52, 0, 0, 0, 0, hops, protocol, 0, 0]);
    frame.extend(source);
    frame.extend(address);
    frame.extend(if kind == 0 { [2, 1, 0, 44, 0, 0, 0, 0] } else { [0xc0, 0, 0x0e, 0xc8, 0, 32, 0, 0] });
    frame.resize(14 + 52, 0);
    frame
}
