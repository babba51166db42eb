//! `fairwire-senders`: compares our TCPs with a kernel's over a grid of wires with faults.
#![forbid(unsafe_code)]

use fairwire_experiment::Stage;
use fairwire_experiment::sim::Sim;
use fairwire_senders::Failure;
use fairwire_senders::cell::{self, Cell};
use fairwire_senders::judge::{self, ComparedCell, Sum, Verdict};
use fairwire_senders::kept::{self, Figure};
use fairwire_senders::picture;
use fairwire_testbed::agent;
use fairwire_testbed::message::AGENT_COMMAND;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

const USAGE: &str = "\
Holds our TCPs against a kernel's, over a grid of wires with faults.

Usage: fairwire-senders [OPTION]... [PLAN | FOLDER]...

  PLAN, FOLDER     plans of sweeps whose cells are compared, and folders of them (default: proof/suite/senders)
  --only TEXT      only cells whose `plan: name` contains this text, such as \"loss: cubic\"; again for others too
  --on STAGE       measure the kernel's side first, on `linux`, `lab` or `kernel`, and keep it
  --seeds N        runs of each cell there, under the first seeds of its plan (default: 1); ours are all
  --kept FILE      the kernel's figures (default: proof/suite/senders/kernel.csv)
  --known FILE     causes of what differs (default: proof/suite/senders/known.toml)
  --jobs N         runs at the same time (default: one for each core)
  --out FOLDER     where the table goes as CSV and JSON, and the picture (default: out/senders)

Exit codes: 0 ours are as near as is wanted, or SKIPPED where this machine lacks a stage; 1 a run failed; 2 wrong arguments, or a file that makes no sense; 3 they are not.";

const SUITE: &str = "proof/suite/senders";

fn main() -> ExitCode {
    fairwire_stages::linux::take_over(); // does not return in a process of User Mode Linux
    fairwire_experiment::offer(fairwire_stages::ALL);
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|first| first == AGENT_COMMAND) {
        std::process::exit(agent::main(words.into_iter().skip(1)));
    }
    let outcome = Arguments::read(words.into_iter()).and_then(|arguments| match arguments {
        Some(arguments) => arguments.run(),
        None => {
            println!("{USAGE}");
            Ok(true)
        }
    });
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(Failure::User(why)) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
        Err(Failure::Lacking(what)) => {
            eprintln!("SKIPPED: fairwire-senders: {what}");
            ExitCode::SUCCESS
        }
        Err(Failure::Machine(why)) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

struct Arguments {
    cells: Vec<Cell>,
    only: Vec<String>,
    measures: Option<&'static dyn Stage>,
    kept: PathBuf,
    known: PathBuf,
    seeds: usize,
    jobs: usize,
    out: PathBuf,
}

