//! A tree of classes, each leaf a discipline.
//!
//! # What it does
//! Shares the link among classes. A class has a guaranteed `rate`, and a `ceiling` that it never
//! exceeds. Its weight and priority apply to the excess, the rate beyond all guarantees. The unused
//! part of a guarantee goes to the class's siblings first, then up the tree.
//!
//! From the root down, each class first serves children within their guarantee. The most urgent of
//! these children come first, and among equally urgent children the one due longest. If none is
//! within its guarantee, the most urgent children share the excess in proportion to their weights.
//! An inner class lends its guarantee to its children in the same manner.
//!
//! # Why
//! Subscribers, offices or services have contracts, and each may need its own rules inside.
//!
//! # State and cost
//! Two times, eight virtual times and a tag per class. A packet costs O(depth) to admit, and
//! O(backlogged siblings) at each level to send. If no packet may leave, finding the next departure
//! costs O(backlogged classes) at worst. The tree gives no early signals, but inner disciplines
//! may.
//!
//! # Source (section, equation)
//! S. Floyd and V. Jacobson, "Link-Sharing and Resource Management Models for Packet Networks",
//! IEEE/ACM ToN 3(4), 1995, section II, for the task. Weights: start-time fair queueing at each
//! class, P. Goyal, H. Vin and H. Cheng, IEEE/ACM ToN 5(5), 1997, section II. Guarantees and
//! ceilings: the buckets of [`shaper`](super::shaper).
//!
//! # Where we differ
//! - A bucket, not an estimated rate, decides whether a class is over its guarantee.
//! - The ceilings of all classes on the path to the root apply at once, before guarantees. A
//!   guarantee above the class's ceiling is refused. So are siblings' guarantees that together
//!   exceed the guarantee of their parent, or the rate of the tree or the link.
//! - A bucket begins to fill at time zero.
//!
//! # Example
//! ```toml
//! [discipline.classful]
//! rate = "9500 kbit/s"
//! class = [
//!   { id = 1, rate = "6 Mbit/s" },
//!   { id = 2, parent = 1, rate = "2 Mbit/s", priority = 0, discipline = "red" },
//!   { id = 3, parent = 1, weight = 2.0 },
//!   { id = 4, rate = "3 Mbit/s", ceiling = "5 Mbit/s" },
//! ]
//! default = 4
//! ```

use crate::choice::Choice;
use crate::nested::{Nested, check_slots, part_of};
use fairwire_core::class_tree::{Overpromised, guarantees};
use fairwire_core::units::{Amount, Size};
use fairwire_core::{ClassTerms, ClassTree, Discipline, Duration, Rate, Weight};
use fairwire_laws::BadParameter;
use fairwire_laws::Site;
use fairwire_laws::about::{About, Family};
use fairwire_laws::compose::classful::{Classful, Config, Contents, Inner, Shape, Terms};
use fairwire_laws::compose::shaper::burst_time;
use fairwire_laws::error::{Of as _, Parameter};
use fairwire_laws::part::{ClassSupport, Part};
use fairwire_laws::role;
use fairwire_laws::spec::{EcnChoice, Quantity, checked_tree};
use fairwire_parameters::parameters;
use std::collections::BTreeSet;

/// The entry of this discipline in the catalogue.
pub const ABOUT: About = About {
    family: Family::Composition,
    summary: "a tree of classes with guarantees, ceilings, weights and priorities, each leaf a discipline",
    state: "about 400 bytes per class, and that of the disciplines inside",
    cost: "O(backlogged siblings) at each level, and the cost of the disciplines inside",
    marks: false,
    source: "Floyd and Jacobson 1995, section II; Goyal, Vin and Cheng 1997",
};

const NAME: &str = "classful";

const MAX_NODES: usize = 1 << 16;

static DEFAULT: Choice = Choice::named("tail-drop");

/// Parameters of `classful`.
#[parameters]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// The size of the buffer that all leaves without a separate buffer share equally.
    #[parameter(is = role::BUFFER, unset = "the site's")]
    pub buffer: Option<Quantity<Amount>>,
    /// The treatment of ECN-capable packets by the inner disciplines, unless their own parameters
    /// set it.
    #[parameter(is = role::ECN, unset = "their own")]
    pub ecn: Option<EcnChoice>,
    /// The ceiling of the entire tree.
    ///
    /// Without it, only the link limits the tree.
    #[parameter(unset = "none")]
    pub rate: Option<Quantity<Rate>>,
    /// The classes.
    ///
    /// At most 65536 classes, in at most 8 levels. A class without children is a leaf.
    #[parameter(unset = "one of `tail-drop`", unit = "list")]
    pub class: Option<Vec<Class>>,
    /// The leaf for packets whose class is not listed or is not a leaf.
    #[parameter(unset = "the first leaf typed", unit = "number")]
    pub default: Option<u32>,
}

