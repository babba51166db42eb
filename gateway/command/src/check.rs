//! `fairwire-gateway check`.

use crate::args::{CheckArgs, CheckFormat};
use fairwire_core::{Rate, Seed};
use fairwire_datapath::classify::Dscp;
use fairwire_document::shortened;
use fairwire_service::config::backend::BackendKind;
use fairwire_service::config::explain::{ClassExplanation, ShapingExplanation, WayExplanation};
use fairwire_service::config::{Config, Explanation, PlanContext, environment};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::print::print;
use serde_json::json;
use std::fmt::Write;

const MAX_CLASSES: usize = 20;
/// The TCP payload of a 1500-byte packet with timestamps, over IPv4 and IPv6.
const TCP_PAYLOAD_BYTES: [u32; 2] = [1500 - 20 - 32, 1500 - 40 - 32];
/// The assumed maximum frame: full Ethernet with a VLAN tag. Only the gateway's machine knows the
/// real MTUs.
const FRAME_BYTES: u32 = 1518;

pub(crate) fn check(args: &CheckArgs) -> Result<Ending, Failure> {
    let config = Config::load(&args.config)?;
    let mut explanation = config.explain();
    if !args.offline {
        let notes = environment::check(&config)?;
        explanation.notes.extend(notes.into_iter().chain(environment::held(&config)).map(|note| note.0));
    }
    let resident_bytes = built(&config)?;
    let text = match args.format {
        CheckFormat::Text => text(&explanation, resident_bytes, args.offline),
        CheckFormat::Json => {
            let mut value =
                serde_json::to_value(&explanation).map_err(|error| Failure::Ours(error.to_string()))?;
            value["memory"]["resident_bytes"] = json!(resident_bytes);
            value["is_offline"] = json!(args.offline);
            format!("{value:#}\n")
        }
    };
    print(text.as_bytes())?;
    Ok(Ending::Done)
}

/// Builds both directions as in a run. Returns this process's memory, in bytes, while both
/// directions exist.
pub(crate) fn built(config: &Config) -> Result<Option<u64>, Failure> {
    let link = config.spec().wire.backend.link_kind();
    let context = PlanContext { secret: [0; 16], seed: Seed(0), frame_bytes: FRAME_BYTES, link };
    // A checked configuration can be built, so an error is a fault of this program.
    let plan = config.plan(&context).map_err(|error| Failure::Ours(error.to_string()))?;
    let datapath = fairwire_datapath::Datapath::new(plan);
    let resident = resident_bytes();
    drop(datapath);
    Ok(resident)
}

fn counted((count, one, several): (usize, &str, &str)) -> String {
    match count {
        0 => format!("no {several}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {several}"),
    }
}

/// Bytes of this process in memory (proc(5), `VmRSS`).
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

pub(crate) fn text(explanation: &Explanation, resident_bytes: Option<u64>, is_offline: bool) -> String {
    let mut out = String::new();
    let line = |out: &mut String, text: String| writeln!(out, "{text}").expect("a string takes all");
    let Explanation { name, inside, outside, subscribers, classes, memory, .. } = explanation;
    let backend = match explanation.backend {
        BackendKind::AfPacket => "packet sockets (af-packet)",
        BackendKind::Tun => "TUN devices",
        BackendKind::Router => "what the kernel forwards (router)",
    };
    line(&mut out, format!("gateway `{name}`: {backend}, inside `{inside}`, outside `{outside}`"));
    let [subscribers, classes] =
        [(*subscribers, "subscriber", "subscribers"), (*classes, "class", "classes")].map(counted);
    line(&mut out, format!("{subscribers}, {classes} and unclaimed traffic"));
    for way in &explanation.ways {
        out.push('\n');
        write_way(&mut out, way);
    }
    out.push('\n');
    let resident =
        resident_bytes.map_or(String::new(), |bytes| format!("{} when built and idle; ", megabytes(bytes)));
    let frames = megabytes(memory.max_frames_bytes);
    let tables = megabytes(memory.claims_bytes as u64 + memory.classes_bytes as u64);
    line(
        &mut out,
        format!(
            "memory: {resident}of that {tables} for classes and addresses; frames inside take up to {frames} more"
        ),
    );
    for note in &explanation.notes {
        line(&mut out, format!("note: {note}"));
    }
    if is_offline {
        line(&mut out, "offline: interfaces, back end and rights were not looked at".into());
    }
    out
}

