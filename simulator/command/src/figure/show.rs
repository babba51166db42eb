//! The types of picture, and the results that each needs.

use super::distribution::{self, is_wanted};
use super::flows;
use super::found::Found;
use super::over_time::{Over, RATE, SampleValue, Sampled, conditions, over_time};
use super::sweeps::Sweep;
use clap::ValueEnum;
use fairwire_core::spelling;
use fairwire_figures::panel::Panel;
use fairwire_terminal::failure::Failure;
use std::collections::BTreeSet;

/// The type of figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Show {
    /// Each group's rate out of the link over time, and the link's rate.
    Rate,
    /// The queue of each link over time, and the internal queues of its discipline.
    Queue,
    /// The queueing delay of packets over time, for each link, or for the groups in `--only`.
    Delay,
    /// The congestion window of each flow over time.
    Window,
    /// The distribution of completion times.
    Completion,
    /// The distribution of slowdowns.
    Slowdown,
    /// The distribution of packet delays.
    Wait,
    /// The throughput of each flow over its round-trip time.
    Scatter,
    /// Means with their intervals, by discipline.
    Bars,
    /// Means of a sweep over one axis.
    Lines,
    /// Means of a sweep over two axes.
    Heat,
}

/// The request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// The type of figure; by default, the first that the results contain.
    pub show: Option<Show>,
    /// The measures.
    pub of: Vec<String>,
    /// The axes of a sweep.
    pub over: Vec<String>,
    /// For a sweep: the axis whose values have separate panels.
    pub panels: Option<String>,
    /// Only these groups, links or flows.
    pub only: Vec<String>,
    /// The seed; if absent, the first.
    pub seed: Option<u64>,
}

#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The content, in words.
    pub what: String,
    /// The conditions.
    pub detail: String,
    pub panels: Vec<Panel>,
    /// Do all panels share one vertical axis?
    pub has_one_scale: bool,
}

impl Show {
    fn needs(self) -> &'static str {
        match self {
            Show::Rate | Show::Queue | Show::Delay => "a file of `--series`",
            Show::Window => "a file of `--series` with `--series-flows`",
            Show::Completion | Show::Slowdown => "a file of `--transfers`",
            Show::Wait => "a file of `--histogram`",
            Show::Scatter => "a file of `--flows`, or a folder of `--out`",
            Show::Bars => "a folder of `--out`",
            Show::Lines | Show::Heat => "the store of a sweep",
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Show::Rate | Show::Queue | Show::Delay | Show::Window => &["--of", "--only", "--seed"],
            Show::Completion | Show::Slowdown | Show::Wait | Show::Scatter => &["--only"],
            Show::Bars => &["--of"],
            Show::Lines => &["--of", "--over", "--panels", "--only"],
            Show::Heat => &["--of", "--over", "--only"],
        }
    }

    fn refuse_unused(self, wanted: &Wanted) -> Result<(), Failure> {
        let given = [
            ("--of", !wanted.of.is_empty()),
            ("--over", !wanted.over.is_empty()),
            ("--panels", wanted.panels.is_some()),
            ("--only", !wanted.only.is_empty()),
            ("--seed", wanted.seed.is_some()),
        ];
        match given.into_iter().find(|(option, is_given)| *is_given && !self.options().contains(option)) {
            None => Ok(()),
            Some((option, _)) => Err(Failure::user(
                format!("`{option}` is given, but `--show {}` does not have it", self.name()),
                format!("allowed: `{}`", self.options().join("`, `")),
            )),
        }
    }

    fn first_of(found: &Found) -> Option<Show> {
        let there = [
            (found.series.len() > 0, Show::Rate),
            (found.transfers.len() > 0, Show::Completion),
            (found.histogram.len() > 0, Show::Wait),
            (found.runs.len() > 0, Show::Lines),
            (found.report.is_some(), Show::Bars),
            (found.flows.len() > 0, Show::Scatter),
        ];
        there.into_iter().find(|(is_there, _)| *is_there).map(|(_, show)| show)
    }

    fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }
}

