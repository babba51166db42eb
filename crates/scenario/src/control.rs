//! A congestion controller as given: its name, or a table of one name with its parameters.

use fairwire_core::Duration;
use fairwire_parameters::{Declared as _, Field, OutOfRange, Quantity, parameters};
use fairwire_tcp::congestion::{
    BbrParameters, BinomialParameters, ControlConfig, CubicParameters, DctcpParameters, FirstPhase,
    LedbatParameters, PragueParameters,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;

/// Lists each controller once: what it is, its name, and its parameters.
macro_rules! controllers {
    ($($name:literal => $variant:ident($spec:ident): $what:literal, $source:literal;)+) => {
        const NAMES: &[&str] = &[$($name),+];

        /// Every controller, in the order in which it is listed to people.
        pub const CONTROLLERS: &[Controller] = &[$(Controller {
            name: $name,
            what: $what,
            source: $source,
            fields: $spec::FIELDS,
        }),+];

        /// A controller: `"cubic"`, or `{ cubic = { beta = 0.8 } }`.
        #[derive(Clone, Debug, PartialEq, JsonSchema)]
        #[schemars(rename = "ControlTable", rename_all = "lowercase")]
        pub enum ControlSpec {
            $(#[doc = $what] $variant($spec)),+
        }

        impl ControlSpec {
            /// As it stands in a scenario.
            pub(crate) fn word(&self) -> &'static str {
                match self {
                    $(ControlSpec::$variant(_) => $name),+
                }
            }

            /// The controller with its constants, if all are within their bounds.
            pub(crate) fn config(&self) -> Result<ControlConfig, OutOfRange> {
                match self {
                    $(ControlSpec::$variant(spec) => spec.config()),+
                }
            }

            /// The controller of this name, with its defaults.
            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(ControlSpec::$variant($spec::default())),)+
                    _ => None,
                }
            }

            /// Reads the parameters of the controller of this name.
            fn read<'de, A: MapAccess<'de>>(name: &str, table: &mut A) -> Result<Self, A::Error> {
                match name {
                    $($name => Ok(ControlSpec::$variant(table.next_value()?)),)+
                    _ => Err(de::Error::unknown_variant(name, NAMES)),
                }
            }
        }
    };
}

controllers! {
    "reno" => Reno(RenoSpec): "Reno and NewReno: a segment more per round trip, half as many after a loss", "RFC 5681, RFC 6582";
    "binomial" => Binomial(BinomialSpec): "generalised window control: gains c1 / w^k segments per ACK, loses c2 w^l per loss",
        "Bansal and Balakrishnan, INFOCOM 2001; Pan et al., IEEE Micro 2003, Table 2";
    "cubic" => Cubic(CubicSpec): "a window that is a cubic function of the time since it was last reduced", "RFC 9438";
    "dctcp" => Dctcp(DctcpSpec): "a window that shrinks by as much as the queue is marked", "RFC 8257";
    "prague" => Prague(PragueSpec): "DCTCP's response made fit for the Internet",
        "draft-briscoe-iccrg-prague-congestion-control-04";
    "ledbat" => Ledbat(LedbatSpec): "a background transport that holds its own queueing delay at a target", "RFC 6817";
    "bbr" => Bbr(BbrSpec):
        "version 1: a rate taken from what was delivered, and a window from the product of rate and round-trip time; needs `recovery = \"sack\"`",
        "draft-cardwell-iccrg-bbr-congestion-control-00";
}

/// What is known of a controller.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Its name, as it stands in scenarios.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// The paper or RFC.
    pub source: &'static str,
    /// Its parameters.
    pub fields: &'static [Field],
}

impl ControlSpec {
    /// Was it made for a TCP of today, rather than for the simulators of the papers?
    pub(crate) fn is_of_today(&self) -> bool {
        !matches!(self, ControlSpec::Reno(_) | ControlSpec::Binomial(_))
    }
}

/// Reno has no parameters.
#[parameters(name = "reno")]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RenoSpec {}

impl RenoSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        Ok(ControlConfig::Reno)
    }
}

