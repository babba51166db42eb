//! `fairwire describe`.

use crate::args::{DescribeArgs, Look};
use crate::report;
use fairwire_catalogue::page::{Page, ParameterPage, linked};
use fairwire_catalogue::{self as catalogue, About, marker};
use fairwire_core::spelling;
use fairwire_scenario::parts::{self, NoPage, Part};
use fairwire_scenario::{Controller, control, source};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::file;
use fairwire_terminal::notice::notice;
use fairwire_terminal::terminal::{self, indented};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

pub(crate) const LISTS: &str = "`fairwire list disciplines`, `list markers`, `list controllers`, `list sources` and `list networks` show the names";

/// The maximum width; longer lines are hard to read.
const MAX_COLUMNS: usize = 120;

pub(crate) fn describe(args: &DescribeArgs) -> Result<Ending, Failure> {
    match (&args.name, &args.out) {
        (Some(name), None) => {
            let page = page(name)?;
            let text = match args.format {
                Look::Text => text(&page, terminal::columns().min(MAX_COLUMNS)),
                Look::Markdown => page.markdown(),
            };
            report::print(text.as_bytes())?;
        }
        (None, Some(folder)) => write_all(folder)?,
        _ => {
            let message = "`<NAME>` is missing: a discipline, a marker, a controller, a source, a network, an impairment or a parameter";
            return Err(Failure::user(
                message,
                "allowed: a name, such as in `fairwire describe faba`; or `--out DIR` for all pages",
            ));
        }
    }
    Ok(Ending::Done)
}

fn page(name: &str) -> Result<Page, Failure> {
    parts::page(name).map_err(|error| match &error {
        NoPage::Unknown { likely, .. } => {
            let near = spelling::question(likely).map_or(String::new(), |question| format!("; {question}"));
            Failure::user(&error, format!("{LISTS}{near}"))
        }
        NoPage::Documentation(_) => Failure::Ours(error.to_string()),
    })
}

fn write_all(folder: &Path) -> Result<(), Failure> {
    let mut index = String::from(
        "<!-- Made by `make reference` from the documentation in the code; change it there. -->\n\n\
         # The disciplines\n\n\
         One is named on the command line by `fairwire run FILE --discipline codel`, and in a scenario by\n\
         `disciplines = [\"codel\"]`. Its parameters are in a table `[discipline.codel]` or beside its name,\n\
         `{ codel = { … } }`. Any scheduler can serve one with a `scheduler` among its parameters:\n\
         `drr+codel` is the same as `scheduler = \"drr\"` there, and as the discipline `queue` with\n\
         `scheduler = \"drr\"` and `dropper = \"codel\"`.\n\n| name | family | what it does | source |\n|---|---|---|---|\n",
    );
    let mut files = Vec::new();
    for entry in catalogue::all() {
        let name = entry.name;
        let About { family, summary, source, .. } = entry.about;
        writeln!(index, "| [`{name}`]({name}.md) | {family} | {summary} | {source} |")
            .expect("writing to a string succeeds");
        files.push((format!("{name}.md"), page(name)?.markdown()));
    }
    index += &of_schedulers();
    index += "\n# The markers\n\nThey colour packets in front of a discipline: see [`conditioner`](conditioner.md).\n\n\
              | name | what it does | source |\n|---|---|---|\n";
    for marker in marker::all() {
        let name = marker.name;
        writeln!(index, "| [`{name}`]({name}.md) | {} | {} |", marker.summary(), marker.source())
            .expect("writing to a string succeeds");
        files.push((format!("{name}.md"), page(name)?.markdown()));
    }
    index += "\n# The controllers\n\nThey are what `tcp = { control = … }` names in a [scenario](../scenario.md).\n\n\
              | name | what it does | source |\n|---|---|---|\n";
    for controller in control::all() {
        let Controller { name, about, .. } = controller;
        writeln!(index, "| [`{name}`]({name}.md) | {} | {} |", about.what, about.source)
            .expect("writing to a string succeeds");
        files.push((format!("{name}.md"), page(name)?.markdown()));
    }
    index += &of_sources(&mut files)?;
    index += &of_kind("network", NETWORKS, &mut files)?;
    index += &of_kind("impairment", IMPAIRMENTS, &mut files)?;
    files.push(("README.md".into(), index));
    let refuse = |error| {
        Failure::user(
            format_args!("`--out` is `{}`, but that cannot be written: {error}", folder.display()),
            "allowed: a folder that can be made or written",
        )
    };
    fs::create_dir_all(folder).map_err(refuse)?;
    for (name, text) in &files {
        file::try_write(&folder.join(name), text.as_bytes()).map_err(refuse)?;
    }
    notice(format_args!("wrote {} pages into {}", files.len(), folder.display()));
    Ok(())
}

