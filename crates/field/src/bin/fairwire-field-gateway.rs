//! A gateway without a service around it, for field runs of the datapath alone: `FAIRWIRE_GATEWAY=.../fairwire-field-gateway`.
//! It reads the rate, the discipline, the buffer and the delay of each way; flows are conversations.
#![forbid(unsafe_code)]

use fairwire_core::units::Amount;
use fairwire_core::{Duration, Seed};
use fairwire_disciplines::{Site, build};
use fairwire_field::Fallible;
use fairwire_gateway::classify::Classifier;
use fairwire_gateway::clock;
use fairwire_gateway::config::spec::{DirectionSpec, Spec};
use fairwire_gateway::datapath::{Datapath, DatapathPlan, Wire};
use fairwire_gateway::direction::{DirectionPlan, ShaperPlan};
use fairwire_gateway::driver::{self, Next};
use fairwire_gateway::io::af_packet::AfPacket;
use fairwire_gateway::pool::PoolSize;
use fairwire_wire::flow_key::FlowHasher;
use std::os::unix::net::UnixListener;

fn main() -> Fallible<()> {
    let file = std::env::args().nth(1).ok_or("it is told a configuration file")?;
    let spec: Spec = toml::from_str(&std::fs::read_to_string(file)?)?;
    let plan = DatapathPlan {
        forward: direction(&spec, &spec.download)?,
        backward: direction(&spec, &spec.upload)?,
    };
    let mut wire =
        Wire { left: AfPacket::open(&spec.wire.outside)?, right: AfPacket::open(&spec.wire.inside)? };
    let mut datapath = Datapath::new(plan, clock::now());
    let _listener = spec.telemetry.socket.map(UnixListener::bind).transpose()?;
    let watch = &mut |now, _: &mut Datapath| Next::AskAt(now + Duration::from_secs(1));
    Ok(driver::run(&mut datapath, &mut wire, watch)?)
}

fn direction(spec: &Spec, way: &Option<DirectionSpec>) -> Fallible<DirectionPlan> {
    let shaper = way.as_ref().map(|way| shaper(spec, way)).transpose()?;
    let delay = way.as_ref().and_then(|way| way.delay).map_or(Duration::ZERO, |delay| delay.0);
    Ok(DirectionPlan {
        shaper,
        delay,
        classifier: Classifier::new(FlowHasher::new([7; 16]), fairwire_field::traffic::FRAMING as i32),
        pool: PoolSize { frames: 16_384, frame_bytes: 1600 },
        flows: 4096,
        classes: 1,
    })
}

fn shaper(spec: &Spec, way: &DirectionSpec) -> Fallible<ShaperPlan> {
    let buffer = way.buffer.map_or(Amount::Time(Duration::from_ms(50)), |buffer| buffer.0);
    let site = Site { rate: way.rate.0, buffer, packet_bytes: 1538, seed: Seed(1), stream: "field" };
    let name = way.discipline.as_deref().unwrap_or("faba");
    let discipline = build(name, &spec.discipline, &site).map_err(|error| error.to_string())?;
    Ok(ShaperPlan { discipline, rate: way.rate.0, catch_up: Duration::from_ms(10) })
}
