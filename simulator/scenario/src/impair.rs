//! The faults of the wire behind a link, as entered and as checked.

use crate::fault::{Fault, refused};
use crate::law::LawSpec;
use fairwire_core::{Duration, GilbertElliott, Jitter, Loss, Rng, WireLaw};
use fairwire_laws::jitter::Normal;
use fairwire_parameters::{Quantity, parameters};
use fairwire_sim::app::Sampler;
use std::sync::Arc;

pub(crate) const SUMMARY: &str =
    "The wire behind a link loses packets, delays them, brings them in another order or twice.";
pub(crate) const EXAMPLE: &str =
    "loss = 0.001, loss_when_bad = 0.5, to_bad = 0.01, to_good = 0.2, jitter = { uniform = \"4 ms\" }";

/// The faults of the wire behind a link, to packets that the link has sent.
///
/// The link has already spent time on such a packet. No discipline learns of the fault.
#[parameters(name = "impair", checked = Checked)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpairSpec {
    /// The probability that a packet is lost; with `to_bad`, only while the wire is good.
    #[parameter(default = 0.0, min = 0.0, max = 1.0, unit = "1")]
    pub loss: Option<f64>,
    /// The probability, per packet, that a good wire becomes bad.
    ///
    /// With this key, losses come in bursts. The wire begins good. Each packet is lost with
    /// probability `loss`, or `loss_when_bad` on a bad wire. Then the wire may change. On average,
    /// it is bad for 1/`to_good` packets at a time, and for `to_bad`/(`to_bad` + `to_good`) of all
    /// packets.
    #[parameter(
        unset = "it stays good",
        above = 0.0,
        max = 1.0,
        unit = "1",
        source = "E. N. Gilbert, \"Capacity of a burst-noise channel\", BSTJ 39(5), 1960; E. O. Elliott, BSTJ 42(5), 1963."
    )]
    pub to_bad: Option<f64>,
    /// The probability, per packet, that a bad wire becomes good.
    #[parameter(unset = "none, it must be given beside `to_bad`", above = 0.0, max = 1.0, unit = "1")]
    pub to_good: Option<f64>,
    /// The probability that a packet is lost while the wire is bad.
    #[parameter(unset = "1 beside `to_bad`", min = 0.0, max = 1.0, unit = "1")]
    pub loss_when_bad: Option<f64>,
    /// The random time added to each packet's delay, independent between packets.
    #[parameter(unset = "nothing", unit = "law of times")]
    pub jitter: Option<LawSpec<Duration>>,
    /// The correlation of a packet's additional time with that of the previous packet, for `normal`
    /// jitter.
    ///
    /// These times form an autoregressive process of first order, with the given mean and
    /// deviation.
    #[parameter(default = 0.0, min = 0.0, max = 1.0, unit = "1")]
    pub jitter_correlation: Option<f64>,
    /// Whether a packet may arrive before a packet that was sent earlier.
    ///
    /// If not, a faster packet arrives together with the earlier packet. Packets then take longer
    /// than `jitter` specifies.
    #[parameter(default = false)]
    pub overtakes: Option<bool>,
    /// The probability that a packet is held back for `reorder_by`, so that packets behind it
    /// overtake it.
    #[parameter(default = 0.0, min = 0.0, max = 1.0, unit = "1")]
    pub reorder: Option<f64>,
    /// The time for which a packet is held back.
    #[parameter(unset = "none, it must be given beside `reorder`", above = "0 s", max = "1 h")]
    pub reorder_by: Option<Quantity<Duration>>,
    /// The probability that a packet arrives twice, at the same instant.
    #[parameter(default = 0.0, min = 0.0, max = 1.0, unit = "1")]
    pub duplicate: Option<f64>,
}

