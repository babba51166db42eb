//! Faults by hostile traffic, and by clocks.

use super::happened::Happened;
use super::plain::{begin, bps, document, tcp_percent, traffic};
use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow};
use fairwire_core::Duration;
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::{FlowsChoice, FlowsSpec, OnFailure};
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;

/// Random frames per second, in each direction.
const GARBAGE_PER_SECOND: u64 = 500;

pub(super) fn malformed_frames(happened: &mut Happened) -> Fallible<()> {
    let mut traffic = traffic(6);
    for way in Way::ALL {
        let garbage = Sends::Garbage { per_second: GARBAGE_PER_SECOND };
        traffic.flows.push(flow("garbage", garbage, way, 60, traffic.duration_ns));
    }
    let mut run = begin(&document(OnFailure::Closed), traffic)?;
    let seen = happened.finish(&mut run)?;
    let sent: u64 = run
        .traffic
        .flows
        .iter()
        .zip(&seen.flows)
        .filter(|(flow, _)| flow.group == "garbage")
        .map(|(_, seen)| seen.sent)
        .sum();
    happened.expect("frames of random bytes", sent as f64, Allowed::above(1000.0));
    let ended = run.gateway().end();
    happened.check(ended.is_none(), format!("its end: {ended:?}"));
    // Random frames that pass for IP get a share too: 500 frames of 770 bytes per second are
    // 3 Mbit/s, in single-packet flows.
    let percent = tcp_percent(&run.traffic, &seen, 2.0, 6.0);
    happened.expect_in_time("of the link TCP used beside them, %", percent, Allowed::at_least(70.0));
    happened.check_conservation(run.gateway())
}

const SOURCES: u64 = 1_000_000;
const PER_SECOND: u64 = 50_000;
/// The payload of a frame, bytes. 50 000 frames per second are 34 Mbit/s on the link.
const PAYLOAD: u32 = 20;
const FLOOD_NS: u64 = 5_000_000_000;

pub(super) fn million_sources(happened: &mut Happened) -> Fallible<()> {
    let seconds = 6 + SOURCES / PER_SECOND;
    let Traffic { mut flows, duration_ns, .. } = traffic(seconds);
    let mut flood = flow(
        "flood",
        Sends::Spoofed { per_second: PER_SECOND, payload: PAYLOAD },
        Way::Download,
        60,
        duration_ns,
    );
    flood.start_ns = FLOOD_NS;
    flows.push(flood);
    let mut config = document(OnFailure::Closed);
    // Inside hosts share equally, so a flood gets only its target's share, whatever sources it
    // claims.
    for direction in [&mut config.spec.download, &mut config.spec.upload].into_iter().flatten() {
        direction.flows = Some(FlowsSpec::Named(FlowsChoice::Inside));
    }
    let mut run = begin(&config, Traffic::new(flows, duration_ns))?;
    run.wait_until(FLOOD_NS as f64 / 1e9 - 0.5);
    let before = run.gateway().resident_bytes();
    run.wait_until(seconds as f64 - 0.5);
    let after = run.gateway().resident_bytes();
    let seen = happened.finish(&mut run)?;
    let sent = seen.flows.last().map_or(0, |flood| flood.sent);
    happened.expect("spoofed frames", sent as f64, Allowed::at_least(SOURCES as f64 * 0.9));
    happened.count("memory after, KiB", (after >> 10) as f64);
    let grown_kib = after.saturating_sub(before) >> 10;
    happened.expect("growth of memory, KiB", grown_kib as f64, Allowed::below(16.0 * 1024.0));
    let (from, to) = (FLOOD_NS as f64 / 1e9 + 2.0, seconds as f64 - 1.0);
    let all = ["tcp", "flood", "ping"].map(|group| bps(&run.traffic, &seen, group, from, to));
    let fair = (all[0] + all[1]) / 5.0;
    let slots = (from * 10.0) as usize..(to * 10.0) as usize;
    let hosts = run.traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.group == "tcp");
    let least = hosts
        .map(|(_, seen)| seen.link_bytes[slots.clone()].iter().sum::<u64>() as f64 * 8.0 / (to - from) / fair)
        .fold(f64::INFINITY, f64::min);
    happened.count("the flood, parts of its fair share", all[1] / fair);
    // The hosts may use what the flood leaves, so more than a fair share is no fault.
    happened.expect("an established host, parts of its fair share", least, Allowed::at_least(0.95));
    happened.check_conservation(run.gateway())
}

