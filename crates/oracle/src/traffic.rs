//! The traffic of the cases. All loads are parts of [`RATE`](crate::cases::RATE).

use crate::trace::{Flow, Traffic};
use fairwire_core::Ecn;

const fn flow(bytes: u32, mean_gap_us: u64, ecn: Ecn) -> Flow {
    Flow { bytes, mean_gap_us, ecn, from_ms: 0, until_ms: u64::MAX }
}

/// Packets of many sizes, half of the flows ECN-capable. A greedy flow comes for six seconds and takes the load from 0.9 to 1.4.
pub static OVERLOAD: Traffic = Traffic {
    duration_ms: 12_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 2_000, until_ms: 8_000, ..flow(1024, 2_000, Ecn::NotEct) },
        flow(256, 5_120, Ecn::NotEct),
        flow(1408, 14_080, Ecn::Ect0),
        flow(512, 5_120, Ecn::NotEct),
    ],
};

/// As [`OVERLOAD`], with packets of one size.
pub static ONE_SIZE: Traffic = Traffic {
    duration_ms: 12_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 2_000, until_ms: 8_000, ..flow(1024, 2_000, Ecn::NotEct) },
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 10_240, Ecn::Ect0),
        flow(1024, 10_240, Ecn::NotEct),
    ],
};

/// As [`ONE_SIZE`] and shorter, for disciplines that draw and so need many runs.
pub static SHORT: Traffic = Traffic {
    duration_ms: 6_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 1_000, until_ms: 5_000, ..flow(1024, 2_000, Ecn::NotEct) },
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 10_240, Ecn::Ect0),
        flow(1024, 10_240, Ecn::NotEct),
    ],
};

/// As [`SHORT`], with a load of 1.05: an average queue between thresholds can stay there.
pub static MILD: Traffic = Traffic {
    duration_ms: 6_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        Flow { from_ms: 500, ..flow(1024, 6_400, Ecn::NotEct) },
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 10_240, Ecn::Ect0),
        flow(1024, 10_240, Ecn::NotEct),
    ],
};

const fn burst(from_ms: u64) -> Flow {
    Flow { from_ms, until_ms: from_ms + 100, ..flow(1024, 1_280, Ecn::NotEct) }
}

/// A load of 0.64, and ten bursts of 100 ms in which it is 1.44.
pub static BURSTS: Traffic = Traffic {
    duration_ms: 11_000,
    flows: &[
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        flow(1024, 6_400, Ecn::NotEct),
        flow(1024, 6_400, Ecn::Ect0),
        burst(1_000),
        burst(2_000),
        burst(3_000),
        burst(4_000),
        burst(5_000),
        burst(6_000),
        burst(7_000),
        burst(8_000),
        burst(9_000),
        burst(10_000),
    ],
};

const fn bully(ecn: Ecn) -> [Flow; 5] {
    [
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 20_480, Ecn::Ect0),
        flow(1024, 20_480, Ecn::NotEct),
        flow(1024, 20_480, Ecn::Ect0),
        flow(1024, 1_024, ecn),
    ]
}

/// One flow that offers a load of 1 by itself, and little else (0.2): for disciplines that find the culprit.
pub static BULLY: Traffic = Traffic { duration_ms: 6_000, flows: &bully(Ecn::NotEct) };

/// As [`BULLY`], with a culprit that can be marked and does not care.
pub static BULLY_ECN: Traffic = Traffic { duration_ms: 6_000, flows: &bully(Ecn::Ect0) };
