//! Quantities as users write them: `"10 Mbit/s"`, `"5 ms"`, `"64 KiB"`, `"780 packets"`.
//!
//! `k`, `M` and `G` are powers of 1000; `Ki`, `Mi` and `Gi` are powers of 1024. A number may have
//! an exponent of ten: `1e9 bit/s`. Negative numbers and numbers without a unit are refused.

use crate::buffer::Limit;
use crate::rate::Rate;
use crate::spelling;
use crate::time::Duration;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    given: String,
    wanted: &'static str,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    NotANumber,
    Negative,
    NoUnit,
    UnknownUnit { given: String, likely: Vec<String> },
    Zero,
    NotWhole,
    TooLarge,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.given)?;
        match &self.problem {
            Problem::NotANumber => write!(f, "does not start with a number"),
            Problem::Negative => write!(f, "is negative"),
            Problem::NoUnit => write!(f, "has no unit"),
            Problem::UnknownUnit { given, .. } => write!(f, "has the unknown unit `{given}`"),
            Problem::Zero => write!(f, "is zero"),
            Problem::NotWhole => write!(f, "is not a whole number"),
            Problem::TooLarge => write!(f, "is too large"),
        }?;
        write!(f, "; allowed: {}", self.wanted)?;
        let likely = match &self.problem {
            Problem::UnknownUnit { likely, .. } => spelling::question(likely),
            _ => None,
        };
        likely.map_or(Ok(()), |question| write!(f, "; {question}"))
    }
}

impl core::error::Error for UnitError {}

/// A size in bytes, written as `"512 B"`, `"1.5 kB"` or `"64 KiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// An amount of queue: packets, bytes, or the time that a link takes to send the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A number of packets.
    Packets(u32),
    /// A number of bytes.
    Bytes(u64),
    /// The amount that the link sends in this time.
    Time(Duration),
}

/// A queue length, such as a threshold for the mean queue length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// An amount.
    Amount(Amount),
    /// Packets, not necessarily an integer.
    Packets(f64),
}

impl From<Amount> for Level {
    fn from(amount: Amount) -> Self {
        Level::Amount(amount)
    }
}

impl Level {
    /// As [`Amount::in_packets`].
    pub fn in_packets(self, packet_bytes: u32, rate: Rate) -> f64 {
        match self {
            Level::Amount(amount) => amount.in_packets(packet_bytes, rate),
            Level::Packets(packets) => packets,
        }
    }

    /// As [`Amount::in_bytes`].
    pub fn in_bytes(self, packet_bytes: u32, rate: Rate) -> f64 {
        match self {
            Level::Amount(amount) => amount.in_bytes(packet_bytes, rate),
            Level::Packets(packets) => packets * f64::from(packet_bytes),
        }
    }
}

/// The size of a buffer: an amount, or a multiple of the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Room {
    /// An amount.
    Amount(Amount),
    /// A multiple of the amount that the link sends in a round trip.
    Bdp(f64),
}

impl Room {
    /// The amount, given the `round_trip`. `None` if a multiple of the bandwidth-delay product is
    /// zero.
    pub fn amount(self, round_trip: Duration) -> Option<Amount> {
        match self {
            Room::Amount(amount) => Some(amount),
            Room::Bdp(factor) => {
                let time = Duration::from_secs_f64(round_trip.secs() * factor);
                (!time.is_zero()).then_some(Amount::Time(time))
            }
        }
    }
}

impl Amount {
    /// This amount in packets of `packet_bytes` on a link of `rate`, not rounded.
    pub fn in_packets(self, packet_bytes: u32, rate: Rate) -> f64 {
        match self {
            Amount::Packets(packets) => f64::from(packets),
            Amount::Bytes(bytes) => bytes as f64 / f64::from(packet_bytes),
            Amount::Time(time) => time.secs() * rate.packets_per_second(packet_bytes),
        }
    }

    /// This amount in bytes on a link of `rate`. A packet counts as `packet_bytes` bytes.
    pub fn in_bytes(self, packet_bytes: u32, rate: Rate) -> f64 {
        match self {
            Amount::Packets(packets) => f64::from(packets) * f64::from(packet_bytes),
            Amount::Bytes(bytes) => bytes as f64,
            Amount::Time(time) => time.secs() * rate.bps() as f64 / 8.0,
        }
    }

