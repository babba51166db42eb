//! The outputs to write, from the options of the command line, or else the scenario's `[output]`.

use crate::args::OutputArgs;
use fairwire_core::{Duration, Time};
use fairwire_scenario::{Output, OutputSpec, Scenario};
use fairwire_terminal::failure::Failure;
use fairwire_terminal::file;
use std::path::{Path, PathBuf};

const EVERY: Duration = Duration::from_ms(100);

/// The only stage where observers see each packet.
pub(super) const SIMULATOR: &str = "sim";

const OF_SIMULATOR: [Output; 4] = [Output::Trace, Output::Transfers, Output::Histogram, Output::Percentiles];

/// The requested outputs. Options take precedence over the scenario's keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    args: &'a OutputArgs,
    spec: &'a OutputSpec,
    /// The scenario run.
    pub scenario: &'a Scenario,
    /// True if the command names stages. Then the results name them too.
    pub has_stages: bool,
}

impl<'a> Request<'a> {
    pub(super) fn new(args: &'a OutputArgs, scenario: &'a Scenario, has_stages: bool) -> Self {
        Request { args, spec: &scenario.spec().output, scenario, has_stages }
    }

    /// The file for `output`, and the `forms` entry for the file's extension. `None` if `output` is
    /// not requested. Checks that the file can be written.
    pub(super) fn destination<F: Copy>(
        &self,
        output: Output,
        forms: &[(&str, F)],
    ) -> Result<Option<(Destination, F)>, Failure> {
        let Some((given_by, path)) = self.given(output) else { return Ok(None) };
        let ending = file::check_writable(&given_by, path, output.endings())?;
        let form = forms.iter().find(|(of, _)| *of == ending);
        let (_, form) = form.expect("a test holds the forms of each output against its extensions");
        Ok(Some((Destination { given_by, path: path.into() }, *form)))
    }

    /// The options for the requested outputs that only the simulator supports, including outputs
    /// that the scenario requests.
    pub(super) fn of_simulator(&self) -> Vec<String> {
        let is_requested =
            |output: Output| self.args.files.of(output).is_some() || self.spec.file(output).is_some();
        options_of_simulator(is_requested, self.checks_warm_up())
    }

    /// Refuses options that none of `stages` supports. The scenario's `[output]` is not checked,
    /// because it applies only to simulated runs.
    pub(super) fn check_stages(&self, stages: &[&str]) -> Result<(), Failure> {
        let given =
            options_of_simulator(|output| self.args.files.of(output).is_some(), self.args.check_warm_up);
        match given.first() {
            Some(option) if !stages.is_empty() && !stages.contains(&SIMULATOR) => Err(Failure::user(
                format!(
                    "`{option}` is given, but works only on the stage `{SIMULATOR}`, and `--on` is `{}`",
                    stages.join(",")
                ),
                format!("allowed: `{SIMULATOR}` among the stages of `--on`, or no `{option}`"),
            )),
            _ => Ok(()),
        }
    }

    fn given(&self, output: Output) -> Option<(String, &'a Path)> {
        let option = self.args.files.of(output).map(|path| (format!("--{}", output.key()), path));
        let key = || self.spec.file(output).map(|path| (format!("output.{}", output.key()), Path::new(path)));
        option.or_else(key)
    }

    fn has(&self, output: Output) -> bool {
        self.given(output).is_some()
    }

    pub(super) fn check_apart(&self) -> Result<(), Failure> {
        let given: Vec<(String, &Path)> =
            Output::ALL.iter().filter_map(|output| self.given(*output)).collect();
        for (at, (key, path)) in given.iter().enumerate() {
            if let Some((other, _)) = given[..at].iter().find(|(_, other)| other == path) {
                let shown = path.display();
                return Err(Failure::user(
                    format!("`{key}` is `{shown}`, but `{other}` is the same file"),
                    "allowed: a different file for each output",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn check_every(&self) -> Result<(), Failure> {
        let is_sampled = [Output::Series, Output::Plot, Output::Flent].iter().any(|output| self.has(*output));
        if self.args.every.is_none() || self.checks_warm_up() || is_sampled {
            return Ok(());
        }
        let help = "allowed: together with `--series`, `--plot`, `--flent` or `--check-warm-up`";
        Err(Failure::user("`--every` is given, but nothing is sampled", help))
    }

    pub(super) fn check_one_way(&self, is_reported: bool) -> Result<(), Failure> {
        let is_shown = is_reported || self.has(Output::Histogram) || self.has(Output::Percentiles);
        if !self.args.one_way || is_shown {
            return Ok(());
        }
        let help = "allowed: together with `--histogram`, `--percentiles`, `--out` or `--format json`";
        Err(Failure::user("`--one-way` is given, but no output shows one-way delays", help))
    }

    pub(super) fn every(&self) -> Duration {
        self.args.every.or(self.spec.every.map(|every| every.0)).unwrap_or(EVERY)
    }

    pub(super) fn name_of_every(&self) -> &'static str {
        if self.args.every.is_none() && self.spec.every.is_some() { "output.every" } else { "--every" }
    }

    pub(super) fn has_series_flows(&self) -> bool {
        self.args.series_flows || self.spec.series_flows
    }

    pub(super) fn has_one_way(&self) -> bool {
        self.args.one_way || self.spec.one_way
    }

    pub(super) fn checks_warm_up(&self) -> bool {
        self.args.check_warm_up || self.spec.check_warm_up
    }

    pub(super) fn warm_up(&self) -> Time {
        Time::ZERO + self.scenario.spec().warm_up.0
    }

    /// The baseline of paired differences, from `--paired` or the scenario. The scenario's baseline
    /// is ignored if that discipline does not run, or if no other discipline runs.
    pub(super) fn baseline(&self) -> Result<Option<String>, Failure> {
        let scenario = self.scenario;
        let labels: Vec<&str> = scenario.spec().disciplines.iter().map(|compared| compared.label()).collect();
        let Some(given) = &self.args.paired else {
            let named = self.spec.paired.as_deref().map(|name| scenario.label(name));
            return Ok(named.filter(|named| labels.len() > 1 && labels.contains(named)).map(str::to_owned));
        };
        if labels.len() < 2 {
            let help = "allowed: two disciplines or more";
            return Err(Failure::user("`--paired` is given, but only one discipline is run", help));
        }
        let baseline = if given.is_empty() { labels[0] } else { given };
        if labels.contains(&baseline) {
            return Ok(Some(baseline.into()));
        }
        let help = format!("allowed: one of the disciplines that are run: `{}`", labels.join("`, `"));
        Err(Failure::user(format!("`--paired` is `{given}`, but that discipline is not run"), help))
    }
}

fn options_of_simulator(is_requested: impl Fn(Output) -> bool, checks_warm_up: bool) -> Vec<String> {
    let files = OF_SIMULATOR.into_iter().filter(|output| is_requested(*output)).map(Output::key);
    files.chain(checks_warm_up.then_some("check-warm-up")).map(|key| format!("--{key}")).collect()
}

#[derive(Clone, Debug)]
pub(super) struct Destination {
    /// The option or key that gave the path.
    pub given_by: String,
    pub path: PathBuf,
}
