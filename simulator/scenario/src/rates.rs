//! The changes of a link, as checked: by steps, by a pattern, or from a file.

use crate::bounds::{FASTEST, MAX_DELAY};
use crate::fault::{Fault, missing, refused};
use crate::files::Files;
use crate::varying::{ChangeSpec, DownPackets, DownSpec, PartSpec, Varying};
use fairwire_core::{DelayStep, Duration, Outage, Pattern, PatternError, Rate, RateLaw, Step, Time, WireLaw};
use fairwire_laws::spec::Quantity;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) rates: RateLaw,
    /// The changes of the wire: other delays, and outages that lose packets.
    pub(crate) wire: WireLaw,
}

impl Varying<'_> {
    pub(crate) fn law(self, path: &str, first: Rate, files: &Files) -> Result<Changes, Fault> {
        let changes = match self.changes {
            None => Changes::default(),
            Some(changes) => steps(&format!("{path}.changes"), changes, first)?,
        };
        let both = |key: &str, other: &str, what: &str, or: &str| {
            let why = format!("{other} already how the {what} changes");
            Err(refused(format!("{path}.{key}"), "given", why, format!("leave out `{key}`, or {or}")))
        };
        let of_rate = "in `changes` every `rate` and every `down` that holds packets";
        let rates = match (self.pattern, self.trace) {
            (Some(_), Some(_)) => return both("pattern", "`trace` says", "rate", "`trace`"),
            (Some(_), None) if changes.rates != RateLaw::Fixed => {
                return both("pattern", "`changes` say", "rate", of_rate);
            }
            (None, Some(_)) if changes.rates != RateLaw::Fixed => {
                return both("trace", "`changes` say", "rate", of_rate);
            }
            (Some(parts), None) => pattern(&format!("{path}.pattern"), parts)?,
            (None, Some(name)) => self.scaled(path, files.trace(name))?,
            (None, None) => changes.rates,
        };
        if self.scale_to.is_some() && self.trace.is_none() {
            let why = "there is no `trace` to scale";
            return Err(refused(format!("{path}.scale_to"), "given", why, "a `trace` beside it"));
        }
        if self.delays.is_some() && changes.wire.has_delays() {
            return both("delays", "`changes` say", "delay", "every `delay` in `changes`");
        }
        let delay_trace = self.delays.map(|name| files.delays(name));
        Ok(Changes { rates, wire: WireLaw { delay_trace, ..changes.wire } })
    }

    fn scaled(self, path: &str, trace: RateLaw) -> Result<RateLaw, Fault> {
        let Some(Quantity(mean)) = self.scale_to else { return Ok(trace) };
        let why = "a scaled trace has from one to 4 million opportunities";
        let is_below = trace.repeating_mean().is_some_and(|own| mean < own);
        let allowed = if is_below { "a higher mean" } else { "a lower mean, or a shorter trace" };
        trace.scaled(mean).ok_or_else(|| refused(format!("{path}.scale_to"), mean, why, allowed))
    }

    /// Does it change?
    pub(crate) fn is_given(self) -> bool {
        self.changes.is_some() || self.pattern.is_some() || self.trace.is_some()
    }

    /// The rate that disciplines use.
    pub(crate) fn rate(self, typed: Option<Quantity<Rate>>, files: &Files) -> Option<Rate> {
        let of_trace = || files.trace(self.trace?).repeating_mean();
        let of_pattern = || pattern("", self.pattern?).ok()?.repeating_mean();
        let typed = typed.or(self.scale_to.filter(|_| self.trace.is_some())).map(|rate| rate.0);
        typed.or_else(of_trace).or_else(of_pattern)
    }

    pub(crate) fn required_rate(
        self,
        path: &str,
        typed: Option<Quantity<Rate>>,
        files: &Files,
    ) -> Result<Rate, Fault> {
        // Any rate will do for a wrong pattern, which another check refuses.
        let any = || self.pattern.map(|_| Rate::from_bps(1).expect("not zero"));
        self.rate(typed, files).or_else(any).ok_or_else(|| missing(path, "rate", "or `trace` or `pattern`"))
    }

    pub(crate) fn delay(self, typed: Option<Quantity<Duration>>, files: &Files) -> Option<Duration> {
        typed.map(|delay| delay.0).or_else(|| Some(files.delays(self.delays?).mean()))
    }

    pub(crate) fn required_delay(
        self,
        path: &str,
        typed: Option<Quantity<Duration>>,
        files: &Files,
    ) -> Result<Duration, Fault> {
        self.delay(typed, files).ok_or_else(|| missing(path, "delay", "or `delays`"))
    }
}