    /// A buffer of this amount on a link of `rate`, bounded in packets if the amount is in packets,
    /// otherwise in bytes.
    pub fn limit(self, rate: Rate) -> Limit {
        match self {
            Amount::Packets(packets) => Limit::packets(packets),
            _ => Limit::bytes(self.in_bytes(1, rate) as u64),
        }
    }
}

/// The names of units, each with its size as a multiple of the smallest unit.
type Units = [(&'static str, f64)];

const BDP: &str = "bdp";

const MAX_PACKETS: f64 = (1u32 << 30) as f64;

const PACKETS: &[&str] = &["packet", "packets", "pkt", "pkts"];

const RATES: &Units = &[
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("B/s", 8.0),
    ("kB/s", 8e3),
    ("MB/s", 8e6),
    ("GB/s", 8e9),
];

const TIMES: &Units =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];

const SIZES: &Units = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

const RATE_WANTED: &str = "a rate above zero such as \"10 Mbit/s\" (bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, also as bps; B/s, kB/s, MB/s, GB/s)";
const TIME_WANTED: &str = "a time such as \"5 ms\" (ns, us, ms, s, min, h)";
const SIZE_WANTED: &str = "a size such as \"512 B\" or \"64 KiB\" (B, kB, MB, GB, KiB, MiB, GiB)";
const AMOUNT_WANTED: &str = "an amount of queue above zero such as \"780 packets\", \"64 KiB\" or \"100 ms\" (packets, bytes, or time at the link's rate)";

const LEVEL_WANTED: &str = "a level of the queue above zero such as \"77.5 packets\", \"64 KiB\" or \"100 ms\" (packets, bytes, or time at the link's rate)";

const ROOM_WANTED: &str = "an amount of queue above zero such as \"780 packets\", \"64 KiB\" or \"100 ms\" (packets, bytes, or time at the link's rate), or a multiple of the bandwidth-delay product such as \"1.5 bdp\"";

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bits = scaled(text, RATES, RATE_WANTED)?;
        Rate::from_bps(bits).ok_or_else(|| refuse(text, RATE_WANTED, Problem::Zero))
    }
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(text, TIMES, TIME_WANTED).map(Duration::from_ns)
    }
}

impl FromStr for Size {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        scaled(text, SIZES, SIZE_WANTED).map(Size)
    }
}

impl FromStr for Amount {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        amount(text, &[], AMOUNT_WANTED)
    }
}

impl FromStr for Level {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        match split(text, LEVEL_WANTED)? {
            (number, unit) if PACKETS.contains(&unit) && number % 1.0 != 0.0 && number <= MAX_PACKETS => {
                Ok(Level::Packets(number))
            }
            _ => amount(text, &[], LEVEL_WANTED).map(Level::Amount),
        }
    }
}

impl FromStr for Room {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text, ROOM_WANTED)?;
        if unit != BDP {
            return amount(text, &[(BDP, 0.0)], ROOM_WANTED).map(Room::Amount);
        }
        if number > 0.0 { Ok(Room::Bdp(number)) } else { Err(refuse(text, ROOM_WANTED, Problem::Zero)) }
    }
}

/// Parses an amount. The error for an unknown unit may also suggest a unit in `other`.
fn amount(text: &str, other: &Units, wanted: &'static str) -> Result<Amount, UnitError> {
    let (number, unit) = split(text, wanted)?;
    let zero = |is_zero| if is_zero { Err(refuse(text, wanted, Problem::Zero)) } else { Ok(()) };
    if PACKETS.contains(&unit) {
        if number > MAX_PACKETS {
            return Err(refuse(text, wanted, Problem::TooLarge));
        }
        if number % 1.0 != 0.0 {
            return Err(refuse(text, wanted, Problem::NotWhole));
        }
        zero(number == 0.0)?;
        return Ok(Amount::Packets(number as u32));
    }
    let amount = if TIMES.iter().any(|(name, _)| *name == unit) {
        Amount::Time(Duration::from_ns(scaled(text, TIMES, wanted)?))
    } else if SIZES.iter().any(|(name, _)| *name == unit) {
        Amount::Bytes(scaled(text, SIZES, wanted)?)
    } else {
        let packets = PACKETS.iter().map(|name| (*name, 1.0));
        let units =
            packets.chain(SIZES.iter().copied()).chain(TIMES.iter().copied()).chain(other.iter().copied());
        return Err(refuse(text, wanted, unknown(text, unit, units)));
    };
    zero(matches!(amount, Amount::Bytes(0) | Amount::Time(Duration::ZERO)))?;
    Ok(amount)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (size, unit) in [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")] {
            if self.0 >= size && self.0.is_multiple_of(size) {
                return write!(f, "{} {unit}", self.0 / size);
            }
        }
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Packets(1) => write!(f, "1 packet"),
            Amount::Packets(packets) => write!(f, "{packets} packets"),
            Amount::Bytes(bytes) => Size(*bytes).fmt(f),
            Amount::Time(time) => time.fmt(f),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Level::Amount(amount) => amount.fmt(f),
            Level::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Room::Amount(amount) => amount.fmt(f),
            Room::Bdp(factor) => write!(f, "{factor} {BDP}"),
        }
    }
}

