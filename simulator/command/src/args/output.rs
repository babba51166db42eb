//! The options for outputs other than the report.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, value_parser};
use fairwire_core::Duration;
use fairwire_scenario::Output;
use std::path::{Path, PathBuf};

/// The outputs other than the report.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Outputs")]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub files: OutputFiles,
    /// With --series: also sample each flow, with its windows.
    #[arg(long, requires = "series")]
    pub series_flows: bool,
    /// The time between two samples. Default: 100 ms.
    #[arg(long, value_name = "DURATION")]
    pub every: Option<Duration>,
    /// Warn if the MSER-5 rule, applied to the sampled throughput, finds a longer warm-up than the
    /// configured one.
    #[arg(long)]
    pub check_warm_up: bool,
    /// With an output of delays: also record each flow's one-way delay.
    #[arg(long)]
    pub one_way: bool,
    /// Also compare the other disciplines with this baseline, seed by seed. Default: the first
    /// discipline.
    #[arg(long, value_name = "BASELINE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub paired: Option<String>,
    /// Permit more than 30 million rows of samples, 100 million lines of traces, or 8 GB of memory
    /// for all runs together.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct OutputFiles(Vec<(Output, PathBuf)>);

impl OutputFiles {
    pub(crate) fn of(&self, output: Output) -> Option<&Path> {
        self.0.iter().find(|(given, _)| *given == output).map(|(_, path)| path.as_path())
    }

    /// The first output with a file. With several scenarios, such an output is refused, because a
    /// file holds the output of one scenario.
    pub(crate) fn first(&self) -> Option<Output> {
        self.0.first().map(|(output, _)| *output)
    }
}

impl Args for OutputFiles {
    fn augment_args(command: Command) -> Command {
        let option = |output: &Output| {
            let about = output.about();
            let (first, rest) = about.split_at(1);
            Arg::new(output.key())
                .long(output.key())
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help(format!("Write {}{rest}", first.to_lowercase()))
        };
        command.args(Output::ALL.iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OutputFiles {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |output: &Output| Some((*output, matches.get_one::<PathBuf>(output.key())?.clone()));
        Ok(OutputFiles(Output::ALL.iter().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
