//! A gateway polls late. Its link makes up for the lost time, and so does a discipline that limits
//! the rate itself.

use super::discipline;
use fairwire_catalogue as catalogue;
use fairwire_core::{Duration, Ignore, Packet, Rate, Server, Time, Transmitter};

/// The fraction of the offered load that a link of 10 Mbit/s sends if it is polled every 2 ms. 20
/// flows offer 9.6 Mbit/s in packets of 1000 B.
fn carried(name: &str, typed: &str) -> f64 {
    let rate = Rate::from_bps(10_000_000).expect("not zero");
    let link = Transmitter::with_catch_up(rate, Duration::from_ms(10));
    let mut server = Server::new(discipline(name, typed), link);
    let (mut offered, mut left) = (0u32, 0);
    for tick in 1..2000 {
        let now = Time::ZERO + Duration::from_ms(2 * tick);
        while server.next_poll_at() <= now {
            left += u32::from(server.poll(now, &mut Ignore).is_some());
        }
        while f64::from(offered) < tick as f64 * 2.4 {
            let packet = Packet::new(offered, 1000, u64::from(offered % 20).into(), now);
            left += u32::from(server.enqueue(packet, now, &mut Ignore).is_some());
            offered += 1;
        }
    }
    f64::from(left) / f64::from(offered)
}

#[test]
fn a_late_poll_costs_no_discipline_its_rate() {
    let own_pace = [
        ("cake-like", "[cake-like]\ningress = true"),
        ("shaper", "[shaper]\ndiscipline = { cake-like = { ingress = true } }"),
    ];
    let all = catalogue::all().iter().chain(catalogue::combined()).map(|entry| (entry.name, ""));
    for (name, typed) in all.chain(own_pace) {
        let carried = carried(name, typed);
        // At the end, the buffer may hold 40 of the 4800 packets.
        assert!(carried > 0.98, "{name} {typed}: {carried}");
    }
}
