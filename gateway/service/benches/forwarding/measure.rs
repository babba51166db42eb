//! One measurement of one contestant.

use super::Failure;
use super::contestant::{Contestant, Watch};
use super::frame::{FrameBytes, udp};
use super::stage::{Core, ROUTED_SOURCE, Stage, VACANT, VACANT_MAC, Way, pin};
use fairwire_core::Duration;
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::{MAX_FRAMES_AT_ONCE, Outgoing, Port};
use fairwire_testbed::awake::Awake;
use fairwire_testbed::bed::HOST;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The rate of frames of 64 bytes at saturation, in frames per second.
    Small,
    /// The rate of frames of 1518 bytes at saturation, in frames per second.
    Large,
    /// Bits of TCP payload per second.
    Tcp,
    /// One-way delay of a small datagram on an otherwise idle path, in nanoseconds: median and 99th
    /// percentile.
    Idle,
    /// CPU time per frame at [`FIXED_RATE`], in nanoseconds, of our thread or of the kernel's
    /// processor.
    Cpu,
}

pub(crate) const QUESTIONS: [(&str, Question); 5] = [
    ("small", Question::Small),
    ("large", Question::Large),
    ("tcp", Question::Tcp),
    ("idle", Question::Idle),
    ("cpu", Question::Cpu),
];

impl Question {
    /// Does this question suit `contestant`? CPU time needs a separate processor, because otherwise
    /// the kernel's work is charged to other threads.
    pub(crate) fn suits(self, contestant: &Contestant) -> bool {
        match self {
            Question::Cpu => contestant.has_own_core(),
            Question::Tcp => true,
            Question::Small | Question::Large | Question::Idle => !contestant.is_bottleneck(),
        }
    }
}
const WARM_UP: Duration = Duration::from_ms(200);
const WINDOW: Duration = Duration::from_ms(700);
const TCP_WINDOW: Duration = Duration::from_ms(1500);
const TCP_STREAMS: usize = 4;
const PINGS: usize = 400;
/// The time for which CPU time is measured. It is long, since the kernel counts CPU time in steps
/// of 10 ms.
const PROCESSOR_WINDOW: Duration = Duration::from_ms(2000);
/// Frames per second while CPU time is measured. Every contestant can carry this rate.
pub(crate) const FIXED_RATE: u64 = 100_000;
const PORT: u16 = 5001;

/// Measures `contestant`. The second number is the 99th percentile for [`Question::Idle`],
/// otherwise 0.
pub(crate) fn measure(
    stage: &Stage,
    contestant: &Contestant,
    question: Question,
) -> Result<[f64; 2], Failure> {
    // The kernel's CPU time is computed from the idle time of its processor, so no processor is
    // kept awake.
    let counts_idle = question == Question::Cpu && !contestant.is_ours();
    let awake = if counts_idle { Ok(Awake::default()) } else { Awake::keep() };
    if let Err(error) = &awake {
        eprintln!("note: {error}");
    }
    stage.bed.gateway.enter()?;
    contestant.prepare()?;
    let watch = Watch::default();
    let answer = thread::scope(|scope| -> Result<[f64; 2], Failure> {
        let gateway = scope.spawn(|| -> Result<(), String> {
            stage.bed.gateway.enter().map_err(|error| error.to_string())?;
            contestant.run(&watch).map_err(|error| error.to_string())
        });
        if contestant.is_ours() {
            while !watch.is_ready.load(Ordering::Relaxed) && !gateway.is_finished() {
                thread::yield_now();
            }
        }
        let answer = match question {
            Question::Small => saturate(stage, contestant, FrameBytes(64)),
            Question::Large => saturate(stage, contestant, FrameBytes(1518)),
            Question::Tcp => tcp(stage, contestant.way()),
            Question::Idle => idle(stage, contestant.way()),
            Question::Cpu => cpu(stage, contestant, &watch),
        };
        watch.is_over.store(true, Ordering::Relaxed);
        gateway.join().map_err(|_| "the gateway panicked")??;
        answer
    });
    stage.bed.gateway.enter()?;
    contestant.clean_up()?;
    answer
}

