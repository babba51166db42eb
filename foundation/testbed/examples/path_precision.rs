//! Measures a path's precision and processor time with pings and 1000-byte datagrams.
//!
//! `cargo run -p fairwire-testbed --example path_precision`, as root.

use fairwire_core::Duration;
use fairwire_linux::clock;
use fairwire_testbed::agent;
use fairwire_testbed::agents::Agents;
use fairwire_testbed::bed::{Bed, SINK_ADDRESS, SOURCE_ADDRESS, Side};
use fairwire_testbed::message::AGENT_COMMAND;
use fairwire_testbed::path::Path;
use fairwire_testbed::traffic::{Flow, Sends, Traffic, datagram_bytes};
use std::error::Error;

const SECONDS: u64 = 5;
const PAYLOAD: u32 = 1000;
const DELAY: Duration = Duration::from_ms(20);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(AGENT_COMMAND) {
        std::process::exit(agent::main(arguments));
    }
    println!(
        "one-way delays of pings, us beyond the delay of the path; processor time of the path, % of one"
    );
    for mbps in [1, 20, 100] {
        for path in [None, Some(Path::default()), Some(Path::one_way(DELAY))] {
            measure(mbps, path.as_ref())?;
        }
    }
    Ok(())
}

fn measure(mbps: u64, path: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let mut bed = Bed::with_path(1500, path)?;
    bed.gateway.bridge("br0", &Side::BOTH.map(|side| side.end().index))?;
    let (source, destination) = (SOURCE_ADDRESS.into(), SINK_ADDRESS.into());
    let flow = |sends| Flow {
        group: String::new(),
        sends,
        from: Side::Left,
        source,
        destination,
        start_ns: 0,
        stop_ns: SECONDS * 1_000_000_000,
        receiver_behind: None,
        ecn: false,
    };
    let counted = datagram_bytes(PAYLOAD, source) as u32;
    let udp = Sends::Udp { bps: mbps * 1_000_000, payload: PAYLOAD, counted };
    let flows = vec![flow(udp), flow(Sends::Ping { every_ns: 1_000_000 })];
    let mut agents = Agents::start([&bed.source, &bed.sink], &Traffic::new(flows, SECONDS * 1_000_000_000))?;
    agents.begin(clock::now() + Duration::from_ms(50))?;
    let seen = agents.finish()?;
    let carried = bed.finish_path()?;
    let path_ns = path.map_or(0, |path| path.to_sink.others_ns);
    let mut late: Vec<u64> = seen.flows[1].delays_ns.iter().map(|(_, took)| took - path_ns).collect();
    late.sort_unstable();
    let us = |part: f64| late[(late.len() as f64 * part) as usize] / 1000;
    println!(
        "{mbps:>4} Mbit/s, {:<13} p50 {:>5}  p99 {:>6}  processor {:>5.1}  ({} of {} pings, {carried:?})",
        path.map_or("a wire".to_owned(), |_| format!("a path {} ms", path_ns / 1_000_000)),
        us(0.5),
        us(0.99),
        carried.processor_ns as f64 / (SECONDS as f64 * 1e7),
        late.len(),
        seen.flows[1].sent,
    );
    Ok(())
}
