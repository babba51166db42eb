//! A congestion controller as typed: its name, or a table of one name with its parameters.

use fairwire_core::Duration;
use fairwire_disciplines::spec::Quantity;
use fairwire_tcp::congestion::{
    BbrParameters, BinomialParameters, ControlConfig, CubicParameters, DctcpParameters, FirstPhase,
    LedbatParameters, PragueParameters,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;

const NAMES: &[&str] = &["reno", "binomial", "cubic", "dctcp", "prague", "ledbat", "bbr"];

/// A controller: `"cubic"`, or `{ cubic = { beta = 0.8 } }`.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(rename = "ControlTable", rename_all = "lowercase")]
pub enum ControlSpec {
    /// Reno and NewReno (RFC 5681).
    Reno(RenoSpec),
    /// Generalised window control.
    Binomial(BinomialSpec),
    /// CUBIC (RFC 9438).
    Cubic(CubicSpec),
    /// DCTCP (RFC 8257).
    Dctcp(DctcpSpec),
    /// TCP Prague.
    Prague(PragueSpec),
    /// LEDBAT (RFC 6817).
    Ledbat(LedbatSpec),
    /// BBR, version 1.
    Bbr(BbrSpec),
}

/// Reno has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenoSpec {}

/// Parameters of generalised window control; the defaults are Reno.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinomialSpec {
    /// Segments gained per ACK, divided by `window^k`. Default: 1.
    pub c1: Option<f64>,
    /// Segments lost per loss, times `window^l`. Default: 0.5.
    pub c2: Option<f64>,
    /// Exponent of the increase, per ACK. Default: 1.
    pub k: Option<f64>,
    /// Exponent of the decrease. Default: 1.
    pub l: Option<f64>,
}

/// Parameters of CUBIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CubicSpec {
    /// C, segments per second cubed. Default: 0.4.
    pub scale: Option<f64>,
    /// What a sign of congestion leaves of the window. Default: 0.7.
    pub beta: Option<f64>,
    /// Does a flow that lost its last peak aim lower still? Default: yes.
    pub fast_convergence: Option<bool>,
    /// Does HyStart++ end the first slow start? Default: yes.
    pub hystart: Option<bool>,
    /// Does the estimate of Reno's window grow as fast as Reno's once it is back at the last peak (RFC 9438, section 4.3)? Default: no, as in
    /// Linux.
    pub reno_beyond_peak: Option<bool>,
    /// Marks take the window no lower, segments. Default: 2.
    pub lowest_window: Option<u32>,
}

/// Parameters of DCTCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DctcpSpec {
    /// How much a round moves alpha. Default: 1/16.
    pub gain: Option<f64>,
    /// Alpha before the first round. Default: 1.
    pub initial_alpha: Option<f64>,
    /// Marks take the window no lower, segments. Default: 2.
    pub lowest_window: Option<u32>,
    /// Does the window stay as it is until what was in flight at a reduction is acknowledged? Default: yes, as in Linux.
    pub pauses_after_mark: Option<bool>,
}

/// Parameters of Prague.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PragueSpec {
    /// How much a round moves alpha. Default: 1/16.
    pub gain: Option<f64>,
    /// The round-trip time that shorter ones behave as; "0 s": each as its own. Default: "25 ms".
    pub virtual_rtt: Option<Quantity<Duration>>,
    /// For how many rounds a flow keeps its own round-trip time first. Default: 500.
    pub independent_after: Option<u32>,
    /// Marks take the window no lower, segments. Default: 2.
    pub lowest_window: Option<u32>,
}

/// Parameters of LEDBAT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedbatSpec {
    /// The queueing delay to hold. Default: "100 ms".
    pub target: Option<Quantity<Duration>>,
    /// Growth at no queueing delay, segments per round trip. Default: 1.
    pub gain: Option<f64>,
    /// How far the window may be above what is in flight, segments. Default: 1.
    pub allowed_increase: Option<u32>,
    /// The window falls no lower but for a timeout, segments. Default: 2.
    pub lowest_window: Option<u32>,
}

/// Parameters of BBR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BbrSpec {
    /// In which of its eight phases the gain cycle begins, 0 to 7. Default: 2.
    pub first_phase: Option<u8>,
    /// By how much the pace stays below what the model says, from 0 to 0.5. Default: 0.01.
    pub pacing_margin: Option<f64>,
    /// Does the window leave room for ACKs that come in clumps? Default: yes.
    pub allows_for_clumps: Option<bool>,
    /// Is the window rounded up to an even number of segments, and two more while it probes, as in Linux? Default: false.
    pub rounds_up: Option<bool>,
}

