//! Tables for people, JSON and CSV for programs, and a progress bar.

use crate::contest::Judged;
use crate::fallible::Fallible;
use crate::fault::Happened;
use crate::finding::Finding;
use crate::peers::InUml;
use crate::tries::Outcome as _;
use fairwire_metrics::judge::Verdict;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// A bar on stderr that counts `steps`.
pub fn bar(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}

/// The heading of [`rows`].
pub const HEADING: &str = "contest                        way       flows  used %  Jain    worst flow  worst group  share error  ping p50  p95 ms";

/// A contest as lines of the table.
pub fn rows(judged: &Judged) -> String {
    let mut text = String::new();
    for way in &judged.ways {
        let _ = write!(
            text,
            "{:<30} {:<9} {:>5} {:>7.1} {:>6.4} {:>10.1} % {:>10.1} % {:>9.2} pt",
            judged.case,
            way.way.name(),
            way.saturated,
            way.utilization * 100.0,
            way.jain,
            way.worst_flow * 100.0,
            way.worst_group * 100.0,
            way.share_error_points,
        );
        match way.ping {
            Some(ping) => drop(writeln!(text, " {:>9.1} {:>7.1}", ping.p50_ms, ping.p95_ms)),
            None => drop(writeln!(text, "         -       -")),
        }
    }
    text + &misses(&judged.findings, judged.starved.as_deref())
}

/// One line for each finding that does not hold, including known misses. If the gateway was
/// starved, the first line says how.
pub fn misses(findings: &[Finding], starved: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(starved) = starved {
        let _ = writeln!(text, "    the machine was busy: {starved}");
    }
    for Finding { what, verdict, .. } in findings.iter().filter(|finding| finding.verdict != Verdict::Holds) {
        let _ = writeln!(text, "    {verdict}: {what}");
    }
    text
}

/// The reasons of the known misses in `all`, without duplicates.
pub fn reasons(all: &[Judged]) -> String {
    let findings = all.iter().flat_map(|judged| &judged.findings);
    let reasons: BTreeSet<&str> = findings.filter_map(|finding| finding.because.as_deref()).collect();
    reasons.into_iter().map(|why| format!("known, because: {why}\n")).collect()
}

/// The table as CSV.
pub fn csv(all: &[Judged]) -> String {
    let mut text = String::from(
        "contest,way,saturated_flows,utilization,jain,worst_flow,worst_group,share_error_points,ping_p50_ms,ping_p95_ms,ping_p99_ms,gateway_us_per_packet,holds\n",
    );
    for judged in all {
        for way in &judged.ways {
            let [p50, p95, p99] =
                way.ping.map_or([f64::NAN; 3], |ping| [ping.p50_ms, ping.p95_ms, ping.p99_ms]);
            let _ = writeln!(
                text,
                "{},{},{},{:.4},{:.5},{:.4},{:.4},{:.3},{p50:.3},{p95:.3},{p99:.3},{:.2},{}",
                judged.case,
                way.way.name(),
                way.saturated,
                way.utilization,
                way.jain,
                way.worst_flow,
                way.worst_group,
                way.share_error_points,
                judged.processor_us_per_packet,
                judged.holds(),
            );
        }
    }
    text
}

/// Writes `what` as JSON into the file `name` of the folder `out`.
pub fn write<T: Serialize>(out: &Path, name: &str, what: &T) -> Fallible<()> {
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join(name), serde_json::to_string_pretty(what)? + "\n")?;
    Ok(())
}

/// A fault as lines of text.
pub fn happened(happened: &Happened) -> String {
    let mut text = String::new();
    let verdict = if happened.holds() { Verdict::Holds } else { Verdict::Fails };
    let _ = writeln!(text, "{}: {verdict}\n  promised: {}", happened.fault, happened.promised);
    if let Some(starved) = &happened.starved {
        let _ = writeln!(text, "  the machine was busy: {starved}");
    }
    for Finding { what, verdict, .. } in &happened.findings {
        let _ = writeln!(text, "  {verdict}: {what}");
    }
    for note in &happened.notes {
        let _ = writeln!(text, "  {note}");
    }
    let counters: Vec<String> =
        happened.counters.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect();
    let _ = writeln!(text, "  counters: {}", counters.join("; "));
    text
}

/// A contest in User Mode Linux as a line of text.
pub fn in_uml(found: &InUml) -> String {
    let [p50, p95] = found.wait.map_or([f64::NAN; 2], |wait| [wait.p50_ms, wait.p95_ms]);
    format!(
        "uml/{:<26} {} runs: payload {:.1} % of the link, Jain {:.4}, worst flow {:.2} pt off, packets wait {p50:.1} ms (p50) {p95:.1} ms (p95)",
        found.contest,
        found.runs,
        found.delivered * 100.0,
        found.jain,
        found.share_error_points,
    )
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}
