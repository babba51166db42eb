//! `fairwire-gateway subscriber`: edits the subscriber file, which the running gateway reads.

use super::client;
use crate::args::{SubscriberArgs, SubscriberCommand, WhomArgs};
use fairwire_control::client::{RequestError, send};
use fairwire_control::protocol::{Answer, Request};
use fairwire_document::DocumentError;
use fairwire_service::config::{Config, MAX_JOURNAL, journal_of, table};
use fairwire_service::service::{files_of, socket_of};
use fairwire_subscribers::edit::Edit;
use fairwire_subscribers::journal::{Journal, MAX_BYTES as MAX_JOURNAL_BYTES, Table, line, tables};
use fairwire_terminal::failure::{Ending, Failure};
use fairwire_terminal::notice::notice;
use fairwire_terminal::print::print;
use std::cell::Cell;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt, fchown};
use std::path::{Path, PathBuf};

pub(crate) fn subscriber(command: &SubscriberCommand) -> Result<Ending, Failure> {
    let suspended = |value: &str| Edit::Change(vec![("suspended".to_owned(), value.to_owned())]);
    match command {
        SubscriberCommand::Set { args, values } => change(args, Edit::Set(values.clone())),
        SubscriberCommand::Suspend(args) => change(args, suspended("yes")),
        SubscriberCommand::Resume(args) => change(args, suspended("no")),
        SubscriberCommand::Remove(args) => change(args, Edit::Remove),
    }
}

fn change(SubscriberArgs { whom, name }: &SubscriberArgs, edit: Edit) -> Result<Ending, Failure> {
    let file = path_of(whom)?;
    match change_file(whom, &file, Beside::Nothing, &mut |_| Ok(vec![(name.clone(), edit.clone())]))? {
        Some(answer) => client::print(&answer),
        None => {
            let line = format!("written to {}; no gateway runs, and the next one reads it\n", file.display());
            print(line.as_bytes())?;
            Ok(Ending::Done)
        }
    }
}

/// The subscriber file of a configuration. Other keys of the configuration are not checked.
pub(crate) fn path_of(whom: &WhomArgs) -> Result<PathBuf, Failure> {
    socket_of(&whom.config)?; // fails if it cannot be read
    files_of(&whom.config).into_iter().nth(1).ok_or_else(|| {
        Failure::user(
            format!("`{}` has no subscribers", whom.config.display()),
            "allowed: a configuration with a table `[subscribers]` and its `file`",
        )
    })
}

/// The file that changes in addition to the subscriber file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// No other file: the gateway needs only the changed lines.
    Nothing,
    Configuration,
}

pub(crate) type EditOf<'a> = dyn FnMut(&Table) -> Result<Vec<(String, Edit)>, DocumentError> + 'a;