fn scaled(text: &str, units: &Units, wanted: &'static str) -> Result<u64, UnitError> {
    let (number, unit) = split(text, wanted)?;
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(refuse(text, wanted, unknown(text, unit, units.iter().copied())));
    };
    let value = rounded(number * scale);
    if value >= 9e18 {
        return Err(refuse(text, wanted, Problem::TooLarge));
    }
    Ok(value as u64)
}

fn rounded(number: f64) -> f64 {
    let rest = number % 1.0;
    number - rest + if rest >= 0.5 { 1.0 } else { 0.0 }
}

fn split<'a>(text: &'a str, wanted: &'static str) -> Result<(f64, &'a str), UnitError> {
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(end_of_number(trimmed));
    let number: f64 = number.parse().map_err(|_| refuse(text, wanted, Problem::NotANumber))?;
    if number.is_sign_negative() {
        return Err(refuse(text, wanted, Problem::Negative));
    }
    if number.is_infinite() {
        return Err(refuse(text, wanted, Problem::TooLarge));
    }
    match unit.trim() {
        "" => Err(refuse(text, wanted, Problem::NoUnit)),
        unit => Ok((number, unit)),
    }
}

fn end_of_number(text: &str) -> usize {
    let is_sign = |c: char| matches!(c, '-' | '+');
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || is_sign(c))).unwrap_or(text.len());
    let Some(exponent) = text[end..].strip_prefix(['e', 'E']) else { return end };
    let digits = exponent.strip_prefix(is_sign).unwrap_or(exponent);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == digits.len() { end } else { text.len() - rest.len() }
}

/// The intended unit if bits are written as `b`: `Mbit/s` for `Mb/s`.
fn in_bits(given: &str) -> Option<&'static str> {
    let prefix =
        ["b/s", "b/sec", "bits/s", "bit/sec", "bits/sec"].iter().find_map(|end| given.strip_suffix(end))?;
    let meant = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
    let is_it = |unit: &&str| unit.strip_suffix("bit/s").is_some_and(|own| own.eq_ignore_ascii_case(prefix));
    meant.into_iter().find(is_it)
}

