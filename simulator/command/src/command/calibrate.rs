//! `fairwire calibrate`.

use super::cache;
use super::reproduce::{chosen, run, studies};
use crate::args::{CalibrateArgs, Format};
use crate::report::print;
use crate::reproduction::share;
use fairwire_study::Study;
use fairwire_study::calibration::{Calibration, SpaceSpec, Trial};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_terminal::terminal::{self, bold, wrapped};
use fairwire_terminal::{file, interrupt};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The numbers of draws of `--quick` and of `--full`.
const DRAWS: [u32; 2] = [8, 32];

pub(crate) fn calibrate(args: &CalibrateArgs, quiet: bool) -> Result<Ending, Failure> {
    if matches!(args.format, Format::Csv | Format::Latex) {
        return Err(Failure::user(
            format!("`--format` is `{}`, but claims have no such format", args.format.name()),
            "allowed: `table` or `json`",
        ));
    }
    interrupt::flag(); // from here on, Ctrl-C lets us clean up
    let studies = studies(args.studies.as_deref())?;
    let draws = args.draws.unwrap_or(DRAWS[usize::from(args.full)]);
    let wanted = chosen(&studies, &args.exhibits)?;
    let mut trials = Vec::new();
    for study in &studies {
        let exhibits: Vec<usize> =
            wanted.iter().filter(|(of, _)| of.spec.paper == study.spec.paper).map(|(_, at)| *at).collect();
        let Some(space) = SpaceSpec::read(study)? else { continue };
        let trial = Trial::of(study, &space, &exhibits, draws)?;
        if !trial.plans().is_empty() {
            if args.record && exhibits.len() < study.len() {
                return Err(Failure::user(
                    format!(
                        "`--record` is given, but only some exhibits of `{}` are calibrated",
                        study.spec.paper
                    ),
                    format!("allowed: whole papers, such as `{}`", study.spec.paper),
                ));
            }
            trials.push((study, trial));
        }
    }
    if trials.is_empty() {
        let open: Vec<String> = studies
            .iter()
            .filter(|study| study.folder.files.contains_key("space.toml"))
            .map(|study| study.spec.paper.clone())
            .collect();
        return Err(Failure::user(
            "the chosen exhibits have no setting to calibrate",
            match open.is_empty() {
                true => "allowed: exhibits of a study with a `space.toml`".to_owned(),
                false => format!(
                    "allowed: exhibits that the `space.toml` of {} names",
                    fairwire_document::listed(&open)
                ),
            },
        ));
    }
    let cache = cache::open().fresh(args.fresh);
    let mut found = BTreeMap::new();
    for (study, trial) in &trials {
        let what = format!("{}: {draws} draws", study.spec.paper);
        let executed = run(trial.plans(), &what, &cache, args.jobs, quiet)?;
        if !executed.is_whole.iter().all(|whole| *whole) {
            notice(format_args!("interrupted; the same command goes on where it stopped"));
            return Ok(Ending::Interrupted);
        }
        let calibration = trial.judged(&executed.gathered);
        if let Some(folder) = args.studies.as_deref().filter(|_| args.record) {
            record(folder, study, &calibration)?;
        }
        found.insert(study.spec.paper.clone(), (*study, calibration));
    }
    let text = match args.format {
        Format::Json => {
            let plain: BTreeMap<_, _> = found.iter().map(|(paper, (_, found))| (paper, found)).collect();
            serde_json::to_string_pretty(&plain).expect("calibrations have only strings for keys") + "\n"
        }
        _ => found.values().map(|(study, found)| table(study, found)).collect::<Vec<_>>().join("\n"),
    };
    print(text.as_bytes())?;
    Ok(Ending::Done)
}

fn record(folder: &Path, study: &Study, found: &Calibration) -> Result<(), Failure> {
    let path = folder.join(&study.folder.name).join("calibration.toml");
    file::write(&path, found.text().as_bytes())?;
    notice(format_args!("recorded: {}", path.display()));
    Ok(())
}

fn table(study: &Study, found: &Calibration) -> String {
    let columns = terminal::columns().min(120);
    let mut out = bold(&wrapped(&format!("{}: {}", study.spec.paper, study.spec.title), columns, "  "));
    let width = found.claims.keys().map(String::len).max().unwrap_or(0).max(5);
    let _ = writeln!(out, "\n{:width$}  as chosen  best  share of {} draws", "claim", found.summary.draws);
    for (claim, held) in &found.claims {
        let word = |holds: bool| if holds { "holds" } else { "-" };
        let _ =
            writeln!(out, "{claim:width$}  {:9}  {:5} {}", word(held.chosen), word(held.best), share(held));
    }
    out + &summary(found, columns)
}

fn summary(found: &Calibration, columns: usize) -> String {
    let mut out = String::new();
    let line = |text: String| wrapped(&text, columns, "  ") + "\n";
    if let Some(distance) = &found.summary.distance {
        let percent = |part: f64| format!("{:.1} %", part * 100.0);
        let mut text = format!(
            "mean difference to {} printed numbers: as chosen {}, best {}",
            distance.numbers,
            percent(distance.chosen),
            percent(distance.best)
        );
        if let Some(held_out) = distance.held_out {
            text += &format!("; chosen by one half of them, the other half: {}", percent(held_out));
        }
        out += &line(text);
    }
    let settings: Vec<String> = found.summary.best.iter().map(|(id, is)| format!("{id} = {is}")).collect();
    if !settings.is_empty() {
        out += &line(format!("best: {}", settings.join(", ")));
    } else if found.summary.distance.is_some() {
        out += &line("best: as chosen".into());
    }
    out
}
