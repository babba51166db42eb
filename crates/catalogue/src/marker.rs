//! The markers by name, and what is given for each.

use crate::page::{BadDocumentation, Page};
use core::fmt;
use fairwire_core::{Marker, Rate, spelling};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::marker as law;
use fairwire_laws::spec::Quantity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One marker.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name, as typed.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The paper or RFC, with its section.
    pub source: &'static str,
    build: Builder,
    check: Checker,
    page: fn() -> Result<Page, BadDocumentation>,
}

type Builder = fn(&MarkerParameters, &Site<'_>) -> Result<Box<dyn Marker>, BadParameter>;
type Checker = fn(&MarkerParameters, &Site<'_>) -> Result<(), BadParameter>;

/// Lists each marker once: its key in [`MarkerParameters`], its name, and its module.
macro_rules! markers {
    ($($key:ident: $name:literal => $module:ident;)+) => {
        /// What was typed for each marker, under its name. What is left out has its documented default; unknown keys are
        /// refused.
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
            /// Nothing typed for any.
            pub const NONE: MarkerParameters = MarkerParameters { $($key: None),+ };

            /// The same, where every marker whose committed rate was not typed has `rate`.
            #[must_use]
            pub fn with_contract(&self, rate: Rate) -> MarkerParameters {
                let mut contracted = self.clone();
                $(contracted.$key.get_or_insert_default().rate.get_or_insert(Quantity(rate));)+
                contracted
            }

            /// The markers for which something was typed.
            pub fn typed(&self) -> impl Iterator<Item = &'static Entry> {
                let typed = [$(self.$key.is_some()),+];
                ENTRIES.iter().zip(typed).filter_map(|(entry, is_typed)| is_typed.then_some(entry))
            }
        }

        const ENTRIES: &[Entry] = &[$({
            let about = law::$module::ABOUT;
            Entry {
                name: $name,
                summary: about.summary,
                source: about.source,
                build: |parameters, site| match &parameters.$key {
                    Some(spec) => spec.build(site),
                    None => law::$module::Spec::default().build(site),
                },
                check: |parameters, site| match &parameters.$key {
                    Some(spec) => spec.check(site).map(drop),
                    None => law::$module::Spec::default().check(site).map(drop),
                },
                page: || Page::of::<law::$module::Spec>($name, law::$module::ABOUT.summary, law::$module::ABOUT.source),
            }
        }),+];
    };
}

markers! {
    token_bucket: "token-bucket" => token_bucket;
    sr_tcm: "sr-tcm" => sr_tcm;
    tr_tcm: "tr-tcm" => tr_tcm;
    tsw2cm: "tsw2cm" => tsw2cm;
    tsw3cm: "tsw3cm" => tsw3cm;
    adaptive_token_bucket: "adaptive-token-bucket" => adaptive_token_bucket;
}

impl Entry {
    /// Everything said of it. Fails only where the documentation in the code is not of the form that pages are made of.
    pub fn page(&self) -> Result<Page, BadDocumentation> {
        (self.page)()
    }

    /// Builds it for `site`.
    pub fn build(
        &self,
        parameters: &MarkerParameters,
        site: &Site<'_>,
    ) -> Result<Box<dyn Marker>, BadParameter> {
        (self.build)(parameters, site)
    }

    /// Checks what was typed for it at `site`, without building it.
    pub fn check(&self, parameters: &MarkerParameters, site: &Site<'_>) -> Result<(), BadParameter> {
        (self.check)(parameters, site)
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
    ENTRIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| UnknownMarker { given: name.chars().take(60).collect(), likely: likely(name) })
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
pub(crate) struct Names;

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, entry) in ENTRIES.iter().enumerate() {
            write!(f, "{}`{}`", if i == 0 { "" } else { ", " }, entry.name)?;
        }
        Ok(())
    }
}

fn likely(given: &str) -> Vec<&'static str> {
    spelling::likely(given, ENTRIES.iter().map(|entry| entry.name))
}
