//! A player controlled by byte messages, for WebAssembly and HTTP.

use crate::about;
use crate::judging::{pairs, whole};
use crate::objects::Objects;
use crate::player::{PlayError, Player, Wanted};
use fairwire_core::Time;
use fairwire_metrics::record::RunRecord;
use fairwire_metrics::summary;
use fairwire_scenario::Scenario;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The state of a page between messages: at most one player, and the page's disciplines and links.
#[derive(Default)]
pub struct Players {
    player: Option<Player>,
    objects: Objects,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    to_s: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Set {
    /// The changes, each `PATH=VALUE`, as for `--set`.
    set: Vec<String>,
}

/// Answers the message `call`, whose content is the JSON text `input`. The answer to `advance` is
/// bytes. All other answers are JSON.
///
/// - `catalogue`: every component that a scenario may name.
/// - `start` with a [`Wanted`]: replaces the current runs by new runs, and describes the new runs.
///   After an error, the current runs continue.
/// - `advance` with `{"to_s": SECONDS}`: a [`Frame`](crate::Frame).
/// - `set` with `{"set": [PATH=VALUE, …]}`: the description of the changed runs. Refused if the
///   change needs a new run.
/// - `result`: the measures of each side's complete run; `null` before the end.
/// - `judge`: makes one more complete run of the current scenario, unless every discipline and seed
///   has a run. Returns `done`, the number of runs made, and `of`, the number of all runs. After
///   the last run, it also returns the `judgements`, one per `[[expect]]` and discipline.
/// - `run` with a [`Wanted`]: the records of complete runs under every discipline and seed.
/// - `discipline` and `link`: create a discipline or a link. The page then drives it packet by
///   packet with `send`, `take`, `look` and `free`.
///
/// # Errors
/// A message for people.
pub fn answer(players: &mut Players, call: &str, input: &[u8]) -> Result<Vec<u8>, PlayError> {
    match call {
        "catalogue" => Ok(text(&about::catalogue())),
        "start" => {
            let player = Player::new(&read::<Wanted>(input)?)?; // an error keeps the current one
            let player = players.player.insert(player);
            Ok(text(&player.about()))
        }
        "advance" => {
            let Advance { to_s } = read(input)?;
            let to = Time::from_ns((to_s.clamp(0.0, 1e9) * 1e9).round() as u64);
            Ok(running(players)?.advance(to).to_bytes())
        }
        "set" => {
            let Set { set } = read(input)?;
            let player = running(players)?;
            player.set(&set)?;
            Ok(text(&player.about()))
        }
        "result" => {
            let player = running(players)?;
            let measures = |records: Vec<RunRecord>| measures(player.scenario(), &records);
            Ok(text(&player.records().map_or(Value::Null, measures)))
        }
        "judge" => Ok(text(&running(players)?.judge()?)),
        "run" => Ok(serde_json::to_vec(&run(&read::<Wanted>(input)?)?).unwrap_or_default()),
        other => match players.objects.answer(other, input) {
            Some(answer) => answer.map(|value| text(&value)),
            None => Err(PlayError(format!("there is no message `{other}`"))),
        },
    }
}

fn running(players: &mut Players) -> Result<&mut Player, PlayError> {
    players.player.as_mut().ok_or_else(|| PlayError("nothing runs: `start` comes first".into()))
}

fn read<T: DeserializeOwned>(input: &[u8]) -> Result<T, PlayError> {
    serde_json::from_slice(input)
        .map_err(|error| PlayError(format!("the message is not understood: {error}")))
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn run(wanted: &Wanted) -> Result<Vec<RunRecord>, PlayError> {
    let scenario = wanted.checked()?;
    let mut records = Vec::new();
    for (discipline, seed) in pairs(&scenario) {
        records.extend(whole(&scenario, discipline, seed)?);
    }
    Ok(records)
}

fn measures(scenario: &Scenario, records: &[RunRecord]) -> Value {
    let mut further = scenario.further_measures();
    further.extend(scenario.spec().lesson.iter().map(|lesson| lesson.measure.clone()));
    let of = |run: &RunRecord| {
        let mut measures = summary::measures(run);
        for name in &further {
            measures.extend(summary::further_measure(run, name).map(|value| (name.clone(), value)));
        }
        json!({ "discipline": run.discipline, "measures": measures })
    };
    records.iter().map(of).collect()
}
