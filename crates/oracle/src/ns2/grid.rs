//! The grid.

use super::cell::{Binomial, Cell, Class, Kind, Queue, Recovery, Red, Thresholds};

/// The timeout of ns-2 2.35 as it comes, ms.
const MIN_RTO_MS: u64 = 200;

const fn tcp(name: &'static str, recovery: Recovery, flows: u32) -> Class {
    let kind = Kind::Tcp { recovery, binomial: None, min_rto_ms: MIN_RTO_MS };
    Class { name, kind, flows, access_ms: 3 }
}

const fn newreno(flows: u32) -> Class {
    tcp("newreno", Recovery::NewReno, flows)
}

const fn far(class: Class, name: &'static str, access_ms: u64) -> Class {
    Class { name, access_ms, ..class }
}

const fn binomial(name: &'static str, [c1, c2, k, l]: [f64; 4], access_ms: u64) -> Class {
    let binomial = Some(Binomial { c1, c2, k, l });
    let kind = Kind::Tcp { recovery: Recovery::NewReno, binomial, min_rto_ms: MIN_RTO_MS };
    Class { name, kind, flows: 5, access_ms }
}

const fn cbr(kbps: u64) -> Class {
    Class { name: "cbr", kind: Kind::Cbr { bps: kbps * 1000, bytes: 552 }, flows: 1, access_ms: 3 }
}

const fn thresholds(min: u32, max: u32, inverse: u32) -> Thresholds {
    Thresholds { min, max, inverse }
}

const RED: Red = Red { thresholds: thresholds(25, 50, 10), gentle: true, wait: true, bytes: false };

const fn red(min: u32, max: u32, inverse: u32) -> Queue {
    Queue::Red(Red { thresholds: thresholds(min, max, inverse), ..RED })
}

/// ns-2's own thresholds, in packets.
const RIO: Queue = Queue::Rio { out: thresholds(5, 15, 10), within: thresholds(15, 30, 50) };

/// 10 Mbit/s with a round trip of 32 ms: 72 packets in flight.
const CELL: Cell = Cell {
    name: "",
    mbps: 10,
    queue: Queue::DropTail,
    buffer: 50,
    classes: &[],
    duration_s: 100,
    warm_up_s: 20,
    seeds: 8,
    is_quick: false,
};
const QUICK: Cell = Cell { is_quick: true, ..CELL };
const RED_CELL: Cell = Cell { queue: Queue::Red(RED), buffer: 100, ..CELL };
const REM_CELL: Cell = Cell { queue: Queue::Rem { target: 20 }, buffer: 100, ..CELL };
const RIO_CELL: Cell = Cell { queue: RIO, buffer: 100, ..CELL };
const DRR_CELL: Cell = Cell { queue: Queue::Drr, buffer: 100, ..CELL };

const SFQ_CELL: Cell = Cell { queue: Queue::Sfq, buffer: 100, ..CELL };

const NEAR_AND_FAR: &[Class] = &[far(newreno(5), "near", 3), far(newreno(5), "far", 23)];
const FLAVOURS: &[Class] = &[
    tcp("tahoe", Recovery::Tahoe, 3),
    tcp("reno", Recovery::Reno, 3),
    tcp("newreno", Recovery::NewReno, 3),
    tcp("sack", Recovery::Sack, 3),
];
/// Table 2 of AFD's paper: c1, c2, K, L, and the round trip, as the delay of the access links.
const AFD_TABLE_2: &[Class] = &[
    binomial("g0", [1.0, 0.9, 1.0, 1.0], 1),
    binomial("g1", [0.75, 0.31, 1.0, 1.0], 1),
    binomial("g2", [2.0, 0.5, 1.0, 1.0], 1),
    binomial("g3", [1.5, 1.0, 2.0, 0.0], 1),
    binomial("g4", [1.0, 0.5, 0.0, 1.0], 1),
    binomial("g5", [1.0, 0.5, 1.0, 1.0], 1),
    binomial("g6", [1.0, 0.5, 1.0, 1.0], 20),
];

