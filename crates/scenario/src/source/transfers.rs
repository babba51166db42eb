//! Files, each over a connection of its own.

use super::at::{About, At, Offer, Source};
use crate::fault::Fault;
use crate::law::LawSpec;
use fairwire_core::Duration;
use fairwire_core::units::Size;
use fairwire_document::Problem;
use fairwire_laws::spec::Quantity;
use fairwire_sim::app::{Arrivals, Law, Load, Transfers};
use schemars::JsonSchema;
use serde::Deserialize;

/// What is told of it.
pub(super) const ABOUT: About =
    About { timed: &["transfer"], ..About::tcp("Files, each over a TCP connection of its own.") };

/// Files, each over a connection of its own.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TransfersSpec {
    /// Bytes per file, sent in whole segments.
    pub size: LawSpec<Size>,
    /// Each begins so long after the one before is through; either this or `mean_gap`.
    pub think: Option<LawSpec<Duration>>,
    /// They begin at random times, by a Poisson process with this mean gap, whatever became of those before.
    pub mean_gap: Option<Quantity<Duration>>,
    /// Most at once; a further one waits. Only with `mean_gap`. Default: 32.
    pub connections: Option<u16>,
}

impl Source for TransfersSpec {
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        let size = at.law("size", Some(&self.size), Law::Fixed(0.0))?;
        let arrivals = match (&self.think, self.mean_gap) {
            (Some(_), None) if self.connections.is_some() => {
                let why = "with `think` there is one at a time";
                return Err(at.refuse("connections", "given", why, "leave it out, or `mean_gap`"));
            }
            (Some(think), None) => Arrivals::Think(at.law("think", Some(think), Law::Fixed(0.0))?),
            (None, Some(mean_gap)) => Arrivals::Poisson {
                mean_gap: at.gap("mean_gap", mean_gap.0)?,
                connections: at.connections(self.connections.unwrap_or(32))?,
            },
            (Some(_), Some(_)) => {
                let why = "`think` says already when transfers begin";
                return Err(at.refuse("mean_gap", "given", why, "one of the two"));
            }
            (None, None) => {
                let path = format!("{}.{}", at.path, at.key);
                let note = "or `mean_gap`".into();
                let problem = Problem::Missing { key: "think".into(), table: path.clone(), note };
                return Err(Fault { path, problem });
            }
        };
        Ok(Offer::Tcp(Load::Transfers(Transfers { size, arrivals })))
    }
}
