//! Every source, by name, and what is known of each.

use super::at::{About, At, Offer, Source};
use super::bulk::{self, BulkSpec};
use super::bursts::{self, BurstsSpec};
use super::call::{self, CallSpec};
use super::cbr::{self, CbrSpec};
use super::on_off::{self, OnOffSpec};
use super::poisson::{self, PoissonSpec};
use super::replay::{self, ReplaySpec};
use super::sequence::{self, SequenceSpec};
use super::streaming::{self, StreamingSpec};
use super::telnet::{self, TelnetSpec};
use super::transfers::{self, TransfersSpec};
use super::video::{self, VideoSpec};
use super::voip::{self, VoipSpec};
use super::web::{self, WebSpec};
use crate::fault::Fault;
use core::any::Any;
use core::fmt::{self, Debug};
use fairwire_catalogue::{NotRegistered, Registry};
use fairwire_parameters::{ByName, Declared, Field, OutOfRange, SchemaOf, Tabled};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::{self, DeserializeOwned, MapAccess};
use serde_json::Value;

static SOURCES: Registry<Entry> = Registry::new("source", BUILT_IN, |source| (source.name, &[]));

/// Every source, in the order in which it is listed to people.
pub fn all() -> &'static [Entry] {
    SOURCES.all()
}

/// Their names.
pub(super) fn names() -> &'static [&'static str] {
    SOURCES.names()
}

/// Adds a source of another crate: from here on it has its name in scenarios, its table of
/// parameters, its page and its schema. Call it before anything else, since the list that was
/// looked at once stays as it is.
///
/// # Errors
///
/// Where the name is taken, or the list was looked at already.
pub fn register<S>() -> Result<(), NotRegistered>
where
    S: SourceSpec + DeserializeOwned + JsonSchema + Send + Sync + Tabled + 'static,
{
    SOURCES.register(Entry {
        name: S::NAME,
        about: S::ABOUT,
        fields: S::FIELDS,
        default: || Box::new(S::default()),
        outside: Some(Outside {
            table: ByName::of::<S>(),
            read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
        }),
        schema: SchemaGenerator::subschema_for::<S>,
    })
}

/// The parameters of a source of another crate, declared with `#[parameters]`, and its description.
pub trait SourceSpec: Clone + Debug + Declared {
    /// Its name, as typed in scenario files.
    const NAME: &'static str;
    /// Its description.
    const ABOUT: About;

    /// What it offers, if all parameters are within their bounds.
    fn offers(&self) -> Result<Offer, OutOfRange>;
}

/// What is known of a source.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name, as typed in scenarios.
    pub name: &'static str,
    /// Its description.
    pub about: About,
    /// Its parameters.
    pub fields: &'static [Field],
    default: fn() -> Box<dyn AnySource>,
    outside: Option<Outside>,
    pub(super) schema: SchemaOf,
}

/// How the parameters of a source of another crate are read.
#[derive(Clone, Copy)]
struct Outside {
    table: ByName,
    read: fn(Value) -> serde_json::Result<Box<dyn AnySource>>,
}

impl Entry {
    /// With nothing given.
    pub(super) fn default(&self) -> Box<dyn AnySource> {
        (self.default)()
    }

    /// The first of its parameters that must be given.
    pub fn needed(&self) -> Option<&'static str> {
        self.fields.iter().find(|field| field.is_required).map(|field| field.name)
    }
}

impl Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A source of any type.
pub(super) trait AnySource: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn cloned(&self) -> Box<dyn AnySource>;
    fn offers(&self, at: At<'_>) -> Result<Offer, Fault>;
}

impl<S: SourceSpec + Send + Sync + 'static> AnySource for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnySource> {
        Box::new(self.clone())
    }

    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        SourceSpec::offers(self).map_err(|fault| at.out_of_range(fault))
    }
}

/// One of this crate.
#[derive(Clone, Debug)]
struct Own<S>(S);

