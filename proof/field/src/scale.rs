//! Twenty thousand subscribers in a two-level tree.

use crate::config::{Document, class, direction};
use crate::fallible::Fallible;
use crate::fault::Happened;
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::{Duration, Time};
use fairwire_linux::clock;
use fairwire_metrics::judge::Allowed;
use fairwire_testbed::traffic::{Flow, Sends, Traffic, on_the_link};
use fairwire_wire::Way;
use std::fmt::Write;
use std::net::Ipv4Addr;

/// Subscribers.
pub const SUBSCRIBERS: u32 = 20_000;
/// The number of classes above the subscribers.
const TOWERS: u32 = 20;
/// The limit on memory with all subscribers, MB.
const MEMORY_MB: f64 = 64.0;
const START_S: f64 = 2.0;
const RELOAD_MS: f64 = 200.0;
/// The number of subscribers with traffic during the run.
const AT_WORK: u32 = 200;

/// The tested disciplines, both with class trees. `hfaba` has a shared queue, and `classful` has
/// one or more queues per leaf.
pub const DISCIPLINES: [&str; 2] = ["hfaba", "classful"];

/// The configuration of a gateway with [`SUBSCRIBERS`] under `discipline`. Every third subscriber
/// from number `first` has weight 2 instead of 1.
pub fn document(discipline: &'static str, first: u32) -> Document {
    let mut csv = String::from("name,addresses,class,weight\n");
    for number in 0..SUBSCRIBERS {
        let weight = if number % 3 == first { 2 } else { 1 };
        let ip = address(number);
        let _ = writeln!(csv, "s{number},{ip}/32,tower-{},{weight}", number % TOWERS);
    }
    let mut document = Document::both_ways(direction(500, discipline, None)).with_subscribers(csv);
    let tower = |number: u32| class(format!("tower-{number}"), f64::from(1 + number % 4));
    document.spec.class = (0..TOWERS).map(tower).collect();
    document
}

fn address(number: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a10_0000 + number) // from 10.16.0.0 on
}

/// Starts, loads and reloads a gateway under each of the [`DISCIPLINES`], and sets a weight.
pub fn twenty_thousand() -> Vec<Happened> {
    ["20000-subscribers", "20000-subscribers-classful"].into_iter().zip(DISCIPLINES).map(held).collect()
}

fn held((fault, discipline): (&'static str, &'static str)) -> Happened {
    let promised =
        "20 000 subscribers in two levels: less than 64 MB, a start below 2 s, a reload below 200 ms";
    Happened::of(fault, promised, |happened| measure(discipline, happened))
}

fn measure(discipline: &'static str, happened: &mut Happened) -> Fallible<()> {
    let duration_ns = 12_000_000_000;
    let sends = Sends::Udp { bps: 1_000_000, payload: 1000, counted: on_the_link(14 + 28 + 1000) as u32 };
    let flows = (0..AT_WORK).map(|number| Flow {
        destination: address(number * (SUBSCRIBERS / AT_WORK)).into(),
        ..flow("work", sends.clone(), Way::Download, number as u16, duration_ns)
    });
    let traffic = Traffic::new(flows.collect(), duration_ns);
    let mut run = Run::begin(Wiring::default(), Middle::Gateway(&document(discipline, 0)), traffic)?;
    let start_s = run.gateway().took.secs();
    happened.expect_in_time("answered after its start, s", start_s, Allowed::below(START_S));
    run.wait_until(2.0);
    let set_ms = elapsed_ms(|| run.gateway().set_weight("s7", 3.0).map(drop))?;
    happened.count("setting one weight, ms", set_ms);
    let mut longest = (0.0_f64, 0.0_f64, 0.0_f64);
    for first in [1, 2, 0] {
        let mut answer = None;
        let waited = elapsed_ms(|| {
            answer = Some(run.gateway().reload(&document(discipline, first))?);
            Ok(())
        })?;
        let reloaded = answer.ok_or("no answer")?;
        happened.check(reloaded.is_balanced, "every packet has its place after a reload");
        longest =
            (longest.0.max(reloaded.took_ms), longest.1.max(reloaded.paused_cpu_ms), longest.2.max(waited));
    }
    happened.count("reload, ms", longest.0);
    happened.count("pause of a reload, ms of processor time", longest.1);
    happened.expect_in_time(
        "slowest of 3 reloads as waited for, files written, ms",
        longest.2,
        Allowed::below(RELOAD_MS),
    );
    let resident = run.gateway().resident_bytes() as f64 / 1e6;
    happened.expect("memory of all its processes, MB", resident, Allowed::below(MEMORY_MB));
    let seen = happened.finish(&mut run)?;
    let silent = seen.flows.iter().filter(|flow| flow.payload_bytes.iter().all(|bytes| *bytes == 0)).count();
    happened.expect("subscribers at work that got nothing", silent as f64, Allowed::at_most(0.0));
    happened.check_conservation(run.gateway())
}

