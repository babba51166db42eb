//! The folder of `--out`: proven writable before a run, filled after it.

use super::again::{Again, SCENARIO};
use super::{Headline, csv, json, picture};
use crate::failure::Failure;
use crate::interrupt;
use crate::tell::tell;
use fairwire_metrics::record::Report;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a report will be about, for an estimate of its size.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// How many disciplines.
    pub disciplines: usize,
    /// How many runs, of all disciplines.
    pub runs: usize,
    /// How many flows in each.
    pub flows: usize,
    /// How many groups of flows.
    pub groups: usize,
    /// Bytes of the longest name of a group.
    pub name: usize,
    /// Bytes of the headline.
    pub headline: usize,
    /// Bytes of the scenario and of what it names.
    pub again: u64,
}

impl Extent {
    /// Bytes that the files will take, from above: no number is longer than 40 letters, nor a word of ours than 30.
    fn bytes(self) -> u64 {
        let of = |number: usize| number as u64;
        // A flow's name is its group's and a number; a discipline's is shorter than this.
        let name = of(self.name) + 30;
        // Ten lines of JSON and eleven cells of CSV, five of all those names.
        let flow = 16 * 80 + 5 * name;
        let group = 2 * (name + 60);
        // Shares, what else there may be of groups, and measures that every run has, drops by cause among them.
        let measures = 3 * of(self.groups) + 30;
        let run = 4000 + of(self.flows) * flow + of(self.groups) * group + measures * 40;
        // Of each discipline, a measure is some lines of JSON, a line of CSV and a bar.
        let summary = measures * (1200 + 4 * name);
        let all = of(self.runs) * run + of(self.disciplines) * summary + of(self.groups) * 20 * name;
        // A letter of the headline may become `&quot;`, in two places.
        // The scenario stands in the report too, where a letter may become `\\"`.
        (all + 12 * of(self.headline) + 3 * self.again + 65_536).min(MOST_PROBED)
    }
}

/// No more than this is written to prove that there is room: a larger proof would take longer than most runs.
const MOST_PROBED: u64 = 256 << 20;

const FILES: [&str; 5] = ["report.json", "summary.csv", "runs.csv", "flows.csv", PICTURE];

/// Written where differences were asked for.
const DIFFERENCES: &str = "differences.csv";

/// What is written into a folder of results, or may be.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.into_iter().chain([DIFFERENCES, SCENARIO])
}

/// The picture in a folder of results.
pub const PICTURE: &str = "shares.svg";

/// A folder that takes the results. Where it gets none, what was made for it goes again.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// The folders that were not there before, the innermost first.
    made: Vec<PathBuf>,
    /// Are there results already, which give way to these?
    has_results: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Only empty folders can be removed: one that holds results ends this, as does one that is not there.
        let _ = self.made.iter().try_for_each(fs::remove_dir);
    }
}

impl Folder {
    /// Makes the folder at `path` and proves that results of `extent` can be written into it, before any time is spent.
    pub fn prepare(path: &Path, extent: Extent, again: Option<&Again<'_>>) -> Result<Self, Failure> {
        // From here on, Ctrl-C lets us tidy up.
        interrupt::flag();
        let has_results = path.join(FILES[0]).is_file();
        let folder = Folder { path: path.into(), made: missing(path), has_results };
        let proven = folder.prove(extent.bytes()).and_then(|()| folder.spare(again));
        proven.map_err(|problem| {
            let help = format!(
                "allowed: a folder that can be made or written, with {} kB free",
                extent.bytes() / 1000
            );
            Failure::user(format!("--out `{}`: {problem}", path.display()), help)
        })?;
        Ok(folder)
    }

