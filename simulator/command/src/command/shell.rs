//! `fairwire lab shell`: a user's command behind a link.

use crate::args::{self, Outside, ShellArgs};
use crate::scene;
use fairwire_core::Duration;
use fairwire_experiment::shell::{self, ShellCommand, ShellError};
use fairwire_scenario::traces::NamedTrace;
use fairwire_scenario::{Overrides, Scenario, load, parse_in};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_testbed::enclosure::Way;
use fairwire_testbed::error::TestbedError;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;

pub(crate) fn shell(args: &ShellArgs, quiet: bool) -> Result<Ending, Failure> {
    if let Some(number) = args.watch {
        return watch(number);
    }
    let scenario = scenario(args)?;
    let command = command(args)?;
    let line = shell::line(&scenario, args.seed).map_err(|why| refused(&why.into()))?;
    let way = match args.outside {
        Outside::Any => Way::Any,
        Outside::Machine => Way::Machine,
        Outside::Relay => Way::Relay,
    };
    let order = ShellCommand { command, prompt: described(&scenario), way };
    let mut say = |what: &str| {
        if !quiet {
            notice(format_args!("note: {what}"));
        }
    };
    let ended = shell::run(&order, line, &mut say);
    ended.map(Ending::Command).map_err(|error| refused(&error))
}

/// Shows the links of the running shell with process number `number`. If `number` is 0, shows the
/// only running shell.
fn watch(number: u32) -> Result<Ending, Failure> {
    let running = shell::running();
    let listed = running.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let chosen = match (number, running.as_slice()) {
        (_, []) => {
            let help = "begin one with `fairwire lab shell`, in the same network namespace";
            return Err(Failure::user("`--watch` is given, but no shell is running", help));
        }
        (0, [one]) => *one,
        (number, all) if all.contains(&number) => number,
        (0, _) => {
            return Err(Failure::user(
                "`--watch` is given, but several shells are running",
                format!("allowed: {listed}"),
            ));
        }
        (number, _) => {
            return Err(Failure::user(
                format!("`--watch` is `{number}`, but no shell is"),
                format!("allowed: {listed}"),
            ));
        }
    };
    if !io::stdout().is_terminal() {
        return Err(Failure::user(
            "`--watch` needs a terminal, but the output is not a terminal",
            "allowed: a terminal",
        ));
    }
    let views = shell::views(chosen)
        .map_err(|error| Failure::user(format!("`{chosen}`: {error}"), "allowed: a shell of yours"))?;
    scene::follow(&format!("lab shell {chosen}"), views)
}

fn refused(error: &ShellError) -> Failure {
    match error {
        ShellError::Link(why) => Failure::user(
            format!("a shell cannot be behind {}", why.given),
            format!("allowed: {}", why.allowed),
        ),
        ShellError::Testbed(TestbedError::NoRights { .. } | TestbedError::NoVeth { .. }) => {
            Failure::user(error, "`fairwire run` simulates the same link, and needs no rights")
        }
        other => Failure::Ours(other.to_string()),
    }
}

fn scenario(args: &ShellArgs) -> Result<Scenario, Failure> {
    let set = changes(args)?;
    let disciplines = args.discipline.iter().cloned().collect();
    let overrides = Overrides { set, disciplines, seeds: None };
    let scenario = match &args.scenario {
        Some(path) => load(path, &overrides)?,
        None => parse_in(Path::new(""), "lab shell", &base(args), &overrides)?,
    };
    let given = scenario.spec().disciplines.len();
    if args.discipline.is_some() && given > 1 {
        return Err(Failure::user(
            format!("`--discipline` has {given} disciplines, but a link has one"),
            "allowed: one, such as `--discipline fq-codel`",
        ));
    }
    Ok(scenario)
}

/// A scenario with a link in both directions. Disciplines assume the link's `rate`, or the mean
/// rate of its trace. The only flow never runs, but defines the packet size.
fn base(args: &ShellArgs) -> String {
    let rate = |trace: bool| if trace { "" } else { "rate = \"10 Mbit/s\"\n" };
    let (down, up) = (rate(args.trace.is_some()), rate(args.up_trace.is_some()));
    let terms = "delay = \"20 ms\"\nbuffer = \"100 packets\"\n";
    format!(
        "format = 2\nname = \"lab-shell\"\nduration = \"1 s\"\ndisciplines = [\"tail-drop\"]\n\
         [link]\n{down}{terms}[return]\n{up}{terms}bottleneck = true\n\
         [[flow]]\ngroup = \"shell\"\nsource = \"bulk\"\ntcp = {{ profile = \"modern\" }}\n\
         access = {{ rate = \"100 Gbit/s\", delay = \"0 s\" }}\n"
    )
}

fn changes(args: &ShellArgs) -> Result<Vec<String>, Failure> {
    let mut all = Vec::new();
    let mut both = |key: &str, value: Option<String>| {
        let value = value.unwrap_or_default();
        if !value.is_empty() {
            all.extend(["link", "return"].map(|way| format!("{way}.{key}={value}")));
        }
    };
    both("rate", args.rate.map(|rate| rate.to_string()));
    both("delay", args.delay.map(|delay| delay.to_string()));
    both("impair.loss", args.loss.map(|loss| loss.to_string()));
    both("buffer", args.buffer.map(|buffer| buffer.to_string()));
    let mut one =
        |path: &str, value: Option<String>| all.extend(value.map(|value| format!("{path}={value}")));
    one("link.rate", args.down.map(|rate| rate.to_string()));
    one("return.rate", args.up.map(|rate| rate.to_string()));
    one("link.trace", args.trace.as_deref().map(absolute).transpose()?);
    one("return.trace", args.up_trace.as_deref().map(absolute).transpose()?);
    all.extend(args::changes(&args.set)?);
    Ok(all)
}

/// Makes a path in an option absolute, because paths in a scenario are relative to its file. The
/// name of a built-in trace stays unchanged.
fn absolute(path: &Path) -> Result<String, Failure> {
    if let Some(known) = path.to_str().and_then(NamedTrace::find) {
        return Ok(known.name.into());
    }
    let path = std::path::absolute(path).map_err(|error| Failure::Ours(error.to_string()))?;
    Ok(path.to_string_lossy().into_owned())
}

fn described(scenario: &Scenario) -> String {
    let delay = scenario.queues().next().map_or(Duration::ZERO, |queue| queue.delay);
    let rates: Vec<String> =
        scenario.queues().map(|queue| queue.trace_mean.unwrap_or(queue.rate).rounded().to_string()).collect();
    let rates = match rates.as_slice() {
        [down, up] if down != up => format!("{down} down, {up} up"),
        rates => rates.first().cloned().unwrap_or_default(),
    };
    let discipline = scenario.spec().disciplines.first().map_or("", |compared| compared.label());
    format!("{rates} {delay} {discipline}")
}

fn command(args: &ShellArgs) -> Result<Vec<OsString>, Failure> {
    if args.command.is_empty() {
        let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
        return Ok(vec![shell.unwrap_or_else(|| "/bin/sh".into())]);
    }
    let program = &args.command[0];
    if !is_there(program) {
        let allowed = "a program on the PATH, or its path; built-in commands of a shell after `sh -c`";
        return Err(Failure::user(
            format!("`{}` is to be run, but there is no such program", program.to_string_lossy()),
            format!("allowed: {allowed}"),
        ));
    }
    Ok(args.command.clone())
}

fn is_there(program: &OsStr) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.is_file();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    !program.is_empty() && std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
}
