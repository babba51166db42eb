//! The contents of the given results: reports, and tables by type.

use super::table::{Table, bytes};
use fairwire_metrics::record::Report;
use fairwire_terminal::failure::Failure;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Results, by type.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub report: Option<Report>,
    pub(super) series: Table,
    pub(super) flows: Table,
    pub(super) transfers: Table,
    pub(super) histogram: Table,
    pub(super) runs: Table,
}

const TABLES: [&str; 4] = ["csv", "gz", "ndjson", "parquet"];

impl Found {
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Found, Failure> {
        let mut found = Found::default();
        for path in paths {
            if !path.exists() {
                return Err(Failure::user(
                    format!("`{}` is given, but there is nothing of that name", path.display()),
                    "allowed: a folder or a file with results",
                ));
            }
            let is_known = if path.is_dir() { found.folder(path)? } else { found.file(path)? };
            if !is_known {
                return Err(Failure::user(
                    format!("`{}` is given, but it has no results that can be drawn", path.display()),
                    "allowed: a folder of `fairwire run --out`, the store of a sweep, or a file of `--series`, \
                     `--flows`, `--transfers` or `--histogram`, or a data file of flent, .flent.gz",
                ));
            }
        }
        Ok(found)
    }

    /// Adds the folder's results. Returns false if it has none.
    fn folder(&mut self, path: &Path) -> Result<bool, Failure> {
        let runs = path.join("runs");
        if runs.is_dir() {
            for part in listed(&runs)?.iter().filter(|part| ending(part) == "parquet") {
                self.runs.append(Table::read(part)?);
            }
            return Ok(self.runs.len() > 0);
        }
        let mut is_known = false;
        for file in listed(path)? {
            let may_be = TABLES.contains(&ending(&file)) || file.ends_with("report.json");
            is_known |= may_be && file.is_file() && self.file(&file)?;
        }
        Ok(is_known)
    }

    /// Adds the file's results. Returns false if its type is unknown.
    fn file(&mut self, path: &Path) -> Result<bool, Failure> {
        if ending(path) == "json" {
            let report = bytes(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
            self.report = Some(report.map_err(|error| refused(path, &error))?);
            return Ok(true);
        }
        if !TABLES.contains(&ending(path)) {
            return Ok(false);
        }
        let table = Table::read(path)?;
        let tables: [(&mut Table, &[&str]); 5] = [
            (&mut self.series, &["time_s", "kind", "name", "measure", "value"]),
            (&mut self.transfers, &["group", "start_s", "seconds", "slowdown"]),
            (&mut self.flows, &["flow", "throughput_bps", "goodput_bps"]),
            (&mut self.histogram, &["of", "from_s", "to_s", "packets"]),
            (&mut self.runs, &["cell", "scenario", "given", "discipline", "seed"]),
        ];
        let place = tables.into_iter().find(|(_, columns)| table.has(columns));
        Ok(place.map(|(place, _)| place.append(table)).is_some())
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = fs::read_dir(folder).and_then(|all| all.map(|entry| Ok(entry?.path())).collect());
    let mut paths: Vec<PathBuf> = entries.map_err(|error| refused(folder, &error))?;
    paths.sort();
    Ok(paths)
}

fn refused(path: &Path, error: &io::Error) -> Failure {
    Failure::user(
        format!("`{}` cannot be read: {error}", path.display()),
        "allowed: what `fairwire` wrote: a folder of `--out` or of a sweep, or a file of results",
    )
}
