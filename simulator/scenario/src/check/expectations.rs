//! Checks expected results.

use super::{Check, Checked};
use crate::compared::{Compared, resolved};
use crate::fault::{missing, refused, unknown};
use crate::lesson::LessonSpec;
use crate::spec::{ExpectSpec, OtherSpec};
use fairwire_catalogue as catalogue;
use fairwire_document::shortened;

impl Check<'_> {
    pub(super) fn expectation(&self, at: usize, expect: &ExpectSpec, measures: &[String]) -> Checked {
        let path = |key: &str| format!("expect.{at}.{key}");
        expect.discipline.as_ref().map_or(Ok(()), |name| self.known(&path("discipline"), name))?;
        self.measure(&path("measure"), &expect.measure, measures)?;
        self.text(&path("because"), &expect.because)?;
        for (key, bound) in [("min", expect.min), ("max", expect.max)] {
            self.finite(&path(key), bound)?;
        }
        for (key, other) in [("less_than", &expect.less_than), ("more_than", &expect.more_than)] {
            other.as_ref().map_or(Ok(()), |other| self.other(&path(key), expect, other, measures))?;
        }
        let is_compared = expect.less_than.is_some() || expect.more_than.is_some();
        match (expect.min, expect.max) {
            (None, None) if is_compared => Ok(()),
            (None, None) => {
                Err(missing(format!("expect.{at}"), "min", "or `max`, `less_than` or `more_than`"))
            }
            (Some(min), Some(max)) if min > max => {
                Err(refused(path("min"), min, format!("`max` is {max}"), "`min` at most `max`"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn lesson(&self, lesson: &LessonSpec, measures: &[String]) -> Checked {
        let LessonSpec { question, look, measure, reads, answer, figure } = lesson;
        let texts = [
            ("question", question),
            ("look", look),
            ("reads", reads),
            ("answer", answer),
            ("figure", figure),
        ];
        texts.into_iter().try_for_each(|(key, text)| self.text(&format!("lesson.{key}"), text))?;
        self.measure("lesson.measure", measure, measures)
    }

    fn other(&self, path: &str, expect: &ExpectSpec, other: &OtherSpec, measures: &[String]) -> Checked {
        let key = |key: &str| format!("{path}.{key}");
        self.known(&key("discipline"), &other.discipline)?;
        let measure = other.measure.as_ref().unwrap_or(&expect.measure);
        self.measure(&key("measure"), measure, measures)?;
        self.finite(&key("margin"), other.margin)?;
        if let Some(margin) = other.margin.filter(|margin| *margin < 0.0) {
            return Err(refused(key("margin"), margin, "a margin is not negative", "0 or more"));
        }
        let label = |name| resolved(name, self.own.iter().map(Compared::label)).to_owned();
        if *measure == expect.measure
            && expect.discipline.as_deref().map(label) == Some(label(&other.discipline))
        {
            let given = format!("`{}`", shortened(&other.discipline));
            let why = "a measure is neither less nor more than itself";
            let allowed = "another discipline, or another `measure`";
            return Err(refused(key("discipline"), given, why, allowed));
        }
        Ok(())
    }

    pub(super) fn known(&self, path: &str, name: &str) -> Checked {
        let is_label = self.own.iter().any(|compared| compared.label() == name);
        if is_label || catalogue::find(name).is_ok() {
            return Ok(());
        }
        Err(self.unknown_discipline(path, name))
    }

    fn measure(&self, path: &str, measure: &str, measures: &[String]) -> Checked {
        if measures.iter().any(|known| known == measure) {
            return Ok(());
        }
        Err(unknown(path, "measure", measure, measures.to_vec()))
    }
}
