//! Shares a link inside your own program: one flow offers three times as much as the other.

use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Discipline, Packet, Seed, Signals, Time};

/// Receives the dropped packets, and counts them by flow.
#[derive(Default)]
struct Dropped([u32; 2]);

impl Signals for Dropped {
    fn dropped(&mut self, packet: Packet, _cause: Cause) {
        self.0[packet.frame as usize] += 1;
    }
    fn marked(&mut self, _packet: &Packet, _cause: Cause) {}
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let site = Site {
        rate: "10 Mbit/s".parse()?,
        buffer: Amount::Packets(100),
        packet_bytes: 1000,
        seed: Seed(1),
        stream: "my link",
    };
    let mut queue = build("faba", &Parameters::default(), &site)?;
    let (mut dropped, mut sent) = (Dropped::default(), [0; 2]);
    for turn in 0..10_000 {
        let now = Time::from_ns(turn * 800_000); // 1000 bytes at 10 Mbit/s take 800 µs
        for flow in [0, 1, 1, 1] {
            let packet = Packet::new(flow, 1000, u64::from(flow).into(), now);
            queue.enqueue(packet, now, &mut dropped);
        }
        if let Some(packet) = queue.dequeue(now, &mut dropped) {
            sent[packet.frame as usize] += 1;
        }
    }
    println!("sent {sent:?}, dropped {:?}", dropped.0);
    Ok(())
}
