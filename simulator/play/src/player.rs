//! One or two runs of a scenario, side by side.

use crate::about;
use crate::frame::{Frame, SideFrame};
use crate::judging::Judging;
use crate::recorder::{Recorded, Recorder};
use fairwire_core::{Duration, Time};
use fairwire_metrics::record::RunRecord;
use fairwire_scenario::{self as scenario, Live, Overrides, Scenario};
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The time between two samples.
pub const SAMPLE: Duration = Duration::from_ms(10);
/// The maximum number of flows. A picture has a line for each.
pub const MAX_FLOWS: usize = 300;
const MAX_SIDES: usize = 2;

/// The requested runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The scenario, as TOML.
    pub scenario: String,
    /// Changes, each `PATH=VALUE`, as for `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Disciplines to use instead of the scenario's, as for `--discipline`.
    #[serde(default)]
    pub disciplines: Vec<String>,
    /// The seed; by default the first seed of the scenario.
    #[serde(default)]
    pub seed: Option<u64>,
}

impl Wanted {
    /// An unchanged scenario.
    pub fn of(scenario: &str) -> Self {
        Wanted { scenario: scenario.into(), ..Wanted::default() }
    }

    /// Parses and checks the scenario.
    ///
    /// # Errors
    /// The mistake and its location.
    pub fn checked(&self) -> Result<Scenario, PlayError> {
        let overrides = Overrides {
            set: self.set.clone(),
            disciplines: self.disciplines.clone(),
            seeds: self.seed.map(|seed| seed.to_string()),
        };
        scenario::parse("scenario.toml", &self.scenario, &overrides)
            .map_err(|error| PlayError(error.to_string()))
    }
}

/// The reason, as text for people, why there is no player or why the player refuses a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayError(pub String);

impl fmt::Display for PlayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlayError {}

/// Runs that advance on request.
pub struct Player {
    scenario: Scenario,
    sides: Vec<Contestant>,
    judging: Judging,
}

struct Contestant {
    discipline: usize,
    live: Live,
    seen: Arc<Mutex<Recorded>>,
    is_over: bool,
}

impl Contestant {
    fn new(scenario: &Scenario, discipline: usize, seed: u64) -> Result<Self, PlayError> {
        let seen = Arc::<Mutex<Recorded>>::default();
        let live = Live::new(scenario, discipline, seed, Box::new(Recorder(seen.clone())));
        let live = live.map_err(|error| PlayError(error.to_string()))?;
        Ok(Contestant { discipline, live, seen, is_over: false })
    }

    fn seen(&self) -> MutexGuard<'_, Recorded> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&mut self, to: Time) -> SideFrame {
        while !self.is_over && self.seen().now + SAMPLE <= to {
            self.is_over = !self.live.advance();
        }
        let mut seen = self.seen();
        SideFrame { samples: std::mem::take(&mut seen.samples), levels: seen.levels() }
    }
}

impl Player {
    /// Starts the runs.
    ///
    /// # Errors
    /// A mistake in the scenario, or too many flows.
    pub fn new(wanted: &Wanted) -> Result<Self, PlayError> {
        Player::of(wanted.checked()?)
    }

    /// Starts the runs of this scenario.
    ///
    /// # Errors
    /// The same as for [`new`](Player::new).
    pub fn of(scenario: Scenario) -> Result<Self, PlayError> {
        let spec = scenario.spec();
        let flows: usize = spec.flow.iter().map(|flow| flow.count() as usize).sum();
        if flows > MAX_FLOWS {
            return Err(PlayError(format!(
                "{flows} flows are more than can be looked at; allowed: at most {MAX_FLOWS}. `fairwire run` runs any number"
            )));
        }
        let seed = spec.seeds.as_slice().first().copied().unwrap_or(1);
        let compared = spec.disciplines.len().min(MAX_SIDES);
        let sides = (0..compared).map(|discipline| Contestant::new(&scenario, discipline, seed));
        let sides = sides.collect::<Result<_, _>>()?;
        let mut player = Player { scenario, sides, judging: Judging::default() };
        // The flows are known only once a run has begun, so each run makes one step here.
        player.sides.iter_mut().for_each(|side| side.is_over = !side.live.advance());
        Ok(player)
    }

    /// The running scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Advances each run to its last sample at or before `to`, or to its end. A past `to` advances
    /// no run.
    pub fn advance(&mut self, to: Time) -> Frame {
        let sides: Vec<SideFrame> = self.sides.iter_mut().map(|side| side.advance(to)).collect();
        let now = self.sides.iter().map(|side| side.seen().now).max().unwrap_or(Time::ZERO);
        let is_over = self.sides.iter().all(|side| side.is_over);
        Frame { now_s: now.since(Time::ZERO).secs(), is_over, sides }
    }

    /// Changes values during the runs: disciplines and their parameters, and rates and buffers of
    /// links. Each change is `PATH=VALUE`, as for `--set`.
    ///
    /// # Errors
    /// If a value is wrong, or a change needs a new run. Then nothing has changed.
    pub fn set(&mut self, set: &[String]) -> Result<(), PlayError> {
        // A change may shorten the list of disciplines. The discipline of the last side has the
        // largest index. If that side accepts a change, all sides do.
        for side in self.sides.iter_mut().rev() {
            side.live.set_all(set).map_err(|error| PlayError(error.to_string()))?;
        }
        if let Some(side) = self.sides.first() {
            self.scenario = side.live.scenario().clone();
            self.judging = Judging::default();
        }
        Ok(())
    }

    /// Makes one more complete run to check the current scenario's expectations. Earlier changes
    /// apply from the start. See [`answer`](crate::answer).
    ///
    /// # Errors
    /// If the run fails.
    pub fn judge(&mut self) -> Result<Value, PlayError> {
        self.judging.advance(&self.scenario)
    }

    /// The names of the flows, in the order of samples and levels.
    pub fn flows(&self) -> Vec<String> {
        let first = self.sides.first();
        first.map_or_else(Vec::new, |side| side.seen().flows.iter().map(|flow| flow.name.clone()).collect())
    }

    /// A description for the page: names, flows, causes, and the scenario as typed and as data.
    pub fn about(&self) -> Value {
        let labels: Vec<&str> =
            self.sides.iter().map(|side| self.scenario.spec().disciplines[side.discipline].label()).collect();
        match self.sides.first() {
            Some(side) => about::of(&self.scenario, &labels, &side.seen()),
            None => Value::Null,
        }
    }

    /// The records of complete runs, bit for bit as from `fairwire run`; `None` before the end.
    pub fn records(&self) -> Option<Vec<RunRecord>> {
        self.sides.iter().map(|side| side.live.record()).collect()
    }
}
