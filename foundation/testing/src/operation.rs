//! Operations on a discipline.

use fairwire_core::Ecn;
use fairwire_core::rng::mix;
use proptest::prelude::*;

/// One operation on a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A packet is offered.
    Enqueue {
        /// Its flow.
        flow: u64,
        /// The packet's bytes on the wire.
        len: u32,
        /// Its ECN codepoint.
        ecn: Ecn,
    },
    /// The transmitter polls for a packet.
    Dequeue,
    /// Nothing happens for this number of nanoseconds.
    Wait(u64),
}

/// The bounds of random sequences.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The number of flows.
    pub flows: u64,
    /// The maximum usual size, bytes on the wire. Nine in ten packets are between 40 bytes and this
    /// size.
    pub max_packet_bytes: u32,
    /// The extreme sizes, which one packet in ten has. If empty, all packets have usual sizes.
    pub extreme_bytes: &'static [u32],
    /// The longest wait, in nanoseconds.
    pub max_wait: u64,
    /// The longest sequence.
    pub max_operations: usize,
}

impl Default for Shape {
    /// A shape that fills and empties a buffer of a few dozen packets.
    fn default() -> Self {
        Shape {
            flows: 12,
            max_packet_bytes: 1514,
            extreme_bytes: &[0, 1, 65_535],
            max_wait: 20_000_000,
            max_operations: 400,
        }
    }
}

/// Random sequences of operations. Offers outnumber polls, so buffers fill.
pub fn operations(shape: Shape) -> impl Strategy<Value = Vec<Operation>> {
    let usual = 40..=shape.max_packet_bytes.max(40);
    let len = match shape.extreme_bytes {
        [] => usual.boxed(),
        extremes => prop_oneof![9 => usual, 1 => prop::sample::select(extremes)].boxed(),
    };
    let enqueue = (0..shape.flows, len, 0..4u8).prop_map(|(flow, len, bits)| Operation::Enqueue {
        flow,
        len,
        ecn: Ecn::from_bits(bits),
    });
    let wait = prop_oneof![
        8 => 0..=shape.max_wait / 20,
        1 => 0..=shape.max_wait,
    ];
    let operation = prop_oneof![
        6 => enqueue,
        4 => Just(Operation::Dequeue),
        3 => wait.prop_map(Operation::Wait),
    ];
    prop::collection::vec(operation, 0..=shape.max_operations)
}

/// A fixed sequence that offers packets at 1.5 times the rate of a 10 Mbit/s link. During pauses,
/// averages fall and token buckets fill.
///
/// The heaviest flow changes, and neither offers nor polls are periodic. So the longest queue is
/// often neither the oldest nor the previously longest.
pub fn contest(flows: u64, offers: u64) -> Vec<Operation> {
    let is_picked = |i: u64, salt: u64| i % 3 == mix((i / 3) ^ salt) % 3;
    let enqueue = |i: u64| Operation::Enqueue {
        // Flow 5 sends the last 30 of each thousand packets. At least a third of the other packets
        // come from a single flow, which is replaced by another every 400 packets.
        flow: match i {
            _ if i % 1000 >= 970 => 5,
            _ if is_picked(i, 0xf1) => i / 400 % 3,
            _ => mix(i) % flows,
        },
        len: 256 + (mix(i ^ 0x1e) % 513) as u32, // 512 on average
        ecn: if mix(i ^ 0xec) & 1 == 0 { Ecn::NotEct } else { Ecn::Ect0 },
    };
    let mut operations = Vec::new();
    for i in 0..offers {
        operations.push(enqueue(i));
        operations.push(Operation::Wait(273_067)); // two thirds of the time that 512 bytes take at 10 Mbit/s
        if !is_picked(i, 0xde) {
            operations.push(Operation::Dequeue);
        }
        if i % 4000 == 3999 {
            operations.extend([Operation::Dequeue; 60]);
            operations.push(Operation::Wait(30_000_000));
        }
    }
    operations
}
