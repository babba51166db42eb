//! A scenario on stages: the simulator, and this machine's own TCP.

use crate::contest::Done;
use crate::error::{Trouble, scenario_error};
use crate::own::{self, Classes, Observed, Run, Stop};
use crate::watch::Watch;
use fairwire_experiment::{
    About, Failed, LeftOut, Plan, SideBySide, Stage, Stages, WatchRun, WatchRuns, find,
};
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{Observers, RunId, Scenario};
use fairwire_testbed::{again, agent};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The Python program of a lab helper. It loads only this module and no settings, so it has one
/// thread. A process with several threads cannot create a user namespace.
const HELPER: &str = "import sys,importlib.machinery as m,importlib.util as u;\
    l=m.ExtensionFileLoader('_fairwire',sys.argv[1]);\
    s=u.spec_from_file_location('_fairwire',sys.argv[1],loader=l);\
    f=u.module_from_spec(s);l.exec_module(f);f._helper(sys.executable,sys.argv[1],sys.argv[3:])";

#[derive(Clone)]
pub(crate) struct On(Vec<&'static dyn Stage>);

impl On {
    pub(crate) fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        const ALLOWED: &str = "\"sim\", \"lab\", or a list of these";
        let wrong = || match given.repr() {
            Ok(text) => PyTypeError::new_err(format!("`on` is {text}; allowed: {ALLOWED}")),
            Err(error) => error,
        };
        let names: Vec<String> = match given.extract::<String>() {
            Ok(name) => vec![name],
            Err(_) => given.extract().map_err(|_| wrong())?,
        };
        if names.is_empty() {
            return Err(PyValueError::new_err(format!("`on` is empty; allowed: {ALLOWED}")));
        }
        let mut all: Vec<&'static dyn Stage> = Vec::new();
        for name in &names {
            let stage = find(name).map_err(|why| PyValueError::new_err(format!("`on`: {why}")))?;
            if all.iter().any(|known| known.name() == stage.name()) {
                let message = format!("`on`: `{name}` is given twice; allowed: each stage once");
                return Err(PyValueError::new_err(message));
            }
            all.push(stage);
        }
        let on = On(all);
        if on.has("lab") {
            start_helpers_by_python(given.py())?;
        }
        Ok(on)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|stage| stage.name() == name)
    }

    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Rejects a scenario that names an unknown stage.
    pub(crate) fn check(&self, py: Python<'_>, scenario: &Scenario) -> PyResult<()> {
        fairwire_experiment::check(scenario).map_err(|error| scenario_error(py, &error))
    }

    /// Runs `scenario`; `note` gets the progress.
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        jobs: usize,
        (watch, observed, classes): (&Watch, &Observed<'_>, &Classes),
        note: &(dyn Fn(f64) + Sync),
        stop: &Arc<Stop>,
    ) -> Done {
        let classed: Vec<Classed<'_>> =
            self.0.iter().map(|stage| Classed { stage: *stage, observed }).collect();
        // The simulator needs no `Classed`: it gives each run an observer that finds the Python
        // classes.
        let all: Vec<&dyn Stage> = classed.iter().map(Classed::or_simulator).collect();
        let mut run_on = |stage: &dyn Stage, disciplines: &[usize], at| {
            let watching = Watching { watch, observed, note, stage: stage.name(), at, of: all.len() };
            let mut runs = stage.run_all(scenario, disciplines, jobs, &watching, stop.flag())?;
            runs.retain(|run| observed.keeps(run));
            Ok(runs)
        };
        // A stage checks a discipline by building the discipline, so the classes must be in scope.
        let done = own::within(classes, &Arc::<Run>::default(), || {
            Stages { all: &all, are_named: true }.run(scenario, stop.flag(), &mut run_on)
        });
        let trouble = trouble(&done, scenario);
        Done { report: done.report, trouble }
    }
}

/// A stage whose runs find Python classes.
struct Classed<'a> {
    stage: &'static dyn Stage,
    observed: &'a Observed<'a>,
}

impl Classed<'_> {
    fn or_simulator(&self) -> &dyn Stage {
        if self.name() == "sim" { self.stage } else { self }
    }
}

impl Stage for Classed<'_> {
    fn about(&self) -> About {
        self.stage.about()
    }

    fn can_run(&self, plan: &Plan<'_>) -> Result<(), Failed> {
        self.stage.can_run(plan)
    }

    fn run(
        &self,
        plan: &Plan<'_>,
        seed: u64,
        watch: &mut dyn fairwire_experiment::Watch,
        stop: &AtomicBool,
    ) -> Result<Option<RunRecord>, Failed> {
        let which = RunId { index: 0, discipline: plan.label(), seed };
        let mut done = Ok(None);
        self.observed.around(which, &mut |run| {
            done = self.stage.run(plan, seed, watch, stop);
            if run.has_failed() {
                done = Ok(None);
            }
        });
        done
    }
}

struct Watching<'a> {
    watch: &'a Watch,
    observed: &'a Observed<'a>,
    note: &'a (dyn Fn(f64) + Sync),
    stage: &'static str,
    at: usize,
    of: usize,
}

impl WatchRuns for Watching<'_> {
    fn begins<'a>(&'a self, which: RunId<'_>) -> Box<dyn WatchRun + 'a> {
        Box::new(self.watch.sampled(which, self.stage))
    }

    fn reached(&self, fraction: f64) {
        (self.note)((self.at as f64 + fraction) / self.of as f64);
    }

    fn observers(&self) -> &dyn Observers {
        self.observed
    }
}

fn trouble(done: &SideBySide, scenario: &Scenario) -> Option<Trouble> {
    if let Some((stage, what)) = done.failed.first() {
        let message = format!("`{stage}` did not finish: {what}");
        return Some(Trouble { stage, message, allowed: None });
    }
    let is_idle = |left: &&LeftOut| !done.report.runs.iter().any(|run| run.stage == left.stage);
    let left = done.left_out.iter().find(is_idle)?;
    Some(Trouble {
        stage: left.stage,
        message: left.in_words(scenario),
        allowed: Some(left.why.allowed.clone()),
    })
}

fn start_helpers_by_python(py: Python<'_>) -> PyResult<()> {
    let interpreter: PathBuf = py.import("sys")?.getattr("executable")?.extract().unwrap_or_default();
    if interpreter.as_os_str().is_empty() {
        let message = "the stage `lab` starts this interpreter again, and `sys.executable` is empty; allowed: the stage `sim`";
        return Err(PyRuntimeError::new_err(message));
    }
    let module: String = py.import("fairwire._fairwire")?.getattr("__file__")?.extract()?;
    again::start_as(interpreter, before(module));
    Ok(())
}

/// The interpreter's arguments for a helper that loads `module`.
fn before(module: String) -> Vec<String> {
    ["-I", "-S", "-c", HELPER].map(String::from).into_iter().chain([module]).collect()
}

/// Acts as a helper of the lab, and ends this process. Only the lab calls this function.
#[pyfunction]
pub(crate) fn _helper(py: Python<'_>, interpreter: PathBuf, module: String, arguments: Vec<String>) {
    again::start_as(interpreter, before(module));
    std::process::exit(py.detach(|| agent::main(arguments)))
}
