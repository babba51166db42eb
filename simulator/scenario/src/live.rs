//! A run whose scenario may change during the run.

use crate::build;
use crate::links::Links;
use crate::load::Scenario;
use crate::output::OutputSpec;
use crate::run;
use crate::spec::Spec;
use crate::topology::{NOT_SIZED, Topology};
use fairwire_catalogue::{self as catalogue, BuildError, Parameters};
use fairwire_core::units::Room;
use fairwire_core::{Discipline, Rate, Seed, Time};
use fairwire_document::{DocumentError as ScenarioError, Problem};
use fairwire_metrics::record::RunRecord;
use fairwire_sim::{Hop, Observer, Steps};

/// A run of one discipline under one seed, in steps from one sample of its observer to the next.
/// Between steps, the scenario may be changed if that needs no new run.
///
/// Without an effective change, the results are those of an ordinary run, bit for bit. The same
/// changes at the same steps give the same results.
///
/// ```
/// use fairwire_scenario::{Live, Observer, Overrides, View, parse};
/// # use fairwire_core::Duration;
/// # struct Every(Duration);
/// # impl Observer for Every {
/// #     fn interval(&self) -> Option<Duration> { Some(self.0) }
/// #     fn sample(&mut self, _: &View<'_>) {}
/// # }
/// let text = r#"
///     format = 2
///     name = "two"
///     duration = "2 s"
///     disciplines = ["pie"]
///     link = { rate = "1 Mbit/s", delay = "5 ms", buffer = "20 packets" }
///     [[flow]]
///     group = "tcp"
///     count = 2
///     source = "bulk"
///     access = { rate = "10 Mbit/s", delay = "1 ms" }
/// "#;
/// let scenario = parse("two.toml", text, &Overrides::default())?;
/// let mut live = Live::new(&scenario, 0, 1, Box::new(Every(Duration::from_ms(500))))?;
/// live.advance();
/// live.set("discipline.pie.target", "5 ms")?;
/// live.set("link.rate", "2 Mbit/s")?;
/// assert!(live.set("flow.tcp.count", "3").unwrap_err().to_string().contains("a new run"));
/// while live.advance() {}
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Live {
    scenario: Scenario,
    discipline: usize,
    seed: Seed,
    steps: Steps,
}

type Placed = (usize, Box<dyn Discipline>);

const CHANGEABLE: &str = "while a run goes on, disciplines and their parameters, and of links the \
    `buffer` and, without a `trace`, the `rate`; all else needs a new run";

const CHOICE: &str = "disciplines";

impl Live {
    /// Creates a run of the discipline at index `discipline` in the scenario's list.
    ///
    /// # Errors
    /// If the discipline cannot be built.
    pub fn new(
        scenario: &Scenario,
        discipline: usize,
        seed: u64,
        observer: Box<dyn Observer>,
    ) -> Result<Self, BuildError> {
        let steps = run::steps(scenario, discipline, seed, observer)?;
        Ok(Live { scenario: scenario.clone(), discipline, seed: Seed(seed), steps })
    }

    /// Proceeds to the next sample or to the end, where a sample may also be due. Returns whether
    /// the run continues.
    pub fn advance(&mut self) -> bool {
        self.steps.advance()
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.steps.now()
    }

    /// The record of the run; `None` before its end. Without changes, the record equals that of
    /// [`run_single`](crate::run_single), bit for bit.
    pub fn record(&self) -> Option<RunRecord> {
        run::record_of(&self.scenario, self.discipline, self.seed.0, &self.steps)
    }