impl Part for Spec {
    fn classes(&self) -> ClassSupport {
        ClassSupport::Queues
    }

    fn typed_classes(&self) -> Option<&'static str> {
        match (&self.class, self.default) {
            (Some(_), _) => Some("class"),
            (None, Some(_)) => Some("default"),
            (None, None) => None,
        }
    }
}

/// One class, as given.
#[parameters(name = "classful.class", checked = CheckedClass)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Class {
    /// Its number.
    #[parameter(required, max = 1_048_575, unit = "number")]
    pub id: Option<u32>,
    /// The parent class.
    #[parameter(unset = "none; it is under the root", unit = "number")]
    pub parent: Option<u32>,
    /// Its guaranteed rate.
    #[parameter(unset = "nothing for a leaf, else what its classes are promised together")]
    pub rate: Option<Quantity<Rate>>,
    /// The rate that the class never exceeds.
    #[parameter(unset = "none")]
    pub ceiling: Option<Quantity<Rate>>,
    /// The weight by which the class shares the excess.
    #[parameter(default = 1.0, min = 0.000001, max = 1000000.0, unit = "1")]
    pub weight: Option<f64>,
    /// The priority of the class for the excess; 0 is the most urgent.
    #[parameter(default = 7, max = 7, unit = "number")]
    pub priority: Option<u8>,
    /// The rate that the class never exceeds while its burst lasts. A peak requires a lower
    /// `ceiling`.
    ///
    /// For example, the ceiling is 20 Mbit/s, the peak 40 Mbit/s and the burst 25 MB. After a pause
    /// of 10 s, the class sends at its peak for 10 s, and then at its ceiling. At the start of a
    /// run no class counts as paused.
    #[parameter(unset = "the rate of the link")]
    pub peak: Option<Quantity<Rate>>,
    /// The amount by which the class may fall behind its rate or its ceiling and still catch up.
    /// With `peak`, the burst applies only to the ceiling.
    #[parameter(
        unset = "what that brings in 1 ms and two packets, of 1514 bytes or typical if that is more",
        unit = "size"
    )]
    pub burst: Option<Quantity<Size>>,
    /// The size of this leaf's buffer.
    #[parameter(unset = "an equal part of the whole")]
    pub buffer: Option<Quantity<Amount>>,
    /// The discipline of this leaf: its name, or a table with its name and its parameters.
    #[parameter(unset = "`tail-drop`", unit = "discipline")]
    pub discipline: Option<Choice>,
}

static ONE_CLASS: [Class; 1] = [Class {
    id: Some(0),
    parent: None,
    rate: None,
    ceiling: None,
    peak: None,
    weight: None,
    priority: None,
    burst: None,
    buffer: None,
    discipline: None,
}];

impl Spec {
    /// Checks the parameters against the site, including the inner disciplines.
    pub fn check(&self, site: &Site<'_>) -> Result<Config, BadParameter> {
        let classes = self.classes();
        if classes.is_empty() || classes.len() > MAX_NODES {
            let allowed = format!("from 1 to {MAX_NODES} classes");
            return Err(
                Parameter::of(NAME, "class").refuse(format_args!("{} classes", classes.len()), allowed)
            );
        }
        let checked = classes.iter().enumerate();
        let checked = checked.map(|(at, class)| class.checked().of_item(Parameter::of(NAME, "class"), at));
        let checked = checked.collect::<Result<Vec<CheckedClass>, _>>()?;
        let tree = self.tree(&checked, site)?;
        let is_leaf = tree.leaves();
        let terms = tree.given().iter().zip(tree.terms());
        let terms = terms.map(|(&at, class)| terms_of(&classes[at], checked[at].priority, class, site));
        let terms = terms.collect();
        self.check_peaks(&tree, site)?;
        let default = self.default_leaf(&tree, &is_leaf)?;
        let rate = self.rate.map(|rate| shape(rate.0, None, site));
        let leaf_classes =
            || (0..tree.len()).filter(|&place| is_leaf[place]).map(|place| &classes[tree.given()[place]]);
        let sharing = leaf_classes().filter(|class| class.buffer.is_none()).count();
        let config = Config { tree, terms, rate, default, sharing };
        for (place, is_leaf) in is_leaf.iter().enumerate() {
            let class = &classes[config.tree.given()[place]];
            if *is_leaf {
                self.nested_in(config.tree.given()[place])
                    .check(&self.inner_site(class, place, &config, site))?;
            } else {
                refuse_contents(class)?;
            }
        }
        check_slots(NAME, &self.placed(site))?;
        Ok(config)
    }

    fn classes(&self) -> &[Class] {
        self.class.as_deref().unwrap_or(&ONE_CLASS)
    }