impl<S: Source> AnySource for Own<S> {
    fn as_any(&self) -> &dyn Any {
        &self.0
    }

    fn cloned(&self) -> Box<dyn AnySource> {
        Box::new(self.clone())
    }

    fn offers(&self, at: At<'_>) -> Result<Offer, Fault> {
        self.0.offers(at)
    }
}

/// Lists each source of this crate once: its name, its file, its parameters.
macro_rules! sources {
    ($($name:literal => $module:ident::$spec:ident;)+) => {
        const BUILT_IN: &[Entry] = &[$(Entry {
            name: $name,
            about: $module::ABOUT,
            fields: $spec::FIELDS,
            default: || Box::new(Own($spec::default())),
            outside: None,
            schema: SchemaGenerator::subschema_for::<$spec>,
        }),+];

        /// Reads the parameters of the source at this place, if it is one of this crate's. By its
        /// type, so that a fault has its place in the text.
        fn read_built_in<'de, A: MapAccess<'de>>(
            place: usize,
            table: &mut A,
        ) -> Result<Option<Box<dyn AnySource>>, A::Error> {
            let mut at = 0..;
            $(if at.next() == Some(place) {
                return Ok(Some(Box::new(Own(table.next_value::<$spec>()?))));
            })+
            Ok(None)
        }
    };
}

sources! {
    "bulk" => bulk::BulkSpec;
    "cbr" => cbr::CbrSpec;
    "on-off" => on_off::OnOffSpec;
    "poisson" => poisson::PoissonSpec;
    "voip" => voip::VoipSpec;
    "video" => video::VideoSpec;
    "replay" => replay::ReplaySpec;
    "call" => call::CallSpec;
    "transfers" => transfers::TransfersSpec;
    "bursts" => bursts::BurstsSpec;
    "telnet" => telnet::TelnetSpec;
    "sequence" => sequence::SequenceSpec;
    "web" => web::WebSpec;
    "streaming" => streaming::StreamingSpec;
}

/// Reads the parameters of the source at this place, which come next in a table.
pub(super) fn read<'de, A: MapAccess<'de>>(
    place: usize,
    table: &mut A,
) -> Result<Box<dyn AnySource>, A::Error> {
    match all()[place].outside {
        Some(outside) => (outside.read)(table.next_value_seed(outside.table)?).map_err(de::Error::custom),
        None => Ok(read_built_in(place, table)?.expect("it is of this crate")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_sim::app::{Bursts, Load, Sequence, Telnet, Traffic, Video, Voip};

    #[test]
    fn a_source_of_which_only_the_name_is_given_is_that_of_the_simulator() {
        let offered = |name: &'static str| {
            let source = &all()[SOURCES.place(name).expect("it is listed")];
            let access = "10 Mbit/s".parse().map(fairwire_parameters::Quantity).expect("a rate");
            let header = source.about.header_bytes;
            let at = At { path: "flow.0", key: name, header, access, capture: &|_| [].into() };
            assert_eq!(source.needed(), None);
            source.default().offers(at).expect("the defaults are right")
        };
        let datagrams = |traffic, packet_bytes| Offer::Datagrams { traffic, packet_bytes };
        assert_eq!(offered("voip"), datagrams(Traffic::Voip(Voip::default()), 200));
        assert_eq!(offered("video"), datagrams(Traffic::Video(Video::default()), 1200));
        assert_eq!(offered("bursts"), Offer::Tcp(Load::Bursts(Bursts::default())));
        assert_eq!(offered("telnet"), Offer::Tcp(Load::Telnet(Telnet::default())));
        assert_eq!(offered("sequence"), Offer::Tcp(Load::Sequence(Sequence::default())));
        assert_eq!(offered("web"), Offer::Tcp(Load::Web(Box::default())));
        assert_eq!(offered("streaming"), Offer::Tcp(Load::Streaming(Box::default())));
        assert_eq!(offered("bulk"), Offer::Endless);
    }
}
