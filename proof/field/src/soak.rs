//! A soak: full load and reloads for minutes. Memory must stay flat, and every packet must be
//! accounted for.

use crate::config::{Document, direction};
use crate::fallible::Fallible;
use crate::fault::Happened;
use crate::run::{Middle, Run};
use crate::world::{Wiring, flow, side};
use fairwire_metrics::judge::Allowed;
use fairwire_service::config::spec::FlowsChoice;
use fairwire_testbed::traffic::{Sends, Traffic};
use fairwire_wire::Way;
use indicatif::ProgressBar;

/// Bulk flows in each direction.
const FLOWS: u16 = 20;
const MBPS: u64 = 200;
/// The time between reloads, seconds.
const RELOAD_S: u64 = 10;
/// The permitted memory growth, KiB per minute: an occasional page.
const MAX_SLOPE_KIB: f64 = 64.0;
/// The fraction of the samples that is skipped at the start of a run, while buffers are touched for
/// the first time.
const SETTLING: f64 = 0.1;

/// The disciplines, used in turn. They need different amounts of memory, so each is compared only
/// with itself.
const DISCIPLINES: [&str; 3] = ["faba", "drr", "afd-nft"];

fn turn(number: u64) -> usize {
    number as usize % DISCIPLINES.len()
}

fn document(number: u64) -> Document {
    let discipline = DISCIPLINES[turn(number)];
    Document::both_ways(direction(MBPS, discipline, Some(FlowsChoice::FiveTuple)))
}

fn traffic(seconds: u64) -> Traffic {
    let stop_ns = seconds * 1_000_000_000;
    let flow = |way: Way, number| flow(way.name(), Sends::Tcp("cubic".into()), way, number, stop_ns);
    let flows = Way::ALL.into_iter().flat_map(|way| (0..FLOWS).map(move |number| flow(way, number)));
    Traffic::new(flows.collect(), stop_ns)
}

/// Runs a soak of `minutes`. `bar` counts the seconds.
pub fn soak(minutes: f64, bar: &ProgressBar) -> Happened {
    let promised = "at full load with a reload each 10 s memory is flat, every packet has its place, and the link is in use";
    Happened::of("soak", promised, |happened| run(minutes, bar, happened))
}

fn run(minutes: f64, bar: &ProgressBar, happened: &mut Happened) -> Fallible<()> {
    let seconds = (minutes * 60.0) as u64;
    let mut run = Run::begin(Wiring::default(), Middle::Gateway(&document(0)), traffic(seconds))?;
    let mut samples: [Vec<(f64, f64)>; 3] = Default::default();
    let (mut reloads, mut unbalanced) = (0, 0);
    for second in 1..seconds {
        run.wait_until(second as f64);
        let gateway = run.gateway();
        samples[turn(reloads)].push((second as f64 / 60.0, gateway.resident_bytes() as f64 / 1024.0));
        if second % RELOAD_S == 0 {
            reloads += 1;
            unbalanced += usize::from(!gateway.reload(&document(reloads))?.is_balanced);
        }
        bar.set_position(second);
    }
    let processor = run.gateway().processor_s();
    let seen = happened.finish(&mut run)?;
    for (name, samples) in DISCIPLINES.iter().zip(&mut samples) {
        judge(name, samples, happened);
    }
    happened.count("reloads", reloads as f64);
    happened.count("processor time, s", processor);
    happened.expect("reloads that left a packet without a place", unbalanced as f64, Allowed::at_most(0.0));
    for way in Way::ALL {
        let flows = run.traffic.flows.iter().zip(&seen.flows).filter(|(flow, _)| flow.from == side(way));
        let bytes: u64 = flows.flat_map(|(_, seen)| &seen.link_bytes).sum();
        let percent = bytes as f64 * 8.0 / seconds as f64 / (MBPS as f64 * 1e4);
        happened.expect_in_time(
            &format!("{}: of the link in use, %", way.name()),
            percent,
            Allowed::above(85.0),
        );
    }
    happened.check_conservation(run.gateway())
}

/// Judges the memory of a discipline. Each sample is a time in minutes and a size in KiB.
fn judge(discipline: &str, samples: &mut Vec<(f64, f64)>, happened: &mut Happened) {
    samples.drain(..(samples.len() as f64 * SETTLING) as usize);
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return };
    happened.count(&format!("{discipline}: memory at minute {:.1}, KiB", first.0), first.1);
    happened.count(&format!("{discipline}: memory at minute {:.1}, KiB", last.0), last.1);
    let min = samples.iter().map(|(_, kib)| *kib).fold(f64::INFINITY, f64::min);
    let max = samples.iter().map(|(_, kib)| *kib).fold(0.0, f64::max);
    happened.notes.push(format!("{discipline}: memory {min:.0} to {max:.0} KiB"));
    let what = format!("{discipline}: slope of memory, KiB a minute");
    happened.expect(&what, slope(samples), Allowed::below(MAX_SLOPE_KIB));
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |value: fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut above, mut below) = (0.0, 0.0);
    for point in points {
        above += (point.0 - x) * (point.1 - y);
        below += (point.0 - x).powi(2);
    }
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tries::Outcome as _;

    #[test]
    fn growing_memory_fails_with_the_name_of_the_discipline() {
        let mut happened = Happened::default();
        let mut grows: Vec<(f64, f64)> =
            (0..100).map(|x| (f64::from(x) / 10.0, 4e4 + f64::from(x) * 7.0)).collect();
        judge("drr", &mut grows, &mut happened);
        assert_eq!(happened.notes, ["drr: memory 40070 to 40693 KiB"]);
        assert_eq!(happened.findings[0].what, "drr: slope of memory, KiB a minute: 70.000 (at most 64.000)");
        assert!(!happened.holds());
        let mut rests: Vec<(f64, f64)> = (0..100).map(|x| (f64::from(x) / 10.0, 4e4)).collect();
        let mut happened = Happened::default();
        judge("faba", &mut rests, &mut happened);
        assert!(happened.holds());
    }

    #[test]
    fn the_slope_of_a_line_is_exact_and_that_of_a_point_is_zero() {
        let line: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 3.0 * f64::from(x) + 1.0)).collect();
        assert!((slope(&line) - 3.0).abs() < 1e-12);
        assert_eq!(slope(&[(1.0, 2.0)]), 0.0);
    }
}