impl Picture {
    pub(crate) fn of(found: &Found, wanted: &Wanted) -> Result<Picture, Failure> {
        let show = wanted.show.or_else(|| Show::first_of(found)).ok_or_else(|| {
            Failure::user("the results have nothing to draw", "allowed: results of at least one run")
        })?;
        show.refuse_unused(wanted)?;
        refuse_other_names(found, wanted, show)?;
        let mut detail = detail(found, show);
        let (what, panels) = match show {
            Show::Rate | Show::Queue | Show::Delay | Show::Window => {
                let (what, panels, conditions) = sampled(found, wanted, show)?;
                detail = conditions;
                (what, panels)
            }
            Show::Completion => {
                let panels = distribution::of_transfers(
                    &found.transfers,
                    "seconds",
                    "completion time, s",
                    &wanted.only,
                );
                ("completion times".into(), panels)
            }
            Show::Slowdown => {
                let panels =
                    distribution::of_transfers(&found.transfers, "slowdown", "slowdown", &wanted.only);
                ("slowdowns".into(), panels)
            }
            Show::Wait => {
                ("delays of packets".into(), distribution::of_delays(&found.histogram, &wanted.only))
            }
            Show::Scatter => {
                ("throughput over round-trip time".into(), flows::scatter(&found.flows, &wanted.only))
            }
            Show::Bars => bars(found, wanted)?,
            Show::Lines | Show::Heat => swept(found, wanted, show)?,
        };
        if panels.iter().all(|panel| panel.lines.iter().all(|line| line.marks.is_empty())) {
            return Err(absent("", Vec::new(), show));
        }
        let is_over_time = matches!(show, Show::Rate | Show::Queue | Show::Delay | Show::Window);
        Ok(Picture { what, detail, panels, has_one_scale: is_over_time })
    }
}

fn detail(found: &Found, show: Show) -> String {
    let Some(manifest) = found.report.as_ref().map(|report| &report.manifest) else { return String::new() };
    let seeds = manifest.seeds.len();
    match show {
        Show::Bars if seeds > 1 => format!("means of {seeds} seeds, with 95 % intervals"),
        Show::Scatter if seeds > 1 => format!("{seeds} seeds together"),
        _ => String::new(),
    }
}

fn usual(show: Show) -> Over<'static> {
    match show {
        Show::Queue => Over {
            kinds: &["link"],
            measure: "backlog",
            unit: "packets",
            label: "packets",
            scale: 1.0,
            has_capacity: false,
            of_parts: Some("backlog_packets"),
        },
        Show::Delay => Over {
            kinds: &["link"],
            measure: "sojourn mean",
            unit: "s",
            label: "ms",
            scale: 1e-3,
            has_capacity: false,
            of_parts: None,
        },
        Show::Window => Over {
            kinds: &["flow", "connection"],
            measure: "cwnd",
            unit: "segments",
            label: "segments",
            scale: 1.0,
            has_capacity: false,
            of_parts: None,
        },
        _ => RATE,
    }
}

/// Returns three results: a description of the content, the panels over time under one seed, and
/// the conditions.
fn sampled(found: &Found, wanted: &Wanted, show: Show) -> Result<(String, Vec<Panel>, String), Failure> {
    let table = &found.series;
    let own = usual(show);
    let rows_of = |measure: &str| (0..table.len()).any(|row| table.text(row, "measure") == measure);
    let measure = match wanted.of.as_slice() {
        [] if !rows_of(own.measure) => return Err(absent("", Vec::new(), show)),
        [] => own.measure.to_owned(),
        [one] => one.clone(),
        [_, ..] => {
            return Err(Failure::user(
                format!("`--of` has {} measures, but over time there is one", wanted.of.len()),
                "allowed: one measure of the series",
            ));
        }
    };
    let rows = || (0..table.len()).filter(|row| table.text(*row, "measure") == measure);
    let is_own = |row: &usize| own.kinds.contains(&table.text(*row, "kind").as_str());
    // If no object of the usual type has the measure, other objects are drawn. For example, only
    // links have `gauge average`.
    let Some(first) = rows().find(is_own).or_else(|| rows().next()) else {
        return Err(absent(&measure, names(table, "measure"), show));
    };
    let (kind, unit) = (table.text(first, "kind"), table.text(first, "unit"));
    let kinds = [kind.as_str()];
    let is_default = measure == own.measure;
    let is_of_groups = show == Show::Delay && is_default && !wanted.only.is_empty();
    let (scale, label) = match unit.as_str() {
        "bit/s" => (1e6, "Mbit/s"),
        "s" => (1e-3, "ms"),
        _ => (1.0, unit.as_str()),
    };
    let label = if is_default { own.label.to_owned() } else { format!("{measure}, {label}") };
    let unit = if is_default { own.unit } else { unit.as_str() };
    let over = Over {
        kinds: match is_default {
            true if is_of_groups => &["link", "group"],
            true => own.kinds,
            false => &kinds,
        },
        measure: &measure,
        unit,
        label: &label,
        scale,
        has_capacity: own.has_capacity && (is_default || measure == "throughput"),
        of_parts: own.of_parts.filter(|_| is_default),
    };
    let runs = runs(found, wanted, &over);
    let from = found.report.as_ref().map(|report| report.manifest.warm_up_s).filter(|from| *from > 0.0);
    let (first, panels) = over_time(&runs, &over, from);
    let conditions = first.map_or(String::new(), |run| conditions(run, from));
    let what = match show {
        Show::Rate if is_default => "what leaves the link".into(),
        Show::Queue if is_default => "what waits at the link".into(),
        Show::Delay if is_of_groups => "how long packets waited".into(),
        Show::Delay if is_default => "how long packets waited at the link".into(),
        Show::Window if is_default => "congestion windows".into(),
        _ => format!("{measure} over time"),
    };
    Ok((what, panels, conditions))
}