impl Arguments {
    /// Returns `None` if the user requests help.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, Failure> {
        let suite = Path::new(SUITE);
        let (mut paths, mut only, mut measures, mut seeds, mut jobs) = (Vec::new(), Vec::new(), None, 1, 0);
        let (mut kept, mut known, mut out) =
            (suite.join("kernel.csv"), suite.join("known.toml"), PathBuf::from("out/senders"));
        while let Some(word) = words.next() {
            let mut value = || {
                let missing =
                    || Failure::User(format!("{word} has no value; allowed: one after it\n\n{USAGE}"));
                words.next().ok_or_else(missing)
            };
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--only" => only.push(value()?),
                "--on" => measures = Some(stage(&value()?)?),
                "--kept" => kept = value()?.into(),
                "--known" => known = value()?.into(),
                "--seeds" => seeds = number(&word, &value()?, 1)?,
                "--jobs" => jobs = number(&word, &value()?, 0)?,
                "--out" => out = value()?.into(),
                option if option.starts_with('-') => {
                    return Err(Failure::User(format!("there is no option {option}\n\n{USAGE}")));
                }
                path => paths.push(PathBuf::from(path)),
            }
        }
        if paths.is_empty() {
            paths.push(suite.into());
        }
        Ok(Some(Arguments { cells: cell::read(&paths)?, only, measures, kept, known, seeds, jobs, out }))
    }

    fn run(&self) -> Result<bool, Failure> {
        let causes = judge::causes(&self.known, &self.cells)?;
        let name = |cell: &Cell| format!("{}: {}", cell.plan, cell.name);
        let is_meant =
            |cell: &&Cell| self.only.is_empty() || self.only.iter().any(|text| name(cell).contains(text));
        let meant: Vec<&Cell> = self.cells.iter().filter(is_meant).collect();
        if let Some(stage) = self.measures {
            self.measure(&meant, stage)?;
        }
        let kernels = kept::read(&self.kept)?;
        let of_kernel = |cell: &Cell| kernels.iter().find(|figure| figure.is_of(&cell.plan, &cell.name));
        let (known, unknown): (Vec<&Cell>, Vec<&Cell>) =
            meant.iter().partition(|cell| of_kernel(cell).is_some());
        if known.is_empty() {
            let (file, only) = (self.kept.display(), self.only.join("`, `"));
            return Err(Failure::User(format!(
                "{file} has no figure of a cell with `{only}`; allowed: cells that it has, or `--on linux` to measure them"
            )));
        }
        let ours = cell::run(&known, &Sim, usize::MAX, self.jobs, &|_, _| {})?;
        let pairs = known.iter().zip(ours.iter().flatten());
        let row = |(cell, ours): (&&Cell, &Figure)| {
            let kernels = of_kernel(cell).expect("those without were left out");
            ComparedCell::of(cell, ours, kernels, &causes)
        };
        let rows: Vec<ComparedCell> = pairs.map(row).collect::<Result<_, _>>()?;
        let verdict = Verdict::of(&rows);
        print(&rows, &verdict);
        if !unknown.is_empty() {
            println!("{} cells have no figure of a kernel, and are not judged", unknown.len());
        }
        self.write(&rows, &verdict)?;
        let misses = verdict.misses();
        misses.iter().for_each(|miss| println!("MISS: {miss}"));
        Ok(misses.is_empty())
    }

    fn measure(&self, cells: &[&Cell], stage: &dyn Stage) -> Result<(), Failure> {
        let kernel = kernel_of(stage)?;
        let figures = Mutex::new(kept::read(&self.kept)?);
        let order = |figure: &Figure| {
            self.cells.iter().position(|cell| figure.is_of(&cell.plan, &cell.name)).unwrap_or(usize::MAX)
        };
        let keep = |cell: &Cell, figure: Option<&Figure>| {
            let Some(figure) = figure else {
                eprintln!("{}: {}: {} cannot run this", cell.plan, cell.name, stage.name());
                return;
            };
            eprintln!("{}: {}: {:.2} Mbit/s", cell.plan, cell.name, figure.goodput_bps / 1e6);
            let mut all = figures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            all.retain(|known| !known.is_of(&cell.plan, &cell.name));
            all.push(Figure { kernel: kernel.clone(), ..figure.clone() });
            all.sort_by_key(order);
            if let Err(error) = kept::write(&self.kept, &all) {
                eprintln!("{error}");
            }
        };
        cell::run(cells, stage, self.seeds, self.jobs, &keep).map(drop)
    }

    fn write(&self, rows: &[ComparedCell], verdict: &Verdict) -> Result<(), Failure> {
        let file = |name: &str| self.out.join(name);
        let why =
            |error: std::io::Error| Failure::Machine(format!("writing {}: {error}", self.out.display()));
        std::fs::create_dir_all(&self.out).map_err(why)?;
        kept::write(&file("senders.csv"), rows)?;
        let json = serde_json::json!({ "verdict": verdict, "cells": rows });
        std::fs::write(file("senders.json"), format!("{json:#}\n")).map_err(why)?;
        std::fs::write(file("senders.svg"), picture::svg(rows)).map_err(why)?;
        println!("written to {}: senders.csv, senders.json, senders.svg", self.out.display());
        Ok(())
    }
}

fn number(option: &str, given: &str, least: usize) -> Result<usize, Failure> {
    given.parse().ok().filter(|number| *number >= least).ok_or_else(|| {
        Failure::User(format!("{option} {given} was given; allowed: a whole number, {least} or more"))
    })
}

fn stage(name: &str) -> Result<&'static dyn Stage, Failure> {
    const KERNELS: [&str; 3] = ["linux", "lab", "kernel"];
    let is_kernels = KERNELS.contains(&name);
    fairwire_experiment::find(name).ok().filter(|_| is_kernels).ok_or_else(|| {
        Failure::User(format!(
            "--on {name}: it is no stage on which a kernel's TCP sends; allowed: `{}`",
            KERNELS.join("`, `")
        ))
    })
}

fn kernel_of(stage: &dyn Stage) -> Result<String, Failure> {
    if stage.name() == "linux" {
        let uml = fairwire_stages::linux::uml::Uml::find();
        return uml.map(|uml| uml.version).map_err(|error| Failure::Lacking(error.to_string()));
    }
    Ok(rustix::system::uname().release().to_string_lossy().into_owned())
}

fn print(rows: &[ComparedCell], verdict: &Verdict) {
    println!("| plan | cell | ours, Mbit/s | the kernel's | ratio | |\n|---|---|--:|--:|--:|---|");
    for row in rows {
        let is = match (row.is_within, &row.because) {
            (true, _) => "within",
            (false, Some(because)) => because,
            (false, None) => "OUTSIDE",
        };
        let (ours, kernels) = (row.ours_bps / 1e6, row.kernels_bps / 1e6);
        println!("| {} | {} | {ours:.2} | {kernels:.2} | {:.3} | {is} |", row.plan, row.cell, row.ratio);
    }
    println!("\n| of | cells | within | geometric mean, ours / the kernel's |\n|---|--:|--:|--:|");
    for Sum { of, cells, within, mean_ratio } in
        verdict.controllers.iter().chain(&verdict.faults).chain([&verdict.all])
    {
        println!("| {of} | {cells} | {:.0} % | {mean_ratio:.3} |", *within as f64 / *cells as f64 * 100.0);
    }
    println!();
}
