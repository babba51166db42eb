//! The folder of `--out`: checked for writing before a run, filled after it.

use super::again::{Again, SCENARIO};
use super::shown::Headline;
use super::{csv, json, picture};
use fairwire_metrics::record::Report;
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file::{self, Scratch, Whole};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The files that are always written. The first marks a folder of results.
const FILES: [&str; 5] = ["report.json", "summary.csv", "runs.csv", "flows.csv", PICTURE];

/// The file that is written only if the report has differences.
const DIFFERENCES: &str = "differences.csv";

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FILES.into_iter().chain([DIFFERENCES, SCENARIO])
}

pub(crate) const PICTURE: &str = "shares.svg";

/// A folder for results. If dropped while still empty, it removes the folders that it created.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The folders that were created for the results, innermost first.
    made: Vec<PathBuf>,
    /// Does the folder contain earlier results, which will be replaced?
    has_results: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that holds results cannot be removed, and stays.
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Folder {
    /// Creates the folder at `path` and checks that files can be written there, before any time is
    /// spent.
    pub(crate) fn prepare(path: &Path, again: Option<&Again<'_>>) -> Result<Self, Failure> {
        // From here on, Ctrl-C stops runs in an orderly way, so the folder can be cleaned up.
        interrupt::flag();
        let has_results = path.join(FILES[0]).is_file();
        let folder = Folder { path: path.into(), made: missing(path), has_results };
        folder.prove().and_then(|()| folder.spare(again)).map_err(|problem| {
            let help = "allowed: a folder that can be made or written";
            Failure::user(format!("`--out` is `{}`, but {problem}", path.display()), help)
        })?;
        Ok(folder)
    }

    /// Creates the folder. Checks that a file can be created there, and that no path of a result is
    /// a folder.
    fn prove(&self) -> Result<(), String> {
        fs::create_dir_all(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                match self.path.ancestors().find(|above| above.is_file()) {
                    Some(file) => format!("`{}` is a file", file.display()),
                    None => "it is no folder".into(),
                }
            }
            _ => format!("the folder cannot be made: {error}"),
        })?;
        if let Some(name) = names().find(|name| self.path.join(name).is_dir()) {
            return Err(format!("its `{name}` is a folder"));
        }
        let probe = Scratch::begin(&self.path.join(FILES[0]));
        probe.map(drop).map_err(|error| format!("it cannot be written: {error}"))
    }

    /// Refuses to overwrite a file `scenario.toml` that is not a result.
    fn spare(&self, again: Option<&Again<'_>>) -> Result<(), String> {
        let there = fs::read(self.path.join(SCENARIO)).ok();
        let is_lost = |there: &Vec<u8>| again.is_some_and(|again| again.text.as_bytes() != *there);
        if self.has_results || !there.as_ref().is_some_and(is_lost) {
            return Ok(());
        }
        Err(format!(
            "a `{SCENARIO}` is there that is no result, and would be lost; move it, or name another folder"
        ))
    }

    /// Writes all files of `report` or none, and reports their location. Earlier results that are
    /// not replaced are removed.
    pub(crate) fn write(
        &self,
        report: &Report,
        headline: &Headline,
        again: Option<&Again<'_>>,
    ) -> Result<(), Failure> {
        let mut files: Vec<(&str, String)> = FILES.into_iter().zip(contents(report, headline)?).collect();
        if !report.differences.is_empty() {
            files.push((DIFFERENCES, csv::differences(report)?));
        }
        files.extend(again.map(|again| (SCENARIO, again.text.clone())));
        let mut whole = Vec::new();
        for (name, content) in &files {
            whole.push(self.whole(Path::new(name), content.as_bytes())?);
        }
        for carried in again.iter().flat_map(|again| &again.files) {
            if !carried.is_at(&self.path.join(&carried.to)) {
                whole.push(self.whole(&carried.to, &carried.content().map_err(Failure::Ours)?)?);
            }
        }
        let placed: io::Result<Vec<PathBuf>> = whole.into_iter().map(Whole::place).collect();
        placed.map_err(|error| file::fault(&self.path, &error))?;
        let is_stale = |name: &&str| self.has_results && files.iter().all(|(other, _)| other != name);
        for name in names().filter(is_stale) {
            let _ = fs::remove_file(self.path.join(name)); // usually absent
        }
        let places: Vec<String> =
            files.iter().map(|(name, _)| self.path.join(name).display().to_string()).collect();
        notice(format_args!("results: {}", places.join(", ")));
        Ok(())
    }

    fn whole(&self, name: &Path, content: &[u8]) -> Result<Whole, Failure> {
        let path = self.path.join(name);
        let below = path.parent().unwrap_or(Path::new(""));
        let written = fs::create_dir_all(below).and_then(|()| file::try_whole(&path, content));
        written.map_err(|error| file::fault(&path, &error))
    }
}

fn missing(path: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    path.ancestors().take_while(is_missing).map(PathBuf::from).collect()
}

/// The contents of the files, in the order of [`FILES`].
fn contents(report: &Report, headline: &Headline) -> Result<[String; 5], Failure> {
    Ok([
        json::text(report),
        csv::summary(report, &[])?,
        csv::runs(report)?,
        csv::flows(report)?,
        picture::svg(report, headline),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn a_new_folder_without_results_is_removed_and_an_old_one_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let own = scratch.path().join("a/b");
        let folder = Folder::prepare(&own, None).unwrap();
        assert!(own.is_dir());
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "the probe is gone");
        drop(folder);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "neither `a` nor `a/b`");
        drop(Folder::prepare(scratch.path(), None).unwrap());
        assert!(scratch.path().is_dir());
        let folder = Folder::prepare(&own, None).unwrap();
        folder.write(&samples::report(1, 1), &samples::headline(), None).unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(&own).unwrap().count(), FILES.len());
    }
}