const PARTS: &str = "such as [{ rate = \"12 Mbit/s\", for = \"1 s\" }, { down = \"200 ms\" }]";

fn pattern(path: &str, parts: &[PartSpec]) -> Result<RateLaw, Fault> {
    if parts.is_empty() {
        let why = "a link with a pattern has rates";
        return Err(refused(path, "empty", why, format!("at least one part with `rate` and `for`, {PARTS}")));
    }
    let parts = parts.iter().enumerate().map(|(at, part)| checked(&format!("{path}.{at}"), part));
    let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
    let wrong = |error: PatternError| match error {
        PatternError::NothingSent => {
            let allowed = format!("at least one part with `rate` and `for`, {PARTS}");
            refused(path, "down all the time", "nothing would ever be sent", allowed)
        }
        other => {
            let why = other.to_string();
            let (why, allowed) = why.split_once("; allowed: ").unwrap_or((why.as_str(), PARTS));
            refused(path, "given", why, allowed)
        }
    };
    Ok(RateLaw::Pattern(Arc::new(Pattern::new(parts).map_err(wrong)?)))
}

fn checked(path: &str, part: &PartSpec) -> Result<(Duration, Option<Rate>), Fault> {
    let (key, length, rate) = match *part {
        PartSpec { rate: Some(rate), length: Some(length), down: None } => ("for", length.0, Some(rate.0)),
        PartSpec { rate: None, length: None, down: Some(down) } => ("down", down.0, None),
        _ => {
            let given = match *part {
                PartSpec { down: Some(_), .. } => "`down` with `rate` or `for`",
                PartSpec { rate: Some(_), .. } => "`rate` without `for`",
                PartSpec { length: Some(_), .. } => "`for` without `rate`",
                _ => "empty",
            };
            let why = "a part has a rate and a time, or a `down` time alone";
            return Err(refused(path, given, why, format!("`rate` and `for`, or `down` alone, {PARTS}")));
        }
    };
    if length.is_zero() {
        let why = "a part of no time has no effect";
        return Err(refused(format!("{path}.{key}"), length, why, "a time above 0"));
    }
    let fastest = Rate::from_bps(FASTEST).expect("not zero");
    match rate.filter(|rate| *rate > fastest) {
        Some(rate) => {
            let allowed = format!("1 bit/s to {fastest}");
            Err(refused(format!("{path}.rate"), rate, "that is above the maximum", allowed))
        }
        None => Ok((length, rate)),
    }
}

const EXAMPLE: &str = "such as { at = \"10 s\", rate = \"5 Mbit/s\" }";

