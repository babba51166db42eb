//! The command `fairwire` with one discipline more, `linear`: drops early, the more the fuller the buffer is.

use fairwire_catalogue::{self as catalogue, About, Family};
use fairwire_catalogue::{BuildError, DisciplineSpec, Site};
use fairwire_core::units::Amount;
use fairwire_core::{Buffer, Cause, Discipline, Dropper, Packet, Rng, Time, Verdict};
use fairwire_laws::error::Of as _;
use fairwire_laws::part::Part;
use fairwire_laws::scheduler::Service;
use fairwire_laws::spec::{EcnChoice, Quantity};
use fairwire_parameters::parameters;
use std::process::ExitCode;

const NAME: &str = "linear";

/// Parameters of `linear`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// How much may wait.
    #[parameter(unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// Whether a signal drops or marks ECN-capable packets.
    #[parameter(default = EcnChoice::Drop)]
    pub ecn: Option<EcnChoice>,
    /// Which packet leaves next.
    #[parameter(unset = "`fcfs`")]
    pub scheduler: Option<Service>,
    /// The part of the buffer from which on packets are dropped.
    #[parameter(default = 0.5, min = 0.0, max = 1.0, unit = "1")]
    pub start: Option<f64>,
}

impl Part for Spec {
    fn scheduler(&self) -> Option<&Service> {
        self.scheduler.as_ref()
    }

    fn scheduler_mut(&mut self) -> Option<&mut Option<Service>> {
        Some(&mut self.scheduler)
    }
}

impl DisciplineSpec for Spec {
    const NAME: &'static str = NAME;
    const ABOUT: About = About {
        family: Family::ActiveQueueManagement,
        summary: "drops early, the more the fuller the buffer is",
        state: "none",
        cost: "O(1)",
        marks: true,
        source: "an example",
    };

    fn buffer(&self) -> Option<Amount> {
        self.buffer.map(|buffer| buffer.0)
    }

    fn ecn_mut(&mut self) -> &mut Option<EcnChoice> {
        &mut self.ecn
    }

    fn check(&self, site: &Site<'_>) -> Result<(), BuildError> {
        self.checked().of(NAME)?;
        site.room(NAME, self.buffer)?;
        Service::check(&self.scheduler, NAME, site)?;
        Ok(())
    }

    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BuildError> {
        let room = site.room(NAME, self.buffer)?;
        let service = Service::check(&self.scheduler, NAME, site)?;
        let law = Linear { start: self.checked().of(NAME)?.start, most: room.packets, rng: site.rng(NAME) };
        Ok(service.queue(room.limit, self.ecn.unwrap_or_default(), law))
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

fn main() -> ExitCode {
    catalogue::register::<Spec>().expect("no other has its name");
    fairwire_command::main()
}
