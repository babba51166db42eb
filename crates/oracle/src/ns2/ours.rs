//! Our side: the simulator, through its public crates.

use super::Outcome;
use super::cell::{
    ACCESS_MBPS, Binomial, Cell, Class, DELAY_MS, HEADER_BYTES, Kind, PAYLOAD_BYTES, Queue, Recovery,
    WIRE_BYTES,
};
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{
    Backlog, Discipline, Duration, NotReweighed, Packet, Probe, Rate, Seed, Signals, Time, Weight,
};
use fairwire_sim::{GroupPlan, LinkPlan, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::congestion::{BinomialParameters, ControlConfig};
use fairwire_tcp::{Config, Profile};
use std::ops::ControlFlow;

/// Runs `cell` once; or says why our discipline cannot be built.
pub fn run(cell: &Cell, seed: u64) -> Result<Outcome, String> {
    let settings = Settings {
        duration: Duration::from_secs(cell.duration_s.into()),
        warm_up: Duration::from_secs(cell.warm_up_s.into()),
        seed: Seed(seed),
        tie_rule: TieRule::Fifo, // as in ns-2
    };
    let measured = fairwire_sim::run(network(cell, seed)?, &settings, &mut |_| ControlFlow::Continue(()))
        .expect("nobody stops it");
    let mut outcome = Outcome {
        offered: measured.links[0].packets_in,
        sent: measured.links[0].packets_out,
        ..Outcome::default()
    };
    for flow in &measured.flows {
        let class = outcome.classes.entry(flow.group.to_string()).or_default();
        class.throughput_bps += flow.throughput_bps;
        class.drops += flow.packets_dropped;
    }
    Ok(outcome)
}

fn network(cell: &Cell, seed: u64) -> Result<Network, String> {
    let rate = mbps(cell.mbps);
    let bottleneck = LinkPlan {
        name: "bottleneck".into(),
        law: fairwire_core::RateLaw::Fixed,
        rate,
        delay: Duration::from_ms(DELAY_MS),
        discipline: discipline(cell, rate, seed)?,
    };
    let groups = cell.classes.iter().enumerate().map(|(number, class)| group(class, number as u32, seed));
    Ok(Network::dumbbell(bottleneck, groups.collect()))
}

fn mbps(mbps: u64) -> Rate {
    Rate::from_bps(mbps * 1_000_000).expect("no cell has a rate of nothing")
}

fn discipline(cell: &Cell, rate: Rate, seed: u64) -> Result<Box<dyn Discipline>, String> {
    let (name, parameters) = cell.queue.ours(cell.buffer);
    let parameters: Parameters = toml::from_str(&parameters).map_err(|error| error.to_string())?;
    let site = Site {
        rate,
        buffer: Amount::Packets(cell.buffer),
        packet_bytes: WIRE_BYTES,
        seed: Seed(seed),
        stream: "link/bottleneck",
    };
    let discipline = build(name, &parameters, &site).map_err(|error| error.to_string())?;
    Ok(match cell.queue {
        Queue::Rio { .. } => Box::new(ByClass(discipline)),
        _ => discipline,
    })
}

/// Each flow starts at a random moment of the first second, as in the script.
fn group(class: &Class, number: u32, seed: u64) -> GroupPlan {
    let source = match class.kind {
        Kind::Cbr { bps, bytes } => Source::Cbr {
            rate: Rate::from_bps(bps).expect("no source has a rate of nothing"),
            packet_bytes: bytes,
            header_bytes: 28,
            dither: 0.0,
        },
        Kind::Tcp { .. } => Source::Bulk { tcp: tcp(class.kind) },
    };
    let mut starts = Seed(seed).stream(&format!("start/{}", class.name));
    let member = |_| Member {
        start: Duration::from_secs_f64(starts.uniform()),
        access_delay: Duration::from_ms(class.access_ms),
    };
    GroupPlan {
        name: class.name.into(),
        source,
        forward: Vec::new(), // the dumbbell's
        back: Vec::new(),
        access_rate: mbps(ACCESS_MBPS),
        class: number,
        dscp: 0,
        members: (0..class.flows).map(member).collect(),
    }
}

fn tcp(kind: Kind) -> Config {
    let Kind::Tcp { recovery, binomial, min_rto_ms } = kind else { unreachable!("only asked of TCP") };
    let mut config = Config::new(Profile::Ns2In2006, PAYLOAD_BYTES);
    (config.header_bytes, config.ack_bytes) = (HEADER_BYTES, HEADER_BYTES);
    config.min_rto = Duration::from_ms(min_rto_ms);
    config.recovery = match recovery {
        Recovery::Tahoe => fairwire_tcp::Recovery::Tahoe,
        Recovery::Reno => fairwire_tcp::Recovery::Reno,
        Recovery::NewReno => fairwire_tcp::Recovery::NewReno,
        Recovery::Sack => fairwire_tcp::Recovery::Sack,
    };
    if let Some(Binomial { c1, c2, k, l }) = binomial {
        config.control = ControlConfig::Binomial(BinomialParameters { c1, c2, k, l });
    }
    config
}

/// Colours packets as ns-2's RIO does: those of the first class are out of profile, all others are in it.
struct ByClass(Box<dyn Discipline>);

impl Discipline for ByClass {
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        let color = u8::from(packet.class == 0);
        self.0.enqueue(Packet { color, ..packet }, now, signals);
    }
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        self.0.dequeue(now, signals)
    }
    fn ready_at(&self) -> Option<Time> {
        self.0.ready_at()
    }
    fn backlog(&self) -> Backlog {
        self.0.backlog()
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.0.inspect(probe);
    }
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.0.drain(take);
    }
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        self.0.reweigh(class, weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ns2::grid::CELLS;

    #[test]
    fn every_cell_can_be_built() {
        for cell in CELLS {
            assert!(network(cell, 1).is_ok(), "{}: {:?}", cell.name, network(cell, 1).err());
        }
    }

    #[test]
    fn what_a_class_sends_is_told_under_its_name() {
        let cell = CELLS.iter().find(|cell| cell.name == "droptail-newreno-cbr").expect("in the grid");
        let outcome = run(&Cell { duration_s: 10, warm_up_s: 5, ..*cell }, 1).expect("it can be built");
        let sum: f64 = outcome.classes.values().map(|class| class.throughput_bps).sum();
        assert_eq!(outcome.classes.keys().collect::<Vec<_>>(), ["cbr", "newreno"]);
        assert!((9e6..10.1e6).contains(&sum), "{sum}"); // ten flows fill the link; a packet may be counted late
        assert!(outcome.classes["newreno"].drops > 0 && outcome.offered > outcome.sent);
    }
}