fn runs(found: &Found, wanted: &Wanted, over: &Over<'_>) -> Vec<Sampled> {
    let table = &found.series;
    let seed = wanted.seed.or_else(|| Some(table.number(0, "seed")? as u64));
    let mut runs: Vec<Sampled> = Vec::new();
    let mut last = f64::NEG_INFINITY;
    let mut every_s = f64::INFINITY;
    for row in (0..table.len()).filter(|row| table.number(*row, "seed").map(|seed| seed as u64) == seed) {
        let (discipline, stage) = (table.text(row, "discipline"), table.text(row, "stage"));
        let at_s = table.number(row, "time_s").unwrap_or(0.0);
        let is_of = |run: &Sampled| run.discipline == discipline && run.stage == stage;
        let at = runs.iter().position(is_of).unwrap_or_else(|| {
            runs.push(Sampled::new(&discipline, &stage, seed.unwrap_or(0), 0.0));
            last = f64::NEG_INFINITY;
            runs.len() - 1
        });
        if at_s > last {
            every_s = every_s.min(at_s - last.max(0.0));
            last = at_s;
        }
        let [kind, name, measure, unit] = ["kind", "name", "measure", "unit"].map(|of| table.text(row, of));
        if measure != "capacity" && !is_wanted(&name, &wanted.only) {
            continue;
        }
        let value = table.number(row, "value").unwrap_or(f64::NAN);
        let seen = SampleValue { kind: &kind, name: &name, measure: &measure, unit: &unit, value };
        runs[at].row(at_s, seen, over);
    }
    runs.iter_mut().for_each(|run| run.every_s = every_s);
    runs
}

fn refuse_other_names(found: &Found, wanted: &Wanted, show: Show) -> Result<(), Failure> {
    let (table, column) = match show {
        Show::Lines | Show::Heat => return Ok(()), // the sweep checks its own values
        Show::Completion | Show::Slowdown => (&found.transfers, "group"),
        Show::Wait => (&found.histogram, "of"),
        Show::Scatter => (&found.flows, "group"),
        _ => (&found.series, "name"),
    };
    refuse_unknown(&wanted.only, &names(table, column))?;
    let seeds = names(table, "seed");
    match wanted.seed.map(|seed| seed.to_string()).filter(|seed| !seeds.contains(seed)) {
        None => Ok(()),
        Some(seed) => Err(Failure::user(
            format!("`--seed` is {seed}, but the results have no run under it"),
            format!("allowed: {}", seeds.join(", ")),
        )),
    }
}

fn refuse_unknown(only: &[String], there: &[String]) -> Result<(), Failure> {
    let Some(other) = only.iter().find(|only| !there.contains(only)) else { return Ok(()) };
    let near = spelling::hint(other, there.iter().map(String::as_str));
    Err(Failure::user(
        format!("`--only` is `{other}`, but the results have nothing of that name"),
        format!("allowed: `{}`{near}", there.join("`, `")),
    ))
}

