//! `fairwire demo`: simulated and live contests in under two minutes.

use super::{lab, run};
use crate::args::{Cli, Command, Format, LabCommand, OutputArgs, ShareArgs};
use crate::progress::Part;
use crate::report;
use clap::Parser;
use fairwire_scenario::{Overrides, parse};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::interrupt;
use fairwire_terminal::notice::notice;
use std::path::Path;

/// The scenario of the simulated contest, with the same text as `scenarios/selfish-flow.toml`.
const SCENARIO: &str = include_str!("../../demo.toml");

const OUT: &str = "out/demo";

/// The fraction of the demo's time that the simulated contest takes. It takes some seconds, and the
/// live contest takes a minute.
const SIMULATED: f64 = 0.05;

pub(crate) fn demo(quiet: bool) -> Result<Ending, Failure> {
    let whole = Part::whole();
    let simulated = simulated(whole.until(SIMULATED), quiet)?;
    if interrupt::is_requested() {
        return Ok(Ending::Interrupted);
    }
    report::print(b"\n")?;
    let live = live(whole, quiet)?;
    Ok(if live == Ending::Done { simulated } else { live })
}

fn simulated(part: Part, quiet: bool) -> Result<Ending, Failure> {
    let scenario = parse("scenarios/selfish-flow.toml", SCENARIO, &Overrides::default())?;
    let out = Path::new(OUT).join("simulated");
    let output = OutputArgs::default();
    let order = run::RunOptions {
        jobs: 0,
        format: Format::Table,
        out: Some(&out),
        output: &output,
        folder: None,
        stages: &[],
        is_uncached: true,
        watched: None,
        headline: None,
        member: None,
    };
    let ending = run::carry_out(&scenario, &order, part, quiet)?;
    print_place(&out)?;
    Ok(ending)
}

fn live(whole: Part, quiet: bool) -> Result<Ending, Failure> {
    let args = defaults();
    let out = Path::new(OUT).join("live");
    let part = whole.rest(lab::length(&args));
    match lab::carry_out(&args, Format::Table, Some(&out), part, quiet) {
        Ok(ending) => print_place(&out).map(|()| ending),
        Err(Failure::User { message, help }) => {
            notice(format_args!("The live half is left out: {message}: {help}"));
            Ok(Ending::Done)
        }
        Err(failure) => Err(failure),
    }
}

fn print_place(out: &Path) -> Result<(), Failure> {
    report::print(format!("picture: {}\n", out.join(report::PICTURE).display()).as_bytes())
}

/// The defaults of `fairwire lab share`, but with three runs, for a confidence interval.
fn defaults() -> ShareArgs {
    match Cli::parse_from(["fairwire", "lab", "share", "--runs", "3"]).command {
        Command::Lab { lab: LabCommand::Share(args) } => args,
        _ => unreachable!("the demo has no other mode"),
    }
}
