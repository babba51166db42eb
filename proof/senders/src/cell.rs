//! The cells of a grid, and their results on a stage.

use crate::Failure;
use crate::kept::Figure;
use fairwire_experiment::{Clock, Failed, Plan as StagePlan, Stage};
use fairwire_sweep::Plan;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The suffix of the key of a controller axis.
const CONTROL: &str = ".control";

/// One cell: a sender over a wire.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The plan's file name without the extension.
    pub plan: String,
    /// The name within the plan: the controller, the fault, and the other axes.
    pub name: String,
    /// Its controller.
    pub controller: String,
    /// The fault of the cell's wire.
    pub fault: String,
    /// The scenario run.
    pub scenario: fairwire_scenario::Scenario,
}

/// All cells of the plans in `paths`. The plans in a folder are sorted by name.
///
/// # Errors
/// A file that cannot be read or is invalid, with the location.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Cell>, Failure> {
    let mut cells = Vec::new();
    for path in paths {
        let plans = if path.is_dir() { plans(path)? } else { vec![path.clone()] };
        if plans.is_empty() {
            let folder = path.display();
            return Err(Failure::User(format!(
                "{folder} has no plan of a sweep; allowed: a folder with some"
            )));
        }
        for plan in plans {
            cells.extend(of_plan(&plan)?);
        }
    }
    Ok(cells)
}

fn plans(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| Failure::User(format!("{}: {error}", folder.display()));
    let mut plans = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|end| end == "toml")
            && std::fs::read_to_string(&file).map_err(unreadable)?.contains("\n[vary]")
        {
            plans.push(file);
        }
    }
    plans.sort();
    Ok(plans)
}

fn of_plan(file: &Path) -> Result<Vec<Cell>, Failure> {
    let plan = Plan::load(file)?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let mut cells = Vec::new();
    for cell in &plan.cells {
        let (mut controller, mut fault, mut others) = (String::new(), "none".to_owned(), Vec::new());
        for (axis, at) in plan.axes.iter().zip(&cell.at) {
            let text = &axis.values[*at].0;
            match axis.key.as_str() {
                key if key.ends_with(CONTROL) => controller = name_of(text),
                "link.impair" | "link.changes" => fault = fault_of(text),
                _ => others.push(unquoted(text)),
            }
        }
        let name_of_cell: Vec<&str> =
            [controller.as_str(), &fault].into_iter().chain(others.iter().map(String::as_str)).collect();
        cells.push(Cell {
            plan: name.to_string(),
            name: name_of_cell.join(", "),
            scenario: plan.scenario(cell)?,
            controller,
            fault,
        });
    }
    Ok(cells)
}

fn unquoted(text: &str) -> String {
    text.trim_matches('"').to_owned()
}

/// The name in `text`, which is the text itself, or the first key of an inline table.
fn name_of(text: &str) -> String {
    unquoted(text.trim_start_matches(['{', ' ']).split([' ', '=']).next().unwrap_or(text))
}

/// A short description of a wire's `impair`, or of a link's `changes`.
fn fault_of(text: &str) -> String {
    let table: toml::Table = format!("fault = {text}").parse().unwrap_or_default();
    let fault = table.get("fault");
    let value = |key: &str| fault.and_then(|fault| fault.get(key));
    let number = |key: &str| value(key).and_then(toml::Value::as_float).unwrap_or_default();
    let percent = |key: &str| format!("{} %", number(key) * 100.0);
    let words = |value: Option<&toml::Value>| {
        value.and_then(toml::Value::as_str).map_or_else(String::new, str::to_owned)
    };
    if let Some(down) = fault.and_then(|changes| changes.get(0)?.get("down")) {
        let is_lost = down.get("packets").and_then(toml::Value::as_str) == Some("lost");
        let time = words(down.get("for").or(Some(down)));
        return if is_lost { format!("all lost {time}") } else { format!("silent {time}") };
    }
    if let Some(jitter) = value("jitter") {
        return format!("jitter {}", words(jitter.get("uniform")));
    }
    if value("reorder").is_some() {
        return format!("held back {} by {}", percent("reorder"), words(value("reorder_by")));
    }
    if value("duplicate").is_some() {
        return format!("twice {}", percent("duplicate"));
    }
    if value("to_bad").is_some() {
        return format!("bursts {}/{}", number("to_bad"), number("to_good"));
    }
    if number("loss") > 0.0 { format!("loss {}", percent("loss")) } else { "none".into() }
}

