//! The pauses of the datapath thread for telemetry: `cargo bench -p fairwire-service --bench
//! telemetry`.
//!
//! Pauses are in the thread's processor time, so other processes do not count.

use fairwire_core::Weight;
use fairwire_core::scheduler::Fcfs;
use fairwire_core::{Dropper, Duration, Limit, Queue, Rate, Time};
use fairwire_datapath::class_book::{Bounds, Class, ClassBook, ClassKind};
use fairwire_datapath::classify::{Classifier, FlowKind, LinkKind};
use fairwire_datapath::direction::{DirectionPlan, ShaperPlan};
use fairwire_datapath::pool::PoolSize;
use fairwire_datapath::{Datapath, DatapathPlan};
use fairwire_linux::clock;
use fairwire_service::telemetry::{About, Observer, PortState, WayAbout};
use fairwire_wire::Way;
use fairwire_wire::flow_key::FlowHasher;
use fairwire_wire::vnet::VnetHeader;
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;

const FLOWS: usize = 4096;
const CLASSES: usize = 20_000;

struct TailDrop;
impl Dropper for TailDrop {}

fn book() -> ClassBook {
    let class = |number: usize| Class {
        name: format!("subscriber-{number}"),
        parent: (number > 100).then_some((number % 100 + 1) as u32),
        kind: ClassKind::Subscriber,
        weight: Weight::ONE,
        bounds: [Bounds::default(); 2],
        is_suspended: false,
    };
    ClassBook::new((0..CLASSES).map(class).collect())
}

fn thread_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn main() {
    let way = WayAbout {
        discipline: "tail-drop".into(),
        rate_bps: 1_000_000_000,
        law: None,
        flows: FlowKind::FiveTuple,
        accounts: FLOWS,
    };
    let about = About {
        name: "bench".into(),
        book: Arc::new(book()),
        ways: [way.clone(), way],
        interfaces: ["in".into(), "out".into()],
        is_headless: false,
        captured: 4096,
        config: None,
    };
    let direction = || DirectionPlan {
        shaper: Some(ShaperPlan {
            discipline: Box::new(Queue::new(Limit::packets(100), Fcfs, TailDrop)),
            rate: Rate::from_bps(1_000_000_000).expect("not zero"),
            catch_up: Duration::ZERO,
            not_ip: Rate::from_bps(10_000_000).expect("not zero"),
            control: Rate::from_bps(10_000_000).expect("not zero"),
        }),
        classifier: Classifier::new(FlowHasher::new([7; 16]), 0),
        pool: PoolSize { frames: 256, frame_bytes: 1518 },
        flows: FLOWS,
        classes: CLASSES,
    };
    let mut datapath = Datapath::new(DatapathPlan { forward: direction(), backward: direction() });
    let mut observer = Observer::of(about, Time::ZERO);
    let board = observer.board();
    let mut pauses = Vec::new();
    let mut frame = [0u8; 64];
    frame[12..14].copy_from_slice(&[0x08, 0x06]); // not IP: each sender is a flow, and nothing waits
    for step in 0..1100u64 {
        let now = Time::ZERO + Duration::from_ms(10) * step;
        for sender in 0..FLOWS as u32 {
            frame[6..10].copy_from_slice(&sender.to_be_bytes());
            let Datapath { forward, backward, trips, .. } = &mut datapath;
            let (plain, kind) = (&VnetHeader::PLAIN, LinkKind::Ethernet);
            forward.receive(&frame, plain, kind, now, &mut trips.of(Way::Download));
            backward.receive(&frame, plain, kind, now, &mut trips.of(Way::Upload));
        }
        let before = thread_ns();
        observer.observe(now, &datapath, [PortState::default(); 2]);
        if step >= 100 {
            pauses.push(thread_ns() - before);
        }
    }
    pauses.sort_unstable();
    let us = |ns: u64| ns as f64 / 1e3;
    println!(
        "pause for telemetry, {FLOWS} flows and {CLASSES} classes each way: median {:.1} us, 99 of 100 under {:.1} us, longest {:.1} us",
        us(pauses[pauses.len() / 2]),
        us(pauses[pauses.len() * 99 / 100]),
        us(pauses[pauses.len() - 1])
    );
    let before = clock::now();
    let snapshot = board.latest_with_classes();
    let took = clock::now().since(before);
    println!(
        "a snapshot with {} classes and {} active flows takes its reader {:.1} ms",
        snapshot.ways[0].classes.len(),
        snapshot.ways[0].active_flows,
        took.secs() * 1e3
    );
}
