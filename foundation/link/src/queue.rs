//! The discipline that shares a link, given by name or as a built object.

use fairwire_core::Discipline;
use fairwire_laws::Site;
use fairwire_laws::dropper::tail_drop;

#[derive(Default)]
pub(crate) enum Queue {
    #[default]
    TailDrop,
    #[cfg(feature = "catalogue")]
    Named(String),
    #[cfg(feature = "text")]
    Chosen(fairwire_catalogue::Choice),
    Made(Box<dyn Discipline>),
}

impl Queue {
    /// The builder's method to name in error messages about this queue.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            Queue::TailDrop => "buffer", // its only setting
            #[cfg(feature = "catalogue")]
            Queue::Named(_) => "queue",
            #[cfg(feature = "text")]
            Queue::Chosen(_) => "queue",
            Queue::Made(_) => "discipline",
        }
    }

    pub(crate) fn made(self, site: &Site<'_>, marks: bool) -> Result<Box<dyn Discipline>, String> {
        match self {
            Queue::TailDrop => tail_drop::Spec::default().build(site).map_err(|error| error.to_string()),
            #[cfg(feature = "catalogue")]
            Queue::Named(text) => chosen(&named(&text)?, site, marks),
            #[cfg(feature = "text")]
            Queue::Chosen(choice) => chosen(&choice, site, marks),
            Queue::Made(discipline) => {
                let _ = marks;
                Ok(discipline)
            }
        }
    }
}

#[cfg(feature = "catalogue")]
fn named(text: &str) -> Result<fairwire_catalogue::Choice, String> {
    use fairwire_catalogue::Choice;
    use std::collections::BTreeMap;

    let text = text.trim();
    if text.starts_with('{') {
        let read = toml::from_str::<BTreeMap<String, Choice>>(&format!("queue = {text}"));
        let mut read = read.map_err(|error| format!("`{text}`: {}", error.message()))?;
        let one = read.remove("queue").filter(|_| read.is_empty());
        one.ok_or_else(|| format!("`{text}` goes on after its table; allowed: one table in braces"))
    } else {
        Ok(Choice::from(text.to_owned()))
    }
}

#[cfg(feature = "catalogue")]
fn chosen(
    choice: &fairwire_catalogue::Choice,
    site: &Site<'_>,
    marks: bool,
) -> Result<Box<dyn Discipline>, String> {
    use fairwire_catalogue::{build, inherit_ecn};
    use fairwire_laws::spec::EcnChoice;

    let mut parameters = choice.parameters().cloned().unwrap_or_default();
    if marks {
        inherit_ecn(choice.name(), &mut parameters, EcnChoice::Mark).map_err(|error| error.to_string())?;
    }
    let mut built = build(choice.name(), &parameters, site).map_err(|error| error.to_string())?;
    if built.reads_acknowledgements() {
        return Err(format!(
            "`{}`: `ack_filter` needs headers of TCP, and packets have none here; allowed: off",
            choice.name()
        ));
    }
    Ok(built)
}
