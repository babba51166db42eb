//! `fairwire list`.

use crate::args::{Format, List};
use crate::report;
use fairwire_catalogue::{self as catalogue, About, marker};
use fairwire_laws::scheduler::Kind;
use fairwire_scenario::{Controller, Overrides, Scenario, control, generated, load, source};
use fairwire_study::Study;
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::terminal::{self, bold, indented, wrapped};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) fn list(list: &List) -> Result<Ending, Failure> {
    let columns = terminal::columns();
    let (text, rows, json, format) = match list {
        List::Disciplines { format, long } => {
            let text = if *long { disciplines_in_full(columns) } else { disciplines_in_short(columns) };
            (text, disciplines(), disciplines_as_json(), format)
        }
        List::Exhibits { format, studies } => {
            let studies = super::reproduce::studies(studies.as_deref())?;
            let exhibits = exhibits(&studies);
            (
                exhibits_in_short(&exhibits, columns),
                exhibits_as_rows(&exhibits),
                exhibits_as_json(&exhibits),
                format,
            )
        }
        List::Stages { format } => (stages_in_short(columns), stages(), stages_as_json(), format),
        List::Controllers { format } => {
            (controllers_in_short(columns), controllers(), controllers_as_json(), format)
        }
        List::Sources { format } => (sources_in_short(columns), sources(), sources_as_json(), format),
        List::Networks { format } => (networks_in_short(columns), networks(), networks_as_json(), format),
        List::Lessons { format, folders } => {
            let lessons = lessons(folders)?;
            (
                lessons_in_short(&lessons, columns),
                lessons_as_rows(&lessons),
                lessons_as_json(&lessons),
                format,
            )
        }
        List::Markers { format } => (markers_in_short(columns), markers(), markers_as_json(), format),
    };
    let text = match format {
        Format::Table => text,
        Format::Json => format!("{json:#}\n"),
        Format::Csv => report::csv::text(rows.into_iter())?,
        Format::Latex => report::latex::table(&rows[0], &rows[1..]),
    };
    report::print(text.as_bytes())?;
    Ok(Ending::Done)
}

/// A header and rows.
type Rows = Vec<Vec<String>>;

/// Lists `names` with descriptions to the right, or below if space is short.
fn beside(names: &[(String, String)], columns: usize) -> String {
    const LITTLE: usize = 40;
    let longest = names.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let indent = if columns < longest + 4 + LITTLE { 4 } else { longest + 4 };
    let mut text = String::new();
    for (name, what) in names {
        let what = indented(what, columns, &" ".repeat(indent));
        let head = format!("  {name}");
        text += &match head.chars().count() < indent {
            true => format!("{head}{}", what.get(head.chars().count()..).unwrap_or_default()),
            false => format!("{head}\n{what}"),
        };
        text.push('\n');
    }
    text
}

fn group(heading: &str, names: &[(String, String)], columns: usize) -> String {
    format!("{}\n{}", bold(&wrapped(heading, columns, "")), beside(names, columns))
}

fn disciplines_in_short(columns: usize) -> String {
    let mut families: Vec<String> = Vec::new();
    for family in catalogue::all().iter().map(|entry| entry.about.family.to_string()) {
        if !families.contains(&family) {
            families.push(family);
        }
    }
    let of = |family: &String| {
        let entries = catalogue::all().iter().filter(|entry| entry.about.family.to_string() == *family);
        let names: Vec<(String, String)> =
            entries.map(|entry| (entry.name.to_string(), entry.about.summary.to_string())).collect();
        group(family, &names, columns)
    };
    let schedulers = Kind::ALL.map(|kind| format!("`{}`", kind.name())).join(", ");
    let pairs = format!(
        "A scheduler ({schedulers}) serves any dropper in one queue: `drr+faba`, `fbfq+red`. \
         `fairwire describe NAME` shows all of one; `--long` lists other names, state, cost and source."
    );
    families.iter().map(of).collect::<String>() + &wrapped(&pairs, columns, "") + "\n"
}

