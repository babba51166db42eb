//! The settings that a paper leaves open, their admissible values, and draws of these values.

use crate::plan::{Changes, Plan};
use crate::record::{Depth, Scale};
use crate::study::Study;
use crate::sweep;
use fairwire_document::{Locations, Problem, read_document};
use fairwire_scenario::ScenarioError;
use serde::Deserialize;

/// The contents of `space.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpaceSpec {
    /// The settings, each drawn independently of the others.
    #[serde(default)]
    pub setting: Vec<SettingSpec>,
}

/// One setting that the paper leaves open.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingSpec {
    /// Its name.
    pub id: String,
    /// The paper's statement about the setting, with its location; or the remark that there is
    /// none.
    pub paper: String,
    /// The exhibits that the setting affects.
    pub exhibits: Vec<String>,
    /// The admissible choices, all equally likely.
    #[serde(default)]
    pub choice: Vec<ChoiceSpec>,
    /// The bounds of a range, instead of choices.
    pub range: Option<[f64; 2]>,
    /// The distribution over a range: uniform by default, or uniform in the logarithm.
    #[serde(default)]
    pub scale: Scale,
    /// The changes to the scenario. The number drawn from the range replaces `{x}`; formulas such
    /// as `{x*2}` are evaluated.
    #[serde(default)]
    pub set: Vec<String>,
}

/// One choice.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceSpec {
    /// A short description.
    pub is: String,
    /// The changes to the scenario; none if the scenario already has this value.
    #[serde(default)]
    pub set: Vec<String>,
}

/// A value for each setting.
#[derive(Clone, Debug)]
pub struct Draw {
    /// The values, in the order of the space's settings.
    pub values: Vec<Drawn>,
}

/// The value of one setting.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Its description.
    pub is: String,
    set: Vec<String>,
}

/// Recorded calibrations depend on this seed.
const SEED: u32 = 1;

/// The maximum number of draws: `sobol_burley::sample` specifies no results for higher numbers.
pub const MAX_DRAWS: u32 = 1 << 16;
const MAX_SETTINGS: usize = sobol_burley::NUM_DIMENSIONS as usize;

impl SpaceSpec {
    /// Reads and checks the space of `study`; `None` if the study declares none.
    pub fn read(study: &Study) -> Result<Option<Self>, ScenarioError> {
        const NAME: &str = "space.toml";
        let Some(text) = study.folder.files.get(NAME) else { return Ok(None) };
        let (space, locations) = read_document::<SpaceSpec>(&format!("{}{NAME}", study.folder.prefix), text)?;
        space.check(study, &locations)?;
        Ok(Some(space))
    }

    /// Draw number `number` of the space: a point of Owen's scrambled Sobol sequence (Burley 2020),
    /// which fills the space more evenly than chance.
    pub fn draw(&self, number: u32) -> Draw {
        let unit = |dimension: usize| f64::from(sobol_burley::sample(number, dimension as u32, SEED));
        Draw { values: self.setting.iter().enumerate().map(|(at, setting)| setting.at(unit(at))).collect() }
    }

    /// The changes of `draw` to the scenarios of `exhibit`.
    pub fn changes(&self, draw: &Draw, exhibit: &str) -> Vec<String> {
        let both = self.setting.iter().zip(&draw.values);
        both.filter(|(setting, _)| setting.concerns(exhibit))
            .flat_map(|(_, drawn)| drawn.set.clone())
            .collect()
    }

    /// Does any setting affect `exhibit`?
    pub fn concerns(&self, exhibit: &str) -> bool {
        self.setting.iter().any(|setting| setting.concerns(exhibit))
    }

