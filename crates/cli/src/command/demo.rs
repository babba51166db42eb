//! `fairwire demo`: the product in under two minutes.

use super::{lab, run};
use crate::args::{Cli, Command, Format, LabCommand, ShareArgs};
use crate::failure::{Ending, Failure};
use crate::interrupt;
use crate::report::{self, Folder, Size};
use clap::Parser;
use fairwire_gateway::lab::LabError;
use fairwire_scenario::{Overrides, parse};
use std::path::Path;
use std::sync::atomic::Ordering;

/// The scenario of the simulated half: the same file as `scenarios/selfish-flow.toml`.
const SCENARIO: &str = include_str!("../../demo.toml");

/// Where the results go.
const OUT: &str = "out/demo";

/// Shows the simulated half, then the live half.
pub fn demo(quiet: bool) -> Result<Ending, Failure> {
    let simulated = simulated(quiet)?;
    if interrupt::flag().load(Ordering::Relaxed) {
        return Ok(Ending::Interrupted);
    }
    report::print(b"\n")?;
    let live = live(quiet)?;
    Ok(if live == Ending::Done { simulated } else { live })
}

fn simulated(quiet: bool) -> Result<Ending, Failure> {
    let scenario = parse("scenarios/selfish-flow.toml", SCENARIO, &Overrides::default())?;
    let folder = Folder::prepare(&Path::new(OUT).join("simulated"), Size { runs: 30, flows: 10 })?;
    let report = run::simulate(&scenario, 0, quiet)?;
    let headline = run::headline(&scenario);
    report::show(&report, &headline, Format::Table)?;
    folder.write(&report, &headline)?;
    report::print(format!("picture: {}\n", folder.picture().display()).as_bytes())?;
    Ok(run::ending(&scenario, &report))
}

fn live(quiet: bool) -> Result<Ending, Failure> {
    let contests = lab::contests(&defaults())?;
    let folder = Folder::prepare(&Path::new(OUT).join("live"), Size { runs: contests.len(), flows: 10 })?;
    let report = match lab::hold(&contests, quiet) {
        Ok(report) => report,
        Err(error @ (LabError::NoRights { .. } | LabError::NoVeth { .. })) => {
            eprintln!("The live half is left out: {error}");
            return Ok(Ending::Done);
        }
        Err(error) => return Err(Failure::Ours(error.to_string())),
    };
    let headline = lab::headline(&contests[0]);
    report::show(&report, &headline, Format::Table)?;
    folder.write(&report, &headline)?;
    report::print(format!("picture: {}\n", folder.picture().display()).as_bytes())?;
    Ok(if report.manifest.interrupted { Ending::Interrupted } else { Ending::Done })
}

/// What `fairwire lab share` does without options, three times over: an interval needs more than one run.
fn defaults() -> ShareArgs {
    match Cli::parse_from(["fairwire", "lab", "share", "--runs", "3"]).command {
        Command::Lab { lab: LabCommand::Share(args) } => args,
        _ => unreachable!("that is what was asked for"),
    }
}
