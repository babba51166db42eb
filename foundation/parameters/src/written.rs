//! The text form of quantities.

use crate::quantity::Quantity;
use alloc::borrow::Cow;
use core::fmt::{self, Display};
use core::marker::PhantomData;
use core::str::FromStr;
use fairwire_core::units::{Amount, Level, Room, Size};
use fairwire_core::{Duration, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A quantity of `fairwire_core` that is written with a unit.
pub trait Written: FromStr<Err: Display> + Display {
    /// The name in schemas.
    const NAME: &'static str;
    /// A description with the allowed units.
    const DESCRIPTION: &'static str;
    /// A regular expression (ECMA 262) that matches every valid spelling.
    const PATTERN: &'static str;
    /// Valid spellings.
    const EXAMPLES: &'static [&'static str];
}

impl Written for Rate {
    const NAME: &'static str = "Rate";
    const DESCRIPTION: &'static str = "a rate above zero with its unit: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s (or bps, kbps, Mbps, Gbps), B/s, kB/s, MB/s, GB/s";
    const PATTERN: &'static str =
        r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*([kMGT]?bit/s|[kMG]?bps|[kMG]?B/s)\s*$";
    const EXAMPLES: &'static [&'static str] = &["10 Mbit/s", "56 kbit/s"];
}

impl Written for Duration {
    const NAME: &'static str = "Duration";
    const DESCRIPTION: &'static str = "a time with its unit: ns, us, ms, s, min, h";
    const PATTERN: &'static str =
        r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*(ns|us|µs|ms|s|min|h)\s*$";
    const EXAMPLES: &'static [&'static str] = &["5 ms", "100 s"];
}

impl Written for Size {
    const NAME: &'static str = "Size";
    const DESCRIPTION: &'static str =
        "a size with its unit: B, kB, MB, GB (powers of 1000), KiB, MiB, GiB (powers of 1024)";
    const PATTERN: &'static str =
        r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*([kMG]?B|[KMG]iB)\s*$";
    const EXAMPLES: &'static [&'static str] = &["512 B", "64 KiB"];
}

impl Written for Amount {
    const NAME: &'static str = "Amount";
    const DESCRIPTION: &'static str = "an amount of queue above zero: packets, a size (B, kB, MB, KiB, MiB), or the time that the link takes to send it (us, ms, s)";
    const PATTERN: &'static str = r"^\s*\+?(([0-9]+(\.0*)?|[0-9.]+[eE]\+?[0-9]+)\s*(packets?|pkts?)|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*([kMG]?B|[KMG]iB|ns|us|µs|ms|s|min|h))\s*$";
    const EXAMPLES: &'static [&'static str] = &["780 packets", "64 KiB", "100 ms"];
}

impl Written for Level {
    const NAME: &'static str = "Level";
    const DESCRIPTION: &'static str = "a level of the queue above zero: packets, also a part of one, a size (B, kB, MB, KiB, MiB), or the time that the link takes to send it (us, ms, s)";
    const PATTERN: &'static str = r"^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*(packets?|pkts?|[kMG]?B|[KMG]iB|ns|us|µs|ms|s|min|h)\s*$";
    const EXAMPLES: &'static [&'static str] = &["77.5 packets", "64 KiB", "100 ms"];
}

impl Written for Room {
    const NAME: &'static str = "Room";
    const DESCRIPTION: &'static str = "how much may wait, above zero: packets, a size (B, kB, MB, KiB, MiB), the time that the link takes to send it (us, ms, s), or a multiple of the bandwidth-delay product (bdp)";
    const PATTERN: &'static str = r"^\s*\+?(([0-9]+(\.0*)?|[0-9.]+[eE]\+?[0-9]+)\s*(packets?|pkts?)|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*([kMG]?B|[KMG]iB|ns|us|µs|ms|s|min|h|bdp))\s*$";
    const EXAMPLES: &'static [&'static str] = &["780 packets", "64 KiB", "100 ms", "1.5 bdp"];
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