/// The number of subscribers in each case. One subscriber has traffic.
pub const AMONG: [u32; 3] = [10, 1000, 20_000];
const PLAN_MBPS: u64 = 200;
/// One-way delay.
const PLAN_DELAY: Duration = Duration::from_ms(10);
const PLAN_MIN_MBPS: f64 = 190.0;

/// The configuration of a gateway with a link of 1 Gbit/s and this many `subscribers`, each with a
/// download ceiling of [`PLAN_MBPS`].
pub fn plans(subscribers: u32) -> Document {
    let mut csv = String::from("name,addresses,download_ceiling\n");
    for number in 0..subscribers {
        let _ = writeln!(csv, "s{number},{}/32,{PLAN_MBPS} Mbit/s", address(number));
    }
    Document::both_ways(direction(1000, "classful", None)).with_subscribers(csv)
}

/// One CUBIC flow on a plan of 200 Mbit/s with a round trip of 20 ms, [among](AMONG) silent
/// subscribers.
///
/// Cases may be [repeated](crate::tries::attempt), since a TCP window takes seconds to recover when
/// other work interrupts a run.
pub fn one_on_its_plan() -> Vec<Happened> {
    let promised = "one CUBIC on a plan of 200 Mbit/s has 190 of it after 5 s, in less than 64 MB";
    let held = |(fault, subscribers)| {
        Happened::tried(false, &mut || {
            Happened::of(fault, promised, |happened| use_plan(subscribers, happened))
        })
    };
    ["plan-among-10", "plan-among-1000", "plan-among-20000"].into_iter().zip(AMONG).map(held).collect()
}

fn use_plan(subscribers: u32, happened: &mut Happened) -> Fallible<()> {
    let duration_ns = 20_000_000_000;
    let cubic = flow("cubic", Sends::Tcp("cubic".into()), Way::Download, 0, duration_ns);
    let flow = Flow { destination: address(7).into(), ..cubic };
    let traffic = Traffic::new(vec![flow], duration_ns);
    let wiring = Wiring { delays: [PLAN_DELAY; 2], ..Wiring::default() };
    let mut run = Run::begin(wiring, Middle::Gateway(&plans(subscribers)), traffic)?;
    run.wait_until(19.0);
    let resident = run.gateway().resident_bytes() as f64 / 1e6;
    let waited_s = run.gateway().waited_s();
    let seen = happened.finish(&mut run)?;
    let slots = &seen.flows[0].link_bytes[50..190];
    let mbps = slots.iter().sum::<u64>() as f64 * 8.0 / (slots.len() as f64 / 10.0) / 1e6;
    happened.expect_in_time("Mbit/s on the link", mbps, Allowed::at_least(PLAN_MIN_MBPS));
    happened.expect("memory of all its processes, MB", resident, Allowed::below(MEMORY_MB));
    happened.count("waited for a processor, s", waited_s);
    happened.check_conservation(run.gateway())
}

fn elapsed_ms(act: impl FnOnce() -> Fallible<()>) -> Fallible<f64> {
    let began: Time = clock::now();
    act()?;
    Ok(clock::now().since(began).ns() as f64 / 1e6)
}
