//! Our side of a contest: our TCPs in our simulator behind a discipline of ours.

use super::cases::Contest;
use super::setting::{DURATION, HEADER_BYTES, RATE, SEGMENT_BYTES, Sends, UDP_HEADER_BYTES, WARM_UP};
use fairwire_catalogue::{Parameters, Site, build};
use fairwire_core::units::Amount;
use fairwire_core::{
    Backlog, Discipline, Duration, NotReweighed, Packet, Probe, Rate, Seed, Signals, Time, Weight,
};
use fairwire_experiment::linux::Tally;
use fairwire_sim::{GroupPlan, Hop, LinkPlan, Member, Network, Settings, Source, TieRule};
use fairwire_tcp::congestion::{BbrParameters, ControlConfig, CubicParameters, DctcpParameters, FirstPhase};
use fairwire_tcp::{Config, EcnMode, Profile};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// Links that take next to no time.
const FAST: Rate = match Rate::from_bps(100_000_000_000) {
    Some(rate) => rate,
    None => panic!("not zero"),
};

/// Holds `contest` in the simulator, in the run of `seed`; or says why it cannot be built.
pub fn simulate(contest: &Contest, seed: u64) -> Result<Tally, String> {
    let waits = Arc::default();
    let watched = Watched { inner: discipline(contest, seed)?, waits: Arc::clone(&waits) };
    let bottleneck = LinkPlan {
        name: "bottleneck".into(),
        law: fairwire_core::RateLaw::Fixed,
        rate: RATE,
        delay: Duration::ZERO,
        discipline: Box::new(watched),
    };
    let network = Network { links: vec![bottleneck], groups: groups(contest, seed), aggregates: Vec::new() };
    let settings =
        Settings { duration: DURATION, warm_up: WARM_UP, seed: Seed(seed), tie_rule: TieRule::Random };
    let measured = fairwire_sim::run(network, &settings, &mut |_| ControlFlow::Continue(()))
        .expect("nobody stops the run");
    let seconds = (DURATION - WARM_UP).secs();
    let link = &measured.links[0];
    let waits_ns = std::mem::take(&mut *waits.lock().expect("the run is over"));
    Ok(Tally {
        delivered_bytes: measured
            .flows
            .iter()
            .map(|flow| (flow.goodput_bps * seconds / 8.0).round() as u64)
            .collect(),
        arrived: link.packets_in,
        dropped: link.drops.values().sum(),
        marked: link.marks.values().sum(),
        waits_ns,
        ..Tally::default()
    })
}

/// Our discipline of `contest`, drawing under `seed`; or why it cannot be built.
pub(super) fn discipline(contest: &Contest, seed: u64) -> Result<Box<dyn Discipline>, String> {
    let parameters: Parameters = toml::from_str(contest.parameters).map_err(|error| error.to_string())?;
    let site = Site {
        rate: RATE,
        buffer: Amount::Packets(1000),
        packet_bytes: SEGMENT_BYTES + HEADER_BYTES,
        seed: Seed(seed),
        stream: "contest",
    };
    build(contest.ours, &parameters, &site).map_err(|error| error.to_string())
}

fn groups(contest: &Contest, seed: u64) -> Vec<GroupPlan> {
    let starts = contest.starts(seed);
    // A shaper of the kernel lets a packet out when its transmission begins, a link of ours when it ends.
    let sent = RATE.time_to_send((SEGMENT_BYTES + HEADER_BYTES).into());
    let mut groups = Vec::new();
    // One group per flow, so that no two BBRs draw the same phases.
    for (number, class) in contest.members().enumerate() {
        let rtt = Duration::from_ms(class.rtt_ms) - sent;
        groups.push(GroupPlan {
            name: format!("{}.{number}", class.sends.name()),
            source: source(contest, class.sends, seed * 1000 + number as u64),
            forward: vec![Hop::Link(0)],
            back: vec![Hop::Wire { rate: FAST, delay: Duration::ZERO }],
            access_rate: FAST,
            class: 0,
            dscp: 0,
            members: vec![Member {
                start: starts[number],
                access_delay: Duration::from_ns(rtt.ns() / 4), // both ends, both ways
            }],
        });
    }
    groups
}