/// Every cell.
pub const CELLS: &[Cell] = &[
    // Drop-tail.
    Cell { name: "droptail-newreno-2-small", buffer: 20, classes: &[newreno(2)], ..CELL },
    Cell { name: "droptail-newreno-10", classes: &[newreno(10)], ..QUICK },
    Cell { name: "droptail-newreno-10-large", buffer: 200, classes: &[newreno(10)], ..CELL },
    Cell { name: "droptail-newreno-rtt", classes: NEAR_AND_FAR, ..CELL },
    // Locked in phase: whether the CBR flow loses anything at all depends on when it starts. So there are more seeds.
    Cell { name: "droptail-newreno-cbr", classes: &[newreno(9), cbr(5000)], seeds: 24, ..CELL },
    Cell { name: "droptail-newreno-100", mbps: 20, buffer: 150, classes: &[newreno(100)], ..CELL },
    Cell { name: "droptail-newreno-starved", mbps: 1, buffer: 20, classes: &[newreno(50)], ..CELL },
    Cell {
        name: "droptail-newreno-500",
        mbps: 50,
        buffer: 400,
        classes: &[newreno(500)],
        duration_s: 50,
        seeds: 5,
        ..CELL
    },
    Cell { name: "droptail-tahoe-10", classes: &[tcp("tahoe", Recovery::Tahoe, 10)], ..CELL },
    Cell { name: "droptail-reno-10", classes: &[tcp("reno", Recovery::Reno, 10)], ..CELL },
    Cell { name: "droptail-sack-10", classes: &[tcp("sack", Recovery::Sack, 10)], ..CELL },
    Cell { name: "droptail-flavours", classes: FLAVOURS, ..CELL },
    Cell { name: "droptail-iiad", classes: &[binomial("iiad", [1.5, 1.0, 2.0, 0.0], 3), newreno(5)], ..CELL },
    // RED.
    Cell { name: "red-newreno-2", classes: &[newreno(2)], ..RED_CELL },
    Cell { name: "red-newreno-10", classes: &[newreno(10)], is_quick: true, ..RED_CELL },
    Cell {
        name: "red-newreno-10-tight",
        queue: red(5, 15, 10),
        buffer: 50,
        classes: &[newreno(10)],
        ..RED_CELL
    },
    Cell { name: "red-newreno-rtt", classes: NEAR_AND_FAR, ..RED_CELL },
    Cell {
        name: "red-newreno-cbr",
        queue: red(195, 390, 50),
        buffer: 780,
        classes: &[newreno(9), cbr(5000)],
        ..RED_CELL
    },
    Cell {
        name: "red-newreno-100",
        mbps: 20,
        queue: red(40, 80, 10),
        buffer: 160,
        classes: &[newreno(100)],
        ..RED_CELL
    },
    Cell {
        name: "red-newreno-500",
        mbps: 50,
        queue: red(100, 200, 10),
        buffer: 400,
        classes: &[newreno(500)],
        duration_s: 50,
        seeds: 5,
        ..RED_CELL
    },
    Cell {
        name: "red-ungentle",
        queue: Queue::Red(Red { gentle: false, ..RED }),
        classes: &[newreno(20)],
        ..RED_CELL
    },
    Cell {
        name: "red-no-wait",
        queue: Queue::Red(Red { wait: false, ..RED }),
        classes: &[newreno(10)],
        ..RED_CELL
    },
    Cell {
        name: "red-bytes",
        queue: Queue::Red(Red { bytes: true, ..RED }),
        classes: &[
            newreno(9),
            Class { name: "cbr", kind: Kind::Cbr { bps: 3_000_000, bytes: 200 }, flows: 1, access_ms: 3 },
        ],
        ..RED_CELL
    },
    Cell { name: "red-tahoe-10", classes: &[tcp("tahoe", Recovery::Tahoe, 10)], ..RED_CELL },
    Cell { name: "red-reno-10", classes: &[tcp("reno", Recovery::Reno, 10)], ..RED_CELL },
    Cell { name: "red-sack-10", classes: &[tcp("sack", Recovery::Sack, 10)], is_quick: true, ..RED_CELL },
    Cell { name: "red-flavours", classes: FLAVOURS, ..RED_CELL },
    Cell {
        name: "red-afd-table-2",
        mbps: 20,
        queue: red(50, 100, 10),
        buffer: 200,
        classes: AFD_TABLE_2,
        ..RED_CELL
    },
    // REM.
    Cell { name: "rem-newreno-10", classes: &[newreno(10)], is_quick: true, ..REM_CELL },
    Cell { name: "rem-newreno-cbr", classes: &[newreno(9), cbr(3000)], ..REM_CELL },
    Cell { name: "rem-newreno-rtt", classes: NEAR_AND_FAR, ..REM_CELL },
    Cell { name: "rem-sack-50", mbps: 20, classes: &[tcp("sack", Recovery::Sack, 50)], ..REM_CELL },
    // RIO: the first class is out of profile. The CBR flows' gaps are no whole number of packets of the link: while the link idles,
    // ns-2 counts the packets that it could have sent, and floating point would decide whether 4.0 of them are 3 or 4.
    Cell { name: "rio-newreno-cbr", classes: &[newreno(10), cbr(4100)], is_quick: true, ..RIO_CELL },
    Cell { name: "rio-sack-cbr", classes: &[tcp("sack", Recovery::Sack, 5), cbr(2100)], ..RIO_CELL },
    Cell {
        name: "rio-tcp-in",
        classes: &[far(newreno(5), "out", 3), far(newreno(5), "in", 23), cbr(2100)],
        ..RIO_CELL
    },
    // DRR.
    Cell { name: "drr-newreno-cbr", classes: &[newreno(9), cbr(5000)], is_quick: true, ..DRR_CELL },
    Cell { name: "drr-newreno-rtt", classes: NEAR_AND_FAR, ..DRR_CELL },
    Cell { name: "drr-flavours", classes: FLAVOURS, ..DRR_CELL },
    Cell { name: "drr-afd-table-2", mbps: 20, buffer: 200, classes: AFD_TABLE_2, ..DRR_CELL },
    // SFQ: at most twelve flows, each with a bucket of its own.
    // Locked in step for a part of the seeds, on both sides: so there are more.
    Cell { name: "sfq-newreno-10", classes: &[newreno(10)], seeds: 24, ..SFQ_CELL },
    Cell { name: "sfq-newreno-10-tight", buffer: 40, classes: &[newreno(10)], seeds: 24, ..SFQ_CELL },
    Cell { name: "sfq-newreno-cbr", classes: &[newreno(9), cbr(5000)], ..SFQ_CELL },
    Cell { name: "sfq-newreno-rtt", classes: NEAR_AND_FAR, ..SFQ_CELL },
    Cell { name: "sfq-flavours", classes: FLAVOURS, ..SFQ_CELL },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_grid_is_as_wide_as_promised() {
        assert!(CELLS.len() >= 24);
        assert!(CELLS.iter().all(|cell| cell.seeds >= 5 && cell.duration_s > cell.warm_up_s));
        assert_eq!(CELLS.iter().filter(|cell| cell.is_quick).count(), 6);
        let flows: BTreeSet<u32> = CELLS.iter().map(Cell::flows).collect();
        assert_eq!((flows.first(), flows.last()), (Some(&2), Some(&500)));
        for queue in ["DropTail", "RED", "REM", "RED/RIO", "DRR", "SFQ"] {
            assert!(CELLS.iter().filter(|cell| cell.queue.ns2_name() == queue).count() >= 3, "{queue}");
        }
    }

    #[test]
    fn every_name_is_said_once() {
        let names: BTreeSet<_> = CELLS.iter().map(|cell| cell.name).collect();
        assert_eq!(names.len(), CELLS.len());
        for cell in CELLS {
            let classes: BTreeSet<_> = cell.classes.iter().map(|class| class.name).collect();
            assert_eq!(classes.len(), cell.classes.len(), "{}", cell.name);
        }
    }
}
