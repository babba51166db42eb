//! Quantities as text or as values.

use fairwire_core::units::UnitError;
use fairwire_core::{Duration, Rate};

/// A rate or a time: text for `fairwire_core::units` such as `"50 Mbit/s"` or `"20 ms"`, a
/// [`Rate`], a [`std::time::Duration`] or a [`fairwire_core::Duration`].
pub trait Quantity<Q> {
    /// The quantity.
    ///
    /// # Errors
    /// If the text is not such a quantity. The error has the text given and the allowed forms.
    fn read(self) -> Result<Q, UnitError>;
}

impl Quantity<Rate> for Rate {
    fn read(self) -> Result<Rate, UnitError> {
        Ok(self)
    }
}

impl Quantity<Duration> for Duration {
    fn read(self) -> Result<Duration, UnitError> {
        Ok(self)
    }
}

impl Quantity<Duration> for std::time::Duration {
    fn read(self) -> Result<Duration, UnitError> {
        Ok(self.into())
    }
}

impl<Q: std::str::FromStr<Err = UnitError>> Quantity<Q> for &str {
    fn read(self) -> Result<Q, UnitError> {
        self.parse()
    }
}

impl<Q: std::str::FromStr<Err = UnitError>> Quantity<Q> for String {
    fn read(self) -> Result<Q, UnitError> {
        self.parse()
    }
}
