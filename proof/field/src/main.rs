//! `fairwire-field`: real networks that test the gateway's promises.
#![forbid(unsafe_code)]

use fairwire_document::DocumentError;
use fairwire_field::contest::{self, Case, Judged};
use fairwire_field::fault::{FAULTS, Happened};
use fairwire_field::home::{self, Home};
use fairwire_field::tries::Outcome as _;
use fairwire_field::{
    Fallible, autorate, diffserv, hostile, page, peers, report, restart, scale, shell, soak, subscribers,
    threads,
};
use fairwire_testbed::error::TroubleKind;
use fairwire_testbed::message::AGENT_COMMAND;
use fairwire_testbed::{agent, pid_namespace};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// A named set of runs, with results in a file of the same name.
struct Target {
    name: &'static str,
    about: &'static str,
    in_all: bool,
    run: fn(IsWanted<'_>) -> Vec<Happened>,
}

type IsWanted<'a> = &'a dyn Fn(&str) -> bool;

const TARGETS: [Target; 10] = [
    Target {
        name: "plans",
        about: "one CUBIC on a plan of 200 Mbit/s among 10, 1000 and 20 000 subscribers",
        in_all: true,
        run: |_| scale::one_on_its_plan(),
    },
    Target {
        name: "page",
        about: "what the gateway's page costs with three viewers, and whether 10 000 slow connections disturb",
        in_all: true,
        run: |_| page::all(),
    },
    Target {
        name: "shell",
        about: "the rate and the delay of `fairwire lab shell`",
        in_all: true,
        run: |_| shell::all(),
    },
    Target {
        name: "autorate",
        about: "a gateway in front of a line that halves and comes back, with a fixed rate and with autorate",
        in_all: true,
        run: autorate::all,
    },
    Target {
        name: "subscribers",
        about: "set-up, bursts, and sessions, plans and suspensions that change among 20 000 subscribers",
        in_all: true,
        run: subscribers::all,
    },
    Target {
        name: "restart",
        about: "twenty processes that take the link over from each other, and the same without",
        in_all: true,
        run: restart::all,
    },
    Target {
        name: "threads",
        about: "shares, order and reloads with one thread and with two, at a rate that one can send and without limit",
        in_all: true,
        run: threads::all,
    },
    Target {
        name: "diffserv",
        about: "a DiffServ domain with fixed and with adaptive token buckets: gains beside the simulation (12 minutes)",
        in_all: false,
        run: diffserv::all,
    },
    Target {
        name: "hostile",
        about: "a hostile host beside a victim, attack by attack, in a home and at a provider (8 minutes)",
        in_all: false,
        run: hostile::all,
    },
    Target {
        name: "scale",
        about: "20 000 subscribers: memory, start, reload",
        in_all: true,
        run: |_| scale::twenty_thousand(),
    },
];

fn usage() -> String {
    let in_all: Vec<&str> = TARGETS.iter().filter(|target| target.in_all).map(|target| target.name).collect();
    let all = format!("contests, faults, {} (the default)", in_all.join(", "));
    let lines: String = [
        ("all", all.as_str()),
        ("contests", "traffic against disciplines, held against the max-min oracle"),
        ("faults", "what was promised, what happened, the counters"),
    ]
    .into_iter()
    .chain(TARGETS.iter().map(|target| (target.name, target.about)))
    .chain([
        ("soak", "full load and reloads for minutes"),
        (
            "home",
            "a heavy host, another and a quiet one on 50/10 Mbit/s, under HTB and ours, bump and NAT router",
        ),
        ("peers", "the same traffic through the kernel's HTB; needs iproute2"),
        ("list", "lists contests and faults"),
    ])
    .map(|(name, about)| format!("  {name:<12} {about}\n"))
    .collect();
    USAGE.replace("{commands}", &lines)
}

const USAGE: &str = "\
Holds the gateway against its promises, in network namespaces with this kernel's TCP.

Usage: fairwire-field [OPTION]... [COMMAND] [NAME]...

{commands}
With NAMEs only the parts whose names contain one of them.

