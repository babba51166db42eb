//! The markers by name, built in or [registered](register) by other crates, and their parameters.

use fairwire_core::{Marker, Rate};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::marker as law;
use fairwire_laws::spec::Quantity;
use fairwire_parameters::{Entry, Given, Kind, Listed as _, Named, NotRegistered, Part, Tables, Writes};

pub use law::About;

/// The kind.
pub struct Markers;

/// A marker as given: `"sr-tcm"`, or `{ sr-tcm = { rate = "1 Mbit/s" } }`. By default it is the
/// token bucket.
pub type MarkerChoice = Named<Markers>;

/// The parameters of each marker, under its name. They apply wherever the marker is named.
pub type MarkerParameters = Tables<Markers>;

/// Adds a marker of another crate. Call this before anything else: the list of markers is fixed at
/// its first use.
///
/// # Errors
/// If the name is taken or invalid, or the list of markers was used already.
pub fn register<S: MarkerSpec + Part>(about: About) -> Result<(), NotRegistered> {
    Markers::registry().register(Entry::<Markers>::of::<S>(about, || Box::new(S::default())))
}

/// Every marker, in the order in which users see them listed.
pub fn all() -> &'static [Entry<Markers>] {
    Markers::registry().all()
}

/// Parameters from which one marker is built. Other crates can [register](register) such a type.
pub trait MarkerSpec: Given {
    /// Sets the contract to `rate`, unless a contract was given. The default implementation, for
    /// markers without a contract, does nothing.
    fn default_rate(&mut self, _rate: Rate) {}

    /// Whether no packet is in profile.
    fn is_empty(&self) -> bool {
        false
    }

    /// Checks the parameters against the site.
    fn check(&self, site: &Site<'_>) -> Result<(), BadParameter>;

    /// Checks and builds.
    fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter>;
}

impl Kind for Markers {
    const NOUN: &'static str = "marker";
    const EXAMPLE: &'static str = "{ sr-tcm = { rate = \"1 Mbit/s\" } }";
    const SCHEMA: &'static str = "Marker";
    const TABLES: [&'static str; 2] =
        ["MarkerParameters", "What is given for each marker, under its name, wherever that marker is named."];

    type Part = dyn MarkerSpec;
    type About = About;

    fn summary(about: &About) -> &'static str {
        about.summary
    }

    fn source(about: &About) -> &'static str {
        about.source
    }
}

impl Writes<MarkerChoice> for Markers {}

macro_rules! specs {
    ($($module:ident $($is_empty:ident)?;)+) => {
        $(impl MarkerSpec for law::$module::Spec {
            fn default_rate(&mut self, rate: Rate) {
                self.rate.get_or_insert(Quantity(rate));
            }

            $(fn is_empty(&self) -> bool {
                law::$module::Spec::$is_empty(self)
            })?

            fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
                law::$module::Spec::check(self, site).map(drop)
            }

            fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
                law::$module::Spec::build(self, site)
            }
        })+

        fairwire_parameters::parts! { Markers: $(law::$module => Spec;)+ }
    };
}

specs! {
    token_bucket is_empty;
    sr_tcm;
    tr_tcm;
    tsw2cm;
    tsw3cm;
    adaptive_token_bucket;
}