    /// The current scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Changes a value of the scenario from now on, as `--set PATH=VALUE` does for an entire run.
    ///
    /// If a discipline can take over its new parameters, it keeps its state and its waiting
    /// packets, even in a smaller buffer. Otherwise another discipline replaces it, and is offered
    /// the waiting packets. A packet in transmission ends as scheduled. An uncongested return
    /// direction keeps its initial rate.
    ///
    /// # Errors
    /// If `--set` would be refused, or the change needs a new run. Then nothing has changed.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ScenarioError> {
        self.set_all(&[format!("{path}={value}")])
    }

    /// Makes several changes at once, each `PATH=VALUE`, as [`set`](Live::set) does.
    ///
    /// # Errors
    /// The same as for [`set`](Live::set).
    pub fn set_all(&mut self, set: &[String]) -> Result<(), ScenarioError> {
        let next = self.changed(set)?;
        if next.spec().disciplines.len() <= self.discipline || fixed(&next) != fixed(&self.scenario) {
            return Err(refused(set));
        }
        let fresh = self.fresh(&next).map_err(|error| unbuilt(&error))?;
        let before = &self.scenario.topology().queues;
        for (at, queue) in next.topology().queues.iter().enumerate() {
            if queue.rate != before[at].rate {
                self.steps.set_rate(at, queue.rate);
            }
        }
        for (at, discipline) in fresh {
            self.steps.change_discipline(at, discipline);
        }
        self.scenario = next;
        Ok(())
    }

    /// The scenario after `set`. If a change of disciplines makes it invalid, all expectations and
    /// `[[agree]]` tables are dropped.
    fn changed(&self, set: &[String]) -> Result<Scenario, ScenarioError> {
        let is_choice =
            |change: &String| change.split_once('=').is_some_and(|(path, _)| path.trim() == CHOICE);
        self.scenario.changed(set).or_else(|error| {
            if !set.iter().any(is_choice) {
                return Err(error);
            }
            let without = ["expect=[]", "agree=[]"].map(String::from);
            let all: Vec<String> = without.into_iter().chain(set.iter().cloned()).collect();
            self.scenario.changed(&all).map_err(|_| error)
        })
    }

    fn fresh(&self, next: &Scenario) -> Result<Vec<Placed>, BuildError> {
        let compared = &next.spec().disciplines[self.discipline];
        let is_other = |at: &usize| {
            let works = |scenario| works(scenario, self.discipline, *at);
            works(next) != works(&self.scenario)
        };
        let build = |at| {
            let built = build::discipline(next.spec(), next.topology(), at, compared, self.seed)?;
            Ok((at, built))
        };
        (0..next.topology().queues.len()).filter(is_other).map(build).collect()
    }
}

fn unbuilt(error: &BuildError) -> ScenarioError {
    let problem = Problem::BadValue { key: "disciplines".into(), message: error.to_string() };
    ScenarioError { problem, location: None, more: Box::default() }
}

fn refused(set: &[String]) -> ScenarioError {
    let parts = || set.iter().map(|change| change.split_once('=').unwrap_or((change, "")));
    let joined = |texts: Vec<&str>| texts.join("`, `");
    let problem = Problem::Refused {
        key: joined(parts().map(|(path, _)| path.trim()).collect()),
        given: format!("`{}`", joined(parts().map(|(_, value)| value.trim()).collect())),
        why: "the run was set up otherwise and goes on".into(),
        allowed: CHANGEABLE.into(),
    };
    ScenarioError { problem, location: None, more: Box::default() }
}

/// The discipline at queue `at`, its parameters, and the queue's rate and buffer, as text for
/// comparison.
fn works(scenario: &Scenario, discipline: usize, at: usize) -> String {
    let spec = scenario.spec();
    let queue = &scenario.topology().queues[at];
    let works = queue.own.as_ref().unwrap_or(&spec.disciplines[discipline]);
    let parameters = works.parameters(&spec.discipline).only(catalogue::key(works.name()));
    format!("{} {parameters:?} {:?} {:?}", works.name(), queue.rate, queue.buffer)
}

/// The settings of a scenario that stay fixed during a run, as text. Expectations are excluded,
/// because they apply only to finished runs.
fn fixed(scenario: &Scenario) -> String {
    let spec = Spec {
        disciplines: Vec::new(),
        expect: Vec::new(),
        agree: Vec::new(),
        output: OutputSpec { paired: None, ..scenario.spec().output.clone() },
        link: None,
        network: None,
        return_link: None,
        discipline: Parameters::default(),
        ..scenario.spec().clone()
    };
    let is_shared = matches!(scenario.spec().link, Some(Links::Shared(_)));
    format!("{spec:?} {:?}", without_changeable(scenario.topology().clone(), is_shared))
}

/// Removes the settings that may change during a run. With a shared link, an uncongested return
/// direction has the link's rate, so that rate is removed too.
fn without_changeable(mut topology: Topology, is_shared: bool) -> Topology {
    let none = Rate::from_bps(1).expect("not zero");
    for queue in &mut topology.queues {
        if queue.law.repeating_mean().is_none() {
            queue.rate = none;
        }
        (queue.room, queue.buffer, queue.own) = (Room::Amount(NOT_SIZED), NOT_SIZED, None);
    }
    let hops = topology
        .routes
        .iter_mut()
        .flatten()
        .flat_map(|route| route.forward.iter_mut().chain(&mut route.back));
    for hop in hops.filter(|_| is_shared) {
        if let Hop::Wire { rate, .. } = hop {
            *rate = none;
        }
    }
    topology
}
