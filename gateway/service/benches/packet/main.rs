//! The cost of a packet in the gateway itself, without any system call: `cargo bench -p
//! fairwire-service --bench packet`.
//!
//! The result is nanoseconds of the thread's processor time per frame, the median of rounds. For a
//! profile of instructions, run one of the loads, 0 to 9, under callgrind:
//!
//! ```text
//! valgrind --tool=callgrind --toggle-collect='*packet::forwarded*' PROGRAM --once 0
//! ```

#[path = "../forwarding/frame.rs"]
mod frame;

use fairwire_core::{Duration, Seed, Time};
use fairwire_datapath::{Datapath, Wire};
use fairwire_linux::clock;
use fairwire_linux::port::{LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take};
use fairwire_service::config::{Config, PlanContext};
use fairwire_service::telemetry::{About, Observer, PortState};
use fairwire_wire::vnet::VnetHeader;
use frame::{FrameBytes, goes_on, spins, tcp, udp};
use std::sync::Arc;

const FLOWS: u16 = 64;
const BATCH: u64 = 32;
const RATE_BPS: u64 = 1_000_000_000;
const CONFIG: &str = "format = 2\nname = \"bench\"\n[wire]\ninside = \"in\"\noutside = \"out\"\n[download]\nrate = \"1 Gbit/s\"\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Udp,
    Tcp,
    Quic,
}

use Protocol::{Quic, Tcp, Udp};

/// Supplies frames of all flows in turn, and discards the frames that it receives.
struct Source {
    frames: Vec<Vec<u8>>,
    next: usize,
    gives: u64,
    protocol: Protocol,
    rounds: u32,
}

impl Source {
    fn of(bytes: usize, gives: u64, protocol: Protocol) -> Self {
        let made = if protocol == Tcp { tcp } else { udp };
        let frames = (0..FLOWS)
            .map(|flow| made(FrameBytes(bytes), [0; 6], [[10, 0, 0, 1], [10, 0, 0, 2]], flow))
            .collect();
        Source { frames, next: 0, gives, protocol, rounds: 0 }
    }
}

impl Port for Source {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        for _ in 0..self.gives {
            match self.protocol {
                Udp => {}
                Tcp => goes_on(&mut self.frames[self.next], self.rounds),
                Quic => spins(&mut self.frames[self.next], self.rounds),
            }
            take(&self.frames[self.next], &VnetHeader::PLAIN);
            self.next = (self.next + 1) % self.frames.len();
            self.rounds += u32::from(self.next == 0);
        }
        Ok(())
    }

    fn transmit(&mut self, _: &[u8]) -> bool {
        true
    }

    fn transmit_all(&mut self, _: &[Outgoing<'_>]) -> Refused {
        Refused::NONE
    }

    fn link_kind(&self) -> LinkKind {
        LinkKind::Ethernet
    }

    fn health(&mut self) -> PortHealth {
        PortHealth::default()
    }
}

struct Stream {
    datapath: Datapath,
    observer: Observer,
    wire: Wire<Source>,
    step: Duration,
    now: Time,
    observe_at: Time,
}

impl Stream {
    fn of((bytes, load, protocol): Load) -> Self {
        let config = Arc::new(Config::parse("bench.toml", CONFIG, None).expect("it is allowed"));
        let context =
            PlanContext { secret: [7; 16], seed: Seed(1), frame_bytes: 1514, link: LinkKind::Ethernet };
        let mut datapath = Datapath::new(config.plan(&context).expect("it can be built"));
        let observer = Observer::of(About::of(&config), Time::ZERO);
        observer.record(&mut datapath);
        let wire_bits = 8.0 * (bytes + 20) as f64; // the default of `framing`: preamble and gap count too
        let step = Duration::from_secs_f64(BATCH as f64 * wire_bits / RATE_BPS as f64 / load);
        let wire = Wire { left: Source::of(bytes, BATCH, protocol), right: Source::of(bytes, 0, protocol) };
        Stream { datapath, observer, wire, step, now: Time::ZERO, observe_at: Time::ZERO }
    }
}

#[inline(never)]
fn forwarded(stream: &mut Stream, batches: u64) {
    for _ in 0..batches {
        stream.now += stream.step;
        stream.datapath.step(&mut stream.wire, stream.now).expect("memory does not fail");
        if stream.now >= stream.observe_at {
            stream.observe_at = stream.now + Duration::from_ms(10);
            stream.observer.observe(stream.now, &stream.datapath, [PortState::default(); 2]);
        }
    }
}

/// The bytes of a frame, the arrival rate as a multiple of the link's rate, and the protocol.
type Load = (usize, f64, Protocol);
const LOADS: [Load; 10] = [
    (64, 0.9, Udp),
    (64, 1.5, Udp),
    (1518, 0.9, Udp),
    (1518, 1.5, Udp),
    (72, 0.9, Tcp), // with timestamps there is a byte of payload
    (72, 1.5, Tcp),
    (1518, 0.9, Tcp),
    (1518, 1.5, Tcp),
    (64, 0.9, Quic),
    (1518, 0.9, Quic),
];
/// Batches to fill the buffer and the tables.
const WARM_UP: u64 = 2_000;
const BATCHES: u64 = 2_000;
const ROUNDS: usize = 41;

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let once = words.iter().position(|word| word == "--once").and_then(|at| words.get(at + 1)?.parse().ok());
    if let Some(load) = once.and_then(|load: usize| LOADS.get(load)) {
        forwarded(&mut Stream::of(*load), BATCHES);
        let (bytes, load, _) = load;
        return println!("{bytes} B at {load} of the rate: {} packets forwarded", BATCHES * BATCH);
    }
    for (bytes, load, protocol) in LOADS {
        let mut stream = Stream::of((bytes, load, protocol));
        forwarded(&mut stream, WARM_UP);
        let mut rounds: Vec<u64> = (0..ROUNDS)
            .map(|_| {
                let before = clock::thread().ns();
                forwarded(&mut stream, BATCHES);
                clock::thread().ns() - before
            })
            .collect();
        rounds.sort_unstable();
        let ns = |total: u64| total as f64 / (BATCHES * BATCH) as f64;
        let totals = stream.datapath.forward.totals();
        println!(
            "{bytes:>5} B {protocol:?} at {load} of the rate: {:.0} ns a packet (fastest round {:.0}), {:.1} % dropped",
            ns(rounds[ROUNDS / 2]),
            ns(rounds[0]),
            totals.dropped.iter().sum::<u64>() as f64 / totals.packets_in as f64 * 100.0
        );
    }
}
