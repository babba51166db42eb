//! `fairwire-oracle`: compares Linux's queue disciplines and netem's faults with ours.
#![forbid(unsafe_code)]

use fairwire_catalogue as catalogue;
use fairwire_metrics::judge::Verdict;
use fairwire_oracle::case::{Case, read_all};
use fairwire_oracle::compare::Pair;
use fairwire_oracle::flood::{self, FLOODS, Flood};
use fairwire_oracle::guest::{Oracle, Result as Answer, Trace, Work};
use fairwire_oracle::outcome::Outcome;
use fairwire_oracle::replay::replay;
use fairwire_oracle::report::Finding;
use fairwire_oracle::trace::Arrival;
use fairwire_oracle::wires::{self, Faulty, Figure, WIRES};
use fairwire_stages::linux::Tally;
use fairwire_stages::linux::guest::{self, Run};
use fairwire_stages::linux::uml::{Uml, UmlError, result};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

const USAGE: &str = "\
Holds fairwire's disciplines against Linux's own, in User Mode Linux.

Usage: fairwire-oracle [--out FOLDER] [--list] [--again] [CASE | FOLDER | FLOOD | WIRE]...

  CASE, FOLDER   files of cases, and folders of them, such as proof/suite/packets/red.toml; without any, proof/suite/packets
  FLOOD          a flood under a discipline of the kernel, by its name: its runs are left for `fairwire-field peers`
  WIRE           netem's faults beside those of our wire, by its name; `wires` are all
  --out FOLDER   where results and the kernel's raw answers go (default: out/oracle-linux)
  --list         lists the cases, the floods and the wires
  --again        starts no kernel: compares ours anew with what the kernel answered last time, in the folder of --out

Exit codes: 0 all agree, or SKIPPED where User Mode Linux is missing; 1 a figure lies outside its tolerance, or the
oracle failed; 2 wrong arguments.";

const SUITE: &str = "proof/suite/packets";