/// Sends frames of 64 flows: one every `gap`, or as many as possible.
fn blast(
    stage: &Stage,
    way: Way,
    bytes: FrameBytes,
    gap: Option<Duration>,
    is_over: &AtomicBool,
) -> Result<(), String> {
    stage.bed.source.enter().map_err(|error| error.to_string())?;
    pin(Core::Source);
    let mut port = AfPacket::open(HOST.name).map_err(|error| error.to_string())?;
    let mac = if way == Way::Routed { stage.gateway_mac } else { VACANT_MAC };
    let ends = [ROUTED_SOURCE, VACANT].map(|address| address.octets());
    let frames: Vec<_> =
        (0..MAX_FRAMES_AT_ONCE).map(|flow| udp(bytes, mac, ends, 1000 + flow as u16)).collect();
    let batch: Vec<_> = frames.iter().map(|bytes| Outgoing::of(bytes)).collect();
    let mut due = clock::now();
    let mut turn = batch.iter().cycle();
    while !is_over.load(Ordering::Relaxed) {
        match gap {
            None => {
                port.transmit_all(&batch);
            }
            Some(gap) if clock::now() >= due => {
                due += gap;
                port.transmit(turn.next().ok_or("no frames")?.bytes);
            }
            Some(_) => std::hint::spin_loop(),
        }
    }
    Ok(())
}

fn saturate(stage: &Stage, contestant: &Contestant, bytes: FrameBytes) -> Result<[f64; 2], Failure> {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let blaster = scope.spawn(|| blast(stage, contestant.way(), bytes, None, &is_over));
        clock::sleep_until(clock::now() + WARM_UP);
        let (from, before) = (clock::now(), stage.frames_at_sink()?);
        clock::sleep_until(from + WINDOW);
        let (to, after) = (clock::now(), stage.frames_at_sink()?);
        is_over.store(true, Ordering::Relaxed);
        blaster.join().map_err(|_| "the blaster panicked")??;
        Ok([(after - before) as f64 / to.since(from).secs(), 0.0])
    })
}

fn cpu(stage: &Stage, contestant: &Contestant, watch: &Watch) -> Result<[f64; 2], Failure> {
    let is_over = AtomicBool::new(false);
    let gap = Some(Duration::from_ns(1_000_000_000 / FIXED_RATE));
    // The work of other programs on the kernel's processor is measured first, and subtracted later.
    let quiet = if contestant.is_ours() { 0.0 } else { busy(&mut || Ok(0))?.0 };
    thread::scope(|scope| {
        let blaster = scope.spawn(|| blast(stage, contestant.way(), FrameBytes(64), gap, &is_over));
        clock::sleep_until(clock::now() + WARM_UP);
        let answer = if contestant.is_ours() {
            let now = || (watch.cpu_ns.load(Ordering::Relaxed), watch.packets_out.load(Ordering::Relaxed));
            let before = now();
            clock::sleep_until(clock::now() + WINDOW);
            let after = now();
            (after.0 - before.0) as f64 / (after.1 - before.1) as f64
        } else {
            let (busy, frames) = busy(&mut || stage.frames_at_sink())?;
            (busy - quiet) * PROCESSOR_WINDOW.ns() as f64 / frames as f64
        };
        is_over.store(true, Ordering::Relaxed);
        blaster.join().map_err(|_| "the blaster panicked")??;
        Ok([answer, 0.0])
    })
}

fn busy(count: &mut dyn FnMut() -> Result<u64, Failure>) -> Result<(f64, u64), Failure> {
    let (from, idle, counted) = (clock::now(), idle_ns(Core::Gateway)?, count()?);
    clock::sleep_until(from + PROCESSOR_WINDOW);
    let (to, idle, counted) = (clock::now(), idle_ns(Core::Gateway)? - idle, count()? - counted);
    Ok((1.0 - idle as f64 / to.since(from).ns() as f64, counted))
}

