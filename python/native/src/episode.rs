//! A run in steps, for reinforcement learning environments.

use crate::error::scenario_error;
use crate::own::{self, Classes, Run};
use crate::scenario::{self, Scenario};
use fairwire_core::{Duration, Time};
use fairwire_scenario::{Live, Observer, View};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A row of `Episode::links`.
type Link = (String, f64, u32, u64, u64, f64, u64, u64);

/// A row of `Episode::flows`.
type Flow = (String, u64, u64, u64, u64);

#[derive(Default)]
struct Observations {
    now: f64,
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// The packets that left each link since the start, and the sum of their waits in seconds.
    waited: Vec<(u64, f64)>,
}

impl Observations {
    fn take(&mut self, view: &View<'_>) {
        self.now = seconds(view.now());
        self.waited.resize(view.links().count(), (0, 0.0));
        let links = view.links().zip(&mut self.waited).map(|(link, before)| {
            let count = link.sojourn.count();
            let sum = count as f64 * link.sojourn.mean().secs();
            // Counts restart at the end of the warm-up.
            let since = if count < before.0 { (0, 0.0) } else { *before };
            let (left, waited) = (count - since.0, (sum - since.1).max(0.0));
            *before = (count, sum);
            let (backlog, rate) = (link.backlog, link.rate.bps() as f64);
            let mean = waited / left.max(1) as f64;
            (link.name.into(), rate, backlog.packets, backlog.bytes, left, mean, link.dropped, link.marked)
        });
        self.links = links.collect();
        let flows = view.flows().map(|flow| {
            (flow.name().to_string(), flow.left_bytes, flow.delivered_bytes, flow.dropped, flow.marked)
        });
        self.flows = flows.collect();
    }
}

fn seconds(time: Time) -> f64 {
    time.ns() as f64 / 1e9
}

struct Recorder {
    step: Duration,
    seen: Arc<Mutex<Observations>>,
}

impl Recorder {
    fn take(&self, view: &View<'_>) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).take(view);
    }
}

impl Observer for Recorder {
    fn interval(&self) -> Option<Duration> {
        Some(self.step)
    }
    fn started(&mut self, view: &View<'_>) {
        self.take(view);
    }
    fn sample(&mut self, view: &View<'_>) {
        self.take(view);
    }
    /// Records the final step, which is shorter if the run's duration is not a multiple of the
    /// step.
    fn finished(&mut self, view: &View<'_>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.now < seconds(view.now()) {
            seen.take(view);
        }
    }
}

/// A run of a scenario's first discipline under one seed, in steps of simulated time.
///
/// `step`: seconds. Between two steps, `set` changes the scenario, and objects of Python classes
/// may be changed. Without such changes, the run equals that of `Scenario.run` with the same seed.
#[pyclass(frozen, module = "fairwire")]
pub(crate) struct Episode {
    going: Mutex<Going>,
    seen: Arc<Mutex<Observations>>,
    run: Arc<Run>,
}

struct Going {
    live: Live,
    classes: Classes,
}

impl Episode {
    fn seen(&self) -> MutexGuard<'_, Observations> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Episode {
    #[new]
    #[pyo3(signature = (scenario, *, seed, step))]
    fn new(scenario: &Scenario, seed: u64, step: f64) -> PyResult<Self> {
        if !(1e-6..=1e6).contains(&step) {
            return Err(PyValueError::new_err(format!("`step` is {step} s; allowed: from 1e-6 to 1e6 s")));
        }
        let (seen, run) = (Arc::<Mutex<Observations>>::default(), Arc::<Run>::default());
        let recorder = Recorder { step: Duration::from_ns((step * 1e9).round() as u64), seen: seen.clone() };
        let live = own::within(scenario.classes(), &run, || {
            Live::new(scenario.checked(), 0, seed, Box::new(recorder))
        });
        run.recover()?;
        let live = live.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Episode { going: Mutex::new(Going { live, classes: scenario.classes().clone() }), seen, run })
    }

    /// Changes the scenario from now on. Takes a path and a value, or a dict of changes to apply
    /// together. Keys and errors are those of `Scenario.set`.
    ///
    /// Disciplines and their parameters, buffers, and rates of links without a trace may be
    /// changed. Any other change raises ScenarioError. After a ScenarioError, nothing has changed.
    /// A discipline that cannot take over its new parameters is replaced, and the queued packets
    /// are offered to the new discipline.
    #[pyo3(signature = (path, value=None))]
    fn set(&self, py: Python<'_>, path: &Bound<'_, PyAny>, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut going = self.going.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let mut classes = going.classes.clone();
        let set = scenario::changes(path, value, &mut classes)?;
        let done = own::within(&classes, &self.run, || going.live.set_all(&set));
        self.run.recover()?;
        done.map_err(|error| scenario_error(py, &error))?;
        going.classes = classes;
        Ok(())
    }

    /// Advances by a step, and returns whether the run continues. The final step may be shorter.
    ///
    /// An exception in a Python class is raised, and ends the run.
    fn advance(&self, py: Python<'_>) -> PyResult<bool> {
        let mut going = self.going.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        let Going { live, classes } = &mut *going;
        let goes_on = own::within(classes, &self.run, || live.advance());
        self.run.failure().map_or(Ok(goes_on), |failure| Err(failure.error))
    }

    /// The simulated time, seconds.
    #[getter]
    fn now(&self) -> f64 {
        self.seen().now
    }

    /// One entry per queued link: its name, its rate in bit/s, and its queued packets and bytes.
    /// For the most recent step, it also has the packets that left, their mean wait in seconds, and
    /// the packets dropped and marked.
    #[getter]
    fn links(&self) -> Vec<Link> {
        self.seen().links.clone()
    }

    /// One entry per flow, with its name. For the most recent step, it also has the bytes that left
    /// the flow's last link, the bytes that arrived in order, and the packets dropped and marked.
    #[getter]
    fn flows(&self) -> Vec<Flow> {
        self.seen().flows.clone()
    }

    fn __repr__(&self) -> String {
        format!("<fairwire.Episode at {} s>", self.now())
    }
}
