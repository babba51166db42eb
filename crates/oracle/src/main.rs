//! `fairwire-oracle`: Linux's own queue disciplines beside ours. Started by `make oracle-linux`.
#![forbid(unsafe_code)]

use fairwire_disciplines::catalogue;
use fairwire_oracle::cases::{self, Case};
use fairwire_oracle::compare::Pair;
use fairwire_oracle::guest::{self, JOB_VARIABLE, Run};
use fairwire_oracle::host::{self, HostError, Uml};
use fairwire_oracle::replay::replay;
use fairwire_oracle::report::{Finding, Verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Holds fairwire's disciplines against Linux's own, in User Mode Linux.

Usage: fairwire-oracle [--out FOLDER] [--list] [CASE]...

  CASE           only these cases; without any, all
  --out FOLDER   where results and the kernel's raw answers go (default: out/oracle-linux)
  --list         lists the cases

Exit codes: 0 all agree, or SKIPPED where User Mode Linux is missing; 1 a figure lies outside its tolerance, or the
oracle failed; 2 wrong arguments.";

fn main() -> ExitCode {
    if let Some(job) = std::env::var_os(JOB_VARIABLE) {
        guest::run(Path::new(&job));
        return ExitCode::FAILURE; // not reached: the guest is off
    }
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match arguments.run() {
        Ok(code) => code,
        Err(HostError::Missing(what)) => {
            eprintln!("SKIPPED: make oracle-linux: {what}");
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
    cases: Vec<&'static Case>,
    is_question: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut read =
            Arguments { out: PathBuf::from("out/oracle-linux"), cases: Vec::new(), is_question: false };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out" => read.out = words.next().ok_or("--out needs a folder")?.into(),
                "--list" | "--help" | "-h" => {
                    println!("{USAGE}\n\nCases:");
                    cases::CASES
                        .iter()
                        .for_each(|case| println!("  {:<16} {} | {}", case.name, case.ours, case.kernel));
                    read.is_question = true;
                }
                name => read.cases.push(cases::find(name).ok_or_else(|| format!("there is no case {name}"))?),
            }
        }
        if read.cases.is_empty() {
            read.cases = cases::CASES.iter().collect();
        }
        Ok(read)
    }

    fn run(&self) -> Result<ExitCode, HostError> {
        if self.is_question {
            return Ok(ExitCode::SUCCESS);
        }
        let uml = Uml::find()?;
        let folder = fresh(&self.out.join("guest"))
            .map_err(|error| HostError::System("making the folder of results".into(), error))?;
        let wanted = |case: &&&Case| catalogue::find(case.ours).is_ok();
        let runs: Vec<Run> = self.cases.iter().filter(wanted).flat_map(|case| runs(case)).collect();
        println!("User Mode Linux {} does {} runs", uml.version, runs.len());
        uml.run(&folder, &runs)?;
        let mut findings = Vec::new();
        for case in &self.cases {
            let finding = judge(case, &folder)?;
            println!("\n{}", finding.text().trim_end());
            findings.push(finding);
        }
        let file = self.out.join("findings.json");
        let text = serde_json::to_string_pretty(&findings).expect("plain data");
        std::fs::write(&file, text)
            .map_err(|error| HostError::System("writing the findings".into(), error))?;
        let bad: Vec<&str> =
            findings.iter().filter(|finding| finding.is_bad()).map(|finding| finding.case).collect();
        let count = |verdict: Verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        let (agree, shown) = (count(Verdict::Agrees), count(Verdict::Shown));
        let missing = count(Verdict::NotInTheCatalogue);
        println!(
            "\n{agree} agree, {} do not {bad:?}; {shown} for information, {missing} not in the catalogue; written to {}",
            bad.len(),
            file.display()
        );
        Ok(if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn runs(case: &Case) -> impl Iterator<Item = Run> {
    let name = case.name.to_owned();
    (1..=case.runs).map(move |seed| Run { case: name.clone(), seed })
}

/// Compares the runs of `case`, which the guest has done.
fn judge(case: &Case, folder: &Path) -> Result<Finding, HostError> {
    if catalogue::find(case.ours).is_err() {
        return Ok(Finding::new(case, Err(Verdict::NotInTheCatalogue)));
    }
    let mut pairs = Vec::new();
    for run in runs(case) {
        let kernel = host::result(folder, &run)?.outcome;
        let arrivals = case.traffic.arrivals(run.seed);
        match case.discipline(run.seed) {
            Ok(mut discipline) => {
                let ours = replay(&mut *discipline, case.shaper, &arrivals, &kernel.came_ns);
                host::keep(folder, &run, &arrivals, &ours)?;
                pairs.push(Pair { arrivals, kernel, ours });
            }
            Err(why) => return Ok(Finding::new(case, Err(Verdict::NotBuilt(why)))),
        }
    }
    Ok(Finding::new(case, Ok(&pairs)))
}

/// An empty folder at `path`, by its whole name: the guest has another working directory.
fn fresh(path: &Path) -> std::io::Result<PathBuf> {
    if path.exists() {
        std::fs::remove_dir_all(path)?;
    }
    std::fs::create_dir_all(path)?;
    path.canonicalize()
}
