//! A TCP flow must get the rate that a flood leaves free. Each packet of the flood belongs to a
//! different flow.

use crate::built;
use fairwire_core::units::Amount;
use fairwire_core::{Cause, Duration, Packet, Rate, Rng, Seed, Server, Signals, Time, Transmitter};
use fairwire_laws::Site;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const LINK: u64 = 50_000_000;
/// A full Ethernet frame on the link.
const FULL: u32 = 1538;
/// The size on the link of the shortest Ethernet frame (64 B).
const SHORT: u32 = 84;
const TCP: u64 = 1;
const ROUND_TRIP: Duration = Duration::from_ms(20);
const SECONDS: u64 = 12;
const WARM_UP: u64 = 4;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Acknowledged,
    Lost,
    Flood,
}

/// A TCP window that doubles at first, then grows by one packet per round trip.
struct Window {
    size: f64,
    flying: u32,
    has_lost: bool,
    holds_until: Time,
}

impl Window {
    fn acknowledged(&mut self) {
        self.flying -= 1;
        self.size += if self.has_lost { 1.0 / self.size } else { 1.0 };
    }

    fn lost(&mut self, now: Time) {
        self.flying -= 1;
        self.has_lost = true;
        if now > self.holds_until {
            self.size = (self.size * 0.7).max(2.0);
            self.holds_until = now + ROUND_TRIP;
        }
    }
}

#[derive(Default)]
struct Drops(u32);

impl Signals for Drops {
    fn dropped(&mut self, packet: Packet, _: Cause) {
        self.0 += u32::from(packet.flow == TCP.into());
    }
    fn marked(&mut self, _: &Packet, _: Cause) {}
}

/// TCP throughput in Mbit/s under `discipline`, while random sources send `datagrams` per second.
fn left_to_tcp(discipline: &str, typed: &str, datagrams: u64) -> f64 {
    let rate = Rate::from_bps(LINK).expect("not zero");
    let buffer = Amount::Time(Duration::from_ms(50));
    let site = Site { rate, buffer, packet_bytes: FULL, seed: Seed(1), stream: "spoofed" };
    let mut server = Server::new(built(discipline, typed, &site), Transmitter::new(rate));
    let mut rng: Rng = Seed(2).stream("flood");
    let mut events = BinaryHeap::from([Reverse((Time::ZERO, Event::Flood))]);
    let mut window = Window { size: 2.0, flying: 0, has_lost: false, holds_until: Time::ZERO };
    let mut drops = Drops::default();
    let (mut now, mut got) = (Time::ZERO, 0u64);
    while now < Time::ZERO + Duration::from_secs(SECONDS) {
        let mut began = Vec::new();
        let next = events.peek().map_or(Time::MAX, |Reverse((at, _))| *at);
        if server.next_poll_at() <= next {
            now = server.next_poll_at();
            began.extend(server.poll(now, &mut drops));
        } else {
            let Reverse((at, event)) = events.pop().expect("the flood goes on");
            now = at;
            match event {
                Event::Acknowledged => window.acknowledged(),
                Event::Lost => window.lost(now),
                Event::Flood => {
                    let packet = Packet::new(0, SHORT, (2 + rng.next_u64() / 2).into(), now);
                    began.extend(server.enqueue(packet, now, &mut drops));
                    // Random gaps keep the datagrams out of step with the link.
                    let gap = u64::from(rng.below((2_000_000_000 / datagrams) as u32));
                    events.push(Reverse((now + Duration::from_ns(gap), Event::Flood)));
                }
            }
        }
        while window.flying < window.size as u32 {
            window.flying += 1;
            began.extend(server.enqueue(Packet::new(0, FULL, TCP.into(), now), now, &mut drops));
        }
        for _ in 0..std::mem::take(&mut drops.0) {
            events.push(Reverse((now + ROUND_TRIP, Event::Lost)));
        }
        for service in began.iter().filter(|service| service.packet.flow == TCP.into()) {
            events.push(Reverse((service.sent + ROUND_TRIP, Event::Acknowledged)));
            if now >= Time::ZERO + Duration::from_secs(WARM_UP) {
                got += u64::from(FULL) * 8;
            }
        }
    }
    got as f64 / (SECONDS - WARM_UP) as f64 / 1e6
}

/// The gateway's settings without `free_below`, as in the paper.
const AS_PRINTED: &str = "measure = 'bytes'";
const FREE: &str = "measure = 'bytes'\nfree_below = '5 ms'";

#[test]
fn tcp_gets_the_capacity_that_a_spoofed_flood_leaves() {
    // 60 000 datagrams of 84 B per second take 40 Mbit/s of the link's 50 Mbit/s.
    let [drr, printed, free] = [("drr", ""), ("faba", AS_PRINTED), ("faba", FREE)]
        .map(|(name, typed)| left_to_tcp(name, typed, 60_000));
    println!("40 Mbit/s of datagrams: drr {drr:.2}, faba {printed:.2}, with free_below {free:.2} Mbit/s");
    assert!(drr > 9.0, "{drr}");
    assert!(free >= 0.9 * drr, "{free} of {drr}");
    // TCP must get less under FABA as printed, or this test would show nothing.
    assert!(printed < 0.9 * drr, "{printed} of {drr}");
}