/// The figures of `cells` on `stage`: means over the first `seeds` seeds. Runs are concurrent if
/// the stage's clock permits. `done` is called after each cell with its figure, or with `None` if
/// the stage cannot run it.
///
/// # Errors
/// The first run that failed.
pub fn run(
    cells: &[&Cell],
    stage: &dyn Stage,
    seeds: usize,
    jobs: usize,
    done: &(dyn Fn(&Cell, Option<&Figure>) + Sync),
) -> Result<Vec<Option<Figure>>, Failure> {
    let jobs = if stage.about().clock == Clock::Machine { 1 } else { jobs };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| Failure::Machine(error.to_string()))?;
    let one = |cell: &&Cell| {
        let figure = figure(cell, stage, seeds)?;
        done(cell, figure.as_ref());
        Ok(figure)
    };
    pool.install(|| cells.par_iter().with_max_len(1).map(one).collect())
}

fn figure(cell: &Cell, stage: &dyn Stage, seeds: usize) -> Result<Option<Figure>, Failure> {
    let plan = StagePlan { scenario: &cell.scenario, discipline: 0 };
    let failed = |error: Failed| Failure::Machine(format!("{}: {}: {error}", cell.plan, cell.name));
    match stage.can_run(&plan) {
        Ok(()) => {}
        Err(Failed::Plan(why)) if why.is_machines => return Err(Failure::Lacking(why.to_string())),
        Err(Failed::Plan(_)) => return Ok(None),
        Err(error) => return Err(failed(error)),
    }
    let all = cell.scenario.spec().seeds.as_slice();
    let seeds = &all[..seeds.min(all.len())];
    let (mut goodput_bps, mut utilization, mut rate_bps) = (0.0, 0.0, 0.0);
    for seed in seeds {
        let record = stage.run(&plan, *seed, &mut |_: f64| {}, &AtomicBool::new(false)).map_err(failed)?;
        let record = record.ok_or_else(|| Failure::Machine("it was stopped".into()))?;
        let link = &record.links[0];
        rate_bps = link.rate_bps;
        utilization += link.utilization / seeds.len() as f64;
        goodput_bps += record.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() / seeds.len() as f64;
    }
    Ok(Some(Figure {
        plan: cell.plan.clone(),
        cell: cell.name.clone(),
        stage: stage.name().into(),
        kernel: String::new(),
        runs: seeds.len(),
        rate_bps,
        goodput_bps: goodput_bps.round(),
        utilization: (utilization * 1e5).round() / 1e5,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_named_by_its_effect() {
        for (text, wanted) in [
            ("{ loss = 0.0 }", "none"),
            ("{ loss = 0.001 }", "loss 0.1 %"),
            ("{ jitter = { uniform = \"1 ms\" }, overtakes = true }", "jitter 1 ms"),
            ("{ reorder = 0.01, reorder_by = \"3 ms\" }", "held back 1 % by 3 ms"),
            ("{ to_bad = 0.001, to_good = 0.1 }", "bursts 0.001/0.1"),
            ("{ duplicate = 0.01 }", "twice 1 %"),
            ("[{ at = \"10 s\", down = \"2 s\" }]", "silent 2 s"),
            ("[{ at = \"10 s\", down = { for = \"2 s\", packets = \"lost\" } }]", "all lost 2 s"),
        ] {
            assert_eq!(fault_of(text), wanted);
        }
    }

    #[test]
    fn a_controller_has_its_name_with_and_without_parameters() {
        assert_eq!(name_of("\"cubic\""), "cubic");
        assert_eq!(name_of("{ bic = { scales_by_acks = true } }"), "bic");
    }

    #[test]
    fn the_cells_of_the_suite_have_unique_names() {
        let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite/senders");
        let mut names: Vec<(String, String)> =
            read(&[suite]).unwrap().into_iter().map(|cell| (cell.plan, cell.name)).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), count > 100), (count, true));
    }
}