fn write_way(out: &mut String, way: &WayExplanation) {
    let Some(shaping) = &way.shaping else {
        writeln!(out, "{}: not shaped", way.way).expect("a string takes all");
        return;
    };
    let ShapingExplanation {
        rate_bps,
        discipline,
        leaf,
        flows,
        buffer,
        buffer_packets,
        buffer_s,
        not_ip_bps,
        control_bps,
        ..
    } = shaping;
    let leaf = leaf.as_ref().map_or(String::new(), |leaf| format!(", `{leaf}` in each leaf"));
    let dscp = match shaping.dscp.rewriting() {
        Dscp::Wash => "\n  DSCP: cleared".to_owned(),
        Dscp::Assured(class) => format!("\n  DSCP: AF{class}1 green, AF{class}2 yellow, AF{class}3 red"),
        Dscp::Keep => String::new(),
    };
    writeln!(
        out,
        "{}: {} shared by `{discipline}`{leaf}\n  buffer: {buffer}: {buffer_packets:.0} full packets of {} B on the link, \
         {:.1} ms; at most {} frames inside\n  a flow is: {flows}{dscp}\n  ahead of what waits: \
         what controls a network, up to {}; what else is not IP, up to {}",
        way.way,
        rate(*rate_bps as f64),
        shaping.packet_bytes,
        buffer_s * 1e3,
        shaping.frames,
        rate(*control_bps as f64),
        rate(*not_ip_bps as f64),
    )
    .expect("a string takes all");
    let [ipv4, ipv6] = TCP_PAYLOAD_BYTES.map(|bytes| f64::from(bytes) / f64::from(shaping.packet_bytes));
    writeln!(
        out,
        "  a speed test shows {:.1} % of this rate and of each plan, {:.1} % over IPv6: here {}",
        ipv4 * 1e2,
        ipv6 * 1e2,
        rate(*rate_bps as f64 * ipv4),
    )
    .expect("a string takes all");
    write_tree(out, &way.tree);
}

fn write_tree(out: &mut String, tree: &[ClassExplanation]) {
    if tree.is_empty() {
        return;
    }
    writeln!(out, "  when all are busy:").expect("a string takes all");
    // The tree is sorted level by level. The first levels of a large tree are more useful than its
    // first branch.
    let shown = &tree[..tree.len().min(MAX_CLASSES)];
    let mut below = vec![Vec::new(); shown.len()];
    let mut root = Vec::new();
    let places: std::collections::HashMap<&str, usize> =
        shown.iter().enumerate().map(|(place, class)| (class.class.as_str(), place)).collect();
    for (place, class) in shown.iter().enumerate() {
        match class.parent.as_deref().and_then(|parent| places.get(parent)) {
            Some(&parent) => below[parent].push(place),
            None => root.push(place),
        }
    }
    root.iter().for_each(|&place| write_branch(out, shown, &below, place));
    if tree.len() > shown.len() {
        writeln!(out, "    … and {} more (--format json has all)", tree.len() - shown.len())
            .expect("a string takes all");
    }
}

fn write_branch(out: &mut String, tree: &[ClassExplanation], below: &[Vec<usize>], place: usize) {
    let class = &tree[place];
    let bound = |what: &str, bps: Option<u64>| {
        bps.map_or(String::new(), |bps| format!(", {what} {}", rate(bps as f64)))
    };
    let burst = class.burst.map_or(String::new(), |burst| format!(", burst {}", burst.0));
    let leaf = class.leaf.as_ref().map_or(String::new(), |leaf| format!(", leaf `{leaf}`"));
    writeln!(
        out,
        "{:indent$}{}: {} (weight {}{}{}{burst}{}{leaf})",
        "",
        shortened(&class.class),
        rate(class.busy_bps),
        class.weight,
        bound("guaranteed", class.guaranteed_bps),
        bound("ceiling", class.ceiling_bps),
        bound("each", class.each_bps),
        indent = 2 + 2 * class.level,
    )
    .expect("a string takes all");
    below[place].iter().for_each(|&child| write_branch(out, tree, below, child));
}

fn rate(bps: f64) -> String {
    let digits = 10f64.powi((bps.max(1.0).log10() as i32 - 3).max(0));
    Rate::from_bps(((bps / digits).round() * digits) as u64).map_or("nothing".into(), |rate| rate.to_string())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