/// Changes the subscriber file at `path`. `edit` chooses the edits from this file and its journal.
/// The gateway checks the edits, records them as a line of the journal, and applies them. If the
/// gateway has to read all files again, the journal is merged into the file.
///
/// Returns `None` if no gateway runs; the edited file is then checked here. A refused edit changes
/// neither the file nor the journal.
pub(crate) fn change_file(
    whom: &WhomArgs,
    path: &Path,
    beside: Beside,
    edit: &mut EditOf<'_>,
) -> Result<Option<Answer>, Failure> {
    let cannot = |error: io::Error| {
        let help = "allowed: a file that you may write, in a folder that you may write to";
        Failure::user(format!("`{}` cannot be changed: {error}", path.display()), help)
    };
    let held = Held::of(path).map_err(cannot)?;
    let table = table(path)?;
    let edits = edit(&table)?;
    let changes = table.changes(&edits)?;
    let socket = whom.socket.clone().map_or_else(|| socket_of(&whom.config), Ok)?;
    let line = if changes.is_empty() { String::new() } else { line(&changes) };
    let record = held.record(table.journal(), &line).map_err(cannot)?;
    if beside == Beside::Nothing && !changes.is_empty() {
        let handed =
            opened(&tables(&changes)).and_then(|tables| Ok(tables.chain(record.handed()?).collect()));
        match send(&socket, &Request::Subscribers { handed: handed.map_err(cannot)? }) {
            Ok(answer @ Answer::Reloaded(_)) => {
                record.keep();
                if (table.journal().length() + line.len()) as u64 > MAX_JOURNAL_BYTES {
                    merge(&held);
                }
                return Ok(Some(answer));
            }
            Err(RequestError::Silent { source, .. }) if is_of_no_gateway(&source) => {}
            Err(error) => {
                record.keep(); // with or without its end
                return Err(client::silent(format!("whether the change was made is not known: {error}")));
            }
            Ok(_) => {} // a reload applies it, or reports why not
        }
    }
    let after = table.edited(&edits)?;
    let next = NextFile::written(path, &after, &held.kept).map_err(cannot)?;
    let sheet = std::path::absolute(path).map_err(cannot)?;
    let with_next = client::reload_with(
        &whom.config,
        true,
        |path| File::open(if path == sheet { next.file.path() } else { path }),
        record.handed().map_err(cannot)?,
    );
    let checked = || Config::load_edited(&whom.config, &[(path, &after)]);
    let answer = match send(&socket, &with_next) {
        Ok(Answer::Refused { message }) => {
            checked()?; // reports the position of an error in the file
            return Err(Failure::user(message, format!("`{}` stays as it is", table.name())));
        }
        Ok(answer) => Ok(Some(answer)),
        Err(RequestError::Silent { source, .. }) if is_of_no_gateway(&source) => {
            checked().map(|_| Ok(None))?
        }
        Err(error) => checked().map(|_| {
            Err(client::silent(format!(
                "`{}` is written, but whether the gateway has read it is not known: {error}",
                table.name()
            )))
        })?,
    };
    let is_recorded = matches!(answer, Ok(Some(_)));
    if is_recorded {
        record.keep();
    }
    match held.take(next) {
        Err(error) if is_recorded => notice(format_args!("note: the journal stays: {error}")),
        taken => taken.map_err(cannot)?,
    }
    record.keep(); // the journal is already removed
    answer
}

fn is_of_no_gateway(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

/// The subscriber file and its journal, locked for one writer.
pub(crate) struct Held {
    path: PathBuf,
    /// Locked.
    file: File,
    kept: Metadata,
}

impl Held {
    /// Opens and locks the file. Starts again if another writer has replaced the file.
    fn of(path: &Path) -> io::Result<Self> {
        loop {
            let file = File::open(path)?;
            file.lock()?;
            let kept = file.metadata()?;
            if path.metadata().is_ok_and(|now| now.ino() == kept.ino()) {
                return Ok(Held { path: path.to_owned(), file, kept });
            }
        }
    }

    /// Replaces the file, and then removes its journal. If the process is killed in between, the
    /// file already has the journal's changes.
    fn take(&self, next: NextFile) -> io::Result<()> {
        let journal = journal_of(&self.path);
        // A writer that opens the new file waits for this lock until the journal is gone.
        next.file.as_file().lock()?;
        let _next = next.put_in_place()?;
        match fs::remove_file(journal) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn put(&self, text: &str) -> io::Result<()> {
        self.take(NextFile::written(&self.path, text, &self.kept)?)
    }

    /// Adds `line` to the journal, without a line end.
    fn record(&self, journal: &Journal, line: &str) -> io::Result<Draft<'_>> {
        let from = journal.length() as u64;
        let mut record = Draft { held: self, journal: None, from, is_kept: Cell::new(false) };
        let Some(line) = line.strip_suffix('\n') else { return Ok(record) };
        if from + line.len() as u64 >= MAX_JOURNAL {
            return Err(io::Error::other("too many subscribers change at once for its journal"));
        }
        let path = journal_of(&self.path);
        let is_new = !path.exists();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
        let file = record.journal.insert(file);
        if is_new {
            own_as(file, &self.kept)?;
            sync_folder(&path)?;
        }
        // Cuts off an incomplete line of a killed writer.
        file.set_len(from)?;
        file.write_all_at(line.as_bytes(), from)?;
        Ok(record)
    }
}

/// The journal's last line. The gateway adds the line's end if the change is valid. Dropping a
/// `Draft` removes the line, unless `keep` was called.
struct Draft<'a> {
    held: &'a Held,
    journal: Option<File>,
    /// The length of the journal before the line.
    from: u64,
    is_kept: Cell<bool>,
}