  --suite FOLDER   contests and homes (default: proof/suite/field)
  --out FOLDER     where results go (default: out/field)
  --uml FOLDER     where fairwire-oracle left its runs, for `peers` (default: out/oracle-linux/guest)
  --minutes N      of a soak (default: 10)
  --seconds N      of each contest (default: 20), the first quarter of it not measured; a long one lasts four or twelve times as long.
                   Of `home` the first third is not measured (default there: 12)

The gateway is the program `fairwire-gateway` in the same folder, or the program and arguments in the variable FAIRWIRE_GATEWAY.

Exit codes: 0 all holds, or SKIPPED where there may be no network namespaces; 1 a promise does not hold, or the run failed;
2 wrong arguments, or a file of the suite that makes no sense.";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|first| first == AGENT_COMMAND) {
        std::process::exit(agent::main(words.into_iter().skip(1)));
    }
    if words.first().is_some_and(|first| first == shell::PROBE_COMMAND) {
        return shell::probe(&words[1..]).map_or_else(
            |error| {
                eprintln!("{error}");
                ExitCode::FAILURE
            },
            |()| ExitCode::SUCCESS,
        );
    }
    let arguments = match Arguments::read(words.into_iter()) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}\n\n{}", usage());
            return ExitCode::from(2);
        }
    };
    match pid_namespace::run(|| arguments.run()) {
        Ok(code) => code,
        Err(trouble) if trouble.kind == TroubleKind::NoRights => {
            eprintln!("SKIPPED: fairwire-field: {trouble}");
            ExitCode::SUCCESS
        }
        Err(trouble) => {
            eprintln!("{trouble}");
            ExitCode::FAILURE
        }
    }
}

struct Arguments {
    suite: PathBuf,
    out: PathBuf,
    uml: PathBuf,
    minutes: f64,
    seconds: Option<u64>,
    command: Command,
    names: Vec<String>,
}

