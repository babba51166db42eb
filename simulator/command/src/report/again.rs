//! The data needed to repeat a scenario from a folder of results: its text, and the files that the
//! text names.

use fairwire_document::{Change, changed, quoted};
use fairwire_scenario::{NamedFile, Scenario};
use fairwire_terminal::failure::Failure;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

pub(super) const SCENARIO: &str = "scenario.toml";
/// The folder for files outside the scenario's folder.
const FOLDER: &str = "files";

#[derive(Debug)]
pub(crate) struct Again<'a> {
    /// Its text.
    pub text: String,
    pub files: Vec<Carried<'a>>,
}

#[derive(Debug)]
pub(crate) struct Carried<'a> {
    file: &'a NamedFile,
    from: PathBuf,
    /// The copy's path relative to the folder of results.
    pub to: PathBuf,
}

impl<'a> Again<'a> {
    /// The files for repeating `scenario`, which was read from `folder`. Files in `folder` keep
    /// their names; other files get new paths below `files`.
    pub(crate) fn of(scenario: &'a Scenario, folder: &Path) -> Result<Self, Failure> {
        let mut places: BTreeMap<&str, PathBuf> = BTreeMap::new();
        let (mut changes, mut files) = (Vec::new(), Vec::new());
        for file in scenario.files() {
            let name = Path::new(&file.name);
            let known = places.get(file.name.as_str()).cloned();
            let is_new = known.is_none();
            let to = known.unwrap_or_else(|| place(name, |to| places.values().any(|other| other == to)));
            places.insert(&file.name, to.clone());
            if to != name {
                let text = format!("{}={}", file.key, quoted(&to.to_string_lossy()));
                changes.push(Change { source: "--out", text, in_place_of: None });
            }
            if is_new {
                files.push(Carried { file, from: folder.join(name), to });
            }
        }
        let text = changed(SCENARIO, scenario.toml(), &changes, &[])
            .map_err(|error| Failure::Ours(format!("the scenario could not be written again: {error}")))?;
        Ok(Again { text, files })
    }
}

impl Carried<'_> {
    pub(crate) fn content(&self) -> Result<Vec<u8>, String> {
        let shown = self.from.display();
        let bytes = fs::read(&self.from).map_err(|error| format!("`{shown}` could not be read: {error}"))?;
        if self.file.holds(&bytes) {
            return Ok(bytes);
        }
        Err(format!("`{shown}` has changed since the scenario was read; the results are of what it was"))
    }

    /// True if `place` is the carried file itself. Then the results are next to the scenario.
    pub(crate) fn is_at(&self, place: &Path) -> bool {
        let same = |path: &Path| path.canonicalize().ok();
        same(place).is_some_and(|place| same(&self.from) == Some(place))
    }
}

/// True if the file `name` can keep its path in the folder of results without replacing results.
fn stays(name: &Path) -> bool {
    let is_ours = |first: &Path| super::folder::names().any(|own| Path::new(own) == first);
    let mut parts = name.components();
    let first = parts.clone().next().map(|first| PathBuf::from(first.as_os_str()));
    parts.all(|part| matches!(part, Component::Normal(_))) && !first.is_some_and(|first| is_ours(&first))
}

fn place(name: &Path, is_taken: impl Fn(&Path) -> bool) -> PathBuf {
    if stays(name) {
        return name.into();
    }
    let own = name.file_name().unwrap_or_default().to_string_lossy();
    let numbered = |number: u32| if number == 1 { own.to_string() } else { format!("{number}-{own}") };
    let mut places = (1..).map(|number| Path::new(FOLDER).join(numbered(number)));
    places.find(|place| !is_taken(place)).expect("there are more numbers than files")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_folder_or_collide_with_ours_are_moved() {
        for (name, stay) in [
            ("lte.trace", true),
            ("traces/lte.trace", true),
            ("../lte.trace", false),
            ("/tmp/lte.trace", false),
            ("./lte.trace", false),
            ("report.json", false),
            ("scenario.toml", false),
        ] {
            assert_eq!(stays(Path::new(name)), stay, "{name}");
        }
        let taken = |taken: &'static str| move |place: &Path| place == Path::new(taken);
        assert_eq!(place(Path::new("../a/lte.trace"), taken("")), Path::new("files/lte.trace"));
        assert_eq!(
            place(Path::new("/b/lte.trace"), taken("files/lte.trace")),
            Path::new("files/2-lte.trace")
        );
    }
}