impl ImpairSpec {
    /// Adds these faults to `law`. `link` is the path of the link's table.
    pub(crate) fn law(&self, link: &str, law: WireLaw) -> Result<WireLaw, Fault> {
        let at = |key: &str| format!("{link}.impair.{key}");
        let Checked {
            loss,
            to_bad,
            to_good,
            loss_when_bad,
            jitter_correlation,
            overtakes,
            reorder,
            reorder_by,
            duplicate,
        } = self
            .checked()
            .map_err(|fault| refused(at(fault.name), &fault.given, "that is out of range", &fault.allowed))?;
        let law = WireLaw {
            loss: losses([Some(loss), to_bad, to_good, loss_when_bad], &at)?,
            jitter: self.jitter(jitter_correlation, &at)?,
            overtakes,
            reorder: reordering(reorder, reorder_by, &at)?,
            duplicate,
            ..law
        };
        if overtakes && law.jitter.is_none() && !law.has_delays() {
            let why = "all packets take the same time, so none can overtake another";
            let allowed = "a `jitter` beside it, or a delay that changes";
            return Err(refused(at("overtakes"), "true", why, allowed));
        }
        if law.loss.is_some_and(|loss| loss.mean() >= 1.0) {
            let given = format!("{}", self.loss.unwrap_or_default());
            return Err(refused(at("loss"), given, "the wire would carry nothing", "a number below 1"));
        }
        Ok(law)
    }

    fn jitter(&self, correlation: f64, at: Named<'_>) -> Result<Option<Arc<dyn Jitter>>, Fault> {
        if let Some(normal) = self.jitter.as_ref().and_then(|law| law.normal) {
            if self.jitter != Some(LawSpec { normal: Some(normal), ..LawSpec::default() }) {
                let why = "a normal jitter has no other law beside it, and no bound but 0";
                return Err(refused(at("jitter"), "given", why, "`normal` alone"));
            }
            let why = "every delay would be the same";
            let law = Normal::new(normal.mean.0, normal.deviation.0, correlation);
            let law = law.ok_or_else(|| {
                refused(at("jitter_correlation"), correlation, why, "a number from 0 to below 1")
            })?;
            return Ok(Some(Arc::new(law)));
        }
        if correlation > 0.0 {
            let (why, allowed) =
                ("only `normal` jitter is correlated", "`jitter = { normal = ... }` beside it");
            return Err(refused(at("jitter_correlation"), correlation, why, allowed));
        }
        let Some(spec) = &self.jitter else { return Ok(None) };
        let law = spec
            .law()
            .map_err(|why| refused(at("jitter"), "given", why, "a law such as { uniform = \"4 ms\" }"))?;
        Ok(Some(Arc::new(Drawn(law.sampler()))))
    }
}

/// A function that returns the path of a table's key.
type Named<'a> = &'a dyn Fn(&str) -> String;

fn losses(given: [Option<f64>; 4], at: Named<'_>) -> Result<Option<Loss>, Fault> {
    let [loss, to_bad, to_good, loss_when_bad] = given;
    let loss_when_good = loss.unwrap_or_default();
    let Some(to_bad) = to_bad else {
        let bad = [("to_good", to_good), ("loss_when_bad", loss_when_bad)];
        let Some((key, given)) = bad.into_iter().find_map(|(key, given)| Some((key, given?))) else {
            return Ok((loss_when_good > 0.0).then_some(Loss::Bernoulli(loss_when_good)));
        };
        let why = "the wire never becomes bad";
        return Err(refused(at(key), given, why, "`to_bad` beside it"));
    };
    let Some(to_good) = to_good else {
        let why = "the wire would never leave its bad state";
        return Err(refused(at("to_bad"), to_bad, why, "`to_good` beside it"));
    };
    let loss_when_bad = loss_when_bad.unwrap_or(1.0);
    Ok(Some(Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_when_good, loss_when_bad })))
}

