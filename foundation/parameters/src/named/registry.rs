//! The components of one kind: built-in and registered ones.

use super::entry::Entry;
use super::kind::Kind;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Debug, Display};
use fairwire_core::spelling;
use std::sync::{Mutex, OnceLock, PoisonError};

/// All components of one kind. The first use of the registry fixes the list.
pub struct Registry<K: Kind> {
    built_in: &'static [Entry<K>],
    registered: Mutex<Vec<Entry<K>>>,
    all: OnceLock<Box<[Entry<K>]>>,
    names: OnceLock<Box<[&'static str]>>,
}

impl<K: Kind> Registry<K> {
    /// A registry with the built-in components.
    pub const fn new(built_in: &'static [Entry<K>]) -> Self {
        let registered = Mutex::new(Vec::new());
        Registry { built_in, registered, all: OnceLock::new(), names: OnceLock::new() }
    }

    /// Adds a component of another crate.
    ///
    /// # Errors
    ///
    /// If its name is taken or invalid, or the registry was used already.
    pub fn register(&self, entry: Entry<K>) -> Result<(), NotRegistered> {
        let (kind, name) = (K::NOUN, entry.name);
        let mut registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
        if self.all.get().is_some() {
            return Err(NotRegistered::TooLate { kind, name });
        }
        for name in [name].into_iter().chain(entry.aliases.iter().copied()) {
            if !is_name(name) {
                return Err(NotRegistered::NoName { kind, name });
            }
            if let Some(other) = self.built_in.iter().chain(&*registered).find(|entry| entry.is_called(name))
            {
                return Err(NotRegistered::Taken { kind, name, by: other.name });
            }
        }
        registered.push(entry);
        Ok(())
    }

    /// All components: built-in ones in the order shown to users, then registered ones.
    pub fn all(&self) -> &[Entry<K>] {
        self.all.get_or_init(|| {
            let registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
            self.built_in.iter().chain(&*registered).copied().collect()
        })
    }

    /// The names of [`all`](Self::all), in the same order.
    pub fn names(&self) -> &[&'static str] {
        self.names.get_or_init(|| self.all().iter().map(|entry| entry.name).collect())
    }

    /// The index in [`all`](Self::all) of the component with this name; aliases do not count.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.names().iter().position(|&other| other == name)
    }

    /// The component called `name`.
    pub fn find(&self, name: &str) -> Result<&Entry<K>, Unknown> {
        self.place(name).map(|place| &self.all()[place]).ok_or_else(|| self.unknown(name))
    }

    /// The error for a name that no component has.
    pub fn unknown(&self, given: &str) -> Unknown {
        let names: Vec<String> = self.names().iter().map(|name| format!("`{name}`")).collect();
        let likely = spelling::likely(given, self.names().iter().copied());
        Unknown { kind: K::NOUN, given: shortened(given), why: None, likely, allowed: names.join(", ") }
    }
}

impl<K: Kind> Debug for Registry<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registry of each {}", K::NOUN)
    }
}

/// True if `name` is valid: it cannot be mistaken for a combination of names.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

/// No component has the given name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its kind.
    pub kind: &'static str,
    /// The name given, shortened if it is long.
    pub given: String,
    /// Why the name is unknown; `None` if it is merely misspelt.
    pub why: Option<String>,
    /// The names that were most likely meant.
    pub likely: Vec<&'static str>,
    /// All names, for users.
    pub allowed: String,
}

/// `text`, or its first 60 characters and `…` if `text` is longer.
pub fn shortened(text: &str) -> String {
    if text.chars().count() > 60 { text.chars().take(60).chain(['…']).collect() } else { text.into() }
}

impl core::error::Error for Unknown {}

impl Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} `{}`", self.kind, self.given)?;
        if let Some(why) = &self.why {
            write!(f, ": {why}")?;
        }
        write!(f, "; ")?;
        if let Some(question) = spelling::question(&self.likely) {
            write!(f, "{question} ")?;
        }
        write!(f, "allowed: {}", self.allowed)
    }
}

/// The reason why a component was not added to its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRegistered {
    /// Another component has the name.
    Taken {
        /// Its kind.
        kind: &'static str,
        /// Its name.
        name: &'static str,
        /// The component that already has the name.
        by: &'static str,
    },
    /// The registry was used already.
    TooLate {
        /// Its kind.
        kind: &'static str,
        /// Its name.
        name: &'static str,
    },
    /// The name is invalid.
    NoName {
        /// Its kind.
        kind: &'static str,
        /// The name given.
        name: &'static str,
    },
}

impl core::error::Error for NotRegistered {}

impl Display for NotRegistered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRegistered::Taken { kind, name, by } => write!(
                f,
                "the name `{name}` is taken by the {kind} `{by}`; allowed: a name that no other {kind} has"
            ),
            NotRegistered::TooLate { kind, name } => write!(
                f,
                "the {kind} `{name}` is registered after each {kind} was looked for; register it first of all"
            ),
            NotRegistered::NoName { kind, name } => {
                write!(f, "`{name}` is not the name of a {kind}; allowed: a to z, 0 to 9 and -")
            }
        }
    }
}