/// Parameters of generalised window control; the defaults are Reno.
#[parameters(name = "binomial", checked = Binomial)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BinomialSpec {
    /// Segments gained per ACK, divided by `window^k`.
    #[parameter(default = 1.0, above = 0.0, max = 1e6, unit = "segments")]
    pub c1: Option<f64>,
    /// Segments lost per loss, times `window^l`.
    #[parameter(default = 0.5, above = 0.0, max = 1e6, unit = "segments")]
    pub c2: Option<f64>,
    /// Exponent of the increase, per ACK.
    #[parameter(default = 1.0, min = -1.0, max = 10.0, unit = "1")]
    pub k: Option<f64>,
    /// Exponent of the decrease.
    #[parameter(default = 1.0, min = 0.0, max = 10.0, unit = "1")]
    pub l: Option<f64>,
}

impl BinomialSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Binomial { c1, c2, k, l } = self.checked()?;
        Ok(ControlConfig::Binomial(BinomialParameters { c1, c2, k, l }))
    }
}

/// Parameters of CUBIC.
#[parameters(name = "cubic", checked = Cubic)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CubicSpec {
    /// C.
    #[parameter(
        default = 0.4,
        above = 0.0,
        max = 1e6,
        unit = "segments per second cubed",
        source = "RFC 9438, section 5.1."
    )]
    pub scale: Option<f64>,
    /// What a sign of congestion leaves of the window.
    #[parameter(default = 0.7, min = 0.01, max = 0.99, unit = "1", source = "RFC 9438, section 4.6.")]
    pub beta: Option<f64>,
    /// Whether a flow that lost its last peak aims lower still.
    #[parameter(default = true, source = "RFC 9438, section 4.7.")]
    pub fast_convergence: Option<bool>,
    /// Whether HyStart++ ends the first slow start.
    #[parameter(default = true, source = "RFC 9406.")]
    pub hystart: Option<bool>,
    /// Whether the estimate of Reno's window grows as fast as Reno's once it is back at the last peak.
    #[parameter(default = false, source = "Linux has false; RFC 9438, section 4.3, has true.")]
    pub reno_beyond_peak: Option<bool>,
    /// Marks take the window no lower.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments")]
    pub lowest_window: Option<u32>,
}

impl CubicSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Cubic { scale, beta, fast_convergence, hystart, reno_beyond_peak, lowest_window } =
            self.checked()?;
        let cubic =
            CubicParameters { scale, beta, fast_convergence, hystart, reno_beyond_peak, lowest_window };
        Ok(ControlConfig::Cubic(cubic))
    }
}

/// Parameters of DCTCP.
#[parameters(name = "dctcp", checked = Dctcp)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DctcpSpec {
    /// How much a round moves alpha.
    #[parameter(
        default = 1.0 / 16.0,
        above = 0.0,
        max = 1.0,
        unit = "1",
        source = "g of RFC 8257, section 3.3, and the value of its authors (SIGCOMM 2010)."
    )]
    pub gain: Option<f64>,
    /// Alpha before the first round.
    #[parameter(default = 1.0, min = 0.0, max = 1.0, unit = "1", source = "RFC 8257, section 3.3.")]
    pub initial_alpha: Option<f64>,
    /// Marks take the window no lower.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments")]
    pub lowest_window: Option<u32>,
    /// Whether the window stays as it is until what was in flight at a reduction is acknowledged.
    #[parameter(
        default = true,
        source = "Linux; RFC 8257 keeps it from growing on acknowledgements that report a mark only."
    )]
    pub pauses_after_mark: Option<bool>,
}

impl DctcpSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Dctcp { gain, initial_alpha, lowest_window, pauses_after_mark } = self.checked()?;
        Ok(ControlConfig::Dctcp(DctcpParameters { gain, initial_alpha, lowest_window, pauses_after_mark }))
    }
}

/// Parameters of Prague.
#[parameters(name = "prague", checked = Prague)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PragueSpec {
    /// How much a round moves alpha.
    #[parameter(default = 1.0 / 16.0, above = 0.0, max = 1.0, unit = "1", source = "Draft, section 2.4.")]
    pub gain: Option<f64>,
    /// The round-trip time that shorter ones behave as; "0 s": each as its own.
    #[parameter(default = "25 ms", source = "Draft, section 2.4.4.")]
    pub virtual_rtt: Option<Quantity<Duration>>,
    /// For how many rounds a flow keeps its own round-trip time first, so that short ones stay quick.
    #[parameter(default = 500, unit = "rounds", source = "Draft, section 2.4.4.")]
    pub independent_after: Option<u32>,
    /// Marks take the window no lower.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments")]
    pub lowest_window: Option<u32>,
}