/// Checks and converts the changes at `path`. Each must be later than the start and the previous
/// change.
fn steps(path: &str, changes: &[ChangeSpec], first: Rate) -> Result<Changes, Fault> {
    let (mut rates, mut delays, mut outages) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rate, mut free_from) = (first, Duration::ZERO);
    let mut why = "the table of the link sets the values at the start".to_owned();
    for (number, change) in changes.iter().enumerate() {
        let path = format!("{path}.{number}");
        let at = change.at.0;
        if at <= free_from {
            let allowed = format!("later than {free_from}");
            return Err(refused(format!("{path}.at"), at, why, allowed));
        }
        check(&path, change)?;
        let step = |after, rate| Step { at: Time::ZERO + at + after, rate };
        rate = change.rate.map_or(rate, |rate| rate.0);
        let down = change.down.map_or(Duration::ZERO, DownSpec::time);
        let is_held = match change.down.map(DownSpec::packets) {
            Some(DownPackets::Held) => {
                rates.push(step(Duration::ZERO, None));
                true
            }
            Some(DownPackets::Lost) => {
                outages.push(Outage { from: Time::ZERO + at, until: Time::ZERO + at + down });
                false
            }
            None => false,
        };
        if is_held || change.rate.is_some() {
            rates.push(step(down, Some(rate)));
        }
        delays.extend(change.delay.map(|delay| DelayStep { at: Time::ZERO + at, delay: delay.0 }));
        free_from = at + down;
        why = if down.is_zero() {
            "the previous change is not earlier".to_owned()
        } else {
            format!("the link is down until {free_from}")
        };
    }
    let rates = if rates.is_empty() { RateLaw::Fixed } else { RateLaw::Steps(rates.into()) };
    let wire = WireLaw { delays: delays.into(), outages: outages.into(), ..WireLaw::default() };
    Ok(Changes { rates, wire })
}

