//! The positions of a configuration's elements, in the TOML file or in the subscriber file.

use fairwire_document::{DocumentError, Locations, Problem, shortened};
use fairwire_subscribers::sheet::{Sheet, SubscriberRow};
use std::fmt::Display;

/// The two files.
pub(super) struct Texts<'a> {
    /// The configuration.
    pub places: &'a Locations,
    /// The subscribers.
    pub sheet: Option<&'a Sheet<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Unclaimed traffic, whose class always exists and has no position.
    Unclaimed,
    /// A position in the list of classes.
    Class(usize),
    /// A row of the subscriber file.
    Row(usize),
}

impl Texts<'_> {
    pub(super) fn refuse(
        &self,
        path: &str,
        given: impl Display,
        why: impl Display,
        allowed: impl Display,
    ) -> DocumentError {
        self.places.refuse(path, refused(path, given, why, allowed))
    }

    /// The error that refuses a class's value under `key`, such as `download.ceiling`.
    pub(super) fn refuse_of(
        &self,
        origin: Origin,
        key: &str,
        given: impl Display,
        why: impl Display,
        allowed: impl Display,
    ) -> DocumentError {
        match (origin, self.sheet) {
            (Origin::Row(row), Some(sheet)) => {
                let column = key.replace('.', "_");
                let problem = refused(&column, given, why, allowed);
                sheet.fault_in(&sheet.rows[row], &column, problem)
            }
            (Origin::Class(at), _) => self.refuse(&format!("class.{at}.{key}"), given, why, allowed),
            _ => self.refuse(key, given, why, allowed),
        }
    }

    pub(super) fn unknown(
        &self,
        origin: Origin,
        key: &str,
        what: &'static str,
        given: &str,
        allowed: Vec<String>,
    ) -> DocumentError {
        let problem = Problem::Unknown { what, given: shortened(given), allowed };
        match (origin, self.sheet) {
            (Origin::Row(row), Some(sheet)) => sheet.fault_in(&sheet.rows[row], key, problem),
            (Origin::Class(at), _) => self.places.refuse(&format!("class.{at}.{key}"), problem),
            _ => self.places.refuse(key, problem),
        }
    }

    /// The position's name in a message, such as `line 7` or `class 2 of the configuration`.
    pub(super) fn called(&self, origin: Origin) -> String {
        match (origin, self.sheet) {
            (Origin::Row(row), Some(sheet)) => format!("line {}", sheet.line(&sheet.rows[row])),
            (Origin::Class(at), _) => format!("class {} of the configuration", at + 1),
            _ => "unclaimed traffic".into(),
        }
    }

    pub(super) fn row(&self, origin: Origin) -> Option<&SubscriberRow> {
        match origin {
            Origin::Row(row) => self.sheet?.rows.get(row),
            _ => None,
        }
    }
}

fn refused(key: &str, given: impl Display, why: impl Display, allowed: impl Display) -> Problem {
    Problem::Refused {
        key: key.into(),
        given: given.to_string(),
        why: why.to_string(),
        allowed: allowed.to_string(),
    }
}
