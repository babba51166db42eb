//! Integers with bounds.

use core::fmt;
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, Unexpected, Visitor};

/// Reads a 32-bit integer. Errors state the given bounds, such as `from 1 to 9`. The bounds are
/// checked later.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'a>(pub &'a str);

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_u32(self)
    }
}

impl Visitor<'_> for Whole<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.0.starts_with("at ") { " of" } else { "" };
        write!(f, "a whole number{of} {}", self.0)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u32, E> {
        u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u32, E> {
        u32::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
}
