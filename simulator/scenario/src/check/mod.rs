//! Checks that the input makes sense.

mod aggregates;
mod agreements;
mod disciplines;
mod expectations;
mod flows;
mod links;
mod on_times;
mod output;
mod queues;

use crate::bounds::{FASTEST, MAX_DELAY};
use crate::compared::Compared;
use crate::fault::{Fault, refused};
use crate::files::Files;
use crate::measure;
use crate::reach;
use crate::spec::{FORMAT, Spec};
use crate::topology::{self, Topology};
use fairwire_core::{Duration, Rate};
use fairwire_document::{is_printable, shortened};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The longest run: eleven days. A longer one indicates a wrong unit.
const MAX_RUN: Duration = Duration::from_secs(1_000_000);

pub(crate) fn check(spec: &Spec, files: &Files) -> Result<Topology, Fault> {
    let check = Check { spec, own: &spec.disciplines };
    check.head()?;
    check.times()?;
    check.links()?;
    let sends = check.flows(files)?;
    let mut topology = topology::resolve(spec, sends, files)?;
    reach::settle(&spec.flow, &mut topology)?;
    check.rates(&topology)?;
    check.queues(&topology)?;
    check.aggregates(&topology)?;
    check.disciplines(&topology)?;
    check.output()?;
    if spec.expect.is_empty() && spec.agree.is_empty() && spec.lesson.is_none() {
        return Ok(topology); // a network may have a hundred thousand measures
    }
    let measures = measure::names(spec, &topology);
    let mut expects = spec.expect.iter().enumerate();
    expects.try_for_each(|(at, expect)| check.expectation(at, expect, &measures))?;
    let mut agrees = spec.agree.iter().enumerate();
    agrees.try_for_each(|(at, agree)| check.agreement(at, agree, &measures))?;
    spec.lesson.as_ref().map_or(Ok(()), |lesson| check.lesson(lesson, &measures))?;
    Ok(topology)
}

/// Checks the disciplines of `spec`, which replace the file's disciplines, `own`. The caller has
/// checked the rest of `spec`, and resolved its `topology`.
pub(crate) fn chosen(spec: &Spec, own: &[Compared], topology: &Topology) -> Result<(), Fault> {
    Check { spec, own }.compared(topology)
}

struct Check<'a> {
    spec: &'a Spec,
    own: &'a [Compared],
}

type Checked = Result<(), Fault>;

impl Check<'_> {
    fn within<T: PartialOrd + Display>(&self, path: &str, value: T, range: RangeInclusive<T>) -> Checked {
        if range.contains(&value) {
            return Ok(());
        }
        let bound = if value < *range.start() { "below the minimum" } else { "above the maximum" };
        let allowed = format!("{} to {}", range.start(), range.end());
        Err(refused(path, value, format!("that is {bound}"), allowed))
    }

    fn head(&self) -> Checked {
        if self.spec.format != FORMAT {
            let why = format!("this version of fairwire reads only format {FORMAT}");
            return Err(refused("format", self.spec.format, why, FORMAT.to_string()));
        }
        self.name("name", &self.spec.name)?;
        self.text("title", &self.spec.title)
    }

    /// Checks text that people read on terminals and in pictures.
    fn text(&self, path: &str, text: &str) -> Checked {
        let Some(bad) = text.chars().find(|&c| !is_printable(c)) else { return Ok(()) };
        let why = format!("it has the control character {}", bad.escape_unicode());
        let allowed = "one line of text without control characters";
        Err(refused(path, format!("`{}`", shortened(text)), why, allowed))
    }

    fn finite(&self, path: &str, value: Option<f64>) -> Checked {
        let why = match value {
            Some(value) if value.is_nan() => "that is not a number",
            Some(value) if value.is_infinite() => "that is infinite",
            _ => return Ok(()),
        };
        let given = value.unwrap_or_default().to_string();
        Err(refused(path, given, why, "a finite number"))
    }

    /// Checks a name, which goes into paths of `--set`, file names and measures.
    fn name(&self, path: &str, name: &str) -> Checked {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
        if starts_well && name.len() <= 64 && name.chars().all(is_plain) {
            return Ok(());
        }
        let why = match name.chars().find(|&c| !is_plain(c)) {
            Some(bad) => format!("it contains the character {bad:?}"),
            None if starts_well => format!("it has {} characters", name.len()),
            None => "it does not start with a letter".to_owned(),
        };
        let allowed = "a letter, then letters, digits, `-` and `_`, at most 64 characters in all";
        Err(refused(path, format!("`{}`", shortened(name)), why, allowed))
    }

    fn times(&self) -> Checked {
        let (duration, warm_up) = (self.spec.duration.0, self.spec.warm_up.0);
        self.within("duration", duration, Duration::from_ns(1)..=MAX_RUN)?;
        if warm_up >= duration {
            let why = format!("the whole run, `duration`, lasts {duration}, which leaves nothing to measure");
            return Err(refused("warm_up", warm_up, why, format!("less than {duration}")));
        }
        Ok(())
    }
}

fn bps(bits: u64) -> Rate {
    Rate::from_bps(bits).expect("bounds are above zero")
}
