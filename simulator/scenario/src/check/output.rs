//! Checks the outputs other than the report. Whether a file can be written is checked only by the
//! code that writes it.

use super::{Check, Checked};
use crate::fault::refused;
use crate::output::Output;
use fairwire_core::Duration;
use fairwire_document::shortened;
use std::path::Path;

impl Check<'_> {
    pub(super) fn output(&self) -> Checked {
        let spec = &self.spec.output;
        if let Some(every) = &spec.every {
            self.within("output.every", every.0, Duration::from_ns(1)..=self.spec.duration.0)?;
        }
        for output in Output::ALL {
            let key = format!("output.{}", output.key());
            spec.file(*output).map_or(Ok(()), |path| self.ending(&key, path, output.endings()))?;
        }
        spec.paired.as_ref().map_or(Ok(()), |name| self.known("output.paired", name))
    }

    fn ending(&self, key: &str, path: &str, endings: &[&str]) -> Checked {
        self.text(key, path)?;
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        if ending.is_some_and(|ending| endings.contains(&ending)) {
            return Ok(());
        }
        let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
        let allowed = format!("a file with the extension {}", endings.join(" or "));
        Err(refused(key, format!("`{}`", shortened(path)), "the extension selects the format", allowed))
    }
}
