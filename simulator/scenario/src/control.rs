//! A congestion controller as given: its name, or a table of one name with its parameters.

use core::any::Any;
use fairwire_catalogue::{NotRegistered, Registry};
use fairwire_parameters::{
    ByName, Choice, Field, OutOfRange, SchemaOf, Tabled, deserialize_choice, tables_schema,
};
use fairwire_tcp::congestion::{
    About, Bbr3Spec, BbrSpec, BicSpec, BinomialSpec, ControlConfig, ControllerSpec, CubicSpec, DctcpSpec,
    LedbatSpec, PragueSpec, RenoSpec, VegasSpec, WestwoodSpec,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::{self, Debug};

static CONTROLLERS: Registry<Controller> =
    Registry::new("controller", BUILT_IN, |controller| (controller.name, &[]));

/// Adds a controller of another crate: from here on it has its name in scenarios and on the command
/// line, its table of parameters, its page and its schema. Call it before anything else, since the
/// list that was looked at once stays as it is.
///
/// # Errors
///
/// Where the name is taken, or the list was looked at already.
pub fn register<S>() -> Result<(), NotRegistered>
where
    S: ControllerSpec + DeserializeOwned + JsonSchema + Send + Sync + Tabled + 'static,
{
    CONTROLLERS.register(Controller::of::<S>())
}

/// Every controller, in the order in which it is listed to people.
pub fn all() -> &'static [Controller] {
    CONTROLLERS.all()
}

/// What is known of a controller.
#[derive(Clone, Copy)]
pub struct Controller {
    /// Its name, as typed in scenarios.
    pub name: &'static str,
    /// Its description.
    pub about: About,
    /// Its parameters.
    pub fields: &'static [Field],
    default: fn() -> Box<dyn AnyController>,
    table: ByName,
    read: fn(Value) -> serde_json::Result<Box<dyn AnyController>>,
    schema: SchemaOf,
}

impl Controller {
    const fn of<S>() -> Self
    where
        S: ControllerSpec + DeserializeOwned + JsonSchema + Send + Sync + Tabled + 'static,
    {
        Controller {
            name: S::NAME,
            about: S::ABOUT,
            fields: S::FIELDS,
            default: || Box::new(S::default()),
            table: ByName::of::<S>(),
            read: |value| Ok(Box::new(serde_json::from_value::<S>(value)?)),
            schema: SchemaGenerator::subschema_for::<S>,
        }
    }
}

impl Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Makes, from the list of built-in controllers, what reads them by their types, so that a fault
/// has its place in the text.
macro_rules! listed {
    ([$($(#[$doc:meta])* $module:ident::$kind:ident($spec:ident, $parameters:ident) = $name:literal;)+]) => {
        const BUILT_IN: &[Controller] = &[Controller::of::<RenoSpec>(), $(Controller::of::<$spec>()),+];

        /// Reads the parameters of the controller at this place, which come next in a table.
        fn read<'de, A: MapAccess<'de>>(
            place: usize,
            table: &mut A,
        ) -> Result<Box<dyn AnyController>, A::Error> {
            let mut at = 1..;
            if place == 0 {
                return Ok(Box::new(table.next_value::<RenoSpec>()?));
            }
            $(if at.next() == Some(place) {
                return Ok(Box::new(table.next_value::<$spec>()?));
            })+
            let controller = &all()[place];
            (controller.read)(table.next_value_seed(controller.table)?).map_err(de::Error::custom)
        }
    };
}

fairwire_tcp::controllers!(listed);

/// A [`ControllerSpec`], whichever.
trait AnyController: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn cloned(&self) -> Box<dyn AnyController>;
    fn equals(&self, other: &dyn AnyController) -> bool;
    fn config(&self) -> Result<ControlConfig, OutOfRange>;
}

impl<S: ControllerSpec + Send + Sync + 'static> AnyController for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn AnyController> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn AnyController) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn config(&self) -> Result<ControlConfig, OutOfRange> {
        ControllerSpec::config(self)
    }
}

/// A controller: `"cubic"`, or `{ cubic = { beta = 0.8 } }`.
#[derive(Debug)]
pub struct ControlSpec {
    /// In the list of all.
    place: usize,
    given: Box<dyn AnyController>,
}

impl ControlSpec {
    /// Its name, as typed in scenarios.
    pub fn name(&self) -> &'static str {
        all()[self.place].name
    }

    /// What was given for it, where it has parameters of this type.
    pub fn given<S: ControllerSpec + 'static>(&self) -> Option<&S> {
        self.given.as_any().downcast_ref()
    }

    /// Its description.
    pub(crate) fn about(&self) -> &'static About {
        &all()[self.place].about
    }

    /// The controller with its constants, if all are within their bounds.
    pub(crate) fn config(&self) -> Result<ControlConfig, OutOfRange> {
        self.given.config()
    }
}

impl Clone for ControlSpec {
    fn clone(&self) -> Self {
        ControlSpec { place: self.place, given: self.given.cloned() }
    }
}

impl PartialEq for ControlSpec {
    fn eq(&self, other: &Self) -> bool {
        self.given.equals(&*other.given)
    }
}

impl<'de> Deserialize<'de> for ControlSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Choice for ControlSpec {
    const WHAT: &'static str = "controller";
    const EXAMPLE: &'static str = "{ cubic = { beta = 0.8 } }";

    fn names() -> &'static [&'static str] {
        CONTROLLERS.names()
    }

    fn named(place: usize) -> Self {
        ControlSpec { place, given: (all()[place].default)() }
    }

    fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A) -> Result<Self, A::Error> {
        read(place, table).map(|given| ControlSpec { place, given })
    }
}

impl JsonSchema for ControlSpec {
    fn schema_name() -> Cow<'static, str> {
        "ControlTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let tables =
            all().iter().map(|controller| (controller.name, controller.about.what, controller.schema));
        let mut schema = tables_schema(tables, generator);
        schema.insert(
            "description".into(),
            "A controller: `\"cubic\"`, or `{ cubic = { beta = 0.8 } }`.".into(),
        );
        schema
    }
}

/// The schema takes the short form too.
pub(crate) fn control_schema(generator: &mut SchemaGenerator) -> Schema {
    let table = generator.subschema_for::<ControlSpec>();
    json_schema!({
        "description": "the name of a controller, or a table of one name with its parameters",
        "anyOf": [{ "enum": CONTROLLERS.names() }, table, { "type": "null" }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_tcp::congestion::{BbrParameters, CubicParameters};

    fn named(name: &str) -> ControlSpec {
        serde_json::from_str(&format!("\"{name}\"")).expect("a name")
    }

    #[test]
    fn a_name_alone_has_the_defaults() {
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