/// The rate of frames from random sources. With 64 B each, they take 40 of the link's 50 Mbit/s.
const SPOOFED_PER_SECOND: u64 = 60_000;
const SPOOFED_PAYLOAD: u32 = 18;
const SPOOFED_SECONDS: u64 = 20;

pub(super) fn spoofed_on_a_free_link(happened: &mut Happened) -> Fallible<()> {
    let [drr, faba] = ["drr", "faba"].map(|discipline| {
        let config = Document::both_ways(direction(50, discipline, Some(FlowsChoice::Inside)));
        let duration_ns = SPOOFED_SECONDS * 1_000_000_000;
        let mut flood = flow(
            "flood",
            Sends::Spoofed { per_second: SPOOFED_PER_SECOND, payload: SPOOFED_PAYLOAD },
            Way::Upload,
            60,
            duration_ns,
        );
        flood.start_ns = 2_000_000_000;
        let tcp = flow("tcp", Sends::Tcp("cubic".into()), Way::Upload, 0, duration_ns);
        let wiring = Wiring { delays: [Duration::from_ms(10); 2], ..Wiring::default() };
        let traffic = Traffic::new(vec![tcp, flood], duration_ns);
        let mut run = Run::begin(wiring, Middle::Gateway(&config), traffic)?;
        let seen = happened.finish(&mut run)?;
        happened.count(&format!("{discipline}: spoofed frames sent"), seen.flows[1].sent as f64);
        happened.check_conservation(run.gateway())?;
        let left = bps(&run.traffic, &seen, "tcp", 5.0, SPOOFED_SECONDS as f64) / 1e6;
        happened.count(&format!("{discipline}: Mbit/s of the TCP"), left);
        Fallible::Ok(left)
    });
    let (drr, faba) = (drr?, faba?);
    happened.expect("of what it has under drr the TCP has under faba", faba / drr, Allowed::at_least(0.9));
    Ok(())
}

const WALL_CLOCK: [&str; 4] = ["SystemTime", "ClockId::Realtime", "CLOCK_REALTIME", "calendar("];
/// The files that may read the wall clock. Reports between edges contain their sending time, so
/// they are refused after a clock step of more than 10 s.
const MAY_READ_IT: [&str; 5] =
    ["src/clock.rs", "edges/mod.rs", "src/capture.rs", "telemetry/changes.rs", "telemetry/process.rs"];
/// The gateway's sources. The web page is excluded, because its history uses the time of day.
const SOURCES_OF_THE_GATEWAY: [&str; 4] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateway/control/src"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateway/datapath/src"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateway/service/src"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../gateway/subscribers/src"),
];

pub(super) fn wall_clock(happened: &mut Happened) -> Fallible<()> {
    let mut folders = SOURCES_OF_THE_GATEWAY.map(std::path::PathBuf::from).to_vec();
    let (mut files, mut found) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?.flatten()
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files += 1;
                let text = std::fs::read_to_string(&path)?;
                let may = MAY_READ_IT.iter().any(|file| path.ends_with(file));
                if !may && WALL_CLOCK.iter().any(|word| text.contains(word)) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    happened.expect("source files", f64::from(files), Allowed::above(20.0));
    happened.check(found.is_empty(), format!("sources that read the wall clock: {found:?}"));
    Ok(())
}