    fn prove(&self, bytes: u64) -> Result<(), String> {
        fs::create_dir_all(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "a file stands in the way".into(),
            _ => format!("the folder cannot be made: {error}"),
        })?;
        if let Some(name) = names().find(|name| self.path.join(name).is_dir()) {
            return Err(format!("a folder `{name}` stands in the way of a file"));
        }
        self.probe(bytes).map_err(|error| format!("it cannot be written: {error}"))
    }

    /// A scenario that somebody wrote is no result, and is not written over.
    fn spare(&self, again: Option<&Again<'_>>) -> Result<(), String> {
        let there = fs::read(self.path.join(SCENARIO)).ok();
        let is_lost = |there: &Vec<u8>| again.is_some_and(|again| again.text.as_bytes() != *there);
        if self.has_results || !there.as_ref().is_some_and(is_lost) {
            return Ok(());
        }
        Err(format!(
            "a `{SCENARIO}` stands there that is no result, and would be lost; move it, or name another folder"
        ))
    }

    /// Writes all files of `report`, each one whole or not at all, and says where they are. Of earlier results nothing stays.
    pub fn write(
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
        for (name, content) in &files {
            self.put(Path::new(name), content.as_bytes())?;
        }
        let is_stale = |name: &&str| self.has_results && files.iter().all(|(other, _)| other != name);
        for name in names().filter(is_stale) {
            let _ = fs::remove_file(self.path.join(name)); // mostly it is not there
        }
        for carried in again.iter().flat_map(|again| &again.files) {
            if !carried.is_at(&self.path.join(&carried.to)) {
                self.put(&carried.to, &carried.content().map_err(Failure::Ours)?)?;
            }
        }
        let places: Vec<String> =
            files.iter().map(|(name, _)| self.path.join(name).display().to_string()).collect();
        tell(format_args!("results: {}", places.join(", ")));
        Ok(())
    }

    /// Writes the file called `name`, whole or not at all.
    fn put(&self, name: &Path, content: &[u8]) -> Result<(), Failure> {
        self.replace(name, content).map_err(|error| {
            Failure::Ours(format!("`{}` could not be written: {error}", self.path.join(name).display()))
        })
    }

    /// Writes as much as the results will take, to the disk. The file has no name any more when it is filled, so that it
    /// is gone whatever happens.
    fn probe(&self, bytes: u64) -> io::Result<()> {
        let path = self.scratch("probe");
        let file = File::create(&path)?;
        fs::remove_file(&path)?;
        fill(file, bytes)
    }

    fn replace(&self, name: &Path, content: &[u8]) -> io::Result<()> {
        let below = name.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(self.path.join(below))?;
        let scratch = self.scratch(&name.file_name().unwrap_or_default().to_string_lossy());
        let written = File::create(&scratch)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&scratch, self.path.join(name)));
        if written.is_err() {
            // What is half written is of no use; that it cannot be removed adds nothing to the first error.
            let _ = fs::remove_file(&scratch);
        }
        written
    }

    fn scratch(&self, name: &str) -> PathBuf {
        self.path.join(format!(".{name}.{}", std::process::id()))
    }
}

/// The folders on the way to `path` that are not there, the innermost first.
fn missing(path: &Path) -> Vec<PathBuf> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    path.ancestors().take_while(is_missing).map(PathBuf::from).collect()
}

/// What the files will hold, in the order of [`FILES`].
fn contents(report: &Report, headline: &Headline) -> Result<[String; 5], Failure> {
    Ok([
        json::text(report),
        csv::summary(report, &[])?,
        csv::runs(report)?,
        csv::flows(report)?,
        picture::svg(report, headline),
    ])
}

fn fill(mut file: File, bytes: u64) -> io::Result<()> {
    // Not zeros: some file systems store those for nothing.
    let block: Vec<u8> = (0..=u8::MAX).cycle().take(1 << 16).collect();
    let mut left = bytes;
    while left > 0 && !interrupt::is_asked() {
        let step = left.min(block.len() as u64);
        file.write_all(&block[..step as usize])?;
        left -= step;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    #[test]
    fn the_size_of_the_files_is_estimated_from_above() {
        for (disciplines, groups, name) in [(1, 1, 1), (2, 300, 1), (3, 200, 60), (1, 1000, 60), (40, 2, 60)]
        {
            let report = samples::named(disciplines, groups, &"n".repeat(name));
            let headline = Headline { title: "\"".repeat(20_000), detail: "&".repeat(20_000) };
            let extent = Extent {
                disciplines,
                runs: report.runs.len(),
                flows: groups,
                groups,
                name: name + 4,
                headline: 40_000,
                again: 0,
            };
            let bytes: usize = contents(&report, &headline).unwrap().iter().map(String::len).sum();
            let estimate = extent.bytes() - 65_536; // also without what is added for certainty
            assert!(bytes as u64 <= estimate, "{disciplines} x {groups}: {bytes} of {estimate}");
        }
    }

    #[test]
    fn a_folder_that_gets_no_results_goes_again_and_one_that_was_there_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let extent = Extent { disciplines: 1, runs: 1, flows: 1, groups: 1, name: 1, headline: 1, again: 0 };
        let own = scratch.path().join("a/b");
        let folder = Folder::prepare(&own, extent, None).unwrap();
        assert!(own.is_dir());
        assert_eq!(fs::read_dir(&own).unwrap().count(), 0, "the probe is gone");
        drop(folder);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "neither `a` nor `a/b`");
        drop(Folder::prepare(scratch.path(), extent, None).unwrap());
        assert!(scratch.path().is_dir());
        let folder = Folder::prepare(&own, extent, None).unwrap();
        folder.write(&samples::report(1, 1), &samples::headline(), None).unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(&own).unwrap().count(), FILES.len());
    }
}
