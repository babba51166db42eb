//! The scenario varied by a sweep.

use fairwire_document::{DocumentError, read_text};
use fairwire_scenario::{Overrides, Scenario, parse, parse_in};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const MAX_BYTES: u64 = 1 << 20;

/// A scenario as text, read once, so all cells use the same text even if its file changes
/// meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    name: String,
    pub(crate) text: String,
    /// The folder of other files that the scenario names; `None` for a text without a file.
    folder: Option<PathBuf>,
    pub(crate) set: Vec<String>,
}

impl Base {
    /// The scenario in the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, DocumentError> {
        let text =
            read_text(path, MAX_BYTES, "a scenario file in TOML, such as scenarios/selfish-flow.toml")?;
        // The folder's path is absolute, because workers may run in other folders.
        let folder =
            path.parent().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.into()));
        Ok(Base { name: path.display().to_string(), text, folder, set: Vec::new() })
    }

    /// A scenario in `text` that names no other files.
    pub fn text(text: &str) -> Self {
        Base { name: "scenario".into(), text: text.into(), folder: None, set: Vec::new() }
    }

    /// Adds changes, as in `--set`, after the existing changes.
    #[must_use]
    pub fn with(mut self, set: &[String]) -> Self {
        self.set.extend_from_slice(set);
        self
    }

    pub(crate) fn scenario(&self, overrides: &Overrides) -> Result<Scenario, DocumentError> {
        let overrides =
            Overrides { set: self.set.iter().chain(&overrides.set).cloned().collect(), ..overrides.clone() };
        match &self.folder {
            Some(folder) => parse_in(folder, &self.name, &self.text, &overrides),
            None => parse(&self.name, &self.text, &overrides),
        }
    }
}