    fn check(&self, study: &Study, locations: &Locations) -> Result<(), ScenarioError> {
        if self.setting.len() > MAX_SETTINGS {
            return Err(refuse(
                locations,
                "setting",
                format!("{} were given; allowed: at most {MAX_SETTINGS}", self.setting.len()),
            ));
        }
        for (number, setting) in self.setting.iter().enumerate() {
            let key = |key: &str| format!("setting.{number}.{key}");
            if self.setting[..number].iter().any(|other| other.id == setting.id) {
                return Err(refuse(
                    locations,
                    &key("id"),
                    format!(
                        "another setting has the id `{}`; allowed: an id that no other setting has",
                        setting.id
                    ),
                ));
            }
            if setting.choice.is_empty() == setting.range.is_none() {
                let why = match setting.range {
                    Some(_) => "`choice` and `range` are both given; allowed: one of the two",
                    None => "neither `choice` nor `range` is given; allowed: one of the two",
                };
                return Err(refuse(locations, &key("id"), why));
            }
            if let Some([from, to]) = setting.range
                && (from >= to
                    || !(from.is_finite() && to.is_finite())
                    || (setting.scale == Scale::Log && from <= 0.0))
            {
                let why = match from < to {
                    _ if !(from.is_finite() && to.is_finite()) => "has a number that is not finite",
                    true => "does not begin above 0, as the scale `log` requires",
                    false => "does not begin below its end",
                };
                let allowed = "two finite numbers, the smaller first; with the scale `log`, both above 0";
                let message = format!("[{from}, {to}] {why}; allowed: {allowed}");
                return Err(refuse(locations, &key("range"), message));
            }
            let mut tried = Vec::new();
            for (at, exhibit) in setting.exhibits.iter().enumerate() {
                let own = study.spec.exhibit.iter().filter(|own| own.scenario.is_some());
                let Some(place) =
                    study.spec.exhibit.iter().position(|own| own.id == *exhibit && own.scenario.is_some())
                else {
                    let allowed = own.map(|own| own.id.clone()).collect();
                    let problem = Problem::Unknown { what: "exhibit", given: exhibit.clone(), allowed };
                    return Err(locations.refuse(&key(&format!("exhibits.{at}")), problem));
                };
                // Exhibits of one scenario have the same keys: one check suffices.
                let scenario = &study.spec.exhibit[place].scenario;
                if tried.contains(&scenario) {
                    continue;
                }
                tried.push(scenario);
                for (path, drawn) in setting.each() {
                    let changes = Changes { set: drawn.set, seeds: None };
                    let path = key(path.as_str());
                    Plan::changed(study, place, Depth::Quick, &changes).map_err(|error| {
                        refuse(locations, &path, {
                            let advice =
                                error.problem.advice().map_or(String::new(), |advice| format!("; {advice}"));
                            format!("`{}` in {}: {}{advice}", drawn.is, study.name(place), error.problem)
                        })
                    })?;
                }
            }
        }
        Ok(())
    }
}

fn refuse(locations: &Locations, path: &str, message: impl Into<String>) -> ScenarioError {
    locations.refuse(path, Problem::BadValue { key: path.into(), message: message.into() })
}

impl SettingSpec {
    fn concerns(&self, exhibit: &str) -> bool {
        self.exhibits.iter().any(|own| own == exhibit)
    }

    /// The value at the fraction `unit` of the list of choices, or of the range.
    fn at(&self, unit: f64) -> Drawn {
        match self.range {
            None => {
                let place = (unit * self.choice.len() as f64) as usize;
                let ChoiceSpec { is, set } = self.choice[place.min(self.choice.len() - 1)].clone();
                Drawn { is, set }
            }
            Some([from, to]) => {
                let x = match self.scale {
                    Scale::Linear => from + unit * (to - from),
                    Scale::Log => from * libm::pow(to / from, unit),
                };
                // Four digits distinguish values, and are short enough to type. A rounded value can
                // lie just outside the range.
                let digits = 3 - libm::floor(libm::log10(x.abs().max(1e-9))) as i32;
                let x =
                    libm::round(x * libm::pow(10.0, f64::from(digits))) / libm::pow(10.0, f64::from(digits));
                // A text with a wrong formula stays unchanged, and `check` tries the unchanged
                // text.
                let set = self.set.iter().map(|text| sweep::filled(text, x).unwrap_or_else(|_| text.clone()));
                Drawn { is: x.to_string(), set: set.collect() }
            }
        }
    }

    fn each(&self) -> Vec<(String, Drawn)> {
        match self.range {
            None => {
                let choices = self.choice.iter().enumerate();
                choices
                    .map(|(at, choice)| {
                        (format!("choice.{at}"), Drawn { is: choice.is.clone(), set: choice.set.clone() })
                    })
                    .collect()
            }
            Some(_) => [0.0, 1.0].map(|unit| ("range".into(), self.at(unit))).to_vec(),
        }
    }
}
