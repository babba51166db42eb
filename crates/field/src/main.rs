//! `fairwire-field`: real networks that hold the gateway against its promises. Started by `make field`.
#![forbid(unsafe_code)]

use fairwire_field::contest::{self, Case, Judged};
use fairwire_field::pen::{self, NoPen};
use fairwire_field::{Fallible, agent, report};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "\
Holds the gateway against its promises, in network namespaces with this kernel's TCP.

Usage: fairwire-field [--out FOLDER] [--seconds N] list | contests [NAME]...";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == agent::COMMAND) {
        return agent::main(&arguments[1..]);
    }
    match pen::run(|| run(&arguments)) {
        Ok(code) => code,
        Err(NoPen::NoRights(why)) => {
            eprintln!("SKIPPED: make field: {why}");
            ExitCode::SUCCESS
        }
        Err(NoPen::Failed(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> ExitCode {
    match try_run(arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(arguments: &[String]) -> Fallible<bool> {
    let names: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match arguments.first().map(String::as_str) {
        Some("list") => {
            contest::all().iter().for_each(|case| println!("{}", case.name));
            Ok(true)
        }
        Some("contests") => contests(&names, Path::new("out/field")),
        _ => Err(USAGE.into()),
    }
}

fn contests(names: &[&str], out: &Path) -> Fallible<bool> {
    let is_wanted = |case: &Case| names.is_empty() || names.iter().any(|name| case.name.contains(name));
    let cases: Vec<Case> = contest::all().into_iter().filter(is_wanted).collect();
    let bar = report::bar(cases.len());
    let mut all: Vec<Judged> = Vec::new();
    println!("{}", report::HEADING);
    for case in cases {
        bar.set_message(case.name.clone());
        let judged = case.hold()?;
        bar.suspend(|| print!("{}", report::rows(&judged)));
        all.push(judged);
        bar.inc(1);
    }
    bar.finish_and_clear();
    report::write(out, "contests.json", &all)?;
    std::fs::write(out.join("contests.csv"), report::csv(&all))?;
    Ok(all.iter().all(|judged| judged.faults.is_empty()))
}
