//! Kinds of components.

use super::entry::Entry;
use super::registry::Registry;
use crate::choice::tables_schema;
use crate::table::Tabled;
use alloc::boxed::Box;
use alloc::format;
use core::any::Any;
use core::fmt::Debug;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::{DeserializeOwned, MapAccess};
use serde::ser::SerializeMap;
use serde_json::Value;

/// A kind of component that is chosen by name, such as markers.
///
/// Each component is a struct under `#[parameters]` that implements the kind's trait. `parts!`
/// lists the components. Another crate instead [registers](Registry::register) its components.
/// These declarations generate each component's [entry](Entry), the readers of
/// [`Named`](super::Named) and [`Tables`](super::Tables), and the schemas.
///
/// ```
/// use fairwire_parameters::{Given, Kind, Listed as _, Named, OutOfRange, Tables};
/// use std::fmt::Debug;
///
/// /// What every shape can do.
/// trait Shape: Given {
///     fn area(&self) -> Result<f64, OutOfRange>;
/// }
///
/// mod square {
///     pub const ABOUT: &str = "four equal sides";
///     const NAME: &str = "square";
///
///     #[fairwire_parameters::parameters(checked = Checked)]
///     #[derive(Debug, Default, PartialEq)]
///     pub struct Spec {
///         /// The length of a side.
///         #[parameter(default = 1.0, min = 0.0, unit = "m")]
///         pub side: Option<f64>,
///     }
///
///     impl super::Shape for Spec {
///         fn area(&self) -> Result<f64, fairwire_parameters::OutOfRange> {
///             self.checked().map(|Checked { side }| side * side)
///         }
///     }
/// }
///
/// struct Shapes;
///
/// impl Kind for Shapes {
///     const NOUN: &'static str = "shape";
///     const EXAMPLE: &'static str = "{ square = { side = 2.0 } }";
///     const SCHEMA: &'static str = "Shape";
///     type Part = dyn Shape;
///     type About = &'static str;
///
///     fn summary(about: &&'static str) -> &'static str {
///         about
///     }
/// }
///
/// fairwire_parameters::parts! { Shapes: square => Spec; }
///
/// fn main() -> serde_json::Result<()> {
///     let base: Tables<Shapes> = serde_json::from_str(r#"{ "square": { "side": 3.0 } }"#)?;
///     let name: Named<Shapes> = serde_json::from_str(r#""square""#)?;
///     let table: Named<Shapes> = serde_json::from_str(r#"{ "square": { "side": 2.0 } }"#)?;
///     assert_eq!((name.area(), table.area()), (Ok(1.0), Ok(4.0)));
///     assert_eq!((name.filled(&base).area(), table.filled(&base).area()), (Ok(9.0), Ok(4.0)));
///     assert_eq!(Named::<Shapes>::find("sqare").unwrap_err().likely, ["square"]);
///     assert_eq!(Shapes::registry().all()[0].about, "four equal sides");
///     Ok(())
/// }
/// ```
pub trait Kind: Sized + 'static {
    /// The noun for such a component in messages and descriptions, like `marker`.
    const NOUN: &'static str;
    /// An example of a table of one name with its parameters.
    const EXAMPLE: &'static str;
    /// The name of the schema of a choice.
    const SCHEMA: &'static str;
    /// The name and description of the schema of [`Tables`](super::Tables). Empty if no such tables
    /// are read.
    const TABLES: [&'static str; 2] = ["", ""];

    /// The `dyn` of the kind's trait, which has [`Given`] as a supertrait.
    type Part: Given + ?Sized;

    /// The description of a component.
    type About: Copy + Send + Sync + 'static;

    /// A one-line summary of a component.
    fn summary(about: &Self::About) -> &'static str;

    /// The paper or RFC of a component, with its section; may be empty.
    fn source(_about: &Self::About) -> &'static str {
        ""
    }

    /// The schema of a choice.
    fn schema(generator: &mut SchemaGenerator) -> Schema
    where
        Self: Listed,
    {
        json_schema!({
            "description": format!("the name of a {}, or a table of one name with its parameters", Self::NOUN),
            "anyOf": [{ "enum": Self::registry().names() }, tables_schema_of::<Self>(generator)],
        })
    }

    /// The schema of one component's parameters in [`Tables`](super::Tables).
    fn table_schema(entry: &Entry<Self>, generator: &mut SchemaGenerator) -> Schema {
        entry.schema(generator)
    }
}

/// The schema of a table that maps one component's name to the table of the component's parameters.
pub fn tables_schema_of<K: Listed>(generator: &mut SchemaGenerator) -> Schema {
    let all = K::registry().all().iter();
    tables_schema(all.map(|entry| (entry.name, K::summary(&entry.about), entry.schema)), generator)
}

/// The components of a kind. Implemented by `parts!`.
pub trait Listed: Kind {
    /// All of them.
    fn registry() -> &'static Registry<Self>;

    /// Reads the next value of `table` as the parameters of the component with index `place`. Reads
    /// directly into the component's type, so an error keeps its position. Returns `None` for a
    /// component of another crate.
    fn read<'de, A: MapAccess<'de>>(place: usize, table: &mut A)
    -> Result<Option<Box<Self::Part>>, A::Error>;

    /// Writes the parameters of the component with index `place` under `name`, in declaration
    /// order. Returns `false` if the component belongs to another crate.
    fn write<M: SerializeMap>(
        place: usize,
        name: &str,
        part: &dyn Any,
        map: &mut M,
    ) -> Result<bool, M::Error>;
}

/// A kind whose type `T`, [`Named`](super::Named) or [`Tables`](super::Tables), can also be
/// written. Without this trait, schemas omit the default of `T`.
pub trait Writes<T>: Listed {}

/// The parameters of a component of unknown type. Each component's struct is a [`Part`].
pub trait Given: Any + Debug + Send + Sync {
    /// This value as `Any`, to find its type.
    fn as_any(&self) -> &dyn Any;

    /// Like `as_any`, mutable.
    fn as_any_mut(&mut self) -> &mut dyn Any;

    /// Is `other` of the same type, with equal parameters?
    fn equals(&self, other: &dyn Any) -> bool;

    /// Takes omitted values from `other`, if it has the same type.
    fn fill_from(&mut self, other: &dyn Any);

    /// The parameters as JSON.
    fn json(&self) -> serde_json::Result<Value>;
}

/// A struct of parameters from which a component can be built.
pub trait Part: Given + DeserializeOwned + JsonSchema + PartialEq + Serialize + Tabled {}

impl<S: Given + DeserializeOwned + JsonSchema + PartialEq + Serialize + Tabled> Part for S {}

impl<S: Debug + PartialEq + Send + Serialize + Sync + Tabled + 'static> Given for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }

    fn fill_from(&mut self, other: &dyn Any) {
        if let Some(other) = other.downcast_ref() {
            self.fill(other);
        }
    }

    fn json(&self) -> serde_json::Result<Value> {
        serde_json::to_value(self)
    }
}