fn idle_ns(core: Core) -> Result<u64, Failure> {
    let name = format!("cpu{}", core.number());
    let text = std::fs::read_to_string("/proc/stat")?;
    let mut words = text
        .lines()
        .map(str::split_whitespace)
        .find_map(|mut words| (words.next() == Some(name.as_str())).then_some(words))
        .ok_or_else(|| format!("/proc/stat has no {name}"))?;
    // The fields idle and iowait follow user, nice and system, in hundredths of a second.
    let [idle, waiting] = [words.nth(3), words.next()].map(|word| word.unwrap_or("").parse::<u64>());
    Ok((idle? + waiting?) * 10_000_000)
}

fn tcp(stage: &Stage, way: Way) -> Result<[f64; 2], Failure> {
    let (_, sink) = way.addresses();
    let received = AtomicU64::new(0);
    let is_over = AtomicBool::new(false);
    stage.bed.sink.enter()?;
    let listener = TcpListener::bind((sink, PORT))?;
    thread::scope(|scope| {
        for _ in 0..TCP_STREAMS {
            scope.spawn(|| {
                pin(Core::Source);
                stage.bed.source.enter().ok()?;
                let mut stream = TcpStream::connect((sink, PORT)).ok()?;
                rustix::net::sockopt::set_tcp_congestion(&stream, "cubic").ok();
                let data = vec![0; 256 << 10];
                while !is_over.load(Ordering::Relaxed) {
                    stream.write_all(&data).ok()?;
                }
                Some(())
            });
            let (mut stream, _) = listener.accept()?;
            let received = &received;
            scope.spawn(move || {
                pin(Core::Sink);
                let mut data = vec![0; 256 << 10];
                while let Ok(count) = stream.read(&mut data) {
                    if count == 0 {
                        break;
                    }
                    received.fetch_add(count as u64, Ordering::Relaxed);
                }
            });
        }
        clock::sleep_until(clock::now() + WARM_UP * 2);
        let (from, before) = (clock::now(), received.load(Ordering::Relaxed));
        clock::sleep_until(from + TCP_WINDOW);
        let (to, after) = (clock::now(), received.load(Ordering::Relaxed));
        is_over.store(true, Ordering::Relaxed);
        Ok([(after - before) as f64 * 8.0 / to.since(from).secs(), 0.0])
    })
}

fn idle(stage: &Stage, way: Way) -> Result<[f64; 2], Failure> {
    let (source, sink) = way.addresses();
    stage.bed.sink.enter()?;
    let there = UdpSocket::bind((sink, PORT))?;
    there.set_read_timeout(Some(std::time::Duration::from_millis(300)))?;
    stage.bed.source.enter()?;
    let here = UdpSocket::bind((source, 0))?;
    let mut times = thread::scope(|scope| -> Result<Vec<u64>, Failure> {
        let receiver = scope.spawn(|| {
            pin(Core::Sink);
            let mut times = Vec::with_capacity(PINGS);
            let mut data = [0; 8];
            while let Ok(8) = there.recv(&mut data) {
                times.push(clock::now().ns() - u64::from_ne_bytes(data));
            }
            times
        });
        let sender = scope.spawn(|| {
            pin(Core::Source);
            for _ in 0..PINGS {
                here.send_to(&clock::now().ns().to_ne_bytes(), (sink, PORT))?;
                clock::sleep_until(clock::now() + Duration::from_us(900));
            }
            Ok::<_, std::io::Error>(())
        });
        sender.join().map_err(|_| "the sender panicked")??;
        Ok(receiver.join().map_err(|_| "the receiver panicked")?)
    })?;
    times.sort_unstable();
    let part = |percent: usize| times.get(times.len() * percent / 100).map_or(f64::NAN, |ns| *ns as f64);
    Ok([part(50), part(99)])
}
