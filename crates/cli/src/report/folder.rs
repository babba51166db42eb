//! The folder of `--out`: proven writable before a run, filled after it.

use super::{Headline, csv, json, picture};
use crate::failure::Failure;
use crate::tell::tell;
use fairwire_metrics::record::Report;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a report will be about, for an estimate of its size.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// How many runs.
    pub runs: usize,
    /// How many flows in each.
    pub flows: usize,
}

impl Extent {
    /// Bytes that the files will take, from above: a flow is some 350 bytes of JSON and 150 of CSV, a run without its
    /// flows some 3000 in all.
    fn bytes(self) -> u64 {
        (self.runs as u64 * (self.flows as u64 * 700 + 4000) + 65_536).min(MOST_PROBED)
    }
}

/// No more than this is written to prove that there is room: a larger proof would take longer than most runs.
const MOST_PROBED: u64 = 256 << 20;

const FILES: [&str; 5] = ["report.json", "summary.csv", "runs.csv", "flows.csv", PICTURE];

/// The picture in a folder of results.
pub const PICTURE: &str = "shares.svg";

/// A folder that takes the results.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder at `path` and proves that results of `extent` can be written into it, before any time is spent.
    pub fn prepare(path: &Path, extent: Extent) -> Result<Self, Failure> {
        let refuse = |problem: String| {
            let help = format!(
                "allowed: a folder that can be made or written, with {} kB free",
                extent.bytes() / 1000
            );
            Failure::user(format!("--out `{}`: {problem}", path.display()), help)
        };
        fs::create_dir_all(path).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                refuse("a file stands in the way".into())
            }
            _ => refuse(format!("the folder cannot be made: {error}")),
        })?;
        if let Some(name) = FILES.iter().find(|name| path.join(name).is_dir()) {
            return Err(refuse(format!("a folder `{name}` stands in the way of a file")));
        }
        let folder = Folder { path: path.into() };
        folder.probe(extent.bytes()).map_err(|error| refuse(format!("it cannot be written: {error}")))?;
        Ok(folder)
    }

    /// Writes all files of `report`, each one whole or not at all, and says where they are.
    pub fn write(&self, report: &Report, headline: &Headline) -> Result<(), Failure> {
        let contents = [
            json(report),
            csv::summary(report)?,
            csv::runs(report)?,
            csv::flows(report)?,
            picture::svg(report, headline),
        ];
        for (name, content) in FILES.iter().zip(contents) {
            self.replace(name, content.as_bytes()).map_err(|error| {
                Failure::Ours(format!("`{}` could not be written: {error}", self.path.join(name).display()))
            })?;
        }
        let places = FILES.map(|name| self.path.join(name).display().to_string());
        tell(format_args!("results: {}", places.join(", ")));
        Ok(())
    }

    /// Writes as much as the results will take, to the disk, and takes it away again.
    fn probe(&self, bytes: u64) -> io::Result<()> {
        let path = self.scratch("probe");
        let written = filled(&path, bytes);
        let removed = fs::remove_file(&path);
        written.and(removed)
    }

    fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let scratch = self.scratch(name);
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

fn filled(path: &Path, bytes: u64) -> io::Result<()> {
    let mut file = File::create(path)?;
    // Not zeros: some file systems store those for nothing.
    let block: Vec<u8> = (0..=u8::MAX).cycle().take(1 << 16).collect();
    let mut left = bytes;
    while left > 0 {
        let step = left.min(block.len() as u64);
        file.write_all(&block[..step as usize])?;
        left -= step;
    }
    file.sync_all()
}
