//! A gateway without a service around it, for field runs of the datapath alone: `FAIRWIRE_GATEWAY=.../fairwire-field-gateway`.
#![forbid(unsafe_code)]

use fairwire_core::{Duration, Seed};
use fairwire_field::Fallible;
use fairwire_gateway::classify::LinkKind;
use fairwire_gateway::clock;
use fairwire_gateway::config::{Config, Made};
use fairwire_gateway::datapath::{Datapath, Wire};
use fairwire_gateway::driver::{self, Next};
use fairwire_gateway::io::af_packet::AfPacket;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Of an MTU of 1500, with room for VLAN tags.
const LONGEST_FRAME: u32 = 1522;

fn main() -> Fallible<()> {
    let file = std::env::args().nth(1).ok_or("it is told a configuration file")?;
    let config = Config::load(Path::new(&file)).map_err(|error| error.to_string())?;
    let made = Made { secret: [7; 16], seed: Seed(1), frame_bytes: LONGEST_FRAME, link: LinkKind::Ethernet };
    let plan = config.plan(&made).map_err(|error| error.to_string())?;
    let wire = &config.spec().wire;
    let mut wire = Wire { left: AfPacket::open(&wire.outside)?, right: AfPacket::open(&wire.inside)? };
    let mut datapath = Datapath::new(plan, clock::now());
    let _listener = config.spec().telemetry.socket.as_ref().map(UnixListener::bind).transpose()?;
    let watch = &mut |now, _: &mut Datapath| Next::AskAt(now + Duration::from_secs(1));
    Ok(driver::run(&mut datapath, &mut wire, watch)?)
}
