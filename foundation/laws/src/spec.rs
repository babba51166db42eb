//! The types that all specs share.

use crate::error::{BadParameter, Parameter};
use crate::site::Site;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
#[cfg(feature = "text")]
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{self, Display};
use fairwire_core::class_tree::MAX_CLASSES;
use fairwire_core::units::Level;
use fairwire_core::{Backlog, ClassTerms, ClassTree, EcnPolicy, SetWeightError, Unit, Weight};
#[cfg(feature = "text")]
use fairwire_parameters::text::{FromValue, Refusal, Value};
#[cfg(feature = "serde")]
use schemars::JsonSchema;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

pub use fairwire_parameters::Quantity;
use fairwire_parameters::{parameters, word};

/// The effect of a congestion signal on an ECN-capable packet.
#[word(gated)]
pub enum EcnChoice {
    /// The packet is dropped, as in the papers' experiments.
    #[default]
    Drop,
    /// The packet is marked CE and passes (RFC 3168).
    Mark,
}

impl From<EcnChoice> for EcnPolicy {
    fn from(choice: EcnChoice) -> Self {
        match choice {
            EcnChoice::Drop => EcnPolicy::Drop,
            EcnChoice::Mark => EcnPolicy::Mark,
        }
    }
}

/// The unit in which the queue is counted.
#[word(gated)]
pub enum Measure {
    /// Packets: each counts as one.
    #[default]
    Packets,
    /// Bytes: a long packet counts more, in the average queue and in the probability of a signal.
    Bytes,
}

impl Measure {
    /// Converts `level` to this measure.
    pub fn counted(self, level: impl Into<Level>, site: &Site<'_>) -> f64 {
        let level = level.into();
        match self {
            Measure::Packets => level.in_packets(site.packet_bytes, site.rate),
            Measure::Bytes => level.in_bytes(site.packet_bytes, site.rate),
        }
    }

    #[inline]
    pub(crate) fn of(self, backlog: Backlog) -> f64 {
        match self {
            Measure::Packets => f64::from(backlog.packets),
            Measure::Bytes => backlog.bytes as f64,
        }
    }

    #[inline]
    pub(crate) fn size(self, len: u32) -> u32 {
        match self {
            Measure::Packets => 1,
            Measure::Bytes => len,
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Measure::Packets => Unit::Packets,
            Measure::Bytes => Unit::Bytes,
        }
    }
}

impl Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Packets => "packets",
            Measure::Bytes => "bytes",
        })
    }
}

/// The unit that has a bucket.
#[word(gated)]
pub enum Share {
    /// Each flow.
    #[default]
    Flows,
    /// Each class: its flows share a bucket, without protection from each other. Section 6.2 of the
    /// FABA paper.
    Classes,
}

/// Weights of classes: `{ 1 = 2.0, 2 = 0.5 }` gives class 1 twice the share of an unlisted class,
/// which has weight 1. A flow has the weight of its class.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize, JsonSchema))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Weights(pub BTreeMap<ClassNumber, f64>);

/// The number of a class, written in digits as the key of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassNumber(pub u32);

/// One class of a tree, as given.
#[parameters(gated, name = "hfaba.class", checked = CheckedTreeClass)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeClass {
    /// The number of the class, as the classifier gives it to packets.
    #[parameter(required, max = 1_048_575, unit = "number")]
    pub id: Option<u32>,
    /// The weight of the class among its siblings.
    #[parameter(default = 1.0, min = 0.000001, max = 1000000.0, unit = "1")]
    pub weight: Option<f64>,
    /// The number of the parent class.
    #[parameter(unset = "it is under the root", unit = "number")]
    pub parent: Option<u32>,
}

#[cfg(feature = "text")]
impl FromValue for Weights {
    fn from_value(value: &Value) -> Result<Self, Refusal> {
        let Value::Table(table) = value else {
            return Err(value.instead_of("a table of classes, such as `{ 1 = 2.0 }`"));
        };
        let one = |(key, _, value): (&str, u32, &Value)| {
            let allowed = format_args!("a whole number from 0 to {}", MAX_CLASSES - 1);
            let why = || format!("`{key}` is not the number of a class; allowed: {allowed}");
            let number = key.parse().map_err(|_| why())?;
            Ok((ClassNumber(number), f64::from_value(value)?))
        };
        table.entries().map(one).collect::<Result<_, _>>().map(Weights)
    }
}

impl Weights {
    pub(crate) fn check(&self, parameter: Parameter) -> Result<WeightOf, BadParameter> {
        for (class, weight) in &self.0 {
            if class.0 >= MAX_CLASSES {
                return Err(parameter.refuse(class, format_args!("classes from 0 to {}", MAX_CLASSES - 1)));
            }
            checked_weight(class.0, *weight, parameter)?;
        }
        let classes = self.0.last_key_value().map_or(0, |(class, _)| class.0 as usize + 1);
        let mut by_class = vec![1.0; classes];
        self.0.iter().for_each(|(class, weight)| by_class[class.0 as usize] = *weight);
        Ok(WeightOf { by_class: by_class.into() })
    }
}

fn checked_weight(class: u32, weight: f64, parameter: Parameter) -> Result<Weight, BadParameter> {
    Weight::new(weight).ok_or_else(|| {
        let given = format_args!("a weight of {weight} for class {class}");
        parameter.refuse(given, format_args!("weights from {} to {}", Weight::MIN, Weight::MAX))
    })
}

/// The tree of `classes`, if they form one.
pub fn checked_tree(classes: &[(u32, ClassTerms)], parameter: Parameter) -> Result<ClassTree, BadParameter> {
    ClassTree::new(classes).map_err(|error| parameter.refuse(error, error.allowed()))
}

/// Checked [`Weights`], read and changed in O(1). A clone does not share its weights, so a change
/// must be made in every clone.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightOf {
    by_class: Box<[f64]>,
}

impl WeightOf {
    /// Weight 1 for every class.
    pub fn equal() -> Self {
        WeightOf { by_class: Box::new([]) }
    }

    /// The weight of `class`.
    #[inline]
    pub fn class(&self, class: u32) -> f64 {
        self.by_class.get(class as usize).copied().unwrap_or(1.0)
    }

    pub(crate) fn distinct(&self) -> Box<[f64]> {
        let mut weights: Vec<f64> = self.by_class.iter().copied().chain([1.0]).collect();
        weights.sort_by(f64::total_cmp);
        weights.dedup();
        weights.into()
    }

    /// True if no class is listed, so all weights are 1.
    pub fn is_equal(&self) -> bool {
        self.by_class.is_empty()
    }

    /// One more than the greatest number of a listed class.
    pub(crate) fn len(&self) -> usize {
        self.by_class.len()
    }

    pub(crate) fn find(&self, class: u32) -> Result<Weight, SetWeightError> {
        match self.by_class.get(class as usize) {
            Some(&weight) => Ok(Weight::new(weight).expect("checked when it was typed")),
            None if self.is_equal() => Err(SetWeightError::NoWeights),
            None => Err(SetWeightError::NoSuchClass { class }),
        }
    }

    pub(crate) fn set(&mut self, class: u32, weight: Weight) -> Result<Weight, SetWeightError> {
        let before = self.find(class)?;
        self.by_class[class as usize] = weight.get();
        Ok(before)
    }
}

impl Display for ClassNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
