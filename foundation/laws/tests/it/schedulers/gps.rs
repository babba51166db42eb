//! An exact fluid server (generalised processor sharing), the reference for packet schedulers.

use super::link::{Arrival, RATE_BPS};
use std::collections::VecDeque;

/// Begin and end of each packet in the fluid server, in nanoseconds, in the order of `arrivals`.
pub(super) fn fluid(arrivals: &[Arrival], weight: impl Fn(u32) -> f64) -> Vec<(f64, f64)> {
    struct Flow {
        flow: u64,
        weight: f64,
        packets: VecDeque<(usize, f64)>, // place, bytes left
    }
    let bytes_per_ns = RATE_BPS as f64 / 8e9;
    let mut times = vec![(0.0, 0.0); arrivals.len()];
    let (mut flows, mut now, mut next): (Vec<Flow>, f64, usize) = (Vec::new(), 0.0, 0);
    while next < arrivals.len() || !flows.is_empty() {
        let total: f64 = flows.iter().map(|flow| flow.weight).sum();
        let end = flows
            .iter()
            .map(|flow| now + flow.packets[0].1 * total / (flow.weight * bytes_per_ns))
            .fold(f64::INFINITY, f64::min);
        let arrival = arrivals.get(next).map_or(f64::INFINITY, |arrival| arrival.at_ns as f64);
        let until = end.min(arrival);
        for flow in &mut flows {
            flow.packets[0].1 -= (until - now) * bytes_per_ns * flow.weight / total;
            while flow.packets.front().is_some_and(|packet| packet.1 < 1e-6) {
                let (place, _) = flow.packets.pop_front().expect("seen");
                times[place].1 = until;
                flow.packets.front().into_iter().for_each(|&(place, _)| times[place].0 = until);
            }
        }
        flows.retain(|flow| !flow.packets.is_empty());
        now = until;
        if arrival <= end {
            let Arrival { flow, class, len, .. } = arrivals[next];
            let packet = (next, f64::from(len));
            match flows.iter_mut().find(|known| known.flow == flow) {
                Some(known) => known.packets.push_back(packet),
                None => {
                    times[next].0 = now;
                    flows.push(Flow { flow, weight: weight(class), packets: [packet].into() });
                }
            }
            next += 1;
        }
    }
    times
}

#[test]
fn the_fluid_server_shares_by_weight_and_conserves_work() {
    let arrival = |at_ns, flow, class, len| Arrival { at_ns, flow, class, len };
    // Flow 1 ends its 1000 bytes when flow 2 has sent 500.
    let arrivals = [arrival(0, 1, 2, 1000), arrival(0, 2, 1, 1000), arrival(5_000_000, 1, 2, 500)];
    let times = fluid(&arrivals, f64::from);
    assert_eq!(times, [(0.0, 1_500_000.0), (0.0, 2_000_000.0), (5_000_000.0, 5_500_000.0)]);
}