fn reordering(
    reorder: f64,
    reorder_by: Option<Duration>,
    at: Named<'_>,
) -> Result<Option<(f64, Duration)>, Fault> {
    match (reorder > 0.0, reorder_by) {
        (false, None) => Ok(None),
        (true, Some(by)) => Ok(Some((reorder, by))),
        (true, None) => {
            let why = "`reorder_by`, for how long packets are held back, is not given";
            Err(refused(at("reorder"), reorder, why, "`reorder_by` beside it"))
        }
        (false, Some(by)) => {
            let why = "no packet is held back";
            Err(refused(at("reorder_by"), by, why, "`reorder` beside it, above 0"))
        }
    }
}

#[derive(Debug)]
struct Drawn(Sampler);

impl Jitter for Drawn {
    fn draw(&self, rng: &mut Rng) -> Duration {
        self.0.duration(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(text: &str) -> Result<WireLaw, String> {
        let spec: ImpairSpec = toml::from_str(text).map_err(|error| error.to_string())?;
        spec.law("link", WireLaw::default()).map_err(|fault| format!("{}: {:?}", fault.path, fault.problem))
    }

    #[test]
    fn an_empty_table_is_a_plain_wire() {
        assert!(law("").unwrap().is_plain() && law("loss = 0.0").unwrap().is_plain());
    }

    #[test]
    fn given_impairments_become_the_law_of_the_wire() {
        let bursts = law("loss = 0.1\nto_bad = 0.2\nto_good = 0.3").unwrap();
        let model = GilbertElliott { to_bad: 0.2, to_good: 0.3, loss_when_good: 0.1, loss_when_bad: 1.0 };
        assert_eq!(bursts.loss, Some(model.into()));
        let all = law(
            "loss = 0.1\njitter = { uniform = \"4 ms\" }\novertakes = true\nreorder = 0.2\nreorder_by = \"9 ms\"\nduplicate = 1.0",
        );
        let all = all.unwrap();
        assert_eq!((all.loss, all.reorder), (Some(0.1.into()), Some((0.2, Duration::from_ms(9)))));
        let normal =
            "jitter = { normal = { mean = \"300 ms\", deviation = \"15 ms\" } }\njitter_correlation = 0.25";
        assert_eq!(law(normal).unwrap().jitter.map(|jitter| jitter.correlation()), Some(0.25));
        assert!(all.overtakes && all.jitter.is_some() && all.duplicate == 1.0);
    }

    #[test]
    fn nonsensical_values_are_refused() {
        for (text, place, why) in [
            ("loss = 1.0", "link.impair.loss", "carry nothing"),
            ("loss = 1.0\nto_bad = 0.1\nto_good = 0.1", "link.impair.loss", "carry nothing"),
            ("to_bad = 0.1", "link.impair.to_bad", "never leave its bad state"),
            ("to_good = 0.1", "link.impair.to_good", "never becomes bad"),
            ("loss_when_bad = 0.1", "link.impair.loss_when_bad", "never becomes bad"),
            ("jitter = { uniform = \"0 s\" }", "link.impair.jitter", "not above 0"),
            (
                "jitter = { normal = { mean = \"9 ms\", deviation = \"1 ms\" } }\njitter_correlation = 1.0",
                "link.impair.jitter_correlation",
                "every delay would be the same",
            ),
            (
                "jitter = { uniform = \"4 ms\" }\njitter_correlation = 0.1",
                "link.impair.jitter_correlation",
                "only `normal`",
            ),
            ("jitter_correlation = -0.1", "link.impair.jitter_correlation", "out of range"),
            (
                "jitter = { normal = { mean = \"9 ms\", deviation = \"1 ms\" }, max = \"9 ms\" }",
                "link.impair.jitter",
                "no bound but 0",
            ),
            ("overtakes = true", "link.impair.overtakes", "none can overtake another"),
            ("reorder = 0.1", "link.impair.reorder", "for how long"),
            ("reorder_by = \"1 ms\"", "link.impair.reorder_by", "no packet is held back"),
        ] {
            let error = law(text).unwrap_err();
            assert!(error.starts_with(&format!("{place}: ")) && error.contains(why), "{text}: {error}");
        }
    }
}