fn source(contest: &Contest, sends: Sends, seed: u64) -> Source {
    let control = match sends {
        Sends::Reno => ControlConfig::Reno,
        Sends::Cubic => ControlConfig::Cubic(CubicParameters::default()),
        Sends::Bbr => {
            let first_phase = FirstPhase::Seeded(seed);
            ControlConfig::Bbr(BbrParameters { first_phase, rounds_up: true, ..Default::default() })
        }
        Sends::Dctcp => ControlConfig::Dctcp(DctcpParameters::default()),
        Sends::Udp(bps) => {
            return Source::Cbr {
                rate: Rate::from_bps(bps).expect("a rate that is not zero"),
                packet_bytes: SEGMENT_BYTES + HEADER_BYTES,
                header_bytes: UDP_HEADER_BYTES,
                dither: 0.0,
            };
        }
    };
    let ecn = if contest.ecn { EcnMode::Ect0 } else { EcnMode::Off };
    let (header_bytes, ack_bytes) = (HEADER_BYTES, HEADER_BYTES);
    let profile = Config::new(Profile::Modern, SEGMENT_BYTES);
    let tcp = Config { header_bytes, ack_bytes, control, ecn, makes_up_for_late: true, ..profile };
    Source::Bulk { tcp }
}

/// A discipline whose waits are written down after the warm-up.
struct Watched {
    inner: Box<dyn Discipline>,
    waits: Arc<Mutex<Vec<u64>>>,
}

impl Discipline for Watched {
    fn enqueue(&mut self, packet: Packet, now: Time, signals: &mut dyn Signals) {
        self.inner.enqueue(packet, now, signals);
    }
    fn dequeue(&mut self, now: Time, signals: &mut dyn Signals) -> Option<Packet> {
        let packet = self.inner.dequeue(now, signals)?;
        if now >= Time::ZERO + WARM_UP {
            self.waits.lock().expect("one thread").push(now.since(packet.arrived).ns());
        }
        Some(packet)
    }
    fn ready_at(&self) -> Option<Time> {
        self.inner.ready_at()
    }
    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn inspect(&self, probe: &mut dyn Probe) {
        self.inner.inspect(probe);
    }
    fn drain(&mut self, take: &mut dyn FnMut(Packet)) {
        self.inner.drain(take);
    }
    fn reweigh(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
        self.inner.reweigh(class, weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contest::find;

    #[test]
    fn a_source_above_the_rate_of_the_link_loses_what_is_too_much_and_the_rest_waits_for_the_whole_queue() {
        let tally = simulate(find("udp").expect("there is one"), 1).expect("it can be built");
        let dropped = tally.percent(tally.dropped);
        assert!((dropped - 100.0 / 6.0).abs() < 0.02, "{dropped}"); // 12 into 10 Mbit/s; one packet in 25 000 is 0.004
        let full = 66.0 * 1514.0 * 8.0 / 10e6 * 1e3;
        let longest = tally.long_wait_ms();
        assert!(longest > full - 1.3 && longest <= full, "{longest} ms of {full}"); // the last place: one transmission
    }

    #[test]
    fn a_contest_has_a_flow_for_each_member_and_comes_out_the_same_again() {
        let contest = find("cubic-reno").expect("there is one");
        let tally = simulate(contest, 1).expect("it can be built");
        assert_eq!(tally.delivered_bytes.len(), 8);
        assert!(tally.delivered_bytes.iter().all(|&bytes| bytes > 0), "{:?}", tally.delivered_bytes);
        assert_eq!(simulate(contest, 1).expect("as before"), tally);
        assert_ne!(simulate(contest, 2).expect("as before"), tally);
    }
}
