//! The changes in a CoA-Request: the class, ceilings and bursts of a subscriber.
//!
//! Bandwidths come from WISPr (vendor 14122, attributes 7 and 8, bit/s), or from the text of
//! Mikrotik-Rate-Limit (vendor 14988, attribute 8). That text lists pairs `rx/tx`: rates, burst
//! rates, thresholds and times. Further values are ignored. The access server receives at `rx`, so
//! `rx` is the upload.

use super::{ErrorCause, kind, text};
use fairwire_core::{Duration, Rate};
use fairwire_datapath::class_book::Burst;
use fairwire_document::shortened;
use std::collections::BTreeMap;

const WISPR: u32 = 14122;
const MIKROTIK: u32 = 14988;

pub(super) const CEILINGS: [&str; 2] = ["download_ceiling", "upload_ceiling"];
const BURSTS: [&str; 2] = ["download_burst", "upload_burst"];

/// A subscriber's new values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The class or `suspended`, from Filter-Id. An empty value has no effect.
    pub filter: Option<String>,
    /// Ceilings and bursts, by column of the subscriber file.
    pub values: BTreeMap<&'static str, String>,
}

/// Why a request changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// For the sender.
    pub cause: ErrorCause,
    /// For the log.
    pub why: String,
}

fn invalid(why: String) -> Refused {
    Refused { cause: ErrorCause::InvalidValue, why }
}

fn unsupported(what: String) -> Refused {
    Refused { cause: ErrorCause::UnsupportedAttribute, why: format!("{what} cannot be changed") }
}

pub(super) fn plan<'a>(attributes: impl Iterator<Item = (u8, &'a [u8])>) -> Result<Plan, Refused> {
    let mut plan = Plan::default();
    for (kind, value) in attributes {
        match kind {
            kind::FILTER_ID => plan.filter = Some(text(value)).filter(|filter| !filter.is_empty()),
            kind::VENDOR_SPECIFIC => plan.take_vendors(value)?,
            known if kind::IDENTIFIES.contains(&known) => {}
            other => return Err(unsupported(format!("attribute {other}"))),
        }
    }
    Ok(plan)
}

impl Plan {
    /// Applies a vendor-specific value, which may hold several attributes (RFC 2865, section 5.26).
    fn take_vendors(&mut self, value: &[u8]) -> Result<(), Refused> {
        let cut = || unsupported("a vendor's attribute that is cut".to_owned());
        let (vendor, mut rest) = value.split_first_chunk::<4>().ok_or_else(cut)?;
        let vendor = u32::from_be_bytes(*vendor);
        loop {
            let &[kind, length] = rest.first_chunk().ok_or_else(cut)?;
            let value = rest.get(2..length.into()).ok_or_else(cut)?;
            self.take_vendor(vendor, kind, value)?;
            rest = &rest[length.into()..];
            if rest.is_empty() {
                return Ok(());
            }
        }
    }

    fn take_vendor(&mut self, vendor: u32, kind: u8, value: &[u8]) -> Result<(), Refused> {
        let [download, upload] = CEILINGS;
        let column = match (vendor, kind) {
            (WISPR, 7) => upload,
            (WISPR, 8) => download,
            (MIKROTIK, 8) => return self.take_rate_limit(&text(value)),
            _ => return Err(unsupported(format!("attribute {kind} of vendor {vendor}"))),
        };
        let bps = value.try_into().map(u32::from_be_bytes).unwrap_or(0);
        let rate = Rate::from_bps(bps.into()).ok_or_else(|| {
            invalid(format!("`{column}` of 0 bit/s; allowed: a rate, or Filter-Id `suspended`"))
        })?;
        self.values.insert(column, rate.to_string());
        Ok(())
    }

    /// Applies the text of Mikrotik-Rate-Limit. It is a complete plan, so values that it omits are
    /// cleared.
    fn take_rate_limit(&mut self, given: &str) -> Result<(), Refused> {
        let refused = || {
            let allowed = "such as `10M/40M 20M/80M 8M/32M 10/10`: upload/download, then of bursts";
            invalid(format!("Mikrotik-Rate-Limit is `{}`; allowed: {allowed}", shortened(given)))
        };
        let mut words = given.split_whitespace().map(|word| pair(word).ok_or_else(refused));
        let rates = words.next().ok_or_else(refused)??;
        let bursts = words.next().transpose()?.unwrap_or([0.0; 2]);
        let thresholds = words.next().transpose()?.unwrap_or(rates);
        let times = words.next().transpose()?.unwrap_or([1.0; 2]);
        for (word, columns) in CEILINGS.into_iter().zip(BURSTS).rev().enumerate() {
            let rate = |bps: f64| Rate::from_bps(bps as u64);
            // A burst lasts until the mean rate over `times` reaches the threshold.
            let time = Duration::from_secs_f64(times[word] * thresholds[word] / bursts[word].max(1.0));
            let burst =
                rate(bursts[word]).filter(|burst| Some(*burst) > rate(rates[word]) && !time.is_zero());
            let burst = burst.filter(|_| rates[word] > 0.0).map(|rate| Burst { rate, time });
            let typed =
                [rate(rates[word]).map(|rate| rate.to_string()), burst.map(|burst| burst.to_string())];
            let [ceiling, burst] = typed.map(Option::unwrap_or_default);
            self.values.extend([(columns.0, ceiling), (columns.1, burst)]);
        }
        Ok(())
    }
}

