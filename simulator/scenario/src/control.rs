//! A congestion controller as entered: its name, or a table that maps its name to its parameters.

use fairwire_parameters::{Entry, Given, Kind, Listed as _, Named, NotRegistered, Part, tables_schema_of};
use fairwire_tcp::congestion::{About, ControllerSpec};
use schemars::{Schema, SchemaGenerator, json_schema};

/// The component type of controllers.
pub struct Controllers;

/// A registered controller.
pub type Controller = Entry<Controllers>;

/// A controller: `"cubic"`, or `{ cubic = { beta = 0.8 } }`.
pub type ControlSpec = Named<Controllers>;

/// Adds an external controller. Scenarios and the command line can then name it. Must be called
/// before anything else, because the list is fixed once it was read.
///
/// # Errors
/// If the name is taken, or the list was already read.
pub fn register<S: ControllerSpec + Part>(about: About) -> Result<(), NotRegistered> {
    Controllers::registry().register(Controller::of::<S>(about, || Box::new(S::default())))
}

/// Every controller, in listing order.
pub fn all() -> &'static [Controller] {
    Controllers::registry().all()
}

/// A [`ControllerSpec`] that is given by name.
pub trait GivenController: ControllerSpec + Given {}

impl<S: ControllerSpec + Given> GivenController for S {}

impl Kind for Controllers {
    const NOUN: &'static str = "controller";
    const EXAMPLE: &'static str = "{ cubic = { beta = 0.8 } }";
    const SCHEMA: &'static str = "ControlTable";

    type Part = dyn GivenController;
    type About = About;

    fn summary(about: &About) -> &'static str {
        about.what
    }

    fn source(about: &About) -> &'static str {
        about.source
    }

    /// The schema of the table form only; see [`control_schema`].
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = tables_schema_of::<Controllers>(generator);
        let what = "A controller: `\"cubic\"`, or `{ cubic = { beta = 0.8 } }`.";
        schema.insert("description".into(), what.into());
        schema
    }
}

macro_rules! listed {
    ([$($(#[$doc:meta])* $module:ident::$kind:ident($spec:ident, $parameters:ident);)+]) => {
        fairwire_parameters::parts! { Controllers:
            fairwire_tcp::congestion::reno => RenoSpec;
            $(fairwire_tcp::congestion::$module => $spec;)+
        }
    };
}

fairwire_tcp::controllers!(listed);

pub(crate) fn control_schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<ControlSpec>();
    json_schema!({
        "description": "the name of a controller, or a table of one name with its parameters",
        "anyOf": [{ "enum": Controllers::registry().names() }, table, { "type": "null" }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_tcp::congestion::{BbrParameters, ControlConfig, CubicParameters};

    fn named(name: &str) -> ControlSpec {
        serde_json::from_str(&format!("\"{name}\"")).expect("a name")
    }

    #[test]
    fn a_name_without_a_table_has_the_defaults() {
        let config = |name| named(name).config().ok();
        assert_eq!(config("reno"), Some(ControlConfig::Reno));
        assert_eq!(config("cubic"), Some(ControlConfig::Cubic(CubicParameters::default())));
        assert_eq!(config("bbr"), Some(ControlConfig::Bbr(BbrParameters::default())));
    }

    #[test]
    fn every_controller_is_read_from_a_table_under_its_name() {
        for controller in all() {
            let text = format!("{{ \"{}\": {{}} }}", controller.name);
            let read: ControlSpec = serde_json::from_str(&text).expect("a table without parameters");
            assert_eq!(read, named(controller.name));
            assert_eq!(read.name(), controller.name);
        }
    }
}
