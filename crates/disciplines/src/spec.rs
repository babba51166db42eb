//! What all specs share: quantities typed with their unit, the ECN policy, the measure, and weights.

use crate::error::{BadParameter, Parameter};
use core::fmt::{self, Display};
use core::marker::PhantomData;
use core::str::FromStr;
use fairwire_core::units::{Amount, Size};
use fairwire_core::{Duration, EcnPolicy, NotReweighed, Rate, Weight};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A quantity that is typed as a string with its unit, such as `"10 Mbit/s"`.
///
/// ```
/// use fairwire_core::{Duration, units::Amount};
/// use fairwire_disciplines::spec::Quantity;
///
/// #[derive(serde::Deserialize)]
/// struct Link { delay: Quantity<Duration>, buffer: Quantity<Amount> }
///
/// let link: Link = toml::from_str("delay = '5 ms'\nbuffer = '780 packets'")?;
/// assert_eq!(link.delay.0, Duration::from_ms(5));
/// assert_eq!(link.buffer.0, Amount::Packets(780));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity<T>(pub T);

/// A quantity of `fairwire_core` that people write with a unit.
pub trait Written: FromStr<Err: Display> + Display {
    /// The name in schemas.
    const NAME: &'static str;
    /// What it is and which units it takes.
    const DESCRIPTION: &'static str;
    /// A regular expression (ECMA 262) that every right spelling matches.
    const PATTERN: &'static str;
    /// Right spellings.
    const EXAMPLES: &'static [&'static str];
}

impl Written for Rate {
    const NAME: &'static str = "Rate";
    const DESCRIPTION: &'static str = "a rate above zero with its unit: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (or bps, kbps, Mbps, Gbps), B/s, kB/s, MB/s, GB/s";
    const PATTERN: &'static str =
        r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kMGT]?bit/s|[kMG]?bps|[kMG]?B/s)\s*$";
    const EXAMPLES: &'static [&'static str] = &["10 Mbit/s", "56 kbit/s"];
}

impl Written for Duration {
    const NAME: &'static str = "Duration";
    const DESCRIPTION: &'static str = "a time with its unit: ns, us, ms, s, min, h";
    const PATTERN: &'static str = r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|us|µs|ms|s|min|h)\s*$";
    const EXAMPLES: &'static [&'static str] = &["5 ms", "100 s"];
}

impl Written for Size {
    const NAME: &'static str = "Size";
    const DESCRIPTION: &'static str =
        "a size with its unit: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024)";
    const PATTERN: &'static str = r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kMG]?B|[KMG]iB)\s*$";
    const EXAMPLES: &'static [&'static str] = &["512 B", "64 KiB"];
}

impl Written for Amount {
    const NAME: &'static str = "Amount";
    const DESCRIPTION: &'static str = "an amount of queue above zero: packets, a size (B, kB, MB, KiB, MiB), or the time that the link takes to send it (us, ms, s)";
    const PATTERN: &'static str = r"^\s*\+?([0-9]+(\.0*)?\s*(packets?|pkts?)|([0-9]+\.?[0-9]*|\.[0-9]+)\s*([kMG]?B|[KMG]iB|ns|us|µs|ms|s|min|h))\s*$";
    const EXAMPLES: &'static [&'static str] = &["780 packets", "64 KiB", "100 ms"];
}

impl<T> From<T> for Quantity<T> {
    fn from(quantity: T) -> Self {
        Quantity(quantity)
    }
}

impl<T: Display> Display for Quantity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Written> Serialize for Quantity<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: Written> Deserialize<'de> for Quantity<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<T: Written> Visitor<'_> for Reader<T> {
    type Value = Quantity<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string such as \"{}\": {}", T::EXAMPLES[0], T::DESCRIPTION)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Quantity<T>, E> {
        text.parse().map(Quantity).map_err(E::custom)
    }
}

