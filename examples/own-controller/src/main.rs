//! The command `fairwire` with a controller `gentle`, which keeps a fixed fraction of its window
//! after a loss.

use fairwire_parameters::{OutOfRange, parameters};
use fairwire_scenario::control;
use fairwire_tcp::congestion::{About, Acked, Congested, Control, ControlConfig, ControllerSpec, Outside};
use std::process::ExitCode;

const NAME: &str = "gentle";
const ABOUT: About = About::new("a segment more per round trip, and after a loss most of it", "an example");

/// Parameters of `gentle`.
#[parameters(checked = Checked)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The fraction of the window that remains after a loss.
    #[parameter(default = 0.8, min = 0.1, max = 0.99, unit = "1")]
    pub keeps: Option<f64>,
}

impl ControllerSpec for Spec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Checked { keeps } = self.checked()?;
        Ok(ControlConfig::Outside(Outside::new(NAME, move |start| {
            let window = start.initial_window.into();
            Gentle { window, threshold: f64::INFINITY, keeps }
        })))
    }
}

/// The controller `gentle`. Its window is in segments.
#[derive(Debug)]
struct Gentle {
    window: f64,
    threshold: f64,
    keeps: f64,
}

impl Control for Gentle {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, acked: &Acked) {
        if acked.is_window_used {
            let per_round_trip = if self.window < self.threshold { self.window } else { 1.0 };
            let grown = self.window + f64::from(acked.growth) * per_round_trip / self.window;
            self.window = grown.min(acked.max_window);
        }
    }

    fn lost(&mut self, congested: &Congested) {
        self.window = (congested.in_use * self.keeps).max(1.0);
        self.threshold = self.window.max(2.0);
    }

    fn timed_out(&mut self, congested: &Congested) {
        self.lost(congested);
        self.window = 1.0;
    }
}

fn main() -> ExitCode {
    fairwire_command::main_with([control::register::<Spec>(ABOUT)])
}
