//! What there is of one kind, by name: what is built in, and what other crates registered.

use core::fmt::{self, Debug};
use fairwire_parameters::NotRegistered;
use std::sync::{Mutex, OnceLock, PoisonError};

/// All entries of one kind. What other crates have is added before the first look at it; from then
/// on it stays as it is.
pub struct Registry<E: 'static> {
    kind: &'static str,
    built_in: &'static [E],
    names_of: fn(&E) -> Names,
    registered: Mutex<Vec<E>>,
    all: OnceLock<Box<[E]>>,
    names: OnceLock<Box<[&'static str]>>,
}

/// The name of an entry, and others that people know it by.
pub type Names = (&'static str, &'static [&'static str]);

impl<E: Copy> Registry<E> {
    /// The built-in entries; `kind` is what people call one, such as "discipline".
    pub const fn new(kind: &'static str, built_in: &'static [E], names_of: fn(&E) -> Names) -> Self {
        Registry {
            kind,
            built_in,
            names_of,
            registered: Mutex::new(Vec::new()),
            all: OnceLock::new(),
            names: OnceLock::new(),
        }
    }

    /// Adds one of another crate.
    ///
    /// # Errors
    ///
    /// Where the name is taken or cannot be typed, or the entries were looked at already.
    pub fn register(&self, entry: E) -> Result<(), NotRegistered> {
        let kind = self.kind;
        let (name, aliases) = (self.names_of)(&entry);
        let mut registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
        if self.all.get().is_some() {
            return Err(NotRegistered::TooLate { kind, name });
        }
        for name in [name].into_iter().chain(aliases.iter().copied()) {
            if !is_name(name) {
                return Err(NotRegistered::NoName { kind, name });
            }
            if let Some(other) = self.built_in.iter().chain(&*registered).find(|e| self.is_called(e, name)) {
                return Err(NotRegistered::Taken { kind, name, by: (self.names_of)(other).0 });
            }
        }
        registered.push(entry);
        Ok(())
    }

    /// Every entry: first the built-in ones, in the order in which they are listed to people.
    pub fn all(&self) -> &[E] {
        self.all.get_or_init(|| {
            let registered = self.registered.lock().unwrap_or_else(PoisonError::into_inner);
            self.built_in.iter().chain(&*registered).copied().collect()
        })
    }

    /// The names of [`all`](Self::all), in the same order.
    pub fn names(&self) -> &[&'static str] {
        self.names.get_or_init(|| self.all().iter().map(|entry| (self.names_of)(entry).0).collect())
    }

    /// The place in [`all`](Self::all) of the entry with this name; aliases are none.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.names().iter().position(|&other| other == name)
    }

    fn is_called(&self, entry: &E, name: &str) -> bool {
        let (own, aliases) = (self.names_of)(entry);
        own == name || aliases.contains(&name)
    }
}

impl<E> Debug for Registry<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registry of each {}", self.kind)
    }
}

/// Can it be typed as a name, and does it differ from a combination?
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pets() -> Registry<&'static str> {
        Registry::new("pet", &["cat", "dog"], |name| (name, &[]))
    }

    #[test]
    fn registered_entries_follow_those_of_the_house() {
        let pets = pets();
        assert_eq!(pets.register("owl"), Ok(()));
        assert_eq!((pets.all(), pets.place("owl")), (&["cat", "dog", "owl"][..], Some(2)));
    }

    #[test]
    fn a_taken_name_a_name_that_cannot_be_typed_and_a_late_one_are_refused() {
        let pets = pets();
        let (kind, by) = ("pet", "cat");
        assert_eq!(pets.register("cat"), Err(NotRegistered::Taken { kind, name: "cat", by }));
        assert_eq!(pets.register("a cow"), Err(NotRegistered::NoName { kind, name: "a cow" }));
        assert_eq!(pets.names(), ["cat", "dog"]);
        assert_eq!(pets.register("owl"), Err(NotRegistered::TooLate { kind, name: "owl" }));
    }
}