impl<T: Written> JsonSchema for Quantity<T> {
    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": T::DESCRIPTION,
            "pattern": T::PATTERN,
            "examples": T::EXAMPLES,
        })
    }
}

/// What becomes of a congestion signal for an ECN-capable packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
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

/// What the queue is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Packets: each counts as one.
    #[default]
    Packets,
    /// Bytes: long packets weigh more, in the average and in the probability.
    Bytes,
}

/// Weights of classes: `{ 1 = 2.0, 2 = 0.5 }` gives class 1 twice and class 2 half of what others get. A flow has the weight of
/// its class, and a class that is not listed has 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Weights(pub BTreeMap<ClassNumber, f64>);

/// The number of a class, as the key of a table: digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassNumber(pub u32);

/// Classes have numbers up to this, so that what belongs to a class is found by its number.
pub const MOST_CLASSES: u32 = 1 << 20;

impl Weights {
    /// The weights by class number.
    pub(crate) fn check(&self, parameter: Parameter) -> Result<WeightOf, BadParameter> {
        for (class, weight) in &self.0 {
            if class.0 >= MOST_CLASSES {
                return Err(parameter.refuse(class, format_args!("classes from 0 to {}", MOST_CLASSES - 1)));
            }
            if Weight::new(*weight).is_none() {
                let given = format_args!("{weight} for class {class}");
                let allowed = format_args!("weights from {} to {}", Weight::LEAST, Weight::MOST);
                return Err(parameter.refuse(given, allowed));
            }
        }
        let classes = self.0.last_key_value().map_or(0, |(class, _)| class.0 as usize + 1);
        let mut by_class = vec![1.0; classes];
        self.0.iter().for_each(|(class, weight)| by_class[class.0 as usize] = *weight);
        Ok(WeightOf { by_class: by_class.into() })
    }
}

/// Checked [`Weights`], found and changed in O(1). A clone has its own: whoever has one is told of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightOf {
    by_class: Box<[f64]>,
}

impl WeightOf {
    /// 1 for everybody.
    pub fn equal() -> Self {
        WeightOf { by_class: Box::new([]) }
    }

    /// The weight of `class`.
    #[inline]
    pub fn class(&self, class: u32) -> f64 {
        self.by_class.get(class as usize).copied().unwrap_or(1.0)
    }

    /// The different weights that a class can have, in ascending order.
    pub(crate) fn distinct(&self) -> Box<[f64]> {
        let mut weights: Vec<f64> = self.by_class.iter().copied().chain([1.0]).collect();
        weights.sort_by(f64::total_cmp);
        weights.dedup();
        weights.into()
    }

    /// Has no class a weight of its own? Then all have the weight 1 for good, and weights need not be looked at.
    pub fn is_equal(&self) -> bool {
        self.by_class.is_empty()
    }

    /// Classes below this have weights of their own.
    pub(crate) fn len(&self) -> usize {
        self.by_class.len()
    }

    /// Has `class` a weight of its own, which can be changed?
    pub(crate) fn find(&self, class: u32) -> Result<Weight, NotReweighed> {
        match self.by_class.get(class as usize) {
            Some(&weight) => Ok(Weight::new(weight).expect("checked when it was typed")),
            None if self.is_equal() => Err(NotReweighed::NoWeights),
            None => Err(NotReweighed::NoSuchClass { class }),
        }
    }

    /// Gives `class` another weight, and tells the one that it had.
    pub(crate) fn set(&mut self, class: u32, weight: Weight) -> Result<Weight, NotReweighed> {
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

impl Serialize for ClassNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ClassNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let number = text.parse().map_err(|_| {
            de::Error::custom(format_args!("`{text}` is not the number of a class; allowed: digits"))
        })?;
        Ok(ClassNumber(number))
    }
}

impl JsonSchema for ClassNumber {
    fn schema_name() -> Cow<'static, str> {
        "ClassNumber".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[0-9]+$" })
    }
}
