//! Measures the same costs as `tests/c/cost.c`: `cost LAW` prints the nanoseconds per packet for
//! one enqueue and one dequeue.

use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Ignore, Packet, Rate, Seed, Time};
use fairwire_laws::{Site, named};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: u32 = 40_000;
const BATCH: u32 = 32;

fn ns() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

struct State {
    now: u64,
    frame: u32,
}

impl State {
    fn packet(&mut self) -> Packet {
        self.frame = self.frame.wrapping_add(1);
        Packet::new(self.frame, 1000, u64::from(self.frame % 8).into(), Time::from_ns(self.now))
    }

    fn timed(&mut self, queue: &mut dyn Discipline, batch: u32) -> f64 {
        let start = ns();
        let step = 500 * u64::from(batch);
        for _ in 0..ROUNDS * BATCH / batch {
            self.now += step;
            for _ in 0..batch {
                queue.enqueue(self.packet(), Time::from_ns(self.now), &mut Ignore);
            }
            self.now += step;
            for _ in 0..batch {
                assert!(queue.dequeue(Time::from_ns(self.now), &mut Ignore).is_some());
            }
        }
        (ns() - start) / f64::from(ROUNDS * BATCH)
    }
}

fn main() {
    let name = std::env::args().nth(1).expect("the name of a law");
    let rate = Rate::from_bps(8_000_000_000).expect("not zero");
    let site =
        Site { rate, buffer: Amount::Packets(200), packet_bytes: 1514, seed: Seed(1), stream: "fairwire" };
    let mut queue = named::read(&name, "").expect("a law").build(&site).expect("its defaults are right");
    let mut state = State { now: 0, frame: 0 };
    for _ in 0..40 {
        queue.enqueue(state.packet(), Time::ZERO, &mut Ignore);
    }
    state.timed(&mut *queue, 1);
    state.timed(&mut *queue, BATCH);
    println!("{:.1} {:.1}", state.timed(&mut *queue, 1), state.timed(&mut *queue, BATCH));
}