impl PragueSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Prague { gain, virtual_rtt, independent_after, lowest_window } = self.checked()?;
        Ok(ControlConfig::Prague(PragueParameters { gain, virtual_rtt, independent_after, lowest_window }))
    }
}

/// Parameters of LEDBAT.
#[parameters(name = "ledbat", checked = Ledbat)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LedbatSpec {
    /// The queueing delay to hold.
    #[parameter(default = "100 ms", min = "1 us", max = "1 h", source = "RFC 6817, section 2.5.")]
    pub target: Option<Quantity<Duration>>,
    /// Growth at no queueing delay.
    #[parameter(
        default = 1.0,
        above = 0.0,
        max = 1e6,
        unit = "segments per round trip",
        source = "RFC 6817, section 2.5."
    )]
    pub gain: Option<f64>,
    /// How far the window may be above what is in flight.
    #[parameter(default = 1, min = 1, max = 1_000_000, unit = "segments", source = "RFC 6817, section 2.5.")]
    pub allowed_increase: Option<u32>,
    /// The window falls no lower but for a timeout.
    #[parameter(default = 2, min = 1, max = 1_000_000, unit = "segments", source = "RFC 6817, section 2.5.")]
    pub lowest_window: Option<u32>,
}

impl LedbatSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Ledbat { target, gain, allowed_increase, lowest_window } = self.checked()?;
        Ok(ControlConfig::Ledbat(LedbatParameters { target, gain, allowed_increase, lowest_window }))
    }
}

/// Parameters of BBR.
#[parameters(name = "bbr", checked = Bbr)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BbrSpec {
    /// In which of its eight phases the gain cycle begins.
    #[parameter(
        default = 2,
        min = 0,
        max = 7,
        unit = "phase",
        source = "Draft, section 4.3.4.2, draws it from all but phase 1."
    )]
    pub first_phase: Option<u8>,
    /// By how much the pace stays below what the model says.
    #[parameter(
        default = 0.01,
        min = 0.0,
        max = 0.5,
        unit = "1",
        source = "Linux; draft-ietf-ccwg-bbr-01. The draft of version 1 has none."
    )]
    pub pacing_margin: Option<f64>,
    /// Whether the window leaves room for ACKs that come in clumps.
    ///
    /// For as many segments as acknowledgements, in the last ten rounds, came early at once; 100 ms of them at most.
    #[parameter(
        default = true,
        source = "Linux since 2019; extra_acked of draft-ietf-ccwg-bbr-01. The draft of version 1 has it not."
    )]
    pub allows_for_clumps: Option<bool>,
    /// Whether the window is rounded up to an even number of segments, and two more while it probes, as in Linux.
    #[parameter(default = false, source = "Linux, as its windows show (docs/oracles.md).")]
    pub rounds_up: Option<bool>,
}

impl BbrSpec {
    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        let Bbr { first_phase, pacing_margin, allows_for_clumps, rounds_up } = self.checked()?;
        let first_phase = FirstPhase::Fixed(first_phase);
        Ok(ControlConfig::Bbr(BbrParameters { first_phase, pacing_margin, allows_for_clumps, rounds_up }))
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
        ControlSpec::named(name).ok_or_else(|| E::unknown_variant(name, NAMES))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ControlSpec, A::Error> {
        let Some(name) = map.next_key::<String>()? else {
            return Err(de::Error::invalid_length(0, &self));
        };
        let control = ControlSpec::read(&name, &mut map)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_controllers() {
        let config = |name| ControlSpec::named(name).and_then(|control| control.config().ok());
        assert_eq!(config("binomial"), Some(ControlConfig::Binomial(BinomialParameters::default())));
        assert_eq!(config("cubic"), Some(ControlConfig::Cubic(CubicParameters::default())));
        assert_eq!(config("dctcp"), Some(ControlConfig::Dctcp(DctcpParameters::default())));
        assert_eq!(config("prague"), Some(ControlConfig::Prague(PragueParameters::default())));
        assert_eq!(config("ledbat"), Some(ControlConfig::Ledbat(LedbatParameters::default())));
        assert_eq!(config("bbr"), Some(ControlConfig::Bbr(BbrParameters::default())));
    }
}