/// A parameter out of its range: its path below `control`, what was given, and the least and the most.
pub(crate) struct OutOfRange {
    pub(crate) path: &'static str,
    pub(crate) given: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl ControlSpec {
    /// Was it made for a TCP of today, rather than for the simulators of the papers?
    pub(crate) fn is_of_today(&self) -> bool {
        !matches!(self, ControlSpec::Reno(_) | ControlSpec::Binomial(_))
    }

    /// As it stands in a scenario.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            ControlSpec::Reno(_) => "reno",
            ControlSpec::Binomial(_) => "binomial",
            ControlSpec::Cubic(_) => "cubic",
            ControlSpec::Dctcp(_) => "dctcp",
            ControlSpec::Prague(_) => "prague",
            ControlSpec::Ledbat(_) => "ledbat",
            ControlSpec::Bbr(_) => "bbr",
        }
    }

    /// The controller with its constants.
    pub(crate) fn config(&self) -> ControlConfig {
        match *self {
            ControlSpec::Reno(RenoSpec {}) => ControlConfig::Reno,
            ControlSpec::Binomial(spec) => ControlConfig::Binomial(spec.parameters()),
            ControlSpec::Cubic(spec) => ControlConfig::Cubic(spec.parameters()),
            ControlSpec::Dctcp(spec) => ControlConfig::Dctcp(spec.parameters()),
            ControlSpec::Prague(spec) => ControlConfig::Prague(spec.parameters()),
            ControlSpec::Ledbat(spec) => ControlConfig::Ledbat(spec.parameters()),
            ControlSpec::Bbr(spec) => ControlConfig::Bbr(spec.parameters()),
        }
    }

    /// The first parameter that is out of its range. `1e-9` stands where zero is excluded.
    pub(crate) fn out_of_range(&self) -> Option<OutOfRange> {
        const ABOVE_ZERO: f64 = 1e-9;
        let checks: Vec<(&'static str, f64, f64, f64)> = match self.config() {
            ControlConfig::Reno => Vec::new(),
            ControlConfig::Binomial(p) => vec![
                ("binomial.c1", p.c1, ABOVE_ZERO, 1e6),
                ("binomial.c2", p.c2, ABOVE_ZERO, 1e6),
                ("binomial.k", p.k, -1.0, 10.0),
                ("binomial.l", p.l, 0.0, 10.0),
            ],
            ControlConfig::Cubic(p) => vec![
                ("cubic.scale", p.scale, ABOVE_ZERO, 1e6),
                ("cubic.beta", p.beta, 0.01, 0.99),
                ("cubic.lowest_window", p.lowest_window.into(), 1.0, 1e6),
            ],
            ControlConfig::Dctcp(p) => vec![
                ("dctcp.gain", p.gain, ABOVE_ZERO, 1.0),
                ("dctcp.initial_alpha", p.initial_alpha, 0.0, 1.0),
                ("dctcp.lowest_window", p.lowest_window.into(), 1.0, 1e6),
            ],
            ControlConfig::Prague(p) => vec![
                ("prague.gain", p.gain, ABOVE_ZERO, 1.0),
                ("prague.lowest_window", p.lowest_window.into(), 1.0, 1e6),
            ],
            ControlConfig::Ledbat(p) => vec![
                ("ledbat.target", p.target.secs(), 1e-6, 3600.0),
                ("ledbat.gain", p.gain, ABOVE_ZERO, 1e6),
                ("ledbat.allowed_increase", p.allowed_increase.into(), 1.0, 1e6),
                ("ledbat.lowest_window", p.lowest_window.into(), 1.0, 1e6),
            ],
            ControlConfig::Bbr(p) => {
                let phase = match p.first_phase {
                    FirstPhase::Fixed(phase) => phase,
                    FirstPhase::Seeded(_) => 0, // not typed
                };
                vec![
                    ("bbr.first_phase", phase.into(), 0.0, 7.0),
                    ("bbr.pacing_margin", p.pacing_margin, 0.0, 0.5),
                ]
            }
        };
        let bad = checks.into_iter().find(|(_, given, least, most)| !(least..=most).contains(&given));
        bad.map(|(path, given, least, most)| OutOfRange { path, given, least, most })
    }
}

impl BinomialSpec {
    fn parameters(self) -> BinomialParameters {
        let base = BinomialParameters::default();
        BinomialParameters {
            c1: self.c1.unwrap_or(base.c1),
            c2: self.c2.unwrap_or(base.c2),
            k: self.k.unwrap_or(base.k),
            l: self.l.unwrap_or(base.l),
        }
    }
}

