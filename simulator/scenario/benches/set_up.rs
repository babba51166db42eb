//! Measures the preparation of a run: reading a scenario, building its network, and setting up the
//! simulator. See proof/bench/README.md.

use fairwire_core::{Duration, Seed};
use fairwire_scenario::{Overrides, load, network};
use fairwire_sim::{Settings, TieRule};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 7;

#[expect(clippy::disallowed_methods, reason = "a benchmark measures time; the library does not")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        // A benchmark runs in the folder of its crate.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        let mut times: Vec<[f64; 3]> = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let scenario = load(&path, &Overrides::default())?;
            let read = start.elapsed();
            let network = network(&scenario, 0, 1)?;
            let built = start.elapsed();
            let (duration, warm_up) = (Duration::from_ns(1), Duration::ZERO);
            let settings = Settings { duration, warm_up, seed: Seed(1), tie_rule: TieRule::Random };
            let made = fairwire_sim::run(network, &settings, &mut |_| ControlFlow::Continue(()));
            let all = start.elapsed();
            drop(made);
            times.push([read, built - read, all - built].map(|time| time.as_secs_f64()));
        }
        times.sort_by(|one, other| one.iter().sum::<f64>().total_cmp(&other.iter().sum()));
        let printed = |[read, built, set_up]: [f64; 3]| {
            let all = read + built + set_up;
            format!("{all:.3} s (read {read:.3}, network {built:.3}, simulator {set_up:.3})")
        };
        let name = path.file_stem().unwrap_or_default().display();
        println!("{name}: median of {ROUNDS} {}, least {}", printed(times[ROUNDS / 2]), printed(times[0]));
    }
    Ok(())
}
