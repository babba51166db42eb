//! `fairwire-oracle`: Linux's own queue disciplines beside ours. Started by `make oracle-linux`.
#![forbid(unsafe_code)]

use fairwire_catalogue as catalogue;
use fairwire_oracle::cases::{self, Case};
use fairwire_oracle::compare::Pair;
use fairwire_oracle::contest::{self, Comparison, Contest, Tally};
use fairwire_oracle::guest::{self, JOB_VARIABLE, Run};
use fairwire_oracle::host::{self, HostError, Uml};
use fairwire_oracle::replay::replay;
use fairwire_oracle::report::{Finding, Verdict};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
Holds fairwire's disciplines against Linux's own, in User Mode Linux.

Usage: fairwire-oracle [--out FOLDER] [--list] [--again] [CASE | CONTEST]...

  CASE, CONTEST  only these; without any, all
  --out FOLDER   where results and the kernel's raw answers go (default: out/oracle-linux)
  --list         lists the cases and the contests
  --again        starts no kernel: compares ours anew with what the kernel answered last time, in the folder of --out

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
    contests: Vec<&'static Contest>,
    is_question: bool,
    is_again: bool,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut read = Arguments {
            out: PathBuf::from("out/oracle-linux"),
            cases: Vec::new(),
            contests: Vec::new(),
            is_question: false,
            is_again: false,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--out" => read.out = words.next().ok_or("--out needs a folder")?.into(),
                "--again" => read.is_again = true,
                "--list" | "--help" | "-h" => {
                    list();
                    read.is_question = true;
                }
                name => match (cases::find(name), contest::find(name)) {
                    (Some(case), _) => read.cases.push(case),
                    (None, Some(contest)) => read.contests.push(contest),
                    (None, None) => return Err(format!("there is neither a case nor a contest {name}")),
                },
            }
        }
        if read.cases.is_empty() && read.contests.is_empty() {
            read.cases = cases::CASES.iter().collect();
            read.contests = contest::CONTESTS.iter().collect();
        }
        Ok(read)
    }

    fn run(&self) -> Result<ExitCode, HostError> {
        if self.is_question {
            return Ok(ExitCode::SUCCESS);
        }
        let folder = if self.is_again { self.out.join("guest") } else { self.ask_the_kernel()? };
        let do_cases_agree = self.judge_cases(&folder)?;
        let do_contests_agree = self.judge_contests(&folder)?;
        Ok(if do_cases_agree && do_contests_agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Lets guests do the runs; their answers are in the folder that it gives.
    fn ask_the_kernel(&self) -> Result<PathBuf, HostError> {
        let uml = Uml::find()?;
        let folder = fresh(&self.out.join("guest"))
            .map_err(|error| HostError::System("making the folder of results".into(), error))?;
        let wanted = |case: &&&Case| catalogue::find(case.ours).is_ok();
        let of_cases = self.cases.iter().filter(wanted).flat_map(|case| runs(case.name, case.runs));
        let of_contests = self.contests.iter().flat_map(|contest| runs(contest.name, contest::cases::RUNS));
        let runs: Vec<Run> = of_cases.chain(of_contests).collect();
        println!("User Mode Linux {} does {} runs", uml.version, runs.len());
        uml.run(&folder, &runs)?;
        Ok(folder)
    }

    /// Compares all cases; do they agree?
    fn judge_cases(&self, folder: &Path) -> Result<bool, HostError> {
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
            findings.iter().filter(|finding| finding.is_bad()).map(|finding| finding.case).collect();
        let count = |verdict: Verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
        let (agree, shown) = (count(Verdict::Agrees), count(Verdict::Shown));
        let missing = count(Verdict::NotInTheCatalogue);
        println!(
            "\n{agree} agree, {} do not {bad:?}; {shown} for information, {missing} not in the catalogue; written to {}",
            bad.len(),
            file.display()
        );
        Ok(bad.is_empty())
    }

    /// Holds all contests on our side, and compares; do they agree?
    fn judge_contests(&self, folder: &Path) -> Result<bool, HostError> {
        if self.contests.is_empty() {
            return Ok(true);
        }
        let mut comparisons = Vec::new();
        for contest in &self.contests {
            let comparison = compare(contest, folder)?;
            println!("\n{}", comparison.text().trim_end());
            comparisons.push(comparison);
        }
        let file = self.write("contests.json", &comparisons)?;
        let bad: Vec<&str> = comparisons.iter().filter(|c| !c.holds()).map(|c| c.contest).collect();
        let shown = comparisons.iter().filter(|comparison| comparison.is_shown()).count();
        let agree = comparisons.len() - bad.len() - shown;
        println!(
            "\n{agree} contests agree, {} do not {bad:?}; {shown} for information; written to {}",
            bad.len(),
            file.display()
        );
        Ok(bad.is_empty())
    }

    fn write<T: Serialize>(&self, name: &str, what: &T) -> Result<PathBuf, HostError> {
        let file = self.out.join(name);
        let text = serde_json::to_string_pretty(what).expect("plain data");
        match std::fs::write(&file, text + "\n") {
            Ok(()) => Ok(file),
            Err(error) => Err(HostError::System(format!("writing {}", file.display()), error)),
        }
    }
}

fn list() {
    println!("{USAGE}\n\nCases:");
    for case in cases::CASES {
        println!("  {:<20} {} | {}", case.name, case.ours, case.kernel);
    }
    println!("\nContests:");
    for contest in contest::CONTESTS {
        println!("  {:<20} {} | {}", contest.name, contest.flows(), contest.kernel);
    }
}

/// Runs of the case or contest called `name`, seeded 1 to `count`.
fn runs(name: &'static str, count: u64) -> impl Iterator<Item = Run> {
    (1..=count).map(move |seed| Run { case: name.to_owned(), seed })
}

/// Holds `contest` on our side as often as the guest has, and compares.
fn compare(contest: &'static Contest, folder: &Path) -> Result<Comparison, HostError> {
    let (mut kernel, mut ours): (Vec<Tally>, Vec<Tally>) = Default::default();
    for run in runs(contest.name, contest::cases::RUNS) {
        kernel.push(host::result(folder, &run)?);
        let simulated = contest::simulate(contest, run.seed);
        ours.push(simulated.map_err(|why| HostError::Contest(format!("{}: {why}", contest.name)))?);
    }
    Ok(Comparison::new(contest, &kernel, &ours))
}

/// Compares the runs of `case`, which the guest has done.
fn judge(case: &Case, folder: &Path) -> Result<Finding, HostError> {
    if catalogue::find(case.ours).is_err() {
        return Ok(Finding::new(case, Err(Verdict::NotInTheCatalogue)));
    }
    let mut pairs = Vec::new();
    for run in runs(case.name, case.runs) {
        let kernel = host::result::<guest::Result>(folder, &run)?.outcome;
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