    /// A class without a guarantee gets the sum of its children's guarantees.
    fn tree(&self, checked: &[CheckedClass], site: &Site<'_>) -> Result<ClassTree, BadParameter> {
        let classes: Vec<_> = self.classes().iter().zip(checked).map(class_terms).collect();
        let tree = checked_tree(&classes, Parameter::of(NAME, "class"))?;
        let whole = self.rate.map_or(site.rate, |rate| rate.0.min(site.rate));
        let guarantees = guarantees(tree.terms(), whole)
            .map_err(|broken| overpromised(broken, |place| &self.classes()[tree.given()[place]], whole))?;
        let guarantee = |bps: u128| u64::try_from(bps).ok().and_then(Rate::from_bps);
        Ok(tree.with_guarantees(guarantees.into_iter().map(guarantee)))
    }

    /// Refuses a peak at or below its class's ceiling, or above the rate that the ancestors or the
    /// link allow.
    fn check_peaks(&self, tree: &ClassTree, site: &Site<'_>) -> Result<(), BadParameter> {
        let typed = |place: usize| &self.classes()[tree.given()[place]];
        for (place, terms) in tree.terms().iter().enumerate() {
            let class = typed(place);
            let Some(Quantity(peak)) = class.peak else { continue };
            let refuse = |allowed: String| {
                Err(Parameter::of(NAME, "class")
                    .refuse(format_args!("a peak of {peak} for class {}", class.number()), allowed))
            };
            match terms.ceiling {
                None => return refuse("a peak with a ceiling".into()),
                Some(ceiling) if peak <= ceiling => {
                    return refuse(format!("more than its ceiling, {ceiling}"));
                }
                Some(_) => {}
            }
            let upwards = core::iter::successors(tree.parent(place), |&place| tree.parent(place));
            let bounds = upwards
                .filter_map(|place| typed(place).peak.map(|peak| peak.0).or(tree.terms()[place].ceiling));
            let most = bounds.chain(self.rate.map(|rate| rate.0)).fold(site.rate, Rate::min);
            if peak > most {
                return refuse(format!(
                    "no more than what the classes above it and the link let pass, {most}"
                ));
            }
        }
        Ok(())
    }

    fn default_leaf(&self, tree: &ClassTree, is_leaf: &[bool]) -> Result<usize, BadParameter> {
        match self.default {
            Some(class) => tree.place(class).filter(|&place| is_leaf[place]).ok_or_else(|| {
                Parameter::of(NAME, "default").refuse(class, "the number of a class that has none below it")
            }),
            None => {
                let typed = self.classes().iter().filter_map(|class| tree.place(class.number()));
                Ok(typed.into_iter().find(|&place| is_leaf[place]).expect("a tree has a leaf"))
            }
        }
    }

    /// The inner disciplines and their sites. Each site has the link's rate; ceilings are ignored.
    pub(crate) fn placed<'a>(&'a self, site: &Site<'a>) -> Vec<(Nested<'a>, Site<'a>)> {
        let whole = self.buffer.map_or(site.buffer, |buffer| buffer.0);
        let parents: BTreeSet<u32> = self.classes().iter().filter_map(|class| class.parent).collect();
        let typed = || self.classes().iter().enumerate();
        let leaves = || typed().filter(|(_, class)| !parents.contains(&class.number()));
        let sharing = leaves().filter(|(_, class)| class.buffer.is_none()).count();
        let part = part_of(whole, sharing, site.packet_bytes);
        let buffer = |class: &Class| class.buffer.map_or(part, |buffer| buffer.0);
        let placed = |(place, class)| (self.nested_in(place), Site { buffer: buffer(class), ..*site });
        leaves().map(placed).collect()
    }

    fn nested_in(&self, place: usize) -> Nested<'_> {
        let class = &self.classes()[place];
        let choice = class.discipline.as_ref().unwrap_or(&DEFAULT);
        Nested { choice, ecn: self.ecn, typed_as: Parameter::of(NAME, "class"), place: Some(place) }
    }

    /// The site of the leaf at `place`, with the leaf's maximum rate.
    fn inner_site<'a>(&self, class: &Class, place: usize, config: &Config, site: &Site<'a>) -> Site<'a> {
        let whole = self.buffer.map_or(site.buffer, |buffer| buffer.0);
        let part = || part_of(whole, config.sharing, site.packet_bytes);
        let buffer = class.buffer.map_or_else(part, |buffer| buffer.0);
        let upwards = core::iter::successors(Some(place), |&place| config.tree.parent(place));
        let most = |place: usize| {
            let peak = config.terms[place].peak.map(|peak| peak.rate);
            peak.or(config.tree.terms()[place].ceiling)
        };
        let rate =
            upwards.filter_map(most).chain(config.rate.map(|whole| whole.rate)).fold(site.rate, Rate::min);
        Site { rate, buffer, ..*site }
    }

    /// Checks and builds.
    pub fn build(&self, site: &Site<'_>) -> Result<Box<dyn Discipline>, BadParameter> {
        let config = self.check(site)?;
        let is_leaf = config.tree.leaves();
        let mut contents = Vec::with_capacity(config.tree.len());
        for (place, is_leaf) in is_leaf.into_iter().enumerate() {
            let class = &self.classes()[config.tree.given()[place]];
            let label = format!("class {}", class.number());
            let stream = format!("{}/{label}", site.stream);
            let site = Site { stream: &stream, ..self.inner_site(class, place, &config, site) };
            let nested = || self.nested_in(config.tree.given()[place]);
            let inner = if is_leaf { Some(Inner::Made(nested().build(&site)?)) } else { None };
            contents.push(Contents { label, inner });
        }
        Ok(Box::new(Classful::new(config, contents)))
    }
}