impl Draft<'_> {
    /// The files handed over with a request. The locked file excludes other writers until the
    /// gateway is done, even if this process is killed.
    fn handed(&self) -> io::Result<Vec<OwnedFd>> {
        let files = self.journal.iter().flat_map(|journal| [journal, &self.held.file]);
        files.map(|file| file.as_fd().try_clone_to_owned()).collect()
    }

    fn keep(&self) {
        self.is_kept.set(true);
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // Errors are ignored. If the line remains, it has no line end, so readers ignore it.
        let _ = match &self.journal {
            Some(_) if !self.is_kept.get() && self.from == 0 => fs::remove_file(journal_of(&self.held.path)),
            Some(journal) if !self.is_kept.get() => journal.set_len(self.from),
            _ => Ok(()),
        };
    }
}

/// Merges the journal into the subscriber file at `path`, if our rights suffice.
pub(crate) fn fold(path: &Path) {
    if !journal_of(path).exists() {
        return;
    }
    if let Ok(held) = Held::of(path) {
        merge(&held);
    }
}

fn merge(held: &Held) {
    let Ok((text, left_out)) = table(&held.path).and_then(|table| table.merged()) else { return };
    if held.put(&text).is_ok() {
        left_out.iter().for_each(|line| notice(format_args!("note: {line}")));
    }
}

pub(crate) fn whole(path: &Path) -> io::Result<File> {
    if !journal_of(path).exists() {
        return File::open(path);
    }
    let text = table(path).and_then(|table| table.merged()).map_err(io::Error::other)?.0;
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

fn opened(texts: &[String]) -> io::Result<impl Iterator<Item = OwnedFd>> {
    let opened = texts.iter().map(|text| {
        let mut file = tempfile::tempfile()?;
        file.write_all(text.as_bytes())?;
        Ok(OwnedFd::from(file))
    });
    Ok(opened.collect::<io::Result<Vec<_>>>()?.into_iter())
}

fn own_as(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())?;
    match fchown(file, Some(like.uid()), Some(like.gid())) {
        // Without the right to change owners, the file stays ours.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

pub(crate) struct NextFile {
    file: tempfile::NamedTempFile,
    place: PathBuf,
}

impl NextFile {
    /// A temporary file with `text`, next to `path`, with the owner and rights of `like`. Removes
    /// the temporary files of killed writers, so the caller must hold the writers' lock.
    pub(crate) fn written(path: &Path, text: &str, like: &Metadata) -> io::Result<Self> {
        // If `path` is a symbolic link, its target is replaced.
        let place = path.canonicalize()?;
        let folder = place.parent().unwrap_or(Path::new("."));
        let prefix = format!(".{}.new-", place.file_name().unwrap_or_default().display());
        for left in fs::read_dir(folder)?.flatten() {
            if left.file_name().to_string_lossy().starts_with(&prefix) {
                fs::remove_file(left.path())?;
            }
        }
        let mut file = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        own_as(file.as_file(), like)?;
        file.as_file().sync_all()?;
        Ok(NextFile { file, place })
    }

    pub(crate) fn put_in_place(self) -> io::Result<File> {
        let file = self.file.persist(&self.place)?;
        sync_folder(&self.place)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_a_killed_writer_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let sheet = folder.path().join("plans.csv");
        for name in ["plans.csv", ".plans.csv.new-Ab3dE6", ".others.csv.new-Ab3dE6"] {
            fs::write(folder.path().join(name), "name,addresses\n").expect("the folder is ours");
        }
        let like = fs::metadata(&sheet).expect("it is there");
        let next = NextFile::written(&sheet, "name,addresses\nann,10.0.0.1\n", &like).expect("it may be");
        next.put_in_place().expect("it may be");
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .expect("it is there")
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, [".others.csv.new-Ab3dE6", "plans.csv"]);
    }
}
