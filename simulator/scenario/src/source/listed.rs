//! Every source, by name, with its properties.

use super::at::{About, SourceSpec};
use fairwire_parameters::{
    self as parameters, Kind, Listed as _, Named, NotRegistered, Part, tables_schema_of,
};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

/// The component type of sources.
pub struct Sources;

/// A registered source.
pub type Entry = parameters::Entry<Sources>;

/// A source: `"bulk"`, or `{ cbr = { rate = "1 Mbit/s" } }`.
pub type SourceChoice = Named<Sources>;

/// Every source, in listing order.
pub fn all() -> &'static [Entry] {
    Sources::registry().all()
}

/// Adds an external source. It then has a name in scenarios. Must be called before anything else,
/// because the first read fixes the list.
///
/// # Errors
/// If the name is taken, or the list has already been read.
pub fn register<S: SourceSpec + Part>(about: About) -> Result<(), NotRegistered> {
    Sources::registry().register(Entry::of::<S>(about, || Box::new(S::default())))
}

impl Kind for Sources {
    const NOUN: &'static str = "source";
    const EXAMPLE: &'static str = "{ cbr = { rate = \"1 Mbit/s\" } }";
    const SCHEMA: &'static str = "Source";

    type Part = dyn SourceSpec;
    type About = About;

    fn summary(about: &About) -> &'static str {
        about.what
    }

    /// The schema. A bare name is valid if no parameter is required.
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let by_name = |source: &Entry| json!({ "type": "string", "const": source.name, "description": source.about.what });
        let complete = all().iter().filter(|source| source.needed().is_none());
        let names: Vec<Value> = complete.map(by_name).collect();
        json_schema!({
            "description": "What sends: the name of a source, or a table of one name with its parameters.",
            "anyOf": [{ "oneOf": names }, tables_schema_of::<Sources>(generator)],
        })
    }
}

fairwire_parameters::parts! { Sources:
    super::bulk => BulkSpec;
    super::cbr => CbrSpec;
    super::on_off => OnOffSpec;
    super::poisson => PoissonSpec;
    super::voip => VoipSpec;
    super::video => VideoSpec;
    super::replay => ReplaySpec;
    super::call => CallSpec;
    super::transfers => TransfersSpec;
    super::bursts => BurstsSpec;
    super::telnet => TelnetSpec;
    super::sequence => SequenceSpec;
    super::web => WebSpec;
    super::streaming => StreamingSpec;
}

#[cfg(test)]
mod tests {
    use super::super::at::{At, Offer};
    use super::*;
    use fairwire_sim::app::{Bursts, Load, Sequence, Telnet, Traffic, Video, Voip};

    #[test]
    fn a_source_given_by_name_has_the_defaults_of_the_simulator() {
        let offered = |name: &'static str| {
            let source = Sources::registry().find(name).expect("it is listed");
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
