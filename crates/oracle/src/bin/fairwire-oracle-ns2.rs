//! `fairwire-oracle-ns2`: our simulator beside ns-2. Started by `make oracle-ns2`.
#![forbid(unsafe_code)]

use fairwire_oracle::ns2::cell::Cell;
use fairwire_oracle::ns2::grid::CELLS;
use fairwire_oracle::ns2::report::{Finding, Report, csv, heading};
use fairwire_oracle::ns2::theirs::{Ns2, Ns2Error};
use fairwire_oracle::ns2::{Outcome, exceptions, ours};
use indicatif::{ParallelProgressIterator, ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
Holds fairwire's simulator against ns-2: the same contests on both sides, over a grid of disciplines and transports.

Usage: fairwire-oracle-ns2 [--only PATTERN] [--quick] [--seeds NUMBER] [--out FOLDER] [--record FILE] [--list]

  --only PATTERN   only cells whose name contains this
  --quick          only the few cells that every test run does
  --seeds NUMBER   so many runs of each cell on either side, at least 2, in place of the cell's own number
  --out FOLDER     where ns2.json and ns2.csv go (default: out/oracle-ns2)
  --record FILE    writes the JSON there as well
  --list           lists the cells

Exit codes: 0 all agree or differ for a known reason, or SKIPPED where ns-2 is missing; 1 a run failed; 2 wrong arguments;
3 a cell differs for no known reason.";

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let ns2 = match Ns2::find(&arguments.out) {
        Ok(ns2) => ns2,
        Err(Ns2Error::Missing) => {
            eprintln!("SKIPPED: make oracle-ns2: {}", Ns2Error::Missing);
            return ExitCode::SUCCESS;
        }
        Err(error) => return failed(&error.to_string()),
    };
    match arguments.compare(&ns2).and_then(|findings| arguments.tell(findings)) {
        Ok(code) => code,
        Err(why) => failed(&why),
    }
}

fn failed(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::FAILURE
}

struct Arguments {
    cells: Vec<Cell>,
    out: PathBuf,
    record: Option<PathBuf>,
}

impl Arguments {
    /// `None` when a question was answered.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let (mut only, mut is_quick, mut seeds) = (String::new(), false, None);
        let (mut out, mut record) = (PathBuf::from("out/oracle-ns2"), None);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--only" => only = value()?,
                "--quick" => is_quick = true,
                "--seeds" => seeds = Some(number_of_seeds(&value()?)?),
                "--out" => out = value()?.into(),
                "--record" => record = Some(value()?.into()),
                "--list" | "--help" | "-h" => {
                    println!("{USAGE}\n\nCells:");
                    CELLS.iter().for_each(|cell| println!("  {}", cell.name));
                    return Ok(None);
                }
                _ => return Err(format!("there is no option {word}")),
            }
        }
        let asked = |cell: &&Cell| cell.name.contains(&only) && (cell.is_quick || !is_quick);
        let cells: Vec<Cell> = CELLS.iter().filter(asked).copied().collect();
        if cells.is_empty() {
            return Err(format!("no cell has `{only}` in its name; --list shows them"));
        }
        let cells = cells.into_iter().map(|cell| Cell { seeds: seeds.unwrap_or(cell.seeds), ..cell });
        Ok(Some(Arguments { cells: cells.collect(), out, record }))
    }

    /// Runs every cell under every seed on both sides, in parallel.
    fn compare(&self, ns2: &Ns2) -> Result<Vec<Finding>, String> {
        let mut jobs: Vec<(&Cell, u64)> =
            self.cells.iter().flat_map(|cell| (1..=cell.seeds).map(move |seed| (cell, seed))).collect();
        // The long ones first, so that no core waits for one of them at the end.
        jobs.sort_by_key(|(cell, _)| std::cmp::Reverse(cell.mbps * u64::from(cell.duration_s)));
        let style =
            ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left").expect("well formed");
        let bar = ProgressBar::new(jobs.len() as u64).with_style(style);
        let both = |(cell, seed): (&Cell, u64)| -> Result<_, String> {
            let theirs = ns2.run(cell, seed).map_err(|error| error.to_string())?;
            Ok((cell.name, seed, theirs, ours::run(cell, seed)?))
        };
        let mut runs: Vec<(&str, u64, Outcome, Outcome)> =
            jobs.into_par_iter().progress_with(bar).map(both).collect::<Result<_, String>>()?;
        runs.sort_by_key(|(_, seed, ..)| *seed);
        let finding = |cell: &Cell| {
            let (theirs, ours): (Vec<_>, Vec<_>) = runs
                .iter()
                .filter(|(name, ..)| *name == cell.name)
                .map(|(_, _, theirs, ours)| (theirs.clone(), ours.clone()))
                .unzip();
            Finding::new(cell, &theirs, &ours)
        };
        Ok(self.cells.iter().map(finding).collect())
    }

    fn tell(&self, mut findings: Vec<Finding>) -> Result<ExitCode, String> {
        let unneeded = exceptions::explain(&mut findings, &exceptions::known());
        println!("{}", heading());
        findings.iter().for_each(|finding| print!("{}", finding.text()));
        let values = csv(&findings);
        let count = |is: fn(&&Finding) -> bool| findings.iter().filter(is).count();
        let bad: Vec<&str> =
            findings.iter().filter(|finding| finding.is_bad()).map(|finding| finding.cell).collect();
        let explained =
            count(|finding| !finding.is_bad() && finding.rows.iter().any(|row| row.because.is_some()));
        println!(
            "\n{} cells: {} agree, {explained} differ for a known reason, {} differ {bad:?}",
            findings.len(),
            findings.len() - explained - bad.len(),
            bad.len()
        );
        for unneeded in unneeded {
            println!("agrees, though bench/ns2/exceptions.toml says it differs: {unneeded}");
        }
        let code = if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) };
        let report = Report { schema_version: 1, oracle: "ns-2 2.35", cells: findings };
        let text = serde_json::to_string_pretty(&report).expect("plain data") + "\n";
        let mut files = vec![(self.out.join("ns2.json"), &text), (self.out.join("ns2.csv"), &values)];
        files.extend(self.record.clone().map(|file| (file, &text)));
        for (file, text) in files {
            std::fs::write(&file, text).map_err(|error| format!("writing {}: {error}", file.display()))?;
            println!("written to {}", file.display());
        }
        Ok(code)
    }
}

fn number_of_seeds(typed: &str) -> Result<u64, String> {
    match typed.parse() {
        Ok(seeds @ 2..=1000) => Ok(seeds),
        _ => Err(format!("--seeds is `{typed}`; allowed: a whole number from 2 to 1000")),
    }
}