fn names(table: &super::table::Table, column: &str) -> Vec<String> {
    let all: BTreeSet<String> = (0..table.len()).map(|row| table.text(row, column)).collect();
    all.into_iter().filter(|name| !name.is_empty()).collect()
}

fn absent(measure: &str, there: Vec<String>, show: Show) -> Failure {
    if there.is_empty() {
        let message = format!("`--show` is `{}`, but the results have no data for that figure", show.name());
        return Failure::user(message, format!("allowed: {}", show.needs()));
    }
    let near = spelling::hint(measure, there.iter().map(String::as_str));
    Failure::user(
        format!("`--of` is `{measure}`, but the results do not have that measure"),
        format!("allowed: `{}`{near}", there.join("`, `")),
    )
}

fn bars(found: &Found, wanted: &Wanted) -> Result<(String, Vec<Panel>), Failure> {
    let shares = || vec!["share.".to_owned()];
    let measures = if wanted.of.is_empty() { shares() } else { wanted.of.clone() };
    let Some(report) = &found.report else { return Err(absent("", Vec::new(), Show::Bars)) };
    for measure in &measures {
        if flows::named(report, measure).is_empty() {
            let there: BTreeSet<&String> =
                report.summary.iter().flat_map(|summary| summary.measures.keys()).collect();
            return Err(absent(measure, there.into_iter().cloned().collect(), Show::Bars));
        }
    }
    let what = if wanted.of.is_empty() { "shares".into() } else { measures.join(", ") };
    Ok((what, flows::bars(report, &measures)))
}

fn swept(found: &Found, wanted: &Wanted, show: Show) -> Result<(String, Vec<Panel>), Failure> {
    if found.runs.len() == 0 {
        return Err(absent("", Vec::new(), show));
    }
    let sweep = Sweep::of(&found.runs);
    let dimensions = sweep.dimensions();
    refuse_unknown(&wanted.only, &dimensions.concat())?;
    let sweep = sweep.only(&wanted.only, &dimensions);
    let first = || sweep.measures.first().cloned().into_iter().collect();
    let measures: Vec<String> = if wanted.of.is_empty() { first() } else { wanted.of.clone() };
    if let Some(measure) = measures.iter().find(|measure| !sweep.measures.contains(measure)) {
        return Err(absent(measure, sweep.measures.clone(), show));
    }
    let count = if show == Show::Heat { 2 } else { 1 };
    let able = if show == Show::Heat { sweep.axes.clone() } else { sweep.numeric() };
    let over: Vec<String> =
        if wanted.over.is_empty() { able.iter().take(count).cloned().collect() } else { wanted.over.clone() };
    let allowed = || {
        let kind = if show == Show::Heat {
            "two axes of the sweep"
        } else {
            "one axis of the sweep with two numbers"
        };
        format!("allowed: {kind}: `{}`", able.join("`, `"))
    };
    if let Some(axis) = over.iter().find(|axis| !able.contains(axis)) {
        return Err(Failure::user(format!("`--over` is `{axis}`, but that is no such axis"), allowed()));
    }
    let is_twice = over.len() == 2 && over[0] == over[1];
    if over.len() != count || is_twice {
        let given = if is_twice { "one axis twice".into() } else { format!("{} axes", over.len()) };
        let message = format!("`--over` names {given}, but `--show {}` has {count}", show.name());
        return Err(Failure::user(message, allowed()));
    }
    let others: Vec<&String> = sweep.axes.iter().filter(|axis| !over.contains(axis)).collect();
    if let Some(panels) = wanted.panels.as_ref().filter(|panels| !others.contains(panels)) {
        let others = others.iter().map(|axis| format!("`{axis}`")).collect::<Vec<_>>().join(", ");
        let allowed = if others.is_empty() { "none, since all are drawn over".into() } else { others };
        return Err(Failure::user(
            format!("`--panels` is `{panels}`, but that is no other axis of the sweep"),
            format!("allowed: {allowed}"),
        ));
    }
    let what = format!("{} over {}", measures.join(", "), over.join(" and "));
    let panels = match over.as_slice() {
        [across, up] => sweep.heat(&measures, [across, up]),
        _ => sweep.lines(&measures, &over[0], wanted.panels.as_deref()),
    };
    Ok((what, panels))
}
