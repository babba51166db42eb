//! Quantities with their unit.

use core::fmt::{self, Display};
use fairwire_core::units::{Amount, Level};

/// A quantity that is written as a string with its unit, such as `"10 Mbit/s"`.
///
/// ```
/// use fairwire_core::{Duration, units::Amount};
/// use fairwire_parameters::Quantity;
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

impl<T> From<T> for Quantity<T> {
    fn from(quantity: T) -> Self {
        Quantity(quantity)
    }
}

impl From<Amount> for Quantity<Level> {
    fn from(amount: Amount) -> Self {
        Quantity(amount.into())
    }
}

impl<T: Display> Display for Quantity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