impl CubicSpec {
    fn parameters(self) -> CubicParameters {
        let base = CubicParameters::default();
        CubicParameters {
            scale: self.scale.unwrap_or(base.scale),
            beta: self.beta.unwrap_or(base.beta),
            fast_convergence: self.fast_convergence.unwrap_or(base.fast_convergence),
            hystart: self.hystart.unwrap_or(base.hystart),
            reno_beyond_peak: self.reno_beyond_peak.unwrap_or(base.reno_beyond_peak),
            lowest_window: self.lowest_window.unwrap_or(base.lowest_window),
        }
    }
}

impl DctcpSpec {
    fn parameters(self) -> DctcpParameters {
        let base = DctcpParameters::default();
        DctcpParameters {
            gain: self.gain.unwrap_or(base.gain),
            initial_alpha: self.initial_alpha.unwrap_or(base.initial_alpha),
            lowest_window: self.lowest_window.unwrap_or(base.lowest_window),
            pauses_after_mark: self.pauses_after_mark.unwrap_or(base.pauses_after_mark),
        }
    }
}

impl PragueSpec {
    fn parameters(self) -> PragueParameters {
        let base = PragueParameters::default();
        PragueParameters {
            gain: self.gain.unwrap_or(base.gain),
            virtual_rtt: self.virtual_rtt.map_or(base.virtual_rtt, |rtt| rtt.0),
            independent_after: self.independent_after.unwrap_or(base.independent_after),
            lowest_window: self.lowest_window.unwrap_or(base.lowest_window),
        }
    }
}

impl LedbatSpec {
    fn parameters(self) -> LedbatParameters {
        let base = LedbatParameters::default();
        LedbatParameters {
            target: self.target.map_or(base.target, |target| target.0),
            gain: self.gain.unwrap_or(base.gain),
            allowed_increase: self.allowed_increase.unwrap_or(base.allowed_increase),
            lowest_window: self.lowest_window.unwrap_or(base.lowest_window),
        }
    }
}

impl BbrSpec {
    fn parameters(self) -> BbrParameters {
        let base = BbrParameters::default();
        BbrParameters {
            first_phase: self.first_phase.map_or(base.first_phase, FirstPhase::Fixed),
            pacing_margin: self.pacing_margin.unwrap_or(base.pacing_margin),
            allows_for_clumps: self.allows_for_clumps.unwrap_or(base.allows_for_clumps),
            rounds_up: self.rounds_up.unwrap_or(base.rounds_up),
        }
    }
}

impl<'de> Deserialize<'de> for ControlSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = ControlSpec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a controller in quotes, or a table such as `{ cubic = { beta = 0.8 } }`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<ControlSpec, E> {
        Ok(match name {
            "reno" => ControlSpec::Reno(RenoSpec::default()),
            "binomial" => ControlSpec::Binomial(BinomialSpec::default()),
            "cubic" => ControlSpec::Cubic(CubicSpec::default()),
            "dctcp" => ControlSpec::Dctcp(DctcpSpec::default()),
            "prague" => ControlSpec::Prague(PragueSpec::default()),
            "ledbat" => ControlSpec::Ledbat(LedbatSpec::default()),
            "bbr" => ControlSpec::Bbr(BbrSpec::default()),
            _ => return Err(E::unknown_variant(name, NAMES)),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ControlSpec, A::Error> {
        let Some(name) = map.next_key::<String>()? else {
            return Err(de::Error::invalid_length(0, &self));
        };
        let control = match name.as_str() {
            "reno" => ControlSpec::Reno(map.next_value()?),
            "binomial" => ControlSpec::Binomial(map.next_value()?),
            "cubic" => ControlSpec::Cubic(map.next_value()?),
            "dctcp" => ControlSpec::Dctcp(map.next_value()?),
            "prague" => ControlSpec::Prague(map.next_value()?),
            "ledbat" => ControlSpec::Ledbat(map.next_value()?),
            "bbr" => ControlSpec::Bbr(map.next_value()?),
            _ => return Err(de::Error::unknown_variant(&name, NAMES)),
        };
        match map.next_key::<String>()? {
            None => Ok(control),
            Some(_) => Err(de::Error::invalid_length(2, &self)),
        }
    }
}

/// The schema takes the short form too.
pub(crate) fn control_schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<ControlSpec>();
    json_schema!({
        "description": "the name of a controller, or a table of one name with its parameters",
        "anyOf": [{ "enum": NAMES }, table, { "type": "null" }],
    })
}