fn check(path: &str, change: &ChangeSpec) -> Result<(), Fault> {
    let ChangeSpec { at: _, rate, delay, down } = change;
    if rate.is_none() && delay.is_none() && down.is_none() {
        let allowed = format!("`rate`, `delay` or `down`, {EXAMPLE}");
        return Err(refused(path, "a time alone", "nothing changes then", allowed));
    }
    let fastest = Rate::from_bps(FASTEST).expect("not zero");
    let above = "that is above the maximum";
    if let Some(rate) = rate.filter(|rate| rate.0 > fastest) {
        let allowed = format!("1 bit/s to {fastest}");
        return Err(refused(format!("{path}.rate"), rate, above, allowed));
    }
    let down = down.map(|down| (down.path(&format!("{path}.down")), down.time()));
    let delay = delay.map(|delay| (format!("{path}.delay"), delay.0));
    if let Some((place, given)) = delay.into_iter().chain(down.clone()).find(|(_, given)| *given > MAX_DELAY)
    {
        let allowed = format!("0 ns to {MAX_DELAY}");
        return Err(refused(place, given, above, allowed));
    }
    if let Some((place, _)) = down.filter(|(_, down)| down.is_zero()) {
        return Err(refused(place, "0 ns", "an outage of no time has no effect", "a time above 0"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(text: &str) -> Result<Changes, String> {
        #[derive(serde::Deserialize)]
        struct Holder {
            changes: Vec<ChangeSpec>,
        }
        let holder: Holder =
            toml::from_str(&format!("changes = [{text}]")).map_err(|error| error.to_string())?;
        let first = Rate::from_bps(1_000_000).expect("not zero");
        steps("link.changes", &holder.changes, first)
            .map_err(|fault| format!("{}: {:?}", fault.path, fault.problem))
    }

    #[test]
    fn a_handover_is_an_outage_followed_by_a_new_link() {
        let text = "{ at = \"1 s\", down = \"200 ms\" }, { at = \"2 s\", down = \"100 ms\", rate = \"2 Mbit/s\", delay = \"9 ms\" }";
        let Changes { rates, wire } = changes(text).unwrap();
        let RateLaw::Steps(steps) = rates else { panic!("{rates:?}") };
        let seen: Vec<_> =
            steps.iter().map(|step| (step.at.ns() / 1_000_000, step.rate.map(Rate::bps))).collect();
        let mbps = |n: u64| Some(n * 1_000_000);
        assert_eq!(seen, [(1000, None), (1200, mbps(1)), (2000, None), (2100, mbps(2))]);
        assert_eq!(
            wire.delays[..],
            [DelayStep { at: Time::ZERO + Duration::from_secs(2), delay: Duration::from_ms(9) }]
        );
        assert_eq!(changes("{ at = \"1 s\", delay = \"2 ms\" }").unwrap().rates, RateLaw::Fixed);
    }

    #[test]
    fn a_pattern_follows_its_parts_and_nonsense_is_refused() {
        #[derive(serde::Deserialize)]
        struct Holder {
            pattern: Vec<PartSpec>,
        }
        let read = |text: &str| {
            let holder: Holder = toml::from_str(&format!("pattern = [{text}]")).expect("parts");
            let law = pattern("link.pattern", &holder.pattern);
            law.map_err(|fault| format!("{}: {:?}", fault.path, fault.problem))
        };
        let wifi = read("{ rate = '50 Mbit/s', for = '1800 ms' }, { down = '200 ms' }").unwrap();
        assert_eq!(wifi.repeating_mean().map(Rate::bps), Some(45_000_000));
        for (text, place, why) in [
            ("", "link.pattern", "has rates"),
            ("{ rate = '1 Mbit/s' }", "link.pattern.0", "a rate and a time"),
            ("{ rate = '1 Mbit/s', down = '1 s' }", "link.pattern.0", "a rate and a time"),
            ("{ down = '1 s' }", "link.pattern", "nothing would ever be sent"),
            ("{ rate = '1 Mbit/s', for = '0 s' }", "link.pattern.0.for", "no time"),
            ("{ down = '0 s' }", "link.pattern.0.down", "no time"),
            ("{ rate = '2 Tbit/s', for = '1 s' }", "link.pattern.0.rate", "above the maximum"),
            ("{ rate = '1 bit/s', for = '9999 h' }", "link.pattern", "more than a year"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("{place}: ")) && error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_lossy_outage_belongs_to_the_wire_and_keeps_the_rate() {
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        let lost = "down = { for = \"200 ms\", packets = \"lost\" }";
        let Changes { rates, wire } = changes(&format!("{{ at = \"1 s\", {lost} }}")).unwrap();
        assert_eq!(rates, RateLaw::Fixed);
        assert_eq!(wire.outages[..], [Outage { from: ms(1000), until: ms(1200) }]);
        let text = format!("{{ at = \"1 s\", rate = \"2 Mbit/s\", {lost} }}");
        let faster = RateLaw::Steps([Step { at: ms(1200), rate: Rate::from_bps(2_000_000) }].into());
        assert_eq!(changes(&text).unwrap().rates, faster);
        let held = |down| changes(&format!("{{ at = \"1 s\", down = {down} }}")).unwrap();
        for down in ["{ for = \"1 s\" }", "{ for = \"1 s\", packets = \"held\" }"] {
            assert!(held(down).rates == held("\"1 s\"").rates && held(down).wire.is_plain(), "{down}");
        }
    }

    #[test]
    fn nonsensical_changes_are_refused() {
        for (text, place, why) in [
            ("{ at = \"0 s\", down = \"1 s\" }", "link.changes.0.at", "at the start"),
            ("{ at = \"1 s\" }", "link.changes.0", "nothing changes"),
            ("{ at = \"1 s\", down = \"0 s\" }", "link.changes.0.down", "no time"),
            ("{ at = \"1 s\", down = { for = \"0 s\" } }", "link.changes.0.down.for", "no time"),
            (
                "{ at = \"1 s\", down = { for = \"2 h\", packets = \"lost\" } }",
                "link.changes.0.down.for",
                "above the maximum",
            ),
            ("{ at = \"1 s\", rate = \"2 Tbit/s\" }", "link.changes.0.rate", "above the maximum"),
            ("{ at = \"1 s\", delay = \"2 h\" }", "link.changes.0.delay", "above the maximum"),
            (
                "{ at = \"1 s\", down = \"3 s\" }, { at = \"3 s\", delay = \"1 ms\" }",
                "link.changes.1.at",
                "down until 4 s",
            ),
            (
                "{ at = \"2 s\", delay = \"3 s\" }, { at = \"1 s\", delay = \"1 ms\" }",
                "link.changes.1.at",
                "not earlier",
            ),
        ] {
            let error = changes(text).unwrap_err();
            assert!(error.starts_with(&format!("{place}: ")) && error.contains(why), "{text}: {error}");
        }
    }
}
