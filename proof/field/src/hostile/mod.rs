//! A hostile customer: frames that may harm a neighbour, and the share that the neighbour keeps.
//!
//! The victim has a bulk upload, and a call in each direction. The attacker sends one type of
//! frame. Each attack runs in a provider's network, where both are subscribers. Most attacks also
//! run in a home.

mod frames;

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::{Happened, bps};
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow, subscriber};
use fairwire_core::{Duration, Time};
use fairwire_linux::af_packet::AfPacket;
use fairwire_linux::clock;
use fairwire_linux::port::Port as _;
use fairwire_metrics::judge::Allowed;
use fairwire_testbed::bed::{HOST, Side};
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;
pub(crate) use frames::ipv4;
use frames::{ATTACKER_MAC, ATTACKS, Attack};
use std::thread;

const MBPS: u64 = 20;
const DELAYS: [Duration; 2] = [Duration::from_ms(5); 2];
const SECONDS: u64 = 8;
/// The measured interval: TCP has found its rate, and the attack has begun.
const MEASURED_S: [f64; 2] = [3.0, 7.5];
const ATTACK_S: [u64; 2] = [1, 8];
/// The call stops before the run ends, so that its last packets can arrive.
const CALL_NS: u64 = 7_500_000_000;
pub(crate) const VICTIM: u16 = 0;
pub(crate) const ATTACKER: u16 = 1;
const KEEPS: f64 = 0.95;
const LOSES: f64 = 0.01;

const PROMISED: &str = "the neighbour of a hostile host keeps 0.95 of its share, and its call loses at most one packet of a hundred";

/// Every attack selected by name, on each network where it is meaningful.
pub fn all(is_wanted: &dyn Fn(&str) -> bool) -> Vec<Happened> {
    let wanted = ATTACKS.iter().filter(|attack| is_wanted(attack.name));
    wanted
        .map(|attack| {
            eprintln!("hostile: {}", attack.name);
            Happened::tried(false, &mut || {
                Happened::of(attack.name, PROMISED, |happened| {
                    let networks = [("home", attack.on_homes), ("provider", true)];
                    networks
                        .into_iter()
                        .filter(|(_, is_made)| *is_made)
                        .try_for_each(|(network, _)| suffer(happened, attack, network))
                })
            })
        })
        .collect()
}

fn document(network: &str) -> Document {
    if network == "home" {
        return Document::both_ways(direction(MBPS, "fq-codel", None));
    }
    let mac = |address: [u8; 6]| address.map(|byte| format!("{byte:02x}")).join(":");
    let row = |name: &str, number: u16, address: [u8; 6]| {
        let [v4, v6] = [false, true].map(|is_ipv6| subscriber(1, number, is_ipv6));
        let v6 = if number == ATTACKER { "2001:db8:1:66::/64".to_owned() } else { v6.to_string() };
        format!("{name},{v4} {v6},{}\n", mac(address))
    };
    let victim = row("victim", VICTIM, Side::Right.ethernet_address());
    let attacker = row("attacker", ATTACKER, ATTACKER_MAC);
    let csv = format!("name,addresses,mac\n{victim}{attacker}");
    Document::both_ways(direction(MBPS, "classful", None)).with_subscribers(csv)
}

fn suffer(happened: &mut Happened, attack: &Attack, network: &str) -> Fallible<()> {
    let duration_ns = SECONDS * 1_000_000_000;
    let mut flows = vec![flow("tcp", Sends::Tcp("cubic".into()), Way::Upload, VICTIM, duration_ns)];
    for way in Way::ALL {
        flows.push(flow("call", Sends::Ping { every_ns: 20_000_000 }, way, VICTIM, CALL_NS));
    }
    let wiring = Wiring { delays: DELAYS, ..Wiring::default() };
    let document = document(network);
    let mut run = Run::begin(wiring, Middle::Gateway(&document), Traffic::new(flows, duration_ns))?;
    let port = run.world.inside.at(|| AfPacket::open(HOST.name))?;
    let (start, made) = (run.start, attack.clone());
    let attacker = thread::spawn(move || strike(&made, port, start));
    let seen = happened.finish(&mut run)?;
    let sent = attacker.join().map_err(|_| "the attacker's thread panicked")?;
    let name = |what: &str| format!("{network}: {what}");
    happened.count(&name("frames sent"), sent as f64);
    happened.check(
        sent > 1000 || attack.per_second == 0,
        name(&format!("the attack was made, of {sent} frames")),
    );
    let [from, to] = MEASURED_S;
    let fair = MBPS as f64 * 1e6 / 2.0;
    let share = bps(&run.traffic, &seen, "tcp", from, to) / fair;
    happened.expect_in_time(&name("parts of its fair share"), share, Allowed::at_least(KEEPS));
    for (flow, seen) in run.traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == "call") {
        let way = if flow.from == Side::Left { "download" } else { "upload" };
        let lost = 1.0 - seen.delays_ns.len() as f64 / seen.sent.max(1) as f64;
        happened.expect_in_time(
            &name(&format!("part of the call lost, {way}")),
            lost,
            Allowed::at_most(LOSES),
        );
        let mut waits: Vec<u64> = seen.delays_ns.iter().map(|(_, took)| *took).collect();
        waits.sort_unstable();
        let p95 = waits.get(waits.len() * 95 / 100).copied().unwrap_or(0);
        happened.count(&name(&format!("p95 of the call's delay, {way}, ms")), p95 as f64 / 1e6);
    }
    let ended = run.gateway().end();
    happened.check(ended.is_none(), name(&format!("its end: {ended:?}")));
    happened.check_conservation(run.gateway())
}

/// Returns the number of frames sent or skipped.
fn strike(attack: &Attack, mut port: AfPacket, start: Time) -> u64 {
    let [from, to] = ATTACK_S.map(|s| start + Duration::from_secs(s));
    clock::sleep_until(from);
    let mut sent = 0;
    while clock::now() < to {
        let due = clock::now().since(from).ns() * attack.per_second / 1_000_000_000;
        // On a busy machine, frames more than 50 ms late are skipped rather than sent in a burst.
        sent = sent.max(due.saturating_sub(attack.per_second / 20));
        while sent < due {
            port.transmit(&(attack.frame)(sent));
            sent += 1;
        }
        clock::sleep_until(clock::now() + Duration::from_ms(1));
    }
    sent
}
