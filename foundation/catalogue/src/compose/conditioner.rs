//! The conditioner: a marker in front of a discipline.
//!
//! # What it does
//! A marker colours each arrival. Each listed class has a marker, and all other classes share one.
//!
//! # Why
//! The edge of a DiffServ domain measures contracts per aggregate, and later routers need only the
//! colours.
//!
//! # State and cost
//! The state of the markers, and four bytes per class number up to the highest listed; O(1) per
//! packet.
//!
//! # Source (section, equation)
//! RFC 2475, section 2.3.3: "traffic conditioners".
//!
//! # Where we differ
//! The inner discipline shapes and drops. A gateway writes colours as codepoints if its `dscp`
//! requires that.
//!
//! # Example
//! ```toml
//! [discipline.conditioner]
//! class = [
//!   { id = 1, marker = { token-bucket = { rate = "2 Mbit/s" } } },
//!   { id = 2, marker = { token-bucket = { rate = "5 Mbit/s" } } },
//! ]
//! discipline = { rio = { coupling = "coupled" } }
//! ```

use crate::choice::Choice;
use crate::marker::MarkerChoice;
use crate::nested::{Nested, check_slots};
use fairwire_core::units::Amount;
use fairwire_core::{Discipline, Marker};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::about::{About, Family};
use fairwire_laws::compose::conditioner::Conditioner;
use fairwire_laws::error::{Of as _, Parameter};
use fairwire_laws::part::Part;
use fairwire_laws::role;
use fairwire_laws::spec::{EcnChoice, Quantity};
use fairwire_parameters::parameters;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The entry of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::Composition,
    summary: "a marker per class in front of a discipline",
    state: "that of one marker per listed class, and of the discipline inside",
    cost: "O(1), and the cost of the discipline inside",
    marks: true,
    source: "RFC 2475, section 2.3.3",
};

const NAME: &str = "conditioner";

const MAX_MARKERS: usize = 1 << 16;

static DEFAULT: Choice = Choice::named("rio");

static DEFAULT_MARKER: LazyLock<MarkerChoice> = LazyLock::new(MarkerChoice::default);

/// Parameters of `conditioner`.
#[parameters]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The size of the inner discipline's buffer.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// The treatment of ECN-capable packets by the inner discipline, unless its own parameters set
    /// it.
    #[parameter(is = role::ECN, unset = "its own")]
    pub ecn: Option<EcnChoice>,
    /// The marker: its name, or a table with its name and its parameters.
    ///
    /// The target of an `adaptive-token-bucket` is constant, except in a gateway with an
    /// `[ingress]`.
    #[parameter(unset = "`token-bucket`", unit = "marker")]
    pub marker: Option<MarkerChoice>,
    /// Classes with a separate marker.
    ///
    /// At most 65536 classes. All other classes share one marker.
    #[parameter(unset = "none", unit = "list")]
    pub class: Option<Vec<Class>>,
    /// The inner discipline: its name, or a table with its name and its parameters.
    #[parameter(unset = "`rio`", unit = "discipline")]
    pub discipline: Option<Choice>,
}

impl Part for Spec {}

/// The marker of one class, as given.
#[parameters(name = "conditioner.class", checked = CheckedClass)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// The number of the class.
    #[parameter(required, max = 1_048_575, unit = "number")]
    pub id: Option<u32>,
    /// The marker: its name, or a table with its name and its parameters.
    #[parameter(unset = "the conditioner's", unit = "marker")]
    pub marker: Option<MarkerChoice>,
}

impl Spec {
    /// Checks the parameters against the site, including the inner discipline.
    pub fn check(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        self.checked_ids()?;
        self.check_markers(site)?;
        self.nested().check(&self.inner_site(site))?;
        check_slots(NAME, &self.placed(site))
    }

    fn checked_ids(&self) -> Result<Vec<u32>, BadParameter> {
        let class = Parameter { discipline: NAME, name: "class" };
        let classes = self.class.as_deref().unwrap_or_default();
        if classes.len() > MAX_MARKERS {
            return Err(class.refuse(format_args!("{} classes", classes.len()), MAX_MARKERS));
        }
        let checked = classes.iter().zip(0..).map(|(one, place)| one.checked().of_item(class, place));
        let ids = checked.map(|one| Ok(one?.id)).collect::<Result<Vec<u32>, BadParameter>>()?;
        let mut seen = BTreeSet::new();
        match ids.iter().position(|id| !seen.insert(*id)) {
            Some(place) => Err(class
                .refuse(format_args!("class {} again", ids[place]), "each class once")
                .of_item(place, "id")),
            None => Ok(ids),
        }
    }

    fn markers(&self) -> impl Iterator<Item = &MarkerChoice> {
        let own = self.marker.as_ref().unwrap_or(&*DEFAULT_MARKER);
        let listed = self.class.iter().flatten().map(move |class| class.marker.as_ref().unwrap_or(own));
        core::iter::once(own).chain(listed)
    }

    fn check_markers(&self, site: &Site<'_>) -> Result<(), BadParameter> {
        let of_class = |(place, class): (usize, &Class)| match &class.marker {
            Some(marker) => {
                marker.check(site).map_err(|bad| bad.inside(&format!("conditioner.class.{place}.marker")))
            }
            None => Ok(()),
        };
        let own = self.marker.as_ref().unwrap_or(&*DEFAULT_MARKER);
        own.check(site).map_err(|bad| bad.inside("conditioner.marker"))?;
        self.class.iter().flatten().enumerate().try_for_each(of_class)
    }

    fn nested(&self) -> Nested<'_> {
        let choice = self.discipline.as_ref().unwrap_or(&DEFAULT);
        let typed_as = Parameter { discipline: NAME, name: "discipline" };
        Nested { choice, ecn: self.ecn, typed_as, place: None }
    }

    pub(crate) fn placed<'a>(&'a self, site: &Site<'a>) -> Vec<(Nested<'a>, Site<'a>)> {
        vec![(self.nested(), self.inner_site(site))]
    }

    fn inner_site<'a>(&self, site: &Site<'a>) -> Site<'a> {
        Site { buffer: self.buffer.map_or(site.buffer, |buffer| buffer.0), ..*site }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        self.check(site)?;
        let ids = self.checked_ids()?;
        let inner = self.nested().build(&self.inner_site(site))?;
        let labels = core::iter::once("marker of the other classes".to_owned())
            .chain(ids.iter().map(|id| format!("marker of class {id}")));
        let mut markers: Vec<(String, Box<dyn Marker>)> = Vec::with_capacity(ids.len() + 1);
        for (marker, label) in self.markers().zip(labels) {
            let stream = format!("{}/{label}", site.stream);
            let marker = marker.build(&Site { stream: &stream, ..*site })?;
            markers.push((label, marker));
        }
        let highest = ids.iter().map(|&id| id as usize + 1).max().unwrap_or(0);
        let mut of_class = vec![0; highest];
        ids.iter().zip(1..).for_each(|(&id, at)| of_class[id as usize] = at);
        Ok(Box::new(Conditioner::new(inner, markers, of_class.into())))
    }
}