impl Class {
    /// The number of the class; every checked class has one.
    fn number(&self) -> u32 {
        self.id.unwrap_or_default()
    }
}

fn class_terms((class, checked): (&Class, &CheckedClass)) -> (u32, ClassTerms) {
    let weight = Weight::new(checked.weight).expect("within its bounds");
    let [guarantee, ceiling] = [class.rate, class.ceiling].map(|rate| rate.map(|rate| rate.0));
    (checked.id, ClassTerms { parent: class.parent, weight, guarantee, ceiling })
}

fn overpromised<'a>(broken: Overpromised, class: impl Fn(usize) -> &'a Class, whole: Rate) -> BadParameter {
    let parameter = Parameter::of(NAME, "class");
    let typed = |rate: Option<Quantity<Rate>>| rate.map_or(String::new(), |rate| rate.to_string());
    match broken {
        Overpromised::Guarantee { place, below } => {
            let (id, rate) = (class(place).number(), typed(class(place).rate));
            let allowed = format!("no less than the {} promised to the classes below it", rate_text(below));
            parameter.refuse(format_args!("a rate of {rate} for class {id}"), allowed)
        }
        Overpromised::Ceiling { place, guaranteed } => {
            let (id, ceiling) = (class(place).number(), typed(class(place).ceiling));
            let allowed = match class(place).rate {
                Some(rate) => format!("no less than the rate of the class, {rate}"),
                None => {
                    format!("no less than the {} promised to the classes below it", rate_text(guaranteed))
                }
            };
            parameter.refuse(format_args!("a ceiling of {ceiling} for class {id}"), allowed)
        }
        Overpromised::Link { total } => {
            let given = format!("{} promised to the classes under the root", rate_text(total));
            parameter.refuse(given, format_args!("at most the {whole} that these classes share"))
        }
    }
}

fn rate_text(bps: u128) -> String {
    let rate = u64::try_from(bps).ok().and_then(Rate::from_bps);
    rate.map_or_else(|| format!("{bps} bit/s"), |rate| rate.to_string())
}

fn terms_of(class: &Class, priority: u8, tree: &ClassTerms, site: &Site<'_>) -> Terms {
    let burst = |rate: Option<Rate>, typed| {
        rate.map_or(Duration::ZERO, |rate| burst_time(typed, rate, site.packet_bytes))
    };
    let of_guarantee = if class.peak.is_some() { None } else { class.burst };
    Terms {
        guarantee_burst: burst(tree.guarantee, of_guarantee),
        ceiling_burst: burst(tree.ceiling, class.burst),
        peak: class.peak.map(|peak| shape(peak.0, None, site)),
        priority,
    }
}

fn shape(rate: Rate, burst: Option<Quantity<Size>>, site: &Site<'_>) -> Shape {
    Shape { rate, burst: burst_time(burst, rate, site.packet_bytes) }
}

fn refuse_contents(class: &Class) -> Result<(), BadParameter> {
    if class.discipline.is_none() && class.buffer.is_none() {
        return Ok(());
    }
    let given =
        format_args!("a discipline or a buffer in class {}, which has classes below it", class.number());
    let allowed = "`discipline` and `buffer` only in classes without classes below them";
    Err(Parameter::of(NAME, "class").refuse(given, allowed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwire_laws::compose::classful::PRIORITIES;
    use fairwire_parameters::Declared as _;

    #[test]
    fn the_declared_bounds_of_a_class_match_the_tree() {
        let field = |name| Class::FIELDS.iter().find(|field| field.name == name).expect("a field");
        let weight = field("weight");
        assert_eq!((weight.min, weight.max), (Some(Weight::MIN.get()), Some(Weight::MAX.get())));
        assert_eq!(field("priority").max, Some((PRIORITIES - 1) as f64));
        assert_eq!(field("id").max, Some(f64::from(fairwire_core::class_tree::MAX_CLASSES - 1)));
    }
}
