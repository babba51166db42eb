//! The gain from sender threads: `cargo bench -p fairwire-service --bench senders`, as root.
//!
//! Frames come from memory and leave by a packet socket on a veth pair. The other end only counts
//! them, so only the gateway needs a processor. `docs/gateway/threads.md` has the model of the
//! printed terms.
//!
//! The gain is the ratio of the rates with two threads and with one. Other programs lower the
//! rates, so a pair of rounds counts only if the threads hardly waited for a processor. The ratio
//! is also computed from processor time, as if each thread had a processor.

#[path = "forwarding/frame.rs"]
mod frame;

use fairwire_core::{Duration, Seed};
use fairwire_datapath::io::senders::{Senders, SharedPort};
use fairwire_datapath::{Datapath, Wire};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{LinkKind, Outgoing, Port, PortError, PortHealth, Refused, Take, Transmit};
use fairwire_service::config::{Config, PlanContext};
use fairwire_testbed::bed::{Bed, HOST, Side};
use fairwire_testbed::schedule::waited;
use fairwire_wire::vnet::VnetHeader;
use frame::{FrameBytes, udp};
use std::cell::RefCell;
use std::fs;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Arc;

type Failure = Box<dyn std::error::Error>;

const FLOWS: u16 = 256;
const BATCH: usize = 64;
const CONFIG: &str = "format = 2\nname = \"bench\"\n[wire]\ninside = \"in\"\noutside = \"out\"\n[download]\n\
                      rate = \"40 Gbit/s\"\nflows = \"5-tuple\"\n";
const ROUNDS: usize = 15;
const ROUND: Duration = Duration::from_ms(800);
/// A round counts only if its threads' waits for a processor add up to at most this fraction of the
/// round.
const QUIET: f64 = 0.05;
const WARM_UP: Duration = Duration::from_ms(250);
/// Frames to this vacant address are counted and dropped.
const VACANT: [u8; 6] = [2, 0, 0, 0, 0, 0x99];

struct Source {
    frames: Vec<Vec<u8>>,
    next: usize,
    gives: usize,
}

impl Source {
    fn of(bytes: usize, gives: usize) -> Self {
        let one = |flow| udp(FrameBytes(bytes), VACANT, [[10, 0, 0, 1], [10, 0, 0, 2]], flow);
        Source { frames: (0..FLOWS).map(one).collect(), next: 0, gives }
    }
}

struct Nowhere;

impl Transmit for Nowhere {
    fn transmit_all(&self, _: &[Outgoing<'_>]) -> Refused {
        Refused::NONE
    }
}

enum End {
    Source(Source),
    Nowhere { is_handed_out: bool },
    Device(Box<AfPacket>),
}

impl Port for End {
    fn receive(&mut self, take: &mut Take<'_>) -> Result<(), PortError> {
        if let End::Source(source) = self {
            for _ in 0..source.gives {
                take(&source.frames[source.next], &VnetHeader::PLAIN);
                source.next = (source.next + 1) % source.frames.len();
            }
        }
        Ok(())
    }

    fn transmit(&mut self, frame: &[u8]) -> bool {
        self.transmit_all(&[Outgoing::of(frame)]) == Refused::NONE
    }

