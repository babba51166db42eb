//! `fairwire-gateway import`: turns the files of another program into classes and subscribers.

use super::subscriber::{Beside, NextFile, change_file, path_of};
use crate::args::{ImportCommand, LibreqosArgs};
use fairwire_document::{DocumentError, read_text, shortened};
use fairwire_service::config::{self, Config, table};
use fairwire_subscribers::edit::{Edit, edited};
use fairwire_subscribers::libreqos::{self, Node, Noted, Plans};
use fairwire_subscribers::sheet::{MAX_BYTES, SheetText, read as read_sheet};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_terminal::print::print;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

const BEGIN: &str = "# fairwire-gateway import writes what is from here on:\n";
const END: &str = "# fairwire-gateway import: end\n";
const HEAD: &str =
    "name,addresses,class,download_guaranteed,download_ceiling,upload_guaranteed,upload_ceiling\n";
const SHOWN: usize = 50;
/// The exit code of a dry run with differences, as in diff(1).
const DIFFERS: u8 = 1;

pub(crate) fn import(command: &ImportCommand) -> Result<Ending, Failure> {
    let ImportCommand::Libreqos(args) = command;
    let import = Import::read(args)?;
    let sheet = path_of(&args.whom)?;
    let text = match table(&sheet).and_then(|table| table.merged()) {
        Ok((text, _)) => text,
        Err(_) if !sheet.exists() => HEAD.to_owned(),
        Err(error) => return Err(error.into()),
    };
    let name = sheet.display().to_string();
    let before = SheetText { name: &name, text: &text };
    let (edits, mut differences) = import.edits(before)?;
    let after = edited(before, &as_edits(edits))?;
    let path = &args.whom.config;
    Config::load_edited(path, &[(path, &import.after), (&sheet, &after)])?;
    differences.extend(import.of_classes());
    show(&differences, &import.notes)?;
    if args.dry_run {
        return Ok(if differences.is_empty() { Ending::Done } else { Ending::Failed(DIFFERS) });
    }
    if differences.is_empty() && sheet.exists() {
        return Ok(Ending::Done);
    }
    if !sheet.exists() {
        fs::write(&sheet, HEAD).map_err(|error| cannot(&sheet, &error))?;
    }
    put(path, &import.before, &import.after)?;
    let done = change_file(&args.whom, &sheet, Beside::Configuration, &mut |table| {
        let text = table.merged()?.0;
        let (edits, _) = import.edits(SheetText { name: table.name(), text: &text })?;
        Ok(as_edits(edits))
    });
    match done {
        Ok(_) => Ok(Ending::Done),
        Err(failure) => {
            put(path, &import.after, &import.before)?;
            Err(failure)
        }
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    let help = "allowed: a file that you may write, in a folder that you may write to";
    Failure::user(format!("`{}` cannot be changed: {error}", path.display()), help)
}

fn put(path: &Path, before: &str, after: &str) -> Result<(), Failure> {
    if before == after {
        return Ok(());
    }
    let write = || NextFile::written(path, after, &path.metadata()?)?.put_in_place().map(drop);
    write().map_err(|error| cannot(path, &error))
}

struct Import {
    before: String,
    after: String,
    plans: Plans,
    notes: Vec<String>,
}

type Edits = Vec<(String, Option<Vec<(String, String)>>)>;

fn as_edits(edits: Edits) -> Vec<(String, Edit)> {
    edits.into_iter().map(|(name, values)| (name, values.map_or(Edit::Remove, Edit::Set))).collect()
}

impl Import {
    fn read(args: &LibreqosArgs) -> Result<Import, Failure> {
        let refused = |path: &Path, why: String| {
            let help = "the files are as LibreQoS reads them; nothing was changed";
            Failure::user(format!("`{}`: {why}", path.display()), help)
        };
        let text = read_text(&args.devices, MAX_BYTES, "a ShapedDevices.csv of LibreQoS")?;
        let Noted { read: circuits, mut notes } =
            libreqos::circuits(&text).map_err(|why| refused(&args.devices, why))?;
        let path = &args.whom.config;
        let before = config::text_at(path)?;
        let (nodes, after) = match &args.network {
            None => (Vec::new(), before.clone()),
            Some(network) => {
                let text = read_text(network, MAX_BYTES, "a network.json of LibreQoS")?;
                let nodes = libreqos::nodes(&text).map_err(|why| refused(network, why))?;
                let after = with_classes(&before, &nodes);
                (nodes, after)
            }
        };
        let spec = config::typed_as(path, &after)?;
        let is_node = |name: &str| nodes.iter().any(|node| node.name == name);
        // Circuits cannot use the rates guaranteed to classes outside the import.
        let mut links = [&spec.download, &spec.upload].map(|way| way.as_ref().map(|way| way.rate.0));
        for class in spec.class.iter().filter(|class| class.parent.is_none() && !is_node(&class.name)) {
            for (link, bounds) in links.iter_mut().zip([&class.download, &class.upload]) {
                let taken = bounds.guaranteed.map_or(0, |rate| rate.0.bps());
                *link = link.and_then(|link| fairwire_core::Rate::from_bps(link.bps().saturating_sub(taken)));
            }
        }
        let classes: BTreeSet<String> = spec.class.into_iter().map(|class| class.name).collect();
        let (plans, more) = libreqos::plans(&circuits, &nodes, &classes, links);
        notes.extend(more);
        Ok(Import { before, after, plans, notes })
    }

    /// The edits of `sheet`, and one line per changed subscriber.
    fn edits(&self, sheet: SheetText<'_>) -> Result<(Edits, Vec<String>), DocumentError> {
        let sheet = read_sheet(sheet)?;
        let (mut edits, mut lines, mut known) = (Edits::new(), Vec::new(), BTreeSet::new());
        for row in &sheet.rows {
            let name = shortened(&row.name);
            known.insert(row.name.as_str());
            let Some(values) = self.plans.get(&row.name) else {
                edits.push((row.name.clone(), None));
                lines.push(format!("- {name}"));
                continue;
            };
            let differs = |(column, value): &&(String, String)| sheet.value(row, column) != value;
            let other: Vec<(String, String)> = values.iter().filter(differs).cloned().collect();
            if !other.is_empty() {
                let shown = |(column, value): &(String, String)| {
                    format!("{column}: {} -> {}", shortened(sheet.value(row, column)), shortened(value))
                };
                lines.push(format!("~ {name}: {}", other.iter().map(shown).collect::<Vec<_>>().join(", ")));
                edits.push((row.name.clone(), Some(other)));
            }
        }
        for (name, values) in self.plans.iter().filter(|(name, _)| !known.contains(name.as_str())) {
            let shown: Vec<String> = values.iter().map(|(_, value)| shortened(value)).collect();
            lines.push(format!("+ {}: {}", shortened(name), shown.join(", ")));
            edits.push((name.clone(), Some(values.clone())));
        }
        Ok((edits, lines))
    }

    fn of_classes(&self) -> Vec<String> {
        let of = |text: &str| -> BTreeSet<String> {
            let tables = block(text).map_or("", |at| &text[at]).split("[[class]]").skip(1);
            tables
                .map(|table| table.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "))
                .collect()
        };
        let [before, after] = [&self.before, &self.after].map(|text| of(text));
        let gone = before.difference(&after).map(|table| format!("- class {table}"));
        gone.chain(after.difference(&before).map(|table| format!("+ class {table}"))).collect()
    }
}

fn block(text: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find(BEGIN)? + BEGIN.len();
    Some(start..start + text[start..].find(END)?)
}

fn with_classes(text: &str, nodes: &[Node]) -> String {
    let classes = libreqos::classes(nodes);
    match block(text) {
        Some(at) => [&text[..at.start], &classes, &text[at.end..]].concat(),
        None => [text.trim_end(), "\n\n", BEGIN, &classes, END].concat(),
    }
}

fn show(differences: &[String], notes: &[String]) -> Result<(), Failure> {
    let more = |count: usize| count.checked_sub(SHOWN).filter(|more| *more > 0);
    let mut text = String::new();
    for line in differences.iter().take(SHOWN) {
        text += line;
        text.push('\n');
    }
    if let Some(more) = more(differences.len()) {
        text += &format!("and {more} more\n");
    }
    print(text.as_bytes())?;
    notes.iter().take(SHOWN).for_each(|note| notice(format_args!("note: {note}")));
    if let Some(more) = more(notes.len()) {
        notice(format_args!("note: and {more} more"));
    }
    Ok(())
}
