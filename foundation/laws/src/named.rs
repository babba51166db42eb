//! Finds disciplines by name and reads their parameters from text, without serde or a registry.
//!
//! ```
//! use fairwire_core::units::Amount;
//! use fairwire_core::{Rate, Seed};
//! use fairwire_laws::{Site, named};
//!
//! let site = Site {
//!     rate: Rate::from_bps(10_000_000).expect("not zero"),
//!     buffer: Amount::Packets(780),
//!     packet_bytes: 512,
//!     seed: Seed(1),
//!     stream: "link/bottleneck",
//! };
//! let queue = named::read("drr+faba", "ecn = 'mark'")?.build(&site)?;
//! assert!(queue.backlog().is_empty());
//! let error = named::read("faba", "enc = 'mark'").unwrap_err();
//! assert!(error.to_string().contains("did you mean `ecn`?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::error::{BadParameter, Parameter};
use crate::part::Part;
use crate::scheduler::service::SCHEDULER;
use crate::scheduler::{Kind, Service};
use crate::site::Site;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Debug, Display};
use fairwire_core::{Discipline, spelling};
use fairwire_parameters::Declared as _;
use fairwire_parameters::text::{TextError, from_text};

/// The parameters from which a discipline is built.
pub trait Law: Part + Debug {
    /// Checks and builds.
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter>;
}

/// A discipline's entry in [`ALL`].
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The discipline's name, as users write it.
    pub name: &'static str,
    /// Its aliases.
    pub aliases: &'static [&'static str],
    read: fn(&str) -> Result<Box<dyn Law>, TextError>,
}

macro_rules! entries {
    ($($($module:ident)::+ $(($($alias:literal),+))?;)+) => {
        $(impl Law for $($module)::+::Spec {
            fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
                $($module)::+::Spec::build(self, site)
            }
        })+

        /// Every discipline, in the order in which users see them.
        pub const ALL: &[Entry] = &[$(Entry {
            name: $($module)::+::Spec::OWNER,
            aliases: &[$($($alias),+)?],
            read: |text| Ok(Box::new(from_text::<$($module)::+::Spec>(text)?)),
        }),+];
    };
}

with_each_law! { entries {} }

/// The reason why a name and a text give no discipline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NamedError {
    /// No discipline has the name.
    Unknown(String),
    /// The parameters cannot be read.
    Text(TextError),
    /// A parameter contradicts the name.
    Bad(BadParameter),
}

impl core::error::Error for NamedError {}

impl Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NamedError::Unknown(message) => f.write_str(message),
            NamedError::Text(error) => Display::fmt(error, f),
            NamedError::Bad(error) => Display::fmt(error, f),
        }
    }
}

/// Reads the discipline `name`, such as `faba` or `drr+faba` (scheduler and dropper), with the
/// parameters in `text`, which is TOML. Empty text gives the defaults.
///
/// # Errors
/// If no discipline has the name, the text cannot be read, or the text names a second scheduler.
pub fn read(name: &str, text: &str) -> Result<Box<dyn Law>, NamedError> {
    if let Some(entry) = find(name) {
        return (entry.read)(text).map_err(NamedError::Text);
    }
    let (kind, entry) = both(name).ok_or_else(|| NamedError::Unknown(unknown(name)))?;
    let mut law = (entry.read)(text).map_err(NamedError::Text)?;
    let part: &mut dyn Part = &mut *law;
    if let Some(other) = SCHEDULER.given(part).filter(|service| service.name != kind) {
        let given = format!("`{}`, beside the one in the name `{name}`", other.name.name());
        let parameter = Parameter { discipline: entry.name, name: "scheduler" };
        return Err(NamedError::Bad(parameter.refuse(given, format_args!("`{}`, or none", kind.name()))));
    }
    part.set_default(SCHEDULER, Service { name: kind, ..Service::default() });
    Ok(law)
}

fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.name == name || entry.aliases.contains(&name))
}

/// Splits `name` at the last `+`, since `wf2q+` contains one.
fn both(name: &str) -> Option<(Kind, &'static Entry)> {
    let (scheduler, dropper) = name.rsplit_once('+')?;
    let kind =
        Kind::ALL.into_iter().find(|kind| kind.name() == scheduler || kind.alias() == Some(scheduler))?;
    let entry = find(dropper)?;
    let part: &mut dyn Part = &mut *(entry.read)("").ok()?;
    part.takes_scheduler().then_some((kind, entry))
}

fn unknown(name: &str) -> String {
    let names = || ALL.iter().flat_map(|entry| [entry.name].into_iter().chain(entry.aliases.iter().copied()));
    let listed: Vec<String> = names().map(|name| format!("`{name}`")).collect();
    let hint =
        spelling::question(&spelling::likely(name, names())).map_or(String::new(), |hint| format!("{hint} "));
    let name: String = name.chars().take(60).collect();
    format!(
        "there is no law `{name}`; {hint}allowed: {}, or a scheduler and a dropper such as `drr+faba`",
        listed.join(", ")
    )
}
