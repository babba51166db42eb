//! The counts of each flow since the start, for the request `counts`.

use super::about::About;
use super::sample::Sample;
use fairwire_control::snapshot::FlowCounts;
use fairwire_core::Time;
use fairwire_datapath::account::FlowCount;
use fairwire_wire::Way;
use std::cmp::Reverse;

/// The `max` flows of `copy` that sent the most bytes, in descending order. The gateway has
/// forwarded since `start`.
pub(super) fn flows(about: &About, way: Way, copy: &Sample, start: Time, max: usize) -> Vec<FlowCounts> {
    let got = |place: &usize| Reverse(copy.flows[*place].count.bytes_out);
    let mut places: Vec<usize> = (0..copy.flows.len()).collect();
    if max < places.len() {
        places.select_nth_unstable_by_key(max, got);
        places.truncate(max);
    }
    places.sort_by_key(got);
    let counted = |place: usize| {
        let FlowCount { packets_in, bytes_in, dropped, marked, packets_out, bytes_out } =
            copy.flows[place].count;
        let flow = about.flow_name(way, &copy.opened[place]);
        let at_s = copy.flow_time(place).since(start).secs();
        FlowCounts { flow, at_s, packets_in, bytes_in, packets_out, bytes_out, dropped, marked }
    };
    places.into_iter().map(counted).collect()
}