#[derive(Clone, Copy)]
enum Command {
    All,
    Contests,
    Faults,
    Target(&'static Target),
    Soak,
    Home,
    Peers,
    List,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut read = Arguments {
            suite: PathBuf::from("proof/suite/field"),
            out: PathBuf::from("out/field"),
            uml: PathBuf::from("out/oracle-linux/guest"),
            minutes: 10.0,
            seconds: None,
            command: Command::All,
            names: Vec::new(),
        };
        let mut is_chosen = false;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match word.as_str() {
                "--suite" => read.suite = value()?.into(),
                "--out" => read.out = value()?.into(),
                "--uml" => read.uml = value()?.into(),
                "--minutes" => read.minutes = within(&value()?, "--minutes", 0.5, 1440.0)?,
                "--seconds" => read.seconds = Some(within(&value()?, "--seconds", 4.0, 600.0)? as u64),
                "--help" | "-h" => read.command = Command::List,
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                name if is_chosen => read.names.push(name.to_owned()),
                name => {
                    read.command = command(name).ok_or_else(|| format!("there is no command {name}"))?;
                    is_chosen = true;
                }
            }
        }
        Ok(read)
    }

    fn run(&self) -> ExitCode {
        let outcome = match self.command {
            Command::All => self.all(),
            Command::Contests => self.contests(),
            Command::Faults => self.faults(),
            Command::Target(target) => self.target(target),
            Command::Soak => self.soak(),
            Command::Home => self.home(),
            Command::Peers => self.peers(),
            Command::List => self.list(),
        };
        match outcome {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{error}");
                if error.is::<DocumentError>() { ExitCode::from(2) } else { ExitCode::FAILURE }
            }
        }
    }

    fn list(&self) -> Fallible<bool> {
        let mut text = format!("{}\n\nContests:\n", usage());
        for case in contest::read_all(&self.suite)? {
            text += &format!("  {}{}\n", case.name, if case.is_quick { " (a test too)" } else { "" });
        }
        text += "\nFaults:\n";
        for fault in FAULTS {
            text += &format!("  {:<24} {}\n", fault.name, fault.promised);
        }
        // The reader of a pipe may close it early.
        let _ = std::io::stdout().write_all(text.as_bytes());
        Ok(true)
    }

    fn all(&self) -> Fallible<bool> {
        let contests = self.contests()?;
        let faults = self.faults()?;
        let mut holds = contests && faults;
        for target in TARGETS.iter().filter(|target| target.in_all) {
            holds &= self.target(target)?;
        }
        Ok(holds)
    }

    fn target(&self, target: &Target) -> Fallible<bool> {
        self.report(&format!("{}.json", target.name), (target.run)(&|name| self.is_named(name)))
    }

    fn is_named(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|own| name.contains(own.as_str()))
    }

    fn contests(&self) -> Fallible<bool> {
        let mut cases = contest::read_all(&self.suite)?;
        cases.retain(|case| self.is_named(&case.name));
        if cases.is_empty() {
            let names = self.names.join("` or `");
            return Err(
                format!("no contest has `{names}` in its name; allowed: see `fairwire-field list`").into()
            );
        }
        let cases: Vec<Case> =
            cases.into_iter().map(|case| case.beside(self.seconds.unwrap_or(20))).collect();
        let bar = report::bar(cases.len());
        let mut all: Vec<Judged> = Vec::new();
        println!("{}", report::HEADING);
        for case in cases {
            bar.set_message(case.name.clone());
            let judged = case.hold().map_err(|error| format!("{}: {error}", case.name))?;
            bar.suspend(|| print!("{}", report::rows(&judged)));
            all.push(judged);
            bar.inc(1);
        }
        bar.finish_and_clear();
        print!("{}", report::reasons(&all));
        self.keep("contests", &all)?;
        Ok(all.iter().all(Judged::holds))
    }

    fn keep(&self, name: &str, all: &[Judged]) -> Fallible<()> {
        report::write(&self.out, &format!("{name}.json"), &all)?;
        std::fs::write(self.out.join(format!("{name}.csv")), report::csv(all))?;
        println!("written to {}", self.out.join(format!("{name}.csv")).display());
        Ok(())
    }

    fn faults(&self) -> Fallible<bool> {
        let faults: Vec<_> = FAULTS.iter().filter(|fault| self.is_named(fault.name)).collect();
        let bar = report::bar(faults.len());
        let mut all = Vec::new();
        for fault in faults {
            bar.set_message(fault.name);
            let happened = fault.tried();
            bar.suspend(|| print!("{}", report::happened(&happened)));
            all.push(happened);
            bar.inc(1);
        }
        bar.finish_and_clear();
        report::write(&self.out, "faults.json", &all)?;
        Ok(all.iter().all(Happened::holds))
    }

    fn soak(&self) -> Fallible<bool> {
        let bar = report::bar((self.minutes * 60.0) as usize);
        let happened = soak::soak(self.minutes, &bar);
        bar.finish_and_clear();
        self.report("soak.json", vec![happened])
    }

    fn home(&self) -> Fallible<bool> {
        let home = Home::read(&self.suite)?;
        let rows: Vec<_> = home.rows.iter().filter(|row| self.is_named(&row.name)).collect();
        let bar = report::bar(rows.len() * home.troubles.len());
        let (mut cells, mut is_whole) = (Vec::new(), true);
        for row in rows {
            if let Some(why) = row.needs() {
                eprintln!("SKIPPED: {}: {why}", row.title);
                continue;
            }
            let held = home.hold(row, self.seconds.unwrap_or(12), &mut |cell| {
                bar.suspend(|| print!("{}", home::line(cell)));
                bar.inc(1);
            });
            match held {
                Ok(held) => cells.extend(held),
                Err(error) => {
                    is_whole = false;
                    bar.suspend(|| eprintln!("{error}"));
                }
            }
        }
        bar.finish_and_clear();
        report::write(&self.out, "home.json", &cells)?;
        std::fs::write(self.out.join("home.csv"), home::csv(&cells))?;
        std::fs::write(self.out.join("home.md"), home.markdown(&cells))?;
        print!("{}", home.markdown(&cells));
        println!("written to {}", self.out.join("home.md").display());
        Ok(is_whole && cells.iter().all(home::Cell::holds))
    }

    fn peers(&self) -> Fallible<bool> {
        if let Err(why) = peers::check() {
            eprintln!("SKIPPED: the kernel's HTB: {why}");
            return Ok(true);
        }
        let all_cases = contest::read_all(&self.suite)?;
        let bar = report::bar(peers::CASES.len() * 2);
        let mut all = Vec::new();
        println!("{}", report::HEADING);
        for name in peers::CASES {
            let case = all_cases.iter().find(|case| case.name == *name);
            let case = case.cloned().ok_or("a contest of the peers is missing")?;
            let case = case.beside(self.seconds.unwrap_or(20));
            for judged in [case.hold()?, peers::through_htb(&case)?] {
                bar.suspend(|| print!("{}", report::rows(&judged)));
                all.push(judged);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        self.keep("peers", &all)?;
        self.in_uml()
    }

    /// Prints the results that `fairwire-oracle` stored in the folder `self.uml`.
    fn in_uml(&self) -> Fallible<bool> {
        let mut all = Vec::new();
        for contest in peers::IN_UML {
            match peers::in_uml(&self.uml, contest)? {
                Some(found) => {
                    println!("{}", report::in_uml(&found));
                    all.push(found);
                }
                None => eprintln!("SKIPPED: {contest} in User Mode Linux: nothing in {}", self.uml.display()),
            }
        }
        report::write(&self.out, "uml.json", &all)?;
        Ok(true)
    }

    fn report(&self, file: &str, all: Vec<Happened>) -> Fallible<bool> {
        all.iter().for_each(|happened| print!("{}", report::happened(happened)));
        report::write(&self.out, file, &all)?;
        Ok(all.iter().all(Happened::holds))
    }
}

fn command(name: &str) -> Option<Command> {
    Some(match name {
        "all" => Command::All,
        "contests" => Command::Contests,
        "faults" => Command::Faults,
        "soak" => Command::Soak,
        "home" => Command::Home,
        "peers" => Command::Peers,
        "list" => Command::List,
        _ => Command::Target(TARGETS.iter().find(|target| target.name == name)?),
    })
}

fn within(text: &str, option: &str, min: f64, max: f64) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (min..=max).contains(number));
    number.ok_or_else(|| format!("{option} is {text}; allowed: {min} to {max}"))
}