fn main() -> ExitCode {
    let mut oracle = Oracle::default();
    guest::take_over(&mut |run, modules, _| oracle.answer(run, modules));
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match arguments.run() {
        Ok(code) => code,
        Err(Failure::Uml(UmlError::Missing(what))) => {
            eprintln!("SKIPPED: {}: {what}", arguments.target());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Arguments {
    out: PathBuf,
    cases: Vec<Case>,
    floods: Vec<&'static Flood>,
    wires: Vec<&'static Faulty>,
    is_question: bool,
    is_again: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let (mut out, mut paths) = (PathBuf::from("out/oracle-linux"), Vec::new());
        let (mut floods, mut wires) = (Vec::new(), Vec::new());
        let (mut is_question, mut is_again) = (false, false);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out" => out = words.next().ok_or("--out needs a folder")?.into(),
                "--again" => is_again = true,
                "--list" | "--help" | "-h" => is_question = true,
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                "wires" => wires.extend(&WIRES),
                word => match (flood::find(word), wires::find(word)) {
                    (Some(flood), _) => floods.push(flood),
                    (None, Some(wire)) => wires.push(wire),
                    (None, None) => paths.push(PathBuf::from(word)),
                },
            }
        }
        if paths.is_empty() && floods.is_empty() && wires.is_empty() {
            paths.push(SUITE.into());
        }
        Ok(Arguments { out, cases: read_all(&paths)?, floods, wires, is_question, is_again })
    }

    fn run(&self) -> Result<ExitCode, Failure> {
        if self.is_question {
            println!("{USAGE}\n\nCases:");
            for case in &self.cases {
                println!("  {:<20} {} | {}", case.name, case.ours, case.kernel.qdisc);
            }
            println!("\nFloods:");
            for flood in &FLOODS {
                println!("  {:<20} {}", flood.name, flood.kernel);
            }
            println!("\nWires:");
            for wire in &WIRES {
                println!("  {:<20} {}", wire.name, wire.summary);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let folder = if self.is_again { self.out.join("guest") } else { self.run_guest()? };
        let wires_agree = self.judge_wires(&folder)?;
        Ok(if self.judge_cases(&folder)? && wires_agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn run_guest(&self) -> Result<PathBuf, Failure> {
        let uml = Uml::find()?;
        let folder = fresh(&self.out.join("guest"))
            .map_err(|error| Failure::System("making the folder of results".into(), error))?;
        let wanted = |case: &&Case| catalogue::find(&case.ours).is_ok();
        let of_cases = self.cases.iter().filter(wanted).flat_map(of_case);
        let of_floods = self.floods.iter().flat_map(|flood| of_flood(flood));
        let of_wires = self.wires.iter().map(|wire| of_wire(wire));
        let runs: Vec<Run> = of_cases.chain(of_floods).chain(of_wires).map(|(run, _)| run).collect();
        println!("User Mode Linux {} does {} runs", uml.version, runs.len());
        uml.run(&folder, &runs, &mut |_| {}, &AtomicBool::new(false))?;
        Ok(folder)
    }

    fn target(&self) -> &'static str {
        if self.wires.is_empty() { "make oracle-linux" } else { "make oracle-netem" }
    }

    fn judge_wires(&self, folder: &Path) -> Result<bool, Failure> {
        if self.wires.is_empty() {
            return Ok(true);
        }
        let mut figures: Vec<Figure> = Vec::new();
        for wire in &self.wires {
            figures.extend(wire.figures(&result::<Tally>(folder, &of_wire(wire).0)?));
        }
        println!(
            "\n| wire | figure | kernel / ours | difference, % ± its standard error |\n|---|---|---|---|"
        );
        figures.iter().for_each(|figure| println!("{}", figure.line()));
        let bad = figures.iter().filter(|figure| figure.verdict() != Verdict::Holds).count();
        let file = self.write("wires.json", &figures)?;
        println!("\n{} agree, {bad} do not; written to {}", figures.len() - bad, file.display());
        Ok(bad == 0)
    }

    fn judge_cases(&self, folder: &Path) -> Result<bool, Failure> {
        if self.cases.is_empty() {
            return Ok(true);
        }
        let mut findings = Vec::new();
        for case in &self.cases {
            let finding = judge(case, folder)?;
            println!("\n{}", finding.text().trim_end());
            findings.push(finding);
        }
        let file = self.write("findings.json", &findings)?;
        let bad: Vec<&str> =
            findings.iter().filter(|finding| finding.is_bad()).map(|finding| finding.case.as_str()).collect();
        let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        let (agree, shown) = (count(Some(Verdict::Holds)), count(None));
        let missing = count(Some(Verdict::NotTestable));
        println!(
            "\n{agree} agree, {} do not {bad:?}; {shown} for information, {missing} not in the catalogue; written to {}",
            bad.len(),
            file.display()
        );
        Ok(bad.is_empty())
    }

    fn write<T: Serialize>(&self, name: &str, what: &T) -> Result<PathBuf, Failure> {
        let file = self.out.join(name);
        let text = serde_json::to_string_pretty(what).expect("plain data");
        match std::fs::write(&file, text + "\n") {
            Ok(()) => Ok(file),
            Err(error) => Err(Failure::System(format!("writing {}", file.display()), error)),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Uml(#[from] UmlError),
    #[error("{0}: {1}")]
    System(String, std::io::Error),
}

fn run_of(name: &str, seed: u64, work: &Work) -> (Run, u64) {
    (Run { name: format!("{name}-{seed}"), work: serde_json::to_value(work).expect("plain data") }, seed)
}

fn of_case(case: &Case) -> impl Iterator<Item = (Run, u64)> {
    let trace = |seed| Trace {
        commands: case.commands(),
        module: case.module(),
        traffic: case.traffic.text.clone(),
        seed,
    };
    (1..=case.runs).map(move |seed| run_of(&case.name, seed, &Work::Trace(trace(seed))))
}

fn of_flood(flood: &'static Flood) -> impl Iterator<Item = (Run, u64)> {
    (1..=flood::RUNS).map(|seed| run_of(flood.name, seed, &Work::Contest(Box::new(flood.contest(seed)))))
}

fn of_wire(wire: &Faulty) -> (Run, u64) {
    run_of(wire.name, 1, &Work::Contest(Box::new(wire.contest())))
}

fn keep(folder: &Path, run: &Run, arrivals: &[Arrival], ours: &Outcome) -> Result<(), Failure> {
    let file = folder.join(format!("ours-{}", run.file()));
    let flows: Vec<usize> = arrivals.iter().map(|arrival| arrival.flow).collect();
    let bytes: Vec<u32> = arrivals.iter().map(|arrival| arrival.bytes).collect();
    let kept = serde_json::json!({ "flows": flows, "bytes": bytes, "outcome": ours });
    let text = serde_json::to_vec(&kept).expect("plain data");
    std::fs::write(&file, text).map_err(|error| Failure::System(format!("writing {}", file.display()), error))
}

fn judge(case: &Case, folder: &Path) -> Result<Finding, Failure> {
    if catalogue::find(&case.ours).is_err() {
        return Ok(Finding::not_in_the_catalogue(case));
    }
    let mut pairs = Vec::new();
    for (run, seed) in of_case(case) {
        let kernel = result::<Answer>(folder, &run)?.outcome;
        let arrivals = case.traffic.arrivals(seed);
        match case.discipline(seed) {
            Ok(mut discipline) => {
                let ours = replay(&mut *discipline, case.credit(), &arrivals, &kernel.came_ns);
                keep(folder, &run, &arrivals, &ours)?;
                pairs.push(Pair { arrivals, kernel, ours });
            }
            Err(why) => return Ok(Finding::not_built(case, &why)),
        }
    }
    Ok(Finding::new(case, &pairs))
}

/// Returns the absolute path, since the guest has another working directory.
fn fresh(path: &Path) -> std::io::Result<PathBuf> {
    if path.exists() {
        std::fs::remove_dir_all(path)?;
    }
    std::fs::create_dir_all(path)?;
    path.canonicalize()
}