fn disciplines_in_full(columns: usize) -> String {
    let rows = disciplines();
    let (head, rows) = rows.split_first().expect("a header");
    let one = |row: &Vec<String>| {
        let said = head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
        let said: Vec<(String, String)> = said.map(|(head, cell)| (head.clone(), cell.clone())).collect();
        group(&row[0], &said, columns)
    };
    rows.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn markers_in_short(columns: usize) -> String {
    let names = marker::all()
        .iter()
        .map(|entry| (entry.name.into(), format!("{} ({})", entry.summary(), entry.source())));
    beside(&names.collect::<Vec<_>>(), columns)
}

fn exhibits_in_short(exhibits: &[State], columns: usize) -> String {
    let papers = exhibits.chunk_by(|one, next| one.study == next.study);
    let of = |paper: &[State]| {
        let names: Vec<(String, String)> = paper
            .iter()
            .map(|state| (state.name.clone(), format!("{}: {}", state.title, state.shown())))
            .collect();
        group(&paper[0].study, &names, columns)
    };
    papers.map(of).collect()
}

fn disciplines() -> Rows {
    let header =
        ["name", "also", "family", "what it does", "state", "cost per packet", "early signals", "source"];
    let rows = catalogue::all().iter().map(|entry| {
        let About { family, summary, state, cost, marks, source } = entry.about;
        let signals = if marks { "drop or ECN mark" } else { "none" };
        let (also, family) = (entry.aliases.join(", "), family.to_string());
        let cells: [&str; 8] = [entry.name, &also, &family, summary, state, cost, signals, source];
        cells.map(String::from).to_vec()
    });
    std::iter::once(header.map(String::from).to_vec()).chain(rows).collect()
}

fn disciplines_as_json() -> Value {
    let one = |entry: &catalogue::Entry| {
        json!({
            "name": entry.name,
            "aliases": entry.aliases,
            "family": entry.about.family.to_string(),
            "summary": entry.about.summary,
            "state": entry.about.state,
            "cost": entry.about.cost,
            "signals_early": entry.about.marks,
            "source": entry.about.source,
        })
    };
    catalogue::all().iter().map(one).collect()
}

struct State {
    name: String,
    study: String,
    title: String,
    source: String,
    claims: usize,
    /// The depth (`quick` or `full`) of recorded verdicts, and the number of verdicts of each type.
    recorded: Option<(&'static str, [usize; 3])>,
}

impl State {
    fn shown(&self) -> String {
        match self.recorded {
            None if self.claims == 0 => "no claims".into(),
            None => "never run".into(),
            Some((depth, [holds, not, untestable])) => {
                format!("{holds} hold, {not} do not, {untestable} not testable ({depth})")
            }
        }
    }
}

fn exhibits(studies: &[Study]) -> Vec<State> {
    let of = |study: &Study, at: usize| {
        let exhibit = &study.spec.exhibit[at];
        State {
            name: study.name(at),
            study: study.spec.title.clone(),
            title: exhibit.title.clone(),
            source: study.spec.source.clone(),
            claims: exhibit.claim.len(),
            recorded: study.counted(at).map(|(depth, counts)| (depth.word(), counts)),
        }
    };
    let all = |study| (0..Study::len(study)).map(move |at| of(study, at));
    studies.iter().flat_map(all).collect()
}

fn exhibits_as_rows(exhibits: &[State]) -> Rows {
    let row = |state: &State| vec![state.name.clone(), state.title.clone(), state.shown()];
    let head = ["name", "what it shows", "claims"].map(String::from).to_vec();
    std::iter::once(head).chain(exhibits.iter().map(row)).collect()
}

fn exhibits_as_json(exhibits: &[State]) -> Value {
    let recorded = |(depth, [holds, not, untestable]): (&str, [usize; 3])| json!({ "depth": depth, "holds": holds, "does_not_hold": not, "not_testable": untestable });
    let one = |state: &State| {
        json!({
            "name": state.name,
            "title": state.title,
            "source": state.source,
            "claims": state.claims,
            "recorded": state.recorded.map(recorded),
        })
    };
    exhibits.iter().map(one).collect()
}

fn controllers_in_short(columns: usize) -> String {
    let one = |controller: &Controller| (controller.name.to_owned(), controller.about.what.to_owned());
    let names: Vec<_> = control::all().iter().map(one).collect();
    group("controllers of TCP (`fairwire describe NAME` has their parameters)", &names, columns)
}

fn controllers() -> Rows {
    let rows = control::all()
        .iter()
        .map(|controller| [controller.name, controller.about.what, controller.about.source]);
    let all = std::iter::once(["name", "what it does", "source"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn controllers_as_json() -> Value {
    let one = |controller: &Controller| json!({ "name": controller.name, "summary": controller.about.what, "source": controller.about.source });
    control::all().iter().map(one).collect()
}

fn sources_in_short(columns: usize) -> String {
    let of = |heading: &str, is_tcp: bool| {
        let those = source::all().iter().filter(|source| source.about.is_tcp == is_tcp);
        let names: Vec<_> =
            those.map(|source| (source.name.to_owned(), source.about.what.to_owned())).collect();
        group(heading, &names, columns)
    };
    of("over TCP", true) + &of("datagrams", false)
}

fn stages_in_short(columns: usize) -> String {
    let names: Vec<_> =
        fairwire_experiment::all().map(|stage| (stage.name().into(), stage.about().summary.into())).collect();
    group("stages, for `fairwire run FILE --on`", &names, columns)
}

fn stages() -> Rows {
    let rows = fairwire_experiment::all().map(|stage| [stage.name(), stage.about().summary]);
    let all = std::iter::once(["name", "what it is"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn stages_as_json() -> Value {
    let stages = fairwire_experiment::all();
    stages.map(|stage| json!({ "name": stage.name(), "summary": stage.about().summary })).collect()
}

fn sources() -> Rows {
    let rows = source::all().iter().map(|source| [source.name, carried(source), source.about.what]);
    let all = std::iter::once(["name", "over", "what it sends"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn sources_as_json() -> Value {
    let one = |source: &source::Entry| json!({ "name": source.name, "over": carried(source), "summary": source.about.what });
    source::all().iter().map(one).collect()
}

fn carried(source: &source::Entry) -> &'static str {
    if source.about.is_tcp { "TCP" } else { "UDP" }
}

fn markers() -> Rows {
    let rows = marker::all().iter().map(|entry| [entry.name, entry.summary(), entry.source()]);
    let all = std::iter::once(["name", "what it does", "source"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn markers_as_json() -> Value {
    let all = marker::all().iter();
    all.map(|entry| json!({ "name": entry.name, "summary": entry.summary(), "source": entry.source() }))
        .collect()
}

fn networks_in_short(columns: usize) -> String {
    let names: Vec<_> =
        generated::all().iter().map(|entry| (entry.name.to_owned(), entry.summary().to_owned())).collect();
    group("networks, for `network` in a scenario", &names, columns)
}

fn networks() -> Rows {
    let rows = generated::all().iter().map(|entry| [entry.name, entry.summary(), entry.source()]);
    let all = std::iter::once(["name", "what it is", "source"]).chain(rows);
    all.map(|cells| cells.map(String::from).to_vec()).collect()
}

fn networks_as_json() -> Value {
    let all = generated::all().iter();
    all.map(|entry| json!({ "name": entry.name, "summary": entry.summary(), "source": entry.source() }))
        .collect()
}

const LESSONS: [&str; 2] = ["scenarios/lessons", "scenarios/exercises"];

type Lesson = (PathBuf, Scenario);

fn lessons(folders: &[PathBuf]) -> Result<Vec<Lesson>, Failure> {
    let usual = LESSONS.map(PathBuf::from);
    let folders = if folders.is_empty() { &usual[..] } else { folders };
    let mut lessons = Vec::new();
    for folder in folders {
        for path in super::files::in_folder(folder)? {
            let scenario = load(&path, &Overrides::default())?;
            if scenario.spec().lesson.is_some() {
                lessons.push((path, scenario));
            }
        }
    }
    Ok(lessons)
}

fn shown((path, scenario): &Lesson) -> [String; 3] {
    let spec = scenario.spec();
    let question = spec.lesson.as_ref().map_or("", |lesson| lesson.question.as_str());
    [path.display().to_string(), spec.title.clone(), question.to_owned()]
}

fn lessons_in_short(lessons: &[Lesson], columns: usize) -> String {
    let names: Vec<_> = lessons
        .iter()
        .map(|lesson| {
            let [file, title, question] = shown(lesson);
            (file, format!("{title}. {question}"))
        })
        .collect();
    group("lessons and exercises, for `fairwire play FILE` and `fairwire run FILE`", &names, columns)
}

fn lessons_as_rows(lessons: &[Lesson]) -> Rows {
    let head = ["file", "title", "question"].map(String::from).to_vec();
    std::iter::once(head).chain(lessons.iter().map(|lesson| shown(lesson).to_vec())).collect()
}

fn lessons_as_json(lessons: &[Lesson]) -> Value {
    let one = |lesson| {
        let [file, title, question] = shown(lesson);
        json!({ "file": file, "title": title, "question": question })
    };
    lessons.iter().map(one).collect()
}
