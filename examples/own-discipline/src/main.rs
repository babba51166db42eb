//! The command `fairwire` with a dropper `linear`, which drops more often as the buffer fills.

use fairwire_catalogue::{self as catalogue, About, Family};
use fairwire_catalogue::{BadParameter, DisciplineSpec, Site};
use fairwire_core::{Buffer, Cause, Discipline, Dropper, Packet, Rng, Time, Verdict};
use fairwire_laws::error::Of as _;
use fairwire_laws::part::Part;
use fairwire_laws::queueing::Queueing;
use fairwire_parameters::parameters;

const NAME: &str = "linear";

const ABOUT: About = About {
    family: Family::ActiveQueueManagement,
    summary: "drops early, the more the fuller the buffer is",
    state: "none",
    cost: "O(1)",
    marks: true,
    source: "an example",
};

/// Parameters of `linear`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The size of the buffer, the treatment of ECN-capable packets, and the order in which packets
    /// leave.
    #[parameter(flatten)]
    pub queue: Queueing,
    /// The fraction of the buffer above which packets are dropped.
    #[parameter(default = 0.5, min = 0.0, max = 1.0, unit = "1")]
    pub start: Option<f64>,
}

impl Part for Spec {}

impl DisciplineSpec for Spec {
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.checked().of(NAME)?;
        self.queue.check(NAME, site)?;
        Ok(())
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let queue = self.queue.check(NAME, site)?;
        let start = self.checked().of(NAME)?.start;
        Ok(queue.serve(Linear { start, most: queue.room.packets, rng: site.rng(NAME) }))
    }
}

/// The law.
#[derive(Debug)]
struct Linear {
    start: f64,
    most: f64,
    rng: Rng,
}

impl Dropper for Linear {
    fn on_arrival(&mut self, _: &Packet, buffer: &Buffer, _: Time) -> Verdict {
        let fill = f64::from(buffer.len()) / self.most;
        let p = (fill - self.start) / (1.0 - self.start);
        if p > 0.0 && self.rng.chance(p.min(1.0)) { Verdict::Signal(Cause::Early) } else { Verdict::Pass }
    }
}

#[cfg(feature = "command")]
fn main() -> std::process::ExitCode {
    fairwire_command::main_with([catalogue::register::<Spec>(ABOUT)])
}

#[cfg(not(feature = "command"))]
fn main() {
    if let Err(error) = run() {
        eprintln!("{error}");
        std::process::exit(2);
    }
}

/// Runs a scenario and prints the mean of each measure, in a build without the command.
#[cfg(not(feature = "command"))]
fn run() -> Result<(), Box<dyn std::error::Error>> {
    catalogue::register::<Spec>(ABOUT)?;
    let file = std::env::args().nth(1).ok_or("allowed: the name of a scenario file")?;
    let scenario = fairwire_scenario::load(file.as_ref(), &fairwire_scenario::Overrides::default())?;
    let outcome = fairwire_scenario::run_all(&scenario, 0, &|_| {}, &false.into())?;
    for of in fairwire_metrics::summary::summarize(&outcome.runs) {
        for (measure, estimate) in &of.measures {
            println!("{:12} {measure:24} {:.4}", of.discipline, estimate.mean);
        }
    }
    Ok(())
}