fn pair(word: &str) -> Option<[f64; 2]> {
    let (rx, tx) = word.split_once('/').unwrap_or((word, word));
    Some([number(rx)?, number(tx)?])
}

fn number(text: &str) -> Option<f64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 1e3),
        (at, 'm' | 'M') => (&text[..at], 1e6),
        (at, 'g' | 'G') => (&text[..at], 1e9),
        _ => (text, 1.0),
    };
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| is_plain)? * unit;
    (number <= 1e12).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(plan: Plan) -> Vec<(&'static str, String)> {
        plan.values.into_iter().collect()
    }

    fn vendor(number: u32, kind: u8, value: &[u8]) -> Vec<u8> {
        [&number.to_be_bytes()[..], &[kind, value.len() as u8 + 2], value].concat()
    }

    fn of(attributes: &[(u8, &[u8])]) -> Result<Plan, Refused> {
        plan(attributes.iter().copied())
    }

    #[test]
    fn a_rate_limit_of_mikrotik_is_ceilings_and_bursts_with_the_upload_first() {
        let limit =
            |text: &str| of(&[(kind::VENDOR_SPECIFIC, &vendor(MIKROTIK, 8, text.as_bytes()))]).map(values);
        let whole = limit("10M/40M 20M/80M 8M/32M 10/10 8 1M/2M").unwrap();
        // At 80 Mbit/s, the mean over 10 s reaches the threshold of 32 Mbit/s after 10 s × 32/80 =
        // 4 s.
        let expected = [
            ("download_burst", "80 Mbit/s for 4 s"),
            ("download_ceiling", "40 Mbit/s"),
            ("upload_burst", "20 Mbit/s for 4 s"),
            ("upload_ceiling", "10 Mbit/s"),
        ];
        let owned = |list: [(&'static str, &str); 4]| list.map(|(column, value)| (column, value.to_owned()));
        assert_eq!(whole, owned(expected));
        let plain = [
            ("download_burst", ""),
            ("download_ceiling", "512 kbit/s"),
            ("upload_burst", ""),
            ("upload_ceiling", "512 kbit/s"),
        ];
        assert_eq!(limit("512k").unwrap(), owned(plain));
        let unlimited = limit("0/1.5M").unwrap();
        assert_eq!(unlimited[1].1, "1500 kbit/s");
        assert_eq!(unlimited[3].1, "");
        for bad in ["", "fast", "10M/", "-1M", "10M/40M 20M/x", "1e9", "9999G"] {
            let refused = limit(bad).unwrap_err();
            assert_eq!(refused.cause, ErrorCause::InvalidValue, "{bad}");
            assert!(refused.why.contains("Mikrotik-Rate-Limit is"), "{}", refused.why);
        }
    }

    #[test]
    fn the_attribute_of_another_vendor_is_named() {
        let refused = of(&[(kind::VENDOR_SPECIFIC, &vendor(9, 1, b"ip:x=y"))]).unwrap_err();
        assert_eq!(refused.cause, ErrorCause::UnsupportedAttribute);
        assert_eq!(refused.why, "attribute 1 of vendor 9 cannot be changed");
        for cut in [&b"\0\0"[..], b"\0\0\x37\x2a", b"\0\0\x37\x2a\x07\x09\0", b"\0\0\x37\x2a\x07\x01"] {
            assert_eq!(
                of(&[(kind::VENDOR_SPECIFIC, cut)]).unwrap_err().cause,
                ErrorCause::UnsupportedAttribute
            );
        }
    }

    #[test]
    fn one_attribute_may_hold_several_values_and_an_empty_filter_is_ignored() {
        let both =
            [&WISPR.to_be_bytes()[..], &[7, 6, 0, 0x0f, 0x42, 0x40, 8, 6, 0, 0x1e, 0x84, 0x80]].concat();
        let plan = of(&[(kind::VENDOR_SPECIFIC, &both), (kind::FILTER_ID, b"")]).unwrap();
        assert_eq!(plan.filter, None);
        let expected = [("download_ceiling", "2 Mbit/s"), ("upload_ceiling", "1 Mbit/s")];
        assert_eq!(values(plan), expected.map(|(column, value)| (column, value.to_owned())));
    }
}
