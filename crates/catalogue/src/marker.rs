//! The markers by name, and what is given for each.

use crate::page::{BadDocumentation, Page};
use core::fmt;
use fairwire_core::{Marker, Rate, spelling};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::marker as law;
use fairwire_laws::spec::Quantity;
use fairwire_parameters::{Choice, Declared as _, choice_schema, deserialize_choice};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// One marker.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, as typed.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or RFC, with its section.
    pub source: &'static str,
    page: fn() -> Result<Page, BadDocumentation>,
}

/// Lists each marker once: its key in [`MarkerParameters`], its name, and its module.
macro_rules! markers {
    ($($key:ident: $name:literal => $variant:ident($module:ident);)+) => {
        /// A marker as given: `"sr-tcm"`, or `{ sr-tcm = { rate = "1 Mbit/s" } }`.
        #[derive(Clone, Debug, PartialEq)]
        pub enum MarkerChoice {
            $(#[doc = concat!("`", $name, "`.")] $variant(law::$module::Spec),)+
        }

        /// The table form.
        #[derive(JsonSchema)]
        #[schemars(rename = "MarkerTable")]
        #[expect(dead_code, reason = "its schema is what it is for")]
        enum Table {
            $(#[schemars(rename = $name)] $variant(law::$module::Spec),)+
        }

        impl Choice for MarkerChoice {
            const WHAT: &'static str = "marker";
            const EXAMPLE: &'static str = "{ sr-tcm = { rate = \"1 Mbit/s\" } }";

            fn names() -> &'static [&'static str] {
                &[$($name),+]
            }

            fn named(at: usize) -> Self {
                [$(MarkerChoice::$variant(Default::default())),+].into_iter().nth(at).expect("one for each name")
            }

            fn read<'de, A: MapAccess<'de>>(at: usize, table: &mut A) -> Result<Self, A::Error> {
                let mut next = 0..;
                $(if next.next() == Some(at) {
                    return Ok(MarkerChoice::$variant(table.next_value()?));
                })+
                unreachable!("one for each name")
            }
        }

        impl MarkerChoice {
            /// Its name, as typed.
            pub fn name(&self) -> &'static str {
                match self {
                    $(MarkerChoice::$variant(_) => $name),+
                }
            }

            /// The same, with what `base` has for it beside what is given here.
            #[must_use]
            pub fn filled(mut self, base: &MarkerParameters) -> Self {
                match &mut self {
                    $(MarkerChoice::$variant(spec) => {
                        if let Some(base) = &base.$key {
                            spec.fill(base);
                        }
                    })+
                }
                self
            }

            /// The same, with `rate` as its committed rate unless one is given.
            #[must_use]
            pub fn with_contract(mut self, rate: Rate) -> Self {
                match &mut self {
                    $(MarkerChoice::$variant(spec) => _ = spec.rate.get_or_insert(Quantity(rate))),+
                }
                self
            }

            /// Checks what was given at `site`, without building it.
            pub fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
                match self {
                    $(MarkerChoice::$variant(spec) => spec.check(site).map(drop)),+
                }
            }

            /// Builds it for `site`.
            pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Marker>, BadParameter> {
                match self {
                    $(MarkerChoice::$variant(spec) => spec.build(site)),+
                }
            }

            fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    $(MarkerChoice::$variant(spec) => map.serialize_entry($name, spec)),+
                }
            }
        }

        /// What is given for each marker, under its name, wherever that marker is named. Unknown keys are refused.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct MarkerParameters {
            $(
                #[doc = concat!("Parameters of the marker `", $name, "`.")]
                #[serde(rename = $name, default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<law::$module::Spec>,
            )+
        }

        impl MarkerParameters {
            /// The markers for which something is given, with that.
            pub fn given(&self) -> impl Iterator<Item = MarkerChoice> {
                [$(self.$key.clone().map(MarkerChoice::$variant)),+].into_iter().flatten()
            }
        }

        const ENTRIES: &[Entry] = &[$(Entry {
            name: $name,
            summary: law::$module::ABOUT.summary,
            source: law::$module::ABOUT.source,
            page: || Page::of::<law::$module::Spec>($name, law::$module::ABOUT.summary, law::$module::ABOUT.source),
        }),+];
    };
}

markers! {
    token_bucket: "token-bucket" => TokenBucket(token_bucket);
    sr_tcm: "sr-tcm" => SrTcm(sr_tcm);
    tr_tcm: "tr-tcm" => TrTcm(tr_tcm);
    tsw2cm: "tsw2cm" => Tsw2cm(tsw2cm);
    tsw3cm: "tsw3cm" => Tsw3cm(tsw3cm);
    adaptive_token_bucket: "adaptive-token-bucket" => AdaptiveTokenBucket(adaptive_token_bucket);
}

impl MarkerChoice {
    /// The marker called `name`, with its defaults.
    pub fn find(name: &str) -> Result<Self, UnknownMarker> {
        let at = ENTRIES.iter().position(|entry| entry.name == name);
        at.map(Self::named).ok_or_else(|| unknown(name))
    }

    /// Has it its defaults, so that its name says all?
    fn is_default(&self) -> bool {
        Self::find(self.name()).is_ok_and(|default| default == *self)
    }
}

impl Default for MarkerChoice {
    /// The token bucket.
    fn default() -> Self {
        MarkerChoice::TokenBucket(Default::default())
    }
}

impl<'de> Deserialize<'de> for MarkerChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_choice(deserializer)
    }
}

impl Serialize for MarkerChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_default() {
            return serializer.serialize_str(self.name());
        }
        let mut map = serializer.serialize_map(Some(1))?;
        self.write(&mut map)?;
        map.end()
    }
}

impl JsonSchema for MarkerChoice {
    fn schema_name() -> Cow<'static, str> {
        "Marker".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        choice_schema::<MarkerChoice, Table>(generator)
    }
}

impl Entry {
    /// Everything said of it. Fails only where the documentation in the code is not of the form that pages are made of.
    pub fn page(&self) -> Result<Page, BadDocumentation> {
        (self.page)()
    }
}

/// Every marker, in the order in which it is listed to people.
pub fn all() -> &'static [Entry] {
    ENTRIES
}

/// The marker called `name`.
///
/// ```
/// use fairwire_catalogue::marker;
///
/// assert_eq!(marker::find("sr-tcm")?.name, "sr-tcm");
/// assert_eq!(marker::find("srtcm").unwrap_err().likely, ["sr-tcm"]);
/// # Ok::<(), marker::UnknownMarker>(())
/// ```
pub fn find(name: &str) -> Result<&'static Entry, UnknownMarker> {
    ENTRIES.iter().find(|entry| entry.name == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> UnknownMarker {
    let likely = spelling::likely(name, ENTRIES.iter().map(|entry| entry.name));
    UnknownMarker { given: name.chars().take(60).collect(), likely }
}

/// No marker has the name given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMarker {
    /// What was given, cut after 60 letters.
    pub given: String,
    /// The names that were most likely meant, if any come near.
    pub likely: Vec<&'static str>,
}

impl std::error::Error for UnknownMarker {}

impl fmt::Display for UnknownMarker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no marker `{}`; ", self.given)?;
        if let Some(question) = spelling::question(&self.likely) {
            write!(f, "{question} ")?;
        }
        write!(f, "allowed: {}", Names)
    }
}

/// Prints the names of all markers.
struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, entry) in ENTRIES.iter().enumerate() {
            write!(f, "{}`{}`", if i == 0 { "" } else { ", " }, entry.name)?;
        }
        Ok(())
    }
}