fn of_schedulers() -> String {
    let mut index = String::from(
        "\n# The schedulers\n\nThey are what `scheduler` names, and what comes before the `+` of `drr+faba`. Any serves any dropper: see \
         [`queue`](queue.md).\n\n| name | what it does |\n|---|---|\n",
    );
    for (name, entry) in catalogue::schedulers() {
        let line = match entry {
            Some(entry) => format!("| [`{name}`]({}.md) | {} |", entry.name, entry.about.summary),
            None => format!("| `{name}` | first come, first served |"),
        };
        writeln!(index, "{line}").expect("writing to a string succeeds");
    }
    index += "\n# Parameters that several have\n\n| parameters | of |\n|---|---|\n";
    for (parameters, of) in catalogue::shared_parameters() {
        let parameters: Vec<String> = parameters.iter().map(|name| format!("`{name}`")).collect();
        writeln!(index, "| {} | {} |", parameters.join(", "), linked(&of))
            .expect("writing to a string succeeds");
    }
    index
}

fn of_sources(files: &mut Vec<(String, String)>) -> Result<String, Failure> {
    let mut index = String::from(
        "\n# The sources\n\nThey are what `source` names in a [scenario](../scenario.md).\n\n\
         | name | what it sends |\n|---|---|\n",
    );
    for source in source::all() {
        let name = source.name;
        writeln!(index, "| [`{name}`]({name}.md) | {} |", source.about.what)
            .expect("writing to a string succeeds");
        files.push((format!("{name}.md"), page(name)?.markdown()));
    }
    Ok(index)
}

fn of_kind(kind: &str, heading: &str, files: &mut Vec<(String, String)>) -> Result<String, Failure> {
    let mut index = format!("\n{heading}\n\n| name | what it is | source |\n|---|---|---|\n");
    for Part { name, summary, source, .. } in parts::all().filter(|part| part.kind == kind) {
        writeln!(index, "| [`{name}`]({name}.md) | {summary} | {source} |")
            .expect("writing to a string succeeds");
        files.push((format!("{name}.md"), page(name)?.markdown()));
    }
    Ok(index)
}

const NETWORKS: &str = "# The networks\n\nThey are what `network` names in a [scenario](../scenario/network.md#a-network-that-is-generated-network).";

const IMPAIRMENTS: &str = "# Impairments\n\nWhat the wire behind a link does to packets, in a [scenario](../scenario/link.md#a-wire-with-faults-impair).";

fn text(page: &Page, columns: usize) -> String {
    let mut text = format!("{}\n\n{}\n", page.name, indented(&page.title, columns, ""));
    let mut section = |heading: &str, body: &str| {
        if body.is_empty() {
            return;
        }
        write!(text, "\n{}\n\n{body}\n", heading.to_uppercase()).expect("writing to a string succeeds");
    };
    let prose = |markdown: &str| prose(markdown, columns);
    section("What it does", &prose(&page.what));
    section("Why", &prose(&page.why));
    section("How to use it", &prose(&page.usage));
    let related = page.related.iter().map(|(what, names)| format!("- {what}: {}", names.join(", ")));
    section("What goes with it", &prose(&related.collect::<Vec<_>>().join("\n")));
    section("Parameters", &parameters(page, columns));
    section("State and cost", &prose(&page.state_and_cost));
    section("Source", &prose(&page.source));
    section("Where we differ", &prose(&page.where_we_differ));
    section("Example, in a scenario file", &page.example);
    section("Code", page.code);
    text
}

fn plain(markdown: &str) -> String {
    markdown.replace('`', "")
}

/// Wraps paragraphs and list items at `columns`, leaving code and tables unchanged.
fn prose(markdown: &str, columns: usize) -> String {
    let mut blocks: Vec<Block> = Vec::new();
    let mut is_code = false;
    for line in markdown.lines() {
        let is_fence = line.starts_with("```");
        let is_set = is_code || is_fence || line.starts_with('|') || line.is_empty();
        is_code ^= is_fence;
        match blocks.last_mut() {
            Some(block) if !block.is_set && !is_set && !begins_item(line) => {
                block.text.push(' ');
                block.text.push_str(line.trim());
            }
            _ => blocks.push(Block { text: line.into(), is_set }),
        }
    }
    let filled = |block: &Block| {
        let indent = if begins_item(&block.text) { "  " } else { "" };
        let text = plain(&block.text);
        if block.is_set { text } else { terminal::wrapped(&text, columns, indent) }
    };
    blocks.iter().map(filled).collect::<Vec<_>>().join("\n")
}

struct Block {
    text: String,
    /// Must the lines stay unchanged, as in code?
    is_set: bool,
}

fn begins_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || number.len() < line.len() && number.starts_with(". ")
}

fn parameters(page: &Page, columns: usize) -> String {
    let mut text = String::new();
    for parameter in &page.parameters {
        let ParameterPage { name, unit, default, notes, allowed, choices, fields, .. } = parameter;
        let mut line = |indent: &str, words: &str| {
            if words.is_empty() {
                return;
            }
            writeln!(text, "{}", indented(&plain(words), columns, indent))
                .expect("writing to a string succeeds");
        };
        line("", &format!("{name} ({unit}; default: {default})"));
        line("    ", allowed);
        line("    ", notes);
        for (word, what) in choices.iter().chain(fields) {
            line("      ", &format!("{word}: {what}"));
        }
    }
    text.truncate(text.trim_end().len());
    text
}