    fn transmit_all(&mut self, frames: &[Outgoing<'_>]) -> Refused {
        match self {
            End::Device(device) => device.transmit_all(frames),
            End::Source(_) | End::Nowhere { .. } => Refused::NONE,
        }
    }

    fn remote(&mut self) -> Option<Arc<dyn Transmit>> {
        match self {
            End::Device(device) => device.remote(),
            End::Nowhere { is_handed_out } => {
                (!std::mem::replace(is_handed_out, true)).then(|| Arc::new(Nowhere) as Arc<dyn Transmit>)
            }
            End::Source(_) => None,
        }
    }

    fn link_kind(&self) -> LinkKind {
        LinkKind::Ethernet
    }

    fn health(&mut self) -> PortHealth {
        PortHealth::default()
    }
}

struct Round {
    rate: f64,
    /// Processor time of the deciding thread per frame, ns.
    decides: f64,
    /// Processor time of the sender threads per frame, ns.
    sends: f64,
    refused: f64,
    /// The sum of all threads' waits for a processor, as a fraction of the round.
    waited: f64,
}

impl Round {
    /// Processor time per frame of the busier thread, ns. This thread limits the rate if each
    /// thread has a processor.
    fn limit(&self) -> f64 {
        self.decides.max(self.sends)
    }
}

fn waited_s() -> f64 {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks.map(|task| waited(&task.path()).secs()).sum()
}

/// Measures one round. `counted` returns the number of frames that left. If it returns `None`,
/// arrivals at the gateway are counted instead.
fn round(
    bytes: usize,
    threads: usize,
    end: End,
    counted: &dyn Fn() -> Option<u64>,
) -> Result<Round, Failure> {
    let config = Arc::new(Config::parse("bench.toml", CONFIG, None)?);
    let context = PlanContext { secret: [7; 16], seed: Seed(1), frame_bytes: 1514, link: LinkKind::Ethernet };
    let mut datapath = Datapath::new(config.plan(&context)?);
    let senders = match threads {
        1 => None,
        threads => Some(Rc::new(RefCell::new(Senders::start(threads - 1, 1514)?))),
    };
    let mut wire = Wire {
        left: SharedPort::new(End::Source(Source::of(bytes, BATCH)), 0, None),
        right: SharedPort::new(end, 1, senders.clone()),
    };
    let mut run = |length: Duration| -> Result<(), Failure> {
        let until = clock::now() + length;
        loop {
            let now = clock::now();
            datapath.step(&mut wire, now)?;
            if let Some(senders) = &senders {
                senders.borrow_mut().watch(now);
            }
            if now >= until {
                return Ok(());
            }
        }
    };
    run(WARM_UP)?;
    let others = || senders.as_ref().map_or(Duration::ZERO, |senders| senders.borrow().processor());
    let begun = (clock::now(), clock::thread(), others(), counted());
    let waited_before = waited_s();
    run(ROUND)?;
    let took = clock::now().since(begun.0).secs();
    let waited = (waited_s() - waited_before) / took;
    let left = counted().zip(begun.3).map(|(after, before)| (after - before) as f64);
    let decided = clock::thread().since(begun.1).ns() as f64;
    let sent = others().ns() as f64 - begun.2.ns() as f64;
    let totals = datapath.forward.totals();
    let all = totals.packets_in as f64 * took / (took + WARM_UP.secs());
    let frames = left.unwrap_or(all);
    let lost: u64 = totals.lost.iter().sum();
    Ok(Round {
        rate: frames / took,
        decides: decided / frames,
        sends: sent / frames,
        refused: lost as f64 / totals.packets_in as f64,
        waited,
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn ratios(bytes: usize, rounds: &[Vec<Round>; 2]) {
    let pairs = || rounds[0].iter().zip(&rounds[1]);
    let quiet: Vec<f64> = pairs()
        .filter(|(one, two)| one.waited.max(two.waited) <= QUIET)
        .map(|(one, two)| two.rate / one.rate)
        .collect();
    match quiet.len() {
        0 => println!("{bytes:>4} B: by the clock nothing is known: others had the processors in all rounds"),
        count => println!(
            "{bytes:>4} B: two threads forward {:.2} times what one does (median of {count} quiet pairs of {ROUNDS})",
            median(quiet)
        ),
    }
    let by_processor = median(pairs().map(|(one, two)| one.limit() / two.limit()).collect());
    println!("{bytes:>4} B: by processor time it is {by_processor:.2} (median of {ROUNDS} pairs)");
}

fn compare() -> Result<(), Failure> {
    let bed = Bed::new(1500)?;
    let name = Side::Right.end().name;
    let at_sink = || bed.sink.counted(HOST.name).ok().map(|counted| counted.received);
    println!("frames        threads   Mframes/s   decides, ns   sends, ns   refused");
    for bytes in [64, 1518] {
        let mut rounds: [Vec<Round>; 2] = Default::default();
        for _ in 0..ROUNDS {
            for (threads, rounds) in (1..).zip(&mut rounds) {
                bed.gateway.enter()?; // counting enters the sink's namespace
                rounds.push(round(bytes, threads, End::Device(Box::new(AfPacket::open(name)?)), &at_sink)?);
            }
        }
        let of = |rounds: &[Round], what: fn(&Round) -> f64| median(rounds.iter().map(what).collect());
        for (threads, rounds) in (1..).zip(&rounds) {
            let (rate, decides) = (of(rounds, |round| round.rate), of(rounds, |round| round.decides));
            let (sends, refused) = (of(rounds, |round| round.sends), of(rounds, |round| round.refused));
            println!(
                "{bytes:>4} B, sent  {threads:>7}   {:>9.3}   {decides:>11.0}   {sends:>9.0}   {:>6.2} %",
                rate / 1e6,
                refused * 100.0
            );
        }
        ratios(bytes, &rounds);
        for (what, threads) in [("decided", 1), ("handed on", 2)] {
            let rounds: Result<Vec<Round>, Failure> = (0..ROUNDS)
                .map(|_| round(bytes, threads, End::Nowhere { is_handed_out: false }, &|| None))
                .collect();
            let decides = median(rounds?.iter().map(|round| round.decides).collect());
            println!("{bytes:>4} B, {what:<10} {threads:>3}   {:>9}   {decides:>11.0}", "");
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    if !std::env::args().any(|word| word == "--bench") {
        println!("not measured: run `cargo bench -p fairwire-service --bench senders`"); // for `cargo test --all-targets`
        return ExitCode::SUCCESS;
    }
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