fn unknown(text: &str, given: &str, units: impl Iterator<Item = (&'static str, f64)> + Clone) -> Problem {
    let number = text.trim().strip_suffix(given).map_or("", str::trim);
    if let Some(unit) = in_bits(given).filter(|bits| units.clone().any(|(name, _)| name == *bits)) {
        let likely = Vec::from([format!("{} {unit}", shortened(number))]);
        return Problem::UnknownUnit { given: shortened(given), likely };
    }
    // A comma is a decimal comma unless three digits follow. Then it may separate thousands.
    if let Some(decimals) = given.strip_prefix(',') {
        let unit = decimals.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_meant = decimals.len() != unit.len() + 3 && units.clone().any(|(name, _)| name == unit.trim());
        let meant = shortened(&text.trim().replacen(',', ".", 1));
        return Problem::UnknownUnit {
            given: shortened(given),
            likely: is_meant.then_some(meant).into_iter().collect(),
        };
    }
    let (mut scales, mut likely): (Vec<f64>, Vec<String>) = Default::default();
    // If `given` is a size in place of a rate, bits are most likely meant: `Mbit/s` for `MB`.
    let bits = given.strip_suffix('B').map(|prefix| format!("{prefix}bit/s"));
    if let Some((unit, scale)) = units.clone().find(|(name, _)| Some(*name) == bits.as_deref()) {
        scales.push(scale);
        likely.push(format!("{} {unit}", shortened(number)));
    }
    for unit in spelling::likely(given, units.clone().map(|(name, _)| name)) {
        let scale = units.clone().find(|(name, _)| *name == unit).map_or(0.0, |(_, scale)| scale);
        // `Mbps` is a synonym of `Mbit/s`: one suggestion is enough.
        if !scales.contains(&scale) {
            scales.push(scale);
            likely.push(format!("{} {unit}", shortened(number)));
        }
    }
    Problem::UnknownUnit { given: shortened(given), likely }
}

fn refuse(given: &str, wanted: &'static str, problem: Problem) -> UnitError {
    UnitError { given: shortened(given), wanted, problem }
}

fn shortened(text: &str) -> String {
    if text.chars().count() > 60 { text.chars().take(60).chain(['…']).collect() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_as_written() {
        assert_eq!("10 Mbit/s".parse::<Rate>().unwrap().bps(), 10_000_000);
        assert_eq!("2.5Gbit/s".parse::<Rate>().unwrap().bps(), 2_500_000_000);
        assert_eq!("1 MB/s".parse::<Rate>().unwrap().bps(), 8_000_000);
        assert_eq!("5 ms".parse::<Duration>().unwrap(), Duration::from_ms(5));
        assert_eq!("0 s".parse::<Duration>().unwrap(), Duration::ZERO);
        assert_eq!("1.5 kB".parse::<Size>().unwrap(), Size(1500));
        assert_eq!("64 KiB".parse::<Size>().unwrap(), Size(65_536));
        assert_eq!("780 packets".parse::<Amount>().unwrap(), Amount::Packets(780));
        assert_eq!("100 ms".parse::<Amount>().unwrap(), Amount::Time(Duration::from_ms(100)));
        assert_eq!("64 KiB".parse::<Amount>().unwrap(), Amount::Bytes(65_536));
    }

    #[test]
    fn printed_quantities_read_back() {
        for text in ["10 Mbit/s", "1500 bit/s"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        for text in ["780 packets", "1 packet", "64 KiB", "1500 B", "100 ms"] {
            assert_eq!(text.parse::<Amount>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_bandwidth_delay_product_is_the_rate_times_a_round_trip() {
        let room: Room = "1.5 bdp".parse().unwrap();
        assert_eq!(room.amount(Duration::from_ms(40)), Some(Amount::Time(Duration::from_ms(60))));
        assert_eq!((room.amount(Duration::ZERO), room.to_string()), (None, "1.5 bdp".into()));
        let ten = Amount::Packets(10);
        assert_eq!("10 packets".parse::<Room>().unwrap().amount(Duration::ZERO), Some(ten));
        assert_eq!("0.5bdp".parse(), Ok(Room::Bdp(0.5)));
        for text in ["bdp", "0 bdp", "-1 bdp", "NaN bdp", "inf bdp", "x bdp", "5"] {
            assert!(text.parse::<Room>().unwrap_err().to_string().contains("1.5 bdp"), "{text}");
        }
        let room = |text: &str| text.parse::<Room>().unwrap_err().to_string();
        assert!(room("50 packts").contains("did you mean `50 packets`?"), "{}", room("50 packts"));
        assert!(room("2 bpd").contains("did you mean `2 bdp`"), "{}", room("2 bpd"));
    }

    #[test]
    fn a_bad_quantity_is_refused_with_the_reason_and_allowed_values() {
        let message = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert!(message("-5 Mbit/s").contains("is negative"));
        assert!("-0 ms".parse::<Duration>().unwrap_err().to_string().contains("is negative"));
        assert!(message("10").contains("has no unit"));
        assert!(message("10 Mbut/s").contains("unknown unit `Mbut/s`"));
        assert!(message("fast").contains("does not start with a number"));
        assert!(message("0 bit/s").contains("is zero"));
        assert!(message("99999999999 Tbit/s").contains("is too large"));
        assert!(message("10").contains("allowed: a rate above zero such as \"10 Mbit/s\""));
        let amount = |text: &str| text.parse::<Amount>().unwrap_err().to_string();
        assert!(amount("0 packets").contains("is zero"));
        assert!(amount("1.5 packets").contains("is not a whole number"));
        let level = |text: &str| text.parse::<Level>().map_err(|error| error.to_string());
        let rate = Rate::from_bps(1).expect("not zero");
        let half = level("77.5 packets").expect("a level");
        assert_eq!((half.in_packets(1000, rate), half.in_bytes(1000, rate)), (77.5, 77_500.0));
        assert_eq!(half.to_string(), "77.5 packets");
        for whole in ["780 packets", "100 ms", "64 KiB"] {
            assert_eq!(level(whole), Ok(Level::Amount(whole.parse().expect("an amount"))));
        }
        assert!(level("0.0 packets").unwrap_err().contains("is zero"));
        assert!(level("1073741824.5 packets").unwrap_err().contains("is too large"));
        assert!(level("-0.5 packets").is_err() && level("7.5").is_err());
        assert!(amount("9999999999 packets").contains("is too large"));
    }

    #[test]
    fn numbers_may_have_an_exponent() {
        assert_eq!("1e9 bit/s".parse::<Rate>().unwrap().bps(), 1_000_000_000);
        assert_eq!("1.5E+3kbit/s".parse::<Rate>().unwrap().bps(), 1_500_000);
        assert_eq!("1e-3 s".parse::<Duration>().unwrap(), Duration::from_ms(1));
        assert_eq!("5e2 packets".parse::<Amount>().unwrap(), Amount::Packets(500));
        assert_eq!("2e3 B".parse::<Size>().unwrap(), Size(2000));
        let rate = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert!(rate("1e9").contains("has no unit") && rate("1e400 bit/s").contains("is too large"));
        assert!(
            rate("1e bit/s").contains("unknown unit `e bit/s`") && rate("-1e3 bit/s").contains("negative")
        );
        assert!("1e999 bdp".parse::<Room>().unwrap_err().to_string().contains("is too large"));
    }

    #[test]
    fn bits_and_bytes_are_kept_apart() {
        for (given, meant) in [
            ("10 Mb/s", "10 Mbit/s"),
            ("10 mb/s", "10 Mbit/s"),
            ("8 kb/s", "8 kbit/s"),
            ("8 Kb/s", "8 kbit/s"),
            ("1 Gb/s", "1 Gbit/s"),
            ("1 Tb/s", "1 Tbit/s"),
            ("9 b/s", "9 bit/s"),
            ("10 Mbits/sec", "10 Mbit/s"),
        ] {
            let said = given.parse::<Rate>().unwrap_err().to_string();
            assert!(said.ends_with(&format!("did you mean `{meant}`?")), "{said}");
        }
        let size = "10 MB".parse::<Rate>().unwrap_err().to_string();
        assert!(size.ends_with("did you mean `10 Mbit/s` or `10 MB/s`?"), "{size}");
        assert!("10 MB/sec".parse::<Rate>().unwrap_err().to_string().ends_with("did you mean `10 MB/s`?"));
    }

    #[test]
    fn an_unknown_unit_is_refused_with_the_nearest_of_this_quantity() {
        let rate = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert!(rate("10 Mbt/s").ends_with("; did you mean `10 Mbit/s`?"));
        assert!(rate("10 mbit/s").ends_with("did you mean `10 Mbit/s`?"));
        assert!(rate("10 KBIT/S").ends_with("did you mean `10 kbit/s`?"));
        assert!(rate("50 Mb").ends_with("did you mean `50 Mbit/s`?"), "{}", rate("50 Mb"));
        assert!(rate("1.5G").ends_with("did you mean `1.5 Gbit/s` or `1.5 GB/s`?"));
        assert!("5 m".parse::<Duration>().unwrap_err().to_string().ends_with("`5 ms` or `5 min`?"));
        assert!(!rate("10 parsecs").contains("did you mean"));
        assert!(!rate("10 s").contains("did you mean"));
        let amount = |text: &str| text.parse::<Amount>().unwrap_err().to_string();
        assert!(amount("10 pakets").ends_with("did you mean `10 packets`?"));
        assert!(amount("10 kib").ends_with("did you mean `10 KiB`?"));
        assert!("5 MS".parse::<Duration>().unwrap_err().to_string().ends_with("did you mean `5 ms`?"));
        assert!(rate(&format!("1 {}", "x".repeat(1_000_000))).len() < 500);
    }
}
